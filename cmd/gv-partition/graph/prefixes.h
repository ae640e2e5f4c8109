/* The prefixes to plan with: all of them, or where these are too many, those of groups of layers. */
#ifndef GV_PARTITION_PREFIXES_H
#define GV_PARTITION_PREFIXES_H

#include "ideals.h"

struct prefixes {
	struct ideals s;
	size_t n_groups; /* layers, when none are grouped */
	bool exact;      /* none are */
};

/*
 * At most limit prefixes (>= 2), the empty one not counted.  When there are more,
 * neighbours that take little time become groups, in branches without forks before
 * elsewhere (groups.h), with no more merges than needed.  Deterministic.
 */
void prefixes_make(
    struct prefixes *x, const struct gv_graph *g, enum ideals_kind kind, size_t limit);
void prefixes_free(struct prefixes *x);

#endif
