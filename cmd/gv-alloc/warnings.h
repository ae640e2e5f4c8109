/* Warnings about input that can be read and was probably meant otherwise. */
#ifndef GV_ALLOC_WARNINGS_H
#define GV_ALLOC_WARNINGS_H

#include "alloc/problem/entities.h"
#include "options.h"
#include "sched/cluster.h"
#include "sched/rates.h"

/*
 * Writes a warning for each slip in the tables (gv_rates_slips, and gv_entities_slips
 * where entities is not NULL), each column that
 * sets something the policy does not look at, and each option that changes
 * nothing.  Nothing with --quiet, of further tables of a stream, nor of a table
 * that has a column policy: it comes back from gv-run.
 */
void warn_of_slips(const struct options *o, const struct gv_rates *r,
    const struct gv_cluster *cluster, const struct gv_entities *entities);

#endif
