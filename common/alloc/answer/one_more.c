#include "one_more.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "shares.h"
#include "lp/tolerance.h"

/* The cluster with a GPU more of a type; only its types are there. */
static struct gv_cluster
with_one_more(const struct gv_cluster *c, size_t type)
{
	struct gv_cluster more = {.n_types = c->n_types};

	more.type = gv_xcalloc(c->n_types, sizeof(*more.type));
	memcpy(more.type, c->type, c->n_types * sizeof(*more.type));
	more.type[type].gpus++;
	return more;
}

/*
 * Types that gangs of b newly fit into count in their P_i through their rates; of
 * what is beyond their reach only the rest is left, of a's GPUs.
 */
static void
keep_beyond(struct gv_problem *b, const struct gv_problem *a)
{
	static const enum gv_problem_number numbers[] = {
	    GV_NUMBER_BEYOND, GV_NUMBER_BEYOND_GPUS};
	static const enum gv_problem_number away[] = {
	    GV_NUMBER_AWAY, GV_NUMBER_AWAY_GPUS};
	size_t i, j, k;

	for (k = 0; k < 2 && a->number[away[k]] != NULL; k++)
		memcpy(b->number[away[k]], a->number[away[k]],
		    b->n * sizeof(*b->number[away[k]]));
	for (k = 0; k < 2 && a->number[numbers[k]] != NULL; k++) {
		double *to;

		if (b->number[numbers[k]] == NULL)
			gv_problem_ask(b, 1u << numbers[k]);
		to = b->number[numbers[k]];
		for (i = 0; i < b->n; i++) {
			to[i] = a->number[numbers[k]][i];
			for (j = 0; j < b->m; j++)
				if (gv_problem_rate(b, i, j) > 0 &&
				    b->scale[i] > a->capacity[j])
					to[i] -= a->capacity[j] *
						 (k == 0 ? gv_problem_rate(b, i, j) : 1);
			to[i] = fmax(0, to[i]);
		}
	}
}

/* b->p becomes the problem of those of its jobs that a has, with what a compares them with. */
static void
keep_jobs(struct gv_answer *b, const struct gv_answer *a, const struct gv_rates *r)
{
	bool *keep = gv_xcalloc(b->p.n, sizeof(*keep));
	double *need = gv_answer_needs(a);
	struct gv_problem p;
	size_t i;

	for (i = 0; i < r->n_jobs; i++)
		if (a->row[i] != SIZE_MAX)
			keep[b->row[i]] = true;
	gv_problem_pick(&p, &b->p, keep);
	gv_problem_free(&b->p);
	b->p = p;
	gv_problem_refer(&b->p, a->p.capacity);
	keep_beyond(&b->p, &a->p);
	for (i = 0; b->rank != NULL && i < p.n; i++)
		b->rank[i] = a->rank != NULL ? a->rank[i] : i;
	if (b->p.number[GV_NUMBER_NEED] != NULL) {
		memcpy(b->p.number[GV_NUMBER_NEED], need, p.n * sizeof(*need));
		memset(b->p.number[GV_NUMBER_MINIMUM], 0, p.n * sizeof(*need));
	}
	/* those who could run only then stand in no queue yet */
	if (b->p.number[GV_NUMBER_POSITION] != NULL)
		memcpy(b->p.number[GV_NUMBER_POSITION], a->p.number[GV_NUMBER_POSITION],
		    p.n * sizeof(*need));
	free(need);
	free(keep);
}

/* What a number changes; nothing, but for rounding, is nothing.  NAN: from never to then. */
static double
change(double now, double was)
{
	if (isinf(was))
		return NAN;
	return fabs(now - was) <= GV_TOL_CHANGE * fabs(was) ? 0 : now - was;
}

/* The jobs of a, answered again: the caller's. */
static int
solve_with(struct gv_answer *b, size_t *unlocked, const struct gv_answer *a,
    const struct gv_rates *r, const struct gv_cluster *c, const struct gv_policy *policy,
    const struct gv_answer_options *opt, struct gv_error *e)
{
	int rc = gv_answer_problem(b, r, c, policy, opt, e);

	if (rc == 0)
		*unlocked = b->p.n - a->p.n;
	if (rc == 0 && a->p.n > 0) {
		keep_jobs(b, a, r);
		if (opt->agnostic)
			gv_answer_agnostic(b);
		rc = gv_answer_solve(b, policy, opt, e);
	}
	return rc;
}

/* ---- a GPU of a type ---- */

/* What entities of l have more in b. */
static void
compare_entities(struct gv_entity_levels *l, const struct gv_answer *b,
    const struct gv_rates *r, const struct gv_entities *w)
{
	struct gv_entity_levels now;
	size_t k;

	gv_entity_levels_make(&now, b, r, w);
	for (k = 0; k < l->names.n; k++) {
		struct gv_entity_level *was = &l->level[k];
		ptrdiff_t at =
		    gv_hash_find(&now.names, l->names.key[k].s, l->names.key[k].len);

		was->one_more_gpu =
		    fmax(was->one_more_gpu, change(now.level[at].value, was->value));
	}
	gv_entity_levels_free(&now);
}

static int
one_more_of_type(struct gv_one_more *more, struct gv_entity_levels *l,
    const struct gv_answer *a, const struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_policy *policy, const struct gv_answer_options *opt,
    struct gv_error *e)
{
	struct gv_answer b = {0};
	int rc = solve_with(&b, &more->unlocked, a, r, c, policy, opt, e);

	more->change = NAN;
	if (rc == 0 && a->p.n > 0) {
		more->change = change(b.s.objective, a->s.objective);
		compare_entities(l, &b, r, opt->entities);
	}
	gv_answer_free(&b);
	return rc;
}

/* ---- a GPU of a quota ---- */

/* The quotas with one more for entity at, and for those that it is in and that have one. */
static double *
larger_quotas(const struct gv_entities *w, size_t at)
{
	double *quota = gv_xcalloc(w->names.n, sizeof(*quota));

	memcpy(quota, w->quota, w->names.n * sizeof(*quota));
	quota[at]++;
	while (w->parent[at] != SIZE_MAX) {
		at = w->parent[at];
		quota[at] += quota[at] > 0;
	}
	return quota;
}

static int
one_more_of_quota(struct gv_entity_levels *l, size_t k, const struct gv_answer *a,
    const struct gv_rates *r, const struct gv_cluster *c, const struct gv_policy *policy,
    const struct gv_answer_options *opt, struct gv_error *e)
{
	const struct gv_hash_key *name = &l->names.key[k];
	ptrdiff_t at = gv_hash_find(&opt->entities->names, name->s, name->len);
	struct gv_answer_options own = *opt;
	struct gv_entities larger = *opt->entities;
	struct gv_entity_levels now;
	struct gv_answer b = {0};
	size_t unlocked;
	int rc;

	if (at < 0)
		return 0;
	larger.quota = larger_quotas(opt->entities, (size_t)at);
	larger.tree = true;
	own.entities = &larger;
	rc = solve_with(&b, &unlocked, a, r, c, policy, &own, e);
	if (rc == 0) {
		gv_entity_levels_make(&now, &b, r, &larger);
		l->level[k].one_more_quota =
		    change(now.level[k].value, l->level[k].value);
		gv_entity_levels_free(&now);
	}
	gv_answer_free(&b);
	free(larger.quota);
	return rc;
}

int
gv_one_more_make(struct gv_one_more *more, struct gv_entity_levels *l,
    const struct gv_answer *a, const struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_policy *policy, const struct gv_answer_options *opt,
    void (*step)(size_t done, size_t of), struct gv_error *e)
{
	struct gv_answer_options quick = *opt;
	size_t quotas = opt->entities != NULL && a->p.n > 0 ? l->names.n : 0;
	size_t j;
	int rc = 0;

	quick.policy.solve.certify = quick.policy.relax_slo = false;
	quick.multipliers = false;
	for (j = 0; j < c->n_types && rc == 0; j++) {
		struct gv_cluster larger = with_one_more(c, j);

		if (step != NULL)
			step(j, c->n_types + quotas);
		rc = one_more_of_type(&more[j], l, a, r, &larger, policy, &quick, e);
		free(larger.type);
	}
	for (j = 0; j < quotas && rc == 0; j++) {
		if (step != NULL)
			step(c->n_types + j, c->n_types + quotas);
		rc = one_more_of_quota(l, j, a, r, c, policy, &quick, e);
	}
	return rc;
}
