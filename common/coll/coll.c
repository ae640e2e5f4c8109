#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "coll/flow.h"

/* ---- one chunk ---- */

static size_t
chunk_length(const struct flow *f, size_t j)
{
	size_t rest = f->count - j * f->chunk;

	return rest < f->chunk ? rest : f->chunk;
}

static struct gv_tag
tag_of(const struct gv_coll *c, const struct flow *f)
{
	struct gv_tag tag;

	tag.slot = c->sequence;
	tag.kind = (uint32_t)(c->s.id << 18 | f->tree << 1 | f->up);
	return tag;
}

/* Where chunk j of a flow lies in this member's buffers. */
static const unsigned char *
own(const struct gv_coll *c, const struct flow *f, size_t j)
{
	return c->in + (f->first + j * f->chunk) * c->size;
}

/* Where its result goes: of a scattered block only its own is kept. */
static unsigned char *
result(const struct gv_coll *c, const struct flow *f, size_t j)
{
	size_t first = f->first;

	if (c->s.trees->collective == GV_REDUCE_SCATTER)
		first -= (size_t)c->s.rank * c->count;
	return c->out + (first + j * f->chunk) * c->size;
}

static unsigned char *
slot(const struct gv_coll *c, const struct flow *f, const struct inlet *in, size_t j)
{
	return in->window + j % GV_COLL_WINDOW * f->chunk * c->size;
}

/* What chunk j of a flow is sent from. */
static const unsigned char *
source(const struct gv_coll *c, const struct flow *f, size_t j)
{
	if (f->up)
		return f->n_in > 0 ? slot(c, f, &f->in[0], j) : own(c, f, j);
	if (f->n_in > 0 || f->before != NULL)
		return result(c, f, j);
	/* the root of a broadcast sends what it was given; of an allgather, that has one block */
	return c->s.trees->collective == GV_ALL_GATHER
		   ? c->in + (f->first - (size_t)c->s.rank * c->count + j * f->chunk) *
				 c->size
		   : own(c, f, j);
}

/* ---- when ---- */

/* A time travels as the last 32 bits of its microseconds: half an hour either way. */
static uint32_t
time_word(double s)
{
	return (uint32_t)(int64_t)(s * 1e6);
}

static double
word_time(uint32_t word)
{
	double now = gv_clock_s();

	return now + (int32_t)(word - time_word(now)) * 1e-6;
}

/* Since when chunk j can go on. */
static double
when_ready(const struct gv_coll *c, const struct flow *f, size_t j)
{
	if (f->n_in > 0)
		return f->when[j];
	return f->before != NULL ? f->before->when[j] : c->begun;
}

/* The latest that came of chunk j, which is ready now. */
static void
note_time(struct flow *f, size_t j)
{
	size_t i;

	for (i = 0; f->when != NULL && i < f->n_in; i++)
		f->when[j] =
		    fmax(f->when[j], word_time(f->in[i].m[j % GV_COLL_WINDOW].word));
}

/* ---- moving ---- */

static void
post_receives(struct gv_coll *c, struct flow *f)
{
	/* a slot is free when its sum has been sent; at the root, when it was taken */
	size_t free_up_to = f->up && f->n_out > 0 ? f->out[0].done : f->ready, i;

	for (i = 0; i < f->n_in; i++) {
		struct inlet *in = &f->in[i];
		size_t limit = (f->up ? free_up_to : in->arrived) + GV_COLL_WINDOW;

		while (in->posted < f->chunks && in->posted < limit) {
			size_t j = in->posted++;

			gv_gang_recv(c->g, &in->m[j % GV_COLL_WINDOW], in->from,
			    tag_of(c, f), f->up ? slot(c, f, in, j) : result(c, f, j),
			    chunk_length(f, j) * c->size);
		}
	}
}

static bool
take_arrived(struct flow *f)
{
	bool moved = false;
	size_t i;

	for (i = 0; i < f->n_in; i++)
		while (f->in[i].arrived < f->in[i].posted &&
		       f->in[i].m[f->in[i].arrived % GV_COLL_WINDOW].done) {
			f->in[i].arrived++;
			moved = true;
		}
	return moved;
}

/* Adds what has come from all below to our own. */
static bool
add_up(struct gv_coll *c, struct flow *f)
{
	bool moved = false;

	for (;;) {
		size_t j = f->ready, n, i;
		unsigned char *to;

		for (i = 0; i < f->n_in && f->in[i].arrived > j; i++)
			;
		if (i < f->n_in || j == f->chunks)
			return moved;
		n = chunk_length(f, j);
		to = f->n_out > 0 ? slot(c, f, &f->in[0], j) : result(c, f, j);
		gv_coll_combine(
		    c->s.type, c->s.op, to, own(c, f, j), slot(c, f, &f->in[0], j), n);
		for (i = 1; i < f->n_in; i++)
			gv_coll_combine(
			    c->s.type, c->s.op, to, to, slot(c, f, &f->in[i], j), n);
		note_time(f, j);
		f->ready++;
		moved = true;
	}
}

static bool
make_ready(struct gv_coll *c, struct flow *f)
{
	size_t was = f->ready;

	if (f->up && f->n_in > 0)
		return add_up(c, f);
	if (f->n_in > 0)
		for (; f->ready < f->in[0].arrived; f->ready++)
			note_time(f, f->ready);
	else if (f->before != NULL)
		f->ready = f->before->ready;
	else
		f->ready = f->chunks;
	return f->ready > was;
}

static bool
send_ready(struct gv_coll *c, struct flow *f, struct outlet *o)
{
	const struct gv_coll_pace *pace = &c->s.pace;
	size_t was = o->timed + o->posted + o->done;

	while (o->done < o->posted && o->m[o->done % GV_COLL_WINDOW].done)
		o->done++;
	for (; o->timed < f->ready && o->timed < o->done + GV_COLL_WINDOW; o->timed++)
		o->due[o->timed % GV_COLL_WINDOW] =
		    pace->due == NULL ? 0
				      : pace->due(pace->ctx, f->tree, f->up, o->below,
					    chunk_length(f, o->timed) * c->size,
					    when_ready(c, f, o->timed));
	while (o->posted < o->timed) {
		size_t j = o->posted, at = j % GV_COLL_WINDOW;

		if (o->due[at] > 0 && o->due[at] > gv_clock_s()) {
			if (o->due[at] < c->next_due)
				c->next_due = o->due[at];
			break;
		}
		o->posted++;
		o->m[at].word = time_word(o->due[at]);
		gv_gang_send(c->g, &o->m[at], o->to, tag_of(c, f), source(c, f, j),
		    chunk_length(f, j) * c->size);
	}
	while (o->done < o->posted && o->m[o->done % GV_COLL_WINDOW].done)
		o->done++;
	return o->timed + o->posted + o->done > was;
}

static bool
flow_is_done(const struct flow *f)
{
	size_t i;

	if (f->ready < f->chunks)
		return false;
	for (i = 0; i < f->n_out; i++)
		if (f->out[i].done < f->chunks)
			return false;
	return true;
}

static bool
move_flow(struct gv_coll *c, struct flow *f)
{
	bool moved;
	size_t i;

	post_receives(c, f);
	moved = take_arrived(f);
	if (make_ready(c, f))
		moved = true;
	for (i = 0; i < f->n_out; i++)
		if (send_ready(c, f, &f->out[i]))
			moved = true;
	f->done = flow_is_done(f);
	return moved;
}

bool
gv_coll_move(struct gv_coll *c)
{
	bool moved = c->busy;
	size_t k;

	while (moved) {
		moved = false;
		c->next_due = HUGE_VAL;
		for (k = c->first_open; k < c->n_flows; k++)
			if (!c->flow[k].done && move_flow(c, &c->flow[k]))
				moved = true;
		while (c->first_open < c->n_flows && c->flow[c->first_open].done)
			c->first_open++;
	}
	c->busy = c->first_open < c->n_flows;
	return !c->busy;
}

/* ---- beginning and waiting ---- */

/* What a member keeps of its own. */
static void
keep_own(struct gv_coll *c)
{
	enum gv_collective of = c->s.trees->collective;
	unsigned char *to = c->out;

	if (of == GV_ALL_GATHER)
		to += (size_t)c->s.rank * c->count * c->size;
	else if (of != GV_BROADCAST || c->s.rank != c->s.trees->tree[0].root)
		return;
	if (to != c->in && c->count > 0)
		memcpy(to, c->in, c->count * c->size);
}

void
gv_coll_begin(struct gv_coll *c, const void *in, void *out, size_t count)
{
	size_t k, i;

	c->in = in;
	c->out = out;
	c->count = count;
	c->sequence++;
	c->first_open = 0;
	c->busy = true;
	keep_own(c);
	c->begun = gv_clock_s();
	for (k = 0; k < c->n_flows; k++) {
		struct flow *f = &c->flow[k];

		f->count = gv_trees_part(c->s.trees, f->tree, count, &f->first);
		f->chunks = gv_trees_cut(f->count, f->most, &f->chunk);
		f->ready = 0;
		f->done = false;
		free(f->when);
		f->when = NULL;
		if (c->s.pace.due != NULL && f->n_in > 0)
			f->when = gv_xcalloc(f->chunks + 1, sizeof(*f->when));
		for (i = 0; i < f->n_in; i++)
			f->in[i].posted = f->in[i].arrived = 0;
		for (i = 0; i < f->n_out; i++)
			f->out[i].timed = f->out[i].posted = f->out[i].done = 0;
	}
	gv_coll_move(c);
}

/* The oldest message of each edge that is not done. */
static size_t
pending(const struct gv_coll *c)
{
	size_t n = 0, k, i;

	for (k = c->first_open; k < c->n_flows; k++) {
		const struct flow *f = &c->flow[k];

		for (i = 0; !f->done && i < f->n_in; i++)
			if (f->in[i].arrived < f->in[i].posted)
				c->waits[n++] =
				    &f->in[i].m[f->in[i].arrived % GV_COLL_WINDOW];
		for (i = 0; !f->done && i < f->n_out; i++)
			if (f->out[i].done < f->out[i].posted)
				c->waits[n++] =
				    &f->out[i].m[f->out[i].done % GV_COLL_WINDOW];
	}
	return n;
}

int
gv_coll_wait(struct gv_coll *c, struct gv_error *e)
{
	double since = gv_clock_s();

	while (!gv_coll_move(c))
		if (gv_gang_wait_some(
			c->g, c->waits, pending(c), since, c->next_due, e) != 0)
			return -1;
	return 0;
}
