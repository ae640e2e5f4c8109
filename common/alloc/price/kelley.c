/*
 * Cutting planes: a cut is the demand at some prices, a plane that the dual is nowhere
 * below; the next prices are the duals of the master that mixes the cuts so far.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "dual_state.h"
#include "lp/tolerance.h"

enum { MAX_CUTS = 600, PATIENCE = 25, FEW = 512 };

static const double acceptable = 100; /* times the gap to end at, where it ends above */
static const double near_gap = 1e-4;  /* relative: most of the way lies behind */

/*
 * Whether the price of a type stands at a border that is not one of all prices; of gains
 * also where GPUs beyond the capacity are bought at the border price.
 */
static bool
at_border(const struct gv_dual_state *w)
{
	const struct gv_price_box *b = &w->box;
	size_t j;

	if (w->problem->gains && w->master.excess > GV_TOL_BEYOND)
		return true;
	for (j = 0; !b->everything && j < w->d->m; j++) {
		double q = w->master.price[j],
		       near = GV_TOL_BORDER * (b->hi[j] - b->lo[j]);

		if (q >= b->hi[j] - near || (b->lo[j] > 0 && q <= b->lo[j] + near))
			return true;
	}
	return false;
}

void
gv_dual_start_master(struct gv_dual_state *w)
{
	size_t j;

	if (w->has_master)
		gv_price_master_free(&w->master);
	gv_dual_forget_cuts(w->d);
	gv_price_master_init(
	    &w->master, w->d->m, w->problem->gains, w->box.lo, w->box.hi);
	w->has_master = true;
	w->master.effort = w->problem->effort;
	for (j = 0; w->problem->incumbent_used != NULL && j < w->d->m; j++)
		w->part[j] =
		    w->problem->capacity[j] > 0
			? fmin(1, w->problem->incumbent_used[j] / w->problem->capacity[j])
			: 0;
	if (w->problem->incumbent_used != NULL)
		gv_price_master_add(&w->master, w->part, w->problem->incumbent_gain);
}

/*
 * Of levels: v t_bound <= 1 but for the gap, so the master's duals, in the box, prove its
 * mixture to be the best; only prices beyond the border can lower the bound.
 */
static bool
is_best_in_box(const struct gv_dual_state *w)
{
	return -w->master.objective * w->d->bound - 1 <= w->problem->gap;
}

/*
 * Ends where bound and mixture meet, where only prices outside of the box go on, and
 * where neither has moved for a while.
 */
enum gv_dual_end
gv_dual_kelley(struct gv_dual_state *w, const double *capacity_price)
{
	struct gv_dual *d = w->d;
	double *q = gv_xcalloc(d->m, sizeof(*q));
	enum gv_dual_end end = GV_DUAL_STALLED;
	int k, since = 0, rc;

	memcpy(q, capacity_price, d->m * sizeof(*q));
	for (k = 0; k < MAX_CUTS && since++ < PATIENCE; k++) {
		struct gv_cut *cut = gv_dual_next_cut(w, q);
		double gap = d->bound - d->level, before = w->master.objective, own;

		own = gv_dual_evaluate(w, cut);
		gv_dual_note_bound(w, cut, own);
		if (gv_dual_has_to_end(w))
			break;
		gv_price_master_add(&w->master, w->part, w->demand.gain);
		rc = gv_price_master_solve(&w->master);
		if (rc != 0 && gv_dual_spent(w) && !gv_dual_has_to_end(w))
			rc = gv_price_master_solve(&w->master);
		if (rc != 0)
			break;
		gv_dual_note_mixture(w);
		w->near_end |= d->bound - d->level <= near_gap * fabs(d->bound);
		memcpy(q, w->master.price, d->m * sizeof(*q));
		if (d->bound - d->level <= gv_dual_tolerance(w)) {
			end = w->problem->gains && at_border(w) ? GV_DUAL_AT_BORDER
								: GV_DUAL_CONVERGED;
			break;
		}
		if (!w->problem->gains &&
		    (d->bound < w->least_level || (is_best_in_box(w) && at_border(w)))) {
			end = GV_DUAL_AT_BORDER;
			break;
		}
		if (d->bound - d->level < gap ||
		    fabs(w->master.objective - before) > GV_TOL_PROGRESS * fabs(before))
			since = 0;
		if (gv_dual_free_jobs(w)->n > FEW && k >= (int)d->m + 2 &&
		    gv_dual_shrink(w, &rc)) {
			if (rc != 0)
				break;
			memcpy(q, w->master.price, d->m * sizeof(*q));
			since = 0;
		}
	}
	free(q);
	if (end != GV_DUAL_CONVERGED && gv_dual_spent(w))
		return GV_DUAL_SPENT;
	if (end == GV_DUAL_STALLED &&
	    d->bound - d->level <= gv_dual_tolerance(w) * acceptable &&
	    !(w->problem->gains && at_border(w)))
		end = GV_DUAL_CONVERGED;
	return end;
}
