/* Grids of what works on sequences. */
#include "cuda/launch.h"

/* ---- ln: 16 lanes a row ---- */

enum { LANES = 16, ROWS = 256 / LANES };

int
gv_cuda_ln_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_ln *a)
{
	return gv_cuda_run(q, gv_cuda_of(GV_CUDA_ln_forward_f32, type),
	    gv_cuda_ceil(a->rows, ROWS), a->B, a, sizeof(*a));
}

int
gv_cuda_ln_backward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_ln *a)
{
	return gv_cuda_run(q, gv_cuda_of(GV_CUDA_ln_backward_f32, type),
	    gv_cuda_ceil(a->rows, ROWS), a->B, a, sizeof(*a));
}

/* ---- embed ---- */

int
gv_cuda_embed_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_embed *a)
{
	return gv_cuda_run_each(q, gv_cuda_of(GV_CUDA_embed_forward_f32, type),
	    a->n * a->places * a->width, a->B, a, sizeof(*a));
}

int
gv_cuda_embed_gradient(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_embed *a)
{
	int r =
	    gv_cuda_run_each(q, GV_CUDA_embed_lists, a->n * a->places, 1, a, sizeof(*a));

	if (r == 0 && !a->add)
		r = gv_cuda_run_each(
		    q, GV_CUDA_embed_zero, a->tokens * a->width, a->B, a, sizeof(*a));
	/* a block a place, which does something when it is the first of its token */
	return r != 0 ? r
		      : gv_cuda_run(q, gv_cuda_of(GV_CUDA_embed_gradient_f32, type),
			    a->n * a->places, a->B, a, sizeof(*a));
}

/* ---- lstm ---- */

int
gv_cuda_cell_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_cell *a)
{
	return gv_cuda_run_each(q, gv_cuda_of(GV_CUDA_cell_forward_f32, type),
	    a->n * a->state, a->B, a, sizeof(*a));
}

int
gv_cuda_cell_backward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_cell *a)
{
	return gv_cuda_run_each(q, gv_cuda_of(GV_CUDA_cell_backward_f32, type),
	    a->n * a->state, a->B, a, sizeof(*a));
}

int
gv_cuda_shift(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_shift *a)
{
	return gv_cuda_run_each(q, gv_cuda_of(GV_CUDA_shift_f32, type),
	    a->n * a->steps * a->width, a->B, a, sizeof(*a));
}

/* ---- attention: eight rows a block; on tensor cores 64 ---- */

enum { EIGHT = 8, FLASH_ROWS = 64, NARROW = 64 };

static size_t
blocks_of(const struct gv_cuda_attention *a, size_t rows)
{
	return a->n * a->heads * gv_cuda_ceil(a->T, rows);
}

static bool
is_flash(enum gv_cuda_type type, const struct gv_cuda_attention *a)
{
	return type == GV_CUDA_BF16 && a->D <= GV_CUDA_FLASH_HEAD;
}

/* Kernels of tensor cores come in pairs of widths, the narrow first. */
static int
flash(const struct gv_cuda_queue *q, enum gv_cuda_kernel narrow,
    const struct gv_cuda_attention *a)
{
	return gv_cuda_run(q, (enum gv_cuda_kernel)((int)narrow + (a->D > NARROW)),
	    blocks_of(a, FLASH_ROWS), a->B, a, sizeof(*a));
}

/* Kernels of eight rows: for heads that are wide others. */
struct widths {
	enum gv_cuda_kernel narrow, wide;
};

static int
eight(const struct gv_cuda_queue *q, struct widths f32, enum gv_cuda_type type,
    const struct gv_cuda_attention *a)
{
	enum gv_cuda_kernel k = a->D > GV_CUDA_NARROW_HEAD ? f32.wide : f32.narrow;

	return gv_cuda_run(
	    q, gv_cuda_of(k, type), blocks_of(a, EIGHT), a->B, a, sizeof(*a));
}

int
gv_cuda_attention_forward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    const struct gv_cuda_attention *a)
{
	static const struct widths forward = {
	    GV_CUDA_attention_forward_f32, GV_CUDA_attention_forward_wide_f32};

	if (a->D > GV_CUDA_HEAD)
		return GV_CUDA_TOO_LARGE;
	return is_flash(type, a) ? flash(q, GV_CUDA_flash_forward_64, a)
				 : eight(q, forward, type, a);
}

int
gv_cuda_attention_backward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    const struct gv_cuda_attention *a)
{
	static const struct widths dots = {
	    GV_CUDA_attention_dots_f32, GV_CUDA_attention_dots_f32};
	static const struct widths queries = {
	    GV_CUDA_attention_queries_f32, GV_CUDA_attention_queries_wide_f32};
	static const struct widths keys = {
	    GV_CUDA_attention_keys_f32, GV_CUDA_attention_keys_wide_f32};
	int r;

	if (a->D > GV_CUDA_HEAD)
		return GV_CUDA_TOO_LARGE;
	r = eight(q, dots, type, a);
	if (r == 0)
		r = is_flash(type, a) ? flash(q, GV_CUDA_flash_queries_64, a)
				      : eight(q, queries, type, a);
	if (r != 0)
		return r;
	return is_flash(type, a) ? flash(q, GV_CUDA_flash_keys_64, a)
				 : eight(q, keys, type, a);
}
