/*
 * Sums in the space of prices.
 *
 * At given prices of GPUs every job by itself takes what gains it most after cost
 * and keeps its need: at a corner of {thr >= need, time <= 1}, one type or two.  At
 * nearly the right prices that is the answer for most jobs; some few are as well
 * off at another corner.  The program of those few gives the right prices and the
 * rest of the shares.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/simplex/simplex.h"
#include "linear_prices.h"

static const double hair = 1e-11; /* a need that is missed by that is kept */

/* A corner; k = j: one type. */
struct corner {
	size_t j, k;
	double xj, xk;
	double value; /* gain less cost */
};

static double
need_of(const struct gv_linear *l, size_t i)
{
	return l->need != NULL ? l->need[i] : 0;
}

static double
net_of(const struct gv_linear *l, const double *price, size_t i, size_t j)
{
	return l->gain[i * l->p->m + j] - price[j] * l->p->scale[i];
}

/* The corners of job i that use type j and, for more time of it, a slower one. */
static size_t
corners_of_type(const struct gv_linear *l, const double *price, size_t i, size_t j,
    struct corner *corner)
{
	double need = need_of(l, i);
	double rate = gv_problem_rate(l->p, i, j);
	double net = net_of(l, price, i, j);
	size_t k, n = 0;

	if (rate == 0 || rate < need * (1 - hair))
		return 0;
	corner[n++] = (struct corner){j, j, 1, 0, net};
	if (need > rate * (1 - hair))
		return n;
	corner[n++] = (struct corner){j, j, need / rate, 0, net * (need / rate)};
	for (k = 0; k < l->p->m; k++) {
		double slow = gv_problem_rate(l->p, i, k);
		double part = (need - slow) / (rate - slow);

		if (slow > 0 && slow < need * (1 - hair))
			corner[n++] = (struct corner){j, k, part, 1 - part,
			    part * net + (1 - part) * net_of(l, price, i, k)};
	}
	return n;
}

/* All corners of job i, which has a need: room for m (m + 2). */
static size_t
corners_of(
    const struct gv_linear *l, const double *price, size_t i, struct corner *corner)
{
	size_t j, n = 0;

	for (j = 0; j < l->p->m; j++)
		n += corners_of_type(l, price, i, j, &corner[n]);
	return n;
}

/*
 * The best of n corners into *best, and good[]: types of corners that are as good but
 * for a part of their size.  True: there are such others.
 */
static bool
keep_best(const struct gv_linear *l, const double *price, double part, size_t i,
    const struct corner *corner, size_t n, struct corner *best, bool *good)
{
	const struct gv_problem *p = l->p;
	const double *size = l->size != NULL ? l->size : l->gain;
	double magnitude = 0;
	size_t j, c, near = 0;

	*best = corner[0];
	for (c = 1; c < n; c++)
		if (corner[c].value > best->value)
			*best = corner[c];
	for (j = 0; j < p->m; j++)
		if (gv_problem_rate(p, i, j) > 0)
			magnitude = fmax(
			    magnitude, fabs(size[i * p->m + j]) + price[j] * p->scale[i]);
	for (c = 0; c < n; c++) {
		if (corner[c].value < best->value - part * magnitude)
			continue;
		near++;
		good[corner[c].j] = good[corner[c].j] || corner[c].xj > 0;
		good[corner[c].k] = good[corner[c].k] || corner[c].xk > 0;
	}
	return near > 1;
}

/* The same of a job without need: a type all the time, or none. */
static bool
keep_best_type(const struct gv_linear *l, const double *price, double part, size_t i,
    struct corner *best, bool *good)
{
	const struct gv_problem *p = l->p;
	const double *size = l->size != NULL ? l->size : l->gain;
	double magnitude = 0, least;
	size_t j, near;

	*best = (struct corner){0};
	for (j = 0; j < p->m; j++) {
		double cost = price[j] * p->scale[i];
		double net = l->gain[i * p->m + j] - cost;
		double all = fabs(size[i * p->m + j]) + cost;

		if (gv_problem_rate(p, i, j) == 0)
			continue;
		magnitude = all > magnitude ? all : magnitude;
		if (net > best->value)
			*best = (struct corner){j, j, 1, 0, net};
	}
	least = best->value - part * magnitude;
	near = least <= 0;
	for (j = 0; j < p->m; j++)
		if (gv_problem_rate(p, i, j) > 0 && net_of(l, price, i, j) >= least) {
			good[j] = true;
			near++;
		}
	return near > 1;
}

static void
take(const struct gv_linear *l, size_t i, const struct corner *c, double *capacity)
{
	const struct gv_problem *p = l->p;

	l->s->x[i * p->m + c->j] += c->xj;
	l->s->x[i * p->m + c->k] += c->xk;
	capacity[c->j] -= p->count[i] * p->scale[i] * c->xj;
	capacity[c->k] -= p->count[i] * p->scale[i] * c->xk;
}

/*
 * The jobs that the prices leave a choice into q, with only the types they may
 * choose; the others take theirs.  False: they take more than there is.
 */
static bool
decide(const struct gv_linear *l, const double *price, double part, struct gv_problem *q,
    bool *undecided)
{
	const struct gv_problem *p = l->p;
	bool *good = gv_xcalloc(p->n, p->m * sizeof(*good));
	double *left = gv_xcalloc(p->m, sizeof(*left));
	struct corner *corner = gv_xcalloc(p->m, (p->m + 2) * sizeof(*corner));
	bool fits = true;
	size_t i, j, k = 0;

	memset(l->s->x, 0, p->n * p->m * sizeof(*l->s->x));
	memcpy(left, p->capacity, p->m * sizeof(*left));
	for (i = 0; i < p->n; i++) {
		struct corner best = {0};
		size_t n = need_of(l, i) > 0 ? corners_of(l, price, i, corner) : 1;

		if (need_of(l, i) > 0)
			undecided[i] = n == 0 || keep_best(l, price, part, i, corner, n,
						     &best, &good[i * p->m]);
		else
			undecided[i] =
			    keep_best_type(l, price, part, i, &best, &good[i * p->m]);
		if (!undecided[i])
			take(l, i, &best, left);
	}
	gv_problem_pick(q, p, undecided);
	for (i = 0; i < p->n; i++) {
		for (j = 0; j < p->m && undecided[i]; j++)
			if (!good[i * p->m + j])
				q->rate[k * p->m + j] = 0;
		k += undecided[i];
	}
	for (j = 0; j < p->m; j++) {
		fits = fits && left[j] >= -hair * p->capacity[j];
		q->capacity[j] = fmax(0, left[j]);
	}
	free(good);
	free(left);
	free(corner);
	return fits;
}

/* The rows of jobs that are kept. */
static double *
pick_rows(const double *from, const bool *keep, size_t n, size_t m)
{
	double *to = gv_xcalloc(n, m * sizeof(*to));
	size_t i, k = 0;

	for (i = 0; from != NULL && i < n; i++)
		if (keep[i])
			memcpy(&to[k++ * m], &from[i * m], m * sizeof(*to));
	return to;
}

/* The program of the undecided jobs.  0; 1 it has no solution; -1 with *e set. */
static int
solve_undecided(struct gv_linear *l, const struct gv_problem *q, const bool *undecided,
    const char *name, struct gv_error *e)
{
	const struct gv_problem *p = l->p;
	struct gv_solution s = {.x = gv_xcalloc(q->n, q->m * sizeof(*s.x))};
	double *gain = pick_rows(l->gain, undecided, p->n, p->m);
	double *size = pick_rows(l->size, undecided, p->n, p->m);
	double *second = pick_rows(l->second, undecided, p->n, p->m);
	double *need = pick_rows(l->need, undecided, p->n, 1);
	struct gv_linear part;
	size_t i, k = 0;
	int rc;

	gv_linear_init(&part, q, &s);
	part.gain = gain;
	part.size = l->size != NULL ? size : NULL;
	part.second = l->second != NULL ? second : NULL;
	part.need = l->need != NULL ? need : NULL;
	rc = gv_linear_by_program(&part, false, name, e);
	for (i = 0; i < p->n && rc == 0; i++)
		if (undecided[i])
			memcpy(&l->s->x[i * p->m], &s.x[k++ * p->m], p->m * sizeof(*s.x));
	memcpy(l->price, part.price, p->m * sizeof(*l->price));
	if (rc != 0) { /* the prices were not near enough */
		gv_error_clear(e);
		rc = 1;
	}
	gv_linear_free(&part);
	free(gain);
	free(size);
	free(second);
	free(need);
	free(s.x);
	return rc;
}

/* The gains in numbers whose best sum is about 1: what they are divided by. */
static double
sum_size(const struct gv_linear *l)
{
	const struct gv_problem *p = l->p;
	const double *size = l->size != NULL ? l->size : l->gain;
	double *most = gv_xcalloc(p->m, sizeof(*most));
	double sum = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			double one = fabs(size[i * p->m + j]) / p->scale[i];

			most[j] = one > most[j] ? one : most[j];
		}
	for (j = 0; j < p->m; j++)
		sum += most[j] * p->capacity[j];
	free(most);
	return sum;
}

/* Part of its need that a share of each type gives job i, into column i of a. */
static void
set_parts(const struct gv_linear *l, size_t i, double *a, size_t stride)
{
	const struct gv_problem *p = l->p;
	double most = 0;
	size_t j;

	for (j = 0; j < p->m; j++) {
		double rate = gv_problem_rate(p, i, j);
		double part = rate > 0 ? rate / need_of(l, i) : 0;

		a[j * stride + i] = part;
		most = part > most ? part : most;
	}
	for (j = 0; j < p->m && most < 1; j++)
		if (a[j * stride + i] == most)
			a[j * stride + i] = 1;
}

/* GPUs that the shares in l->s use into used [m], and what they gain. */
static double
use_and_gain(const struct gv_linear *l, const struct gv_crowd *c, double *used)
{
	double gain = 0;
	size_t i, j;

	for (i = 0; i < c->n; i++)
		for (j = 0; j < c->m; j++) {
			used[j] += c->use[i] * l->s->x[i * c->m + j];
			gain += c->gain[j * c->stride + i] * l->s->x[i * c->m + j];
		}
	return gain;
}

/* Into price: prices of nearly the best sum; l->s->x keeps the needs.  size: see sum_size. */
static void
find_prices(const struct gv_linear *l, bool needs, double size, double *price,
    struct gv_price_memory *memory)
{
	const struct gv_problem *p = l->p;
	double *used = gv_xcalloc(p->m, sizeof(*used));
	struct gv_crowd c;
	double gain = 0;
	size_t i, j;

	gv_crowd_alloc(&c, p->n, p->m, true);
	for (i = 0; i < p->n; i++) {
		c.use[i] = p->count[i] * p->scale[i];
		set_parts(l, i, c.a, c.stride);
		for (j = 0; j < p->m; j++)
			c.gain[j * c.stride + i] =
			    p->count[i] * (l->gain[i * p->m + j] / size);
	}
	if (needs)
		gain = use_and_gain(l, &c, used);
	gv_price_sum(
	    &c, p->capacity, needs ? used : NULL, gain, needs ? 1 : 0, price, memory);
	for (j = 0; j < p->m; j++)
		price[j] *= size;
	gv_crowd_free(&c);
	free(used);
}

/* What job i adds to the bound at a multiplier of its need. */
static double
surplus(const struct gv_linear *l, size_t i, double mu)
{
	double most = 0;
	size_t j;

	for (j = 0; j < l->p->m; j++)
		if (gv_problem_rate(l->p, i, j) > 0)
			most = fmax(most,
			    net_of(l, l->price, i, j) + mu * gv_problem_rate(l->p, i, j));
	return most - mu * l->need[i];
}

/* The multiplier of its need that makes the bound least: where two of its lines meet. */
static double
best_multiplier(const struct gv_linear *l, size_t i)
{
	const struct gv_problem *p = l->p;
	double best = 0, least = surplus(l, i, 0);
	size_t j, k;

	for (j = 0; j < p->m; j++) {
		double rate = gv_problem_rate(p, i, j);
		double net = net_of(l, l->price, i, j);

		for (k = 0; k <= p->m && rate > 0; k++) {
			double other = k < p->m ? gv_problem_rate(p, i, k) : 0;
			double mu = ((other > 0 ? net_of(l, l->price, i, k) : 0) - net) /
				    (rate - other);

			if (rate > other && mu > 0 && surplus(l, i, mu) < least) {
				least = surplus(l, i, mu);
				best = mu;
			}
		}
	}
	return best;
}

/* Bound and gap at l->price; false: they are not near enough.  size: see sum_size. */
static bool
prove(struct gv_linear *l, double size)
{
	const struct gv_problem *p = l->p;
	double sum, off;
	size_t i;

	for (i = 0; i < p->n; i++)
		l->mu[i] = need_of(l, i) > 0 ? best_multiplier(l, i) : 0;
	gv_problem_clean(p, l->s->x);
	l->s->has_bound = true;
	l->s->objective = gv_linear_sum(p, l->gain, l->s->x);
	gv_linear_prove(l);
	sum = fabs(l->s->bound);
	off = l->s->bound - l->s->objective;
	if (l->size != NULL) /* differences may be near 0 */
		sum = fmax(sum, 1e-4 * size);
	if (l->size != NULL && off > 1e-10 * sum)
		sum = fmax(sum, gv_linear_sum(p, l->size, l->s->x));
	return off <= 1e-10 * sum;
}

int
gv_linear_by_prices(struct gv_linear *l, struct gv_price_memory *memory, const char *name,
    struct gv_error *e)
{
	static const double part[] = {1e-7, 1e-5, 1e-3};
	const struct gv_problem *p = l->p;
	double *price = gv_xcalloc(p->m, sizeof(*price));
	bool *undecided = gv_xcalloc(p->n, sizeof(*undecided));
	double size = sum_size(l);
	bool needs = false;
	size_t i, k;
	int rc = 1;

	for (i = 0; i < p->n && !needs; i++)
		needs = need_of(l, i) > 0;
	find_prices(l, needs, size, price, memory);
	for (k = 0; k < 3 && rc == 1; k++) {
		struct gv_problem q;

		rc = decide(l, price, part[k], &q, undecided) ? 0 : 1;
		memcpy(l->price, price, p->m * sizeof(*price));
		if (rc == 0 && q.n > 0)
			rc = solve_undecided(l, &q, undecided, name, e);
		gv_problem_free(&q);
		if (rc == 0)
			rc = prove(l, size) ? 0 : 1;
	}
	free(price);
	free(undecided);
	return rc;
}
