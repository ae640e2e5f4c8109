/* Levels in the space of prices: gv_price_level() of the jobs of a problem. */
#include "level_prices.h"

#include <stdlib.h>

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
	for (i = 0; i < c->n; i++)
		for (j = 0; j < c->m; j++)
			c->gain[j * c->stride + i] =
			    c->use[i] * (gv_problem_rate(s->p, i, j) / equal[i]) /
			    s->gpus;
	free(equal);
}

int
gv_level_by_prices(const struct gv_problem *p, const double *a, double unit,
    struct gv_level *l, double *effort, struct gv_price_memory *memory, bool *second_done)
{
	struct second second = {.p = p};
	struct gv_oracle_jobs c;
	struct gv_solution *out = l->s;
	struct gv_price_solution sol = {.x = out->x,
	    .lambda = l->lambda,
	    .price = l->price,
	    .second_done = l->lexicographic,
	    .effort = effort,
	    .fill = fill_gains,
	    .ctx = &second};
	size_t i, j;
	int rc;

	for (j = 0; j < p->m; j++)
		second.gpus += p->capacity[j];
	gv_oracle_jobs_alloc(&c, p->n, p->m, l->lexicographic);
	for (i = 0; i < p->n; i++) {
		c.use[i] = p->count[i] * p->scale[i];
		for (j = 0; j < p->m; j++)
			c.a[j * c.stride + i] = a[i * p->m + j] / unit;
	}
	if (memory != NULL) /* it knows the level as it is */
		memory->level /= unit;
	rc = gv_price_level(&c, p->capacity, &sol, memory);
	if (memory != NULL)
		memory->level *= unit;
	gv_oracle_jobs_free(&c);
	*second_done = rc == 0 && sol.second_done;
	if (rc == 0) {
		gv_problem_clean(p, out->x);
		out->objective = gv_level_reached(p, a, out->x);
		out->bound = gv_level_bound(p, a, unit, sol.lambda, sol.price);
		rc = gv_level_gap(p, out->bound, out->objective) <= GV_TOL_LEVEL_PROVED
			 ? 0
			 : 1;
	}
	return rc;
}
