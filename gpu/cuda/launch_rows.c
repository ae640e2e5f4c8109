/* Grids of what is no product. */
#include "cuda/launch.h"

int
gv_cuda_gather(const struct gv_cuda_queue *q, const struct gv_cuda_gather *a)
{
	uintptr_t where = (uintptr_t)a->to | (uintptr_t)a->from | a->bytes;
	size_t word = where % 16 == 0 ? 16 : where % 4 == 0 ? 4 : 1;
	enum gv_cuda_kernel kernel = word == 16  ? GV_CUDA_gather_16
				     : word == 4 ? GV_CUDA_gather_4
						 : GV_CUDA_gather_1;

	return gv_cuda_run_each(q, kernel, a->n * (a->bytes / word), 1, a, sizeof(*a));
}

int
gv_cuda_convert(const struct gv_cuda_queue *q, enum gv_cuda_type from_type,
    const struct gv_cuda_convert *a)
{
	return gv_cuda_run_each(
	    q, gv_cuda_of(GV_CUDA_convert_f32, from_type), a->n, a->B, a, sizeof(*a));
}

/* ---- pools ---- */

static int
pool(const struct gv_cuda_queue *q, enum gv_cuda_kernel kernel, enum gv_cuda_type type,
    const struct gv_cuda_pool *a, bool backward)
{
	size_t places = backward ? a->height * a->width : a->out_height * a->out_width;

	return gv_cuda_run_each(q, gv_cuda_of(kernel, type), a->n * places * a->channels,
	    a->B, a, sizeof(*a));
}

int
gv_cuda_maxpool_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_pool *a)
{
	return pool(q, GV_CUDA_maxpool_forward_f32, type, a, false);
}

int
gv_cuda_maxpool_backward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_pool *a)
{
	return pool(q, GV_CUDA_maxpool_backward_f32, type, a, true);
}

int
gv_cuda_avgpool_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_pool *a)
{
	return pool(q, GV_CUDA_avgpool_forward_f32, type, a, false);
}

int
gv_cuda_avgpool_backward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_pool *a)
{
	return pool(q, GV_CUDA_avgpool_backward_f32, type, a, true);
}

/* ---- number by number ---- */

/* An array that a kernel goes through, from a model to the next. */
struct array {
	const void *v;
	size_t apart;
};

static size_t
size_of(enum gv_cuda_type type)
{
	return type == GV_CUDA_F32 ? 4 : 2;
}

/* n numbers of each model, and all arrays that there are, begin at 16 bytes. */
static bool
is_wide(enum gv_cuda_type type, size_t n, const struct array *a, size_t arrays)
{
	uintptr_t all = n * size_of(type);
	size_t i;

	for (i = 0; i < arrays; i++)
		if (a[i].v != NULL)
			all |= (uintptr_t)a[i].v | a[i].apart * size_of(type);
	return all % 16 == 0;
}

/* A thread has a number, or 16 bytes. */
static int
run_numbers(const struct gv_cuda_queue *q, enum gv_cuda_kernel f32,
    enum gv_cuda_type type, size_t n, bool wide, size_t B, const void *args, size_t bytes)
{
	return gv_cuda_run_each(
	    q, gv_cuda_of(f32, type), wide ? n * size_of(type) / 16 : n, B, args, bytes);
}

int
gv_cuda_bias(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_bias *a)
{
	struct gv_cuda_bias v = *a;

	v.wide = is_wide(type, a->rows * a->n, &(struct array){a->y, a->y_apart}, 1);
	return run_numbers(
	    q, GV_CUDA_bias_f32, type, a->rows * a->n, v.wide, a->B, &v, sizeof(v));
}

static int
map(const struct gv_cuda_queue *q, enum gv_cuda_kernel kernel, enum gv_cuda_type type,
    const struct gv_cuda_map *a, bool backward)
{
	struct gv_cuda_map v = *a;
	struct array arrays[GV_CUDA_INPUTS + 4] = {{a->y, a->y_apart},
	    {backward ? a->dy : NULL, a->dy_apart},
	    {backward ? a->dx : NULL, a->dx_apart},
	    {backward ? a->mask : NULL, a->mask_apart}};
	size_t k;

	for (k = 0; k < a->inputs; k++)
		arrays[4 + k] = (struct array){a->x[k], a->x_apart[k]};
	v.wide = is_wide(type, a->n, arrays, 4 + a->inputs);
	return run_numbers(q, kernel, type, a->n, v.wide, a->B, &v, sizeof(v));
}

int
gv_cuda_map_forward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    enum gv_cuda_function f, const struct gv_cuda_map *a)
{
	static const enum gv_cuda_kernel kernels[] = {
	    [GV_CUDA_RELU] = GV_CUDA_relu_forward_f32,
	    [GV_CUDA_GELU] = GV_CUDA_gelu_forward_f32,
	    [GV_CUDA_ADD] = GV_CUDA_add_forward_f32};

	return map(q, kernels[f], type, a, false);
}

int
gv_cuda_map_backward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    enum gv_cuda_function f, const struct gv_cuda_map *a)
{
	static const enum gv_cuda_kernel kernels[] = {
	    [GV_CUDA_RELU] = GV_CUDA_relu_backward_f32,
	    [GV_CUDA_GELU] = GV_CUDA_gelu_backward_f32,
	    [GV_CUDA_ADD] = GV_CUDA_add_backward_f32};

	return map(q, kernels[f], type, a, true);
}

static int
act(const struct gv_cuda_queue *q, enum gv_cuda_kernel kernel, enum gv_cuda_type type,
    enum gv_cuda_act f, const struct gv_cuda_acts *a, const struct array *arrays,
    size_t n)
{
	struct gv_cuda_acts_run r = {*a, f, is_wide(type, a->n, arrays, n)};

	return run_numbers(q, kernel, type, a->n, r.wide, a->B, &r, sizeof(r));
}

int
gv_cuda_act_forward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    enum gv_cuda_act f, const struct gv_cuda_acts *a)
{
	struct array arrays[] = {{a->y, a->y_apart}, {a->before, a->before_apart}};

	return act(q, GV_CUDA_act_forward_f32, type, f, a, arrays, 2);
}

int
gv_cuda_act_backward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    enum gv_cuda_act f, const struct gv_cuda_acts *a)
{
	struct array arrays[] = {{a->v, a->v_apart}, {a->dy, a->dy_apart}};

	return act(q, GV_CUDA_act_backward_f32, type, f, a, arrays, 2);
}

int
gv_cuda_move(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_move *a)
{
	return gv_cuda_run_each(
	    q, gv_cuda_of(GV_CUDA_move_f32, type), a->rows * a->n, a->B, a, sizeof(*a));
}

int
gv_cuda_dropout(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    const struct gv_cuda_dropout *a)
{
	/* a draw of the counter is for four numbers */
	return gv_cuda_run_each(q, gv_cuda_of(GV_CUDA_dropout_f32, type),
	    a->n * gv_cuda_ceil(a->size, 4), a->B, a, sizeof(*a));
}

/* ---- sums ---- */

/* Rows of a shard up to which one kernel makes strips and totals. */
enum { FEW_ROWS = 256, COLUMNS = 32 };

/* The strips that the longest shard has. */
static size_t
strips_of(const struct gv_cuda_sums *a)
{
	size_t samples = gv_cuda_ceil(a->shards.N, a->shards.S);

	return gv_cuda_ceil(samples * a->places, GV_CUDA_STRIP);
}

static bool
is_short(const struct gv_cuda_sums *a)
{
	return strips_of(a) * GV_CUDA_STRIP <= FEW_ROWS;
}

static size_t
width_of(enum gv_cuda_sum what, const struct gv_cuda_sums *a)
{
	return what == GV_CUDA_PRODUCTS ? 2 * a->n : a->n;
}

size_t
gv_cuda_sums_scratch(enum gv_cuda_sum what, const struct gv_cuda_sums *a)
{
	return is_short(a) ? 0
			   : a->B * a->shards.shards * strips_of(a) * width_of(what, a);
}

int
gv_cuda_sums(const struct gv_cuda_queue *q, enum gv_cuda_type type, enum gv_cuda_sum what,
    const struct gv_cuda_sums *a)
{
	static const enum gv_cuda_kernel strips[] = {
	    [GV_CUDA_SUM] = GV_CUDA_strips_sum_f32,
	    [GV_CUDA_SQUARES] = GV_CUDA_strips_squares_f32,
	    [GV_CUDA_PRODUCTS] = GV_CUDA_strips_products_f32,
	    [GV_CUDA_SCALED] = GV_CUDA_strips_scaled_f32};
	static const enum gv_cuda_kernel at_once[] = {
	    [GV_CUDA_SUM] = GV_CUDA_sums_sum_f32,
	    [GV_CUDA_SQUARES] = GV_CUDA_sums_squares_f32,
	    [GV_CUDA_PRODUCTS] = GV_CUDA_sums_products_f32,
	    [GV_CUDA_SCALED] = GV_CUDA_sums_scaled_f32};
	struct gv_cuda_sums_run r = {
	    .s = *a, .width = width_of(what, a), .strips = strips_of(a)};
	size_t blocks = gv_cuda_ceil(r.width, COLUMNS);
	int status;

	if (is_short(a))
		return gv_cuda_run(
		    q, gv_cuda_of(at_once[what], type), blocks, a->B, &r, sizeof(r));
	status = gv_cuda_run_each(q, gv_cuda_of(strips[what], type),
	    a->shards.shards * r.strips * r.width, a->B, &r, sizeof(r));
	return status != 0 ? status
			   : gv_cuda_run(q, GV_CUDA_totals, blocks, a->B, &r, sizeof(r));
}

enum { MANY = 1 << 20 };

int
gv_cuda_tree(const struct gv_cuda_queue *q, const struct gv_cuda_tree *a)
{
	struct gv_cuda_tree_run r = {.t = *a, .branches = 1};

	/* a thread has eight parts on their way at once; many numbers are enough threads */
	while (r.branches < 8 && a->parts >= 16 * r.branches && a->n * r.branches < MANY)
		r.branches *= 2;
	return gv_cuda_run_each(q, GV_CUDA_tree, a->n * r.branches, a->B, &r, sizeof(r));
}

int
gv_cuda_losses(const struct gv_cuda_queue *q, const struct gv_cuda_losses *a)
{
	return gv_cuda_run(
	    q, GV_CUDA_losses, gv_cuda_ceil(a->B, COLUMNS), 1, a, sizeof(*a));
}

/* ---- bn, the head ---- */

int
gv_cuda_bn_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_bn *a)
{
	return gv_cuda_run_each(q, gv_cuda_of(GV_CUDA_bn_forward_f32, type),
	    a->rows * a->n, a->B, a, sizeof(*a));
}

int
gv_cuda_bn_backward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_bn *a)
{
	return gv_cuda_run_each(q, gv_cuda_of(GV_CUDA_bn_backward_f32, type),
	    a->rows * a->n, a->B, a, sizeof(*a));
}

int
gv_cuda_stats(
    const struct gv_cuda_queue *q, enum gv_cuda_stats what, const struct gv_cuda_stat *a)
{
	struct gv_cuda_stat_run r = {.s = *a, .what = what};

	return gv_cuda_run_each(q, GV_CUDA_stats, a->n, a->B, &r, sizeof(r));
}

/* ---- heads ---- */

size_t
gv_cuda_head_scratch(const struct gv_cuda_head *a)
{
	return a->targets == 1 ? 0 : 2 * a->B * a->n * a->targets;
}

/* Classes up to which a thread takes a target. */
enum { NARROW = 64 };

static int
judge(const struct gv_cuda_queue *q, enum gv_cuda_type type, enum gv_cuda_head_kind kind,
    const struct gv_cuda_head_run *r)
{
	const struct gv_cuda_head *a = &r->h;
	enum gv_cuda_kernel kernel = kind == GV_CUDA_XENT  ? GV_CUDA_xent_narrow_f32
				     : kind == GV_CUDA_MSE ? GV_CUDA_mse_f32
							   : GV_CUDA_bce_f32;

	if (kind == GV_CUDA_XENT && a->classes > NARROW)
		return gv_cuda_run(q, gv_cuda_of(GV_CUDA_xent_wide_f32, type),
		    a->n * a->targets, a->B, r, sizeof(*r));
	return gv_cuda_run_each(
	    q, gv_cuda_of(kernel, type), a->n * a->targets, a->B, r, sizeof(*r));
}

int
gv_cuda_head(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    enum gv_cuda_head_kind kind, const struct gv_cuda_head *a)
{
	size_t targets = a->n * a->targets;
	struct gv_cuda_head_run r = {.h = *a,
	    .loss = a->loss,
	    .hit = a->hit,
	    .loss_apart = a->loss_apart,
	    .hit_apart = a->hit_apart};
	int status;

	if (a->targets > 1) {
		r.loss = a->scratch;
		r.hit = a->hit == NULL ? NULL : a->scratch + a->B * targets;
		r.loss_apart = r.hit_apart = targets;
	}
	status = judge(q, type, kind, &r);
	return status != 0 || a->targets == 1
		   ? status
		   : gv_cuda_run_each(q, GV_CUDA_head_mean, a->n, a->B, &r, sizeof(r));
}
