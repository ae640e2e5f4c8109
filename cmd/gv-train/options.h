/* The command line of gv-train. */
#ifndef GV_TRAIN_OPTIONS_H
#define GV_TRAIN_OPTIONS_H

#include <stdint.h>

#include "base/opt.h"
#include "data/fit.h"
#include "gv-train/recipe/schedule.h"
#include "nn/device/device.h"
#include "nn/net.h"

/* What carries sums and messages between workers. */
enum transport { TRANSPORT_AUTO, TRANSPORT_TCP, TRANSPORT_NCCL };

struct options {
	struct gv_opt common;

	/* what to do instead of training */
	bool shapes;            /* print the model with shapes */
	const char *export_to;  /* write the data set as a table */
	const char *split_into; /* a directory for the models of a checkpoint */

	const char *join_into;    /* a file for the array of the checkpoints parts */
	const char *const *parts; /* [n_parts] the operands, with --join */
	size_t n_parts;

	const char *model; /* the operand: a model table, or with --split a checkpoint */
	struct gv_data_sets data;
	int64_t steps;                                  /* -1 = not given */
	uint64_t batch, micro_batches, shards, threads; /* shards 0: as gv_net_shards */
	struct gv_nn_device device;                     /* its threads: those above */
	const char *pipeline; /* a schedule's name or file; NULL = none */
	uint64_t chunks;      /* stages of a worker */
	bool vertical_sync;
	enum gv_optimiser optimiser;
	struct gv_net_coef coef;
	struct schedule schedule;
	uint64_t seed, order_seed;
	const char *array;
	const char *init; /* a file of tensors to begin with, NULL = none */
	bool init_partial;
	const char *stages;  /* NULL = not written */
	const char *weights; /* a file for the tensors at the end, NULL = none */

	const char *checkpoint; /* a directory, NULL = none */
	double checkpoint_s;
	int64_t checkpoint_steps; /* 0 = by time only */
	const char *record;
	int64_t log_every;
	int64_t test_every; /* 0 = at the end only */
	double timeout_s;
	enum transport transport;
	const char *trees; /* that gradients are summed over; NULL = the gang's own way */
};

/* Names as options and checkpoints spell them. */
extern const char *const optimiser_names[];

/* Fills *o from the command line and the environment; ends the process on a usage error. */
void options_parse(struct options *o, int argc, char **argv);

#endif
