/* Merging groups along edges, the lightest first, without circles. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "groups_merge.h"

/* The graph of groups while it shrinks: an edge twice is allowed. */
struct shrinking {
	size_t n;       /* groups at first */
	uint32_t *name; /* [n] their first layers */
	double *time_s;
	uint32_t *into; /* [n] the group that it is in now */
	/* [n] the next of the groups that are one; NOBODY behind the last */
	uint32_t *chain;
	uint32_t *last; /* [n] of that chain */
	size_t *at;     /* [n + 1] edges by their source at first */
	uint32_t *to;
	size_t n_edges;
	struct gv_graph_edge *edge; /* between groups that are there */
	uint32_t *order;    /* [n] each behind all that feed it; NOBODY where one was */
	size_t *place;      /* [n] in it */
	bool *refused;      /* [n_edges] it would make a circle */
	bool *seen, *twice; /* [n] scratch */
	uint32_t *stack;    /* [n] scratch */
};

/* Goes to all that a group feeds, but along its own edge to the group to; whether that is met. */
static bool
spread(struct shrinking *s, uint32_t from, uint32_t to, bool first, size_t *top)
{
	uint32_t u;
	size_t k;

	for (u = from; u != NOBODY; u = s->chain[u])
		for (k = s->at[u]; k < s->at[u + 1]; k++) {
			uint32_t v = s->into[s->to[k]];

			if (v == to && !first)
				return true;
			if (v == from || s->seen[v] || s->place[v] >= s->place[to])
				continue;
			s->seen[v] = true;
			s->stack[(*top)++] = v;
		}
	return false;
}

/*
 * Whether to can be reached from from by more than one step along the edge itself.
 * If not, all between them in the order that from feeds were seen.
 */
static bool
reaches_round_about(struct shrinking *s, uint32_t from, uint32_t to)
{
	size_t top = 0;

	memset(s->seen, 0, s->n * sizeof(*s->seen));
	spread(s, from, to, true, &top);
	while (top > 0)
		if (spread(s, s->stack[--top], to, false, &top))
			return true;
	return false;
}

static double
together(const struct shrinking *s, struct gv_graph_edge e)
{
	return s->time_s[e.src] + s->time_s[e.dst];
}

/* The edge to merge next; false when there is none. */
static bool
lightest(struct shrinking *s, struct gv_graph_edge *best)
{
	size_t k, least;

	for (;;) {
		for (k = 0, least = s->n_edges; k < s->n_edges; k++)
			if (!s->refused[k] &&
			    (least == s->n_edges ||
				together(s, s->edge[k]) < together(s, s->edge[least])))
				least = k;
		if (least == s->n_edges)
			return false;
		s->refused[least] = true;
		*best = s->edge[least];
		if (!reaches_round_about(s, best->src, best->dst))
			return true;
	}
}

/*
 * Makes the edges of both those of src, each once.  Only these may have a way round
 * no longer: one that goes elsewhere just gets shorter.
 */
static void
merge_edges(struct shrinking *s, struct gv_graph_edge e)
{
	size_t k, kept = 0;

	memset(s->seen, 0, s->n * sizeof(*s->seen));
	memset(s->twice, 0, s->n * sizeof(*s->twice));
	for (k = 0; k < s->n_edges; k++) {
		struct gv_graph_edge f = s->edge[k];

		if (f.src == e.dst)
			f.src = e.src;
		if (f.dst == e.dst)
			f.dst = e.src;
		if (f.src == f.dst || (f.src == e.src && s->seen[f.dst]) ||
		    (f.dst == e.src && s->twice[f.src]))
			continue;
		if (f.src == e.src)
			s->seen[f.dst] = true;
		if (f.dst == e.src)
			s->twice[f.src] = true;
		s->refused[kept] = s->refused[k] && f.src != e.src && f.dst != e.src;
		s->edge[kept++] = f;
	}
	s->n_edges = kept;
}

/* Puts what is between them in front of both, but behind them what src feeds, which was seen. */
static void
merge_places(struct shrinking *s, struct gv_graph_edge e)
{
	size_t from = s->place[e.src], to = s->place[e.dst], at = from, n = 0, i;

	for (i = from; i <= to; i++) {
		uint32_t u = s->order[i];

		if (u == NOBODY || u == e.src || u == e.dst)
			continue;
		if (s->seen[u])
			s->stack[n++] = u;
		else
			s->order[at++] = u;
	}
	s->order[at++] = e.src;
	for (i = 0; i < n; i++)
		s->order[at++] = s->stack[i];
	while (at <= to)
		s->order[at++] = NOBODY;
	for (i = from; i <= to; i++)
		if (s->order[i] != NOBODY)
			s->place[s->order[i]] = i;
}

/* Right behind reaches_round_about. */
static void
merge_into(struct shrinking *s, struct gv_graph_edge e)
{
	uint32_t u;

	s->time_s[e.src] += s->time_s[e.dst];
	for (u = e.dst; u != NOBODY; u = s->chain[u])
		s->into[u] = e.src;
	s->chain[s->last[e.src]] = e.dst;
	s->last[e.src] = s->last[e.dst];
	merge_places(s, e);
	merge_edges(s, e);
}

/* The edges between groups, and by their sources. */
static void
take_edges(struct shrinking *s, const struct gv_graph *g, const uint32_t *group)
{
	size_t k, i;

	s->at = gv_xcalloc(s->n + 2, sizeof(*s->at));
	s->edge = gv_xcalloc(g->n_edges, sizeof(*s->edge));
	s->to = gv_xcalloc(g->n_edges, sizeof(*s->to));
	s->refused = gv_xcalloc(g->n_edges, sizeof(*s->refused));
	for (k = 0; k < g->n_edges; k++) {
		struct gv_graph_edge e = {group[g->edge[k].src], group[g->edge[k].dst]};

		if (e.src == e.dst)
			continue;
		s->edge[s->n_edges++] = e;
		s->at[e.src + 2]++;
	}
	for (i = 2; i < s->n + 2; i++)
		s->at[i] += s->at[i - 1];
	for (k = 0; k < s->n_edges; k++)
		s->to[s->at[s->edge[k].src + 1]++] = s->edge[k].dst;
}

static void
shrinking_open(struct shrinking *s, const struct merges *m)
{
	const struct gv_graph *g = m->g;
	uint32_t *group = gv_xcalloc(g->n, sizeof(*group));
	uint32_t *first = merges_firsts(m, m->n);
	uint32_t *order = gv_xcalloc(g->n, sizeof(*order));
	size_t i;

	s->n = merges_groups(m, m->n, group);
	s->name = gv_xcalloc(s->n, sizeof(*s->name));
	s->time_s = gv_xcalloc(s->n, sizeof(*s->time_s));
	s->into = gv_xcalloc(s->n, sizeof(*s->into));
	s->chain = gv_xcalloc(s->n, sizeof(*s->chain));
	s->last = gv_xcalloc(s->n, sizeof(*s->last));
	s->order = gv_xcalloc(s->n, sizeof(*s->order));
	s->place = gv_xcalloc(s->n, sizeof(*s->place));
	s->seen = gv_xcalloc(s->n, sizeof(*s->seen));
	s->twice = gv_xcalloc(s->n, sizeof(*s->twice));
	s->stack = gv_xcalloc(s->n, sizeof(*s->stack));
	for (i = 0; i < s->n; i++) {
		s->into[i] = s->last[i] = (uint32_t)i;
		s->chain[i] = NOBODY;
	}
	for (i = 0; i < g->n; i++) {
		s->name[group[i]] = first[i];
		s->time_s[group[i]] += g->layer[i].time_s;
	}
	merges_order(m, first, order);
	for (i = 0; i < s->n; i++) {
		s->order[i] = group[order[i]];
		s->place[s->order[i]] = i;
	}
	take_edges(s, g, group);
	free(group);
	free(first);
	free(order);
}

static void
shrinking_close(struct shrinking *s)
{
	free(s->name);
	free(s->time_s);
	free(s->into);
	free(s->chain);
	free(s->last);
	free(s->at);
	free(s->to);
	free(s->edge);
	free(s->refused);
	free(s->order);
	free(s->place);
	free(s->seen);
	free(s->twice);
	free(s->stack);
}

void
merges_edges(struct merges *m)
{
	struct shrinking s = {0};
	struct gv_graph_edge e;

	shrinking_open(&s, m);
	while (lightest(&s, &e)) {
		merges_add(m, s.name[e.src], s.name[e.dst]);
		merge_into(&s, e);
	}
	shrinking_close(&s);
}
