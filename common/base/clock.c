#include "base/clock.h"

#include <time.h>

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
gv_clock_thread_s(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

double
gv_clock_process_s(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double
gv_now_s(void)
{
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
