/* Windows of a tensor laid out as rows of a matrix (im2col).  Private to common/nn/cpu. */
#ifndef GV_NN_CPU_GATHER_H
#define GV_NN_CPU_GATHER_H

#include <stddef.h>

#include "nn/real.h"

/*
 * Where windows come from: window element (ky, kx, c) at output place (oy, ox)
 * is src[oy * mul + ky - off_y][ox * mul + kx - off_x][c0 + c], 0 where that is
 * outside.
 */
struct gv_cpu_windows {
	const gv_real *src; /* [samples][height][width][channels] */
	size_t height, width, channels;
	size_t c0, c;  /* channels of the group */
	size_t kh, kw; /* the window */
	size_t out_height, out_width;
	ptrdiff_t mul, off_y, off_x;
};

/*
 * Windows of n samples, read from a copy of some samples at a time with zeros around them,
 * so that all windows are inside, where that is worth it.
 */
struct gv_cpu_stage {
	struct gv_cpu_windows from, in; /* in: of the copy; or the same */
	size_t n, first, some, most; /* samples; those that are in the copy; at a time */
	size_t room;                 /* of the copy; 0 = none is made */
	gv_real *copy;
};

/* scratch: room numbers, which may be asked before with NULL. */
struct gv_cpu_stage gv_cpu_stage(
    const struct gv_cpu_windows *w, size_t n, gv_real *scratch);

enum { GV_CPU_GATHER_MORE = 16 }; /* numbers behind dst that gather may write to */

/*
 * Windows of places [at, at + n), counted over all samples, elements [first, last)
 * of each, into dst [n][last - first].
 */
void gv_cpu_gather(
    struct gv_cpu_stage *s, size_t at, size_t n, size_t first, size_t last, gv_real *dst);

#endif
