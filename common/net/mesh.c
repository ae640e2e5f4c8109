/* A gang of links: moving and waiting. */
#include "net/mesh.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/core.h"
#include "base/err.h"
#include "base/mem.h"

#define LAST_WORDS_S .5
#define UNTOLD_S     .5

/* ---- moving ---- */

static bool
move_peer(struct gv_gang *g, struct gv_peer *p)
{
	bool moved = false;

	if (p->link != NULL)
		moved = gv_in_move(g, p);
	if (p->link != NULL && gv_out_move(g, p))
		moved = true;
	return moved;
}

/* What to poll a peer's link for. */
static short
events_of(struct gv_peer *p)
{
	bool sends = gv_out_waits(p);

	p->ready = false;
	if (p->link != NULL && p->link->ops->rest != NULL)
		return p->link->ops->rest(p->link, sends, &p->ready);
	return sends ? POLLIN | POLLOUT : POLLIN;
}

bool
gv_mesh_rest(struct gv_gang *g, struct pollfd *poll)
{
	bool ready = false;
	int r;

	for (r = 0; r < g->world; r++) {
		struct gv_peer *p = &g->peer[r];

		GV_HOLDS(g->peer != NULL);
		poll[r].fd = p->link != NULL ? p->link->fd : -1;
		poll[r].events = events_of(p);
		poll[r].revents = 0;
		ready = ready || p->ready;
	}
	return ready;
}

/* Sums go on with what has come. */
static bool
follow(struct gv_gang *g, bool moved)
{
	while (moved && g->blame == GV_BLAME_NONE && gv_sums_move(g))
		;
	g->moves += moved;
	return moved;
}

bool
gv_mesh_move_polled(struct gv_gang *g, const struct pollfd *poll)
{
	bool moved = false;
	int r;

	for (r = 0; r < g->world && g->blame == GV_BLAME_NONE; r++)
		if ((poll[r].revents != 0 || g->peer[r].ready) &&
		    move_peer(g, &g->peer[r]))
			moved = true;
	return follow(g, moved);
}

bool
gv_mesh_move(struct gv_gang *g, struct gv_peer *only, int timeout_ms)
{
	/* who has a thread for messages computes between them */
	bool stays = timeout_ms != 0 && g->mover != NULL;
	struct gv_core core;
	int n;

	g->stirred = true; /* its bells may have been heard here */
	if (only != NULL)
		return follow(g, move_peer(g, only));
	if (gv_mesh_rest(g, g->poll)) {
		timeout_ms = 0;
		stays = false;
	}
	if (stays)
		gv_core_stay(&core);
	n = poll(g->poll, (nfds_t)g->world, timeout_ms);
	if (stays)
		gv_core_leave(&core);
	return n >= 0 && gv_mesh_move_polled(g, g->poll);
}

/* ---- waiting ---- */

/* What is waited for of peers that are gone or do not answer; the time until the next look. */
static double
look_at(struct gv_gang *g, struct gv_message *const *m, size_t n, double since)
{
	double now = gv_clock_s(), wait = g->silence_s;
	int awaits = -1;
	size_t i;

	for (i = 0; i < n && g->blame == GV_BLAME_NONE; i++) {
		const struct gv_peer *p = &g->peer[m[i]->peer];
		double idle = now - fmax(since, fmax(p->moved, m[i]->posted_s));

		if (m[i]->done)
			continue;
		if (p->link == NULL || p->left) {
			gv_mesh_blame(g, GV_BLAME_GONE, m[i]->peer, g->rank);
			continue;
		}
		if (awaits == -1) {
			g->awaits = awaits = m[i]->peer;
			g->idle_s = idle;
		}
		wait = fmin(wait, gv_mesh_await(g, m[i]->peer, idle, now));
	}
	return wait;
}

/* Moves what can move, sleeping meanwhile as long as look_at allows. */
static bool
sleep_for(struct gv_gang *g, double wait)
{
	return gv_mesh_move(g, NULL, wait > 3600 ? 3600000 : (int)(wait * 1000) + 1);
}

int
gv_mesh_wait(struct gv_gang *g, struct gv_message *const *m, size_t n, struct gv_error *e)
{
	double since = gv_clock_s();
	size_t i = 0;

	for (;;) {
		double wait;

		while (i < n && m[i]->done)
			i++;
		g->awaits = -1;
		if (i == n)
			return 0;
		if (gv_mesh_state(g, e) != 0)
			return -1;
		if (gv_mesh_move(g, &g->peer[m[i]->peer], 0) || m[i]->done)
			continue;
		wait = look_at(g, m + i, n - i, since);
		if (g->blame == GV_BLAME_NONE)
			sleep_for(g, wait);
	}
}

static int
wait_some(struct gv_gang *g, struct gv_message *const *m, size_t n, double since,
    double until, struct gv_error *e)
{
	while (gv_mesh_state(g, e) == 0) {
		double wait, left;

		if (g->moves != g->seen || gv_mesh_move(g, NULL, 0))
			return 0;
		wait = look_at(g, m, n, since);
		left = until - gv_clock_s();
		if (g->blame != GV_BLAME_NONE)
			continue;
		if (left <= 0)
			return 0;
		if (sleep_for(g, fmin(wait, left)))
			return 0;
	}
	return -1;
}

int
gv_mesh_wait_some(struct gv_gang *g, struct gv_message *const *m, size_t n, double since,
    double until, struct gv_error *e)
{
	int status = wait_some(g, m, n, since, until, e);

	g->awaits = -1;
	return status;
}

/* ---- beginning and end ---- */

struct gv_gang *
gv_mesh_new(int rank, int world, struct gv_link *const *link, double silence_s)
{
	struct gv_gang *g = gv_xcalloc(1, sizeof(*g));
	int r;

	g->rank = rank;
	g->world = world;
	g->silence_s = silence_s;
	g->peer = gv_xcalloc((size_t)world, sizeof(*g->peer));
	g->poll = gv_xcalloc((size_t)world, sizeof(*g->poll));
	g->sign = gv_xcalloc((size_t)world, sizeof(*g->sign));
	for (r = 0; r < world; r++)
		g->sign[r].waits_for = -1;
	g->awaits = -1;
	for (r = 0; r < world; r++)
		g->peer[r].link = link[r];
	gv_stages_tree(&g->stages, rank, world);
	return g;
}

static void
free_peer(struct gv_peer *p, double deadline)
{
	struct gv_early *early;

	if (p->link != NULL)
		p->link->ops->close(p->link, deadline);
	while ((early = p->kept) != NULL) {
		p->kept = early->next;
		free(early);
	}
	free(p->early);
	free(p->say.note);
	free(p->asks.note);
	free(p->grants.note);
	free(p->offers.note);
}

void
gv_mesh_free(struct gv_gang *g)
{
	struct gv_tag none = {0};
	struct gv_sum *s;
	double deadline;
	int r;

	for (s = g->sum; s != NULL; s = s->next)
		free(s->in);
	/* a broken gang leaves soon: what it still has to say is who is to blame */
	deadline =
	    gv_clock_s() + (g->blame == GV_BLAME_NONE ? g->silence_s : LAST_WORDS_S);
	/* whoever was not told finds out for itself, if this rank is not gone at once, too */
	if (g->untold)
		gv_sleep_s(UNTOLD_S);
	for (r = 0; r < g->world; r++)
		(void)gv_mesh_say_last(&g->peer[r], GV_BYE, none);
	for (r = 0; r < g->world; r++)
		free_peer(&g->peer[r], deadline);
	free(g->spare);
	free(g->peer);
	free(g->poll);
	free(g->sign);
	free(g);
}
