/* One stage of a worker: its net, its micro-batches on their way, what crosses its ends. */
#ifndef GV_TRAIN_CHUNK_H
#define GV_TRAIN_CHUNK_H

#include "laps.h"
#include "reduce.h"
#include "worker.h"

/* Rows whose outputs cross a cut, and their numbers. */
struct crossing {
	size_t *row, n;
	size_t numbers;
};

enum { BUCKETS_MOST = 64 };

/* Rows whose gradients are summed at once, in parts: one comes back while the next goes. */
struct bucket {
	size_t first, last; /* rows */
	gv_real *v;         /* [n] */
	bool here;          /* they are the net's */
	size_t n;
	struct reduce *part; /* [parts] */
	size_t parts;
};

struct chunk {
	size_t stage;
	const struct stage *at;
	struct gv_net *net;
	bool is_last, reads_sample;
	bool sums;   /* the present backward pass begins its sums */
	bool beside; /* other models have gone through the present pass */
	bool split;  /* weights' gradients of the present one are a pass of their own */
	/* as planned; not where those passes are put off, which need what would be gone */
	bool recompute;
	bool moves; /* messages are moved on between rows */
	struct crossing in, out;

	size_t slots, versions;
	/* the device's memory is the host's: what comes stays where it came to, */
	bool direct;
	struct parcel **came[2]; /* [slots] by gv_net_side, and goes from where it is */
	uint64_t *held;          /* [slots] the micro-batch there, UINT64_MAX = none */
	uint64_t newest;         /* version: updates that it has had */
	size_t added;            /* micro-batches in the gradients so far */
	bool waits;              /* its next update, for the gradients of other stages: */
	bool ties;               /* those of rows that have a weight of its rows */
	struct parcel *
	    *tied; /* [rows] asked for, in the order of the rows; NULL: none yet */

	struct group group;
	bool joined;                        /* the replicas' devices sum by themselves */
	struct bucket bucket[BUCKETS_MOST]; /* being summed */
	size_t buckets;
	gv_real *
	    room; /* of all gradients that are neither joined nor summed where they lie */
	double *loss; /* [models] of this replica, and whether they are there */
	bool has_loss;
	double scale; /* of the sum */
	size_t models;

	struct worker_times times;
	struct worker_times first; /* of these, of the first unit */
	bool own_clock;            /* passes by the clock of the thread that computes */
	/* behind the first unit, if there are more */
	struct passes forward, backward, weights;
	double waited_s; /* the post's when the last one ended */
};

/* 0, or -1 with *e set. */
int chunk_open(
    struct chunk *c, const struct worker_spec *spec, size_t stage, struct gv_error *e);
void chunk_close(struct chunk *c);

/* The slot of a micro-batch; SIZE_MAX: it has none.  take: a free one. */
size_t chunk_slot(const struct chunk *c, uint64_t micro_batch);
size_t chunk_take(struct chunk *c, uint64_t micro_batch);
void chunk_drop(struct chunk *c, size_t slot);

/* The number of the net's version that has had so many updates. */
size_t chunk_version(const struct chunk *c, uint64_t updates);

/*
 * What crosses an end: a parcel that came, into a slot; to a rank.  Behind a pass whose
 * outputs, or gradients, are in a slot's place of others that may be on their way: settle.
 * 0, or -1: gv_net_error.
 */
void chunk_settle(struct chunk *c, size_t slot, enum gv_net_side side);
int chunk_put(struct chunk *c, const struct crossing *x, size_t slot,
    enum gv_net_side side, struct parcel *p);
int chunk_send(struct chunk *c, const struct crossing *x, size_t slot,
    enum gv_net_side side, size_t to, struct gv_tag tag);

/* 0, or -1: gv_net_error. */
int chunk_forward(struct chunk *c, size_t slot, size_t version);
/*
 * Backward and gradients of a slot; sums: those of the replicas begin as soon as they are
 * made, in buckets.  0, or -1: gv_net_error.
 */
int chunk_backward(struct chunk *c, size_t slot, size_t version, bool sums);
/* The gradients of the weights of a slot, where they are a pass of their own.  As above. */
int chunk_weights(struct chunk *c, size_t slot, size_t version);
/*
 * Begins the sums of the gradients of rows [first, last).  0, or -1.  bucket_begin: the first
 * row of those that are summed at once with row last - 1, the last of them.
 */
int chunk_begin_sum(struct chunk *c, size_t first, size_t last);
size_t chunk_bucket_begin(const struct chunk *c, size_t last);
/* The losses of the gradients that are made, of this replica alone.  0, or -1. */
int chunk_losses(struct chunk *c, double *loss);
/* Begins the sums of all gradients.  0, or -1. */
int chunk_reduce(struct chunk *c);
/* Moves the sums on, without waiting. */
void chunk_move(struct chunk *c);
/*
 * One update, in two halves.  sum: the gradients are those of all replicas, with the sums
 * that were begun.  update: the weights by them; square: clipped by the norm that
 * gv_net_clip makes of these, NULL: by none.  0, or -1: gv_net_error, or *lost and the
 * post's error.
 */
int chunk_sum(struct chunk *c, bool *lost);
int chunk_update(struct chunk *c, const double *square, bool *lost);

#endif
