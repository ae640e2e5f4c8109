/* Switches taken away without loss. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "routes.h"

struct bypass {
	struct routes *r;
	const int64_t *rate; /* [n_gpus] */
	int64_t sum;
	struct flow flow;
};

static int64_t
lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What is left of the fabric, a source that feeds the roots, and a sink. */
static void
network(struct bypass *b)
{
	const struct fabric *f = &b->r->f;
	size_t u, v;

	flow_start(&b->flow, f->n + 2);
	for (u = 0; u < f->n; u++)
		for (v = 0; v < f->n; v++)
			flow_arc(&b->flow, u, v, fabric_cap(f, u, v));
	for (v = 0; v < f->n_gpus; v++)
		flow_arc(&b->flow, f->n, v, b->rate[v]);
}

/* What flows from source to sink above what must pass, with one more arc for a while. */
static int64_t
above(struct bypass *b, size_t from, size_t to, int64_t limit)
{
	struct flow *w = &b->flow;
	size_t arcs = w->n_arcs, head = w->head[from], source = b->r->f.n;
	int64_t found;

	flow_arc(w, from, to, FLOW_MAX);
	found = flow_run(w, source, source + 1, b->sum + limit) - b->sum;
	if (w->n_arcs > arcs) {
		w->head[from] = head;
		w->head[to] = w->arc[arcs + 1].next;
		w->n_arcs = arcs;
	}
	return lesser(found, limit);
}

/*
 * The least that cuts with u and t before and w behind them, or the other way
 * round, have above what must pass: so much may be joined.
 */
static int64_t
slack(struct bypass *b, size_t u, size_t w, size_t t, int64_t limit)
{
	const size_t gpus = b->r->f.n_gpus, source = b->r->f.n, sink = source + 1;
	int64_t found = limit;
	size_t v;

	network(b);
	flow_arc(&b->flow, source, w, FLOW_MAX);
	flow_arc(&b->flow, u, sink, FLOW_MAX);
	flow_arc(&b->flow, t, sink, FLOW_MAX);
	if (u < gpus || t < gpus) /* a GPU is behind each such cut */
		found = above(b, t, sink, found);
	else
		for (v = 0; v < gpus && found > 0; v++)
			found = above(b, v, sink, found);
	if (found <= 0)
		return 0;
	network(b);
	flow_arc(&b->flow, source, u, FLOW_MAX);
	flow_arc(&b->flow, source, t, FLOW_MAX);
	flow_arc(&b->flow, w, sink, FLOW_MAX);
	for (v = 0; v < gpus && found > 0; v++)
		if (v != u && v != t)
			found = above(b, v, sink, found);
	return found > 0 ? found : 0;
}

/* Whether everything still reaches every GPU. */
static bool
holds(struct bypass *b)
{
	size_t v;

	network(b);
	for (v = 0; v < b->r->f.n_gpus; v++)
		if (flow_run(&b->flow, b->r->f.n, v, b->sum) < b->sum)
			return false;
	return true;
}

/*
 * The joins that keep paths short where they suffice: every node around the
 * switch sends to each other the same part of what it has.
 */
static bool
try_evenly(struct bypass *b, size_t w)
{
	struct fabric *f = &b->r->f;
	int64_t each = 0, *before;
	size_t u, t, around = 0;
	bool even = true;

	for (u = 0; u < f->n; u++)
		if (fabric_cap(f, u, w) > 0 || fabric_cap(f, w, u) > 0) {
			even = even && fabric_cap(f, u, w) == fabric_cap(f, w, u) &&
			       (around == 0 || fabric_cap(f, u, w) == each);
			each = fabric_cap(f, u, w);
			around++;
		}
	if (!even || around < 2 || each % (int64_t)(around - 1) != 0)
		return false;
	each /= (int64_t)(around - 1);
	before = gv_xcalloc(f->n * f->n, sizeof(*before));
	memcpy(before, f->cap, f->n * f->n * sizeof(*before));
	for (u = 0; u < f->n; u++)
		for (t = 0; t < f->n && before[u * f->n + w] > 0; t++)
			if (t != u && before[w * f->n + t] > 0) {
				fabric_cap(f, u, w) -= each;
				fabric_cap(f, w, t) -= each;
				fabric_cap(f, u, t) += each;
			}
	even = holds(b);
	memcpy(f->cap, before, f->n * f->n * sizeof(*before));
	for (u = 0; even && u < f->n; u++)
		for (t = 0; t < f->n && before[u * f->n + w] > 0; t++)
			if (t != u && before[w * f->n + t] > 0)
				routes_join(b->r, u, w, t, each);
	free(before);
	return even;
}

/* Once a pair has no slack it never has any again, so one pass over the pairs does. */
static void
join_pairs(struct bypass *b, size_t w)
{
	const struct fabric *f = &b->r->f;
	size_t u, t, turn;

	for (u = 0; u < f->n; u++)
		for (turn = 0; turn < f->n && fabric_cap(f, u, w) > 0; turn++) {
			int64_t amount;

			t = (u + 1 + turn) % f->n; /* itself last */
			amount = lesser(fabric_cap(f, u, w), fabric_cap(f, w, t));
			if (amount > 0)
				amount = slack(b, u, w, t, amount);
			if (amount > 0)
				routes_join(b->r, u, w, t, amount);
		}
}

void
routes_bypass_switches(struct routes *r, const int64_t *rate)
{
	struct bypass b = {.r = r, .rate = rate};
	size_t v, w;

	for (v = 0; v < r->f.n_gpus; v++)
		b.sum += rate[v];
	for (w = r->f.n_gpus; w < r->f.n; w++)
		if (!try_evenly(&b, w))
			join_pairs(&b, w);
	flow_free(&b.flow);
}
