/* What PTD-P's time and memory both need: parts of a model, links. */
#ifndef GV_PARTITION_PTD_PARTS_H
#define GV_PARTITION_PTD_PARTS_H

#include "ptd.h"

/* Parameters on a GPU, apart because fewer GPUs have copies of the same experts. */
struct ptd_parts {
	double dense, expert;
};

/* Of one layer. */
struct ptd_parts ptd_layer_parts(const struct transformer *x, const struct ptd_plan *k);

/* GPUs that have copies of the same layers, c d; of the same experts, c d / e. */
size_t ptd_copies(const struct ptd_plan *k);
size_t ptd_expert_copies(const struct ptd_plan *k);

/* Tokens of a micro-batch on a GPU, b s / c. */
double ptd_tokens(const struct transformer *x, const struct ptd_plan *k);

/* Bytes of a number in a matrix product; of a gradient, as Megatron adds them up. */
double ptd_width(const struct ptd_machine *m);
double ptd_gradient_width(const struct ptd_machine *m);

/*
 * Bytes that a layer saves of each token for its backward pass, in numbers of 16 bits,
 * without the scores of attention; Korthikanti et al., section 4.1, dropout's masks
 * included.
 */
double ptd_saved_bytes(
    const struct transformer *x, const struct ptd_machine *m, double t);

/* A matrix product. */
double ptd_product_s(
    const struct ptd_machine *m, double rows, double columns, double inner);

/* Whether all of the plan is in one server. */
bool ptd_one_server(const struct ptd_machine *m, const struct ptd_plan *k);

/* Bytes per second that a GPU sends to one of another stage. */
double ptd_stage_rate(const struct ptd_machine *m, const struct ptd_plan *k);

/*
 * Half of an all-reduce, a reduce-scatter or an all-gather, of so many bytes among n
 * GPUs that are stride apart, as a ring: seconds.
 */
double ptd_half_reduce_s(
    const struct ptd_machine *m, double bytes, size_t n, size_t stride);

/*
 * Each of n GPUs that are stride apart has so many bytes, equally many for each other:
 * seconds.  All do so at once, so each has its own port only.
 */
double ptd_all_to_all_s(
    const struct ptd_machine *m, double bytes, size_t n, size_t stride);

#endif
