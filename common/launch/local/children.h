/* The children of this process, as the system lists them. */
#ifndef GV_LAUNCH_LOCAL_CHILDREN_H
#define GV_LAUNCH_LOCAL_CHILDREN_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Calls visit for each child; returns their number, -1 when they cannot be listed
 * (no /proc).  Cost: one small file, whatever else runs (where the kernel has
 * /proc/PID/task/TID/children, CONFIG_PROC_CHILDREN), else a look at every process.
 * A child that is born or goes meanwhile, and then others, may be missed: ask again.
 */
long gv_children_each(void (*visit)(void *ctx, pid_t pid), void *ctx);

/* Whether it is stopped (by SIGSTOP, SIGTSTP ...); not when a debugger holds it. */
bool gv_child_is_stopped(pid_t pid);

#endif
