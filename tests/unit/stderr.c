#include "base/stderr.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "tap.h"

enum { LINES = 3000, WIDTH = 50 };

static char got[LINES * WIDTH + 1000];
static size_t n;

static void
drain(int fd)
{
	ssize_t r;

	while ((r = read(fd, got + n, sizeof(got) - 1 - n)) > 0)
		n += (size_t)r;
	got[n] = '\0';
}

/* Whether what was read are the first lines in their order, and how many. */
static int
count_in_order(const char **behind)
{
	const char *s = got;
	char line[WIDTH + 1];
	int i;

	for (i = 0; i < LINES; i++) {
		snprintf(line, sizeof(line), "%0*d\n", WIDTH - 1, i);
		if (strncmp(s, line, WIDTH) != 0)
			break;
		s += WIDTH;
	}
	*behind = s;
	return i;
}

int
main(void)
{
	char line[WIDTH + 1], want[200];
	const char *behind;
	int fd[2], kept, i;

	gv_init("prog");
	if (pipe(fd) != 0 || dup2(fd[1], STDERR_FILENO) == -1 ||
	    fcntl(fd[0], F_SETFL, O_NONBLOCK) == -1)
		return 1;
	close(fd[1]);
	gv_stderr_nowait(gv_progname());
	ok((fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK) == 0,
	    "whoever shares the pipe waits as before");
	ok(!gv_stderr_lags(), "nothing is kept");
	for (i = 0; i < LINES; i++) {
		snprintf(line, sizeof(line), "%0*d\n", WIDTH - 1, i);
		gv_stderr_write(line, WIDTH);
	}
	ok(gv_stderr_lags(), "a full pipe does not hold up its writer");
	gv_stderr_write_now("lost", 4);
	drain(fd[0]);
	while (gv_stderr_lags()) {
		gv_stderr_turn();
		drain(fd[0]);
	}
	kept = count_in_order(&behind);
	ok(kept * WIDTH > 100000 && kept < LINES,
	    "what it takes, and 64 KiB more, come in order");
	snprintf(want, sizeof(want),
	    "prog: warning: %d messages are left out: nobody read them\n", LINES - kept);
	ok(strcmp(behind, want) == 0, "and how many do not");
	n = 0;
	gv_stderr_write("again\n", 6);
	drain(fd[0]);
	ok(strcmp(got, "again\n") == 0 && !gv_stderr_lags(), "then all is as before");
	return done_testing();
}
