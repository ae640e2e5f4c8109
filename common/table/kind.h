/*
 * Which table of the house a table is, by its columns (gv-tables(5)): so that a
 * program that is given another one can say what it is.
 */
#ifndef GV_TABLE_KIND_H
#define GV_TABLE_KIND_H

#include "table/tab.h"

enum gv_kind {
	GV_KIND_EVENTS,
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
	GV_KIND_REPORT,
	GV_KIND_PAIRS,
	GV_KIND_ALLOCATION,
	GV_KIND_RATES,
	GV_KIND_THROUGHPUTS,
	GV_KIND_JOBS,
	GV_KIND_TRACE,
	GV_KIND_JOB_TYPES,
	GV_KIND_PRICES,
	GV_KIND_SPOT_SERIES,
	GV_KIND_SPOT_SCHEDULE,
	GV_KIND_PROBLEMS,
	GV_KIND_GPU_TYPES,
	GV_KIND_DEVICES,
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
	GV_KIND_STATUS,
	GV_KINDS,
	GV_KIND_NONE = GV_KINDS /* none of the house */
};

/* The first kind above whose columns are all among names[0..n). */
enum gv_kind gv_kind_of(const struct gv_cell *names, size_t n);

enum gv_kind gv_tab_kind(const struct gv_tab *t); /* of the present table */

/* As it stands after "this is": "an allocation table". */
const char *gv_kind_name(enum gv_kind kind);

/*
 * That a table is of the kind.  0 where it has the kind's columns, and where it
 * is no table of the house: what it lacks is better said by its reader.  -1
 * with *e set where it is another one, "this is ...; expected ... (columns)", or
 * where its cells are separated by semicolons.
 */
int gv_frame_expect(const struct gv_frame *f, enum gv_kind kind, struct gv_error *e);
int gv_tab_expect(const struct gv_tab *t, enum gv_kind kind, struct gv_error *e);

#endif
