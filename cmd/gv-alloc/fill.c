#include "fill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static double
number(const struct problem *p, enum problem_number k, size_t i, double otherwise)
{
	return p->number[k] != NULL ? p->number[k][i] : otherwise;
}

void
fill_init(struct fill *f, const struct problem *p, bool fifo)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double *fastest = gv_xcalloc(p->n, sizeof(*fastest));
	size_t i, j;

	*f = (struct fill){.p = p, .fifo = fifo};
	f->a = gv_xcalloc(p->n, p->m * sizeof(*f->a));
	f->most = gv_xcalloc(p->n, sizeof(*f->most));
	f->have = gv_xcalloc(p->n, sizeof(*f->have));
	f->stopped = gv_xcalloc(p->n, sizeof(*f->stopped));
	f->rising = gv_xcalloc(p->n, sizeof(*f->rising));
	f->room = gv_xcalloc(p->n, sizeof(*f->room));
	f->rest = gv_xcalloc(p->n, sizeof(*f->rest));
	problem_equal_throughput(p, equal);
	problem_fastest(p, fastest);
	for (i = 0; i < p->n; i++) {
		f->most[i] = p->scale[i] * (fastest[i] / equal[i]);
		for (j = 0; j < p->m; j++)
			f->a[i * p->m + j] =
			    p->scale[i] * (problem_rate(p, i, j) / equal[i]);
	}
	free(equal);
	free(fastest);
}

void
fill_free(struct fill *f)
{
	free(f->a);
	free(f->most);
	free(f->have);
	free(f->stopped);
	free(f->rising);
	free(f->room);
	free(f->rest);
}

/* ---- who may use what ---- */

/* [kinds][m] the least of the rates that jobs of a kind have alone. */
static double *
least_alone(const struct problem *p)
{
	size_t cells = p->together->n_kinds * p->m;
	double *least = gv_xcalloc(cells, sizeof(*least));
	size_t i, j;

	for (i = 0; i < cells; i++)
		least[i] = INFINITY;
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			least[p->kind[i] * p->m + j] =
			    fmin(least[p->kind[i] * p->m + j], problem_rate(p, i, j));
	return least;
}

/*
 * [kinds] the fastest rate in a pair that a job may have.  On a type that is
 * left to others only beside one that loses nothing by it.
 */
static double *
fastest_in_pairs(const struct problem *p, const double *price, double none)
{
	const struct together *t = p->together;
	double *alone = least_alone(p);
	double *fastest = gv_xcalloc(t->n_kinds, sizeof(*fastest));
	size_t k, i, j;

	for (k = 0; k < t->n_kinds; k++)
		for (i = t->first[k]; i < t->first[k + 1]; i++)
			for (j = 0; j < p->m; j++) {
				const double *r = &t->rate[(i * p->m + j) * 2];
				size_t other = t->with[i];
				bool open = !(price[j] > none);

				if (open || r[1] >= alone[other * p->m + j] * (1 - 1e-9))
					fastest[k] = fmax(fastest[k], r[0]);
				if (open || r[0] >= alone[k * p->m + j] * (1 - 1e-9))
					fastest[other] = fmax(fastest[other], r[1]);
			}
	free(alone);
	return fastest;
}

void
fill_leave_types(struct fill *f, const double *price, double none)
{
	const struct problem *p = f->p;
	double *pairs = p->together != NULL ? fastest_in_pairs(p, price, none) : NULL;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double most = 0;

		if (f->stopped[i])
			continue;
		for (j = 0; j < p->m; j++) {
			double *a = &f->a[i * p->m + j];

			if (pairs != NULL && problem_rate(p, i, j) > 0)
				most = fmax(most,
				    pairs[p->kind[i]] * (*a / problem_rate(p, i, j)));
			if (!(price[j] > none))
				most = fmax(most, *a);
			else if (pairs == NULL)
				*a = 0;
		}
		f->most[i] = fmin(f->most[i], most);
		if (f->most[i] <= f->have[i]) {
			f->most[i] = f->have[i];
			f->stopped[i] = true;
		}
	}
	free(pairs);
}

/* ---- pouring ---- */

struct riser {
	double entity, key;
	size_t job;
};

static int
by_entity(const void *a, const void *b)
{
	const struct riser *x = a;
	const struct riser *y = b;

	if (x->entity != y->entity)
		return x->entity < y->entity ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

static double
entity_of(const struct fill *f, size_t job)
{
	return number(f->p, NUMBER_ENTITY, job, 0);
}

/* The entity whose first is rising[k]: one behind its last. */
static size_t
entity_end(const struct fill *f, size_t k)
{
	size_t end = k;

	while (end < f->n_rising &&
	       entity_of(f, f->rising[end]) == entity_of(f, f->rising[k]))
		end++;
	return end;
}

void
fill_line_up(struct fill *f)
{
	const struct problem *p = f->p;
	struct riser *riser = gv_xcalloc(p->n, sizeof(*riser));
	size_t i, k;

	f->n_rising = 0;
	for (i = 0; i < p->n; i++) {
		double room = (f->most[i] - f->have[i]) / p->weight[i];

		if (!f->stopped[i])
			riser[f->n_rising++] = (struct riser){entity_of(f, i),
			    f->fifo ? number(p, NUMBER_PLACE, i, 0) : room, i};
	}
	qsort(riser, f->n_rising, sizeof(*riser), by_entity);
	for (k = 0; k < f->n_rising; k++) {
		f->rising[k] = riser[k].job;
		f->room[k] = riser[k].key;
	}
	for (k = f->n_rising; k-- > 0;) {
		i = f->rising[k];
		f->rest[k] = p->count[i] * p->weight[i];
		if (k + 1 < f->n_rising && riser[k + 1].entity == riser[k].entity)
			f->rest[k] += f->rest[k + 1];
	}
	free(riser);
}

/* Pours amount over rising[k..end) into v. */
static void
pour_entity(const struct fill *f, size_t k, size_t end, double amount, double *v)
{
	const struct problem *p = f->p;
	double level = 0;

	for (; k < end; k++) {
		size_t i = f->rising[k];
		double takes = f->fifo ? p->count[i] * (f->most[i] - f->have[i])
				       : (f->room[k] - level) * f->rest[k];

		if (amount < takes)
			break;
		amount -= takes;
		level = f->room[k];
		v[i] = f->most[i];
	}
	if (f->fifo && k < end) {
		size_t i = f->rising[k];

		if (amount / p->count[i] > 1e-10 * f->most[i]) /* else it is rounding */
			v[i] = fmin(f->have[i] + amount / p->count[i], f->most[i]);
	} else if (k < end) {
		level += amount / f->rest[k];
		for (; k < end; k++) {
			size_t i = f->rising[k];

			v[i] = fmin(f->have[i] + p->weight[i] * level, f->most[i]);
		}
	}
}

void
fill_pour(const struct fill *f, double c, double *v)
{
	size_t k, end;

	memcpy(v, f->have, f->p->n * sizeof(*v));
	for (k = 0; k < f->n_rising; k = end) {
		end = entity_end(f, k);
		pour_entity(f, k, end,
		    c * number(f->p, NUMBER_ENTITY_WEIGHT, f->rising[k], 1), v);
	}
}

double
fill_time(const struct fill *f)
{
	double longest = 0;
	size_t k, end;

	for (k = 0; k < f->n_rising; k = end) {
		double sum = 0;
		size_t at;

		end = entity_end(f, k);
		for (at = k; at < end; at++)
			sum += f->p->count[f->rising[at]] *
			       (f->most[f->rising[at]] - f->have[f->rising[at]]);
		longest = fmax(
		    longest, sum / number(f->p, NUMBER_ENTITY_WEIGHT, f->rising[k], 1));
	}
	return longest * (1 + 1e-6);
}
