#include "net/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

/* How a socket for both families writes an IPv4 address. */
static const char MAPPED[] = "::ffff:";

/* Waits until the deadline for events; 1 ready, 0 too late, -1 error. */
static int
wait_for(int fd, short events, double deadline)
{
	for (;;) {
		struct pollfd p = {fd, events, 0};
		double left = deadline - gv_clock_s();
		int r;

		if (left < 0)
			left = 0;
		r = poll(&p, 1, left > 3600 ? 3600000 : (int)(left * 1000) + 1);
		if (r > 0)
			return 1;
		if (r == -1 && errno != EINTR)
			return -1;
		if (gv_clock_s() >= deadline)
			return 0;
	}
}

static void
set_up(int fd)
{
	int one = 1;

	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static int
resolve(struct addrinfo **list, const char *addr, int port, int flags, struct gv_error *e)
{
	struct addrinfo hints = {0};
	char service[16];
	int r;

	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = flags | AI_NUMERICSERV;
	snprintf(service, sizeof(service), "%d", port);
	r = getaddrinfo(addr, service, &hints, list);
	if (r != 0)
		return gv_error_set(e, "cannot find the address \"%s\": %s",
		    addr != NULL ? addr : "*", gai_strerror(r));
	return 0;
}

/* An empty host listens on IPv6 and IPv4 at once where there is IPv6. */
static int
try_listen(const struct addrinfo *a, bool all)
{
	int fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
	int one = 1, zero = 0;

	if (fd == -1)
		return -1;
	set_up(fd);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (a->ai_family == AF_INET6 && all)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, SOMAXCONN) != 0) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

int
gv_sock_listen(int *fd, const char *addr, int *port, struct gv_error *e)
{
	struct addrinfo *list, *a;
	struct sockaddr_storage s;
	socklen_t len = sizeof(s);
	int want;

	*fd = -1;
	if (resolve(&list, addr, *port, AI_PASSIVE, e) != 0)
		return -1;
	for (a = list; addr != NULL && *fd == -1 && a != NULL; a = a->ai_next)
		*fd = try_listen(a, false);
	for (want = AF_INET6; addr == NULL && *fd == -1 && want != 0;
	     want = want == AF_INET6 ? AF_INET : 0)
		for (a = list; *fd == -1 && a != NULL; a = a->ai_next)
			if (a->ai_family == want)
				*fd = try_listen(a, true);
	freeaddrinfo(list);
	if (*fd == -1 && addr == NULL)
		return gv_error_sys(e, "cannot listen on port %d", *port);
	if (*fd == -1)
		return gv_error_sys(e, "cannot listen on %s, port %d", addr, *port);
	if (getsockname(*fd, (struct sockaddr *)&s, &len) == 0)
		*port =
		    ntohs(s.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&s)->sin6_port
						  : ((struct sockaddr_in *)&s)->sin_port);
	return 0;
}

static void
write_numeric(char addr[GV_SOCK_ADDR], const struct sockaddr_storage *s, socklen_t len)
{
	if (getnameinfo((const struct sockaddr *)s, len, addr, GV_SOCK_ADDR, NULL, 0,
		NI_NUMERICHOST) != 0)
		addr[0] = '\0';
	if (strncmp(addr, MAPPED, sizeof(MAPPED) - 1) == 0)
		memmove(
		    addr, addr + sizeof(MAPPED) - 1, strlen(addr) - sizeof(MAPPED) + 2);
}

void
gv_sock_here(int fd, char addr[GV_SOCK_ADDR])
{
	struct sockaddr_storage s;
	socklen_t len = sizeof(s);

	addr[0] = '\0';
	if (getsockname(fd, (struct sockaddr *)&s, &len) == 0)
		write_numeric(addr, &s, len);
}

void
gv_sock_there(int fd, char addr[GV_SOCK_ADDR])
{
	struct sockaddr_storage s;
	socklen_t len = sizeof(s);

	addr[0] = '\0';
	if (getpeername(fd, (struct sockaddr *)&s, &len) == 0)
		write_numeric(addr, &s, len);
}

int
gv_sock_take(int listener, char addr[GV_SOCK_ADDR])
{
	struct sockaddr_storage s;
	socklen_t len = sizeof(s);
	int fd = accept(listener, (struct sockaddr *)&s, &len);

	if (fd == -1)
		return -1;
	set_up(fd);
	write_numeric(addr, &s, len);
	return fd;
}

int
gv_sock_accept(
    int *fd, int listener, double deadline, char addr[GV_SOCK_ADDR], struct gv_error *e)
{
	for (;;) {
		int r = wait_for(listener, POLLIN, deadline);

		*fd = -1;
		if (r == 0)
			return gv_error_set(e, "nobody came");
		*fd = gv_sock_take(listener, addr);
		if (*fd != -1)
			return 0;
		if (errno != EINTR && errno != EAGAIN && errno != ECONNABORTED)
			return gv_error_sys(e, "cannot accept a connection");
	}
}

int
gv_sock_error(int fd)
{
	int error;
	socklen_t len = sizeof(error);

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 ? error : errno;
}

static int
begin_connect(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
	int error;

	if (fd == -1)
		return -1;
	set_up(fd);
	if (connect(fd, a->ai_addr, a->ai_addrlen) == 0 || errno == EINPROGRESS ||
	    errno == EINTR)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

int
gv_sock_call(const char *addr, int port)
{
	struct gv_error ignored = {0};
	struct addrinfo *list;
	int fd;

	if (resolve(&list, addr, port, AI_NUMERICHOST, &ignored) != 0) {
		errno = EINVAL;
		return -1;
	}
	fd = begin_connect(list);
	freeaddrinfo(list);
	return fd;
}

/* One attempt; the descriptor, or -1 with errno. */
static int
try_connect(const struct addrinfo *a, double deadline)
{
	int fd = begin_connect(a);
	int error;

	if (fd == -1)
		return -1;
	error = wait_for(fd, POLLOUT, deadline) == 0 ? ETIMEDOUT : gv_sock_error(fd);
	if (error == 0)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

int
gv_sock_connect(int *fd, const char *addr, int port, double deadline, struct gv_error *e)
{
	struct addrinfo *list, *a;
	double pause = 0.002;

	*fd = -1;
	if (resolve(&list, addr, port, 0, e) != 0)
		return -1;
	for (;;) {
		for (a = list; *fd == -1 && a != NULL; a = a->ai_next)
			*fd = try_connect(a, deadline);
		if (*fd != -1 || gv_clock_s() + pause >= deadline)
			break;
		gv_sleep_s(pause);
		if (pause < 0.1)
			pause *= 2;
	}
	freeaddrinfo(list);
	return *fd != -1 ? 0
			 : gv_error_sys(e, "cannot connect to %s, port %d", addr, port);
}

/* One recv or send that may find nothing to do; bytes moved, or -1 with *e set. */
static ssize_t
move(bool sending, int fd, const char *out, char *in, size_t n, const char *who,
    struct gv_error *e)
{
	ssize_t r = sending ? send(fd, out, n, MSG_NOSIGNAL) : recv(fd, in, n, 0);

	if (r > 0)
		return r;
	if (r == -1 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return 0;
	if ((r == 0 && !sending) || errno == EPIPE || errno == ECONNRESET)
		return gv_error_set(e, "%s is gone", who);
	return gv_error_sys(e, "cannot %s %s", sending ? "send to" : "receive from", who);
}

int
gv_sock_exchange(int fd, const void *out, size_t n_out, void *in, size_t n_in,
    double silence, const char *who, struct gv_error *e)
{
	const char *o = out;
	char *i = in;
	double deadline = gv_clock_s() + silence;

	while (n_out > 0 || n_in > 0) {
		ssize_t sent = n_out > 0 ? move(true, fd, o, NULL, n_out, who, e) : 0;
		ssize_t got = 0;
		int r;

		/* a peer that left may have sent its last words before: read them first */
		if (n_in > 0 && sent >= 0)
			got = move(false, fd, NULL, i, n_in, who, e);
		if (sent < 0 || got < 0)
			return -1;
		if (sent > 0) {
			o += sent;
			n_out -= (size_t)sent;
		}
		if (got > 0) {
			i += got;
			n_in -= (size_t)got;
		}
		if (sent > 0 || got > 0) {
			deadline = gv_clock_s() + silence;
			continue;
		}
		r = wait_for(fd,
		    (short)((n_out > 0 ? POLLOUT : 0) | (n_in > 0 ? POLLIN : 0)),
		    deadline);
		if (r == 0)
			return gv_error_set(e, "%s is silent for %g s", who, silence);
		if (r < 0)
			return gv_error_sys(e, "cannot wait for %s", who);
	}
	return 0;
}
