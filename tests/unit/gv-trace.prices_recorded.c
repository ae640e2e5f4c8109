/* Drawn markets: their prices, lifetimes and what jobs cost in them are what they were. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drawn_traces.h"
#include "gv-trace/prices/markets.h"
#include "gv-trace/prices/spot.h"
#include "gv-trace/prices/table.h"
#include "recorded_frame.h"
#include "scratch.h"

static struct gv_error e;

static const char *const clouds[] = {"aws", "gcp", "aw"};
static const char *const zones[] = {"us-east-1a", "us-east-1b", "eu", ""};
static const char *const instances[] = {"p3.2xlarge", "p3.8xlarge", "", "n1"};
static const char *const gpus[] = {"V100", "v100", "K80", "a100"};

/* ---- tables ---- */

static void
draw_prices(size_t wrong)
{
	static const char *const time[] = {"timestamp", "timestamp_utc", "first_seen"};
	static const char *const names[] = {
	    "cloud,region,zone,instance,gpu,gpus,price_usd_h",
	    "provider,region,zone,instance_type,gpu_type,num_gpus,usd_per_hour",
	    "cloud,region,zone,instance,gpu,gpus,usd_per_h"};
	struct gv_strbuf s = {0};
	struct cells c = {.s = &s, .delimiter = ',', .wrong = wrong};
	size_t rows = below(30), dates = below(5), coarse = 1 + below(4000);

	gv_strbuf_fmt(&s, "%s,", drawn_of(time, 3));
	gv_strbuf_fmt(&s, "%s\n", drawn_of(names, 3));
	for (; rows > 0; rows--) {
		put_date(&c, below(80000) / coarse * coarse, dates);
		put_cell(&c, clouds[below(3)]);
		put_cell(&c, below(3) == 0 ? "eu" : "us");
		put_cell(&c, zones[below(4)]);
		put_cell(&c, instances[below(4)]);
		put_cell(&c, gpus[below(4)]);
		put_number(&c, (double)((size_t)1 << below(4)));
		put_number(&c, .125 * (double)below(50));
		end_row(&c);
	}
	scratch_file("prices.csv", s.s, s.len);
	gv_strbuf_free(&s);
}

static void
draw_lifetimes(size_t wrong)
{
	struct gv_strbuf s = {0};
	struct cells c = {.s = &s, .delimiter = ',', .wrong = wrong};
	size_t rows = below(12), start;

	gv_strbuf_str(&s, below(2) == 0
			      ? "cloud,gpu,gpus,start,end,outcome\n"
			      : "provider,gpu_type,num_gpus,start,end,outcome\n");
	for (; rows > 0; rows--) {
		start = below(50000);
		put_cell(&c, clouds[below(3)]);
		put_cell(&c, gpus[below(4)]);
		put_number(&c, (double)((size_t)1 << below(4)));
		put_number(&c, (double)start);
		put_number(&c, (double)(start + below(100000)));
		put_cell(&c, below(3) == 0 ? "alive_at_end" : "preempted");
		end_row(&c);
	}
	scratch_file("lifetimes.csv", s.s, s.len);
	gv_strbuf_free(&s);
}

static void
recorded_markets(struct recorded *r, const struct markets *m)
{
	size_t i, k;

	recorded_whole(r, (long long)m->n_rows);
	recorded_double(r, m->begin_s);
	recorded_double(r, m->end_s);
	if (m->n_rows > 0)
		recorded_cell(r, m->first_cloud);
	for (i = 0; i < m->n; i++) {
		const struct market *x = &m->market[i];

		recorded_cell(r, x->cloud);
		recorded_cell(r, x->region);
		recorded_cell(r, x->zone);
		recorded_cell(r, x->instance);
		recorded_cell(r, x->gpu_type);
		recorded_cell(r, x->source);
		recorded_whole(r, x->gpus);
		recorded_double(r, x->mttp_s);
		for (k = 0; k < x->n; k++) {
			recorded_double(r, x->point[k].time_s);
			recorded_double(r, x->point[k].usd_per_h);
			recorded_double(r, market_price(x, x->point[k].time_s));
			recorded_double(r, market_price(x, x->point[k].time_s - .5));
		}
	}
}

static void
ask_table(struct recorded *r, const struct markets *m)
{
	struct gv_strbuf s = {0};
	struct gv_out *out = gv_out_memory(&s);
	struct gv_tabw w;
	double start = below(2) == 0 ? 0 : m->begin_s + (double)below(40000);

	gv_tabw_init(&w, out, below(2) == 0);
	recorded_whole(r, (long long)price_table_write(&w, m, start));
	recorded_whole(r, gv_out_close(out, &e));
	recorded_text(r, s.s);
	gv_strbuf_free(&s);
}

/* ---- jobs ---- */

static void
draw_rules(struct spot_rules *rules, const struct markets *m)
{
	static const double every[] = {600, 3600, 3600, 7200, 86400};
	static const double cost[] = {0, 0, 60, 600, 5000};

	*rules = (struct spot_rules){.policy = (enum spot_policy)below(N_SPOT_POLICIES)};
	rules->home = below(2) == 0 ? m->first_cloud : (struct gv_cell){"aws", 3};
	rules->gpu_type =
	    below(2) == 0 ? (struct gv_cell){"v100", 4} : (struct gv_cell){"k80", 3};
	rules->every_s = every[below(5)];
	rules->move_s = cost[below(5)];
	rules->checkpoint_s = cost[below(5)];
	rules->restart_s = cost[below(5)];
	if (below(3) == 0)
		rules->policy = SPOT_DYNAMIC;
}

/* Stays follow each other and make up the cost. */
static size_t
ask_run(struct recorded *r, const struct markets *m, struct spot_run *run, double *rate)
{
	struct spot_rules rules;
	struct spot_job job = {.rate = rate, .deadline_s = NAN};
	size_t i, wrong = 0;
	double cost = 0;
	bool ran;

	draw_rules(&rules, m);
	for (i = 0; i < m->n; i++) {
		rate[i] = below(4) == 0 ? 0 : .5 * (double)(1 + below(8));
		recorded_double(r, spot_interval(&m->market[i], &rules));
		recorded_double(r, spot_slowdown(&m->market[i], &rules));
	}
	job.start_s = m->begin_s + (double)below(60000);
	job.steps = below(9) == 0 ? 0 : 100 * (double)below(1000);
	job.scale_factor = 1 + (int64_t)below(4);
	if (below(2) == 0)
		job.deadline_s = job.start_s + (double)below(100000);
	ran = spot_run(run, &job, m, &rules);
	recorded_whole(r, ran);
	if (!ran)
		return 0;
	recorded_double(r, run->cost_usd);
	recorded_double(r, run->end_s);
	recorded_whole(r, (long long)run->moves);
	for (i = 0; i < run->n; i++) {
		const struct spot_stay *s = &run->stay[i];

		recorded_whole(r, (long long)s->market);
		recorded_double(r, s->start_s);
		recorded_double(r, s->end_s);
		recorded_double(r, s->usd_per_h);
		cost += s->usd_per_h * (double)job.scale_factor *
			(s->end_s - s->start_s) / 3600;
		wrong += i > 0 && fabs(s->start_s - run->stay[i - 1].end_s) > 1e-6;
	}
	return wrong + (fabs(cost - run->cost_usd) > 1e-9 * (1 + cost));
}

static size_t
ask(struct recorded *r, size_t wrong, struct spot_run *run)
{
	static const char *const cloud[] = {NULL, NULL, "aws", "gcp,aws", "x,aw", ""};
	static const char *const region[] = {NULL, NULL, NULL, "us", "eu,us"};
	struct market_filter f;
	struct markets m = {0};
	size_t bad = 0, i, files = 1 + below(2);
	double *rate;
	int rc = 0;

	f.clouds = drawn_of(cloud, 6);
	f.regions = drawn_of(region, 5);
	gv_error_clear(&e);
	for (; files > 0 && rc == 0; files--) {
		draw_prices(wrong);
		rc = markets_read(&m, "prices.csv", &f, &e);
	}
	markets_sort(&m);
	recorded_whole(r, rc);
	draw_lifetimes(wrong);
	if (rc == 0) {
		const char *path = below(3) == 0 ? NULL : "lifetimes.csv";
		recorded_whole(
		    r, markets_lifetimes(&m, path, below(2) == 0 ? INFINITY : 50000, &e));
	}
	recorded_error(r, &e);
	recorded_markets(r, &m);
	rate = calloc(m.n + 1, sizeof(*rate));
	for (i = 0; i < 8 && m.n > 0 && rate != NULL; i++)
		bad += ask_run(r, &m, run, rate);
	if (m.n > 0)
		ask_table(r, &m);
	free(rate);
	markets_free(&m);
	return bad;
}

/* ---- cells ---- */

/* Tables of prices and of lifetimes. */
static void
ask_tables(struct recorded *r, const char *prices, const char *lifetimes)
{
	struct market_filter f = {NULL, NULL};
	struct markets m = {0};

	gv_error_clear(&e);
	scratch_file("prices.csv", prices, strlen(prices));
	scratch_file("lifetimes.csv", lifetimes, strlen(lifetimes));
	recorded_whole(r, markets_read(&m, "prices.csv", &f, &e));
	markets_sort(&m);
	recorded_whole(r, markets_lifetimes(&m, "lifetimes.csv", 7, &e));
	recorded_error(r, &e);
	recorded_markets(r, &m);
	markets_free(&m);
}

static void
ask_cells(struct recorded *r)
{
	static const char *const price[] = {"1,1", "1,0", "1,1e9", "1,1000000000.5",
	    "1,-1", "1000000,1", "1000000.5,1", ".5,1", "1.5,1", "0,1", "x,1", "1,x",
	    ",1", "1,"};
	static const char *const life[] = {"1,2,2,preempted", "1,2,3,alive_at_end",
	    "1,3,2,preempted", "1,2,3,lost", "1000000,1,3,preempted",
	    "1000000.5,1,3,preempted", ".5,1,3,preempted", "1.5,1,3,preempted",
	    "x,1,3,preempted", "1,x,3,preempted", "1,1,x,preempted", "1,,2,preempted",
	    "1,1,3,preempted\na,V,1,5,9,preempted",
	    "1,x,3,a\na,V,1,x,2,preempted\na,V,1,2,3,preempted"};
	struct gv_strbuf s = {0};
	size_t i;

	for (i = 0; i < sizeof(price) / sizeof(price[0]); i++) {
		gv_strbuf_clear(&s);
		gv_strbuf_fmt(&s,
		    "timestamp,cloud,zone,gpu,gpus,price_usd_h\n5,a,z,V,%s\n", price[i]);
		ask_tables(r, s.s, "cloud,gpu,gpus,start,end,outcome\n");
		recorded_answer(r, "a price of %s", price[i]);
	}
	for (i = 0; i < sizeof(life) / sizeof(life[0]); i++) {
		gv_strbuf_clear(&s);
		gv_strbuf_fmt(&s, "cloud,gpu,gpus,start,end,outcome\na,V,%s\n", life[i]);
		ask_tables(r,
		    "timestamp,cloud,zone,gpu,gpus,price_usd_h\n5,a,z,V,1,3\n5,a,z,V,2,"
		    "3\n",
		    s.s);
		recorded_answer(r, "a life %zu", i);
	}
	gv_strbuf_free(&s);
}

/* A cheap market, and a fast one: in which a job is that must be done so many seconds later. */
static void
is_in(const struct markets *m, double in_s, size_t market)
{
	const double rate[] = {1, 2};
	struct spot_rules rules = {.policy = SPOT_MULTI_CLOUD, .every_s = 3600};
	struct spot_job job = {.start_s = 10,
	    .steps = 100,
	    .scale_factor = 1,
	    .rate = rate,
	    .deadline_s = 10 + in_s};
	struct spot_run run = {0};

	ok(spot_run(&run, &job, m, &rules) && run.n == 1 && run.stay[0].market == market,
	    "done in %g s", in_s);
	spot_run_free(&run);
}

static void
check_runs(void)
{
	static const char prices[] = "timestamp,cloud,zone,gpu,gpus,price_usd_h\n"
				     "0,a,z,v,1,1\n0,b,z,v,1,9\n20000000,b,z,v,1,9\n";
	const double rate[] = {1, 2};
	struct spot_rules rules = {.policy = SPOT_MULTI_CLOUD, .every_s = 3600};
	struct spot_job job = {
	    .steps = 3600 * 2777 + 1, .scale_factor = 1, .rate = rate, .deadline_s = NAN};
	struct market_filter f = {NULL, NULL};
	struct spot_run run = {0};
	struct markets m = {0};

	gv_error_clear(&e);
	scratch_file("prices.csv", prices, strlen(prices));
	is_int(markets_read(&m, "prices.csv", &f, &e), 0, "two markets");
	markets_sort(&m);
	m.market[0].mttp_s = m.market[1].mttp_s = INFINITY;
	is_in(&m, 99.9, 1);
	is_in(&m, 100, 0);
	ok(spot_run(&run, &job, &m, &rules) && run.end_s == 3600 * 2777 + 1,
	    "the last of many steps is done as well");
	spot_run_free(&run);
	markets_free(&m);
}

int
main(void)
{
	static const char *const files[] = {"prices.csv", "lifetimes.csv", NULL};
	struct recorded r;
	struct spot_run run = {0};
	size_t turn, i, wrong = 0;

	recorded_open(&r);
	scratch_enter();
	for (turn = 0; turn < 120; turn++) {
		draws_begin(81, 0, (uint32_t)turn);
		for (i = 0; i < 8; i++)
			wrong += ask(&r, i % 3 == 2 ? 20 + below(200) : 0, &run);
		recorded_answer(&r, "markets %zu", turn);
	}
	spot_run_free(&run);
	ask_cells(&r);
	check_runs();
	scratch_leave(files);
	is_int(wrong, 0, "stays follow each other and cost what they cost");
	recorded_close(&r);
	return done_testing();
}
