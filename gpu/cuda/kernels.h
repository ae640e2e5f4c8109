/*
 * What a GPU computes: one function for each thing that an operator needs, there and
 * back.  Each fills in a grid and hands one kernel, or two, to a queue; what runs
 * them, CUDA or the emulation of the tests, is behind struct gv_cuda_queue.
 *
 * Pointers are the device's unless they say "of the host".  Activations and their
 * gradients are arrays [B][n][numbers], model b at v + b * v_apart numbers (0: one for
 * all, the samples); they and the weights of products (w) have the type of the
 * call.  Everything else (biases, gamma, gradients of weights, statistics, losses,
 * state of the optimiser) is float.  Sums are made in float.
 *
 * active [B], a byte each: models whose byte is 0 cost no time and are not
 * written; NULL = all.
 *
 * In float the bits are those of common/nn/cpu, whatever the grid: sums are chains in
 * the order of that backend, no kernel adds with atomics; functions are its polynomials.
 * Heads have the device's own exp and log, and attention another order: they are within
 * 1e-6 and 1e-5 of it.  In bfloat16 the same chains run in float over rounded numbers,
 * but for products, and what is stored is rounded once, to nearest and even.
 *
 * All functions: 0; -1 when the queue could not take the kernel; GV_CUDA_TOO_LARGE
 * when a size does not fit in a grid.  Nothing is allocated.
 */
#ifndef GV_CUDA_KERNELS_H
#define GV_CUDA_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gv_cuda_type { GV_CUDA_F32, GV_CUDA_BF16 };
enum { GV_CUDA_TOO_LARGE = -2 };

/* Kernels are numbered; kernels_list.h has them all. */
enum gv_cuda_kernel {
#define GV_CUDA_KERNEL(name, args, threads) GV_CUDA_##name,
#include "cuda/kernels_list.h"
#undef GV_CUDA_KERNEL
	GV_CUDA_KERNELS
};
/* [GV_CUDA_KERNELS] "gv_kernel_NAME": what they are called in a module */
extern const char *const gv_cuda_kernel_name[];

struct gv_cuda_grid {
	unsigned x, y, z;
};

/*
 * Where kernels go, in order.  run hands over one whose single parameter is the struct
 * at args, bytes long, copied before run comes back (cuLaunchKernel does, and so
 * does a graph that is captured).  Shared memory is the kernel's own.  0, or -1.
 */
struct gv_cuda_queue {
	int (*run)(const struct gv_cuda_queue *q, enum gv_cuda_kernel kernel,
	    struct gv_cuda_grid grid, unsigned threads, const void *args, size_t bytes);
	void *ctx; /* run's own: a stream, say */
	/* blocks that keep the device busy, some two for each of its multiprocessors;
	   0 is as good as 264.  No bit depends on it. */
	unsigned blocks;
};

/* ---- copies ---- */

/* to[j] = from[index[j]], j < n, of bytes each. */
struct gv_cuda_gather {
	void *to;
	const void *from;
	const uint32_t *index;
	size_t n, bytes;
};
int gv_cuda_gather(const struct gv_cuda_queue *q, const struct gv_cuda_gather *a);

/* n numbers of type from_type to the other type: pack for bfloat16, samples, and back. */
struct gv_cuda_convert {
	void *to;
	const void *from;
	size_t B, n, to_apart, from_apart;
};
int gv_cuda_convert(const struct gv_cuda_queue *q, enum gv_cuda_type from_type,
    const struct gv_cuda_convert *a);

/* ---- products ---- */

/*
 * c[z] = a[z] b[z], z < batch: struct gv_nn_gemm's, element by element one chain of
 * fused multiply-adds in the order of k; bfloat16 by tensor cores, whose sums have an
 * order of their own.  a and b have the type; c has c_type.
 */
struct gv_cuda_gemm {
	const void *a, *b;
	void *c;
	const float *bias;           /* [n] z * bias_batch on; NULL = none */
	const unsigned char *active; /* [batch] */
	/* element (i, l) of a is a[z * a_batch + i * lda + l]; transposed: l * lda + i */
	size_t batch, m, n, k, lda, ldb, ldc, a_batch, b_batch, c_batch, bias_batch;
	/* as c: 0 where mask <= 0 (the gradient of a relu); NULL = none */
	const void *mask;
	size_t mask_batch;
	bool a_transposed, b_transposed;
	bool add;                 /* start from what c holds; then no bias */
	bool relu;                /* afterwards c = max(c, 0), NaN stays */
	enum gv_cuda_type c_type; /* of c and mask; float, or the type of a and b */
};
int gv_cuda_gemm(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_gemm *a);

/* Shards of the samples: gv_nn_shard. */
struct gv_cuda_shards {
	size_t N, S;   /* samples and shards of the batch */
	size_t before; /* shards of the ranks before this one */
	size_t first;  /* samples of these */
	size_t shards; /* of this rank, a power of two */
};

/*
 * linear and conv, forward, dx and gradient of w; linear is a conv of height = width =
 * k = s = g = 1, p = 0.  Windows are gathered on the way into the product, never
 * stored; depthwise rows (channels = out = g) have kernels of their own.  bfloat16 and,
 * where tf32 says so, floats rounded to 10 bits behind the point go through tensor cores.
 */
struct gv_cuda_conv {
	size_t B, n; /* models; samples */
	size_t height, width, channels, out_height, out_width, out, k, s, p, g;
	const unsigned char *active;

	const void *x;     /* [n][height][width][channels] */
	const void *w;     /* [g][k][k][channels / g][out / g] */
	const float *bias; /* [out]; NULL = none */
	void *y;           /* [n][out_height][out_width][out]; forward */
	bool relu;         /* forward */
	bool tf32;         /* of floats */

	const void *dy;   /* as y; backward and gradient */
	void *dx;         /* as x; backward */
	bool add;         /* to what dx, or dw, holds */
	const void *mask; /* as dx: 0 where mask <= 0; NULL = none */

	/*
	 * A tconv is a conv the other way round: its forward is backward from dy to dx
	 * with a bias and a relu, its backward is forward that may add and mask, and in
	 * the gradient x and dy have changed places.
	 */
	const float *dx_bias; /* [channels]; NULL = none */
	bool dx_relu;
	bool y_add;
	const void *y_mask;

	float *dw; /* as w; gradient */
	struct gv_cuda_shards shards;
	float *scratch; /* gv_cuda_conv_scratch numbers */

	size_t x_apart, w_apart, bias_apart, y_apart, dy_apart, dx_apart, mask_apart,
	    dw_apart, dx_bias_apart, y_mask_apart;
};
int gv_cuda_conv_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_conv *a);
int gv_cuda_conv_backward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_conv *a);
/* Of w alone: the bias is gv_cuda_sums. */
int gv_cuda_conv_gradient(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_conv *a);
/*
 * Numbers of scratch that the gradient wants: few, parts of a sum that is cut up.  More
 * samples want as much or more.
 */
size_t gv_cuda_conv_scratch(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_conv *a);

/* y = act(y + bias) of a [B][rows][n], behind a product of somebody else's. */
struct gv_cuda_bias {
	void *y;
	const float *bias; /* NULL = none */
	const unsigned char *active;
	size_t B, rows, n, y_apart, bias_apart;
	bool relu;
	bool wide; /* as of gv_cuda_map */
};
int gv_cuda_bias(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_bias *a);

/* ---- pools ---- */

struct gv_cuda_pool {
	size_t B, n;
	/* k 0: the whole input (average) */
	size_t height, width, channels, out_height, out_width, k, s, p;
	const unsigned char *active;
	const void *x; /* of an average backward it is not read */
	void *y;
	const void *dy;
	void *dx;         /* backward */
	bool add;         /* to what dx holds */
	const void *mask; /* as dx: 0 where mask <= 0; NULL = none */
	size_t x_apart, y_apart, dy_apart, dx_apart, mask_apart;
};
int gv_cuda_maxpool_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_pool *a);
int gv_cuda_maxpool_backward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_pool *a);
int gv_cuda_avgpool_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_pool *a);
int gv_cuda_avgpool_backward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_pool *a);

/* ---- number by number ---- */

/*
 * n numbers of each model.  forward: y = f(x[0]), add: x[0] + x[1] + ..., relu
 * afterwards.  backward: dx = f'(..) dy: of relu by y, of gelu by x[0], of add dy.
 */
enum { GV_CUDA_INPUTS = 8 };
enum gv_cuda_function { GV_CUDA_RELU, GV_CUDA_GELU, GV_CUDA_ADD };
struct gv_cuda_map {
	size_t B, n;
	const unsigned char *active;
	size_t inputs; /* 1; ADD: as many as there are */
	const void *x[GV_CUDA_INPUTS];
	void *y;
	const void *dy;
	void *dx;
	bool relu;        /* ADD, forward */
	bool add;         /* to what dx holds */
	const void *mask; /* as dx: 0 where mask <= 0; NULL = none; may be y's or x's */
	size_t x_apart[GV_CUDA_INPUTS], y_apart, dy_apart, dx_apart, mask_apart;
	bool wide; /* set where it is launched: a thread has 16 bytes of each array */
};
int gv_cuda_map_forward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    enum gv_cuda_function f, const struct gv_cuda_map *a);
int gv_cuda_map_backward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    enum gv_cuda_function f, const struct gv_cuda_map *a);

/*
 * The act of a row, in place: forward y = act(y), with what y was in before (NULL: it
 * is not kept); backward dy = dy act'(v), v the row's output or, gelu, silu and gelu-tanh, before.
 */
enum gv_cuda_act {
	GV_CUDA_ACT_RELU,
	GV_CUDA_ACT_LEAKY,
	GV_CUDA_ACT_SIGMOID,
	GV_CUDA_ACT_TANH,
	GV_CUDA_ACT_GELU,
	GV_CUDA_ACT_SILU,
	GV_CUDA_ACT_GELU_TANH
};
struct gv_cuda_acts {
	size_t B, n;
	const unsigned char *active;
	void *y, *before, *dy;
	const void *v;
	float slope; /* of leaky */
	size_t y_apart, before_apart, dy_apart, v_apart;
};
int gv_cuda_act_forward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    enum gv_cuda_act act, const struct gv_cuda_acts *a);
int gv_cuda_act_backward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    enum gv_cuda_act act, const struct gv_cuda_acts *a);

/*
 * rows x n numbers, rows so far apart: to = or += from; concat, an input at a time,
 * there and back; and copies of the type.
 */
struct gv_cuda_move {
	size_t B, rows, n, to_row, from_row;
	const unsigned char *active;
	void *to;
	const void *from;
	bool relu, add;
	const void *mask; /* as to: 0 where mask <= 0; NULL = none */
	size_t to_apart, from_apart, mask_apart;
};
int gv_cuda_move(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_move *a);

/* to = or += from times the mask of struct gv_nn_flight; there and back are the same. */
struct gv_cuda_dropout {
	size_t B, n, size; /* size: numbers of a sample */
	const unsigned char *active;
	const void *from;
	void *to;
	const uint64_t *key; /* [B] */
	uint32_t first;      /* sample of the micro-batch */
	uint32_t row;
	double rate;
	bool add;
	const void *mask; /* as to: 0 where mask <= 0; NULL = none */
	size_t to_apart, from_apart, mask_apart;
};
int gv_cuda_dropout(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    const struct gv_cuda_dropout *a);

/* ---- sums over samples ---- */

/*
 * Sums over the rows of v [rows][n] of each shard, per column: strips of 32 rows in
 * float, the strips in double; and over the shards as a tree.  A row is one place
 * of a sample.  to[b * to_apart + j] = or += the sum.
 */
enum gv_cuda_sum {
	GV_CUDA_SUM,      /* of v: n numbers */
	GV_CUDA_SQUARES,  /* of (v - mean)^2: n */
	GV_CUDA_PRODUCTS, /* of v, and of v * ((x - mean) * rstd): 2 n */
	GV_CUDA_SCALED    /* of v * ((x - mean) * rstd), these of the row: n */
};
struct gv_cuda_sums {
	size_t B, n, places; /* places: rows of a sample */
	const unsigned char *active;
	const void *v, *x;
	const float *mean, *rstd; /* [n]; SCALED: [rows] */
	struct gv_cuda_shards shards;
	float *scratch;   /* gv_cuda_sums_scratch numbers */
	float *to, *also; /* also: a second copy; NULL = none */
	bool add;         /* to what to holds; also is written */
	bool zero;        /* models that are not active: to = 0 rather than left alone */
	size_t v_apart, x_apart, stat_apart, to_apart, also_apart;
};
int gv_cuda_sums(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    enum gv_cuda_sum what, const struct gv_cuda_sums *a);
size_t gv_cuda_sums_scratch(enum gv_cuda_sum what, const struct gv_cuda_sums *a);

/*
 * to[b * to_apart + j] = or += a binary tree over parts of v[b * v_apart + part *
 * part_apart + j], j < n; parts a power of two.  to may be v.  times > 0: what the tree
 * gives becomes, in double, itself * times / by.
 */
struct gv_cuda_tree {
	size_t B, parts, n;
	const float *v;
	float *to, *also;
	const unsigned char *active;
	bool add, zero; /* as of gv_cuda_sums */
	size_t v_apart, part_apart, to_apart, also_apart;
	double times, by;
};
int gv_cuda_tree(const struct gv_cuda_queue *q, const struct gv_cuda_tree *a);

/* to[b] = or += the sum of loss [n] of each shard in double / samples, a tree over them. */
struct gv_cuda_losses {
	size_t B;
	const float *loss;
	float *to;
	const unsigned char *active; /* the others' are 0 */
	struct gv_cuda_shards shards;
	double samples;
	bool add;
	size_t loss_apart;
};
int gv_cuda_losses(const struct gv_cuda_queue *q, const struct gv_cuda_losses *a);

/* ---- bn ---- */

/* y = (x - mean) * rstd * gamma + beta; dx from dy and the sums (GV_NN_STATS). */
struct gv_cuda_bn {
	size_t B, rows, n; /* rows: samples x places; n: channels */
	const unsigned char *active;
	const void *x;
	void *y;
	const void *dy;
	void *dx;
	const float *gamma, *beta; /* [n] */
	const float *stats;        /* [GV_NN_STATS][n] */
	double count;              /* numbers of a channel: gv_nn_count */
	bool relu;                 /* forward */
	bool add;                  /* to what dx holds */
	const void *mask;          /* as dx: 0 where mask <= 0; NULL = none */
	size_t x_apart, y_apart, dy_apart, dx_apart, mask_apart, param_apart, stat_apart;
};
int gv_cuda_bn_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_bn *a);
int gv_cuda_bn_backward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_bn *a);

/* What becomes of bn's sums; statistics from running ones, and these from those. */
enum gv_cuda_stats {
	GV_CUDA_TAKE_X,       /* sums -> mean */
	GV_CUDA_TAKE_SQUARES, /* sums -> variance, 1 / deviation */
	GV_CUDA_TAKE_DY,      /* sums -> both sums */
	GV_CUDA_USE_RUNNING,
	GV_CUDA_UPDATE_RUNNING /* to = from running and the statistics; active ones */
};
struct gv_cuda_stat {
	size_t B, n;
	const unsigned char *active;
	float *stats;         /* [GV_NN_STATS][n] */
	const float *sums;    /* [n] or, TAKE_DY, [2 n] */
	const float *running; /* [2][n] */
	float *to;            /* as running */
	double count;
	size_t stat_apart, sum_apart, running_apart;
};
int gv_cuda_stats(
    const struct gv_cuda_queue *q, enum gv_cuda_stats what, const struct gv_cuda_stat *a);

/* ---- sequences ---- */

/*
 * ln: y = (x - mean) * rstd * gamma + beta over the n numbers of each row; dx from dy.
 * stats [2][rows] get mean and rstd, which GV_CUDA_SCALED wants for gamma's gradient;
 * with y NULL that is all that forward does.
 */
struct gv_cuda_ln {
	size_t B, rows, n;
	const unsigned char *active;
	const void *x;
	void *y;
	const void *dy;
	void *dx;
	const float *gamma, *beta; /* beta NULL: none */
	float *stats;              /* NULL: not wanted; forward */
	bool add;                  /* to what dx holds */
	const void *mask;          /* as dx: 0 where mask <= 0; NULL = none */
	size_t x_apart, y_apart, dy_apart, dx_apart, gamma_apart, beta_apart, stats_apart,
	    mask_apart;
};
int gv_cuda_ln_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_ln *a);
int gv_cuda_ln_backward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_ln *a);

/*
 * embed: y = w[token] + bias[place] of the places of n samples, the same for all
 * models.  The gradient adds dy token by token, a shard's in order and shards as a tree.
 */
struct gv_cuda_embed {
	size_t B, n, places, tokens, width; /* places of a sample; w [tokens][width] */
	const unsigned char *active;
	const float *x;        /* [n][places] tokens; what is none is token 0 */
	const float *w, *bias; /* bias [places][width]; NULL = none */
	void *y;               /* [n][places][width] */
	const void *dy;
	float *dw;
	bool add;
	struct gv_cuda_shards shards;
	uint32_t *lists; /* gradient: room for 2 n places numbers */
	size_t w_apart, bias_apart, y_apart, dy_apart, dw_apart;
};
int gv_cuda_embed_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_embed *a);
int gv_cuda_embed_gradient(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_embed *a);

/*
 * attention of n sequences of T places in heads of D channels each, at most
 * GV_CUDA_HEAD: x [n][T][3][heads][D] are queries, keys and values, y [n][T][heads][D].
 * Softmax of q k / sqrt(D) over places that are seen: causal, those up to one's own.
 * No probability is stored; the sum of a row's is, in lse [n][heads][T], as a logarithm.
 * Backward takes y and lse of forward, which with y NULL makes lse alone; dots is room
 * as lse.  Sums are not the CPU's in order: tests hold them within 1e-5 of what is
 * larger, 1 or the number.  bfloat16 goes through tensor cores up to GV_CUDA_FLASH_HEAD
 * channels: probabilities and their gradients are rounded, too.
 */
enum { GV_CUDA_HEAD = 256, GV_CUDA_NARROW_HEAD = 128, GV_CUDA_FLASH_HEAD = 128 };
struct gv_cuda_attention {
	size_t B, n, T, heads, D;
	const unsigned char *active;
	bool causal;
	const void *x;
	void *y;
	float *lse;
	const void *dy;
	void *dx;
	float *dots;
	bool add;         /* to what dx holds */
	const void *mask; /* as dx: 0 where mask <= 0; NULL = none */
	size_t x_apart, y_apart, lse_apart, dy_apart, dx_apart, mask_apart;
};
int gv_cuda_attention_forward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    const struct gv_cuda_attention *a);
int gv_cuda_attention_backward(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    const struct gv_cuda_attention *a);

/*
 * One place of an lstm, of n samples whose places are so many numbers apart: forward the
 * gates' sums [i f g o][state] become gates, cell and h; backward dh, what the next
 * place gives back to the cell (carry), and the gates become the sums' gradients, and
 * dh what goes to the cell before.  before, carry NULL: there is none.
 */
struct gv_cuda_cell {
	size_t B, n, state;
	const unsigned char *active;
	void *gates;
	const void *before;
	void *cell, *h;
	void *dgates, *dh;
	const void *carry;
	size_t gates_row, row;      /* from a sample to the next: of gates; of all else */
	size_t kept_apart, h_apart; /* models: of gates and cells; of h */
	size_t dkept_apart;         /* of dgates, dh and carry */
};
int gv_cuda_cell_forward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_cell *a);
int gv_cuda_cell_backward(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_cell *a);

/* Places one on: to [n][steps][width] = from's place before, or behind; 0 at the end. */
struct gv_cuda_shift {
	size_t B, n, steps, width, from_row; /* from_row: from a place to the next */
	const unsigned char *active;
	void *to;
	const void *from;
	bool behind;
	size_t to_apart, from_apart;
};
int gv_cuda_shift(
    const struct gv_cuda_queue *q, enum gv_cuda_type type, const struct gv_cuda_shift *a);

/* ---- heads ---- */

/*
 * Losses of the samples, each the mean over its targets; the gradient of the mean
 * loss; evaluating, how many targets are met.
 */
enum gv_cuda_head_kind { GV_CUDA_XENT, GV_CUDA_MSE, GV_CUDA_BCE };
struct gv_cuda_head {
	size_t B, n, targets; /* targets of a sample */
	size_t classes;       /* XENT: numbers at a target; otherwise 1 */
	const unsigned char *active;
	const void *x;        /* [n][targets][classes] logits, numbers */
	const int32_t *label; /* XENT: [n][targets], below 0: counts for nothing */
	const float *number;  /* the others: [n][targets] */
	float *loss;          /* [n] */
	float *hit;           /* [n]; NULL = training */
	void *dx;             /* as x; NULL = none */
	float divisor;        /* of the gradient: gv_nn_targets */
	float *scratch;       /* gv_cuda_head_scratch numbers */
	size_t x_apart, loss_apart, hit_apart, dx_apart;
};
int gv_cuda_head(const struct gv_cuda_queue *q, enum gv_cuda_type type,
    enum gv_cuda_head_kind kind, const struct gv_cuda_head *a);
size_t gv_cuda_head_scratch(const struct gv_cuda_head *a);

/* ---- the update ---- */

/* Coefficients of one model, on the device; gv_cuda_coef_of makes them. */
struct gv_cuda_coef {
	float lr, decay, momentum; /* SGD; momentum 0: the state is not touched */
	float beta1, beta2, rest1, rest2, step, root, eps, keep; /* ADAM, ADAMW */
	uint32_t active;
};
enum gv_cuda_optimiser { GV_CUDA_SGD, GV_CUDA_ADAM };
struct gv_cuda_update {
	size_t B, first, last;           /* parameters [first, last) of each */
	const struct gv_cuda_coef *coef; /* [B] */
	const float *from, *grads;       /* [B][P] */
	float *to;                       /* may be from */
	float *state, *second; /* [B][P]; ADAM: m, v; SGD without momentum: NULL */
	void *rounded;         /* bfloat16: the new parameters once more; NULL = none */
	size_t apart, rounded_apart; /* P; as much, or more */
};
int gv_cuda_update(const struct gv_cuda_queue *q, enum gv_cuda_optimiser o,
    const struct gv_cuda_update *a);
struct gv_nn_update;
/* Of model b, at its step: steps and active are in u. */
void gv_cuda_coef_of(const struct gv_nn_update *u, size_t b, struct gv_cuda_coef *to);

#ifdef __cplusplus
}
#endif

#endif
