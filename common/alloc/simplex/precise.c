#include "precise.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/precise.h"
#include "lp/tolerance.h"

/* Seconds, by its own reckoning. */
#define SMALL .5

/* The needs of a thin set are lower by that part, where rounding left it empty. */
static const double less[] = {0, GV_TOL_LESS_1, GV_TOL_LESS_2, GV_TOL_LESS_3};

bool
gv_precise_is_quick(const struct gv_problem *p)
{
	return p->together == NULL &&
	       gv_lp_precise_effort(3 * p->n + p->m + 1, p->n * p->m + 1) <= SMALL;
}

/* The program in the problem's own units: x_ij is a share. */
struct program {
	const struct gv_problem *p;
	struct gv_lp lp;
	size_t *col;    /* [n][m], SIZE_MAX where the job cannot run */
	size_t *level;  /* [n] rows: of the level, ... */
	size_t *need;   /* [n] ... of the floor or need; SIZE_MAX, none */
	size_t budget;  /* row; SIZE_MAX, none */
	double *second; /* [n_cols], NULL = none */
};

/* Shares, time, GPUs and money; the rows of GPUs come first. */
static void
program_init(struct program *w, const struct gv_problem *p)
{
	size_t i, j;

	*w = (struct program){.p = p, .lp = {.maximise = true}, .budget = SIZE_MAX};
	w->col = gv_xcalloc(p->n, p->m * sizeof(*w->col));
	w->level = gv_xcalloc(p->n, sizeof(*w->level));
	w->need = gv_xcalloc(p->n, sizeof(*w->need));
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&w->lp, -INFINITY, p->capacity[j]);
	if (p->budget > 0)
		w->budget = gv_lp_add_row(&w->lp, -INFINITY, p->budget);
	for (i = 0; i < p->n; i++) {
		size_t time = gv_lp_add_row(&w->lp, -INFINITY, 1);

		w->level[i] = w->need[i] = SIZE_MAX;
		for (j = 0; j < p->m; j++) {
			double gpus = p->count[i] * p->scale[i];
			size_t col = SIZE_MAX;

			if (gv_problem_rate(p, i, j) > 0) {
				col = gv_lp_add_col(&w->lp, 0, INFINITY, 0);
				gv_lp_set(&w->lp, time, col, 1);
				gv_lp_set(&w->lp, j, col, gpus);
				if (w->budget != SIZE_MAX)
					gv_lp_set(
					    &w->lp, w->budget, col, gpus * p->price[j]);
			}
			w->col[i * p->m + j] = col;
		}
	}
}

static void
program_free(struct program *w)
{
	gv_lp_free(&w->lp);
	free(w->col);
	free(w->level);
	free(w->need);
	free(w->second);
}

/* A row of job i: what its shares make of own [m] is at least so much. */
static size_t
add_least(struct program *w, size_t i, const double *own, double least)
{
	size_t j, row = gv_lp_add_row(&w->lp, least, INFINITY);

	for (j = 0; j < w->p->m; j++)
		if (w->col[i * w->p->m + j] != SIZE_MAX)
			gv_lp_set(&w->lp, row, w->col[i * w->p->m + j], own[j]);
	return row;
}

/* [n_cols] what all jobs gain by gain [n][m]. */
static void
set_gains(const struct program *w, const double *gain, double *to)
{
	size_t i;

	for (i = 0; i < w->p->n * w->p->m; i++)
		if (w->col[i] != SIZE_MAX)
			to[w->col[i]] = w->p->count[i / w->p->m] * gain[i];
}

static void
ask_second(struct program *w, const double *gain)
{
	w->second = gv_xcalloc(w->lp.n_cols, sizeof(*w->second));
	set_gains(w, gain, w->second);
}

static void
take_shares(const struct program *w, const struct gv_lp_solution *s, double *x)
{
	size_t i;

	for (i = 0; i < w->p->n * w->p->m; i++)
		x[i] = w->col[i] == SIZE_MAX ? 0 : s->x[w->col[i]];
	gv_problem_clean(w->p, x);
}

static double
multiplier(const struct gv_lp_solution *s, size_t row)
{
	return row == SIZE_MAX ? 0 : fmax(0, -s->row_dual[row]);
}

static void
take_prices(const struct program *w, const struct gv_lp_solution *s, double *price,
    double *budget)
{
	size_t j;

	for (j = 0; j < w->p->m; j++)
		price[j] = fmax(0, s->row_dual[j]);
	*budget = w->budget == SIZE_MAX ? 0 : fmax(0, s->row_dual[w->budget]);
}

/* By what prices are raised, one after the other: at last it is beyond what rounding may be. */
static const double higher[] = {0, 32 * DBL_EPSILON, 4 * GV_TOL_CLEARLY};

/*
 * Higher prices, and lower ones of needs [n] (may be NULL), for a proof: by a rounding off,
 * each job seems to gain a little, which where next to nothing is given out is much of a bound.
 */
static void
raise_prices(
    const struct gv_problem *p, double part, double *price, double *budget, double *mu)
{
	size_t i;

	for (i = 0; i < p->m; i++)
		price[i] *= 1 + part;
	*budget *= 1 + part;
	for (i = 0; mu != NULL && i < p->n; i++)
		mu[i] *= 1 - part;
}

/* ---- levels ---- */

static void
build_level(struct program *w, const double *a, const struct gv_level *l, double part)
{
	const struct gv_problem *p = w->p;
	double *second = l->lexicographic ? gv_linear_normalised(p) : NULL;
	size_t i, t = gv_lp_add_col(&w->lp, 0, INFINITY, 1);

	for (i = 0; i < p->n; i++) {
		w->level[i] = add_least(w, i, &a[i * p->m], 0);
		gv_lp_set(&w->lp, w->level[i], t, -1);
		if (l->floor != NULL && l->floor[i] > 0)
			w->need[i] =
			    add_least(w, i, &a[i * p->m], l->floor[i] * (1 - part));
	}
	if (second != NULL)
		ask_second(w, second);
	free(second);
}

bool
gv_level_precisely(const struct gv_problem *p, const double *a, struct gv_level *l)
{
	bool found = false;
	double sum = 0;
	size_t i, k;

	for (i = 0; i < p->n * p->m; i++)
		if (!isfinite(a[i]))
			return false;
	if (!gv_precise_is_quick(p))
		return false;
	for (k = 0; k < sizeof(less) / sizeof(*less) && !found; k++) {
		struct gv_lp_solution s;
		struct program w;

		program_init(&w, p);
		build_level(&w, a, l, less[k]);
		gv_lp_precisely(&w.lp, w.second, &s);
		found = s.status == GV_LP_OPTIMAL;
		if (found) {
			take_shares(&w, &s, l->s->x);
			l->s->objective = gv_level_reached(p, a, l->s->x);
			for (i = 0; i < p->n; i++) {
				l->lambda[i] = multiplier(&s, w.level[i]) +
					       multiplier(&s, w.need[i]);
				sum += l->lambda[i];
			}
			take_prices(&w, &s, l->price, &l->budget);
		}
		gv_lp_solution_free(&s);
		program_free(&w);
		if (l->floor == NULL)
			break;
	}
	for (k = 0; k < sizeof(higher) / sizeof(*higher) && found; k++) {
		raise_prices(p, higher[k], l->price, &l->budget, NULL);
		l->s->bound = gv_level_bound(p, a, 1, l->lambda, l->price, l->budget);
		l->s->gap = gv_level_gap(p, l->s->bound, l->s->objective);
		if (l->s->gap <= GV_TOL_SUM_PROVED || l->floor != NULL)
			break;
	}
	if (found) {
		l->s->has_bound = true;
		l->s->second_missed = l->s->exact = false;
		l->limit = l->budget > 0 ? l->s->bound * sum : 0;
	}
	return found;
}

/* ---- sums ---- */

/* The needs of l, lower by a part. */
static void
add_needs(struct program *w, const struct gv_linear *l, double part)
{
	const struct gv_problem *p = w->p;
	size_t i;

	for (i = 0; l->need != NULL && i < p->n; i++)
		if (l->need[i] > 0)
			w->need[i] =
			    add_least(w, i, &p->rate[i * p->m], l->need[i] * (1 - part));
}

/* The shares and multipliers of l. */
static void
take_linear(const struct program *w, const struct gv_lp_solution *s, struct gv_linear *l)
{
	const struct gv_problem *p = w->p;
	size_t i;

	take_shares(w, s, l->s->x);
	take_prices(w, s, l->price, &l->budget);
	for (i = 0; i < p->n; i++)
		l->mu[i] = multiplier(s, w->need[i]) / p->count[i];
	l->s->has_bound = true;
	l->s->second_missed = l->s->exact = false;
}

static void
build_sum(struct program *w, const struct gv_linear *l, double part)
{
	add_needs(w, l, part);
	set_gains(w, l->gain, w->lp.cost);
	if (l->second != NULL)
		ask_second(w, l->second);
}

bool
gv_linear_precisely(struct gv_linear *l)
{
	const struct gv_problem *p = l->p;
	bool found = false;
	size_t k;

	if (l->size != NULL || !gv_precise_is_quick(p))
		return false;
	for (k = 0; k < sizeof(less) / sizeof(*less) && !found; k++) {
		struct gv_lp_solution s;
		struct program w;

		program_init(&w, p);
		build_sum(&w, l, less[k]);
		gv_lp_precisely(&w.lp, w.second, &s);
		found = s.status == GV_LP_OPTIMAL;
		if (found) {
			take_linear(&w, &s, l);
			l->s->objective = gv_linear_sum(p, l->gain, l->s->x);
		}
		gv_lp_solution_free(&s);
		program_free(&w);
		if (l->need == NULL)
			break;
	}
	for (k = 0; k < sizeof(higher) / sizeof(*higher) && found; k++) {
		raise_prices(p, higher[k], l->price, &l->budget, l->mu);
		gv_linear_prove(l);
		if (l->s->gap <= GV_TOL_SUM_PROVED)
			break;
	}
	return found;
}

/* ---- ratios ---- */

/*
 * With u = 1 / cost and y = u x all is linear (Charnes and Cooper 1962): every row has its limit
 * times u, and y costs 1.  Of the best the one with the least u does most.
 */
static void
build_ratio(struct program *w, const struct gv_linear *l, const double *cost, double part)
{
	const struct gv_problem *p = w->p;
	size_t i, u = gv_lp_add_col(&w->lp, 0, INFINITY, 0), one;

	add_needs(w, l, part);
	for (i = 0; i < w->lp.n_rows; i++) {
		bool most = isfinite(w->lp.row_hi[i]);
		double *limit = most ? &w->lp.row_hi[i] : &w->lp.row_lo[i];

		gv_lp_set(&w->lp, i, u, -*limit);
		*limit = 0;
	}
	one = gv_lp_add_row(&w->lp, 1, 1);
	for (i = 0; i < p->n * p->m; i++)
		if (w->col[i] != SIZE_MAX)
			gv_lp_set(&w->lp, one, w->col[i], p->count[i / p->m] * cost[i]);
	set_gains(w, p->rate, w->lp.cost);
	w->second = gv_xcalloc(w->lp.n_cols, sizeof(*w->second));
	w->second[u] = -1;
}

bool
gv_ratio_precisely(struct gv_linear *l, const double *cost)
{
	const struct gv_problem *p = l->p;
	bool found = false;
	size_t i, k;

	if (!gv_precise_is_quick(p))
		return false;
	for (k = 0; k < sizeof(less) / sizeof(*less) && !found; k++) {
		struct gv_lp_solution s;
		struct program w;
		size_t u;

		program_init(&w, p);
		u = w.lp.n_cols;
		build_ratio(&w, l, cost, less[k]);
		gv_lp_precisely(&w.lp, w.second, &s);
		found = s.status == GV_LP_OPTIMAL && s.x[u] > 0;
		if (found) {
			for (i = 0; i < w.lp.n_cols; i++)
				s.x[i] /= i == u ? 1 : s.x[u];
			take_linear(&w, &s, l);
		}
		gv_lp_solution_free(&s);
		program_free(&w);
	}
	return found;
}
