/*
 * From pairs of classes to pairs of jobs.
 *
 * What two classes have together is shared out so that every job of a class has equally
 * much of it, and few pairs are named: for two classes of n and k jobs n + k - 1
 * (the north-west corner of the transport between them), inside a class of n jobs n
 * (a ring of neighbours).  So each job's throughput is exactly its class's.
 */
#ifndef GV_ALLOC_DISAGGREGATE_H
#define GV_ALLOC_DISAGGREGATE_H

#include "alloc/problem/classes.h"

/*
 * rank [jobs]: the order in which the jobs of a class are served.  The pairs of
 * jobs in the order of the classes' pairs, *n of them; the caller's.
 */
struct gv_pair *gv_disaggregate_pairs(const struct gv_classes *c, size_t n_jobs,
    const size_t *rank, const struct gv_pair *pair, size_t n_pairs, size_t *n);

#endif
