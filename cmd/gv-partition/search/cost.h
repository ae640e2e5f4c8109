/* What a stage costs: time of one minibatch, and memory. */
#ifndef GV_PARTITION_COST_H
#define GV_PARTITION_COST_H

#include <stdbool.h>
#include <stddef.h>

#include "plan/machine.h"
#include "plan/timetable.h"

/*
 * The two cost models.  T is the time of one component on the stage's layers,
 * P their parameter bytes, B the bandwidth, S that of sums, m the replicas, a the bytes
 * that cross the cut before the stage, b those behind it.
 *
 *   paper   max(T, 2 (m - 1) P / S) / m   and   2 a / B
 *           Narayanan et al., SOSP 2019, section 3.1
 *   compat  (T + 4 (m - 1) P / (S m)) / m   and   2 a / (B m), 2 b / (B m)
 *           what PipeDream's program computes; in the first stage of a pipeline
 *           the sum's second part is divided by the component's gpus[level - 1],
 *           and a and b do not count there
 *
 * The load of a stage is the largest of its terms; the first stage of a
 * pipeline receives nothing.
 */
enum cost_model { COST_PAPER, COST_COMPAT };

enum recompute { RECOMPUTE_NONE, RECOMPUTE_FULL, RECOMPUTE_AUTO };

struct cost_rules {
	enum cost_model model;
	bool free_transfers; /* activations cost nothing */

	double memory; /* bytes of a GPU; 0 = no limit */
	enum gv_schedule_kind schedule;
	size_t micro_batches; /* between two flushes; 2bw: in a batch; 0 = not said */
	size_t chunks;        /* interleaved: stages of a GPU */
	/* bytes that a GPU which moves them itself moves in a second, when a plan is run; 0 = it does
	 * not */
	double moving;
	double state; /* bytes of optimiser state for each byte of weights */
	enum recompute recompute;
};

/* What is between two prefixes. */
struct stage_size {
	double time_s;    /* of one component: T */
	double parameter; /* bytes */
	double in,
	    out; /* bytes that cross the cuts before and behind; 0 at the ends of the model */
};

struct stage_terms {
	double compute_s;
	double sync_s;
	double transfer_s; /* the larger of receiving and, in compat, sending */
	double load_s;     /* the stage's time for one minibatch */
};

static inline double
stage_larger(double a, double b)
{
	return a > b ? a : b;
}

/* first: the stage is the first of its pipeline on this level.  replicas >= 1. */
static inline struct stage_terms
stage_cost(const struct cost_rules *r, const struct gv_machine *m, size_t level,
    const struct stage_size *s, size_t replicas, bool first)
{
	struct stage_terms t = {0};
	double n = (double)replicas, bandwidth = m->bytes_per_s[level],
	       sums = gv_machine_sum_rate(m, level);

	t.compute_s = s->time_s / n;
	if (r->model == COST_PAPER) {
		t.sync_s = 2 * (n - 1) * s->parameter / sums / n;
		t.load_s = stage_larger(t.compute_s, t.sync_s);
		t.transfer_s = 2 * s->in / bandwidth;
	} else {
		t.sync_s = 4 * (n - 1) * s->parameter / (sums * n) / n;
		if (first && level > 0)
			t.sync_s /= (double)m->gpus[level - 1];
		t.load_s = t.compute_s + t.sync_s;
		t.transfer_s = 2 * stage_larger(s->in, s->out) / (bandwidth * n);
	}
	if (first || r->free_transfers)
		t.transfer_s = 0;
	t.load_s = stage_larger(t.load_s, t.transfer_s);
	return t;
}

/* The largest T with which the stage's load is no more than limit; -1 when none is. */
static inline double
stage_room(const struct cost_rules *r, const struct gv_machine *m, size_t level,
    const struct stage_size *s, size_t replicas, bool first, double limit)
{
	struct stage_size idle = {0, s->parameter, s->in, s->out};
	struct stage_terms t = stage_cost(r, m, level, &idle, replicas, first);

	if (t.load_s > limit)
		return -1;
	return (r->model == COST_PAPER ? limit : limit - t.sync_s) * (double)replicas;
}

/*
 * The fewest replicas, from low >= 1 to most, with which its load is no more than
 * limit; most + 1 when there are none.
 */
size_t stage_fewest(const struct cost_rules *r, const struct gv_machine *m, size_t level,
    const struct stage_size *s, bool first, double limit, size_t low, size_t most);

/* All GPUs on one stage, level by level: seconds for one minibatch. */
double data_parallel(const struct cost_rules *r, const struct gv_machine *m,
    double time_s, double parameter);

/*
 * Minibatches in flight, which were forwarded and wait for their backward pass, on a
 * GPU of a stage on so many GPUs.  behind: GPUs on it and on all stages behind it.
 *
 *   1f1b, 2bw  ceil(behind / gpus)
 *   gpipe      ceil(micro_batches / gpus): all that its replica has
 *   flush      the smaller of both   zb-h1 at least, and interleaved as if each stage
 *                                    had a GPU of its own
 */
size_t stage_in_flight(const struct cost_rules *r, size_t gpus, size_t behind);

/* The most replicas of a stage, each of which has to have a micro-batch in every update. */
size_t stage_replicas_most(const struct cost_rules *r);

/* The most that there can be on any of a machine's GPUs. */
size_t stage_in_flight_most(const struct cost_rules *r, size_t gpus);

/* The largest behind for which at most so many are in flight; 0 none, SIZE_MAX any. */
size_t stage_behind_most(const struct cost_rules *r, size_t gpus, size_t in_flight);

/* The fewest gpus in front of so many others with at most in_flight > 0; SIZE_MAX: none. */
size_t stage_gpus_fewest(const struct cost_rules *r, size_t others, size_t in_flight);

/*
 * Bytes on a GPU of a stage:
 *
 *   versions parameter + in_flight stashes + (1 + state) parameter
 *
 * Versions are with 1f1b as many as are in flight, with 2bw 2, otherwise 1.  A stash
 * is the stage's activations; where they are recomputed it is what the stage
 * receives, and one minibatch's activations come on top.
 */
double stage_memory(const struct cost_rules *r, const struct stage_size *s,
    double activation, size_t in_flight, bool recompute);

#endif
