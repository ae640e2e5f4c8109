/* Members that are lost while a gang meets: who they are, and that the others hear of it. */
#define _GNU_SOURCE /* POLLRDHUP */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/meet_talk.h"

#ifndef POLLRDHUP
#define POLLRDHUP 0
#endif

/* For those that are proved to say whom they have left for; rank 0 knows all that leave. */
static const double hears_s = 2;

int
gv_talk_lost(struct gv_meeting *m, enum gv_blame why, int culprit, struct gv_error *e)
{
	const char *host =
	    m->host[culprit][0] != '\0' ? m->host[culprit] : m->member[culprit].addr;
	char who[GV_SOCK_ADDR + 32];

	m->why = why;
	m->culprit = culprit;
	snprintf(who, sizeof(who), "rank %d%s%s", culprit, host[0] != '\0' ? " of " : "",
	    host);
	return why == GV_BLAME_GONE
		   ? gv_error_set(e, "%s is gone", who)
		   : gv_error_set(e, "%s did not come within %g s", who, m->s->join_s);
}

/* Whom a member that has been proved and has left says to be lost; itself when it is killed. */
static int
last_words(const struct gv_meeting *m, int rank, enum gv_blame *why)
{
	unsigned char b[4096];
	ssize_t n = recv(m->fd[rank], b, sizeof(b), MSG_PEEK);
	int culprit = n > 0 ? gv_frame_last_words(b, (size_t)n, why) : -1;

	*why = culprit == -1 || *why == GV_BLAME_GONE ? GV_BLAME_GONE : GV_BLAME_SILENT;
	return culprit >= 0 && culprit < m->s->world && culprit != m->s->rank ? culprit
									      : rank;
}

int
gv_talk_left(struct gv_meeting *m, int rank, struct gv_error *e)
{
	enum gv_blame why;
	int culprit = last_words(m, rank, &why);

	return gv_talk_lost(m, why, culprit, e);
}

bool
gv_talk_hears(struct gv_meeting *m, struct gv_error *e)
{
	double end = gv_clock_s() + hears_s, now;
	struct pollfd *p = gv_xcalloc((size_t)m->s->world, sizeof(*p));
	int r, n = 0;

	for (r = 0; r < m->s->world; r++)
		p[r] = (struct pollfd){m->fd[r], POLLRDHUP, 0};
	while ((n == 0 || (n == -1 && errno == EINTR)) && (now = gv_clock_s()) < end)
		n = poll(p, (nfds_t)m->s->world, (int)((end - now) * 1000) + 1);
	for (r = 0; n > 0 && p[r].revents == 0;)
		r++;
	free(p);
	if (n > 0)
		gv_talk_left(m, r, e);
	return n > 0;
}

int
gv_talk_no_answer(struct gv_meeting *m, int rank, const char *what, struct gv_error *e)
{
	if (gv_talk_hears(m, e))
		return -1;
	m->why = GV_BLAME_GONE;
	m->culprit = rank;
	return gv_error_set(e, "rank %d of %s %s", rank, m->host[rank], what);
}

void
gv_talk_abort(struct gv_meeting *m, int end)
{
	struct gv_net_frame f = {
	    GV_FRAME_MAGIC, GV_ABORT, {(uint32_t)m->culprit, (uint32_t)m->why}, 0, 0, 0};
	size_t i;
	int r;

	for (r = 0; r < end; r++)
		if (m->fd[r] != -1 && r != m->culprit)
			(void)!send(m->fd[r], &f, sizeof(f), MSG_NOSIGNAL);
	/* who has been called may have welcomed us */
	for (i = 0; i < m->n; i++)
		if (m->talk[i].stage == AWAIT_ANSWER)
			(void)!send(m->talk[i].fd, &f, sizeof(f), MSG_NOSIGNAL);
}
