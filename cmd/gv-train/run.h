/* One training run: everything it holds, and its way from step to step. */
#ifndef GV_TRAIN_RUN_H
#define GV_TRAIN_RUN_H

#include "array.h"
#include "gv-train/data/data.h"
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
	struct data data, test; /* test.n 0 = none */
	struct data_order order;

	struct gv_gang_spec place; /* rank, world, ... */
	struct gv_gang *gang;
	struct gv_trees trees; /* n 0 = sums are the gang's own */
	struct gv_coll *coll;
	unsigned agreed; /* flags that all ranks saw in this step */
	struct gv_error gang_error;

	struct gv_net *net;
	bool *diverged; /* [B] */
	double *loss;   /* [B] of the last step */
	uint64_t step;  /* done, of the longest model */
	uint64_t last;  /* to do */

	size_t first, rows; /* of a micro-batch that are this rank's */
	uint32_t *visit;    /* [micro-batches][rows] samples of the batch */

	struct gv_strbuf config; /* what a checkpoint must agree with */
	char **line;             /* [B] that of each model */
	char *ckpt_path;         /* NULL = no checkpoints */
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
 * --init and --weights: the models' parameters from files, before anything is restored;
 * into files (by rank 0).  0, or -1 with *e set.
 */
int run_weights_take(struct run *r, struct gv_error *e);
int run_weights_write(struct run *r, struct gv_error *e);

/*
 * Trains until all steps are done or a signal asks to stop.  Returns an exit
 * status: 0 done, 1 every model diverged, 128+n stopped by signal n (and
 * saved), or -1 with *e set.
 */
int run_train(struct run *r, struct gv_error *e);

void run_close(struct run *r); /* frees; also of a zeroed one */

/* What the ranks tell each other in every step. */
enum { FLAG_STOP = 1, FLAG_INTERRUPT = 2, FLAG_SAVE = 4 };

/* The flags of the signals that came so far. */
unsigned run_flags(void);

/*
 * Catches SIGUSR1 (save), at the start; SIGTERM and SIGINT (stop) only once
 * run_open is through: before, there is nothing to save, and dying is right.
 */
void run_catch_save(void);
void run_catch_stop(void);

#endif
