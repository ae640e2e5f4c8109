/* Enumerating prefixes. */
#include "sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "closures.h"

/* ---- families ---- */

static uint64_t
hash(const uint64_t *bits, size_t words)
{
	uint64_t h = 0x9e3779b97f4a7c15;
	size_t i;

	for (i = 0; i < words; i++) {
		h = (h ^ bits[i]) * 0xff51afd7ed558ccd;
		h ^= h >> 32;
	}
	return h;
}

static void
more_slots(struct sets *s)
{
	size_t i, at;

	free(s->slot);
	s->n_slots = s->n_slots > 0 ? s->n_slots * 2 : 256;
	s->slot = gv_xcalloc(s->n_slots, sizeof(*s->slot));
	for (i = 0; i < s->n; i++) {
		at = hash(s->bits + i * s->words, s->words) & (s->n_slots - 1);
		while (s->slot[at] != 0)
			at = (at + 1) & (s->n_slots - 1);
		s->slot[at] = (uint32_t)i + 1;
	}
}

void
sets_add(struct sets *s, const uint64_t *bits)
{
	size_t at;

	if (s->n * 2 >= s->n_slots)
		more_slots(s);
	at = hash(bits, s->words) & (s->n_slots - 1);
	for (; s->bits != NULL && s->slot[at] != 0; at = (at + 1) & (s->n_slots - 1))
		if (memcmp(s->bits + (s->slot[at] - 1) * s->words, bits,
			s->words * sizeof(*bits)) == 0)
			return;
	s->bits = gv_xgrow(s->bits, &s->cap, (s->n + 1) * s->words, sizeof(*s->bits));
	memcpy(s->bits + s->n * s->words, bits, s->words * sizeof(*bits));
	s->slot[at] = (uint32_t)++s->n;
}

void
sets_free(struct sets *s)
{
	free(s->bits);
	free(s->slot);
}

/* ---- enumeration ---- */

/* The groups that feed each group, as sets [n_groups][words]. */
static uint64_t *
feeders(const struct gv_graph *g, const uint32_t *group, size_t n_groups, size_t words)
{
	uint64_t *before = gv_xcalloc(n_groups * words, sizeof(*before));
	size_t k;

	for (k = 0; k < g->n_edges; k++) {
		uint32_t src = group[g->edge[k].src], dst = group[g->edge[k].dst];

		if (src != dst)
			set_put(before + dst * words, src);
	}
	return before;
}

int
sets_all(struct sets *found, const struct gv_graph *g, const uint32_t *group,
    size_t n_groups, size_t limit)
{
	uint64_t *before, *set;
	size_t at, v;

	if (n_groups >= limit) /* each is the last of at least one set */
		return -1;
	before = feeders(g, group, n_groups, found->words);
	set = gv_xcalloc(found->words, sizeof(*set));
	sets_add(found, set);
	for (at = 0; at < found->n && found->n <= limit; at++)
		for (v = 0; v < n_groups && found->n <= limit; v++) {
			const uint64_t *bits = found->bits + at * found->words;

			if (set_has(bits, v) ||
			    !set_in(before + v * found->words, bits, found->words))
				continue;
			memcpy(set, bits, found->words * sizeof(*set));
			set_put(set, v);
			sets_add(found, set);
		}
	free(before);
	free(set);
	return found->n <= limit ? 0 : -1;
}

static size_t
first_source(const struct gv_graph *g)
{
	bool *fed = gv_xcalloc(g->n, sizeof(*fed));
	size_t i, k;

	for (k = 0; k < g->n_edges; k++)
		fed[g->edge[k].dst] = true;
	for (i = 0; fed[i]; i++)
		;
	free(fed);
	return i;
}

int
sets_upstream(struct sets *found, const struct gv_graph *g, size_t limit)
{
	uint64_t *need = closures_needs(g);
	uint64_t *set = gv_xcalloc(found->words, sizeof(*set));
	size_t at, k, w;

	sets_add(found, set);
	sets_add(found, need + first_source(g) * found->words);
	for (at = 1; at < found->n && found->n <= limit; at++)
		for (k = 0; k < g->n_edges; k++) {
			const struct gv_graph_edge *e = &g->edge[k];

			memcpy(set, found->bits + at * found->words,
			    found->words * sizeof(*set));
			if (!set_has(set, e->src) || set_has(set, e->dst))
				continue;
			for (w = 0; w < found->words; w++)
				set[w] |= need[e->dst * found->words + w];
			sets_add(found, set);
		}
	for (k = 0; k < g->n; k++)
		set_put(set, k);
	sets_add(found, set);
	free(need);
	free(set);
	return found->n <= limit ? 0 : -1;
}

/* ---- a few ---- */

void
sets_sequence(struct sets *found, const struct gv_graph *g, const uint32_t *order)
{
	uint64_t *set = gv_xcalloc(found->words, sizeof(*set));
	size_t i;

	sets_add(found, set);
	for (i = 0; i < g->n; i++) {
		set_put(set, order[i]);
		sets_add(found, set);
	}
	free(set);
}

uint32_t *
sets_stage_order(const struct gv_graph *g, const uint32_t *of, size_t n_stages)
{
	uint32_t *order = gv_xcalloc(g->n, sizeof(*order));
	uint32_t *by_stage = gv_xcalloc(g->n, sizeof(*by_stage));
	size_t *at = gv_xcalloc(n_stages + 1, sizeof(*at));
	size_t i;

	gv_graph_order(g, order);
	for (i = 0; i < g->n; i++)
		at[of[i] + 1]++;
	for (i = 0; i < n_stages; i++)
		at[i + 1] += at[i];
	for (i = 0; i < g->n; i++)
		by_stage[at[of[order[i]]]++] = order[i];
	free(order);
	free(at);
	return by_stage;
}

/* Cuts, and layers that can be moved over them. */
struct moves {
	const struct gv_graph *g;
	const uint32_t *of;
	struct closures c;
};

/* The cut with the layer moved over it, and what has to go with it, into to. */
static void
move(const struct moves *m, uint64_t *to, const uint64_t *cut, size_t v)
{
	const uint64_t *need = closures_need(&m->c, v), *feed = closures_feed(&m->c, v);
	bool back = set_has(cut, v);
	size_t w;

	for (w = 0; w < m->c.words; w++)
		to[w] = back ? cut[w] & ~feed[w] : cut[w] | need[w];
}

/* Adds the cut in front of a stage with one layer of the stages beside it moved, or two. */
static void
move_cut(struct sets *found, const struct moves *m, const uint64_t *cut, size_t stage,
    bool twice)
{
	uint64_t *once = gv_xcalloc(2 * m->c.words, sizeof(*once)),
		 *again = once + m->c.words;
	size_t v, u;

	for (v = 0; v < m->g->n; v++) {
		if (m->of[v] + 1 != stage && m->of[v] != stage)
			continue;
		move(m, once, cut, v);
		sets_add(found, once);
		for (u = 0; twice && u < m->g->n; u++) {
			if (m->of[u] + 1 != stage && m->of[u] != stage)
				continue;
			move(m, again, once, u);
			sets_add(found, again);
		}
	}
	free(once);
}

void
sets_near(struct sets *found, const struct gv_graph *g, const uint32_t *of,
    size_t n_stages, bool twice)
{
	uint32_t *order = sets_stage_order(g, of, n_stages);
	uint64_t *cut = gv_xcalloc(found->words, sizeof(*cut));
	size_t i, at = 0;
	struct moves m = {.g = g, .of = of};

	closures_open(&m.c, g);
	sets_sequence(found, g, order);
	for (i = 1; i < n_stages; i++) {
		for (; of[order[at]] < i; at++)
			set_put(cut, order[at]);
		move_cut(found, &m, cut, i, twice);
	}
	closures_close(&m.c);
	free(order);
	free(cut);
}
