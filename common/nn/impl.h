/*
 * Inside a net.  Private to common/nn.
 *
 * Memory: one allocation per kind.  A row's output y and its gradient dy are
 * [B][n][out_size], n = samples of this rank; weights lie in params [B][P].
 */
#ifndef GV_NN_IMPL_H
#define GV_NN_IMPL_H

#include "nn/net.h"
#include "nn/ops.h"
#include "nn/pool.h"

struct row {
	struct gv_layer l;
	const struct row *from; /* NULL = the sample */
	size_t in_size, out_size;
	size_t weight, bias; /* offsets in P */
	size_t running;      /* offset in Q */
	size_t y;            /* offset in activations: y * B * n */
	/*
	 * Weight matrices, one per group: [l.g][grad_rows][grad_columns]; packed for
	 * y (packed) and for dx (packed_t), offsets and sizes of one group.
	 */
	size_t grad_rows, grad_columns;
	size_t packed, packed_size, packed_t, packed_t_size;
	size_t back_rows,
	    back_columns; /* the matrix of packed_t: [back_rows][back_columns] */
	size_t stat;      /* bn: offset in stats, of 6 x channels numbers */
};

/*
 * What one item of the gradient loop makes: rows and columns of a weight
 * matrix, or the bias (first == last).
 */
enum { PIECE_COLUMNS = 128 }; /* at most */
struct piece {
	const struct row *row;
	size_t group, first, last, column, last_column;
};

struct gv_net {
	/* sizes: see net.h */
	size_t B, N, S, R, rank, P, Q;
	size_t first, n; /* samples of this rank */
	size_t shards;   /* of this rank */
	size_t block;    /* samples that one item of forward and backward works on */
	struct gv_shape input;
	size_t in_size, classes;
	enum gv_optimiser optimiser;
	bool momentum;
	gv_net_reduce *reduce;
	void *ctx;
	uint64_t *seed;
	struct gv_net_coef *coef;
	bool *active;
	uint64_t *steps;
	struct row *row; /* [rows] */
	size_t rows;
	struct piece *piece; /* [pieces] */
	size_t pieces;

	gv_real *params;  /* [B][P] */
	gv_real *grads;   /* [B][P], then [B] losses: one reduce for both */
	gv_real *state;   /* [1 or 2][B][P] */
	gv_real *running; /* [B][Q] */
	gv_real *y, *dy;  /* activations and their gradients */
	gv_real *loss;    /* [B][n] of each sample */
	gv_real *hit;     /* [B][n] 1 when its largest logit is at the label */
	gv_real *stats;   /* bn: [B][stat_size], see bn.c */
	size_t stat_size;
	gv_real *partial; /* [B][shards][2 * widest bn] */
	size_t partial_size;
	gv_real *packed; /* [B][packed_size] */
	size_t packed_size;
	gv_real *scratch; /* [threads][scratch_size] */
	size_t scratch_size;
	struct gv_net_bytes bytes;

	struct pool *pool;
	double flops; /* of the rows, forward, for one sample; at least one per number */
	size_t threads;

	/* of the present call */
	const gv_real *x;
	const int32_t *label;
	bool training;
	struct times *times; /* NULL = nobody wants to know */
};

static inline size_t
lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t
row_number(const struct gv_net *net, const struct row *r)
{
	return (size_t)(r - net->row);
}

/* y, dy of a row, x of its input: of model b, from sample i on. */
static inline gv_real *
row_y(const struct gv_net *net, const struct row *r, size_t b, size_t i)
{
	return net->y + r->y * net->B * net->n + (b * net->n + i) * r->out_size;
}

static inline gv_real *
row_dy(const struct gv_net *net, const struct row *r, size_t b, size_t i)
{
	return net->dy + r->y * net->B * net->n + (b * net->n + i) * r->out_size;
}

static inline const gv_real *
row_x(const struct gv_net *net, const struct row *r, size_t b, size_t i)
{
	return r->from == NULL ? net->x + i * r->in_size : row_y(net, r->from, b, i);
}

static inline gv_real *
row_dx(const struct gv_net *net, const struct row *r, size_t b, size_t i)
{
	return row_dy(net, r->from, b, i);
}

static inline const gv_real *
row_weight(const struct gv_net *net, const struct row *r, size_t b)
{
	return net->params + b * net->P + r->weight;
}

/* NULL when the row has none. */
static inline const gv_real *
row_bias(const struct gv_net *net, const struct row *r, size_t b)
{
	return r->l.biases > 0 ? net->params + b * net->P + r->bias : NULL;
}

static inline const gv_real *
row_packed(const struct gv_net *net, const struct row *r, size_t b, size_t group)
{
	return net->packed + b * net->packed_size + r->packed + group * r->packed_size;
}

static inline const gv_real *
row_packed_t(const struct gv_net *net, const struct row *r, size_t b, size_t group)
{
	return net->packed + b * net->packed_size + r->packed_t +
	       group * r->packed_t_size;
}

/* The shard of this rank: samples [*first, *last) of its own. */
static inline void
net_shard(const struct gv_net *net, size_t shard, size_t *first, size_t *last)
{
	size_t j = net->rank * net->shards + shard;

	*first = j * net->N / net->S - net->first;
	*last = (j + 1) * net->N / net->S - net->first;
}

/*
 * Adds partial sums [shards][n] in a binary tree: the result is in the first.
 * shards is a power of two.
 */
void sum_tree(gv_real *v, size_t shards, size_t n);
/* a += b, of rows x n numbers whose rows are lda and ldb apart */
void sum_two(gv_real *a, size_t lda, const gv_real *b, size_t ldb, size_t rows, size_t n);

/* Sums over rows of v [rows][n] per column, and the like; all exact to a few ulp. */
void sum_columns(const gv_real *v, size_t rows, size_t n, gv_real *sum);
/* of (v - mean)^2 */
void sum_squares(
    const gv_real *v, size_t rows, size_t n, const gv_real *mean, gv_real *sum);
/* of dy * (x - mean) * rstd */
void sum_products(const gv_real *dy, const gv_real *x, size_t rows, size_t n,
    const gv_real *mean, const gv_real *rstd, gv_real *sum);

/* bn between the rows: what is summed over the batch.  0, or -1 when reduce failed. */
int bn_forward_sums(struct gv_net *net, const struct row *r);
int bn_backward_sums(struct gv_net *net, const struct row *r);
void bn_use_running(struct gv_net *net, const struct row *r); /* for evaluation */
void bn_update_running(struct gv_net *net, const struct row *r, size_t b);

/* Gradients of relu: dy = 0 where y <= 0. */
void relu_mask(gv_real *dy, const gv_real *y, size_t n);

/* Updates numbers [first, last) of model b; its steps count this one already. */
void optimiser_update(struct gv_net *net, size_t b, size_t first, size_t last);

#endif
