/* Commands whose words are wanted: how they end, which variables they have, and when none begins. */
#define _GNU_SOURCE /* RTLD_NEXT */

#include "tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/slurm/command.h"

static bool no_fork, no_pipe;

/* The library's, or none. */
pid_t
fork(void)
{
	pid_t (*next)(void);
	void *found = dlsym(RTLD_NEXT, "fork");

	if (no_fork) {
		errno = EAGAIN;
		return -1;
	}
	memcpy(&next, &found, sizeof(next));
	return next();
}

int
pipe(int fd[2])
{
	int (*next)(int *);
	void *found = dlsym(RTLD_NEXT, "pipe");

	if (no_pipe) {
		errno = EMFILE;
		return -1;
	}
	memcpy(&next, &found, sizeof(next));
	return next(fd);
}

/* The lowest number that is free. */
static int
lowest(void)
{
	int fd = dup(1);

	close(fd);
	return fd;
}

static void
ends(const char *script, double limit_s, int status, const char *out)
{
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, NULL, NULL};
	struct gv_slurm_command c = {.pid = 7, .status = 7};
	int before = lowest();

	argv[2] = strdup(script);
	is_int(gv_slurm_command_start(&c, argv, limit_s), 0, "%s: begins", script);
	ok(c.pid > 0 && c.pid != 7, "%s: is there", script);
	while (!gv_slurm_command_poll(&c))
		gv_sleep_s(.002);
	is_int(c.pid, 0, "%s: has left", script);
	is_int(c.status, status, "%s: its status", script);
	is_str(c.out.s, out, "%s: what it said", script);
	is_int(gv_slurm_command_poll(&c), true, "%s: is not waited for twice", script);
	gv_slurm_command_free(&c);
	ok(c.out.s == NULL && lowest() == before, "%s: nothing is left open", script);
	free(argv[2]);
}

static void
begins_not(const char *name, int why)
{
	char *argv[] = {(char[]){"true"}, NULL};
	struct gv_slurm_command c = {.pid = 7};
	int before = lowest();

	gv_strbuf_str(&c.out, "before");
	errno = 0;
	is_int(gv_slurm_command_start(&c, argv, 1), -1, "%s: nothing begins", name);
	is_int(errno, why, "%s: why", name);
	is_int(c.pid, 0, "%s: nothing is there", name);
	is_int((int)c.out.len, 0, "%s: nor what another said", name);
	is_int(gv_slurm_command_poll(&c), true, "%s: none runs", name);
	is_int(lowest(), before, "%s: nothing is left open", name);
	gv_slurm_command_free(&c);
}

static void
test_env(void)
{
	static const char *const slurms[] = {"SLURM_JOB_ID", "SBATCH_X", "SALLOC_X",
	    "SRUN_X", "SQUEUE_FORMAT", "SINFO_FORMAT", "SCANCEL_X", "SCONTROL_X",
	    "PMI_RANK", "PMIX_X", "SLURM_CONF2"};
	static const char *const others[] = {
	    "SLURM_CONF", "SLURMX", "XSLURM_", "PMI", "GV_X"};
	size_t i, k, found;
	char **env;

	for (i = 0; i < 11; i++)
		setenv(slurms[i], "1", 1);
	for (i = 0; i < 5; i++)
		setenv(others[i], "2", 1);
	env = gv_slurm_env();
	for (i = 0; i < 16; i++) {
		const char *name = i < 11 ? slurms[i] : others[i - 11];

		for (k = found = 0; env[k] != NULL; k++)
			found += strncmp(env[k], name, strlen(name)) == 0 &&
				 env[k][strlen(name)] == '=';
		is_int(
		    (int)found, i >= 11, "%s is%s handed on", name, i < 11 ? " not" : "");
	}
	free(env);
	for (i = 0; i < 11; i++)
		unsetenv(slurms[i]);
}

/* One that is not waited for ends, and what it has begun. */
static void
test_free(void)
{
	char *argv[] = {(char[]){"sleep"}, (char[]){"100"}, NULL};
	struct gv_slurm_command c = {0};
	int before = lowest();
	pid_t pid;

	is_int(gv_slurm_command_start(&c, argv, 100), 0, "a long one");
	is_int(gv_slurm_command_poll(&c), false, "which still runs");
	pid = c.pid;
	gv_slurm_command_free(&c);
	ok(kill(pid, 0) == -1 && errno == ESRCH, "it has been ended");
	ok(c.pid == 0 && lowest() == before, "nothing is left of it");
}

int
main(void)
{
	/* a handler or a mask of ours is not its own */
	signal(SIGTERM, SIG_IGN);
	ends("echo a; echo b >&2", 100, 0, "a\nb\n");
	ends("exit 3", 100, 3, "");
	ends("kill -KILL $$", 100, 137, "");
	ends("kill -TERM $$; echo alive", 100, 143, "");
	ends("cat; echo read", 100, 0, "read\n");
	ends("exec nothing-of-that-name 2>/dev/null", 100, 127, "");
	ends("echo begun; exec sleep 100", .3, 124, "begun\n");
	no_fork = true;
	begins_not("no process", EAGAIN);
	no_fork = false;
	no_pipe = true;
	begins_not("no pipe", EMFILE);
	no_pipe = false;
	test_env();
	test_free();
	return done_testing();
}
