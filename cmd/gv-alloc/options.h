/* What gv-alloc was asked on its command line. */
#ifndef GV_ALLOC_OPTIONS_H
#define GV_ALLOC_OPTIONS_H

#include "base/opt.h"
#include "alloc/answer/answer.h"

struct options {
	struct gv_opt common;
	const struct gv_policy *policy;
	char name[64];                   /* the policy with its options, as -p takes it */
	struct gv_answer_options answer; /* but for what is in tables */
	bool per_dollar;
	bool has_inside;
	bool has_seed;
	bool has_stay;
	bool nodes; /* jobs get one each */
	/* names of files; NULL: none */
	const char *input; /* rates, or jobs where there are throughputs */
	const char *cluster;
	const char *throughputs;
	const char *entities; /* weights */
	const char *sharing;  /* pairs of jobs */
	const char *previous; /* an allocation to stay close to */
	const char *prices;   /* offers; else the cluster's prices */
	double at_s; /* the time they are looked up at, INFINITY = at their end */
	const char *dump_lp;
	const char *explain;
	const char *warm; /* where prices are remembered */
	bool changes;     /* tables of changes may follow; stream is set, too */
	bool stream;      /* an empty line ends each answer, also the last */
};

/* Fills *o, or ends with a usage error. */
void options_parse(struct options *o, int argc, char **argv);

#endif
