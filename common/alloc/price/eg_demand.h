/* What one job demands at given prices; see eisenberg_gale.h. */
#ifndef GV_ALLOC_EG_DEMAND_H
#define GV_ALLOC_EG_DEMAND_H

#include <stddef.h>

enum gv_eg_vertex {
	GV_EG_PART_TIME, /* type j until 1 is spent, in less than all the time */
	GV_EG_ONE_TYPE,  /* type j all the time */
	GV_EG_TWO_TYPES  /* all the time, on j and the slower, cheaper k */
};

struct gv_eg_demand {
	enum gv_eg_vertex vertex;
	size_t j, k;  /* k = j but of two types */
	double l;     /* 1 / v: what a bit of throughput is worth */
	double time;  /* what a bit of time is worth, >= 0 */
	double value; /* f(p) */
	double xj, xk;
};

/* a [m] rates, 0 where it cannot run; scale: its GPUs. */
struct gv_eg_demand gv_eg_demand_at(
    const double *a, double scale, const double *price, size_t m);

/*
 * How far prices may move, |p_j - price_j| <= r unit_j each, before another
 * vertex may be the best: r.
 */
double gv_eg_demand_radius(const struct gv_eg_demand *t, const double *a, double scale,
    const double *price, const double *unit, size_t m);

/* Sums of f over fixed jobs, whose vertices stay: up to a constant, sum_j slope_j p_j - ... */
struct gv_eg_fixed {
	double *slope; /* [m] */
	double *own;   /* [m] ... own_j log p_j */
	double *pair;  /* [m][m] ... pair_jk log(p_j - p_k) */
};

/* Adds count jobs of demand t. */
void gv_eg_fixed_add(struct gv_eg_fixed *f, const struct gv_eg_demand *t, const double *a,
    double scale, double count, size_t m);

/* The sum at p less that at from. */
double gv_eg_fixed_change(
    const struct gv_eg_fixed *f, const double *p, const double *from, size_t m);

#endif
