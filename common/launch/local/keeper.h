/* The keeper process: a private part of the launcher on this node. */
#ifndef GV_LAUNCH_LOCAL_KEEPER_H
#define GV_LAUNCH_LOCAL_KEEPER_H

#include <sys/types.h>

#include "launch/launch.h"

/* What a keeper needs, prepared before the fork so that it allocates nothing. */
struct gv_keeper {
	const struct gv_launch_spec *spec;
	char ***env;   /* [n_gpus] of each worker */
	pid_t *worker; /* [n_gpus] room; 0 = has left */
	int control;   /* read end: at its end, stop */
	int ready;     /* write end: one struct gv_keeper_ready */
	int log;       /* the workers' stdout and stderr */
};

/* What the keeper says when it has started everything, or could not. */
struct gv_keeper_ready {
	int worker; /* rank that could not be started, -1 = something before */
	int error;  /* errno, 0 = all run */
};

/*
 * The life of a keeper, in the process just forked with all signals blocked:
 * starts the workers, waits, stops them when told to; its exit status is the
 * job's.
 */
GV_NORETURN void gv_keeper_run(struct gv_keeper *k);

#endif
