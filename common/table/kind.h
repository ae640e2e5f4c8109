/*
 * Which table of the house a table is, by its columns (gv-tables(5)): so that a
 * program that is given another one can say what it is.
 */
#ifndef GV_TABLE_KIND_H
#define GV_TABLE_KIND_H

#include "table/tab.h"

enum gv_kind {
	GV_KIND_EVENTS,
	GV_KIND_CHANGES, /* of GPUs */
	GV_KIND_STATUS,  /* before an allocation, of which it has the columns */
	GV_KIND_SCHEDULE,
	GV_KIND_STAGES,
	GV_KIND_STAGE_TIMES,
	GV_KIND_PLAN,
	GV_KIND_LAYERS,
	GV_KIND_TREES,
	GV_KIND_LINKS,
	GV_KIND_SCORES,
	GV_KIND_COLLECTIVES,
	GV_KIND_EDGES,
	GV_KIND_ROUNDS,
	GV_KIND_EXPLANATION,
	GV_KIND_REPORT, /* what gv-report writes: jobs, entities, shares; ... */
	GV_KIND_REPORT_SUMMARY,
	GV_KIND_REPORT_RUNS,
	GV_KIND_REPORT_CURVES,
	GV_KIND_REPORT_TYPES, /* before a cluster, of which it has the columns */
	GV_KIND_REPORT_ALLOCATION,
	GV_KIND_REPORT_RATES,
	GV_KIND_REPORT_ROUNDS,
	GV_KIND_REPORT_EXPLANATION,
	GV_KIND_REPORT_TREES,
	GV_KIND_REPORT_SCHEDULE,
	GV_KIND_PAIRS,
	GV_KIND_ALLOCATION,
	GV_KIND_SHARES, /* answers to changes of rates */
	GV_KIND_RATE_CHANGES,
	GV_KIND_RATES,
	GV_KIND_THROUGHPUTS,
	GV_KIND_SPOT_COSTS,
	GV_KIND_JOBS,
	GV_KIND_TRACE,
	GV_KIND_JOB_TYPES,
	GV_KIND_PRICES,
	GV_KIND_SPOT_SERIES,
	GV_KIND_SPOT_SCHEDULE,
	GV_KIND_PROBLEMS,
	GV_KIND_GPU_TYPES,
	GV_KIND_DEVICES,
	GV_KIND_TRANSFORMER_PLANS,
	GV_KIND_CLUSTER,
	GV_KIND_ENTITIES,
	GV_KIND_LEVELS,
	GV_KIND_TRANSFORMERS,
	GV_KIND_MODEL,
	GV_KIND_LOSSES,
	GV_KIND_RANKING,
	GV_KIND_COMPARISON,
	GV_KIND_CONFIGURATIONS,
	GV_KIND_MICRO_BATCHES,
	GV_KIND_REMEMBERED,
	GV_KIND_SIMULATION,
	GV_KIND_LIFETIMES,
	GV_KIND_MOVES,
	GV_KIND_MEMORY,
	GV_KIND_ARRAYS,
	GV_KIND_SHAPES,
	GV_KIND_FINDINGS,
	GV_KIND_SAMPLES,
	GV_KIND_ARRAY,
	GV_KINDS,
	GV_KIND_NONE = GV_KINDS /* none of the house */
};

/* The first kind above whose columns are all among names[0..n). */
enum gv_kind gv_kind_of(const struct gv_cell *names, size_t n);

enum gv_kind gv_tab_kind(const struct gv_tab *t); /* of the present table */

/* As it stands after "this is": "an allocation table". */
const char *gv_kind_name(enum gv_kind kind);

/*
 * That a table is of the kind.  0 where it has the kind's columns, if some by names
 * that look like theirs, and where it is no table of the house: what it lacks is better
 * said by its reader.  -1
 * with *e set where it is another one, "this is ...; expected ... (columns)", or
 * where its cells are separated by semicolons.
 */
int gv_frame_expect(const struct gv_frame *f, enum gv_kind kind, struct gv_error *e);
int gv_tab_expect(const struct gv_tab *t, enum gv_kind kind, struct gv_error *e);

#endif
