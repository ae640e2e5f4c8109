/*
 * Traces of Gavel: lines of 10 cells between tabs (job type, command, working
 * directory, option for the number of steps, whether it needs data, steps, scale
 * factor, priority weight, factor of its deadline, arrival), of 9 (no working
 * directory) or, as its Philly traces have it, of 7 (job type, command, option,
 * data, steps, arrival, scale factor).
 */
#ifndef TRACE_CONVERT_GAVEL_H
#define TRACE_CONVERT_GAVEL_H

#include "gv-trace/source/source.h"

/* Cells as they stand in the file, checked; len 0 = the line has none. */
struct gavel_job {
	struct gv_cell job_type, command, working_directory, steps_option;
	bool needs_data;
	struct gv_cell total_steps, scale_factor, priority_weight, arrival_s;
	struct gv_cell slo_factor; /* also empty where it is -1: no objective */
};

/* 0, or -1 with *e set; close with source_close. */
int gavel_open(struct source *s, const char *path, struct gv_error *e);

/* The next job: 1, 0 at the end, -1 with *e set.  Its cells live until the next call. */
int gavel_next(struct source *s, struct gavel_job *job, struct gv_error *e);

#endif
