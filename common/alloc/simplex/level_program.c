/* Levels by one linear program of all, and that program for --dump-lp. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simplex.h"
#include "lp/tolerance.h"

/*
 * The program in numbers of about 1: shares x_ij = unit_i z_ij, level t = unit u.
 * The level that equal shares reach is feasible and within a factor of the
 * types' speeds of the best, so u is somewhat above 1; unit_i is the share
 * that lifts job i to that level on its best type.
 */
struct scaled {
	const struct gv_problem *p;
	const double *a;  /* [n][m] of the level program */
	double *equal;    /* [n] P_i, NULL until need_equal() */
	double *unit;     /* [n] of the job's shares */
	double *gpu_unit; /* [m] of the type's GPUs */
	double level;     /* of t */
	struct gv_lp lp;
	size_t t;         /* column of u */
	size_t *col;      /* [n][m] column of z_ij, SIZE_MAX where the job cannot run */
	size_t *job;      /* [n] row of the job's level */
	size_t type_rows; /* row of the first type; then one per type */
	long most_steps;  /* of the simplex method; 0 = any number */
};

static void
scale(struct scaled *s, const struct gv_problem *p, const double *a, double unit)
{
	size_t j;

	*s = (struct scaled){.p = p, .a = a, .level = unit};
	s->gpu_unit = gv_xcalloc(p->m, sizeof(*s->gpu_unit));
	for (j = 0; j < p->m; j++)
		s->gpu_unit[j] = fmax(1, p->capacity[j]);
}

static void
need_equal(struct scaled *s)
{
	if (s->equal == NULL) {
		s->equal = gv_xcalloc(s->p->n, sizeof(*s->equal));
		gv_problem_equal_throughput(s->p, s->equal);
	}
}

/* unit_i = level / max_j a_ij */
static void
set_units(struct scaled *s)
{
	const struct gv_problem *p = s->p;
	size_t i;

	s->unit = gv_xcalloc(p->n, sizeof(*s->unit));
	for (i = 0; i < p->n; i++)
		s->unit[i] = s->level / gv_row_max(&s->a[i * p->m], p->m);
}

static void
scaled_free(struct scaled *s)
{
	free(s->equal);
	free(s->unit);
	free(s->gpu_unit);
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
		gv_lp_add_row(&s->lp, -INFINITY, p->capacity[j] / s->gpu_unit[j]);
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
			    p->count[i] * p->scale[i] * s->unit[i] / s->gpu_unit[j]);
		}
	}
}

static void
set_shares(const struct scaled *s, const double *z, double *x)
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

/*
 * The second program: at least level u, and the largest sum of normalised
 * throughputs.  0 x holds such shares, 1 it failed, -1 with *e set.
 */
static int
solve_second(struct scaled *s, double u, const struct gv_lp_basis *from, double *x,
    struct gv_error *e)
{
	const struct gv_problem *p = s->p;
	const struct gv_lp_options opt = {.max_iterations = s->most_steps};
	struct gv_lp_basis basis = {0};
	struct gv_lp_solution sol = {0};
	double gpus = 0;
	size_t i, j;
	int rc;

	for (j = 0; j < p->m; j++)
		gpus += p->capacity[j];
	need_equal(s);
	gv_lp_basis_copy(&basis, from);
	s->lp.cost[s->t] = 0;
	s->lp.col_lo[s->t] = s->lp.col_hi[s->t] = u;
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (s->col[i * p->m + j] != SIZE_MAX)
				s->lp.cost[s->col[i * p->m + j]] =
				    p->count[i] * p->scale[i] * s->unit[i] *
				    (gv_problem_rate(p, i, j) / s->equal[i]) / gpus;
	rc = gv_lp_solve(&s->lp, &opt, &basis, &sol, e);
	if (rc == 0 && sol.status == GV_LP_OPTIMAL)
		set_shares(s, sol.x, x);
	else if (rc == 0)
		rc = 1;
	gv_lp_solution_free(&sol);
	gv_lp_basis_free(&basis);
	return rc;
}

/*
 * Solves the second program into out->x and out->objective; they stay if it fails.  What
 * keeps the best level is a thin face, which the simplex method may not find: then a little
 * less will do.
 */
static int
second_stage(struct scaled *s, double u, const struct gv_lp_basis *basis,
    struct gv_solution *out, struct gv_error *e)
{
	static const double less[] = {0, GV_TOL_LESS_2, GV_TOL_LESS_3};
	const struct gv_problem *p = s->p;
	double *x = gv_xcalloc(p->n, p->m * sizeof(*x));
	double level;
	size_t k;
	int rc = 1;

	for (k = 0; k < 3 && rc == 1; k++) {
		rc = solve_second(s, u * (1 - less[k]), basis, x, e);
		level = rc == 0 ? gv_level_reached(p, s->a, x) : 0;
		if (rc == 0 && level >= out->objective * (1 - less[k] - GV_TOL_KEPT)) {
			memcpy(out->x, x, p->n * p->m * sizeof(*x));
			out->objective = level;
		} else if (rc == 0) {
			rc = 1; /* the level comes first */
		}
	}
	free(x);
	return rc;
}

int
gv_level_by_program(const struct gv_problem *p, const double *a, double unit, bool exact,
    bool limited, struct gv_level *l, enum gv_lp_status *status, bool *second_done,
    struct gv_error *e)
{
	struct gv_lp_options lp_opt = {.exact = exact};
	struct gv_lp_basis basis = {0};
	struct gv_lp_solution sol = {0};
	struct gv_solution *out = l->s;
	struct scaled s;
	size_t i;
	int rc;

	scale(&s, p, a, unit);
	build(&s);
	s.most_steps = limited ? gv_simplex_most_steps(s.lp.n_rows) : 0;
	lp_opt.max_iterations = s.most_steps;
	rc = gv_lp_solve(&s.lp, &lp_opt, &basis, &sol, e);
	*status = sol.status;
	if (rc == 0 && sol.status != GV_LP_OPTIMAL)
		rc = 1;
	if (rc == 0) {
		set_shares(&s, sol.x, out->x);
		out->objective = gv_level_reached(p, s.a, out->x);
		for (i = 0; i < p->n; i++)
			l->lambda[i] = fmax(0, -sol.row_dual[s.job[i]]);
		for (i = 0; i < p->m; i++)
			l->price[i] =
			    fmax(0, sol.row_dual[s.type_rows + i]) / s.gpu_unit[i];
		out->bound = gv_level_bound(p, s.a, s.level, l->lambda, l->price, 0);
		out->exact = sol.exact;
		*second_done = !l->lexicographic;
		if (l->lexicographic) {
			rc = second_stage(&s, sol.x[s.t], &basis, out, e);
			*second_done = rc == 0;
			rc = rc < 0 ? -1 : 0;
		}
	}
	gv_lp_solution_free(&sol);
	gv_lp_basis_free(&basis);
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
gv_level_lp(const struct gv_problem *p, const double *a, struct gv_lp *lp,
    struct gv_lp_names *names)
{
	struct column_names *c;
	struct scaled s;
	size_t i, j;

	scale(&s, p, a, 1);
	set_units(&s);
	for (i = 0; i < p->n; i++)
		s.unit[i] = 1;
	for (j = 0; j < p->m; j++)
		s.gpu_unit[j] = 1;
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
