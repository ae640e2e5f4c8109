/*
 * The plan itself: the path of arcs that the times of column.c say is there, with
 * ties resolved.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search.h"

static const double above = 1 + 1e-11;

struct state {
	struct word word; /* of the stages to the end; empty = no path */
	uint32_t to;      /* the first of them */
	uint16_t m;
	bool recompute;
};

/* The pipelines of a column with one source. */
struct walk {
	struct column k;
	double time_s;       /* of the best one */
	struct state *state; /* [k.size][k.n + 1] of those from each prefix */
	struct gv_arena arena;
};

/* The best rest so far, with the load of the stage in front of it. */
struct pick {
	const struct word *rest; /* NULL: none */
	int64_t units;
};

/* Takes the arc with w components, x its load, unless what is known is as good. */
static void
take(struct walk *v, struct pick *pick, const struct arc *arc, size_t a, size_t w,
    int64_t x)
{
	static const struct word nothing = {0};
	const struct column *k = &v->k;
	const struct word *rest = &nothing;
	struct state *s = &v->state[a * (k->n + 1) + w];

	if (arc->to != k->end) {
		rest = &v->state[(k->at[arc->to] - 1) * (k->n + 1) + w - arc->m].word;
		if (rest->n == 0)
			return;
	}
	if (!arc_fits(k, arc, w) ||
	    (pick[w].rest != NULL &&
		word_compare(x, rest, pick[w].units, pick[w].rest) >= 0))
		return;
	pick[w] = (struct pick){rest, x};
	s->to = arc->to;
	s->m = arc->m;
	s->recompute = arc->recompute;
}

/* The best paths from the a-th prefix on each number of components, among these arcs. */
static void
choose(struct walk *v, struct pick *pick, const struct arcs *arcs, size_t a)
{
	const struct column *k = &v->k;
	size_t i, w;

	for (w = 0; w <= k->n; w++)
		pick[w].rest = NULL;
	for (i = 0; i < arcs->n; i++) {
		const struct arc *arc = &arcs->arc[i];
		int64_t x = word_units(a == 0 ? arc->first : arc->next, v->time_s);
		size_t most = arc->to == k->end ? arc->m : k->n - k->before[a];

		for (w = arc->m + k->behind[k->at[arc->to] - 1]; w <= most; w++)
			take(v, pick, arc, a, w, x);
	}
	for (w = 0; w <= k->n; w++)
		if (pick[w].rest != NULL)
			word_join(&v->state[a * (k->n + 1) + w].word, pick[w].units,
			    pick[w].rest, &v->arena);
}

static void
find_paths(struct walk *v)
{
	const struct column *k = &v->k;
	struct pick *pick = gv_xcalloc(k->n + 1, sizeof(*pick));
	struct arcs arcs = {0};
	size_t a;

	for (a = k->size - 1; a-- > 0;) {
		column_tell(k, k->size - a);
		if ((size_t)k->before[a] + k->behind[a] > k->n)
			continue;
		arcs.n = 0;
		arcs_from(&arcs, k, a);
		choose(v, pick, &arcs, a);
	}
	free(arcs.arc);
	free(pick);
}

/* With how many components: the best path of all, or that with the fewest. */
static size_t
components(const struct walk *v)
{
	const struct search *x = v->k.x;
	const struct state *s = v->state;
	size_t n = v->k.n, w, best = 0;

	for (w = search_whole(x, v->k.level) ? n : 1; w <= n; w++) {
		if (s[w].word.n == 0)
			continue;
		if (best == 0 || word_compare(0, &s[w].word, 0, &s[best].word) < 0)
			best = w;
		if (x->o->use == USE_FEWEST)
			break;
	}
	return best;
}

static double walk_level(struct gv_plan *p, const struct search *x, size_t level,
    const struct context *c, struct source from, uint32_t end, struct gv_stage outer,
    size_t *number);

/* Adds the stages of the path to the plan. */
static void
follow(struct walk *v, struct gv_plan *p, struct gv_stage outer, size_t *number)
{
	const struct column *k = &v->k;
	uint32_t i = k->prefix[0];
	size_t w = components(v);
	const struct state *s;

	for (; i != k->end; w -= s->m, i = s->to) {
		s = &v->state[(k->at[i] - 1) * (k->n + 1) + w];
		outer.replicas[k->level] = s->m;
		outer.within[k->level] = number[k->level]++;
		outer.recompute = s->recompute;
		if (k->level > 0) {
			struct context c = search_inside(k->x, k->level, &k->c, w, s->m);
			struct source from = {i, INFINITY, 0};

			from.limit_s = times_get(k->x, k->level - 1,
			    search_limited(k->x) ? &c : &k->c, i, s->to);
			walk_level(p, k->x, k->level - 1, &c, from, s->to, outer, number);
			continue;
		}
		p->stage = gv_xrealloc(p->stage, p->n + 1, sizeof(*p->stage));
		p->stage[p->n] = outer;
		p->stage[p->n++].within[0] = s->to;
	}
}

/* The best pipeline of one level, and those below it; its time, or INFINITY and nothing added. */
static double
walk_level(struct gv_plan *p, const struct search *x, size_t level,
    const struct context *c, struct source from, uint32_t end, struct gv_stage outer,
    size_t *number)
{
	struct walk v = {.time_s = INFINITY};

	column_open(&v.k, x, level, c, end, &from, 1);
	column_times(&v.k, &from, 1);
	column_close(&v.k);
	if (!isfinite(from.time_s))
		return INFINITY;
	v.time_s = from.time_s;
	from.limit_s = from.time_s * above;
	column_open(&v.k, x, level, c, end, &from, 1);
	v.state = gv_xcalloc(v.k.size * (v.k.n + 1), sizeof(*v.state));
	find_paths(&v);
	follow(&v, p, outer, number);
	column_close(&v.k);
	gv_arena_free(&v.arena);
	free(v.state);
	return v.time_s;
}

double
search_path(struct gv_plan *p, const struct search *x)
{
	struct context c = {.base = 0, .copies = 1};
	struct gv_stage outer = {0};
	size_t number[GV_PLAN_LEVELS] = {0};
	struct source from = {0, x->limit_s, INFINITY};

	return walk_level(
	    p, x, x->m->n_levels - 1, &c, from, (uint32_t)x->s->n - 1, outer, number);
}

uint32_t *
search_layers(const struct ideals *s, struct gv_plan *p, size_t n_layers)
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
