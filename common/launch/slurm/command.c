#include "launch/slurm/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "base/mem.h"

extern char **environ;

enum { TOO_LATE = 124, NOT_THERE = 127 };

static bool
begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* Whether it is a variable that Slurm's commands read as an option. */
static bool
is_slurms(const char *entry)
{
	static const char *const prefix[] = {"SLURM_", "SBATCH_", "SALLOC_", "SRUN_",
	    "SQUEUE_", "SINFO_", "SCANCEL_", "SCONTROL_", "PMI_", "PMIX_"};
	size_t i;

	for (i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
		if (begins(entry, prefix[i]))
			return !begins(entry, "SLURM_CONF=");
	return false;
}

char **
gv_slurm_env(void)
{
	size_t n = 0, i;
	char **env;

	for (i = 0; environ != NULL && environ[i] != NULL; i++)
		;
	env = gv_xcalloc(i + 1, sizeof(*env));
	for (i = 0; environ != NULL && environ[i] != NULL; i++)
		if (!is_slurms(environ[i]))
			env[n++] = environ[i];
	return env;
}

static GV_NORETURN void
become(char *const *argv, char **env, int in, int out, int keep, pid_t with)
{
	sigset_t none;
	int sig;

	for (sig = 1; sig <= SIGRTMAX; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid(); /* what a terminal sends is for us to decide */
#ifdef __linux__
	if (with > 0 && (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != with))
		_exit(NOT_THERE);
#else
	(void)with;
#endif
	if (in == -1)
		in = open("/dev/null", O_RDONLY);
	if (in == -1 || dup2(in, 0) == -1 || dup2(out, 1) == -1 || dup2(out, 2) == -1)
		_exit(NOT_THERE);
	if (keep >= 0)
		fcntl(keep, F_SETFD, 0);
	environ = env;
	execvp(argv[0], argv);
	_exit(NOT_THERE);
}

/* with: whose end ends it as well, 0 = nobody's. */
static pid_t
spawn(char *const *argv, char *const *env, int in, int out, int keep, pid_t with)
{
	char **copy;
	size_t n;
	sigset_t all;
	sigset_t old;
	pid_t pid;
	int error;

	for (n = 0; env[n] != NULL; n++)
		;
	copy = gv_xcalloc(n + 1, sizeof(*copy));
	memcpy(copy, env, n * sizeof(*copy));
	/* so that none of our handlers ever runs in the child */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	pid = fork();
	if (pid == 0)
		become(argv, copy, in, out, keep, with);
	error = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	free(copy);
	errno = error;
	return pid;
}

pid_t
gv_slurm_spawn(char *const *argv, char *const *env, int in, int out, int keep)
{
	return spawn(argv, env, in, out, keep, 0);
}

int
gv_slurm_command_start(struct gv_slurm_command *c, char *const *argv, double limit_s)
{
	int fd[2];
	char **env;

	gv_strbuf_clear(&c->out);
	c->pid = 0; /* what is killed is what began here, whoever made *c */
	if (pipe(fd) != 0)
		return -1;
	fcntl(fd[0], F_SETFD, FD_CLOEXEC);
	fcntl(fd[1], F_SETFD, FD_CLOEXEC);
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	env = gv_slurm_env();
	c->pid = spawn(argv, env, -1, fd[1], -1, getpid());
	free(env);
	close(fd[1]);
	c->fd = fd[0];
	c->until_s = gv_clock_s() + limit_s;
	if (c->pid > 0)
		return 0;
	c->pid = 0;
	close(fd[0]);
	return -1;
}

/* It and what it has begun: it leads a session of its own, once it is there. */
static void
end_all(pid_t pid)
{
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
}

static void
read_out(struct gv_slurm_command *c)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(c->fd, buf, sizeof(buf))) > 0 || (n == -1 && errno == EINTR))
		if (n > 0)
			gv_strbuf_add(&c->out, buf, (size_t)n);
}

bool
gv_slurm_command_poll(struct gv_slurm_command *c)
{
	bool late = gv_clock_s() > c->until_s;
	int status = 0;
	pid_t pid;

	if (c->pid == 0)
		return true;
	read_out(c);
	if (late)
		end_all(c->pid);
	do
		pid = waitpid(c->pid, &status, late ? 0 : WNOHANG);
	while (late && pid == -1 && errno == EINTR);
	if (pid == 0 || (pid == -1 && errno == EINTR))
		return false;
	read_out(c); /* what it wrote last */
	close(c->fd);
	c->pid = 0;
	c->status = late                ? TOO_LATE
		    : pid == -1         ? NOT_THERE
		    : WIFEXITED(status) ? WEXITSTATUS(status)
					: 128 + WTERMSIG(status);
	if (c->out.s == NULL)
		gv_strbuf_str(&c->out, "");
	return true;
}

void
gv_slurm_command_free(struct gv_slurm_command *c)
{
	if (c->pid > 0) {
		end_all(c->pid);
		while (waitpid(c->pid, NULL, 0) == -1 && errno == EINTR)
			;
		close(c->fd);
	}
	gv_strbuf_free(&c->out);
	*c = (struct gv_slurm_command){0};
}
