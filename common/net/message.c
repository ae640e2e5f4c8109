/* Posting. */
#include <string.h>

#include "base/clock.h"
#include "net/mesh.h"

static struct gv_peer *
begin(struct gv_gang *g, struct gv_message *m, int peer, struct gv_tag tag, size_t bytes)
{
	uint32_t word = m->word;

	memset(m, 0, sizeof(*m));
	m->word = word;
	m->peer = peer;
	m->tag = tag;
	m->bytes = bytes;
	m->posted_s = gv_clock_s();
	if (peer < 0 || peer >= g->world || peer == g->rank)
		gv_mesh_blame(g, GV_BLAME_STEP, g->rank, g->rank);
	return g->blame == GV_BLAME_NONE ? &g->peer[peer] : NULL;
}

/* Writes what can be written at once; the thread, where there is one, goes on. */
static void
move_out(struct gv_gang *g, struct gv_peer *p)
{
	if (p->link == NULL)
		return;
	gv_out_move(g, p);
	if (gv_out_waits(p))
		g->stirred = true;
}

static void
post(struct gv_gang *g, struct gv_peer *p, struct gv_message *m)
{
	gv_out_post(g, p, m);
	move_out(g, p);
}

void
gv_mesh_send(struct gv_gang *g, struct gv_message *m, int to, struct gv_tag tag,
    const void *data, size_t bytes)
{
	struct gv_peer *p = begin(g, m, to, tag, bytes);

	/* as an address: pieces are not const, and not written */
	m->one = (struct iovec){(void *)(uintptr_t)data, bytes};
	m->piece = &m->one;
	m->pieces = 1;
	if (p != NULL)
		post(g, p, m);
}

void
gv_mesh_send_pieces(struct gv_gang *g, struct gv_message *m, int to, struct gv_tag tag,
    const struct iovec *piece, size_t pieces)
{
	size_t bytes = 0, i;
	struct gv_peer *p;

	for (i = 0; i < pieces; i++)
		bytes += piece[i].iov_len;
	p = begin(g, m, to, tag, bytes);
	m->piece = piece;
	m->pieces = pieces;
	if (p != NULL)
		post(g, p, m);
}

void
gv_mesh_recv(struct gv_gang *g, struct gv_message *m, int from, struct gv_tag tag,
    void *data, size_t bytes)
{
	struct gv_peer *p = begin(g, m, from, tag, bytes);

	if (p == NULL)
		return;
	m->in = data;
	gv_in_post(g, p, m);
	move_out(g, p); /* the grant */
}
