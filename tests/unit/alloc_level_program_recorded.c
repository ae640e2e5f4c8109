/*
 * Levels and reaches by one linear program (simplex/level_program.c, reach_program.c) alone: who
 * solves it answers as drawn here, with many values just at a limit; the programs, and what
 * becomes of answers, are what they were.
 */
#include "recorded.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/simplex/simplex.h"
#include "lp/tolerance.h"

static int solve(const struct gv_lp *lp, const struct gv_lp_options *opt,
    struct gv_lp_basis *basis, struct gv_lp_solution *s, struct gv_error *e);
static double level_reached(const struct gv_problem *p, const double *a, const double *x);
static double level_bound(const struct gv_problem *p, const double *a, double unit,
    const double *lambda, const double *price, double budget);

#define gv_lp_solve      solve
#define gv_level_reached level_reached
#define gv_level_bound   level_bound
#include "../../common/alloc/simplex/level_program.c"
#define scaled      scaled_reach
#define scaled_free scaled_reach_free
#include "../../common/alloc/simplex/reach_program.c"

enum { JOBS = 4, TYPES = 3, CELLS = JOBS * TYPES };

static struct recorded *r;
static const struct gv_solution *asked;

static void
record_program(const struct gv_lp *lp)
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
}

static int
solve(const struct gv_lp *lp, const struct gv_lp_options *opt, struct gv_lp_basis *basis,
    struct gv_lp_solution *s, struct gv_error *e)
{
	const size_t end = below(16);
	size_t k;

	record_program(lp);
	recorded_whole(r, opt->exact);
	recorded_whole(r, opt->max_iterations);
	recorded_whole(r, basis == NULL ? -1 : (long long)basis->n_rows);
	*s = (struct gv_lp_solution){.exact = below(2) == 0};
	s->status = end < 5 ? (enum gv_lp_status)end : GV_LP_OPTIMAL;
	s->x = gv_xcalloc(lp->n_cols, sizeof(double));
	s->row_dual = gv_xcalloc(lp->n_rows, sizeof(double));
	for (k = 0; k < lp->n_cols; k++)
		s->x[k] = (double)below(5) / 8;
	for (k = 0; k < lp->n_rows; k++)
		s->row_dual[k] = (double)below(5) / 4 - .5;
	if (basis != NULL) {
		gv_lp_basis_free(basis);
		basis->n_rows = lp->n_rows;
		basis->row = gv_xcalloc(lp->n_rows, 1);
	}
	if (end != 5)
		return 0;
	return gv_error_set(e, "no program");
}

static double
level_reached(const struct gv_problem *p, const double *a, const double *x)
{
	static const double less[] = {0, GV_TOL_LESS_2, GV_TOL_LESS_3};
	const size_t k = below(5);

	recorded_double(r, a[0]);
	recorded_doubles(r, x, p->n * p->m);
	if (k < 3)
		return asked->objective * (1 - less[k] - GV_TOL_KEPT);
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

static void
draw(struct gv_problem *p, double *a)
{
	const size_t n = 1 + below(JOBS);
	size_t i, j;

	gv_problem_alloc(p, n, 1 + below(TYPES));
	for (j = 0; j < p->m; j++)
		p->capacity[j] = (double)below(6);
	p->capacity[below(p->m)] += 1;
	for (i = 0; i < n; i++) {
		bool asks = below(6) != 0;

		p->scale[i] = (double)(1 << below(4));
		p->count[i] = (double)(1 << below(2));
		p->weight[i] = 1;
		for (j = 0; j < p->m; j++) {
			p->rate[i * p->m + j] = (double)below(4);
			a[i * p->m + j] =
			    asks ? p->rate[i * p->m + j] / 2 : (double)INFINITY;
		}
		j = below(p->m);
		p->rate[i * p->m + j] = 4;
		a[i * p->m + j] = asks ? 2 : INFINITY;
	}
}

static void
ask_dumped(const struct gv_problem *p, const double *a)
{
	struct gv_lp lp;
	struct gv_lp_names names;
	char name[GV_LP_NAME_LEN];
	size_t k;

	gv_level_lp(p, a, &lp, &names);
	record_program(&lp);
	for (k = 0; k < lp.n_rows; k++) {
		names.row(names.ctx, k, name);
		recorded_text(r, name);
	}
	for (k = 0; k < lp.n_cols; k++) {
		names.col(names.ctx, k, name);
		recorded_text(r, name);
	}
	recorded_whole(r, names.head == NULL);
	free(names.ctx);
	gv_lp_free(&lp);
}

static void
ask_level(const struct gv_problem *p, const double *a)
{
	const bool exact = below(2) == 0, limited = below(2) == 0;
	const double unit = (double)(1 + below(3)) / 2;
	double x[CELLS] = {0};
	struct gv_solution s = {.x = x};
	enum gv_lp_status status = GV_LP_FAILED;
	struct gv_error e = {0};
	struct gv_level l;
	bool second_done = false;

	gv_level_init(&l, p, &s, below(3) != 0);
	asked = &s;
	recorded_whole(r, gv_level_by_program(
			      p, a, unit, exact, limited, &l, &status, &second_done, &e));
	recorded_whole(r, status);
	recorded_whole(r, second_done);
	recorded_text(r, e.count > 0 ? e.text[0] : "");
	recorded_doubles(r, x, p->n * p->m);
	recorded_doubles(r, l.lambda, p->n);
	recorded_doubles(r, l.price, p->m);
	recorded_double(r, s.objective);
	recorded_double(r, s.bound);
	recorded_whole(r, s.exact);
	gv_error_clear(&e);
	gv_level_free(&l);
}

static void
ask_reach(const struct gv_problem *p, const double *a)
{
	static const double wants[] = {0, 1. / 64, 1. / 32, 1, 3, 1. / 4096};
	double want[JOBS], finite[CELLS];
	struct gv_error e = {0};
	struct gv_reach reach;
	size_t k;

	for (k = 0; k < p->n * p->m; k++)
		finite[k] = isfinite(a[k]) ? a[k] : 1;
	for (k = 0; k < p->n; k++)
		want[k] = wants[below(6)];
	gv_reach_alloc(&reach, p);
	for (k = 0; k < p->n; k++)
		reach.lambda[k] = 9; /* of the last time */
	recorded_whole(
	    r, gv_reach_by_program(&reach, p, finite, want, below(2) == 0, &e));
	recorded_text(r, e.count > 0 ? e.text[0] : "");
	recorded_doubles(r, reach.x, p->n * p->m);
	recorded_doubles(r, reach.lambda, p->n);
	recorded_doubles(r, reach.price, p->m);
	recorded_double(r, reach.limit);
	recorded_whole(r, reach.exact);
	gv_error_clear(&e);
	gv_reach_free(&reach);
}

int
main(void)
{
	struct recorded all;
	size_t k, part;

	recorded_open(&all);
	r = &all;
	for (part = 0; part < 40; part++) {
		draws_begin(13, (uint32_t)part, 0);
		for (k = 0; k < 300; k++) {
			struct gv_problem p;
			double a[CELLS];

			draw(&p, a);
			ask_level(&p, a);
			ask_reach(&p, a);
			ask_dumped(&p, a);
			gv_problem_free(&p);
		}
		recorded_answer(&all, "programs %zu", part);
	}
	recorded_close(&all);
	return done_testing();
}
