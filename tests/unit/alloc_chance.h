/*
 * A policy that answers by chance, and tables of jobs and GPUs for it, of all that gv-alloc
 * reads.  What it is asked is part of the answer.
 */
#ifndef ALLOC_CHANCE_H
#define ALLOC_CHANCE_H

#include "alloc_draws.h"
#include "alloc/policy/policy.h"
#include "base/strbuf.h"

static struct recorded r;

static inline bool
one_in(size_t n)
{
	return below(n) == 0;
}

static inline void
record_error(struct gv_error *e)
{
	size_t i;

	recorded_whole(&r, (long long)e->count);
	for (i = 0; i < e->count && i < GV_ERROR_KEPT; i++)
		recorded_text(&r, e->text[i]);
	gv_error_clear(e);
}

static inline const char *
one_of(const char *const *list, size_t n)
{
	return list[below(n)];
}
#define ONE_OF(...)                                \
	one_of((const char *const[]){__VA_ARGS__}, \
	    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* ---- the policy ---- */

/* Shares that fit, of half of what there is or all, now and then a little more. */
static inline void
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

static inline int
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
	    e, "%s", way < .97 ? "linear program: a number" : "linear program:none");
}

static inline struct gv_policy
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
    "entity,job_id,scale_factor,priority_weight,total_steps,steps_remaining,elapsed_s,"
    "isolated_elapsed_s,arrival_s,deadline_s,slo_factor,min_steps_per_s,job_type";

/* What the rows of a job have in common, from its scale_factor on. */
static inline void
draw_job(struct gv_strbuf *t, bool needs, bool pairs)
{
	size_t scale = pairs || uniform() < .7 ? 1 : 1 + below(4), weight = below(5),
	       left = below(9);

	gv_strbuf_fmt(t, "%zu,%s,", scale, weight == 0 ? "2" : "1");
	gv_strbuf_fmt(t, "%s,%zu,", one_in(60) ? "" : "100", 10 * left);
	gv_strbuf_fmt(t, "%zu,", below(3) * 10);
	gv_strbuf_fmt(t, "%zu,", below(3));
	gv_strbuf_fmt(t, "%s,", needs ? ONE_OF("0", "5", "5", "1e13") : "5");
	gv_strbuf_fmt(t, "%s,", needs ? ONE_OF("", "", "20", "1000", "1e9") : "");
	gv_strbuf_fmt(t, "%s,", needs ? ONE_OF("", "", "2", "1.5") : "");
	gv_strbuf_fmt(t, "%s,", needs ? ONE_OF("", "0", ".5", "100") : "");
	gv_strbuf_fmt(t, "%s", ONE_OF("lm", "resnet", ""));
}

/* Rows of job m, each with that before it. */
static inline void
draw_rows(struct gv_strbuf *t, const char *before, size_t m, bool needs, bool pairs)
{
	const char *entity = ONE_OF("red", "blue", "amber", "", "red");
	struct gv_strbuf job = {0};
	size_t j, some = below(8);

	draw_job(&job, needs, pairs);
	for (j = 0; j < 4; j++) {
		const char *rate =
		    ONE_OF("1", "2.5", "4", "1", "2.5", "4", "1e-3", "0", "1e-300");

		if (j > 0 && some >> (j - 1) & 1)
			continue;
		if (!pairs || !one_in(5))
			gv_strbuf_fmt(t, "%s%s,j%zu,%s,%c,%s%s\n", before, entity, m,
			    job.s, "BACD"[j], rate, pairs ? ",," : "");
		if (pairs && m > 0 && uniform() < .5)
			gv_strbuf_fmt(t, "%s,j%zu,%s,%c,%s,j%zu,1\n", entity, m, job.s,
			    "BACD"[j], rate, below(m));
	}
	gv_strbuf_free(&job);
}

static inline int
draw_rates(
    struct gv_rates *to, const struct gv_cluster *c, bool pairs, struct gv_error *e)
{
	struct gv_strbuf t = {0};
	struct gv_frame f = {0};
	bool needs = uniform() < .5, more = uniform() < .2, back = one_in(8);
	size_t n = uniform() < .1 ? 14 : 1 + below(6), m;
	int rc;

	gv_strbuf_fmt(&t, "%s%s,gpu_type,steps_per_s%s\n", back ? "policy," : "", head,
	    pairs ? ",with_job_id,with_steps_per_s" : "");
	for (m = 0; m < n; m++)
		draw_rows(&t, back ? "fair," : "", more ? n - 1 - m : m, needs, pairs);
	rc = gv_frame_parse(&f, "jobs.csv", t.s, t.len, e);
	gv_strbuf_free(&t);
	return rc != 0 ? -1 : gv_rates_from(to, &f, c, e);
}

static inline int
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
		c->type[j].away = uniform() < .2 ? 3 : 0;
	return rc;
}

#endif
