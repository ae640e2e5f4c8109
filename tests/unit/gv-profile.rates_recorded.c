/*
 * gv-profile: what is to be measured of drawn jobs on drawn clusters, where, what is said and
 * written of it, and the rates of drawn reports are what they were.
 */
#include <fcntl.h>
#include <unistd.h>

#include "gv-profile/rates/measured.h"
#include "gv-profile/rates/plan.h"
#include "gv-profile/rates/rate_fit.h"
#include "gv-profile/rates/rates_table.h"
#include "gv-profile/rates/run.h"
#include "table_draws.h"

static struct gv_error e;

/* ---- what standard error gets ---- */

static int said, real_stderr;

static void
begin_saying(void)
{
	char path[] = "/tmp/gv-said-XXXXXX";

	said = mkstemp(path);
	unlink(path);
	fflush(stderr);
	real_stderr = dup(2);
	dup2(said, 2);
}

static void
recorded_said(struct recorded *r)
{
	char buf[4096];
	ssize_t n;

	fflush(stderr);
	dup2(real_stderr, 2);
	close(real_stderr);
	lseek(said, 0, SEEK_SET);
	while ((n = read(said, buf, sizeof(buf))) > 0)
		recorded_bytes(r, buf, (size_t)n);
	close(said);
}

/* ---- plans ---- */

static const struct drawn_column job_columns[] = {{"job_id", NULL, 4, false},
    {"job_type", "a|a|b|c||", 3, false}, {"scale_factor", "1|1|2|4||3", 3, false},
    {"command", "train|train|run x|", 4, false}, {"gpu_type", "v100", 1, false},
    {"steps_per_s", "1.50", 1, false}, {"gpu_utilization", "0.5", 1, false},
    {"gpu_memory_bytes", "5", 1, false}, {"note", "x|\"y\"|", 2, false},
    {NULL, NULL, 0, false}};

static bool
draw_jobs(struct gv_rates *jobs)
{
	size_t n = below(6), i;
	struct drawn_table t;
	struct gv_frame f;

	drawn_table_begin(&t, job_columns);
	for (i = 0; i < n; i++)
		drawn_table_row(&t, i, NULL, NULL);
	return drawn_table_end(&t, &f, &e) == 0 && gv_jobs_from(jobs, &f, &e) == 0;
}

static bool
draw_known(struct gv_frame *f)
{
	static const struct drawn_column column[] = {{"job_type", "a|b|c|d", 4, false},
	    {"scale_factor", "1|2|4|", 4, false}, {"gpu_type", "v100|k80|b|x", 4, false},
	    {"steps_per_s", "1.50|0|2|1e3|0.0", 4, false}, {NULL, NULL, 0, false}};
	size_t n = below(5), i;
	struct drawn_table t;

	drawn_table_begin(&t, column);
	for (i = 0; i < n; i++)
		drawn_table_row(&t, i, NULL, NULL);
	return drawn_table_end(&t, f, &e) == 0;
}

static void
recorded_plan(struct recorded *r, const struct plan *p)
{
	size_t row, type;
	int source;

	recorded_whole(r, (long long)p->n_classes);
	recorded_whole(r, (long long)p->n_pairs);
	for (row = 0; row < p->n_classes + p->n_pairs; row++)
		for (type = 0; type < p->n_types; type++) {
			const struct cell *c = plan_cell(p, row, type);

			recorded_whole(r, c->source);
			recorded_double(r, c->steps_per_s);
			recorded_cell(r, c->text);
			recorded_whole(r, (long long)plan_job(p, row, 0));
			recorded_whole(r, (long long)plan_job(p, row, 1));
		}
	for (source = TO_MEASURE; source <= UNMEASURED; source++)
		recorded_whole(r, (long long)plan_count(p, (enum source)source));
}

/* As if it had been measured. */
static void
draw_results(struct plan *p, size_t from, size_t to)
{
	size_t row, type;

	for (row = from; row < to; row++)
		for (type = 0; type < p->n_types; type++) {
			struct cell *c = plan_cell(p, row, type);

			if (c->source != TO_MEASURE)
				continue;
			if (below(6) == 0)
				c->source = UNMEASURED;
			else if (below(4) > 0)
				c->steps_per_s = (double)(1 + below(9000)) / 64;
			if (c->steps_per_s > 0)
				c->second_steps_per_s = (double)(1 + below(900)) / 8;
			c->use.looks = below(3);
			c->use.utilization = (double)below(4097) / 4096;
			c->use.memory_bytes = (int64_t)below(1 << 20) << 12;
		}
}

static void
recorded_tables(struct recorded *r, const struct plan *p, const struct gv_rates *jobs,
    const struct gv_cluster *c)
{
	bool usage = below(2) == 0;
	struct gv_strbuf s = {0};
	struct gv_out *out = gv_out_memory(&s);
	struct gv_tabw w;

	gv_tabw_init(&w, out, below(2) == 0);
	write_rates(&w, p, jobs, c, usage);
	gv_tabw_between(&w);
	write_pairs(&w, p, jobs, c, usage);
	gv_tabw_between(&w);
	write_throughputs(&w, p, jobs, c);
	recorded_whole(r, gv_out_close(out, &e));
	recorded_text(r, s.s);
	gv_strbuf_free(&s);
}

/* What they are called, and whether they could be run on the GPUs of one machine or of several. */
static void
recorded_runs(
    struct recorded *r, struct plan *p, const struct gv_rates *jobs, struct gv_cluster *c)
{
	struct site site = {.cluster = *c};
	struct drive d = {.p = p, .jobs = jobs, .site = &site};
	struct gpus g;
	size_t i, got;

	site_gpus(&g, &site, 1 + below(3));
	for (i = 0; i < g.n; i++) {
		recorded_whole(r, (long long)g.gpu[i].type);
		recorded_whole(r, g.gpu[i].id);
	}
	for (i = 0; i < c->n_types; i++)
		recorded_whole(r, gpus_take(&g, i, 1, &got));
	gv_error_clear(&e);
	recorded_whole(r, run_check(p, jobs, &site, &g, &e));
	recorded_error(r, &e);
	for (i = 0; i < (p->n_classes + p->n_pairs) * p->n_types; i++) {
		struct gv_error label = {0};

		run_name(&label, &d, i, run_jobs(&d, i) == 2 ? i % 2 : 0);
		recorded_error(r, &label);
		gv_error_clear(&label);
		recorded_whole(r, (long long)run_jobs(&d, i));
		recorded_text(r, run_type(&d, i)->name);
	}
	site_gpus_free(&g);
}

static void
ask_plan(struct recorded *r)
{
	struct gv_cluster c = {0};
	struct gv_rates jobs = {0};
	struct gv_frame known = {0};
	bool knows = below(3) == 0;
	struct plan p = {0};

	gv_error_clear(&e);
	if (draw_table_cluster(&c, &e) != NULL && draw_jobs(&jobs) &&
	    (!knows || draw_known(&known)) &&
	    plan_make(&p, &jobs, &c, knows ? &known : NULL, &e) == 0) {
		recorded_plan(r, &p);
		if (below(3) > 0)
			plan_add_pairs(&p, &jobs);
		recorded_plan(r, &p);
		recorded_runs(r, &p, &jobs, &c);
		draw_results(&p, 0, p.n_classes);
		plan_spare_pairs(&p);
		recorded_plan(r, &p);
		draw_results(&p, p.n_classes, p.n_classes + p.n_pairs);
		recorded_tables(r, &p, &jobs, &c);
	}
	plan_free(&p); /* also where none was made */
	recorded_error(r, &e);
	gv_rates_free(&jobs);
	gv_frame_free(&known);
	gv_cluster_free(&c);
}

/* ---- which GPUs ---- */

enum { MOST_GPUS = 24, MOST_NODES = 5, MOST_GANGS = 8 };

static void
draw_gpus(struct gpus *g)
{
	size_t i, node;

	*g = (struct gpus){.n_nodes = 1 + below(MOST_NODES)};
	g->most_runs = below(4);
	g->gpu = gv_xcalloc(MOST_GPUS, sizeof(*g->gpu));
	g->group = gv_xcalloc(MOST_NODES, sizeof(*g->group));
	g->runs = gv_xcalloc(MOST_NODES, sizeof(*g->runs));
	for (node = 0; node < g->n_nodes; node++) {
		size_t n = below(MOST_GPUS / MOST_NODES + 1);

		g->group[node] = below(3);
		for (i = 0; i < n; i++) {
			struct gpu *gpu = &g->gpu[g->n++];

			gpu->type = below(4) == 0;
			gpu->node = node;
			gpu->id = (int)(2 * i);
			gpu->away = below(8) == 0;
		}
	}
}

static void
ask_gpus(struct recorded *r)
{
	size_t gang[MOST_GANGS][MOST_GPUS], size[MOST_GANGS] = {0}, turn, i;
	double gpu_s[2], all_s, most_s;
	struct gpus g;

	draw_gpus(&g);
	for (turn = 0; turn < 20; turn++) {
		size_t which = below(MOST_GANGS), type = below(2), n = 1 + below(6);

		recorded_whole(r, gpus_fit(&g, type, n, turn % 2 == 0));
		if (size[which] > 0) {
			gpus_give(&g, gang[which], size[which]);
			size[which] = 0;
		} else if (gpus_take(&g, type, n, gang[which])) {
			size[which] = n;
			recorded_wholes(r, gang[which], n);
		}
		for (i = 0; i < g.n; i++)
			recorded_whole(r, g.gpu[i].busy);
		recorded_wholes(r, g.runs, g.n_nodes);
		gpu_s[0] = (double)below(100);
		gpu_s[1] = (double)below(100);
		all_s = (double)below(300);
		most_s = (double)below(30);
		recorded_double(r, gpus_left_s(&g, gpu_s, 2, all_s, most_s));
		if (g.n > 0 && below(4) == 0) {
			i = below(g.n);
			g.gpu[i].away = !g.gpu[i].away;
		}
	}
	free(g.gpu);
	free(g.group);
	free(g.runs);
}

/* ---- reports ---- */

static void
recorded_fit(struct recorded *r, const struct rate_fit *f)
{
	recorded_double(r, f->steps_per_s);
	recorded_double(r, f->standard_error);
	recorded_double(r, f->span_s);
	recorded_whole(r, (long long)f->n);
}

static void
ask_fit(struct recorded *r)
{
	enum { MOST = 40 };
	struct report report[MOST];
	struct fit_rule rule;
	size_t n = below(MOST + 1), noise = below(4), i;
	double time_s = (double)below(1000), steps = 0,
	       each = (double)(1 + below(20)) / 8;
	bool complete = false;
	struct rate_fit f = {0};

	rule.warmup_s = (double)below(5);
	rule.window_s = (double)(1 + below(12));
	for (i = 0; i < n; i++) {
		time_s += each * (noise == 0 ? 1 : .5 + uniform());
		steps += noise < 2 ? 10 : (double)(1 + below(noise == 2 ? 2 : 40));
		report[i] = (struct report){time_s, steps};
	}
	for (i = 0; i <= n; i += 1 + below(3)) {
		if (i > 0)
			recorded_whole(r, (long long)fit_window(&rule, report, i));
		recorded_whole(r, rate_fit(&f, report, i));
		recorded_fit(r, &f);
		if (i > 0)
			recorded_whole(r, fit_enough(&rule, report, i));
		if (i > 0)
			recorded_whole(r, fit_best(&f, &complete, &rule,
					      report[0].time_s - 1, report, i));
		recorded_whole(r, complete);
		recorded_fit(r, &f);
	}
}

/* What is said of a measurement. */
static void
ask_measured(struct recorded *r)
{
	static const char *const line[] = {"", "Killed", "a \"b\"\t", "out of memory"};
	static const double error[] = {0, .01, .049, .0501, .3, 2};
	struct measurement m = {0};
	double timeout_s;

	m.verdict = (enum verdict)below(4);
	m.fit.n = below(5);
	m.fit.steps_per_s = (double)(1 + below(100000)) / 7;
	m.fit.standard_error = m.fit.steps_per_s * error[below(6)];
	m.fit.span_s = (double)below(1000) / 3;
	m.left = below(2) == 0;
	m.cut = below(3) == 0;
	m.status = (int)below(140);
	snprintf(m.last_line, sizeof(m.last_line), "%s", line[below(4)]);
	m.use.throttled = below(4) == 0;
	timeout_s = (double)below(100) / 2;
	measured_warn("job", &m, timeout_s);
	measured_say("job", &m);
	recorded_double(r, measured_rate(&m));
}

int
main(void)
{
	struct recorded r;
	size_t i, k;

	recorded_open(&r);
	for (i = 0; i < 100; i++) {
		draws_begin(43, (uint32_t)i, 0);
		for (k = 0; k < 20; k++)
			ask_plan(&r);
		recorded_answer(&r, "plans %zu", i);
		draws_begin(43, (uint32_t)i, 100);
		for (k = 0; k < 4; k++)
			ask_gpus(&r);
		recorded_answer(&r, "GPUs %zu", i);
		for (k = 0; k < 4; k++)
			ask_fit(&r);
		recorded_answer(&r, "reports %zu", i);
	}
	for (i = 0; i < 10; i++) {
		draws_begin(43, (uint32_t)i, 200);
		begin_saying();
		for (k = 0; k < 40; k++)
			ask_measured(&r);
		recorded_said(&r);
		recorded_answer(&r, "what is said %zu", i);
	}
	recorded_close(&r);
	return done_testing();
}
