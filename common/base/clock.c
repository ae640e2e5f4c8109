#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/num.h"

static double
read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

double
gv_clock_s(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

double
gv_now_s(void)
{
	const char *fixed = getenv("GV_NOW");
	double v;

	if (fixed != NULL && gv_parse_double(fixed, strlen(fixed), &v) == 0)
		return v;
	return read_clock(CLOCK_REALTIME);
}

void
gv_sleep_s(double seconds)
{
	struct timespec ts;

	if (!(seconds > 0))
		return;
	ts.tv_sec = (time_t)seconds;
	ts.tv_nsec = (long)((seconds - (double)ts.tv_sec) * 1e9);
	nanosleep(&ts, NULL);
}
