#include "stay.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/problem/classes.h"
#include "alloc/prove/explain.h"
#include "lp/lp.h"
#include "lp/tolerance.h"

/* ---- what is asked ---- */

/* Of jobs, or of classes of jobs that are equal in all of this. */
struct question {
	size_t n, m;
	const struct gv_problem *p; /* GPUs and their prices */
	/* a problem whose rates are rows of rate, last share, floor and P_i, its weights costs of moves */
	const struct gv_problem *rows;
	enum gv_measure measure;
	double cost; /* of all GPUs in an hour at most; INFINITY = any */
	double sum;  /* of steps per dollar at least; 0 = any */
};

static double
rate_of(const struct question *q, size_t i, size_t j)
{
	return gv_problem_rate(q->rows, i, j);
}

/* On a type it cannot use any more it had nothing that could stay. */
static double
last_of(const struct question *q, size_t i, size_t j)
{
	return rate_of(q, i, j) > 0 ? gv_problem_rate(q->rows, i, q->m + j) : 0;
}

static double
floor_of(const struct question *q, size_t i)
{
	return gv_problem_rate(q->rows, i, 2 * q->m);
}

static double
equal_of(const struct question *q, size_t i)
{
	return gv_problem_rate(q->rows, i, 2 * q->m + 1);
}

/* GPUs of row i with a share of 1. */
static double
gpus_of(const struct question *q, size_t i)
{
	return q->rows->count[i] * q->rows->scale[i];
}

/* The throughput that job k of the answer must keep: a part may be given up, a need not. */
static double
least_of(const struct gv_answer *a, size_t k, double need, double part)
{
	double has = gv_problem_throughput(&a->p, a->s.x, k);

	return fmin(has, fmax((1 - part) * has, need));
}

/* The rows of all jobs. */
static void
ask(struct gv_problem *rows, const struct gv_answer *a, const struct gv_rates *r,
    const struct gv_answer_options *opt)
{
	const struct gv_problem *p = &a->p;
	double *need = gv_answer_needs(a);
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	size_t m = p->m;
	size_t i, j, k;

	gv_problem_equal_throughput(p, equal);
	gv_problem_alloc(rows, p->n, 2 * m + 2);
	for (i = 0; i < r->n_jobs; i++) {
		const double *last = gv_previous_find(opt->previous, r->job[i].id);
		double *row;

		if (a->row[i] == SIZE_MAX)
			continue;
		k = a->row[i];
		row = &rows->rate[k * rows->m];
		for (j = 0; j < m; j++)
			row[j] = gv_problem_rate(p, k, j);
		for (j = 0; last != NULL && j < opt->previous->m; j++)
			row[m + a->type[j]] += fmin(1, last[j]);
		row[2 * m] = least_of(a, k, need[k], opt->stay);
		row[2 * m + 1] = equal[k];
		rows->scale[k] = p->scale[k];
		rows->weight[k] = last != NULL ? r->job[i].move_cost : 0;
		rows->count[k] = 1;
	}
	free(equal);
	free(need);
}

/* sum_i c_i s_i sum_j |x_ij - y_ij| / 2 */
static double
distance(const struct question *q, const double *x)
{
	double sum = 0;
	size_t i, j;

	for (i = 0; i < q->n; i++)
		for (j = 0; j < q->m; j++)
			sum +=
			    q->rows->weight[i] * gpus_of(q, i) *
			    fabs(x[i * q->m + j] - gv_problem_rate(q->rows, i, q->m + j));
	return sum / 2;
}

/* ---- the program ---- */

/*
 * x_ij = y_ij + unit_i (up - down), with the unit that makes the numbers of a job about 1;
 * where y_ij is 0 there is no down.
 */
struct program {
	const struct question *q;
	double less; /* floors are lower by that part */
	double *unit;
	size_t *up, *down; /* [n][m] columns, SIZE_MAX: none */
	struct gv_lp lp;
};

static double
unit_of(const struct question *q, size_t i)
{
	double best = 0, most = 0;
	size_t j;

	for (j = 0; j < q->m; j++) {
		best = fmax(best, rate_of(q, i, j));
		most = fmax(most, last_of(q, i, j));
	}
	most = fmax(most, best > 0 ? floor_of(q, i) / best : 0);
	return most > 0 ? most : 1;
}

/* Both columns of a share, in a row where a share counts so much. */
static void
set_share(struct program *g, size_t row, size_t i, size_t j, double value)
{
	size_t at = i * g->q->m + j;

	if (g->up[at] != SIZE_MAX)
		gv_lp_set(&g->lp, row, g->up[at], value * g->unit[i]);
	if (g->down[at] != SIZE_MAX)
		gv_lp_set(&g->lp, row, g->down[at], -value * g->unit[i]);
}

/* The columns and rows of job i; its time, its floor. */
static void
add_job(struct program *g, size_t i)
{
	const struct question *q = g->q;
	double move = q->rows->weight[i] * gpus_of(q, i) * g->unit[i] / 2;
	double least = floor_of(q, i);
	double time = 0, has = 0;
	size_t j, row;

	for (j = 0; j < q->m; j++) {
		double last = last_of(q, i, j);

		g->up[i * q->m + j] = g->down[i * q->m + j] = SIZE_MAX;
		if (rate_of(q, i, j) > 0)
			g->up[i * q->m + j] = gv_lp_add_col(&g->lp, 0, INFINITY, move);
		if (last > 0)
			g->down[i * q->m + j] =
			    gv_lp_add_col(&g->lp, 0, last / g->unit[i], move);
		time += last;
		has += last * rate_of(q, i, j);
	}
	row = gv_lp_add_row(&g->lp, -INFINITY, (1 - time) / g->unit[i]);
	for (j = 0; j < q->m; j++)
		set_share(g, row, i, j, 1 / g->unit[i]);
	if (!(least > 0))
		return;
	row = gv_lp_add_row(&g->lp, 1 - g->less - has / least, INFINITY);
	for (j = 0; j < q->m; j++)
		set_share(g, row, i, j, rate_of(q, i, j) / least);
}

/* A row over all shares, each of which counts value(i, j): of GPUs, of money, of steps. */
static void
add_sum(struct program *g, double (*value)(const struct question *q, size_t i, size_t j),
    double lo, double hi)
{
	const struct question *q = g->q;
	double size = isfinite(hi) ? hi : lo;
	double has = 0;
	size_t i, j, row = gv_lp_add_row(&g->lp, -INFINITY, INFINITY);

	size = size > 0 ? size : 1;
	for (i = 0; i < q->n; i++)
		for (j = 0; j < q->m; j++) {
			has += value(q, i, j) * last_of(q, i, j);
			set_share(g, row, i, j, value(q, i, j) / size);
		}
	g->lp.row_lo[row] = (lo * (1 - g->less) - has) / size;
	g->lp.row_hi[row] = (hi * (1 + g->less) - has) / size;
}

static double
dollars(const struct question *q, size_t i, size_t j)
{
	return gpus_of(q, i) * q->p->price[j];
}

static double
steps_per_dollar(const struct question *q, size_t i, size_t j)
{
	return q->rows->count[i] * rate_of(q, i, j) / (q->p->price[j] / 3600);
}

static void
build(struct program *g, const struct question *q, double less)
{
	size_t i, j;

	*g = (struct program){.q = q, .less = less};
	g->unit = gv_xcalloc(q->n, sizeof(*g->unit));
	g->up = gv_xcalloc(q->n, q->m * sizeof(*g->up));
	g->down = gv_xcalloc(q->n, q->m * sizeof(*g->down));
	for (i = 0; i < q->n; i++) {
		g->unit[i] = unit_of(q, i);
		add_job(g, i);
	}
	for (j = 0; j < q->m; j++) {
		double size = fmax(1, q->p->capacity[j]);
		double has = 0;
		size_t row = gv_lp_add_row(&g->lp, -INFINITY, 0);

		for (i = 0; i < q->n; i++) {
			has += gpus_of(q, i) * last_of(q, i, j);
			set_share(g, row, i, j, gpus_of(q, i) / size);
		}
		g->lp.row_hi[row] = (q->p->capacity[j] - has) / size;
	}
	if (isfinite(q->cost))
		add_sum(g, dollars, -INFINITY, q->cost);
	if (q->sum > 0)
		add_sum(g, steps_per_dollar, q->sum, INFINITY);
}

static void
program_free(struct program *g)
{
	free(g->unit);
	free(g->up);
	free(g->down);
	gv_lp_free(&g->lp);
}

static void
take_shares(const struct program *g, const double *z, double *x)
{
	const struct question *q = g->q;
	size_t at;

	for (at = 0; at < q->n * q->m; at++) {
		double unit = g->unit[at / q->m];

		x[at] = last_of(q, at / q->m, at % q->m);
		if (g->up[at] != SIZE_MAX)
			x[at] += unit * z[g->up[at]];
		if (g->down[at] != SIZE_MAX)
			x[at] -= unit * z[g->down[at]];
	}
}

/* Among shares that move so little, the largest sum of s_i thr_i / P_i. */
static int
raise_sum(struct program *g, double moves, struct gv_lp_basis *basis,
    struct gv_lp_solution *sol, struct gv_error *e)
{
	const struct question *q = g->q;
	struct gv_lp *lp = &g->lp;
	size_t row = gv_lp_add_row(lp, -INFINITY, moves);
	size_t i, j, k;

	for (k = 0; k < lp->n_cols; k++)
		gv_lp_set(lp, row, k, lp->cost[k]);
	lp->maximise = true;
	for (i = 0; i < q->n; i++)
		for (j = 0; j < q->m; j++) {
			size_t at = i * q->m + j;
			double gain = gpus_of(q, i) * g->unit[i] *
				      (rate_of(q, i, j) / equal_of(q, i));

			if (g->up[at] != SIZE_MAX)
				lp->cost[g->up[at]] = gain;
			if (g->down[at] != SIZE_MAX)
				lp->cost[g->down[at]] = -gain;
		}
	return gv_lp_solve(lp, NULL, basis, sol, e);
}

/*
 * Both programs.  0 x [n][m] is found, 1 no solver came to it, -1 with *e set; *idle: the
 * second one failed.  What keeps all floors may be a thin set: then a little less will do.
 */
static int
solve(const struct question *q, bool raise, double *x, bool *idle, struct gv_error *e)
{
	static const double less[] = {0, GV_TOL_LESS_1, GV_TOL_LESS_2, GV_TOL_LESS_3};
	enum gv_lp_status status = GV_LP_FAILED;
	size_t k;
	int rc = 0;

	/* where nothing may be given up it is such a set */
	for (k = raise ? 0 : 1; k < 4 && rc == 0 && status != GV_LP_OPTIMAL; k++) {
		struct gv_lp_basis basis = {0};
		struct gv_lp_solution sol = {0}, higher = {0};
		struct program g;

		build(&g, q, less[k]);
		rc = gv_lp_solve(&g.lp, NULL, &basis, &sol, e);
		status = sol.status;
		if (rc == 0 && status == GV_LP_OPTIMAL) {
			take_shares(&g, sol.x, x);
			if (raise)
				rc = raise_sum(
				    &g, sol.check.objective, &basis, &higher, e);
			*idle = raise && higher.status != GV_LP_OPTIMAL;
			if (rc == 0 && raise && !*idle)
				take_shares(&g, higher.x, x);
		}
		gv_lp_solution_free(&sol);
		gv_lp_solution_free(&higher);
		gv_lp_basis_free(&basis);
		program_free(&g);
	}
	return rc == 0 && status != GV_LP_OPTIMAL ? 1 : rc;
}

/* ---- the answer ---- */

/* The largest part by which a job's throughput in x is below that of the policy. */
static double
slower(const struct gv_answer *a, const double *x)
{
	double most = 0;
	size_t i;

	for (i = 0; i < a->p.n; i++) {
		double had = gv_problem_throughput(&a->p, a->s.x, i);

		if (had > 0)
			most = fmax(most, 1 - gv_problem_throughput(&a->p, x, i) / had);
	}
	return most;
}

/* The shares of all jobs, and *idle, as solve() has them of classes. */
static int
solve_classes(const struct gv_answer *a, const struct question *all, bool raise,
    double *x, bool *idle, struct gv_error *e)
{
	struct question q = *all;
	struct gv_classes c;
	double *class_x;
	size_t i;
	int rc;

	gv_classes_make(&c, all->rows, true);
	class_x = gv_xcalloc(c.p.n, all->m * sizeof(*class_x));
	q.n = c.p.n;
	q.rows = &c.p;
	rc = solve(&q, raise, class_x, idle, e);
	for (i = 0; i < all->n; i++)
		memcpy(&x[i * q.m], &class_x[c.of[i] * q.m], q.m * sizeof(*x));
	gv_problem_clean(&a->p, x);
	gv_problem_trim(&a->p, x);
	gv_classes_free(&c);
	free(class_x);
	return rc;
}

/* What the shares must keep beside throughputs. */
static void
keep_money(
    struct question *q, const struct gv_answer *a, const struct gv_answer_options *opt)
{
	q->cost = INFINITY;
	if (q->measure == GV_MEASURE_PER_DOLLAR || q->measure == GV_MEASURE_RATIO)
		q->cost = gv_problem_cost(&a->p, a->s.x);
	else if (a->p.budget > 0)
		q->cost = a->p.budget;
	if (q->measure == GV_MEASURE_PER_DOLLAR)
		q->sum = (1 - opt->stay) * a->s.objective;
}

int
gv_stay_solve(struct gv_answer *a, const struct gv_rates *r,
    const struct gv_policy *policy, const struct gv_answer_options *opt,
    struct gv_error *e)
{
	struct gv_stayed *to = &a->stayed;
	struct gv_problem rows;
	struct question q = {.n = a->p.n, .m = a->p.m, .p = &a->p, .rows = &rows};
	struct gv_solution s = a->s;
	int rc = 0;

	*to = (struct gv_stayed){.asked = true, .best = s.objective, .gap = s.gap};
	ask(&rows, a, r, opt);
	q.measure = policy->measure;
	keep_money(&q, a, opt);
	to->moved = to->without = distance(&q, a->s.x);
	s.x = gv_xcalloc(q.n, q.m * sizeof(*s.x));
	if (to->without > 0)
		rc = solve_classes(a, &q, opt->stay > 0, s.x, &to->idle, e);
	to->failed = rc == 1 || (rc == 0 && to->without > 0 &&
				    !(slower(a, s.x) <= opt->stay + GV_TOL_FEASIBLE));
	if (rc == 0 && !to->failed &&
	    distance(&q, s.x) < to->without * (1 - GV_TOL_FEASIBLE)) {
		to->moved = distance(&q, s.x);
		to->slower = slower(a, s.x);
		memcpy(a->s.x, s.x, q.n * q.m * sizeof(*s.x));
		a->s.objective = gv_explain_objective(&a->p, policy->measure, &s);
		a->s.gap = fabs(a->s.bound - a->s.objective) /
			   fmax(fabs(a->s.bound), fabs(a->s.objective));
	}
	free(s.x);
	gv_problem_free(&rows);
	return rc < 0 ? -1 : 0;
}

void
gv_stay_remember(
    struct gv_previous *v, const struct gv_answer *a, const struct gv_rates *r)
{
	size_t i, j, n_types = v->m;

	gv_previous_clear(v, n_types);
	for (i = 0; i < r->n_jobs; i++)
		for (j = 0; j < n_types && a->row[i] != SIZE_MAX; j++)
			gv_previous_add(
			    v, r->job[i].id, j, a->s.x[a->row[i] * a->p.m + a->type[j]]);
}
