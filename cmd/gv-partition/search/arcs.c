/* The stages that a pipeline can be made of. */
#include <math.h>

#include "base/mem.h"
#include "search.h"

/* The most minibatches in flight for which the stage fits: its memory is linear in them. */
static size_t
most_in_flight(const struct search *x, size_t i, size_t k, bool recompute)
{
	const struct cost_rules *r = &x->o->rules;
	struct stage_size size = search_stage(x, i, k);
	double activation = x->s->activation[k] - x->s->activation[i];
	double none = stage_memory(r, &size, activation, 0, recompute);
	double each = stage_memory(r, &size, activation, 1, recompute) - none, guess;
	size_t any = stage_in_flight_most(r, x->gpus), n;

	guess = (r->memory - none) / each;
	n = !(guess < (double)any) ? any : guess > 0 ? (size_t)guess : 0;
	while (
	    n < any && stage_memory(r, &size, activation, n + 1, recompute) <= r->memory)
		n++;
	while (n > 0 && stage_memory(r, &size, activation, n, recompute) > r->memory)
		n--;
	return n;
}

static void
find_flights(const struct search *x, size_t i, size_t k, size_t *kept, size_t *recomputed)
{
	enum recompute how = x->o->rules.recompute;
	size_t any = stage_in_flight_most(&x->o->rules, x->gpus);
	bool limited = search_limited(x);

	*kept = *recomputed = any;
	if (how == RECOMPUTE_FULL)
		*kept = 0;
	else if (limited)
		*kept = most_in_flight(x, i, k, false);
	if (how == RECOMPUTE_NONE || *kept == any)
		*recomputed = 0;
	else if (limited)
		*recomputed = most_in_flight(x, i, k, true);
}

uint32_t *
search_flights_new(const struct search *x)
{
	enum { PREFIXES = 4096 }; /* 64 MiB */

	if (!search_limited(x) || x->m->n_levels == 1 || x->s->n > PREFIXES ||
	    stage_in_flight_most(&x->o->rules, x->gpus) >= UINT16_MAX)
		return NULL;
	return gv_xcalloc(x->s->n * x->s->n, sizeof(uint32_t));
}

void
search_flights(
    const struct search *x, size_t i, size_t k, size_t *kept, size_t *recomputed)
{
	uint32_t *known = x->flights != NULL ? &x->flights[i * x->s->n + k] : NULL;

	if (known == NULL || *known == 0) {
		find_flights(x, i, k, kept, recomputed);
		if (known != NULL)
			*known = ((uint32_t)*kept << 16 | (uint32_t)*recomputed) + 1;
		return;
	}
	*kept = (*known - 1) >> 16;
	*recomputed = (*known - 1) & UINT16_MAX;
}

/* The arc for stages of this size, unless it is slower than the limits. */
static void
add(struct arcs *arcs, const struct column *k, size_t a, const struct stage_size *size,
    struct arc arc)
{
	const struct search *x = k->x;

	arc.next = stage_cost(&x->o->rules, x->m, k->level, size, arc.m, false).load_s;
	arc.first = arc.next;
	if (k->source_s[a] >= 0)
		arc.first =
		    stage_cost(&x->o->rules, x->m, k->level, size, arc.m, true).load_s;
	if (!isfinite(arc.first) || arc.first > k->limit_s)
		return;
	arcs->arc = gv_xgrow(arcs->arc, &arcs->cap, arcs->n + 1, sizeof(*arcs->arc));
	arcs->arc[arcs->n++] = arc;
}

/* Innermost: the stage itself, with its activations kept or recomputed. */
static void
add_stages(
    struct arcs *arcs, const struct column *k, size_t a, size_t b, struct span span)
{
	const struct search *x = k->x;
	size_t i = k->prefix[a], j = k->prefix[b];
	size_t kept, recomputed, m;
	struct stage_size size = search_stage(x, i, j), slow = size;

	slow.time_s += x->s->forward_s[j] - x->s->forward_s[i];
	search_flights(x, i, j, &kept, &recomputed);
	for (m = span.low; m <= span.high; m++) {
		struct arc arc = {.to = (uint32_t)j, .m = (uint16_t)m};

		arc.most = (uint32_t)kept;
		if (kept > 0)
			add(arcs, k, a, &size, arc);
		arc.most = (uint32_t)recomputed;
		arc.recompute = true;
		if (recomputed > 0)
			add(arcs, k, a, &slow, arc);
	}
}

/* Further out: a pipeline inside components, whose time can depend on what is behind. */
static void
add_components(
    struct arcs *arcs, const struct column *k, size_t a, size_t b, struct span span)
{
	const struct search *x = k->x;
	uint32_t i = k->prefix[a], j = k->prefix[b];
	struct stage_size size = search_stage(x, i, j);
	bool limited = search_limited(x);
	size_t m, w, most = k->n - k->before[a];

	for (m = span.low; m <= span.high; m++) {
		struct arc arc = {.to = j, .m = (uint16_t)m, .most = (uint32_t)x->gpus};

		if (!limited) {
			size.time_s = times_get(x, k->level - 1, &k->c, i, j);
			add(arcs, k, a, &size, arc);
			continue;
		}
		for (w = m + k->behind[b]; w <= most; w++) {
			struct context inside = search_inside(x, k->level, &k->c, w, m);

			size.time_s = times_get(x, k->level - 1, &inside, i, j);
			arc.only = (uint16_t)w;
			add(arcs, k, a, &size, arc);
		}
	}
}

void
arcs_from(struct arcs *arcs, const struct column *k, size_t a)
{
	const struct ideals *s = k->x->s;
	size_t i = k->prefix[a], at;

	for (at = s->sup_at[i]; at < s->sup_at[i + 1] && s->sup[at] <= k->end; at++) {
		size_t b = k->at[s->sup[at]];
		struct span span;

		if (b-- == 0 || (size_t)k->before[a] + k->behind[b] >= k->n ||
		    !column_can(k, i, k->prefix[b], k->n - k->before[a] - k->behind[b]))
			continue;
		span = column_span(k, a, b);
		if (span.low > span.high)
			continue;
		if (k->level == 0)
			add_stages(arcs, k, a, b, span);
		else
			add_components(arcs, k, a, b, span);
	}
}

bool
arc_fits(const struct column *k, const struct arc *arc, size_t w)
{
	if (!search_limited(k->x))
		return true;
	if (arc->only != 0)
		return arc->only == w;
	return search_in_flight(k->x, &k->c, w, arc->m) <= arc->most;
}
