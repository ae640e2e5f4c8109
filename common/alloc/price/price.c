#include "price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "oracle.h"
#include "dual.h"
#include "lp/tolerance.h"

/* Prices change by so much more than jobs do, at most; what is farther away costs a larger box. */
enum { CHANGE_OF_PRICES = 64 };

/*
 * Primal recovery: x_i = sum_k w_k x_i(p_k, t_k), the shares of a mixture, into x; lambda NULL, or the multipliers that prove the
 * bound (of levels).
 */
static void
recover_shares(const struct gv_oracle_jobs *c, const struct gv_dual *s,
    const struct gv_dual_problem *problem, double *x, double *lambda)
{
	const struct gv_oracle_jobs *unfixed = s->all_free ? c : &s->free_jobs;
	struct gv_dual_point o = {.face = problem->face, .gains = problem->gains};
	size_t i, k;

	o.level = problem->gains ? problem->level : s->level / s->weight;
	o.price = s->price;
	if (s->all_free) {
		memset(x, 0, c->n * c->m * sizeof(*x));
	} else { /* fixed jobs demand the same from there to price_level */
		gv_oracle_set_shares(c, &o, s->weight, x, lambda);
		for (i = 0; i < unfixed->n; i++)
			memset(&x[unfixed->of[i] * c->m], 0, c->m * sizeof(*x));
	}
	if (lambda != NULL && s->price_level > 0) {
		o.level = s->price_level;
		gv_oracle_add_shares(unfixed, &o, 0, NULL, lambda);
	}
	for (k = 0; k < s->n_cuts; k++) {
		if (!(s->cut[k].weight > 0))
			continue;
		o.price = s->cut[k].price;
		o.level = s->cut[k].level;
		gv_oracle_add_shares(unfixed, &o, s->cut[k].weight, x, NULL);
	}
}

void
gv_price_forget(struct gv_price_memory *memory)
{
	free(memory->capacity_price);
	free(memory->gain_capacity_price);
	memory->capacity_price = memory->gain_capacity_price = NULL;
}

/* What may be used: it is of other types, or of nobody, then nothing is known. */
static struct gv_price_memory *
memory_for(struct gv_price_memory *memory, struct gv_price_memory *none)
{
	if (memory == NULL)
		return none;
	if (memory->m != none->m)
		gv_price_forget(memory);
	memory->m = none->m;
	return memory;
}

/* Prices of whole capacities for the next time, if they do not depend on the way to them. */
static void
save_prices(
    double **saved, const struct gv_dual *s, const struct gv_dual_problem *problem)
{
	size_t j;

	free(*saved);
	*saved = NULL;
	if (!s->canonical)
		return;
	*saved = gv_xcalloc(s->m, sizeof(**saved));
	for (j = 0; j < s->m; j++)
		(*saved)[j] =
		    gv_dual_own_price(problem, s->price, s->m, j) * problem->capacity[j];
}

/* Whether every GPU has a price: then all levels are equal in every best solution. */
static bool
all_priced(const struct gv_oracle_jobs *c, const struct gv_dual_problem *problem,
    const double *price)
{
	const double *capacity = problem->capacity;
	size_t j;

	for (j = 0; j + (problem->dollars != NULL) < c->m; j++)
		if (capacity[j] > 0 && price[j] * capacity[j] < GV_TOL_PRICED)
			return false;
	return true;
}

/* The multipliers that prove the bound, where prices do. */
static void
find_multipliers(const struct gv_oracle_jobs *c, const struct gv_dual *s, double *lambda)
{
	const struct gv_dual_point o = {.price = s->price, .level = s->price_level};

	if (s->price_level > 0)
		gv_oracle_add_shares(c, &o, 0, NULL, lambda);
}

/*
 * Second stage: of the shares that cost least at the prices of the first, which are
 * all that reach the level, those of the largest sum of gains.
 */
static bool
second_stage(const struct gv_oracle_jobs *c, const double *capacity,
    struct gv_price_solution *out, struct gv_price_memory *memory)
{
	const struct gv_dual_start start = {memory->gain_capacity_price, 0, 0};
	double *face = gv_xcalloc(c->m, sizeof(*face));
	struct gv_dual_problem problem = {.capacity = capacity,
	    .gains = true,
	    .level = out->level,
	    .dollars = out->dollars,
	    .gap = GV_TOL_DUAL_GAP,
	    .effort = out->effort};
	struct gv_dual s;
	bool found;
	size_t j;

	for (j = 0; j + (out->dollars != NULL) < c->m; j++)
		if (out->price[j] * capacity[j] >= GV_TOL_PRICED) {
			face[j] = out->price[j];
			problem.face = face;
		}
	found = gv_dual_minimise(
		    &s, c, &problem, start.capacity_price != NULL ? &start : NULL) == 0;
	save_prices(&memory->gain_capacity_price, &s, &problem);
	out->n_evaluations += s.n_evaluations;
	if (found)
		recover_shares(c, &s, &problem, out->x, NULL);
	gv_dual_free(&s);
	free(face);
	return found;
}

int
gv_price_level(const struct gv_oracle_jobs *c, const double *capacity,
    struct gv_price_solution *out, struct gv_price_memory *memory)
{
	struct gv_price_memory none = {.m = c->m}, *m = memory_for(memory, &none);
	const struct gv_dual_start start = {
	    m->capacity_price, m->level, CHANGE_OF_PRICES * m->change};
	struct gv_oracle_jobs levels = *c; /* without gains */
	struct gv_dual_problem problem = {.capacity = capacity,
	    .dollars = out->dollars,
	    .gap = GV_TOL_DUAL_GAP,
	    .effort = out->effort};
	struct gv_dual s;
	bool lexicographic = out->second_done;
	size_t binding;
	int rc;

	levels.gain = NULL;
	problem.level = gv_oracle_time_bound(c, &binding);
	rc = gv_dual_minimise(
	    &s, &levels, &problem, start.capacity_price != NULL ? &start : NULL);
	save_prices(&m->capacity_price, &s, &problem);
	m->level = s.bound;
	memcpy(out->price, s.price, c->m * sizeof(*out->price));
	out->level = s.level;
	out->bound = s.bound;
	out->n_evaluations = s.n_evaluations;
	out->second_done = rc == 0 && all_priced(c, &problem, out->price);
	if (rc == 0 && lexicographic && !out->second_done) {
		if (out->fill != NULL)
			out->fill(out->ctx, c);
		if (out->effort != NULL)
			*out->effort += out->second_effort;
		out->second_done = second_stage(c, capacity, out, m);
	} else {
		lexicographic = false;
	}
	if (lexicographic && !out->second_done && out->effort != NULL && *out->effort < 0)
		rc = 1;
	if (rc == 0 && (!lexicographic || !out->second_done))
		recover_shares(&levels, &s, &problem, out->x, out->lambda);
	else if (rc == 0)
		find_multipliers(&levels, &s, out->lambda);
	if (rc == 0 && s.price_level == 0) {
		memset(out->lambda, 0, c->n * sizeof(*out->lambda));
		out->lambda[binding] = 1;
	}
	gv_dual_free(&s);
	gv_price_forget(&none);
	return rc;
}

int
gv_price_solve(const struct gv_price_problem *p, struct gv_price_solution *out)
{
	struct gv_oracle_jobs c;
	int rc;

	gv_oracle_jobs_fill(&c, p->n, p->m, p->a, p->use, p->gain);
	out->second_done = true;
	rc = gv_price_level(&c, p->capacity, out, NULL);
	gv_oracle_jobs_free(&c);
	return rc;
}

int
gv_price_sum(const struct gv_oracle_jobs *c, const double *capacity, const double *used,
    double gain, double level, const double *dollars, double *price, double *effort,
    struct gv_price_memory *memory)
{
	struct gv_price_memory none = {.m = c->m}, *m = memory_for(memory, &none);
	const struct gv_dual_start start = {m->gain_capacity_price, 0, 0};
	const struct gv_dual_problem problem = {.capacity = capacity,
	    .gains = true,
	    .level = level,
	    .dollars = dollars,
	    .gap = GV_TOL_DUAL_GAP,
	    .gap_floor = 1e-3,
	    .incumbent_used = used,
	    .incumbent_gain = gain,
	    .effort = effort};
	struct gv_dual s;
	int rc;

	rc = gv_dual_minimise(
	    &s, c, &problem, start.capacity_price != NULL ? &start : NULL);
	save_prices(&m->gain_capacity_price, &s, &problem);
	memcpy(price, s.price, c->m * sizeof(*price));
	gv_dual_free(&s);
	gv_price_forget(&none);
	return rc;
}
