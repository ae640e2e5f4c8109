/*
 * Plans of graphs with too many prefixes to look at each: from one plan to a better one
 * among cuts near its own, until there is none.
 */
#ifndef GV_PARTITION_REFINE_H
#define GV_PARTITION_REFINE_H

#include <stdbool.h>

#include "gv-partition/graph/prefixes.h"
#include "gv-partition/search/plan.h"

/* What is planned, and how. */
struct refining {
	const struct gv_graph *g;
	enum ideals_kind cut;
	size_t limit; /* prefixes of one search, at most */
	/* the best plan between these prefixes into the zeroed *p; false: none */
	bool (*find)(void *ctx, struct gv_plan *p, const struct ideals *s);
	/* what it costs; 0, or -1 */
	int (*cost)(void *ctx, struct plan_report *r, const struct gv_plan *p);
	void *ctx;
	void (*progress)(size_t search, size_t most); /* NULL: nobody listens */
};

/*
 * Makes the plan better, or leaves it: first among plans that differ in one or two layers
 * of a cut; then in rounds, each of which takes some layers, the heavier the likelier,
 * and looks at all sides of cuts that they can be on while the others stay (large
 * neighbourhood search: Shaw, "Using constraint programming and local search methods to
 * solve vehicle routing problems", CP 1998).  It ends when 20 rounds were in vain.
 * Deterministic.  Cost: 20 to 200 searches of limit prefixes, 1024 at most, about.
 */
void refine(struct gv_plan *p, const struct refining *how);

/*
 * From a second start: a plan is looked for and made better as `as` says, which is how but
 * with the cuts and the bytes of PipeDream's program; where it is faster than *p as how
 * costs it, *p becomes it, made better once more.  So *p is no slower than that plan.
 * Where those cuts are at most as->limit nothing is done: prefixes_make() of how->g has
 * them all.  Cost: that of refine() and a search, and of refine() again where it is faster.
 */
void refine_published(
    struct gv_plan *p, const struct refining *how, const struct refining *as);

#endif
