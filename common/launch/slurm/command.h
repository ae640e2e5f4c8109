/* Commands of Slurm as processes of ours: none is waited for longer than it is worth. */
#ifndef GV_LAUNCH_SLURM_COMMAND_H
#define GV_LAUNCH_SLURM_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/strbuf.h"

/*
 * The environment of this process without what Slurm sets in an allocation (SLURM_*,
 * SBATCH_* and the like would be options to its commands) but SLURM_CONF.  A NULL-ended
 * array of names and values that stay the environment's; the caller frees the array.
 */
char **gv_slurm_env(void);

/*
 * Starts argv[0], found in PATH, in a session of its own with all signals at their
 * defaults.  in: its standard input, -1 = /dev/null; out: its standard output and error;
 * keep: one more descriptor that it gets, -1 = none.  Its pid, or -1 with errno set.  A
 * program that is not there leaves with 127.
 */
pid_t gv_slurm_spawn(char *const *argv, char *const *env, int in, int out, int keep);

/* A command whose words are wanted; {0} is none. */
struct gv_slurm_command {
	pid_t pid; /* 0 = none runs */
	int fd;
	double until_s;
	struct gv_strbuf out; /* what it wrote to both outputs */
	int status;           /* as sh has it; 124: it took too long, and was killed */
};

/*
 * Starts it, to be done within limit_s; it ends with this process, too, where the system
 * can do that.  0, or -1 with errno set.
 */
int gv_slurm_command_start(struct gv_slurm_command *c, char *const *argv, double limit_s);
/* Whether it has left; then status and out are there. */
bool gv_slurm_command_poll(struct gv_slurm_command *c);
/* Kills it if it runs, and frees out. */
void gv_slurm_command_free(struct gv_slurm_command *c);

#endif
