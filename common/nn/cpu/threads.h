/*
 * A pool of threads for loops whose items may run in any order.  Private to
 * common/nn.
 */
#ifndef GV_NN_CPU_THREADS_H
#define GV_NN_CPU_THREADS_H

#include <stddef.h>

/*
 * Work that takes one thread longer than meeting the others, which takes a microsecond or
 * two: sums and products of large matrices, of which a nanosecond has some tens.
 */
#define GV_CPU_WORTH 2e5
/* A number that is read or written, as such work: it comes from memory or others' caches. */
#define GV_CPU_MOVED 8

struct gv_cpu_threads;

/* A moment in a loop that waits for another thread. */
static inline void
gv_cpu_rest(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
	__builtin_ia32_pause();
#endif
}

/* One item; thread is 0..threads-1, for scratch memory. */
typedef void gv_cpu_item(void *ctx, size_t item, size_t thread);

/* threads - 1 threads are started (the caller is the other one).  NULL with errno set. */
struct gv_cpu_threads *gv_cpu_threads_new(size_t threads);
void gv_cpu_threads_free(struct gv_cpu_threads *p); /* NULL is allowed */

/*
 * Runs items 0..n-1; returns when all are done.  work is about how many numbers
 * they add or multiply together: little work is not worth waking a thread for,
 * so the caller does it alone.
 */
void gv_cpu_threads_run(
    struct gv_cpu_threads *p, size_t n, double work, gv_cpu_item *run, void *ctx);
/* The same; thread t begins with items [first[t], first[t + 1]), of 0..n in threads + 1. */
void gv_cpu_threads_run_from(struct gv_cpu_threads *p, size_t n, const size_t *first,
    double work, gv_cpu_item *run, void *ctx);
/*
 * The same where items are of memory that stays in their threads' caches: others take them
 * only from a thread that is late.  first NULL = evenly shared.
 */
void gv_cpu_threads_run_own(struct gv_cpu_threads *p, size_t n, const size_t *first,
    double work, gv_cpu_item *run, void *ctx);
/*
 * A step, loops of which the same come again and again, is over: by how long it took the
 * next one is shared or done by the caller alone (choice.h).  Items run in their order then.
 */
void gv_cpu_threads_step(struct gv_cpu_threads *p);

#endif
