/*
 * What is known of graphs of many shapes is what was known: groups of layers, units, sets,
 * prefixes of each kind and the families of them, to the last bit.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "gv-partition/graph/closures.h"
#include "gv-partition/graph/groups_merge.h"
#include "gv-partition/graph/prefixes.h"
#include "gv-partition/graph/sides.h"
#include "gv-partition/graph/units.h"
#include "partition_draws.h"

static struct recorded r;

static void
wholes(const uint32_t *v, size_t n)
{
	size_t i;

	recorded_whole(&r, (long long)n);
	for (i = 0; i < n; i++)
		recorded_whole(&r, v[i]);
}

static void
sets(const struct sets *s)
{
	size_t i;

	recorded_whole(&r, (long long)s->n);
	recorded_whole(&r, (long long)s->n_slots);
	for (i = 0; i < s->n * s->words; i++)
		recorded_whole(&r, (long long)s->bits[i]);
	for (i = 0; i < s->n_slots; i++)
		recorded_whole(&r, s->slot[i]);
}

static void
graph(const struct gv_graph *g)
{
	size_t i;

	recorded_whole(&r, (long long)g->n);
	for (i = 0; i < g->n; i++) {
		recorded_double(&r, g->layer[i].time_s);
		recorded_double(&r, g->layer[i].forward_s);
		recorded_double(&r, g->layer[i].update_s);
		recorded_double(&r, g->layer[i].activation);
		recorded_double(&r, g->layer[i].kept);
		recorded_double(&r, g->layer[i].parameter);
	}
	recorded_whole(&r, (long long)g->n_edges);
	for (i = 0; i < g->n_edges; i++) {
		recorded_whole(&r, g->edge[i].src);
		recorded_whole(&r, g->edge[i].dst);
	}
}

/* ---- groups ---- */

static void
groups_of(const struct merges *m, size_t k)
{
	uint32_t *group = gv_xcalloc(m->g->n, sizeof(*group));
	uint32_t *first = merges_firsts(m, k);

	wholes(first, m->g->n);
	recorded_whole(&r, (long long)merges_groups(m, k, group));
	wholes(group, m->g->n);
	recorded_whole(&r, (long long)merges_order(m, first, group));
	wholes(group, m->g->n);
	free(group);
	free(first);
}

static void
merges(const struct merges *m)
{
	size_t i;

	recorded_whole(&r, (long long)m->n);
	for (i = 0; i < m->n; i++) {
		recorded_whole(&r, m->merge[i].src);
		recorded_whole(&r, m->merge[i].dst);
	}
}

static void
ask_groups(const struct gv_graph *g)
{
	struct merges m;

	merges_linear(&m, g);
	merges(&m);
	merges_further(&m);
	merges(&m);
	groups_of(&m, draw(m.n + 1));
	groups_of(&m, m.n);
	merges_free(&m);
	recorded_whole(&r, m.n == 0 && m.merge == NULL);
}

/* More groups than are merged along edges: layers that few edges connect. */
static void
ask_many_groups(size_t n, enum drawn_kind times, size_t of)
{
	struct gv_graph g = {.n = n};
	struct merges m;
	size_t i;

	g.layer = gv_xcalloc(n, sizeof(*g.layer));
	g.edge = gv_xcalloc(n, sizeof(*g.edge));
	for (i = 0; i < n; i++)
		g.layer[i].time_s = drawn_amount(times);
	for (i = 2; i < n; i++) /* two sources feed each, so that none is of a branch */
		if (draw(n) < of)
			g.edge[g.n_edges++] =
			    (struct gv_graph_edge){(uint32_t)draw(i), (uint32_t)i};
	merges_linear(&m, &g);
	merges(&m);
	merges_further(&m);
	merges(&m);
	merges_free(&m);
	recorded_answer(&r, "groups of %zu layers, %zu edges", n, g.n_edges);
	gv_graph_free(&g);
}

/* ---- units, closures, sides ---- */

static void
ask_units(const struct gv_graph *g, const uint32_t *of)
{
	struct units u;
	struct sets all = {0}, found = {.words = (g->n + 63) / 64};
	uint32_t *stage, *single;
	size_t i;

	units_open(&u, g);
	wholes(u.of, g->n);
	graph(&u.g);
	stage = units_stages(&u, g->n, of);
	wholes(stage, u.g.n);
	single = gv_xcalloc(u.g.n, sizeof(*single));
	for (i = 0; i < u.g.n; i++)
		single[i] = (uint32_t)i;
	all.words = (u.g.n + 63) / 64;
	recorded_whole(&r, sets_all(&all, &u.g, single, u.g.n, 200));
	units_expand(&found, &u, g->n, &all);
	sets(&found);
	sets_free(&all);
	sets_free(&found);
	free(stage);
	free(single);
	units_close(&u);
	recorded_whole(&r, u.of == NULL && u.g.layer == NULL);
}

static void
ask_sides(const struct gv_graph *g)
{
	struct closures c;
	struct sides s;
	struct sets found = {.words = (g->n + 63) / 64};
	uint32_t *layer = gv_xcalloc(g->n, sizeof(*layer));
	double *rank = gv_xcalloc(g->n, sizeof(*rank));
	uint64_t *cut;
	size_t i, n = draw(g->n + 1), limit = 1 + draw(150);

	closures_open(&c, g);
	for (i = 0; i < g->n; i++) {
		layer[i] = (uint32_t)i;
		rank[i] = g->layer[i].time_s;
	}
	sides_rank(layer, g->n, rank);
	wholes(layer, g->n);
	sides_make(&s, &c, layer, n, limit);
	recorded_whole(&r, (long long)s.n);
	for (i = 0; i < s.n * s.words; i++) {
		recorded_whole(&r, (long long)s.before[i]);
		recorded_whole(&r, (long long)s.behind[i]);
	}
	cut = gv_xcalloc(found.words, sizeof(*cut));
	for (i = 0; i < 3; i++) {
		size_t v = draw(g->n), w;

		for (w = 0; w < c.words; w++)
			cut[w] |= closures_need(&c, v)[w];
		sides_add(&found, &s, cut);
		for (w = 0; w < c.words; w++)
			recorded_whole(&r, (long long)closures_feed(&c, v)[w]);
	}
	sets(&found);
	sets_free(&found);
	sides_free(&s);
	closures_close(&c);
	recorded_whole(&r, c.n == 0 && c.need == NULL && c.feed == NULL);
	free(layer);
	free(rank);
	free(cut);
}

/* ---- sets ---- */

/* Up to so many stages, each with a unit, in which no layer feeds an earlier one; how many. */
static size_t
stages(uint32_t *of, const struct gv_graph *g, size_t n)
{
	struct units u;
	uint32_t *order, *stage;
	size_t i, now = 0;

	units_open(&u, g);
	order = gv_xcalloc(u.g.n, sizeof(*order));
	stage = gv_xcalloc(u.g.n, sizeof(*stage));
	gv_graph_order(&u.g, order);
	for (i = 0; i < u.g.n; i++) {
		now += i > 0 && now + 1 < n && draw(u.g.n) < n;
		stage[order[i]] = (uint32_t)now;
	}
	for (i = 0; i < g->n; i++)
		of[i] = stage[u.of[i]];
	free(order);
	free(stage);
	units_close(&u);
	return now + 1;
}

static void
ask_sets(const struct gv_graph *g, const uint32_t *of, size_t n_stages)
{
	struct sets s = {.words = (g->n + 63) / 64}, near = s, twice = s;
	uint32_t *order = sets_stage_order(g, of, n_stages);

	recorded_whole(&r, sets_upstream(&s, g, 1 + draw(400)));
	sets(&s);
	wholes(order, g->n);
	sets_sequence(&near, g, order);
	sets(&near);
	sets_near(&near, g, of, n_stages, false);
	sets(&near);
	if (g->n < 30)
		sets_near(&twice, g, of, n_stages, true);
	sets(&twice);
	sets_free(&s);
	sets_free(&near);
	sets_free(&twice);
	free(order);
}

/* ---- prefixes ---- */

static void
few_of(const struct ideals *s)
{
	uint32_t *pick = gv_xcalloc(s->n, sizeof(*pick));
	struct ideals few;
	size_t i, n = 0;

	for (i = 0; i < s->n; i++)
		if (i == 0 || i + 1 == s->n || draw(3) == 0)
			pick[n++] = (uint32_t)i;
	ideals_pick(&few, s, pick, n);
	recorded_prefixes(&r, &few);
	ideals_free(&few);
	free(pick);
}

/* All of them, and with limits of just as many or less. */
static void
ask_ideals(const struct gv_graph *g, enum ideals_kind kind)
{
	struct ideals s;
	size_t n, i;

	recorded_whole(&r, ideals_make(&s, g, kind, NULL, 0, 400));
	n = s.n;
	if (n > 0) {
		recorded_prefixes(&r, &s);
		few_of(&s);
		for (i = 0; i < 4; i++) {
			const uint64_t *bits = s.bits + draw(n) * s.words;

			recorded_double(&r, ideals_cut(g, bits, IDEALS_ALL));
			recorded_double(&r, ideals_cut(g, bits, IDEALS_UPSTREAM));
		}
	}
	ideals_free(&s);
	for (i = 0; n > 0 && i < 3; i++) {
		recorded_whole(&r, ideals_make(&s, g, kind, NULL, 0, n + i - 1));
		recorded_whole(&r, (long long)s.n);
		ideals_free(&s);
	}
}

static void
ask_grouped_ideals(const struct gv_graph *g)
{
	uint32_t *group = gv_xcalloc(g->n, sizeof(*group));
	struct merges m;
	struct ideals s;
	size_t n;

	merges_linear(&m, g);
	merges_further(&m);
	n = merges_groups(&m, draw(m.n + 1), group);
	recorded_whole(&r, ideals_few(g, group, n, 100));
	recorded_whole(&r, ideals_make(&s, g, IDEALS_ALL, group, n, 150));
	if (s.n > 0)
		recorded_prefixes(&r, &s);
	ideals_free(&s);
	recorded_whole(&r, ideals_make(&s, g, IDEALS_UPSTREAM, group, n, 150));
	if (s.n > 0)
		recorded_prefixes(&r, &s);
	ideals_free(&s);
	merges_free(&m);
	free(group);
}

static void
families(struct prefixes *x)
{
	recorded_whole(&r, (long long)x->n_groups);
	recorded_whole(&r, x->exact);
	recorded_prefixes(&r, &x->s);
	prefixes_free(x);
	recorded_whole(&r, x->s.n == 0 && x->s.bits == NULL);
}

static void
ask_prefixes(const struct gv_graph *g, enum ideals_kind kind)
{
	size_t limit = 2 + draw(3 * g->n), exact = draw(2) == 0 ? 300 : 2 + draw(100);
	struct prefixes x;

	prefixes_grouped(&x, g, kind, limit);
	families(&x);
	prefixes_make(&x, g, kind, limit, limit);
	families(&x);
	prefixes_make(&x, g, kind, limit, exact);
	families(&x);
}

static void
ask_near(const struct gv_graph *g, uint32_t *of, size_t n_stages)
{
	struct gv_plan p = {.n = n_stages, .of = of};
	size_t limit = g->n - 1 + draw(3), moved;
	struct prefixes x;

	if (draw(2) == 0)
		limit += draw(300);
	for (moved = 1; moved <= 2; moved++) {
		bool near =
		    prefixes_near(&x, g, (enum ideals_kind)draw(2), &p, moved, limit);

		recorded_whole(&r, near);
		if (near)
			families(&x);
	}
}

/* ---- all of a graph ---- */

static void
ask(size_t seed, size_t most)
{
	struct drawn *d = gv_xcalloc(1, sizeof(*d));
	uint32_t of[DRAWN_MOST];
	size_t n_stages;

	draws_begin(seed, 40, 1);
	drawn_graph(d, most);
	n_stages = stages(of, &d->g, 1 + draw(6));
	ask_groups(&d->g);
	ask_units(&d->g, of);
	ask_sides(&d->g);
	ask_sets(&d->g, of, n_stages);
	ask_ideals(&d->g, (enum ideals_kind)draw(2));
	ask_grouped_ideals(&d->g);
	ask_prefixes(&d->g, (enum ideals_kind)draw(2));
	ask_near(&d->g, of, n_stages);
	free(d);
}

static void
ask_many(size_t first, size_t n, size_t most)
{
	size_t i;

	for (i = first; i < first + n; i++) {
		ask(i, most);
		if ((i + 1) % 5 == 0)
			recorded_answer(
			    &r, "graphs %zu to %zu, up to %zu layers", i - 4, i, most);
	}
}

int
main(void)
{
	recorded_open(&r);
	ask_many(0, 600, 9);
	ask_many(600, 500, 24);
	ask_many(1100, 100, 70);
	ask_many(1200, 20, 140);
	draws_begin(1, 40, 2);
	ask_many_groups(4096, DRAWN_WHOLE, 30);
	ask_many_groups(4097, DRAWN_PART, 30);
	ask_many_groups(4500, DRAWN_WHOLE, 60);
	recorded_close(&r);
	return done_testing();
}
