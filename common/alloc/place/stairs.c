/* Turns (turns.h) on one type: the stairs and how long each stays, by a linear program. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/lp.h"
#include "lp/tolerance.h"
#include "turns.h"

enum {
	MOST_SLOTS = 64,    /* times between which nobody comes or goes */
	MOST_STAIRS = 2000, /* columns */
	MOST_CUTS = 60      /* rounds of inequalities */
};

/* How many gangs of each size may run, and for how long. */
struct stairs {
	struct gv_turns_type *t;
	size_t n_slots;
	double *slot;     /* [n_slots + 1] borders */
	double *reserved; /* [n_slots][sizes] gangs that have this time, or are spread */
	double *whole;    /* [sizes] jobs that have all the time */
	double *load;     /* [sizes] gangs in the mean */
	size_t n, cap;
	double *height; /* [n][sizes] less what is reserved */
	struct gv_lp lp;
	size_t n_cuts, cap_cuts;
	struct cut {
		size_t size;
		double jobs, need;
	} * cut;
};

static int
by_share(const void *a, const void *b)
{
	const struct gv_turns_jobs *x = a, *y = b;

	return (x->share < y->share) - (x->share > y->share);
}

static int
by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ---- what is asked for ---- */

static void
find_slots(struct stairs *w)
{
	const struct gv_turns_type *t = w->t;
	size_t n = 0, k, i;

	w->slot = gv_xcalloc(2 * t->n_stays + 2, sizeof(*w->slot));
	w->slot[n++] = 0;
	w->slot[n++] = 1;
	for (k = 0; k < t->n_stays; k++) {
		w->slot[n++] = t->stay[k].from;
		w->slot[n++] = t->stay[k].to;
	}
	qsort(w->slot, n, sizeof(*w->slot), by_time);
	for (k = i = 1; k < n; k++)
		if (w->slot[k] > w->slot[i - 1] + GV_TOL_FEASIBLE)
			w->slot[i++] = w->slot[k];
	w->slot[i - 1] = 1;
	w->n_slots = i - 1;
}

/* In every slot that a gang has more than rounding of. */
static void
reserve(struct stairs *w)
{
	const struct gv_turns_type *t = w->t;
	size_t k, s;

	w->reserved = gv_xcalloc(w->n_slots, t->n_sizes * sizeof(*w->reserved));
	for (s = 0; s < w->n_slots; s++) {
		double *to = &w->reserved[s * t->n_sizes];

		for (k = 0; k < t->n_sizes; k++)
			to[k] = t->size[k].spread;
		for (k = 0; k < t->n_stays; k++)
			if (fmin(t->stay[k].to, w->slot[s + 1]) -
				fmax(t->stay[k].from, w->slot[s]) >
			    GV_TOL_FEASIBLE)
				to[t->stay[k].size]++;
	}
}

static void
sum_up(struct stairs *w)
{
	struct gv_turns_type *t = w->t;
	size_t k, i;

	w->whole = gv_xcalloc(t->n_sizes, sizeof(*w->whole));
	w->load = gv_xcalloc(t->n_sizes, sizeof(*w->load));
	for (k = 0; k < t->n_sizes; k++) {
		struct gv_turns_size *s = &t->size[k];

		if (s->n > 0)
			qsort(s->jobs, s->n, sizeof(*s->jobs), by_share);
		w->load[k] = s->spread;
		for (i = 0; i < s->n; i++) {
			w->load[k] += s->jobs[i].share * s->jobs[i].jobs;
			if (s->jobs[i].share >= 1 - GV_TOL_FEASIBLE)
				w->whole[k] += s->jobs[i].jobs;
		}
	}
	for (i = 0; i < t->n_stays; i++)
		w->load[t->stay[i].size] += t->stay[i].to - t->stay[i].from;
}

/* ---- the stairs ---- */

/* The fewest gangs that may run in a slot. */
static double
fewest(const struct stairs *w, size_t slot, size_t k)
{
	return ceil(
	    w->reserved[slot * w->t->n_sizes + k] + w->whole[k] - GV_TOL_FEASIBLE);
}

/* Where the numbers to try begin: around the mean. */
static double
first_try(const struct stairs *w, size_t slot, size_t k, double reach)
{
	return fmax(fewest(w, slot, k), floor(w->load[k] + GV_TOL_FEASIBLE) - reach);
}

static double
last_try(const struct stairs *w, size_t slot, size_t k, double reach)
{
	return fmax(first_try(w, slot, k, reach),
	    fmin(floor(w->t->gpus / w->t->size[k].gang),
		ceil(w->load[k] - GV_TOL_FEASIBLE) + reach));
}

static void
add_stairs(struct stairs *w, size_t slot, const double *gangs)
{
	size_t n = w->t->n_sizes, k;
	size_t col = gv_lp_add_col(&w->lp, 0, INFINITY, 0);
	double *height;

	w->height = gv_xgrow(w->height, &w->cap, (w->n + 1) * n, sizeof(*w->height));
	height = &w->height[w->n++ * n];
	for (k = 0; k < n; k++)
		height[k] = fmax(0, gangs[k] - w->reserved[slot * n + k]);
	gv_lp_set(&w->lp, slot, col, 1);
}

/* All numbers within reach of the mean; the smallest gangs take what is left.  False: there are none. */
static bool
make_stairs(struct stairs *w, size_t slot, size_t smallest, double reach)
{
	const struct gv_turns_type *t = w->t;
	size_t n = t->n_sizes, before = w->n, k;
	double *gangs = gv_xcalloc(n, sizeof(*gangs));

	for (k = smallest + 1; k < n; k++)
		gangs[k] = w->load[k] > 0 ? first_try(w, slot, k, reach) : 0;
	do {
		double left = t->gpus;

		for (k = smallest + 1; k < n; k++)
			left -= gangs[k] * t->size[k].gang;
		gangs[smallest] = floor(left / t->size[smallest].gang);
		if (gangs[smallest] >= fewest(w, slot, smallest))
			add_stairs(w, slot, gangs);
		for (k = smallest + 1; k < n; k++) {
			if (w->load[k] > 0 && gangs[k] < last_try(w, slot, k, reach)) {
				gangs[k]++;
				break;
			}
			gangs[k] = w->load[k] > 0 ? first_try(w, slot, k, reach) : 0;
		}
	} while (k < n);
	free(gangs);
	return w->n > before;
}

/* How many there would be. */
static double
count_stairs(const struct stairs *w, size_t smallest, double reach)
{
	double sum = 0;
	size_t s, k;

	for (s = 0; s < w->n_slots; s++) {
		double all = 1;

		for (k = smallest + 1; k < w->t->n_sizes; k++)
			if (w->load[k] > 0)
				all *= last_try(w, s, k, reach) -
				       first_try(w, s, k, reach) + 1;
		sum += all;
	}
	return sum;
}

/* ---- inequalities ---- */

/* The n largest shares of a size, over what the stairs give them, is at least t. */
static void
add_cut(struct stairs *w, size_t size, double jobs, double need)
{
	size_t row = gv_lp_add_row(&w->lp, 0, INFINITY), k;

	w->cut = gv_xgrow(w->cut, &w->cap_cuts, w->n_cuts + 1, sizeof(*w->cut));
	w->cut[w->n_cuts++] = (struct cut){size, jobs, need};
	gv_lp_set(&w->lp, row, 0, -1);
	for (k = 0; k < w->n; k++)
		gv_lp_set(&w->lp, row, 1 + k,
		    fmin(jobs, w->height[k * w->t->n_sizes + size]) / need);
}

/* The inequality of a size that is broken most, added; false: none is. */
static bool
cut_size(struct stairs *w, size_t size, const double *length)
{
	const struct gv_turns_size *s = &w->t->size[size];
	double jobs = 0, need = 0, worst = GV_TOL_FEASIBLE;
	double at_jobs = 0, at_need = 0;
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		double given = 0;

		jobs += s->jobs[i].jobs;
		need += s->jobs[i].jobs * s->jobs[i].share;
		for (k = 0; k < w->n; k++)
			if (length[k] > 0)
				given += length[k] *
					 fmin(jobs, w->height[k * w->t->n_sizes + size]);
		if (need - given > worst * need) {
			worst = (need - given) / need;
			at_jobs = jobs;
			at_need = need;
		}
	}
	if (at_jobs == 0)
		return false;
	add_cut(w, size, at_jobs, at_need);
	return true;
}

/* Whether there are lengths that keep all inequalities. */
static bool
find_lengths(struct stairs *w)
{
	struct gv_lp_basis basis = {0};
	bool fits = true, more = true;
	size_t k, round;

	for (round = 0; fits && more && round < MOST_CUTS; round++) {
		struct gv_lp_solution sol = {0};
		struct gv_error e = {0};

		fits = gv_lp_solve(&w->lp, NULL, &basis, &sol, &e) == 0 &&
		       sol.status == GV_LP_OPTIMAL && sol.x[0] >= 1 - GV_TOL_FEASIBLE;
		for (more = false, k = 0; fits && k < w->t->n_sizes; k++)
			more = cut_size(w, k, sol.x + 1) || more;
		gv_lp_solution_free(&sol);
		gv_error_clear(&e);
	}
	gv_lp_basis_free(&basis);
	return fits && !more;
}

static bool
try_reach(struct stairs *w, size_t smallest, double reach)
{
	bool fits = true;
	size_t s, k;

	gv_lp_free(&w->lp);
	w->lp = (struct gv_lp){.maximise = true};
	w->n = w->n_cuts = 0;
	gv_lp_add_col(&w->lp, 0, 1, 1);
	for (s = 0; s < w->n_slots; s++) {
		double length = w->slot[s + 1] - w->slot[s];

		gv_lp_add_row(&w->lp, length, length);
	}
	for (s = 0; s < w->n_slots && fits; s++)
		fits = make_stairs(w, s, smallest, reach);
	for (k = 0; k < w->t->n_sizes && fits; k++) {
		const struct gv_turns_size *size = &w->t->size[k];
		double jobs = 0, need = 0;
		size_t i;

		for (i = 0; i < size->n; i++) {
			jobs += size->jobs[i].jobs;
			need += size->jobs[i].jobs * size->jobs[i].share;
		}
		if (need > 0)
			add_cut(w, k, jobs, need);
	}
	return fits && find_lengths(w);
}

static void
stairs_free(struct stairs *w)
{
	gv_lp_free(&w->lp);
	free(w->slot);
	free(w->reserved);
	free(w->whole);
	free(w->load);
	free(w->height);
	free(w->cut);
}

bool
gv_turns_fit(struct gv_turns_type *t)
{
	struct stairs w = {.t = t};
	size_t smallest = 0;
	int reach;
	bool fits = false;

	find_slots(&w);
	reserve(&w);
	sum_up(&w);
	while (smallest < t->n_sizes && !(w.load[smallest] > 0))
		smallest++;
	if (smallest == t->n_sizes)
		fits = true;
	for (reach = 0; reach < 3 && !fits && w.n_slots <= MOST_SLOTS; reach++) {
		if (count_stairs(&w, smallest, reach) > MOST_STAIRS)
			break;
		fits = try_reach(&w, smallest, reach);
	}
	stairs_free(&w);
	return fits;
}
