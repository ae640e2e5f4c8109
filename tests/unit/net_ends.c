/*
 * common/net/link.h and local.h: how links end, what is woken at exactly which byte, what a link
 * that closes waits for, and which descriptors each member of a group is left with.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/link.h"
#include "net/local.h"
#include "net/sock.h"
#include "tap.h"

enum { RING = 512 * 1024, MANY = 600000, DESCRIPTORS = 200, MEMBERS = 4 };

static unsigned char room[MANY];

static ptrdiff_t
put(struct gv_link *l, size_t n)
{
	struct iovec v = {room, n};

	return l->ops->send(l, &v, 1);
}

static ptrdiff_t
take(struct gv_link *l, size_t n)
{
	struct iovec v = {room, n};

	return l->ops->recv(l, &v, 1);
}

/* ---- memory ---- */

static void
open_memory(struct gv_link *l[2], size_t own)
{
	size_t bytes = gv_link_memory_bytes();
	void *m =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd[2], i;

	if (m == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0)
		exit(2);
	for (i = 0; i < 2; i++)
		fcntl(fd[i], F_SETFL, O_NONBLOCK);
	l[0] = gv_link_memory(fd[0], m, false, own);
	l[1] = gv_link_memory(fd[1], m, true, 0);
}

/* What the other end has said over the socket before it knew of the memory. */
static void
test_last_words(void)
{
	static const char *const words[] = {"x", "two", "\0\0y", "\0z"};
	static const size_t len[] = {1, 3, 3, 2}, bells[] = {0, 0, 2, 1};
	struct gv_link *l[2];
	size_t i;

	for (i = 0; i < 4; i++) {
		struct iovec v;

		open_memory(l, 0);
		(void)!send(l[0]->fd, words[i], len[i], 0);
		l[0]->ops->close(l[0], 0);
		v.iov_len = len[i];
		v.iov_base = gv_xcalloc(1, len[i]); /* no more than that may be touched */
		is_int(l[1]->ops->recv(l[1], &v, 1), (ptrdiff_t)(len[i] - bells[i]),
		    "last words: how many");
		ok(memcmp(v.iov_base, words[i] + bells[i], len[i] - bells[i]) == 0,
		    "last words: which");
		is_int(l[1]->ops->recv(l[1], &v, 1), -1, "and the end behind them");
		free(v.iov_base);
		l[1]->ops->close(l[1], 0);
	}
}

static bool
is_rung(struct gv_link *l)
{
	struct pollfd p = {l->fd, POLLIN, 0};

	return poll(&p, 1, 0) == 1;
}

/* A writer goes on when half the ring is free, and not before. */
static void
test_half(void)
{
	struct gv_link *l[2];
	bool ready = false;

	open_memory(l, 0);
	is_int(take(l[0], 10), 0, "nothing is there");
	is_int(put(l[0], MANY), RING, "a ring takes so much");
	is_int(put(l[0], 1), 0, "and no more");
	l[0]->ops->rest(l[0], true, &ready);
	ok(!ready, "a writer whose ring is full rests");
	is_int(take(l[1], RING / 2 - 1), RING / 2 - 1, "the reader takes almost half");
	ok(!is_rung(l[0]), "it goes on resting");
	l[0]->ops->rest(l[0], true, &ready);
	ok(!ready, "and would again");
	is_int(take(l[1], 1), 1, "the reader takes half");
	ok(is_rung(l[0]), "it is woken");
	l[0]->ops->rest(l[0], true, &ready);
	ok(ready, "and would not rest now");
	ready = false;
	l[0]->ops->rest(l[0], false, &ready);
	ok(!ready, "but who has nothing to send does");
	is_int(put(l[0], 1), 1, "what is free is written");
	l[1]->ops->rest(l[1], false, &ready);
	ok(ready, "a reader does not rest while something is there");
	l[0]->ops->close(l[0], 0);
	is_int(take(l[1], MANY), RING / 2 + 1, "what was taken outlives its end");
	is_int(take(l[1], 1), -1, "then it has ended");
	l[1]->ops->close(l[1], 0);
}

static bool
is_mapped(void *p, size_t n)
{
	return msync(p, n, MS_ASYNC) == 0;
}

static void
test_own(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = gv_link_memory_bytes(), k;
	size_t own[] = {0, 1, bytes};

	for (k = 0; k < 3; k++) {
		unsigned char *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		int fd[2];

		if (m == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0)
			exit(2);
		struct gv_link *l = gv_link_memory(fd[0], m, false, own[k]);

		l->ops->close(l, 0);
		is_int(is_mapped(m, page), k == 0, "the first page of memory, %zu own",
		    own[k]);
		is_int(is_mapped(m + page, bytes - page), k < 2, "the others");
		ok(fcntl(fd[0], F_GETFD) == -1, "its socket is closed");
		close(fd[1]);
		munmap(m, bytes);
	}
}

/* ---- over TCP ---- */

/* Two ends of a connection, the first of which has no room in its system for much. */
static void
open_tcp(struct gv_link *l[2])
{
	struct gv_error e = {0};
	char addr[GV_SOCK_ADDR];
	int listener, port = 0, fd[2], small = 4096;
	double deadline = gv_clock_s() + 60;

	if (gv_sock_listen(&listener, "127.0.0.1", &port, &e) != 0)
		gv_die_error(&e);
	setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	if (gv_sock_connect(&fd[0], "127.0.0.1", port, deadline, &e) != 0 ||
	    gv_sock_accept(&fd[1], listener, deadline, addr, &e) != 0)
		gv_die_error(&e);
	close(listener);
	l[0] = gv_link_tcp(fd[0]);
	l[1] = gv_link_tcp(fd[1]);
}

/* As much as goes, more than the other end's system takes. */
static size_t
fill(struct gv_link *l)
{
	size_t n = 0;
	ptrdiff_t more;

	while (n < 8 * MANY && (more = put(l, 60000)) > 0)
		n += (size_t)more;
	return n;
}

static void
test_tcp(void)
{
	struct pollfd arrives = {.events = POLLIN};
	double deadline = gv_clock_s() + 60;
	struct gv_link *l[2];
	ptrdiff_t sent;
	int fd;

	open_tcp(l);
	is_int(take(l[0], 10), 0, "tcp: nothing is there");
	errno = EPIPE;
	is_int(put(l[0], 0), 0, "tcp: nothing is sent");
	is_int(put(l[1], 1), 1, "tcp: a byte is");
	arrives.fd = l[0]->fd;
	poll(&arrives, 1, 60000);
	errno = EPIPE;
	is_int(take(l[0], 10), 1, "tcp: it comes");
	ok(fill(l[0]) > 0, "tcp: something is");
	is_int(put(l[0], 60000), 0, "tcp: until there is no room");
	fd = l[1]->fd;
	l[1]->ops->close(l[1], 0); /* what it has not read makes a reset of it */
	ok(fcntl(fd, F_GETFD) == -1, "tcp: closed");
	while ((sent = put(l[0], 1)) >= 0 && gv_clock_s() < deadline)
		poll(NULL, 0, 1);
	is_int(sent, -1, "tcp: the other end is gone, and nothing goes there");
	is_int(take(l[0], 1), -1, "tcp: nor comes from there");
	fd = gv_link_tcp_end(l[0]);
	ok(fcntl(fd, F_GETFD) != -1, "tcp: a link that ends without its socket");
	close(fd);
}

/* ---- what a socket that closes waits for ---- */

struct late {
	struct gv_link *l;
	_Atomic bool reads;
	size_t got;
};

/* Reads everything, but not at once. */
static void *
read_late(void *ctx)
{
	struct late *r = ctx;
	struct pollfd p = {r->l->fd, POLLIN, 0};
	ptrdiff_t got;

	poll(NULL, 0, 60);
	(void)!put(r->l, 1);
	poll(NULL, 0, 60);
	r->reads = true;
	while ((got = take(r->l, MANY)) >= 0) {
		r->got += (size_t)got;
		if (got == 0)
			poll(&p, 1, 1000);
	}
	return NULL;
}

static void
test_waits(void)
{
	struct late r = {0};
	struct gv_link *l[2];
	pthread_t thread;
	size_t sent;

	open_tcp(l);
	sent = fill(l[0]);
	r.l = l[1];
	pthread_create(&thread, NULL, read_late, &r);
	l[0]->ops->close(l[0], gv_clock_s() + 100);
	ok(r.reads, "a socket closes once the other end has what it sent");
	pthread_join(thread, NULL);
	is_int((long long)r.got, (long long)sent, "all of it");
	l[1]->ops->close(l[1], 0);
}

/* It does not wait where that is of no use. */
static void
test_does_not_wait(void)
{
	enum { DEADLINE = 20 };
	static const char *const what[] = {"everything is there",
	    "the other end sends no more", "the other end is gone"};
	struct gv_link *l[2];
	double from;
	size_t k;

	for (k = 0; k < 3; k++) {
		open_tcp(l);
		if (k > 0)
			fill(l[0]);
		if (k == 1)
			shutdown(l[1]->fd, SHUT_WR);
		if (k == 2)
			l[1]->ops->close(l[1], 0);
		from = gv_clock_s();
		l[0]->ops->close(l[0], from + DEADLINE);
		ok(gv_clock_s() - from < DEADLINE - 1, "it does not wait when %s",
		    what[k]);
		if (k < 2)
			l[1]->ops->close(l[1], 0);
	}
	open_tcp(l);
	fill(l[0]);
	from = gv_clock_s();
	l[0]->ops->close(l[0], from + .05);
	ok(gv_clock_s() - from >= .05, "otherwise it waits until the deadline");
	l[1]->ops->close(l[1], 0);
}

/* ---- groups on this machine ---- */

static bool is_open_here[DESCRIPTORS];

static size_t
descriptors(void)
{
	size_t n = 0;
	int fd;

	for (fd = 0; fd < DESCRIPTORS; fd++)
		n += is_open_here[fd] = fcntl(fd, F_GETFD) != -1;
	return n;
}

/* Neighbours, and nobody else. */
static bool
joined(const void *ctx, int a, int b)
{
	(void)ctx;
	return a - b == 1 || b - a == 1;
}

/* What a and b say to each other: n bytes that no other pair has. */
static size_t
said(int a, int b, unsigned char *v)
{
	size_t n = (size_t)(40 + 10 * a + b), i;

	for (i = 0; i < n; i++)
		v[i] = (unsigned char)(a * 16 + b);
	return n;
}

static size_t
wrong_with(struct gv_link *l, int own, int other)
{
	unsigned char want[100], got[100];
	size_t n, have = 0;
	struct pollfd p = {l->fd, POLLIN, 0};
	double deadline = gv_clock_s() + 60;

	n = said(own, other, room);
	if (put(l, n) != (ptrdiff_t)n)
		return 1;
	n = said(other, own, want);
	while (have < n && gv_clock_s() < deadline) {
		struct iovec v = {got + have, n - have};
		bool ready = false;
		ptrdiff_t more = l->ops->recv(l, &v, 1);

		if (more < 0)
			return 1;
		have += (size_t)more;
		if (l->ops->rest != NULL)
			l->ops->rest(l, false, &ready);
		if (more == 0 && !ready)
			poll(&p, 1, 1000);
	}
	return have != n || memcmp(got, want, n) != 0;
}

/* As member r: how much is wrong. */
static size_t
member(struct gv_local *g, int r, size_t before)
{
	struct gv_link *link[MEMBERS];
	size_t wrong = 0, links = 0;
	int k;

	memset(link, 0xff, sizeof(struct gv_link *) * MEMBERS);
	gv_local_take(g, r, link);
	for (k = 0; k < MEMBERS; k++) {
		bool has = k == r - 1 || k == r + 1;

		if ((link[k] != NULL) != has)
			return 1;
		if (!has)
			continue;
		links++;
		wrong += (fcntl(link[k]->fd, F_GETFL) & O_NONBLOCK) == 0;
		wrong += (fcntl(link[k]->fd, F_GETFD) & FD_CLOEXEC) == 0;
		wrong += wrong_with(link[k], r, k);
	}
	wrong += descriptors() != before + links;
	for (k = 0; k < MEMBERS; k++)
		if (link[k] != NULL)
			link[k]->ops->close(link[k], gv_clock_s() + 60);
	return wrong + (descriptors() != before);
}

static void
test_local(enum gv_local_kind kind)
{
	const char *name = gv_local_name[kind];
	struct gv_error e = {0};
	struct gv_local *g;
	size_t before = descriptors(), wrong = 0;
	int r, status, flags[MEMBERS];

	for (r = 0; r < MEMBERS; r++)
		flags[r] = fcntl(r, F_GETFD);
	if (gv_local_open(&g, MEMBERS, kind, joined, NULL, &e) != 0)
		gv_die_error(&e);
	is_int((long long)descriptors(), (long long)before + 2 * (MEMBERS - 1),
	    "%s: two ends for each pair", name);
	for (r = 0; r < MEMBERS && flags[r] != -1; r++)
		is_int(fcntl(r, F_GETFD), flags[r], "%s: others stay as they are", name);
	fflush(stdout);
	for (r = 1; r < MEMBERS; r++)
		if (fork() == 0)
			_exit((int)member(g, r, before));
	is_int((long long)member(g, 0, before), 0, "%s: member 0", name);
	for (r = 1; r < MEMBERS; r++) {
		wait(&status);
		wrong += status != 0;
	}
	is_int((long long)wrong, 0, "%s: the other members", name);
	if (gv_local_open(&g, 1, kind, joined, NULL, &e) != 0)
		gv_die_error(&e);
	gv_local_close(g);
	if (gv_local_open(&g, MEMBERS, kind, joined, NULL, &e) != 0)
		gv_die_error(&e);
	gv_local_close(g);
	gv_local_close(NULL);
	is_int((long long)descriptors(), (long long)before, "%s: all are closed", name);
}

/* Where there are too few descriptors all that were had are closed. */
static void
test_few(enum gv_local_kind kind)
{
	struct rlimit was, few;
	struct gv_error e = {0};
	struct gv_local *g = NULL;
	size_t before = descriptors(), more;
	int status;

	getrlimit(RLIMIT_NOFILE, &was);
	/* who cannot connect tries again */
	for (more = 0; more < (kind == GV_LOCAL_TCP ? 1 : 2 * (MEMBERS - 1)); more++) {
		size_t left = more;

		few = was;
		for (few.rlim_cur = 0; left > 0 || is_open_here[few.rlim_cur];
		     few.rlim_cur++)
			left -= !is_open_here[few.rlim_cur];
		setrlimit(RLIMIT_NOFILE, &few);
		status = gv_local_open(&g, MEMBERS, kind, joined, NULL, &e);
		setrlimit(RLIMIT_NOFILE, &was);
		is_int(status, -1, "%s: %zu descriptors are too few", gv_local_name[kind],
		    more);
		ok(e.count == 1 && strstr(e.text[0], strerror(EMFILE)) != NULL,
		    "so it says");
		if (kind == GV_LOCAL_MEMORY && more > 0)
			ok(strncmp(e.text[0], "no sockets: ", 12) == 0, "of sockets");
		is_int((long long)descriptors(), (long long)before, "and none is left");
		gv_error_clear(&e);
	}
}

int
main(void)
{
	test_last_words();
	test_half();
	test_own();
	test_tcp();
	test_waits();
	test_does_not_wait();
	test_local(GV_LOCAL_MEMORY);
	test_local(GV_LOCAL_TCP);
	test_few(GV_LOCAL_MEMORY);
	test_few(GV_LOCAL_TCP);
	return done_testing();
}
