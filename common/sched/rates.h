/*
 * Jobs, and their rates on GPU types: the tables "jobs", "rates" and
 * "allocation" (rates + share) of gv-tables(5) as structs.
 *
 * A job is found by its job_id; its rows need not stand together.  The columns
 * that describe the job are read from its first row and must agree in all.
 */
#ifndef GV_SCHED_RATES_H
#define GV_SCHED_RATES_H

#include <stdint.h>

#include "base/err.h"
#include "sched/cluster.h"
#include "table/tab.h"

/* Absent numbers are NAN, absent texts have len 0, unless said otherwise. */
struct gv_job {
	struct gv_cell id;
	struct gv_cell job_type;
	struct gv_cell entity;
	struct gv_cell node; /* where it runs, of several */
	struct gv_cell command;
	struct gv_cell working_directory;
	int64_t scale_factor;   /* s_m, GPUs needed at once, >= 1; default 1 */
	double priority_weight; /* w_m > 0; default 1 */
	double total_steps;
	double arrival_s; /* default 0 */
	double deadline_s;
	double slo_factor;
	double min_steps_per_s;    /* that it shall have whatever comes; default 0 */
	double steps_remaining;    /* default total_steps */
	double elapsed_s;          /* since arrival; default 0 */
	double isolated_elapsed_s; /* gavel.md A3; default 0 */
	double move_cost; /* what a GPU of it is worth that stays, >= 0; default 1 */
	size_t row;       /* its first row in the frame */
};

/*
 * A row of a rates table: a job on a GPU type, alone or with another job on the same
 * GPUs (space sharing).
 */
struct gv_rate {
	size_t row; /* in the frame */
	size_t job;
	ptrdiff_t type;          /* in the cluster, -1 = the cluster has none of it */
	double steps_per_s;      /* T_mj, of the whole gang; 0 = cannot run there */
	ptrdiff_t with;          /* the other job, of equal scale_factor; -1 = alone */
	double with_steps_per_s; /* of the other job; alone 0 */
	/* X_mj in [0,1], of wall time; 0 where the table has no such column */
	double share;
};

struct gv_rates {
	struct gv_frame frame; /* the table itself; owns the texts */
	size_t n_jobs;         /* in order of first row */
	struct gv_job *job;
	size_t n_rates; /* = rows of the frame, in row order; 0 for a jobs table */
	struct gv_rate *rate;
	bool has_share; /* the table has a column share */
};

/*
 * Fills *r from a frame, which it takes over (also on error).
 * gv_jobs_from: a jobs table, one row a job, a repeated job_id is an error.
 * gv_rates_from: a rates or allocation table; a repeated (job_id, gpu_type) is
 * an error, so is a share outside [0,1]; a gpu_type that the cluster lacks has
 * type -1.  Two jobs on a type stand in one row, with whichever of them first.  cluster may be NULL: then every type is -1.
 * 0, or -1 with *e set, every bad cell located.
 */
int gv_jobs_from(struct gv_rates *r, struct gv_frame *frame, struct gv_error *e);
int gv_rates_from(struct gv_rates *r, struct gv_frame *frame,
    const struct gv_cluster *cluster, struct gv_error *e);
/*
 * Placement sensitivity (Gavel, OSDI 2020, section 3.1).  A row of type
 * "X_unconsolidated" that the cluster does not have says how fast the job is on GPUs
 * of X that lie on several nodes.  Where there is a row of X, too, that one needs a
 * node with GPUs enough for the gang, and this one several nodes and a gang of more
 * than one GPU.  Of those that are possible the faster counts, X's if they are
 * equal: a share of either takes the same GPUs for the same time, so the other is
 * never better.  The one that counts gets type X, the other -1.  Tables without such
 * rows stay.
 */
void gv_rates_spread(struct gv_rates *r, const struct gv_cluster *c);
void gv_rates_free(struct gv_rates *r);
/*
 * A job was read from a row of another frame of the same columns: its texts and its row are
 * those of frame f.
 */
void gv_job_move(struct gv_job *j, const struct gv_frame *f, size_t row);

/*
 * Adds to *w what looks like a slip in a table that can be read: columns and GPU
 * types that look like known ones, entities whose names differ in case or
 * separators alone.  cluster may be NULL.  Linear in the rows.
 */
void gv_rates_slips(
    const struct gv_rates *r, const struct gv_cluster *cluster, struct gv_error *w);
/*
 * That the cluster has any of the table's GPU types.  0, also of a table without
 * rows; or -1 with *e set, which names those of both.
 */
int gv_rates_check_types(
    const struct gv_rates *r, const struct gv_cluster *cluster, struct gv_error *e);

/* How much more than 1 the shares of a job may add up to. */
extern const double gv_share_tolerance;
/* That the shares of each job, those of its pairs included, add up to at most 1.  0 or -1. */
int gv_rates_check_shares(const struct gv_rates *r, struct gv_error *e);

/* The columns that a table of jobs or rates may have, to names; how many. */
enum { GV_RATES_COLUMNS = 64 };
size_t gv_rates_columns(const char *names[GV_RATES_COLUMNS]);

/*
 * Joins jobs (a jobs table, read by gv_jobs_from) with a throughputs table
 * (job_type, scale_factor, gpu_type, steps_per_s) on job_type and scale_factor:
 * *out gets the job's columns + gpu_type, steps_per_s, one row per job and GPU
 * type of the throughputs, jobs in their order, types in order of first
 * appearance there.  Jobs with no matching row are listed by index in missing
 * [jobs->n_jobs], their number in *n_missing, and get no row.  0 or -1.
 */
int gv_rates_join(struct gv_frame *out, const struct gv_rates *jobs,
    const struct gv_frame *throughputs, size_t *missing, size_t *n_missing,
    struct gv_error *e);

#endif
