/*
 * How far all can go on from where they are, each by so much in a unit of time, where jobs
 * share GPUs; again and again, from where the last time ended:
 *
 *	max t <= most   subject to   sum_j a_ij x_ij >= from_i + t by_i    each job i
 *
 * and the constraints of shared.h.  One program lives through all of it: jobs come in when
 * they first want something, pairs when they first help, and when the direction turns the old
 * t stays in the program at 0, where the basis may keep it.  So each program begins at a
 * basis that is feasible, and next to its end.
 */
#ifndef GV_ALLOC_CLIMB_H
#define GV_ALLOC_CLIMB_H

#include "alloc/program/reach.h"
#include "columns.h"

struct gv_climb {
	const struct gv_problem *p;
	const double *a; /* [n][m] a_ij, T_ij times a number of the job's */
	double *factor;  /* [n] that number */
	double *size;    /* [n] what levels of the job are counted in */
	/* floors are lower by that part, so that rounding leaves them possible */
	double slack;
	struct gv_shared h;
	struct gv_solution s;
	struct gv_columns w;
	size_t *turned; /* [n_turned] entries of the column of t */
	size_t n_turned, cap_turned;
};

/* p and a must outlive it.  size [n] > 0: the level of each job at most, or about that. */
void gv_climb_init(
    struct gv_climb *c, const struct gv_problem *p, const double *a, const double *size);
void gv_climb_free(struct gv_climb *c);

/*
 * *t is how far: most, and *blocked false; or less, and r's inequality (reach.h) is full
 * there: its lambda, price and limit are set.  from must be possible, by [n] >= 0, one of
 * them above 0.  0, or -1 with *e set.
 */
int gv_climb_go_on(struct gv_climb *c, const double *from, const double *by, double most,
    double *t, bool *blocked, struct gv_reach *r, struct gv_error *e);

/* The shares that the last program found, into s, whose x has room. */
void gv_climb_shares(struct gv_climb *c, struct gv_solution *s);

#endif
