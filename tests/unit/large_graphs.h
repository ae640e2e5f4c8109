/* Random graphs of layers with many prefixes: branches of several kinds, some layers heavy. */
#ifndef LARGE_GRAPHS_H
#define LARGE_GRAPHS_H

#include <stdbool.h>

#include "gv-partition/graph/prefixes.h"
#include "gv-partition/refine/refine.h"
#include "partition_help.h"

enum { LARGE_MOST = 120, LARGE_EDGES = 4 * LARGE_MOST };

enum large_kind {
	LARGE_LOCAL, /* each layer reads one or two of the last few */
	LARGE_FORK,  /* branches side by side that join once */
	LARGE_NEST,  /* blocks of branches, in these blocks again */
	LARGE_SKIP,  /* a chain whose early layers feed late ones, with branches */
	LARGE_APART, /* several chains that nothing connects but a few edges */
	LARGE_KINDS
};

static const char *const large_name[LARGE_KINDS] = {
    "local", "fork", "nest", "skip", "apart"};

static const struct gv_machine large_machines[] = {
    {.n_levels = 1, .gpus = {8}, .bytes_per_s = {1e9}},
    {.n_levels = 1, .gpus = {16}, .bytes_per_s = {10e9}},
    {.n_levels = 2, .gpus = {4, 2}, .bytes_per_s = {12e9, 1e9}},
    {.n_levels = 3, .gpus = {2, 2, 2}, .bytes_per_s = {12e9, 3e9, 1e9}},
    {.n_levels = 4, .gpus = {2, 2, 2, 2}, .bytes_per_s = {50e9, 12e9, 3e9, 1e9}},
};

enum { N_LARGE_MACHINES = sizeof(large_machines) / sizeof(large_machines[0]) };

/* It must not be moved once it was drawn. */
struct large_graph {
	struct gv_graph g;
	struct gv_graph_layer layer[LARGE_MOST];
	struct gv_graph_edge edge[LARGE_EDGES];
};

/* A layer, a tenth of them heavy; its number. */
static inline uint32_t
large_layer(struct large_graph *x)
{
	double time_s = (0.1 + uniform()) * (draw(10) == 0 ? 2e-2 : 1e-3);

	x->layer[x->g.n] =
	    (struct gv_graph_layer){.time_s = time_s, .forward_s = time_s / 3};
	x->layer[x->g.n].activation = 1e7 * uniform();
	x->layer[x->g.n].kept = x->layer[x->g.n].activation;
	x->layer[x->g.n].parameter = 1e7 * uniform();
	return (uint32_t)x->g.n++;
}

/* An edge to a later layer, once. */
static inline void
large_edge(struct large_graph *x, uint32_t src, uint32_t dst)
{
	size_t k;

	for (k = 0; k < x->g.n_edges; k++)
		if (x->edge[k].src == src && x->edge[k].dst == dst)
			return;
	if (src != dst && x->g.n_edges < LARGE_EDGES)
		x->edge[x->g.n_edges++] = (struct gv_graph_edge){src, dst};
}

static inline void
large_local(struct large_graph *x, size_t n)
{
	size_t reach = 3 + draw(9);
	uint32_t i, k;

	while (x->g.n < n) {
		i = large_layer(x);
		for (k = (uint32_t)draw(3); i > 0 && k > 0; k--)
			large_edge(x, i - 1 - (uint32_t)draw(i < reach ? i : reach), i);
	}
}

/* Layers one behind the other from the layer on; the last. */
static inline uint32_t
large_chain(struct large_graph *x, uint32_t from, size_t n)
{
	uint32_t v;

	for (; n > 0; n--, from = v) {
		v = large_layer(x);
		large_edge(x, from, v);
	}
	return from;
}

static inline void
large_fork(struct large_graph *x, size_t n)
{
	size_t branches = 3 + draw(10), b;
	uint32_t root = large_layer(x), join, last[16];

	for (b = 0; b < branches; b++)
		last[b] = large_chain(x, root, 1 + draw(2 * n / branches));
	join = large_layer(x);
	for (b = 0; b < branches; b++)
		large_edge(x, last[b], join);
}

/* A block behind the layer; its last. */
static inline uint32_t
large_block(struct large_graph *x, uint32_t from, size_t n, size_t depth)
{
	size_t branches = 2 + draw(3), b;
	uint32_t last[4], join;

	if (n < 4 || depth == 0)
		return large_chain(x, from, n > 0 ? n : 1);
	if (draw(3) == 0) {
		from = large_block(x, from, n / 2, depth - 1);
		return large_block(x, from, n - n / 2, depth - 1);
	}
	for (b = 0; b < branches; b++)
		last[b] = large_block(x, from, n / branches, depth - 1);
	join = large_layer(x);
	for (b = 0; b < branches; b++)
		large_edge(x, last[b], join);
	return join;
}

static inline void
large_skip(struct large_graph *x, size_t n)
{
	uint32_t i, v, main[LARGE_MOST];
	size_t trunk = 0;

	main[trunk++] = large_layer(x);
	while (x->g.n < n) {
		v = large_layer(x);
		large_edge(x, main[trunk - 1], v);
		main[trunk++] = v;
		if (draw(3) > 0 && x->g.n < n) /* a side branch, read later */
			large_edge(x, v, large_layer(x));
	}
	for (i = 0; i < trunk / 2; i++)
		if (draw(2) == 0)
			large_edge(x, main[i], main[trunk - 1 - i]);
}

static inline void
large_apart(struct large_graph *x, size_t n)
{
	size_t chains = 2 + draw(4), c, k;
	uint32_t first;

	for (c = 0; c < chains; c++) {
		first = large_layer(x);
		large_chain(x, first, n / chains);
	}
	for (k = draw(4); k > 0; k--) {
		uint32_t u = (uint32_t)draw(x->g.n), v = (uint32_t)draw(x->g.n);

		large_edge(x, u < v ? u : v, u < v ? v : u);
	}
}

/* Of about n layers (<= 80). */
static inline void
large_draw(struct large_graph *x, enum large_kind kind, size_t n)
{
	x->g = (struct gv_graph){.layer = x->layer, .edge = x->edge};
	switch (kind) {
	case LARGE_LOCAL:
		large_local(x, n);
		break;
	case LARGE_FORK:
		large_fork(x, n / 2);
		break;
	case LARGE_NEST:
		large_block(x, large_layer(x), n < 60 ? n : 60, 3);
		break;
	case LARGE_SKIP:
		large_skip(x, n);
		break;
	case LARGE_APART:
	case LARGE_KINDS:
		large_apart(x, n);
		break;
	}
}

/* ---- plans ---- */

struct large_task {
	const struct gv_graph *g;
	const struct gv_machine *m;
	enum ideals_kind cut;
};

static inline bool
large_find(void *ctx, struct gv_plan *p, const struct ideals *s)
{
	static const struct search_options options = {
	    .rules = {.recompute = RECOMPUTE_AUTO}};
	const struct large_task *t = ctx;

	return plan_search(p, s, t->g->n, t->m, &options) == SEARCH_FOUND;
}

static inline int
large_cost(void *ctx, struct plan_report *r, const struct gv_plan *p)
{
	static const struct cost_rules rules = {.recompute = RECOMPUTE_AUTO};
	const struct large_task *t = ctx;
	struct gv_error e = {0};

	return plan_evaluate(r, p, t->g, t->m, &rules, t->cut, &e);
}

/* Seconds of the slowest stage; INFINITY of what is no plan. */
static inline double
large_time(struct large_task *t, const struct gv_plan *p)
{
	struct plan_report r = {0};
	double time_s = INFINITY;

	if (large_cost(t, &r, p) == 0)
		time_s = r.bottleneck_s;
	plan_report_free(&r);
	plan_report_free(&r); /* nothing is left to free */
	return time_s;
}

/* How a plan is made better as so many prefixes and a kind of cuts say. */
static inline struct refining
large_refining(struct large_task *t, size_t limit)
{
	return (struct refining){t->g, t->cut, limit, large_find, large_cost, t, NULL};
}

/* What a plan with limit prefixes takes, and what it took before cuts near it were looked at. */
static inline double
large_plan(struct large_task *t, size_t limit, double *first_s)
{
	struct large_task published = {t->g, t->m, IDEALS_UPSTREAM};
	const struct refining how = large_refining(t, limit);
	struct gv_plan p = {0}, q = {0};
	double time_s = INFINITY;
	struct prefixes x, as;

	prefixes_make(&x, t->g, IDEALS_ALL, limit, limit);
	prefixes_make(&as, t->g, IDEALS_UPSTREAM, limit, limit);
	*first_s = INFINITY;
	if (large_find(t, &p, &x.s)) {
		*first_s = large_time(t, &p);
		refine(&p, &how);
		if (!as.exact && large_find(&published, &q, &as.s))
			refine_second(&p, &q, &how);
		time_s = large_time(t, &p);
	}
	gv_plan_free(&p);
	gv_plan_free(&q);
	prefixes_free(&x);
	prefixes_free(&as);
	return time_s;
}

/* What the plan takes that PipeDream's cuts and bytes give. */
static inline double
large_published(struct large_task *t, size_t limit)
{
	struct large_task published = {t->g, t->m, IDEALS_UPSTREAM};
	struct gv_plan p = {0};
	double time_s = INFINITY;
	struct prefixes x;

	prefixes_make(&x, t->g, IDEALS_UPSTREAM, limit, limit);
	if (large_find(&published, &p, &x.s))
		time_s = large_time(t, &p);
	gv_plan_free(&p);
	prefixes_free(&x);
	return time_s;
}

#endif
