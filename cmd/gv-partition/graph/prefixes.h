/*
 * The prefixes to plan with: all of them, or where these are too many, those of groups of layers.
 * None has one of two tied layers without the other: they are those of units (units.h), which
 * are the layers here.
 */
#ifndef GV_PARTITION_PREFIXES_H
#define GV_PARTITION_PREFIXES_H

#include "ideals.h"
#include "plan/plan.h"

struct prefixes {
	struct ideals s;
	size_t n_groups; /* units, when none are grouped */
	bool exact;      /* none are */
};

/*
 * At most limit prefixes (>= 2), the empty one not counted.  When there are more,
 * neighbours that take little time become groups, in branches without forks before
 * elsewhere (groups.h), with no more merges than needed.  Deterministic.
 */
void prefixes_grouped(
    struct prefixes *x, const struct gv_graph *g, enum ideals_kind kind, size_t limit);

/*
 * All prefixes where they are at most limit, or at most exact; else three to five
 * families of them, each at most limit: those of prefixes_grouped; those of
 * PipeDream's program, if they are not more; those of the layers in their order and,
 * if these are at most half of limit, branch by branch; and where there are at most
 * 8192 layers, all ways to have the heaviest of them before and behind a cut.  So no plan
 * is worse than the best with the published cuts, or of rows that are cut in their
 * order, and what is heavy can be apart.  Deterministic.
 */
void prefixes_make(struct prefixes *x, const struct gv_graph *g, enum ideals_kind kind,
    size_t limit, size_t exact);

/*
 * Those near a plan: its cuts, those between them, and each cut with up to so many layers
 * moved over it, 1 or 2.  False, and *x is not set, when they may be much more than limit.
 */
bool prefixes_near(struct prefixes *x, const struct gv_graph *g, enum ideals_kind kind,
    const struct gv_plan *p, size_t moved, size_t limit);

void prefixes_free(struct prefixes *x);

#endif
