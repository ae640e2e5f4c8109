#include "reach.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "level.h"
#include "alloc/pairs/reach_pairs.h"

void
gv_reach_alloc(struct gv_reach *r, const struct gv_problem *p)
{
	*r = (struct gv_reach){0};
	r->x = gv_xcalloc(p->n, p->m * sizeof(*r->x));
	r->lambda = gv_xcalloc(p->n, sizeof(*r->lambda));
	r->price = gv_xcalloc(p->m, sizeof(*r->price));
}

void
gv_reach_free(struct gv_reach *r)
{
	free(r->x);
	free(r->pair);
	free(r->lambda);
	free(r->price);
	*r = (struct gv_reach){0};
}

/* Rows up to which linear programs are fast enough, one after another or once.
 */
enum { few = 24, small = 128 };

static const double least = 1. / 128;
static const double hair = 5e-11;

static double
best_of(const struct gv_problem *p, const double *a, size_t i)
{
	double best = 0;
	size_t j;

	for (j = 0; j < p->m; j++)
		best = fmax(best, a[i * p->m + j]);
	return best;
}

/*
 * A job that wants nothing has its place in the inequality, too: whatever
 * lambda its GPUs' prices pay for leaves the limit as it is.
 */
static void
price_idle(
    struct gv_reach *r, const struct gv_problem *p, const double *a, const double *want)
{
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double lambda = INFINITY;

		if (want[i] > 0)
			continue;
		for (j = 0; j < p->m; j++)
			if (a[i * p->m + j] > 0)
				lambda = fmin(lambda, r->price[j] * p->count[i] *
							  p->scale[i] / a[i * p->m + j]);
		r->lambda[i] = lambda;
	}
}

/* ---- in prices ---- */

/*
 * The jobs of p that want something, and level [n][m] of a share of theirs.  Where all
 * do, it is p.
 */
static struct gv_problem
pick_wanting(
    const struct gv_problem *p, const double *a, const double *want, double *level)
{
	bool *keep = gv_xcalloc(p->n, sizeof(*keep));
	struct gv_problem to = *p;
	size_t i, j, n = 0;

	for (i = 0; i < p->n; i++) {
		keep[i] = want[i] > 0;
		for (j = 0; j < p->m && keep[i]; j++)
			level[n * p->m + j] = a[i * p->m + j] / want[i];
		n += keep[i];
	}
	if (n < p->n)
		gv_problem_pick(&to, p, keep);
	free(keep);
	return to;
}

static void
put_back(struct gv_reach *r, const struct gv_problem *p, const double *want,
    const struct gv_level *l, const double *x)
{
	double sum = 0;
	size_t i, n = 0;

	for (i = 0; i < p->n; i++) {
		r->lambda[i] = 0;
		memset(&r->x[i * p->m], 0, p->m * sizeof(*x));
		if (!(want[i] > 0))
			continue;
		r->lambda[i] = l->lambda[n] / want[i];
		sum += l->lambda[n];
		memcpy(&r->x[i * p->m], &x[n * p->m], p->m * sizeof(*x));
		n++;
	}
	r->limit = l->s->bound * sum;
	r->exact = l->s->exact;
}

/*
 * [n] what is wanted; a hair less than all the time on the best type, where time and
 * GPUs would bound the level alike.
 */
static double *
a_hair_less(const struct gv_problem *p, const double *a, const double *want)
{
	double *less = gv_xcalloc(p->n, sizeof(*less));
	size_t i;

	for (i = 0; i < p->n; i++)
		less[i] = fmin(want[i], best_of(p, a, i) * (1 - hair));
	return less;
}

static int
by_prices(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, const struct gv_solve_options *opt, struct gv_error *e)
{
	struct gv_problem wanting;
	struct gv_solution s = {0};
	struct gv_level l;
	double *level = gv_xcalloc(p->n, p->m * sizeof(*level));
	double *less = a_hair_less(p, a, want);
	int rc;

	wanting = pick_wanting(p, a, less, level);
	s.x = gv_xcalloc(wanting.n, p->m * sizeof(*s.x));
	gv_level_init(&l, &wanting, &s, false);
	rc = gv_level_solve(&wanting, level, opt, "water-filling", &l, e);
	if (rc == 0)
		put_back(r, p, less, &l, s.x);
	memcpy(r->price, l.price, p->m * sizeof(*r->price));
	if (rc == 0)
		price_idle(r, p, a, want);
	gv_level_free(&l);
	free(s.x);
	free(level);
	free(less);
	if (wanting.n < p->n)
		gv_problem_free(&wanting);
	return rc;
}

/* ---- by a linear program ---- */

/*
 * In numbers of about 1: x_ij = unit_i z_ij, where unit_i is the share that
 * gives the job what it wants on its best type, but not less than a part of all
 * time, so that what is next to nothing does not get numbers next to infinity.
 */
struct gv_program {
	struct gv_lp lp;
	size_t f;     /* column of f */
	size_t *col;  /* [n][m] column of z_ij, SIZE_MAX = none */
	size_t *row;  /* [n] row of what the job wants */
	double *unit; /* [n] */
	double *pool; /* [m]; the types' rows are the first */
};

static void
gv_program_free(struct gv_program *g)
{
	gv_lp_free(&g->lp);
	free(g->col);
	free(g->row);
	free(g->unit);
	free(g->pool);
}

static void
add_job(struct gv_program *g, const struct gv_problem *p, const double *a, double want,
    size_t i)
{
	double best = best_of(p, a, i);
	size_t time, j;

	g->unit[i] = fmax(want / best, least);
	g->row[i] = gv_lp_add_row(&g->lp, 0, INFINITY);
	time = gv_lp_add_row(&g->lp, -INFINITY, 1 / g->unit[i]);
	gv_lp_set(&g->lp, g->row[i], g->f, -(want / best) / g->unit[i]);
	for (j = 0; j < p->m; j++) {
		size_t col;

		if (a[i * p->m + j] == 0)
			continue;
		col = g->col[i * p->m + j] = gv_lp_add_col(&g->lp, 0, INFINITY, 0);
		gv_lp_set(&g->lp, g->row[i], col, a[i * p->m + j] / best);
		gv_lp_set(&g->lp, time, col, 1);
		gv_lp_set(
		    &g->lp, j, col, p->count[i] * p->scale[i] * g->unit[i] / g->pool[j]);
	}
}

static void
program_make(
    struct gv_program *g, const struct gv_problem *p, const double *a, const double *want)
{
	size_t i, j;

	*g = (struct gv_program){0};
	g->col = gv_xcalloc(p->n, p->m * sizeof(*g->col));
	g->row = gv_xcalloc(p->n, sizeof(*g->row));
	g->unit = gv_xcalloc(p->n, sizeof(*g->unit));
	g->pool = gv_xcalloc(p->m, sizeof(*g->pool));
	g->lp.maximise = true;
	g->f = gv_lp_add_col(&g->lp, 0, INFINITY, 1);
	for (j = 0; j < p->m; j++) {
		g->pool[j] = fmax(1, p->capacity[j]);
		gv_lp_add_row(&g->lp, -INFINITY, p->capacity[j] / g->pool[j]);
	}
	for (i = 0; i < p->n * p->m; i++)
		g->col[i] = SIZE_MAX;
	for (i = 0; i < p->n; i++)
		if (want[i] > 0)
			add_job(g, p, a, want[i], i);
}

/*
 * The limit of lambda, by prices >= 0 of the types' GPUs, which every
 *allocation keeps as sum_j x_ij <= 1:
 *
 *	sum_j price_j N_j + sum_i max(0, max_j (lambda_i a_ij - price_j n_i
 *s_i))
 */
static double
limit(const struct gv_problem *p, const double *a, const double *lambda,
    const double *price)
{
	double sum = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		sum += price[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		double most = 0;

		for (j = 0; j < p->m; j++) {
			double gain = lambda[i] * a[i * p->m + j];
			double cost = price[j] * p->count[i] * p->scale[i];

			if (gain > 0)
				most = fmax(most, gain - cost);
		}
		sum += most;
	}
	return sum;
}

static void
take(struct gv_reach *r, const struct gv_problem *p, const double *a, const double *want,
    const struct gv_program *g, const struct gv_lp_solution *sol)
{
	size_t i, j;

	for (j = 0; j < p->m; j++)
		r->price[j] = fmax(0, sol->row_dual[j]) / g->pool[j];
	for (i = 0; i < p->n; i++) {
		r->lambda[i] = 0;
		if (want[i] > 0)
			r->lambda[i] = fmax(0, -sol->row_dual[g->row[i]]) /
				       (best_of(p, a, i) * g->unit[i]);
		for (j = 0; j < p->m; j++) {
			size_t col = g->col[i * p->m + j];

			r->x[i * p->m + j] =
			    col == SIZE_MAX ? 0 : sol->x[col] * g->unit[i];
		}
	}
	gv_problem_clean(p, r->x);
	r->limit = limit(p, a, r->lambda, r->price);
	price_idle(r, p, a, want);
	r->exact = sol->exact;
}

static int
by_program(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, const struct gv_solve_options *opt, struct gv_error *e)
{
	const struct gv_lp_options lp_opt = {.exact = opt->certify};
	struct gv_lp_solution sol = {0};
	struct gv_program g;
	int rc;

	program_make(&g, p, a, want);
	rc = gv_lp_solve(&g.lp, &lp_opt, NULL, &sol, e);
	if (rc == 0 && sol.status != GV_LP_OPTIMAL)
		rc = gv_error_set(e, "the linear program of water-filling: %s",
		    gv_lp_status_name(sol.status));
	if (rc == 0)
		take(r, p, a, want, &g, &sol);
	gv_lp_solution_free(&sol);
	gv_program_free(&g);
	return rc;
}

/* ---- either ---- */

/* Its sums are of numbers >= 0; a job's term has three roundings. */
double
gv_reach_rounding(const struct gv_problem *p)
{
	return ((double)(p->n + p->m) + 16) * DBL_EPSILON;
}

int
gv_reach_solve(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, bool corner, const struct gv_solve_options *opt,
    struct gv_error *e)
{
	size_t rows = corner ? small : few;
	bool prices = !opt->certify && (opt->solver == SOLVER_PRICE ||
					   (opt->solver == SOLVER_AUTO && p->n > rows));
	int rc;

	if (p->together != NULL)
		return gv_reach_by_pairs(r, p, a, want, opt, e);
	rc =
	    prices ? by_prices(r, p, a, want, opt, e) : by_program(r, p, a, want, opt, e);
	if (rc != 0 && prices) {
		gv_error_clear(e);
		rc = by_program(r, p, a, want, opt, e);
	}
	return rc;
}
