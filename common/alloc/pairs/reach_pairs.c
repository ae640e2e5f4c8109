#include "reach_pairs.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/program/level.h"
#include "base/mem.h"
#include "shared.h"

/* ---- lifting: jobs that want nothing ---- */

/*
 * The inequality holds with lambda_i = 0 for them; it is lifted to the largest lambda_i
 * found for which no column, alone or in a pair, is worth more than its GPUs and its time.
 */
struct lifting {
	const struct gv_problem *p;
	const double *price, *time; /* of GPUs; of a job's time */
	const double *want;
	double *worth; /* [n] of a step/s of a job */
	double *least; /* [kinds] bound of it for those that want nothing */
	double *most;  /* [kinds] the largest worth of those */
	double *scale; /* [kinds] */
	/* [kinds + 1] of wanting, rows that want something, kind by kind */
	size_t *first, *wanting;
};

/*
 * What a pair on type j leaves to its side of a kind, at least, when the other one
 * wants something: its time and the GPUs, less what it makes.
 */
static double
least_left_by_partner(const struct lifting *d, size_t other, double rate)
{
	double left = INFINITY;
	size_t k;

	for (k = d->first[other]; k < d->first[other + 1]; k++) {
		size_t i = d->wanting[k];

		left = fmin(left, d->time[i] - d->worth[i] * rate);
	}
	return left;
}

static void
list_wanting(struct lifting *d)
{
	const struct gv_problem *p = d->p;
	size_t kinds = p->together->n_kinds;
	size_t i, k;

	d->first = gv_xcalloc(kinds + 1, sizeof(*d->first));
	d->wanting = gv_xcalloc(p->n, sizeof(*d->wanting));
	for (i = 0; i < p->n; i++)
		d->first[p->kind[i]] += d->want[i] > 0;
	for (k = 1; k <= kinds; k++) /* ends, which become beginnings */
		d->first[k] += d->first[k - 1];
	for (i = p->n; i-- > 0;)
		if (d->want[i] > 0)
			d->wanting[--d->first[p->kind[i]]] = i;
}

static void
bound_coefficient(
    struct lifting *d, size_t kind, size_t other, size_t j, double own, double rate)
{
	double cost = d->scale[kind] * d->price[j];

	if (own > 0)
		d->least[kind] = fmin(d->least[kind],
		    fmax(0, cost + fmin(0, least_left_by_partner(d, other, rate))) / own);
}

/* Calls bound_coefficient() for both sides of all pairs. */
static void
bound_coefficients(struct lifting *d)
{
	const struct gv_together *t = d->p->together;
	size_t k, i, j;

	for (k = 0; k < t->n_kinds; k++)
		for (i = t->first[k]; i < t->first[k + 1]; i++)
			for (j = 0; j < t->m; j++) {
				const double *rate = &t->rate[(i * t->m + j) * 2];

				bound_coefficient(d, k, t->with[i], j, rate[0], rate[1]);
				bound_coefficient(d, t->with[i], k, j, rate[1], rate[0]);
			}
}

/* By how much two that both want nothing are worth too much together, at most. */
static double
overcharge_of_unwanting(const struct lifting *d)
{
	const struct gv_together *t = d->p->together;
	double overcharge = 1;
	size_t k, i, j;

	for (k = 0; k < t->n_kinds; k++)
		for (i = t->first[k]; i < t->first[k + 1]; i++)
			for (j = 0; j < t->m; j++) {
				const double *rate = &t->rate[(i * t->m + j) * 2];
				double worth =
				    d->most[k] * rate[0] + d->most[t->with[i]] * rate[1];

				if (worth > 0)
					overcharge = fmax(overcharge,
					    worth / (d->scale[k] * d->price[j]));
			}
	return overcharge;
}

static void
lift(struct gv_reach *r, const struct gv_shared *h, const double *a, const double *want)
{
	const struct gv_problem *p = h->p;
	size_t kinds = p->together->n_kinds;
	struct lifting d = {.p = p, .price = h->price, .time = h->time, .want = want};
	double overcharge;
	size_t i, j;

	d.worth = gv_xcalloc(p->n, sizeof(double));
	d.least = gv_xcalloc(kinds, sizeof(double));
	d.most = gv_xcalloc(kinds, sizeof(double));
	d.scale = gv_xcalloc(kinds, sizeof(double));
	for (i = 0; i < kinds; i++)
		d.least[i] = INFINITY;
	for (i = 0; i < p->n; i++) {
		d.scale[p->kind[i]] = p->scale[i];
		if (want[i] > 0)
			d.worth[i] = h->lambda[i] * h->factor[i] / p->count[i];
	}
	list_wanting(&d);
	bound_coefficients(&d);
	for (i = 0; i < p->n; i++) {
		if (want[i] > 0)
			continue;
		d.worth[i] = d.least[p->kind[i]];
		for (j = 0; j < p->m; j++)
			if (gv_problem_rate(p, i, j) > 0)
				d.worth[i] = fmin(d.worth[i],
				    p->scale[i] * h->price[j] / gv_problem_rate(p, i, j));
		d.most[p->kind[i]] = fmax(d.most[p->kind[i]], d.worth[i]);
	}
	overcharge = overcharge_of_unwanting(&d);
	for (i = 0; i < p->n; i++)
		if (!(want[i] > 0))
			r->lambda[i] = d.worth[i] * p->count[i] /
				       (gv_level_per_step(p, a, i) * overcharge);
	free(d.first);
	free(d.wanting);
	free(d.worth);
	free(d.least);
	free(d.most);
	free(d.scale);
}

void
gv_reach_from_pairs(
    struct gv_reach *r, const struct gv_shared *h, const double *a, const double *want)
{
	size_t i;

	for (i = 0; i < h->p->n; i++)
		r->lambda[i] = want[i] > 0 ? h->lambda[i] : 0;
	lift(r, h, a, want);
	memcpy(r->price, h->price, h->p->m * sizeof(*r->price));
	r->limit = h->limit;
}

int
gv_reach_by_pairs(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, bool all, bool exact, struct gv_error *e)
{
	double *factor = gv_xcalloc(p->n, sizeof(*factor));
	double *demand = gv_xcalloc(p->n, sizeof(*demand));
	struct gv_solution s = {.x = r->x, .pair = r->pair};
	struct gv_shared h;
	size_t i;
	int rc;

	for (i = 0; i < p->n; i++) {
		demand[i] = want[i] > 0;
		factor[i] = gv_level_per_step(p, a, i) / (want[i] > 0 ? want[i] : 1);
	}
	memset(r->x, 0, p->n * p->m * sizeof(*r->x));
	gv_shared_init(&h, p, &s);
	h.factor = factor;
	h.demand = demand;
	h.warm = all || exact ? NULL : r->warm;
	h.all = all;
	h.exact = exact;
	rc = gv_shared_solve(&h, "water-filling", e);
	r->pair = s.pair;
	r->n_pairs = s.n_pairs;
	if (rc == 0) {
		gv_reach_from_pairs(r, &h, a, want);
		for (i = 0; i < p->n; i++)
			r->lambda[i] /= want[i] > 0 ? want[i] : 1;
		r->exact = s.exact;
	}
	gv_shared_free(&h);
	free(factor);
	free(demand);
	return rc;
}
