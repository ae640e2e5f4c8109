#include "nn/cpu/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

/*
 * A loop is announced by a new generation.  A worker looks for one for a short
 * while (the next loop of a step comes within microseconds) and then sleeps.
 */
enum { LOOKS = 2000 };

/* Work that takes one thread longer than waking another: some microseconds. */
#define WORTH 5e5

struct gv_cpu_threads {
	size_t threads;
	pthread_t *id; /* [threads - 1] */
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	atomic_size_t generation;
	atomic_size_t next; /* item to be taken */
	atomic_size_t busy; /* workers that have not finished this generation */
	atomic_bool stop;
	size_t n;
	gv_cpu_item *run;
	void *ctx;
};

struct worker {
	struct gv_cpu_threads *pool;
	size_t thread;
};

static void
rest(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
	__builtin_ia32_pause();
#endif
}

static void
take_items(struct gv_cpu_threads *p, size_t thread)
{
	size_t i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->n)
		p->run(p->ctx, i, thread);
}

/* Waits for a generation other than seen; returns it. */
static size_t
wait_generation(struct gv_cpu_threads *p, size_t seen)
{
	size_t now = seen;
	int i;

	for (i = 0; i < LOOKS; i++) {
		now = atomic_load(&p->generation);
		if (now != seen)
			return now;
		rest();
	}
	pthread_mutex_lock(&p->mutex);
	while ((now = atomic_load(&p->generation)) == seen)
		pthread_cond_wait(&p->wake, &p->mutex);
	pthread_mutex_unlock(&p->mutex);
	return now;
}

static void *
work(void *arg)
{
	struct worker w = *(struct worker *)arg;
	size_t seen = 0;

	free(arg);
	for (;;) {
		seen = wait_generation(w.pool, seen);
		if (atomic_load(&w.pool->stop))
			return NULL;
		take_items(w.pool, w.thread);
		atomic_fetch_sub(&w.pool->busy, 1);
	}
}

static void
announce(struct gv_cpu_threads *p)
{
	pthread_mutex_lock(&p->mutex);
	atomic_fetch_add(&p->generation, 1);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->mutex);
}

struct gv_cpu_threads *
gv_cpu_threads_new(size_t threads)
{
	struct gv_cpu_threads *p = gv_xcalloc(1, sizeof(*p));
	int err;

	p->threads = 1;
	p->id = gv_xcalloc(threads, sizeof(*p->id));
	pthread_mutex_init(&p->mutex, NULL);
	pthread_cond_init(&p->wake, NULL);
	for (; p->threads < threads; p->threads++) {
		struct worker *w = gv_xcalloc(1, sizeof(*w));

		w->pool = p;
		w->thread = p->threads;
		err = pthread_create(&p->id[p->threads - 1], NULL, work, w);
		if (err != 0) {
			free(w);
			gv_cpu_threads_free(p);
			errno = err;
			return NULL;
		}
	}
	return p;
}

void
gv_cpu_threads_free(struct gv_cpu_threads *p)
{
	size_t i;

	if (p == NULL)
		return;
	atomic_store(&p->stop, true);
	announce(p);
	for (i = 0; i + 1 < p->threads; i++)
		pthread_join(p->id[i], NULL);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->mutex);
	free(p->id);
	free(p);
}

void
gv_cpu_threads_run(
    struct gv_cpu_threads *p, size_t n, double work, gv_cpu_item *run, void *ctx)
{
	size_t i;

	if (p->threads == 1 || n <= 1 || work < WORTH) {
		for (i = 0; i < n; i++)
			run(ctx, i, 0);
		return;
	}
	p->n = n;
	p->run = run;
	p->ctx = ctx;
	atomic_store(&p->next, 0);
	atomic_store(&p->busy, p->threads - 1);
	announce(p);
	take_items(p, 0);
	for (i = 0; atomic_load(&p->busy) > 0; i++)
		if (i < LOOKS)
			rest();
		else
			sched_yield();
}
