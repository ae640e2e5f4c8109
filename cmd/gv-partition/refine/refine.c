/* Looking for better plans near one, and a little further away. */
#include "refine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "gv-partition/graph/sides.h"
#include "gv-partition/graph/units.h"

enum {
	SEARCHES = 200, /* at most */
	IN_VAIN = 20,   /* rounds without a faster plan */
	LAYERS = 8192,  /* with more, closures are large */
	PREFIXES = 1024 /* of a round, about: its time is that of their square */
};

static const double faster = 1 - 1e-9, no_slower = 1 + 1e-12;

/* ---- one search ---- */

static double
time_of(const struct refining *how, const struct gv_plan *p)
{
	struct plan_report r = {0};
	double time_s = INFINITY;

	if (how->cost(how->ctx, &r, p) == 0)
		time_s = r.bottleneck_s;
	plan_report_free(&r);
	return time_s;
}

/* The plan so far. */
struct best {
	struct gv_plan *p;
	double time_s;
	size_t searches;
};

/*
 * To the best plan between these prefixes unless it is slower; whether it is faster.
 * One that is as fast has no higher loads, where the prefixes hold the cuts of the plan.
 */
static bool
look(struct best *b, const struct refining *how, const struct ideals *s)
{
	struct gv_plan q = {0};
	double time_s, before_s = b->time_s;

	if (b->searches == SEARCHES)
		return false;
	b->searches++;
	if (how->progress != NULL)
		how->progress(b->searches, SEARCHES);
	if (!how->find(how->ctx, &q, s))
		return false;
	time_s = time_of(how, &q);
	if (time_s > before_s * no_slower) {
		gv_plan_free(&q);
		return false;
	}
	gv_plan_free(b->p);
	*b->p = q;
	b->time_s = time_s;
	return time_s < before_s * faster;
}

/* Among plans whose cuts are so many layers away at most. */
static bool
step(struct best *b, const struct refining *how, size_t moved)
{
	struct prefixes near;
	bool found;

	if (!prefixes_near(&near, how->g, how->cut, b->p, moved, how->limit))
		return false;
	found = look(b, how, &near.s);
	prefixes_free(&near);
	return found;
}

/* ---- rounds: some layers anywhere, the others where they are, if they can ---- */

/* What stays the same in all rounds, and what is drawn for one. */
struct rounds {
	const struct refining *how;
	struct units u; /* these are the layers of rounds */
	struct closures c;
	double *weight; /* [layers] of being drawn: the sum is 1.5 */
	double *rank;   /* [layers] random, the heavier a layer the lower */
	uint32_t *layer;
	uint32_t *order;
	uint32_t *of; /* [layers] the stage of each in the plan so far */
};

/* Which cuts a round begins with, and which layers it moves over them. */
enum kind {
	CUTS,   /* those of the plan, the same layers over all */
	BESIDE, /* those of the plan, layers of the stages beside each */
	EVENLY, /* of the layers by their stages, where they part the time evenly */
	ANYWAY  /* of the layers in a random order */
};

static void
rounds_open(struct rounds *r, const struct refining *how)
{
	const struct gv_graph *g = &r->u.g;
	double all_s = 0;
	size_t v;

	*r = (struct rounds){.how = how};
	units_open(&r->u, how->g);
	closures_open(&r->c, g);
	r->weight = gv_xcalloc(g->n, sizeof(*r->weight));
	r->rank = gv_xcalloc(g->n, sizeof(*r->rank));
	r->layer = gv_xcalloc(g->n, sizeof(*r->layer));
	for (v = 0; v < g->n; v++)
		all_s += g->layer[v].time_s;
	for (v = 0; v < g->n; v++)
		r->weight[v] =
		    (all_s > 0 ? g->layer[v].time_s / all_s : 0) + 0.5 / (double)g->n;
}

static void
rounds_close(struct rounds *r)
{
	closures_close(&r->c);
	units_close(&r->u);
	free(r->weight);
	free(r->rank);
	free(r->layer);
}

/* Ranks so that the lowest are a sample without replacement by weight (Efraimidis, Spirakis 2006). */
static void
draw_ranks(struct rounds *r, size_t round)
{
	size_t v;

	for (v = 0; v < r->c.n; v++)
		r->rank[v] =
		    -log(1 - gv_random_uniform(1, (uint32_t)round, 0, v)) / r->weight[v];
}

/* An order in which layers can run; of those that can, that of the least rank by its weight. */
static uint32_t *
random_order(const struct rounds *r)
{
	const struct gv_graph *g = &r->u.g;
	uint32_t *order = gv_xcalloc(g->n, sizeof(*order));
	uint32_t *dst = gv_xcalloc(g->n_edges, sizeof(*dst));
	size_t *at = gv_graph_fed(g, dst), *wait = gv_xcalloc(g->n, sizeof(*wait));
	size_t end = 0, i, k, least;

	for (k = 0; k < g->n_edges; k++)
		wait[g->edge[k].dst]++;
	for (k = 0; k < g->n; k++)
		if (wait[k] == 0)
			order[end++] = (uint32_t)k;
	for (i = 0; i < g->n; i++) {
		uint32_t v;

		for (k = least = i; k < end; k++)
			if (r->rank[order[k]] * r->weight[order[k]] <
			    r->rank[order[least]] * r->weight[order[least]])
				least = k;
		v = order[least];
		order[least] = order[i];
		order[i] = v;
		for (k = at[v]; k < at[v + 1]; k++)
			if (--wait[dst[k]] == 0)
				order[end++] = dst[k];
	}
	free(dst);
	free(at);
	free(wait);
	return order;
}

/* Of the layers of the stages from first to last: choices of sides, at most so many. */
static void
choose(struct rounds *r, struct sides *s, size_t first, size_t last, size_t limit)
{
	size_t n = 0, v;

	for (v = 0; v < r->c.n; v++)
		if (r->of[v] >= first && r->of[v] <= last)
			r->layer[n++] = (uint32_t)v;
	sides_rank(r->layer, n, r->rank);
	sides_make(s, &r->c, r->layer, n, limit);
}

/* Where the k-th of n cuts is in the order: behind so many layers. */
static size_t
cut_at(
    const struct rounds *r, enum kind kind, size_t k, size_t n, size_t at, double *weight)
{
	while (
	    at < r->c.n && (kind == CUTS || kind == BESIDE
				   ? r->of[r->order[at]] <= k
				   : *weight < 1.5 * (double)(k + 1) / (double)(n + 1)))
		*weight += r->weight[r->order[at++]];
	return at;
}

/* Adds n cuts with some layers moved over them, about as many as there may be. */
static void
add_cuts(struct sets *found, struct rounds *r, const struct gv_plan *p, enum kind kind,
    size_t n, size_t limit)
{
	uint64_t *cut = gv_xcalloc(r->c.words, sizeof(*cut));
	size_t k, at = 0, end;
	double weight = 0;
	struct sides s;

	if (kind != BESIDE)
		choose(r, &s, 0, p->n, limit);
	for (k = 0; k < n; k++) {
		end = cut_at(r, kind, k, n, at, &weight);
		for (; at < end; at++)
			set_put(cut, r->order[at]);
		if (kind == BESIDE)
			choose(r, &s, k, k + 1, limit);
		sides_add(found, &s, cut);
		if (kind == BESIDE)
			sides_free(&s);
	}
	if (kind != BESIDE)
		sides_free(&s);
	free(cut);
}

/* The empty set and that of all, or the beginnings of the order where these are few. */
static void
add_order(struct sets *found, const struct rounds *r, const uint32_t *order, size_t limit)
{
	uint64_t *set;
	size_t i;

	if (r->c.n <= limit / 4) {
		sets_sequence(found, &r->u.g, order);
		return;
	}
	set = gv_xcalloc(r->c.words, sizeof(*set));
	sets_add(found, set);
	for (i = 0; i < r->c.n; i++)
		set_put(set, i);
	sets_add(found, set);
	free(set);
}

/* Adds the cuts of the plan. */
static void
add_plan(struct sets *found, const struct rounds *r, const struct gv_plan *p)
{
	uint64_t *cut = gv_xcalloc(r->c.words, sizeof(*cut));
	size_t i, v;

	for (i = 0; i + 1 < p->n; i++) {
		for (v = 0; v < r->c.n; v++)
			if (r->of[v] == i)
				set_put(cut, v);
		sets_add(found, cut);
	}
	free(cut);
}

static bool
round_of(struct best *b, struct rounds *r, size_t round)
{
	static const enum kind kinds[] = {CUTS, BESIDE, EVENLY, BESIDE, CUTS, ANYWAY};
	const struct refining *how = r->how;
	enum kind kind = kinds[round % (sizeof(kinds) / sizeof(kinds[0]))];
	size_t limit = how->limit < PREFIXES ? how->limit : PREFIXES, n = b->p->n - 1;
	struct sets found = {.words = r->c.words};
	struct sets of_layers = {.words = (how->g->n + 63) / 64};
	struct ideals s;
	uint32_t *stages;
	bool better;

	r->of = units_stages(&r->u, how->g->n, b->p->of);
	stages = sets_stage_order(&r->u.g, r->of, b->p->n);
	draw_ranks(r, round);
	if (n == 0 && kind != ANYWAY)
		kind = EVENLY;
	if (kind == EVENLY || kind == ANYWAY)
		n = 2 * n + 1;
	r->order = kind == ANYWAY ? random_order(r) : stages;
	add_order(&found, r, stages, limit);
	add_plan(&found, r, b->p);
	if (kind == ANYWAY)
		add_order(&found, r, r->order, limit);
	limit = found.n < limit ? (limit - found.n) / n : 0;
	add_cuts(&found, r, b->p, kind, n, limit > 2 ? limit : 2);
	units_expand(&of_layers, &r->u, how->g->n, &found);
	ideals_of(&s, how->g, how->cut, &of_layers);
	better = look(b, how, &s);
	ideals_free(&s);
	sets_free(&found);
	sets_free(&of_layers);
	if (kind == ANYWAY)
		free(r->order);
	free(stages);
	free(r->of);
	return better;
}

void
refine(struct gv_plan *p, const struct refining *how)
{
	struct best b = {p, time_of(how, p), 0};
	size_t round, vain = 0;
	struct rounds r;

	while (step(&b, how, 1) || step(&b, how, 2))
		;
	if (how->g->n > LAYERS)
		return;
	rounds_open(&r, how);
	for (round = 0; vain < IN_VAIN; round++) {
		vain++;
		if (!round_of(&b, &r, round))
			continue;
		vain = 0;
		while (step(&b, how, 1))
			;
	}
	rounds_close(&r);
}

void
refine_second(struct gv_plan *p, struct gv_plan *second, const struct refining *how)
{
	enum { NEAR = 10 }; /* percent */
	struct gv_plan slower;

	if (time_of(how, second) > time_of(how, p) * (1 + NEAR / 100.))
		return;
	refine(second, how);
	if (time_of(how, second) < time_of(how, p) * faster) {
		slower = *p;
		*p = *second;
		*second = slower;
	}
}
