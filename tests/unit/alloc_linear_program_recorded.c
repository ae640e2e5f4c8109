/*
 * Sums by one linear program (simplex/linear_program.c) alone: who solves it answers as drawn
 * here, with many values just at a limit; the programs, and what becomes of answers, are what
 * they were.
 */
#include "recorded.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/simplex/simplex.h"
#include "lp/tolerance.h"

static int solve(const struct gv_lp *lp, const struct gv_lp_options *opt,
    struct gv_lp_basis *basis, struct gv_lp_solution *s, struct gv_error *e);
static double sum_of(const struct gv_problem *p, const double *gain, const double *x);
static double throughput(const struct gv_problem *p, const double *x, size_t i);
static void prove_it(struct gv_linear *l);

#define gv_lp_solve           solve
#define gv_linear_sum         sum_of
#define gv_linear_prove       prove_it
#define gv_problem_throughput throughput
#include "../../common/alloc/simplex/linear_program.c"

static struct recorded *r;
static const struct gv_linear *asked;
static bool second_time;

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
	static const double duals[] = {0, GV_TOL_TIGHT, -GV_TOL_TIGHT, 2 * GV_TOL_TIGHT,
	    -2 * GV_TOL_TIGHT, .5, -.5, 2};
	const size_t end = below(16);
	size_t k;

	record_program(lp);
	recorded_whole(r, opt == NULL ? -1 : opt->exact);
	recorded_whole(r, opt == NULL ? -1 : opt->max_iterations);
	recorded_whole(r, (long long)basis->n_rows);
	*s = (struct gv_lp_solution){.exact = below(2) == 0};
	s->status = end < 5 ? (enum gv_lp_status)end : GV_LP_OPTIMAL;
	s->x = gv_xcalloc(lp->n_cols, sizeof(double));
	s->row_dual = gv_xcalloc(lp->n_rows, sizeof(double));
	for (k = 0; k < lp->n_cols; k++)
		s->x[k] = (double)below(5) / 8;
	for (k = 0; k < lp->n_rows; k++)
		s->row_dual[k] = duals[below(8)];
	gv_lp_basis_free(basis);
	basis->n_rows = lp->n_rows;
	basis->row = gv_xcalloc(lp->n_rows, 1);
	if (end != 5)
		return 0;
	return gv_error_set(e, "no program");
}

static double
sum_of(const struct gv_problem *p, const double *gain, const double *x)
{
	static const double sums[] = {0, -GV_TOL_SAME_SUM, -2 * GV_TOL_SAME_SUM,
	    -4 * GV_TOL_SAME_SUM, -.5 * GV_TOL_SAME_SUM, 1};
	static double last;

	recorded_doubles(r, gain, p->n * p->m);
	recorded_doubles(r, x, p->n * p->m);
	if (!second_time) {
		second_time = true;
		last = (double)below(4);
		return last;
	}
	return last + sums[below(6)];
}

static double
throughput(const struct gv_problem *p, const double *x, size_t i)
{
	static const double part[] = {
	    1, 1, 1 - GV_TOL_FEASIBLE, 1, 1 - 2 * GV_TOL_FEASIBLE, 1, 1, 1};

	recorded_double(r, x[i * p->m]);
	return asked->need[i] * part[below(8)];
}

static void
prove_it(struct gv_linear *l)
{
	recorded_text(r, "proved");
	l->s->bound = 7;
}

static void
draw(struct gv_problem *p, double *gain, double *size, double *second, double *need)
{
	size_t i, k, n = 1 + below(4);
	bool none = below(8) == 0;

	gv_problem_alloc(p, n, 1 + below(3));
	for (k = 0; k < p->m; k++) {
		p->capacity[k] = none ? 0 : (double)below(6);
		p->price[k] = below(4) == 0 ? 0 : (double)below(4) / 2;
	}
	for (i = 0; i < n; i++) {
		p->scale[i] = (double)(1 << below(4));
		p->count[i] = (double)(1 << below(2));
		p->weight[i] = 1;
		need[i] = (double)below(3) / 2;
	}
	for (k = 0; k < n * p->m; k++) {
		p->rate[k] = (double)below(4);
		gain[k] = (double)below(6) / 2 - 1;
		size[k] = fabs(gain[k]) + (double)below(2);
		second[k] = (double)below(3);
	}
	p->budget = below(3) == 0 ? (double)(1 + below(8)) : 0;
}

static void
ask_dumped(const struct gv_linear *l)
{
	struct gv_lp lp;
	struct gv_lp_names names;
	char name[GV_LP_NAME_LEN];
	size_t k;

	gv_linear_lp(l->p, l->gain, l->need, &lp, &names);
	record_program(&lp);
	for (k = 0; k < lp.n_rows; k++) {
		names.row(names.ctx, k, name);
		recorded_text(r, name);
	}
	for (k = 0; k < lp.n_cols; k++) {
		names.col(names.ctx, k, name);
		recorded_text(r, name);
	}
	free(names.ctx);
	gv_lp_free(&lp);
}

static void
ask(void)
{
	double gain[12], size[12], second[12], need[4], x[12] = {0};
	struct gv_solution s = {.x = x};
	struct gv_error e = {0};
	struct gv_problem p;
	struct gv_linear l;
	bool exact = below(2) == 0, limited = below(2) == 0;

	draw(&p, gain, size, second, need);
	gv_linear_init(&l, &p, &s);
	l.gain = gain;
	l.size = below(2) == 0 ? size : NULL;
	l.second = below(3) != 0 ? second : NULL;
	l.need = below(2) == 0 ? need : NULL;
	asked = &l;
	second_time = false;
	recorded_whole(r, gv_linear_by_program(&l, exact, limited, "this", &e));
	recorded_text(r, e.count > 0 ? e.text[0] : "");
	recorded_doubles(r, x, p.n * p.m);
	recorded_doubles(r, l.price, p.m);
	recorded_doubles(r, l.mu, p.n);
	recorded_double(r, l.budget);
	recorded_double(r, s.objective);
	recorded_double(r, s.bound);
	recorded_whole(r, 4 * s.exact + 2 * s.has_bound + (s.second_missed != 0));
	ask_dumped(&l);
	gv_error_clear(&e);
	gv_linear_free(&l);
	gv_problem_free(&p);
}

int
main(void)
{
	struct recorded all;
	size_t k, part;

	recorded_open(&all);
	r = &all;
	for (part = 0; part < 40; part++) {
		draws_begin(12, (uint32_t)part, 0);
		for (k = 0; k < 500; k++)
			ask();
		recorded_answer(&all, "programs %zu", part);
	}
	recorded_close(&all);
	return done_testing();
}
