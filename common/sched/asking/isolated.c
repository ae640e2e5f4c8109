#include "sched/asking/isolated.h"

#include <stdlib.h>

void
gv_isolated_init(struct gv_isolated *v, const struct gv_rounds *r, size_t n)
{
	size_t p;

	v->elapsed_s = gv_xcalloc(n + 1, sizeof(*v->elapsed_s));
	v->steps = gv_xcalloc(n + 1, sizeof(*v->steps));
	v->rate = gv_xcalloc(n + 1, sizeof(*v->rate));
	v->gpus = gv_xcalloc(r->n_types + 1, sizeof(*v->gpus));
	for (p = 0; p < r->n_pools; p++)
		v->gpus[r->pool[p].type] += (double)r->pool[p].gpus;
}

void
gv_isolated_free(struct gv_isolated *v)
{
	free(v->elapsed_s);
	free(v->steps);
	free(v->rate);
	free(v->gpus);
	*v = (struct gv_isolated){0};
}

/* On N_j/(M s_m) of each type it can use, scaled down to at most all the time. */
static double
isolated_rate(
    const struct gv_isolated *v, const struct gv_rounds *r, size_t m, size_t n_asked)
{
	double sum = 0;
	double rate = 0;
	size_t j;

	for (j = 0; j < r->n_types; j++) {
		double x = v->gpus[j] / ((double)n_asked * (double)r->job[m].gang);
		double speed = gv_rounds_claim(r, m, j)->rate;

		if (speed > 0) /* of a type it cannot use it has no time */
			sum += x;
		rate += x * speed;
	}
	return sum > 1 ? rate / sum : rate;
}

void
gv_isolated_count(struct gv_isolated *v, const struct gv_rounds *r, size_t m,
    size_t n_asked, double steps)
{
	if (v->rate[m] > 0 && steps > v->steps[m])
		v->elapsed_s[m] += (steps - v->steps[m]) / v->rate[m];
	v->steps[m] = steps;
	v->rate[m] = isolated_rate(v, r, m, n_asked);
}
