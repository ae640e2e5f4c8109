/* Grids of products: which tile, how many parts. */
#include "cuda/launch.h"

enum { HUGE = 128, LARGE = 64, SMALL = 32 };
#define MOST ((size_t)1 << 31)

static size_t
tiles(size_t rows, size_t columns, size_t tile)
{
	return gv_cuda_ceil(rows, tile) * gv_cuda_ceil(columns, tile);
}

static size_t
enough(const struct gv_cuda_queue *q)
{
	return q->blocks > 0 ? q->blocks : 264;
}

/*
 * Large tiles read less; small ones fit small matrices, and are more.  A multiprocessor
 * has one of the largest at a time, and two of the others.  Of small ones four make half
 * the products of a large one in the same time: they wait for shared memory.
 */
static size_t
tile_of(const struct gv_cuda_queue *q, size_t rows, size_t columns, size_t batch)
{
	if (rows <= SMALL || columns <= SMALL ||
	    2 * tiles(rows, columns, LARGE) * batch < enough(q))
		return SMALL;
	return rows <= LARGE || columns <= LARGE ||
		       2 * tiles(rows, columns, HUGE) * batch < enough(q)
		   ? LARGE
		   : HUGE;
}

int
gv_cuda_gemm(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_gemm *a)
{
	bool bf16 = type == GV_CUDA_BF16;
	size_t tile = bf16 ? LARGE : tile_of(q, a->m, a->n, a->batch);
	enum gv_cuda_kernel kernel = !bf16 ? tile == HUGE    ? GV_CUDA_gemm_128_f32
					     : tile == LARGE ? GV_CUDA_gemm_64_f32
							     : GV_CUDA_gemm_32_f32
				     : a->c_type == GV_CUDA_F32 ? GV_CUDA_gemm_64_mixed
								: GV_CUDA_gemm_64_bf16;

	if (a->m >= MOST || a->n >= MOST || a->k >= MOST)
		return GV_CUDA_TOO_LARGE;
	return gv_cuda_run(q, kernel, tiles(a->m, a->n, tile), a->batch, a, sizeof(*a));
}

/* The kernels of one pass, by tiles: tensor cores have no small ones. */
struct pass {
	enum gv_cuda_kernel f32[3], tf32[2], bf16[2];
};

static bool
on_tensor_cores(enum gv_cuda_type type, const struct gv_cuda_conv *a)
{
	return type == GV_CUDA_BF16 || a->tf32;
}

static size_t
tile_for(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    const struct gv_cuda_conv *a, size_t rows, size_t columns, size_t batch)
{
	size_t tile = tile_of(q, rows, columns, batch);

	return on_tensor_cores(type, a) && tile == SMALL ? LARGE : tile;
}

static enum gv_cuda_kernel
kernel_of(const struct pass *p, enum gv_cuda_type type, const struct gv_cuda_conv *a,
    size_t tile)
{
	size_t i = tile == HUGE ? 0 : tile == LARGE ? 1 : 2;

	return type == GV_CUDA_BF16 ? p->bf16[i] : a->tf32 ? p->tf32[i] : p->f32[i];
}

static bool
is_depthwise(const struct gv_cuda_conv *a)
{
	return a->g > 1 && a->channels == a->g && a->out == a->g;
}

/* What kernels count in 32 bits: places, elements of a window, numbers of a sample. */
static bool
is_large(const struct gv_cuda_conv *a)
{
	return a->n * a->out_height * a->out_width >= MOST ||
	       a->n * a->height * a->width >= MOST ||
	       a->k * a->k * a->channels / a->g >= MOST ||
	       a->k * a->k * a->out / a->g >= MOST || a->p >= MOST;
}

struct gv_cuda_divider
gv_cuda_divider_of(size_t d)
{
	struct gv_cuda_divider by = {1, 0};

	if (d == 0)
		return by;
	while ((size_t)1 << by.shift < d)
		by.shift++;
	by.times = (uint32_t)(((((size_t)1 << by.shift) - d) << 32) / d) + 1;
	return by;
}

/* Of what is not too large. */
static struct gv_cuda_conv_run
run_of(const struct gv_cuda_conv *a)
{
	return (struct gv_cuda_conv_run){.c = *a,
	    .in = gv_cuda_divider_of(a->channels / a->g),
	    .out = gv_cuda_divider_of(a->out / a->g),
	    .k = gv_cuda_divider_of(a->k),
	    .out_width = gv_cuda_divider_of(a->out_width),
	    .out_height = gv_cuda_divider_of(a->out_height),
	    .taps = {
		gv_cuda_divider_of(a->k / a->s), gv_cuda_divider_of(a->k / a->s + 1)}};
}

int
gv_cuda_conv_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_conv *a)
{
	struct gv_cuda_conv_run r;
	size_t places = a->n * a->out_height * a->out_width, out = a->out / a->g;
	size_t tile = tile_for(q, type, a, places, out, a->B * a->g);
	static const struct pass forward = {
	    {GV_CUDA_conv_forward_128_f32, GV_CUDA_conv_forward_64_f32,
		GV_CUDA_conv_forward_32_f32},
	    {GV_CUDA_conv_forward_128_tf32, GV_CUDA_conv_forward_64_tf32},
	    {GV_CUDA_conv_forward_128_bf16, GV_CUDA_conv_forward_64_bf16}};

	if (is_large(a))
		return GV_CUDA_TOO_LARGE;
	if (is_depthwise(a))
		return gv_cuda_run_each(q,
		    gv_cuda_of(GV_CUDA_depthwise_forward_f32, type), places * a->out,
		    a->B, a, sizeof(*a));
	r = run_of(a);
	return gv_cuda_run(q, kernel_of(&forward, type, a, tile),
	    tiles(places, out, tile), a->B * a->g, &r, sizeof(r));
}

int
gv_cuda_conv_backward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_conv *a)
{
	/* the places of the largest class: those that are s apart */
	size_t places =
	    a->n * gv_cuda_ceil(a->height, a->s) * gv_cuda_ceil(a->width, a->s);
	size_t in = a->channels / a->g, batch = a->B * a->g * a->s * a->s;
	size_t tile = tile_for(q, type, a, places, in, batch);
	struct gv_cuda_conv_run r;
	static const struct pass backward = {
	    {GV_CUDA_conv_backward_128_f32, GV_CUDA_conv_backward_64_f32,
		GV_CUDA_conv_backward_32_f32},
	    {GV_CUDA_conv_backward_128_tf32, GV_CUDA_conv_backward_64_tf32},
	    {GV_CUDA_conv_backward_128_bf16, GV_CUDA_conv_backward_64_bf16}};

	if (is_large(a))
		return GV_CUDA_TOO_LARGE;
	if (is_depthwise(a))
		return gv_cuda_run_each(q,
		    gv_cuda_of(GV_CUDA_depthwise_backward_f32, type),
		    a->n * a->height * a->width * a->channels, a->B, a, sizeof(*a));
	r = run_of(a);
	return gv_cuda_run(q, kernel_of(&backward, type, a, tile),
	    tiles(places, in, tile), batch, &r, sizeof(r));
}

/* ---- the gradient: shards in a block, as many as leave enough blocks ---- */

enum { PIECE = 256 }; /* places of a piece of a shard, at least */

struct cut {
	size_t tile, inner, pieces, parts;
};

static size_t
weights_of(const struct gv_cuda_conv *a)
{
	return a->k * a->k * a->channels / a->g * a->out;
}

static struct cut
cut_of(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_conv *a)
{
	size_t rows = a->k * a->k * a->channels / a->g, columns = a->out / a->g;
	size_t shards = a->shards.shards, batch = a->B * a->g;
	bool tensor = on_tensor_cores(type, a), depthwise = is_depthwise(a);
	size_t tile = tile_for(q, type, a, rows, columns, batch * shards);
	struct cut c = {tensor || tile < LARGE ? tile : LARGE,
	    depthwise    ? 1
	    : shards < 4 ? shards
			 : 4,
	    1, 0};
	size_t blocks = depthwise ? gv_cuda_ceil(shards * weights_of(a), 256) * a->B
				  : tiles(rows, columns, c.tile) * batch * shards;
	size_t places = a->n * a->out_height * a->out_width / shards;

	while (c.inner > 1 && blocks / c.inner < enough(q))
		c.inner /= 2;
	/* sums of tensor cores have an order of their own; floats' is that of the CPU */
	if (tensor)
		while (blocks * c.pieces < enough(q) && places / c.pieces >= 2 * PIECE)
			c.pieces *= 2;
	c.parts = shards / c.inner * c.pieces;
	return c;
}

size_t
gv_cuda_conv_scratch(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_conv *a)
{
	size_t parts = cut_of(q, type, a).parts;

	return parts == 1 && !is_depthwise(a) ? 0 : a->B * parts * weights_of(a);
}

/* Parts [B][parts][weights] in scratch become dw. */
static int
add_parts(const struct gv_cuda_queue *q, const struct gv_cuda_conv *a, size_t parts)
{
	size_t weights = weights_of(a);
	struct gv_cuda_tree t = {.B = a->B,
	    .parts = parts,
	    .n = weights,
	    .v = a->scratch,
	    .to = a->dw,
	    .active = a->active,
	    .add = a->add,
	    .v_apart = parts * weights,
	    .part_apart = weights,
	    .to_apart = a->dw_apart};

	return gv_cuda_tree(q, &t);
}

static int
depthwise_gradient(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_conv *a)
{
	struct cut c = cut_of(q, type, a);
	struct gv_cuda_depthwise_parts p = {.c = *a, .pieces = c.pieces};
	int r = gv_cuda_run_each(q, gv_cuda_of(GV_CUDA_depthwise_gradient_f32, type),
	    c.parts * weights_of(a), a->B, &p, sizeof(p));

	return r != 0 ? r : add_parts(q, a, c.parts);
}

int
gv_cuda_conv_gradient(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_conv *a)
{
	struct cut c = cut_of(q, type, a);
	/* sums of two shards take the room of the largest */
	static const struct pass gradient = {
	    {GV_CUDA_conv_gradient_64_f32, GV_CUDA_conv_gradient_64_f32,
		GV_CUDA_conv_gradient_32_f32},
	    {GV_CUDA_conv_gradient_128_tf32, GV_CUDA_conv_gradient_64_tf32},
	    {GV_CUDA_conv_gradient_128_bf16, GV_CUDA_conv_gradient_64_bf16}};
	size_t weights = weights_of(a), rows = a->k * a->k * a->channels / a->g;
	bool whole = c.parts == 1;
	struct gv_cuda_conv_parts p = {.out = whole ? a->dw : a->scratch,
	    .parts = c.parts,
	    .inner = c.inner,
	    .pieces = c.pieces,
	    .out_apart = whole ? a->dw_apart : c.parts * weights,
	    .part_apart = weights,
	    .add = whole && a->add};
	int r;

	if (is_large(a))
		return GV_CUDA_TOO_LARGE;
	if (is_depthwise(a))
		return depthwise_gradient(q, type, a);
	p.r = run_of(a);
	r = gv_cuda_run(q, kernel_of(&gradient, type, a, c.tile),
	    tiles(rows, a->out / a->g, c.tile), a->B * a->g * c.parts, &p, sizeof(p));
	return r != 0 || whole ? r : add_parts(q, a, c.parts);
}
