/*
 * From a point inside of the face of the best to a vertex of it.
 *
 * At prices that are nearly right most jobs have but one choice: as many of their
 * columns and slacks have a reduced cost of 0 as they have constraints, so their shares follow
 * from the level.  What they use is added up, and only the few others are in a linear
 * program, which the simplex method solves to its own tolerance.
 */
#ifndef GV_ALLOC_INTERIOR_VERTEX_H
#define GV_ALLOC_INTERIOR_VERTEX_H

#include "base/err.h"
#include "interior.h"

struct gv_interior_vertex {
	double *x;     /* [n][m] shares */
	double *price; /* [m] of a GPU, and */
	double *
	    lambda; /* [n] of a job's level: multipliers that prove it, if it is the best */
	double level;  /* t */
	size_t n_free; /* jobs that were in the program */
};

/*
 * Reduced costs up to a part of what they are made of count as 0.  *to has room for its
 * arrays.  need [n] in place of those of p, NULL: those.  also [n][m]: shares that keep them,
 * whose columns are taken in where those near the point do not suffice; NULL: none.  0; 1 there is no such vertex; -1 with
 * *e set.
 */
int gv_interior_to_vertex(const struct gv_interior_program *p,
    const struct gv_interior_point *at, const double *need, const double *also,
    double part, struct gv_interior_vertex *to, struct gv_error *e);

#endif
