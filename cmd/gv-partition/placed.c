/* The search over prefixes and places. */
#include "placed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "base/mem.h"
#include "placed_cost.h"
#include "search.h"

static const double above = 1 + 1e-12; /* room for rounding */

/*
 * A pipeline from a prefix on some GPUs is of one of these kinds: over which level
 * its first stage and the GPU in front of it reach, and which is the last level that
 * can be between this stage and one in front of it.  A set of kinds is a mask.
 */
static uint16_t
kind(size_t reach, size_t most)
{
	return (uint16_t)(1U << (reach * LEVELS + most));
}

struct trial {
	const struct ideals *s;
	const struct search_options *o;
	struct links links;
	struct search
	    fast; /* all GPUs at the fastest link's bandwidth: no load is less */
	double limit_s;
	struct column k;
	uint16_t *kinds; /* [k.size][GPUs + 1] of pipelines from a prefix on so many */
};

/* A stage between two prefixes. */
struct part {
	size_t a, b; /* of the column */
	struct stage_size size;
	double forward_s;
	size_t kept, recomputed; /* most minibatches in flight */
};

static struct part
part_of(const struct trial *x, size_t a, size_t b)
{
	size_t i = x->k.prefix[a], k = x->k.prefix[b];
	struct part part = {.a = a, .b = b, .size = search_stage(&x->fast, i, k)};

	part.forward_s = x->s->forward_s[k] - x->s->forward_s[i];
	search_flights(&x->fast, i, k, &part.kept, &part.recomputed);
	return part;
}

/* The stage on m replicas at the front of w GPUs, transfers aside; INFINITY when it does not fit. */
static double
stage_load(
    const struct trial *x, const struct part *part, size_t w, size_t m, bool *recompute)
{
	size_t in_flight = (w + m - 1) / m;
	struct stage_size size = part->size;

	*recompute = in_flight > part->kept;
	if (*recompute && in_flight > part->recomputed)
		return INFINITY;
	if (*recompute)
		size.time_s += part->forward_s;
	return links_stage(
	    &x->links, &x->o->rules, links_level(&x->links, x->links.n - w, m), &size, m)
	    .load_s;
}

/* The kinds of pipelines that this stage on the first m of w GPUs makes of those behind it. */
static uint16_t
kinds_with(
    const struct trial *x, const struct part *part, size_t w, size_t m, uint16_t behind)
{
	const struct links *links = &x->links;
	const struct cost_rules *r = &x->o->rules;
	size_t first = links->n - w, level = links_level(links, first, m), reach, most;
	bool last = part->b + 1 == x->k.size, goes_on = last, recompute;

	if (behind == 0 || !(stage_load(x, part, w, m, &recompute) <= x->limit_s))
		return 0;
	for (reach = 0; reach < links->n_levels && !goes_on; reach++) {
		size_t between = reach > level ? reach : level;

		if (part->a > 0 && links_transfer(links, r, between, part->size.out, m,
				       true) > x->limit_s)
			break;
		for (most = between; most < links->n_levels; most++)
			goes_on = goes_on || (behind & kind(reach, most)) != 0;
	}
	if (!goes_on)
		return 0;
	if (part->a == 0)
		return kind(level, links->n_levels - 1);
	if (first == 0)
		return 0;
	reach = links_level(links, first - 1, m + 1);
	for (most = links->n_levels; most > reach; most--)
		if (links_transfer(links, r, most - 1, part->size.in, m, false) <=
		    x->limit_s)
			return kind(reach, most - 1);
	return 0;
}

static void
add_part(struct trial *x, size_t a, size_t b)
{
	size_t stride = x->links.n + 1, m, w;
	struct span span = column_span(&x->k, a, b);
	struct part part;

	if (span.low > span.high)
		return;
	part = part_of(x, a, b);
	for (m = span.low; m <= span.high; m++)
		for (w = m + x->k.behind[b]; w + x->k.before[a] <= x->links.n; w++)
			x->kinds[a * stride + w] |=
			    kinds_with(x, &part, w, m, x->kinds[b * stride + w - m]);
}

/* The fewest GPUs, or all, that the model has a pipeline on; 0 = none. */
static size_t
gpus_of_plan(const struct trial *x)
{
	size_t w = x->o->use == USE_ALL ? x->links.n : 1;

	while (w <= x->links.n && x->kinds[w] == 0)
		w++;
	return w <= x->links.n ? w : 0;
}

static void
trial_close(struct trial *x)
{
	column_close(&x->k);
	free(x->kinds);
	x->kinds = NULL;
}

/* Opens the column and fills kinds; whether there is a plan. */
static bool
run(struct trial *x, double limit_s)
{
	const struct context c = {.base = 0, .copies = 1};
	struct source all = {0, limit_s, INFINITY};
	size_t a, b;

	trial_close(x);
	x->limit_s = limit_s;
	column_open(&x->k, &x->fast, 0, &c, (uint32_t)x->s->n - 1, &all, 1);
	x->kinds = gv_xcalloc(x->k.size * (x->links.n + 1), sizeof(*x->kinds));
	x->kinds[(x->k.size - 1) * (x->links.n + 1)] = kind(0, x->links.n_levels - 1);
	for (a = x->k.size - 1; a-- > 0;)
		for (b = a + 1; b < x->k.size; b++)
			if ((size_t)x->k.before[a] + x->k.behind[b] < x->links.n &&
			    ideals_sub(x->s, x->k.prefix[a], x->k.prefix[b]))
				add_part(x, a, b);
	return gpus_of_plan(x) > 0;
}

/* ---- the plan ---- */

/* A pipeline: from a prefix of the column, on so many GPUs, of this kind. */
struct at {
	size_t a, w;
	uint16_t kind;
};

/* Its first stage's replicas, and the rest of it; 0 when that cannot be from prefix b on. */
static size_t
first_stage(const struct trial *x, struct at *here, size_t b)
{
	struct span span = column_span(&x->k, here->a, b);
	struct part part = part_of(x, here->a, b);
	size_t m, bit;

	for (m = span.low; m <= span.high && m <= here->w; m++)
		for (bit = 0; bit < LEVELS * LEVELS; bit++) {
			size_t w = here->w - m;
			uint16_t behind =
			    (uint16_t)(x->kinds[b * (x->links.n + 1) + w] & 1U << bit);

			if (kinds_with(x, &part, here->w, m, behind) != here->kind)
				continue;
			*here = (struct at){b, w, behind};
			return m;
		}
	return 0;
}

/* What a plan's stages are: the load of the j-th from prefix i to k. */
static double
load_of(
    const void *ctx, const struct plan *p, size_t j, size_t i, size_t k, bool *recompute)
{
	const struct trial *x = ctx;
	const struct links *links = &x->links;
	const struct cost_rules *r = &x->o->rules;
	struct part part = {.size = search_stage(&x->fast, i, k)};
	size_t m = p->stage[j].replicas[0], w = 0, c, level, before;
	double load;

	for (c = j; c < p->n; c++)
		w += p->stage[c].replicas[0];
	part.forward_s = x->s->forward_s[k] - x->s->forward_s[i];
	search_flights(&x->fast, i, k, &part.kept, &part.recomputed);
	load = stage_load(x, &part, w, m, recompute);
	if (j == 0)
		return load;
	before = p->stage[j - 1].replicas[0];
	level = links_level(links, links->n - w - before, before + m);
	load =
	    stage_larger(load, links_transfer(links, r, level, part.size.in, m, false));
	if (j + 1 < p->n) {
		level = links_level(links, links->n - w, m + p->stage[j + 1].replicas[0]);
		load = stage_larger(
		    load, links_transfer(links, r, level, part.size.out, m, true));
	}
	return load;
}

/* The pipeline on the fewest GPUs; its time. */
static double
follow(const struct trial *x, struct plan *p)
{
	struct at here = {.w = gpus_of_plan(x)};
	double time = 0;
	size_t bit = 0, i = 0, j;

	while ((x->kinds[here.w] >> bit & 1) == 0)
		bit++;
	here.kind = (uint16_t)(1U << bit);
	p->n = 0;
	while (here.a + 1 < x->k.size) {
		struct stage stage = {0};
		size_t b = here.a;

		while (stage.replicas[0] == 0)
			if (ideals_sub(x->s, x->k.prefix[here.a], x->k.prefix[++b]))
				stage.replicas[0] = first_stage(x, &here, b);
		stage.within[0] = x->k.prefix[b];
		p->stage = gv_xrealloc(p->stage, p->n + 1, sizeof(*p->stage));
		p->stage[p->n++] = stage;
	}
	for (j = 0; j < p->n; i = p->stage[j++].within[0])
		time = stage_larger(time,
		    load_of(x, p, j, i, p->stage[j].within[0], &p->stage[j].recompute));
	return time;
}

/* ---- the least time ---- */

/* The time of the best plan on all GPUs at one bandwidth; INFINITY when there is none. */
static double
time_at(const struct ideals *s, const struct machine *m, const struct search_options *o)
{
	struct search x = {.s = s, .m = m, .o = o, .gpus = m->gpus[0]};

	return search_time(&x);
}

enum search_result
placed_search(struct plan *p, const struct ideals *s, size_t n_layers,
    const struct machine *m, const struct search_options *o)
{
	struct trial x = {.s = s, .o = o, .links = links_of(m)};
	double low, high;

	memset(p, 0, sizeof(*p));
	x.fast = (struct search){
	    .s = s, .m = &x.links.at[0], .o = o, .gpus = x.links.n, .limit_s = INFINITY};
	high = time_at(s, &x.links.at[x.links.n_levels - 1], o);
	if (!isfinite(high))
		return SEARCH_NONE;
	low = time_at(s, &x.links.at[0], o) / above;
	if (!run(&x, high * above))
		return SEARCH_NONE;
	high = follow(&x, p);
	while (high - low > 1e-13 * high) {
		double middle = low + (high - low) / 2;

		if (run(&x, middle))
			high = follow(&x, p);
		else
			low = middle;
	}
	run(&x, high * above);
	follow(&x, p);
	balance(s, p, x.limit_s, load_of, &x);
	trial_close(&x);
	p->of = search_layers(s, p, n_layers);
	return SEARCH_FOUND;
}
