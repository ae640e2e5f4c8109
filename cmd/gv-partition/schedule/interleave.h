/* Plans for the interleaved schedule: several stages, its chunks, on each GPU. */
#ifndef GV_PARTITION_INTERLEAVE_H
#define GV_PARTITION_INTERLEAVE_H

#include "gv-partition/search/plan.h"

/* What is looked for. */
struct interleaving {
	const struct ideals *s;
	const struct gv_graph *g;
	const struct gv_machine *m; /* of one level */
	const struct search_options *o;
	enum ideals_kind cut;
};

/* The most replicas of so many places that leave the micro-batches a multiple of the GPUs; 0 none. */
size_t interleave_replicas(const struct interleaving *x, size_t places);

/*
 * The cut into places * chunks stages whose slowest is fastest, into *p: the simulated
 * time of a batch; or not finite, and *p is empty, when there is none.
 *
 * With a memory limit the stages are cut with the largest limit of their own for
 * which every GPU, with all its chunks, fits.
 */
double interleave_cut(
    const struct interleaving *x, size_t places, size_t replicas, struct gv_plan *p);

/*
 * The best of these cuts for any number of places that the machine has room for, of equals
 * the one of fewer.  Stage k is a chunk of place k mod places.
 *
 * Differs from plan_search: not exact; neither uneven loads within a GPU that even out
 * nor all ways to fit are looked at.
 */
enum search_result interleave_search(struct gv_plan *p, const struct interleaving *x);

/*
 * As plan_evaluate, for such a plan: a row's in_flight and memory are those of its
 * GPU, the bottleneck the sum of a GPU's loads.
 */
int interleave_evaluate(struct plan_report *r, const struct gv_plan *p,
    const struct gv_graph *g, const struct gv_machine *m, const struct cost_rules *rules,
    enum ideals_kind cut, struct gv_error *e);

#endif
