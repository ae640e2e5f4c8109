/*
 * A link: a stream of bytes to one other member, whatever carries it: TCP
 * (link_tcp), or memory that two processes of a node share, with a socket as its bell
 * (link_memory); tests bring theirs.
 */
#ifndef GV_NET_LINK_H
#define GV_NET_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

struct gv_link;

struct gv_link_ops {
	/* Takes bytes of the n pieces in order: how many, 0 = none now, -1 = the peer is gone. */
	ptrdiff_t (*send)(struct gv_link *l, struct iovec *v, int n);
	/*
	 * Gives bytes into the n pieces in order: how many, 0 = none now, -1 = the peer has
	 * closed or is gone.
	 */
	ptrdiff_t (*recv)(struct gv_link *l, struct iovec *v, int n);
	/*
	 * Frees, once the bytes that were taken are with the peer; waits for that
	 * until the deadline (gv_clock_s; 0 = not at all).
	 */
	void (*close)(struct gv_link *l, double deadline);
	/*
	 * Before fd is polled: what to poll it for.  *ready (false before) = recv, or send
	 * where there is something to send, can go on at once.  NULL: for POLLIN, and
	 * POLLOUT where there is something to send.
	 */
	short (*rest)(struct gv_link *l, bool sends, bool *ready);
};

struct gv_link {
	const struct gv_link_ops *ops;
	int fd; /* poll says POLLIN when recv, POLLOUT when send can go on */
};

/* Of a connected TCP socket, which it owns. */
struct gv_link *gv_link_tcp(int fd);
/* Ends one but for its socket, which is the caller's then. */
int gv_link_tcp_end(struct gv_link *l);

/*
 * Of one end of a connection without waiting, which it owns, and of memory
 * that both ends share, gv_link_memory_bytes() of it, aligned as pages are and zeroed
 * before the first use; one end is the second.  own: bytes that are unmapped as the link
 * closes; 0: the memory outlives it.
 */
struct gv_link *gv_link_memory(int fd, void *memory, bool second, size_t own);
size_t gv_link_memory_bytes(void);

#endif
