#include "branch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gv-tree/fabric/flow.h"

static struct branching *
add(struct branchings *p, size_t root, int64_t units)
{
	struct branching *b;
	size_t v;

	p->b = gv_xgrow(p->b, &p->cap, p->n_b + 1, sizeof(*p->b));
	b = &p->b[p->n_b++];
	*b = (struct branching){.root = root, .units = units, .n_reached = 1};
	b->from = gv_xcalloc(p->n, sizeof(*b->from));
	b->depth = gv_xcalloc(p->n, sizeof(*b->depth));
	b->order = gv_xcalloc(p->n, sizeof(*b->order));
	b->order[0] = root;
	for (v = 0; v < p->n; v++)
		b->from[v] = SIZE_MAX;
	return b;
}

void
branchings_free(struct branchings *p)
{
	size_t i;

	for (i = 0; i < p->n_b; i++) {
		free(p->b[i].from);
		free(p->b[i].depth);
		free(p->b[i].order);
	}
	free(p->b);
	*p = (struct branchings){0};
}

static bool
reached(const struct branching *b, size_t v)
{
	return v == b->root || b->from[v] != SIZE_MAX;
}

/*
 * How many of the units of branching k may go over (x, y) and leave the rest
 * possible: for every set X with y but not x,
 *
 *	in(X) >= units of the other branchings that have no node in X
 *
 * must hold afterwards.  The least excess is a minimum cut between x and y in
 * which each other branching is a node, fed from x with its units and leading to
 * the nodes it has.
 */
static int64_t
may_use(const struct branchings *p, struct flow *w, const int64_t *cap, size_t k,
    size_t x, size_t y)
{
	const struct branching *b = &p->b[k];
	int64_t limit = b->units, others = 0, found;
	size_t u, v, i, node = p->n;

	if (cap[x * p->n + y] < limit)
		limit = cap[x * p->n + y];
	flow_start(w, p->n + p->n_b);
	for (u = 0; u < p->n; u++)
		for (v = 0; v < p->n; v++)
			flow_arc(w, u, v, cap[u * p->n + v]);
	for (i = 0; i < p->n_b; i++) {
		const struct branching *o = &p->b[i];

		if (i == k || o->n_reached == p->n)
			continue;
		others += o->units;
		flow_arc(w, x, node, o->units);
		for (v = 0; v < o->n_reached; v++)
			flow_arc(w, node, o->order[v], FLOW_MAX);
		node++;
	}
	found = flow_run(w, x, y, others + limit) - others;
	return found < limit ? found : limit;
}

/* A copy of branching k that takes units of it away. */
static void
split(struct branchings *p, size_t k, int64_t units)
{
	struct branching *copy = add(p, p->b[k].root, units), *b = &p->b[k];

	memcpy(copy->from, b->from, p->n * sizeof(*b->from));
	memcpy(copy->depth, b->depth, p->n * sizeof(*b->depth));
	memcpy(copy->order, b->order, p->n * sizeof(*b->order));
	copy->n_reached = b->n_reached;
	b->units -= units;
}

/* One more edge for branching k; false when there is none, which proves that none fits. */
static bool
extend(struct branchings *p, struct flow *w, int64_t *cap, size_t k)
{
	size_t at, y, turn;

	for (at = 0; at < p->b[k].n_reached; at++) {
		size_t x = p->b[k].order[at];

		for (turn = 1; turn < p->n; turn++) {
			int64_t units;

			y = (x + turn) % p->n;
			if (cap[x * p->n + y] == 0 || reached(&p->b[k], y))
				continue;
			units = may_use(p, w, cap, k, x, y);
			if (units <= 0)
				continue;
			if (units < p->b[k].units)
				split(p, k, p->b[k].units - units);
			cap[x * p->n + y] -= units;
			p->b[k].from[y] = x;
			p->b[k].depth[y] = p->b[k].depth[x] + 1;
			p->b[k].order[p->b[k].n_reached++] = y;
			return true;
		}
	}
	return false;
}

int
branchings_pack(struct branchings *p, size_t n, int64_t *cap, const int64_t *rate)
{
	struct flow w = {0};
	size_t v, k;
	int rc = 0;

	*p = (struct branchings){.n = n};
	for (v = 0; v < n; v++)
		if (rate[v] > 0)
			add(p, v, rate[v]);
	for (k = 0; k < p->n_b && rc == 0; k++)
		while (p->b[k].n_reached < n && rc == 0)
			rc = extend(p, &w, cap, k) ? 0 : -1;
	flow_free(&w);
	return rc;
}
