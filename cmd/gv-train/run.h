/* One training run: everything it holds, and its way from step to step. */
#ifndef GV_TRAIN_RUN_H
#define GV_TRAIN_RUN_H

#include "array.h"
#include "data/data.h"
#include "coll/coll.h"
#include "net/gang.h"
#include "nn/ckpt.h"
#include "nn/model.h"
#include "nn/net.h"
#include "options.h"
#include "progress.h"
#include "record.h"

struct run {
	const struct options *o;
	struct gv_model model;
	struct array array;
	struct gv_data data, test; /* test.n 0 = none */
	/* the orders of samples that models have, and which of them each has, [B] */
	struct gv_data_order *order;
	size_t orders, *order_of;

	struct gv_gang_spec place; /* rank, world, ... */
	struct gv_gang *gang;
	struct gv_trees trees; /* n 0 = sums are the gang's own */
	struct gv_coll *coll;
	unsigned agreed; /* flags that all ranks saw in this step */
	bool joined; /* GPUs sum without their hosts: flags are those of a step before */
	bool saying; /* flags are on their way */
	struct gv_sum said;
	struct gv_error gang_error;

	struct gv_net *net;            /* NULL in a pipeline */
	struct run_pipeline *pipeline; /* NULL without a schedule */
	unsigned wish;                 /* flags that this worker wants all to hear */
	bool *diverged;                /* [B] */
	double *loss;                  /* [B] of the last step whose losses are known */
	struct run_losses *losses;     /* those that are to come */
	uint64_t step;                 /* done, of the longest model */
	uint64_t last;                 /* to do */

	size_t first, rows; /* of a micro-batch that are this rank's */
	uint32_t *visit;    /* [micro-batches][rows] samples of the batch */

	struct gv_strbuf config; /* what a checkpoint must agree with */
	char **line;             /* [B] that of each model */
	char *ckpt_path;         /* NULL = no checkpoints */
	char *old_path;          /* of the one before it */
	char *set_path;          /* of a pipeline's, in the same directory */
	char *record_path;       /* NULL = none */
	int lock;                /* the checkpoint directory, -1 = none */
	double saved_s;          /* gv_clock_s of the last checkpoint */
	uint64_t saved_step; /* of the checkpoint on disk, UINT64_MAX = none or damaged */
	uint64_t told_step;  /* of the last checkpoint reported, UINT64_MAX = none */
	double told_s;       /* of the last report of progress */
	struct progress progress;
	struct record record;
	struct gv_out *out; /* of rank 0 */
};

/* Reads model, data and array, and shapes the model: all that --shapes needs.  0 or -1. */
int run_read(struct run *r, struct gv_error *e);

/*
 * Builds the net, goes back to the last checkpoint, meets the other ranks, opens
 * the outputs.  0, -1 with *e set, or GV_EXIT_TEMPFAIL when another process
 * uses the checkpoint directory (*e set too).
 */
int run_open(struct run *r, struct gv_error *e);

/*
 * What a checkpoint must agree with, into r->config and r->line; what all ranks must
 * share, the computation and where it starts.
 */
void run_describe(struct run *r);
uint32_t run_gang_key(const struct run *r);
/* Goes back to the last checkpoint, if there is one: 0, -1 or GV_EXIT_TEMPFAIL, as run_open. */
int run_checkpoint_open(struct run *r, struct gv_error *e);
/* DIR/NAME, to be freed. */
char *run_path(const char *dir, const char *name);

/*
 * --trees.  Reads them: 0, or -1 with *e, also where they are of another collective
 * or of another number of workers.  key: what ranks must share, with them.  start: once
 * the gang has met.  sum: makes v its sum over all, in the order of the trees; 0, or -1
 * with r->gang_error.
 */
int run_trees_read(struct run *r, struct gv_error *e);
uint32_t run_trees_key(const struct run *r, uint32_t key);
void run_trees_start(struct run *r);
int run_trees_sum(struct run *r, gv_real *v, size_t n);

/*
 * --transport: once the gang has met, whether its GPUs reach each other (NCCL), which all
 * find out alike.  0, or -1 with *e: they must and do not.  say: begins to say this
 * step's flags and hears those of the step before; hush: hears the last.  0, or -1 with
 * r->gang_error.
 */
int run_ranks_start(struct run *r, struct gv_error *e);
int run_ranks_say(struct run *r);
int run_ranks_hush(struct run *r);
void run_ranks_end(struct run *r);

/*
 * --init and --weights: the models' parameters from files, before anything is restored;
 * into files (by rank 0).  0, or -1 with *e set.
 */
int run_weights_take(struct run *r, struct gv_error *e);
int run_weights_write(struct run *r, struct gv_error *e);
/* Its file: --weights, or of an array with the model's number before its suffix; to be freed. */
char *run_weights_path(const struct run *r, size_t b);

/*
 * Losses come later than their steps where a device computes, so that nobody waits for it.
 * add: a step of the models that are active was begun.  take: looks at the losses that
 * are due, of all steps where all is said, or a test is due: finds who has diverged, adds
 * rows, tests.  0, or -1 with *e set.
 */
void run_losses_add(struct run *r);
int run_losses_take(struct run *r, bool all, struct gv_error *e);
void run_losses_say(const struct run *r); /* -v: why the device is waited for, if it is */
void run_losses_free(struct run *r);

/* The orders of samples that the models ask for. */
void run_orders_make(struct run *r);

/* Fills *e with why what followed a step failed.  -1. */
int run_step_failed(const struct run *r, uint64_t step, struct gv_error *e);

/*
 * Trains until all steps are done or a signal asks to stop.  Returns an exit
 * status: 0 done, 1 every model diverged, 128+n stopped by signal n (and
 * saved), or -1 with *e set.
 */
int run_train(struct run *r, struct gv_error *e);

/*
 * The same with a schedule, as a worker of a pipeline (run_open calls build): 0, or -1
 * with *e set; an exit status, as run_train.
 */
int run_pipeline_build(struct run *r, struct gv_error *e);
int run_pipeline_train(struct run *r, struct gv_error *e);
/* From the slices of a pipeline's checkpoint, or what another run has saved.  0 or -1. */
int run_slices_restore(struct run *r, struct gv_error *e);
bool run_slices_there(const struct run *r);  /* whether there are any */
void run_slices_forget(const struct run *r); /* there is a newer file of the whole */
void run_pipeline_close(struct run *r);

void run_close(struct run *r); /* frees; also of a zeroed one */

/*
 * Whether so many parameters of each model, and their gradients, go into this machine's
 * memory at all, where the CPU computes: 0, or -1 with *e set.
 */
int run_memory_check(const struct run *r, size_t parameters, struct gv_error *e);

/* What computes, as the options say.  NULL with *e set. */
struct gv_nn_backend *run_device(const struct run *r, struct gv_error *e);

/* What the ranks tell each other in every step. */
enum { FLAG_STOP = 1, FLAG_INTERRUPT = 2, FLAG_SAVE = 4, FLAG_END = 8 };

/* The flags of the signals that came so far; SIGUSR1 is forgotten. */
unsigned run_flags(void);
void run_forget_save(void);

/* Reports progress: a kind and its step. */
void run_tell(struct run *r, const char *kind, uint64_t step);
/* Now and then: that of the present step, and what is to be seen of the record.  0 or -1. */
int run_tell_now_and_then(struct run *r, double now, struct gv_error *e);

/*
 * Catches SIGUSR1 (save), at the start; SIGTERM and SIGINT (stop) only once
 * run_open is through: before, there is nothing to save, and dying is right.
 */
void run_catch_save(void);
void run_catch_stop(void);

#endif
