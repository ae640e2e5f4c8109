#include "eisenberg_gale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "eg_barrier.h"
#include "lp/tolerance.h"

enum { BOXES = 10 };

static const double narrowest =
    1e-4; /* box, in units; each further one is four times as wide */

struct gv_eg_market {
	const struct gv_problem *p;
	double *a; /* [n][m] rates, the fastest of each job 1 */
	double *base,
	    *unit; /* [m] prices of which all have nearly the best, and of boxes */
	struct gv_eg_demand *demand; /* [n] at base */
	size_t *order, *position;    /* [n] jobs by radius; where each is */
	size_t n_free
	    [BOXES +
		1]; /* so many of them may change their vertex in the box; the last: all */
	struct gv_eg_fixed fixed[BOXES + 1]; /* the others, and the capacities */
	struct gv_eg_barrier barrier;
	double *x, *price; /* the best shares, and prices that prove them */
	double least_dual; /* D there less D at base */
	double jobs;
	int least_box; /* smaller ones are hardly cheaper */
	int usual_box; /* that the next one looks at first */
};

static const double first_mu = .1; /* from prices that may be anything */

struct by_radius {
	double radius;
	size_t i;
};

/* Of a box, in units. */
static double
width_of(int box)
{
	return box < BOXES ? narrowest * pow(4, box) : INFINITY;
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
fixed_alloc(struct gv_eg_fixed *f, size_t m)
{
	f->slope = gv_xcalloc(m, sizeof(double));
	f->own = gv_xcalloc(m, sizeof(double));
	f->pair = gv_xcalloc(m, m * sizeof(double));
}

static void
fixed_copy(struct gv_eg_fixed *to, const struct gv_eg_fixed *from, size_t m)
{
	memcpy(to->slope, from->slope, m * sizeof(double));
	memcpy(to->own, from->own, m * sizeof(double));
	memcpy(to->pair, from->pair, m * m * sizeof(double));
}

static void
fix_job(const struct gv_eg_market *k, struct gv_eg_fixed *f, size_t i, double count)
{
	gv_eg_fixed_add(
	    f, &k->demand[i], &k->a[i * k->p->m], k->p->scale[i], count, k->p->m);
}

/* Job i, or count of it, joins those that are looked at. */
static void
add_free(struct gv_eg_market *k, size_t i, double count)
{
	struct gv_eg_barrier *s = &k->barrier;

	if (count == 0)
		return;
	s->a[s->n] = &k->a[i * k->p->m];
	s->scale[s->n] = k->p->scale[i];
	s->count[s->n++] = count;
}

/* Prices near enough to the best to see what most jobs choose. */
static void
find_base_prices(struct gv_eg_market *k)
{
	const struct gv_problem *p = k->p;
	struct gv_eg_barrier *s = &k->barrier;
	double jobs = 0, gpus = 0, dearest;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		jobs += p->count[i];
	k->jobs = jobs;
	for (j = 0; j < p->m; j++)
		gpus += p->capacity[j];
	for (j = 0; j < p->m; j++) {
		s->has_gpus[j] = p->capacity[j] > 0;
		s->price[j] = s->has_gpus[j] ? jobs / gpus : 0;
		s->high[j] = INFINITY;
		s->fixed.slope[j] = p->capacity[j];
	}
	for (i = 0; i < p->n; i++)
		add_free(k, i, p->count[i]);
	gv_eg_barrier_minimise(s, first_mu, GV_TOL_EG_ROUGH);
	memcpy(k->base, s->price, p->m * sizeof(double));
	dearest = .01 * (jobs / gpus); /* all may be 0 */
	for (j = 0; j < p->m; j++)
		dearest = fmax(dearest, k->base[j]);
	for (j = 0; j < p->m; j++)
		k->unit[j] = k->base[j] + .01 * dearest;
}

/* Sorts the jobs by how far prices may move, and fixes those whose demand holds in each box. */
static void
fix_jobs(struct gv_eg_market *k)
{
	const struct gv_problem *p = k->p;
	struct by_radius *sorted = gv_xcalloc(p->n, sizeof(*sorted));
	size_t i, m = p->m;
	int box;

	for (i = 0; i < p->n; i++) {
		const double *a = &k->a[i * m];

		k->demand[i] = gv_eg_demand_at(a, p->scale[i], k->base, m);
		sorted[i] = (struct by_radius){gv_eg_demand_radius(&k->demand[i], a,
						   p->scale[i], k->base, k->unit, m),
		    i};
	}
	qsort(sorted, p->n, sizeof(*sorted), compare);
	for (i = 0; i < p->n; i++) {
		k->order[i] = sorted[i].i;
		k->position[sorted[i].i] = i;
	}
	for (box = 0; box < BOXES; box++)
		while (k->n_free[box] < p->n &&
		       sorted[k->n_free[box]].radius <= width_of(box))
			k->n_free[box]++;
	k->n_free[BOXES] = p->n;
	for (box = BOXES; box >= 0; box--) {
		struct gv_eg_fixed *f = &k->fixed[box];

		fixed_alloc(f, m);
		if (box == BOXES)
			memcpy(f->slope, p->capacity, m * sizeof(double));
		else
			fixed_copy(f, &k->fixed[box + 1], m);
		for (i = k->n_free[box]; box < BOXES && i < k->n_free[box + 1]; i++)
			fix_job(k, f, k->order[i], p->count[k->order[i]]);
	}
	free(sorted);
}

/* Around base. */
static void
set_box(struct gv_eg_market *k, int box)
{
	double width = width_of(box);
	size_t j;

	for (j = 0; j < k->p->m; j++) {
		k->barrier.low[j] = fmax(0, k->base[j] - width * k->unit[j]);
		k->barrier.high[j] = k->base[j] + width * k->unit[j];
	}
}

/* Whether prices are where fixed jobs demand what they are fixed at. */
static bool
is_in_box(const struct gv_eg_market *k, int box)
{
	double width = width_of(box);
	size_t j;

	for (j = 0; j < k->p->m; j++)
		if (fabs(k->barrier.price[j] - k->base[j]) > width * k->unit[j])
			return false;
	return true;
}

/*
 * The least D of all jobs less one of job without, if that is one, less D at base: prices
 * move by about its n-th part, so a small box will do and few jobs are free in it.  The next
 * job looks first at the box that was wide enough for this one, or, where that was looked
 * at first, at the one before.  Of all jobs a price that no share depends on is in the middle
 * of the widened box, and has to be in the box for all that.
 */
static double
least_at(struct gv_eg_market *k, size_t without)
{
	const struct gv_problem *p = k->p;
	struct gv_eg_barrier *s = &k->barrier;
	double mu = without < p->n ? first_mu / k->jobs : first_mu, change;
	size_t i;
	int box, first = k->usual_box;

	for (box = first;; box++) {
		fixed_copy(&s->fixed, &k->fixed[box], p->m);
		if (without < p->n && k->position[without] >= k->n_free[box])
			fix_job(k, &s->fixed, without, -1);
		s->n = 0;
		for (i = 0; i < k->n_free[box]; i++)
			add_free(k, k->order[i],
			    p->count[k->order[i]] - (k->order[i] == without));
		memcpy(s->price, k->base, p->m * sizeof(double));
		set_box(k, box);
		if (!gv_eg_barrier_minimise(s, mu, GV_TOL_EG_LAST))
			continue;
		if (without < p->n)
			break;
		gv_eg_barrier_widen(s);
		if (is_in_box(k, box))
			break;
	}
	k->usual_box = box > first || box == k->least_box ? box : box - 1;
	change = gv_eg_fixed_change(&s->fixed, s->price, k->base, p->m);
	for (i = 0; i < s->n; i++)
		change += s->count[i] *
			  (gv_eg_demand_at(s->a[i], s->scale[i], s->price, p->m).value -
			      gv_eg_demand_at(s->a[i], s->scale[i], k->base, p->m).value);
	return change;
}

/* The shares at the prices for all: of free jobs those of the barrier, x_ij = mu / slack_ij. */
static void
take_shares(struct gv_eg_market *k)
{
	const struct gv_problem *p = k->p;
	const struct gv_eg_barrier *s = &k->barrier;
	size_t m = p->m, i, j;

	memcpy(k->price, s->price, m * sizeof(double));
	for (i = 0; i < p->n; i++) {
		double *x = &k->x[i * m];
		struct gv_eg_demand t =
		    gv_eg_demand_at(&k->a[i * m], p->scale[i], s->price, m);

		if (k->position[i] >= s->n) {
			x[t.j] += t.xj;
			x[t.k] += t.xk;
		}
		for (j = 0; j < m && k->position[i] < s->n; j++)
			if (k->a[i * m + j] > 0)
				x[j] = s->mu / s->slack[k->position[i] * m + j];
		for (j = 0; j < m; j++)
			x[j] = x[j] > GV_TOL_EG_SHARE ? x[j] : 0;
	}
}

struct gv_eg_market *
gv_eg_market_open(const struct gv_problem *p)
{
	struct gv_eg_market *k = gv_xcalloc(1, sizeof(*k));
	size_t i, j;

	k->p = p;
	k->a = gv_xcalloc(p->n, p->m * sizeof(double));
	k->base = gv_xcalloc(p->m, sizeof(double));
	k->unit = gv_xcalloc(p->m, sizeof(double));
	k->demand = gv_xcalloc(p->n, sizeof(*k->demand));
	k->order = gv_xcalloc(p->n, sizeof(size_t));
	k->position = gv_xcalloc(p->n, sizeof(size_t));
	k->x = gv_xcalloc(p->n, p->m * sizeof(double));
	k->price = gv_xcalloc(p->m, sizeof(double));
	for (i = 0; i < p->n; i++) {
		double best = 0;

		for (j = 0; j < p->m; j++)
			best = fmax(best, gv_problem_rate(p, i, j));
		for (j = 0; j < p->m; j++)
			k->a[i * p->m + j] = gv_problem_rate(p, i, j) / best;
	}
	gv_eg_barrier_alloc(&k->barrier, p->n, p->m);
	find_base_prices(k);
	fix_jobs(k);
	k->least_dual = least_at(k, p->n);
	take_shares(k);
	while (k->least_box + 1 < BOXES && k->n_free[k->least_box + 1] <= 12)
		k->least_box++;
	k->usual_box = k->least_box;
	return k;
}

void
gv_eg_market_free(struct gv_eg_market *k)
{
	int box;

	for (box = 0; box <= BOXES; box++) {
		free(k->fixed[box].slope);
		free(k->fixed[box].own);
		free(k->fixed[box].pair);
	}
	gv_eg_barrier_free(&k->barrier);
	free(k->a);
	free(k->base);
	free(k->unit);
	free(k->demand);
	free(k->order);
	free(k->position);
	free(k->x);
	free(k->price);
	free(k);
}

void
gv_eg_market_shares(const struct gv_eg_market *k, double *x, double *price)
{
	memcpy(x, k->x, k->p->n * k->p->m * sizeof(double));
	memcpy(price, k->price, k->p->m * sizeof(double));
}

/*
 * At their best D and sum meet, so min D(all) - min D(all but i) is log thr_i(all) less what
 * the others lose.
 */
double
gv_eg_market_externality(struct gv_eg_market *k, size_t i)
{
	return k->least_dual + k->demand[i].value - least_at(k, i);
}
