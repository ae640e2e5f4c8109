/*
 * The parts of gv-run.
 *
 * A run has jobs in the order of its table; the same index stands for a job in
 * table.job, rounds.job and job.  Two jobs that may share GPUs are a pair: behind
 * the jobs in rounds.job, and the owner of the GPUs where both are.  Times are seconds since the run began; they
 * go on while gv-run itself is not there.
 *
 *   gv-run.c   options, and the order of things
 *   table.c    the allocation table: checked, merged with the one kept, written
 *   node.c     the pools of this machine
 *   state.c    the state directory: locks, clock, the jobs' own directories
 *   journal.c  events: to the journal, then to the output
 *   restore.c  the state of a run out of its journal
 *   policy.c   asks the policy for new shares
 *   answer.c   takes what it has answered
 *   work.c     jobs start, report and leave
 *   loop.c     rounds, and what wakes them
 *   dryrun.c   the first rounds on a virtual clock
 */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/fileio.h"
#include "launch/launch.h"
#include "launch/progress.h"
#include "sched/cluster.h"
#include "sched/events.h"
#include "sched/rates.h"
#include "sched/rounds.h"

struct settings {
	const char *cluster;
	const char *state;  /* NULL = a directory below TMPDIR */
	const char *policy; /* a command; NULL = by the table's column policy */
	const char *log_dir;
	const char *node;
	const char *input;
	double round_s;
	double grace_s;
	double policy_timeout_s;
	int max_failures;
	bool dry_run;
	bool resume;
	bool clean_env;
	bool quiet;
	int verbose;
	bool tsv;
};

enum job_state {
	JOB_LATER,   /* has not arrived */
	JOB_WAITING, /* has no GPUs, or waits for those it was given */
	JOB_RUNNING,
	JOB_STOPPING, /* told to leave */
	JOB_FINISHED,
	JOB_DROPPED
};

struct job {
	enum job_state state;
	const struct gv_job *spec; /* in the table */
	char *directory;           /* its own, below the state directory */
	char *checkpoint_dir;
	char *progress;
	char *log;
	double arrived_s;
	int launches;
	int failures;             /* in a row without progress */
	double failed_at;         /* steps when it failed last, -1 = never */
	double retry_s;           /* not to be launched before */
	struct gv_launch *launch; /* NULL = none */
	struct gv_progress_report report;
	double checkpoint;     /* of the last checkpoint event, -1 = none */
	double isolated_s;     /* isolated_elapsed_s (gavel.md A3) */
	double isolated_steps; /* steps it is good for */
	double isolated_rate;  /* steps/s of its isolated share, 0 = not known yet */
};

struct journal {
	struct gv_out *file; /* DIR/events.csv */
	int fd;
	struct gv_tabw file_w;
	bool pairs;         /* events have the column with_job_id */
	struct gv_out *out; /* standard output or -o; NULL once it has failed */
	struct gv_tabw out_w;
	int out_errno; /* of its failure, 0 = none */
	bool pending;  /* events not yet on disk */
};

struct policy {
	char *command; /* for sh -c; NULL = shares stay as they are */
	bool own;      /* of -p: it may let any two jobs share GPUs */
	pid_t pid;     /* 0 = nobody is asked */
	bool due;      /* the set of jobs has changed since it was last asked */
	bool answered; /* the table is its answer for all jobs of the table */
	double asked_s;
	size_t *asked; /* [n_asked] the jobs it was asked about */
	size_t n_asked;
};

struct run {
	const struct settings *o;
	char *dir; /* absolute; NULL in a dry run */
	bool temporary;
	char *directory; /* where the table was given: jobs run there */
	int lock_fd;
	int workers_fd; /* held by every keeper */
	int clock_fd;
	struct gv_cluster cluster;
	struct gv_rates table;
	struct gv_rounds rounds;
	size_t n_jobs;
	struct job *job;
	ptrdiff_t *holder; /* [n_gpus] whose workers are there: a job or a pair */
	ptrdiff_t *plan;   /* [n_gpus] whose workers shall be there */
	struct journal journal;
	struct policy policy;
	int64_t round; /* the present one, -1 = none yet */
	double round_end_s;
	double zero_s; /* of gv_clock_s at time 0 */
	double now_s;
	double read_s;    /* progress files were read */
	bool fill;        /* GPUs may have come free, or somebody can take them */
	int signal;       /* that ends the run; SIGPIPE: nobody reads the events */
	bool killed;      /* a second signal came */
	bool broken;      /* the run cannot go on: state or output cannot be written */
	bool restored;    /* it goes on from a journal */
	double restart_s; /* the time when it went on */
	double *told; /* [rounds.n_jobs][n_types] shares of the last allocate events */
};

/* ---- node.c ---- */

/*
 * Keeps the pools of one machine: those of node, or without one (NULL) those of
 * this host and without a name, or all when all are of the same node.  -1: *e.
 */
int node_select(
    struct gv_cluster *c, const char *file, const char *node, struct gv_error *e);
/* Writes the rows of the cluster table f that are left in c.  0 or -1. */
int node_write(const struct gv_cluster *c, const struct gv_frame *f, const char *path,
    struct gv_error *e);

/* ---- table.c ---- */

/* Reads an allocation table and checks what gv-run needs of it.  0 or -1. */
int table_read(struct gv_rates *t, const char *path, const struct gv_cluster *c,
    const struct settings *o, struct gv_error *e);
/*
 * Writes a table of the jobs of fresh, and before them those of known (may be
 * NULL) that fresh lacks.  0 or -1.
 */
int table_merge(const struct gv_rates *known, const struct gv_rates *fresh,
    const char *path, struct gv_error *e);
/* Shares of a job must add up to at most 1.  0 or -1. */
int table_check_sums(const struct gv_rates *t, struct gv_error *e);
/* The name in the column policy, NULL = none.  Rows that differ: *e and -1. */
int table_policy(const struct gv_rates *t, const char **name, struct gv_error *e);
/*
 * Writes the table as it stands now: shares, steps_remaining and elapsed times; and
 * the pairs that the policy has named since, as rows of their first job.  0 or -1.
 */
int table_write(const struct run *r, const char *path, struct gv_error *e);
/* The same of the jobs that are active, without shares: what a policy is asked.  0 or -1. */
int table_write_rates(const struct run *r, const char *path, struct gv_error *e);

/* ---- state.c ---- */

/* Makes (or finds) the directory and takes its lock.  Exits 75 when another has it. */
int state_open(struct run *r, struct gv_error *e);
/* A path in it; the caller frees. */
char *state_path(const struct run *r, const char *name);
bool state_has(const struct run *r, const char *name);
/* Waits until workers of an earlier gv-run have left, or a signal.  0, or -1 with *e set. */
int state_wait_workers(struct run *r, struct gv_error *e);
/* Names and makes the directories of job m.  0 or -1. */
int state_job(struct run *r, size_t m, struct gv_error *e);
/* Finds r->directory, or keeps it for later.  0 or -1. */
int state_directory(struct run *r, struct gv_error *e);
/* The working directory of a job; the caller frees. */
char *state_directory_of(const struct run *r, const struct job *j);
/* Writes time and round down, so that they go on after a kill. */
void state_clock(struct run *r);
/* Reads them: 0, or -1 when there is nothing (good). */
int state_read_clock(struct run *r, double *epoch_s, double *time_s, int64_t *round);
void state_close(struct run *r, bool done);

/* ---- journal.c ---- */

/* Opens the journal; begins both tables.  r->journal.out is set.  0 or -1. */
int journal_open(struct run *r, struct gv_error *e);
/* An event at now_s; job -1 = of none. */
void journal_event(
    struct run *r, enum gv_event_kind kind, ptrdiff_t job, const char *reason);
/* With the GPUs that the job holds; of a launch, also with the job that was there before. */
void journal_gpus(struct run *r, enum gv_event_kind kind, size_t job, const char *reason);
/* job may be a pair. */
void journal_share(struct run *r, size_t job, size_t type, double share);
void journal_pools(struct run *r);
/* Makes them durable and hands them on.  Sets r->broken or r->signal when that fails. */
void journal_commit(struct run *r);
/* Nobody reads the output any more. */
void journal_output_gone(struct run *r);
void journal_close(struct run *r);

/* ---- restore.c ---- */

/* Replays DIR/events.csv, cutting off a torn last line.  0 or -1. */
int restore(struct run *r, struct gv_error *e);

/* ---- policy.c ---- */

int policy_choose(struct run *r, struct gv_error *e);
/* Asks when the set of jobs has changed; takes the answer when it is there. */
void policy_turn(struct run *r);
/* Whether an answer is so near that decisions should wait for it. */
bool policy_holds(const struct run *r);
/* When to look again, if nothing happens before. */
double policy_wakes_s(const struct run *r);
/* Allocate events for shares that have changed. */
void policy_announce(struct run *r);
void policy_stop(struct run *r);
/* Takes the rates and shares of the table; pairs that are new are added to rounds. */
void policy_table_shares(struct run *r);

/* ---- answer.c ---- */

/* Reads DIR/policy.out.csv and takes its shares; one that is not good is warned about. */
void policy_take_answer(struct run *r);

/* ---- work.c ---- */

/* The GPUs of job m in owner, alone or in a pair, into gpu; their number. */
size_t work_gpus(const struct run *r, const ptrdiff_t *owner, size_t m, size_t *gpu);
void work_arrive(struct run *r, size_t m);
void work_drop(struct run *r, size_t m, const char *reason);
/* Launches every job whose planned GPUs are all free. */
void work_start_planned(struct run *r);
void work_stop(struct run *r, size_t m);
/* Takes note of workers that have left. */
void work_reap(struct run *r);
void work_read_progress(struct run *r);
bool work_any(const struct run *r); /* some workers are there */
const char *job_name(const struct run *r, size_t m, char q[GV_QUOTE_LEN]);

/* ---- loop.c ---- */

void loop_signals(void);   /* catches them from now on; loop acts on them */
bool loop_signalled(void); /* one that ends the run has come */
void loop(struct run *r);

/* ---- dryrun.c ---- */

void dryrun(struct run *r, struct gv_out *out);

#endif
