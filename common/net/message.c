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

void
gv_mesh_send(struct gv_gang *g, struct gv_message *m, int to, struct gv_tag tag,
    const void *data, size_t bytes)
{
	struct gv_peer *p = begin(g, m, to, tag, bytes);

	if (p == NULL)
		return;
	m->out = data;
	gv_out_post(g, p, m);
	move_out(g, p);
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
