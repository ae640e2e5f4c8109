/* Two plans beside each other. */
#ifndef GV_PARTITION_COMPARE_H
#define GV_PARTITION_COMPARE_H

#include "gv-partition/search/plan.h"
#include "plan/layers.h"

/*
 * The rows of the plan at path for the layers of a: *b is a with its stages,
 * found by node_id, so that gv_plan_read reads them; edges there are not looked at.
 * 0, or -1 with *e set: a layer of a is not there.
 */
int compare_read(
    struct gv_layers *b, const struct gv_layers *a, const char *path, struct gv_error *e);
void compare_free(struct gv_layers *b); /* what compare_read made; a keeps its own */

struct compared {
	const char *name;
	const struct gv_plan *p;
	const struct plan_report *r;
};

/*
 * A table with a row for each plan, pair [2], and behind an empty line one of the
 * layers that are in another stage, or in one of other replicas or recomputation.
 * speed is that of the first plan's slowest stage over its own.
 */
void compare_write(const struct gv_layers *l, const struct gv_machine *m,
    const struct compared *pair, const struct cost_rules *rules, struct gv_out *out,
    bool tsv);

#endif
