/* The traces that are read, each into a list of jobs. */
#ifndef TRACE_CONVERT_FORMATS_H
#define TRACE_CONVERT_FORMATS_H

#include "base/err.h"
#include "traced.h"

/*
 * Each reads path (NULL or "-" standard input) to its end into *l.  0, or -1 with *e
 * set, located by file, line and column.
 *
 * philly_json: cluster_job_log of msr-fiddle/philly-traces.  A job's duration is the
 *	sum over its attempts that have a start and an end, its GPUs those of the first
 *	attempt that has any.
 * philly_csv: a table of jobs, one a row, as Philly and Helios are passed on: GPUs, a
 *	duration or a start and an end; what else it has of an id, a submission, a
 *	virtual cluster, a user, a state.
 * slurm: "sacct -P", with or without -X: rows of steps are passed over.
 * alibaba_2020: pai_job_table; tasks is the path of pai_task_table, whose instances
 *	have the GPUs.  Parts of GPUs are added up and rounded up.
 * alibaba_2023: openb_pod_list.
 */
int philly_json_read(struct traced_list *l, const char *path, struct gv_error *e);
int philly_csv_read(struct traced_list *l, const char *path, struct gv_error *e);
int slurm_read(struct traced_list *l, const char *path, struct gv_error *e);
int alibaba_2020_read(
    struct traced_list *l, const char *path, const char *tasks, struct gv_error *e);
int alibaba_2023_read(struct traced_list *l, const char *path, struct gv_error *e);

#endif
