/* The time of a collective over given links, chunk by chunk, as the executor runs it. */
#ifndef COMM_SIMULATE_H
#define COMM_SIMULATE_H

#include "coll/coll.h"
#include "coll/model.h"
#include "ways.h"

/*
 * Seconds from the beginning to the last chunk's arrival.  A chunk leaves when it is there
 * (on the way up, from all below) and at most GV_COLL_WINDOW - 1 before it are under way on
 * its edge; each link takes chunks one after another in the order in which they
 * could leave; the head of a chunk passes switches at once.  Each chunk costs
 * cost->chunk_s on its edge beside its bytes, while others may use the link.  Nothing else takes time.  Infinity where there are too many
 * chunks to look at, more than SIMULATE_MOST on all edges together.
 */
double simulate_s(const struct ways *w, const struct gv_coll_cost *cost, size_t count,
    size_t size, size_t chunk_bytes);

enum { SIMULATE_MOST = 4000000 };

#endif
