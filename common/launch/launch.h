/*
 * Starting, watching and stopping the workers of a job: the one launcher of
 * gv-run and gv-profile.
 *
 * Process model.  A launch forks a keeper, which starts scale_factor workers
 * ("sh -c command"), all in one process group of their own, and waits for them.
 * The keeper is a child subreaper (on Linux; elsewhere only the group is looked
 * after), so also descendants that left the group are found.  When it is told
 * to stop, or when the launcher's process goes away for whatever reason (end of
 * file on the control pipe), the keeper sends SIGTERM to the workers, waits up
 * to grace seconds, sends SIGKILL to everything left, reaps it all and leaves.
 * So no process outlives the launcher by more than the grace time.
 *
 * A worker's children are the worker's to tell (those of a PyTorch DataLoader
 * must live until the checkpoint is written); they get their SIGTERM when their
 * own parent is gone, so "cd d && python train.py" may be a command.  Whatever
 * runs on when the workers have left is stopped the same way.  When a worker of
 * a gang fails, the others are stopped.
 *
 * The keeper is in a session of its own and ignores what a terminal sends: only
 * its launcher decides.  Of the launcher's descriptors it keeps only keep_fd: a
 * lock (flock) held through it is released when the last worker is gone; the
 * workers have none but 0 (/dev/null), 1 and 2 (the log), all signals at their
 * defaults, and die with a keeper that is killed.
 *
 * What a worker finds in its environment, beside its parent's:
 *
 *   CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER=PCI_BUS_ID
 *                            of real GPUs: all of the job's on the node
 *   GV_GPU_TYPE, GV_GPUS     the type, and the ids of the job's GPUs ("0;1")
 *   GV_THREADS               threads of a CPU device; OMP_NUM_THREADS is set to the same, and
 *                            CUDA_VISIBLE_DEVICES is empty, so that no GPU is used
 *   GV_JOB_ID, GV_ROUND, GV_TOTAL_STEPS (when known)
 *   GV_CHECKPOINT_DIR        a directory of the job's own that survives preemption
 *   GV_PROGRESS              the file to report to (below)
 *   RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE GROUP_RANK GROUP_WORLD_SIZE
 *   ROLE_NAME ROLE_RANK ROLE_WORLD_SIZE MASTER_ADDR MASTER_PORT TORCHELASTIC_RUN_ID
 *   TORCHELASTIC_RESTART_COUNT TORCHELASTIC_MAX_RESTARTS
 *                            as torchrun sets them; MASTER_PORT is a port that was
 *                            free a moment ago (29500 when none can be asked for),
 *                            MAX_RESTARTS is RESTART_COUNT
 *
 * What does not apply is taken out, as are TORCHELASTIC_USE_AGENT_STORE and
 * TORCHELASTIC_ERROR_FILE, which promise a worker an agent that is not there.
 *
 * The progress channel.  A worker (rank 0 of a gang) appends lines to the file
 * named by GV_PROGRESS, each written by one write(2):
 *
 *   step N          N steps of the job are done, counted from its very beginning
 *   checkpoint N    the state after N steps is safe on disk
 *
 * The last complete line of a kind counts; other lines are ignored.  A file that
 * has become shorter is read again from its start.
 *
 * How a worker leaves.  0: the job is done.  143, or death by SIGTERM, after it
 * was told to stop: preempted, it has saved itself and wants to go on.  0 after
 * it was told to stop with fewer than total_steps steps reported counts as
 * preempted too.  Anything else: failed (126 also when its working directory
 * cannot be entered; the log says so).
 */
#ifndef GV_LAUNCH_LAUNCH_H
#define GV_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct gv_launch_spec {
	const char *job_id;
	const char *command;           /* run by sh -c */
	const char *working_directory; /* NULL = as it is */
	const char *gpu_type;
	const int *gpus; /* [n_gpus] ids of the GPUs, ascending; one worker each */
	size_t n_gpus;
	int threads; /* > 0: CPU devices of that many threads; 0: real GPUs */
	const char *checkpoint_dir; /* absolute, exists */
	const char *progress;       /* absolute path of the progress file */
	/* gets workers' stdout and stderr, appended; NULL = our stderr */
	const char *log;
	double total_steps; /* NAN = unknown */
	int64_t round;      /* -1 = none */
	int restart_count;  /* how often the job was launched before */
	double grace_s;     /* between SIGTERM and SIGKILL */
	bool clean_env;     /* start from PATH, HOME, LANG, TZ, USER only */
	int keep_fd;        /* stays open in the keeper; -1 = none */
};

/* A running launch.  = {0} is none. */
struct gv_launch {
	pid_t keeper; /* 0 = none */
	int control;  /* closing it tells the keeper to stop */
	bool told;    /* to stop */
};

/*
 * Starts the workers.  0, or -1 with *e set when a process or pipe cannot be
 * made or the log cannot be opened; then nothing runs.  A command that cannot
 * be run shows as status 126 or 127.
 */
int gv_launch_start(
    struct gv_launch *l, const struct gv_launch_spec *spec, struct gv_error *e);

/* Tells it to stop: SIGTERM, grace, SIGKILL.  Returns at once. */
void gv_launch_stop(struct gv_launch *l);
/* The same without grace, also when it was told to stop before. */
void gv_launch_kill(struct gv_launch *l);

/*
 * Asks whether all of it has left.  1: yes, and *status is the exit status of
 * the job: 0 when every worker left with 0, else the first non-zero one in rank
 * order of leaving, 128+n for death by signal n.  0: still running.  -1: *e.
 * Call it when SIGCHLD arrived, or from time to time; wait true blocks until it
 * has left or a signal handler of ours ran (0).
 */
int gv_launch_poll(struct gv_launch *l, bool wait, int *status, struct gv_error *e);

/* What the job has reported, -1 = nothing yet. */
struct gv_progress_report {
	double steps;      /* of the last "step" line */
	double checkpoint; /* of the last "checkpoint" line */
	int64_t offset;    /* where the next read of the file goes on; starts at 0 */
};

/*
 * Reads what is new in a progress file; a missing file is an empty one.  Only
 * whole lines are taken.  0, or -1 with *e set.  Start with GV_PROGRESS_NONE.
 */
#define GV_PROGRESS_NONE                                   \
	{                                                  \
		.steps = -1, .checkpoint = -1, .offset = 0 \
	}

int gv_progress_read(const char *path, struct gv_progress_report *p, struct gv_error *e);

/*
 * The worker's side: appends "KIND N" to the file that GV_PROGRESS names;
 * nothing happens when it names none.  0, or -1 with *e set.
 */
int gv_progress_write(const char *kind, int64_t steps, struct gv_error *e);

enum gv_outcome { GV_FINISHED, GV_PREEMPTED, GV_FAILED };

/*
 * How a worker's leaving is read (see above); steps may be -1, total_steps NAN
 * (then 0 is always finished).
 */
enum gv_outcome gv_launch_outcome(
    int status, bool told, double steps, double total_steps);

#endif
