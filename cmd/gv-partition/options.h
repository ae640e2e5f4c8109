/* What gv-partition was asked on its command line. */
#ifndef GV_PARTITION_OPTIONS_H
#define GV_PARTITION_OPTIONS_H

#include "base/opt.h"
#include "gv-partition/export/export.h"
#include "gv-partition/fleet/fleet_read.h"
#include "options_ptd.h"
#include "gv-partition/search/plan.h"

/* Who plans. */
enum planner {
	PLANNER_PIPEDREAM,
	PLANNER_2BW,   /* layers, in equal pipelines */
	PLANNER_PTD_P, /* transformers */
	PLANNERS
};

/* What is written. */
enum output {
	OUTPUT_PLAN,      /* the layers, with the stage of each */
	OUTPUT_STAGES,    /* a table of the stages */
	OUTPUT_TIMELINE,  /* what each GPU does when */
	OUTPUT_EXPORT,    /* as another program takes it */
	OUTPUT_COMPARISON /* beside another plan */
};

struct options {
	struct gv_opt common;
	enum planner planner;
	const char *input; /* layers, or a plan */
	const char *edges; /* NULL: on the input, or none */
	struct search_options search;
	struct gv_machine machine;
	struct gv_machine
	    placed;          /* the levels of --flat, one in machine; 0 levels: none */
	const char *levels;  /* a file, NULL: --level */
	const char *cluster; /* GPUs of several types; NULL: all alike */
	struct fleet_times times;
	enum ideals_kind cut;
	size_t prefixes; /* plan with all when they are at most so many */
	bool prefixes_said;
	bool flat;
	bool evaluate; /* the input is a plan */
	bool explain;
	bool timeline;
	int export;          /* enum export, -1: none */
	const char *compare; /* a plan, NULL: none */
	bool listed;         /* --top: several plans, a row each */
	size_t top;          /* so many; 0 = all */
	size_t rank; /* PLANNER_PIPEDREAM: the plan of that rank; 0: without ranking */
	enum output output;
	struct ptd_options ptd; /* PLANNER_PTD_P */
	/* as they were given, NULL if not: what they may be depends on the planner */
	const char *schedule, *recompute, *ties;
	bool together;      /* tied layers are in one stage */
	size_t batch;       /* PLANNER_2BW: minibatches of an update, at most */
	const char *speeds; /* PLANNER_2BW: a file; NULL: all micro-batches are as fast */
};

/* Fills *o, or ends with a usage error. */
void options_parse(struct options *o, int argc, char **argv);

#endif
