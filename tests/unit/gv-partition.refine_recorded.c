/*
 * How plans are made better is how they were: of models of many shapes the prefixes of every
 * search, one after the other, and the plan at the end, to the last bit.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "gv-partition/refine/refine.h"
#include "partition_draws.h"

static struct recorded r;

struct task {
	const struct gv_graph *g;
	const struct gv_machine *m;
	const struct search_options *o;
	enum ideals_kind cut;
	size_t some; /* finds nothing once in so many searches */
	size_t searches;
};

static bool
find(void *ctx, struct gv_plan *p, const struct ideals *s)
{
	struct task *t = ctx;

	recorded_prefixes(&r, s);
	if (++t->searches % t->some == 0)
		return false;
	return plan_search(p, s, t->g->n, t->m, t->o) == SEARCH_FOUND;
}

static int
cost(void *ctx, struct plan_report *report, const struct gv_plan *p)
{
	const struct task *t = ctx;
	struct gv_error e = {0};

	return plan_evaluate(report, p, t->g, t->m, &t->o->rules, t->cut, &e);
}

static void
told(size_t search, size_t most)
{
	recorded_whole(&r, (long long)search);
	recorded_whole(&r, (long long)most);
}

/* The best plan among few prefixes, a worse one where it is for a slower machine. */
static bool
begin(struct gv_plan *p, const struct task *t, enum ideals_kind kind, size_t limit)
{
	struct prefixes x;
	bool found;

	prefixes_make(&x, t->g, kind, limit, limit);
	found = plan_search(p, &x.s, t->g->n, t->m, t->o) == SEARCH_FOUND;
	prefixes_free(&x);
	return found;
}

/* Up to so many layers. */
static void
ask(size_t seed, size_t most)
{
	struct drawn *d = gv_xcalloc(1, sizeof(*d));
	struct search_options o = {.rules = {.recompute = RECOMPUTE_AUTO}};
	struct task t = {.g = &d->g, .o = &o};
	struct refining how = {.g = &d->g, .find = find, .cost = cost, .ctx = &t};
	struct gv_plan p = {0}, second = {0};
	struct gv_machine m;

	draws_begin(seed, 45, 1);
	drawn_graph(d, most);
	m = drawn_machine(1 + draw(2), 4);
	t.m = &m;
	t.cut = how.cut = (enum ideals_kind)draw(2);
	t.some = 3 + draw(40);
	how.limit = 4 + draw(draw(3) == 0 ? 40 : 5 * d->g.n);
	if (draw(2) == 0)
		how.progress = told;
	if (begin(&p, &t, IDEALS_ALL, 2 + draw(9))) {
		refine(&p, &how);
		recorded_plan(&r, &p, d->g.n);
		recorded_whole(&r, (long long)t.searches);
		if (begin(&second, &t, IDEALS_UPSTREAM, 2 + draw(4))) {
			refine_second(&p, &second, &how);
			recorded_plan(&r, &p, d->g.n);
			recorded_plan(&r, &second, d->g.n);
		}
	}
	gv_plan_free(&p);
	gv_plan_free(&second);
	free(d);
}

static void
ask_many(size_t first, size_t n, size_t most)
{
	size_t i;

	for (i = first; i < first + n; i++) {
		ask(i, most);
		if ((i + 1) % 2 == 0)
			recorded_answer(
			    &r, "models %zu and %zu, up to %zu layers", i - 1, i, most);
	}
}

/* ---- what is faster, and what is hardly slower: plans take what is made up ---- */

struct made {
	const struct gv_plan *p; /* the plan so far */
	double seconds[1000];    /* by the replicas of the first stage */
	size_t n, layers, searches;
};

static double
seconds(const struct made *t, const struct gv_plan *p)
{
	return t->seconds[p->stage[0].replicas[0]];
}

static struct gv_plan
made_plan(struct made *t, double time_s)
{
	struct gv_plan p = {.n = 2};
	size_t v;

	p.stage = gv_xcalloc(2, sizeof(*p.stage));
	p.of = gv_xcalloc(t->layers, sizeof(*p.of));
	for (v = t->layers / 2; v < t->layers; v++)
		p.of[v] = 1;
	p.stage[0].replicas[0] = t->n;
	t->seconds[t->n++] = time_s;
	return p;
}

static bool
find_made(void *ctx, struct gv_plan *p, const struct ideals *s)
{
	static const double times[] = {1, 1 - 1e-7, 1 - 1e-8, 1 - 2e-9, 1 - 5e-10, 1,
	    1 - 1e-12, 1 + 5e-13, 1 + 2e-12, 1 + 1e-9, 1 + 1e-6, 3};
	struct made *t = ctx;

	recorded_whole(&r, (long long)s->n);
	recorded_double(&r, seconds(t, t->p));
	t->searches++;
	if (draw(9) == 0)
		return false;
	*p = made_plan(t, seconds(t, t->p) * times[draw(12)]);
	return true;
}

static int
cost_made(void *ctx, struct plan_report *report, const struct gv_plan *p)
{
	*report = (struct plan_report){.bottleneck_s = seconds(ctx, p)};
	return 0;
}

static void
ask_made(struct drawn *d)
{
	static const double second[] = {
	    .5, 1 - 1e-9, 1, 1.05, 1.0995, 1.0999, 1.1 - 1e-9, 1.1 + 1e-9, 1.101, 1.2};
	struct made *t = gv_xcalloc(1, sizeof(*t));
	struct refining how = {
	    .g = &d->g, .limit = 200, .find = find_made, .cost = cost_made, .ctx = t};
	struct gv_plan p, q;

	drawn_of(d, DRAWN_CHAIN, 6);
	t->layers = d->g.n;
	p = made_plan(t, 1 + uniform());
	q = made_plan(t, seconds(t, &p) * second[draw(10)]);
	t->p = &p;
	refine(&p, &how);
	recorded_plan(&r, &p, d->g.n);
	t->seconds[q.stage[0].replicas[0]] = seconds(t, &p) * second[draw(10)];
	t->p = &q;
	refine_second(&p, &q, &how);
	recorded_plan(&r, &p, d->g.n);
	recorded_plan(&r, &q, d->g.n);
	recorded_whole(&r, (long long)t->searches);
	gv_plan_free(&p);
	gv_plan_free(&q);
	free(t);
}

static void
ask_many_made(size_t n)
{
	struct drawn *d = gv_xcalloc(1, sizeof(*d));
	size_t i;

	draws_begin(2, 45, 1);
	for (i = 0; i < n; i++) {
		ask_made(d);
		if ((i + 1) % 10 == 0)
			recorded_answer(&r, "times made up, %zu to %zu", i - 9, i);
	}
	free(d);
}

/* ---- as many layers as have rounds, and one more ---- */

static bool
find_none(void *ctx, struct gv_plan *p, const struct ideals *s)
{
	struct task *t = ctx;

	(void)p;
	t->searches++;
	recorded_whole(&r, (long long)s->n);
	recorded_doubles(&r, s->time_s, s->n);
	return false;
}

static int
cost_same(void *ctx, struct plan_report *report, const struct gv_plan *p)
{
	(void)ctx;
	(void)p;
	*report = (struct plan_report){.bottleneck_s = 1};
	return 0;
}

static void
ask_long(size_t n)
{
	struct gv_graph g = {.n = n, .n_edges = n - 1};
	struct gv_stage stage[2] = {{.type = 0}};
	struct gv_plan p = {.n = 2, .stage = stage};
	struct task t = {.g = &g};
	struct refining how = {
	    .g = &g, .limit = 12, .find = find_none, .cost = cost_same, .ctx = &t};
	size_t i;

	g.layer = gv_xcalloc(n, sizeof(*g.layer));
	g.edge = gv_xcalloc(n, sizeof(*g.edge));
	p.of = gv_xcalloc(n, sizeof(*p.of));
	for (i = 0; i < n; i++) {
		g.layer[i].time_s = (double)(1 + i % 7);
		p.of[i] = i >= n / 2;
		if (i > 0)
			g.edge[i - 1] =
			    (struct gv_graph_edge){(uint32_t)i - 1, (uint32_t)i};
	}
	refine(&p, &how);
	recorded_answer(&r, "%zu layers: %zu searches", n, t.searches);
	free(p.of);
	gv_graph_free(&g);
}

int
main(void)
{
	recorded_open(&r);
	ask_many(0, 150, 8);
	ask_many(150, 80, 24);
	ask_many(230, 10, 80);
	ask_many_made(200);
	ask_long(8192);
	ask_long(8193);
	recorded_close(&r);
	return done_testing();
}
