#include "units.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

#define NONE UINT32_MAX

/* Strongly connected components: Tarjan, "Depth-first search and linear graph algorithms", 1972. */
struct walk {
	size_t n;
	uint32_t *dst; /* what each layer leads to: at[v] up to at[v + 1] */
	size_t *at;
	uint32_t *seen, *low; /* in the order of the walk, 1 for the first; 0: not yet */
	uint32_t *path;       /* the layers on the way here, from which it may go on */
	size_t *next;         /* [n] of at, what is next of each */
	uint32_t *open;       /* those of no component yet */
	size_t n_path, n_open;
	uint32_t n_seen;
	uint32_t *of; /* [n] the least layer of the component of each */
};

static void
enter(struct walk *w, uint32_t v)
{
	w->seen[v] = w->low[v] = ++w->n_seen;
	w->next[v] = w->at[v];
	w->path[w->n_path++] = w->open[w->n_open++] = v;
}

static void
close_component(struct walk *w, uint32_t v)
{
	size_t first = w->n_open, i;
	uint32_t least = NONE;

	do {
		first--;
		if (w->open[first] < least)
			least = w->open[first];
	} while (w->open[first] != v);
	for (i = first; i < w->n_open; i++)
		w->of[w->open[i]] = least;
	w->n_open = first;
}

static void
walk_from(struct walk *w, uint32_t from)
{
	enter(w, from);
	while (w->n_path > 0) {
		uint32_t v = w->path[w->n_path - 1], to;

		if (w->next[v] < w->at[v + 1]) {
			to = w->dst[w->next[v]++];
			if (w->seen[to] == 0)
				enter(w, to);
			else if (w->of[to] == NONE && w->seen[to] < w->low[v])
				w->low[v] = w->seen[to];
			continue;
		}
		if (w->low[v] == w->seen[v])
			close_component(w, v);
		if (--w->n_path > 0 && w->low[v] < w->low[w->path[w->n_path - 1]])
			w->low[w->path[w->n_path - 1]] = w->low[v];
	}
}

/* The least layer of the component of each, with ties there and back; to be freed. */
static uint32_t *
components(const struct gv_graph *g)
{
	struct gv_graph all = {.n = g->n, .n_edges = g->n_edges + 2 * g->n_ties};
	struct walk w = {.n = g->n};
	size_t i;

	all.edge = gv_xcalloc(all.n_edges, sizeof(*all.edge));
	for (i = 0; i < g->n_edges; i++)
		all.edge[i] = g->edge[i];
	for (i = 0; i < g->n_ties; i++) {
		struct gv_graph_edge t = g->tie[i];

		all.edge[g->n_edges + 2 * i] = t;
		all.edge[g->n_edges + 2 * i + 1] = (struct gv_graph_edge){t.dst, t.src};
	}
	w.dst = gv_xcalloc(all.n_edges, sizeof(*w.dst));
	w.at = gv_graph_fed(&all, w.dst);
	w.seen = gv_xcalloc(g->n, sizeof(*w.seen));
	w.low = gv_xcalloc(g->n, sizeof(*w.low));
	w.path = gv_xcalloc(g->n, sizeof(*w.path));
	w.next = gv_xcalloc(g->n, sizeof(*w.next));
	w.open = gv_xcalloc(g->n, sizeof(*w.open));
	w.of = gv_xcalloc(g->n, sizeof(*w.of));
	for (i = 0; i < g->n; i++)
		w.of[i] = NONE;
	for (i = 0; i < g->n; i++)
		if (w.seen[i] == 0)
			walk_from(&w, (uint32_t)i);
	free(all.edge);
	free(w.dst);
	free(w.at);
	free(w.seen);
	free(w.low);
	free(w.path);
	free(w.next);
	free(w.open);
	return w.of;
}

static void
add_layer(struct gv_graph_layer *to, const struct gv_graph_layer *a)
{
	to->time_s += a->time_s;
	to->forward_s += a->forward_s;
	to->update_s += a->update_s;
	to->activation += a->activation;
	to->kept += a->kept;
	to->parameter += a->parameter;
}

void
units_open(struct units *u, const struct gv_graph *g)
{
	struct gv_hash seen = {0};
	size_t i;

	*u = (struct units){.of = components(g)};
	u->g.layer = gv_xcalloc(g->n, sizeof(*u->g.layer));
	u->g.edge = gv_xcalloc(g->n_edges, sizeof(*u->g.edge));
	for (i = 0; i < g->n; i++) {
		/* the least layer of a unit comes first, and has its number by then */
		u->of[i] = u->of[i] == i ? (uint32_t)u->g.n++ : u->of[u->of[i]];
		add_layer(&u->g.layer[u->of[i]], &g->layer[i]);
	}
	for (i = 0; i < g->n_edges; i++) {
		struct gv_graph_edge e = {u->of[g->edge[i].src], u->of[g->edge[i].dst]};
		size_t before = seen.n;

		if (e.src != e.dst &&
		    (u->g.n == g->n ||
			gv_hash_add(&seen, (const char *)&e, sizeof(e)) == before))
			u->g.edge[u->g.n_edges++] = e;
	}
	gv_hash_free(&seen);
}

void
units_close(struct units *u)
{
	gv_graph_free(&u->g);
	free(u->of);
	u->of = NULL;
}

void
units_expand(
    struct sets *found, const struct units *u, size_t n, const struct sets *of_units)
{
	uint64_t *set = gv_xcalloc(found->words, sizeof(*set));
	size_t i, v;

	for (i = 0; i < of_units->n; i++) {
		const uint64_t *from = of_units->bits + i * of_units->words;

		memset(set, 0, found->words * sizeof(*set));
		for (v = 0; v < n; v++)
			if (set_has(from, u->of[v]))
				set_put(set, v);
		sets_add(found, set);
	}
	free(set);
}

uint32_t *
units_stages(const struct units *u, size_t n, const uint32_t *of)
{
	uint32_t *stage = gv_xcalloc(u->g.n, sizeof(*stage));
	size_t v;

	for (v = 0; v < n; v++)
		stage[u->of[v]] = of[v];
	return stage;
}
