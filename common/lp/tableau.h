/*
 * The simplex method's tableau in numbers of 448 bits (libgmp), for common/lp/precise.h and
 * common/lp/rise.h.
 */
#ifndef GV_LP_TABLEAU_H
#define GV_LP_TABLEAU_H

#include <gmp.h>

#include "lp/lp.h"

/* Objectives: the first, the second, and less of what is missing. */
enum { GV_FIRST, GV_SECOND, GV_MISSING, GV_OBJECTIVES };

/* A bound of a row of the program: 1, from above, -1, from below.  Each is a row here. */
struct gv_side {
	size_t row;
	int sign;
};

/*
 * Rows x_B + sum_j a_j x_j = b, b >= 0, of what is basic, and behind them those of objectives
 * z - sum_j c_j x_j = z_0.  What is basic or not has a label: a column of the program its
 * index; then what is missing of rows below 0; then the slacks of sides.
 */
struct gv_tableau {
	size_t m, n;         /* rows without objectives, nonbasic columns */
	size_t cap_m, cap_n; /* room for so many */
	size_t n_cols;       /* of the program */
	size_t labels;       /* so far */
	mpf_t *cell;         /* [cap_m + GV_OBJECTIVES][cap_n + 2], b and its ties last */
	size_t *basic;       /* [cap_m] labels */
	size_t *other;       /* [cap_n] */
	bool *stays;         /* [cap_n] at 0, for all that follows */
	double *unit;        /* [n_cols] of the reduced costs that are compared */
	size_t pivots;       /* so far */
	size_t n_sides;
	struct gv_side *side;
	mpf_t ratio, best, part, product, factor;
};

static inline mpf_t *
gv_tableau_at(const struct gv_tableau *t, size_t row, size_t col)
{
	return &t->cell[row * (t->cap_n + 2) + col];
}

static inline mpf_t *
gv_tableau_right(const struct gv_tableau *t, size_t row)
{
	return gv_tableau_at(t, row, t->cap_n);
}

/* What b is larger by, infinitely little: it decides between rows that would go out alike. */
static inline mpf_t *
gv_tableau_tie(const struct gv_tableau *t, size_t row)
{
	return gv_tableau_at(t, row, t->cap_n + 1);
}

static inline size_t
gv_tableau_objective(const struct gv_tableau *t, size_t objective)
{
	return t->cap_m + objective;
}

/* The label of side k's slack. */
static inline size_t
gv_tableau_slack(const struct gv_tableau *t, size_t k)
{
	return t->n_cols + 1 + k;
}

/*
 * Of a program as in gv_lp_precisely(), with room for so many rows and columns more.  False: a
 * number is not finite; nothing was made.
 */
bool gv_tableau_make(
    struct gv_tableau *t, const struct gv_lp *lp, const double *second, size_t more);
void gv_tableau_free(struct gv_tableau *t); /* also of a zeroed one */

/* A solution, whatever the objectives are. */
enum gv_lp_status gv_tableau_find(struct gv_tableau *t);
/* The best one by an objective, from a solution. */
enum gv_lp_status gv_tableau_climb(struct gv_tableau *t, size_t objective);

/* The nearest double: mpf_get_d() cuts off. */
double gv_tableau_double(struct gv_tableau *t, const mpf_t v);

#endif
