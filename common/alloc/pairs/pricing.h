/*
 * All pairs of jobs, priced: which of them would help at given multipliers, and by
 * how much the multipliers must grow so that none does, which makes them a proof.
 *
 * A pair (a, b) on type j improves the optimum where its reduced cost is above 0:
 *
 *	worth_aj T_a + worth_bj T_b - time_a - time_b - s gpu_j
 *
 * Rows of one kind share a pair of the table, so the best partner of a row is the
 * best of each kind, and nothing is done for every two rows: a pass costs
 * pairs of kinds * types * rows of the two kinds.
 */
#ifndef GV_ALLOC_PRICING_H
#define GV_ALLOC_PRICING_H

#include "alloc/problem/problem.h"

struct gv_pair_prices {
	double *worth; /* [n][m] of a step/s of a row, per pair */
	double *time;  /* [n] */
	double *gpu;   /* [m] */
};

/* What is found for a row. */
struct gv_candidate {
	/* largest reduced cost of a pair with it, rounding allowed for */
	double most;
	/*
	 * A pair that would help; reduced_cost -INFINITY: there is none.
	 * Where rows of a kind are many they are not all given the one best partner, but
	 * partners one after another.
	 */
	double reduced_cost;
	size_t a, b; /* rows; kind[a] <= kind[b] */
	size_t pair; /* in together */
	size_t type;
};

struct gv_valued {
	double value;
	size_t row;
};

struct gv_pricing {
	const struct gv_problem *p;
	size_t *first;             /* [kinds + 1] of member */
	size_t *member;            /* [n] rows, kind by kind */
	struct gv_valued *side[2]; /* [n] room */
};

void gv_pricing_init(struct gv_pricing *g, const struct gv_problem *p);
void gv_pricing_free(struct gv_pricing *g);

/* best [n] */
void gv_pricing_pass(const struct gv_pricing *g, const struct gv_pair_prices *v,
    struct gv_candidate *best);

/*
 * Calls use(ctx, a, b, pair, type) for every pair of rows that can share a type;
 * a == b: two jobs of that row.
 */
void gv_pricing_all(const struct gv_pricing *g,
    void (*use)(void *ctx, size_t a, size_t b, size_t pair, size_t type), void *ctx);

#endif
