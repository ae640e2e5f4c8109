#include "start.h"

#include <math.h>

#include "lp/tolerance.h"
#include "advance.h"

/*
 * Equal shares of half of the GPUs and half of the time, or those given; what is left and
 * over.  False: that is not inside.
 */
static bool
start_shares(struct gv_interior_state *s, const double *start)
{
	const struct gv_interior_program *p = s->p;
	struct gv_interior_vector *at = &s->at;
	const double part = start != NULL ? .01 : .1;
	double load = 0, gpus = 0, least = INFINITY;
	bool inside = true;
	size_t i, j, e;

	for (i = 0; i < s->n; i++)
		load += p->use[i];
	for (j = 0; j < s->m; j++) {
		gpus += p->capacity[j];
		at->left[j] = p->capacity[j];
	}
	for (i = 0; i < s->n; i++) {
		at->idle[i] = 1;
		for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
			j = s->type[e];
			at->x[e] = .5 * p->capacity[j] / fmax(load, gpus);
			if (start != NULL && start[i * s->m + j] > 0)
				at->x[e] = start[i * s->m + j];
			at->idle[i] -= at->x[e];
			at->left[j] -= p->use[i] * at->x[e];
		}
		if (s->wants[i])
			least = fmin(least, gv_interior_level_of(s, at->x, i));
	}
	at->t = s->level ? .5 * least : 0;
	for (i = 0; i < s->n; i++) {
		double want = s->level ? at->t : p->need != NULL ? p->need[i] : 0;

		at->over[i] = s->wants[i] ? fmax(gv_interior_level_of(s, at->x, i) - want,
						part * want)
					  : 1;
		inside = inside && at->idle[i] > 0;
	}
	for (j = 0; j < s->m; j++)
		inside = inside && (at->left[j] > 0 || p->capacity[j] <= 0);
	return inside;
}

/*
 * Reduced costs as the multipliers make them, but where those are small, or below 0: a job's
 * columns together weigh as much as one other product, for if each did, those of many types
 * would be far above all that follows, and first have to come down.
 */
static void
start_reduced_costs(struct gv_interior_state *s, double mu)
{
	const struct gv_interior_vector *at = &s->at;
	double least = mu * (double)s->n / (double)s->n_columns;
	size_t i, e;

	for (i = 0; i < s->n; i++)
		for (e = s->begin[i]; e < s->begin[i + 1]; e++)
			at->z[e] = fmax(least / at->x[e],
			    s->p->use[i] * at->price[s->type[e]] + at->time[i] -
				at->lambda[i] * s->a[e] - s->g[e]);
}

/*
 * Of a sum: multipliers that its gains suit, for where reduced costs begin below 0 steps are short
 * until they are not.  What gains are worth is shared by types and jobs: types together
 * weigh as much as jobs together, and a job's time what its best share still gains.
 */
static void
start_sum(struct gv_interior_state *s)
{
	struct gv_interior_vector *at = &s->at;
	double part = fmax(1, (double)s->n / (double)s->m);
	size_t i, e;

	for (i = 0; i < s->m; i++)
		at->price[i] *= part;
	for (i = 0; i < s->n; i++)
		for (e = s->begin[i]; e < s->begin[i + 1]; e++)
			at->time[i] = fmax(
			    at->time[i], GV_TOL_INTERIOR_ABOVE *
					     (s->g[e] + at->lambda[i] * s->a[e] -
						 s->p->use[i] * at->price[s->type[e]]));
}

/* Multipliers whose products with those are all the same, or of a sum alike. */
static void
start_multipliers(struct gv_interior_state *s)
{
	struct gv_interior_vector *at = &s->at;
	double mu = 0;
	size_t i;

	s->size = 0;
	if (s->level) {
		for (i = 0; i < s->n; i++)
			mu += s->wants[i] ? 1 / at->over[i] : 0;
		mu = 1 / mu;
	} else {
		for (i = 0; i < s->n_columns; i++)
			mu += fabs(s->g[i]) * at->x[i];
		s->size = GV_TOL_INTERIOR_SUM * mu;
		mu /= (double)s->n;
	}
	if (!(mu > 0))
		mu = 1;
	for (i = 0; i < s->n; i++) {
		at->time[i] = mu / at->idle[i];
		at->lambda[i] = s->wants[i] ? mu / at->over[i] : 0;
	}
	for (i = 0; i < s->m; i++) {
		if (!(at->left[i] > 0))
			at->left[i] = 1; /* no GPUs, and nobody on them */
		at->price[i] = mu / at->left[i];
	}
	if (!s->level)
		start_sum(s);
	start_reduced_costs(s, mu);
}

/*
 * Where equal shares are far below the best level there can be, products of what jobs are above
 * the lowest are small beside what the multipliers lack, and steps would be short: jobs
 * begin as far over the level as the best one may be.
 */
static void
start_over(struct gv_interior_state *s)
{
	double objective, bound = gv_interior_bound(s, &objective);
	size_t i;

	if (!s->level || !(bound > GV_TOL_INTERIOR_START * objective))
		return;
	for (i = 0; i < s->n; i++)
		if (s->wants[i])
			s->at.over[i] = fmax(s->at.over[i], bound);
	start_multipliers(s);
}

void
gv_interior_start(struct gv_interior_state *s)
{
	if (!start_shares(s, s->p->start))
		start_shares(s, NULL);
	start_multipliers(s);
	start_over(s);
}
