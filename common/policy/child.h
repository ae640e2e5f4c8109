/*
 * A command with a pipe to its standard input and one from its standard output,
 * neither of which ever blocks us; private to common/policy.
 *
 * It runs by "sh -c" in a process group of its own, with its standard error ours,
 * and is killed when we die.
 */
#ifndef GV_POLICY_CHILD_H
#define GV_POLICY_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct gv_child {
	pid_t pid; /* 0 = none, or waited for */
	int in;    /* to its standard input, -1 = closed */
	int out;   /* from its standard output, -1 = it has ended */
};

#define GV_CHILD_NONE ((struct gv_child){.in = -1, .out = -1})

/* Starts a command in a directory (NULL = ours).  0, or -1 with *e set. */
int gv_child_start(
    struct gv_child *c, const char *command, const char *directory, struct gv_error *e);

/*
 * Writes what the pipe takes of s[0..len): how much.  A child that does not read
 * any more takes everything.  Raises no SIGPIPE.
 */
size_t gv_child_write(struct gv_child *c, const char *s, size_t len);
void gv_child_end_input(struct gv_child *c);

/* Reads up to len bytes: their number, 0 = none yet, -1 = there will be no more (out is closed). */
ssize_t gv_child_read(struct gv_child *c, char *buf, size_t len);

/* Whether it has exited; then it was waited for and *status is waitpid's. */
bool gv_child_exited(struct gv_child *c, int *status);

/* Kills its process group, waits for it, closes both pipes.  Also of none. */
void gv_child_kill(struct gv_child *c);

/* Ends its input and gives it that long to leave by itself before it is killed. */
void gv_child_dismiss(struct gv_child *c, double seconds);

#endif
