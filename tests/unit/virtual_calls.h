/* Sockets, poll, clock and chance on the network of virtual_net.h, in the place of the C library's. */
#ifndef VIRTUAL_CALLS_H
#define VIRTUAL_CALLS_H

#include <fcntl.h>
#include <netdb.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "base/entropy.h"
#include "virtual_net.h"

int
gv_entropy(void *buf, size_t n)
{
	unsigned char *b = buf;

	errno = ENOSYS;
	if (below(400) == 0)
		return -1;
	while (n-- > 0)
		*b++ = (unsigned char)below(256);
	return 0;
}

int
clock_gettime(clockid_t clock, struct timespec *t)
{
	double s = net.now_s + me()->extra_s;

	(void)clock;
	net.now_s += 1. / (1 << 20);
	t->tv_sec = (time_t)s;
	t->tv_nsec = (long)((s - floor(s)) * 1e9);
	return 0;
}

int
nanosleep(const struct timespec *t, struct timespec *left)
{
	double s = (double)t->tv_sec + (double)t->tv_nsec * 1e-9;

	(void)left;
	if (me()->dead)
		me()->extra_s += s;
	else
		wait_until(net.now_s + s);
	return 0;
}

int
poll(struct pollfd *p, nfds_t n, int ms)
{
	int ready;

	errno = EBADF;
	if (me()->dead)
		return -1;
	errno = EINTR;
	if (below(40) == 0)
		return -1;
	ready = poll_now(p, n);
	if (ready > 0 || ms == 0)
		return ready;
	me()->poll = p;
	me()->n_poll = n;
	wait_until(ms < 0 ? HUGE_VAL : net.now_s + ms * 1e-3);
	me()->poll = NULL;
	errno = EBADF;
	return me()->dead ? -1 : poll_now(p, n);
}

/* What is called instead of it where the library is hardened. */
int __poll_chk(struct pollfd *p, nfds_t n, int ms, size_t room);
int
__poll_chk(struct pollfd *p, nfds_t n, int ms, size_t room)
{
	(void)room;
	return poll(p, n, ms);
}

int
getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
    struct addrinfo **list)
{
	struct addrinfo *a = gv_xcalloc(1, sizeof(*a));
	struct sockaddr_in *s = gv_xcalloc(1, sizeof(*s));

	s->sin_family = AF_INET;
	s->sin_port = htons((uint16_t)atoi(service));
	a->ai_family = AF_INET;
	a->ai_socktype = hints->ai_socktype;
	a->ai_addr = (struct sockaddr *)s;
	a->ai_addrlen = sizeof(*s);
	*list = a;
	if (name == NULL || inet_pton(AF_INET, name, &s->sin_addr) == 1)
		return 0;
	free(s);
	free(a);
	return EAI_NONAME;
}

void
freeaddrinfo(struct addrinfo *a)
{
	free(a->ai_addr);
	free(a);
}

int
socket(int family, int type, int protocol)
{
	int fd = -1;

	(void)family;
	(void)type;
	(void)protocol;
	errno = EMFILE;
	if (!me()->dead && below(80) > 0)
		new_vsock(me()->host, &fd);
	return fd;
}

int
close(int fd)
{
	struct vsock *s = vsock(fd);

	if (s != NULL)
		shut(s);
	return 0;
}

int
fcntl(int fd, int what, ...)
{
	(void)fd;
	return what == F_SETFD || what == F_SETFL ? 0 : -1;
}

int
setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	(void)level;
	(void)name;
	(void)value;
	(void)len;
	return vsock(fd) != NULL ? 0 : -1;
}

int
getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	const struct vsock *s = vsock(fd);

	(void)level;
	(void)name;
	(void)len;
	if (s == NULL)
		return -1;
	memcpy(value, &s->error, sizeof(s->error));
	return 0;
}

/* 10.0.0.1 is host 0. */
static void
to_address(struct sockaddr *to, int host, int port)
{
	struct sockaddr_in s = {.sin_family = AF_INET};

	s.sin_port = htons((uint16_t)port);
	s.sin_addr.s_addr = htonl(0x0a000001 + (uint32_t)host);
	memcpy(to, &s, sizeof(s));
}

static int
host_of(const struct sockaddr *a, int *port)
{
	struct sockaddr_in s;

	memcpy(&s, a, sizeof(s));
	*port = ntohs(s.sin_port);
	return (int)(ntohl(s.sin_addr.s_addr) - 0x0a000001);
}

int
bind(int fd, const struct sockaddr *a, socklen_t len)
{
	struct vsock *s = vsock(fd);
	int i, port, host = host_of(a, &port);

	(void)len;
	if (s == NULL)
		return -1;
	for (i = 0; i < net.n_sockets; i++)
		if (net.s[i].state == VS_LISTENS && net.s[i].host == host &&
		    net.s[i].port == port) {
			errno = EADDRINUSE;
			return -1;
		}
	s->host = host;
	s->port = port != 0 ? port : net.next_port++;
	return 0;
}

int
listen(int fd, int n)
{
	struct vsock *s = vsock(fd);

	(void)n;
	if (s != NULL)
		s->state = VS_LISTENS;
	return s != NULL ? 0 : -1;
}

int
connect(int fd, const struct sockaddr *a, socklen_t len)
{
	struct vsock *s = vsock(fd);

	(void)len;
	if (s == NULL)
		return -1;
	errno = ENETUNREACH;
	if (below(60) == 0)
		return -1;
	s->peer_host = host_of(a, &s->peer_port);
	s->port = net.next_port++;
	s->state = VS_CALLS;
	s->ready_s = arrives_s();
	errno = EINPROGRESS;
	return -1;
}

int
accept(int fd, struct sockaddr *a, socklen_t *len)
{
	static const int error[] = {EINVAL, ENOTSOCK, EBADF, EMFILE, ECONNABORTED};
	struct vsock *s = vsock(fd), *peer;
	int at;

	if (s == NULL)
		return -1;
	errno = error[below(5)];
	if (below(400) == 0)
		return -1;
	errno = EAGAIN;
	if (s->n_waiting == 0)
		return -1;
	at = s->waiting[0];
	memmove(s->waiting, s->waiting + 1, --s->n_waiting * sizeof(s->waiting[0]));
	peer = &net.s[at];
	to_address(a, peer->peer_host, peer->peer_port);
	*len = sizeof(struct sockaddr_in);
	return FIRST_FD + at;
}

int
getsockname(int fd, struct sockaddr *a, socklen_t *len)
{
	const struct vsock *s = vsock(fd);

	if (s == NULL)
		return -1;
	to_address(a, s->host, s->port);
	*len = sizeof(struct sockaddr_in);
	return 0;
}

int
getpeername(int fd, struct sockaddr *a, socklen_t *len)
{
	const struct vsock *s = vsock(fd);

	if (s == NULL)
		return -1;
	to_address(a, s->peer_host, s->peer_port);
	*len = sizeof(struct sockaddr_in);
	return 0;
}

ssize_t
send(int fd, const void *b, size_t n, int flags)
{
	struct vsock *s = vsock(fd), *to;

	(void)flags;
	if (s == NULL)
		return -1;
	errno = EPIPE;
	if (s->state != VS_OPEN || s->error != 0 || s->peer < 0 || s->end_s <= net.now_s)
		return -1;
	if (below(150) == 0) {
		errno = ECONNRESET;
		return -1;
	}
	to = &net.s[s->peer];
	if (n > 200 && below(2) == 0)
		n = 1 + below(n);
	if (to->state == VS_FREE || to->parts == PARTS)
		return (ssize_t)n; /* into the void */
	gv_strbuf_add(&to->in, b, n);
	to->part[to->parts].at_s = arrives_s();
	if (to->parts > 0)
		to->part[to->parts].at_s =
		    fmax(to->part[to->parts].at_s, to->part[to->parts - 1].at_s);
	to->part[to->parts++].end = to->in.len;
	return (ssize_t)n;
}

ssize_t
recv(int fd, void *b, size_t n, int flags)
{
	struct vsock *s = vsock(fd);
	size_t there;

	if (s == NULL)
		return -1;
	there = arrived(s);
	errno = s->error != 0 ? s->error : EAGAIN;
	if (s->error != 0 || (there == 0 && s->end_s > net.now_s))
		return -1;
	errno = ECONNRESET;
	if (there == 0)
		return s->reset ? -1 : 0;
	if (n > there)
		n = there;
	if ((flags & MSG_PEEK) == 0 && below(3) == 0)
		n = 1 + below(n);
	memcpy(b, s->in.s + s->taken, n);
	if ((flags & MSG_PEEK) == 0)
		s->taken += n;
	return (ssize_t)n;
}

/* As __poll_chk. */
ssize_t __recv_chk(int fd, void *b, size_t n, size_t room, int flags);
ssize_t
__recv_chk(int fd, void *b, size_t n, size_t room, int flags)
{
	(void)room;
	return recv(fd, b, n, flags);
}

#endif
