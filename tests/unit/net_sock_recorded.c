/*
 * common/net/sock.h over a system that is drawn: addresses of both families, calls that fail or
 * find nothing to do, time that passes; what is asked of the system, in which order, and what
 * comes of it.
 */
#undef _FORTIFY_SOURCE /* whose wrappers are inline: the functions are ours here */
#define _XOPEN_SOURCE 700
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "draws.h"
#include "net/sock.h"
#include "recorded_frame.h"

enum { ROUNDS = 60, PER_ROUND = 60, ADDRESSES = 3, FD = 50, BYTES = 400 };

/* ---- the system ---- */

static struct {
	struct recorded *r;
	double now_s;
	size_t trouble; /* one call in so many fails */
	int next_fd, open;
	struct addrinfo list[ADDRESSES];
	struct sockaddr_in6 address[ADDRESSES];
	int lists;  /* that were not given back */
	bool waits; /* peers take their time */
} sys;

/* A call, its number, and whether it fails; errno is set in any case. */
static bool
fails(int call, const int *error, size_t n)
{
	recorded_whole(sys.r, call);
	errno = error[below(n)];
	return below(sys.trouble) == 0;
}

#define FAILS(call, ...)                        \
	fails(call, (const int[]){__VA_ARGS__}, \
	    sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

int
clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	sys.now_s += 1. / 1024;
	t->tv_sec = (time_t)sys.now_s;
	t->tv_nsec = (long)((sys.now_s - floor(sys.now_s)) * 1e9);
	return 0;
}

int
clock_nanosleep(
    clockid_t clock, int flags, const struct timespec *t, struct timespec *left)
{
	(void)clock;
	(void)left;
	recorded_whole(sys.r, 100 + flags);
	recorded_rounded(sys.r, (double)t->tv_sec + (double)t->tv_nsec * 1e-9, 6);
	sys.now_s += (double)t->tv_sec + (double)t->tv_nsec * 1e-9;
	return 0;
}

int
nanosleep(const struct timespec *t, struct timespec *left)
{
	return clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
}

static void
draw_address(struct sockaddr_in6 *s)
{
	struct sockaddr_in *s4 = (struct sockaddr_in *)s;

	memset(s, 0, sizeof(*s));
	s->sin6_family = below(2) == 0 ? AF_INET6 : AF_INET;
	s->sin6_port = htons((uint16_t)(1000 + below(90)));
	if (s->sin6_family == AF_INET) {
		s4->sin_addr.s_addr = htonl(0x0a000001 + (uint32_t)below(3));
	} else {
		s->sin6_addr.s6_addr[15] = (unsigned char)(1 + below(9));
		if (below(2) == 0)
			s->sin6_addr.s6_addr[10] = s->sin6_addr.s6_addr[11] = 0xff;
		else if (below(3) == 0)
			s->sin6_addr.s6_addr[14] = s->sin6_addr.s6_addr[15] = 0xff;
	}
}

int
getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
    struct addrinfo **list)
{
	size_t n = 1 + below(ADDRESSES), i;

	recorded_text(sys.r, name != NULL ? name : "all");
	recorded_text(sys.r, service);
	recorded_whole(sys.r, hints->ai_flags);
	recorded_whole(sys.r, hints->ai_socktype);
	recorded_whole(sys.r, hints->ai_family);
	if (below(10) == 0)
		return EAI_NONAME;
	for (i = 0; i < n; i++) {
		draw_address(&sys.address[i]);
		sys.list[i] = (struct addrinfo){.ai_family = sys.address[i].sin6_family,
		    .ai_socktype = SOCK_STREAM,
		    .ai_protocol = 6,
		    .ai_addrlen = sizeof(sys.address[i]),
		    .ai_addr = (struct sockaddr *)&sys.address[i],
		    .ai_next = i + 1 < n ? &sys.list[i + 1] : NULL};
	}
	*list = sys.list;
	sys.lists++;
	return 0;
}

void
freeaddrinfo(struct addrinfo *list)
{
	sys.lists -= list == sys.list;
}

int
socket(int family, int type, int protocol)
{
	recorded_whole(sys.r, family);
	recorded_whole(sys.r, type + protocol);
	if (FAILS(1, EMFILE, EAFNOSUPPORT))
		return -1;
	sys.open++;
	return sys.next_fd++;
}

int
close(int fd)
{
	recorded_whole(sys.r, fd);
	sys.open--;
	errno = EIO;
	return 0;
}

int
fcntl(int fd, int what, ...)
{
	va_list ap;
	int v;

	va_start(ap, what);
	v = va_arg(ap, int);
	va_end(ap);
	recorded_whole(sys.r, fd);
	recorded_whole(sys.r, what);
	recorded_whole(sys.r, v);
	return 0;
}

int
setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	recorded_whole(sys.r, fd);
	recorded_whole(sys.r, level);
	recorded_whole(sys.r, name);
	recorded_bytes(sys.r, value, len);
	return 0;
}

int
getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	static const int error[] = {0, 0, ECONNREFUSED, ETIMEDOUT};
	int v = error[below(4)];

	recorded_whole(sys.r, fd);
	recorded_whole(sys.r, level);
	recorded_whole(sys.r, name);
	recorded_whole(sys.r, *len);
	if (FAILS(2, EBADF))
		return -1;
	memcpy(value, &v, sizeof(v));
	return 0;
}

int
bind(int fd, const struct sockaddr *s, socklen_t len)
{
	recorded_whole(sys.r, fd);
	recorded_bytes(sys.r, s, len);
	return FAILS(3, EADDRINUSE, EACCES) ? -1 : 0;
}

int
listen(int fd, int n)
{
	recorded_whole(sys.r, fd);
	recorded_whole(sys.r, n);
	return FAILS(4, EADDRINUSE) ? -1 : 0;
}

int
connect(int fd, const struct sockaddr *s, socklen_t len)
{
	recorded_whole(sys.r, fd);
	recorded_bytes(sys.r, s, len);
	if (FAILS(5, ECONNREFUSED, ENETUNREACH))
		return -1;
	if (below(3) == 0) {
		errno = EIO;
		return 0;
	}
	errno = below(3) == 0 ? EINTR : EINPROGRESS;
	return -1;
}

static int
name_of(int fd, struct sockaddr *s, const socklen_t *len)
{
	struct sockaddr_in6 drawn;

	recorded_whole(sys.r, fd);
	recorded_whole(sys.r, *len);
	if (FAILS(6, ENOTSOCK))
		return -1;
	draw_address(&drawn);
	memcpy(s, &drawn, sizeof(drawn));
	return 0;
}

int
getsockname(int fd, struct sockaddr *s, socklen_t *len)
{
	return name_of(fd, s, len);
}

int
getpeername(int fd, struct sockaddr *s, socklen_t *len)
{
	return name_of(1000 + fd, s, len);
}

int
getnameinfo(const struct sockaddr *s, socklen_t len, char *host, socklen_t room,
    char *service, socklen_t n, int flags)
{
	const struct sockaddr_in *s4 = (const struct sockaddr_in *)s;
	const struct sockaddr_in6 *s6 = (const struct sockaddr_in6 *)s;

	recorded_whole(sys.r, len);
	recorded_whole(sys.r, room);
	(void)n;
	recorded_whole(sys.r, flags + 1000 * (service != NULL));
	if (below(6) == 0) {
		memset(host, 'x', room - 1);
		return EAI_FAIL;
	}
	if (s->sa_family == AF_INET)
		inet_ntop(AF_INET, &s4->sin_addr, host, room);
	else
		inet_ntop(AF_INET6, &s6->sin6_addr, host, room);
	return 0;
}

int
accept(int fd, struct sockaddr *s, socklen_t *len)
{
	if (FAILS(7, EMFILE, EINTR, EAGAIN, ECONNABORTED) || name_of(fd, s, len) != 0)
		return -1;
	sys.open++;
	return sys.next_fd++;
}

int
poll(struct pollfd *p, nfds_t n, int ms)
{
	size_t what = below(sys.waits ? 3 : 8);

	recorded_whole(sys.r, p->fd);
	recorded_whole(sys.r, p->events);
	recorded_whole(sys.r, (long long)n);
	recorded_whole(sys.r, ms);
	if (what == 1) {
		sys.now_s += ms * 1e-3;
		return 0;
	}
	sys.now_s += ms * 1e-3 / 4;
	errno = below(5) == 0 ? EBADF : EINTR;
	return what == 2 ? -1 : 1;
}

/* How many of n bytes go at once; -1: an error. */
static ssize_t
some_of(int call, size_t n)
{
	if (FAILS(call, EPIPE, ECONNRESET, EIO, EAGAIN, EINTR))
		return -1;
	if (below(3) == 0) {
		errno = below(2) == 0 ? EAGAIN : EWOULDBLOCK;
		return -1;
	}
	return (ssize_t)(1 + below(n < 60 ? n : 60));
}

ssize_t
send(int fd, const void *b, size_t n, int flags)
{
	ssize_t sent;

	recorded_whole(sys.r, fd);
	recorded_whole(sys.r, (long long)n);
	recorded_whole(sys.r, flags);
	sent = some_of(8, n);
	if (sent > 0)
		recorded_bytes(sys.r, b, (size_t)sent);
	return sent;
}

ssize_t
recv(int fd, void *b, size_t n, int flags)
{
	ssize_t got;

	recorded_whole(sys.r, fd);
	recorded_whole(sys.r, (long long)n);
	recorded_whole(sys.r, flags);
	got = below(4 * sys.trouble) == 0 ? 0 : some_of(9, n);
	if (got > 0)
		memset(b, 'a' + (int)below(26), (size_t)got);
	return got;
}

/* What is called instead of it where the library is hardened. */
int __poll_chk(struct pollfd *p, nfds_t n, int ms, size_t room);
int
__poll_chk(struct pollfd *p, nfds_t n, int ms, size_t room)
{
	(void)room;
	return poll(p, n, ms);
}

/* As __poll_chk. */
ssize_t __recv_chk(int fd, void *b, size_t n, size_t room, int flags);
ssize_t
__recv_chk(int fd, void *b, size_t n, size_t room, int flags)
{
	(void)room;
	return recv(fd, b, n, flags);
}

/* ---- questions ---- */

static void
ask_addresses(struct recorded *r, const char *addr, struct gv_error *e)
{
	char name[GV_SOCK_ADDR] = "before";
	int fd = -7, port = below(2) == 0 ? 0 : 1234;
	double until_s = sys.now_s + (double)below(40) / 8;

	switch (below(7)) {
	case 0:
	case 1:
		recorded_whole(r, gv_sock_listen(&fd, addr, &port, e));
		recorded_whole(r, port);
		break;
	case 2:
		recorded_whole(r, gv_sock_accept(&fd, FD, until_s, name, e));
		break;
	case 3:
		fd = gv_sock_call("10.0.0.1", port);
		recorded_whole(r, fd == -1 ? errno : 0);
		break;
	case 4:
	case 5:
		recorded_whole(
		    r, gv_sock_connect(&fd, addr != NULL ? addr : "h", port, until_s, e));
		break;
	default:
		gv_sock_here(FD, name);
		recorded_text(r, name);
		gv_sock_there(FD, name);
		recorded_whole(r, gv_sock_error(FD));
	}
	recorded_whole(r, fd);
	recorded_text(r, name);
}

static void
ask_exchange(struct recorded *r, struct gv_error *e)
{
	static char out[BYTES], in[BYTES];
	size_t n_out = below(3) == 0 ? 0 : below(BYTES),
	       n_in = below(3) == 0 ? 0 : below(BYTES);
	double silence = 1 + (double)below(3);
	size_t i;

	for (i = 0; i < BYTES; i++)
		out[i] = (char)(i * 7 % 251);
	memset(in, 0, sizeof(in));
	recorded_whole(
	    r, gv_sock_exchange(FD, out, n_out, in, n_in, silence, "rank 3", e));
	recorded_bytes(r, in, sizeof(in));
}

/* Whether all that it has opened is closed, or handed out. */
static bool
ask(struct recorded *r)
{
	static const char *const addr[] = {NULL, "h", "10.0.0.7"};
	struct gv_error e = {0};
	int handed = 0;

	sys.r = r;
	sys.now_s = 1000;
	sys.trouble = below(2) == 0 ? 4 : 40;
	sys.waits = below(2) == 0;
	sys.next_fd = FD + 1;
	sys.open = sys.lists = 0;
	if (below(3) == 0)
		ask_exchange(r, &e);
	else
		ask_addresses(r, addr[below(3)], &e);
	recorded_error(r, &e);
	recorded_double(r, sys.now_s);
	handed = sys.open;
	recorded_whole(r, handed);
	return sys.lists == 0 && handed >= 0 && handed <= 1;
}

int
main(void)
{
	struct recorded r;
	size_t bad = 0, k;
	uint32_t i;

	recorded_open(&r);
	for (i = 0; i < ROUNDS; i++) {
		draws_begin(73, i, 0);
		for (k = 0; k < PER_ROUND; k++)
			bad += !ask(&r);
		recorded_answer(&r, "%d calls", PER_ROUND);
	}
	is_int((long long)bad, 0, "nothing is left behind");
	recorded_close(&r);
	return done_testing();
}
