/* What is known of prefixes, and which are subsets of which. */
#include "ideals.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "closures.h"

/* What PipeDream's program counts for a prefix of which a layer is maximal, a row for each. */
struct published {
	const struct gv_graph *g;
	size_t words;
	uint64_t *row; /* [n][words] what the layer needs, once known what is counted */
	unsigned char *known; /* [n] */
};

static void
published_open(struct published *x, const struct gv_graph *g)
{
	*x = (struct published){.g = g, .words = (g->n + 63) / 64};
	x->row = closures_needs(g);
	x->known = gv_xcalloc(g->n, 1);
}

static void
published_close(struct published *x)
{
	free(x->row);
	free(x->known);
}

/* The layer, and what others read of all that it needs. */
static const uint64_t *
published_row(struct published *x, size_t a)
{
	uint64_t *need = x->row + a * x->words, *counted;
	size_t k;

	if (x->known[a])
		return need;
	counted = gv_xcalloc(x->words, sizeof(*counted));
	set_put(counted, a);
	for (k = 0; k < x->g->n_edges; k++) {
		const struct gv_graph_edge *e = &x->g->edge[k];

		if (set_has(need, e->src) && !set_has(need, e->dst))
			set_put(counted, e->src);
	}
	memcpy(need, counted, x->words * sizeof(*counted));
	free(counted);
	x->known[a] = 1;
	return need;
}

/* As PipeDream's program counts: what is read by others than those that a maximal layer needs. */
static double
cut_upstream(struct published *x, const uint64_t *bits)
{
	const struct gv_graph *g = x->g;
	uint64_t *counted = gv_xcalloc(x->words, sizeof(*counted));
	uint64_t *inner = gv_xcalloc(x->words, sizeof(*inner)); /* not maximal */
	double sum = 0;
	size_t a, k, v;

	for (k = 0; k < g->n_edges; k++)
		if (set_has(bits, g->edge[k].dst))
			set_put(inner, g->edge[k].src);
	for (a = 0; a < g->n; a++) {
		const uint64_t *row;

		if (!set_has(bits, a) || set_has(inner, a))
			continue;
		row = published_row(x, a);
		for (k = 0; k < x->words; k++)
			counted[k] |= row[k];
	}
	for (v = 0; v < g->n; v++)
		if (set_has(counted, v))
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
		if (set_has(bits, g->edge[k].src) && !set_has(bits, g->edge[k].dst))
			set_put(crosses, g->edge[k].src);
	for (v = 0; v < g->n; v++)
		if (set_has(crosses, v))
			sum += g->layer[v].activation;
	free(crosses);
	return sum;
}

double
ideals_cut(const struct gv_graph *g, const uint64_t *bits, enum ideals_kind kind)
{
	struct published x;
	double sum;

	if (kind == IDEALS_ALL)
		return cut_true(g, bits);
	published_open(&x, g);
	sum = cut_upstream(&x, bits);
	published_close(&x);
	return sum;
}

static void
sum_up(struct ideals *s, const struct gv_graph *g, enum ideals_kind kind)
{
	struct published x = {0};
	size_t i, v;

	if (kind == IDEALS_UPSTREAM)
		published_open(&x, g);
	for (i = 1; i < s->n; i++) { /* the first is empty */
		const uint64_t *bits = s->bits + i * s->words;

		for (v = 0; v < g->n; v++) {
			if (!set_has(bits, v))
				continue;
			s->time_s[i] += g->layer[v].time_s;
			s->forward_s[i] += g->layer[v].forward_s;
			s->activation[i] += g->layer[v].kept;
			s->parameter[i] += g->layer[v].parameter;
		}
		if (i + 1 < s->n)
			s->out[i] = kind == IDEALS_UPSTREAM ? cut_upstream(&x, bits)
							    : cut_true(g, bits);
	}
	published_close(&x);
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
			if (!set_in(bits + i * words, bits + j * words, words))
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
			if (set_has(bits + i * words, group[v]))
				set_put(s->bits + i * s->words, v);
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
	bool few = sets_all(&found, g, group, n_groups, limit) == 0;

	sets_free(&found);
	return few;
}

void
ideals_of(struct ideals *s, const struct gv_graph *g, enum ideals_kind kind,
    const struct sets *found)
{
	uint32_t *single = gv_xcalloc(g->n, sizeof(*single));
	uint64_t *bits = sorted(found, g->n);
	size_t i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < g->n; i++)
		single[i] = (uint32_t)i;
	s->n = found->n;
	take(s, g, kind, single, bits, found->words);
	free(bits);
	free(single);
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
	rc = upstream ? sets_upstream(&found, g, limit)
		      : sets_all(&found, g, group, n_groups, limit);
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
