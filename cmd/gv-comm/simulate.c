#include "simulate.h"

#include <math.h>
#include <stdlib.h>

/* One edge of a phase of a tree; that of the root, which has none, gathers what arrives there. */
struct edge {
	size_t chunks, bytes, last_bytes; /* of a chunk, of the last */
	size_t ready, left, arrived;      /* chunks that can leave, have, are there */
	double *when;                     /* [chunks] since when each can leave */
	double there[GV_COLL_WINDOW];     /* of those under way */
	double free;                      /* when it can begin with the next one */
	bool queued;
};

struct event {
	double s;
	size_t order; /* of those at the same time */
	size_t edge, chunk;
	bool arrives;
};

struct simulation {
	const struct ways *w;
	const struct gv_trees *t;
	double cost_s;
	struct edge *edge; /* [tree][up 0, down 1][rank below] */
	double *when;
	double *taken; /* [n_links] */
	struct event *heap;
	size_t n_heap, cap_heap, order;
	double end;
};

/* ---- what happens when ---- */

static bool
before(const struct event *a, const struct event *b)
{
	return a->s < b->s || (a->s == b->s && a->order < b->order);
}

static void
push(struct simulation *x, double s, size_t edge, size_t chunk, bool arrives)
{
	struct event e = {s, x->order++, edge, chunk, arrives};
	size_t i = x->n_heap++;

	x->heap = gv_xgrow(x->heap, &x->cap_heap, x->n_heap, sizeof(*x->heap));
	for (; i > 0 && before(&e, &x->heap[(i - 1) / 2]); i = (i - 1) / 2)
		x->heap[i] = x->heap[(i - 1) / 2];
	x->heap[i] = e;
}

static struct event
pop(struct simulation *x)
{
	struct event first = x->heap[0], last = x->heap[--x->n_heap];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < x->n_heap && before(&x->heap[child + 1], &x->heap[child]))
			child++;
		if (child >= x->n_heap || !before(&x->heap[child], &last))
			break;
		x->heap[i] = x->heap[child];
		i = child;
	}
	x->heap[i] = last;
	return first;
}

/* ---- edges ---- */

static size_t
number_of(const struct simulation *x, size_t tree, bool up, int below)
{
	return (2 * tree + !up) * (size_t)x->t->n + (size_t)below;
}

/* When its next chunk can leave, if that is known. */
static void
queue(struct simulation *x, size_t i)
{
	struct edge *e = &x->edge[i];
	size_t j = e->left;
	double s;

	if (e->queued || j >= e->ready)
		return;
	s = e->when[j];
	if (j >= GV_COLL_WINDOW)
		s = fmax(s, e->there[j % GV_COLL_WINDOW]);
	e->queued = true;
	push(x, s, i, j, false);
}

static void
leave(struct simulation *x, size_t i, size_t tree, bool up, int below)
{
	struct edge *e = &x->edge[i];
	const struct way *w = way_of(x->w, tree, up, below);
	size_t j = e->left++, h;
	double bytes = (double)(j + 1 < e->chunks ? e->bytes : e->last_bytes);
	double at = fmax(e->when[j], e->free), end = at;

	for (h = w->first; h < w->first + w->n; h++) {
		size_t l = x->w->hop[h];
		double s = bytes / x->w->link[l].bytes_per_s;

		at = fmax(at, x->taken[l]);
		x->taken[l] = at + s;
		if (h == w->first)
			e->free = at + s + x->cost_s;
		end = fmax(end, at + s + x->cost_s);
	}
	e->there[j % GV_COLL_WINDOW] = end;
	e->queued = false;
	push(x, end, i, j, true);
	queue(x, i);
}

/* Chunk j is at rank v on the way down, since s. */
static void
pass_down(struct simulation *x, size_t tree, int v, size_t j, double s)
{
	const struct gv_tree_phase *p = &x->t->tree[tree].down;
	int r;

	for (r = 0; p->above != NULL && r < x->t->n; r++)
		if (p->above[r] == v) {
			size_t i = number_of(x, tree, false, r);

			x->edge[i].when[j] = s;
			x->edge[i].ready = j + 1;
			queue(x, i);
		}
}

/* Whether all below v have sent it chunk j. */
static bool
is_summed(const struct simulation *x, size_t tree, int v, size_t j)
{
	const struct gv_tree_phase *p = &x->t->tree[tree].up;
	int r;

	for (r = 0; r < x->t->n; r++)
		if (p->above[r] == v && x->edge[number_of(x, tree, true, r)].arrived <= j)
			return false;
	return true;
}

static void
arrive(
    struct simulation *x, size_t i, size_t tree, bool up, int below, size_t j, double s)
{
	x->edge[i].arrived = j + 1;
	x->end = fmax(x->end, s);
	if (up) {
		int v = x->t->tree[tree].up.above[below];
		size_t next = number_of(x, tree, true, v);
		struct edge *e = &x->edge[next];

		e->when[j] = fmax(e->when[j], s);
		if (!is_summed(x, tree, v, j))
			return;
		if (v == x->t->tree[tree].root) {
			pass_down(x, tree, v, j, e->when[j]);
		} else {
			e->ready = j + 1;
			queue(x, next);
		}
	} else {
		pass_down(x, tree, below, j, s);
	}
}

/* ---- beginning ---- */

static bool
has_below(const struct gv_tree_phase *p, int n, int v)
{
	int r;

	for (r = 0; r < n; r++)
		if (p->above[r] == v)
			return true;
	return false;
}

/* Those of a phase: which chunks there are, and which can leave at once. */
static void
start_phase(struct simulation *x, size_t tree, bool up, size_t chunks, size_t bytes,
    size_t last_bytes)
{
	const struct gv_tree *t = &x->t->tree[tree];
	const struct gv_tree_phase *p = up ? &t->up : &t->down;
	int r;

	for (r = 0; p->above != NULL && r < x->t->n; r++) {
		size_t i = number_of(x, tree, up, r);
		bool begins = up ? !has_below(p, x->t->n, r)
				 : t->up.above == NULL && p->above[r] == t->root;

		x->edge[i] = (struct edge){.chunks = chunks,
		    .bytes = bytes,
		    .last_bytes = last_bytes,
		    .when = x->when,
		    .ready = begins && r != t->root ? chunks : 0};
		x->when += chunks;
		queue(x, i);
	}
}

/* Chunks on all edges. */
static size_t
look_at(const struct gv_trees *t, size_t count, size_t size, size_t chunk_bytes)
{
	size_t k, first, chunk, n = 0;

	for (k = 0; k < t->n_trees && n <= SIMULATE_MOST; k++)
		n += 2 * (size_t)t->n *
		     gv_trees_cut(gv_trees_part(t, k, count, &first),
			 gv_trees_chunk(t, k, size, chunk_bytes), &chunk);
	return n;
}

static void
run(struct simulation *x)
{
	size_t n = (size_t)x->t->n;

	while (x->n_heap > 0) {
		struct event e = pop(x);
		size_t tree = e.edge / n / 2;
		bool up = e.edge / n % 2 == 0;
		int below = (int)(e.edge % n);

		if (e.arrives)
			arrive(x, e.edge, tree, up, below, e.chunk, e.s);
		else
			leave(x, e.edge, tree, up, below);
	}
}

double
simulate_s(const struct ways *w, const struct gv_coll_cost *cost, size_t count,
    size_t size, size_t chunk_bytes)
{
	const struct gv_trees *t = w->t;
	struct simulation x = {.w = w, .t = t, .cost_s = cost->chunk_s};
	size_t k, first, chunk, all = look_at(t, count, size, chunk_bytes);
	double *when;

	if (all > SIMULATE_MOST)
		return HUGE_VAL;
	x.edge = gv_xcalloc(2 * t->n_trees * (size_t)t->n, sizeof(*x.edge));
	x.taken = gv_xcalloc(w->n_links + 1, sizeof(*x.taken));
	x.when = when = gv_xcalloc(all + 1, sizeof(*when));
	for (k = 0; k < t->n_trees; k++) {
		size_t part = gv_trees_part(t, k, count, &first);
		size_t chunks =
		    gv_trees_cut(part, gv_trees_chunk(t, k, size, chunk_bytes), &chunk);
		size_t last = chunks > 0 ? part - (chunks - 1) * chunk : 0;

		start_phase(&x, k, true, chunks, chunk * size, last * size);
		start_phase(&x, k, false, chunks, chunk * size, last * size);
	}
	run(&x);
	free(x.edge);
	free(x.taken);
	free(x.heap);
	free(when);
	return x.end;
}
