#include "links.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* What a way carries, as its end knows it: outputs cross into the later stage. */
static const struct crossing *
crossing_of(const struct way *w)
{
	bool in = (w->side == GV_NET_OUTPUT) != w->sends;

	return in ? &w->chunk->in : &w->chunk->out;
}

static struct gv_net_rows
rows_of(const struct way *w)
{
	const struct crossing *x = crossing_of(w);

	return (struct gv_net_rows){x->row, x->n, w->side};
}

/* ---- opening ---- */

struct opening {
	struct links *l;
	struct chunk *chunk;
	size_t chunks;
	const struct gv_nn_watch *watch;
	struct gv_error *e;
};

static struct chunk *
chunk_of(const struct opening *o, size_t stage)
{
	size_t i = 0;

	while (o->chunk[i].stage != stage)
		i++;
	return &o->chunk[i];
}

/* The identifier of a way from one rank to others, [first, first + n): by the gang. */
static int
share_id(const struct opening *o, struct gv_net *net, size_t from, size_t first, size_t n,
    unsigned char *id)
{
	struct post *post = o->l->post;
	struct gv_message m;
	size_t k;

	if (from == post->rank && gv_net_make_id(net, id, o->e) != 0)
		return -1;
	for (k = first; k < first + n; k++) {
		if (k == from || (from != post->rank && k != post->rank))
			continue;
		m = (struct gv_message){0};
		if (from == post->rank)
			gv_gang_send(post->gang, &m, (int)k, post_tag(POST_WAY, 0, 0), id,
			    GV_NN_ID);
		else
			gv_gang_recv(post->gang, &m, (int)from, post_tag(POST_WAY, 0, 0),
			    id, GV_NN_ID);
		if (post_wait(post, &m) != 0)
			return -1;
	}
	return 0;
}

/* A way out of a stage to the next one, or back. */
static int
open_way(
    const struct opening *o, size_t stage, enum gv_net_side side, size_t from, size_t to)
{
	struct links *l = o->l;
	bool sends = from == l->post->rank;
	size_t own = (side == GV_NET_OUTPUT) == sends ? stage : stage + 1;
	struct gv_nn_link link = {.sends = sends, .watch = *o->watch};
	struct gv_net_rows rows;
	struct way *w;

	l->way = gv_xgrow(l->way, &l->cap, l->n + 1, sizeof(*l->way));
	w = &l->way[l->n];
	*w = (struct way){.chunk = chunk_of(o, own),
	    .side = side,
	    .peer = sends ? to : from,
	    .sends = sends,
	    .tag = post_tag(
		side == GV_NET_OUTPUT ? POST_OUTPUT_SENT : POST_GRADIENT_SENT, stage, 0)};
	rows = rows_of(w);
	if (share_id(o, w->chunk->net, from, to, 1, link.id) != 0)
		return -1;
	w->link = gv_net_link(w->chunk->net, &rows, &link, o->e);
	l->n += w->link >= 0;
	return w->link >= 0 ? 0 : -1;
}

/* Whether replicas a and b of two stages ever have the same micro-batch. */
static bool
meet(const struct worker_spec *s, size_t stage, size_t a, size_t b)
{
	size_t from = s->stages->stage[stage].replicas,
	       to = s->stages->stage[stage + 1].replicas;
	uint64_t m, n = s->route->flushes ? s->route->micro_batches : from * to;

	for (m = 0; m < n; m++)
		if (route_replica(s->route, from, m) == a &&
		    route_replica(s->route, to, m) == b)
			return true;
	return false;
}

static int
open_cut(const struct opening *o, size_t stage)
{
	const struct worker_spec *s = o->l->spec;
	size_t rank = s->rank, a, b;

	for (a = 0; a < s->stages->stage[stage].replicas; a++)
		for (b = 0; b < s->stages->stage[stage + 1].replicas; b++) {
			size_t from = s->route->rank[stage] + a,
			       to = s->route->rank[stage + 1] + b;

			if (from == to || (from != rank && to != rank) ||
			    !meet(s, stage, a, b))
				continue;
			if (open_way(o, stage, GV_NET_OUTPUT, from, to) != 0 ||
			    open_way(o, stage, GV_NET_GRADIENT, to, from) != 0)
				return -1;
		}
	return 0;
}

/* The replicas of a stage join, for the sums of their gradients. */
static int
open_sums(const struct opening *o, size_t stage)
{
	const struct worker_spec *s = o->l->spec;
	size_t first = s->route->rank[stage], n = s->stages->stage[stage].replicas;
	struct gv_nn_join join = {.rank = (int)(s->rank - first),
	    .ranks = (int)n,
	    .order = GV_NN_CHAIN,
	    .watch = *o->watch};
	struct chunk *c;

	if (n == 1 || s->rank < first || s->rank >= first + n)
		return 0;
	c = chunk_of(o, stage);
	/* a sum's parts are of up to one number more than their share, of each model */
	join.most = gv_net_gradients_size(c->net, c->at->first, c->at->last) +
		    (n + 1) * s->net.models;
	if (share_id(o, c->net, first, first, n, join.id) != 0 ||
	    gv_net_join(c->net, &join, o->e) != 0)
		return -1;
	c->joined = true;
	return 0;
}

static void
ask(struct links *l, struct way *w)
{
	w->said = (struct gv_message){0};
	gv_gang_recv(l->post->gang, &w->said, (int)w->peer, w->tag, NULL, 0);
}

int
links_open(struct links *l, const struct worker_spec *spec, struct post *post,
    struct chunk *chunk, size_t chunks, const struct gv_nn_watch *watch,
    struct gv_error *e)
{
	struct opening o = {l, chunk, chunks, watch, e};
	size_t i;

	*l = (struct links){.spec = spec, .post = post};
	/* in one order for all: who waits, waits for one that is on its way there */
	for (i = 0; i + 1 < spec->stages->n; i++)
		if (open_cut(&o, i) != 0)
			return -1;
	for (i = 0; i < spec->stages->n; i++)
		if (open_sums(&o, i) != 0)
			return -1;
	l->open = true;
	for (i = 0; i < l->n; i++)
		if (!l->way[i].sends)
			ask(l, &l->way[i]);
	return 0;
}

void
links_free(struct links *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->way[i].came);
	free(l->way);
	*l = (struct links){0};
}

/* ---- messages ---- */

struct way *
links_find(const struct links *l, const struct chunk *c, enum gv_net_side side,
    bool sends, size_t peer)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		struct way *w = &l->way[i];

		if (w->chunk == c && w->side == side && w->sends == sends &&
		    w->peer == peer)
			return w;
	}
	return NULL;
}

int
links_send(struct links *l, struct way *w, size_t slot, uint64_t micro_batch)
{
	struct gv_net_rows rows = rows_of(w);
	struct parcel *p;

	if (gv_net_send_rows(w->chunk->net, w->link, &rows, slot) != 0)
		return -1;
	p = post_blank(l->post, 0);
	p->m.word = (uint32_t)micro_batch;
	post_send(l->post, p, w->peer, w->tag);
	return 0;
}

static void
move_way(struct links *l, struct way *w)
{
	while (!w->sends && w->said.done) {
		int message = gv_net_receive(w->chunk->net, w->link);

		if (message < 0)
			return;
		w->came = gv_xgrow(w->came, &w->cap, w->n + 1, sizeof(*w->came));
		w->came[w->n++] = (struct came){w->said.word, message};
		ask(l, w);
	}
}

void
links_move(struct links *l)
{
	size_t i;

	/* a receive may wait for NCCL, and so come here again */
	if (l->moving)
		return;
	l->moving = true;
	for (i = 0; i < l->n; i++)
		move_way(l, &l->way[i]);
	l->moving = false;
}

/* The place of a micro-batch among what came; n: it did not come yet. */
static size_t
find_came(const struct way *w, uint64_t micro_batch)
{
	size_t i = 0;

	while (i < w->n && w->came[i].micro_batch != (uint32_t)micro_batch)
		i++;
	return i;
}

bool
links_have(struct links *l, const struct way *w, uint64_t micro_batch)
{
	links_move(l);
	return find_came(w, micro_batch) < w->n;
}

int
links_take(struct links *l, struct way *w, size_t slot, uint64_t micro_batch, bool *lost)
{
	struct gv_net_rows rows = rows_of(w);
	double since = gv_clock_s();
	struct came x;
	size_t i;

	*lost = false;
	for (links_move(l); find_came(w, micro_batch) == w->n; links_move(l)) {
		if (gv_net_look(w->chunk->net) != 0)
			return -1;
		gv_error_clear(&l->post->error);
		*lost = post_wait_some(l->post, &w->said, since) != 0;
		if (*lost)
			return -1;
	}
	i = find_came(w, micro_batch);
	x = w->came[i];
	w->n--;
	memmove(w->came + i, w->came + i + 1, (w->n - i) * sizeof(x));
	return gv_net_take_rows(w->chunk->net, w->link, x.message, &rows, slot);
}
