/* What the model says of a size: the formula, or over given links a simulation. */
#ifndef COMM_PREDICT_H
#define COMM_PREDICT_H

#include "rows.h"
#include "ways.h"

/*
 * ways NULL: the formula.  A time of infinity: too many chunks to simulate.  The formula's
 * chunk is the formula's in both.
 */
void predict(struct row *r, const struct gv_trees *t, const struct options *o,
    const struct ways *ways, int64_t bytes);

/* The chunk of equal ones that are as large as this one at most. */
double even_chunk(const struct gv_trees *t, double bytes, double chunk_bytes);

/* The chunk to search between, in bytes: from a page to the largest part. */
void search_start(struct gv_tune *s, const struct gv_trees *t, double bytes);

#endif
