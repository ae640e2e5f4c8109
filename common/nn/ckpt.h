/*
 * Checkpoints: all that a net carries from step to step, in one file that is
 * replaced whole.
 *
 *	gvckpt 1
 *	dtype f32
 *	models 2
 *	batch 64                              lines of the caller that must be
 *	...                                   the same when the file is read
 *	model seed=1 lr=0.1 momentum=0.9      model 0: the caller's line
 *	state steps=1200 params=188234 momentum=188234
 *	model ...                             model 1
 *	state ...
 *	(an empty line)
 *	the arrays of model 0, then of model 1, ...: raw, little-endian
 *	crc32 of everything before, 4 bytes, little-endian
 *
 * The state line names what follows and how many numbers each is.  A net with
 * several versions of its weights has them all here (params.1 is the one before the
 * newest), since updates to come may begin at an older one; net.h says when a
 * schedule is saved.  A part of a net writes its own file: its range of rows
 * belongs into the caller's lines.
 *
 * "head FILE" shows what it is.  Models follow each other, so one model's file
 * is its two lines and its bytes: a fused run's checkpoint splits into files
 * that are byte for byte those of the serial runs.  The velocity of a model
 * whose momentum is 0 is not stored: nothing depends on it.
 *
 * Not compressed: parameters hardly shrink (7 % by gzip -1, at a fiftieth of
 * the speed), and a job that must leave is waited for.  A .gz is read as well.
 */
#ifndef GV_NN_CKPT_H
#define GV_NN_CKPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "nn/net.h"

/* What the checkpoint belongs to; strings hold no empty line. */
struct gv_ckpt_key {
	const char *config;       /* lines, each with its line feed */
	size_t models;            /* B */
	const char *const *model; /* [B] one line each, without line feed */
};

/*
 * Writes the state of net to path, atomically and durably; what was there
 * before stays under the name PATH.old, if it is whole (it is read for that).  diverged [B] marks models that were
 * stopped for a loss that is no number.  0, or -1 with *e set.
 */
int gv_ckpt_write(const char *path, struct gv_net *net, const struct gv_ckpt_key *key,
    const bool *diverged, struct gv_error *e);

enum gv_ckpt_result {
	GV_CKPT_ERROR = -1, /* *e says what: damaged, or of another run */
	GV_CKPT_NONE = 0,   /* there is no such file */
	GV_CKPT_READ = 1    /* net and diverged are as they were when it was written */
};

/*
 * Restores net and diverged [B] from path.  Nothing of net is touched unless
 * the file is whole and belongs to the key.  *damaged tells a file that is cut
 * or corrupt (another one may help) from one of another run.
 */
enum gv_ckpt_result gv_ckpt_read(const char *path, struct gv_net *net,
    const struct gv_ckpt_key *key, bool *diverged, bool *damaged, struct gv_error *e);

/* How many models the checkpoint holds.  0, or -1 with *e set. */
int gv_ckpt_models(const char *path, size_t *models, struct gv_error *e);

/* Writes the checkpoint of model b alone, the file that its serial run writes.  0 or -1. */
int gv_ckpt_split(const char *path, size_t b, const char *out, struct gv_error *e);

/*
 * Writes to out, atomically, the checkpoint of the array whose models are those of the n
 * files, one file after the other: what gv_ckpt_split has parted.  All must be of one
 * run but for their models, whose steps may differ.  0, or -1 with *e set.
 */
int gv_ckpt_join(const char *const *path, size_t n, const char *out, struct gv_error *e);

#endif
