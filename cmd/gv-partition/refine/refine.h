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
 * From a second start: a plan that is hardly slower than *p is made better, too, and *p
 * becomes it where it is faster then, *second what *p was.  So *p is no slower than either.
 * Cost: that of refine(), if that.
 */
void refine_second(struct gv_plan *p, struct gv_plan *second, const struct refining *how);

#endif
