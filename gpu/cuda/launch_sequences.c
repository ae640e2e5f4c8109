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

/* ---- attention: eight rows a block ---- */

enum { EIGHT = 8 };

static size_t
blocks_of(const struct gv_cuda_attention *a)
{
	return a->n * a->heads * gv_cuda_ceil(a->T, EIGHT);
}

int
gv_cuda_attention_forward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    const struct gv_cuda_attention *a)
{
	if (a->D > GV_CUDA_HEAD)
		return GV_CUDA_TOO_LARGE;
	return gv_cuda_run(q, gv_cuda_of(GV_CUDA_attention_forward_f32, type),
	    blocks_of(a), a->B, a, sizeof(*a));
}

int
gv_cuda_attention_backward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    const struct gv_cuda_attention *a)
{
	static const enum gv_cuda_kernel kernels[] = {GV_CUDA_attention_dots_f32,
	    GV_CUDA_attention_queries_f32, GV_CUDA_attention_keys_f32};
	size_t i;
	int r = 0;

	if (a->D > GV_CUDA_HEAD)
		return GV_CUDA_TOO_LARGE;
	for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]) && r == 0; i++)
		r = gv_cuda_run(
		    q, gv_cuda_of(kernels[i], type), blocks_of(a), a->B, a, sizeof(*a));
	return r;
}
