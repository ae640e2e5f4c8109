/* Subnormal numbers are 0 where that was asked for, in threads made later, too. */
#include "tap.h"

#include <float.h>
#include <pthread.h>

#include "base/subnormal.h"

/* A tenth of the least normal float, and what adding it to nothing gives. */
static double
least(void)
{
	volatile float x = FLT_MIN, y;

	y = x * .1f;
	y += 0;
	return (double)y;
}

static void *
in_thread(void *to)
{
	*(double *)to = least();
	return NULL;
}

int
main(void)
{
	volatile float normal = 2 * FLT_MIN;
	double there = -1;
	pthread_t thread;

	ok(least() > 0, "there are subnormal numbers");
	gv_subnormal_flush();
#if defined(__SSE2__) || defined(__aarch64__)
	ok(!(least() > 0), "and then none");
	if (pthread_create(&thread, NULL, in_thread, &there) != 0)
		return 1;
	pthread_join(thread, NULL);
	ok(!(there > 0 || there < 0), "nor in a thread that is made later");
#endif
	ok(normal / 2 >= FLT_MIN, "what is normal stays");
	return done_testing();
}
