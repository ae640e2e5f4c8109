/*
 * A pipeline's schedule, gv-tables(5): what each GPU does when, and what that comes
 * to.  Also its report: text, tables, drawing.
 */
#ifndef GV_REPORT_SCHEDULE_H
#define GV_REPORT_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "plan/schedule.h"
#include "table/tab.h"

struct schedule_gpu {
	int64_t gpu;            /* -1 = not told: named by stage and replica */
	int64_t stage, replica; /* of its first step */
	size_t first, n;        /* steps */
	size_t place;
	double op_ms[GV_STEP_OPS]; /* in all, of each op */
	size_t in_flight;          /* micro-batches forwarded and not yet back, at most */
};

/* GPUs that have the same stages. */
struct schedule_place {
	const char *stages; /* "3", or "0;4" */
	size_t gpus;
	double op_ms[GV_STEP_OPS]; /* on the average of its GPUs */
	double busy_share; /* F, B and W of the time from the first step to the last */
	size_t in_flight;
};

/* = {0} is an empty one. */
struct schedule {
	size_t n_steps;
	struct gv_schedule_step *step; /* GPU by GPU, as they begin */
	size_t n_gpus;
	struct schedule_gpu *gpu; /* as they appear */
	size_t n_places;
	struct schedule_place *place;               /* as they appear */
	size_t n_stages, n_micro_batches, n_chunks; /* n_chunks: most stages of a GPU */
	double start_ms, end_ms;                    /* of everything */
	double busy_share;
	/* [n_steps] how long its GPU waited for what it needs, which was on its way */
	double *wait_ms;
	double wait_share; /* of all GPUs' time */
	size_t in_flight;
	struct gv_arena arena;
};

/* Reads it.  0, or -1 with *e set, every bad row located, and *s is empty. */
int schedule_read(struct schedule *s, struct gv_tab *t, struct gv_error *e);
void schedule_free(struct schedule *s);

/* Fills wait_ms and wait_share. */
void schedule_wait(struct schedule *s);

/* Which of the stages of its GPU a step is of, from 0. */
size_t schedule_chunk(const struct schedule *s, const struct gv_schedule_step *step);

/* One unit for all times of it. */
struct schedule_unit {
	const char *name;
	double ms;
};
struct schedule_unit schedule_unit(const struct schedule *s);

/* The report: for people, for machines, drawn. */
void schedule_text(struct gv_out *out, const struct schedule *s, int digits);
void schedule_table(struct gv_out *out, const struct schedule *s, bool tsv);
void schedule_json(struct gv_out *out, const struct schedule *s);
void schedule_svg(struct gv_out *out, const struct schedule *s, int digits);
void schedule_html(struct gv_out *out, const struct schedule *s, int digits);

#endif
