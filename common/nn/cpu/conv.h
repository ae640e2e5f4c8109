/* What conv and its transpose share.  Private to common/nn/cpu. */
#ifndef GV_NN_CPU_CONV_H
#define GV_NN_CPU_CONV_H

#include "nn/cpu/parts.h"

/* Numbers of n samples through the windows of a conv r. */
struct gv_cpu_conv {
	const struct gv_nn_row *r; /* shapes, window and matrix are looked at */
	const struct gv_cpu_row *at;
	const gv_real *from, *packed;
	gv_real *to;
	size_t n;
	const gv_real *bias; /* of a number of to; NULL = none */
	bool add, relu;      /* as of a product (gemm.h) */
	gv_real *scratch;
	size_t part, parts; /* only so many of the places; parts 0 = all */
};

/* The row itself, or the conv that a tconv is the other way round of. */
struct gv_nn_row gv_cpu_conv_of(const struct gv_nn_row *r);
/* Of x what y is; packed are the weights. */
void gv_cpu_convolve(const struct gv_cpu_conv *c);
/* Of dy what dx is; packed are the weights turned round. */
void gv_cpu_convolve_back(const struct gv_cpu_conv *c);
/* Of x and dy of n samples, from the first on, a piece of the weights' gradient. */
void gv_cpu_convolve_gradient(const struct gv_nn_row *r, const struct gv_cpu_piece *p,
    const gv_real *x, const gv_real *dy, size_t n, gv_real *scratch, gv_real *dw,
    size_t ldw);

#endif
