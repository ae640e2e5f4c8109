/*
 * Graphs with too many prefixes to look at each, of many kinds, on machines of one to four
 * levels: a plan is never worse than the best of rows cut in their order, with the cuts of
 * PipeDream's program, or of groups of layers; and it is seldom far from the best of all.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "large_graphs.h"
#include "tap.h"

enum { LIMIT = LARGE_MOST, MANY = 8 * LIMIT, GRAPHS = 5 };

static const double room = 1 + 1e-9;

/* The best plan's time with the prefixes of a graph of the same layers. */
static double
best_of(const struct gv_graph *cut, enum ideals_kind kind, struct large_task *t)
{
	struct gv_plan p = {0};
	struct prefixes x;
	double time_s = INFINITY;

	prefixes_make(&x, cut, kind, LIMIT, LIMIT);
	if (large_find(t, &p, &x.s))
		time_s = large_time(t, &p);
	gv_plan_free(&p);
	prefixes_free(&x);
	return time_s;
}

static double
best_of_groups(struct large_task *t)
{
	struct gv_plan p = {0};
	struct prefixes x;
	double time_s = INFINITY;

	prefixes_grouped(&x, t->g, IDEALS_ALL, LIMIT);
	if (large_find(t, &p, &x.s))
		time_s = large_time(t, &p);
	gv_plan_free(&p);
	prefixes_free(&x);
	return time_s;
}

/* The same layers, each feeding the next. */
static struct gv_graph
rows_of(const struct gv_graph *g, struct gv_graph_edge *edge)
{
	struct gv_graph chain = {
	    .n = g->n, .layer = g->layer, .n_edges = g->n - 1, .edge = edge};
	size_t i;

	for (i = 0; i + 1 < g->n; i++)
		edge[i] = (struct gv_graph_edge){(uint32_t)i, (uint32_t)i + 1};
	return chain;
}

static size_t worse_rows, worse_upstream, worse_groups, worse_first, impossible, large,
    above;
static double sum, first_sum;

/* Counts a graph with so many prefixes; false where it has fewer. */
static bool
compare(const struct gv_graph *g, const struct gv_machine *m)
{
	struct gv_graph_edge edge[LARGE_MOST];
	struct gv_graph rows = rows_of(g, edge);
	struct large_task t = {g, m, IDEALS_ALL};
	struct gv_plan p = {0};
	double time_s, first_s, best_s;
	struct ideals all;

	if (ideals_make(&all, g, IDEALS_ALL, NULL, 0, 3 * MANY) != 0)
		return false;
	if (all.n < MANY) {
		ideals_free(&all);
		return false;
	}
	large_find(&t, &p, &all);
	best_s = large_time(&t, &p);
	time_s = large_plan(&t, LIMIT, &first_s);
	worse_rows += time_s > best_of(&rows, IDEALS_ALL, &t) * room;
	worse_upstream += time_s > best_of(g, IDEALS_UPSTREAM, &t) * room;
	worse_groups += time_s > best_of_groups(&t) * room;
	worse_first += time_s > first_s * room;
	impossible += time_s * room < best_s;
	above += time_s > best_s * 1.1;
	sum += time_s / best_s - 1;
	first_sum += first_s / best_s - 1;
	large++;
	gv_plan_free(&p);
	ideals_free(&all);
	return true;
}

static void
test_random(void)
{
	size_t k, kind, n, tries;
	struct large_graph x;

	for (k = 0; k < N_LARGE_MACHINES; k++)
		for (kind = 0; kind < LARGE_KINDS; kind++) {
			draws_begin(11, (uint32_t)kind, (uint32_t)k);
			for (n = tries = 0; n < GRAPHS && tries < 1000; tries++) {
				large_draw(&x, (enum large_kind)kind, 16 + draw(64));
				n += compare(&x.g, &large_machines[k]);
			}
		}
	is_int(
	    large, N_LARGE_MACHINES * LARGE_KINDS * GRAPHS, "graphs with many prefixes");
	is_int(worse_rows, 0, "no plan is worse than rows in their order");
	is_int(worse_upstream, 0, "nor than PipeDream's cuts");
	is_int(worse_groups, 0, "nor than groups of layers");
	is_int(worse_first, 0, "nor than before plans near it were looked at");
	is_int(impossible, 0, "nor better than the best of all");
	ok(sum < 0.01 * (double)large,
	    "on average they are %.2f %% over it, before %.2f %%",
	    100 * sum / (double)large, 100 * first_sum / (double)large);
	ok(above * 50 <= large, "%zu of %zu more than 10 %%", above, large);
}

/*
 * Freshly drawn, the best plan not known, as many layers as there may be: the plan with
 * PipeDream's cuts, counted as its program does, is no better, since that is a second start.
 */
static void
test_published(const struct gv_machine *m, size_t machines, size_t graphs, const char *of)
{
	size_t k, kind, i, worse = 0, searched = 0;
	struct large_graph x;

	for (k = 0; k < machines; k++)
		for (kind = 0; kind < LARGE_KINDS; kind++)
			for (i = 0; i < graphs; i++) {
				struct large_task t = {&x.g, &m[k], IDEALS_ALL};
				double first_s;

				draws_begin(
				    13, (uint32_t)kind, (uint32_t)(k * graphs + i));
				large_draw(&x, (enum large_kind)kind, 60 + draw(20));
				worse += large_plan(&t, LIMIT, &first_s) >
					 large_published(&t, LIMIT) * room;
				searched++;
			}
	is_int(worse, 0, "none of %zu on %s GPUs is worse than with PipeDream's cuts",
	    searched, of);
}

/* Four branches whose second layers are heavy, and light ones that nothing but them needs. */
static void
test_heavy(void)
{
	struct gv_graph_layer layer[82] = {{0}};
	struct gv_graph_edge edge[200];
	struct gv_graph g = {.n = 82, .layer = layer, .edge = edge};
	const struct gv_machine m = {.n_levels = 1, .gpus = {4}, .bytes_per_s = {1e15}};
	struct large_task t = {&g, &m, IDEALS_ALL};
	double time_s, first_s;
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
	time_s = large_plan(&t, 100, &first_s);
	ok(first_s < 1.1, "heavy layers side by side are in a stage each: %g", first_s);
	ok(time_s < 1.03, "and light ones where they do not matter: %g", time_s);
}

/* ---- ties ---- */

static size_t looked, split;

/* As large_find; counts plans, and ties whose layers are of two stages. */
static bool
find_counted(void *ctx, struct gv_plan *p, const struct ideals *s)
{
	const struct large_task *t = ctx;
	size_t i;

	if (!large_find(ctx, p, s))
		return false;
	looked++;
	for (i = 0; i < t->g->n_ties; i++)
		split += p->of[t->g->tie[i].src] != p->of[t->g->tie[i].dst];
	return true;
}

/* Of graphs with ties, with the cuts of PipeDream's program, too: none of all plans splits one. */
static void
test_ties(void)
{
	struct gv_graph_edge tie[3];
	struct large_graph x;
	size_t kind, k, i, searched = 0;

	for (kind = 0; kind < 2 * LARGE_KINDS; kind++)
		for (k = 0; k < N_LARGE_MACHINES; k++) {
			struct large_task t = {&x.g, &large_machines[k],
			    kind < LARGE_KINDS ? IDEALS_ALL : IDEALS_UPSTREAM};
			struct refining how = {&x.g,
			    kind < LARGE_KINDS ? IDEALS_ALL : IDEALS_UPSTREAM, LIMIT,
			    find_counted, large_cost, &t, NULL};
			struct gv_plan p = {0};
			struct prefixes s;

			draws_begin(12, (uint32_t)kind, (uint32_t)k);
			large_draw(
			    &x, (enum large_kind)(kind % LARGE_KINDS), 40 + draw(40));
			x.g.tie = tie;
			for (x.g.n_ties = i = 0; i < 3; i++) {
				size_t a = draw(x.g.n), far = x.g.n - a;

				tie[x.g.n_ties++] = (struct gv_graph_edge){
				    (uint32_t)a, (uint32_t)(a + draw(far < 8 ? far : 8))};
			}
			prefixes_make(&s, &x.g, how.cut, LIMIT, LIMIT);
			if (find_counted(&t, &p, &s.s) && !s.exact) {
				searched++;
				refine(&p, &how);
			}
			gv_plan_free(&p);
			prefixes_free(&s);
		}
	ok(searched > LARGE_KINDS, "%zu graphs with ties and many prefixes", searched);
	is_int(split, 0, "none of %zu plans of theirs splits a tie", looked);
}

int
main(void)
{
	static const struct gv_machine many[] = {
	    {.n_levels = 1, .gpus = {24}, .bytes_per_s = {1e9}},
	    {.n_levels = 1, .gpus = {64}, .bytes_per_s = {10e9}},
	    {.n_levels = 2, .gpus = {8, 4}, .bytes_per_s = {12e9, 1e9}},
	    {.n_levels = 2, .gpus = {8, 16}, .bytes_per_s = {50e9, 3e9}},
	    {.n_levels = 3, .gpus = {4, 4, 4}, .bytes_per_s = {50e9, 12e9, 1e9}},
	};

	test_random();
	test_published(large_machines, N_LARGE_MACHINES, GRAPHS, "some");
	test_published(many, sizeof(many) / sizeof(many[0]), 1, "24 to 128");
	test_ties();
	test_heavy();
	return done_testing();
}
