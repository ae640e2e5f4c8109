/*
 * The small linear program that mixes the cuts of dual.h (the restricted master of Dantzig and Wolfe 1960): a row per GPU type and one
 * for the sum of the weights, a column per cut.  Primal simplex method, dense, its
 * basis inverted anew every few iterations and at the end.
 *
 *	min v                        max sum_k mu_k G_k
 *	sum_k mu_k U_kj <= v         sum_k mu_k U_kj <= 1      each type j
 *	sum_k mu_k = 1               sum_k mu_k = 1            mu >= 0
 *	(levels)                     (gains)
 *
 * U_kj: the part of type j's GPUs that cut k demands.  The duals of the types' rows are
 * prices of whole capacities, q_j.  They are kept within [lo_j, hi_j]: GPUs beyond those there are
 * cost hi_j, unused ones give lo_j back.
 */
#ifndef GV_ALLOC_PRICE_MASTER_H
#define GV_ALLOC_PRICE_MASTER_H

#include <stdbool.h>
#include <stddef.h>

struct gv_price_master {
	size_t m, n, cap; /* types, cuts, room for cuts */
	bool gains;
	double *cost;     /* [columns] */
	double *column;   /* [columns][m + 1] */
	size_t *basis;    /* [m + 1] columns */
	double *value;    /* [m + 1] of the basic columns */
	double *dual;     /* [m + 1] */
	double *entering; /* [m + 1] a column in terms of the basis */
	double *inverted; /* [m + 1][2 (m + 1)] the right half: the basis inverted */
	double *weight;   /* [n] mu, out */
	double *price;    /* [m] q_j of a type's whole capacity, out */
	double excess;    /* GPUs beyond, the largest part of a capacity, out */
	double *effort;   /* operations left, counted down; NULL = any number */
	double objective; /* of the gains, those of GPUs beyond or unused included, out */
};

/* lo, hi [m] */
void gv_price_master_init(
    struct gv_price_master *p, size_t m, bool gains, const double *lo, const double *hi);
/* A cut: used [m] parts of the capacities. */
void gv_price_master_add(struct gv_price_master *p, const double *used, double gain);
/* The parts of the capacities that cut k uses.  [m] */
const double *gv_price_master_used(const struct gv_price_master *p, size_t k);
/* From where it was before.  0, or 1: rounding keeps it from the end, or no effort is left. */
int gv_price_master_solve(struct gv_price_master *p);
/* Whether the prices are the only ones that prove the mixture: no basic column is at 0. */
bool gv_price_master_unique(const struct gv_price_master *p);
/* Forgets cuts but those of keep [n], and changes the borders of the prices. */
void gv_price_master_keep(
    struct gv_price_master *p, const bool *keep, const double *lo, const double *hi);
void gv_price_master_free(struct gv_price_master *p);

#endif
