/* Groups of layers that stay together. */
#include "groups.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MANY = 4096, NOBODY = UINT32_MAX };

void
merges_free(struct merges *m)
{
	free(m->merge);
	memset(m, 0, sizeof(*m));
}

static void
add(struct merges *m, uint32_t src, uint32_t dst)
{
	m->merge[m->n++] = (struct graph_edge){src, dst};
}

/* Each layer by the first of its group after the first k merges, as the merges name it. */
static uint32_t *
firsts(const struct merges *m, size_t k)
{
	uint32_t *first = gv_xcalloc(m->g->n, sizeof(*first));
	size_t i;

	for (i = 0; i < m->g->n; i++)
		first[i] = (uint32_t)i;
	/* backwards: what a group is merged into may itself be merged later */
	for (i = k; i-- > 0;)
		first[m->merge[i].dst] = first[m->merge[i].src];
	return first;
}

size_t
merges_groups(const struct merges *m, size_t k, uint32_t *group)
{
	uint32_t *first = firsts(m, k);
	uint32_t *number = gv_xcalloc(m->g->n, sizeof(*number));
	uint32_t next = 0;
	size_t i;

	for (i = 0; i < m->g->n; i++) {
		if (number[first[i]] == 0)
			number[first[i]] = ++next;
		group[i] = number[first[i]] - 1;
	}
	free(first);
	free(number);
	return next;
}

/* ---- along paths ---- */

/* A group and the next of its path that could be one; stale when the group has grown since. */
struct pair {
	double time_s; /* of both together */
	uint32_t src;
};

/* Disjoint paths of groups while they shrink, and a heap of their pairs, the lightest on top. */
struct paths {
	uint32_t *next, *before; /* NOBODY at the ends */
	double *time_s;
	size_t n;
	struct pair *heap;
};

static bool
lighter(const struct pair *a, const struct pair *b)
{
	return a->time_s < b->time_s || (!(b->time_s < a->time_s) && a->src < b->src);
}

static void
sift_down(struct paths *p, size_t i)
{
	for (;;) {
		size_t least = i, child;
		struct pair swap;

		for (child = 2 * i + 1; child <= 2 * i + 2 && child < p->n; child++)
			if (lighter(&p->heap[child], &p->heap[least]))
				least = child;
		if (least == i)
			return;
		swap = p->heap[i];
		p->heap[i] = p->heap[least];
		p->heap[least] = swap;
		i = least;
	}
}

static void
paths_open(struct paths *p, const struct merges *m)
{
	uint32_t *first = firsts(m, m->n);
	size_t i;

	p->next = gv_xcalloc(m->g->n, sizeof(*p->next));
	p->before = gv_xcalloc(m->g->n, sizeof(*p->before));
	p->time_s = gv_xcalloc(m->g->n, sizeof(*p->time_s));
	p->heap = gv_xcalloc(m->g->n, sizeof(*p->heap));
	for (i = 0; i < m->g->n; i++) {
		p->next[i] = p->before[i] = NOBODY;
		p->time_s[first[i]] += m->g->layer[i].time_s;
	}
	free(first);
}

static void
paths_close(struct paths *p)
{
	free(p->next);
	free(p->before);
	free(p->time_s);
	free(p->heap);
}

static void
paths_connect(struct paths *p, uint32_t src, uint32_t dst)
{
	p->next[src] = dst;
	p->before[dst] = src;
}

/* Merges neighbours until so many merges were made, or none are left. */
static void
paths_merge(struct paths *p, struct merges *m, size_t most)
{
	size_t i;

	for (i = 0; i < m->g->n; i++)
		if (p->next[i] != NOBODY)
			p->heap[p->n++] = (struct pair){
			    p->time_s[i] + p->time_s[p->next[i]], (uint32_t)i};
	for (i = p->n / 2; i-- > 0;)
		sift_down(p, i);
	while (p->n > 0 && m->n < most) {
		uint32_t src = p->heap[0].src, dst = p->next[src];
		double now_s = dst == NOBODY ? 0 : p->time_s[src] + p->time_s[dst];

		if (dst == NOBODY || p->before[dst] != src) {
			p->heap[0] = p->heap[--p->n];
		} else if (p->heap[0].time_s < now_s) {
			p->heap[0].time_s = now_s;
		} else {
			add(m, src, dst);
			p->time_s[src] = now_s;
			p->next[src] = p->next[dst];
			if (p->next[dst] != NOBODY)
				p->before[p->next[dst]] = src;
			p->next[dst] = NOBODY; /* takes its pair out of the heap */
		}
		sift_down(p, 0);
	}
	paths_close(p);
}

void
merges_linear(struct merges *m, const struct graph *g)
{
	struct paths p = {0};
	size_t *out = gv_xcalloc(g->n, sizeof(*out));
	size_t *in = gv_xcalloc(g->n, sizeof(*in));
	size_t k;

	*m = (struct merges){.g = g};
	m->merge = gv_xcalloc(g->n, sizeof(*m->merge));
	for (k = 0; k < g->n_edges; k++) {
		out[g->edge[k].src]++;
		in[g->edge[k].dst]++;
	}
	paths_open(&p, m);
	for (k = 0; k < g->n_edges; k++)
		if (out[g->edge[k].src] == 1 && in[g->edge[k].dst] == 1)
			paths_connect(&p, g->edge[k].src, g->edge[k].dst);
	paths_merge(&p, m, g->n);
	free(out);
	free(in);
}

/* ---- along edges ---- */

/* The graph of groups while it shrinks: an edge twice is allowed. */
struct shrinking {
	size_t n;       /* groups at first */
	uint32_t *name; /* [n] their first layers */
	double *time_s;
	uint32_t *into; /* [n] the group that it is in now */
	uint32_t
	    *chain; /* [n] the next of the groups that are one; NOBODY behind the last */
	uint32_t *last; /* [n] of that chain */
	size_t *at;     /* [n + 1] edges by their source at first */
	uint32_t *to;
	size_t n_edges;
	struct graph_edge *edge; /* between groups that are there */
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
together(const struct shrinking *s, struct graph_edge e)
{
	return s->time_s[e.src] + s->time_s[e.dst];
}

/* The edge to merge next; false when there is none. */
static bool
lightest(struct shrinking *s, struct graph_edge *best)
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
merge_edges(struct shrinking *s, struct graph_edge e)
{
	size_t k, kept = 0;

	memset(s->seen, 0, s->n * sizeof(*s->seen));
	memset(s->twice, 0, s->n * sizeof(*s->twice));
	for (k = 0; k < s->n_edges; k++) {
		struct graph_edge f = s->edge[k];

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
merge_places(struct shrinking *s, struct graph_edge e)
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
merge_into(struct shrinking *s, struct graph_edge e)
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
take_edges(struct shrinking *s, const struct graph *g, const uint32_t *group)
{
	size_t k, i;

	s->at = gv_xcalloc(s->n + 2, sizeof(*s->at));
	s->edge = gv_xcalloc(g->n_edges, sizeof(*s->edge));
	s->to = gv_xcalloc(g->n_edges, sizeof(*s->to));
	s->refused = gv_xcalloc(g->n_edges, sizeof(*s->refused));
	for (k = 0; k < g->n_edges; k++) {
		struct graph_edge e = {group[g->edge[k].src], group[g->edge[k].dst]};

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

/* The first layers of groups, each behind those of all that feed it: how many. */
static size_t
firsts_in_order(const struct merges *m, const uint32_t *first, uint32_t *order)
{
	size_t n = 0, i;

	graph_order(m->g, order);
	for (i = 0; i < m->g->n; i++)
		if (first[order[i]] == order[i])
			order[n++] = order[i];
	return n;
}

static void
shrinking_open(struct shrinking *s, const struct merges *m)
{
	const struct graph *g = m->g;
	uint32_t *group = gv_xcalloc(g->n, sizeof(*group));
	uint32_t *first = firsts(m, m->n);
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
	firsts_in_order(m, first, order);
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

/* Merges neighbours in the order of the layers until so many merges were made. */
static void
merge_in_order(struct merges *m, size_t most)
{
	uint32_t *first = firsts(m, m->n);
	uint32_t *order = gv_xcalloc(m->g->n, sizeof(*order));
	struct paths p = {0};
	size_t n = firsts_in_order(m, first, order), i;

	paths_open(&p, m);
	for (i = 1; i < n; i++)
		paths_connect(&p, order[i - 1], order[i]);
	paths_merge(&p, m, most);
	free(first);
	free(order);
}

void
merges_further(struct merges *m)
{
	struct shrinking s = {0};
	struct graph_edge e;

	if (m->g->n - m->n > MANY)
		merge_in_order(m, m->g->n - MANY);
	shrinking_open(&s, m);
	while (lightest(&s, &e)) {
		add(m, s.name[e.src], s.name[e.dst]);
		merge_into(&s, e);
	}
	shrinking_close(&s);
	merge_in_order(m, m->g->n - 1);
}
