/*
 * Sums in the space of prices.
 *
 * At given prices of GPUs every job by itself demands what gains it most after cost and
 * keeps its need: a vertex of {thr >= need, time <= 1}, one type or two.  At nearly the
 * right prices, those of the least dual (dual.h), that is the answer for all jobs whose
 * other vertices have reduced costs clearly above 0; they are fixed.  The program of the
 * few free jobs, with the GPUs that the others leave, gives the right prices and the rest
 * of the shares.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/interior/sift.h"
#include "alloc/simplex/simplex.h"
#include "linear_prices.h"
#include "lp/tolerance.h"

/* A vertex; k = j: one type. */
struct vertex {
	size_t j, k;
	double xj, xk;
	double value; /* gain less cost */
};

static double
need_of(const struct gv_linear *l, size_t i)
{
	return l->need != NULL ? l->need[i] : 0;
}

/* price [m + 1] of GPUs, with what they cost of money, and behind them of money. */
static double
net_of(const struct gv_linear *l, const double *price, size_t i, size_t j)
{
	return l->gain[i * l->p->m + j] - price[j] * l->p->scale[i];
}

/* At the prices of the proof. */
static double
net_proved(const struct gv_linear *l, size_t i, size_t j)
{
	const struct gv_problem *p = l->p;

	return l->gain[i * p->m + j] -
	       (l->price[j] + l->budget * p->price[j]) * p->scale[i];
}

/* Those prices become those of the proof. */
static void
prove_at(struct gv_linear *l, const double *price)
{
	const struct gv_problem *p = l->p;
	size_t j;

	l->budget = p->budget > 0 ? price[p->m] : 0;
	for (j = 0; j < p->m; j++)
		l->price[j] = p->budget > 0 ? fmax(0, price[j] - l->budget * p->price[j])
					    : price[j];
}

/*
 * The vertices of job i that use type j: all the time; until q_i = need is met, x_j = q_i /
 * T_ij; or with a slower type k, x_j = (q_i - T_ik) / (T_ij - T_ik), x_k = 1 - x_j.
 */
static size_t
vertices_of_type(const struct gv_linear *l, const double *price, size_t i, size_t j,
    struct vertex *vertex)
{
	double need = need_of(l, i);
	double rate = gv_problem_rate(l->p, i, j);
	double net = net_of(l, price, i, j);
	size_t k, n = 0;

	if (rate == 0 || rate < need * (1 - GV_TOL_NEED))
		return 0;
	vertex[n++] = (struct vertex){j, j, 1, 0, net};
	if (need > rate * (1 - GV_TOL_NEED))
		return n;
	vertex[n++] = (struct vertex){j, j, need / rate, 0, net * (need / rate)};
	for (k = 0; k < l->p->m; k++) {
		double slow = gv_problem_rate(l->p, i, k);
		double part = (need - slow) / (rate - slow);

		if (slow > 0 && slow < need * (1 - GV_TOL_NEED))
			vertex[n++] = (struct vertex){j, k, part, 1 - part,
			    part * net + (1 - part) * net_of(l, price, i, k)};
	}
	return n;
}

/* All vertices of job i, which has a need: room for m (m + 2). */
static size_t
vertices_of(
    const struct gv_linear *l, const double *price, size_t i, struct vertex *vertex)
{
	size_t j, n = 0;

	for (j = 0; j < l->p->m; j++)
		n += vertices_of_type(l, price, i, j, &vertex[n]);
	return n;
}

/* What is as good: but for a part of its size, and of the whole sum, to which prices are sure. */
struct near {
	double part;
	double sum; /* a part of the largest there may be */
};

/* By how much the value of job i's shares may be wrong, for prices of types that it can use are. */
static double
blur(const struct gv_linear *l, const struct near *near, size_t i)
{
	const struct gv_problem *p = l->p;
	double least = INFINITY;
	size_t j;

	for (j = 0; j < p->m; j++)
		if (gv_problem_rate(p, i, j) > 0)
			least = fmin(least, p->capacity[j]);
	return p->scale[i] * (near->sum / least);
}

/*
 * The best of n vertices into *best, and good[]: types of vertices that are as good.
 * True: there are such others, so the job is free.
 */
static bool
find_best(const struct gv_linear *l, const double *price, const struct near *as_good,
    size_t i, const struct vertex *vertex, size_t n, struct vertex *best, bool *good)
{
	const struct gv_problem *p = l->p;
	const double *size = l->size != NULL ? l->size : l->gain;
	double magnitude = 0, least;
	size_t j, c, near = 0;

	*best = vertex[0];
	for (c = 1; c < n; c++)
		if (vertex[c].value > best->value)
			*best = vertex[c];
	for (j = 0; j < p->m; j++)
		if (gv_problem_rate(p, i, j) > 0)
			magnitude = fmax(
			    magnitude, fabs(size[i * p->m + j]) + price[j] * p->scale[i]);
	least = best->value - as_good->part * magnitude - blur(l, as_good, i);
	for (c = 0; c < n; c++) {
		if (vertex[c].value < least)
			continue;
		near++;
		good[vertex[c].j] = true;
		good[vertex[c].k] = good[vertex[c].k] || vertex[c].xk > 0;
	}
	return near > 1;
}

/* For a job without need, whose vertices are a type all the time, or none: *best is that first. */
static bool
find_best_type(const struct gv_linear *l, const double *price, const struct near *as_good,
    size_t i, struct vertex *best, bool *good)
{
	const struct gv_problem *p = l->p;
	const double *size = l->size != NULL ? l->size : l->gain;
	double magnitude = 0, least;
	size_t j, near;

	for (j = 0; j < p->m; j++) {
		double cost = price[j] * p->scale[i];
		double net = l->gain[i * p->m + j] - cost;
		double all = fabs(size[i * p->m + j]) + cost;

		if (gv_problem_rate(p, i, j) == 0)
			continue;
		magnitude = all > magnitude ? all : magnitude;
		if (net > best->value)
			*best = (struct vertex){j, j, 1, 0, net};
	}
	least = best->value - as_good->part * magnitude - blur(l, as_good, i);
	near = least <= 0;
	for (j = 0; j < p->m; j++)
		if (gv_problem_rate(p, i, j) > 0 && net_of(l, price, i, j) >= least) {
			good[j] = true;
			near++;
		}
	return near > 1;
}

static void
assign(const struct gv_linear *l, size_t i, const struct vertex *c, double *capacity)
{
	const struct gv_problem *p = l->p;

	l->s->x[i * p->m + c->j] += c->xj;
	l->s->x[i * p->m + c->k] += c->xk;
	capacity[c->j] -= p->count[i] * p->scale[i] * c->xj;
	capacity[c->k] -= p->count[i] * p->scale[i] * c->xk;
}

/*
 * The free jobs into q, with only the types whose reduced cost is 0 but for a part of
 * their size; the others have their best vertex.  False: they demand more than there is.
 */
static bool
fix_jobs(const struct gv_linear *l, const double *price, const struct near *as_good,
    struct gv_problem *q, bool *is_free)
{
	const struct gv_problem *p = l->p;
	bool *good = gv_xcalloc(p->n, p->m * sizeof(*good));
	double *left = gv_xcalloc(p->m, sizeof(*left));
	struct vertex *vertex = gv_xcalloc(p->m, (p->m + 2) * sizeof(*vertex));
	bool fits = true;
	size_t i, j, k = 0;

	memset(l->s->x, 0, p->n * p->m * sizeof(*l->s->x));
	memcpy(left, p->capacity, p->m * sizeof(*left));
	for (i = 0; i < p->n; i++) {
		struct vertex best = {0};
		size_t n = need_of(l, i) > 0 ? vertices_of(l, price, i, vertex) : 1;

		if (need_of(l, i) > 0)
			is_free[i] = n == 0 || find_best(l, price, as_good, i, vertex, n,
						   &best, &good[i * p->m]);
		else
			is_free[i] =
			    find_best_type(l, price, as_good, i, &best, &good[i * p->m]);
		if (!is_free[i])
			assign(l, i, &best, left);
	}
	gv_problem_pick(q, p, is_free);
	for (i = 0; i < p->n; i++) {
		for (j = 0; j < p->m && is_free[i]; j++)
			if (!good[i * p->m + j])
				q->rate[k * p->m + j] = 0;
		k += is_free[i];
	}
	for (j = 0; j < p->m; j++) {
		fits = fits && left[j] >= -GV_TOL_NEED * p->capacity[j];
		q->capacity[j] = fmax(0, left[j]);
	}
	if (p->budget > 0) {
		double money = p->budget - gv_problem_cost(p, l->s->x);

		fits = fits && money >= -GV_TOL_NEED * p->budget;
		q->budget = fmax(money, DBL_MIN); /* 0 would be any */
	}
	free(good);
	free(left);
	free(vertex);
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

/* The program of the free jobs.  0; 1 it has no solution; -1 with *e set. */
static int
solve_free(struct gv_linear *l, const struct gv_problem *q, const bool *is_free,
    const char *name, struct gv_error *e)
{
	const struct gv_problem *p = l->p;
	struct gv_solution s = {.x = gv_xcalloc(q->n, q->m * sizeof(*s.x))};
	double *gain = pick_rows(l->gain, is_free, p->n, p->m);
	double *size = pick_rows(l->size, is_free, p->n, p->m);
	double *second = pick_rows(l->second, is_free, p->n, p->m);
	double *need = pick_rows(l->need, is_free, p->n, 1);
	struct gv_linear part;
	size_t i, k = 0;
	int rc;

	gv_linear_init(&part, q, &s);
	part.gain = gain;
	part.size = l->size != NULL ? size : NULL;
	part.second = l->second != NULL ? second : NULL;
	part.need = l->need != NULL ? need : NULL;
	rc = gv_linear_by_program(&part, false, false, name, e);
	for (i = 0; i < p->n && rc == 0; i++)
		if (is_free[i])
			memcpy(&l->s->x[i * p->m], &s.x[k++ * p->m], p->m * sizeof(*s.x));
	memcpy(l->price, part.price, p->m * sizeof(*l->price));
	l->budget = part.budget;
	l->s->second_missed = s.second_missed;
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

/* GPUs that the shares in l->s use, and what they cost, into used [m + 1]; what they gain. */
static double
use_and_gain(const struct gv_linear *l, const struct gv_oracle_jobs *c, double *used)
{
	size_t m = l->p->m;
	double gain = 0;
	size_t i, j;

	for (i = 0; i < c->n; i++)
		for (j = 0; j < m; j++) {
			used[j] += c->use[i] * l->s->x[i * m + j];
			gain += c->gain[j * c->stride + i] * l->s->x[i * m + j];
		}
	used[m] = gv_problem_cost(l->p, l->s->x);
	return gain;
}

/* The jobs in columns; with a budget the last type is money, on which none runs. */
static void
sum_columns(const struct gv_linear *l, double size, struct gv_oracle_jobs *c)
{
	const struct gv_problem *p = l->p;
	size_t i, j;

	gv_oracle_jobs_alloc(c, p->n, p->m + (p->budget > 0), true);
	for (i = 0; i < p->n; i++) {
		c->use[i] = p->count[i] * p->scale[i];
		set_parts(l, i, c->a, c->stride);
		for (j = 0; j < p->m; j++)
			c->gain[j * c->stride + i] =
			    p->count[i] * (l->gain[i * p->m + j] / size);
		if (c->m > p->m)
			c->a[p->m * c->stride + i] = c->gain[p->m * c->stride + i] = 0;
	}
}

/*
 * Into price [m + 1]: prices of nearly the best sum; l->s->x keeps the needs.  size: see
 * sum_size.
 */
static void
find_prices(const struct gv_linear *l, bool needs, double size, double *price,
    double *effort, struct gv_price_memory *memory)
{
	const struct gv_problem *p = l->p;
	double *used = gv_xcalloc(p->m + 1, sizeof(*used));
	double *capacity = gv_xcalloc(p->m + 1, sizeof(*capacity));
	struct gv_oracle_jobs c;
	double gain = 0;
	size_t j;

	memcpy(capacity, p->capacity, p->m * sizeof(*capacity));
	capacity[p->m] = p->budget;
	sum_columns(l, size, &c);
	if (needs)
		gain = use_and_gain(l, &c, used);
	gv_price_sum(&c, capacity, needs ? used : NULL, gain, needs ? 1 : 0,
	    p->budget > 0 ? p->price : NULL, price, effort, memory);
	for (j = 0; j <= p->m; j++)
		price[j] *= size;
	gv_oracle_jobs_free(&c);
	free(used);
	free(capacity);
}

/*
 * The same by the interior-point method.  False: it came to nothing, or there is a budget,
 * which it does not know.
 */
static bool
find_prices_inside(const struct gv_linear *l, double size, double *price)
{
	const struct gv_problem *p = l->p;
	double *gain = gv_xcalloc(p->n, p->m * sizeof(*gain));
	double *use = gv_xcalloc(p->n, sizeof(*use));
	struct gv_interior_program ip = {.n = p->n,
	    .m = p->m,
	    .level = p->rate,
	    .use = use,
	    .gain = gain,
	    .need = l->need,
	    .capacity = p->capacity};
	struct gv_interior_point at = {.gap = INFINITY};
	bool near;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		use[i] = p->count[i] * p->scale[i];
		for (j = 0; j < p->m; j++)
			gain[i * p->m + j] = p->count[i] * (l->gain[i * p->m + j] / size);
	}
	if (p->budget <= 0)
		gv_interior_sift(&ip, &at);
	for (j = 0; at.price != NULL && j < p->m && at.gap < GV_TOL_INTERIOR_NEAR; j++)
		price[j] = at.price[j] * size;
	free(gain);
	free(use);
	near = at.gap < GV_TOL_INTERIOR_NEAR;
	gv_interior_free(&at);
	return near;
}

/* What job i adds to the bound at a multiplier mu of its need: max(0, max_j (g_ij - p_j s_i + mu T_ij)) - mu q_i. */
static double
surplus(const struct gv_linear *l, size_t i, double mu)
{
	double most = 0;
	size_t j;

	for (j = 0; j < l->p->m; j++)
		if (gv_problem_rate(l->p, i, j) > 0)
			most = fmax(
			    most, net_proved(l, i, j) + mu * gv_problem_rate(l->p, i, j));
	return most - mu * l->need[i];
}

/* That is convex and piecewise linear in mu, least where two of its lines meet. */
static double
best_multiplier(const struct gv_linear *l, size_t i)
{
	const struct gv_problem *p = l->p;
	double best = 0, least = surplus(l, i, 0);
	size_t j, k;

	for (j = 0; j < p->m; j++) {
		double rate = gv_problem_rate(p, i, j);
		double net = net_proved(l, i, j);

		for (k = 0; k <= p->m && rate > 0; k++) {
			double other = k < p->m ? gv_problem_rate(p, i, k) : 0;
			double mu = ((other > 0 ? net_proved(l, i, k) : 0) - net) /
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
		sum = fmax(sum, GV_TOL_DIFFERENCE * size);
	if (l->size != NULL && off > GV_TOL_SUM_PROVED * sum)
		sum = fmax(sum, gv_linear_sum(p, l->size, l->s->x));
	return off <= GV_TOL_SUM_PROVED * sum;
}

/*
 * At the prices of the free jobs' program, or else at those of the search: of the former
 * there are many where what is left of a type's GPUs is just what the free jobs take.
 */
static bool
prove_at_either(struct gv_linear *l, const double *price, double size)
{
	if (prove(l, size))
		return true;
	prove_at(l, price);
	return prove(l, size);
}

/* Takes that from the effort that is left, if there is a limit.  False: it is more. */
static bool
suffices(double *effort, double more)
{
	return effort == NULL || (*effort -= more) >= 0;
}

/* From prices that are near enough: 0, 1 or -1 as of gv_linear_by_prices(). */
static int
finish(struct gv_linear *l, const double *price, double size, double *effort,
    const char *name, struct gv_error *e)
{
	static const double part[] = {GV_TOL_FREE_1, GV_TOL_FREE_2, GV_TOL_FREE_3};
	bool *is_free = gv_xcalloc(l->p->n, sizeof(*is_free));
	size_t k;
	int rc = 1;

	for (k = 0; k < 3 && rc == 1 && suffices(effort, 0); k++) {
		const struct near as_good = {
		    part[k], l->second != NULL ? GV_TOL_INTERIOR * size : 0};
		struct gv_problem q;

		rc = fix_jobs(l, price, &as_good, &q, is_free) ? 0 : 1;
		if (rc == 0 && !suffices(effort, gv_simplex_sum_effort(q.n, q.m))) {
			gv_problem_free(&q);
			rc = 1;
			break;
		}
		prove_at(l, price);
		if (rc == 0 && q.n > 0)
			rc = solve_free(l, &q, is_free, name, e);
		gv_problem_free(&q);
		if (rc == 0)
			rc = prove_at_either(l, price, size) ? 0 : 1;
	}
	free(is_free);
	return rc;
}

int
gv_linear_by_prices(struct gv_linear *l, double *effort, struct gv_price_memory *memory,
    const char *name, struct gv_error *e)
{
	double *price = gv_xcalloc(l->p->m + 1, sizeof(*price));
	double size = sum_size(l), grant = effort != NULL ? *effort / 4 : 0;
	bool needs = false;
	size_t i;
	int rc;

	for (i = 0; i < l->p->n && !needs; i++)
		needs = need_of(l, i) > 0;
	find_prices(l, needs, size, price, effort, memory);
	/* what has prices is near its end, as in gv_dual_has_to_end() */
	if (effort != NULL && *effort >= 0) {
		*effort += grant;
		rc = finish(l, price, size, effort, name, e);
		*effort -= grant;
	} else {
		rc = finish(l, price, size, effort, name, e);
	}
	free(price);
	return rc;
}

int
gv_linear_by_interior(struct gv_linear *l, const char *name, struct gv_error *e)
{
	double *price = gv_xcalloc(l->p->m + 1, sizeof(*price));
	double size = sum_size(l);
	int rc = 1;

	if (find_prices_inside(l, size, price))
		rc = finish(l, price, size, NULL, name, e);
	free(price);
	return rc;
}
