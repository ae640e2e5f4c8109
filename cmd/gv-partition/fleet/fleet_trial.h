/* What the parts of the search for pipelines on several types of GPUs share. */
#ifndef GV_PARTITION_FLEET_TRIAL_H
#define GV_PARTITION_FLEET_TRIAL_H

#include "fleet.h"

enum { FLEET_NO_GPUS = 1 << 14 }; /* more than there can be; twice fits an int16_t */

/*
 * The search.  A combination is how many GPUs of each type but the last one are
 * used; need[] has how many of the last type are needed with it.  The last is the
 * type with the most GPUs, so that the combinations are the fewest.
 */
struct trial {
	const struct ideals *s;
	const struct gv_fleet *f;
	const struct search_options *o;
	struct gv_machine m;
	bool limited;
	double *time_s[GV_FLEET_TYPES], *forward_s[GV_FLEET_TYPES]; /* [prefixes] sums */
	size_t order[GV_FLEET_TYPES];  /* types, the last one last */
	size_t stride[GV_FLEET_TYPES]; /* by place in order: a GPU more of this type */
	size_t n;                      /* combinations */
	int16_t *sum;                  /* [n] GPUs of each, when limited */
	int16_t *need; /* [prefixes][n]; FLEET_NO_GPUS or more: no pipeline */
	double limit_s;
};

/* A stage on some type. */
struct choice {
	size_t type;
	bool recompute;
	struct stage_size size;
	size_t fewest; /* replicas whose load is within the limit; FLEET_NO_GPUS: none */
	size_t most;   /* minibatches in flight for which it fits */
};

/* Reserves what the search needs; false: too large.  Close it also then. */
bool trial_open(struct trial *x, const struct ideals *s, size_t n_layers,
    const struct gv_fleet *f, const struct search_options *o);
void trial_close(struct trial *x);

/* Fills need[] for the limit; whether there are enough GPUs. */
bool trial_run(struct trial *x, double limit_s);

/* The ways to have the stage from i to k on a type within the limit, up to two; how many. */
size_t trial_choices(
    struct choice c[2], const struct trial *x, size_t i, size_t k, size_t type);
/* The load on m replicas of a stage that starts at i. */
double trial_load(const struct trial *x, const struct choice *c, size_t i, size_t m);
/* What a stage can have on a type: its GPUs, or where updates are of few micro-batches these. */
size_t trial_replicas_most(const struct trial *x, size_t type);
/* How many replicas in front of so many GPUs: those for the load, or more for the memory. */
size_t trial_replicas(
    const struct trial *x, const struct choice *c, size_t i, size_t behind);

#endif
