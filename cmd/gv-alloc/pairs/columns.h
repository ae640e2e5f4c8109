/*
 * Column generation: the program of pairs made so far (master.h), and all pairs priced
 * (pricing.h).  Private to the files of shared.h.
 */
#ifndef GV_ALLOC_COLUMNS_H
#define GV_ALLOC_COLUMNS_H

#include "master.h"

struct columns {
	struct master m;
	struct pricing g;
	struct pair_prices v;   /* of the last program */
	struct candidate *best; /* [n] at those */
	bool all;               /* pairs were all made beforehand */
	int rounds;
};

/* The pairs of h->warm, or of h->s, to start with, or all. */
void columns_init(struct columns *w, const struct shared *h, bool all);
/* Where the last program ended, into warm. */
void columns_keep(const struct columns *w, struct shared_warm *warm);
void columns_free(struct columns *w);

/* How many there would be if all were made. */
size_t columns_all(const struct problem *p);

/*
 * To the best of what w->m looks for.  0; 1 *status says what kept it from there; -1
 * with *e set.
 */
int columns_climb(struct columns *w, const struct gv_lp_options *opt,
    enum gv_lp_status *status, struct gv_error *e);

/*
 * What no allocation passes, in the units of what is looked for: the worth of all
 * GPUs, by price, and of all time, of which time[] is that of a row's jobs times unit.
 */
double columns_limit(
    const struct columns *w, const double *price, double unit, double *time);

#endif
