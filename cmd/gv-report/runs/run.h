/*
 * Runs of jobs to be compared: each is what events, a table of what became of the
 * jobs, and a summary say of it, any one or all of these.
 *
 * Absent numbers are NAN.
 */
#ifndef GV_REPORT_RUN_H
#define GV_REPORT_RUN_H

#include <stdbool.h>

#include "base/hash.h"
#include "base/mem.h"
#include "gv-report/history/history.h"
#include "gv-report/history/summary.h"
#include "measure.h"

/* Of which tables a run is known. */
enum run_table { RUN_EVENTS, RUN_JOBS, RUN_SUMMARY, RUN_TABLES };

enum job_length { LENGTH_UNKNOWN, LENGTH_SHORT, LENGTH_LONG };

/* What became of a job. */
struct outcome {
	const char *id; /* in the run's arena; id[id_len] is NUL */
	size_t id_len;
	double arrival_s, finish_s;
	double completion_s, queueing_s;
	double running_s, gpu_s;
	double fairness; /* finish-time fairness */
	double deadline_s;
	double launches, preemptions;
	enum job_length length; /* set by runs_finish */
};

struct run_type {
	const char *name;
	size_t name_len;
	double gpus, busy_gpu_s, utilisation, usd;
};

/* A GPU, in the order of types. */
struct run_gpu {
	size_t type;
	size_t lane; /* number of it in over.moments */
};

struct run {
	const char *name;             /* any bytes, NUL behind them */
	const char *from[RUN_TABLES]; /* the files, NULL = no such table */
	size_t n_jobs, cap_jobs;
	struct outcome *job;
	struct gv_hash ids;
	double value[MEASURES];
	size_t n_types, cap_types;
	struct run_type *type;
	struct gv_hash types;
	/* of its events */
	struct over_time over;
	size_t *type_of;    /* [over.n_types] which of type they are */
	struct bins active; /* jobs that have come and not left */
	double end_s;       /* of the last event, or the last finish; 0 = not known */
	size_t n_entities;
	const char **entity; /* [n_entities], the first is that of jobs without one */
	size_t n_gpus;
	struct run_gpu *gpu;
	struct gv_arena arena;
};

/* = {0} is none. */
struct runs {
	size_t n, cap;
	struct run *run; /* in the order in which their tables came */
	struct gv_hash names;
	struct gv_arena arena;
	double end_s;   /* of all of them */
	double short_s; /* jobs that ran no longer are short; NAN = not told apart */
	size_t n_short, n_long; /* jobs, each of which finished in all runs */
};

/* Whether a table is one that runs_table takes. */
bool runs_takes(const struct gv_tab *t);

/*
 * Takes the table that t is at, of the run called name; rows of a table with a
 * column run belong to the runs named there.  0, or -1 with *e set: a bad table, or
 * one of a kind that the run has already.  warn: a last row that is not complete
 * is ignored, *cut says in which line (0: none).
 */
int runs_table(
    struct runs *r, const char *name, struct gv_tab *t, long *cut, struct gv_error *e);

/* A run of a history that was read with its over, which the run takes over. */
void runs_history(struct runs *r, const char *name, const char *file,
    const struct history *h, const struct summary *s);

/*
 * After the last table: fills the measures that no summary told from the jobs, as far
 * as these are the jobs that were measured, and tells short jobs from long ones: by
 * the median of the least time that each ran in any run.
 */
void runs_finish(struct runs *r);
void runs_free(struct runs *r);

/* The spread of a number of outcomes (its offset in the struct) of one length, or any. */
struct numbers {
	size_t n;
	double *v; /* sorted; the caller frees it */
};
struct numbers run_numbers(
    const struct run *r, size_t offset, enum job_length length, struct spread *s);

#endif
