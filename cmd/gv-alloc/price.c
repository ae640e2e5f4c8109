#include "price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/lp.h"

enum { MAX_STEPS = 400, STALLED = 20 };

static const double near_enough = 1e-12;
static const double acceptable = 1e-10; /* when it comes no nearer */
static const double magnified = 1e4;

/* What a job takes at prices: one type, or two (then its time is used up). */
struct choice {
	size_t j, k;   /* k = j: one type */
	double xj, xk; /* shares */
	double lambda; /* how its cost grows with the level */
};

/* One step: the shares that all jobs take at these prices and this level. */
struct step {
	double *price; /* [m] */
	double level;
	double weight; /* in the mixture */
};

struct search {
	const struct price_problem *p;
	struct step step[MAX_STEPS];
	int n_steps;
	double *used;      /* [m] of the last step */
	double gain;       /* of the last step */
	double bound;      /* of the last step */
	double *best_price; /* [m] where not NULL: of the step with the best bound of gains */
	double best_level; /* of the step with the best bound; 0: time alone bounds */
};

/*
 * How the cost of the level falls when the level does, for a job on type j alone:
 * the type less of the time, or, where it takes all the time, another type in
 * its place, whichever saves most.
 */
static double
left_slope(
    const struct price_problem *p, size_t i, const double *price, double t, size_t j)
{
	const double *a = &p->a[i * p->m];
	double slope = price[j] / a[j];
	size_t k;

	for (k = 0; a[j] <= t && k < p->m; k++)
		if (a[k] > 0 && a[k] < t)
			slope = fmax(slope, (price[j] - price[k]) / (a[j] - a[k]));
	return p->use[i] * slope;
}

/*
 * The best shares of job i that reach the level: with scale 0 the cheapest, with
 * scale 1 those of the largest gain after cost.  They are at a corner of {level
 * reached, time <= 1}: one type until the level is reached, or all the time, or
 * two types that reach the level in just all the time.
 */
static void
choose(const struct price_problem *p, size_t i, const double *price, double t,
    double scale, struct choice *best)
{
	const double *a = &p->a[i * p->m];
	const double *gain = &p->gain[i * p->m];
	double most = -INFINITY;
	size_t j, k;

	for (j = 0; j < p->m; j++) {
		double net = scale * gain[j] - p->use[i] * price[j];
		double x = a[j] > t ? t / a[j] : 1;

		if (a[j] < t || a[j] == 0)
			continue;
		if (net > 0)
			x = 1;
		if (net * x > most) {
			most = net * x;
			*best =
			    (struct choice){j, j, x, 0, left_slope(p, i, price, t, j)};
		}
		for (k = 0; k < p->m; k++) {
			double other = scale * gain[k] - p->use[i] * price[k];
			double part;

			if (a[k] >= t || a[k] == 0 || a[j] == t)
				continue;
			part = (t - a[k]) / (a[j] - a[k]);
			if (net * part + other * (1 - part) > most) {
				most = net * part + other * (1 - part);
				*best = (struct choice){j, k, part, 1 - part,
				    p->use[i] * fmax(0, price[j] - price[k]) /
					(a[j] - a[k])};
			}
		}
	}
}

/* The part of the Lagrange bound that job i adds at a multiplier. */
static double
surplus(const struct price_problem *p, size_t i, const double *price, double lambda)
{
	double most = 0;
	size_t j;

	for (j = 0; j < p->m; j++)
		if (p->a[i * p->m + j] > 0)
			most = fmax(
			    most, lambda * p->a[i * p->m + j] - p->use[i] * price[j]);
	return most;
}

/* A step of the first stage: s->used, s->bound. */
static void
take_level_step(struct search *s, const struct step *step)
{
	const struct price_problem *p = s->p;
	double sum = 0;
	double multipliers = 0;
	size_t i, j;

	memset(s->used, 0, p->m * sizeof(*s->used));
	for (j = 0; j < p->m; j++)
		sum += step->price[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		struct choice c = {0};

		choose(p, i, step->price, step->level, 0, &c);
		s->used[c.j] += p->use[i] * c.xj;
		s->used[c.k] += p->use[i] * c.xk;
		multipliers += c.lambda;
		sum += surplus(p, i, step->price, c.lambda);
	}
	s->bound = multipliers > 0 ? sum / multipliers : INFINITY;
}

/* A step of the second stage: s->used, s->gain, and s->bound of the sum of gains. */
static void
take_gain_step(struct search *s, const struct step *step)
{
	const struct price_problem *p = s->p;
	double net = 0;
	size_t i, j;

	memset(s->used, 0, p->m * sizeof(*s->used));
	s->gain = 0;
	for (i = 0; i < p->n; i++) {
		struct choice c = {0};

		choose(p, i, step->price, step->level, 1, &c);
		s->used[c.j] += p->use[i] * c.xj;
		s->used[c.k] += p->use[i] * c.xk;
		s->gain +=
		    p->gain[i * p->m + c.j] * c.xj + p->gain[i * p->m + c.k] * c.xk;
		net += p->gain[i * p->m + c.j] * c.xj + p->gain[i * p->m + c.k] * c.xk -
		       p->use[i] * (step->price[c.j] * c.xj + step->price[c.k] * c.xk);
	}
	for (j = 0; j < p->m; j++)
		net += step->price[j] * p->capacity[j];
	s->bound = net;
}

/* Adds factor times the shares of a step to x. */
static void
add_shares(const struct price_problem *p, const struct step *step, double scale,
    double factor, double *x)
{
	size_t i;

	for (i = 0; factor > 0 && i < p->n; i++) {
		struct choice c = {0};

		choose(p, i, step->price, step->level, scale, &c);
		x[i * p->m + c.j] += factor * c.xj;
		x[i * p->m + c.k] += factor * c.xk;
	}
}

/* The next step, at these prices per type's whole pool. */
static struct step *
next_step(struct search *s, const double *pool_price, double level)
{
	const struct price_problem *p = s->p;
	struct step *step = &s->step[s->n_steps++];
	size_t j;

	step->price = gv_xcalloc(p->m, sizeof(*step->price));
	for (j = 0; j < p->m; j++)
		step->price[j] =
		    p->capacity[j] > 0 ? fmax(0, pool_price[j]) / p->capacity[j] : 0;
	step->level = level;
	step->weight = 0;
	return step;
}

static void
forget_steps(struct search *s)
{
	while (s->n_steps > 0)
		free(s->step[--s->n_steps].price);
}

/*
 * The master program mixes steps by weights mu_k that sum to 1: row j is type j,
 * the last row the sum.  Its duals are the next prices.  Objectives are
 * magnified, so that GLPK's tolerance of 1e-9 for duals is one of 1e-13.
 */
static void
start_master(struct gv_lp *lp, size_t m, double hi)
{
	size_t j;

	for (j = 0; j < m; j++)
		gv_lp_add_row(lp, -INFINITY, hi);
	gv_lp_add_row(lp, 1, 1);
}

/* A step that uses so much, counted per this, and gains so much. */
static void
add_column(const struct price_problem *p, struct gv_lp *lp, const double *used,
    double per, double gain)
{
	size_t col = gv_lp_add_col(lp, 0, 1, gain * magnified);
	size_t j;

	for (j = 0; j < p->m; j++)
		if (p->capacity[j] > 0)
			gv_lp_set(lp, j, col, used[j] / (p->capacity[j] * per));
	gv_lp_set(lp, p->m, col, 1);
}

/* min_i max_j a_ij: what time allows; *job is the job that says so. */
static double
time_bound(const struct price_problem *p, size_t *job)
{
	double bound = INFINITY;
	size_t i, j;

	*job = 0;
	for (i = 0; i < p->n; i++) {
		double best = 0;

		for (j = 0; j < p->m; j++)
			best = fmax(best, p->a[i * p->m + j]);
		if (best < bound) {
			bound = best;
			*job = i;
		}
	}
	return bound;
}

/* The level that the master's mixture reaches; better ones are kept as weights of the steps. */
static void
keep_mixture(
    struct search *s, const struct gv_lp_solution *sol, struct price_solution *out)
{
	double level = 1 / sol->x[0];
	int k;

	for (k = 0; k < s->n_steps; k++)
		if (sol->x[k + 1] > 1e-15)
			level =
			    fmin(level, s->step[k].level); /* its time is used up there */
	if (level <= out->level)
		return;
	out->level = level;
	for (k = 0; k < s->n_steps; k++)
		s->step[k].weight = fmax(0, sol->x[k + 1]) * level / s->step[k].level;
}

/*
 * First stage.  Usage divided by the level is V; the master is
 *
 *	min v   subject to   sum_k mu_k V_k <= v N,   sum mu = 1
 *
 * so the level 1 / v fits.  Its duals are prices q per type's whole pool, sum q = 1.
 */
static int
find_level(struct search *s, struct price_solution *out, struct gv_error *e)
{
	const struct price_problem *p = s->p;
	struct gv_lp lp = {0};
	struct gv_lp_basis basis = {0};
	double *q = gv_xcalloc(p->m, sizeof(*q));
	double pools = 0;
	int rc = 0;
	int since = 0; /* steps without progress */
	size_t j;

	start_master(&lp, p->m, 0);
	gv_lp_add_col(&lp, 0, INFINITY, magnified);
	for (j = 0; j < p->m; j++) {
		pools += p->capacity[j] > 0;
		gv_lp_set(&lp, j, 0, -1);
	}
	for (j = 0; j < p->m; j++)
		q[j] = 1 / pools;
	while (rc == 0 && out->bound - out->level > near_enough * out->bound) {
		struct gv_lp_solution sol;
		struct step *step;
		double before = out->bound - out->level;

		if (s->n_steps == MAX_STEPS || since++ == STALLED) {
			rc = out->bound - out->level > acceptable * out->bound;
			break;
		}
		step = next_step(s, q, out->bound);
		take_level_step(s, step);
		if (s->bound < out->bound) {
			out->bound = s->bound;
			memcpy(out->price, step->price, p->m * sizeof(*step->price));
			s->best_level = step->level;
		}
		add_column(p, &lp, s->used, step->level, 0);
		rc = gv_lp_solve(&lp, NULL, &basis, &sol, e);
		if (rc == 0 && sol.status != GV_LP_OPTIMAL)
			rc = 1;
		if (rc == 0) {
			keep_mixture(s, &sol, out);
			for (j = 0; j < p->m; j++)
				q[j] = fmax(0, -sol.row_dual[j] / magnified);
		}
		if (out->bound - out->level < before)
			since = 0;
		gv_lp_solution_free(&sol);
	}
	free(q);
	gv_lp_basis_free(&basis);
	gv_lp_free(&lp);
	return rc;
}

/* The multipliers that prove the bound. */
static void
find_multipliers(struct search *s, size_t binding, struct price_solution *out)
{
	const struct price_problem *p = s->p;
	size_t i;

	for (i = 0; i < p->n; i++) {
		struct choice c = {0};

		if (s->best_level > 0)
			choose(p, i, out->price, s->best_level, 0, &c);
		out->lambda[i] = s->best_level > 0 ? c.lambda : i == binding;
	}
}

/* What the shares of the first stage use and gain, as the first column of the second. */
static double
add_first_column(struct search *s, struct gv_lp *lp, const double *x)
{
	const struct price_problem *p = s->p;
	double gain = 0;
	size_t i, j;

	memset(s->used, 0, p->m * sizeof(*s->used));
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			s->used[j] += p->use[i] * x[i * p->m + j];
			gain += p->gain[i * p->m + j] * x[i * p->m + j];
		}
	for (j = 0; j < p->m; j++)
		s->used[j] = fmin(s->used[j], p->capacity[j]);
	add_column(p, lp, s->used, 1, gain);
	return gain;
}

/*
 * Second stage: every job at least at the level, the largest sum of gains.  The
 * master
 *
 *	max sum_k mu_k G_k   subject to   sum_k mu_k U_k <= N,   sum mu = 1
 *
 * has what the first stage found as its first step, so it is feasible.  It ends
 * when its sum is within 1e-10 of the bound, or of least where the bound is less, or
 * (out->raised false) with what it has when it comes no nearer.
 */
static int
raise_gain(
    struct search *s, struct price_solution *out, double least, struct gv_error *e)
{
	const struct price_problem *p = s->p;
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_basis basis = {0};
	double *q = gv_xcalloc(p->m, sizeof(*q));
	double bound = INFINITY, first = 1, reached;
	bool stuck = false;
	int rc = 0;
	size_t i, j;

	start_master(&lp, p->m, 1);
	reached = add_first_column(s, &lp, out->x);
	out->raised = false;
	while (rc == 0 && !stuck && !out->raised && s->n_steps < MAX_STEPS) {
		struct gv_lp_solution sol;
		struct step *step = next_step(s, q, out->level);
		int k;

		take_gain_step(s, step);
		if (s->bound < bound && s->best_price != NULL)
			memcpy(s->best_price, step->price, p->m * sizeof(*step->price));
		bound = fmin(bound, s->bound);
		add_column(p, &lp, s->used, 1, s->gain);
		rc = gv_lp_solve(&lp, NULL, &basis, &sol, e);
		stuck = rc == 0 && sol.status != GV_LP_OPTIMAL;
		if (rc == 0 && !stuck) {
			reached = sol.check.objective / magnified;
			first = fmax(0, sol.x[0]);
			for (k = 0; k < s->n_steps; k++)
				s->step[k].weight = fmax(0, sol.x[k + 1]);
			for (j = 0; j < p->m; j++)
				q[j] = fmax(0, sol.row_dual[j] / magnified);
		}
		gv_lp_solution_free(&sol);
		out->raised = bound - reached <= 1e-10 * fmax(fabs(bound), least);
	}
	for (i = 0; i < p->n * p->m; i++)
		out->x[i] *= first;
	free(q);
	gv_lp_basis_free(&basis);
	gv_lp_free(&lp);
	return rc;
}

static void
mix(const struct search *s, double scale, double *x)
{
	int k;

	for (k = 0; k < s->n_steps; k++)
		add_shares(s->p, &s->step[k], scale, s->step[k].weight, x);
}

/* Whether every GPU has a price: then all levels are equal in every best solution. */
static bool
all_priced(const struct price_problem *p, const struct price_solution *s)
{
	size_t j;

	for (j = 0; j < p->m; j++)
		if (p->capacity[j] > 0 && s->price[j] * p->capacity[j] < 1e-7)
			return false;
	return true;
}

int
price_solve(const struct price_problem *p, struct price_solution *out, struct gv_error *e)
{
	struct search *s = gv_xcalloc(1, sizeof(*s));
	size_t binding;
	int rc;

	s->p = p;
	s->used = gv_xcalloc(p->m, sizeof(*s->used));
	memset(out->price, 0, p->m * sizeof(*out->price));
	memset(out->x, 0, p->n * p->m * sizeof(*out->x));
	out->level = 0;
	out->bound = time_bound(p, &binding);
	rc = find_level(s, out, e);
	out->steps = s->n_steps;
	if (rc == 0) {
		find_multipliers(s, binding, out);
		mix(s, 0, out->x);
		forget_steps(s);
		out->raised = true;
		if (!all_priced(p, out)) {
			rc = raise_gain(s, out, 0, e);
			mix(s, 1, out->x);
			out->steps += s->n_steps;
		}
	}
	forget_steps(s);
	free(s->used);
	free(s);
	return rc;
}

int
price_sum(const struct price_problem *p, const double *x, double level, double *price,
    struct gv_error *e)
{
	struct search *s = gv_xcalloc(1, sizeof(*s));
	struct price_solution out = {
	    .x = gv_xcalloc(p->n, p->m * sizeof(*out.x)), .level = level};
	int rc;

	s->p = p;
	s->used = gv_xcalloc(p->m, sizeof(*s->used));
	s->best_price = price;
	if (x != NULL)
		memcpy(out.x, x, p->n * p->m * sizeof(*x));
	rc = raise_gain(s, &out, 1e-3, e);
	if (rc == 0 && !out.raised)
		rc = 1;
	forget_steps(s);
	free(out.x);
	free(s->used);
	free(s);
	return rc;
}
