#include "dual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dual_state.h"

enum { SAMPLED = 4096, PART = 8 }; /* of more jobs every PART-th one is looked at first */

static const double everything = INFINITY; /* a part: all prices */

/* Of a price q_j in [0, 1]: fine enough to be near the end, coarse enough for all ways to it to come to the same point. */
#define GRID ldexp(1, -20)

static double
use_of_all(const struct gv_oracle_jobs *c)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < c->n; i++)
		sum += c->use[i];
	return sum;
}

static void
state_init(struct gv_dual_state *w)
{
	size_t m = w->d->m;

	w->box.lo = gv_xcalloc(3 * m, sizeof(*w->box.lo));
	w->box.centre = w->box.lo + m;
	w->box.hi = w->box.centre + m;
	w->demand.used = gv_xcalloc(5 * m, sizeof(double));
	w->demand.used_slope = w->demand.used + m;
	w->fixed_used = w->demand.used_slope + m;
	w->fixed_slope = w->fixed_used + m;
	w->part = w->fixed_slope + m;
	w->d->price = gv_xcalloc(m, sizeof(*w->d->price));
}

static void
state_free(struct gv_dual_state *w)
{
	if (w->has_master)
		gv_price_master_free(&w->master);
	free(w->box.lo);
	free(w->demand.used);
}

static enum gv_dual_end minimise(struct gv_dual_state *w);

/*
 * Prices of every PART-th job on as large a part of the GPUs, into the centre of the box;
 * the least reach of a box around it into *least.
 */
static void
sample_prices(struct gv_dual_state *w, double *least)
{
	struct gv_dual s = {.m = w->d->m};
	struct gv_dual_problem problem = *w->problem;
	struct gv_dual_state part = {.d = &s, .problem = &problem, .sample = true};
	double *capacity = gv_xcalloc(s.m, sizeof(*capacity));
	struct gv_oracle_jobs c;
	double share;
	size_t j;

	gv_oracle_jobs_sample(&c, w->all, PART / 2, PART);
	share = use_of_all(&c) / use_of_all(w->all);
	for (j = 0; j < s.m; j++)
		capacity[j] = w->problem->capacity[j] * share;
	problem.capacity = capacity;
	problem.incumbent_used = NULL;
	problem.gap = fmax(problem.gap, .02 / (double)c.n);
	part.all = &c;
	state_init(&part);
	minimise(&part);
	state_free(&part);
	for (j = 0; j < s.m; j++)
		w->box.centre[j] =
		    gv_dual_own_price(&problem, s.price, s.m, j) *
		    (problem.gains ? w->problem->capacity[j] : capacity[j]);
	*least = problem.gains ? 1e-3 * fabs(s.bound) / share : 1. / (double)s.m;
	w->d->n_evaluations += s.n_evaluations;
	w->start_level = s.bound;
	if (!problem.gains && s.price_level == 0) /* time bounds: any prices */
		for (j = 0; j < s.m; j++)
			w->box.centre[j] = 1. / (double)s.m;
	gv_dual_free(&s);
	gv_oracle_jobs_free(&c);
	free(capacity);
}

/*
 * Prices and a level on a grid, near those found; false where one is so near to the
 * middle between two points that another search might have found the other, or where
 * other prices might be as good.  The level is on a grid of its own power of two, a point
 * above the bound, so that its Newton steps come down to it.
 */
static bool
go_to_grid(struct gv_dual_state *w, double *level)
{
	const double grid = GRID;
	struct gv_dual *d = w->d;
	double unit, points;
	size_t j;
	int exponent;

	if (!gv_price_master_unique(&w->master))
		return false;
	for (j = 0; j < d->m; j++) {
		double q = w->master.price[j] / grid;

		w->box.centre[j] = grid * round(q);
		if (fabs(q - round(q)) > .495)
			return false;
		w->box.lo[j] = fmax(0, w->box.centre[j] - 3 * grid);
		w->box.hi[j] = w->box.centre[j] + 3 * grid;
	}
	w->box.everything = false;
	frexp(d->bound, &exponent);
	unit = ldexp(grid, exponent);
	points = d->bound / unit;
	*level = fmin(w->problem->level, unit * (floor(points) + 2));
	return w->problem->gains || fabs(points - floor(points) - .5) < .495;
}

/*
 * The end again, from a point of a grid near it: what comes out depends on the jobs
 * alone, not on the way here.
 */
static enum gv_dual_end
end_at_grid(struct gv_dual_state *w)
{
	const double window = 8 * GRID;
	double level;
	enum gv_dual_end end;

	if (!go_to_grid(w, &level))
		return GV_DUAL_STALLED;
	gv_dual_restart(w, w->problem->gains ? INFINITY : level);
	gv_dual_fix(w, w->problem->gains ? 0 : window);
	gv_dual_start_master(w);
	end = gv_dual_kelley(w, w->box.centre);
	return end == GV_DUAL_CONVERGED && !gv_dual_holds(w) ? GV_DUAL_STALLED : end;
}

static enum gv_dual_end
minimise(struct gv_dual_state *w)
{
	struct gv_dual *d = w->d;
	double part = everything, least = 0;
	enum gv_dual_end end;

	gv_dual_start_prices(w);
	if (w->all->n > SAMPLED) {
		sample_prices(w, &least);
		/* a sample of n jobs has prices that are off by about 1 / sqrt(n) */
		part = (w->problem->gains ? 1 : .5) / sqrt((double)w->all->n / PART);
	}
	w->rough = !w->sample;
	end = gv_dual_boxstep(w, part, least);
	w->rough = false;
	if (end != GV_DUAL_CONVERGED || w->sample ||
	    (!w->problem->gains && d->price_level == 0))
		return end;
	end = end_at_grid(w);
	d->canonical = end == GV_DUAL_CONVERGED;
	if (d->canonical || end == GV_DUAL_SPENT)
		return end;
	gv_dual_start_prices(w);
	if (w->all->n > SAMPLED)
		sample_prices(w, &least);
	return gv_dual_boxstep(w, part, least);
}

/* From prices that were right for nearly the same jobs. */
static enum gv_dual_end
minimise_from(struct gv_dual_state *w, const struct gv_dual_start *start)
{
	const double usual = 2e-3, least = 1e-5;
	double part = start->part > 0 ? fmax(least, fmin(usual, start->part)) : usual;
	struct gv_dual *d = w->d;

	memcpy(
	    w->box.centre, start->capacity_price, d->m * sizeof(*start->capacity_price));
	w->start_level = start->level > 0 ? start->level : INFINITY;
	w->rough = true;
	if (gv_dual_boxstep(w, part, w->problem->gains ? 1e-3 : 1. / (double)d->m) !=
	    GV_DUAL_CONVERGED)
		return GV_DUAL_STALLED;
	w->rough = false;
	if (!w->problem->gains && d->price_level == 0)
		return GV_DUAL_STALLED; /* any prices will do: none are the right ones */
	d->canonical = end_at_grid(w) == GV_DUAL_CONVERGED;
	return d->canonical ? GV_DUAL_CONVERGED : GV_DUAL_STALLED;
}

int
gv_dual_minimise(struct gv_dual *d, const struct gv_oracle_jobs *c,
    const struct gv_dual_problem *problem, const struct gv_dual_start *start)
{
	struct gv_dual_state w = {.d = d,
	    .all = c,
	    .problem = problem,
	    .grant = problem->effort != NULL ? *problem->effort / 4 : 0};
	enum gv_dual_end end = GV_DUAL_STALLED;

	*d = (struct gv_dual){.m = c->m};
	state_init(&w);
	if (start != NULL)
		end = minimise_from(&w, start);
	if (end != GV_DUAL_CONVERGED && !gv_dual_spent(&w))
		end = minimise(&w);
	state_free(&w);
	return end == GV_DUAL_CONVERGED ? 0 : 1;
}

void
gv_dual_free(struct gv_dual *d)
{
	gv_dual_forget_cuts(d);
	free(d->cut);
	free(d->price);
	gv_oracle_jobs_free(&d->free_jobs);
	*d = (struct gv_dual){0};
}
