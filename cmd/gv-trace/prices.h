/* What gv-trace prices was asked, for its parts. */
#ifndef TRACE_PRICES_H
#define TRACE_PRICES_H

#include "base/opt.h"
#include "prices/spot.h"

struct prices_options {
	struct gv_opt common;
	const char *jobs, *throughputs, *lifetimes, *home, *gpu_type;
	struct market_filter filter;
	bool has_policy, has_start, schedule;
	double start_s; /* what the times of tables count from */
	double mttp_s;
	struct spot_rules rules;
};

/*
 * Runs each job of the jobs table under the policy and writes what it cost, or with
 * schedule where it was when.  *all_well: all could run and met their deadlines.
 * 0, or -1 with *e set.
 */
int prices_run(const struct prices_options *o, const struct markets *m, bool *all_well,
    struct gv_error *e);

#endif
