/* Writing to a reader that may not read: nothing here waits for it. */
#ifndef GV_BASE_NOWAIT_H
#define GV_BASE_NOWAIT_H

#include <stdbool.h>
#include <sys/types.h>

struct gv_nowait {
	int fd;        /* it writes without waiting, */
	bool may_wait; /* or waits: only what is sure to be taken is written */
	bool is_socket;
	bool own; /* fd is its own */
	bool gone;
};

/*
 * For what descriptor fd is open on.  A pipe or a terminal becomes an open file of this
 * process's own: the one that was inherited is shared with others, whose writes would
 * fail if it did not wait.  gone: it is a pipe that nobody reads.
 */
void gv_nowait_open(struct gv_nowait *w, int fd);
/* How much was taken, or -1 with errno, EAGAIN where nothing can be taken now. */
ssize_t gv_nowait_write(const struct gv_nowait *w, const char *s, size_t n);
void gv_nowait_close(struct gv_nowait *w);

#endif
