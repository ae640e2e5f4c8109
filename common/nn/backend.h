/*
 * What computes: memory, operators, sums and updates behind a struct of
 * functions.  cpu/ is the one that is shipped; others (a GPU's, the slow one of
 * the tests) give the same bits where they keep to the same chains of sums.
 *
 * A backend serves one plan.  All its pointers, gv_real * of weights, flights and
 * gradients, are of its own memory: nobody else reads or writes through them
 * unless host_memory is set; they are for put, get and arithmetic.  Work is
 * queued in the order of the calls, on the stream of the flight that it belongs
 * to; get and sync wait for what they need, the rest need not.
 *
 * Functions that return int give 0, or -1 when the device failed; error() then
 * says what happened, and nothing that was computed since the last sync counts.
 */
#ifndef GV_NN_BACKEND_H
#define GV_NN_BACKEND_H

#include "nn/plan.h"

/* One of the versions of the weights. */
struct gv_nn_weights {
	gv_real *params; /* [B][P] */
	gv_real *packed; /* [B][room.packed]: what pack makes of them */
	/* [rows] what packed holds of the models that train: GV_NN_FORWARD | _BACKWARD;
	   an update that packs them, too, says so here */
	unsigned char *is_packed;
};
enum { GV_NN_FORWARD = 1, GV_NN_BACKWARD = 2 };

/*
 * One micro-batch on its way: the slot that holds it.
 *
 * key: what dropout draws by, of each model.  Number j of sample i (counted in the
 * micro-batch of all ranks) becomes 0 in row r, counted in the whole model, when
 *	gv_philox({j / 4, i, r, 0}, {key, key >> 32}, u);  u[j % 4] < rate * 2^32
 * so there, back and again draw the same.
 */
struct gv_nn_flight {
	int stream;
	const gv_real *x; /* [n][in_size] the samples, the same for all models */
	/* what the head compares with, of each sample plan.targets: labels or numbers,
	   by plan.target; both NULL: nothing, and the head does nothing */
	const int32_t *label;  /* [n][targets], below 0: this place counts for nothing */
	const gv_real *number; /* [n][targets] */
	gv_real *own_x;        /* room for them here; NULL while nobody needed it */
	void *own_target;
	/* rows' outputs and their gradients, by arena: gv_nn_y, gv_nn_dy */
	gv_real *y[GV_NN_ARENAS], *dy[GV_NN_ARENAS];
	gv_real **placed[2]; /* [rows] by gv_net_side: those of rows that are apart */
	uint64_t *key;       /* [B] of the host */
	gv_real *loss;       /* [B][n] the head's output; NULL: it is not here */
	gv_real *
	    hit; /* [B][n] evaluating: how many of a sample's targets are met (GV_OP_XENT) */
	/* x as rows store numbers; NULL: x is it, or no row reads it so */
	void *stored_x;
	gv_real *stats; /* [B][plan.stat_size]: GV_NN_STATS */
	gv_real *sums;  /* [B][shards][plan.widest] room; in front, [B][width], what
	                   is summed over the ranks */
};

/* The gradients of the mean loss and, behind them, the losses: one reduce for both. */
struct gv_nn_grads {
	gv_real *v; /* [B][P], then [B] */
};

/* What rows work on. */
struct gv_nn_call {
	const struct gv_nn_plan *plan;
	const struct gv_nn_weights *w;
	struct gv_nn_flight *f;
	const gv_real *running; /* [B][Q] */
	const bool *active;     /* [B] of the host: the others cost no time */
	size_t n;               /* samples; training: plan.n */
	bool training;          /* otherwise an evaluation, of all models */
};

enum gv_nn_memory {
	GV_NN_PARAMS,
	GV_NN_GRADIENTS,
	GV_NN_STATE, /* of the optimiser; running statistics */
	GV_NN_ACTIVATIONS,
	GV_NN_SCRATCH,
	GV_NN_PINNED /* of the host, for copies that do not wait */
};

/* Numbers that the backend wants for itself. */
struct gv_nn_room {
	size_t packed;  /* of each model, in every version of the weights */
	size_t scratch; /* once */
	/*
	 * Models of an array that go through a step at a time, the whole of it, before
	 * the next ones, where one process trains them; 0 = all.  (Partial fusion: what
	 * a model works on stays in a cache.  The bits are the same.)
	 */
	size_t together;
	/*
	 * Bytes of a number of an activation or its gradient; 0 = those of gv_real.  2:
	 * bfloat16; gv_real * to them are addresses only.  Losses, hits, sums stay gv_real.
	 */
	size_t stored;
	bool learns; /* see learn */
};

/* Sums of bn over a micro-batch; what they become is in its statistics. */
enum gv_nn_sum {
	GV_NN_SUM_X,       /* -> mean: C numbers */
	GV_NN_SUM_SQUARES, /* of x - mean -> variance: C */
	GV_NN_SUM_DY       /* of dy, of dy * xhat: 2 C */
};

/* The optimiser over parameters [first, last) of each model. */
struct gv_nn_update {
	enum gv_optimiser optimiser;
	bool momentum;                  /* SGD: there is state */
	const struct gv_net_coef *coef; /* [B] of the host */
	const uint64_t *steps;          /* [B] of the host, this one counted */
	const bool *active;             /* [B] of the host */
	const gv_real *from;            /* [B][P] */
	gv_real *to;                    /* [B][P], may be from */
	struct gv_nn_weights *into;     /* whose params are to */
	const gv_real *grads;           /* [B][P] */
	gv_real *state;                 /* [1 or 2][B][P] */
	size_t first, last;
};

/* c[z] = a[z] b[z], z < batch, each element one chain of fused multiply-adds in order of k. */
struct gv_nn_gemm {
	size_t batch, m, n, k;
	/* element (i, l) of a is a[z * a_batch + i * lda + l]; transposed: l * lda + i */
	const gv_real *a, *b;
	gv_real *c;
	size_t lda, ldb, ldc;
	size_t a_batch, b_batch, c_batch; /* 0: one for all (not c) */
	bool a_transposed, b_transposed;
	const gv_real *bias; /* [n] z * bias_batch on; NULL = none */
	size_t bias_batch;
	bool add;  /* start from what c holds; then no bias */
	bool relu; /* afterwards c = max(c, 0), NaN stays */
	/* a, b and c are of the type in which the device stores activations */
	bool stored;
};

/*
 * Ranks whose devices reach each other without their hosts.  Where one is: two with the
 * same host and bus are one device.
 */
enum { GV_NN_ID = 128 };
struct gv_nn_where {
	char host[112], bus[24];
	int version; /* of the library that moves: the same at all ranks */
};
/* Whoever waits for other ranks. */
struct gv_nn_watch {
	double silence_s; /* how long it may take */
	/* asked again and again while the device is waited for; -1: a rank is gone */
	int (*alive)(void *ctx);
	void *ctx;
};
/* Sums: in an order of the library, the same for all; gv_net_reduce's tree; rank after rank. */
enum gv_nn_order { GV_NN_ANY, GV_NN_TREE, GV_NN_CHAIN };
struct gv_nn_join {
	int rank, ranks;            /* GV_NN_TREE: a power of two */
	unsigned char id[GV_NN_ID]; /* what make_id gave one of them */
	enum gv_nn_order order;
	size_t most; /* numbers of the largest sum; 0: not known */
	struct gv_nn_watch watch;
};
/* A way from one rank to another, for messages of so many bytes. */
struct gv_nn_link {
	bool sends;
	unsigned char id[GV_NN_ID]; /* what make_id gave one of the two */
	size_t bytes;
	struct gv_nn_watch watch;
};
/* Bytes that a message is made of, or goes to. */
struct gv_nn_span {
	void *v;
	size_t bytes;
};
/* Numbers that are summed over the ranks; of times > 0, each sum then becomes, in double,
   sum * times / by (not of GV_NN_ANY). */
struct gv_nn_piece {
	gv_real *v;
	size_t n;
	double times, by;
};

struct gv_nn_backend {
	const char *name;
	bool host_memory; /* the host may use its pointers between calls */

	/*
	 * Learns the plan, which must outlive it, and says what it needs; then gets
	 * ready: threads, a device.  start may fail with *e set.
	 */
	void (*plan)(
	    struct gv_nn_backend *, const struct gv_nn_plan *, struct gv_nn_room *room);
	int (*start)(struct gv_nn_backend *, gv_real *scratch, struct gv_error *e);
	void (*free)(struct gv_nn_backend *);

	/*
	 * Memory, zeroed; NULL with *e set when there is none.  put and get copy from
	 * and to the host's memory, copy within the backend's.
	 */
	void *(*alloc)(
	    struct gv_nn_backend *, enum gv_nn_memory, size_t bytes, struct gv_error *e);
	void (*release)(struct gv_nn_backend *, enum gv_nn_memory, void *);
	int (*put)(struct gv_nn_backend *, void *to, const void *from, size_t bytes);
	int (*get)(struct gv_nn_backend *, void *to, const void *from, size_t bytes);
	int (*copy)(struct gv_nn_backend *, void *to, const void *from, size_t bytes);
	/*
	 * As get, to memory of GV_NN_PINNED, and nobody waits: the bytes are there once an
	 * event that was recorded behind it has been awaited.
	 */
	int (*fetch)(struct gv_nn_backend *, void *to, const void *from, size_t bytes);
	/* A batch of a resident data set: to[j] = from[index[j]], j < n, of bytes each. */
	int (*gather)(struct gv_nn_backend *, int stream, void *to, const void *from,
	    const uint32_t *index, size_t n, size_t bytes);

	/* Gets the weights of rows [first, last) ready for their products. */
	int (*pack)(struct gv_nn_backend *, const struct gv_nn_call *, size_t first,
	    size_t last, unsigned what);
	/*
	 * Rows [first, last), there and back: y from x, and dx of every input that is
	 * a row's output from dy (with that row's act when ends says so).  In training
	 * a bn may only be the first of the rows forward and the last backward, and its
	 * sums are made; so samples need not know of each other, and a backend may
	 * carry some of them through all of the rows while they are in cache.
	 */
	int (*forward)(
	    struct gv_nn_backend *, const struct gv_nn_call *, size_t first, size_t last);
	int (*backward)(
	    struct gv_nn_backend *, const struct gv_nn_call *, size_t first, size_t last);
	/* The row's act back: dy, the gradient of y, becomes that of what act was put to. */
	int (*act_back)(struct gv_nn_backend *, const struct gv_nn_call *, size_t row);
	/*
	 * Gradients of rows' weights and biases into grads, or added to them: within
	 * each shard in the order of samples and places, over the shards a tree.
	 */
	int (*gradient)(struct gv_nn_backend *, const struct gv_nn_call *, size_t first,
	    size_t last, const struct gv_nn_grads *, bool add);
	/*
	 * Where the plan's room says that the backend learns: the gradients of all rows, and
	 * the optimiser over all parameters, each as soon as it may.  Afterwards grads hold
	 * nothing that is of use.
	 */
	int (*learn)(struct gv_nn_backend *, const struct gv_nn_call *,
	    const struct gv_nn_grads *, bool add, const struct gv_nn_update *);
	/* Mean losses behind the gradients: sums of each shard in double, a tree over them. */
	int (*losses)(struct gv_nn_backend *, const struct gv_nn_call *,
	    const struct gv_nn_grads *, bool add);
	/* bn: the rank's sums to f->sums; what becomes of them when all ranks' are there. */
	int (*bn_sum)(struct gv_nn_backend *, const struct gv_nn_call *, size_t row,
	    enum gv_nn_sum);
	int (*bn_take)(struct gv_nn_backend *, const struct gv_nn_call *, size_t row,
	    enum gv_nn_sum);
	/* bn: running -> statistics (evaluation); statistics -> to, from the running ones. */
	int (*bn_use_running)(
	    struct gv_nn_backend *, const struct gv_nn_call *, size_t row);
	int (*bn_update_running)(
	    struct gv_nn_backend *, const struct gv_nn_call *, size_t row, gv_real *to);
	int (*update)(struct gv_nn_backend *, const struct gv_nn_update *);

	/* General tools. */
	int (*gemm)(struct gv_nn_backend *, int stream, const struct gv_nn_gemm *);
	/* v [parts][n] added in a binary tree into v[0]; parts a power of two */
	int (*sum_tree)(
	    struct gv_nn_backend *, int stream, gv_real *v, size_t parts, size_t n);

	/*
	 * Streams and events are small numbers, made when they are first named.  What
	 * follows capture is kept, until captured gives a graph, which replay runs; a
	 * backend without graphs answers -1 to capture, and its caller goes on.
	 */
	int (*record)(struct gv_nn_backend *, int stream, int event);
	int (*wait)(struct gv_nn_backend *, int stream, int event);
	int (*await)(
	    struct gv_nn_backend *, int event); /* the host: for its last record */
	int (*capture)(struct gv_nn_backend *, int stream);
	int (*captured)(struct gv_nn_backend *, int stream);
	int (*replay)(struct gv_nn_backend *, int stream, int graph);
	int (*sync)(struct gv_nn_backend *);

	/*
	 * Sums over ranks from device to device; all NULL: there is no such way.  All ranks
	 * join at once, and call add_ranks alike: it sums pieces behind what was queued,
	 * beside what is queued next, until added: what follows that waits for all sums.
	 * When a rank is gone, what waits fails, and error() is NULL.  leave: all are done.
	 */
	int (*where)(struct gv_nn_backend *, struct gv_nn_where *, struct gv_error *e);
	int (*make_id)(
	    struct gv_nn_backend *, unsigned char id[GV_NN_ID], struct gv_error *e);
	int (*join)(
	    struct gv_nn_backend *, const struct gv_nn_join *, struct gv_error *e);
	void (*leave)(struct gv_nn_backend *);
	int (*add_ranks)(
	    struct gv_nn_backend *, const struct gv_nn_piece *, size_t pieces);
	int (*added)(struct gv_nn_backend *);

	/*
	 * Messages from device to device, where ranks may be joined.  link: both ranks at
	 * once; gives its number, or -1 with *e.  send: queues one, which is made of spans
	 * as what was queued before leaves them; they may change at once.  receive: asks
	 * for the next one, beside what is queued; only where its send is known to be
	 * queued, or devices may wait for each other.  Gives its number, or -1.  take: what
	 * is queued next finds it in the spans.  Messages may be taken in any order.
	 * look: asks NCCL and the device how they are, and does not wait.
	 */
	int (*link)(
	    struct gv_nn_backend *, const struct gv_nn_link *, struct gv_error *e);
	int (*send)(
	    struct gv_nn_backend *, int link, const struct gv_nn_span *, size_t spans);
	int (*receive)(struct gv_nn_backend *, int link);
	int (*take)(struct gv_nn_backend *, int link, int message,
	    const struct gv_nn_span *, size_t spans);
	int (*look)(struct gv_nn_backend *);

	/* gv_net_time; NULL = no more */
	void (*time)(struct gv_nn_backend *, struct gv_net_times *);
	const char *(*error)(struct gv_nn_backend *); /* NULL = nothing has failed */
};

/* ---- where numbers are: model b, from sample i on ---- */

/* n numbers of activations behind v. */
static inline gv_real *
gv_nn_plus(const struct gv_nn_plan *p, gv_real *v, size_t n)
{
	return (gv_real *)(void *)((char *)v + n * p->stored);
}

/* A row's output or its gradient, of all models and samples; NULL: not placed yet. */
static inline gv_real *
gv_nn_side(const struct gv_nn_plan *p, const struct gv_nn_flight *f,
    const struct gv_nn_row *r, enum gv_net_side side)
{
	if (r->apart[side])
		return f->placed[side][r - p->row];
	return side == GV_NET_OUTPUT
		   ? gv_nn_plus(p, f->y[r->arena], r->y * p->B * p->n)
		   : gv_nn_plus(p, f->dy[r->arena], r->dy * p->B * p->n);
}

static inline gv_real *
gv_nn_y(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b, size_t i)
{
	const struct gv_nn_plan *p = c->plan;

	return gv_nn_plus(
	    p, gv_nn_side(p, c->f, r, GV_NET_OUTPUT), (b * p->n + i) * r->out_size);
}

static inline gv_real *
gv_nn_dy(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b, size_t i)
{
	const struct gv_nn_plan *p = c->plan;

	return gv_nn_plus(
	    p, gv_nn_side(p, c->f, r, GV_NET_GRADIENT), (b * p->n + i) * r->out_size);
}

/*
 * What row r keeps of model b, l.kept numbers of each sample in any order of the row's
 * own; and as many that belong to its gradient.  An act that keeps has what it was put
 * to there, at the end: gv_nn_before.
 */
static inline gv_real *
gv_nn_kept(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b)
{
	const struct gv_nn_plan *p = c->plan;

	return gv_nn_plus(
	    p, c->f->y[r->kept_arena], (r->kept * p->B + b * r->l.kept) * p->n);
}

static inline gv_real *
gv_nn_kept_dy(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b)
{
	const struct gv_nn_plan *p = c->plan;

	return gv_nn_plus(
	    p, c->f->dy[r->kept_arena], (r->kept_dy * p->B + b * r->l.kept) * p->n);
}

/* [n][out_size], from sample i on. */
static inline gv_real *
gv_nn_before(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b, size_t i)
{
	return gv_nn_plus(c->plan, gv_nn_kept(c, r, b),
	    (r->l.kept - r->out_size) * c->plan->n + i * r->out_size);
}

/* The row that is input k; NULL = the sample. */
static inline const struct gv_nn_row *
gv_nn_input(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t k)
{
	return r->l.from[k] == GV_FROM_INPUT ? NULL : &c->plan->row[r->l.from[k]];
}

static inline const gv_real *
gv_nn_x(
    const struct gv_nn_call *c, const struct gv_nn_row *r, size_t k, size_t b, size_t i)
{
	const struct gv_nn_row *from = gv_nn_input(c, r, k);

	return from == NULL ? c->f->x + i * c->plan->in_size : gv_nn_y(c, from, b, i);
}

/* Numbers of input k. */
static inline size_t
gv_nn_input_size(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t k)
{
	const struct gv_nn_row *from = gv_nn_input(c, r, k);

	return from == NULL ? c->plan->in_size : from->out_size;
}

/* Of an input that is a row's output. */
static inline gv_real *
gv_nn_dx(
    const struct gv_nn_call *c, const struct gv_nn_row *r, size_t k, size_t b, size_t i)
{
	return gv_nn_dy(c, &c->plan->row[r->l.from[k]], b, i);
}

static inline const gv_real *
gv_nn_weight(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b)
{
	return c->w->params + b * c->plan->P + r->weight;
}

/* NULL when the row has none. */
static inline const gv_real *
gv_nn_bias(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b)
{
	return r->l.biases > 0 ? c->w->params + b * c->plan->P + r->bias : NULL;
}

static inline gv_real *
gv_nn_stats(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b)
{
	return c->f->stats + b * c->plan->stat_size + r->stat;
}

/* bn: numbers of one channel in the whole micro-batch. */
static inline double
gv_nn_count(const struct gv_nn_call *c, const struct gv_nn_row *r)
{
	return (double)c->plan->N * (double)(r->l.in_shape.height * r->l.in_shape.width);
}

/* What losses are divided by: the samples of an update. */
static inline double
gv_nn_samples(const struct gv_nn_plan *p)
{
	return (double)p->N * (double)p->micro_batches;
}

/*
 * What gradients of the head are divided by: the samples' targets.  The head's output
 * is a sample's loss: the mean over its targets, summed in order in double.
 */
static inline double
gv_nn_targets(const struct gv_nn_plan *p)
{
	return gv_nn_samples(p) * (double)p->targets;
}

#endif
