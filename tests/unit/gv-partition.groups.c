/*
 * Groups of layers on random graphs: after each merge the graph of the groups has no
 * circle, the prefixes are no more than before, and of what is planned with no merge
 * was in vain.  Chains keep as many groups as there may be prefixes.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "gv-partition/graph/groups.h"
#include "gv-partition/graph/prefixes.h"
#include "partition_help.h"
#include "tap.h"

enum { MOST = 14, LONG = 30000 };

/* Some edges from lower to higher layers, the layers' numbers mixed. */
static void
random_graph(struct gv_graph *g)
{
	uint32_t name[MOST];
	size_t i, j, of = 1 + draw(4);

	g->n = 2 + draw(MOST - 1);
	for (i = 0; i < g->n; i++) {
		j = draw(i + 1);
		name[i] = name[j];
		name[j] = (uint32_t)i;
		g->layer[i].time_s = (double)draw(4);
	}
	g->n_edges = 0;
	for (j = 1; j < g->n; j++)
		for (i = 0; i < j; i++)
			if (draw(j) < of)
				g->edge[g->n_edges++] =
				    (struct gv_graph_edge){name[i], name[j]};
}

/* Places that another layer should have: of those that wait for nobody the lowest number is next. */
static size_t
wrong_places(const struct gv_graph *g)
{
	bool there[MOST] = {false};
	uint32_t order[MOST];
	size_t wrong = gv_graph_order(g, order) != 0, i, k;

	for (i = 0; i < g->n && wrong == 0; i++) {
		bool waits[MOST] = {false};
		size_t next = 0;

		for (k = 0; k < g->n_edges; k++)
			waits[g->edge[k].dst] |= !there[g->edge[k].src];
		while (next < g->n && (there[next] || waits[next]))
			next++;
		wrong += next != order[i];
		there[order[i]] = true;
	}
	return wrong;
}

static void
test_order(void)
{
	struct gv_graph_layer layer[MOST];
	struct gv_graph_edge edge[MOST * MOST];
	struct gv_graph g = {.layer = layer, .edge = edge};
	size_t wrong = 0, i;

	for (i = 0; i < 2000; i++) {
		random_graph(&g);
		wrong += wrong_places(&g);
	}
	is_int(wrong, 0, "each layer behind what feeds it, the lowest number first");
}

static bool
has_circle(const struct gv_graph *g, const uint32_t *group, size_t n)
{
	struct gv_graph_edge edge[MOST * MOST];
	struct gv_graph of_groups = {.n = n, .edge = edge};
	uint32_t order[MOST];
	size_t k;

	for (k = 0; k < g->n_edges; k++) {
		struct gv_graph_edge e = {group[g->edge[k].src], group[g->edge[k].dst]};

		if (e.src != e.dst)
			edge[of_groups.n_edges++] = e;
	}
	return gv_graph_order(&of_groups, order) != 0;
}

/* How often the prefixes of all groups are more than before. */
static size_t
more_prefixes(const struct gv_graph *g, const struct merges *m)
{
	uint32_t group[MOST];
	size_t before = SIZE_MAX, wrong = 0, k;

	for (k = 0; k <= m->n; k++) {
		size_t n = merges_groups(m, k, group);
		struct ideals s;

		if (ideals_make(&s, g, IDEALS_ALL, group, n, 1 << MOST) != 0) {
			wrong++;
			continue;
		}
		wrong += s.n >= before || s.n < n + 1 || !ideals_few(g, group, n, s.n) ||
			 ideals_few(g, group, n, s.n - 1);
		before = s.n;
		ideals_free(&s);
	}
	return wrong;
}

static void
test_random(void)
{
	struct gv_graph_layer layer[MOST];
	struct gv_graph_edge edge[MOST * MOST];
	struct gv_graph g = {.layer = layer, .edge = edge};
	size_t circles = 0, sizes = 0, more = 0, vain = 0, i, k;
	uint32_t group[MOST];

	for (i = 0; i < 3000; i++) {
		size_t limit = 2 + draw(12);
		struct prefixes x;
		struct merges m;

		random_graph(&g);
		merges_linear(&m, &g);
		merges_further(&m);
		sizes += m.n != g.n - 1;
		for (k = 0; k <= m.n; k++) {
			sizes += merges_groups(&m, k, group) != g.n - k;
			circles += has_circle(&g, group, g.n - k);
		}
		more += more_prefixes(&g, &m);
		prefixes_grouped(&x, &g, IDEALS_ALL, limit);
		vain += x.s.n > limit + 1;
		if (!x.exact) {
			k = g.n - x.n_groups;
			merges_groups(&m, k - 1, group);
			vain += ideals_few(&g, group, x.n_groups + 1, limit + 1);
		}
		prefixes_free(&x);
		merges_free(&m);
	}
	is_int(sizes, 0, "each merge leaves one group less, all of them one");
	is_int(circles, 0, "none makes a circle");
	is_int(more, 0, "each leaves fewer prefixes");
	is_int(vain, 0, "as many merges as needed, no more");
}

/* Four layers of a block, of which the first also feeds the next block; or a chain. */
static void
long_graph(struct gv_graph *g, bool blocks)
{
	size_t i;

	g->n = LONG;
	g->n_edges = 0;
	for (i = 0; i + 1 < g->n; i++)
		g->edge[g->n_edges++] =
		    (struct gv_graph_edge){(uint32_t)i, (uint32_t)i + 1};
	for (i = 0; blocks && i + 4 < g->n; i += 4)
		g->edge[g->n_edges++] =
		    (struct gv_graph_edge){(uint32_t)i, (uint32_t)i + 4};
}

static void
test_long(void)
{
	struct gv_graph g = {.layer = gv_xcalloc(LONG, sizeof(struct gv_graph_layer)),
	    .edge = gv_xcalloc(2 * LONG, sizeof(struct gv_graph_edge))};
	struct prefixes x;
	double most = 0;
	size_t i;

	for (i = 0; i < LONG; i++)
		g.layer[i].time_s = 1;
	long_graph(&g, false);
	prefixes_grouped(&x, &g, IDEALS_ALL, 1000);
	is_int(x.n_groups, 1000, "a chain has as many groups as prefixes");
	for (i = 1; i < x.s.n; i++)
		if (x.s.time_s[i] - x.s.time_s[i - 1] > most)
			most = x.s.time_s[i] - x.s.time_s[i - 1];
	ok(most <= 64, "they take about as long: %g of 30 at most", most);
	prefixes_free(&x);
	long_graph(&g, true);
	prefixes_grouped(&x, &g, IDEALS_ALL, 1000);
	ok(x.s.n <= 1001 && x.n_groups > 900, "blocks: %zu groups", x.n_groups);
	prefixes_free(&x);
	prefixes_grouped(&x, &g, IDEALS_UPSTREAM, 100);
	ok(x.s.n <= 101 && x.n_groups > 90, "as upstream counts: %zu groups", x.n_groups);
	prefixes_free(&x);
	free(g.layer);
	free(g.edge);
}

/* ---- families of prefixes ---- */

/* The layers that a set must hold to be a prefix, by brute force. */
static bool
is_prefix(const struct gv_graph *g, uint64_t set)
{
	size_t k;

	for (k = 0; k < g->n_edges; k++)
		if (set >> g->edge[k].dst & 1 && !(set >> g->edge[k].src & 1))
			return false;
	return true;
}

static bool
is_there(const struct sets *s, uint64_t set)
{
	size_t k;

	for (k = 0; k < s->n; k++)
		if (s->bits[k] == set)
			return true;
	return false;
}

/* What goes over a cut with layer v: all it needs, or all that need it. */
static uint64_t
moved(const struct gv_graph *g, uint64_t cut, size_t v)
{
	uint64_t with = UINT64_C(1) << v, before = 0;
	bool back = cut >> v & 1;
	size_t k;

	while (with != before) {
		before = with;
		for (k = 0; k < g->n_edges; k++)
			if (back && with >> g->edge[k].src & 1)
				with |= UINT64_C(1) << g->edge[k].dst;
			else if (!back && with >> g->edge[k].dst & 1)
				with |= UINT64_C(1) << g->edge[k].src;
	}
	return back ? cut & ~with : cut | with;
}

/* Each a prefix, and no set twice. */
static size_t
family_wrong(const struct gv_graph *g, const struct sets *s)
{
	size_t k, i, n = 0;

	for (k = 0; k < s->n; k++) {
		n += !is_prefix(g, s->bits[k]);
		for (i = 0; i < k; i++)
			n += s->bits[i] == s->bits[k];
	}
	return n;
}

/* All prefixes there are; the beginnings of an order; those near a plan. */
static void
test_families(void)
{
	struct gv_graph_layer layer[MOST];
	struct gv_graph_edge edge[MOST * MOST];
	struct gv_graph g = {.layer = layer, .edge = edge};
	size_t k, i, v, u, wrong_all = 0, wrong_sequence = 0, wrong_near = 0;
	uint32_t order[MOST], own[MOST], of[MOST];

	for (k = 0; k < 300; k++) {
		struct sets all = {.words = 1}, few = {.words = 1}, line = {.words = 1},
			    near = {.words = 1};
		size_t n = 0, stages, stage;
		bool twice = draw(2) == 0;
		uint64_t set;

		random_graph(&g);
		stages = 1 + draw(g.n < 4 ? g.n : 4);
		gv_graph_order(&g, order);
		for (i = 0; i < g.n; i++)
			own[i] = (uint32_t)i;
		for (set = 0; set < UINT64_C(1) << g.n; set++)
			n += is_prefix(&g, set);
		wrong_all += sets_all(&all, &g, own, g.n, n) != 0 || all.n != n ||
			     family_wrong(&g, &all) > 0;
		wrong_all += n > g.n + 1 && sets_all(&few, &g, own, g.n, n - 1) != -1;
		sets_sequence(&line, &g, order);
		wrong_sequence += line.n != g.n + 1;
		for (i = 0, set = 0; i <= g.n && i < line.n; i++) {
			wrong_sequence += line.bits[i] != set;
			set |= i < g.n ? UINT64_C(1) << order[i] : 0;
		}
		for (i = 0; i < g.n; i++)
			of[order[i]] = (uint32_t)(i * stages / g.n);
		sets_near(&near, &g, of, stages, twice);
		wrong_near += family_wrong(&g, &near);
		for (stage = 1; stage < stages; stage++) {
			uint64_t cut = 0, once;

			for (i = 0; i < g.n; i++)
				cut |= of[i] < stage ? UINT64_C(1) << i : 0;
			wrong_near += !is_there(&near, cut);
			for (v = 0; v < g.n; v++) {
				if (of[v] + 1 != stage && of[v] != stage)
					continue;
				once = moved(&g, cut, v);
				wrong_near += !is_there(&near, once);
				for (u = 0; twice && u < g.n; u++)
					if (of[u] + 1 == stage || of[u] == stage)
						wrong_near +=
						    !is_there(&near, moved(&g, once, u));
			}
		}
		sets_free(&all);
		sets_free(&few);
		sets_free(&line);
		sets_free(&near);
	}
	is_int(wrong_all, 0, "all prefixes, each once, and no more than asked for");
	is_int(wrong_sequence, 0, "the beginnings of an order");
	is_int(wrong_near, 0, "the cuts of a plan with a layer moved, or two");
}

int
main(void)
{
	draws_begin(5, 7, 9);
	test_order();
	test_random();
	test_long();
	test_families();
	return done_testing();
}
