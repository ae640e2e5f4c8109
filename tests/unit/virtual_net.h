/*
 * A network of hosts in one process, whose time is its own: what the C library's sockets, poll
 * and clock (virtual_calls.h) are to fibers, each of which is a process on a host.  One runs at a time, until it
 * waits; when all wait, it is as late as it is when the first need not.  Bytes, ends and calls
 * arrive a drawn while after they were sent.
 */
#ifndef VIRTUAL_NET_H
#define VIRTUAL_NET_H

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <ucontext.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "draws.h"

enum { FIBERS = 120, STACK = 192 * 1024, SOCKETS = 1200, PARTS = 24, FIRST_FD = 1000 };

enum vsock_state { VS_FREE, VS_FRESH, VS_LISTENS, VS_CALLS, VS_OPEN };

struct vsock {
	enum vsock_state state;
	int host, port, owner;
	int peer; /* the other end, -1 = none */
	int peer_host, peer_port;
	double ready_s; /* a call is answered then */
	int error;
	struct gv_strbuf in;
	size_t taken, parts;
	struct {
		double at_s;
		size_t end;
	} part[PARTS];
	double end_s; /* nothing comes behind what came until then */
	bool reset;
	int waiting[100]; /* of who listens */
	size_t n_waiting;
};

struct fiber {
	ucontext_t context;
	int host;
	bool done, dead;
	double wakes_s, dies_s, extra_s;
	struct pollfd *poll;
	nfds_t n_poll;
	void (*run)(int fiber);
};

static struct {
	ucontext_t main;
	struct fiber fiber[FIBERS];
	int n, now; /* which one runs */
	double now_s;
	struct vsock s[SOCKETS];
	int n_sockets, next_port;
	char *stack;
} net;

static struct fiber *
me(void)
{
	return &net.fiber[net.now];
}

/* When something that is sent now is there. */
static double
arrives_s(void)
{
	return net.now_s + (double)(1 + below(6)) / 1024;
}

static struct vsock *
vsock(int fd)
{
	struct vsock *s;

	errno = EBADF;
	if (fd < FIRST_FD || fd >= FIRST_FD + net.n_sockets || me()->dead)
		return NULL;
	s = &net.s[fd - FIRST_FD];
	return s->state != VS_FREE ? s : NULL;
}

static struct vsock *
new_vsock(int host, int *fd)
{
	struct vsock *s;

	if (net.n_sockets == SOCKETS)
		abort();
	*fd = FIRST_FD + net.n_sockets;
	s = &net.s[net.n_sockets++];
	gv_strbuf_free(&s->in);
	memset(s, 0, sizeof(*s));
	s->state = VS_FRESH;
	s->host = host;
	s->owner = net.now;
	s->peer = -1;
	s->end_s = HUGE_VAL;
	return s;
}

/* ---- what has arrived ---- */

static size_t
arrived(const struct vsock *s)
{
	size_t end = 0, i;

	for (i = 0; i < s->parts; i++)
		if (s->part[i].at_s <= net.now_s)
			end = s->part[i].end;
	return end > s->taken ? end - s->taken : 0;
}

static short
events_of(const struct vsock *s)
{
	bool ended = s->end_s <= net.now_s;

	if (s->state == VS_LISTENS)
		return s->n_waiting > 0 ? POLLIN : 0;
	if (s->state == VS_CALLS)
		return 0;
	if (s->error != 0)
		return POLLOUT | POLLERR | POLLHUP | POLLIN;
	return (short)(POLLOUT | (arrived(s) > 0 || ended ? POLLIN : 0) |
		       (ended ? 0x2000 /* POLLRDHUP */ : 0) |
		       (ended && s->reset ? POLLERR | POLLHUP : 0));
}

static int
poll_now(struct pollfd *p, nfds_t n)
{
	nfds_t i;
	int ready = 0;

	for (i = 0; i < n; i++) {
		const struct vsock *s;

		p[i].revents = 0;
		if (p[i].fd < 0)
			continue;
		s = vsock(p[i].fd);
		p[i].revents =
		    s == NULL ? POLLNVAL
			      : (short)(events_of(s) & (p[i].events | POLLERR | POLLHUP));
		ready += p[i].revents != 0;
	}
	return ready;
}

/* ---- fibers ---- */

static void
wait_until(double s)
{
	me()->wakes_s = s;
	swapcontext(&me()->context, &net.main);
}

static void
fiber_begin(void)
{
	me()->run(net.now);
	me()->done = true;
	swapcontext(&me()->context, &net.main);
}

/* A process on a host. */
static int
fiber_new(int host, void (*run)(int fiber))
{
	struct fiber *f = &net.fiber[net.n];

	if (net.n == FIBERS)
		abort();
	*f = (struct fiber){.host = host, .run = run, .dies_s = HUGE_VAL};
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = net.stack + (size_t)net.n * STACK;
	f->context.uc_stack.ss_size = STACK;
	makecontext(&f->context, fiber_begin, 0);
	return net.n++;
}

static void
shut(struct vsock *s)
{
	struct vsock *other = s->peer >= 0 ? &net.s[s->peer] : NULL;
	size_t i;

	if (other != NULL) {
		other->end_s = fmin(other->end_s, arrives_s());
		other->reset = s->parts > 0 && s->part[s->parts - 1].end > s->taken;
		if (other->parts > 0)
			other->end_s =
			    fmax(other->end_s, other->part[other->parts - 1].at_s);
	}
	s->state = VS_FREE;
	for (i = 0; i < s->n_waiting; i++)
		shut(&net.s[s->waiting[i]]);
}

/* A process is killed: the system closes what it had. */
static void
die(int fiber)
{
	int i;

	net.fiber[fiber].dead = true;
	net.fiber[fiber].dies_s = HUGE_VAL;
	net.fiber[fiber].wakes_s = 0;
	for (i = 0; i < net.n_sockets; i++)
		if (net.s[i].owner == fiber && net.s[i].state != VS_FREE)
			shut(&net.s[i]);
}

/* A call has come to its host: somebody listens there, or nobody does. */
static void
answer_call(int at)
{
	struct vsock *s = &net.s[at], *l, *peer;
	int i, fd;

	s->state = VS_OPEN;
	for (i = 0; i < net.n_sockets; i++) {
		l = &net.s[i];
		if (l->state == VS_LISTENS && l->host == s->peer_host &&
		    l->port == s->peer_port && l->n_waiting < 100)
			break;
	}
	if (i == net.n_sockets) {
		s->error = ECONNREFUSED;
		return;
	}
	l = &net.s[i];
	peer = new_vsock(l->host, &fd);
	peer->state = VS_OPEN;
	peer->owner = l->owner;
	peer->port = l->port;
	peer->peer = at;
	peer->peer_host = s->host;
	peer->peer_port = s->port;
	s->peer = fd - FIRST_FD;
	l->waiting[l->n_waiting++] = fd - FIRST_FD;
}

static void
least(double *s, double at_s)
{
	if (at_s > net.now_s && at_s < *s)
		*s = at_s;
}

/* The next time at which something happens by itself; HUGE_VAL = never. */
static double
next_s(void)
{
	double s = HUGE_VAL;
	size_t k;
	int i;

	for (i = 0; i < net.n; i++) {
		if (!net.fiber[i].done)
			least(&s, net.fiber[i].wakes_s);
		if (!net.fiber[i].done)
			least(&s, net.fiber[i].dies_s);
	}
	for (i = 0; i < net.n_sockets; i++) {
		const struct vsock *v = &net.s[i];

		if (v->state == VS_FREE)
			continue;
		if (v->state == VS_CALLS)
			least(&s, v->ready_s);
		least(&s, v->end_s);
		for (k = 0; k < v->parts; k++)
			least(&s, v->part[k].at_s);
	}
	return s;
}

static bool
can_go_on(int i)
{
	struct fiber *f = &net.fiber[i];
	bool ready;

	net.now = i;
	ready = !f->done && (f->wakes_s <= net.now_s ||
				(f->poll != NULL && poll_now(f->poll, f->n_poll) > 0));
	return ready;
}

/* Until all are done; false: they wait for ever. */
static bool
net_run(void)
{
	for (;;) {
		int ready[FIBERS], n = 0, i;
		bool done = true;

		for (i = 0; i < net.n; i++)
			if (net.fiber[i].dies_s <= net.now_s)
				die(i);
		for (i = 0; i < net.n_sockets; i++)
			if (net.s[i].state == VS_CALLS && net.s[i].ready_s <= net.now_s)
				answer_call(i);
		for (i = 0; i < net.n; i++) {
			done = done && net.fiber[i].done;
			if (can_go_on(i))
				ready[n++] = i;
		}
		if (done)
			return true;
		if (n == 0) {
			net.now_s = next_s();
			if (net.now_s == HUGE_VAL)
				return false;
			continue;
		}
		net.now = ready[below((size_t)n)];
		swapcontext(&net.main, &me()->context);
	}
}

/* A network without anybody. */
static void
net_begin(void)
{
	int i;

	for (i = 0; i < SOCKETS; i++)
		gv_strbuf_free(&net.s[i].in);
	if (net.stack == NULL)
		net.stack = gv_xcalloc(FIBERS, STACK);
	net.n = net.n_sockets = net.now = 0;
	net.next_port = 40000;
	net.now_s = 1000;
}

#endif
