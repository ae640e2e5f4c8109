/* A collective is prepared: each phase of each tree is a flow of chunks with its edges. */
#include <stdlib.h>

#include "base/mem.h"
#include "coll/flow.h"

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
