/*
 * The processes that look after the workers of a launch: a guard and, its child, a
 * keeper.  Private parts of the launcher on this node.
 */
#ifndef GV_LAUNCH_LOCAL_KEEPER_H
#define GV_LAUNCH_LOCAL_KEEPER_H

#include <sys/resource.h>
#include <sys/types.h>

#include "launch/launch.h"

/* What they need, prepared before the fork so that they allocate nothing. */
struct gv_keeper {
	const struct gv_launch_spec *spec;
	size_t n;      /* workers on this node */
	char ***env;   /* [n] of each worker */
	pid_t *worker; /* [n] room; 0 = has left */
	int control;   /* read end: GV_TELL_STOP, GV_TELL_KILL; at its end, stop */
	int ready; /* write end: struct gv_keeper_ready, its end when all workers run */
	int log;   /* the workers' stdout and stderr */
	/* how many the workers may open; NULL = as many as we */
	const struct rlimit *files;
};

enum { GV_TELL_STOP = 's', GV_TELL_KILL = 'k' };

/* Their descriptors beside 0, 1 and 2, which are /dev/null; the guard has not READY and LOG. */
enum {
	GV_KEEPER_CONTROL = 3,
	GV_KEEPER_READY,
	GV_KEEPER_LOG,
	GV_KEEPER_KEEP,
	GV_KEEPER_OTHERS
};

/*
 * What is said on ready, once by the keeper when everything has been forked, or could
 * not be, and by each worker that cannot become its shell.  The others' ends close
 * when they do.
 */
struct gv_keeper_ready {
	int worker; /* rank that could not be started, -1 = something before */
	int error;  /* errno, 0 = all run */
	bool shell; /* there is a process, which cannot run its shell */
};

/* Says it for the keeper, and closes fd. */
void gv_keeper_say_ready(int fd, int worker, int error);

/*
 * The life of a guard, in the process just forked with all signals blocked: forks
 * the keeper and waits for it; its exit status is the keeper's.  When the keeper
 * is killed it kills whatever that leaves behind.
 */
GV_NORETURN void gv_guard_run(struct gv_keeper *k);

/*
 * The life of a keeper, child of the guard, with its descriptors in place and all
 * signals blocked: starts the workers, waits, stops them when told to or when the
 * guard is killed; its exit status is the job's.
 */
GV_NORETURN void gv_keeper_run(struct gv_keeper *k, pid_t guard);

#endif
