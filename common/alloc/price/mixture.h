/*
 * The small linear program that mixes steps of price.c: a row per GPU type and one
 * for the sum of the weights, a column per step.  Primal simplex method, dense, its
 * basis inverted anew every few iterations and at the end.
 *
 *	min v                        max sum_k mu_k G_k
 *	sum_k mu_k U_kj <= v         sum_k mu_k U_kj <= 1      each type j
 *	sum_k mu_k = 1               sum_k mu_k = 1            mu >= 0
 *	(levels)                     (gains)
 *
 * U_kj: the part of type j's GPUs that step k uses.  The duals of the types' rows are
 * prices per pool.  They are kept within [lo_j, hi_j]: GPUs beyond those there are
 * cost hi_j, unused ones give lo_j back.
 */
#ifndef GV_ALLOC_MIXTURE_H
#define GV_ALLOC_MIXTURE_H

#include <stdbool.h>
#include <stddef.h>

struct gv_mixture {
	size_t m, n, cap; /* types, steps, room for steps */
	bool gains;
	double *cost;     /* [columns] */
	double *column;   /* [columns][m + 1] */
	size_t *basis;    /* [m + 1] columns */
	double *value;    /* [m + 1] of the basic columns */
	double *dual;     /* [m + 1] */
	double *entering; /* [m + 1] a column in terms of the basis */
	double *work;     /* [m + 1][2 (m + 1)] the right half: the basis inverted */
	double *weight;   /* [n] mu, out */
	double *price;    /* [m] per pool, out */
	double over;      /* GPUs beyond, the largest part of a pool, out */
	double sum;       /* of the gains, those of GPUs beyond or unused included, out */
};

/* lo, hi [m] */
void gv_mixture_init(
    struct gv_mixture *p, size_t m, bool gains, const double *lo, const double *hi);
/* A step: used [m] parts of the pools. */
void gv_mixture_add(struct gv_mixture *p, const double *used, double gain);
/* From where it was before.  0, or 1: rounding keeps it from the end. */
int gv_mixture_solve(struct gv_mixture *p);
/* Whether the prices are the only ones that prove the mixture: no basic column is at 0. */
bool gv_mixture_unique(const struct gv_mixture *p);
/* Forgets steps but those of keep [n], and changes the borders of the prices. */
void gv_mixture_keep(
    struct gv_mixture *p, const bool *keep, const double *lo, const double *hi);
void gv_mixture_free(struct gv_mixture *p);

#endif
