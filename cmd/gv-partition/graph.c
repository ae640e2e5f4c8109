/* The layers' order, and groups of layers that stay together. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph.h"

void
graph_free(struct graph *g)
{
	free(g->layer);
	free(g->edge);
	memset(g, 0, sizeof(*g));
}

int
graph_order(const struct graph *g, uint32_t *order)
{
	size_t *waits = gv_xcalloc(g->n, sizeof(*waits));
	bool *done = gv_xcalloc(g->n, sizeof(*done));
	size_t i, k, n = 0;

	for (k = 0; k < g->n_edges; k++)
		waits[g->edge[k].dst]++;
	while (n < g->n) {
		for (i = 0; i < g->n && (done[i] || waits[i] > 0); i++)
			;
		if (i == g->n)
			break;
		done[i] = true;
		order[n++] = (uint32_t)i;
		for (k = 0; k < g->n_edges; k++)
			if (g->edge[k].src == i)
				waits[g->edge[k].dst]--;
	}
	if (n < g->n) {
		for (i = 0; done[i]; i++)
			;
		order[0] = (uint32_t)i;
	}
	free(waits);
	free(done);
	return n == g->n ? 0 : -1;
}

size_t
groups_single(const struct graph *g, uint32_t *group)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		group[i] = (uint32_t)i;
	return g->n;
}

/* Renumbers the n labels of group [g->n] in the order in which they appear. */
static size_t
renumber(const struct graph *g, uint32_t *group, size_t n)
{
	uint32_t *number = gv_xcalloc(n, sizeof(*number));
	uint32_t next = 0;
	size_t i;

	for (i = 0; i < g->n; i++) {
		if (number[group[i]] == 0)
			number[group[i]] = ++next;
		group[i] = number[group[i]] - 1;
	}
	free(number);
	return next;
}

size_t
groups_linear(const struct graph *g, uint32_t *group)
{
	size_t *out = gv_xcalloc(g->n, sizeof(*out));
	size_t *in = gv_xcalloc(g->n, sizeof(*in));
	uint32_t *before =
	    gv_xcalloc(g->n, sizeof(*before)); /* 1 + the layer it is merged with */
	size_t i, k, n;

	for (k = 0; k < g->n_edges; k++) {
		out[g->edge[k].src]++;
		in[g->edge[k].dst]++;
	}
	for (k = 0; k < g->n_edges; k++)
		if (out[g->edge[k].src] == 1 && in[g->edge[k].dst] == 1)
			before[g->edge[k].dst] = g->edge[k].src + 1;
	for (i = 0; i < g->n; i++) {
		size_t head = i;

		while (before[head] != 0)
			head = before[head] - 1;
		group[i] = (uint32_t)head;
	}
	n = renumber(g, group, g->n);
	free(out);
	free(in);
	free(before);
	return n;
}

/* ---- merging until few are left ---- */

/* The graph of groups while it shrinks: an edge twice is allowed, a merged group is dead. */
struct shrinking {
	size_t n;
	bool *dead;
	double *time_s;
	size_t n_edges;
	struct graph_edge *edge;
	bool *seen;      /* [n] scratch */
	uint32_t *stack; /* [n] scratch */
};

/* Whether to can be reached from from by more than one step along the edge itself. */
static bool
reaches_round_about(struct shrinking *s, uint32_t from, uint32_t to)
{
	size_t k, top = 0;

	memset(s->seen, 0, s->n * sizeof(*s->seen));
	for (k = 0; k < s->n_edges; k++)
		if (s->edge[k].src == from && s->edge[k].dst != to &&
		    !s->seen[s->edge[k].dst]) {
			s->seen[s->edge[k].dst] = true;
			s->stack[top++] = s->edge[k].dst;
		}
	while (top > 0) {
		uint32_t u = s->stack[--top];

		for (k = 0; k < s->n_edges; k++) {
			if (s->edge[k].src != u)
				continue;
			if (s->edge[k].dst == to)
				return true;
			if (!s->seen[s->edge[k].dst]) {
				s->seen[s->edge[k].dst] = true;
				s->stack[top++] = s->edge[k].dst;
			}
		}
	}
	return false;
}

static void
merge_into(struct shrinking *s, struct graph_edge e)
{
	size_t k, kept = 0;

	s->time_s[e.src] += s->time_s[e.dst];
	s->dead[e.dst] = true;
	for (k = 0; k < s->n_edges; k++) {
		struct graph_edge f = s->edge[k];

		if (f.src == e.dst)
			f.src = e.src;
		if (f.dst == e.dst)
			f.dst = e.src;
		if (f.src != f.dst)
			s->edge[kept++] = f;
	}
	s->n_edges = kept;
}

static double
together(const struct shrinking *s, struct graph_edge e)
{
	return s->time_s[e.src] + s->time_s[e.dst];
}

/* The edge to merge next; false when there is none. */
static bool
lightest(struct shrinking *s, struct graph_edge *best)
{
	bool *refused = gv_xcalloc(s->n_edges, sizeof(*refused));
	bool found = false;
	size_t k, least;

	while (!found) {
		for (k = 0, least = s->n_edges; k < s->n_edges; k++)
			if (!refused[k] &&
			    (least == s->n_edges ||
				together(s, s->edge[k]) < together(s, s->edge[least])))
				least = k;
		if (least == s->n_edges)
			break;
		refused[least] = true;
		if (!reaches_round_about(s, s->edge[least].src, s->edge[least].dst)) {
			*best = s->edge[least];
			found = true;
		}
	}
	free(refused);
	return found;
}

size_t
groups_merges(
    const struct graph *g, const uint32_t *group, size_t n, struct graph_edge *merge)
{
	struct shrinking s = {.n = n};
	size_t i, made = 0;

	s.dead = gv_xcalloc(n, sizeof(*s.dead));
	s.time_s = gv_xcalloc(n, sizeof(*s.time_s));
	s.seen = gv_xcalloc(n, sizeof(*s.seen));
	s.stack = gv_xcalloc(n, sizeof(*s.stack));
	s.edge = gv_xcalloc(g->n_edges, sizeof(*s.edge));
	for (i = 0; i < g->n; i++)
		s.time_s[group[i]] += g->layer[i].time_s;
	for (i = 0; i < g->n_edges; i++) {
		struct graph_edge e = {group[g->edge[i].src], group[g->edge[i].dst]};

		if (e.src != e.dst)
			s.edge[s.n_edges++] = e;
	}
	while (lightest(&s, &merge[made]))
		merge_into(&s, merge[made++]);
	free(s.dead);
	free(s.time_s);
	free(s.seen);
	free(s.stack);
	free(s.edge);
	return made;
}

size_t
groups_after(const struct graph *g, const uint32_t *group, size_t n,
    const struct graph_edge *merge, size_t k, uint32_t *out)
{
	uint32_t *into = gv_xcalloc(n, sizeof(*into));
	size_t i;

	for (i = 0; i < n; i++)
		into[i] = (uint32_t)i;
	for (i = k;
	     i-- >
	     0;) /* backwards: what a group is merged into may itself be merged later */
		into[merge[i].dst] = into[merge[i].src];
	for (i = 0; i < g->n; i++)
		out[i] = into[group[i]];
	n = renumber(g, out, n);
	free(into);
	return n;
}
