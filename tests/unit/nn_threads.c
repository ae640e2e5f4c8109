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

/* An item that takes other threads than the caller much longer; ctx counts these. */
static void
sleep_elsewhere(void *ctx, size_t item, size_t thread)
{
	static const struct timespec nap = {.tv_nsec = 100000};
	size_t i;

	(void)item;
	for (i = 0; i < 100; i++)
		gv_cpu_rest();
	if (thread == 0)
		return;
	atomic_fetch_add((atomic_int *)ctx, 1);
	nanosleep(&nap, NULL);
}

static void
test_choice(void)
{
	struct gv_cpu_threads *p = gv_cpu_threads_new(2);
	atomic_int elsewhere = 0;
	size_t i, tries;

	/* another program on the processor of the first thread is a reason to keep both */
	for (tries = 0; tries == 0 || (tries < 100 && atomic_load(&elsewhere) >= 300);
	     tries++)
		for (i = 0; i < 2000; i++) {
			if (i == 1000)
				atomic_store(&elsewhere, 0);
			gv_cpu_threads_run(p, MOST, 1e9, sleep_elsewhere, &elsewhere);
			gv_cpu_threads_step(p);
		}
	/* it is in trials, of ten steps each */
	ok(atomic_load(&elsewhere) < 300, "a thread that only costs time is left out");
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
	test_choice();
	gv_cpu_threads_free(NULL);
	return done_testing();
}
