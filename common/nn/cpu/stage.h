/*
 * Windows of a tensor as rows of a matrix (im2col) that nobody writes: lists of where its
 * rows and columns are, which products take (gemm.h).  Private to common/nn/cpu.
 *
 * Where windows reach beyond a side they are read from a copy with zeros around it, of some
 * lines at a time.
 */
#ifndef GV_NN_CPU_STAGE_H
#define GV_NN_CPU_STAGE_H

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

/* Windows of n samples.  Lines are counted over all of them, those of zeros with them. */
struct gv_cpu_stage {
	struct gv_cpu_windows from, in; /* in: of the copy; or the same */
	size_t n, first, some, most;    /* samples; lines in the copy; at a time */
	size_t room;                    /* of the copy; 0 = none is made */
	gv_real *copy;
};

/*
 * scratch: room numbers, which may be asked before with NULL.  Parts of these windows, of
 * fewer lines or channels, take no more than that or this.
 */
enum { GV_CPU_STAGE_ROOM = 1 << 17 };
struct gv_cpu_stage gv_cpu_stage(
    const struct gv_cpu_windows *w, size_t n, gv_real *scratch);

/* Where elements [first, last) of a window are, from its first one. */
void gv_cpu_stage_elements(
    const struct gv_cpu_stage *s, size_t first, size_t last, size_t *list);

/*
 * Where the windows of places [at, at + n), counted over all samples, are, from *base; at
 * least one place, at most n.  Returns how many: those whose lines are there, until the
 * next such question.
 */
size_t gv_cpu_stage_places(
    struct gv_cpu_stage *s, size_t at, size_t n, const gv_real **base, size_t *list);

#endif
