#include "level.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/price/crowd.h"
#include "alloc/place/constrained.h"
#include "alloc/price/price.h"
#include "alloc/pairs/shared_level.h"

enum { small = 256 }; /* rows up to which linear programs are fast enough */

/*
 * The program in numbers of about 1: shares x_ij = unit_i z_ij, level t = unit u.
 * The level that equal shares reach is feasible and within a factor of the
 * types' speeds of the best, so u is somewhat above 1; unit_i is the share
 * that lifts job i to that level on its best type.
 */
struct scaled {
	const struct gv_problem *p;
	const double *a; /* [n][m] of the level program */
	double *equal;   /* [n] P_i, NULL until need_equal() */
	double *unit;    /* [n] of the job's shares */
	double *pool;    /* [m] of the type's GPUs */
	double level;    /* of t */
	double gpus;     /* sum N */
	struct gv_lp lp;
	size_t t;         /* column of u */
	size_t *col;      /* [n][m] column of z_ij, SIZE_MAX where the job cannot run */
	size_t *job;      /* [n] row of the job's level */
	size_t type_rows; /* row of the first type; then one per type */
};

static void
scale(struct scaled *s, const struct gv_problem *p, const double *a)
{
	double gangs = 0; /* GPUs that all jobs together want at once */
	double fit;       /* equal shares fit when multiplied by this */
	double *part;     /* [m] of all GPUs */
	double least = INFINITY;
	size_t i, j;

	*s = (struct scaled){.p = p, .a = a};
	s->pool = gv_xcalloc(p->m, sizeof(*s->pool));
	for (j = 0; j < p->m; j++) {
		s->gpus += p->capacity[j];
		s->pool[j] = fmax(1, p->capacity[j]);
	}
	part = gv_xcalloc(p->m, sizeof(*part));
	for (j = 0; j < p->m; j++)
		part[j] = p->capacity[j] / s->gpus;
	for (i = 0; i < p->n; i++) {
		double equal = 0;

		gangs += p->count[i] * p->scale[i];
		for (j = 0; j < p->m; j++)
			equal += a[i * p->m + j] * part[j];
		least = equal < least ? equal : least;
	}
	fit = fmin(1, s->gpus / gangs);
	s->level = fit * least;
	free(part);
}

static void
need_equal(struct scaled *s)
{
	if (s->equal == NULL) {
		s->equal = gv_xcalloc(s->p->n, sizeof(*s->equal));
		gv_problem_equal_throughput(s->p, s->equal);
	}
}

/* What a job's shares are counted in: what lifts it to the level on its best type. */
static void
set_units(struct scaled *s)
{
	const struct gv_problem *p = s->p;
	size_t i, j;

	s->unit = gv_xcalloc(p->n, sizeof(*s->unit));
	for (i = 0; i < p->n; i++) {
		double best = 0;

		for (j = 0; j < p->m; j++)
			best = fmax(best, s->a[i * p->m + j]);
		s->unit[i] = s->level / best;
	}
}

static void
scaled_free(struct scaled *s)
{
	free(s->equal);
	free(s->unit);
	free(s->pool);
	free(s->col);
	free(s->job);
	gv_lp_free(&s->lp);
}

/* The level program in the units of s. */
static void
build(struct scaled *s)
{
	const struct gv_problem *p = s->p;
	size_t i, j;

	if (s->unit == NULL)
		set_units(s);
	s->col = gv_xcalloc(p->n, p->m * sizeof(*s->col));
	s->job = gv_xcalloc(p->n, sizeof(*s->job));
	s->lp.maximise = true;
	s->t = gv_lp_add_col(&s->lp, 0, INFINITY, 1);
	s->type_rows = s->lp.n_rows;
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&s->lp, -INFINITY, p->capacity[j] / s->pool[j]);
	for (i = 0; i < p->n; i++) {
		const double *level = &s->a[i * p->m];
		bool asks = true;
		size_t time;

		for (j = 0; j < p->m; j++)
			asks = asks && isfinite(level[j]);
		s->job[i] = gv_lp_add_row(&s->lp, 0, INFINITY);
		time = gv_lp_add_row(&s->lp, -INFINITY, 1 / s->unit[i]);
		if (asks)
			gv_lp_set(&s->lp, s->job[i], s->t, -1);
		for (j = 0; j < p->m; j++) {
			size_t col;

			s->col[i * p->m + j] = SIZE_MAX;
			if (level[j] == 0)
				continue;
			col = gv_lp_add_col(&s->lp, 0, INFINITY, 0);
			s->col[i * p->m + j] = col;
			gv_lp_set(&s->lp, s->job[i], col,
			    asks ? level[j] * s->unit[i] / s->level : 1);
			gv_lp_set(&s->lp, time, col, 1);
			gv_lp_set(&s->lp, s->type_rows + j, col,
			    p->count[i] * p->scale[i] * s->unit[i] / s->pool[j]);
		}
	}
}

static void
take_shares(const struct scaled *s, const double *z, double *x)
{
	const struct gv_problem *p = s->p;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			size_t col = s->col[i * p->m + j];

			x[i * p->m + j] = col == SIZE_MAX ? 0 : z[col] * s->unit[i];
		}
	gv_problem_clean(p, x);
}

static double
level_of(const struct gv_problem *p, const double *a, const double *x)
{
	double level = INFINITY;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double sum = 0;

		for (j = 0; j < p->m; j++)
			sum += a[i * p->m + j] * x[i * p->m + j];
		level = sum < level ? sum : level;
	}
	return level;
}

/*
 * No level is better than this, whatever the multipliers: with lambda_i >= 0 of
 * the jobs and prices p_j >= 0 of the types' GPUs,
 *
 *	t sum lambda <= sum_j p_j N_j + sum_i max(0, max_j (lambda_i a_ij - p_j n_i s_i))
 *
 * because every x of the program's keeps sum_j x_ij <= 1.  From the problem's
 * numbers; of the solver only the multipliers are taken.  Rounding is allowed
 * for: every sum here is of numbers >= 0, so a sum of k terms errs by at most k
 * units in the last place; they are summed in blocks, and the blocks in turn.
 */
static double
level_bound(const struct scaled *s, const double *lambda, const double *price)
{
	enum { BLOCK = 1024 };
	const struct gv_problem *p = s->p;
	double gain_error = ((double)p->m + 8) * DBL_EPSILON / 2;
	double cost_error = 2 * DBL_EPSILON;
	double sum_error =
	    2 * (fmin(BLOCK, (double)p->n) + (double)(p->n / BLOCK) + (double)p->m + 16) *
	    DBL_EPSILON;
	double sum = 0, block = 0;
	double multipliers = 0, multipliers_block = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		sum += price[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		double most = 0;

		for (j = 0; j < p->m; j++) {
			double gain = lambda[i] * (s->a[i * p->m + j] / s->level);
			double cost = price[j] * p->count[i] * p->scale[i];

			double net = gain * (1 + gain_error) - cost * (1 - cost_error);

			most = gain > 0 && net > most ? net : most;
		}
		block += most;
		multipliers_block += lambda[i];
		if (i % BLOCK == BLOCK - 1 || i == p->n - 1) {
			sum += block;
			multipliers += multipliers_block;
			block = multipliers_block = 0;
		}
	}
	return s->level * (sum / multipliers) * (1 + sum_error);
}

/* How far the best level may be above this one, relative. */
static double
gap(const struct gv_problem *p, double bound, double level)
{
	double sure = level * (1 - ((double)p->m + 16) * DBL_EPSILON);

	return (bound - sure) / bound;
}

/*
 * The second program: at least level u, and the largest sum of normalised
 * throughputs.  0 x holds such shares, 1 it failed, -1 with *e set.
 */
static int
raise_sum(struct scaled *s, double u, const struct gv_lp_basis *from, double *x,
    struct gv_error *e)
{
	const struct gv_problem *p = s->p;
	struct gv_lp_basis basis = {0};
	struct gv_lp_solution sol = {0};
	size_t i, j;
	int rc;

	need_equal(s);
	gv_lp_basis_copy(&basis, from);
	s->lp.cost[s->t] = 0;
	s->lp.col_lo[s->t] = s->lp.col_hi[s->t] = u;
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (s->col[i * p->m + j] != SIZE_MAX)
				s->lp.cost[s->col[i * p->m + j]] =
				    p->count[i] * p->scale[i] * s->unit[i] *
				    (problem_rate(p, i, j) / s->equal[i]) / s->gpus;
	rc = gv_lp_solve(&s->lp, NULL, &basis, &sol, e);
	if (rc == 0 && sol.status == GV_LP_OPTIMAL)
		take_shares(s, sol.x, x);
	else if (rc == 0)
		rc = 1;
	gv_lp_solution_free(&sol);
	gv_lp_basis_free(&basis);
	return rc;
}

/*
 * The same, in out->x and out->objective; they stay if it fails.  What keeps the best level is a thin
 * set, which the simplex method may not find: then a hair less will do.
 */
static int
raise_shares(struct scaled *s, double u, const struct gv_lp_basis *basis,
    struct gv_solution *out, struct gv_error *e)
{
	static const double less[] = {0, 1e-11, 1e-10};
	const struct gv_problem *p = s->p;
	double *x = gv_xcalloc(p->n, p->m * sizeof(*x));
	double level;
	size_t k;
	int rc = 1;

	for (k = 0; k < 3 && rc == 1; k++) {
		rc = raise_sum(s, u * (1 - less[k]), basis, x, e);
		level = rc == 0 ? level_of(p, s->a, x) : 0;
		if (rc == 0 && level >= out->objective * (1 - less[k] - 1e-11)) {
			memcpy(out->x, x, p->n * p->m * sizeof(*x));
			out->objective = level;
		} else if (rc == 0) {
			rc = 1; /* the level comes first */
		}
	}
	free(x);
	return rc;
}

/*
 * By linear programs: 0, 1 with *status saying what kept them from it, or -1.
 * *raised: the second one was solved, too.
 */
static int
solve_programs(struct scaled *s, const struct gv_solve_options *opt, struct gv_level *l,
    enum gv_lp_status *status, bool *raised, struct gv_error *e)
{
	const struct gv_problem *p = s->p;
	const struct gv_lp_options lp_opt = {.exact = opt->certify};
	struct gv_lp_basis basis = {0};
	struct gv_lp_solution sol = {0};
	struct gv_solution *out = l->s;
	size_t i;
	int rc;

	build(s);
	rc = gv_lp_solve(&s->lp, &lp_opt, &basis, &sol, e);
	*status = sol.status;
	if (rc == 0 && sol.status != GV_LP_OPTIMAL)
		rc = 1;
	if (rc == 0) {
		take_shares(s, sol.x, out->x);
		out->objective = level_of(p, s->a, out->x);
		for (i = 0; i < p->n; i++)
			l->lambda[i] = fmax(0, -sol.row_dual[s->job[i]]);
		for (i = 0; i < p->m; i++)
			l->price[i] =
			    fmax(0, sol.row_dual[s->type_rows + i]) / s->pool[i];
		out->bound = level_bound(s, l->lambda, l->price);
		out->exact = sol.exact;
		*raised = !l->raise;
		if (l->raise) {
			rc = raise_shares(s, sol.x[s->t], &basis, out, e);
			*raised = rc == 0;
			rc = rc < 0 ? -1 : 0;
		}
	}
	gv_lp_solution_free(&sol);
	gv_lp_basis_free(&basis);
	return rc;
}

/* Normalised throughputs; ctx: struct scaled. */
static void
fill_gains(void *ctx, const struct gv_crowd *c)
{
	struct scaled *s = ctx;
	size_t i, j;

	need_equal(s);
	for (i = 0; i < c->n; i++)
		for (j = 0; j < c->m; j++)
			c->gain[j * c->stride + i] =
			    c->use[i] * (problem_rate(s->p, i, j) / s->equal[i]) /
			    s->gpus;
}

/* By prices: 0 and the proof holds, 1 it does not, or -1. */
static int
solve_prices(
    struct scaled *s, struct gv_level *l, struct gv_price_memory *memory, bool *raised)
{
	const struct gv_problem *p = s->p;
	struct gv_crowd c;
	struct gv_solution *out = l->s;
	struct gv_price_solution sol = {.x = out->x,
	    .lambda = l->lambda,
	    .price = l->price,
	    .raised = l->raise,
	    .fill = fill_gains,
	    .ctx = s};
	size_t i, j;
	int rc;

	gv_crowd_alloc(&c, p->n, p->m, l->raise);
	for (i = 0; i < p->n; i++) {
		c.use[i] = p->count[i] * p->scale[i];
		for (j = 0; j < p->m; j++)
			c.a[j * c.stride + i] = s->a[i * p->m + j] / s->level;
	}
	if (memory != NULL) /* it knows the level as it is */
		memory->level /= s->level;
	rc = gv_price_level(&c, p->capacity, &sol, memory);
	if (memory != NULL)
		memory->level *= s->level;
	gv_crowd_free(&c);
	*raised = rc == 0 && sol.raised;
	if (rc == 0) {
		gv_problem_clean(p, out->x);
		out->objective = level_of(p, s->a, out->x);
		out->bound = level_bound(s, sol.lambda, sol.price);
		rc = gap(p, out->bound, out->objective) <= 5e-10 ? 0 : 1;
	}
	return rc;
}

/* Tries the other way, and takes it if it gets further. */
static int
try_prices(struct scaled *s, struct gv_level *l)
{
	size_t cells = s->p->n * s->p->m;
	struct gv_solution *out = l->s;
	struct gv_solution other = {.x = gv_xcalloc(cells, sizeof(*other.x))};
	struct gv_level alike;
	bool raised;
	int rc;

	gv_level_init(&alike, s->p, &other, true);
	rc = solve_prices(s, &alike, NULL, &raised);
	if (rc == 0 && raised && other.objective >= out->objective * (1 - 1e-10)) {
		memcpy(out->x, other.x, cells * sizeof(*other.x));
		out->objective = other.objective;
		out->bound = fmin(out->bound, other.bound);
	}
	free(other.x);
	gv_level_free(&alike);
	return rc < 0 ? -1 : 0;
}

void
gv_level_init(
    struct gv_level *l, const struct gv_problem *p, struct gv_solution *s, bool raise)
{
	*l = (struct gv_level){.s = s, .raise = raise};
	l->lambda = gv_xcalloc(p->n, sizeof(*l->lambda));
	l->price = gv_xcalloc(p->m, sizeof(*l->price));
	if (p->together != NULL)
		l->time = gv_xcalloc(p->n, sizeof(*l->time));
}

void
gv_level_free(struct gv_level *l)
{
	free(l->lambda);
	free(l->price);
	free(l->time);
}

int
gv_level_solve(const struct gv_problem *p, const double *a,
    const struct gv_solve_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e)
{
	enum gv_lp_status status = GV_LP_FAILED;
	bool by_prices =
	    opt->solver == SOLVER_PRICE || (opt->solver == SOLVER_AUTO && p->n > small);
	struct gv_solution *out = l->s;
	bool raised = false;
	struct scaled s;
	size_t i;
	int rc = 1;

	if (p->together != NULL)
		return gv_shared_level(p, a, opt, name, l, e);
	if (gv_constrained(p, opt))
		return gv_constrained_level(p, a, opt, name, l, e);
	scale(&s, p, a);
	out->has_bound = true;
	if (by_prices && !opt->certify)
		rc = solve_prices(&s, l, opt->memory, &raised);
	if (rc == 1)
		rc = solve_programs(&s, opt, l, &status, &raised, e);
	if (rc == 1 && opt->solver == SOLVER_AUTO && !opt->certify)
		rc = solve_prices(&s, l, opt->memory, &raised);
	if (rc == 0 && !raised && !by_prices && opt->solver == SOLVER_AUTO)
		rc = try_prices(&s, l);
	if (rc == 1)
		rc = gv_error_set(
		    e, "the linear program of %s: %s", name, gv_lp_status_name(status));
	if (rc == 0)
		out->gap = gap(p, out->bound, out->objective);
	for (i = 0; i < p->n; i++)
		l->lambda[i] /= s.level;
	scaled_free(&s);
	return rc;
}

/* ---- --dump-lp ---- */

/* What a column is called by: the job and type of each share, from 1. */
struct column_names {
	size_t m;
	size_t job_type[][2];
};

static void
row_name(void *ctx, size_t row, char buf[GV_LP_NAME_LEN])
{
	const struct column_names *c = ctx;

	if (row < c->m)
		snprintf(buf, GV_LP_NAME_LEN, "gpus(%zu)", row + 1);
	else
		snprintf(buf, GV_LP_NAME_LEN, "%s(%zu)",
		    (row - c->m) % 2 == 0 ? "level" : "time", (row - c->m) / 2 + 1);
}

static void
col_name(void *ctx, size_t col, char buf[GV_LP_NAME_LEN])
{
	const struct column_names *c = ctx;

	if (col == 0)
		snprintf(buf, GV_LP_NAME_LEN, "t");
	else
		snprintf(buf, GV_LP_NAME_LEN, "x(%zu,%zu)", c->job_type[col][0],
		    c->job_type[col][1]);
}

void
gv_level_program(const struct gv_problem *p, const double *a, struct gv_lp *lp,
    struct gv_lp_names *names)
{
	struct column_names *c;
	struct scaled s;
	size_t i, j;

	if (p->together != NULL) {
		gv_shared_level_program(p, a, lp, names);
		return;
	}
	scale(&s, p, a);
	s.level = 1;
	set_units(&s);
	for (i = 0; i < p->n; i++)
		s.unit[i] = 1;
	for (j = 0; j < p->m; j++)
		s.pool[j] = 1;
	build(&s);
	c = gv_xcalloc(1, sizeof(*c) + s.lp.n_cols * sizeof(c->job_type[0]));
	c->m = p->m;
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (s.col[i * p->m + j] != SIZE_MAX) {
				c->job_type[s.col[i * p->m + j]][0] = i + 1;
				c->job_type[s.col[i * p->m + j]][1] = j + 1;
			}
	*lp = s.lp;
	s.lp = (struct gv_lp){0};
	*names = (struct gv_lp_names){row_name, col_name, c, NULL};
	scaled_free(&s);
}
