#include "market.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "market_search.h"

enum { LEVELS = 10 };

static const double rough_mu = 1e-9;
static const double last_mu = 1e-14;
static const double narrowest =
    1e-4; /* box, of its unit; each level is four times as wide */

struct gv_market {
	const struct gv_problem *p;
	double *a; /* [n][m] rates, the fastest of each job 1 */
	double *base,
	    *unit; /* [m] prices of which all have nearly the best, and of boxes */
	struct gv_taken *taken; /* [n] at base */
	size_t *order, *place;  /* [n] jobs by radius; where each is */
	size_t loose
	    [LEVELS +
		1]; /* so many of them may change their choice in the box; the last: all */
	struct gv_fold fold[LEVELS + 1]; /* the others, and the capacities */
	struct gv_market_search search;
	double *x, *price; /* the best shares, and prices that prove them */
	double lowest;     /* D there less D at base */
	int usual;         /* level that was wide enough */
};

struct by_radius {
	double radius;
	size_t i;
};

/* The box of a level, of its unit. */
static double
width_of(int level)
{
	return level < LEVELS ? narrowest * pow(4, level) : INFINITY;
}

static int
compare(const void *a, const void *b)
{
	const struct by_radius *x = a;
	const struct by_radius *y = b;

	if (x->radius != y->radius)
		return x->radius < y->radius ? -1 : 1;
	return (x->i > y->i) - (x->i < y->i);
}

static void
fold_alloc(struct gv_fold *f, size_t m)
{
	f->slope = gv_xcalloc(m, sizeof(double));
	f->own = gv_xcalloc(m, sizeof(double));
	f->pair = gv_xcalloc(m, m * sizeof(double));
}

static void
fold_copy(struct gv_fold *to, const struct gv_fold *from, size_t m)
{
	memcpy(to->slope, from->slope, m * sizeof(double));
	memcpy(to->own, from->own, m * sizeof(double));
	memcpy(to->pair, from->pair, m * m * sizeof(double));
}

static void
fold_job(const struct gv_market *k, struct gv_fold *f, size_t i, double count)
{
	gv_fold_add(f, &k->taken[i], &k->a[i * k->p->m], k->p->scale[i], count, k->p->m);
}

/* Job i, or count of it, joins those that are looked at. */
static void
look_at(struct gv_market *k, size_t i, double count)
{
	struct gv_market_search *s = &k->search;

	if (count == 0)
		return;
	s->a[s->n] = &k->a[i * k->p->m];
	s->scale[s->n] = k->p->scale[i];
	s->count[s->n++] = count;
}

/* Prices near enough to the best to see what most jobs choose. */
static void
find_base(struct gv_market *k)
{
	const struct gv_problem *p = k->p;
	struct gv_market_search *s = &k->search;
	double jobs = 0, gpus = 0, dearest;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		jobs += p->count[i];
	for (j = 0; j < p->m; j++)
		gpus += p->capacity[j];
	for (j = 0; j < p->m; j++) {
		s->open[j] = p->capacity[j] > 0;
		s->price[j] = s->open[j] ? jobs / gpus : 0;
		s->high[j] = INFINITY;
		s->fold.slope[j] = p->capacity[j];
	}
	for (i = 0; i < p->n; i++)
		look_at(k, i, p->count[i]);
	gv_market_search_run(s, rough_mu);
	memcpy(k->base, s->price, p->m * sizeof(double));
	dearest = .01 * (jobs / gpus); /* all may be 0 */
	for (j = 0; j < p->m; j++)
		dearest = fmax(dearest, k->base[j]);
	for (j = 0; j < p->m; j++)
		k->unit[j] = k->base[j] + .01 * dearest;
}

/* Sorts the jobs by how far prices may move, and folds those of each level. */
static void
fold_levels(struct gv_market *k)
{
	const struct gv_problem *p = k->p;
	struct by_radius *sorted = gv_xcalloc(p->n, sizeof(*sorted));
	size_t i, m = p->m;
	int level;

	for (i = 0; i < p->n; i++) {
		const double *a = &k->a[i * m];

		k->taken[i] = gv_market_take(a, p->scale[i], k->base, m);
		sorted[i] = (struct by_radius){
		    gv_market_radius(&k->taken[i], a, p->scale[i], k->base, k->unit, m),
		    i};
	}
	qsort(sorted, p->n, sizeof(*sorted), compare);
	for (i = 0; i < p->n; i++) {
		k->order[i] = sorted[i].i;
		k->place[sorted[i].i] = i;
	}
	for (level = 0; level < LEVELS; level++)
		while (k->loose[level] < p->n &&
		       sorted[k->loose[level]].radius <= width_of(level))
			k->loose[level]++;
	k->loose[LEVELS] = p->n;
	for (level = LEVELS; level >= 0; level--) {
		struct gv_fold *f = &k->fold[level];

		fold_alloc(f, m);
		if (level == LEVELS)
			memcpy(f->slope, p->capacity, m * sizeof(double));
		else
			fold_copy(f, &k->fold[level + 1], m);
		for (i = k->loose[level]; level < LEVELS && i < k->loose[level + 1]; i++)
			fold_job(k, f, k->order[i], p->count[k->order[i]]);
	}
	free(sorted);
}

/* The box of a level around base. */
static void
set_box(struct gv_market *k, int level)
{
	double width = width_of(level);
	size_t j;

	for (j = 0; j < k->p->m; j++) {
		k->search.low[j] = fmax(0, k->base[j] - width * k->unit[j]);
		k->search.high[j] = k->base[j] + width * k->unit[j];
	}
}

/* Whether the box did not hold the last prices back. */
static bool
inside(const struct gv_market *k)
{
	const struct gv_market_search *s = &k->search;
	size_t j;

	for (j = 0; j < k->p->m; j++) {
		double margin = .01 * (s->high[j] - s->low[j]);

		if (s->open[j] && isfinite(margin) &&
		    (s->price[j] > s->high[j] - margin ||
			(s->low[j] > 0 && s->price[j] < s->low[j] + margin)))
			return false;
	}
	return true;
}

/* Prices of all jobs less one of job without, if that is one: D there less D at base. */
static double
search(struct gv_market *k, size_t without)
{
	const struct gv_problem *p = k->p;
	struct gv_market_search *s = &k->search;
	double change;
	size_t i;
	int level;

	for (level = k->usual;; level++) {
		fold_copy(&s->fold, &k->fold[level], p->m);
		if (without < p->n && k->place[without] >= k->loose[level])
			fold_job(k, &s->fold, without, -1);
		s->n = 0;
		for (i = 0; i < k->loose[level]; i++)
			look_at(k, k->order[i],
			    p->count[k->order[i]] - (k->order[i] == without));
		memcpy(s->price, k->base, p->m * sizeof(double));
		set_box(k, level);
		gv_market_search_run(s, last_mu);
		if (inside(k))
			break;
	}
	change = gv_fold_change(&s->fold, s->price, k->base, p->m);
	for (i = 0; i < s->n; i++)
		change += s->count[i] *
			  (gv_market_take(s->a[i], s->scale[i], s->price, p->m).value -
			      gv_market_take(s->a[i], s->scale[i], k->base, p->m).value);
	return change;
}

/* The shares at the prices for all. */
static void
take_shares(struct gv_market *k)
{
	const struct gv_problem *p = k->p;
	const struct gv_market_search *s = &k->search;
	size_t m = p->m, i, j;

	memcpy(k->price, s->price, m * sizeof(double));
	for (i = 0; i < p->n; i++) {
		double *x = &k->x[i * m];
		struct gv_taken t =
		    gv_market_take(&k->a[i * m], p->scale[i], s->price, m);

		if (k->place[i] >= s->n) {
			x[t.j] += t.xj;
			x[t.k] += t.xk;
		}
		for (j = 0; j < m && k->place[i] < s->n; j++)
			if (k->a[i * m + j] > 0)
				x[j] = s->mu / s->slack[k->place[i] * m + j];
		for (j = 0; j < m; j++)
			x[j] = x[j] > 1e-11 ? x[j] : 0;
	}
}

struct gv_market *
gv_market_open(const struct gv_problem *p)
{
	struct gv_market *k = gv_xcalloc(1, sizeof(*k));
	size_t i, j;

	k->p = p;
	k->a = gv_xcalloc(p->n, p->m * sizeof(double));
	k->base = gv_xcalloc(p->m, sizeof(double));
	k->unit = gv_xcalloc(p->m, sizeof(double));
	k->taken = gv_xcalloc(p->n, sizeof(*k->taken));
	k->order = gv_xcalloc(p->n, sizeof(size_t));
	k->place = gv_xcalloc(p->n, sizeof(size_t));
	k->x = gv_xcalloc(p->n, p->m * sizeof(double));
	k->price = gv_xcalloc(p->m, sizeof(double));
	for (i = 0; i < p->n; i++) {
		double best = 0;

		for (j = 0; j < p->m; j++)
			best = fmax(best, gv_problem_rate(p, i, j));
		for (j = 0; j < p->m; j++)
			k->a[i * p->m + j] = gv_problem_rate(p, i, j) / best;
	}
	gv_market_search_alloc(&k->search, p->n, p->m);
	find_base(k);
	fold_levels(k);
	k->lowest = search(k, p->n);
	take_shares(k);
	while (k->usual + 1 < LEVELS && k->loose[k->usual + 1] <= 12)
		k->usual++;
	return k;
}

void
gv_market_free(struct gv_market *k)
{
	int level;

	for (level = 0; level <= LEVELS; level++) {
		free(k->fold[level].slope);
		free(k->fold[level].own);
		free(k->fold[level].pair);
	}
	gv_market_search_free(&k->search);
	free(k->a);
	free(k->base);
	free(k->unit);
	free(k->taken);
	free(k->order);
	free(k->place);
	free(k->x);
	free(k->price);
	free(k);
}

void
gv_market_shares(const struct gv_market *k, double *x, double *price)
{
	memcpy(x, k->x, k->p->n * k->p->m * sizeof(double));
	memcpy(price, k->price, k->p->m * sizeof(double));
}

/* The least D for all less the least D for all but i: at their best D and sum meet. */
double
gv_market_rest(struct gv_market *k, size_t i)
{
	return k->lowest + k->taken[i].value - search(k, i);
}
