/* Inside a worker.  Private to pipeline/worker*.c. */
#ifndef GV_TRAIN_WORKER_PRIVATE_H
#define GV_TRAIN_WORKER_PRIVATE_H

#include "clip.h"
#include "links.h"
#include "tie.h"

enum { WORKER_AHEAD = 4 }; /* parcels asked for ahead of their steps */

struct worker {
	struct worker_spec s;
	struct chunk *chunk;
	size_t chunks;
	struct post post;

	uint64_t k, length; /* steps of the course: the next one, all */
	uint64_t begun;     /* micro-batches before it were done when the worker began */
	uint64_t units;     /* ended, from the very beginning */

	struct parcel *asked[WORKER_AHEAD]; /* in the order of the steps that need them */
	size_t first_asked, n_asked;
	uint64_t ahead; /* the first step that was not looked at for it */

	struct gv_sum *agreed; /* [room] of a unit, by its number */
	size_t room;
	uint64_t sums, first_sum; /* begun up to unit sums, from first_sum on */
	uint32_t *visit;
	double began_s, behind_first_s; /* the first unit */
	struct clip clip;
	struct links links;
	uint64_t late[GV_NET_LATE]; /* steps whose losses the device has not given yet, */
	size_t n_late;              /* of the last stage, the oldest first */
	bool rests;  /* in worker_rest: no sum begins, which others may never join */
	bool broken; /* something has failed */
	bool clips;  /* by the norm over all stages */
};

struct chunk *worker_chunk(const struct worker *w, size_t stage);

/* Behind the first unit, in which all memory is touched for the first time. */
void worker_times_begin(struct worker *w);

/* The rank that has a micro-batch in a stage. */
size_t worker_rank_of(const struct worker *w, size_t stage, uint64_t micro_batch);

/* What crosses an end of a stage, on its way to a rank.  0, or -1: gv_net_error. */
int worker_send_rows(struct worker *w, struct chunk *c, const struct crossing *x,
    size_t slot, enum gv_net_side side, size_t to, struct gv_tag tag);

/* The last stage: losses of steps before that one, which may be waited for, to rank 0. */
int worker_send_losses(struct worker *w, uint64_t before, struct gv_error *e);

/*
 * Calls a pass of a micro-batch, in a slot of a stage, whose models see the samples in one
 * order: once; or where the stage looks at samples, and models see them in several orders,
 * for those of each order while the others stand still (chunk.beside: behind the first).
 * load: the samples are not in the slot yet.  0, or -1: gv_net_error, or the pass's -1.
 */
int worker_pass(struct worker *w, struct chunk *c, const struct gv_course_step *s,
    size_t slot, bool load,
    int (*pass)(struct chunk *c, const struct gv_course_step *s, size_t slot));
/* Whether it is called for each order. */
bool worker_passes_apart(const struct worker_spec *s, const struct chunk *c);

/* Asks for parcels of the steps to come. */
void worker_ask_ahead(struct worker *w);
/* 0, or -1 with *e, as what follows. */
int worker_step_do(struct worker *w, struct chunk *c, const struct gv_course_step *s,
    struct gv_error *e);
/* Step k of the course, and to the one behind it. */
int worker_next(struct worker *w, struct gv_error *e);
/* Whether step s waits for what has not come: then worker_next would. */
bool worker_has_come(struct worker *w, const struct gv_course_step *s);
/*
 * An update of a stage, whose gradients are made.  Where it is clipped by the norm of all,
 * it waits (chunk.waits) for the other stages: settle, before anything else of the stage,
 * waits until they are there, and does all updates of this worker that wait.
 */
int worker_update(struct worker *w, struct chunk *c, struct gv_error *e);
int worker_settle(struct worker *w, struct gv_error *e);

/* Fills *e with why a step failed: its net, or the gang.  -1. */
int worker_net_failed(const struct chunk *c, struct gv_error *e);
int worker_lost(struct worker *w, struct gv_error *e);

#endif
