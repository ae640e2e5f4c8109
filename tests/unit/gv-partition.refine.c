/*
 * Making plans better, search by search: which prefixes each search gets, against the obvious
 * way on small graphs; which plan it goes on from, and when it ends.  What searches find and
 * what plans take is made up: a plan takes what the number of replicas of its first stage says.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "gv-partition/refine/refine.h"
#include "partition_help.h"
#include "tap.h"

enum { SEARCHES = 200, ROUNDS = 20, MOST = 1024, SETS = 1 << DAG_MOST };

/* Plans by the replicas of their first stages: seconds, INFINITY of what has no cost. */
static double seconds[SEARCHES + 1];

struct world {
	const struct gv_graph *g;
	size_t limit;
	size_t most; /* searches that find something faster */
	double last_s;
	size_t searches, told, wrong;
	size_t found,
	    fast;  /* plans found; the fastest of them that were not slower, at last */
	bool near; /* what is searched now is near the plan: by so many layers */
	size_t moved, vain, round;
	bool over;
	bool look; /* whether the sets are looked at */
	struct gv_plan plan;
};

static struct gv_plan
plan_like(const struct gv_graph *g, const struct gv_plan *from, size_t name)
{
	struct gv_plan p = {.n = from->n};

	p.stage = gv_xcalloc(p.n, sizeof(*p.stage));
	p.of = gv_xcalloc(g->n, sizeof(*p.of));
	memcpy(p.stage, from->stage, p.n * sizeof(*p.stage));
	memcpy(p.of, from->of, g->n * sizeof(*p.of));
	p.stage[0].replicas[0] = name;
	return p;
}

/* Another plan: its layers in some order they can run in, cut anywhere. */
static struct gv_plan
plan_drawn(const struct gv_graph *g, size_t stages, size_t name)
{
	struct gv_plan p = {.n = stages};
	bool done[DAG_MOST] = {false};
	size_t i, k, v;

	p.stage = gv_xcalloc(p.n, sizeof(*p.stage));
	p.of = gv_xcalloc(g->n, sizeof(*p.of));
	for (i = 0; i < g->n; i++) {
		bool ready;

		do {
			v = draw(g->n);
			ready = !done[v];
			for (k = 0; k < g->n_edges; k++)
				ready = ready &&
					(g->edge[k].dst != v || done[g->edge[k].src]);
		} while (!ready);
		done[v] = true;
		/* each stage has a layer */
		p.of[v] = (uint32_t)(i * stages / g->n);
	}
	p.stage[0].replicas[0] = name;
	return p;
}

/* ---- the prefixes of a round, the obvious way: sets of layers are masks ---- */

struct round {
	const struct gv_graph *g;
	unsigned need[DAG_MOST], feed[DAG_MOST]; /* with the layer */
	double weight[DAG_MOST], rank[DAG_MOST];
	bool set[SETS];
	size_t n;
};

static void
put(struct round *r, unsigned set)
{
	r->n += !r->set[set];
	r->set[set] = true;
}

static void
round_begin(struct round *r, const struct gv_graph *g, size_t round)
{
	double all_s = 0;
	size_t v, k;

	*r = (struct round){.g = g};
	for (v = 0; v < g->n; v++)
		all_s += g->layer[v].time_s;
	for (v = 0; v < g->n; v++) {
		r->weight[v] =
		    (all_s > 0 ? g->layer[v].time_s / all_s : 0) + 0.5 / (double)g->n;
		r->rank[v] =
		    -log(1 - gv_random_uniform(1, (uint32_t)round, 0, v)) / r->weight[v];
		r->need[v] = 1U << v;
	}
	for (k = 0; k < g->n_edges; k++) /* by their destinations */
		r->need[g->edge[k].dst] |= r->need[g->edge[k].src];
	for (v = 0; v < g->n; v++)
		for (k = 0; k < g->n; k++)
			if (r->need[k] >> v & 1)
				r->feed[v] |= 1U << k;
}

/* Of those that can run, the one with the least draw, again and again. */
static void
order_drawn(const struct round *r, uint32_t *order)
{
	unsigned done = 0;
	size_t i, v, least;

	for (i = 0; i < r->g->n; i++) {
		least = r->g->n;
		for (v = 0; v < r->g->n; v++)
			if (!(done >> v & 1) && (r->need[v] & ~(1U << v) & ~done) == 0 &&
			    (least == r->g->n || r->rank[v] * r->weight[v] <
						     r->rank[least] * r->weight[least]))
				least = v;
		order[i] = (uint32_t)least;
		done |= 1U << least;
	}
}

static void
put_order(struct round *r, const uint32_t *order, size_t limit)
{
	unsigned set = 0;
	size_t i;

	put(r, 0);
	put(r, (1U << r->g->n) - 1);
	for (i = 0; i < r->g->n && r->g->n <= limit / 4; i++)
		put(r, set |= 1U << order[i]);
}

/* The cut with layers of the mask on either side, by their ranks, up to so many ways. */
static void
put_sides(struct round *r, unsigned cut, unsigned may, size_t limit)
{
	unsigned before[SETS] = {0}, behind[SETS] = {0};
	size_t n = 1, i, v, k;

	for (; may != 0; may &= ~(1U << v)) {
		size_t more = 0;

		for (v = r->g->n, k = 0; k < r->g->n; k++)
			if ((may >> k & 1) && (v == r->g->n || r->rank[k] < r->rank[v]))
				v = k;
		for (i = 0; i < n; i++)
			more += !((before[i] | behind[i]) >> v & 1);
		if (n + more > limit)
			continue;
		for (i = 0, k = n; i < n; i++) {
			if ((before[i] | behind[i]) >> v & 1)
				continue;
			before[k] = before[i];
			behind[k++] = behind[i] | r->feed[v];
			before[i] |= r->need[v];
		}
		n = k;
	}
	for (i = 0; i < n; i++)
		put(r, (cut & ~behind[i]) | before[i]);
}

static unsigned
stages_of(const struct gv_graph *g, const struct gv_plan *p, size_t first, size_t last)
{
	unsigned set = 0;
	size_t v;

	for (v = 0; v < g->n; v++)
		if (p->of[v] >= first && p->of[v] <= last)
			set |= 1U << v;
	return set;
}

/* The layers of the order up to the k-th of n cuts that part the weights evenly. */
static unsigned
even_cut(const struct round *r, const uint32_t *order, size_t k, size_t n)
{
	double weight = 0;
	unsigned set = 0;
	size_t i;

	for (i = 0; i < r->g->n && weight < 1.5 * (double)(k + 1) / (double)(n + 1);
	     i++) {
		set |= 1U << order[i];
		weight += r->weight[order[i]];
	}
	return set;
}

static void
round_make(struct round *r, const struct gv_graph *g, const struct gv_plan *p,
    size_t limit, size_t round)
{
	static const char kinds[] = "CBEBCA"; /* cuts, beside, evenly, anyway */
	char kind = kinds[round % 6];
	uint32_t *stages = sets_stage_order(g, p->of, p->n), drawn[DAG_MOST];
	size_t n = p->n - 1, k, share;

	round_begin(r, g, round);
	order_drawn(r, drawn);
	limit = limit < MOST ? limit : MOST;
	kind = n == 0 && kind != 'A' ? 'E' : kind;
	n = kind == 'E' || kind == 'A' ? 2 * n + 1 : n;
	put_order(r, stages, limit);
	for (k = 0; k + 1 < p->n; k++)
		put(r, stages_of(g, p, 0, k));
	if (kind == 'A')
		put_order(r, drawn, limit);
	share = r->n < limit ? (limit - r->n) / n : 0;
	for (k = 0; k < n; k++) {
		bool evenly = kind == 'E' || kind == 'A';

		put_sides(r,
		    evenly ? even_cut(r, kind == 'A' ? drawn : stages, k, n)
			   : stages_of(g, p, 0, k),
		    kind == 'B' ? stages_of(g, p, k, k + 1) : stages_of(g, p, 0, p->n),
		    share > 2 ? share : 2);
	}
	free(stages);
}

/* ---- what a search is given ---- */

static bool
same_sets(const struct round *r, const struct ideals *s)
{
	size_t i;

	for (i = 0; i < s->n && r->set[s->bits[i]]; i++)
		;
	return s->n == r->n && i == s->n;
}

static bool
same_ideals(const struct ideals *a, const struct ideals *b)
{
	return a->n == b->n &&
	       memcmp(a->bits, b->bits, a->n * a->words * sizeof(*a->bits)) == 0;
}

/* Whether these are the prefixes near the plan, or of the round, that come now. */
static bool
expected(struct world *w, const struct ideals *s)
{
	struct prefixes x;
	struct round r;
	bool same;

	if (w->moved == 0) {
		round_make(&r, w->g, &w->plan, w->limit, w->round);
		return same_sets(&r, s);
	}
	if (!prefixes_near(&x, w->g, IDEALS_ALL, &w->plan, w->moved, w->limit))
		return false;
	same = same_ideals(&x.s, s);
	prefixes_free(&x);
	return same;
}

/*
 * What comes next: near the plan by one layer, then by two, until neither is faster; then
 * rounds, behind each that is faster searches near it by one, until so many were in vain.
 */
static void
go_on_once(struct world *w, bool faster)
{
	if (w->moved == 0) {
		w->round++;
		w->vain = faster ? 0 : w->vain + 1;
		w->moved = faster;
	} else if (w->near) {
		w->moved = faster ? 1 : (w->moved + 1) % 3;
		w->near = w->moved != 0;
	} else {
		w->moved = faster;
	}
	w->over = w->vain == ROUNDS;
}

/* Whether there are few enough prefixes near the plan that they are searched. */
static bool
few(const struct world *w)
{
	struct prefixes x;
	bool all = prefixes_near(&x, w->g, IDEALS_ALL, &w->plan, w->moved, w->limit);

	if (all)
		prefixes_free(&x);
	return all;
}

static void
go_on(struct world *w, bool faster)
{
	go_on_once(w, faster);
	while (w->moved > 0 && !few(w))
		go_on_once(w, false);
}

/* A plan that is a little faster or slower, or as fast up to rounding, or none. */
static bool
find(void *ctx, struct gv_plan *p, const struct ideals *s)
{
	static const double by[] = {0.7, 1 - 1e-8, 1 - 1e-9, 1 - 1e-10, 1, 1 + 1e-12,
	    1 + 2e-12, 1 + 1e-8, 2, INFINITY};
	struct world *w = ctx;
	double before_s = w->last_s;
	size_t name = ++w->found, how = draw(10);

	if (name > SEARCHES) {
		w->wrong++;
		return false;
	}
	w->wrong += p->n > 0 || p->stage != NULL || p->of != NULL;
	w->wrong += w->over || ++w->searches > SEARCHES || w->told != w->searches;
	if (w->look)
		w->wrong += !expected(w, s);
	how = how < 3 && w->most == 0 ? 3 + how : how;
	w->most -= how < 3;
	if (draw(10) == 0 && how >= 3) {
		go_on(w, false);
		return false;
	}
	*p = w->look ? plan_drawn(w->g, 1 + draw(w->g->n < 4 ? w->g->n : 4), name)
		     : plan_like(w->g, &w->plan, name);
	seconds[name] = before_s * by[how];
	if (!(seconds[name] > before_s * (1 + 1e-12))) {
		w->last_s = seconds[name];
		w->fast = name;
		gv_plan_free(&w->plan);
		w->plan = plan_like(w->g, p, name);
	}
	go_on(w, seconds[name] < before_s * (1 - 1e-9));
	return true;
}

static int
cost(void *ctx, struct plan_report *r, const struct gv_plan *p)
{
	(void)ctx;
	r->bottleneck_s = seconds[p->stage[0].replicas[0]];
	return isinf(r->bottleneck_s) ? -1 : 0;
}

static struct world *heard;

static void
hear(size_t search, size_t most)
{
	heard->wrong += search != heard->told + 1 || most != SEARCHES;
	heard->told = search;
}

static void
run(struct world *w, const struct gv_plan *from)
{
	const struct refining how = {w->g, IDEALS_ALL, w->limit, find, cost, w, hear};
	struct gv_plan p = plan_like(w->g, from, 0);

	seconds[0] = w->last_s = 1;
	w->plan = plan_like(w->g, from, 0);
	w->moved = 1;
	w->near = true;
	while (w->moved > 0 && !few(w))
		go_on_once(w, false);
	heard = w;
	refine(&p, &how);
	w->wrong += p.stage[0].replicas[0] != w->fast ||
		    memcmp(p.of, w->plan.of, w->g->n * sizeof(*p.of)) != 0;
	w->wrong += w->searches < SEARCHES && !w->over;
	gv_plan_free(&p);
	gv_plan_free(&w->plan);
}

static void
draw_dag(struct dag *d, size_t n, size_t density)
{
	size_t i;

	memset(d, 0, sizeof(*d));
	dag_begin(d, n);
	for (i = 0; i < n; i++) {
		d->layer[i].time_s =
		    draw(3) == 0 ? 0 : 0.5 + uniform() * (draw(3) ? 1 : 20);
		dag_draw_edges(d, i, density);
	}
}

static void
test_prefixes(void)
{
	static const size_t limits[] = {2, 8, 20, 35, 36, 64, 200, 5000};
	size_t i, wrong = 0, searches = 0;
	struct dag d;

	draws_begin(31, 1, 0);
	for (i = 0; i < 240; i++) {
		struct world w = {.g = &d.g, .look = true, .most = draw(6)};
		struct gv_plan from;

		draw_dag(&d, i % 30 == 0 ? 1 : 2 + draw(DAG_MOST - 1), draw(4));
		w.limit = limits[draw(8)];
		from = plan_drawn(&d.g, 1 + draw(d.g.n < 4 ? d.g.n : 4), 0);
		run(&w, &from);
		wrong += w.wrong;
		searches += w.searches;
		gv_plan_free(&from);
	}
	is_int(wrong, 0, "%zu searches in which prefixes they have to be in", searches);
}

/* Of a chain, whose plans take what was drawn: long ways, on which all searches are used up. */
static void
test_ways(void)
{
	static const size_t most[] = {0, 1, 5, 40, 150, 400};
	size_t i, wrong = 0, full = 0;
	struct dag d;

	draws_begin(31, 2, 0);
	memset(&d, 0, sizeof(d));
	dag_begin(&d, 3);
	for (i = 0; i < 120; i++) {
		struct world w = {.g = &d.g, .limit = 100, .most = most[i % 6]};
		struct gv_plan from = plan_drawn(&d.g, 1 + draw(3), 0);

		run(&w, &from);
		wrong += w.wrong;
		full += w.searches == SEARCHES;
		gv_plan_free(&from);
	}
	is_int(wrong, 0, "the fastest plan of all is gone on from");
	ok(full > 20 && full < 100, "%zu of them with as many searches as there may be",
	    full);
}

static size_t counted;

static bool
find_none(void *ctx, struct gv_plan *p, const struct ideals *s)
{
	const size_t *n = ctx;

	(void)p;
	counted += s->n > 1 && s->words == (*n + 63) / 64;
	return false;
}

/* How often nothing is found between prefixes of a chain of so many layers, nobody listening. */
static size_t
searches_of(size_t n, size_t limit)
{
	struct gv_graph_layer *layer = gv_xcalloc(n, sizeof(*layer));
	struct gv_graph_edge *edge = gv_xcalloc(n, sizeof(*edge));
	struct gv_graph g = {.n = n, .layer = layer, .edge = edge, .n_edges = n - 1};
	const struct refining how = {&g, IDEALS_ALL, limit, find_none, cost, &n, NULL};
	struct gv_plan one = {.n = 1}, p;
	size_t i;

	for (i = 0; i + 1 < n; i++)
		edge[i] = (struct gv_graph_edge){(uint32_t)i, (uint32_t)i + 1};
	one.stage = gv_xcalloc(1, sizeof(*one.stage));
	one.of = gv_xcalloc(n, sizeof(*one.of));
	p = plan_like(&g, &one, 0);
	seconds[0] = 1;
	counted = 0;
	refine(&p, &how);
	gv_plan_free(&p);
	gv_plan_free(&one);
	free(layer);
	free(edge);
	return counted;
}

static void
test_large(void)
{
	is_int(
	    searches_of(64, 200), 22, "near it by one and by two, and 20 rounds in vain");
	is_int(searches_of(65, 200), 22, "and of more layers than a word has");
	is_int(searches_of(8192, 4), 20, "no prefixes near it where they are many");
	is_int(searches_of(8193, 4), 0, "and no rounds where there are very many layers");
	is_int(searches_of(1, 4), 22, "of one layer as many");
}

/* The time of a first plan that takes a second, and of the second, behind it all. */
static bool
second_is(double second_s, double want_s, double want_second_s, size_t searches)
{
	struct dag d;
	size_t n = 3;
	const struct refining how = {&d.g, IDEALS_ALL, 100, find_none, cost, &n, NULL};
	struct gv_plan like = {.n = 1}, p, q;
	bool good;

	memset(&d, 0, sizeof(d));
	dag_begin(&d, n);
	like.stage = gv_xcalloc(1, sizeof(*like.stage));
	like.of = gv_xcalloc(n, sizeof(*like.of));
	p = plan_like(&d.g, &like, 0);
	q = plan_like(&d.g, &like, 1);
	seconds[0] = 1;
	seconds[1] = second_s;
	counted = 0;
	refine_second(&p, &q, &how);
	good = seconds[p.stage[0].replicas[0]] == want_s &&
	       seconds[q.stage[0].replicas[0]] == want_second_s && p.of != q.of;
	gv_plan_free(&p);
	gv_plan_free(&q);
	gv_plan_free(&like);
	return good && counted == searches;
}

static void
test_second(void)
{
	const double near = 1 + 10 / 100.;

	ok(second_is(0.5, 0.5, 1, 22), "a second start that is faster becomes the plan");
	ok(second_is(1 - 1e-9, 1, 1 - 1e-9, 22), "not up to rounding");
	ok(second_is(1, 1, 1, 22), "one that is as fast does not");
	ok(second_is(near, 1, near, 22), "one that is hardly slower is made better");
	ok(second_is(near * (1 + 1e-15), 1, near * (1 + 1e-15), 0),
	    "one that is slower is not");
}

int
main(void)
{
	test_prefixes();
	test_ways();
	test_large();
	test_second();
	return done_testing();
}
