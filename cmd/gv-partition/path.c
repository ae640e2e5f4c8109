/*
 * The plan itself: the path of arcs that the values of search.c say is there, with
 * ties resolved.
 *
 * The loads of a path, sorted from the largest, compare like words.  Adding the
 * same load to two of them keeps their order, so dynamic programming finds the
 * least.  Loads are whole numbers here, in units of 2^-40 of the slowest, so that
 * rounding does not tell equal ones apart.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search.h"

static const double above = 1 + 1e-11;

struct state {
	int64_t *load; /* [n] of the stages to the end, descending */
	size_t n;      /* 0 = no path */
	uint32_t to;   /* the first of them */
	uint16_t m;
	bool recompute;
};

/* One level of the search between two prefixes. */
struct walk {
	const struct search *x;
	size_t level;
	struct context c;
	size_t from, end;
	size_t n; /* components */
	struct lower lower;
	double *best;        /* [prefixes][n + 1] */
	double time_s;       /* of the best path */
	struct state *state; /* [prefixes][n + 1] */
	struct gv_arena arena;
};

static bool
inside(const struct walk *k, size_t i)
{
	const struct ideals *s = k->x->s;

	return (i == k->from || ideals_sub(s, k->from, i)) && ideals_sub(s, i, k->end);
}

/* What stands in front of i needs components too: how many are left from i on. */
static size_t
left_for(const struct walk *k, size_t i)
{
	double g = (double)machine_component(k->x->m, k->level);
	double before = k->x->s->time_s[i] - k->x->s->time_s[k->from];
	double limit = search_limit(k->x, k->level) * above;
	double taken = limit > 0 ? ceil(before / (g * limit) - 1e-9) : 0;

	return taken <= 0 ? k->n : taken >= (double)k->n ? 0 : k->n - (size_t)taken;
}

static void
find_values(struct walk *k, double *first)
{
	const struct ideals *s = k->x->s;
	struct arcs arcs = {0};
	size_t i;

	for (i = k->end; i-- > k->from;) {
		if (!inside(k, i))
			continue;
		arcs.n = 0;
		search_arcs(&arcs, k->x, k->level, &k->lower, i, k->end, k->n);
		search_relax(k->x, k->level, &k->c, &arcs, left_for(k, i), k->end,
		    k->best, i, first);
		search_prune(k->x, k->level, k->n, s->time_s[k->end] - s->time_s[i],
		    k->best + i * (k->n + 1));
	}
	free(arcs.arc);
}

/* Compares x and the loads of a with y and those of b, as words; < 0, 0, > 0. */
static int
compare(int64_t x, const struct state *a, int64_t y, const struct state *b)
{
	size_t i = 0, j = 0;
	bool used_x = false, used_y = false;

	while (i < a->n || j < b->n || !used_x || !used_y) {
		int64_t p = 0, q = 0; /* what is not there counts as 0 */

		if (!used_x && (i == a->n || x >= a->load[i])) {
			p = x;
			used_x = true;
		} else if (i < a->n) {
			p = a->load[i++];
		}
		if (!used_y && (j == b->n || y >= b->load[j])) {
			q = y;
			used_y = true;
		} else if (j < b->n) {
			q = b->load[j++];
		}
		if (p != q)
			return p < q ? -1 : 1;
	}
	return 0;
}

static int64_t
units(const struct walk *k, double load)
{
	return k->time_s > 0 ? llrint(load / k->time_s * 0x1p40) : 0;
}

static void
settle(struct walk *k, struct state *s, int64_t x, const struct state *rest)
{
	size_t i = 0;

	s->n = rest->n + 1;
	s->load = gv_arena_alloc(&k->arena, s->n, sizeof(*s->load));
	while (i < rest->n && rest->load[i] >= x) {
		s->load[i] = rest->load[i];
		i++;
	}
	s->load[i] = x;
	for (; i < rest->n; i++)
		s->load[i + 1] = rest->load[i];
}

/* The best path from i on w components among these arcs. */
static void
choose(struct walk *k, const struct arcs *arcs, size_t i, size_t w)
{
	static const struct state nothing = {0};
	struct state *s = &k->state[i * (k->n + 1) + w];
	const struct state *rest, *best_rest = NULL;
	int64_t x, best_x = 0;
	size_t a;

	for (a = 0; a < arcs->n; a++) {
		const struct arc *arc = &arcs->arc[a];
		double load = i == k->from ? arc->first : arc->next;

		if (arc->m > w || (arc->to == k->end) != (arc->m == w))
			continue;
		rest = arc->to == k->end ? &nothing
					 : &k->state[arc->to * (k->n + 1) + w - arc->m];
		if ((rest->n == 0 && rest != &nothing) ||
		    !search_fits(k->x, &k->c, arc, w))
			continue;
		x = units(k, load);
		if (best_rest != NULL && compare(x, rest, best_x, best_rest) >= 0)
			continue;
		best_rest = rest;
		best_x = x;
		s->to = arc->to;
		s->m = arc->m;
		s->recompute = arc->recompute;
	}
	if (best_rest != NULL)
		settle(k, s, best_x, best_rest);
}

/* Drops arcs that are slower than the best path. */
static void
keep_fast(struct arcs *arcs, const struct walk *k, size_t i)
{
	size_t a, n = 0;

	for (a = 0; a < arcs->n; a++) {
		const struct arc *arc = &arcs->arc[a];

		if ((i == k->from ? arc->first : arc->next) <= k->time_s * above)
			arcs->arc[n++] = *arc;
	}
	arcs->n = n;
}

static void
find_paths(struct walk *k)
{
	struct arcs arcs = {0};
	size_t i, w;

	for (i = k->end; i-- > k->from;) {
		if (!inside(k, i))
			continue;
		arcs.n = 0;
		search_arcs(&arcs, k->x, k->level, &k->lower, i, k->end, k->n);
		keep_fast(&arcs, k, i);
		for (w = 1; w <= k->n; w++)
			if (i == k->from ||
			    k->best[i * (k->n + 1) + w] <= k->time_s * above)
				choose(k, &arcs, i, w);
	}
	free(arcs.arc);
}

/* With how many components: the best path of all, or that with the fewest. */
static size_t
components(const struct walk *k)
{
	const struct state *s = &k->state[k->from * (k->n + 1)];
	size_t w, best = 0;

	for (w = search_whole(k->x, k->level) ? k->n : 1; w <= k->n; w++) {
		if (s[w].n == 0)
			continue;
		if (best == 0 || compare(0, &s[w], 0, &s[best]) < 0)
			best = w;
		if (k->x->o->use == USE_FEWEST)
			break;
	}
	return best;
}

static double walk_level(struct plan *p, const struct search *x, size_t level,
    const struct context *c, size_t from, size_t end, struct stage outer, size_t *number);

/* Adds the stages of the path to the plan. */
static void
follow(struct walk *k, struct plan *p, struct stage outer, size_t *number)
{
	size_t i = k->from, w = components(k);
	const struct state *s;

	for (; i != k->end; w -= s->m, i = s->to) {
		s = &k->state[i * (k->n + 1) + w];
		outer.replicas[k->level] = s->m;
		outer.within[k->level] = number[k->level]++;
		outer.recompute = s->recompute;
		if (k->level > 0) {
			struct context c = search_inside(k->x, k->level, &k->c, w, s->m);

			walk_level(p, k->x, k->level - 1, &c, i, s->to, outer, number);
			continue;
		}
		p->stage = gv_xrealloc(p->stage, p->n + 1, sizeof(*p->stage));
		p->stage[p->n] = outer;
		p->stage[p->n++].within[0] = s->to;
	}
}

/* One level between two prefixes, and those below it; the time, or INFINITY and nothing added. */
static double
walk_level(struct plan *p, const struct search *x, size_t level, const struct context *c,
    size_t from, size_t end, struct stage outer, size_t *number)
{
	struct walk k = {.x = x, .level = level, .c = *c, .from = from, .end = end};
	double *first;
	size_t w;

	k.n = x->m->gpus[level];
	k.time_s = INFINITY;
	first = gv_xcalloc(k.n + 1, sizeof(*first));
	k.best = gv_xcalloc(x->s->n * (k.n + 1), sizeof(*k.best));
	if (level > 0)
		search_lower(&k.lower, x, level, c);
	find_values(&k, first);
	for (w = search_whole(x, level) ? k.n : 1; w <= k.n; w++)
		if (first[w] < k.time_s)
			k.time_s = first[w];
	if (isfinite(k.time_s)) {
		k.state = gv_xcalloc(x->s->n * (k.n + 1), sizeof(*k.state));
		find_paths(&k);
		follow(&k, p, outer, number);
	}
	search_lower_free(&k.lower);
	gv_arena_free(&k.arena);
	free(k.state);
	free(k.best);
	free(first);
	return k.time_s;
}

double
search_path(struct plan *p, const struct search *x)
{
	struct context c = {.base = 0, .copies = 1};
	struct stage outer = {0};
	size_t number[LEVELS] = {0};

	return walk_level(p, x, x->m->n_levels - 1, &c, 0, x->s->n - 1, outer, number);
}

uint32_t *
search_layers(const struct ideals *s, struct plan *p, size_t n_layers)
{
	uint32_t *of = gv_xcalloc(n_layers, sizeof(*of));
	size_t i, v;

	for (i = p->n; i-- > 0;) {
		for (v = 0; v < n_layers; v++)
			if (ideals_has(s, p->stage[i].within[0], v))
				of[v] = (uint32_t)i;
		p->stage[i].within[0] = i;
	}
	return of;
}

void
plan_free(struct plan *p)
{
	free(p->stage);
	free(p->of);
	memset(p, 0, sizeof(*p));
}
