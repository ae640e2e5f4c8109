/*
 * min-cost: as many steps for a dollar as possible, while deadlines are met.
 *
 *	max  sum_i thr_i(x) / sum_i sum_j s_i c_j x_ij   subject to   thr_i(x) >= need_i
 *
 * Gavel, OSDI 2020, section 4.2.  Differs: the paper's formula omits s_i; a gang
 * pays for all its GPUs.
 *
 * A ratio theta can be passed where sum thr - theta cost can be above 0, which is
 * a program of sums.  Its best allocation has a better ratio, the next theta
 * (Dinkelbach 1967); it ends after some three programs where it can be passed no
 * more.  Of the allocations of the best ratio one with the largest sum of
 * throughputs is taken: without deadlines only the jobs with the most steps per
 * dollar run, but those as much as they can.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/solve/deadline.h"
#include "policy.h"
#include "alloc/program/multipliers.h"
#include "alloc/simplex/precise.h"
#include "alloc/pairs/shared.h"
#include "lp/tolerance.h"

enum { MAX_STEPS = 60 };

static double
cost_per_s(const struct gv_problem *p, size_t i, size_t j)
{
	return p->scale[i] * (p->price[j] / 3600);
}

/* What a share gains beside what it costs theta times. */
struct gains {
	double *gain; /* [n][m] T_ij - theta s_i c_j */
	double *cost; /* [m] theta c_j, of pairs */
};

static void
set_gains(const struct gv_problem *p, double theta, struct gains *g)
{
	double *gain = g->gain;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		g->cost[j] = theta * (p->price[j] / 3600);

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (gv_problem_rate(p, i, j) > 0)
				gain[i * p->m + j] = fma(-theta, cost_per_s(p, i, j),
				    gv_problem_rate(p, i, j));
}

static double
ratio(const struct gv_problem *p, const struct gv_solution *s)
{
	const double *x = s->x;
	double steps = 0, cost = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			steps += p->count[i] * gv_problem_rate(p, i, j) * x[i * p->m + j];
			cost += p->count[i] * cost_per_s(p, i, j) * x[i * p->m + j];
		}
	for (i = 0; i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];

		steps += (q->rate_a + q->rate_b) * q->x;
		cost += cost_per_s(p, q->a, q->type) * q->x;
	}
	return steps > 0 ? steps / cost : 0;
}

/* The best ratio of two jobs on the same GPUs. */
static double
best_pair(const struct gv_problem *p)
{
	const struct gv_together *t = p->together;
	double *jobs = gv_xcalloc(t->n_kinds, sizeof(*jobs));
	size_t *one = gv_xcalloc(t->n_kinds, sizeof(*one)); /* a row of the kind */
	double most = 0;
	size_t i, j, k;

	for (i = 0; i < p->n; i++) {
		jobs[p->kind[i]] += p->count[i];
		one[p->kind[i]] = i;
	}
	for (k = 0; k < t->n_kinds; k++)
		for (i = t->first[k]; i < t->first[k + 1] && jobs[k] > 0; i++)
			for (j = 0; j < t->m; j++) {
				const double *r = &t->rate[(i * t->m + j) * 2];
				size_t with = t->with[i];

				if (jobs[with] > (with == k ? 1 : 0))
					most = fmax(most,
					    (r[0] + r[1]) / cost_per_s(p, one[k], j));
			}
	free(jobs);
	free(one);
	return most;
}

/* The best ratio of any share, which no sum of shares passes. */
static double
best_share(const struct gv_problem *p)
{
	double most = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			most = fmax(most, gv_problem_rate(p, i, j) / cost_per_s(p, i, j));
	if (p->together != NULL)
		most = fmax(most, best_pair(p));
	return most * (1 + 8 * DBL_EPSILON);
}

/*
 * A ratio that cannot be passed: a little above theta the best sum is not above 0,
 * which its own multipliers prove.  0, or -1 with *e set.
 */
static int
ratio_bound(struct gv_linear *l, struct gains *gain, double theta, double *bound,
    const struct gv_solver_options *opt, struct gv_error *e)
{
	static const double above_theta[] = {GV_TOL_ABOVE_1, GV_TOL_ABOVE_2,
	    GV_TOL_ABOVE_3, GV_TOL_ABOVE_4, GV_TOL_ABOVE_5, GV_TOL_ABOVE_6};
	const size_t n_tries = opt->placeable ? 6 : 4;
	const struct gv_problem *p = l->p;
	struct gv_solution other = {.x = gv_xcalloc(p->n, p->m * sizeof(*other.x))};
	struct gv_linear above = *l;
	size_t k;
	int rc = 0;

	*bound = best_share(p);
	above.s = &other;
	memcpy(other.x, l->s->x, p->n * p->m * sizeof(*other.x));
	above.second = NULL;
	for (k = 0; k < n_tries && rc == 0; k++) {
		set_gains(p, theta * (1 + above_theta[k]), gain);
		rc = gv_linear_solve(&above, opt, "min-cost", e);
		if (rc == 0 && other.bound <= 0) {
			*bound = fmin(*bound, theta * (1 + above_theta[k]));
			break;
		}
	}
	l->budget = above.budget;
	free(other.x);
	free(other.pair);
	return rc;
}

/* Where to start: where nobody needs anything, the best share may run alone. */
static double
start_ratio(const struct gv_linear *l)
{
	size_t i;

	for (i = 0; l->need != NULL && i < l->p->n; i++)
		if (l->need[i] > 0)
			return 0;
	return best_share(l->p) * (1 - GV_TOL_START);
}

static int
dinkelbach(struct gv_linear *l, struct gains *gain, const double *second,
    const struct gv_solver_options *opt, struct gv_error *e)
{
	const struct gv_solver_options quick = {.solver = opt->solver,
	    .placeable = opt->placeable,
	    .progress = opt->progress,
	    .memory = opt->memory};
	const struct gv_problem *p = l->p;
	struct gv_solution *s = l->s;
	const double best = p->together == NULL ? best_share(p) : INFINITY;
	double theta = start_ratio(l);
	int k, rc = 0;

	for (k = 0; k < MAX_STEPS && rc == 0; k++) {
		double next;

		set_gains(p, theta, gain);
		rc = gv_linear_solve(l, &quick, "min-cost", e);
		next = rc == 0 ? ratio(p, s) : 0;
		if (next <= theta * (1 + 4 * DBL_EPSILON))
			break;
		theta = next;
		if (next * (1 + 9 * DBL_EPSILON) >= best)
			break; /* there is no better one */
	}
	if (rc != 0)
		return -1;
	set_gains(p, theta, gain);
	l->second = second;
	rc = gv_linear_solve(l, opt, "min-cost", e);
	s->objective = rc == 0 ? ratio(p, s) : 0;
	if (rc == 0 && p->together != NULL)
		s->bound = fmin(
		    best_share(p), theta * (1 + l->cost_margin) * (1 + 8 * DBL_EPSILON));
	else if (rc == 0 && s->objective * (1 + GV_TOL_RATIO) < best_share(p))
		rc =
		    ratio_bound(l, gain, fmax(theta, s->objective), &s->bound, &quick, e);
	else
		s->bound = best_share(p);
	s->bound = fmax(s->bound, s->objective);
	s->gap = (s->bound - s->objective) / s->bound;
	return rc;
}

/*
 * All at once and in many digits, where that is quick; then what cannot be passed, as in
 * ratio_bound().
 */
static bool
precisely(struct gv_linear *l, struct gains *gain)
{
	static const double above_theta[] = {
	    GV_TOL_ABOVE_1, GV_TOL_ABOVE_2, GV_TOL_ABOVE_3, GV_TOL_ABOVE_4};
	const struct gv_problem *p = l->p;
	struct gv_solution *s = l->s, other = {0};
	double *cost = gv_xcalloc(p->n, p->m * sizeof(*cost));
	struct gv_linear above = *l;
	size_t i, k;
	bool found;

	for (i = 0; i < p->n * p->m; i++)
		cost[i] = cost_per_s(p, i / p->m, i % p->m);
	found = gv_ratio_precisely(l, cost);
	free(cost);
	if (!found)
		return false;
	s->objective = ratio(p, s);
	s->bound = best_share(p);
	other.x = gv_xcalloc(p->n, p->m * sizeof(*other.x));
	above.s = &other;
	above.second = NULL;
	above.size = NULL;
	for (k = 0; k < sizeof(above_theta) / sizeof(*above_theta); k++) {
		double theta = s->objective * (1 + above_theta[k]);

		set_gains(p, theta, gain);
		if (gv_linear_precisely(&above) && other.bound <= 0) {
			s->bound = fmin(s->bound, theta);
			break;
		}
	}
	l->budget = above.budget;
	free(other.x);
	s->bound = fmax(s->bound, s->objective);
	s->gap = (s->bound - s->objective) / s->bound;
	return true;
}

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *out, struct gv_error *e)
{
	double *need = gv_xcalloc(p->n, sizeof(*need));
	struct gains g = {
	    gv_xcalloc(p->n, p->m * sizeof(*g.gain)), gv_xcalloc(p->m, sizeof(*g.cost))};
	double *ones = gv_linear_ones(p);
	const struct gv_shared_gain shared = {.job = ones, .cost = g.cost};
	const struct gv_shared_gain shared_second = {.job = ones};
	struct gv_linear l;
	int rc;

	gv_linear_init(&l, p, out);
	l.gain = g.gain;
	l.shared = &shared;
	l.shared_second = &shared_second;
	l.size = p->rate;
	l.need = need;
	rc = gv_deadline_needs(p, &opt->solve, opt->relax_slo, "min-cost", need, out, e);
	if (rc == 0) {
		rc = dinkelbach(&l, &g, p->rate, &opt->solve, e);
		if ((rc != 0 || out->second_missed || !(out->gap <= GV_TOL_PROVED)) &&
		    p->together == NULL && !opt->solve.placeable && precisely(&l, &g)) {
			gv_error_clear(e);
			rc = 0;
		}
	}
	if (rc == 0)
		gv_multipliers_of_linear(&out->multipliers, &l);
	gv_linear_free(&l);
	free(need);
	free(ones);
	free(g.gain);
	free(g.cost);
	return rc;
}

/* ---- --dump-lp ---- */

/* Columns 1 and on are shares times column 0. */
struct column_names {
	size_t m;
	size_t job_type[][2];
};

static void
col_name(void *ctx, size_t col, char buf[GV_LP_NAME_LEN])
{
	const struct column_names *c = ctx;

	if (col == 0)
		snprintf(buf, GV_LP_NAME_LEN, "u");
	else
		snprintf(buf, GV_LP_NAME_LEN, "y(%zu,%zu)", c->job_type[col][0],
		    c->job_type[col][1]);
}

static void
row_name(void *ctx, size_t row, char buf[GV_LP_NAME_LEN])
{
	const struct column_names *c = ctx;

	if (row == 0)
		snprintf(buf, GV_LP_NAME_LEN, "cost");
	else if (row <= c->m)
		snprintf(buf, GV_LP_NAME_LEN, "gpus(%zu)", row);
	else
		snprintf(buf, GV_LP_NAME_LEN, "%s(%zu)",
		    (row - c->m) % 2 == 1 ? "time" : "need", (row - c->m + 1) / 2);
}

/*
 * The policy as one program (Charnes and Cooper 1962): with u = 1 / cost and y = u x
 * all is linear, and the cost of y is 1.
 */
static void
program_alone(const struct gv_problem *p, struct gv_lp *lp, struct gv_lp_names *names)
{
	const double *needs = p->number[GV_NUMBER_NEED];
	struct column_names *c =
	    gv_xcalloc(1, sizeof(*c) + (p->n * p->m + 1) * sizeof(c->job_type[0]));
	size_t i, j, u;

	c->m = p->m;
	*lp = (struct gv_lp){.maximise = true};
	u = gv_lp_add_col(lp, 0, INFINITY, 0);
	gv_lp_add_row(lp, 1, 1);
	for (j = 0; j < p->m; j++) {
		gv_lp_add_row(lp, -INFINITY, 0);
		gv_lp_set(lp, 1 + j, u, -p->capacity[j]);
	}
	for (i = 0; i < p->n; i++) {
		size_t time = gv_lp_add_row(lp, -INFINITY, 0);
		size_t need = gv_lp_add_row(lp, 0, INFINITY);

		gv_lp_set(lp, time, u, -1);
		gv_lp_set(lp, need, u, needs != NULL ? -needs[i] : 0);
		for (j = 0; j < p->m; j++) {
			double rate = gv_problem_rate(p, i, j);
			size_t col;

			if (rate == 0)
				continue;
			col = gv_lp_add_col(lp, 0, INFINITY, rate);
			c->job_type[col][0] = i + 1;
			c->job_type[col][1] = j + 1;
			gv_lp_set(lp, 0, col, cost_per_s(p, i, j));
			gv_lp_set(lp, 1 + j, col, p->scale[i]);
			gv_lp_set(lp, time, col, 1);
			gv_lp_set(lp, need, col, rate);
		}
	}
	*names = (struct gv_lp_names){row_name, col_name, c, NULL};
}

static void
program(const struct gv_problem *p, struct gv_lp *lp, struct gv_lp_names *names)
{
	double *ones = gv_linear_ones(p);
	double *cost = gv_xcalloc(p->m, sizeof(*cost));
	const struct gv_shared_gain gain = {.job = ones};
	const struct gv_shared h = {
	    .p = p, .gain = &gain, .demand = p->number[GV_NUMBER_NEED]};
	size_t j;

	for (j = 0; j < p->m; j++)
		cost[j] = p->price[j] / 3600;
	if (p->together != NULL)
		gv_shared_ratio_program(&h, cost, lp, names);
	else
		program_alone(p, lp, names);
	free(ones);
	free(cost);
}

const struct gv_policy gv_policy_min_cost = {
    .name = "min-cost",
    .solve = solve,
    .program = program,
    .shares = true,
    .numbers = GV_NEEDS,
    .prices = true,
    .measure = GV_MEASURE_RATIO,
    .multipliers = true,
};
