/* Where stages are and what they cross; private to placed.c and placed_evaluate.c. */
#ifndef GV_PARTITION_PLACED_COST_H
#define GV_PARTITION_PLACED_COST_H

#include "placed.h"

struct links {
	size_t n; /* GPUs */
	size_t n_levels;
	size_t group[GV_PLAN_LEVELS]; /* GPUs of a component of this level */
	/* all GPUs, at the bandwidth of links up to this level */
	struct gv_machine at[GV_PLAN_LEVELS];
};

struct links links_of(const struct gv_machine *m);

/* The level of the innermost component that holds GPUs first to first + n - 1, n >= 1. */
size_t links_level(const struct links *x, size_t first, size_t n);

/* What a stage takes on n replicas, transfers aside. */
struct stage_terms links_stage(const struct links *x, const struct cost_rules *r,
    size_t level, const struct stage_size *size, size_t n);

/* What a stage on n replicas takes to receive, or send, so many bytes. */
double links_transfer(const struct links *x, const struct cost_rules *r, size_t level,
    double bytes, size_t n, bool sends);

#endif
