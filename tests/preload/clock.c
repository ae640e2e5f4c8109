/*
 * A clock to preload: every reading of CLOCK_MONOTONIC is later than the one
 * before by GV_CLOCK nanoseconds, or with GV_CLOCK_NOISE=1 by 1 to 15 times that,
 * as a fixed sequence has it.  Times measured by it are the same on every machine.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_llong now_ns;
static atomic_uint state = 1;

static long long
number(const char *name)
{
	const char *s = getenv(name);

	return s != NULL ? strtoll(s, NULL, 10) : 0;
}

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	long long step = number("GV_CLOCK"), now;

	if (number("GV_CLOCK_NOISE") > 0) {
		unsigned x = atomic_load(&state) * 1103515245u + 12345u;

		atomic_store(&state, x);
		step *= 1 + (x >> 16) % 15;
	}
	now = atomic_fetch_add(&now_ns, step) + step + (id == CLOCK_REALTIME);
	ts->tv_sec = (time_t)(now / 1000000000);
	ts->tv_nsec = (long)(now % 1000000000);
	return 0;
}
