#include <stdlib.h>

#include "base/mem.h"
#include "gv-tree/fabric/flow.h"
#include "packing.h"

/* Both directions of a pair. */
static int64_t
link_of(const struct fabric *f, size_t u, size_t v)
{
	int64_t there = fabric_cap(f, u, v), back = fabric_cap(f, v, u);

	return there < back ? there : back;
}

struct search {
	const struct fabric *f;
	size_t nodes; /* GPUs, and switches where they count */
	struct flow flow;
	struct ratio x;
	int64_t *y;   /* [n] of the nodes seen so far */
	size_t *part; /* [n] */
};

/*
 * Node j joins: y[j] = min over X with j, within the nodes 0 .. j, of
 *
 *	under d(X) - 2 over - y(X - j),
 *
 * d(X) = what leaves X in the whole graph, X having those switches with which that is
 * least.  Every part that meets the minimiser becomes one with it.
 */
static void
join(struct search *s, size_t j)
{
	const struct fabric *f = s->f;
	size_t u, v, sink = s->nodes;
	int64_t constant = -2 * s->x.over, outside_j = 0, cut;

	flow_start(&s->flow, s->nodes + 1);
	for (u = 0; u < s->nodes; u++) {
		int64_t outside = 0, price;

		if (u > j && u < f->n_gpus)
			continue;
		for (v = 0; v < s->nodes; v++)
			if (v > j && v < f->n_gpus)
				outside += link_of(f, u, v) * s->x.under;
			else
				flow_arc(&s->flow, u, v, link_of(f, u, v) * s->x.under);
		if (u == j) {
			outside_j = outside;
			continue;
		}
		/* what u costs on the side of j; a gain is a loss elsewhere */
		price = outside - (u < j ? s->y[u] : 0);
		flow_arc(&s->flow, u, sink, price);
		flow_arc(&s->flow, j, u, -price);
		if (price < 0)
			constant += price;
	}
	cut = flow_run(&s->flow, j, sink, FLOW_MAX);
	s->y[j] = cut + constant + outside_j;
	s->part[j] = j;
	for (u = 0; u < j; u++) {
		size_t old = s->part[u];

		if (!flow_on_source_side(&s->flow, u) || old == j)
			continue;
		for (v = 0; v < j; v++)
			if (s->part[v] == old)
				s->part[v] = j;
	}
}

/* What must leave a part: the least cut between its GPUs and all others. */
static int64_t
leaving(struct search *s, size_t part)
{
	const struct fabric *f = s->f;
	size_t u, v, source = s->nodes, sink = source + 1;

	flow_start(&s->flow, s->nodes + 2);
	for (u = 0; u < s->nodes; u++) {
		for (v = 0; v < s->nodes; v++)
			flow_arc(&s->flow, u, v, link_of(f, u, v));
		if (u < f->n_gpus && s->part[u] == part)
			flow_arc(&s->flow, source, u, FLOW_MAX);
		else if (u < f->n_gpus)
			flow_arc(&s->flow, u, sink, FLOW_MAX);
	}
	return flow_run(&s->flow, source, sink, FLOW_MAX);
}

/* crossing / (parts - 1) of the partition found; under = 0: it has one part. */
static struct ratio
of_partition(struct search *s)
{
	size_t n = s->f->n_gpus, u, parts = 0;
	int64_t twice = 0, common;

	for (u = 0; u < n; u++)
		if (s->part[u] == u) {
			parts++;
			twice += leaving(s, u);
		}
	if (parts < 2)
		return (struct ratio){0, 0};
	common = gcd64(twice, 2 * ((int64_t)parts - 1));
	return (struct ratio){twice / common, 2 * ((int64_t)parts - 1) / common};
}

static struct ratio
strength(const struct fabric *f, size_t nodes, size_t *part)
{
	struct search s = {.f = f, .nodes = nodes};
	struct ratio found;
	size_t n = f->n_gpus, v;

	s.y = gv_xcalloc(n + 1, sizeof(*s.y));
	s.part = gv_xcalloc(n + 1, sizeof(*s.part));
	for (v = 0; v < n; v++)
		s.part[v] = v;
	found = of_partition(&s);
	do {
		s.x = found;
		for (v = 0; part != NULL && v < n; v++)
			part[v] = s.part[v];
		for (v = 0; v < n && s.x.over > 0; v++)
			join(&s, v);
		found = of_partition(&s);
	} while (s.x.over > 0 && found.under > 0 &&
		 found.over * s.x.under < s.x.over * found.under);
	flow_free(&s.flow);
	free(s.y);
	free(s.part);
	return s.x.under == 0 || s.x.over == 0 ? (struct ratio){0, 1} : s.x;
}

struct ratio
packing_strength(const struct fabric *f, size_t *part)
{
	return strength(f, f->n_gpus, part);
}

struct ratio
packing_bound(const struct fabric *f, size_t *part)
{
	return strength(f, f->n, part);
}
