/*
 * How long a collective over trees takes, by the time of a pipeline: the parts of all
 * trees take equally long, T = bytes / rate; cut into k chunks each, in a tree of
 * depth d, with a cost a of each chunk,
 *
 *	time = (k + d - 1) (a + T / k)
 *
 * smallest at k* = sqrt(T (d - 1) / a).  An allreduce
 * goes up and down, so its d is the sum of both.
 * Source: Wang et al., Blink, MLSys 2020, of one tree, with chunks of s = D / k bytes.
 */
#ifndef GV_COLL_MODEL_H
#define GV_COLL_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "coll/trees.h"

struct gv_coll_cost {
	double chunk_s; /* a, s */
	double slower;  /* rates are those of the trees divided by this */
};

/* Seconds of a buffer of so many bytes; chunk_bytes as in gv_coll_spec.  0 of no bytes. */
double gv_coll_model_s(const struct gv_trees *t, const struct gv_coll_cost *c,
    double bytes, double chunk_bytes);

/* The chunk of k* whole chunks, in bytes, at least least. */
double gv_coll_model_chunk(
    const struct gv_trees *t, const struct gv_coll_cost *c, double bytes, double least);

/* nccl-tests' factor from algbw to busbw. */
double gv_coll_bus_factor(const struct gv_trees *t);

/*
 * The search for a chunk by times that are measured: from small chunks, twice as large
 * until that is slower twice running; then from twice the best down to it, in eighths; the
 * best is held.  Multiplicative increase and additive decrease, as Blink's.
 *
 *	gv_tune_start(&t, least, most);
 *	do
 *		s = time of t.chunk;
 *	while (gv_tune_next(&t, s));
 */
struct gv_tune {
	size_t chunk; /* to measure; once it is held, the one that was fastest */
	size_t least, most;
	size_t best, step;
	double best_s;
	size_t misses;
	bool down;
};

void gv_tune_start(struct gv_tune *t, size_t least, size_t most);
/* Is told the time of t->chunk; true: there is another one to measure. */
bool gv_tune_next(struct gv_tune *t, double s);

#endif
