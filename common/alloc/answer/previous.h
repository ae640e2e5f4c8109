/* The shares of the last answer, by the names of the jobs. */
#ifndef GV_ALLOC_PREVIOUS_H
#define GV_ALLOC_PREVIOUS_H

#include "base/hash.h"
#include "sched/rates.h"

struct gv_previous {
	size_t m;             /* types of the cluster */
	struct gv_hash names; /* of jobs; their texts are its own */
	char **name;          /* [names.n] */
	double *share; /* [names.n][m] of wall time; what a job has in pairs, too */
	size_t cap_name, cap_share;
};

/* = {0} and so many types is one without jobs; forgets what *v had. */
void gv_previous_clear(struct gv_previous *v, size_t n_types);
void gv_previous_free(struct gv_previous *v); /* also of a zeroed one */

/* Adds to the share of a job on a type of the cluster. */
void gv_previous_add(
    struct gv_previous *v, struct gv_cell job, size_t type, double share);

/* From an allocation table of the types of c, which has a column share: r->has_share. */
void gv_previous_from(
    struct gv_previous *v, const struct gv_rates *r, const struct gv_cluster *c);

/* The shares of a job on each type of the cluster, NULL: it was not there. */
const double *gv_previous_find(const struct gv_previous *v, struct gv_cell job);

#endif
