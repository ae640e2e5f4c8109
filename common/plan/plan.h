/*
 * A plan: which stage of the pipeline each layer is in, and on how many GPUs.
 *
 * A plan on a machine of several levels is nested: the outermost level has a
 * pipeline of stages, each on some replicas of a component; inside a component
 * the layers of such a stage are a pipeline again.  The stages of the innermost
 * level are listed; those of outer levels are runs of them.
 *
 * As a table it is that of the layers with the columns stage, replicas, recompute,
 * place and, where GPUs have types, gpu_type: gv-tables(5).
 */
#ifndef GV_PLAN_PLAN_H
#define GV_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/layers.h"
#include "plan/machine.h"
#include "table/tab.h"

struct gv_stage {
	size_t replicas[GV_PLAN_LEVELS]; /* on each level */
	/* which stage of that level it belongs to, from 0; [0] is itself */
	size_t within[GV_PLAN_LEVELS];
	bool recompute;
	size_t type; /* of its GPUs, where there are several */
};

/* = {0} is empty. */
struct gv_plan {
	size_t n;
	struct gv_stage *stage;       /* [n] from the input on */
	uint32_t *of;                 /* [n_layers] the stage of each layer */
	const struct gv_fleet *fleet; /* whose the types are; NULL: GPUs are all alike */
};

void gv_plan_free(struct gv_plan *p);

/*
 * The plan that the columns of the layers' rows describe, for layers of l->g.  *flat:
 * place is not there for the levels of *m, so that the plan is one pipeline over all
 * GPUs.  Types of GPUs are not looked at.  0, or -1 with *e set.
 */
int gv_plan_read(struct gv_plan *p, const struct gv_layers *l, const struct gv_machine *m,
    bool *flat, struct gv_error *e);

/* All rows with the plan in their columns; then the edges if they came behind the layers. */
void gv_plan_write(const struct gv_layers *l, const struct gv_plan *p,
    const struct gv_machine *m, struct gv_out *out, bool tsv);

/* ---- a row of any table with the columns of a plan ---- */

struct gv_plan_columns {
	ptrdiff_t stage, replicas, recompute, place, gpu_type; /* -1: not there */
};

/* What one row says; a text that is not told is empty. */
struct gv_plan_row {
	int64_t stage;    /* from 0 */
	int64_t replicas; /* 1 where the column is not there */
	bool recompute;
	struct gv_cell place, gpu_type;
};

struct gv_plan_columns gv_plan_columns(const struct gv_frame *f);

/* Stages below n_stages, replicas up to GV_PLAN_GPUS.  0, or -1 with *e set. */
int gv_plan_row(struct gv_plan_row *r, const struct gv_frame *f,
    const struct gv_plan_columns *c, size_t row, size_t n_stages, struct gv_error *e);

#endif
