/*
 * Fixing (price/fixing.c) alone: the oracle, the master and the bounds that it calls answer as
 * drawn here, with many values that are just at a limit; what it makes of that is what it was.
 */
#include "recorded.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/price/dual_state.h"
#include "lp/tolerance.h"

static size_t oracle_fix(const struct gv_oracle_jobs *c, const struct gv_dual_point *o,
    const double *lo, const double *hi, double part, struct gv_demand *t,
    size_t *free_jobs);
static void jobs_pick(
    struct gv_oracle_jobs *to, const struct gv_oracle_jobs *c, size_t *of, size_t n);
static double evaluate(struct gv_dual_state *w, const struct gv_cut *cut);
static void note_mixture(struct gv_dual_state *w);
static double tolerance(const struct gv_dual_state *w);
static void master_keep(
    struct gv_price_master *p, const bool *keep, const double *lo, const double *hi);
static int master_solve(struct gv_price_master *p);

#define gv_oracle_fix         oracle_fix
#define gv_oracle_jobs_pick   jobs_pick
#define gv_dual_evaluate      evaluate
#define gv_dual_note_mixture  note_mixture
#define gv_dual_tolerance     tolerance
#define gv_price_master_keep  master_keep
#define gv_price_master_solve master_solve
#include "../../common/alloc/price/fixing.c"

enum { TYPES = 3, CUTS = 4 };

static struct {
	struct recorded *r;
	size_t unfixed;
	double real, tolerance; /* what gv_dual_holds() sees */
	int solved;
} at;

static size_t
oracle_fix(const struct gv_oracle_jobs *c, const struct gv_dual_point *o,
    const double *lo, const double *hi, double part, struct gv_demand *t,
    size_t *free_jobs)
{
	size_t j;

	recorded_whole(at.r, (long long)c->n);
	recorded_doubles(at.r, o->price, TYPES);
	recorded_double(at.r, o->level);
	recorded_whole(at.r, o->gains);
	recorded_doubles(at.r, lo, TYPES);
	recorded_doubles(at.r, hi, TYPES);
	recorded_double(at.r, part);
	for (j = 0; j < TYPES; j++) {
		t->used[j] = (double)below(16);
		t->used_slope[j] = (double)below(16);
	}
	t->gain = (double)below(16);
	for (j = 0; j < at.unfixed; j++)
		free_jobs[j] = j;
	return at.unfixed;
}

static void
jobs_pick(struct gv_oracle_jobs *to, const struct gv_oracle_jobs *c, size_t *of, size_t n)
{
	recorded_whole(at.r, (long long)c->n);
	*to = (struct gv_oracle_jobs){.n = n, .m = c->m, .of = of};
}

static double
evaluate(struct gv_dual_state *w, const struct gv_cut *cut)
{
	recorded_doubles(at.r, cut->price, TYPES);
	recorded_double(at.r, cut->level);
	recorded_whole(at.r, w->d->all_free);
	recorded_doubles(at.r, w->fixed_used, TYPES);
	recorded_doubles(at.r, w->fixed_slope, TYPES);
	recorded_double(at.r, w->fixed_gain);
	return at.real;
}

static void
note_mixture(struct gv_dual_state *w)
{
	recorded_double(at.r, w->d->level);
	recorded_text(at.r, "mixture");
}

static double
tolerance(const struct gv_dual_state *w)
{
	recorded_double(at.r, w->d->bound);
	return at.tolerance;
}

static void
master_keep(
    struct gv_price_master *p, const bool *keep, const double *lo, const double *hi)
{
	size_t k, n = 0;

	for (k = 0; k < p->n; k++) {
		recorded_whole(at.r, keep[k]);
		n += keep[k];
	}
	recorded_doubles(at.r, lo, TYPES);
	recorded_doubles(at.r, hi, TYPES);
	p->n = n;
}

static int
master_solve(struct gv_price_master *p)
{
	recorded_whole(at.r, (long long)p->n);
	return at.solved;
}

static void
record(struct recorded *r, const struct gv_dual_state *w)
{
	const struct gv_dual *d = w->d;
	size_t k;

	recorded_doubles(r, w->box.lo, 3 * TYPES);
	recorded_whole(r, w->box.everything);
	recorded_doubles(r, w->master.price, TYPES);
	recorded_doubles(r, w->fixed_used, TYPES);
	recorded_doubles(r, w->fixed_slope, TYPES);
	recorded_double(r, w->fixed_gain);
	recorded_double(r, w->fixed_level);
	recorded_double(r, w->window);
	recorded_double(r, w->least_level);
	recorded_double(r, d->level);
	recorded_double(r, d->bound);
	recorded_whole(r, d->all_free);
	recorded_whole(r, (long long)d->free_jobs.n);
	recorded_whole(r, (long long)d->n_cuts);
	for (k = 0; k < d->n_cuts; k++) {
		recorded_doubles(r, d->cut[k].price, TYPES);
		recorded_double(r, d->cut[k].level);
	}
}

/* Prices of cuts and of the master near each other, in steps that limits meet. */
static void
draw_cuts(struct gv_dual_state *w, struct gv_cut *cut, double *weight)
{
	static const double weights[] = {
	    0, GV_TOL_IN_MIXTURE, 2 * GV_TOL_IN_MIXTURE, .5, .25};
	const double step = ldexp(1, -(int)below(8)), wide = ldexp(1, 2 - (int)below(4));
	size_t j, k;

	for (j = 0; j < TYPES; j++) {
		double q = .625 * (double)(1 + below(8));

		w->master.price[j] = q;
		w->box.lo[j] = below(3) == 0 ? q : fmax(0, q - wide);
		w->box.hi[j] = below(3) == 0 ? q + step / 64 : q + wide;
		w->box.centre[j] = q + step;
	}
	for (k = 0; k < CUTS; k++) {
		cut[k].price = gv_xcalloc(TYPES, sizeof(double));
		cut[k].level = 1 + (double)below(5) / 4;
		for (j = 0; j < TYPES; j++)
			if (w->problem->capacity[j] > 0)
				cut[k].price[j] =
				    (w->master.price[j] +
					step * ((double)below(3) - 1) / 64) /
				    w->problem->capacity[j];
	}
	for (k = 0; k <= CUTS; k++)
		weight[k] = weights[below(5)];
}

/* Once smaller, and whether what is fixed holds. */
static void
ask_once(struct recorded *r, struct gv_dual_state *w)
{
	static const double off[] = {0, 1, 10, 10.5, 11, 16};
	int rc = 7;

	at.solved = below(4) == 0;
	switch (below(5)) {
	case 0:
		recorded_whole(r, gv_dual_fix(w, ldexp(1, -(int)below(4))));
		break;
	default:
		recorded_whole(r, gv_dual_shrink(w, &rc));
	}
	recorded_whole(r, rc);
	record(r, w);
	at.tolerance = below(2) == 0 ? ldexp(1, -20) : 0;
	at.real = w->d->bound + off[below(6)] * ldexp(1, -20) * (below(2) == 0 ? 1 : -1);
	if (below(4) == 0)
		at.real = w->d->bound + (double)below(5) * ldexp(1, -43);
	recorded_whole(r, gv_dual_holds(w));
	record(r, w);
}

static void
ask(struct recorded *r, size_t k)
{
	static const size_t jobs[] = {8, 16, 17, 40};
	static const double capacities[] = {0, 1, 2, 4};
	double box[3 * TYPES], price[TYPES],
	    room[4 * TYPES] = {0}, capacity[TYPES], dollars[TYPES] = {.5, .25, 0},
		     weight[CUTS + 1], best[TYPES] = {1, .5, 2};
	struct gv_oracle_jobs all = {.n = jobs[below(4)], .m = TYPES};
	const struct gv_dual_problem problem = {.capacity = capacity,
	    .dollars = below(3) == 0 ? dollars : NULL,
	    .gains = k % 2 == 1,
	    .level = 3,
	    .incumbent_used = below(2) == 0 ? capacity : NULL};
	struct gv_cut cuts[CUTS];
	struct gv_dual d = {.m = TYPES, .cut = cuts, .n_cuts = CUTS, .price = best};
	struct gv_dual_state w = {.d = &d,
	    .all = &all,
	    .problem = &problem,
	    .box = {box, box + TYPES, box + 2 * TYPES, below(2) == 0},
	    .demand = {.used = room, .used_slope = room + TYPES}};
	size_t j;

	for (j = 0; j < TYPES; j++)
		capacity[j] = capacities[below(4)];
	d.all_free = below(2) == 0;
	if (!d.all_free)
		d.free_jobs = (struct gv_oracle_jobs){.n = jobs[below(4)], .m = TYPES};
	d.bound = (double)(1 + below(3));
	d.level = d.bound - (double)below(4) / 8;
	d.price_level = (double)below(3);
	at.unfixed = (d.all_free ? all.n : d.free_jobs.n) / 8 * 7 - 1 + below(3);
	w.master = (struct gv_price_master){.m = TYPES,
	    .n = CUTS + (problem.incumbent_used != NULL),
	    .weight = weight,
	    .price = price};
	w.fixed_used = room + 2 * TYPES;
	w.fixed_slope = room + 3 * TYPES;
	for (j = 0; j < TYPES; j++) {
		w.fixed_used[j] = (double)below(4);
		w.fixed_slope[j] = (double)below(4);
	}
	w.fixed_gain = (double)below(4);
	w.fixed_level = (double)below(3);
	w.least_level = (double)below(3) / 2 + (below(3) == 0 ? d.level : 0);
	at.r = r;
	draw_cuts(&w, cuts, weight);
	ask_once(r, &w);
	for (j = 0; j < d.n_cuts; j++)
		free(d.cut[j].price);
	gv_oracle_jobs_free(&d.free_jobs);
}

int
main(void)
{
	struct recorded r;
	size_t k, part;

	recorded_open(&r);
	for (part = 0; part < 40; part++) {
		draws_begin(8, (uint32_t)part, 0);
		for (k = 0; k < 1000; k++)
			ask(&r, k);
		recorded_answer(&r, "boxes %zu", part);
	}
	recorded_close(&r);
	return done_testing();
}
