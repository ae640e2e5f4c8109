/* Levels in the space of prices: gv_price_level() of the jobs of a problem. */
#include "level_prices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "oracle.h"
#include "lp/tolerance.h"

/* What the second program counts. */
struct second {
	const struct gv_problem *p;
	double gpus; /* sum N */
};

/* Normalised throughputs; ctx: struct second. */
static void
fill_gains(void *ctx, const struct gv_oracle_jobs *c)
{
	const struct second *s = ctx;
	double *equal = gv_xcalloc(c->n, sizeof(*equal));
	size_t i, j;

	gv_problem_equal_throughput(s->p, equal);
	for (i = 0; i < c->n; i++) {
		if (c->m > s->p->m)
			c->gain[s->p->m * c->stride + i] = 0;
		for (j = 0; j < s->p->m; j++)
			c->gain[j * c->stride + i] =
			    c->use[i] * (gv_problem_rate(s->p, i, j) / equal[i]) /
			    s->gpus;
	}
	free(equal);
}

/* The jobs in columns; with a budget the last type is money, on which none runs. */
static void
level_columns(struct gv_oracle_jobs *c, const struct gv_problem *p, const double *a,
    double unit, bool gains)
{
	size_t m = p->m + (p->budget > 0);
	size_t i, j;

	gv_oracle_jobs_alloc(c, p->n, m, gains);
	for (i = 0; i < p->n; i++) {
		c->use[i] = p->count[i] * p->scale[i];
		for (j = 0; j < p->m; j++)
			c->a[j * c->stride + i] = a[i * p->m + j] / unit;
		if (m > p->m)
			c->a[p->m * c->stride + i] = 0;
	}
}

/* GPUs, and the budget behind them.  [m + 1], the caller's */
static double *
capacities(const struct gv_problem *p)
{
	double *to = gv_xcalloc(p->m + 1, sizeof(*to));

	memcpy(to, p->capacity, p->m * sizeof(*to));
	to[p->m] = p->budget;
	return to;
}

/* What sol found, where it has a column more for money. */
static void
take_shares(
    const struct gv_problem *p, const struct gv_price_solution *sol, struct gv_level *l)
{
	size_t m = p->m + (p->budget > 0);
	size_t i, j;

	for (i = 0; i < p->n && m > p->m; i++)
		memcpy(&l->s->x[i * p->m], &sol->x[i * m], p->m * sizeof(*sol->x));
	l->budget = m > p->m ? sol->price[p->m] : 0;
	for (j = 0; j < p->m; j++)
		l->price[j] = fmax(0, sol->price[j] - l->budget * p->price[j]);
}

int
gv_level_by_prices(const struct gv_problem *p, const double *a, double unit,
    struct gv_level *l, double *effort, struct gv_price_memory *memory, bool *second_done)
{
	size_t m = p->m + (p->budget > 0);
	struct second second = {.p = p};
	struct gv_oracle_jobs c;
	struct gv_solution *out = l->s;
	double *x = m > p->m ? gv_xcalloc(p->n, m * sizeof(*x)) : NULL;
	double *capacity = capacities(p);
	double *price = gv_xcalloc(m, sizeof(*price));
	struct gv_price_solution sol = {.x = x != NULL ? x : out->x,
	    .lambda = l->lambda,
	    .price = price,
	    .dollars = m > p->m ? p->price : NULL,
	    .second_done = l->lexicographic,
	    .effort = effort,
	    .second_effort = l->second_effort,
	    .fill = fill_gains,
	    .ctx = &second};
	size_t j;
	int rc;

	for (j = 0; j < p->m; j++)
		second.gpus += p->capacity[j];
	level_columns(&c, p, a, unit, l->lexicographic);
	if (memory != NULL) /* it knows the level as it is */
		memory->level /= unit;
	rc = gv_price_level(&c, capacity, &sol, memory);
	if (memory != NULL)
		memory->level *= unit;
	gv_oracle_jobs_free(&c);
	take_shares(p, &sol, l);
	*second_done = rc == 0 && sol.second_done;
	if (rc == 0) {
		gv_problem_clean(p, out->x);
		out->objective = gv_level_reached(p, a, out->x);
		out->bound = gv_level_bound(p, a, unit, sol.lambda, l->price, l->budget);
		rc = gv_level_gap(p, out->bound, out->objective) <= GV_TOL_LEVEL_PROVED
			 ? 0
			 : 1;
	}
	free(x);
	free(capacity);
	free(price);
	return rc;
}
