/* Plans for the interleaved schedule: several stages, its chunks, on each GPU. */
#ifndef GV_PARTITION_INTERLEAVE_H
#define GV_PARTITION_INTERLEAVE_H

#include "plan.h"

/*
 * For each number of places that a machine of one level has room for, as many replicas
 * of it as leave micro-batches a multiple of the GPUs: the cut into places * chunks
 * stages whose slowest is fastest, and of all these the one whose batch takes the
 * least simulated time, of equals the one of fewer places.  Stage k is a chunk of
 * place k mod places.
 *
 * With a memory limit the stages are cut with the largest limit of their own for
 * which every GPU, with all its chunks, fits.
 *
 * Differs from plan_search: not exact; neither uneven loads within a GPU that even out
 * nor all ways to fit are looked at.
 */
enum search_result interleave_search(struct plan *p, const struct ideals *s,
    const struct graph *g, const struct machine *m, const struct search_options *o,
    enum ideals_kind cut);

/*
 * As plan_evaluate, for such a plan: a row's in_flight and memory are those of its
 * GPU, the bottleneck the sum of a GPU's loads.
 */
int interleave_evaluate(struct plan_report *r, const struct plan *p,
    const struct graph *g, const struct machine *m, const struct cost_rules *rules,
    enum ideals_kind cut, struct gv_error *e);

#endif
