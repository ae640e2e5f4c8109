/* How far two cores are from each other now, for benchmarks of threads. */
#ifndef GV_BENCH_TRIP_H
#define GV_BENCH_TRIP_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "nn/cpu/threads.h"

enum { TRIPS = 2000, TRIP_ROUNDS = 20, TRIP_LOOKS = 20000 };

static inline void
trip_wait(atomic_long *ball, long n)
{
	long i;

	for (i = 0; atomic_load(ball) != n; i++)
		if (i < TRIP_LOOKS)
			gv_cpu_rest();
		else
			sched_yield();
}

static inline void *
trip_back(void *arg)
{
	atomic_long *ball = arg;
	long i;

	for (i = 1; i < 2 * TRIPS; i += 2) {
		trip_wait(ball, i);
		atomic_store(ball, i + 1);
	}
	return NULL;
}

/*
 * Nanoseconds that a cache line takes to another core and back, the best of some rounds:
 * about 100 where they share a cache, 400 where they do not.  On a virtual machine that
 * may change from one second to the next.  -1 = no second thread.
 */
static inline double
trip_ns(void)
{
	atomic_long ball = 0;
	pthread_t other;
	double best = 1, start = 0, s;
	long i;

	if (pthread_create(&other, NULL, trip_back, &ball) != 0)
		return -1;
	for (i = 0; i < TRIPS; i++) {
		if (i % (TRIPS / TRIP_ROUNDS) == 0)
			start = gv_clock_s();
		atomic_store(&ball, 2 * i + 1);
		trip_wait(&ball, 2 * i + 2);
		s = (gv_clock_s() - start) * TRIP_ROUNDS / TRIPS;
		if ((i + 1) % (TRIPS / TRIP_ROUNDS) == 0 && s < best)
			best = s;
	}
	pthread_join(other, NULL);
	return 1e9 * best;
}

#endif
