#define _GNU_SOURCE /* sched_getcpu, sched_setaffinity */
#include "nn/cpu/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "nn/cpu/choice.h"

/*
 * A loop is announced by a new generation.  A worker looks for one for a while, since
 * the next loop of a step comes within microseconds, and then sleeps: to be woken takes
 * long, and a woken thread may have to share the waker's core at first.
 */
#define LOOKS_S 300e-6
/* A thread that shares the caller's core leaves it, at most so often. */
#define LEAVES_S 5e-3
enum {
	PAUSES = 64,
	MEETS = 2000
}; /* between looks at the clock; before others may run */

/* The items of a thread that nobody has taken, each on cache lines of its own. */
struct share {
	atomic_size_t next;
	size_t begin, end;
	char apart[104];
};

/*
 * Whoever arrives late finds the loop closed and is not waited for: inside counts those
 * who may still look at it, and grows before open is read.
 */
struct gv_cpu_threads {
	size_t threads;
	pthread_t *id; /* [threads - 1] */
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	struct share *share; /* [threads] */
	atomic_size_t generation;
	atomic_size_t open; /* the generation whose items may be taken; 0 = none */
	atomic_size_t inside;
	atomic_bool stop;
	atomic_int cpu; /* where the caller announced the loop; -1 = nobody knows */
	gv_cpu_item *run;
	void *ctx;
	bool own; /* who takes another's items does both of them harm */
	struct gv_cpu_choice choice;
	double step_s; /* of loops since the last step */
};

struct worker {
	struct gv_cpu_threads *pool;
	size_t thread;
	double left_s; /* when it last left the caller's core */
};

#ifdef __linux__
static int
cpu_here(void)
{
	return sched_getcpu();
}

/*
 * Two threads that look for each other's results on one core seem busy to the system, which
 * on a busy machine leaves them there; so the worker forbids itself that core for a moment.
 */
static void
leave_cpu(int cpu)
{
	cpu_set_t all, others;

	if (sched_getaffinity(0, sizeof(all), &all) != 0)
		return;
	others = all;
	CPU_CLR((size_t)cpu, &others);
	if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof(others), &others) == 0)
		(void)sched_setaffinity(0, sizeof(all), &all);
}
#else
static int
cpu_here(void)
{
	return -1;
}

static void
leave_cpu(int cpu)
{
	(void)cpu;
}
#endif

static void
part_from_caller(struct worker *w)
{
	int cpu = atomic_load_explicit(&w->pool->cpu, memory_order_relaxed);
	double now;

	if (cpu < 0 || cpu != cpu_here())
		return;
	now = gv_clock_s();
	if (now - w->left_s < LEAVES_S)
		return;
	leave_cpu(cpu);
	w->left_s = now;
}

/*
 * Leaves a share to who has begun with it, for half as long again as one's own took.  Looks
 * are rare: each takes the line from who counts on it.
 */
static void
let_finish(const struct share *s, double begun)
{
	double until = gv_clock_s();
	size_t next, i;

	until += (until - begun) / 2;
	while ((next = atomic_load_explicit(&s->next, memory_order_relaxed)) < s->end &&
	       next > s->begin && gv_clock_s() < until)
		for (i = 0; i < PAUSES; i++)
			gv_cpu_rest();
}

/*
 * The same items in each loop, so that a thread finds in its cache what it left there;
 * then what others have not come to.
 */
static void
take_items(struct gv_cpu_threads *p, size_t thread)
{
	double begun = p->own ? gv_clock_s() : 0;
	size_t i, k;

	for (k = 0; k < p->threads; k++) {
		struct share *s = &p->share[(thread + k) % p->threads];

		if (k > 0 && p->own)
			let_finish(s, begun);
		while (atomic_load_explicit(&s->next, memory_order_relaxed) < s->end &&
		       (i = atomic_fetch_add(&s->next, 1)) < s->end)
			p->run(p->ctx, i, thread);
	}
}

/* Waits for a generation other than seen; returns it. */
static size_t
wait_generation(struct gv_cpu_threads *p, size_t seen)
{
	double until = gv_clock_s() + LOOKS_S;
	size_t now;
	int i;

	do
		for (i = 0; i < PAUSES; i++) {
			now = atomic_load(&p->generation);
			if (now != seen)
				return now;
			gv_cpu_rest();
		}
	while (gv_clock_s() < until);
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
		part_from_caller(&w);
		atomic_fetch_add(&w.pool->inside, 1);
		if (atomic_load(&w.pool->open) == seen)
			take_items(w.pool, w.thread);
		atomic_fetch_sub(&w.pool->inside, 1);
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
	p->share = gv_xcalloc(threads, sizeof(*p->share));
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
	free(p->share);
	free(p->id);
	free(p);
}

static void
run_alone(size_t n, gv_cpu_item *run, void *ctx)
{
	size_t i;

	for (i = 0; i < n; i++)
		run(ctx, i, 0);
}

static void
run_together(
    struct gv_cpu_threads *p, size_t n, const size_t *first, gv_cpu_item *run, void *ctx)
{
	size_t i;

	p->run = run;
	p->ctx = ctx;
	for (i = 0; i < p->threads; i++) {
		atomic_store(
		    &p->share[i].next, first == NULL ? n * i / p->threads : first[i]);
		p->share[i].begin = p->share[i].next;
		p->share[i].end = first == NULL ? n * (i + 1) / p->threads : first[i + 1];
	}
	atomic_store_explicit(&p->cpu, cpu_here(), memory_order_relaxed);
	atomic_store(&p->open, atomic_load(&p->generation) + 1);
	announce(p);
	take_items(p, 0);
	atomic_store(&p->open, 0);
	for (i = 0; atomic_load(&p->inside) > 0; i++)
		if (i < MEETS)
			gv_cpu_rest();
		else
			sched_yield();
}

static void
run_shared(struct gv_cpu_threads *p, size_t n, const size_t *first, double work,
    gv_cpu_item *run, void *ctx)
{
	double begun;

	if (p->threads == 1) {
		run_alone(n, run, ctx);
		return;
	}
	begun = gv_clock_s();
	if (p->choice.alone || n <= 1 || work < GV_CPU_WORTH)
		run_alone(n, run, ctx);
	else
		run_together(p, n, first, run, ctx);
	p->step_s += gv_clock_s() - begun;
}

void
gv_cpu_threads_step(struct gv_cpu_threads *p)
{
	if (p->threads > 1)
		gv_cpu_choice_step(&p->choice, p->step_s);
	p->step_s = 0;
}

void
gv_cpu_threads_run(
    struct gv_cpu_threads *p, size_t n, double work, gv_cpu_item *run, void *ctx)
{
	run_shared(p, n, NULL, work, run, ctx);
}

void
gv_cpu_threads_run_own(struct gv_cpu_threads *p, size_t n, const size_t *first,
    double work, gv_cpu_item *run, void *ctx)
{
	p->own = true;
	run_shared(p, n, first, work, run, ctx);
	p->own = false;
}

void
gv_cpu_threads_run_from(struct gv_cpu_threads *p, size_t n, const size_t *first,
    double work, gv_cpu_item *run, void *ctx)
{
	run_shared(p, n, first, work, run, ctx);
}
