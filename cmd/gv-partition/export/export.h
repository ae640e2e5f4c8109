/* A plan as the programs take it that train by one. */
#ifndef GV_PARTITION_EXPORT_H
#define GV_PARTITION_EXPORT_H

#include "base/fileio.h"
#include "plan/plan.h"
#include "plan/timetable.h"

enum export {
	EXPORT_MEGATRON,
	EXPORT_DEEPSPEED,
	EXPORT_TORCH,
	EXPORT_TORCH_SCHEDULE,
	EXPORT_PIPEDREAM,
	EXPORT_ALPA,
	EXPORTS
};
extern const char *const export_name[EXPORTS];

struct export_plan {
	const struct gv_layers *l;
	const struct gv_plan *p;
	const struct gv_machine *m;
	const struct gv_pipe *pipe; /* of the plan */
	const uint32_t *order; /* [l->g.n] layers as a sequence; export_write makes it */
};

/*
 * Writes the plan:
 *
 *   megatron        options of Megatron-LM, one line for xargs or eval, with
 *                   --pipeline-model-parallel-layout; see export_megatron.c for what
 *                   counts as a transformer layer
 *   deepspeed       JSON: parts, and a partition_method that yields them, or null
 *   torch           JSON: split_points, module_fqns_per_model_part, ... by node_id
 *   torch-schedule  CSV: a row per rank of a pipeline, cells such as 0F0
 *   pipedream       JSON: module_to_stage_map, stage_to_rank_map, stage_to_depth_map
 *   alpa            a Python expression: ManualStageOption(...)
 *
 * All but pipedream and alpa run pipelines of equal stages, so that they need the
 * same replicas everywhere.  All but pipedream and torch-schedule cut a sequence of
 * layers: the rows, if each stands behind all that feed it, else stage by stage in
 * some such order.  0, or -1 with *e set, and then nothing is written: the program cannot do
 * what is planned.
 */
int export_write(enum export format, const struct export_plan *x, struct gv_out *out,
    struct gv_error *e);

/* ---- private to export*.c ---- */

int export_megatron(const struct export_plan *x, struct gv_out *out, struct gv_error *e);
int export_deepspeed(const struct export_plan *x, struct gv_out *out, struct gv_error *e);
int export_torch(const struct export_plan *x, struct gv_out *out, struct gv_error *e);
int export_torch_schedule(
    const struct export_plan *x, struct gv_out *out, struct gv_error *e);

/* Of the i-th layer in the sequence: node_id, what it is (or node_id), stage. */
struct gv_cell export_id(const struct export_plan *x, size_t i);
struct gv_cell export_kind(const struct export_plan *x, size_t i);
size_t export_stage(const struct export_plan *x, size_t i);

#endif
