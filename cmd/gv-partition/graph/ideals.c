/* Enumerating prefixes, and what is known of each. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ideals.h"

/* A set of sets of nodes: rows of words, found by hashing. */
struct sets {
	size_t words;
	size_t n, cap;
	uint64_t *bits;
	size_t n_slots; /* a power of two */
	uint32_t *slot; /* 1 + row, 0 = free */
};

static bool
has(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static void
put(uint64_t *bits, size_t i)
{
	bits[i / 64] |= (uint64_t)1 << (i % 64);
}

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

/* Adds the set unless it is there. */
static void
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

static void
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
			put(before + dst * words, src);
	}
	return before;
}

static bool
all_in(const uint64_t *a, const uint64_t *b, size_t words)
{
	size_t i;

	for (i = 0; i < words && (a[i] & ~b[i]) == 0; i++)
		;
	return i == words;
}

/* Ideals of the graph of groups, by size.  0, or -1 when more than limit. */
static int
find_all(struct sets *found, const struct gv_graph *g, const uint32_t *group,
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

			if (has(bits, v) ||
			    !all_in(before + v * found->words, bits, found->words))
				continue;
			memcpy(set, bits, found->words * sizeof(*set));
			put(set, v);
			sets_add(found, set);
		}
	free(before);
	free(set);
	return found->n <= limit ? 0 : -1;
}

/* Each layer with all that it needs, [n][words]. */
static uint64_t *
closures(const struct gv_graph *g, size_t words)
{
	uint64_t *need = gv_xcalloc(g->n * words, sizeof(*need));
	uint32_t *order = gv_xcalloc(g->n, sizeof(*order));
	uint32_t *dst = gv_xcalloc(g->n_edges, sizeof(*dst));
	size_t *at = gv_graph_fed(g, dst);
	size_t i, k, w;

	gv_graph_order(g, order);
	for (i = 0; i < g->n; i++) {
		size_t v = order[i];

		put(need + v * words, v);
		for (k = at[v]; k < at[v + 1]; k++)
			for (w = 0; w < words; w++)
				need[dst[k] * words + w] |= need[v * words + w];
	}
	free(order);
	free(dst);
	free(at);
	return need;
}

static size_t
first_source(const struct gv_graph *g)
{
	bool *fed = gv_xcalloc(g->n, sizeof(*fed));
	size_t i, k;

	for (k = 0; k < g->n_edges; k++)
		fed[g->edge[k].dst] = true;
	for (i = 0; i < g->n && fed[i]; i++)
		;
	free(fed);
	return i;
}

/*
 * Those of PipeDream's program: from the first source on, one more neighbour
 * with all that it needs.  Other sources come in only when needed.
 */
static int
find_upstream(struct sets *found, const struct gv_graph *g, size_t limit)
{
	uint64_t *need = closures(g, found->words);
	uint64_t *set = gv_xcalloc(found->words, sizeof(*set));
	size_t at, k, w;

	sets_add(found, set);
	sets_add(found, need + first_source(g) * found->words);
	for (at = 1; at < found->n && found->n <= limit; at++)
		for (k = 0; k < g->n_edges; k++) {
			const struct gv_graph_edge *e = &g->edge[k];

			memcpy(set, found->bits + at * found->words,
			    found->words * sizeof(*set));
			if (!has(set, e->src) || has(set, e->dst))
				continue;
			for (w = 0; w < found->words; w++)
				set[w] |= need[e->dst * found->words + w];
			sets_add(found, set);
		}
	memset(set, 0, found->words * sizeof(*set));
	for (k = 0; k < g->n; k++)
		put(set, k);
	sets_add(found, set);
	free(need);
	free(set);
	return found->n <= limit ? 0 : -1;
}

/* ---- what is known of each ---- */

/* As PipeDream's program counts: what is read by others than those that a maximal layer needs. */
static double
cut_upstream(const struct gv_graph *g, const uint64_t *bits, const uint64_t *need)
{
	size_t words = (g->n + 63) / 64;
	uint64_t *counted = gv_xcalloc(words, sizeof(*counted));
	uint64_t *inner = gv_xcalloc(words, sizeof(*inner)); /* not maximal */
	double sum = 0;
	size_t a, k, v;

	for (k = 0; k < g->n_edges; k++)
		if (has(bits, g->edge[k].dst))
			put(inner, g->edge[k].src);
	for (a = 0; a < g->n; a++) {
		if (!has(bits, a) || has(inner, a))
			continue;
		put(counted, a);
		for (k = 0; k < g->n_edges; k++) {
			const struct gv_graph_edge *e = &g->edge[k];

			if (has(need + a * words, e->src) &&
			    !has(need + a * words, e->dst))
				put(counted, e->src);
		}
	}
	for (v = 0; v < g->n; v++)
		if (has(counted, v))
			sum += g->layer[v].activation;
	free(counted);
	free(inner);
	return sum;
}

static double
cut_true(const struct gv_graph *g, const uint64_t *bits)
{
	uint64_t *crosses = gv_xcalloc((g->n + 63) / 64, sizeof(*crosses));
	double sum = 0;
	size_t k, v;

	for (k = 0; k < g->n_edges; k++)
		if (has(bits, g->edge[k].src) && !has(bits, g->edge[k].dst))
			put(crosses, g->edge[k].src);
	for (v = 0; v < g->n; v++)
		if (has(crosses, v))
			sum += g->layer[v].activation;
	free(crosses);
	return sum;
}

double
ideals_cut(const struct gv_graph *g, const uint64_t *bits, enum ideals_kind kind)
{
	uint64_t *need;
	double sum;

	if (kind == IDEALS_ALL)
		return cut_true(g, bits);
	need = closures(g, (g->n + 63) / 64);
	sum = cut_upstream(g, bits, need);
	free(need);
	return sum;
}

static void
sum_up(struct ideals *s, const struct gv_graph *g, enum ideals_kind kind)
{
	uint64_t *need = kind == IDEALS_UPSTREAM ? closures(g, s->words) : NULL;
	size_t i, v;

	for (i = 0; i < s->n; i++) {
		const uint64_t *bits = s->bits + i * s->words;

		for (v = 0; v < g->n; v++) {
			if (!has(bits, v))
				continue;
			s->time_s[i] += g->layer[v].time_s;
			s->forward_s[i] += g->layer[v].forward_s;
			s->activation[i] += g->layer[v].activation;
			s->parameter[i] += g->layer[v].parameter;
		}
		if (i > 0 && i + 1 < s->n)
			s->out[i] = need != NULL ? cut_upstream(g, bits, need)
						 : cut_true(g, bits);
	}
	free(need);
}

/* Rows of words by which they are compared: of layers, or of groups, which are fewer. */
static void
relate(struct ideals *s, const uint64_t *bits, size_t words)
{
	size_t i, j, n = 0, cap = 0;

	s->sub_words = (s->n + 63) / 64;
	s->sub = gv_xcalloc(s->n * s->sub_words, sizeof(*s->sub));
	s->sup_at = gv_xcalloc(s->n + 1, sizeof(*s->sup_at));
	for (i = 0; i < s->n; i++) {
		s->sup_at[i] = n;
		for (j = i + 1; j < s->n; j++) {
			if (!all_in(bits + i * words, bits + j * words, words))
				continue;
			s->sub[j * s->sub_words + i / 64] |= (uint64_t)1 << (i % 64);
			s->sup = gv_xgrow(s->sup, &cap, n + 1, sizeof(*s->sup));
			s->sup[n++] = (uint32_t)j;
		}
	}
	s->sup_at[s->n] = n;
}

static size_t
count_bits(const uint64_t *bits, size_t words)
{
	size_t i, n = 0;
	uint64_t w;

	for (i = 0; i < words; i++)
		for (w = bits[i]; w != 0; w &= w - 1)
			n++;
	return n;
}

/* The order of the rows of found by their sizes, stable. */
static uint32_t *
by_size(const struct sets *found, size_t n_nodes)
{
	size_t *at = gv_xcalloc(n_nodes + 2, sizeof(*at));
	uint32_t *order = gv_xcalloc(found->n, sizeof(*order));
	size_t i;

	for (i = 0; i < found->n; i++)
		at[count_bits(found->bits + i * found->words, found->words) + 1]++;
	for (i = 0; i <= n_nodes; i++)
		at[i + 1] += at[i];
	for (i = 0; i < found->n; i++)
		order[at[count_bits(found->bits + i * found->words, found->words)]++] =
		    (uint32_t)i;
	free(at);
	return order;
}

/* The rows of found, by size. */
static uint64_t *
sorted(const struct sets *found, size_t n_nodes)
{
	uint32_t *order = by_size(found, n_nodes);
	uint64_t *bits = gv_xcalloc(found->n * found->words, sizeof(*bits));
	size_t i;

	for (i = 0; i < found->n; i++)
		memcpy(bits + i * found->words, found->bits + order[i] * found->words,
		    found->words * sizeof(*bits));
	free(order);
	return bits;
}

/* What is known of sets of groups bits[n][words]. */
static void
take(struct ideals *s, const struct gv_graph *g, enum ideals_kind kind,
    const uint32_t *group, const uint64_t *bits, size_t words)
{
	size_t i, v;

	s->words = (g->n + 63) / 64;
	s->bits = gv_xcalloc(s->n * s->words, sizeof(*s->bits));
	for (i = 0; i < s->n; i++)
		for (v = 0; v < g->n; v++)
			if (has(bits + i * words, group[v]))
				put(s->bits + i * s->words, v);
	s->time_s = gv_xcalloc(s->n, sizeof(*s->time_s));
	s->forward_s = gv_xcalloc(s->n, sizeof(*s->forward_s));
	s->activation = gv_xcalloc(s->n, sizeof(*s->activation));
	s->parameter = gv_xcalloc(s->n, sizeof(*s->parameter));
	s->out = gv_xcalloc(s->n, sizeof(*s->out));
	sum_up(s, g, kind);
	relate(s, bits, words);
}

bool
ideals_few(const struct gv_graph *g, const uint32_t *group, size_t n_groups, size_t limit)
{
	struct sets found = {.words = (n_groups + 63) / 64};
	bool few = find_all(&found, g, group, n_groups, limit) == 0;

	sets_free(&found);
	return few;
}

int
ideals_make(struct ideals *s, const struct gv_graph *g, enum ideals_kind kind,
    const uint32_t *group, size_t n_groups, size_t limit)
{
	struct sets found = {0};
	uint32_t *single = gv_xcalloc(g->n, sizeof(*single));
	bool upstream = kind == IDEALS_UPSTREAM && group == NULL;
	uint64_t *bits;
	int rc;

	memset(s, 0, sizeof(*s));
	if (group == NULL) {
		for (n_groups = 0; n_groups < g->n; n_groups++)
			single[n_groups] = (uint32_t)n_groups;
		group = single;
	}
	found.words = (n_groups + 63) / 64;
	rc = upstream ? find_upstream(&found, g, limit)
		      : find_all(&found, g, group, n_groups, limit);
	if (rc == 0) {
		s->n = found.n;
		bits = sorted(&found, n_groups);
		take(s, g, kind, group, bits, found.words);
		free(bits);
	}
	sets_free(&found);
	free(single);
	return rc;
}

static double *
picked(const double *sums, const uint32_t *pick, size_t n)
{
	double *few = gv_xcalloc(n, sizeof(*few));
	size_t i;

	for (i = 0; i < n; i++)
		few[i] = sums[pick[i]];
	return few;
}

void
ideals_pick(struct ideals *few, const struct ideals *s, const uint32_t *pick, size_t n)
{
	size_t i;

	memset(few, 0, sizeof(*few));
	few->n = n;
	few->words = s->words;
	few->bits = gv_xcalloc(n * s->words, sizeof(*few->bits));
	for (i = 0; i < n; i++)
		memcpy(few->bits + i * s->words, s->bits + pick[i] * s->words,
		    s->words * sizeof(*few->bits));
	few->time_s = picked(s->time_s, pick, n);
	few->forward_s = picked(s->forward_s, pick, n);
	few->activation = picked(s->activation, pick, n);
	few->parameter = picked(s->parameter, pick, n);
	few->out = picked(s->out, pick, n);
	relate(few, few->bits, few->words);
}

void
ideals_free(struct ideals *s)
{
	free(s->bits);
	free(s->time_s);
	free(s->forward_s);
	free(s->activation);
	free(s->parameter);
	free(s->out);
	free(s->sub);
	free(s->sup_at);
	free(s->sup);
	memset(s, 0, sizeof(*s));
}
