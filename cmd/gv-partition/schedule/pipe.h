/* A plan as the pipeline that runs it. */
#ifndef GV_PARTITION_PIPE_H
#define GV_PARTITION_PIPE_H

#include "gv-partition/search/plan.h"
#include "plan/timetable.h"

/*
 * The pipeline of a plan, whose report is *r: of each stage its passes, with what is
 * computed again; what it receives, over the outermost level between it and the stage
 * before; and the all-reduce of its replicas, level by level.
 *
 * A minibatch of the profile is a micro-batch.  rules->micro_batches 0: for 2bw, batches
 * of as many as there are GPUs; for 1f1b, twice as many as GPUs and 8 at least; both
 * rounded up to gv_pipe_round.  Of 2bw three batches are run.  The gradients of the weights are taken for half the
 * backward pass of each layer that has weights.
 *
 * An all-reduce of m replicas is a ring: 2 (m - 1) / m P / B, beside the last pass before it,
 * of each layer from when its gradients are made; with COST_COMPAT, which counts twice that,
 * it stops the GPUs.  rules->moving: what GPUs move themselves takes their time, of rows in the
 * passes, of gradients as far as they go while the pass does; the rest in time that is waited.  Differs from the cost of a stage: the
 * paper's formula charges a ring for each minibatch, here there is one for a minibatch
 * on each replica, or for a batch.
 *
 * 0, or -1 with *e set: the stages are no multiple of the chunks.
 */
int pipe_make(struct gv_pipe *pipe, const struct gv_plan *p, const struct plan_report *r,
    const struct gv_graph *g, const struct gv_machine *m, const struct cost_rules *rules,
    struct gv_error *e);
/*
 * Corrects the pipe of a plan of one level whose stages stand where placed.h has them on
 * *m: it receives and reduces at the bandwidth of the slowest link crossed.  Call it after
 * pipe_make().
 */
void pipe_place(struct gv_pipe *pipe, const struct gv_plan *p,
    const struct plan_report *r, const struct gv_graph *g, const struct gv_machine *m,
    const struct cost_rules *rules);

#endif
