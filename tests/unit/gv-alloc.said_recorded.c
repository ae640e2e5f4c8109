/*
 * What gv-alloc makes of tables and of what a policy says: the problem, its parts, its entities,
 * tables of shares and explanations, tables of changes, and all that is said beside them.  The
 * policy answers by chance.
 */
#include "tap.h"

#include "scratch.h"
#include "stderr_said.h"

#include "alloc_chance.h"
#include "alloc/answer/entity_levels.h"
#include "alloc/answer/one_more.h"
#include "gv-alloc/answer_write.h"
#include "gv-alloc/prices.h"
#include "gv-alloc/say.h"
#include "gv-alloc/standing.h"
#include "gv-alloc/warnings.h"

static bool terminal, shared;  /* shared: always rows of two jobs */
static size_t written, paired; /* answers, and those in which jobs share GPUs */

/* What standard error is taken for, in the place of the C library's. */
int
isatty(int fd)
{
	return terminal && fd == STDERR_FILENO;
}

static int
draw_entities(struct gv_entities *w, struct gv_error *e)
{
	struct gv_strbuf t = {0};
	struct gv_frame f = {0};
	bool tree = uniform() < .5;
	int rc;

	gv_strbuf_fmt(&t, "entity,weight%s\n", tree ? ",parent,quota_gpus" : "");
	gv_strbuf_fmt(&t, "red,%s%s\n", ONE_OF("1", "2"), tree ? ",all,1" : "");
	gv_strbuf_fmt(&t, "all,3%s\n", tree ? ",," : "");
	if (uniform() < .6)
		gv_strbuf_fmt(&t, "Amber,.5%s\n", tree ? ",,2" : "");
	rc = gv_frame_parse(&f, "entities.csv", t.s, t.len, e);
	gv_strbuf_free(&t);
	return rc != 0 ? -1 : gv_entities_from(w, &f, e);
}

/* ---- what is written ---- */

static void
record_written(struct gv_out *out, struct gv_strbuf *text)
{
	struct gv_error e = {0};

	recorded_whole(&r, gv_out_close(out, &e));
	recorded_text(&r, text->s != NULL ? text->s : "");
	gv_strbuf_free(text);
}

static void
write_explanation(const struct gv_answer *a, const struct gv_rates *rates,
    const struct gv_cluster *c, const struct gv_one_more *more,
    const struct gv_entity_levels *l)
{
	static const double some[] = {0, 1, NAN, .5, 1 - 1e-10, 1 - 1e-8};
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_explanation x = {.n = a->p.n, .m = a->p.m};
	struct gv_tabw w;
	size_t i;

	x.job = gv_xcalloc(x.n + 1, sizeof(*x.job));
	x.type = gv_xcalloc(x.m + 1, sizeof(*x.type));
	for (i = 0; i < x.n; i++) {
		x.job[i].binds = (unsigned)below(32);
		x.job[i].bottleneck = uniform() < .5;
		x.job[i].value = some[below(6)];
		x.job[i].time = some[below(6)];
		x.job[i].time_price = some[below(6)];
		x.job[i].need = some[below(6)];
		x.job[i].need_price = some[below(6)];
	}
	for (i = 0; i < x.m; i++) {
		x.type[i].used = a->p.capacity[i] * some[below(6)];
		x.type[i].price = some[below(6)];
	}
	x.cost = a->p.budget * some[below(6)];
	x.budget_price = some[below(6)];
	x.entities = uniform() < .3;
	gv_tabw_init(&w, out, uniform() < .5);
	explain_write(&x, a, rates, c, "chance", more, l, &w);
	record_written(out, &text);
	free(x.job);
	free(x.type);
}

static void
write_answer(
    const struct gv_answer *a, const struct gv_rates *rates, const struct gv_cluster *c)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct answer_columns every = {.policy = "chance"};
	bool sharing = a->s.n_pairs > 0 || uniform() < .2;
	struct gv_tabw w;

	if (uniform() < .3)
		every.relaxation = "1.5";
	if (uniform() < .3)
		every.reads = "elapsed_s";
	gv_tabw_init(&w, out, false);
	answer_write(a, rates, c, &every, sharing, &w);
	record_written(out, &text);
}

static void
record_answer(const struct gv_answer *a, const struct gv_rates *rates)
{
	size_t i;

	recorded_wholes(&r, a->row, rates->n_jobs);
	for (i = 0; i < rates->n_jobs; i++)
		recorded_whole(&r, a->later[i]);
	recorded_whole(&r, (long long)a->n_classes);
	recorded_whole(&r, a->impossible);
	recorded_whole(&r, (long long)a->s.n_made);
	recorded_double(&r, a->s.objective);
	recorded_double(&r, a->s.bound);
	recorded_double(&r, a->s.gap);
	recorded_whole(&r, a->s.has_bound);
	for (i = 0; a->s.late != NULL && i < a->p.n; i++)
		recorded_whole(&r, a->s.late[i]);
	recorded_some(&r, a->s.multipliers.job, a->p.n);
	recorded_some(&r, a->s.multipliers.time, a->p.n);
}

static void
say_all(const struct options *o, const struct gv_answer *a, const struct gv_rates *rates,
    const struct gv_cluster *c)
{
	static const double together[] = {NAN, 1.5, 0};
	size_t missing[14], n = below(rates->n_jobs + 1), i;
	char text[GV_NUM_LEN];
	struct gv_answer own;

	for (i = 0; i < n; i++)
		missing[i] = i;
	say_missing(rates, missing, n, "throughputs.csv");
	say_never_running(rates, c, a);
	warn_of_slips(o, rates, c, o->answer.entities);
	if (a->p.number[GV_NUMBER_NEED] != NULL)
		say_late(o, rates, a);
	if (a->impossible)
		return;
	say_never(a);
	own = *a;
	if (one_in(3))
		own.stayed = (struct gv_stayed){.asked = true,
		    .best = 1.25,
		    .moved = 2.5,
		    .without = 5.75,
		    .slower = .0125};
	say_objective(o, rates, &own, together[below(3)]);
	relaxation_text(text, rates, a);
	recorded_text(&r, text);
}

/* ---- questions ---- */

static struct options
draw_options(const struct gv_policy *policy, const struct gv_entities *w)
{
	struct options o = {.policy = policy, .name = "chance", .answer.entities = w};
	struct gv_answer_options *opt = &o.answer;

	opt->seed = below(5);
	if (uniform() < .3 && !(policy->numbers >> GV_NUMBER_DRAW & 1))
		opt->pop = 2 + below(2);
	opt->pop_bound = uniform() < .5;
	if (uniform() < .3)
		opt->budget = .5 * (double)(1 + below(8));
	opt->agnostic = uniform() < .2;
	opt->multipliers = uniform() < .4;
	opt->policy.relax_slo = uniform() < .6;
	opt->policy.inside = (enum gv_inside)below(3);
	if (uniform() < .2)
		opt->policy.solve.solver = GV_SOLVER_GLPK;
	o.entities = w != NULL || uniform() < .1 ? "entities.csv" : NULL;
	o.prices = uniform() < .2 ? "prices.csv" : NULL;
	o.common.quiet = uniform() < .1;
	return o;
}

static void
ask_answer(const struct options *o, const struct gv_rates *rates,
    const struct gv_cluster *c, struct gv_error *e)
{
	struct gv_one_more *more = gv_xcalloc(c->n_types, sizeof(*more));
	struct gv_entity_levels l = {0};
	struct gv_answer a;
	size_t i;
	int rc = gv_answer_make(&a, rates, c, o->policy, &o->answer, e);

	recorded_whole(&r, rc);
	if (rc == 0) {
		record_answer(&a, rates);
		say_all(o, &a, rates, c);
	}
	if (rc == 0 && !a.impossible && a.p.n > 0) {
		written++;
		paired += a.s.n_pairs > 1;
		write_answer(&a, rates, c);
		gv_entity_levels_make(&l, &a, rates, o->answer.entities);
		for (i = 0; i < c->n_types; i++)
			more[i] = (struct gv_one_more){.change = NAN};
		rc = a.s.n_pairs > 0 ? 0
				     : gv_one_more_make(more, &l, &a, rates, c, o->policy,
					   &o->answer, NULL, e);
		recorded_whole(&r, rc);
		write_explanation(&a, rates, c, more, &l);
		gv_entity_levels_free(&l);
	}
	gv_answer_free(&a);
	free(more);
}

static void
ask(void)
{
	struct gv_policy policy = draw_policy();
	struct gv_cluster c = {0};
	struct gv_rates rates = {0};
	struct gv_entities w = {0};
	struct gv_error e = {0};
	bool pairs = policy.shares && uniform() < .4, entities = uniform() < .6;
	struct options o;
	int rc = draw_cluster(&c, &e);

	policy.shares |= shared;
	if (rc == 0)
		rc = draw_rates(&rates, &c, pairs || shared, &e);
	if (rc == 0 && entities)
		rc = draw_entities(&w, &e);
	o = draw_options(&policy, entities ? &w : NULL);
	if (shared)
		o.answer.budget = 0;
	if (rc == 0)
		ask_answer(&o, &rates, &c, &e);
	record_error(&e);
	gv_entities_free(&w);
	gv_rates_free(&rates);
	gv_cluster_free(&c);
}

/* Offers at a time. */
static void
ask_prices(void)
{
	struct gv_cluster c = {0};
	struct gv_error e = {0};
	struct gv_strbuf t = {0};
	size_t n = below(8), i;
	bool times = uniform() < .8, sources = uniform() < .7;
	double at = uniform() < .3 ? INFINITY : (double)below(5);

	gv_strbuf_fmt(&t, "gpu_type,usd_per_h%s%s\n", times ? ",time_s" : "",
	    sources ? ",source" : "");
	for (i = 0; i < n; i++) {
		gv_strbuf_fmt(&t, "%s,", ONE_OF("A", "B", "C", "D", "A"));
		gv_strbuf_fmt(&t, "%s", ONE_OF("1", "2", "3", "0", "4", "2", "-1"));
		if (times)
			gv_strbuf_fmt(
			    &t, ",%s", ONE_OF("0", "1", "2", "3", "4", "1", "x"));
		if (sources)
			gv_strbuf_fmt(&t, ",%s", ONE_OF("s", "t", ""));
		gv_strbuf_str(&t, "\n");
	}
	scratch_file("prices.csv", t.s, t.len);
	gv_strbuf_free(&t);
	if (draw_cluster(&c, &e) == 0) {
		recorded_whole(&r, prices_read(&c, "prices.csv", at, &e));
		for (i = 0; i < c.n_types; i++)
			recorded_double(&r, c.type[i].usd_per_h);
	}
	record_error(&e);
	gv_cluster_free(&c);
}

/* Only on a terminal, and of what is on the way. */
static void
ask_progress(void)
{
	static const double part[] = {-1, 0, .25, .5, 1, 1.5};
	size_t i;

	terminal = true;
	for (i = 0; i < 6; i++) {
		say_progress(part[i]);
		gv_warn("%g", part[i]);
	}
	terminal = false;
}

static void
test_all(const char *what, uint32_t stream, void (*ask_one)(void), int answers, int each)
{
	int k, i;

	for (k = 0; k < answers; k++) {
		draws_begin(stream, 1, (uint32_t)k);
		written = paired = 0;
		stderr_listen();
		for (i = 0; i < each; i++)
			ask_one();
		stderr_said(&r);
		recorded_answer(
		    &r, "%s, %d, %zu of %zu shared", what, k, paired, written);
	}
}

int
main(void)
{
	static const char *const made[] = {"said", "prices.csv", NULL};

	gv_init("gv-alloc");
	recorded_open(&r);
	scratch_enter();
	test_all("answers", 1, ask, 60, 30);
	shared = true;
	test_all("shared", 4, ask, 20, 40);
	shared = false;
	test_all("prices", 2, ask_prices, 20, 30);
	test_all("progress", 3, ask_progress, 1, 1);
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
