/*
 * Training: B models of one shape at once (an array, HFTA), on some threads of
 * one process or as a gang of processes.
 *
 *	B  models in the array          P  parameters of a model
 *	N  samples of a batch           Q  running statistics of a model
 *	S  shards of a batch            R  ranks (processes of the gang)
 *
 * Everything is model-major: params [B][P], activations [B][N][...].  B = 1
 * runs the same code.  All models see the same samples; each has its own seed
 * and coefficients.  Nothing of model b reaches another, not even a NaN.
 *
 * Determinism.  A model's bits depend on its table, seed and coefficients, on
 * the samples, on N and S; not on B, threads, R or the cuts of a pipeline.  The batch is cut into S
 * shards, shard j = samples [j*N/S, (j+1)*N/S).  What is summed over samples
 * (gradients, losses, statistics of bn) is summed within each shard in a fixed
 * order and then over the shards in a binary tree: with S = 4,
 * (s0 + s1) + (s2 + s3).  Rank r owns the shards [r*S/R, (r+1)*S/R), which is a
 * subtree; the caller's reduce goes on with the same tree.  Matrix products
 * are chains of fused multiply-adds in a fixed order (gemm.h), the same on every
 * CPU that has such an instruction.
 *
 * bn normalises by the statistics of the whole batch of N, over all ranks.
 *
 * A step is made of work items (below), so that the stages of a pipeline, several
 * micro-batches and several versions of the weights can be had in any order: a
 * slot holds one micro-batch on its way, a version one set of weights.  A step of
 * gv_net_step is the plainest schedule: slot 0, version 0.  With M micro-batches
 * to an update N is the size of one of them, gradients are summed in their order
 * and divided by M * N, and bn normalises each by its own statistics.
 */
#ifndef GV_NN_NET_H
#define GV_NN_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "nn/model.h"
#include "nn/real.h"

/*
 * PyTorch's definitions, g = gradient of the mean loss + weight_decay * w:
 *	SGD    m = momentum * m + g;  w -= lr * m
 *	ADAM   m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g^2
 *	       w -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
 *	ADAMW  the same, but g without the decay and first w *= 1 - lr * weight_decay
 */
enum gv_optimiser { GV_SGD, GV_ADAM, GV_ADAMW };

/* Coefficients of one model. */
struct gv_net_coef {
	double lr;
	double weight_decay;
	double momentum;          /* SGD */
	double beta1, beta2, eps; /* ADAM, ADAMW */
	/* of gradients, before all that: 0 = not clipped; gv_net_clip */
	double clip_value, clip_norm;
};
#define GV_NET_COEF_DEFAULT                                           \
	{                                                             \
		.lr = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8 \
	}

/*
 * Sums v[0..n) over the ranks of the gang, in place; every rank calls it with
 * the same n in the same order, and all get the same bits.  The sum must be
 * that of a binary tree over the ranks: (v0 + v1) + (v2 + v3) for R = 4.
 * 0, or -1 when a peer is gone.  Called from the thread that called the net.
 * Per step: twice and once more per bn row, and once with B*P + B numbers.
 */
typedef int gv_net_reduce(void *ctx, gv_real *v, size_t n);

struct gv_nn_backend;

struct gv_net_config {
	size_t models;        /* B >= 1 */
	size_t batch;         /* N >= 1, of the whole gang */
	size_t micro_batches; /* M: of N samples each, to an update; 0 is as good as 1 */
	size_t slots;    /* micro-batches on their way at a time; 0 is as good as 1 */
	size_t versions; /* of the weights; 0 is as good as 1 */
	/* the rows that this net holds, the whole model otherwise: below, "a part" */
	size_t first_row, last_row; /* [first_row, last_row); last_row 0: to the end */
	bool recompute; /* activations are made again for backward, not kept in slots */
	bool
	    places; /* of a part: its user has the memory of what comes (gv_net_place_row) */
	size_t shards;  /* S, a power of two <= N; 0 = gv_net_shards(batch) */
	size_t rank;    /* 0..ranks-1 */
	size_t ranks;   /* R, a power of two <= S; 0 is as good as 1 */
	size_t threads; /* of the CPU; 0 is as good as 1: no thread is started */
	enum gv_optimiser optimiser;
	const uint64_t *seed;           /* [B], copied */
	const struct gv_net_coef *coef; /* [B], copied */
	gv_net_reduce *reduce;          /* NULL when R is 1 */
	void *ctx;
	size_t bucket; /* numbers that joined ranks sum at a time; 0: as is usual */
	/* what computes, as gv_cpu_new: gv_net_new takes it over, also when it fails */
	struct gv_nn_backend *backend;
};

/* The usual S: 4, or less when the batch is smaller (a power of two <= N). */
size_t gv_net_shards(size_t batch);

/* Bytes of a net, by kind. */
struct gv_net_bytes {
	size_t params;    /* B*P, of each version; P, Q: of the rows that the net holds */
	size_t gradients; /* B*P + B */
	size_t state; /* of the optimiser: SGD B*P (0 without any momentum), Adam 2*B*P */
	size_t running; /* 2*B*Q: also as they will be after the update */
	/* of the samples of this rank, with their gradients, each slot */
	size_t activations;
	size_t scratch; /* of the threads; weights packed for the products; sums of bn */
	/* copies of them: made when gather or a device first needs them */
	size_t samples;
	size_t total;
};

struct gv_net;

/*
 * Makes a net with fresh parameters (gv_net_init).  m (after gv_model_shape) is
 * not needed afterwards.  0, or -1 with *e set: a wrong configuration (the text
 * says which number), too little memory, no thread to be had.
 */
int gv_net_new(struct gv_net **net, const struct gv_model *m,
    const struct gv_net_config *c, struct gv_error *e);
void gv_net_free(struct gv_net *net); /* NULL is allowed; joins the threads */

/*
 * Parameters as at the beginning: PyTorch's defaults.  linear, conv and tconv: weight
 * and bias uniform in +-1/sqrt(fan_in), fan_in of tconv k * k * out / g; lstm: in
 * +-1/sqrt(numbers of its state); bn: gamma 1, beta 0, running mean 0 and
 * variance 1; ln: gamma 1, beta 0; embed: uniform of deviation 0.02 (GPT-2's).
 * Draw i of a tensor is a function of (seed[b], row of the table,
 * weight or bias, i) alone.  The optimiser's state and the steps become 0.
 */
int gv_net_init(struct gv_net *net);

/*
 * Times the steps that follow, row by row: each adds its seconds to times [rows
 * of the model], which must live until this is called again; NULL = no more.
 * Forward and backward hold all that gv_net_gradient does for the row, but for what
 * it does once an update only (packing weights); update that, and
 * its part of gv_net_update: together a step, but for the sum of the losses and
 * some microseconds.  On several threads a row's part is that of the time in
 * which the threads worked on it.  Evaluations are not timed.
 */
struct gv_net_times {
	double forward_s, backward_s, update_s;
};
void gv_net_time(struct gv_net *net, struct gv_net_times *times);

/* The samples of the batch that this rank works on: [*first, *first + *n) of 0..N-1. */
void gv_net_rows(const struct gv_net *net, size_t *first, size_t *n);

/*
 * One step: forward, backward, reduce, update.
 *
 *	x      [M][n][height][width][channels] this rank's samples (gv_net_rows)
 *	target [M][n][targets] by the model's head: int32_t labels, 0..classes-1 (one
 *	       below 0 counts for nothing: its loss and gradient are 0, but means are
 *	       still over all targets), or gv_real numbers
 *	loss   [B] out: mean loss of the whole batch before the update, the same
 *	       on all ranks; NaN for a model that is not active
 *
 * 0, or -1 when reduce failed (or the backend: gv_net_error): then parameters,
 * state, running statistics and steps are as before the call.
 */
int gv_net_step(struct gv_net *net, const gv_real *x, const void *target, double *loss);

/* The two halves of a step. */
int gv_net_gradient(
    struct gv_net *net, const gv_real *x, const void *target, double *loss);
int gv_net_update(struct gv_net *net);

/*
 * A data set that stays: x [n][height][width][channels] and target [n] must stay
 * as they are as long as the net lives (a device takes a copy).  Then a step by
 * the numbers of its samples, visit [M][n].  0, or -1 as above.
 */
int gv_net_data(struct gv_net *net, const gv_real *x, const void *target, size_t n);
int gv_net_step_of(struct gv_net *net, const uint32_t *visit, double *loss);

/*
 * The same in two calls, so that a device is not waited for: begin queues the step, losses
 * gives those of the oldest step that was begun and not asked for yet; late: how many
 * these are, at most GV_NET_LATE.  On a device begin does not wait for it, and what fails
 * there may show in a later call; the CPU is through with the step.  Weights, states and
 * steps read in between are those behind all steps that were begun.
 */
enum { GV_NET_LATE = 8 };
int gv_net_step_begin(struct gv_net *net, const uint32_t *visit);
int gv_net_step_losses(struct gv_net *net, double *loss);
size_t gv_net_late(const struct gv_net *net);
/*
 * Ranks of a gang whose devices reach each other without their hosts (backend.h's where,
 * make_id, join, leave): sums go there from join on, and reduce is not called.  Then
 * gradients are summed in buckets beside the way back, and when a rank is gone what waits
 * for the device fails and gv_net_error is NULL; what weights are then is not known.
 */
struct gv_nn_where;
struct gv_nn_join;
int gv_net_where(struct gv_net *net, struct gv_nn_where *w, struct gv_error *e);
int gv_net_make_id(struct gv_net *net, unsigned char *id, struct gv_error *e);
int gv_net_join(struct gv_net *net, const struct gv_nn_join *j, struct gv_error *e);
void gv_net_leave(struct gv_net *net); /* where it has joined, or links */

/*
 * Nets that share a stage, joined in GV_NN_CHAIN: begin the sums of the gradients of rows
 * (without losses), which times > 0 multiplies, and the means over so many ranks of bn's
 * running statistics, of the models that train.  What follows gv_net_rows_added waits for
 * them; the host does not.  0, or -1: gv_net_error, NULL when a rank is gone.
 */
int gv_net_add_rows(struct gv_net *net, size_t first, size_t last, double times);
int gv_net_add_running(struct gv_net *net, size_t ranks);
int gv_net_rows_added(struct gv_net *net);

/*
 * Rows' outputs, or their gradients, from device to device (backend.h's link, send, receive,
 * take, look).  link: both ranks at once, in one order of all links; its number, or -1
 * with *e.  All messages of a link are of these rows.  send: of a slot, behind what was
 * queued.  receive: the next message, once the other rank has said that it is sent;
 * which, or -1.  take: it into a slot.  0, or -1: gv_net_error, NULL when a rank is gone.
 */
struct gv_net_rows {
	const size_t *row;
	size_t n;
	enum gv_net_side { GV_NET_OUTPUT, GV_NET_GRADIENT } side;
};
struct gv_nn_link;
int gv_net_link(struct gv_net *net, const struct gv_net_rows *r, struct gv_nn_link *l,
    struct gv_error *e);
int gv_net_send_rows(
    struct gv_net *net, int link, const struct gv_net_rows *r, size_t slot);
int gv_net_receive(struct gv_net *net, int link);
int gv_net_take_rows(
    struct gv_net *net, int link, int message, const struct gv_net_rows *r, size_t slot);
/* Asks how the device and other ranks are, without waiting.  0 or -1. */
int gv_net_look(struct gv_net *net);

/* Whether steps are worth being begun ahead: they are computed beside the host. */
bool gv_net_is_beside(const struct gv_net *net);

/* Why the last call failed; NULL when it was the reduce. */
const char *gv_net_error(const struct gv_net *net);

/*
 * Evaluates n samples (any number; no batch, no ranks: every rank gives the same
 * bits): bn uses its running statistics.
 *
 *	correct [B] out: how many targets are met (NULL = not wanted): xent, the largest
 *	        logit of the place is at the label; bce, number and logit are on the
 *	        same side of 1/2 and 0; mse, none
 *	loss    [B] out: mean loss over the n samples (NULL = not wanted)
 *	outputs [B][n][outputs] out, what the head reads (NULL = not wanted)
 * target may be NULL when neither correct nor loss is wanted.  What slot 0 held is
 * gone.  0, or -1: gv_net_error.
 */
int gv_net_eval(struct gv_net *net, const gv_real *x, const void *target, size_t n,
    size_t *correct, double *loss, gv_real *outputs);

/*
 * Stops or resumes model b: while it is not active its parameters, state,
 * statistics and steps do not change in a step, and it costs no time.
 */
void gv_net_set_active(struct gv_net *net, size_t b, bool active);
bool gv_net_active(const struct gv_net *net, size_t b);

/* ---- work items: what a pipeline's schedule is made of ---- */

/*
 * Rows [first, last) of the micro-batch in a slot, with a version of the weights.
 * What rows before first have made, and what rows from last on have left as the
 * gradient of these rows' outputs, must be there: made here, or put.
 */
struct gv_net_work {
	size_t first, last;
	size_t slot, version;
	/* forward: bn by its running statistics; nothing goes back from there */
	bool evaluate;
	bool beside; /* gradients: losses of models that do not train stay as they are */
};

/*
 * A part.  With first_row and last_row a net holds these rows' weights, gradients,
 * state and statistics, and in each slot their activations and those of the rows of
 * gv_net_boundary; its bits are those of the same rows in the whole net.  All rows
 * keep their numbers.  It takes part in work items on its rows; losses are NaN
 * where it lacks the head, and gv_net_step and gv_net_eval are for whole nets.
 *
 * With recompute the slots share one set of activations, and a slot of its own has
 * only what crosses the part's ends: what was put, and outputs that later parts
 * read.  Backward begins by making the slot's activations again, with the version
 * that it is given, unless its forward was the last work of all slots.  So forward
 * of a slot's rows must be done at a stretch, as must backward and gradients;
 * otherwise these fail.  Ranks sum bn's statistics once more.  The bits are the
 * same.
 */

/*
 * A micro-batch into a slot: x [n][...], target [n].  They must stay as they are
 * until the slot's gradients are made (a device copies them).  x may be NULL where no
 * row of the net reads the sample, target where it lacks the head.
 */
int gv_net_load(struct gv_net *net, size_t slot, const gv_real *x, const void *target);

/*
 * Says that the micro-batch in a slot is number k of the training, from 0: micro-batch
 * m of update u is u * M + m.  What dropout draws is a function of that, so it is to
 * be said before forward, by every part that has a dropout row; gv_net_step counts by
 * itself.  A slot without a number has that of its last micro-batch, at first 0.
 */
void gv_net_number(struct gv_net *net, size_t slot, uint64_t k);

/* The same of samples of gv_net_data by their numbers, visit [n]. */
int gv_net_load_of(struct gv_net *net, size_t slot, const uint32_t *visit);

/* Each 0, or -1 as gv_net_step; bn rows call reduce. */
int gv_net_forward(struct gv_net *net, const struct gv_net_work *w);
int gv_net_backward(struct gv_net *net, const struct gv_net_work *w);
/*
 * What passes on these rows make of a version of the weights once, and read from then on (on
 * the CPU: weights packed for products): forward makes what is not there yet by itself; made
 * before it, its time is apart from the passes'.
 */
int gv_net_prepare(struct gv_net *net, const struct gv_net_work *w);
/*
 * The gradients of the rows' weights; first: of the first of the M micro-batches of
 * an update, otherwise they are added.  The last row's losses are summed alike, and
 * bn's statistics go into the running ones that the update brings.
 */
int gv_net_gradients(struct gv_net *net, const struct gv_net_work *w, bool first);
/* Sums gradients and losses over the ranks; loss [B] as gv_net_step's. */
int gv_net_sum(struct gv_net *net, double *loss);
/*
 * Of one rank, the losses alone and not waited for: gv_net_step_losses gives them later, and
 * gv_net_late counts them.  To be called before another micro-batch's gradients.
 */
int gv_net_losses_begin(struct gv_net *net);
/*
 * Tied rows: a linear row and the embed whose weight it has (gv_layer.tied) hold a copy
 * each, and both have the sum of both gradients, the embed's first, once these are summed;
 * so the copies stay the same to the last bit.  tie does so where the net holds both, and
 * gv_net_gradient and gv_net_step do by themselves.  For copies in different nets the
 * gradient of a row's weight is read and written as the embed has it, [B][tokens][channels];
 * tie_with adds the other's to that of the row.  All 0, or -1.
 */
int gv_net_tie(struct gv_net *net);
size_t gv_net_tied_size(const struct gv_net *net, size_t row); /* B * weights */
int gv_net_tied_get(struct gv_net *net, size_t row, gv_real *v);
int gv_net_tie_with(struct gv_net *net, size_t row, const gv_real *other);

/*
 * Clips the summed gradients, as torch.nn.utils.clip_grad_value_ and behind it
 * clip_grad_norm_ do: of the models that train and whose coefficients say so, each
 * number to +-clip_value; then, with norm the root of the sum of all squares of a
 * model, each number times clip_norm / (norm + 1e-6) where that is below 1.
 *
 * In two halves, since a net may be a part of a model.  squares: the first clip, and
 * the sum of squares of each row, sq [B][rows of the model], 0 where a row is not of
 * this net; so the parts' tables are added up number by number, and all parts know the
 * same norm to the last bit.  clip: the second, by the sum of each model's rows in
 * their order.  A step of gv_net_step does both.  All is summed in double, within a
 * row over blocks of 4096 numbers and then over these as a tree.  0 or -1.
 */
bool gv_net_clips(const struct gv_net *net);
int gv_net_clip_values(struct gv_net *net); /* the first clip alone */
int gv_net_squares(struct gv_net *net, double *sq);
int gv_net_clip(struct gv_net *net, const double *sq);
/* Version to = version from, one optimiser step on; to may be from.  to is the newest then. */
int gv_net_advance(struct gv_net *net, size_t from, size_t to);
/*
 * The version that is age older than the newest, age < versions: that gv_net_advance
 * made last (age 0), before that one, ...  In a fresh net all versions are the same
 * and version 0 the newest, 1 the oldest, so that to = 1, 2, .. 0, 1, .. takes the
 * oldest each time.
 */
size_t gv_net_version(const struct gv_net *net, size_t age);

/*
 * The rows before row first whose outputs rows from there on read, [*n], in order:
 * what a stage that begins with row first gets from others, and whose gradients
 * it gives back; among them what only later stages read, which it passes on.
 * row has room for all rows.
 */
void gv_net_boundary(const struct gv_net *net, size_t first, size_t *row, size_t *n);
/*
 * The output of a row, or its gradient, in a slot: [B][n][numbers], copied in or out.
 * 0, or -1: gv_net_error, as when the row is not of the net.
 */
size_t gv_net_row_size(const struct gv_net *net, size_t row); /* B * n * numbers */
int gv_net_put_row(
    struct gv_net *net, size_t slot, size_t row, enum gv_net_side, const gv_real *v);
int gv_net_get_row(
    struct gv_net *net, size_t slot, size_t row, enum gv_net_side, gv_real *v);

/*
 * The same without a copy, where the backend's memory is the host's.  row_at: where they are
 * in a slot; NULL: gv_net_error.  place: with places what comes into the part, the outputs
 * of rows before it and the gradients of rows that later ones read, is where its user says,
 * before the pass that reads it, and changes there; it stays until another takes its place.
 */
const gv_real *gv_net_row_at(
    struct gv_net *net, size_t slot, size_t row, enum gv_net_side);
int gv_net_place_row(
    struct gv_net *net, size_t slot, size_t row, enum gv_net_side, gv_real *v);

/*
 * Gradients of rows [first, last) of the net, copied out or in, for whoever sums them
 * over nets: of each model those of the rows in their order, and where the head is among
 * them the sum of its losses behind, [B].  size: numbers.  0, or -1: gv_net_error.
 */
size_t gv_net_gradients_size(const struct gv_net *net, size_t first, size_t last);
int gv_net_gradients_get(struct gv_net *net, size_t first, size_t last, gv_real *v);
int gv_net_gradients_put(struct gv_net *net, size_t first, size_t last, gv_real *v);
/* Where they lie so; NULL: nowhere, or not where the host can reach them. */
gv_real *gv_net_gradients_here(struct gv_net *net, size_t first, size_t last);

/*
 * Passes in pieces, between which others can be served: of each piece one row has gradients.
 * end: of [first, last) the first piece is up to there; begin: the last one from there on.
 */
size_t gv_net_piece_end(const struct gv_net *net, size_t first, size_t last);
size_t gv_net_piece_begin(const struct gv_net *net, size_t first, size_t last);

/*
 * What a micro-batch that was evaluated came to, each [B][n] and copied out: the loss of
 * each sample, and how many of its targets are met.  0, or -1: gv_net_error.
 */
int gv_net_scores(struct gv_net *net, size_t slot, gv_real *loss, gv_real *hit);

/* ---- what a checkpoint holds ---- */

/*
 * Everything that a net carries from step to step: arrays of n numbers a model, by
 * name: "params" (of the newest version), "momentum" (SGD with any momentum) or
 * "adam_m" and "adam_v", "running" (when there is bn), and "params.1", "params.2", ..
 * of the versions of that age: what comes next may depend on them, as the next
 * update of 2BW, whose gradient is of the weights before the newest.  Returns 0, or
 * -1 when there is no array i; n may be 0.
 *
 * Micro-batches on their way and sums of gradients are no part of it: a schedule is
 * saved between updates, when all micro-batches have gone back, and goes on from
 * there as it begins.
 */
struct gv_net_array {
	const char *name;
	size_t n;
};
int gv_net_array(const struct gv_net *net, size_t i, struct gv_net_array *a);
/* Where the array of that name is; SIZE_MAX and *n 0 when there is none. */
size_t gv_net_find_array(const struct gv_net *net, const char *name, size_t *n);

/*
 * Array i of model b, copied out to v [n] or in.  A net whose arrays and steps are
 * those of another goes on as the other would, with gv_net_version's numbers in place
 * of the other's.  0, or -1: gv_net_error.
 */
int gv_net_get(struct gv_net *net, size_t i, size_t b, gv_real *v);
int gv_net_put(struct gv_net *net, size_t i, size_t b, const gv_real *v);

/* Updates that model b has had. */
uint64_t gv_net_steps(const struct gv_net *net, size_t b);
void gv_net_set_steps(struct gv_net *net, size_t b, uint64_t steps);

/* Coefficients of model b; may change between steps (a schedule). */
struct gv_net_coef gv_net_coef(const struct gv_net *net, size_t b);
void gv_net_set_coef(struct gv_net *net, size_t b, const struct gv_net_coef *c);

/*
 * Where a tensor lies in params and gradients (or, when running is true, in
 * running): numbers [offset, offset + n) of each model.  Names are ID.weight
 * and ID.bias (bn, ln: gamma and beta are called so too), ID.mean, ID.variance.
 * Weights are [in][out] and [g][k][k][in / g][out / g]; tconv's [g][k][k][out / g][in / g];
 * lstm's [way][in, then state][i f g o of the state], its bias [way][i f g o]; embed's
 * [tokens][out], its bias [places][out].  0, or -1 when there is no
 * tensor i.
 */
struct gv_net_tensor {
	char name[40];
	size_t row; /* of the model table */
	bool running;
	size_t offset, n;
};
int gv_net_tensor(const struct gv_net *net, size_t i, struct gv_net_tensor *t);

/*
 * Gradients of model b's mean loss of the last batch, v [P], without weight decay.
 * 0 or -1.
 */
int gv_net_get_gradients(struct gv_net *net, size_t b, gv_real *v);

void gv_net_bytes(const struct gv_net *net, struct gv_net_bytes *bytes);

#endif
