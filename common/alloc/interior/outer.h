/*
 * Sums of outer products, in vectors: what both the Schur complement and its Cholesky
 * factor take most of their time for; private to the files of interior.h.
 */
#ifndef GV_ALLOC_INTERIOR_OUTER_H
#define GV_ALLOC_INTERIOR_OUTER_H

#include <stdbool.h>
#include <stddef.h>

/* Rows of a matrix have room for a multiple of so many numbers, and it for as many rows. */
enum { GV_INTERIOR_TILE = 8 };

/* m, rounded up to that. */
size_t gv_interior_stride(size_t m);

/*
 * c_ij -= sum_k r_ki r_kj for from <= j <= i < end, r of n_rows; both of rows of stride
 * numbers, from a multiple of the tile.  What is above the diagonal is of no meaning
 * afterwards.  The same bits whatever the processor.
 */
void gv_interior_outer(
    double *c, size_t stride, size_t from, size_t end, const double *r, size_t n_rows);

/*
 * The lower triangle of a [m] becomes its Cholesky factor.  A pivot that is rounding alone
 * becomes so large that its variable stays as it is.  False: there is no number somewhere.
 */
bool gv_interior_cholesky(double *a, size_t stride, size_t m);

#endif
