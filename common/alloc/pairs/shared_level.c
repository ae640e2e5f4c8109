#include "shared_level.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What a step/s of each job counts: a_ij / T_ij, best known where a_ij is largest.  [n] */
static double *
factors(const struct gv_problem *p, const double *a)
{
	double *factor = gv_xcalloc(p->n, sizeof(*factor));
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double most = 0;

		for (j = 0; j < p->m; j++)
			if (a[i * p->m + j] > most) {
				most = a[i * p->m + j];
				factor[i] = most / gv_problem_rate(p, i, j);
			}
	}
	return factor;
}

int
gv_shared_level(const struct gv_problem *p, const double *a, bool all, bool exact,
    const char *name, struct gv_level *l, struct gv_error *e)
{
	double *factor = factors(p, a);
	double *demand = gv_linear_ones(p);
	double *worth = gv_linear_normal(p);
	const struct gv_shared_gain second = {.job = worth};
	struct gv_solution *s = l->s;
	struct gv_shared h;
	size_t i;
	int rc;

	gv_shared_init(&h, p, s);
	h.factor = factor;
	h.demand = demand;
	h.second = l->lexicographic ? &second : NULL;
	h.warm = l->warm;
	h.all = all;
	h.exact = exact;
	rc = gv_shared_solve(&h, name, e);
	if (rc == 0) {
		double sure = h.value * (1 - ((double)(p->n + p->m) + 16) * DBL_EPSILON);

		s->objective = h.value;
		s->bound = h.bound;
		s->has_bound = true;
		s->gap = (s->bound - sure) / s->bound;
		l->limit = h.limit;
		for (i = 0; i < p->n; i++)
			l->lambda[i] = h.lambda[i];
		for (i = 0; i < p->m; i++)
			l->price[i] = h.price[i];
		memcpy(l->time, h.time, p->n * sizeof(*l->time));
	}
	gv_shared_free(&h);
	free(factor);
	free(demand);
	free(worth);
	return rc;
}

void
gv_shared_level_program(const struct gv_problem *p, const double *a, struct gv_lp *lp,
    struct gv_lp_names *names)
{
	double *factor = factors(p, a);
	double *demand = gv_linear_ones(p);
	struct gv_shared h = {.p = p, .factor = factor, .demand = demand};
	size_t i;

	for (i = 0; i < p->n; i++)
		if (isinf(factor[i])) { /* it asks for nothing */
			demand[i] = 0;
			factor[i] = 1;
		}
	gv_shared_program(&h, lp, names);
	free(factor);
	free(demand);
}

int
gv_shared_linear(
    struct gv_linear *l, bool all, bool exact, const char *name, struct gv_error *e)
{
	const struct gv_problem *p = l->p;
	struct gv_solution *s = l->s;
	struct gv_shared h;
	bool needs = false;
	size_t i;
	int rc;

	for (i = 0; i < p->n && l->need != NULL; i++)
		needs = needs || l->need[i] > 0;
	gv_shared_init(&h, p, s);
	h.gain = l->shared;
	h.second = l->second != NULL ? l->shared_second : NULL;
	h.demand = needs ? l->need : NULL;
	h.all = all;
	h.exact = exact;
	rc = gv_shared_solve(&h, name, e);
	if (rc == 0) {
		l->cost_margin = h.cost_margin;
		s->objective = h.value;
		s->bound = h.bound;
		s->has_bound = true;
		s->gap = (s->bound - s->objective) / fmax(fabs(s->bound), DBL_MIN);
		for (i = 0; i < p->n; i++)
			l->mu[i] = h.lambda[i] / p->count[i];
		for (i = 0; i < p->m; i++)
			l->price[i] = h.price[i];
		memcpy(l->time, h.time, p->n * sizeof(*l->time));
	}
	gv_shared_free(&h);
	return rc;
}

void
gv_shared_linear_program(const struct gv_problem *p, const struct gv_shared_gain *gain,
    const double *need, struct gv_lp *lp, struct gv_lp_names *names)
{
	const struct gv_shared h = {.p = p, .gain = gain, .demand = need};

	gv_shared_program(&h, lp, names);
}
