/*
 * Problems of gv-alloc by chance, of all shapes, and all that is in an answer kept in one
 * number (recorded.h).  One number a statement is drawn: compilers differ in the order of the
 * parts of one.
 */
#ifndef ALLOC_DRAWS_H
#define ALLOC_DRAWS_H

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "recorded.h"
#include "alloc/problem/problem.h"
#include "alloc/program/multipliers.h"
#include "lp/lp.h"

/* ---- numbers ---- */

enum drawn_sort {
	DRAWN_ONE,
	DRAWN_WHOLE,
	DRAWN_PART,
	DRAWN_FAR,
	DRAWN_HALVES,
	DRAWN_SORTS
};

/* 1e-6 to 1e6 */
static inline double
drawn_far(void)
{
	static const double tens[] = {
	    1e-6, 1e-5, 1e-4, 1e-3, 1e-2, .1, 1, 10, 100, 1e3, 1e4, 1e5};
	double size = tens[below(12)];

	return size * (1 + 9 * uniform());
}

/* A number above 0 of a sort: equal ones, whole ones that tie, parts, and those far apart. */
static inline double
drawn_number(enum drawn_sort sort)
{
	switch (sort) {
	case DRAWN_ONE:
		return 1;
	case DRAWN_WHOLE:
		return (double)(1 + below(4));
	case DRAWN_PART:
		return .25 + 2 * uniform();
	case DRAWN_HALVES:
		return .5 * (double)(1 + below(6));
	default:
		return drawn_far();
	}
}

static inline enum drawn_sort
drawn_sort(void)
{
	return (enum drawn_sort)below(DRAWN_SORTS);
}

/* ---- problems ---- */

struct drawn {
	struct gv_problem p;
	struct gv_together together;
	struct gv_tree tree;
};

/* What problems may have besides; a set. */
enum {
	DRAWN_CLASSES = 1,   /* rows of several jobs */
	DRAWN_BUDGET = 2,    /* often */
	DRAWN_REFERENCE = 4, /* sometimes */
	DRAWN_PAIRS = 8,     /* always */
	DRAWN_MISFITS = 16,  /* gangs larger than a type that they have a rate on */
	DRAWN_BROKEN = 32,   /* GPUs that are no whole number */
	DRAWN_ENTITIES = 64, /* of one level */
	DRAWN_NEAR = 256,    /* no numbers far apart */
	DRAWN_TREE = 128     /* of several */
};

static inline enum drawn_sort
drawn_sort_with(unsigned with)
{
	enum drawn_sort sort = drawn_sort();

	return with & DRAWN_NEAR && sort == DRAWN_FAR ? DRAWN_PART : sort;
}

static inline void
drawn_types(struct gv_problem *p, unsigned with)
{
	enum drawn_sort price = drawn_sort_with(with);
	bool free_gpus = uniform() < .3;
	size_t most = uniform() < .2 ? 40 : 8;
	size_t j;

	for (j = 0; j < p->m; j++) {
		p->capacity[j] = (double)(1 + below(most));
		if (with & DRAWN_BROKEN && uniform() < .3)
			p->capacity[j] += .5;
		p->price[j] = free_gpus && j > 0 ? 0 : drawn_number(price);
	}
	if (with & DRAWN_BUDGET && uniform() < .7) {
		p->budget = drawn_number(DRAWN_PART);
		for (j = 0; j < p->m; j++)
			p->budget += uniform() * p->capacity[j] * p->price[j];
	}
}

/* Row i gets a rate on some types, on one at least. */
static inline void
drawn_rates(struct gv_problem *p, size_t i, enum drawn_sort sort, double most_types,
    unsigned with)
{
	double *row = &p->rate[i * p->m], widest = 0;
	bool same = uniform() < .2;
	double rate = drawn_number(sort);
	size_t j, any = below(p->m);

	for (j = 0; j < p->m; j++)
		widest = p->capacity[j] > widest ? p->capacity[j] : widest;
	if (!(with & DRAWN_MISFITS) && p->scale[i] > widest)
		p->scale[i] = 1;
	while (!(with & DRAWN_MISFITS) && p->scale[i] > p->capacity[any])
		any = (any + 1) % p->m;
	for (j = 0; j < p->m; j++) {
		if (!same)
			rate = drawn_number(sort);
		if (j == any || uniform() < most_types)
			row[j] = p->scale[i] <= p->capacity[j] || with & DRAWN_MISFITS
				     ? rate
				     : 0;
	}
}

static inline void
drawn_numbers(struct gv_problem *p, size_t i, double far)
{
	enum drawn_sort sort = far < .2 ? DRAWN_FAR : far < .5 ? DRAWN_WHOLE : DRAWN_PART;
	double scale = drawn_number(sort);
	size_t k;

	for (k = 0; k < GV_N_NUMBERS; k++) {
		double v = drawn_number(sort);

		if (p->number[k] == NULL)
			continue;
		switch (k) {
		case GV_NUMBER_STEPS:
			v *= uniform() < .1 ? 0 : 100;
			break;
		case GV_NUMBER_NEED:
		case GV_NUMBER_MINIMUM:
			v *= uniform() < .5 ? 0 : .1;
			if (p->number[GV_NUMBER_STEPS] != NULL &&
			    p->number[GV_NUMBER_STEPS][i] == 0)
				v = 0;
			break;
		case GV_NUMBER_POSITION:
			v = (double)i;
			break;
		case GV_NUMBER_DRAW:
			v = (double)(p->n - 1 - i);
			break;
		case GV_NUMBER_STARTED:
			v = uniform() < .7 ? 0 : (double)(1 + below(p->m));
			break;
		case GV_NUMBER_ELAPSED:
		case GV_NUMBER_ISOLATED:
			v *= uniform() < .2 ? 0 : scale;
			break;
		default:
			v *= uniform() < .5 ? 0 : 1;
		}
		p->number[k][i] = v;
	}
}

/* Entities in entities, the first ones at the top; jobs are of those that have none in them. */
static inline void
drawn_tree(struct drawn *d, unsigned with)
{
	struct gv_problem *p = &d->p;
	size_t n = 1 + below(4), k, i, first = 0;
	double weight[16], sort = uniform();

	if (with & DRAWN_TREE)
		n += 2;
	d->tree.parent = gv_xcalloc(n, sizeof(*d->tree.parent));
	d->tree.weight = gv_xcalloc(n, sizeof(double));
	d->tree.quota = gv_xcalloc(n, sizeof(double));
	d->tree.n = n;
	for (k = 0; k < n; k++) {
		weight[k] = drawn_number(sort < .5 ? DRAWN_WHOLE : DRAWN_PART);
		d->tree.weight[k] = weight[k];
		d->tree.parent[k] = k < 2 ? SIZE_MAX : below(2);
		d->tree.quota[k] = uniform() < .6 ? 0 : (double)(1 + below(2));
	}
	if (with & DRAWN_TREE)
		first = 2;
	for (i = 0; i < p->n; i++) {
		size_t e = first + below(n - first);

		p->number[GV_NUMBER_ENTITY][i] = (double)e;
		p->number[GV_NUMBER_ENTITY_WEIGHT][i] = weight[e];
	}
	if (with & DRAWN_TREE)
		p->tree = &d->tree;
}

/* Two kinds' rates together, often some of what each has alone, sometimes none. */
static inline void
drawn_together(struct drawn *d)
{
	struct gv_problem *p = &d->p;
	size_t kinds = 1 + below(p->n < 6 ? p->n + 1 : 6), a, b, j, n = 0;
	struct gv_together_entry *e = gv_xcalloc(kinds * kinds * p->m, sizeof(*e));
	double likely = uniform(), good = .4 + uniform();
	enum drawn_sort sort = drawn_sort();

	for (a = 0; a < kinds; a++)
		for (b = a; b < kinds; b++)
			for (j = 0; j < p->m; j++) {
				if (uniform() > likely)
					continue;
				e[n].a = (uint32_t)a;
				e[n].b = (uint32_t)b;
				e[n].type = (uint32_t)j;
				e[n].rate_a =
				    uniform() < .1 ? 0 : good * drawn_number(sort);
				e[n].rate_b =
				    a == b ? e[n].rate_a : good * drawn_number(sort);
				n++;
			}
	gv_together_make(&d->together, kinds, p->m, e, n);
	free(e);
	p->together = &d->together;
	p->kind = gv_xcalloc(p->n, sizeof(*p->kind));
	for (a = 0; a < p->n; a++) { /* of one kind, as many GPUs */
		p->kind[a] = below(kinds);
		for (b = 0; b < a; b++)
			if (p->kind[b] == p->kind[a])
				p->scale[a] = p->scale[b];
	}
}

/* n jobs or classes on m types; numbers: a set of 1 << GV_NUMBER_... */
static inline void
drawn_problem(struct drawn *d, size_t n, size_t m, unsigned numbers, unsigned with)
{
	struct gv_problem *p = &d->p;
	enum drawn_sort rate = drawn_sort_with(with), weight = drawn_sort_with(with);
	double gangs = uniform(), types = .2 + uniform(), like = uniform() * .5,
	       far = uniform();
	size_t i, j, most = uniform() < .5 ? 1 : 1 + below(6);

	memset(d, 0, sizeof(*d));
	if (with & DRAWN_NEAR && far < .2)
		far = 1;
	if (with & (DRAWN_ENTITIES | DRAWN_TREE))
		numbers |= 1u << GV_NUMBER_ENTITY | 1u << GV_NUMBER_ENTITY_WEIGHT;
	gv_problem_alloc(p, n, m);
	gv_problem_ask(p, numbers);
	drawn_types(p, with);
	for (i = 0; i < n; i++) {
		p->scale[i] = uniform() < gangs ? 1 : (double)(1 + below(4));
		p->count[i] = with & DRAWN_CLASSES ? (double)(1 + below(most)) : 1;
		p->weight[i] = drawn_number(weight);
	}
	if (with & DRAWN_PAIRS)
		drawn_together(d);
	for (i = 0; i < n; i++) {
		drawn_rates(p, i, rate, types, with);
		drawn_numbers(p, i, far);
		j = below(n);
		if (uniform() < like && j < i && p->scale[j] == p->scale[i])
			memcpy(&p->rate[i * m], &p->rate[j * m], m * sizeof(double));
	}
	if (with & (DRAWN_ENTITIES | DRAWN_TREE))
		drawn_tree(d, with);
	if (with & DRAWN_REFERENCE && uniform() < .5) {
		double *own = gv_xcalloc(m, sizeof(*own));

		for (j = 0; j < m; j++)
			own[j] = p->capacity[j] + (double)below(3);
		gv_problem_refer(p, own);
		free(own);
	}
}

static inline void
drawn_free(struct drawn *d)
{
	gv_problem_free(&d->p);
	gv_together_free(&d->together);
	free(d->tree.parent);
	free(d->tree.weight);
	free(d->tree.quota);
}

/* Mostly small ones. */
static inline size_t
drawn_size(size_t most)
{
	size_t small = 1 + below(6);

	return uniform() < .6 || most < 7 ? (small < most ? small : most)
					  : 1 + below(most);
}

/* ---- shares ---- */

/* Of jobs and types; too much of both, or just as much as there is. */
static inline void
drawn_shares(const struct gv_problem *p, double *x)
{
	double likely = uniform(), most = uniform();
	int way = (int)below(4);
	size_t i, j;

	if (way == 0) {
		gv_problem_isolated(p, x);
		return;
	}
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			double v = way == 1 ? (double)below(9) / 8 : most * uniform();

			x[i * p->m + j] =
			    uniform() < likely && gv_problem_rate(p, i, j) > 0 ? v : 0;
		}
	if (way == 3)
		gv_problem_clean(p, x);
}

/* Shares of pairs that there are. */
static inline void
drawn_pair_shares(const struct gv_problem *p, struct gv_solution *s)
{
	double likely = uniform(), most = uniform();
	size_t i, k, j;

	s->pair = gv_xcalloc(p->n * p->n * p->m + 1, sizeof(*s->pair));
	for (i = 0; i < p->n; i++)
		for (k = 0; k < p->n; k++) {
			size_t at = SIZE_MAX;

			if (p->kind[i] < p->kind[k] ||
			    (p->kind[i] == p->kind[k] && i <= k))
				at =
				    gv_together_find(p->together, p->kind[i], p->kind[k]);
			if (i == k && p->count[i] < 2)
				at = SIZE_MAX;
			for (j = 0; j < p->m && at != SIZE_MAX; j++) {
				const double *r = &p->together->rate[(at * p->m + j) * 2];
				double v = most * uniform() / (double)p->n;

				if (r[0] > 0 && uniform() < likely)
					s->pair[s->n_pairs++] =
					    (struct gv_pair){i, k, j, r[0], r[1], v};
			}
		}
}

/* ---- recorded ---- */

/* What may be missing. */
static inline void
recorded_some(struct recorded *r, const double *v, size_t n)
{
	recorded_whole(r, v != NULL);
	if (v != NULL)
		recorded_doubles(r, v, n);
}

static inline void
recorded_together(struct recorded *r, const struct gv_together *t)
{
	size_t i;

	recorded_whole(r, (long long)t->n_kinds);
	recorded_whole(r, (long long)t->m);
	recorded_whole(r, (long long)t->n);
	recorded_wholes(r, t->first, t->n_kinds + 1);
	for (i = 0; i < t->n; i++)
		recorded_whole(r, t->with[i]);
	recorded_doubles(r, t->rate, t->n * t->m * 2);
}

static inline void
recorded_problem(struct recorded *r, const struct gv_problem *p)
{
	size_t k;

	recorded_whole(r, (long long)p->n);
	recorded_whole(r, (long long)p->m);
	recorded_doubles(r, p->rate, p->n * p->m);
	recorded_doubles(r, p->scale, p->n);
	recorded_doubles(r, p->weight, p->n);
	recorded_doubles(r, p->count, p->n);
	for (k = 0; k < GV_N_NUMBERS; k++)
		recorded_some(r, p->number[k], p->n);
	recorded_doubles(r, p->capacity, p->m);
	recorded_some(r, p->reference, p->m);
	recorded_some(r, p->price, p->m);
	recorded_double(r, p->budget);
	recorded_whole(r, p->kind != NULL);
	if (p->kind != NULL)
		recorded_wholes(r, p->kind, p->n);
}

static inline void
recorded_pairs(struct recorded *r, const struct gv_pair *pair, size_t n)
{
	size_t i;

	recorded_whole(r, (long long)n);
	for (i = 0; i < n; i++) {
		recorded_whole(r, (long long)pair[i].a);
		recorded_whole(r, (long long)pair[i].b);
		recorded_whole(r, (long long)pair[i].type);
		recorded_double(r, pair[i].rate_a);
		recorded_double(r, pair[i].rate_b);
		recorded_double(r, pair[i].x);
	}
}

static inline void
recorded_lp(struct recorded *r, const struct gv_lp *lp)
{
	size_t i;

	recorded_whole(r, (long long)lp->n_rows);
	recorded_whole(r, (long long)lp->n_cols);
	recorded_whole(r, lp->maximise);
	recorded_doubles(r, lp->row_lo, lp->n_rows);
	recorded_doubles(r, lp->row_hi, lp->n_rows);
	recorded_doubles(r, lp->col_lo, lp->n_cols);
	recorded_doubles(r, lp->col_hi, lp->n_cols);
	recorded_doubles(r, lp->cost, lp->n_cols);
	for (i = 0; i < lp->n_entries; i++) {
		recorded_whole(r, (long long)lp->entry[i].row);
		recorded_whole(r, (long long)lp->entry[i].col);
		recorded_double(r, lp->entry[i].value);
	}
}

#endif
