#include "price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crowd.h"
#include "search.h"

/* The shares of a mixture, added to x. */
static void
mix(const struct crowd *c, const struct search *s, const struct aim *aim, double *x)
{
	const struct crowd *open = s->all_open ? c : &s->open;
	struct offer o = {.face = aim->face, .gains = aim->gains};
	size_t i, k;

	o.level = aim->gains ? aim->level : s->level / s->weight;
	o.price = s->price;
	if (!s->all_open) {
		crowd_shares(c, &o, s->weight, x, NULL);
		for (i = 0; i < open->n; i++)
			memset(&x[open->of[i] * c->m], 0, c->m * sizeof(*x));
	}
	for (k = 0; k < s->n_steps; k++) {
		if (!(s->step[k].weight > 0))
			continue;
		o.price = s->step[k].price;
		o.level = s->step[k].level;
		crowd_shares(open, &o, s->step[k].weight, x, NULL);
	}
}

/* Whether every GPU has a price: then all levels are equal in every best solution. */
static bool
all_priced(const struct price_problem *p, const double *price)
{
	size_t j;

	for (j = 0; j < p->m; j++)
		if (p->capacity[j] > 0 && price[j] * p->capacity[j] < 1e-7)
			return false;
	return true;
}

/* The multipliers that prove the bound. */
static void
find_multipliers(
    const struct crowd *c, const struct search *s, size_t binding, double *lambda)
{
	const struct offer o = {.price = s->price, .level = s->price_level};

	if (s->price_level > 0) {
		crowd_shares(c, &o, 0, NULL, lambda);
		return;
	}
	memset(lambda, 0, c->n * sizeof(*lambda));
	lambda[binding] = 1;
}

/*
 * Second stage: of the shares that cost least at the prices of the first, which are
 * all that reach the level, those of the largest sum of gains.
 */
static bool
raise_gains(
    const struct price_problem *p, const struct crowd *c, struct price_solution *out)
{
	double *face = gv_xcalloc(p->m, sizeof(*face));
	struct aim aim = {.capacity = p->capacity,
	    .gains = true,
	    .level = out->level,
	    .near_enough = 1e-12};
	struct search s;
	bool found;
	size_t j;

	for (j = 0; j < p->m; j++)
		if (out->price[j] * p->capacity[j] >= 1e-7) {
			face[j] = out->price[j];
			aim.face = face;
		}
	found = search_prices(&s, c, &aim, NULL, 0) == 0;
	out->steps += s.steps;
	if (found)
		mix(c, &s, &aim, out->x);
	search_free(&s);
	free(face);
	return found;
}

int
price_solve(const struct price_problem *p, struct price_solution *out, struct gv_error *e)
{
	struct crowd c;
	struct aim aim = {.capacity = p->capacity, .near_enough = 1e-12};
	struct search s;
	size_t binding;
	int rc;

	(void)e;
	crowd_fill(&c, p->n, p->m, p->a, p->use, p->gain);
	memset(out->x, 0, p->n * p->m * sizeof(*out->x));
	aim.level = crowd_time_bound(&c, &binding);
	rc = search_prices(&s, &c, &aim, NULL, 0);
	memcpy(out->price, s.price, p->m * sizeof(*out->price));
	out->level = s.level;
	out->bound = s.bound;
	out->steps = s.steps;
	if (rc == 0) {
		find_multipliers(&c, &s, binding, out->lambda);
		out->raised = all_priced(p, out->price);
		if (!out->raised)
			out->raised = raise_gains(p, &c, out);
		else
			mix(&c, &s, &aim, out->x);
		if (!out->raised)
			mix(&c, &s, &aim, out->x);
	}
	search_free(&s);
	crowd_free(&c);
	return rc;
}

int
price_sum(const struct price_problem *p, const double *x, double level, double *price,
    struct gv_error *e)
{
	struct crowd c;
	const struct aim aim = {.capacity = p->capacity,
	    .gains = true,
	    .level = level,
	    .near_enough = 1e-12,
	    .least = 1e-3};
	double *used = gv_xcalloc(p->m, sizeof(*used));
	double gain = 0;
	struct search s;
	size_t i, j;
	int rc;

	(void)e;
	for (i = 0; x != NULL && i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			used[j] += p->use[i] * x[i * p->m + j];
			gain += p->gain[i * p->m + j] * x[i * p->m + j];
		}
	crowd_fill(&c, p->n, p->m, p->a, p->use, p->gain);
	rc = search_prices(&s, &c, &aim, x != NULL ? used : NULL, gain);
	memcpy(price, s.price, p->m * sizeof(*price));
	search_free(&s);
	crowd_free(&c);
	free(used);
	return rc;
}
