/*
 * A checkpoint in slices: each file holds the rows of a part of the model, as
 * gv_ckpt_write writes the net that has them.  Nets of any other parts can be filled from
 * them, and they can be joined into the one file of the whole model.
 */
#ifndef GV_NN_CKPT_SLICES_H
#define GV_NN_CKPT_SLICES_H

#include "nn/ckpt.h"

struct gv_ckpt_slice {
	const char *path;
	size_t first, last; /* rows [first, last) of the model */
	/* a line, with its line feed, that its file has behind the key's lines; NULL = none */
	const char *own;
};

/*
 * Fills net, which has rows [first, last) of m, and diverged [B], from n slices whose
 * rows follow each other from 0 to the model's end.  A version of the weights that is
 * nowhere is that of the newest.  0, or -1 with *e set; then net may hold a part of it.
 */
int gv_ckpt_read_slices(const struct gv_ckpt_slice *s, size_t n, const struct gv_model *m,
    struct gv_net *net, size_t first, size_t last, const struct gv_ckpt_key *key,
    bool *diverged, struct gv_error *e);

/* The steps of the first model of a file.  0, or -1 with *e set. */
int gv_ckpt_steps(const char *path, uint64_t *steps, struct gv_error *e);

/*
 * Joins n slices into the file that one net of the whole model would write, but for
 * arrays that not all of them have.  0, or -1 with *e set.
 */
int gv_ckpt_join_slices(
    const struct gv_ckpt_slice *s, size_t n, const char *out, struct gv_error *e);

#endif
