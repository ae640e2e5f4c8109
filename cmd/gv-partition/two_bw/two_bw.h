/*
 * PipeDream-2BW's planner: w equal pipelines of d stages side by side.
 *
 * It looks at every width w, depth d, micro-batch b, with and without pipelining and
 * recomputation, and keeps what fits.  Everything is counted in minibatches of the
 * profile: b is how many of them pass at once, B how many an update of the weights may
 * be made of.  For stage i, with T its time and F the forward part of it, W its
 * weights, A its activations and I, O the bytes that it receives and sends:
 *
 *   compute   C = b T / speed(b), with recomputation b (T + F) / speed(b)
 *   transfer  X = 2 b (I + O) / bandwidth, where d > 1
 *   sync      S = 2 (w - 1) / w W / bandwidth, once for m micro-batches
 *   micro-batch   serial: the sum of max(C + X, S / m), pipelined: the largest
 *   memory    serial: W + b A; pipelined: 2 W + d b (A + I); with recomputation:
 *             2 W + b A + d b I; and (1 + state) W for gradients and optimiser
 *   throughput    w b / the time of a micro-batch
 *
 * m is g d with g = floor(B / (w d b)) pipelined, floor(B / (w b)) serial.
 *
 * Source: Narayanan et al., ICML 2021, section 4 and appendix A.  Differs: a stage
 * counts by itself instead of as a d-th of the model; the forward pass that is done
 * again takes its measured time instead of a third of the whole; the throughput is
 * that of all w pipelines; w GPUs that fill a server exactly are inside it.
 */
#ifndef GV_PARTITION_TWO_BW_H
#define GV_PARTITION_TWO_BW_H

#include <stdbool.h>
#include <stddef.h>

#include "gv-partition/graph/ideals.h"

/* ---- stages ---- */

struct two_bw_cuts {
	size_t deepest;
	size_t **at; /* [deepest + 1] [d + 1]: the prefixes between which d stages are */
};

/*
 * For each depth up to most the cut into stages of which the slowest is fastest, of
 * these one with the least bytes across all cuts; no stage is empty.  The deepest is
 * what the prefixes allow.
 * Cost: half the square of most times the pairs of prefixes.  progress: is told how
 * many passes over the pairs are done; or NULL.
 */
void two_bw_cuts_make(struct two_bw_cuts *c, const struct ideals *s, size_t most,
    void (*progress)(size_t done, size_t of));
void two_bw_cuts_free(struct two_bw_cuts *c); /* also of a zeroed one */

/* ---- configurations ---- */

struct two_bw_speeds {
	size_t n;
	size_t *b;     /* [n] ascending: those that are tried */
	double *speed; /* [n] minibatches a second over those for b = 1 */
};

/* Powers of 2 up to most, all at the same speed. */
void two_bw_speeds_even(struct two_bw_speeds *v, size_t most);
void two_bw_speeds_free(struct two_bw_speeds *v);

enum two_bw_recompute { TWO_BW_NONE, TWO_BW_FULL, TWO_BW_EITHER };

struct two_bw_machine {
	size_t gpus;
	size_t server;             /* GPUs that talk fast */
	double fast, slow;         /* bytes per second */
	double fast_sum, slow_sum; /* while replicas sum their gradients */
	double memory;             /* bytes; 0 = no limit */
	double state;              /* bytes of optimiser state for each byte of weights */
	size_t batch;              /* B */
	enum two_bw_recompute recompute;
};

struct two_bw_row {
	size_t w, d, b;
	size_t g; /* rounds of d micro-batches in a batch; serial: micro-batches */
	bool pipelined;
	bool recompute;
	double micro_s; /* time of a micro-batch */
	double minibatches_per_s;
	double memory;                        /* bytes of the fullest GPU */
	double compute_s, transfer_s, sync_s; /* of the slowest stage; serial: of all */
};

struct two_bw_rows {
	size_t n, cap;
	struct two_bw_row *row; /* [n] best first */
	size_t tried;
	struct two_bw_row least; /* if tried: the one with the least memory */
};

/*
 * Pipelined is what has more than one stage; all of it that fits.  The best first:
 * the most throughput; then the smaller depth; then without recomputation; then less
 * memory; then the smaller width and b.
 */
void two_bw_search(struct two_bw_rows *r, const struct ideals *s,
    const struct two_bw_cuts *c, const struct two_bw_machine *m,
    const struct two_bw_speeds *v);
void two_bw_rows_free(struct two_bw_rows *r);

#endif
