/*
 * The boxstep method (Marsten, Hogan and Blankenship 1975): cutting planes within a box
 * of prices; where the least of the dual is at its border, a larger one follows.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dual_state.h"

enum { TRIES = 6 };

static const double everything = INFINITY; /* a part: all prices */

/* All prices; of gains up to most. */
static void
box_all(struct gv_price_box *b, size_t m, double most)
{
	size_t j;

	b->everything = true;
	for (j = 0; j < m; j++) {
		b->lo[j] = 0;
		b->hi[j] = most;
	}
}

/*
 * Around the centre: a part of each price, and of the largest one, so that a price of 0 may
 * rise, too.  On the face all a job's vertices cost the same at the face's prices, so a
 * multiple of those may be added to the prices: they may go far.
 */
static void
box_around(struct gv_dual_state *w, double part, double least)
{
	struct gv_price_box *b = &w->box;
	double most = least;
	size_t j;

	b->everything = false;
	for (j = 0; j < w->d->m; j++)
		most = fmax(most, b->centre[j]);
	for (j = 0; j < w->d->m; j++) {
		double reach = part * (b->centre[j] + .25 * most);

		b->lo[j] = fmax(0, b->centre[j] - reach);
		b->hi[j] = b->centre[j] + reach;
		if (w->problem->face != NULL && w->problem->face[j] > 0) {
			b->lo[j] = 0;
			b->hi[j] = b->centre[j] + 4 * most;
		}
	}
}

void
gv_dual_restart(struct gv_dual_state *w, double bound)
{
	struct gv_dual *d = w->d;

	gv_oracle_jobs_free(&d->free_jobs);
	d->all_free = true;
	d->level = w->problem->gains ? -INFINITY : 0;
	d->bound = bound;
	d->price_level = 0;
	d->weight = 1;
	memset(d->price, 0, d->m * sizeof(*d->price));
	memset(w->fixed_used, 0, d->m * sizeof(*w->fixed_used));
	memset(w->fixed_slope, 0, d->m * sizeof(*w->fixed_slope));
	w->fixed_gain = 0;
	w->fixed_level = w->least_level = 0;
}

void
gv_dual_start_prices(struct gv_dual_state *w)
{
	double types = 0; /* that have GPUs */
	size_t j;

	for (j = 0; j < w->d->m; j++)
		types += w->problem->capacity[j] > 0;
	for (j = 0; j < w->d->m; j++)
		w->box.centre[j] =
		    w->problem->gains || w->problem->capacity[j] == 0 ? 0 : 1 / types;
}

/*
 * Of levels: cuts of all jobs at the centre of the box, until the level is right to about
 * a part.  Newton's method squares what it is off by, so half of that will do.
 */
static void
find_level(struct gv_dual_state *w, double part)
{
	struct gv_dual *d = w->d;
	double level = fmin(w->start_level, d->bound);
	int k;

	for (k = 0; k < 3; k++) {
		struct gv_cut *cut = gv_dual_next_cut(w, w->box.centre);

		cut->level = level;
		gv_dual_note_bound(w, cut, gv_dual_evaluate(w, cut));
		gv_price_master_add(&w->master, w->part, 0);
		if (fabs(d->bound / level - 1) <= .5 * part)
			break;
		level = d->bound;
	}
}

/* One try in the box of a part around the centre. */
static enum gv_dual_end
try_box(struct gv_dual_state *w, double part, double least, double most)
{
	struct gv_dual *d = w->d;
	double bound = w->problem->gains ? INFINITY : w->problem->level;
	enum gv_dual_end end;

	gv_dual_restart(w, bound);
	if (part < 1)
		box_around(w, part, least);
	else
		box_all(&w->box, d->m, most);
	gv_dual_start_master(w);
	if (part < 1 && !w->problem->gains) {
		find_level(w, part);
		if (gv_price_master_solve(&w->master) == 0)
			gv_dual_note_mixture(w);
		if (d->bound - d->level <= gv_dual_tolerance(w))
			return GV_DUAL_CONVERGED;
		d->level = 0;
		gv_dual_start_master(w);
	}
	if (part < 1)
		gv_dual_fix(w, w->problem->gains ? 0 : fmin(.5, part * part));
	end = gv_dual_kelley(w, w->box.centre);
	if (end == GV_DUAL_CONVERGED && !w->rough && !gv_dual_holds(w))
		end = GV_DUAL_AT_BORDER;
	return end;
}

enum gv_dual_end
gv_dual_boxstep(struct gv_dual_state *w, double part, double least)
{
	double most = w->problem->gains ? 16 : 1e300;
	enum gv_dual_end end = GV_DUAL_STALLED;
	int k;

	for (k = 0; k < TRIES; k++) {
		end = try_box(w, part, least, most);
		if (end == GV_DUAL_CONVERGED || end == GV_DUAL_SPENT ||
		    (part >= 1 && !w->problem->gains))
			break;
		if (part >= 1) {
			most *= 1e3;
			continue;
		}
		memcpy(w->box.centre, w->master.price, w->d->m * sizeof(*w->box.centre));
		part = k == 2 || end == GV_DUAL_STALLED ? everything : part * 4;
		if (part >= 1)
			gv_dual_start_prices(w);
	}
	return end;
}
