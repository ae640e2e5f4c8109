/*
 * An interior-point method for programs of levels and of sums, which looks at all their
 * constraints at once: where there are many GPU types, cutting planes and the simplex
 * method take thousands of steps, and this about thirty, whatever the program's size.
 *
 *	max t  or  sum_ij g_ij x_ij    subject to    sum_j a_ij x_ij >= t or q_i   lambda_i
 *	                                             sum_j x_ij <= 1               time_i
 *	                                             sum_i s_i x_ij <= N_j         price_j
 *
 * Mehrotra's predictor and corrector (1992).  A job's own two constraints are eliminated
 * from the Newton equations one job after another, so that what is left to factorise is
 * a matrix of types by types (Schur complement, newton.h): n jobs on m types take about 2 n
 * m^2 + m^3 / 3 operations a step.
 *
 * It ends inside of the face of the best, near to it; what is exact is left to others,
 * who can leave aside all columns whose reduced costs are clearly above 0.
 */
#ifndef GV_ALLOC_INTERIOR_H
#define GV_ALLOC_INTERIOR_H

#include <stdbool.h>
#include <stddef.h>

struct gv_interior_program {
	size_t n, m;
	const double *level;    /* [n][m] a_ij; 0 = cannot run there */
	const double *use;      /* [n] s_i, GPUs of a type that a share of 1 takes */
	const double *gain;     /* [n][m] g_ij; NULL: the level t is maximised */
	const double *need;     /* [n] q_i of a sum; NULL: none */
	const double *capacity; /* [m] N_j */
	const bool *column;     /* [n][m] those that there are; NULL: all with a_ij > 0 */
	/* [n][m] shares to begin at, inside of all but the needs; NULL */
	const double *start;
	const bool
	    *first;  /* [n][m] those of them that are likely to count; NULL: not known */
	bool narrow; /* leave out columns on the way that hardly are among the best */
};

static inline bool
gv_interior_has_column(const struct gv_interior_program *p, size_t i, size_t j)
{
	size_t at = i * p->m + j;

	return p->capacity[j] > 0 &&
	       (p->column != NULL ? p->column[at] : p->level[at] > 0);
}

/* Where it ended.  gv_interior_free() frees it. */
struct gv_interior_point {
	size_t n_columns;
	size_t *begin; /* [n + 1] a job's columns are begin[i] to begin[i + 1] - 1 */
	size_t *type;  /* [n_columns] */
	double *x;     /* [n_columns] shares */
	double *
	    z; /* [n_columns] reduced costs: price_j s_i + time_i - lambda_i a_ij - g_ij */
	double *size;                  /* [n_columns] of what those are made of */
	double *price, *time, *lambda; /* [m], [n], [n] */
	double *
	    middle; /* [n_columns] shares on the way, at a gap of about GV_TOL_INTERIOR_MIDDLE; NULL */
	double objective;
	/* to the bound by its multipliers, relative; INFINITY: it came to nothing */
	double gap;
	int steps;
};

/* *to is to be freed; it is of no use where its gap is above GV_TOL_INTERIOR_NEAR. */
void gv_interior_solve(const struct gv_interior_program *p, struct gv_interior_point *to);
void gv_interior_free(struct gv_interior_point *s);

/*
 * About the operations, a nanosecond each, that a level or a sum of n rows of jobs on m types
 * takes, with the vertex after it.
 */
double gv_interior_level_effort(size_t n, size_t m);
double gv_interior_sum_effort(size_t n, size_t m);

#endif
