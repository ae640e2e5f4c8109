/*
 * The core that a thread is on.
 *
 * A byte written to a socket or a pipe tells Linux that the writer is about to sleep: whoever
 * waits for the byte is then woken on the writer's core.  Where the writer goes on computing
 * instead, the two share a core, and another one stands still.
 */
#ifndef GV_BASE_CORE_H
#define GV_BASE_CORE_H

#include <stdint.h>

enum { GV_CORE_WORDS = 16 };

/* Where a thread might run before it was told to stay. */
struct gv_core {
	uint64_t allowed[GV_CORE_WORDS];
	int at; /* where it stays; -1: anywhere */
};

/*
 * The calling thread wakes on the core that it is on, until gv_core_leave lets it run
 * wherever it might before.  Nothing where the system does not say which cores those are, or
 * has more than 64 * GV_CORE_WORDS.  Two system calls each, about a microsecond.
 */
void gv_core_stay(struct gv_core *c);
/* Leaves alone what somebody else has set meanwhile. */
void gv_core_leave(struct gv_core *c);

#endif
