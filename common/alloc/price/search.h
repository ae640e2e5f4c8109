/*
 * The search for prices: where the bound of Lagrange is least.
 *
 * In a step all jobs choose at prices, which gives the bound there and a plane that
 * the bound is nowhere below; mixture.h mixes steps, and its duals are the next
 * prices (Kelley 1960, Dantzig and Wolfe 1960).  Two things keep that from looking
 * at every job in every step.
 *
 * Many jobs: every eighth of them, by themselves, have nearly the same prices.  Only
 * what is near those is looked at further, a box of prices.
 *
 * A box: most jobs take the same wherever in it.  They are added up once and left
 * aside, and the steps go on with the others, in smaller and smaller boxes.
 *
 * A box may be too small.  Then the end is at its border, or the bound of all jobs at
 * the prices found is not what it should be, and the search starts anew around there
 * in a larger one.
 *
 * The way to the end shows in the last digits of what is found.  So the last part of
 * it is gone again from a point of a grid near the end, which is the same point
 * wherever the search began.
 */
#ifndef GV_ALLOC_SEARCH_H
#define GV_ALLOC_SEARCH_H

#include "crowd.h"

/* What is looked for: the best level (gains false), or the best gains at a level. */
struct gv_aim {
	const double *capacity; /* [m] */
	bool gains;
	double level;       /* gains: that each reaches; else what time allows, at most */
	const double *face; /* [m] gains: see struct gv_offer; NULL */
	double near_enough; /* the gap to end at, a part of the bound, ... */
	double least;       /* ... or of this where that is larger (gains) */
	/* gains: GPUs used by shares that keep the level, [m], and what they gain; NULL = not known */
	const double *first;
	double first_gain;
};

/* Prices per pool [m] and a level that were right for nearly the same jobs. */
struct gv_search_start {
	const double *price;
	double level;
};

struct gv_search_step {
	double *price; /* [m] of a GPU */
	double level;
	double weight; /* in the mixture */
};

/*
 * The mixture: the shares of a job in open are the sum of what it takes in the steps,
 * times their weights; of any other what it takes at the best prices and level,
 * times weight.
 */
struct gv_search {
	size_t m;
	struct gv_search_step *step;
	size_t n_steps, cap_steps;
	struct gv_crowd open; /* .n = 0: no job */
	bool all_open;        /* every job; open is empty then */
	double *price;        /* [m] of a GPU: of the least bound */
	double level, bound;  /* reached (of gains: the sum), and not to be passed */
	/* the step of the least bound was at this level; 0: none, time bounds */
	double price_level;
	double weight;
	bool settled; /* this depends on the jobs alone, not on where the search began */
	int steps;    /* all that were taken */
};

/*
 * start NULL: nothing is known.  Else the same comes out, sooner; where that is not
 * sure the search begins anew without it.  0; 1 it came no nearer than s->bound -
 * s->level.  *s is to be freed in both cases.
 */
int gv_search_prices(struct gv_search *s, const struct gv_crowd *c,
    const struct gv_aim *aim, const struct gv_search_start *start);
void gv_search_free(struct gv_search *s);

#endif
