/* Fewer prefixes for large graphs. */
#include <stdlib.h>

#include "base/mem.h"
#include "groups.h"
#include "prefixes.h"
#include "sides.h"
#include "units.h"

enum { MANY = 8192 }; /* layers: their closures are sets of as many, for each */

/* Whether the first k merges leave at most limit prefixes; more leave fewer. */
static bool
few_enough(const struct merges *m, size_t k, size_t limit, uint32_t *group)
{
	return ideals_few(m->g, group, merges_groups(m, k, group), limit);
}

/* All prefixes that split no unit; 0, or -1 when they are more than limit. */
static int
make_all(struct ideals *s, const struct gv_graph *g, const struct units *u,
    enum ideals_kind kind, size_t limit)
{
	struct sets of_units = {.words = (u->g.n + 63) / 64};
	struct sets found = {.words = (g->n + 63) / 64};
	int rc;

	if (u->g.n == g->n)
		return ideals_make(s, g, kind, NULL, 0, limit);
	if (kind != IDEALS_UPSTREAM)
		return ideals_make(s, g, kind, u->of, u->g.n, limit);
	rc = sets_upstream(&of_units, &u->g, limit);
	if (rc == 0) {
		units_expand(&found, u, g->n, &of_units);
		ideals_of(s, g, kind, &found);
	}
	sets_free(&of_units);
	sets_free(&found);
	return rc;
}

/* As prefixes_grouped says, of units. */
static void
make_grouped(struct prefixes *x, const struct gv_graph *whole, const struct units *u,
    enum ideals_kind kind, size_t limit)
{
	const struct gv_graph *g = &u->g;
	size_t low = g->n > limit ? g->n - limit : 1, high, v;
	uint32_t *group, *of_layers;
	struct merges m;

	x->n_groups = g->n;
	x->exact = true;
	if (make_all(&x->s, whole, u, kind, limit + 1) == 0)
		return;
	x->exact = false;
	group = gv_xcalloc(g->n, sizeof(*group));
	merges_linear(&m, g);
	if (!few_enough(&m, m.n, limit + 1, group)) {
		low = m.n + 1 > low ? m.n + 1 : low;
		merges_further(&m);
	}
	for (high = m.n; low < high;) {
		size_t mid = (low + high) / 2;

		if (few_enough(&m, mid, limit + 1, group))
			high = mid;
		else
			low = mid + 1;
	}
	x->n_groups = merges_groups(&m, high, group);
	of_layers = gv_xcalloc(whole->n, sizeof(*of_layers));
	for (v = 0; v < whole->n; v++)
		of_layers[v] = group[u->of[v]];
	ideals_make(&x->s, whole, kind, of_layers, x->n_groups, limit + 1);
	merges_free(&m);
	free(group);
	free(of_layers);
}

void
prefixes_grouped(
    struct prefixes *x, const struct gv_graph *g, enum ideals_kind kind, size_t limit)
{
	struct units u;

	units_open(&u, g);
	make_grouped(x, g, &u, kind, limit);
	units_close(&u);
}

/* A branch as far as it goes before the next begins. */
static uint32_t *
branch_by_branch(const struct gv_graph *g)
{
	uint32_t *order = gv_xcalloc(g->n, sizeof(*order));
	uint32_t *stack = gv_xcalloc(g->n, sizeof(*stack));
	uint32_t *dst = gv_xcalloc(g->n_edges, sizeof(*dst));
	size_t *at = gv_graph_fed(g, dst);
	size_t *wait = gv_xcalloc(g->n, sizeof(*wait));
	size_t top = 0, n = 0, i;

	for (i = 0; i < g->n_edges; i++)
		wait[g->edge[i].dst]++;
	for (i = g->n; i-- > 0;)
		if (wait[i] == 0)
			stack[top++] = (uint32_t)i;
	while (top > 0) {
		uint32_t v = order[n++] = stack[--top];

		for (i = at[v + 1]; i-- > at[v];)
			if (--wait[dst[i]] == 0)
				stack[top++] = dst[i];
	}
	free(stack);
	free(dst);
	free(at);
	free(wait);
	return order;
}

/* Adds the beginnings of a sequence, at most limit of them: those of light layers are left out. */
static void
add_sequence(
    struct sets *found, const struct gv_graph *g, const uint32_t *order, size_t limit)
{
	struct gv_graph chain = {.n = g->n, .n_edges = g->n - 1};
	struct prefixes x;
	size_t i, j;

	if (g->n <= limit) {
		sets_sequence(found, g, order);
		return;
	}
	chain.layer = gv_xcalloc(g->n, sizeof(*chain.layer));
	chain.edge = gv_xcalloc(chain.n_edges, sizeof(*chain.edge));
	for (i = 0; i < g->n; i++)
		chain.layer[i] = g->layer[order[i]];
	for (i = 0; i + 1 < g->n; i++)
		chain.edge[i] = (struct gv_graph_edge){(uint32_t)i, (uint32_t)i + 1};
	prefixes_grouped(&x, &chain, IDEALS_ALL, limit);
	for (i = 0; i < x.s.n; i++) {
		uint64_t *set = gv_xcalloc(found->words, sizeof(*set));

		for (j = 0; j < g->n && ideals_has(&x.s, i, j); j++)
			set_put(set, order[j]);
		sets_add(found, set);
		free(set);
	}
	prefixes_free(&x);
	free(chain.layer);
	free(chain.edge);
}

static void
add_upstream(struct sets *found, const struct gv_graph *g, size_t limit)
{
	struct sets published = {.words = found->words};
	size_t i;

	if (sets_upstream(&published, g, limit) == 0)
		for (i = 0; i < published.n; i++)
			sets_add(found, published.bits + i * published.words);
	sets_free(&published);
}

/*
 * Adds all ways to have the heaviest layers, as many as there may be, on either side of
 * cuts of the layers in their order, which part the time evenly.
 */
static void
add_heavy(
    struct sets *found, const struct gv_graph *g, const uint32_t *order, size_t limit)
{
	enum { PARTS = 4 };
	uint32_t *layer = gv_xcalloc(g->n, sizeof(*layer));
	double *rank = gv_xcalloc(g->n, sizeof(*rank)), all_s = 0, done_s = 0;
	uint64_t *cut = gv_xcalloc(found->words, sizeof(*cut));
	struct closures c;
	struct sides sides;
	size_t i, k;

	for (i = 0; i < g->n; i++) {
		layer[i] = (uint32_t)i;
		rank[i] = -g->layer[i].time_s;
		all_s += g->layer[i].time_s;
	}
	sides_rank(layer, g->n, rank);
	closures_open(&c, g);
	sides_make(&sides, &c, layer, g->n, limit / (PARTS + 1) + 1);
	for (i = k = 0; i < g->n; i++) {
		for (; k < PARTS && done_s >= all_s * (double)k / PARTS; k++)
			sides_add(found, &sides, cut);
		set_put(cut, order[i]);
		done_s += g->layer[order[i]].time_s;
	}
	sides_add(found, &sides, cut);
	sides_free(&sides);
	closures_close(&c);
	free(layer);
	free(rank);
	free(cut);
}

/* The families beside that of prefixes_grouped, as sets of g's layers. */
static void
add_families(struct sets *found, const struct gv_graph *g, size_t limit)
{
	uint32_t *order;

	add_upstream(found, g, limit + 1);
	order = gv_xcalloc(g->n, sizeof(*order));
	gv_graph_order(g, order);
	add_sequence(found, g, order, limit);
	if (g->n <= MANY)
		add_heavy(found, g, order, limit);
	free(order);
	if (g->n <= limit / 2) {
		order = branch_by_branch(g);
		sets_sequence(found, g, order);
		free(order);
	}
}

static void
make_families(struct prefixes *x, const struct gv_graph *g, const struct units *u,
    enum ideals_kind kind, size_t limit)
{
	struct sets of_units = {.words = (u->g.n + 63) / 64};
	struct sets found = {.words = (g->n + 63) / 64};
	size_t i;

	for (i = 0; i < x->s.n; i++)
		sets_add(&found, x->s.bits + i * x->s.words);
	add_families(&of_units, &u->g, limit);
	units_expand(&found, u, g->n, &of_units);
	ideals_free(&x->s);
	ideals_of(&x->s, g, kind, &found);
	sets_free(&of_units);
	sets_free(&found);
}

void
prefixes_make(struct prefixes *x, const struct gv_graph *g, enum ideals_kind kind,
    size_t limit, size_t exact)
{
	struct units u;

	units_open(&u, g);
	if (kind == IDEALS_ALL && exact > limit &&
	    make_all(&x->s, g, &u, kind, exact + 1) == 0) {
		x->n_groups = u.g.n;
		x->exact = true;
	} else {
		make_grouped(x, g, &u, kind, limit);
		if (!x->exact)
			make_families(x, g, &u, kind, limit);
	}
	units_close(&u);
}

/* Whether those near a plan, of of[v] < n_stages, are not much more than limit. */
static bool
few_near(const struct gv_graph *g, const uint32_t *of, size_t n_stages, size_t moved,
    size_t limit)
{
	size_t *layers = gv_xcalloc(n_stages, sizeof(*layers)), n = g->n, i;

	for (i = 0; i < g->n; i++)
		layers[of[i]]++;
	for (i = 1; i < n_stages && moved > 1; i++)
		n += (layers[i - 1] + layers[i]) * (layers[i - 1] + layers[i]);
	free(layers);
	return n <= limit;
}

bool
prefixes_near(struct prefixes *x, const struct gv_graph *g, enum ideals_kind kind,
    const struct gv_plan *p, size_t moved, size_t limit)
{
	struct units u;
	uint32_t *of;
	bool few;

	units_open(&u, g);
	of = units_stages(&u, g->n, p->of);
	few = few_near(&u.g, of, p->n, moved, limit);
	if (few) {
		struct sets of_units = {.words = (u.g.n + 63) / 64};
		struct sets found = {.words = (g->n + 63) / 64};

		sets_near(&of_units, &u.g, of, p->n, moved > 1);
		units_expand(&found, &u, g->n, &of_units);
		x->n_groups = u.g.n;
		x->exact = false;
		ideals_of(&x->s, g, kind, &found);
		sets_free(&of_units);
		sets_free(&found);
	}
	free(of);
	units_close(&u);
	return few;
}

void
prefixes_free(struct prefixes *x)
{
	ideals_free(&x->s);
}
