/* A schedule as a table, gv-tables(5): what each GPU of a pipeline does when. */
#ifndef GV_PLAN_SCHEDULE_H
#define GV_PLAN_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fileio.h"
#include "plan/timetable.h"
#include "table/tab.h"

struct gv_schedule_step {
	enum gv_step_op op;
	size_t gpu; /* its number in struct gv_schedule */
	int64_t step, stage, micro_batch;
	int64_t version; /* of the weights; -1 = not told */
	double start_ms, end_ms;
	long line; /* of the table it was read from */
};

struct gv_schedule_gpu {
	int64_t gpu;            /* -1 = not told: named by stage and replica */
	int64_t stage, replica; /* of its first step */
	size_t first, n;        /* its steps: step[first] up to step[first + n) */
};

/* = {0} is an empty one. */
struct gv_schedule {
	size_t n_steps;
	struct gv_schedule_step *step; /* [n_steps] GPU by GPU, as they begin */
	size_t n_gpus;
	struct gv_schedule_gpu *gpu; /* [n_gpus] as they appear in the table */
};

/* Whether the present table of t is a schedule, by its columns. */
bool gv_schedule_is(const struct gv_tab *t);

/*
 * Reads the present table of t, the last one of its stream.  0, or -1 with *e set,
 * every bad row located, and *s is empty.  Cost: steps * log(steps).
 */
int gv_schedule_read(struct gv_schedule *s, struct gv_tab *t, struct gv_error *e);
void gv_schedule_free(struct gv_schedule *s);

/* The steps of all GPUs of a timetable that was simulated, one GPU after another. */
void gv_schedule_write(
    const struct gv_timetable *t, const struct gv_pipe *p, struct gv_out *out, bool tsv);

#endif
