/*
 * Graphs with too many prefixes to look at each: a plan is never worse than the best of
 * rows cut in their order, with the cuts of PipeDream's program, or of groups of layers;
 * and plans near it are as good or better.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "gv-partition/graph/prefixes.h"
#include "gv-partition/search/plan.h"
#include "partition_help.h"
#include "tap.h"

enum { MOST = 60, LIMIT = 60, GRAPHS = 150 };

static const struct gv_machine machines[] = {
    {.n_levels = 1, .gpus = {8}, .bytes_per_s = {1e9}},
    {.n_levels = 2, .gpus = {4, 2}, .bytes_per_s = {12e9, 1e9}},
};
static const struct search_options options = {.rules = {.recompute = RECOMPUTE_AUTO}};

/* Rows in an order in which they can run, a tenth of them heavy; branches that join. */
static void
draw_graph(struct gv_graph *g)
{
	size_t reach = 3 + draw(9), i, k, n;

	g->n = 20 + draw(MOST - 20);
	g->n_edges = 0;
	for (i = 0; i < g->n; i++) {
		double time_s = (0.1 + uniform()) * (draw(10) == 0 ? 2e-2 : 1e-3);

		g->layer[i] = (struct gv_graph_layer){
		    time_s, time_s / 3, 1e7 * uniform(), 1e7 * uniform()};
		for (n = draw(3); i > 0 && n > 0; n--) {
			k = i - 1 - draw(i < reach ? i : reach);
			g->edge[g->n_edges++] =
			    (struct gv_graph_edge){(uint32_t)k, (uint32_t)i};
			if (n > 1) /* no edge twice */
				break;
		}
	}
}

/* What the best plan between these prefixes takes; INFINITY where there is none. */
static double
best(struct gv_plan *p, const struct ideals *s, const struct gv_graph *g,
    const struct gv_machine *m)
{
	struct plan_report r = {0};
	struct gv_error e = {0};
	double time_s = INFINITY;

	if (plan_search(p, s, g->n, m, &options) == SEARCH_FOUND &&
	    plan_evaluate(&r, p, g, m, &options.rules, IDEALS_ALL, &e) == 0)
		time_s = r.bottleneck_s;
	plan_report_free(&r);
	return time_s;
}

static double
best_of(const struct gv_graph *cut, enum ideals_kind kind, const struct gv_graph *g,
    const struct gv_machine *m)
{
	struct prefixes x;
	struct gv_plan p;
	double time_s;

	prefixes_make(&x, cut, kind, LIMIT, LIMIT);
	time_s = best(&p, &x.s, g, m);
	gv_plan_free(&p);
	prefixes_free(&x);
	return time_s;
}

/* The same layers, each feeding the next. */
static struct gv_graph
rows_of(const struct gv_graph *g, struct gv_graph_edge *edge)
{
	struct gv_graph chain = {g->n, g->layer, g->n - 1, edge};
	size_t i;

	for (i = 0; i + 1 < g->n; i++)
		edge[i] = (struct gv_graph_edge){(uint32_t)i, (uint32_t)i + 1};
	return chain;
}

static size_t worse_rows, worse_upstream, worse_groups, worse_near, better_near, large;

static void
compare(const struct gv_graph *g, const struct gv_machine *m)
{
	struct gv_graph_edge edge[MOST];
	struct gv_graph rows = rows_of(g, edge);
	struct prefixes x, grouped, near;
	struct gv_plan p, q;
	double time_s, near_s, room = 1 + 1e-9;
	size_t moved;

	prefixes_make(&x, g, IDEALS_ALL, LIMIT, LIMIT);
	time_s = best(&p, &x.s, g, m);
	large += !x.exact;
	worse_rows += time_s > best_of(&rows, IDEALS_ALL, g, m) * room;
	worse_upstream += time_s > best_of(g, IDEALS_UPSTREAM, g, m) * room;
	prefixes_grouped(&grouped, g, IDEALS_ALL, LIMIT);
	worse_groups += time_s > best(&q, &grouped.s, g, m) * room;
	gv_plan_free(&q);
	for (moved = 1; !x.exact && moved <= 2; moved++) {
		if (!prefixes_near(&near, g, IDEALS_ALL, &p, moved, 100000))
			continue;
		near_s = best(&q, &near.s, g, m);
		worse_near += near_s > time_s * room;
		better_near += near_s * room < time_s;
		gv_plan_free(&q);
		prefixes_free(&near);
	}
	prefixes_free(&grouped);
	gv_plan_free(&p);
	prefixes_free(&x);
}

/* Four branches whose second layers are heavy, and light ones that nothing but them needs. */
static void
test_heavy(void)
{
	struct gv_graph_layer layer[82] = {{0}};
	struct gv_graph_edge edge[200];
	struct gv_graph g = {82, layer, 0, edge};
	const struct gv_machine m = {.n_levels = 1, .gpus = {4}, .bytes_per_s = {1e15}};
	struct gv_plan p, q;
	struct prefixes x, near;
	double time_s;
	uint32_t i, b;

	for (b = 0; b < 4; b++)
		for (i = 0; i < 20; i++) {
			uint32_t v = 1 + b * 20 + i;

			layer[v].time_s = i == 1 ? 1 : 1e-3;
			edge[g.n_edges++] = (struct gv_graph_edge){i == 0 ? 0 : v - 1, v};
		}
	for (b = 0; b < 4; b++)
		edge[g.n_edges++] = (struct gv_graph_edge){20 * b + 20, 81};
	for (i = 0; i < 82; i++)
		layer[i].parameter = 1e15; /* no replicas */
	prefixes_make(&x, &g, IDEALS_ALL, 100, 100);
	time_s = best(&p, &x.s, &g, &m);
	ok(prefixes_near(&near, &g, IDEALS_ALL, &p, 1, 1000),
	    "there are cuts near a plan");
	time_s = fmin(time_s, best(&q, &near.s, &g, &m));
	ok(time_s < 1.04, "heavy layers side by side are in a stage each: %g", time_s);
	gv_plan_free(&p);
	gv_plan_free(&q);
	prefixes_free(&near);
	prefixes_free(&x);
}

int
main(void)
{
	struct gv_graph_layer layer[MOST];
	struct gv_graph_edge edge[3 * MOST];
	struct gv_graph g = {.layer = layer, .edge = edge};
	size_t i, k;

	draws_begin(11, 3, 5);
	for (i = 0; i < GRAPHS; i++) {
		draw_graph(&g);
		for (k = 0; k < sizeof(machines) / sizeof(machines[0]); k++)
			compare(&g, &machines[k]);
	}
	ok(large > GRAPHS, "%zu of %d graphs have too many prefixes", large, 2 * GRAPHS);
	is_int(worse_rows, 0, "no plan is worse than rows in their order");
	is_int(worse_upstream, 0, "nor than PipeDream's cuts");
	is_int(worse_groups, 0, "nor than groups of layers");
	is_int(worse_near, 0, "plans near it are no worse");
	ok(better_near > GRAPHS / 10, "and often better: %zu", better_near);
	test_heavy();
	return done_testing();
}
