/* What the model says of a size. */
#ifndef COMM_PREDICT_H
#define COMM_PREDICT_H

#include "rows.h"

void predict(
    struct row *r, const struct gv_trees *t, const struct options *o, int64_t bytes);

/* The chunk of equal ones that are as large as this one at most. */
double even_chunk(const struct gv_trees *t, double bytes, double chunk_bytes);

/* The chunk to search between, in bytes: from a page to the largest part. */
void search_start(struct gv_tune *s, const struct gv_trees *t, double bytes);

#endif
