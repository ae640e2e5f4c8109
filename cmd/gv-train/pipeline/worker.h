/*
 * A worker of a pipeline: it holds the weights of its stages and does the steps of its
 * course, each as soon as what it needs has come.
 *
 * A unit is what all workers have gone through together: behind one, every stage has had
 * the updates of the same steps, and can be saved, tested or left.  What is on its way
 * then, of steps to come, is not saved: whoever begins there does these passes again, and
 * they have the same bits, since the versions of the weights that they read are saved.
 */
#ifndef GV_TRAIN_WORKER_H
#define GV_TRAIN_WORKER_H

#include "nn/net.h"
#include "post.h"
#include "route.h"

struct worker_spec {
	const struct gv_model *model;
	const struct stages *stages;
	const struct route *route;
	size_t rank;
	struct gv_net_config net; /* of every stage; batch: of a micro-batch */
	bool tests;               /* worker_test will be called */
	/* passes are of the calling thread alone, and timed by what it computes */
	bool own_clock;
	const gv_real *x; /* the data set, [samples] */
	const void *target;
	size_t samples;

	void *ctx;
	/* orders of the samples, and which of them each model has, [net.models] */
	size_t orders;
	const size_t *order_of;
	/* the samples of a micro-batch in one of the orders, [net.batch] */
	void (*visit)(void *ctx, size_t order, uint64_t micro_batch, uint32_t *sample);
	const uint64_t *steps; /* [net.models] that each trains; multiples of units */
	/* the learning rate of a model in the update of a step, from 0 */
	double (*rate)(void *ctx, size_t model, uint64_t step);
	/* what computes a stage; NULL with *e set */
	struct gv_nn_backend *(*device)(void *ctx, struct gv_error *e);
	/* what this worker has to say to all: bits, or-ed over them */
	unsigned (*flags)(void *ctx);
};

struct worker;

/* 0, or -1 with *e set. */
int worker_new(struct worker **w, const struct worker_spec *spec, struct gv_error *e);
void worker_free(struct worker *w); /* once the gang is left */

/* Its stages: how many, and the net and the number of the i-th. */
size_t worker_stages(const struct worker *w);
struct gv_net *worker_net(const struct worker *w, size_t i, size_t *stage);
/* Whether it is the one that saves its stages: the first of the replicas. */
bool worker_saves(const struct worker *w);
/* The rank that saves a stage, that of replica 0. */
size_t worker_rank(const struct worker *w, size_t stage);

/*
 * What crosses the ends of stages goes from device to device (gv_net_where said that it
 * can): all workers at once, before worker_begin.  silence_s: how long anything may take.
 * 0, or -1 with *e.  leave: it does no more; the gang is there still.
 */
int worker_link(
    struct worker *w, struct gv_gang *gang, double silence_s, struct gv_error *e);
void worker_leave(struct worker *w);
/*
 * Something of its nets has failed, as *e says: where that is because a rank is gone, *e says
 * which.  -1.
 */
int worker_failed(struct worker *w, struct gv_error *e);

/* Before the first unit: the gang has met; all nets are as behind that step. */
void worker_begin(struct worker *w, struct gv_gang *gang, uint64_t step);

/*
 * Goes on to the end of the next unit.  *flags are those that all workers agree on: what
 * they said as they began the unit before the one that has ended.  0, or -1 with *e.
 */
int worker_go(struct worker *w, unsigned *flags, struct gv_error *e);
/* Steps done, at the end of a unit. */
uint64_t worker_step(const struct worker *w);
/*
 * Steps whose losses may come later, so that nobody waits for a device: all workers say the
 * same.  losses: all workers, at the end of a unit, let those of all steps done be had.
 * 0, or -1 with *e.
 */
size_t worker_late(const struct worker *w);
int worker_losses(struct worker *w, struct gv_error *e);

/*
 * Rank 0: the mean losses of a step, [models], once each, in order, of all but the newest
 * worker_late steps, or behind worker_losses.  0, or -1 with *e.
 */
int worker_loss(struct worker *w, uint64_t step, double *loss, struct gv_error *e);

/*
 * Behind a unit, all workers at the same one: evaluates samples with the newest weights.
 * Rank 0: correct and loss [models], as gv_net_eval.  0, or -1 with *e.
 */
int worker_test(struct worker *w, const gv_real *x, const void *target, size_t n,
    size_t *correct, double *loss, struct gv_error *e);

/* All workers wait for each other; what any says is said by all.  0, or -1 with *e. */
int worker_meet(struct worker *w, unsigned *flags, struct gv_error *e);

/*
 * Waits, behind worker_go, until all workers have come to the end of the unit, and goes on
 * with what others need for that.  Before anything that workers do together between
 * units: without it one that still sums beside passes of the next unit would wait for
 * outputs of those that wait for it.  0, or -1 with *e.
 */
int worker_rest(struct worker *w, struct gv_error *e);

/* Its messages, for what is sent beside them. */
struct post *worker_post(struct worker *w);

/* What it has spent its time on, and holds. */
struct worker_times {
	/* computing; of passes the middle one's time, as often as there were any */
	double forward_s, backward_s, update_s;
	double passes_s; /* of all passes, as they were */
	/* in its passes for what is not theirs: samples, messages, others on its core */
	double other_s;
	double send_s;   /* handing over what it sends */
	double waited_s; /* for others, in its steps */
	double all_s;
	/* all of these, of those behind the first step, if there are more, are the times */
	uint64_t micro_batches, timed;
	struct gv_net_bytes bytes;
	/* as gv-partition counts: held, and by the profile; 0: it does not tell */
	double held, planned;
	size_t slots, versions;
	size_t buckets; /* that its gradients were summed in, of an update */
};
struct worker_times worker_times(const struct worker *w, size_t i);

#endif
