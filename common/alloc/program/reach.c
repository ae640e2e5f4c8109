#include "reach.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

void
gv_reach_alloc(struct gv_reach *r, const struct gv_problem *p)
{
	*r = (struct gv_reach){0};
	r->x = gv_xcalloc(p->n, p->m * sizeof(*r->x));
	r->lambda = gv_xcalloc(p->n, sizeof(*r->lambda));
	r->price = gv_xcalloc(p->m, sizeof(*r->price));
}

void
gv_reach_free(struct gv_reach *r)
{
	free(r->x);
	free(r->pair);
	free(r->lambda);
	free(r->price);
	*r = (struct gv_reach){0};
}

void
gv_reach_lift(
    struct gv_reach *r, const struct gv_problem *p, const double *a, const double *want)
{
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double lambda = INFINITY;

		if (want[i] > 0)
			continue;
		for (j = 0; j < p->m; j++)
			if (a[i * p->m + j] > 0)
				lambda = fmin(lambda, r->price[j] * p->count[i] *
							  p->scale[i] / a[i * p->m + j]);
		/* who can have nothing holds nobody up, whatever its multiplier */
		r->lambda[i] = isfinite(lambda) ? lambda : 0;
	}
}

/* Its sums are of numbers >= 0; a job's term has three roundings. */
double
gv_reach_rounding(const struct gv_problem *p)
{
	return ((double)(p->n + p->m) + 16) * DBL_EPSILON;
}
