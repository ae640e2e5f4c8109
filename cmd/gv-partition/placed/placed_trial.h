/* What the parts of the search for placed pipelines share: placed.c, placed_trial.c, placed_path.c. */
#ifndef GV_PARTITION_PLACED_TRIAL_H
#define GV_PARTITION_PLACED_TRIAL_H

#include "placed_cost.h"
#include "gv-partition/search/search.h"

struct placed_trial {
	const struct ideals *s;
	const struct search_options *o;
	struct links links;
	uint8_t *level; /* [GPUs][GPUs + 1] links_level of the first and their number */
	struct search fast; /* at the fastest links that a stage can have */
	double limit_s;
	struct column k;
	uint16_t *kinds; /* [k.size][GPUs + 1] of pipelines from a prefix on so many */

	uint8_t *n_in;
	uint8_t *n_out; /* and those to it can send */
	uint16_t after[GV_PLAN_LEVELS]
		      [GV_PLAN_LEVELS + 1]; /* kinds that a stage can stand in front of */
};

void placed_open(struct placed_trial *x, const struct ideals *s,
    const struct gv_machine *m, const struct search_options *o);
void placed_close(struct placed_trial *x);

/* Whether there is a plan within the limit.  Leaves the column for it. */
bool placed_try(struct placed_trial *x, double limit_s);

/* The best plan within the limit of the last placed_try, ties resolved, into *p; its time. */
double placed_path(const struct placed_trial *x, struct gv_plan *p);

/* A stage between two prefixes of the column. */
struct part {
	size_t a, b;
	struct stage_size size;
	double forward_s;
	size_t kept, recomputed; /* most minibatches in flight */
};

/* Its loads on so many replicas, by the level that is crossed: by its own, in front, behind. */
struct part_load {
	double own[2][GV_PLAN_LEVELS]; /* activations kept, and recomputed */
	double in[GV_PLAN_LEVELS], out[GV_PLAN_LEVELS];
	size_t n_own[2], n_in, n_out; /* levels with a load within the limit */
	size_t fits[2];               /* as part_fits */
};

struct part part_of(const struct placed_trial *x, size_t a, size_t b);
/* The most GPUs on it and behind with which it fits on m replicas, kept and recomputed. */
void part_fits(
    size_t fits[2], const struct placed_trial *x, const struct part *p, size_t m);
void part_loads(
    struct part_load *load, const struct placed_trial *x, const struct part *p, size_t m);

/* Which of own[] it is at the front of w GPUs; 2 = it does not fit. */
static inline size_t
part_flight(const size_t fits[2], size_t w)
{
	return w <= fits[0] ? 0 : w <= fits[1] ? 1 : 2;
}

static inline size_t
placed_level(const struct placed_trial *x, size_t first, size_t n)
{
	return x->level[first * (x->links.n + 1) + n];
}

#endif
