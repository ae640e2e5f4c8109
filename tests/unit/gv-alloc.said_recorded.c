/*
 * What gv-alloc makes of tables and of what a policy says: the problem, its parts, its entities,
 * tables of shares and explanations, tables of changes, and all that is said beside them.  The
 * policy answers by chance.
 */
#include "tap.h"

#include "alloc_draws.h"
#include "alloc/answer/entity_levels.h"
#include "alloc/answer/one_more.h"
#include "gv-alloc/answer_write.h"
#include "gv-alloc/prices.h"
#include "gv-alloc/say.h"
#include "gv-alloc/standing.h"
#include "gv-alloc/warnings.h"
#include "base/strbuf.h"
#include "scratch.h"
#include "stderr_said.h"

static struct recorded r;

static void
record_error(struct gv_error *e)
{
	size_t i;

	recorded_whole(&r, (long long)e->count);
	for (i = 0; i < e->count && i < GV_ERROR_KEPT; i++)
		recorded_text(&r, e->text[i]);
	gv_error_clear(e);
}

static const char *
one_of(const char *const *list, size_t n)
{
	return list[below(n)];
}
#define ONE_OF(...)                                         \
	one_of((const char *const[]){__VA_ARGS__},          \
	    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* ---- the policy ---- */

/* Shares that fit, of half of what there is or all, now and then a little more. */
static void
draw_shares(const struct gv_problem *p, struct gv_solution *s)
{
	static const double over[] = {1, 1, 1, 1, 1, 1 + 5e-10, 1 + 1e-8, 1.5};
	double more = over[below(8)];
	size_t i, j;

	for (j = 0; j < p->m; j++) {
		double gpus = 0, most;

		for (i = 0; i < p->n; i++)
			gpus += p->count[i] * p->scale[i];
		most = fmin(1 / (double)p->m, p->capacity[j] / gpus);
		for (i = 0; i < p->n; i++)
			if (gv_problem_rate(p, i, j) > 0)
				s->x[i * p->m + j] = more * most * .5 * (double)below(3);
	}
	if (p->together == NULL)
		return;
	drawn_pair_shares(p, s);
	for (i = 0; i < s->n_pairs; i++)
		s->pair[i].x *= .01;
	for (i = 0; i < p->n * p->m; i++)
		s->x[i] *= .9;
}

static int
answer(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *s, struct gv_error *e)
{
	static const double values[] = {1, 2, .5, 1, 2, .5, 1, 0, -1, INFINITY, NAN},
			    relaxed[] = {0, 1, 1, 1.0000001, 1.5, 2.00000049, 12345678};
	double way = uniform();
	size_t i;

	recorded_problem(&r, p);
	recorded_double(&r, p->tree != NULL ? (double)p->tree->n : -1);
	recorded_whole(&r, opt->relax_slo);
	recorded_whole(&r, opt->inside);
	recorded_whole(&r, s->multipliers.job != NULL);
	draw_shares(p, s);
	s->objective = values[below(uniform() < .8 ? 7 : 11)];
	s->bound = values[below(uniform() < .8 ? 7 : 11)];
	s->has_bound = uniform() < .7;
	s->gap = 1e-3 * (double)below(5);
	s->exact = uniform() < .3;
	s->n_made = below(9);
	for (i = 0; s->multipliers.job != NULL && i < p->n; i++) {
		s->multipliers.job[i] = (double)below(7);
		s->multipliers.time[i] = (double)below(7);
	}
	if (p->number[GV_NUMBER_NEED] != NULL && uniform() < .4) {
		s->late = gv_xcalloc(p->n, sizeof(*s->late));
		for (i = 0; i < p->n; i++)
			s->late[i] = uniform() < .6;
		s->relaxation = relaxed[below(7)];
	}
	if (way < .92)
		return 0;
	if (way < .95)
		return s->late != NULL;
	return gv_error_set(
	    e, "%s", way < .97 ? "linear program: a number" : "linear programs: none");
}

static struct gv_policy
draw_policy(void)
{
	struct gv_policy policy = {.name = "chance", .solve = answer};

	if (uniform() < .5)
		policy.numbers |= GV_NEEDS;
	if (uniform() < .3)
		policy.numbers |= 1u << GV_NUMBER_STEPS;
	if (uniform() < .3)
		policy.numbers |= 1u << GV_NUMBER_ELAPSED;
	if (uniform() < .2)
		policy.numbers |= 1u << GV_NUMBER_ISOLATED;
	if (uniform() < .2)
		policy.numbers |= 1u << GV_NUMBER_DRAW;
	policy.measure = (enum gv_measure)below(8);
	policy.minimises = uniform() < .5;
	policy.multipliers = uniform() < .7;
	policy.entities = uniform() < .7;
	policy.prices = uniform() < .3;
	policy.shares = uniform() < .8;
	return policy;
}

/* ---- tables ---- */

static const char head[] =
    "job_id,scale_factor,priority_weight,entity,total_steps,steps_remaining,elapsed_s,"
    "isolated_elapsed_s,arrival_s,deadline_s,slo_factor,min_steps_per_s,job_type";

/* What the rows of a job have in common, from its scale_factor on. */
static void
draw_job(struct gv_strbuf *t, bool needs)
{
	size_t scale = uniform() < .7 ? 1 : 1 + below(4), weight = below(5), left = below(9);

	gv_strbuf_fmt(t, "%zu,%s,", scale, weight == 0 ? "2" : "1");
	gv_strbuf_fmt(t, "%s,100,%zu,", ONE_OF("red", "blue", "amber", "", "red"), 10 * left);
	gv_strbuf_fmt(t, "%zu,", below(3) * 10);
	gv_strbuf_fmt(t, "%zu,", below(3));
	gv_strbuf_fmt(t, "%zu,", below(3) * 5);
	gv_strbuf_fmt(t, "%s,", needs ? ONE_OF("", "", "20", "1000", "1e9") : "");
	gv_strbuf_fmt(t, "%s,", needs ? ONE_OF("", "", "2", "1.5") : "");
	gv_strbuf_fmt(t, "%s,", needs ? ONE_OF("", "0", ".5", "100") : "");
	gv_strbuf_fmt(t, "%s", ONE_OF("lm", "resnet", ""));
}

/* Rows of job m, behind "place" where that is not 0. */
static void
draw_rows(struct gv_strbuf *t, size_t m, size_t place, bool needs, bool pairs)
{
	struct gv_strbuf job = {0};
	size_t j, some = below(8);

	draw_job(&job, needs);
	for (j = 0; j < 4; j++) {
		const char *rate =
		    ONE_OF("1", "2.5", "4", "1", "2.5", "4", "1e-3", "0", "1e-300");

		if (j > 0 && some >> (j - 1) & 1)
			continue;
		if (place > 0)
			gv_strbuf_fmt(t, "new,%zu,", place);
		gv_strbuf_fmt(t, "j%zu,%s,%c,%s%s\n", m, job.s, "BACD"[j], rate,
		    pairs ? ",," : "");
		if (pairs && m > 0 && uniform() < .5)
			gv_strbuf_fmt(t, "j%zu,%s,%c,%s,j%zu,1\n", m, job.s, "BACD"[j],
			    rate, below(m));
	}
	gv_strbuf_free(&job);
}

static int
draw_rates(struct gv_rates *to, const struct gv_cluster *c, bool pairs, struct gv_error *e)
{
	struct gv_strbuf t = {0};
	struct gv_frame f = {0};
	bool needs = uniform() < .5, more = uniform() < .2;
	size_t n = uniform() < .1 ? 14 : 1 + below(6), m;
	int rc;

	gv_strbuf_fmt(&t, "%s,gpu_type,steps_per_s%s\n", head,
	    pairs ? ",with_job_id,with_steps_per_s" : "");
	for (m = 0; m < n; m++)
		draw_rows(&t, more ? n - 1 - m : m, 0, needs, pairs && !more);
	rc = gv_frame_parse(&f, "jobs.csv", t.s, t.len, e);
	gv_strbuf_free(&t);
	return rc != 0 ? -1 : gv_rates_from(to, &f, c, e);
}

static int
draw_cluster(struct gv_cluster *c, struct gv_error *e)
{
	struct gv_strbuf t = {0};
	struct gv_frame f = {0};
	bool priced = uniform() < .8;
	size_t n = 1 + below(3), j;
	int rc;

	gv_strbuf_str(&t, "gpu_type,gpus,usd_per_h\n");
	for (j = 0; j < n; j++) {
		gv_strbuf_fmt(&t, "%c,%zu,", "ABC"[j], 1 + below(5));
		gv_strbuf_fmt(&t, "%s\n", priced ? ONE_OF("1", "2.5", "0", "1") : "");
	}
	rc = gv_frame_parse(&f, "cluster.csv", t.s, t.len, e);
	if (rc == 0)
		rc = gv_cluster_from(c, &f, e);
	gv_frame_free(&f);
	gv_strbuf_free(&t);
	for (j = 0; rc == 0 && j < c->n_types; j++)
		c->type[j].away = uniform() < .1 ? 3 : 0;
	return rc;
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
write_answer(const struct gv_answer *a, const struct gv_rates *rates,
    const struct gv_cluster *c)
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
	say_objective(o, rates, a, together[below(3)]);
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
		write_answer(&a, rates, c);
		gv_entity_levels_make(&l, &a, rates, o->answer.entities);
		for (i = 0; i < c->n_types; i++)
			more[i] = (struct gv_one_more){.change = NAN};
		rc = a.s.n_pairs > 0
			 ? 0
			 : gv_one_more_make(
			       more, &l, &a, rates, c, o->policy, &o->answer, NULL, e);
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

	if (rc == 0)
		rc = draw_rates(&rates, &c, pairs, &e);
	if (rc == 0 && entities)
		rc = draw_entities(&w, &e);
	o = draw_options(&policy, entities ? &w : NULL);
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
			gv_strbuf_fmt(&t, ",%s", ONE_OF("0", "1", "2", "3", "4", "1", "x"));
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

static void
test_all(const char *what, uint32_t stream, void (*ask_one)(void), int answers, int each)
{
	int k, i;

	for (k = 0; k < answers; k++) {
		draws_begin(stream, 1, (uint32_t)k);
		stderr_listen();
		for (i = 0; i < each; i++)
			ask_one();
		stderr_said(&r);
		recorded_answer(&r, "%s, %d", what, k);
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
	test_all("prices", 2, ask_prices, 20, 30);
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
