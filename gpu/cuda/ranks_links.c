/*
 * Messages from device to device: of each way from one rank to another a communicator of
 * two ranks and a stream, and rooms that messages are copied into and out of, so that
 * what they were made of, and where they go, is free at once.
 *
 * Nobody waits for ever, whatever is sent in which order.  A receive is queued only when
 * its send is, and waits for nothing else: not for computing, since a room is taken
 * again only when it is empty, and not for another receive but those before it on its way.
 * A send waits for what was queued before it; what is computed, for receives queued before
 * it, and for the room of a send some messages ago, whose receive is queued as soon as
 * the other host looks.  It looks whenever it waits, for whatever.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cuda/ranks.h"

enum { SENDS_MOST = 4 }; /* messages of a way that are on their way */

/* ---- rooms ---- */

static int
make_message(struct gv_cuda *c, const struct gv_cuda_link *l, struct gv_cuda_message *m)
{
	const unsigned quiet = GV_CU_EVENT_NO_TIME;

	if (gv_cuda_check(c, c->d->event_create(&m->moved, quiet), "an event") != 0 ||
	    gv_cuda_check(c, c->d->event_create(&m->left, quiet), "an event") != 0)
		return -1;
	return gv_cuda_check(
	    c, c->d->alloc(&m->v, (l->bytes + 3) / 4 * 4), "memory for messages");
}

/* One more; NULL: there is no room for it. */
static struct gv_cuda_message *
one_more(struct gv_cuda *c, struct gv_cuda_link *l)
{
	struct gv_cuda_message *m;

	l->message = gv_xgrow(l->message, &l->cap, l->n + 1, sizeof(*l->message));
	m = &l->message[l->n++];
	*m = (struct gv_cuda_message){0};
	return make_message(c, l, m) == 0 ? m : NULL;
}

/* 1: it has passed, 0: not yet, -1: the device has failed. */
static int
has_passed(struct gv_cuda *c, gv_cu_event e)
{
	int result = c->d->event_query(e);

	if (result == GV_CU_NOT_READY)
		return 0;
	return gv_cuda_check(c, result, "the device") == 0 ? 1 : -1;
}

/* Where the next message to be sent is made. */
static struct gv_cuda_message *
room_to_send(struct gv_cuda *c, struct gv_cuda_link *l)
{
	struct gv_cuda_message *m;
	int passed;

	if (l->n < SENDS_MOST)
		return one_more(c, l);
	m = &l->message[l->next++ % SENDS_MOST];
	passed = has_passed(c, m->moved);
	if (passed == 0 && (gv_cuda_flush(c) != 0 ||
			       gv_cuda_check(c, c->d->stream_wait(c->stream, m->moved, 0),
				   "an event") != 0))
		return NULL;
	return passed < 0 ? NULL : m;
}

static struct gv_cuda_message *
room_to_receive(struct gv_cuda *c, struct gv_cuda_link *l)
{
	size_t i;
	int passed;

	for (i = 0; i < l->n; i++) {
		if (l->message[i].taken)
			continue;
		passed = has_passed(c, l->message[i].left);
		if (passed != 0)
			return passed < 0 ? NULL : &l->message[i];
	}
	return one_more(c, l);
}

/* ---- ways ---- */

/* NCCL connects two ranks at their first message, and both must be there: now they are. */
static int
connect_ranks(struct gv_cuda *c, struct gv_cuda_link *l)
{
	struct gv_cuda_ranks *r = c->ranks;
	struct gv_cuda_message *m = one_more(c, l);

	if (m == NULL)
		return -1;
	if (gv_cuda_settle(c, l->comm,
		l->sends ? r->n.send((void *)(uintptr_t)m->v, 1, GV_NCCL_FLOAT, 1,
			       l->comm, l->stream)
			 : r->n.recv((void *)(uintptr_t)m->v, 1, GV_NCCL_FLOAT, 0,
			       l->comm, l->stream)) != 0 ||
	    gv_cuda_check(c, c->d->event_record(m->moved, l->stream), "an event") != 0 ||
	    gv_cuda_check(c, c->d->event_record(m->left, l->stream), "an event") != 0)
		return -1;
	return gv_cuda_reach(c, m->moved);
}

static int
open_link(struct gv_cuda *c, struct gv_cuda_link *l, const unsigned char *id)
{
	const struct gv_cuda_driver *d = c->d;

	if (gv_cuda_check(
		c, d->stream_create(&l->stream, GV_CU_NON_BLOCKING), "a stream") != 0 ||
	    gv_cuda_check(
		c, d->event_create(&l->made, GV_CU_EVENT_NO_TIME), "an event") != 0 ||
	    gv_cuda_ranks_meet(c, &l->comm, id, l->sends ? 0 : 1, 2) != 0)
		return -1;
	return connect_ranks(c, l);
}

int
gv_cuda_link(struct gv_nn_backend *be, const struct gv_nn_link *link, struct gv_error *e)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_ranks *r;
	struct gv_cuda_link *l;

	if (gv_cuda_ranks_open(c, &link->watch, e) != 0)
		return -1;
	r = c->ranks;
	r->link = gv_xgrow(r->link, &r->links_cap, r->links + 1, sizeof(*r->link));
	l = &r->link[r->links++];
	*l = (struct gv_cuda_link){.sends = link->sends, .bytes = link->bytes};
	if (open_link(c, l, link->id) == 0)
		return (int)r->links - 1;
	return gv_error_set(e, "%s", c->error[0] != '\0' ? c->error : "a rank is gone");
}

void
gv_cuda_links_abort(struct gv_cuda_ranks *r)
{
	size_t i;

	for (i = 0; i < r->links; i++) {
		if (r->link[i].comm != NULL)
			r->n.abort(r->link[i].comm);
		r->link[i].comm = NULL;
	}
}

static void
close_link(struct gv_cuda *c, struct gv_cuda_link *l)
{
	const struct gv_cuda_driver *d = c->d;
	size_t i;

	gv_cuda_ranks_part(c, &l->comm);
	if (l->stream != NULL)
		d->stream_destroy(l->stream);
	if (l->made != NULL)
		d->event_destroy(l->made);
	for (i = 0; i < l->n; i++) {
		if (l->message[i].moved != NULL)
			d->event_destroy(l->message[i].moved);
		if (l->message[i].left != NULL)
			d->event_destroy(l->message[i].left);
		if (l->message[i].v != 0)
			d->release(l->message[i].v);
	}
	free(l->message);
}

void
gv_cuda_links_close(struct gv_cuda *c)
{
	size_t i;

	for (i = 0; i < c->ranks->links; i++)
		close_link(c, &c->ranks->link[i]);
	c->ranks->links = 0;
}

/* ---- messages ---- */

/* Between the spans and a room, in the computing stream. */
static int
copy_spans(
    struct gv_cuda *c, gv_cu_ptr room, const struct gv_nn_span *s, size_t n, bool out)
{
	size_t i;

	for (i = 0; i < n; i++) {
		void *there = (void *)(uintptr_t)room;

		if (gv_cuda_queue_copy(
			c, out ? s[i].v : there, out ? there : s[i].v, s[i].bytes) != 0)
			return -1;
		room += s[i].bytes;
	}
	return gv_cuda_flush(c);
}

int
gv_cuda_link_send(
    struct gv_nn_backend *be, int link, const struct gv_nn_span *spans, size_t n)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_ranks *r = c->ranks;
	struct gv_cuda_link *l = &r->link[link];
	struct gv_cuda_message *m;

	if (c->failed || (m = room_to_send(c, l)) == NULL ||
	    copy_spans(c, m->v, spans, n, false) != 0 ||
	    gv_cuda_check(c, c->d->event_record(l->made, c->stream), "an event") != 0 ||
	    gv_cuda_check(c, c->d->stream_wait(l->stream, l->made, 0), "an event") != 0 ||
	    gv_cuda_settle(c, l->comm,
		r->n.send((void *)(uintptr_t)m->v, (l->bytes + 3) / 4, GV_NCCL_FLOAT, 1,
		    l->comm, l->stream)) != 0)
		return -1;
	return gv_cuda_check(c, c->d->event_record(m->moved, l->stream), "an event");
}

int
gv_cuda_link_receive(struct gv_nn_backend *be, int link)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_ranks *r = c->ranks;
	struct gv_cuda_link *l = &r->link[link];
	struct gv_cuda_message *m;

	if (c->failed || (m = room_to_receive(c, l)) == NULL ||
	    gv_cuda_settle(c, l->comm,
		r->n.recv((void *)(uintptr_t)m->v, (l->bytes + 3) / 4, GV_NCCL_FLOAT, 0,
		    l->comm, l->stream)) != 0 ||
	    gv_cuda_check(c, c->d->event_record(m->moved, l->stream), "an event") != 0)
		return -1;
	m->taken = true;
	return (int)(m - l->message);
}

int
gv_cuda_link_take(struct gv_nn_backend *be, int link, int message,
    const struct gv_nn_span *spans, size_t n)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_message *m;

	if (gv_cuda_flush(c) != 0)
		return -1;
	m = &c->ranks->link[link].message[message];
	if (gv_cuda_check(c, c->d->stream_wait(c->stream, m->moved, 0), "an event") !=
		0 ||
	    copy_spans(c, m->v, spans, n, true) != 0 ||
	    gv_cuda_check(c, c->d->event_record(m->left, c->stream), "an event") != 0)
		return -1;
	m->taken = false;
	return 0;
}

int
gv_cuda_links_look(struct gv_cuda *c)
{
	struct gv_cuda_ranks *r = c->ranks;
	size_t i, k;

	for (i = 0; i < r->links; i++)
		for (k = 0; k < r->link[i].n; k++)
			if (has_passed(c, r->link[i].message[k].moved) < 0)
				return -1;
	return 0;
}
