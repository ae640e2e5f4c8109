/* One minimisation of a dual at work; private to the files of dual.h. */
#ifndef GV_ALLOC_DUAL_STATE_H
#define GV_ALLOC_DUAL_STATE_H

#include "dual.h"
#include "master.h"

/*
 * Prices q_j = p_j N_j of a type's whole capacity between lo and hi; those of a level
 * sum to 1.
 */
struct gv_price_box {
	double *lo, *centre, *hi; /* [m] each */
	bool everything;          /* all prices */
};

struct gv_dual_state {
	struct gv_dual *d;
	const struct gv_oracle_jobs *all;
	const struct gv_dual_problem *problem;
	struct gv_price_box box;
	struct gv_price_master master;
	bool has_master;
	struct gv_demand demand; /* of the last evaluation */
	double *part; /* [m] of the capacities, that as a column of the master */
	/* by fixed jobs: GPUs at level 0 and for each of level more, and their gain */
	double *fixed_used, *fixed_slope;
	double fixed_gain;
	/* where they were fixed, 0 = none is; they demand the same ... */
	double fixed_level;
	double window;      /* ... up to that part of it away */
	double least_level; /* what is fixed holds down to it */
	double start_level; /* about where the level will be */
	bool sample;        /* of these jobs only prices are wanted */
	bool rough;         /* what is found need not hold: it is looked at again */
	bool near_end;      /* bound and mixture have been near each other */
	double grant;       /* operations that it may take besides from then on */
};

enum gv_dual_end {
	GV_DUAL_CONVERGED,
	GV_DUAL_AT_BORDER,
	GV_DUAL_STALLED,
	GV_DUAL_SPENT /* no effort is left */
};

/* ---- cuts.c ---- */

/* Jobs that are free: those whose demand each evaluation looks at. */
const struct gv_oracle_jobs *gv_dual_free_jobs(const struct gv_dual_state *w);

/* p_j = q_j / N_j, and what it costs of money */
void gv_dual_gpu_prices(const struct gv_dual_problem *problem,
    const double *capacity_price, size_t m, double *price);
/* Sets the last of gpus [m], where it is money, to what the others cost. */
void gv_dual_spend(const struct gv_dual_problem *problem, double *gpus, size_t m);
/* A new cut at those prices and the least bound so far; what it demands is not known yet. */
struct gv_cut *gv_dual_next_cut(struct gv_dual_state *w, const double *capacity_price);
void gv_dual_forget_cuts(struct gv_dual *d);
/* The demand at a cut into w->demand and w->part; D there, the bound. */
double gv_dual_evaluate(struct gv_dual_state *w, const struct gv_cut *cut);
void gv_dual_note_bound(struct gv_dual_state *w, const struct gv_cut *cut, double bound);
/* The master's mixture becomes the solution: of levels if it is better than what there is. */
void gv_dual_note_mixture(struct gv_dual_state *w);
/* Whether it took all the effort that it may. */
bool gv_dual_spent(const struct gv_dual_state *w);
/* Whether it took that and may not take more: near its end it may, once. */
bool gv_dual_has_to_end(struct gv_dual_state *w);
/* The gap to end at, absolute. */
double gv_dual_tolerance(const struct gv_dual_state *w);

/* ---- kelley.c ---- */

/* A master of no cuts, its prices kept in the box. */
void gv_dual_start_master(struct gv_dual_state *w);
/* Cutting planes from those prices on, until bound and solution meet. */
enum gv_dual_end gv_dual_kelley(struct gv_dual_state *w, const double *capacity_price);

/* ---- fixing.c ---- */

/*
 * Fixes jobs that demand the same in the whole box, at levels up to a part below the
 * bound; false when they are few.
 */
bool gv_dual_fix(struct gv_dual_state *w, double window);
/*
 * Goes on in a box that holds the prices of the mixture's cuts a few times over, if it
 * is small and fixes most jobs; false: it is not.  *rc as of gv_price_master_solve().
 */
bool gv_dual_shrink(struct gv_dual_state *w, int *rc);
/* Whether fixed jobs demand what they were fixed at: all jobs at the best prices. */
bool gv_dual_holds(struct gv_dual_state *w);

/* ---- boxstep.c ---- */

/* All jobs free, nothing known but a bound. */
void gv_dual_restart(struct gv_dual_state *w, double bound);
/* Prices to start at where nothing is known: of levels equal ones, of gains none. */
void gv_dual_start_prices(struct gv_dual_state *w);
/*
 * Boxes of a part around the centre, larger and larger ones; gap_floor: of the
 * largest price.
 */
enum gv_dual_end gv_dual_boxstep(struct gv_dual_state *w, double part, double least);

#endif
