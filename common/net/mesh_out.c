/* What goes to a peer. */
#include <string.h>

#include "base/clock.h"
#include "net/mesh.h"

/* Written at one go. */
enum { PIECES = 16 };

static bool
is_small(const struct gv_message *m)
{
	return m->bytes <= GV_MESSAGE_SMALL;
}

void
gv_out_say(struct gv_gang *g, struct gv_peer *p, enum gv_net_frame_type type,
    struct gv_tag tag, uint64_t bytes)
{
	struct gv_net_frame f = {GV_FRAME_MAGIC, (uint32_t)type, tag, 0, 0, bytes};

	if (!p->deaf && !gv_notes_add(&p->say, &f))
		gv_mesh_blame(g, GV_BLAME_STEP, (int)(p - g->peer), g->rank);
}

/* ---- when a message may go ---- */

/* The first held message of a tag, before end (NULL = of all). */
static struct gv_message *
held(const struct gv_peer *p, struct gv_tag tag, const struct gv_message *end)
{
	struct gv_message *m = p->held.first;

	while (m != end && !gv_tag_same(m->tag, tag))
		m = m->next;
	return m != end ? m : NULL;
}

static bool
fits(const struct gv_peer *p, const struct gv_message *m)
{
	return p->window + m->bytes + GV_MESH_COST <= GV_MESH_WINDOW;
}

static void
let_go(struct gv_gang *g, struct gv_peer *p, struct gv_message *m, uint64_t granted)
{
	if (is_small(m))
		p->window += m->bytes + GV_MESH_COST;
	else if (granted != m->bytes)
		gv_mesh_blame(g, GV_BLAME_STEP, (int)(p - g->peer), g->rank);
	gv_queue_add(&p->out, m);
}

static bool
is_queued(const struct gv_peer *p, struct gv_tag tag)
{
	const struct gv_message *m;

	for (m = p->out.first; m != NULL; m = m->next)
		if (gv_tag_same(m->tag, tag))
			return true;
	return false;
}

/*
 * Offers a small one that finds no room, which then goes when it is granted and not before.
 * Offers of these are written behind what may go, so that all of their tag comes before.
 */
static void
ask(struct gv_gang *g, struct gv_peer *p, struct gv_message *m)
{
	struct gv_net_frame f = {GV_FRAME_MAGIC, GV_OFFER, m->tag, 0, 0, m->bytes};

	m->offered = true;
	if (!p->deaf && !gv_notes_add(&p->asks, &f))
		gv_mesh_blame(g, GV_BLAME_STEP, (int)(p - g->peer), g->rank);
}

/*
 * Lets go what may go now, in order.  A small one that finds no room in the window, which
 * may be full of what nobody asks for before it has come, is asked for.  A large one whose
 * grant came while one of its tag was before it goes here too.
 */
static void
release(struct gv_gang *g, struct gv_peer *p)
{
	struct gv_message *m, *next;

	for (m = p->held.first; m != NULL; m = next) {
		struct gv_net_frame grant = {0};

		next = m->next;
		if (m->offered || held(p, m->tag, m) != NULL)
			continue;
		if (is_small(m) && !fits(p, m)) {
			ask(g, p, m);
			continue;
		}
		if (!is_small(m) && !gv_notes_take(&p->grants, m->tag, &grant))
			continue;
		gv_queue_remove(&p->held, m);
		let_go(g, p, m, grant.bytes);
	}
}

void
gv_out_post(struct gv_gang *g, struct gv_peer *p, struct gv_message *m)
{
	bool first = p->held.first == NULL || held(p, m->tag, NULL) == NULL;
	struct gv_net_frame grant = {0};

	if (first &&
	    (is_small(m) ? fits(p, m) : gv_notes_take(&p->grants, m->tag, &grant))) {
		let_go(g, p, m, grant.bytes);
		return;
	}
	gv_queue_add(&p->held, m);
	if (first && is_small(m))
		ask(g, p, m);
	/* only of the next of its tag: the receiver compares it with its next receive */
	else if (first && !is_queued(p, m->tag))
		gv_out_say(g, p, GV_OFFER, m->tag, m->bytes);
}

void
gv_out_granted(struct gv_gang *g, struct gv_peer *p, const struct gv_net_frame *f)
{
	struct gv_message *m = held(p, f->tag, NULL);

	bool small = f->bytes <= GV_MESSAGE_SMALL; /* one that was asked for */

	if (m != NULL && small == is_small(m) && small == m->offered) {
		gv_queue_remove(&p->held, m);
		let_go(g, p, m, f->bytes);
		release(g, p);
	} else if (small || !gv_notes_add(&p->grants, f)) {
		gv_mesh_blame(g, GV_BLAME_STEP, (int)(p - g->peer), g->rank);
	}
}

void
gv_out_taken(struct gv_gang *g, struct gv_peer *p, uint64_t bytes)
{
	if (bytes > p->window) {
		gv_mesh_blame(g, GV_BLAME_STEP, (int)(p - g->peer), g->rank);
		return;
	}
	p->window -= (size_t)bytes;
	release(g, p);
}

/* ---- writing ---- */

bool
gv_out_waits(const struct gv_peer *p)
{
	return !p->deaf && (p->head_left > 0 || p->body_left > 0 || p->say.n > 0 ||
			       p->out.first != NULL || p->asks.n > 0);
}

/* Chooses what is written next; false: there is nothing. */
static bool
begin(struct gv_peer *p)
{
	const struct gv_message *m = p->out.first;

	if (p->say.n > 0) {
		p->head = p->say.note[p->say.first++];
		p->say.n--;
	} else if (m != NULL) {
		p->head = (struct gv_net_frame){
		    GV_FRAME_MAGIC, GV_DATA, m->tag, m->word, 0, m->bytes};
		p->body_left = m->bytes;
	} else if (p->asks.n > 0) {
		p->head = p->asks.note[p->asks.first++];
		p->asks.n--;
	} else {
		return false;
	}
	p->head_left = sizeof(p->head);
	return true;
}

static void
written(struct gv_peer *p, size_t n)
{
	size_t head = n < p->head_left ? n : p->head_left;
	struct gv_message *m = p->out.first;

	p->head_left -= head;
	p->body_left -= n - head;
	if (p->head.type != GV_ASK && p->head.type != GV_HERE)
		p->moved = gv_clock_s();
	if (p->head.type == GV_DATA && p->head_left == 0 && p->body_left == 0) {
		gv_queue_remove(&p->out, m);
		m->done = true;
	}
}

/* What is to be written next of the present frame: up to PIECES pieces, how many. */
static int
pieces_of(struct gv_peer *p, struct iovec v[PIECES])
{
	const struct gv_message *m = p->out.first;
	size_t skip, i;
	int n = 0;

	if (p->head_left > 0)
		v[n++] = (struct iovec){
		    (char *)&p->head + sizeof(p->head) - p->head_left, p->head_left};
	if (p->body_left == 0)
		return n;
	skip = m->bytes - p->body_left;
	for (i = 0; i < m->pieces && n < PIECES; i++) {
		const struct iovec *x = &m->piece[i];

		if (skip < x->iov_len)
			v[n++] =
			    (struct iovec){(char *)x->iov_base + skip, x->iov_len - skip};
		skip -= skip < x->iov_len ? skip : x->iov_len;
	}
	return n;
}

bool
gv_out_move(struct gv_gang *g, struct gv_peer *p)
{
	bool moved = false;

	while (g->blame == GV_BLAME_NONE && gv_out_waits(p)) {
		struct iovec v[PIECES];
		ptrdiff_t n;

		if (p->head_left == 0 && p->body_left == 0 && !begin(p))
			break;
		n = p->link->ops->send(p->link, v, pieces_of(p, v));
		/* its last words may lie here still: reading says whether it is gone */
		if (n < 0)
			p->deaf = true;
		if (n <= 0)
			return moved;
		written(p, (size_t)n);
		moved = true;
	}
	return moved;
}
