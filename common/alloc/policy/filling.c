#include "filling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"

static double
number(const struct gv_problem *p, enum gv_problem_number k, size_t i, double otherwise)
{
	return p->number[k] != NULL ? p->number[k][i] : otherwise;
}

void
gv_filling_init(struct gv_filling *f, const struct gv_problem *p, bool fifo)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double *fastest = gv_xcalloc(p->n, sizeof(*fastest));
	size_t i, j;

	*f = (struct gv_filling){.p = p, .fifo = fifo};
	f->a = gv_xcalloc(p->n, p->m * sizeof(*f->a));
	f->most = gv_xcalloc(p->n, sizeof(*f->most));
	f->have = gv_xcalloc(p->n, sizeof(*f->have));
	f->frozen = gv_xcalloc(p->n, sizeof(*f->frozen));
	f->active = gv_xcalloc(p->n, sizeof(*f->active));
	f->entity = gv_xcalloc(p->n, sizeof(*f->entity));
	gv_problem_equal_throughput(p, equal);
	gv_problem_fastest(p, fastest);
	for (i = 0; i < p->n; i++) {
		f->most[i] = p->scale[i] * (fastest[i] / equal[i]);
		for (j = 0; j < p->m; j++)
			f->a[i * p->m + j] =
			    p->scale[i] * (gv_problem_rate(p, i, j) / equal[i]);
	}
	free(equal);
	free(fastest);
}

void
gv_filling_free(struct gv_filling *f)
{
	free(f->a);
	free(f->most);
	free(f->have);
	free(f->frozen);
	free(f->active);
	free(f->entity);
}

/* ---- who may use what ---- */

/* [kinds][m] the least of the rates that jobs of a kind have alone. */
static double *
least_alone(const struct gv_problem *p)
{
	size_t cells = p->together->n_kinds * p->m;
	double *least = gv_xcalloc(cells, sizeof(*least));
	size_t i, j;

	for (i = 0; i < cells; i++)
		least[i] = INFINITY;
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			least[p->kind[i] * p->m + j] =
			    fmin(least[p->kind[i] * p->m + j], gv_problem_rate(p, i, j));
	return least;
}

/*
 * [kinds] the fastest rate in a pair that a job may have.  On a type that is
 * left to others only beside one that loses nothing by it.
 */
static double *
fastest_in_pairs(const struct gv_problem *p, const double *price, double none)
{
	const struct gv_together *t = p->together;
	double *alone = least_alone(p);
	double *fastest = gv_xcalloc(t->n_kinds, sizeof(*fastest));
	size_t k, i, j;

	for (k = 0; k < t->n_kinds; k++)
		for (i = t->first[k]; i < t->first[k + 1]; i++)
			for (j = 0; j < p->m; j++) {
				const double *r = &t->rate[(i * p->m + j) * 2];
				size_t other = t->with[i];
				bool open = !(price[j] > none);

				if (open ||
				    r[1] >= alone[other * p->m + j] * (1 - GV_TOL_LOSES))
					fastest[k] = fmax(fastest[k], r[0]);
				if (open ||
				    r[0] >= alone[k * p->m + j] * (1 - GV_TOL_LOSES))
					fastest[other] = fmax(fastest[other], r[1]);
			}
	free(alone);
	return fastest;
}

void
gv_filling_freeze_types(struct gv_filling *f, const double *price, double none)
{
	const struct gv_problem *p = f->p;
	double *pairs = p->together != NULL ? fastest_in_pairs(p, price, none) : NULL;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double most = 0;

		if (f->frozen[i])
			continue;
		for (j = 0; j < p->m; j++) {
			double *a = &f->a[i * p->m + j];

			if (pairs != NULL && gv_problem_rate(p, i, j) > 0)
				most = fmax(most,
				    pairs[p->kind[i]] * (*a / gv_problem_rate(p, i, j)));
			if (!(price[j] > none))
				most = fmax(most, *a);
			else if (pairs == NULL)
				*a = 0;
		}
		f->most[i] = fmin(f->most[i], most);
		if (f->most[i] <= f->have[i]) {
			f->most[i] = f->have[i];
			f->frozen[i] = true;
		}
	}
	free(pairs);
}

/* ---- levels over time ---- */

struct key {
	double entity, key;
	size_t job;
};

static int
by_entity(const void *a, const void *b)
{
	const struct key *x = a;
	const struct key *y = b;

	if (x->entity != y->entity)
		return x->entity < y->entity ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

/* The entities of the keys in order. */
static void
find_entities(struct gv_filling *f, const struct key *key)
{
	size_t k;

	f->n_entities = 0;
	for (k = 0; k < f->n_active; k++) {
		if (k > 0 && key[k].entity == key[k - 1].entity) {
			f->entity[f->n_entities - 1].end++;
			continue;
		}
		f->entity[f->n_entities++] = (struct gv_filling_entity){
		    k, k + 1, number(f->p, GV_NUMBER_ENTITY_WEIGHT, key[k].job, 1)};
	}
}

void
gv_filling_sort(struct gv_filling *f)
{
	const struct gv_problem *p = f->p;
	struct key *key = gv_xcalloc(p->n, sizeof(*key));
	size_t i, k;

	f->n_active = 0;
	for (i = 0; i < p->n; i++) {
		double room = (f->most[i] - f->have[i]) / p->weight[i];

		if (!f->frozen[i])
			key[f->n_active++] =
			    (struct key){number(p, GV_NUMBER_ENTITY, i, 0),
				f->fifo ? number(p, GV_NUMBER_POSITION, i, 0) : room, i};
	}
	qsort(key, f->n_active, sizeof(*key), by_entity);
	for (k = f->n_active; k-- > 0;) {
		struct gv_active_job *r = &f->active[k];

		i = key[k].job;
		*r = (struct gv_active_job){.job = i,
		    .have = f->have[i],
		    .most = f->most[i],
		    .weight = p->weight[i],
		    .count = p->count[i],
		    .room = key[k].key,
		    .rest = p->count[i] * p->weight[i]};
		if (k + 1 < f->n_active && key[k + 1].entity == key[k].entity)
			r->rest += r[1].rest;
	}
	find_entities(f, key);
	free(key);
}

/*
 * An entity of weight W_e fills its jobs with W_e c in time c; those before *at have all
 * their time by then.  Of fairness the others have risen by w_i times what is returned,
 * which solves sum_i n_i min(w_i l, most_i - have_i) = W_e c for l; in a queue the next one
 * by that, and nobody else.
 */
static double
filled(
    const struct gv_filling *f, const struct gv_filling_entity *e, double c, size_t *at)
{
	const struct gv_active_job *r = f->active;
	double amount = c * e->weight;
	double level = 0;
	size_t k, end = e->end;

	for (k = e->first; k < end; k++) {
		double takes = f->fifo ? r[k].count * (r[k].most - r[k].have)
				       : (r[k].room - level) * r[k].rest;

		if (amount < takes)
			break;
		amount -= takes;
		level = r[k].room;
	}
	*at = k;
	if (k == end)
		return 0;
	if (!f->fifo)
		return level + amount / r[k].rest;
	amount /= r[k].count;
	return amount > GV_TOL_LEFT_OVER * r[k].most ? amount
						     : 0; /* else it is rounding */
}

/* The level of active[k], of an entity of which filled() says at and by. */
static double
level_of(const struct gv_filling *f, size_t k, size_t at, double by)
{
	const struct gv_active_job *r = &f->active[k];

	if (k < at)
		return r->most;
	if (f->fifo)
		return k == at ? fmin(r->have + by, r->most) : r->have;
	return fmin(r->have + r->weight * by, r->most);
}

void
gv_filling_levels(const struct gv_filling *f, double c, double *v)
{
	size_t i, k, at;

	memcpy(v, f->have, f->p->n * sizeof(*v));
	for (i = 0; i < f->n_entities; i++) {
		const struct gv_filling_entity *e = &f->entity[i];
		double by = filled(f, e, c, &at);

		for (k = e->first; k < e->end; k++)
			v[f->active[k].job] = level_of(f, k, at, by);
	}
}

double
gv_filling_weighted(const struct gv_filling *f, const double *lambda, double c)
{
	enum { BLOCK = 1024 };
	double sum = 0, block = 0;
	size_t i, k, at;

	for (i = 0; i < f->n_entities; i++) {
		const struct gv_filling_entity *e = &f->entity[i];
		double by = filled(f, e, c, &at);

		for (k = e->first; k < e->end; k++) {
			block += lambda[k] * level_of(f, k, at, by);
			if (k % BLOCK == BLOCK - 1) {
				sum += block;
				block = 0;
			}
		}
	}
	return sum + block;
}

double
gv_filling_time(const struct gv_filling *f)
{
	double longest = 0;
	size_t i, k;

	for (i = 0; i < f->n_entities; i++) {
		const struct gv_filling_entity *e = &f->entity[i];
		double sum = 0;

		for (k = e->first; k < e->end; k++)
			sum +=
			    f->active[k].count * (f->active[k].most - f->active[k].have);
		longest = fmax(longest, sum / e->weight);
	}
	return longest * (1 + GV_TOL_LATER);
}
