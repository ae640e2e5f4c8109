/* Sums by one linear program of all, and that program for --dump-lp. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simplex.h"
#include "lp/tolerance.h"

/* The program in numbers of about 1: shares x_ij = unit_i z_ij. */
struct scaled {
	const struct gv_linear *l;
	double *unit;     /* [n] */
	double *gpu_unit; /* [m] of the type's GPUs */
	double gain;      /* of the sum */
	double less;      /* needs are lower by that part */
	struct gv_lp lp;
	size_t *col;   /* [n][m], SIZE_MAX where the job cannot run */
	size_t *need;  /* [n] row, SIZE_MAX where the job needs nothing */
	size_t *time;  /* [n] row */
	size_t budget; /* row, SIZE_MAX = none */
	double budget_unit;
};

static void
scale(struct scaled *s, const struct gv_linear *l)
{
	const struct gv_problem *p = l->p;
	double largest = 0;
	const double *size = l->size != NULL ? l->size : l->gain;
	size_t i, j;

	*s = (struct scaled){.l = l};
	s->unit = gv_xcalloc(p->n, sizeof(*s->unit));
	s->gpu_unit = gv_xcalloc(p->m, sizeof(*s->gpu_unit));
	for (j = 0; j < p->m; j++) {
		s->gpu_unit[j] = fmax(1, p->capacity[j]);
		largest = fmax(largest, p->capacity[j]);
	}
	for (i = 0; i < p->n; i++) {
		s->unit[i] = 1;
		if (largest > 0)
			s->unit[i] = fmin(1, largest / (p->count[i] * p->scale[i]));
		for (j = 0; j < p->m; j++)
			s->gain = fmax(
			    s->gain, p->count[i] * s->unit[i] * fabs(size[i * p->m + j]));
	}
	if (!(s->gain > 0))
		s->gain = 1;
}

static void
scaled_free(struct scaled *s)
{
	free(s->unit);
	free(s->gpu_unit);
	free(s->col);
	free(s->need);
	free(s->time);
	gv_lp_free(&s->lp);
}

/* The columns of job i. */
static void
build_job(struct scaled *s, size_t i)
{
	const struct gv_linear *l = s->l;
	const struct gv_problem *p = l->p;
	double need = l->need != NULL ? l->need[i] : 0;
	size_t j;

	s->time[i] = gv_lp_add_row(&s->lp, -INFINITY, 1 / s->unit[i]);
	s->need[i] = need > 0 ? gv_lp_add_row(&s->lp, 1 - s->less, INFINITY) : SIZE_MAX;
	for (j = 0; j < p->m; j++) {
		double rate = gv_problem_rate(p, i, j);
		size_t col = SIZE_MAX;

		if (rate > 0) {
			col = gv_lp_add_col(&s->lp, 0, INFINITY,
			    p->count[i] * s->unit[i] * l->gain[i * p->m + j] / s->gain);
			gv_lp_set(&s->lp, j, col,
			    p->count[i] * p->scale[i] * s->unit[i] / s->gpu_unit[j]);
			gv_lp_set(&s->lp, s->time[i], col, 1);
			if (need > 0)
				gv_lp_set(
				    &s->lp, s->need[i], col, rate * s->unit[i] / need);
		}
		s->col[i * p->m + j] = col;
	}
}

static void
build(struct scaled *s)
{
	const struct gv_problem *p = s->l->p;
	size_t i, j;

	s->col = gv_xcalloc(p->n, p->m * sizeof(*s->col));
	s->need = gv_xcalloc(p->n, sizeof(*s->need));
	s->time = gv_xcalloc(p->n, sizeof(*s->time));
	s->lp.maximise = true;
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&s->lp, -INFINITY, p->capacity[j] / s->gpu_unit[j]);
	for (i = 0; i < p->n; i++)
		build_job(s, i);
}

/* The row of the budget, where there is one, in units of its largest coefficient. */
static void
add_budget(struct scaled *s)
{
	const struct gv_problem *p = s->l->p;
	size_t i;

	s->budget = SIZE_MAX;
	s->budget_unit = 0;
	for (i = 0; i < p->n * p->m && p->budget > 0; i++)
		if (s->col[i] != SIZE_MAX)
			s->budget_unit = fmax(
			    s->budget_unit, p->count[i / p->m] * p->scale[i / p->m] *
						s->unit[i / p->m] * p->price[i % p->m]);
	if (s->budget_unit == 0)
		return;
	s->budget = gv_lp_add_row(&s->lp, -INFINITY, p->budget / s->budget_unit);
	for (i = 0; i < p->n * p->m; i++)
		if (s->col[i] != SIZE_MAX)
			gv_lp_set(&s->lp, s->budget, s->col[i],
			    p->count[i / p->m] * p->scale[i / p->m] * s->unit[i / p->m] *
				p->price[i % p->m] / s->budget_unit);
}

static void
set_shares(const struct scaled *s, const double *z, double *x)
{
	const struct gv_problem *p = s->l->p;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			size_t col = s->col[i * p->m + j];

			x[i * p->m + j] = col == SIZE_MAX ? 0 : z[col] * s->unit[i];
		}
	gv_problem_clean(p, x);
}

/* Whether x still gives all what they need. */
static bool
keeps_needs(const struct gv_linear *l, const double *x)
{
	size_t i;

	for (i = 0; l->need != NULL && i < l->p->n; i++)
		if (gv_problem_throughput(l->p, x, i) <
		    l->need[i] * (1 - GV_TOL_FEASIBLE))
			return false;
	return true;
}

/*
 * The second program, from the basis and duals of the first: 0 x holds its shares,
 * 1 it failed, -1 with *e set.
 */
static int
solve_second(struct scaled *s, const double *row_dual, const struct gv_lp_basis *from,
    double *x, struct gv_error *e)
{
	const struct gv_linear *l = s->l;
	const struct gv_problem *p = l->p;
	struct gv_lp *lp = &s->lp;
	struct gv_lp_basis basis = {0};
	struct gv_lp_solution sol = {0};
	double *d = gv_xcalloc(lp->n_cols, sizeof(*d));
	double largest = 0;
	size_t i, j;
	int rc;

	memcpy(d, lp->cost, lp->n_cols * sizeof(*d));
	for (i = 0; i < lp->n_entries; i++)
		d[lp->entry[i].col] -= row_dual[lp->entry[i].row] * lp->entry[i].value;
	for (i = 0; i < lp->n_cols; i++)
		if (d[i] < -GV_TOL_TIGHT)
			lp->col_hi[i] = 0;
	for (i = 0; i < lp->n_rows; i++) {
		if (row_dual[i] > GV_TOL_TIGHT && isfinite(lp->row_hi[i]))
			lp->row_lo[i] = lp->row_hi[i];
		if (row_dual[i] < -GV_TOL_TIGHT && isfinite(lp->row_lo[i]))
			lp->row_hi[i] = lp->row_lo[i];
	}
	for (i = 0; i < p->n * p->m; i++)
		if (s->col[i] != SIZE_MAX)
			largest = fmax(largest,
			    l->second[i] * p->count[i / p->m] * s->unit[i / p->m]);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (s->col[i * p->m + j] != SIZE_MAX)
				lp->cost[s->col[i * p->m + j]] = l->second[i * p->m + j] *
								 p->count[i] *
								 s->unit[i] / largest;
	gv_lp_basis_copy(&basis, from);
	rc = gv_lp_solve(lp, NULL, &basis, &sol, e);
	if (rc == 0 && sol.status == GV_LP_OPTIMAL)
		set_shares(s, sol.x, x);
	else if (rc == 0)
		rc = 1;
	free(d);
	gv_lp_solution_free(&sol);
	gv_lp_basis_free(&basis);
	return rc;
}

/* Solves the second program into l->s->x, if the first sum does not suffer. */
static int
second_stage(struct scaled *s, const double *row_dual, const struct gv_lp_basis *from,
    struct gv_error *e)
{
	const struct gv_linear *l = s->l;
	const struct gv_problem *p = l->p;
	double *x = gv_xcalloc(p->n, p->m * sizeof(*x));
	int rc = solve_second(s, row_dual, from, x, e);

	l->s->second_missed = true;
	if (rc == 0 && keeps_needs(l, x) &&
	    gv_linear_sum(p, l->gain, x) >=
		l->s->objective -
		    GV_TOL_SAME_SUM * fmax(fabs(l->s->objective), s->gain)) {
		memcpy(l->s->x, x, p->n * p->m * sizeof(*x));
		l->s->objective = gv_linear_sum(p, l->gain, x);
		l->s->second_missed = false;
	}
	free(x);
	return rc < 0 ? -1 : 0;
}

/* The first program.  What meets all needs may be a thin set: then a little less will do. */
static int
solve_first(struct scaled *s, bool exact, bool limited, struct gv_lp_basis *basis,
    struct gv_lp_solution *sol, struct gv_error *e)
{
	static const double less[] = {0, GV_TOL_LESS_1, GV_TOL_LESS_2, GV_TOL_LESS_3};
	struct gv_lp_options lp_opt = {.exact = exact};
	size_t k;
	int rc = 0;

	for (k = 0; k < 4; k++) {
		const struct gv_linear *l = s->l;

		gv_lp_solution_free(sol);
		gv_lp_basis_free(basis);
		scaled_free(s);
		scale(s, l);
		s->less = less[k];
		build(s);
		add_budget(s);
		if (limited)
			lp_opt.max_iterations = gv_simplex_most_steps(s->lp.n_rows);
		rc = gv_lp_solve(&s->lp, &lp_opt, basis, sol, e);
		if (rc != 0 || sol->status == GV_LP_OPTIMAL || sol->status == GV_LP_LIMIT)
			break;
	}
	return rc;
}

int
gv_linear_by_program(
    struct gv_linear *l, bool exact, bool limited, const char *name, struct gv_error *e)
{
	const struct gv_problem *p = l->p;
	struct gv_lp_basis basis = {0};
	struct gv_lp_solution sol = {0};
	struct scaled s = {.l = l};
	size_t i, j;
	int rc;

	rc = solve_first(&s, exact, limited, &basis, &sol, e);
	if (rc == 0 && sol.status != GV_LP_OPTIMAL)
		rc = gv_error_set(e, "the linear program of %s: %s", name,
		    gv_lp_status_name(sol.status));
	if (rc == 0) {
		set_shares(&s, sol.x, l->s->x);
		l->s->objective = gv_linear_sum(p, l->gain, l->s->x);
		l->s->exact = sol.exact;
		l->s->has_bound = true;
		for (j = 0; j < p->m; j++)
			l->price[j] = fmax(0, sol.row_dual[j]) * s.gain / s.gpu_unit[j];
		if (s.budget != SIZE_MAX)
			l->budget =
			    fmax(0, sol.row_dual[s.budget]) * s.gain / s.budget_unit;
		for (i = 0; i < p->n; i++)
			l->mu[i] = s.need[i] == SIZE_MAX
				       ? 0
				       : fmax(0, -sol.row_dual[s.need[i]]) * s.gain /
					     (l->need[i] * p->count[i]);
		if (l->second != NULL)
			rc = second_stage(&s, sol.row_dual, &basis, e);
		gv_linear_prove(l);
	}
	gv_lp_solution_free(&sol);
	gv_lp_basis_free(&basis);
	scaled_free(&s);
	return rc;
}

/* ---- --dump-lp ---- */

static void
name_program(const struct scaled *s, struct gv_lp_names *out)
{
	const struct gv_problem *p = s->l->p;
	struct gv_lp_name_table *names = gv_lp_name_table(&s->lp, out);
	size_t i, j;

	for (j = 0; j < p->m; j++)
		snprintf(names->row[j], GV_LP_NAME_LEN, "gpus(%zu)", j + 1);
	for (i = 0; i < p->n; i++) {
		snprintf(names->row[s->time[i]], GV_LP_NAME_LEN, "time(%zu)", i + 1);
		if (s->need[i] != SIZE_MAX)
			snprintf(
			    names->row[s->need[i]], GV_LP_NAME_LEN, "need(%zu)", i + 1);
		for (j = 0; j < p->m; j++)
			if (s->col[i * p->m + j] != SIZE_MAX)
				snprintf(names->col[s->col[i * p->m + j]], GV_LP_NAME_LEN,
				    "x(%zu,%zu)", i + 1, j + 1);
	}
}

void
gv_linear_lp(const struct gv_problem *p, const double *gain, const double *need,
    struct gv_lp *lp, struct gv_lp_names *names)
{
	struct gv_linear l = {.p = p, .gain = gain, .need = need};
	struct scaled s;
	size_t i, j;

	scale(&s, &l);
	s.gain = 1;
	for (i = 0; i < p->n; i++)
		s.unit[i] = 1;
	for (j = 0; j < p->m; j++)
		s.gpu_unit[j] = 1;
	build(&s);
	name_program(&s, names);
	*lp = s.lp;
	s.lp = (struct gv_lp){0};
	scaled_free(&s);
}
