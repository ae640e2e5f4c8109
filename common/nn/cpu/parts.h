/* Inside the CPU's backend.  Private to common/nn/cpu. */
#ifndef GV_NN_CPU_PARTS_H
#define GV_NN_CPU_PARTS_H

#include <stdatomic.h>

#include "nn/cpu/cpu.h"
#include "nn/cpu/threads.h"

/* Weight matrices of a row packed for y and for dx: [g] of each size, a model after the other. */
struct gv_cpu_row {
	size_t packed, packed_size, packed_t, packed_t_size;
	size_t back_rows, back_columns; /* the matrix for dx */
	/* conv: where a window's elements are, y's [matrix_rows] and dx's [back_rows] */
	const size_t *elements;
	bool back; /* dx is wanted */
	bool raw,
	    raw_back; /* y, dx take the weights as they lie: few samples read them */
	size_t samples, shards; /* of this rank */
	/*
	 * Items of a loop over one row alone, forward and backward: linear's are strips of
	 * columns of the product, strip (strip_back) wide, conv's are places.  0 = none, the
	 * row goes by samples among others.
	 */
	size_t strips, strip, strips_back, strip_back;
	bool
	    relay; /* forward goes from thread to thread, each having some of the weights' rows */
	size_t taps;    /* of conv, packed one by one; 0 = by columns alone */
	size_t parts;   /* the weights' gradient is a sum of: a power of two, mostly 1 */
	size_t partial; /* where these lie in cpu->partial, [parts][weights, biases] */
};

/*
 * What one item of the gradient loop makes: rows and columns of a weight
 * matrix, or the bias (first == last).
 */
enum { GV_CPU_PIECE_COLUMNS = 128, GV_CPU_PIECE_ROWS = 480 }; /* at most */
enum { GV_CPU_LINEAR_COLUMNS = 256, GV_CPU_LINEAR_ROWS = 528 };
struct gv_cpu_piece {
	size_t row;
	size_t group, first, last, column, last_column;
	size_t part;  /* of the shards; those of a piece stand one behind another */
	size_t owner; /* the thread that it is meant for */
};

/* Parameters that one item updates: rows x n, ld apart. */
struct gv_cpu_area {
	size_t at, n, rows, ld;
};

/* An item of a relay is done when it has the lap's number; on a cache line of its own. */
struct gv_cpu_baton {
	atomic_size_t lap;
	char apart[56];
};

struct gv_cpu {
	struct gv_nn_backend base; /* first */
	const struct gv_nn_plan *plan;
	struct gv_cpu_row *row;
	struct gv_cpu_piece *piece; /* [pieces], by row */
	size_t pieces;
	size_t *order;    /* [pieces] of those that are wanted, thread after thread */
	size_t *begins;   /* [threads + 2]: where in order each thread's are */
	size_t *elements; /* of all rows of windows */
	size_t *
	    taps; /* [rows][threads + 1]: of a row with taps, those that each thread packs */
	size_t *own; /* [threads + 1]: parameters whose gradient each thread makes */
	struct gv_cpu_area *area; /* all parameters, of one model; thread after thread */
	size_t areas, *area_begins; /* [threads + 1] */
	atomic_size_t
	    *made;        /* [pieces]: parts that are there, for the first of a piece */
	gv_real *partial; /* parts of gradients */
	size_t partial_size;
	size_t *pack_begins; /* [threads + 1]: items of a loop over strips to pack */
	struct gv_cpu_baton *baton; /* [threads][strips] of the row with most */
	size_t batons;
	bool relayed;       /* some row is */
	size_t lap;         /* of batons: one for each row that is relayed */
	size_t packed_size; /* of a model */
	size_t block;       /* samples that one item of forward and backward works on */
	gv_real *scratch;   /* [threads][scratch_size] */
	size_t scratch_size;
	size_t threads;
	struct gv_cpu_threads *pool;
	struct gv_cpu_times *times; /* NULL = nobody wants to know */
};

/* One model's samples [i, i + n) of a row; backward: the gradient of an input. */
struct gv_cpu_block {
	size_t b, i, n;
	size_t input;
	size_t part, parts; /* strip number part of the row's; parts 0 = all of it */
	gv_real *scratch;   /* of this thread */
};

/* A row's pass over a block, in any order and on any thread with the same bits. */
typedef void gv_cpu_pass(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s);
/*
 * The gradient of a piece of the weights [g][matrix_rows][columns] for the block's
 * samples into dw, whose rows are ldw apart; the bias is not part of it.
 */
typedef void gv_cpu_gradient(const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_piece *p, const struct gv_cpu_block *s, gv_real *dw, size_t ldw);

/*
 * The same for the samples of shards [shard, shard + shards), a power of two: their sum.
 * false: one by one, please.
 */
enum { GV_CPU_SHARD_SAMPLES = 256 }; /* that linear takes at a time */
enum { GV_CPU_EMBED_ROWS = 512 };    /* of a piece of embed */
typedef bool gv_cpu_all_shards(const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_piece *p, const struct gv_cpu_block *s, size_t shard,
    size_t shards, gv_real *dw, size_t ldw, bool add);

struct gv_cpu_op {
	gv_cpu_pass *forward;      /* y */
	gv_cpu_pass *backward;     /* dx of an input that is a row's output */
	gv_cpu_gradient *gradient; /* NULL for a row without weights, */
	/* numbers of scratch that these need, whatever the block; NULL = none */
	size_t (*scratch)(const struct gv_nn_row *r, const struct gv_cpu_row *packed);
	gv_cpu_all_shards *shards; /* or with this alone; NULL = one by one */
	/* what the gradient of the bias is summed from, [places][biases]; NULL = dy */
	const gv_real *(*bias)(const struct gv_nn_call *c, const struct gv_nn_row *r,
	    const struct gv_cpu_block *s);
	bool inner; /* backward is wanted though the input is the sample */
};
extern const struct gv_cpu_op gv_cpu_ops[GV_OPS];

gv_cpu_pass gv_cpu_linear_forward, gv_cpu_linear_backward;
gv_cpu_gradient gv_cpu_linear_gradient;
gv_cpu_all_shards gv_cpu_linear_shards;
size_t gv_cpu_linear_scratch(const struct gv_nn_row *r, const struct gv_cpu_row *packed);
gv_cpu_pass gv_cpu_conv_forward, gv_cpu_conv_backward;
gv_cpu_gradient gv_cpu_conv_gradient;
size_t gv_cpu_conv_scratch(const struct gv_nn_row *r, const struct gv_cpu_row *packed);
/* Fills row[].elements. */
void gv_cpu_conv_list(struct gv_cpu *cpu);
gv_cpu_pass gv_cpu_tconv_forward, gv_cpu_tconv_backward;
gv_cpu_gradient gv_cpu_tconv_gradient;
gv_cpu_pass gv_cpu_lstm_forward, gv_cpu_lstm_backward;
gv_cpu_gradient gv_cpu_lstm_gradient;
size_t gv_cpu_lstm_scratch(const struct gv_nn_row *r, const struct gv_cpu_row *packed);
const gv_real *gv_cpu_lstm_bias(
    const struct gv_nn_call *c, const struct gv_nn_row *r, const struct gv_cpu_block *s);
gv_cpu_pass gv_cpu_maxpool_forward, gv_cpu_maxpool_backward;
gv_cpu_pass gv_cpu_avgpool_forward, gv_cpu_avgpool_backward;
gv_cpu_pass gv_cpu_relu_forward, gv_cpu_relu_backward;
gv_cpu_pass gv_cpu_gelu_forward, gv_cpu_gelu_backward;
gv_cpu_pass gv_cpu_add_forward, gv_cpu_add_backward;
gv_cpu_pass gv_cpu_concat_forward, gv_cpu_concat_backward;
gv_cpu_pass gv_cpu_dropout_forward, gv_cpu_dropout_backward;
gv_cpu_pass gv_cpu_bn_forward, gv_cpu_bn_backward;
size_t gv_cpu_bn_scratch(const struct gv_nn_row *r, const struct gv_cpu_row *packed);
gv_cpu_pass gv_cpu_ln_forward, gv_cpu_ln_backward;
gv_cpu_gradient gv_cpu_ln_gradient;
size_t gv_cpu_ln_scratch(const struct gv_nn_row *r, const struct gv_cpu_row *packed);
gv_cpu_pass gv_cpu_embed_forward, gv_cpu_embed_backward;
gv_cpu_all_shards gv_cpu_embed_shards;
size_t gv_cpu_embed_scratch(const struct gv_nn_row *r, const struct gv_cpu_row *packed);
gv_cpu_pass gv_cpu_attention_forward, gv_cpu_attention_backward;
size_t gv_cpu_attention_scratch(
    const struct gv_nn_row *r, const struct gv_cpu_row *packed);
gv_cpu_pass gv_cpu_xent_forward, gv_cpu_mse_forward, gv_cpu_bce_forward;
gv_cpu_pass gv_cpu_head_backward; /* nothing is left to do: forward made the gradient */

/* Whether its weights are factors of matrix products, and packed for these. */
static inline bool
gv_cpu_has_products(const struct gv_nn_row *r)
{
	return gv_cpu_ops[r->l.op].gradient != NULL && r->l.op != GV_OP_LN;
}
/* Whether it has weights whose gradient is made by pieces. */
static inline bool
gv_cpu_has_pieces(const struct gv_nn_row *r)
{
	const struct gv_cpu_op *op = &gv_cpu_ops[r->l.op];

	return op->gradient != NULL || op->shards != NULL;
}

/* y = max(y, 0), a NaN stays; gradients of relu: dy = 0 where y <= 0. */
void gv_cpu_relu(gv_real *y, size_t n);
void gv_cpu_relu_mask(gv_real *dy, const gv_real *y, size_t n);
/*
 * The act of a layer put to y [n] in place; before: where to keep what y was, NULL for
 * an act that needs it not.  And back: dy times the slope at v, which is y, or before.
 */
void gv_cpu_act(const struct gv_layer *l, gv_real *y, gv_real *before, size_t n);
void gv_cpu_act_back(const struct gv_layer *l, gv_real *dy, const gv_real *v, size_t n);
/* y = x Phi(x), y may be x; dx = or += dy times its slope at x, dx may be dy */
void gv_cpu_gelu(gv_real *y, const gv_real *x, size_t n);
void gv_cpu_gelu_back(
    gv_real *dx, const gv_real *dy, const gv_real *x, size_t n, bool add);

/* ---- sums ---- */

/*
 * Adds partial sums [parts][n] in a binary tree: the result is in the first.
 * parts is a power of two.
 */
void gv_cpu_sum_tree(gv_real *v, size_t parts, size_t n);
/* a += b, of rows x n numbers whose rows are lda and ldb apart */
void gv_cpu_sum_two(
    gv_real *a, size_t lda, const gv_real *b, size_t ldb, size_t rows, size_t n);
/*
 * Sums over rows of v [rows][n] per column: strips of 32 rows in gv_real, the
 * strips in double.
 */
void gv_cpu_sum_columns(const gv_real *v, size_t rows, size_t n, gv_real *sum);
/* of (v - mean)^2 */
void gv_cpu_sum_squares(
    const gv_real *v, size_t rows, size_t n, const gv_real *mean, gv_real *sum);
/* of dy * ((x - mean) * rstd) */
void gv_cpu_sum_products(const gv_real *dy, const gv_real *x, size_t rows, size_t n,
    const gv_real *mean, const gv_real *rstd, gv_real *sum);

/* ---- the backend's functions that are not in cpu.c ---- */

/* Fills row and the sizes from the plan and threads; may be asked again. */
void gv_cpu_lay_out(struct gv_cpu *cpu);
/* Into how many parts, by the samples, a row's gradient is cut; 1 = by the matrix alone. */
size_t gv_cpu_parts(const struct gv_cpu *cpu, size_t row);
/* Numbers of a row's largest piece. */
size_t gv_cpu_piece_numbers(const struct gv_cpu *cpu, const struct gv_nn_row *r);
/*
 * Fills piece and who makes which: as many as the matrices are large, so once there is
 * memory for those.
 */
void gv_cpu_cut_pieces(struct gv_cpu *cpu);
/* Fills row[].strips and so on. */
void gv_cpu_cut_strips(struct gv_cpu *cpu);
/* The thread whose share of n items in a loop that is shared evenly item is in. */
static inline size_t
gv_cpu_owner(size_t item, size_t n, size_t threads)
{
	return ((item + 1) * threads - 1) / n;
}
/*
 * Rows [first, last) of the weights that thread t of a relayed row has; the same
 * columns of dx.
 */
static inline size_t
gv_cpu_relay_row(const struct gv_cpu *cpu, const struct gv_nn_row *r, size_t t)
{
	const struct gv_cpu_row *at = &cpu->row[r - cpu->plan->row];
	size_t row = at->strips_back * t / cpu->threads * at->strip_back;

	return row < r->matrix_rows ? row : r->matrix_rows;
}
/* Forward of a relayed row. */
void gv_cpu_relay(struct gv_cpu *cpu, const struct gv_nn_call *c, size_t row);
/* Fills area, from own and strips. */
void gv_cpu_cut_areas(struct gv_cpu *cpu);
/* Fills order and begins with pieces [first, end). */
void gv_cpu_order_pieces(struct gv_cpu *cpu, size_t first, size_t end);
int gv_cpu_pack(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first,
    size_t last, unsigned what);
int gv_cpu_forward(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last);
int gv_cpu_backward(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last);
int gv_cpu_act_back_row(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row);
int gv_cpu_gradients(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first,
    size_t last, const struct gv_nn_grads *g, bool add);
int gv_cpu_learn(struct gv_nn_backend *be, const struct gv_nn_call *c,
    const struct gv_nn_grads *g, bool add, const struct gv_nn_update *u);
int gv_cpu_losses(struct gv_nn_backend *be, const struct gv_nn_call *c,
    const struct gv_nn_grads *g, bool add);
int gv_cpu_bn_sum(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row,
    enum gv_nn_sum what);
int gv_cpu_bn_take(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row,
    enum gv_nn_sum what);
int gv_cpu_bn_use_running(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row);
int gv_cpu_bn_update_running(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row, gv_real *to);
int gv_cpu_update(struct gv_nn_backend *be, const struct gv_nn_update *u);

/* Forward has the weights turned round, and dx as they are. */
static inline bool
gv_cpu_is_turned(const struct gv_nn_row *r)
{
	return r->l.op == GV_OP_TCONV;
}

static inline size_t
gv_cpu_lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* A block's worth of scratch for a thread. */
static inline gv_real *
gv_cpu_scratch(const struct gv_cpu *cpu, size_t thread)
{
	return cpu->scratch + thread * cpu->scratch_size;
}

static inline const gv_real *
gv_cpu_packed(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, size_t b, size_t group)
{
	const struct gv_cpu_row *at = &cpu->row[r - cpu->plan->row];

	return c->w->packed + b * cpu->packed_size + at->packed + group * at->packed_size;
}

static inline const gv_real *
gv_cpu_packed_t(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, size_t b, size_t group)
{
	const struct gv_cpu_row *at = &cpu->row[r - cpu->plan->row];

	return c->w->packed + b * cpu->packed_size + at->packed_t +
	       group * at->packed_t_size;
}

/* x of a row with one input; y, dy; dx of input s->input. */
static inline const gv_real *
gv_cpu_x(
    const struct gv_nn_call *c, const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	return gv_nn_x(c, r, 0, s->b, s->i);
}

static inline gv_real *
gv_cpu_y(
    const struct gv_nn_call *c, const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	return gv_nn_y(c, r, s->b, s->i);
}

static inline gv_real *
gv_cpu_dy(
    const struct gv_nn_call *c, const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	return gv_nn_dy(c, r, s->b, s->i);
}

static inline gv_real *
gv_cpu_dx(
    const struct gv_nn_call *c, const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	return gv_nn_dx(c, r, s->input, s->b, s->i);
}

#endif
