#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/link.h"

static ptrdiff_t
later(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
}

static ptrdiff_t
tcp_send(struct gv_link *l, struct iovec *v, int n)
{
	struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
	ssize_t r = sendmsg(l->fd, &m, MSG_NOSIGNAL);

	return r >= 0 ? r : later();
}

static ptrdiff_t
tcp_recv(struct gv_link *l, struct iovec *v, int n)
{
	ssize_t r = readv(l->fd, v, n);

	if (r > 0)
		return r;
	return r == 0 ? -1 : later();
}

/* Whether the peer's system has all bytes; where that cannot be asked, no. */
static bool
is_delivered(int fd)
{
#ifdef TIOCOUTQ
	int waiting;

	return ioctl(fd, TIOCOUTQ, &waiting) == 0 && waiting == 0;
#else
	(void)fd;
	return false;
#endif
}

/*
 * A socket that is closed answers what comes with a reset, which throws away what
 * it has not sent yet: so it is read until everything is with the peer, or the
 * peer has closed, too.
 */
static void
tcp_close(struct gv_link *l, double deadline)
{
	char rest[4096];

	shutdown(l->fd, SHUT_WR);
	for (;;) {
		struct pollfd p = {l->fd, POLLIN, 0};
		ssize_t r;

		while ((r = recv(l->fd, rest, sizeof(rest), 0)) > 0)
			;
		if (r == 0 || later() != 0 || is_delivered(l->fd) ||
		    gv_clock_s() >= deadline)
			break;
		poll(&p, 1, 2);
	}
	close(l->fd);
	free(l);
}

struct gv_link *
gv_link_tcp(int fd)
{
	static const struct gv_link_ops ops = {tcp_send, tcp_recv, tcp_close, NULL};
	struct gv_link *l = gv_xcalloc(1, sizeof(*l));

	l->ops = &ops;
	l->fd = fd;
	return l;
}

int
gv_link_tcp_end(struct gv_link *l)
{
	int fd = l->fd;

	free(l);
	return fd;
}
