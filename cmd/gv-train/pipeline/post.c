#include "post.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* Room for n numbers, in which a row may compute. */
static void
make_room(struct parcel *x, size_t n)
{
	free(x->v);
	x->v = gv_xlines(n, sizeof(*x->v));
	x->room = n;
}

/* The smallest buffer that is large enough. */
struct parcel *
post_blank(struct post *p, size_t n)
{
	struct parcel **at, **best = NULL, *x;

	for (at = &p->spare; *at != NULL; at = &(*at)->next)
		if ((*at)->room >= n && (best == NULL || (*at)->room < (*best)->room))
			best = at;
	if (best != NULL) {
		x = *best;
		*best = x->next;
	} else {
		x = gv_xcalloc(1, sizeof(*x));
		make_room(x, n);
	}
	x->n = n;
	x->source = NULL;
	return x;
}

struct parcel *
post_pieces(struct post *p, const void *source, size_t n)
{
	struct parcel *x = post_blank(p, 0);

	x->source = source;
	x->pieces = n;
	x->piece = gv_xgrow(x->piece, &x->piece_room, n + 1, sizeof(*x->piece));
	return x;
}

void
post_back(struct post *p, struct parcel *x)
{
	x->next = p->spare;
	p->spare = x;
}

/* Buffers of what is out. */
static void
collect(struct post *p)
{
	struct parcel **at = &p->sent;

	while (*at != NULL) {
		struct parcel *x = *at;

		if (!x->m.done) {
			at = &x->next;
			continue;
		}
		*at = x->next;
		post_back(p, x);
	}
}

void
post_send(struct post *p, struct parcel *x, size_t to, struct gv_tag tag)
{
	collect(p);
	x->tag = tag;
	if (to == p->rank) {
		x->next = p->kept;
		p->kept = x;
		return;
	}
	x->next = p->sent;
	p->sent = x;
	gv_gang_send(p->gang, &x->m, (int)to, tag, x->v, x->n * sizeof(*x->v));
}

void
post_send_pieces(struct post *p, struct parcel *x, size_t to, struct gv_tag tag)
{
	collect(p);
	x->tag = tag;
	x->next = p->sent;
	p->sent = x;
	gv_gang_send_pieces(p->gang, &x->m, (int)to, tag, x->piece, x->pieces);
}

void
post_settle(struct post *p, const void *source)
{
	struct parcel *x;
	size_t n, i;

	for (x = p->sent; x != NULL; x = x->next) {
		if (x->source != source || x->m.done)
			continue;
		for (n = i = 0; i < x->pieces; i++)
			n += x->piece[i].iov_len / sizeof(*x->v);
		if (x->room < n)
			make_room(x, n);
		(void)gv_gang_send_copy(p->gang, &x->m, x->v);
		x->source = NULL;
	}
}

struct parcel *
post_ask(struct post *p, size_t n, size_t from, struct gv_tag tag)
{
	struct parcel *x = post_blank(p, n);

	x->tag = tag;
	x->within = from == p->rank;
	if (!x->within)
		gv_gang_recv(p->gang, &x->m, (int)from, tag, x->v, n * sizeof(*x->v));
	return x;
}

int
post_move(struct post *p)
{
	gv_error_clear(&p->error);
	return gv_gang_poll(p->gang, &p->error);
}

int
post_wait_some(struct post *p, struct gv_message *m, double since)
{
	double from = gv_clock_s();
	int status = gv_gang_wait_some(p->gang, &m, 1, since,
	    p->look_s > 0 ? from + p->look_s : INFINITY, &p->error);

	if (status == 0 && p->work != NULL)
		p->work(p->ctx);
	p->waited_s += gv_clock_s() - from;
	return status;
}

int
post_wait(struct post *p, struct gv_message *m)
{
	double from = gv_clock_s();
	int status = 0;

	gv_error_clear(&p->error);
	while (!m->done && status == 0)
		status = post_wait_some(p, m, from);
	return status;
}

int
post_sum(struct post *p, struct gv_sum *s)
{
	double from = gv_clock_s(), now = from;

	gv_error_clear(&p->error);
	for (; p->look_s > 0 && !s->done && now - from < p->looks_s; now = gv_clock_s()) {
		if (gv_gang_wait_some(
			p->gang, NULL, 0, from, now + p->look_s, &p->error) != 0)
			return -1;
		p->work(p->ctx);
	}
	return gv_gang_sum_wait(p->gang, s, &p->error);
}

/* The first of a tag that was kept; NULL: none was. */
static struct parcel *
find_kept(struct post *p, struct gv_tag tag)
{
	struct parcel **at, **found = NULL, *x = NULL;

	for (at = &p->kept; *at != NULL; at = &(*at)->next)
		if ((*at)->tag.slot == tag.slot && (*at)->tag.kind == tag.kind)
			found = at;
	if (found != NULL) {
		x = *found;
		*found = x->next;
	}
	return x;
}

/* Their numbers. */
static void
swap(struct parcel *a, struct parcel *b)
{
	gv_real *v = a->v;
	size_t room = a->room;

	a->v = b->v;
	a->room = b->room;
	b->v = v;
	b->room = room;
}

bool
post_has(const struct post *p, const struct parcel *x)
{
	const struct parcel *k = p->kept;

	if (!x->within)
		return x->m.done;
	while (k != NULL && (k->tag.slot != x->tag.slot || k->tag.kind != x->tag.kind))
		k = k->next;
	return k != NULL;
}

int
post_take(struct post *p, struct parcel *x)
{
	struct parcel *kept;

	if (!x->within)
		return post_wait(p, &x->m);
	kept = find_kept(p, x->tag);
	if (kept == NULL || kept->n != x->n) {
		gv_error_clear(&p->error);
		return gv_error_set(&p->error, "the schedule needs what is not made yet");
	}
	swap(x, kept);
	post_back(p, kept);
	return 0;
}

int
post_flush(struct post *p)
{
	for (collect(p); p->sent != NULL; collect(p))
		if (post_wait(p, &p->sent->m) != 0)
			return -1;
	return 0;
}

static void
free_all(struct parcel *x)
{
	struct parcel *next;

	for (; x != NULL; x = next) {
		next = x->next;
		free(x->v);
		free(x->piece);
		free(x);
	}
}

void
post_free(struct post *p)
{
	free_all(p->sent);
	free_all(p->kept);
	free_all(p->spare);
	*p = (struct post){0};
}
