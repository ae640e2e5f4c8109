/*
 * That a program has no solution is proved or not said: drawn programs of which one solution is
 * known, numbers apart by many orders of magnitude among them, the same with a row that sums of
 * theirs contradict, and the proof itself at its edges.
 */
#include "tap.h"

#include <stdlib.h>

#include "draws.h"
#include "lp/lp.h"

static double
decades(double most)
{
	return pow(10, most * (2 * uniform() - 1));
}

/* A column of value x: that is one of its bounds, or within them. */
static void
add_column(struct gv_lp *lp, double x, double spread)
{
	double lo = below(3) > 0 ? fmin(0, x) : below(2) > 0 ? x : -INFINITY;
	double hi = below(3) > 0 ? fmax(1, x * (1 + uniform())) : INFINITY;

	gv_lp_add_col(lp, lo, fmax(hi, x),
	    below(3) > 0 ? (2 * uniform() - 1) * decades(spread) : 0);
}

/* A row that x keeps, with little or no room. */
static void
add_row(struct gv_lp *lp, const double *x, double spread)
{
	size_t r = gv_lp_add_row(lp, -INFINITY, INFINITY), j, kind = below(4);
	double unit = decades(spread), sum = 0, most = 0, room;

	for (j = 0; j < lp->n_cols; j++) {
		double v =
		    below(3) > 0 ? (below(2) > 0 ? 1 : -1) : (2 * uniform() - 1) * unit;

		if (below(2) > 0)
			continue;
		gv_lp_set(lp, r, j, v);
		sum += v * x[j];
		most += fabs(v * x[j]);
	}
	room = below(3) == 0 ? 0 : below(2) > 0 ? pow(10, -4 - 6 * uniform()) : uniform();
	room = room * fmax(1, fabs(sum)) + 1e-15 * most;
	if (kind != 0)
		lp->row_lo[r] = sum - room;
	if (kind != 1)
		lp->row_hi[r] = sum + (kind == 2 ? 1e-15 * most : room);
}

static void
draw(struct gv_lp *lp, double *x, double spread)
{
	size_t n = 1 + below(12), m = 1 + below(14), i;

	*lp = (struct gv_lp){.maximise = below(2) > 0};
	for (i = 0; i < n; i++) {
		size_t kind = below(5);

		x[i] = kind == 0   ? 0
		       : kind == 1 ? uniform() * decades(spread)
		       : kind == 2 ? 1
		       : kind == 3 ? floor(4 * uniform())
				   : -uniform() * decades(spread);
		add_column(lp, x[i], spread);
	}
	for (i = 0; i < m; i++)
		add_row(lp, x, spread);
}

/* Asks for more than the others and the columns' bounds allow, by that part of it. */
static void
contradict(struct gv_lp *lp, double part)
{
	double *a = calloc(lp->n_cols, sizeof(*a)), *y = calloc(lp->n_rows, sizeof(*y)),
	       most = 0;
	size_t i, r;

	for (i = 0; i < lp->n_rows; i++) {
		if (isinf(lp->row_hi[i]) || below(3) > 0)
			continue;
		y[i] = uniform();
		most += y[i] * lp->row_hi[i];
	}
	for (i = 0; i < lp->n_entries; i++)
		a[lp->entry[i].col] += y[lp->entry[i].row] * lp->entry[i].value;
	for (i = 0; i < lp->n_cols; i++) {
		if (isinf(lp->col_hi[i]) || below(3) > 0)
			continue;
		a[i] += 1;
		most += lp->col_hi[i];
	}
	r = gv_lp_add_row(lp, most + part * fmax(1, fabs(most)), INFINITY);
	for (i = 0; i < lp->n_cols; i++)
		if (a[i] != 0)
			gv_lp_set(lp, r, i, a[i]);
	free(a);
	free(y);
}

static enum gv_lp_status
solve(const struct gv_lp *lp, bool *proved)
{
	struct gv_lp_solution s;
	struct gv_error e = {0};
	enum gv_lp_status status =
	    gv_lp_solve(lp, NULL, NULL, &s, &e) == 0 ? s.status : GV_LP_FAILED;

	*proved = gv_lp_check_infeasible(lp, s.row_dual);
	gv_lp_solution_free(&s);
	return status;
}

static void
test_drawn(void)
{
	int wrong = 0, contradicted = 0, unproved = 0, failed = 0, i;

	for (i = 0; i < 3000; i++) {
		struct gv_lp lp;
		struct gv_lp_check c;
		double x[12];
		bool proved;
		enum gv_lp_status s;

		draws_begin(7, (uint32_t)i, 0);
		draw(&lp, x, i % 4);
		gv_lp_check(&lp, x, NULL, &c);
		s = solve(&lp, &proved);
		wrong += c.infeasibility < 1e-12 && (s == GV_LP_INFEASIBLE || proved);
		contradict(&lp, decades(3) / 1000);
		s = solve(&lp, &proved);
		contradicted += s != GV_LP_INFEASIBLE && s != GV_LP_FAILED;
		failed += s == GV_LP_FAILED;
		unproved += s == GV_LP_INFEASIBLE && !proved;
		gv_lp_free(&lp);
	}
	is_int(wrong, 0, "of 3000 programs with a solution, none is said to have none");
	is_int(contradicted, 0, "with a row that contradicts the others, none is solved");
	ok(failed + unproved <= 6,
	    "and of nearly all the multipliers prove it (not of %d)", failed + unproved);
}

/* a x >= 1, x within its bounds */
static void
one(struct gv_lp *lp, double a, double lo, double hi)
{
	*lp = (struct gv_lp){.maximise = false};
	gv_lp_add_col(lp, lo, hi, 1);
	gv_lp_add_row(lp, 1, INFINITY);
	gv_lp_set(lp, 0, 0, a);
}

static bool
proves(double a, double lo, double hi, double y)
{
	struct gv_lp lp;
	bool is;

	one(&lp, a, lo, hi);
	is = gv_lp_check_infeasible(&lp, &y);
	gv_lp_free(&lp);
	return is;
}

static void
test_edges(void)
{
	struct gv_lp lp;
	bool proved;
	enum gv_lp_status s;

	ok(proves(1, 0, .5, -1), "x >= 1, x <= 1/2: a contradiction");
	ok(proves(1, 0, .5, -1e-9), "in whatever units");
	ok(!proves(1, 0, .5, 1), "by y of the sign that the row's bound allows");
	ok(!proves(1, 0, .5, 0) && !proves(1, 0, .5, NAN),
	    "0 and not a number prove nothing");
	ok(!proves(1, 0, 1, -1), "x >= 1, x <= 1 has a solution");
	ok(!proves(1, 0, 1 - 1e-10, -1), "and has one where no bound is broken by 1e-9");
	ok(proves(1, 0, 1 - 4e-9, -1), "has none where one would be by 2e-9");
	ok(!proves(1e-9, -INFINITY, INFINITY, -1),
	    "x / 10^9 >= 1: a small multiplier of what "
	    "has no bound is no rounding");
	ok(proves(-1, 0, INFINITY, -1), "-x >= 1, x >= 0: the bound below counts");
	one(&lp, 1e-9, -INFINITY, INFINITY);
	s = solve(&lp, &proved);
	ok(s == GV_LP_OPTIMAL && !proved, "which is solved");
	gv_lp_free(&lp);
}

/* .1 x + .1 y >= 1 and -.03 x - .03 y >= 1, no bounds: .3 times one and the other cancel, nearly. */
static void
test_rounding(void)
{
	struct gv_lp lp = {.maximise = true};
	double y[2] = {-.3, -1}, off[2] = {-.3, -1.0001};
	size_t i;

	for (i = 0; i < 2; i++)
		gv_lp_add_col(&lp, -INFINITY, INFINITY, 0);
	for (i = 0; i < 2; i++)
		gv_lp_add_row(&lp, 1, INFINITY);
	for (i = 0; i < 2; i++) {
		gv_lp_set(&lp, 0, i, .1);
		gv_lp_set(&lp, 1, i, -.03);
	}
	ok(gv_lp_check_infeasible(&lp, y),
	    "rows of columns without bounds that cancel but for "
	    "rounding");
	ok(!gv_lp_check_infeasible(&lp, off), "that do not cancel");
	gv_lp_free(&lp);
}

int
main(void)
{
	test_drawn();
	test_edges();
	test_rounding();
	return done_testing();
}
