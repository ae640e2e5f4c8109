/*
 * Fixing: jobs whose demand is the same wherever in a box of prices are added up once
 * and left aside, as variables are that their reduced costs fix.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dual_state.h"
#include "lp/tolerance.h"

/*
 * What fixed jobs demand is linear in the level around where they were fixed: used =
 * fixed_used + fixed_slope t.
 */
bool
gv_dual_fix(struct gv_dual_state *w, double window)
{
	struct gv_dual *d = w->d;
	const struct gv_dual_problem *problem = w->problem;
	const struct gv_oracle_jobs *from = gv_dual_free_jobs(w);
	double *price = gv_xcalloc(3 * d->m, sizeof(*price));
	double *lo = price + d->m, *hi = lo + d->m;
	size_t *free_jobs = gv_xrealloc(NULL, from->n, sizeof(*free_jobs));
	struct gv_oracle_jobs few;
	struct gv_dual_point o = {price, problem->face,
	    problem->gains ? problem->level : d->bound, problem->gains};
	size_t j, n;

	gv_dual_gpu_prices(problem, w->box.centre, d->m, price);
	gv_dual_gpu_prices(problem, w->box.lo, d->m, lo);
	gv_dual_gpu_prices(problem, w->box.hi, d->m, hi);
	n = gv_oracle_fix(from, &o, lo, hi, window, &w->demand, free_jobs);
	gv_dual_spend(problem, w->demand.used, d->m);
	gv_dual_spend(problem, w->demand.used_slope, d->m);
	if (n > from->n / 8 * 7) {
		free(free_jobs);
		free(price);
		return false;
	}
	for (j = 0; j < d->m; j++) {
		if (!problem->gains)
			w->demand.used[j] -= w->demand.used_slope[j] * o.level;
		w->fixed_used[j] += w->demand.used[j];
		w->fixed_slope[j] += problem->gains ? 0 : w->demand.used_slope[j];
	}
	w->fixed_gain += w->demand.gain;
	w->window = window;
	w->fixed_level = o.level;
	w->least_level = fmax(w->least_level, o.level * (1 - window));
	gv_oracle_jobs_pick(&few, from, free_jobs, n);
	gv_oracle_jobs_free(&d->free_jobs);
	d->free_jobs = few;
	d->all_free = false;
	free(price);
	return true;
}

/*
 * The box: around the master's prices q, four times as far as the prices of any cut in
 * the mixture; the optimum is between those.  The levels of such cuts are in the window,
 * too.
 */
static bool
shrink(struct gv_dual_state *w)
{
	struct gv_dual *d = w->d;
	struct gv_price_box *b = &w->box;
	size_t off = w->problem->incumbent_used != NULL;
	const struct gv_price_box before = w->box;
	double *reach = gv_xcalloc(4 * d->m, sizeof(*reach));
	double *kept = reach + d->m;
	double most = 0, dearest = 0;
	double window = w->problem->gains ? 0 : 2 * (d->bound - d->level) / d->bound;
	bool small = true;
	size_t j, k;

	memcpy(kept, b->lo, 3 * d->m * sizeof(*kept));
	for (j = 0; j < d->m; j++) {
		dearest = fmax(dearest, w->master.price[j]);
		for (k = 0; k < d->n_cuts; k++)
			if (w->master.weight[k + off] > GV_TOL_IN_MIXTURE)
				reach[j] = fmax(
				    reach[j], 4 * fabs(gv_dual_own_price(w->problem,
							   d->cut[k].price, d->m, j) *
							   w->problem->capacity[j] -
						       w->master.price[j]));
		most = fmax(most, reach[j]);
	}
	small = most > 0;
	for (j = 0; j < d->m; j++) {
		double q = w->master.price[j];

		reach[j] = fmax(reach[j], .25 * most);
		small = small && reach[j] < (b->everything ? .1 * dearest
							   : .25 * (b->hi[j] - b->lo[j]));
		b->centre[j] = q;
		b->lo[j] = fmax(b->lo[j], q - reach[j]);
		b->hi[j] = fmin(b->hi[j], q + reach[j]);
	}
	b->everything = false;
	for (k = 0; k < d->n_cuts && !w->problem->gains; k++)
		if (w->master.weight[k] > GV_TOL_IN_MIXTURE)
			window = fmax(window, d->cut[k].level / d->bound - 1);
	if (!small || !gv_dual_fix(w, window)) {
		*b = before;
		memcpy(b->lo, kept, 3 * d->m * sizeof(*kept));
		small = false;
	}
	free(reach);
	return small;
}

/*
 * In a smaller box, the cuts that are inside: outside of it the jobs that are fixed now
 * may have demanded something else.
 */
static int
keep_cuts(struct gv_dual_state *w)
{
	struct gv_dual *d = w->d;
	const struct gv_price_box *b = &w->box;
	size_t off = w->problem->incumbent_used != NULL;
	bool *keep = gv_xcalloc(d->n_cuts + 1, sizeof(*keep));
	size_t j, k, n = 0;
	int rc;

	keep[0] = true; /* the incumbent, if there is one */
	for (k = 0; k < d->n_cuts; k++) {
		struct gv_cut *cut = &d->cut[k];
		bool inside =
		    w->problem->gains || cut->level <= w->fixed_level * (1 + w->window);

		for (j = 0; j < d->m; j++) {
			double q = gv_dual_own_price(w->problem, cut->price, d->m, j) *
				   w->problem->capacity[j];

			inside = inside && q >= b->lo[j] && q <= b->hi[j];
		}
		keep[k + off] = inside;
		if (inside)
			d->cut[n++] = *cut;
		else
			free(cut->price);
	}
	d->n_cuts = n;
	gv_price_master_keep(&w->master, keep, b->lo, b->hi);
	free(keep);
	d->level = w->problem->gains ? -INFINITY : 0;
	if (w->master.n == 0)
		return 0;
	rc = gv_price_master_solve(&w->master);
	if (rc == 0)
		gv_dual_note_mixture(w);
	return rc;
}

bool
gv_dual_shrink(struct gv_dual_state *w, int *rc)
{
	if (!shrink(w))
		return false;
	*rc = keep_cuts(w);
	return true;
}

bool
gv_dual_holds(struct gv_dual_state *w)
{
	struct gv_dual *d = w->d;
	struct gv_cut cut = {
	    d->price, w->problem->gains ? w->problem->level : d->price_level, 0};
	double bound = d->bound, real;

	if (d->all_free || (!w->problem->gains && d->price_level == 0))
		return true;
	if (!w->problem->gains && d->level < w->least_level)
		return false;
	memset(w->fixed_used, 0, d->m * sizeof(*w->fixed_used));
	memset(w->fixed_slope, 0, d->m * sizeof(*w->fixed_slope));
	w->fixed_gain = 0;
	d->all_free = true;
	real = gv_dual_evaluate(w, &cut);
	d->all_free = false;
	d->bound = real;
	return fabs(real - bound) <=
	       fmax(10 * gv_dual_tolerance(w), GV_TOL_HOLDS * fabs(bound));
}
