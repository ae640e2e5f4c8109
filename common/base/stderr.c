#include "base/stderr.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/nowait.h"

enum { KEPT = 64 * 1024 };

static const double last_words_s = 1;

static struct {
	bool on;
	const char *name; /* of the program */
	struct gv_nowait to;
	char kept[KEPT];
	size_t n;
	size_t lost; /* messages that found no room */
} late;

void
gv_stderr_nowait(const char *name)
{
	gv_nowait_open(&late.to, STDERR_FILENO);
	late.name = name;
	late.on = true;
}

/* How much of it was taken; all of it where nobody can take any. */
static size_t
take(const char *s, size_t n)
{
	size_t at = 0;

	while (at < n) {
		ssize_t r = gv_nowait_write(&late.to, s + at, n - at);

		if (r >= 0)
			at += (size_t)r;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			break;
		else if (errno != EINTR)
			return n;
	}
	return at;
}

static bool
keep(const char *s, size_t n)
{
	if (n > KEPT - late.n)
		return false;
	memcpy(late.kept + late.n, s, n);
	late.n += n;
	return true;
}

static void
tell_lost(void)
{
	char line[256];

	snprintf(line, sizeof(line),
	    "%.80s: warning: %zu messages are left out: nobody read them\n", late.name,
	    late.lost);
	if (keep(line, strlen(line)))
		late.lost = 0;
}

void
gv_stderr_turn(void)
{
	size_t taken;

	if (late.n == 0)
		return;
	taken = take(late.kept, late.n);
	late.n -= taken;
	memmove(late.kept, late.kept + taken, late.n);
	if (late.lost > 0 && late.n < KEPT / 2)
		tell_lost();
}

void
gv_stderr_write(const char *s, size_t n)
{
	size_t taken = 0;

	if (!late.on) {
		(void)!write(STDERR_FILENO, s, n);
		return;
	}
	gv_stderr_turn();
	if (late.n == 0)
		taken = take(s, n);
	if (late.lost > 0 || !keep(s + taken, n - taken))
		late.lost++;
}

void
gv_stderr_write_now(const char *s, size_t n)
{
	if (!late.on) {
		(void)!write(STDERR_FILENO, s, n);
		return;
	}
	gv_stderr_turn();
	if (late.n == 0)
		(void)take(s, n);
}

bool
gv_stderr_lags(void)
{
	return late.n > 0;
}

void
gv_stderr_last(void)
{
	double until_s = gv_clock_s() + last_words_s;

	gv_stderr_turn();
	while (late.n > 0 && gv_clock_s() < until_s) {
		struct pollfd p = {.fd = late.to.fd, .events = POLLOUT};

		(void)poll(&p, 1, 20);
		gv_stderr_turn();
	}
}
