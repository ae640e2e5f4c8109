#include "coll/coll.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* Chunks that come over one edge, in order; those posted are a ring of messages. */
struct inlet {
	int from;
	size_t posted, arrived;
	struct gv_message m[GV_COLL_WINDOW];
	unsigned char *window; /* [GV_COLL_WINDOW][chunk]; NULL = straight to out */
};

/* Chunks that go over one edge: first they get their time, then they are posted. */
struct outlet {
	int to, below;
	size_t timed, posted, done;
	struct gv_message m[GV_COLL_WINDOW];
	double due[GV_COLL_WINDOW];
};

/* One phase of one tree at this member. */
struct flow {
	size_t tree;
	bool up;
	struct inlet *in;
	size_t n_in;
	struct outlet *out;
	size_t n_out;
	const struct flow *before; /* at the root of an allreduce, the way up */
	size_t most;               /* elements of a chunk */
	/* of the present collective */
	size_t first, count, chunks, chunk;
	size_t ready; /* chunks that can go on: summed, or here */
	double *when; /* [chunks] since when, of paced ones that came; else NULL */
	bool done;
};

struct gv_coll {
	struct gv_gang *g;
	struct gv_coll_spec s;
	size_t size; /* of an element */
	struct flow *flow;
	size_t n_flows;
	size_t first_open; /* flows before it are done */
	struct inlet *inlets;
	struct outlet *outlets;
	unsigned char *windows;
	struct gv_message **waits; /* [n_inlets + n_outlets] */
	uint32_t sequence;
	const unsigned char *in;
	unsigned char *out;
	size_t count;
	double begun;    /* gv_clock_s */
	double next_due; /* of what has no time yet to go; infinity = nothing */
	bool busy;
};

/* ---- preparing ---- */

static size_t
children(const struct gv_trees *t, const struct gv_tree_phase *p, int rank, int *child)
{
	size_t n = 0;
	int r;

	for (r = 0; p->above != NULL && r < t->n; r++)
		if (p->above[r] == rank) {
			if (child != NULL)
				child[n] = r;
			n++;
		}
	return n;
}

static void
set_inlet(struct flow *f, size_t i, int from)
{
	f->in[i].from = from;
}

static void
set_outlet(struct flow *f, size_t i, int to, int below)
{
	f->out[i].to = to;
	f->out[i].below = below;
}

/* Gives a flow its edges, from *in and *out on. */
static void
set_edges(
    struct gv_coll *c, struct flow *f, struct inlet **in, struct outlet **out, int *child)
{
	const struct gv_tree *x = &c->s.trees->tree[f->tree];
	const struct gv_tree_phase *p = f->up ? &x->up : &x->down;
	size_t n = children(c->s.trees, p, c->s.rank, child), i;
	int above = p->above[c->s.rank];

	f->in = *in;
	f->out = *out;
	if (f->up) {
		f->n_in = n;
		f->n_out = above != -1;
		for (i = 0; i < n; i++)
			set_inlet(f, i, child[i]);
		if (above != -1)
			set_outlet(f, 0, above, c->s.rank);
	} else {
		f->n_in = above != -1;
		f->n_out = n;
		for (i = 0; i < n; i++)
			set_outlet(f, i, child[i], child[i]);
		if (above != -1)
			set_inlet(f, 0, above);
	}
	*in += f->n_in;
	*out += f->n_out;
}

static void
take_windows(struct gv_coll *c)
{
	size_t i, k, total = 0;
	unsigned char *at;

	for (k = 0; k < c->n_flows; k++)
		if (c->flow[k].up)
			total += c->flow[k].n_in * c->flow[k].most * GV_COLL_WINDOW;
	c->windows = at = gv_xcalloc(total + 1, c->size);
	for (k = 0; k < c->n_flows; k++)
		for (i = 0; c->flow[k].up && i < c->flow[k].n_in; i++) {
			c->flow[k].in[i].window = at;
			at += c->flow[k].most * GV_COLL_WINDOW * c->size;
		}
}

struct gv_coll *
gv_coll_new(struct gv_gang *g, const struct gv_coll_spec *s)
{
	struct gv_coll *c = gv_xcalloc(1, sizeof(*c));
	const struct gv_trees *t = s->trees;
	size_t k, n_in = 0, n_out = 0;
	struct inlet *in;
	struct outlet *out;
	int *child = gv_xcalloc((size_t)t->n, sizeof(*child));

	c->g = g;
	c->s = *s;
	c->size = gv_coll_type_size(s->type);
	for (k = 0; k < t->n_trees; k++) {
		const struct gv_tree *x = &t->tree[k];

		n_in += children(t, &x->up, s->rank, NULL) + (x->down.above != NULL);
		n_out += children(t, &x->down, s->rank, NULL) + (x->up.above != NULL);
	}
	c->flow = gv_xcalloc(2 * t->n_trees, sizeof(*c->flow));
	in = c->inlets = gv_xcalloc(n_in + 1, sizeof(*in));
	out = c->outlets = gv_xcalloc(n_out + 1, sizeof(*out));
	c->waits = gv_xcalloc(n_in + n_out + 1, sizeof(struct gv_message *));
	for (k = 0; k < t->n_trees; k++) {
		const struct gv_tree *x = &t->tree[k];
		struct flow *up = NULL;

		if (x->up.above != NULL) {
			up = &c->flow[c->n_flows++];
			*up = (struct flow){.tree = k,
			    .up = true,
			    .most = gv_trees_chunk(t, k, c->size, s->chunk_bytes)};
			set_edges(c, up, &in, &out, child);
		}
		if (x->down.above != NULL) {
			struct flow *down = &c->flow[c->n_flows++];

			*down = (struct flow){.tree = k,
			    .most = gv_trees_chunk(t, k, c->size, s->chunk_bytes)};
			down->before = x->root == s->rank ? up : NULL;
			set_edges(c, down, &in, &out, child);
		}
	}
	free(child);
	take_windows(c);
	return c;
}

void
gv_coll_free(struct gv_coll *c)
{
	size_t k;

	if (c == NULL)
		return;
	for (k = 0; k < c->n_flows; k++)
		free(c->flow[k].when);
	free(c->flow);
	free(c->inlets);
	free(c->outlets);
	free(c->windows);
	free(c->waits);
	free(c);
}

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

static bool
post_receives(struct gv_coll *c, struct flow *f)
{
	/* a slot is free when its sum has been sent; at the root, when it was taken */
	size_t free_up_to = f->up && f->n_out > 0 ? f->out[0].done : f->ready, i;
	bool moved = false;

	for (i = 0; i < f->n_in; i++) {
		struct inlet *in = &f->in[i];
		size_t limit = (f->up ? free_up_to : in->arrived) + GV_COLL_WINDOW;

		while (in->posted < f->chunks && in->posted < limit) {
			size_t j = in->posted++;

			gv_gang_recv(c->g, &in->m[j % GV_COLL_WINDOW], in->from,
			    tag_of(c, f), f->up ? slot(c, f, in, j) : result(c, f, j),
			    chunk_length(f, j) * c->size);
			moved = true;
		}
	}
	return moved;
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
	bool moved = post_receives(c, f);
	size_t i;

	if (take_arrived(f))
		moved = true;
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
