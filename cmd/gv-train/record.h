/*
 * The rows of losses: step, model, loss, test_loss, accuracy.
 *
 * They go to the program's output as they come, and to a record: a file whose
 * bytes, when the run ends, do not depend on how often it was interrupted.  The
 * record is on disk before the checkpoint of the same step; going on from a
 * checkpoint first cuts off the rows behind it.
 */
#ifndef GV_TRAIN_RECORD_H
#define GV_TRAIN_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fileio.h"
#include "base/strbuf.h"

struct record {
	struct gv_out *out; /* NULL = no rows are wanted there */
	bool tsv;           /* of out; the record is CSV */
	const char *path;   /* NULL = no record */
	int fd;
	struct gv_strbuf pending; /* rows not yet in the record */
	bool mixed;               /* its rows may not be in order of their steps */
};

struct row {
	uint64_t step;
	size_t model;
	double loss;      /* NaN = empty */
	double test_loss; /* NaN = not tested */
	double accuracy;
};

/* What a model has done before: rows behind it are not true. */
struct record_past {
	uint64_t steps;
	uint64_t last_row; /* the last step, up to there, that wrote a row */
};

/*
 * Writes the header to out and opens the record at path (NULL = none; own: one that is
 * made is its owner's alone), keeping its rows of steps that past [models] has.
 * *short_of tells that rows that should be there are not: a model's last kept row is of
 * a step before its last_row.  0, or -1 with *e set: path cannot be written, or holds
 * something else.
 *
 * Models that had gone further than others when an array was joined have rows of steps
 * that others have still to make; when it is closed, the record is put in order.
 */
int record_open(struct record *r, struct gv_out *out, bool tsv, const char *path,
    bool own, const struct record_past *past, size_t models, bool *short_of,
    struct gv_error *e);

void record_add(struct record *r, const struct row *row);

/* Hands pending rows to the files; durable: and to the disk.  0 or -1. */
int record_flush(struct record *r, bool durable, struct gv_error *e);

/* Flushes and closes the record; out stays open.  0 or -1.  Also of a zeroed one. */
int record_close(struct record *r, struct gv_error *e);

#endif
