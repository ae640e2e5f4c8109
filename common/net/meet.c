#include "net/meet.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/meet_talk.h"

#define LAST_WORDS_S .5
#define IN_USE_S     1
#define PATIENCE     .9

static double
left(double deadline)
{
	double s = deadline - gv_clock_s();

	return s > 0.001 ? s : 0.001;
}

/* ---- rank 0 ---- */

/* Before there is a roster: tells those that wait for it why there will be none, once each. */
static void
tell_waiting(struct gv_meeting *m, int from)
{
	size_t world = (size_t)m->s->world, bytes = world * GV_MEMBER_LEN;
	unsigned char *b = gv_xcalloc(1, GV_ANSWER_LEN + bytes), *roster;
	bool gone = m->why == GV_BLAME_GONE;
	struct gv_answer a = {m->misfit > 0 ? GV_ONE_MISFIT
			      : gone        ? GV_ONE_GONE
					    : GV_ONE_MISSING,
	    (uint32_t)m->s->world};
	struct gv_error ignored = {0};
	int r;

	roster = b + GV_ANSWER_LEN;
	for (r = 1; r < m->s->world && m->misfit == 0; r++)
		if (gone ? r == m->culprit : m->fd[r] != -1)
			gv_member_write(
			    roster + (size_t)r * GV_MEMBER_LEN, &m->member[r]);
	if (m->misfit > 0)
		gv_member_write(
		    roster + (size_t)m->misfit * GV_MEMBER_LEN, &m->misfit_is);
	for (r = from; r < m->s->world; r++) {
		if (m->fd[r] == -1 || (r == m->culprit && m->misfit == 0))
			continue;
		gv_answer_write(b, &a, roster, m->nonce[r], m->s->key);
		gv_sock_exchange(m->fd[r], b, GV_ANSWER_LEN + bytes, NULL, 0,
		    LAST_WORDS_S, "", &ignored);
		close(m->fd[r]);
		m->fd[r] = -1;
	}
	free(b);
}

/* Whoever had the port before may be on its way out. */
static int
listen_there(struct gv_meeting *m, struct gv_error *e)
{
	double until = gv_clock_s() + IN_USE_S;
	struct gv_error own = {0};
	int port = m->s->port;

	while (gv_sock_listen(&m->listener, m->s->addr, &port, &own) != 0) {
		if (errno != EADDRINUSE || gv_clock_s() >= until)
			return gv_error_set(e, "%s", own.text[0]);
		gv_error_clear(&own);
		gv_sleep_s(.02);
	}
	return 0;
}

static int
hand_out_roster(struct gv_meeting *m, struct gv_error *e)
{
	size_t world = (size_t)m->s->world, bytes = world * GV_MEMBER_LEN, r;
	unsigned char *b = gv_xcalloc(1, GV_ANSWER_LEN + bytes);
	struct gv_answer a = {GV_WELCOME, (uint32_t)world};
	char who[GV_SOCK_ADDR + 32];
	int status = 0;

	for (r = 0; r < world; r++)
		gv_member_write(b + GV_ANSWER_LEN + r * GV_MEMBER_LEN, &m->member[r]);
	for (r = 1; r < world && status == 0; r++) {
		snprintf(who, sizeof(who), "rank %zu of %s", r, m->host[r]);
		gv_answer_write(b, &a, b + GV_ANSWER_LEN, m->nonce[r], m->s->key);
		status = gv_sock_exchange(m->fd[r], b, GV_ANSWER_LEN + bytes, NULL, 0,
		    left(m->deadline), who, e);
	}
	free(b);
	if (status != 0) {
		m->why = GV_BLAME_GONE;
		m->culprit = (int)r - 1;
		gv_talk_abort(m, m->culprit);
		tell_waiting(m, m->culprit + 1);
	}
	return status;
}

static int
host_all(struct gv_meeting *m, struct gv_error *e)
{
	if (listen_there(m, e) != 0)
		return -1;
	m->missing = m->s->world - 1;
	if (gv_talk_gather(m, e) == 0)
		return hand_out_roster(m, e);
	if (m->why == GV_BLAME_NONE && m->misfit == 0)
		return -1;
	if (m->why == GV_BLAME_GONE || m->misfit > 0)
		tell_waiting(m, 1);
	gv_talk_linger(m);
	tell_waiting(m, 1);
	return -1;
}

/* ---- the others ---- */

static int
nobody_there(const struct gv_meeting *m, struct gv_error *e)
{
	return gv_error_set(
	    e, "%s, port %d: no rank 0 of a gang is there", m->s->addr, m->s->port);
}

/* A worker that the gang does not take, as rank 0 has told it: what is wrong is its port. */
static int
read_misfit(const struct gv_meeting *m, int rank, struct gv_error *e)
{
	return gv_error_set(e, "%s %d of %s cannot join: %s",
	    rank == m->s->rank ? "another rank" : "rank", rank, m->member[rank].addr,
	    gv_verdict_text(m->member[rank].port));
}

/* Rank 0 says which of the members keeps the gang from meeting. */
static int
read_lost(struct gv_meeting *m, uint32_t verdict, const unsigned char *roster,
    struct gv_error *e)
{
	bool gone = verdict != GV_ONE_MISSING;
	int r;

	for (r = 1; r < m->s->world; r++) {
		bool there = gv_member_read(
				 &m->member[r], roster + (size_t)r * GV_MEMBER_LEN) == 0;

		if (!there)
			m->member[r].addr[0] = '\0';
		if (there && verdict == GV_ONE_MISFIT)
			return read_misfit(m, r, e);
		if (there == gone)
			return gv_talk_lost(
			    m, gone ? GV_BLAME_GONE : GV_BLAME_SILENT, r, e);
	}
	return nobody_there(m, e);
}

static int
read_roster(struct gv_meeting *m, struct gv_talk *t, const struct gv_answer *a,
    const unsigned char *head, struct gv_error *e)
{
	unsigned char *b = gv_xcalloc(a->members + 1, GV_MEMBER_LEN);
	int r, status;

	status = gv_sock_exchange(t->fd, NULL, 0, b, (size_t)a->members * GV_MEMBER_LEN,
	    left(m->deadline), m->rank_0, e);
	if (status == 0 && !gv_answer_true(head, b, t->nonce, m->s->key))
		status =
		    a->verdict == GV_OTHER_KEY
			? gv_error_set(e, "rank 0 refused rank %d: %s", m->s->rank,
			      gv_verdict_text(a->verdict))
			: gv_error_set(e,
			      "%s, port %d: who is there does not have this GV_GANG_KEY",
			      m->s->addr, m->s->port);
	if (status == 0 && a->verdict >= GV_ONE_GONE)
		status = read_lost(m, a->verdict, b, e);
	else if (status == 0 && a->verdict != GV_WELCOME)
		status = gv_error_set(e, "rank 0 refused rank %d: %s", m->s->rank,
		    gv_verdict_text(a->verdict));
	else if (status == 0 && a->members == 0)
		status = nobody_there(m, e);
	for (r = 1; status == 0 && r < m->s->world; r++)
		if (gv_member_read(&m->member[r], b + (size_t)r * GV_MEMBER_LEN) != 0)
			status =
			    gv_error_set(e, "rank 0 says of rank %d what cannot be", r);
	free(b);
	return status;
}

/* Says hello to rank 0 and learns where all are. */
static int
visit(struct gv_meeting *m, struct gv_talk *t, struct gv_error *e)
{
	unsigned char head[GV_ANSWER_LEN];
	struct gv_answer a;
	int port = 0;

	/* the four first bytes before the rest: what is no gang may never say more */
	if (gv_sock_exchange(
		t->fd, NULL, 0, t->challenge, 4, left(m->deadline), m->rank_0, e) != 0)
		return -1;
	if (!gv_challenge_begins(t->challenge, 4))
		return nobody_there(m, e);
	if (gv_sock_exchange(t->fd, NULL, 0, t->challenge + 4, GV_CHALLENGE_LEN - 4,
		left(m->deadline), m->rank_0, e) != 0)
		return -1;
	gv_sock_here(t->fd, t->addr);
	if (gv_sock_listen(&m->listener, t->addr, &port, e) != 0 ||
	    gv_talk_hello(m, t, (uint32_t)port, e) != 0)
		return -1;
	/* rank 0 may wait for others until its own deadline, and then says for whom */
	if (gv_sock_exchange(t->fd, NULL, 0, head, sizeof(head),
		left(m->deadline) + LAST_WORDS_S, m->rank_0, e) != 0)
		return -1;
	if (gv_answer_read(&a, head, (uint32_t)m->s->world) != 0)
		return nobody_there(m, e);
	return read_roster(m, t, &a, head, e);
}

static int
come(struct gv_meeting *m, struct gv_error *e)
{
	struct gv_error nobody = {0};
	struct gv_talk t = {.fd = -1};
	int r, status = 0;

	if (gv_sock_connect(&t.fd, m->s->addr, m->s->port, m->deadline, &nobody) != 0)
		return gv_error_set(e, "rank 0 cannot be reached: %s", nobody.text[0]);
	/* rank 0 may have come late; it was there before, and so gives up before this */
	m->deadline = gv_clock_s() + m->s->join_s;
	gv_sock_there(t.fd, m->host[0]);
	snprintf(m->rank_0, sizeof(m->rank_0), "rank 0 of %s", m->host[0]);
	if (visit(m, &t, e) != 0) {
		close(t.fd);
		return -1;
	}
	m->fd[0] = t.fd;
	m->missing = m->s->world - 2;
	/* before those give up that have met, and who wait for this one */
	m->deadline = fmin(m->deadline, gv_clock_s() + PATIENCE * m->s->join_s);
	for (r = 1; r < m->s->rank && status == 0; r++)
		status = gv_talk_call(m, r, e);
	if (status == 0)
		status = gv_talk_gather(m, e);
	if (status != 0 && m->why != GV_BLAME_NONE)
		gv_talk_abort(m, m->s->world);
	return status;
}

int
gv_meet(
    const struct gv_gang_spec *s, int *fd, char (*host)[GV_SOCK_ADDR], struct gv_error *e)
{
	struct gv_meeting m = {.s = s, .fd = fd, .host = host, .listener = -1};
	size_t world = (size_t)s->world;
	int r, status;

	m.deadline = gv_clock_s() + s->join_s;
	m.member = gv_xcalloc(world, sizeof(*m.member));
	m.nonce = gv_xcalloc(world, sizeof(*m.nonce));
	for (r = 0; r < s->world; r++)
		fd[r] = -1;
	status = s->rank == 0 ? host_all(&m, e) : come(&m, e);
	gv_talk_free(&m);
	for (r = 0; status != 0 && r < s->world; r++) {
		if (fd[r] != -1)
			close(fd[r]);
		fd[r] = -1;
	}
	if (m.listener != -1)
		close(m.listener);
	free(m.nonce);
	free(m.member);
	return status;
}
