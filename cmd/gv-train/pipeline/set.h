/*
 * The checkpoint of a pipeline: a slice for each stage, and a small file that names those
 * of one step, which is replaced when all of them are on the disk.
 *
 *	gvset 1
 *	step 40
 *	slice 0 4 gv-train.40.0.ckpt        rows [0, 4) of the model
 *	slice 4 7 gv-train.40.1.ckpt
 *	end 2c0b1a77                        crc32 of the lines before
 *
 * Whatever is killed at whatever time: the set is whole, and the slices of others are
 * left-overs.
 */
#ifndef GV_TRAIN_SET_H
#define GV_TRAIN_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "nn/ckpt_slices.h"

/* = {0} is empty. */
struct set {
	uint64_t step;
	size_t n;
	struct gv_ckpt_slice *slice; /* [n], paths and lines of its own */
};

/* The name of the file; those of slices begin with SET_SLICE. */
#define SET_FILE  "gv-train.set"
#define SET_SLICE "gv-train."

/* Adds a slice of rows, whose file is to be, or is, in the directory. */
void set_add(struct set *s, const char *dir, size_t first, size_t last);
void set_free(struct set *s);

/* Reads the set of a directory: 1, 0 there is none, or -1 with *e set. */
int set_read(struct set *s, const char *dir, struct gv_error *e);
/* Whether a file begins as one. */
bool set_is(const char *path);
/* Reads one by the path of its file.  The same. */
int set_load(struct set *s, const char *path, struct gv_error *e);
/* Makes it the directory's.  0, or -1 with *e set. */
int set_write(const struct set *s, const char *dir, struct gv_error *e);

/*
 * Removes the slices that are not of the set, those of steps before its own or (all) of
 * any, with what a process that was killed has left.
 */
void set_sweep(const struct set *s, const char *dir, bool all);

#endif
