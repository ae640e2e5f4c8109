/*
 * Starting, watching and stopping the workers of a job, wherever they run: what
 * gv-run and gv-profile call.  How it is done is a launcher's: launch/local runs
 * them on this node; another one (launcher.h) may hand them to a batch system.
 *
 * The life of a launch:
 *
 *	none -> up -> left                the workers ran, and have all gone
 *	none -> not started               it could not be made
 *	up   -> lost                      their node went away with them, or who looked
 *                                     after them was killed
 *
 * Told to stop, the workers get SIGTERM, have grace seconds to save themselves,
 * and are killed.  Whatever a launcher does, when it says that a launch has left,
 * was not started or is lost, no process of it runs any more that it can reach.
 * No worker outlives its launcher's process by more than the grace time.
 *
 * What a worker finds in its environment, beside its parent's:
 *
 *   CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER=PCI_BUS_ID
 *                            of real GPUs: all of the job's on its node
 *   GV_GPU_TYPE, GV_GPUS     the type, and the ids of the job's GPUs on its node ("0;1")
 *   GV_THREADS               threads of a CPU device; OMP_NUM_THREADS is set to the same, and
 *                            CUDA_VISIBLE_DEVICES is empty, so that no GPU is used
 *   GV_JOB_ID, GV_ROUND, GV_TOTAL_STEPS (when known)
 *   GV_CHECKPOINT_DIR        a directory of the job's own that survives preemption
 *   GV_PROGRESS              the file to report to (progress.h)
 *   RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE GROUP_RANK GROUP_WORLD_SIZE
 *   ROLE_NAME ROLE_RANK ROLE_WORLD_SIZE MASTER_ADDR MASTER_PORT TORCHELASTIC_RUN_ID
 *   TORCHELASTIC_RESTART_COUNT TORCHELASTIC_MAX_RESTARTS
 *                            as torchrun sets them; a group is a node; MASTER_PORT
 *                            is a port that was free a moment ago (29500 when none
 *                            can be asked for), MAX_RESTARTS is RESTART_COUNT
 *   GV_GANG_KEY              of a gang: 64 hexadecimal digits, drawn anew for each
 *                            launch, by which its members know each other (net/gang.h)
 *
 * What does not apply is taken out, as are TORCHELASTIC_USE_AGENT_STORE and
 * TORCHELASTIC_ERROR_FILE, which promise a worker an agent that is not there.
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
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct gv_launch_spec {
	const char *job_id;
	const char *command;           /* run by sh -c */
	const char *working_directory; /* NULL = as it is */
	const char *gpu_type;
	const int *gpus; /* [n_gpus] ids on their node, ascending; one worker each */
	/* [n_gpus] the node of each GPU, those of one node together; NULL = all on this one */
	const char *const *node;
	size_t n_gpus;
	/* workers of this node only are started here; NULL = all, which are on one node */
	const char *here;
	const char *master_addr; /* where rank 0 is reached; NULL = 127.0.0.1, of several
	                            nodes the first */
	int master_port;         /* 0 = one that is free here */
	const char *gang_key;    /* that others of the gang have, too; NULL = drawn */
	int threads;             /* > 0: CPU devices of that many threads; 0: real GPUs */
	const char *checkpoint_dir; /* absolute, exists */
	const char *progress;       /* absolute path of the progress file */
	/* gets workers' stdout and stderr, appended; NULL = our stderr */
	const char *log;
	double total_steps; /* NAN = unknown */
	int64_t round;      /* -1 = none */
	int restart_count;  /* how often the job was launched before */
	double grace_s;     /* between SIGTERM and SIGKILL */
	bool clean_env;     /* start from PATH, HOME, LANG, TZ, USER only */
	int keep_fd; /* a descriptor (a lock) that is held until all of it has left;
	                no worker has it; -1 = none */
};

/* A way to run workers: &gv_launch_local of launch/local/local.h, or one of gv_slurm_open. */
struct gv_launcher;
struct gv_launch; /* one launch; NULL = none */

enum gv_launch_state {
	GV_LAUNCH_NONE,        /* under way, or there is no launch */
	GV_LAUNCH_UP,          /* its workers were started, and some run */
	GV_LAUNCH_LEFT,        /* all have left: status */
	GV_LAUNCH_NOT_STARTED, /* it could not be made: reason, error; no fault of the job's */
	GV_LAUNCH_LOST /* it was taken away: node, reason; no fault of the job's */
};

enum { GV_LAUNCH_NODE_LEN = 256 };

/* What is known of a launch. */
struct gv_launch_news {
	enum gv_launch_state state;
	bool told; /* it was told to stop */
	/*
	 * Left: 0 when every worker left with 0, else the first non-zero status in
	 * the order of leaving; 128+n for death by signal n.
	 */
	int status;
	/* Left: its shell could not start a process, and has said so; the job did not. */
	bool starved;
	/*
	 * Not started: the errno (EAGAIN, EMFILE, ENOMEM, ENOSPC ...: try again
	 * later), 0 when no system call is to blame.
	 */
	int error;
	char node[GV_LAUNCH_NODE_LEN]; /* lost with a node: which; else "" */
	/* not started, lost, left with a status that nobody saw (125): why; else "" */
	char reason[GV_ERROR_LEN];
};

/*
 * Launches; nothing of spec is kept.  Fills *news and returns its state: UP or
 * NONE (it is under way, gv_launch_poll tells what becomes of it) with *l set,
 * or NOT_STARTED with *l NULL; then nothing runs, also when only one worker's
 * shell could not be run.  A command that cannot be run, or is too long to be given
 * to a shell, shows as status 126 or 127 later.
 */
enum gv_launch_state gv_launch_start(struct gv_launch **l, const struct gv_launcher *by,
    const struct gv_launch_spec *spec, struct gv_launch_news *news);

/* Tells it to stop: SIGTERM, grace, SIGKILL.  Returns at once; NULL is allowed. */
void gv_launch_stop(struct gv_launch *l);
/* Kills it at once, also when it was told to stop before; NULL is allowed. */
void gv_launch_kill(struct gv_launch *l);

/*
 * Fills *news with what is known now, and returns its state.  After LEFT,
 * NOT_STARTED and LOST the launch is over: *l is freed and NULL.  Call it when
 * SIGCHLD arrived, or from time to time; wait true blocks until the launch is
 * over or a signal handler of ours ran.
 */
enum gv_launch_state gv_launch_poll(
    struct gv_launch **l, bool wait, struct gv_launch_news *news);

/*
 * Of n launches of one launcher that were up or under way at the last poll: which may have
 * other news now, and are to be polled; none is missed for longer than until the next
 * SIGCHLD.  Cost: one system call for all of this node's.
 */
void gv_launch_changed(struct gv_launch *const *l, size_t n, bool *changed);

/* ---- where workers can be started ---- */

struct gv_launch_site {
	bool over;      /* nothing can be started any more: the allocation has ended */
	double left_s;  /* until it will, as far as is known; HUGE_VAL = for ever */
	unsigned turns; /* how often what gv_launch_usable says has changed */
	char reason[GV_ERROR_LEN]; /* over: why */
};

/*
 * What is known of the places of a launcher, which it asks for without waiting: call it
 * from time to time.  soon: it matters now, a round begins say, so what is known should
 * be fresh at the next call.
 */
void gv_launch_look(const struct gv_launcher *by, bool soon, struct gv_launch_site *site);
/*
 * Whether workers can be started on a GPU of a node (-1 = on its CPU); if not, *why says so in words that
 * are good until gv_launch_look.
 */
bool gv_launch_usable(
    const struct gv_launcher *by, const char *node, int gpu, const char **why);

#endif
