/*
 * The search: an upper bound from few of the prefixes, then the best of all.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search.h"

static const double above = 1 + 1e-11; /* room for rounding */

bool
search_limited(const struct search *x)
{
	return x->o->rules.memory > 0;
}

bool
search_whole(const struct search *x, size_t level)
{
	return x->o->use == USE_ALL || (search_limited(x) && level + 1 < x->m->n_levels);
}

size_t
search_in_flight(const struct search *x, const struct context *c, size_t w, size_t m)
{
	return stage_in_flight(&x->o->rules, c->copies * m, c->base + c->copies * w);
}

/* The context inside a component: m of them on this stage, w on it and behind. */
struct context
search_inside(
    const struct search *x, size_t level, const struct context *c, size_t w, size_t m)
{
	size_t g = gv_machine_component(x->m, level);
	struct context inside = {c->base + c->copies * g * (w - m), c->copies * m};

	return inside;
}

static double
time_of_all(const struct ideals *s)
{
	return s->time_s[s->n - 1];
}

/* Prefixes that part the work evenly, of those alike the ones that the fewest bytes cross. */
size_t
search_few(uint32_t *pick, const struct ideals *s, size_t parts)
{
	uint32_t *best = gv_xcalloc(parts, sizeof(*best)); /* 0 = none */
	unsigned char *picked = gv_xcalloc(s->n, 1);
	size_t i, n = 0;

	for (i = 1; i + 1 < s->n; i++) {
		double part = time_of_all(s) > 0 ? s->time_s[i] / time_of_all(s) : 0;
		size_t k = (size_t)(part * (double)(parts - 1));

		if (best[k] == 0 || s->out[i] < s->out[best[k]])
			best[k] = (uint32_t)i;
	}
	for (i = 0; i < parts; i++)
		picked[best[i]] = 1;
	picked[0] = picked[s->n - 1] = 1;
	for (i = 0; i < s->n; i++)
		if (picked[i])
			pick[n++] = (uint32_t)i;
	free(best);
	free(picked);
	return n;
}

/*
 * The time of the best plan among few of the prefixes, or INFINITY: the best of
 * all is no slower.  Each answer limits the next, among more of them.
 */
static double
coarse_time(
    const struct ideals *s, const struct gv_machine *m, const struct search_options *o)
{
	static const size_t parts[] = {24, 96, 384};
	double time = INFINITY;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]) && s->n > parts[i] * 3 / 2;
	     i++) {
		uint32_t *pick = gv_xcalloc(s->n, sizeof(*pick));
		struct ideals few;
		struct search x = {.s = &few,
		    .m = m,
		    .o = o,
		    .gpus = gv_machine_component(m, m->n_levels),
		    .limit_s = time * above,
		    .times = times_new()};
		struct gv_plan p = {0};
		double found;

		ideals_pick(&few, s, pick, search_few(pick, s, parts[i]));
		x.flights = search_flights_new(&x);
		found = search_path(&p, &x);
		if (found < time)
			time = found;
		gv_plan_free(&p);
		times_free(x.times);
		free(x.flights);
		ideals_free(&few);
		free(pick);
	}
	return time;
}

/* The best plan within the limit into *p; its time, or INFINITY. */
static double
try_limit(struct gv_plan *p, struct search *x, double limit)
{
	double found;

	x->limit_s = limit;
	found = search_path(p, x);
	if (isfinite(found) && found <= limit * above)
		return found;
	gv_plan_free(p);
	return INFINITY;
}

/* The best plan of all into *p; its time, or INFINITY. */
static double
search_all(struct gv_plan *p, const struct search *given)
{
	static const double trial[] = {1.02, 1.1, 1.25, 1.5, 2, 3, 5, 10, 100, INFINITY};
	struct search x = *given;
	double least = time_of_all(x.s) / (double)x.gpus;
	double known = coarse_time(x.s, x.m, x.o), time = INFINITY;
	size_t i;

	x.times = times_new();
	x.flights = search_flights_new(&x);
	if (isfinite(known))
		time = try_limit(p, &x, known);
	for (i = 0; i < sizeof(trial) / sizeof(trial[0]) && !isfinite(time); i++)
		time = try_limit(p, &x, trial[i] * (least > 0 ? least : 1));
	times_free(x.times);
	free(x.flights);
	return time;
}

double
search_time(const struct search *x)
{
	struct gv_plan p = {0};
	double time = search_all(&p, x);

	gv_plan_free(&p);
	return time;
}

enum search_result
plan_search(struct gv_plan *p, const struct ideals *s, size_t n_layers,
    const struct gv_machine *m, const struct search_options *o)
{
	struct search x = {
	    .s = s, .m = m, .o = o, .gpus = gv_machine_component(m, m->n_levels)};

	memset(p, 0, sizeof(*p));
	if (!isfinite(search_all(p, &x)))
		return SEARCH_NONE;
	p->of = search_layers(s, p, n_layers);
	return SEARCH_FOUND;
}
