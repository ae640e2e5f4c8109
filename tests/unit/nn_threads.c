/* Loops that threads share: each item once, whoever sleeps or comes late. */
#include <stdatomic.h>
#include <time.h>

#include "nn/cpu/threads.h"
#include "tap.h"

enum { MOST = 40, LOOPS = 2000 };

struct counts {
	atomic_int item[MOST];
	atomic_int strangers; /* items on threads that are not of the pool */
	size_t threads;
};

static void
count(void *ctx, size_t item, size_t thread)
{
	struct counts *c = ctx;

	atomic_fetch_add(&c->item[item], 1);
	if (thread >= c->threads)
		atomic_fetch_add(&c->strangers, 1);
}

/* Loops of every size one after another; now and then so late that workers sleep. */
static void
test_loops(size_t threads, double work)
{
	struct gv_cpu_threads *p = gv_cpu_threads_new(threads);
	struct counts c = {.threads = threads};
	struct timespec nap = {.tv_nsec = 1000000};
	size_t i, k, n;
	int wrong = 0;

	for (i = 0; i < LOOPS; i++) {
		n = i % (MOST + 1);
		for (k = 0; k < MOST; k++)
			atomic_store(&c.item[k], 0);
		if (i % 100 == 99)
			nanosleep(&nap, NULL);
		gv_cpu_threads_run(p, n, work, count, &c);
		for (k = 0; k < MOST; k++)
			wrong += atomic_load(&c.item[k]) != (k < n);
	}
	is_int(wrong, 0, "%zu threads, work %g: every item once", threads, work);
	is_int(atomic_load(&c.strangers), 0, "%zu threads: numbered from 0", threads);
	gv_cpu_threads_free(p);
}

int
main(void)
{
	size_t threads;

	for (threads = 1; threads <= 5; threads++) {
		test_loops(threads, 1e9);
		test_loops(threads, 1);
	}
	gv_cpu_threads_free(NULL);
	return done_testing();
}
