#include "launch/local/strays.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "launch/local/children.h"

void
gv_strays_adopt(void)
{
#ifdef PR_SET_CHILD_SUBREAPER
	prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
}

/* Whether a process has that name, also when it has ended and is not waited for yet. */
static bool
is_called(pid_t pid, const char *name)
{
	char path[64], buf[32];
	size_t len = strlen(name);
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	n = read(fd, buf, sizeof(buf));
	close(fd);
	return n == (ssize_t)len + 1 && memcmp(buf, name, len) == 0;
}

static void
end_stray(void *ctx, pid_t pid)
{
	size_t *left = ctx;

	/* the status of a guard is its launch's; our session has whatever else we have begun */
	if (getsid(pid) == getsid(0) || is_called(pid, "gv-guard"))
		return;
	if (waitpid(pid, NULL, WNOHANG) == pid || is_called(pid, "gv-keeper"))
		return;
	kill(pid, SIGKILL);
	++*left;
}

size_t
gv_strays_end(void)
{
	size_t left = 0;

	gv_children_each(end_stray, &left);
	return left;
}
