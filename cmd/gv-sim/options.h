/* What gv-sim was asked on its command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "base/opt.h"
#include "core/sim.h"

struct options {
	struct gv_opt common;
	struct sim_settings sim;
	const char *input; /* jobs, or rates */
	const char *cluster;
	const char *throughputs; /* the input is jobs; NULL = it is rates */
	const char *changes;     /* GPUs that go and come; NULL = none do */
	const char *prices;      /* what GPUs cost from when on; NULL = the cluster's */
	const char *bids;        /* most that is paid, by type; NULL = whatever it is */
	const char *state;  /* answers of the policy, to go on from; NULL = nowhere */
	const char *policy; /* a command; NULL = the table's shares stay */
	double timeout_s;   /* for an answer of the policy */
	bool isolated;      /* each job beside an isolated run */
	const char *events; /* where these tables go, "-" = the output; NULL = nowhere */
	const char *jobs;
	const char *summary;
};

/* Fills *o, or ends with a usage error. */
void options_parse(struct options *o, int argc, char **argv);

#endif
