/*
 * A pool of threads for loops whose items may run in any order.  Private to
 * common/nn.
 */
#ifndef GV_NN_POOL_H
#define GV_NN_POOL_H

#include <stddef.h>

struct pool;

/* One item; thread is 0..threads-1, for scratch memory. */
typedef void pool_item(void *ctx, size_t item, size_t thread);

/* threads - 1 threads are started (the caller is the other one).  NULL with errno set. */
struct pool *pool_new(size_t threads);
void pool_free(struct pool *p); /* NULL is allowed */

/*
 * Runs items 0..n-1; returns when all are done.  work is about how many numbers
 * they add or multiply together: little work is not worth waking a thread for,
 * so the caller does it alone.
 */
void pool_run(struct pool *p, size_t n, double work, pool_item *run, void *ctx);

#endif
