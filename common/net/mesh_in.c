/* What comes from a peer. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/mesh.h"

/* Read at one go from one peer, so that the others are heard too. */
enum { TURN = 4 * 1024 * 1024, TURN_BESIDE = 256 * 1024 };

static void
out_of_step(struct gv_gang *g, const struct gv_peer *p)
{
	gv_mesh_blame(g, GV_BLAME_STEP, (int)(p - g->peer), g->rank);
}

static struct gv_message *
posted(const struct gv_peer *p, struct gv_tag tag)
{
	struct gv_message *m = p->recv.first;

	while (m != NULL && !gv_tag_same(m->tag, tag))
		m = m->next;
	return m;
}

/* ---- the window ---- */

/* Room of the window is free again; the peer learns of it before it could run out. */
static void
give_back(struct gv_gang *g, struct gv_peer *p, size_t bytes)
{
	struct gv_tag none = {0};

	p->taken += bytes + GV_MESH_COST;
	if (p->taken + p->kept_bytes < GV_MESH_WINDOW / 2)
		return;
	gv_out_say(g, p, GV_TAKEN, none, p->taken);
	p->taken = 0;
}

static void
keep(struct gv_peer *p, struct gv_early *early)
{
	early->next = NULL;
	if (p->kept == NULL)
		p->kept = early;
	else
		p->kept_last->next = early;
	p->kept_last = early;
}

/* Takes the first kept message of a tag out of the list. */
static struct gv_early *
take_kept(struct gv_peer *p, struct gv_tag tag)
{
	struct gv_early *e, *before = NULL;

	for (e = p->kept; e != NULL && !gv_tag_same(e->frame.tag, tag); e = e->next)
		before = e;
	if (e == NULL)
		return NULL;
	if (before == NULL)
		p->kept = e->next;
	else
		before->next = e->next;
	if (p->kept_last == e)
		p->kept_last = before;
	return e;
}

static void
finish(struct gv_message *m, const struct gv_net_frame *f)
{
	m->word = f->word;
	m->done = true;
}

/* Gives a message that came early to its receive. */
static void
deliver(
    struct gv_gang *g, struct gv_peer *p, struct gv_early *early, struct gv_message *m)
{
	if (early->frame.bytes != m->bytes) {
		out_of_step(g, p);
	} else {
		if (m->bytes > 0)
			memcpy(m->in, early->data, m->bytes);
		finish(m, &early->frame);
	}
	p->kept_bytes -= (size_t)early->frame.bytes + GV_MESH_COST;
	give_back(g, p, (size_t)early->frame.bytes);
	free(early);
}

void
gv_in_post(struct gv_gang *g, struct gv_peer *p, struct gv_message *m)
{
	struct gv_early *early = posted(p, m->tag) == NULL ? take_kept(p, m->tag) : NULL;
	struct gv_net_frame offer;
	bool offered;

	if (early != NULL) {
		deliver(g, p, early, m);
		return;
	}
	gv_queue_add(&p->recv, m);
	p->large += m->bytes > GV_MESSAGE_SMALL;
	offered = gv_notes_take(&p->offers, m->tag, &offer);
	if (offered && offer.bytes != m->bytes)
		out_of_step(g, p);
	else if (offered || m->bytes > GV_MESSAGE_SMALL)
		gv_out_say(g, p, GV_GRANT, m->tag, m->bytes);
}

/* ---- messages ---- */

static void
message_begins(struct gv_gang *g, struct gv_peer *p)
{
	uint64_t bytes = p->in.bytes;

	p->to = posted(p, p->in.tag);
	if (p->to != NULL) {
		if (p->to->bytes != bytes)
			out_of_step(g, p);
		p->into = p->to->in;
	} else if (bytes > GV_MESSAGE_SMALL ||
		   p->kept_bytes + bytes + GV_MESH_COST > GV_MESH_WINDOW) {
		out_of_step(g, p); /* it had neither grant nor window */
	} else {
		p->early = gv_xcalloc(1, sizeof(*p->early) + (size_t)bytes);
		p->early->frame = p->in;
		p->kept_bytes += (size_t)bytes + GV_MESH_COST;
		p->into = p->early->data;
	}
	if (g->blame == GV_BLAME_NONE)
		p->in_left = (size_t)bytes;
}

static void
message_ends(struct gv_gang *g, struct gv_peer *p)
{
	struct gv_early *early = p->early;
	struct gv_message *m = p->to;

	p->early = NULL;
	p->to = NULL;
	if (early != NULL) {
		/* its receive may have been posted while it came */
		m = posted(p, early->frame.tag);
		if (m == NULL) {
			keep(p, early);
			return;
		}
		gv_queue_remove(&p->recv, m);
		deliver(g, p, early, m);
		return;
	}
	gv_queue_remove(&p->recv, m);
	p->large -= m->bytes > GV_MESSAGE_SMALL;
	finish(m, &p->in);
	if (m->bytes <= GV_MESSAGE_SMALL)
		give_back(g, p, m->bytes);
}

static void
offered(struct gv_gang *g, struct gv_peer *p, const struct gv_net_frame *f)
{
	const struct gv_message *m = posted(p, f->tag);

	if (m != NULL ? m->bytes != f->bytes : !gv_notes_add(&p->offers, f))
		out_of_step(g, p);
	else if (m != NULL && f->bytes <= GV_MESSAGE_SMALL) /* large ones have theirs */
		gv_out_say(g, p, GV_GRANT, f->tag, f->bytes);
}

static void
aborted(struct gv_gang *g, struct gv_peer *p, const struct gv_net_frame *f)
{
	if (f->tag.slot >= (uint32_t)g->world || f->tag.kind == GV_BLAME_NONE ||
	    f->tag.kind >= GV_BLAMES)
		out_of_step(g, p);
	else
		gv_mesh_blame(
		    g, (enum gv_blame)f->tag.kind, (int)f->tag.slot, (int)(p - g->peer));
}

static void
frame_begins(struct gv_gang *g, struct gv_peer *p)
{
	const struct gv_net_frame *f = &p->in;

	if (f->magic != GV_FRAME_MAGIC) {
		out_of_step(g, p);
		return;
	}
	if (f->type != GV_ASK && f->type != GV_HERE)
		p->moved = g->sign[p - g->peer].heard_s;
	switch (f->type) {
	case GV_DATA:
		message_begins(g, p);
		if (p->in_left == 0 && g->blame == GV_BLAME_NONE)
			message_ends(g, p);
		break;
	case GV_GRANT:
		gv_out_granted(g, p, f);
		break;
	case GV_OFFER:
		offered(g, p, f);
		break;
	case GV_TAKEN:
		gv_out_taken(g, p, f->bytes);
		break;
	case GV_ABORT:
		aborted(g, p, f);
		break;
	case GV_BYE:
		p->left = true;
		break;
	case GV_ASK:
		gv_mesh_asked(g, p);
		break;
	case GV_HERE:
		gv_mesh_here(g, p, f);
		break;
	default:
		out_of_step(g, p);
	}
}

/* ---- bytes ---- */

/* Of the buffer: what belongs to the message that is coming, or the next frame. */
static bool
use_buffer(struct gv_gang *g, struct gv_peer *p)
{
	size_t n = p->end - p->at;

	if (p->in_left > 0 && n > 0) {
		n = n < p->in_left ? n : p->in_left;
		memcpy(p->into, p->buf + p->at, n);
		p->at += n;
		p->into += n;
		p->in_left -= n;
		if (p->in_left == 0)
			message_ends(g, p);
		return true;
	}
	if (p->in_left > 0 || n < sizeof(p->in))
		return false;
	memcpy(&p->in, p->buf + p->at, sizeof(p->in));
	p->at += sizeof(p->in);
	frame_begins(g, p);
	return true;
}

static void
closed(struct gv_gang *g, struct gv_peer *p)
{
	p->link->ops->close(p->link, 0);
	p->link = NULL;
	p->deaf = true;
	if (!p->left)
		gv_mesh_blame(g, GV_BLAME_GONE, (int)(p - g->peer), g->rank);
}

/*
 * How much may be read beside what is left of a message: as much as there is room for; where
 * large ones are to come the next frame alone, so that what is in it goes where it belongs.
 */
static size_t
most_beside(const struct gv_peer *p)
{
	size_t n = p->end - p->at;

	if (p->large == 0)
		return sizeof(p->buf) - n;
	return n < sizeof(p->in) ? sizeof(p->in) - n : 0;
}

/* One read: of a message straight to where it goes, of the rest into the buffer. */
static ptrdiff_t
read_some(struct gv_gang *g, struct gv_peer *p)
{
	struct iovec v[2];
	size_t straight;
	ptrdiff_t n;

	memmove(p->buf, p->buf + p->at, p->end - p->at);
	p->end -= p->at;
	p->at = 0;
	/* what is there already has been used */
	straight = p->in_left;
	v[0] = (struct iovec){p->into, straight};
	v[1] = (struct iovec){p->buf + p->end, most_beside(p)};
	n = straight > 0 ? p->link->ops->recv(p->link, v, 2)
			 : p->link->ops->recv(p->link, v + 1, 1);
	if (n < 0)
		closed(g, p);
	if (n <= 0)
		return n;
	g->sign[p - g->peer].heard_s = gv_clock_s();
	if (p->in_left > 0)
		p->moved = g->sign[p - g->peer].heard_s;
	straight = straight < (size_t)n ? straight : (size_t)n;
	p->end += (size_t)n - straight;
	if (straight == 0)
		return n;
	p->into += straight;
	p->in_left -= straight;
	if (p->in_left == 0)
		message_ends(g, p);
	return n;
}

bool
gv_in_move(struct gv_gang *g, struct gv_peer *p)
{
	/* beside a thread that computes: it may want to post */
	size_t moved = 0, turn = g->mover != NULL ? TURN_BESIDE : TURN;

	while (p->link != NULL && moved < turn && g->blame == GV_BLAME_NONE &&
	       (p->last == NULL || !p->last->done)) {
		ptrdiff_t n = read_some(g, p);

		while (g->blame == GV_BLAME_NONE && use_buffer(g, p))
			;
		if (n <= 0)
			break;
		moved += (size_t)n;
	}
	return moved > 0;
}
