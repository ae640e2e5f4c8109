/*
 * Column generation: the program of pairs made so far (master.h), and all pairs priced
 * (pricing.h).  Private to the files of shared.h.
 */
#ifndef GV_ALLOC_COLUMNS_H
#define GV_ALLOC_COLUMNS_H

#include "master.h"

struct gv_columns {
	struct gv_master m;
	struct gv_pricing g;
	struct gv_pair_prices v;   /* of the last program */
	struct gv_candidate *best; /* [n] at those */
	bool all;                  /* pairs were all made beforehand */
	int rounds;
};

/* The pairs of h->warm, or of h->s, to start with, or all. */
void gv_columns_init(struct gv_columns *w, const struct gv_shared *h, bool all);
/* Where the last program ended, into warm. */
void gv_columns_keep(const struct gv_columns *w, struct gv_shared_warm *warm);
void gv_columns_free(struct gv_columns *w);

/* How many there would be if all were made. */
size_t gv_columns_count_all(const struct gv_problem *p);

/*
 * Column generation until no pair has a reduced cost above 0: the optimum of w->m's
 * objective over all pairs; t as large as it may be is such, whatever pairs there are.
 * 0; 1 *status says what kept it from there; -1 with *e set.
 */
int gv_columns_generate(struct gv_columns *w, const struct gv_lp_options *opt,
    enum gv_lp_status *status, struct gv_error *e);

/*
 * The dual bound that no allocation passes, in the units of the objective: sum_j p_j N_j +
 * sum_i n_i t_i; time[] is t_i times unit.
 */
double gv_columns_bound(
    const struct gv_columns *w, const double *price, double unit, double *time);

#endif
