/*
 * strategy-proof: nobody gains by lying about the own rates.  Shares of
 * proportional fairness,
 *
 *	max sum_i log thr_i(x)
 *
 * of which each job is given only the part
 *
 *	d_i = prod_{k != i} thr_k(all) / thr_k(all but i),
 *
 * which is what the others lose by its being there (Cole, Gkatzelis and Goel, EC
 * 2013: the partial allocation mechanism).  So GPUs idle: that is the price.
 *
 * The sum is maximised by Newton steps on a barrier; the logarithms make it
 * self-concordant, and one job's part of the Hessian is coupled with another's
 * only through the types, so a step costs n m^3.  With l_i = 1 / thr_i and prices
 * p_j of the GPUs no x is better by more than
 *
 *	sum_j p_j N_j + sum_i max(0, max_j (l_i T_ij - p_j s_i)) - n,
 *
 * as the sum is concave: the gap, which the barrier's own prices make small.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy.h"

static const double last_mu = 1e-9; /* of the barrier: the gap is some times that */

/* A problem of proportional fairness and the present x. */
struct fair {
	const struct problem *p;
	double *a;     /* [n][m] rates, the best of each job 1 */
	double *count; /* [n] how many jobs of the row there are; may be 0 */
	bool *used;    /* [m] somebody can run there */
	double mu;
	double *x;        /* [n][m] */
	double *v, *time; /* [n] throughput, time left */
	double
	    *gpus; /* [m] left; as time it goes along with x, whose sums would lose it */
	double *v1, *time1, *gpus1;           /* the same at the end of a step */
	double *best_x, *best_v, *price, gap; /* what is kept */

	double *grad, *step; /* [n][m] */
	double *block;       /* [n][m][m] factors of the jobs' blocks */
	double *solved; /* [m][m] scratch: a block's solutions for the unit vectors */
	double *schur;  /* [m][m] */
	double *y;      /* [m] */
};

static void
fair_init(struct fair *f, const struct problem *p)
{
	size_t n = p->n, m = p->m, i, j;

	*f = (struct fair){.p = p};
	f->a = gv_xcalloc(n, m * sizeof(double));
	f->count = gv_xcalloc(n, sizeof(double));
	f->used = gv_xcalloc(m, sizeof(bool));
	f->x = gv_xcalloc(n, m * sizeof(double));
	f->v = gv_xcalloc(n, sizeof(double));
	f->time = gv_xcalloc(n, sizeof(double));
	f->gpus = gv_xcalloc(m, sizeof(double));
	f->v1 = gv_xcalloc(n, sizeof(double));
	f->best_x = gv_xcalloc(n, m * sizeof(double));
	f->best_v = gv_xcalloc(n, sizeof(double));
	f->price = gv_xcalloc(m, sizeof(double));
	f->time1 = gv_xcalloc(n, sizeof(double));
	f->gpus1 = gv_xcalloc(m, sizeof(double));
	f->grad = gv_xcalloc(n, m * sizeof(double));
	f->step = gv_xcalloc(n, m * sizeof(double));
	f->block = gv_xcalloc(n, m * m * sizeof(double));
	f->solved = gv_xcalloc(m, m * sizeof(double));
	f->schur = gv_xcalloc(m, m * sizeof(double));
	f->y = gv_xcalloc(m, sizeof(double));
	memcpy(f->count, p->count, n * sizeof(double));
	for (i = 0; i < n; i++) {
		double best = 0;

		for (j = 0; j < m; j++)
			best = fmax(best, problem_rate(p, i, j));
		for (j = 0; j < m; j++)
			f->a[i * m + j] = problem_rate(p, i, j) / best;
	}
}

static void
fair_free(struct fair *f)
{
	free(f->a);
	free(f->count);
	free(f->used);
	free(f->x);
	free(f->v);
	free(f->time);
	free(f->gpus);
	free(f->v1);
	free(f->best_x);
	free(f->best_v);
	free(f->price);
	free(f->time1);
	free(f->gpus1);
	free(f->grad);
	free(f->step);
	free(f->block);
	free(f->solved);
	free(f->schur);
	free(f->y);
}

/* Well inside: half of an equal part of each type. */
static void
start(struct fair *f)
{
	const struct problem *p = f->p;
	size_t i, j;

	for (j = 0; j < p->m; j++) {
		double wanted = 0;
		double x;

		for (i = 0; i < p->n; i++)
			if (f->a[i * p->m + j] > 0)
				wanted += f->count[i] * p->scale[i];
		f->used[j] = wanted > 0;
		x = .5 * fmin(1 / (double)p->m, p->capacity[j] / fmax(wanted, 1));
		for (i = 0; i < p->n; i++)
			f->x[i * p->m + j] = f->a[i * p->m + j] > 0 ? x : 0;
	}
	memcpy(f->gpus, p->capacity, p->m * sizeof(double));
	for (i = 0; i < p->n; i++) {
		f->v[i] = 0;
		f->time[i] = 1;
		for (j = 0; j < p->m; j++) {
			f->v[i] += f->a[i * p->m + j] * f->x[i * p->m + j];
			f->time[i] -= f->x[i * p->m + j];
			f->gpus[j] -= f->count[i] * p->scale[i] * f->x[i * p->m + j];
		}
	}
}

/* v, time and gpus of x + part step; false if something there is not above 0. */
static bool
look(struct fair *f, double part)
{
	const struct problem *p = f->p;
	bool inside = true;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		f->v1[i] = 0;
		f->time1[i] = f->time[i];
		for (j = 0; j < p->m; j++) {
			double step = part * f->step[i * p->m + j];
			double x = f->x[i * p->m + j] + step;

			f->v1[i] += f->a[i * p->m + j] * x;
			f->time1[i] -= step;
			inside = inside && (x > 0 || f->a[i * p->m + j] == 0);
		}
		inside = inside && f->time1[i] > 0;
	}
	for (j = 0; j < p->m; j++) {
		f->gpus1[j] =
		    f->gpus[j] - part * f->y[j] * f->gpus[j] * (f->gpus[j] / f->mu);
		inside = inside && (f->gpus1[j] > 0 || !f->used[j]);
	}
	return inside;
}

static void
go(struct fair *f, double part)
{
	const struct problem *p = f->p;
	size_t i;

	look(f, part);
	for (i = 0; i < p->n * p->m; i++)
		f->x[i] += part * f->step[i];
	memcpy(f->v, f->v1, p->n * sizeof(double));
	memcpy(f->time, f->time1, p->n * sizeof(double));
	memcpy(f->gpus, f->gpus1, p->m * sizeof(double));
}

/* The barrier at x + part step, where look() was. */
static double
barrier(const struct fair *f, double part)
{
	const struct problem *p = f->p;
	double sum = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double walls = 0;

		if (f->count[i] == 0)
			continue;
		for (j = 0; j < p->m; j++)
			if (f->a[i * p->m + j] > 0)
				walls += log(
				    f->x[i * p->m + j] + part * f->step[i * p->m + j]);
		sum -= f->count[i] * (log(f->v1[i]) + f->mu * (walls + log(f->time1[i])));
	}
	for (j = 0; j < p->m; j++)
		if (f->used[j])
			sum -= f->mu * log(f->gpus1[j]);
	return sum;
}

/* In place, the lower triangle. */
static void
cholesky(double *a, size_t m)
{
	size_t i, j, k;

	for (j = 0; j < m; j++)
		for (i = j; i < m; i++) {
			double sum = a[i * m + j];

			for (k = 0; k < j; k++)
				sum -= a[i * m + k] * a[j * m + k];
			if (i == j)
				a[j * m + j] = sqrt(fmax(sum, DBL_MIN));
			else
				a[i * m + j] = sum / a[j * m + j];
		}
}

static void
cholesky_solve(const double *l, size_t m, double *b)
{
	size_t i, k;

	for (i = 0; i < m; i++) {
		for (k = 0; k < i; k++)
			b[i] -= l[i * m + k] * b[k];
		b[i] /= l[i * m + i];
	}
	for (i = m; i-- > 0;) {
		for (k = i + 1; k < m; k++)
			b[i] -= l[k * m + i] * b[k];
		b[i] /= l[i * m + i];
	}
}

/* Gradient and factored block of one job, both per job of its row; its part of the Schur complement. */
static void
differentiate(struct fair *f, size_t i)
{
	const struct problem *p = f->p;
	size_t m = p->m, j, k;
	double *b = &f->block[i * m * m];
	double *g = &f->grad[i * m];
	const double *a = &f->a[i * m];
	double wall = f->mu / f->time[i];

	for (j = 0; j < m; j++) {
		double x = f->x[i * m + j];

		for (k = 0; k < m; k++)
			b[j * m + k] =
			    a[j] > 0 && a[k] > 0
				? a[j] / f->v[i] * (a[k] / f->v[i]) + wall / f->time[i]
				: 0;
		b[j * m + j] += a[j] > 0 ? f->mu / (x * x) : 1;
		g[j] = a[j] > 0 ? -a[j] / f->v[i] - f->mu / x + wall +
				      p->scale[i] * f->mu / f->gpus[j]
				: 0;
	}
	cholesky(b, m);
	for (j = 0; j < m; j++)
		f->step[i * m + j] = -g[j];
	cholesky_solve(b, m, &f->step[i * m]);
	for (j = 0; j < m; j++) {
		double *column = &f->solved[j * m];

		memset(column, 0, m * sizeof(*column));
		if (a[j] == 0)
			continue;
		column[j] = p->scale[i];
		cholesky_solve(b, m, column);
		for (k = 0; k < m; k++)
			f->schur[j * m + k] +=
			    a[k] > 0 ? f->count[i] * p->scale[i] * column[k] : 0;
		f->y[j] += f->count[i] * p->scale[i] * f->step[i * m + j];
	}
}

/* The Newton step from x; returns how fast the barrier falls along it: step H step. */
static double
newton(struct fair *f)
{
	const struct problem *p = f->p;
	size_t m = p->m, i, j, k;
	double fall = 0;

	memset(f->schur, 0, m * m * sizeof(double));
	memset(f->y, 0, m * sizeof(double));
	for (i = 0; i < p->n; i++)
		if (f->count[i] > 0)
			differentiate(f, i);
	for (j = 0; j < m; j++)
		f->schur[j * m + j] += f->used[j] ? f->gpus[j] * f->gpus[j] / f->mu : 1;
	cholesky(f->schur, m);
	cholesky_solve(f->schur, m, f->y);
	for (i = 0; i < p->n; i++) {
		double *shift = f->solved;

		if (f->count[i] == 0)
			continue;
		for (k = 0; k < m; k++)
			shift[k] = f->a[i * m + k] > 0 ? p->scale[i] * f->y[k] : 0;
		cholesky_solve(&f->block[i * m * m], m, shift);
		for (j = 0; j < m; j++)
			f->step[i * m + j] -= shift[j];
		for (j = 0; j < m; j++) {
			double sum = 0;

			for (k = j; k < m; k++)
				sum += f->block[(i * m + k) * m + j] * f->step[i * m + k];
			fall += f->count[i] * sum * sum;
		}
	}
	for (j = 0; j < m; j++)
		if (f->used[j])
			fall += f->y[j] * f->gpus[j] * (f->gpus[j] / f->mu) * f->y[j];
	return fall;
}

/*
 * Newton's method at the present mu.  Divided by mu the barrier is self-concordant:
 * near its least value full steps converge, and a step divided by 1 + d makes it
 * fall from anywhere.  Where the fall can be seen in the numbers, longer ones are
 * tried.  It ends when steps are as small as rounding makes them.
 */
static void
descend(struct fair *f)
{
	double last = INFINITY;
	int k;

	for (k = 0; k < 200; k++) {
		double here, fall, d, part = 1;

		memset(f->step, 0, f->p->n * f->p->m * sizeof(double));
		memset(f->y, 0, f->p->m * sizeof(double));
		look(f, 0);
		here = barrier(f, 0);
		fall = newton(f);
		d = sqrt(fall / f->mu);
		if (!(d > 1e-9) || (d < .1 && d > last / 2))
			return;
		last = d;
		while (d > .25 && part > 1 / (1 + d) &&
		       !(look(f, part) && fall > 1e-10 * (1 + fabs(here)) &&
			   barrier(f, part) <= here - .01 * part * fall))
			part /= 2;
		go(f, d > .25 ? fmax(part, 1 / (1 + d)) : 1);
	}
}

/* No x has a larger sum of logarithms by more than this, per job. */
static double
gap(const struct fair *f, const double *price, const double *x)
{
	const struct problem *p = f->p;
	double sum = 0, jobs = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		sum += price[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		double v = 0, most = 0;

		for (j = 0; j < p->m; j++)
			v += f->a[i * p->m + j] * x[i * p->m + j];
		for (j = 0; j < p->m; j++)
			if (f->a[i * p->m + j] > 0)
				most = fmax(most,
				    f->a[i * p->m + j] / v - price[j] * p->scale[i]);
		sum += f->count[i] * most;
		jobs += f->count[i];
	}
	return (sum - jobs) / jobs +
	       (double)(p->n + p->m + 8) * DBL_EPSILON * (sum / jobs);
}

/* Keeps what there is if it is the best so far. */
static void
keep(struct fair *f)
{
	const struct problem *p = f->p;
	double *price = f->step; /* scratch */
	double now;
	size_t j;

	for (j = 0; j < p->m; j++)
		price[j] = f->used[j] ? f->mu / f->gpus[j] : 0;
	now = gap(f, price, f->x);
	if (!(now < f->gap))
		return;
	f->gap = now;
	memcpy(f->price, price, p->m * sizeof(double));
	memcpy(f->best_x, f->x, p->n * p->m * sizeof(double));
	memcpy(f->best_v, f->v, p->n * sizeof(double));
}

/*
 * best_x, best_v, price and gap.  The smaller mu, the closer to the optimum, until
 * rounding takes over, sooner where types are equally good.
 */
static void
solve_fair(struct fair *f)
{
	start(f);
	f->gap = INFINITY;
	f->mu = .4;
	while (f->mu > last_mu) {
		descend(f);
		keep(f);
		f->mu *= .25;
	}
}

/* ---- the mechanism ---- */

/* log d_i: what the others lose, with = the throughputs of all. */
static double
log_part(struct fair *f, const double *with, size_t i)
{
	const struct problem *p = f->p;
	double sum = 0;
	size_t k;

	f->count[i] -= 1;
	solve_fair(f);
	for (k = 0; k < p->n; k++)
		if (f->count[k] > 0)
			sum += f->count[k] * log(with[k] / f->best_v[k]);
	f->count[i] += 1;
	return fmin(0, sum);
}

/* The geometric mean of the levels. */
static double
mean_level(const struct problem *p, const double *x)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double sum = 0, jobs = 0;
	size_t i;

	problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++) {
		double level =
		    p->scale[i] / p->weight[i] * (problem_throughput(p, x, i) / equal[i]);

		sum += p->count[i] * log(level);
		jobs += p->count[i];
	}
	free(equal);
	return exp(sum / jobs);
}

static int
solve(const struct problem *p, const struct solve_options *opt, struct solution *s,
    struct gv_error *e)
{
	struct fair f;
	double *with = gv_xcalloc(p->n, sizeof(*with));
	size_t i, j;

	(void)opt;
	(void)e;
	fair_init(&f, p);
	solve_fair(&f);
	memcpy(with, f.best_v, p->n * sizeof(*with));
	for (i = 0; i < p->n * p->m; i++)
		s->x[i] = f.best_x[i] > 1e-9 ? f.best_x[i] : 0;
	problem_clean(p, s->x);
	s->has_bound = true;
	s->objective = mean_level(p, s->x);
	s->gap = -expm1(-gap(&f, f.price, s->x));
	s->bound = s->objective / (1 - s->gap);
	for (i = 0; i < p->n; i++) {
		double part = exp(log_part(&f, with, i));

		for (j = 0; j < p->m; j++)
			s->x[i * p->m + j] *= part;
	}
	fair_free(&f);
	free(with);
	return 0;
}

const struct policy policy_strategy_proof = {
    .name = "strategy-proof",
    .solve = solve,
    .proved = 1e-7,
};
