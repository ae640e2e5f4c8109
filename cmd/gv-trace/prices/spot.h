/*
 * What a job costs when it may choose where to train (Narayanan et al., "Analysis and
 * Exploitation of Dynamic Pricing in the Public Cloud for ML Training", DISPA 2020).
 *
 * At its start, and with the policy dynamic every period again, a job takes the market
 * in which the rest of it costs least: rest / rate * price, of markets that cost the
 * same the one it is in, else the first.  A market that is kept has its price looked
 * up at each period and holds it until the next.
 *
 * Differs: a move may cost time, in which the new market is paid and nothing is done;
 * a deadline leaves only markets that meet it, or, when none does, the fastest;
 * preemptions slow a market down by 1 + sqrt(2 d / M) + r / M, with d the time of a
 * checkpoint, r of a restart, M the mean time to preemption, at the interval
 * sqrt(2 d M) between checkpoints that makes this least (Young, CACM 17(9), 1974;
 * Daly, FGCS 22(3), 2006).
 */
#ifndef TRACE_PRICES_SPOT_H
#define TRACE_PRICES_SPOT_H

#include <stdbool.h>

#include "markets.h"

enum spot_policy {
	SPOT_ONE,      /* instances of one GPU of one type at home, chosen at the start */
	SPOT_GPU_TYPE, /* of any type */
	SPOT_MULTI_GPU,   /* any instance at home */
	SPOT_MULTI_CLOUD, /* any instance anywhere */
	SPOT_DYNAMIC,     /* the same, chosen anew each period */
	N_SPOT_POLICIES
};

extern const char *const spot_policy_names[N_SPOT_POLICIES]; /* "multi-cloud" */

struct spot_rules {
	enum spot_policy policy;
	struct gv_cell home;     /* cloud */
	struct gv_cell gpu_type; /* of SPOT_ONE, in small letters */
	double every_s;          /* the period, > 0 */
	double move_s;
	double checkpoint_s; /* d, 0 = no checkpoints */
	double restart_s;    /* r */
};

struct spot_job {
	double start_s; /* since the epoch, as all times here */
	double steps;
	int64_t scale_factor; /* GPUs that it pays for */
	double deadline_s;    /* NAN = none */
	const double *rate;   /* [markets] steps/s; not > 0: does not run there */
};

/* A time in one market at one price. */
struct spot_stay {
	size_t market;
	double start_s, end_s;
	double usd_per_h; /* of one GPU */
};

struct spot_run {
	size_t n, cap;
	struct spot_stay *stay; /* [n]; kept from run to run */
	double cost_usd;
	double end_s;
	size_t moves;
};

/*
 * Runs a job into *run (= {0} at first).  false: no market that the policy allows has
 * a price at its start and runs it.  Cost: markets * periods up to the last price.
 */
bool spot_run(struct spot_run *run, const struct spot_job *job, const struct markets *m,
    const struct spot_rules *r);
void spot_run_free(struct spot_run *run);

/* The interval between checkpoints in a market; NAN = none are needed. */
double spot_interval(const struct market *m, const struct spot_rules *r);
/* By how much preemptions slow it down, >= 1. */
double spot_slowdown(const struct market *m, const struct spot_rules *r);

#endif
