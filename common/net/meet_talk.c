#define _GNU_SOURCE /* POLLRDHUP */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "net/meet_talk.h"

enum {
	GUESTS_SPARE = 64, /* guests beside the members; the longest there makes room */
	AT_ONCE = 16,      /* guests let in before those that are in are heard again */
	LOGGED_MAX = 20    /* lines: a scanner must not fill a disk */
};

#ifndef POLLRDHUP
#define POLLRDHUP 0
#endif

static const double guest_s = 5;   /* for a guest to say hello */
static const double moment_s = .1; /* of it that nobody who comes later takes away */
/* Rank 0, to tell who comes why there will be no gang; one has left while others come. */
static const double lingers_s = .1, lingers_long_s = 2;

static void say(struct gv_meeting *m, const char *fmt, ...) GV_PRINTF(2, 3);
static void
say(struct gv_meeting *m, const char *fmt, ...)
{
	char line[GV_ERROR_LEN];
	va_list ap;

	if (m->s->log == NULL || m->sent_away > LOGGED_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	m->s->log(m->s->ctx, line);
}

static void
send_away(struct gv_meeting *m, const char *who, const char *why)
{
	m->sent_away++;
	say(m, "%s is sent away: %s", who, why);
}

/* So few bytes that a fresh connection takes them whole, or is no good. */
static bool
send_all(int fd, const void *b, size_t n)
{
	return send(fd, b, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static bool
answer(int fd, uint32_t verdict, const unsigned char *nonce, const char *key)
{
	struct gv_answer a = {verdict, 0};
	unsigned char b[GV_ANSWER_LEN];

	gv_answer_write(b, &a, NULL, nonce, key);
	return send_all(fd, b, sizeof(b));
}

/* ---- guests ---- */

static void
drop_talk(struct gv_meeting *m, size_t i)
{
	if (m->talk[i].fd != -1)
		close(m->talk[i].fd);
	m->talk[i] = m->talk[--m->n];
}

static struct gv_talk *
add_talk(struct gv_meeting *m, int fd, int rank, double deadline)
{
	struct gv_talk *t;

	m->talk = gv_xgrow(m->talk, &m->cap, m->n + 1, sizeof(*m->talk));
	t = &m->talk[m->n++];
	memset(t, 0, sizeof(*t));
	t->fd = fd;
	t->rank = rank;
	t->since = gv_clock_s();
	t->deadline = deadline;
	return t;
}

/* The guest that makes room for another one; NULL: there is room. */
static struct gv_talk *
oldest_guest(const struct gv_meeting *m)
{
	struct gv_talk *oldest = NULL;
	size_t i, guests = 0;

	for (i = 0; i < m->n; i++) {
		if (m->talk[i].rank != -1)
			continue;
		guests++;
		if (oldest == NULL || m->talk[i].since < oldest->since)
			oldest = &m->talk[i];
	}
	return guests < (size_t)m->s->world + GUESTS_SPARE ? NULL : oldest;
}

/* When the next guest may come in: however many come, each can say hello. */
static double
opens_s(const struct gv_meeting *m)
{
	const struct gv_talk *t = oldest_guest(m);

	return t != NULL ? t->since + moment_s : 0;
}

static void
make_room(struct gv_meeting *m)
{
	struct gv_talk *t = oldest_guest(m);

	if (t == NULL)
		return;
	send_away(m, t->addr, "too many came at once");
	drop_talk(m, (size_t)(t - m->talk));
}

static int
welcome(struct gv_meeting *m, int fd, const char addr[GV_SOCK_ADDR], struct gv_error *e)
{
	unsigned char nonce[GV_NONCE_LEN];
	struct gv_talk *t;

	if (gv_entropy(nonce, sizeof(nonce)) != 0) {
		gv_error_sys(e, "cannot draw a nonce");
		close(fd);
		return -1;
	}
	make_room(m);
	t = add_talk(m, fd, -1, fmin(gv_clock_s() + guest_s, m->deadline));
	t->stage = AWAIT_HELLO;
	memcpy(t->addr, addr, GV_SOCK_ADDR);
	gv_challenge_write(t->challenge, nonce);
	if (!send_all(fd, t->challenge, sizeof(t->challenge)))
		drop_talk(m, m->n - 1);
	return 0;
}

/* A few of those that wait; those that are in are heard before the next. */
static int
accept_guests(struct gv_meeting *m, struct gv_error *e)
{
	char addr[GV_SOCK_ADDR];
	int fd, n;

	for (n = 0; n < AT_ONCE && opens_s(m) <= gv_clock_s(); n++) {
		fd = gv_sock_take(m->listener, addr);
		if (fd != -1) {
			if (welcome(m, fd, addr, e) != 0)
				return -1;
			continue;
		}
		/* a guest that has left, or no descriptor for it: it may come again */
		return errno == EBADF || errno == EINVAL || errno == ENOTSOCK
			   ? gv_error_sys(e, "cannot accept a connection")
			   : 0;
	}
	return 0;
}

static enum gv_verdict
judge(const struct gv_meeting *m, const struct gv_hello *h)
{
	int lowest = m->s->rank + 1;

	if (h->world != (uint32_t)m->s->world)
		return GV_OTHER_WORLD;
	if (h->rank < (uint32_t)lowest || h->rank >= (uint32_t)m->s->world ||
	    h->to != (uint32_t)m->s->rank)
		return GV_NO_SUCH_RANK;
	if (h->fingerprint != m->s->fingerprint)
		return GV_OTHER_FINGERPRINT;
	if (m->s->rank == 0 && (h->port == 0 || h->port > 65535))
		return GV_NO_SUCH_RANK;
	return m->fd[h->rank] == -1 ? GV_WELCOME : GV_RANK_TAKEN;
}

static void
admit(struct gv_meeting *m, struct gv_talk *t, const struct gv_hello *h)
{
	m->fd[h->rank] = t->fd;
	t->fd = -1;
	memcpy(m->host[h->rank], t->addr, GV_SOCK_ADDR);
	m->member[h->rank].port = h->port;
	memcpy(m->member[h->rank].addr, t->addr, GV_SOCK_ADDR);
	memcpy(m->nonce[h->rank], h->nonce, GV_NONCE_LEN);
	m->missing--;
}

/*
 * A guest has said its hello.  Who has the key and still does not belong here was
 * started wrongly, so that waiting for a better one would be in vain.
 */
static int
hear_guest(struct gv_meeting *m, struct gv_talk *t, struct gv_error *e)
{
	const char *key = m->s->key;
	bool keyed = key != NULL && key[0] != '\0';
	enum gv_verdict v;
	struct gv_hello h;
	char who[GV_SOCK_ADDR + 32];

	if (!gv_hello_read(&h, t->in, t->challenge, key)) {
		answer(t->fd, GV_OTHER_KEY, h.nonce, key);
		send_away(m, t->addr, gv_verdict_text(GV_OTHER_KEY));
		return 0;
	}
	v = judge(m, &h);
	/* rank 0 welcomes all at once, when all are there */
	if (v == GV_WELCOME &&
	    (m->s->rank == 0 || answer(t->fd, GV_WELCOME, h.nonce, key))) {
		admit(m, t, &h);
		return 0;
	}
	if (v == GV_WELCOME)
		return 0;
	answer(t->fd, v, h.nonce, key);
	snprintf(who, sizeof(who), "rank %lu of %s", (unsigned long)h.rank, t->addr);
	if (keyed && m->s->rank == 0 && h.rank > 0 && h.rank < (uint32_t)m->s->world) {
		m->misfit = (int)h.rank;
		m->misfit_is.port = v;
		memcpy(m->misfit_is.addr, t->addr, GV_SOCK_ADDR);
	}
	if (keyed)
		return gv_error_set(e, "%s cannot join: %s", who, gv_verdict_text(v));
	send_away(m, who, gv_verdict_text(v));
	return 0;
}

/* ---- calls ---- */

int
gv_talk_hello(struct gv_meeting *m, struct gv_talk *t, uint32_t port, struct gv_error *e)
{
	struct gv_hello h = {.rank = (uint32_t)m->s->rank,
	    .world = (uint32_t)m->s->world,
	    .fingerprint = m->s->fingerprint,
	    .port = port,
	    .to = (uint32_t)t->rank};
	unsigned char b[GV_HELLO_LEN];

	if (gv_entropy(h.nonce, sizeof(h.nonce)) != 0)
		return gv_error_sys(e, "cannot draw a nonce");
	memcpy(t->nonce, h.nonce, sizeof(h.nonce));
	gv_hello_write(b, &h, t->challenge, m->s->key);
	return send_all(t->fd, b, sizeof(b))
		   ? 0
		   : gv_talk_no_answer(m, t->rank, "is gone", e);
}

int
gv_talk_call(struct gv_meeting *m, int rank, struct gv_error *e)
{
	int fd = gv_sock_call(m->member[rank].addr, (int)m->member[rank].port);

	if (fd == -1) {
		int error = errno;

		memcpy(m->host[rank], m->member[rank].addr, GV_SOCK_ADDR);
		if (gv_talk_hears(m, e))
			return -1;
		m->why = GV_BLAME_GONE;
		m->culprit = rank;
		errno = error;
		return gv_error_sys(
		    e, "cannot connect to rank %d of %s", rank, m->member[rank].addr);
	}
	memcpy(m->host[rank], m->member[rank].addr, GV_SOCK_ADDR);
	add_talk(m, fd, rank, m->deadline)->stage = AWAIT_CONNECTION;
	return 0;
}

/* A whole message of somebody we have called is there. */
static int
hear_called(struct gv_meeting *m, struct gv_talk *t, struct gv_error *e)
{
	struct gv_answer a;

	if (t->stage == AWAIT_CHALLENGE && !gv_challenge_begins(t->in, 4))
		return gv_talk_no_answer(m, t->rank, "is somebody else", e);
	if (t->stage == AWAIT_CHALLENGE) {
		memcpy(t->challenge, t->in, sizeof(t->challenge));
		t->stage = AWAIT_ANSWER;
		t->got = 0;
		return gv_talk_hello(m, t, 0, e);
	}
	if (gv_answer_read(&a, t->in, 0) != 0 ||
	    !gv_answer_true(t->in, NULL, t->nonce, m->s->key))
		return gv_talk_no_answer(m, t->rank, "is somebody else", e);
	if (a.verdict != GV_WELCOME)
		return gv_error_set(e, "rank %d refused rank %d: %s", t->rank, m->s->rank,
		    gv_verdict_text(a.verdict));
	m->fd[t->rank] = t->fd;
	t->fd = -1;
	m->missing--;
	return 0;
}

/* ---- the loop ---- */

static size_t
wanted(const struct gv_talk *t)
{
	if (t->stage == AWAIT_HELLO)
		return GV_HELLO_LEN;
	return t->stage == AWAIT_CHALLENGE ? GV_CHALLENGE_LEN : GV_ANSWER_LEN;
}

enum outcome { GO_ON, OVER, FAILED };

static enum outcome
leave_talk(struct gv_meeting *m, struct gv_talk *t, const char *why, struct gv_error *e)
{
	if (t->rank != -1) {
		gv_talk_no_answer(m, t->rank, why, e);
		return FAILED;
	}
	return OVER;
}

/* Something has come on a connection that is not proved. */
static enum outcome
hear(struct gv_meeting *m, struct gv_talk *t, struct gv_error *e)
{
	ssize_t r;

	if (t->stage == AWAIT_CONNECTION) {
		if (gv_sock_error(t->fd) != 0)
			return leave_talk(m, t, "is gone", e);
		t->stage = AWAIT_CHALLENGE;
	}
	r = recv(t->fd, t->in + t->got, wanted(t) - t->got, 0);
	if (r == -1 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return GO_ON;
	if (r <= 0) {
		if (t->rank == -1)
			send_away(m, t->addr, "it left without a hello");
		return leave_talk(m, t, "is gone", e);
	}
	t->got += (size_t)r;
	if (t->rank == -1 && !gv_hello_begins(t->in, t->got)) {
		send_away(m, t->addr, "what it says is no hello of a gang");
		return OVER;
	}
	if (t->got < wanted(t))
		return GO_ON;
	if ((t->rank == -1 ? hear_guest(m, t, e) : hear_called(m, t, e)) != 0)
		return FAILED;
	return t->stage == AWAIT_ANSWER && t->fd != -1 ? GO_ON : OVER;
}

/*
 * Those that are proved are watched, too: rank 0's wait for the roster and say nothing; the
 * others' may have gone on, and have sent what is for later.  Returns the number of descriptors.
 */
static size_t
fill_poll(struct gv_meeting *m, double *until)
{
	size_t n = 0, i;
	double opens;
	bool shut;
	int r;

	m->poll = gv_xgrow(
	    m->poll, &m->poll_cap, m->n + (size_t)m->s->world + 1, sizeof(*m->poll));
	*until = m->deadline;
	for (i = 0; i < m->n; i++) {
		short events = m->talk[i].stage == AWAIT_CONNECTION ? POLLOUT : POLLIN;

		m->poll[n++] = (struct pollfd){m->talk[i].fd, events, 0};
		*until = fmin(*until, m->talk[i].deadline);
	}
	opens = opens_s(m);
	shut = opens > gv_clock_s();
	if (shut)
		*until = fmin(*until, opens);
	m->poll[n++] = (struct pollfd){shut ? -1 : m->listener, POLLIN, 0};
	for (r = 0; r < m->s->world; r++)
		m->poll[n++] =
		    (struct pollfd){m->fd[r], m->s->rank == 0 ? POLLIN : POLLRDHUP, 0};
	return n;
}

/* Backwards: a talk that is over gives its place to the last, which was heard before. */
static int
hear_talks(struct gv_meeting *m, size_t n, struct gv_error *e)
{
	double now = gv_clock_s();
	size_t i;

	for (i = n; i-- > 0;) {
		enum outcome o = GO_ON;

		if (m->poll[i].revents != 0) {
			o = hear(m, &m->talk[i], e);
		} else if (m->talk[i].deadline <= now && m->talk[i].rank == -1) {
			send_away(m, m->talk[i].addr, "it says nothing");
			o = OVER;
		}
		if (o == FAILED)
			return -1;
		if (o == OVER)
			drop_talk(m, i);
	}
	return 0;
}

static int
late(struct gv_meeting *m, struct gv_error *e)
{
	char who[200] = "", away[80] = "";
	int r, first = -1, n = 0;
	size_t len = 0;

	for (r = 0; r < m->s->world; r++) {
		if (r == m->s->rank || m->fd[r] != -1)
			continue;
		if (first == -1)
			first = r;
		if (n++ < 8)
			len += (size_t)snprintf(
			    who + len, sizeof(who) - len, "%s%d", n > 1 ? ", " : "", r);
	}
	if (m->s->rank != 0)
		return gv_talk_lost(m, GV_BLAME_SILENT, first, e);
	m->why = GV_BLAME_SILENT;
	m->culprit = first;
	if (m->sent_away > 0)
		snprintf(away, sizeof(away), "; %u sent away", m->sent_away);
	return gv_error_set(e, "%d of %d workers came within %g s: %s %s%s missing%s",
	    m->s->world - m->missing, m->s->world, m->s->join_s,
	    n == 1 ? "rank" : "ranks", who,
	    n > 8    ? ", ... are"
	    : n == 1 ? " is"
		     : " are",
	    away);
}

int
gv_talk_gather(struct gv_meeting *m, struct gv_error *e)
{
	while (m->missing > 0) {
		double until, now;
		size_t n, talks = m->n;
		int r;

		n = fill_poll(m, &until);
		now = gv_clock_s();
		if (now >= m->deadline)
			return late(m, e);
		r = poll(m->poll, (nfds_t)n,
		    until <= now ? 0 : (int)(fmin(until - now, 3600) * 1000) + 1);
		if (r == -1 && errno != EINTR)
			return gv_error_sys(e, "cannot wait for workers");
		if (r == -1)
			continue;
		for (r = 0; r < m->s->world; r++)
			if (m->fd[r] != -1 && m->poll[talks + 1 + (size_t)r].revents != 0)
				return gv_talk_left(m, r, e);
		if (hear_talks(m, talks, e) != 0)
			return -1;
		if (m->poll[talks].revents != 0 && accept_guests(m, e) != 0)
			return -1;
	}
	return 0;
}

void
gv_talk_linger(struct gv_meeting *m)
{
	bool early = m->why == GV_BLAME_GONE || m->misfit > 0;
	double end = gv_clock_s() + (early ? lingers_long_s : lingers_s), now;
	struct gv_error ignored = {0};

	while (m->missing > 0 && (now = gv_clock_s()) < end) {
		size_t talks = m->n;
		double until;

		fill_poll(m, &until);
		if (poll(m->poll, (nfds_t)talks + 1, (int)((end - now) * 1000) + 1) < 0 ||
		    hear_talks(m, talks, &ignored) != 0 ||
		    (m->poll[talks].revents != 0 && accept_guests(m, &ignored) != 0))
			break;
	}
}

void
gv_talk_free(struct gv_meeting *m)
{
	while (m->n > 0)
		drop_talk(m, m->n - 1);
	free(m->talk);
	free(m->poll);
}
