/*
 * Programs in many digits (simplex/precise.c) alone: who solves them answers as drawn here, with
 * many values just at a limit; the programs, and what becomes of answers, are what they were.
 */
#include "recorded.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/simplex/precise.h"
#include "lp/lp.h"
#include "lp/precise.h"
#include "lp/tolerance.h"

static void solve(const struct gv_lp *lp, const double *second, struct gv_lp_solution *s);
static double effort(size_t n_rows, size_t n_cols);
static double level_reached(const struct gv_problem *p, const double *a, const double *x);
static double level_bound(const struct gv_problem *p, const double *a, double unit,
    const double *lambda, const double *price, double budget);
static double level_gap(const struct gv_problem *p, double bound, double level);
static double sum_of(const struct gv_problem *p, const double *gain, const double *x);
static void prove_it(struct gv_linear *l);

#define gv_lp_precisely      solve
#define gv_lp_precise_effort effort
#define gv_level_reached     level_reached
#define gv_level_bound       level_bound
#define gv_level_gap         level_gap
#define gv_linear_sum        sum_of
#define gv_linear_prove      prove_it
#include "../../common/alloc/simplex/precise.c"

enum { JOBS = 4, TYPES = 3, CELLS = JOBS * TYPES };

static struct recorded *r;

static double
draw_gap(void)
{
	static const double gap[] = {0, GV_TOL_SUM_PROVED, 1.5 * GV_TOL_SUM_PROVED, 1, 1};

	return gap[below(5)];
}

static void
solve(const struct gv_lp *lp, const double *second, struct gv_lp_solution *s)
{
	size_t k;

	recorded_whole(r, lp->maximise);
	recorded_doubles(r, lp->row_lo, lp->n_rows);
	recorded_doubles(r, lp->row_hi, lp->n_rows);
	recorded_doubles(r, lp->col_lo, lp->n_cols);
	recorded_doubles(r, lp->col_hi, lp->n_cols);
	recorded_doubles(r, lp->cost, lp->n_cols);
	for (k = 0; k < lp->n_entries; k++) {
		recorded_whole(r, (long long)lp->entry[k].row);
		recorded_whole(r, (long long)lp->entry[k].col);
		recorded_double(r, lp->entry[k].value);
	}
	recorded_whole(r, second != NULL);
	if (second != NULL)
		recorded_doubles(r, second, lp->n_cols);
	*s = (struct gv_lp_solution){
	    .status = below(3) == 0 ? GV_LP_OPTIMAL : GV_LP_INFEASIBLE};
	s->x = gv_xcalloc(lp->n_cols, sizeof(double));
	s->row_dual = gv_xcalloc(lp->n_rows, sizeof(double));
	for (k = 0; k < lp->n_cols; k++)
		s->x[k] = (double)below(3) / 4;
	for (k = 0; k < lp->n_rows; k++)
		s->row_dual[k] = (double)below(5) / 4 - .5;
}

static double
effort(size_t n_rows, size_t n_cols)
{
	static const double seconds[] = {0, 0, 0, .5, .5, .75};

	recorded_whole(r, (long long)n_rows);
	recorded_whole(r, (long long)n_cols);
	return seconds[below(6)];
}

static double
level_reached(const struct gv_problem *p, const double *a, const double *x)
{
	recorded_double(r, a[0]);
	recorded_doubles(r, x, p->n * p->m);
	return (double)(1 + below(3));
}

static double
level_bound(const struct gv_problem *p, const double *a, double unit,
    const double *lambda, const double *price, double budget)
{
	recorded_double(r, a[0]);
	recorded_double(r, unit);
	recorded_doubles(r, lambda, p->n);
	recorded_doubles(r, price, p->m);
	recorded_double(r, budget);
	return 3 + (double)below(3);
}

static double
level_gap(const struct gv_problem *p, double bound, double level)
{
	recorded_whole(r, (long long)p->n);
	recorded_double(r, bound);
	recorded_double(r, level);
	return draw_gap();
}

static double
sum_of(const struct gv_problem *p, const double *gain, const double *x)
{
	recorded_doubles(r, gain, p->n * p->m);
	recorded_doubles(r, x, p->n * p->m);
	return (double)below(4);
}

static void
prove_it(struct gv_linear *l)
{
	recorded_doubles(r, l->price, l->p->m);
	recorded_doubles(r, l->mu, l->p->n);
	recorded_double(r, l->budget);
	l->s->gap = draw_gap();
}

static void
draw(struct gv_problem *p, double *row)
{
	const size_t n = 1 + below(JOBS);
	size_t i, k;

	gv_problem_alloc(p, n, 1 + below(TYPES));
	for (k = 0; k < p->m; k++) {
		p->capacity[k] = (double)(1 + below(6));
		p->price[k] = (double)below(4) / 2;
	}
	for (i = 0; i < n; i++) {
		p->scale[i] = (double)(1 << below(4));
		p->count[i] = (double)(1 << below(2));
		p->weight[i] = 1;
		row[i] = (double)below(3);
		for (k = 0; k < p->m; k++)
			p->rate[i * p->m + k] = (double)below(4);
		p->rate[i * p->m + below(p->m)] = 4;
	}
	p->budget = below(3) == 0 ? (double)(1 + below(8)) : 0;
}

static void
record(const struct gv_solution *s, const struct gv_problem *p)
{
	recorded_doubles(r, s->x, p->n * p->m);
	recorded_double(r, s->objective);
	recorded_double(r, s->bound);
	recorded_double(r, s->gap);
	recorded_whole(r, 4 * s->exact + 2 * s->has_bound + (s->second_missed != 0));
}

static void
ask_level(const struct gv_problem *p, const double *row)
{
	double x[CELLS] = {0}, a[CELLS];
	struct gv_solution s = {.x = x, .exact = true, .second_missed = true};
	struct gv_level l;
	size_t k;

	for (k = 0; k < p->n * p->m; k++)
		a[k] = below(60) == 0 ? INFINITY : p->rate[k] * (double)(1 + below(2));
	gv_level_init(&l, p, &s, below(2) == 0);
	l.floor = below(2) == 0 ? row : NULL;
	recorded_whole(r, gv_level_precisely(p, a, &l));
	record(&s, p);
	recorded_doubles(r, l.lambda, p->n);
	recorded_doubles(r, l.price, p->m);
	recorded_double(r, l.budget);
	recorded_double(r, l.limit);
	gv_level_free(&l);
}

static void
ask_sum(const struct gv_problem *p, const double *row, bool ratio)
{
	double x[CELLS] = {0}, gain[CELLS], second[CELLS];
	struct gv_solution s = {.x = x, .exact = true, .second_missed = true};
	struct gv_linear l;
	size_t k;

	for (k = 0; k < p->n * p->m; k++) {
		gain[k] = (double)below(5) - 1;
		second[k] = (double)below(3);
	}
	gv_linear_init(&l, p, &s);
	l.gain = gain;
	l.size = below(8) == 0 ? second : NULL;
	l.second = below(2) == 0 ? second : NULL;
	l.need = below(2) == 0 ? row : NULL;
	recorded_whole(
	    r, ratio ? gv_ratio_precisely(&l, second) : gv_linear_precisely(&l));
	record(&s, p);
	recorded_doubles(r, l.mu, p->n);
	recorded_doubles(r, l.price, p->m);
	recorded_double(r, l.budget);
	gv_linear_free(&l);
}

int
main(void)
{
	static const struct gv_together *some =
	    (const struct gv_together *)(const void *)"";
	struct recorded all;
	size_t k, part;

	recorded_open(&all);
	r = &all;
	for (part = 0; part < 40; part++) {
		draws_begin(14, (uint32_t)part, 0);
		for (k = 0; k < 300; k++) {
			struct gv_problem p;
			double row[JOBS];

			draw(&p, row);
			ask_level(&p, row);
			ask_sum(&p, row, false);
			ask_sum(&p, row, true);
			p.together = below(8) == 0 ? some : NULL;
			recorded_whole(&all, gv_precise_is_quick(&p));
			p.together = NULL;
			gv_problem_free(&p);
		}
		recorded_answer(&all, "programs %zu", part);
	}
	recorded_close(&all);
	return done_testing();
}
