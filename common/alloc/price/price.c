#include "price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crowd.h"
#include "search.h"

/*
 * The shares of a mixture into x; lambda NULL, or the multipliers that prove the
 * bound (of levels).
 */
static void
mix(const struct gv_crowd *c, const struct gv_search *s, const struct gv_aim *aim,
    double *x, double *lambda)
{
	const struct gv_crowd *open = s->all_open ? c : &s->open;
	struct gv_offer o = {.face = aim->face, .gains = aim->gains};
	size_t i, k;

	o.level = aim->gains ? aim->level : s->level / s->weight;
	o.price = s->price;
	if (s->all_open) {
		memset(x, 0, c->n * c->m * sizeof(*x));
	} else { /* what was left aside does not change from there to gv_price_level */
		gv_crowd_set_shares(c, &o, s->weight, x, lambda);
		for (i = 0; i < open->n; i++)
			memset(&x[open->of[i] * c->m], 0, c->m * sizeof(*x));
	}
	if (lambda != NULL && s->price_level > 0) {
		o.level = s->price_level;
		gv_crowd_shares(open, &o, 0, NULL, lambda);
	}
	for (k = 0; k < s->n_steps; k++) {
		if (!(s->step[k].weight > 0))
			continue;
		o.price = s->step[k].price;
		o.level = s->step[k].level;
		gv_crowd_shares(open, &o, s->step[k].weight, x, NULL);
	}
}

void
gv_price_forget(struct gv_price_memory *memory)
{
	free(memory->pool);
	free(memory->gain_pool);
	memory->pool = memory->gain_pool = NULL;
}

/* What may be used: it is of other types, or of nobody, then nothing is known. */
static struct gv_price_memory *
memory_for(struct gv_price_memory *memory, struct gv_price_memory *none)
{
	if (memory == NULL)
		return none;
	if (memory->m != none->m)
		gv_price_forget(memory);
	memory->m = none->m;
	return memory;
}

/* Prices per pool for the next time, if they do not depend on the way to them. */
static void
remember(double **pool, const struct gv_search *s, const double *capacity)
{
	size_t j;

	free(*pool);
	*pool = NULL;
	if (!s->settled)
		return;
	*pool = gv_xcalloc(s->m, sizeof(**pool));
	for (j = 0; j < s->m; j++)
		(*pool)[j] = s->price[j] * capacity[j];
}

/* Whether every GPU has a price: then all levels are equal in every best solution. */
static bool
all_priced(const struct gv_crowd *c, const double *capacity, const double *price)
{
	size_t j;

	for (j = 0; j < c->m; j++)
		if (capacity[j] > 0 && price[j] * capacity[j] < 1e-7)
			return false;
	return true;
}

/* The multipliers that prove the bound, where prices do. */
static void
find_multipliers(const struct gv_crowd *c, const struct gv_search *s, double *lambda)
{
	const struct gv_offer o = {.price = s->price, .level = s->price_level};

	if (s->price_level > 0)
		gv_crowd_shares(c, &o, 0, NULL, lambda);
}

/*
 * Second stage: of the shares that cost least at the prices of the first, which are
 * all that reach the level, those of the largest sum of gains.
 */
static bool
raise_gains(const struct gv_crowd *c, const double *capacity,
    struct gv_price_solution *out, struct gv_price_memory *memory)
{
	const struct gv_search_start start = {memory->gain_pool, 0};
	double *face = gv_xcalloc(c->m, sizeof(*face));
	struct gv_aim aim = {.capacity = capacity,
	    .gains = true,
	    .level = out->level,
	    .near_enough = 1e-12};
	struct gv_search s;
	bool found;
	size_t j;

	for (j = 0; j < c->m; j++)
		if (out->price[j] * capacity[j] >= 1e-7) {
			face[j] = out->price[j];
			aim.face = face;
		}
	found = gv_search_prices(&s, c, &aim, start.price != NULL ? &start : NULL) == 0;
	remember(&memory->gain_pool, &s, capacity);
	out->steps += s.steps;
	if (found)
		mix(c, &s, &aim, out->x, NULL);
	gv_search_free(&s);
	free(face);
	return found;
}

int
gv_price_level(const struct gv_crowd *c, const double *capacity,
    struct gv_price_solution *out, struct gv_price_memory *memory)
{
	struct gv_price_memory none = {.m = c->m}, *m = memory_for(memory, &none);
	const struct gv_search_start start = {m->pool, m->level};
	struct gv_crowd levels = *c; /* without gains */
	struct gv_aim aim = {.capacity = capacity, .near_enough = 1e-12};
	struct gv_search s;
	bool raise = out->raised;
	size_t binding;
	int rc;

	levels.gain = NULL;
	aim.level = gv_crowd_time_bound(c, &binding);
	rc = gv_search_prices(&s, &levels, &aim, start.price != NULL ? &start : NULL);
	remember(&m->pool, &s, capacity);
	m->level = s.bound;
	memcpy(out->price, s.price, c->m * sizeof(*out->price));
	out->level = s.level;
	out->bound = s.bound;
	out->steps = s.steps;
	out->raised = rc == 0 && all_priced(c, capacity, out->price);
	if (rc == 0 && raise && !out->raised) {
		if (out->fill != NULL)
			out->fill(out->ctx, c);
		out->raised = raise_gains(c, capacity, out, m);
	} else {
		raise = false;
	}
	if (rc == 0 && (!raise || !out->raised))
		mix(&levels, &s, &aim, out->x, out->lambda);
	else if (rc == 0)
		find_multipliers(&levels, &s, out->lambda);
	if (rc == 0 && s.price_level == 0) {
		memset(out->lambda, 0, c->n * sizeof(*out->lambda));
		out->lambda[binding] = 1;
	}
	gv_search_free(&s);
	gv_price_forget(&none);
	return rc;
}

int
gv_price_solve(const struct gv_price_problem *p, struct gv_price_solution *out)
{
	struct gv_crowd c;
	int rc;

	gv_crowd_fill(&c, p->n, p->m, p->a, p->use, p->gain);
	out->raised = true;
	rc = gv_price_level(&c, p->capacity, out, NULL);
	gv_crowd_free(&c);
	return rc;
}

int
gv_price_sum(const struct gv_crowd *c, const double *capacity, const double *used,
    double gain, double level, double *price, struct gv_price_memory *memory)
{
	struct gv_price_memory none = {.m = c->m}, *m = memory_for(memory, &none);
	const struct gv_search_start start = {m->gain_pool, 0};
	const struct gv_aim aim = {.capacity = capacity,
	    .gains = true,
	    .level = level,
	    .near_enough = 1e-12,
	    .least = 1e-3,
	    .first = used,
	    .first_gain = gain};
	struct gv_search s;
	int rc;

	rc = gv_search_prices(&s, c, &aim, start.price != NULL ? &start : NULL);
	remember(&m->gain_pool, &s, capacity);
	memcpy(price, s.price, c->m * sizeof(*price));
	gv_search_free(&s);
	gv_price_forget(&none);
	return rc;
}
