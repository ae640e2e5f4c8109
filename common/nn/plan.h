/*
 * What never changes while a net trains: its rows, where each of their numbers
 * lies, and which samples this rank has.  Private to common/nn and the backends.
 *
 * Everything is model-major: params [B][P], activations of a row [B][n][size].
 */
#ifndef GV_NN_PLAN_H
#define GV_NN_PLAN_H

#include "nn/model.h"
#include "nn/net.h"

/*
 * Where activations lie: in the slot's own memory, or, where they are recomputed, in
 * one that slots share; then a slot has of its own what crosses the range's ends.
 */
enum gv_nn_arena { GV_NN_OWN, GV_NN_SHARED, GV_NN_ARENAS };

struct gv_nn_row {
	struct gv_layer l;
	size_t in_size, out_size; /* numbers of one input (concat: of all), output */
	size_t weight, bias;      /* offsets in P */
	size_t running;           /* offset in Q: mean [C], variance [C] */
	/* the output is here: a row of the range, or of others that the range reads or relays */
	bool held;
	bool apart[2]; /* by gv_net_side: where it is placed (gv_net_place_row), else */
	enum gv_nn_arena arena; /* where it is, */
	size_t y,
	    dy; /* and the offsets in a sample's numbers there, its gradient's, too */
	/* what it keeps for its own backward, and that for its gradient: l.kept numbers */
	enum gv_nn_arena kept_arena;
	size_t kept, kept_dy;
	size_t stat; /* bn: offset in stats, GV_NN_STATS x channels */
	/*
	 * of the weight, per group: [g][rows][columns]; tconv: [k][k][out / g] rows of
	 * in / g; lstm: those of the input, then of the state, of 4 gates in each way
	 */
	size_t matrix_rows, columns;
	size_t places; /* linear: vectors of a sample that it works on, 1 or all */
	/*
	 * An output that several rows read gets the sum of their gradients: the last
	 * reader's first, then the others in descending order.  adds: input k has
	 * a gradient already, to be added to.  ends: this was the last one to be
	 * added, so the input's act may be gone back through.  Where the last is not of
	 * the range, late: then the row's act is gone through when its gradient is there.
	 */
	bool adds[GV_FROM_MAX], ends[GV_FROM_MAX], late;
};

/*
 * Statistics of bn, of each model: mean [C] and 1 / deviation [C] of the
 * micro-batch, the sums of dy and of dy * xhat over all ranks [2C] and of this
 * rank alone [2C] (the gradients of beta and gamma), mean and variance for the
 * running statistics [2C].
 */
enum { GV_NN_STATS = 8 };

struct gv_nn_plan {
	/* sizes: see net.h */
	size_t B, N, S, R, rank, P, Q;
	size_t micro_batches;
	size_t first, n; /* samples of this rank in a micro-batch */
	size_t shards;   /* of this rank */
	size_t in_size;
	size_t outputs;                  /* numbers that the head reads */
	enum gv_target target;           /* what it compares them with, */
	size_t targets;                  /* and how many of these a sample has */
	size_t numbers[2][GV_NN_ARENAS]; /* of a sample's activations, by gv_net_side, */
	size_t apart;                    /* those that are placed, of both sides */
	size_t activations;              /* all outputs */
	size_t stored;            /* bytes of one: gv_real's, or as the backend says */
	size_t stat_size, widest; /* numbers of all bn rows; most that one of them sums */
	double flops; /* of the rows, forward, for one sample; at least one per number */
	/*
	 * [rows] of the whole model; P, Q, activations, flops and sums are those of rows
	 * [first_row, last_row), which the net holds
	 */
	struct gv_nn_row *row;
	size_t rows, first_row, last_row;
	bool recompute, places;
};

/* Bytes of a sample's targets. */
static inline size_t
gv_nn_target_bytes(const struct gv_nn_plan *p)
{
	return p->targets *
	       (p->target == GV_TARGET_LABELS ? sizeof(int32_t) : sizeof(gv_real));
}

/* m has gone through gv_model_shape, c is right (gv_net_new).  To be freed. */
void gv_nn_plan_make(
    struct gv_nn_plan *p, const struct gv_model *m, const struct gv_net_config *c);
void gv_nn_plan_free(struct gv_nn_plan *p);

/* The shard of this rank: samples [*first, *last) of its own. */
static inline void
gv_nn_shard(const struct gv_nn_plan *p, size_t shard, size_t *first, size_t *last)
{
	size_t j = p->rank * p->shards + shard;

	*first = j * p->N / p->S - p->first;
	*last = (j + 1) * p->N / p->S - p->first;
}

#endif
