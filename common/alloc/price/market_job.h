/* What one job takes at given prices; see market.h. */
#ifndef GV_ALLOC_MARKET_JOB_H
#define GV_ALLOC_MARKET_JOB_H

#include <stddef.h>

enum gv_choice {
	CHOICE_SPEND, /* type j until 1 is spent, in less than all the time */
	CHOICE_FULL,  /* type j all the time */
	CHOICE_MIX    /* all the time, on j and the slower, cheaper k */
};

struct gv_taken {
	enum gv_choice choice;
	size_t j, k;  /* k = j but in a mix */
	double l;     /* 1 / v: what a bit of throughput is worth */
	double time;  /* what a bit of time is worth, >= 0 */
	double value; /* f(p) */
	double xj, xk;
};

/* a [m] rates, 0 where it cannot run; scale: its GPUs. */
struct gv_taken gv_market_take(
    const double *a, double scale, const double *price, size_t m);

/*
 * How far prices may move, |p_j - price_j| <= r unit_j each, before the choice may
 * change: r.
 */
double gv_market_radius(const struct gv_taken *t, const double *a, double scale,
    const double *price, const double *unit, size_t m);

/* Sums of f over jobs whose choices stay: up to a constant, sum_j slope_j p_j - ... */
struct gv_fold {
	double *slope; /* [m] */
	double *own;   /* [m] ... own_j log p_j */
	double *pair;  /* [m][m] ... pair_jk log(p_j - p_k) */
};

/* Adds count jobs that take t. */
void gv_fold_add(struct gv_fold *f, const struct gv_taken *t, const double *a,
    double scale, double count, size_t m);

/* The sum at p less that at from. */
double gv_fold_change(
    const struct gv_fold *f, const double *p, const double *from, size_t m);

#endif
