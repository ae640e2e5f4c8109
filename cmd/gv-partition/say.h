/* What gv-partition says on standard error beside its table. */
#ifndef GV_PARTITION_SAY_H
#define GV_PARTITION_SAY_H

#include "plan/layers.h"
#include "options.h"
#include "gv-partition/graph/prefixes.h"
#include "plan/simulate.h"

/* A line of progress, ten times a second at most. */
void say_progress(size_t done, size_t of, const char *units);

/* The prefixes to plan with, all up to exact; warns when these are not all. */
void say_prefixes(struct prefixes *x, const struct options *o, const struct gv_layers *l,
    size_t limit, size_t exact);

/* Why there is no plan; ends the program with status 1. */
GV_NORETURN void say_no_plan(
    const struct options *o, const struct gv_layers *l, const struct ideals *s);

/* Why there is none on GPUs of several types; ends the program with status 1. */
GV_NORETURN void say_no_types(enum fleet_result why);

/* Why there is none for the interleaved schedule; ends the program with status 1. */
GV_NORETURN void say_no_chunks(const struct options *o);

/* -v: times of the plan, and what bounds them. */
void say_times(const struct options *o, const struct plan_report *r,
    const struct gv_plan *p, const struct prefixes *x);

/* -v: what came of running the plan. */
void say_simulation(const struct gv_simulation *s, const struct gv_pipe *p);

/* Names the stages that are too large for the memory; whether there are none. */
bool say_fits(
    const struct options *o, const struct gv_plan *p, const struct plan_report *r);

#endif
