/* common/lp: GLPK behind its interface, the independent check, bases, limits. */
#include "tap.h"

#include <stdlib.h>

#include "base/rng.h"
#include "lp/lp.h"

static double
uniform(uint64_t *i)
{
	return gv_random_uniform(5, 0, 0, (*i)++);
}

/* max 3x + 2y, x + y <= 4, x + 3y <= 6, x <= 3: 11 at (3, 1). */
static void
small(struct gv_lp *lp)
{
	size_t x, y, r;

	*lp = (struct gv_lp){.maximise = true};
	x = gv_lp_add_col(lp, 0, 3, 3);
	y = gv_lp_add_col(lp, 0, INFINITY, 2);
	r = gv_lp_add_row(lp, -INFINITY, 4);
	gv_lp_set(lp, r, x, 1);
	gv_lp_set(lp, r, y, 1);
	r = gv_lp_add_row(lp, -INFINITY, 6);
	gv_lp_set(lp, r, x, 1);
	gv_lp_set(lp, r, y, 3);
}

static void
test_small(void)
{
	struct gv_lp lp;
	struct gv_lp_solution s;
	struct gv_lp_options exact = {.exact = true};
	struct gv_lp_basis basis = {0};
	struct gv_error e = {0};
	double y[2] = {2, 0};
	struct gv_lp_check c;
	size_t col, row;

	small(&lp);
	is_int(gv_lp_solve(&lp, &exact, &basis, &s, &e), 0, "solves");
	is_int(s.status, GV_LP_OPTIMAL, "optimal");
	is_near(s.check.objective, 11, 1e-12, "objective");
	is_near(s.x[0], 3, 1e-12, "x");
	is_near(s.x[1], 1, 1e-12, "y");
	is_near(s.check.bound, 11, 1e-12, "bound");
	ok(s.check.gap < 1e-12 && s.check.infeasibility < 1e-12, "checked");
	ok(s.exact, "rational arithmetic agrees");
	gv_lp_check(&lp, s.x, y, &c);
	is_near(c.bound, 11, 1e-12, "the known duals prove it");
	y[0] = 3;
	gv_lp_check(&lp, s.x, y, &c);
	is_near(c.bound, 12, 1e-12, "other duals prove less");
	y[0] = -3;
	gv_lp_check(&lp, s.x, y, &c);
	is_near(c.bound, 9 + 2 * 2, 1e-9,
	    "a dual of the wrong sign counts as 0; y <= 2 by a row");
	gv_lp_check(&lp, s.x, NULL, &c);
	ok(isinf(c.bound) && isinf(c.gap), "no duals, no bound");
	s.x[1] = 1.5;
	gv_lp_check(&lp, s.x, NULL, &c);
	is_near(c.infeasibility, 1.5 / 6, 1e-12, "the worst violation, relative");
	gv_lp_solution_free(&s);

	col = gv_lp_add_col(&lp, 0, INFINITY, 5);
	gv_lp_set(&lp, 0, col, 2);
	is_int(gv_lp_solve(&lp, NULL, &basis, &s, &e), 0,
	    "a column more, from the old basis");
	is_near(s.check.objective, 11.5, 1e-12, "it pays: 3, 0, 0.5");
	gv_lp_solution_free(&s);
	row = gv_lp_add_row(&lp, 1, 1);
	gv_lp_set(&lp, row, 1, 1);
	is_int(
	    gv_lp_solve(&lp, NULL, &basis, &s, &e), 0, "a row more, from the old basis");
	is_near(s.check.objective, 11, 1e-12, "y = 1");
	ok(s.check.gap < 1e-12, "proved");
	gv_lp_solution_free(&s);
	basis.row[0] = 99;
	is_int(gv_lp_solve(&lp, NULL, &basis, &s, &e), 0, "a basis that is none");
	is_int(s.status, GV_LP_OPTIMAL, "GLPK's abort is caught, another attempt solves");
	is_near(s.check.objective, 11, 1e-12, "the same");
	gv_lp_solution_free(&s);
	gv_lp_basis_free(&basis);
	gv_lp_free(&lp);
	gv_lp_free(&lp);
}

static void
test_outcomes(void)
{
	struct gv_lp lp;
	struct gv_lp_solution s;
	struct gv_lp_options few = {.max_iterations = 1};
	struct gv_error e = {0};
	size_t r;

	small(&lp);
	r = gv_lp_add_row(&lp, 5, INFINITY);
	gv_lp_set(&lp, r, 0, 1);
	gv_lp_set(&lp, r, 1, 1);
	is_int(gv_lp_solve(&lp, NULL, NULL, &s, &e), 0, "solves");
	is_str(gv_lp_status_name(s.status), "infeasible", "infeasible");
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);

	lp = (struct gv_lp){.maximise = true};
	gv_lp_add_col(&lp, 0, INFINITY, 1);
	is_int(gv_lp_solve(&lp, NULL, NULL, &s, &e), 0, "no rows at all");
	is_str(gv_lp_status_name(s.status), "unbounded", "unbounded");
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);

	small(&lp);
	is_int(gv_lp_solve(&lp, &few, NULL, &s, &e), 0, "solves");
	is_str(gv_lp_status_name(s.status), "limit reached", "limit");
	gv_lp_solution_free(&s);
	lp.maximise = false;
	is_int(gv_lp_solve(&lp, NULL, NULL, &s, &e), 0, "solves");
	ok(s.status == GV_LP_OPTIMAL && s.check.objective == 0 && s.check.bound == 0,
	    "the other direction");
	gv_lp_solution_free(&s);

	lp.cost[1] = NAN;
	is_int(gv_lp_solve(&lp, NULL, NULL, &s, &e), -1, "a cost that is no number");
	is_str(e.text[0], "linear program: column 2: cost is not finite", "message");
	gv_lp_solution_free(&s);
	lp.cost[1] = 2;
	lp.row_lo[1] = 7;
	is_int(gv_lp_solve(&lp, NULL, NULL, &s, &e), -1, "lo > hi");
	is_str(e.text[1], "linear program: row 2: impossible bounds 7, 6", "message");
	gv_lp_solution_free(&s);
	lp.row_lo[1] = 0;
	lp.entry[2].value = INFINITY;
	is_int(gv_lp_solve(&lp, NULL, NULL, &s, &e), -1, "an infinite coefficient");
	is_str(
	    e.text[2], "linear program: entry 3: row 2, column 1, value inf", "message");
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
	lp = (struct gv_lp){.n_rows = 100000001};
	is_int(gv_lp_solve(&lp, NULL, NULL, &s, &e), -1, "more than GLPK can number");
	is_str(e.text[3],
	    "linear program: too large for GLPK: 100000001 rows, 0 columns, 0 entries",
	    "message");
	gv_lp_solution_free(&s);
}

/*
 * Random programs: any solution that GLPK calls optimal is feasible and meets its
 * bound, and no random feasible point passes the bound of random duals.
 */
static void
test_random(void)
{
	uint64_t at = 0;
	int i, optimal = 0, bad_gap = 0, bad_bound = 0, wrong = 0;

	for (i = 0; i < 400; i++) {
		size_t n = 1 + (size_t)(uniform(&at) * 7);
		size_t m = 1 + (size_t)(uniform(&at) * 6);
		double point[8], activity[8] = {0}, y[8];
		struct gv_lp lp = {.maximise = uniform(&at) < .5};
		struct gv_lp_solution s;
		struct gv_lp_check c;
		struct gv_error e = {0};
		size_t r, k;

		for (k = 0; k < n; k++) {
			double lo = uniform(&at) < .3 ? -INFINITY : -uniform(&at);

			point[k] = uniform(&at) * 2 - .5;
			gv_lp_add_col(&lp, fmin(lo, point[k]),
			    uniform(&at) < .3 ? INFINITY : fmax(point[k], 1),
			    uniform(&at) * 4 - 2);
		}
		for (r = 0; r < m; r++) {
			gv_lp_add_row(&lp, 0, 0);
			for (k = 0; k < n; k++) {
				double v = uniform(&at) < .6 ? uniform(&at) * 2 - 1 : 0;

				gv_lp_set(&lp, r, k, v);
				activity[r] += v * point[k];
			}
			lp.row_lo[r] =
			    uniform(&at) < .4 ? -INFINITY : activity[r] - uniform(&at);
			lp.row_hi[r] =
			    uniform(&at) < .3 ? INFINITY : activity[r] + uniform(&at);
			y[r] = uniform(&at) * 2 - 1;
		}
		if (gv_lp_solve(&lp, NULL, NULL, &s, &e) != 0 ||
		    s.status == GV_LP_FAILED || s.status == GV_LP_INFEASIBLE ||
		    s.status == GV_LP_LIMIT)
			wrong++;
		if (s.status == GV_LP_OPTIMAL) {
			optimal++;
			bad_gap +=
			    !(s.check.gap <= 1e-9 && s.check.infeasibility <= 1e-9);
		}
		gv_lp_check(&lp, point, y, &c);
		bad_bound += c.infeasibility > 1e-12;
		bad_bound += lp.maximise ? c.objective > c.bound + 1e-9
					 : c.objective < c.bound - 1e-9;
		if (s.status == GV_LP_OPTIMAL)
			bad_bound += lp.maximise ? s.check.objective > c.bound + 1e-9
						 : s.check.objective < c.bound - 1e-9;
		gv_lp_solution_free(&s);
		gv_lp_free(&lp);
	}
	is_int(wrong, 0, "a program with a feasible point is solved or unbounded");
	ok(optimal > 100, "many are solved (%d)", optimal);
	is_int(bad_gap, 0, "each optimum is feasible and meets its bound");
	is_int(bad_bound, 0, "no feasible point passes a bound");
}

/* 0-1 knapsacks against all subsets. */
static void
test_integer(void)
{
	uint64_t at = 100000;
	int i, bad = 0;

	for (i = 0; i < 50; i++) {
		enum { N = 10 };
		double value[N], weight[N], best = 0;
		struct gv_lp lp = {.maximise = true};
		struct gv_lp_solution s;
		struct gv_error e = {0};
		unsigned set;
		size_t k, r;

		r = gv_lp_add_row(&lp, -INFINITY, 2);
		for (k = 0; k < N; k++) {
			value[k] = uniform(&at);
			weight[k] = uniform(&at);
			gv_lp_set_integer(&lp, gv_lp_add_col(&lp, 0, 1, value[k]));
			gv_lp_set(&lp, r, k, weight[k]);
		}
		for (set = 0; set < 1u << N; set++) {
			double v = 0, w = 0;

			for (k = 0; k < N; k++)
				if (set >> k & 1) {
					v += value[k];
					w += weight[k];
				}
			if (w <= 2)
				best = fmax(best, v);
		}
		bad += gv_lp_solve(&lp, NULL, NULL, &s, &e) != 0 ||
		       s.status != GV_LP_OPTIMAL ||
		       fabs(s.check.objective - best) > 1e-9 ||
		       s.check.infeasibility > 1e-9;
		gv_lp_solution_free(&s);
		gv_lp_free(&lp);
	}
	is_int(bad, 0, "knapsacks agree with trying all subsets");
}

/*
 * GLPK takes 5e-6 for whole; rounded to 0 it allows no x at all.  A solution that is
 * none must not be called the best.
 */
static void
test_infeasible_integer(void)
{
	static const struct {
		double least, most;
		enum gv_lp_status status;
	} of[] = {{50, 1e7, GV_LP_FAILED}, {5e-8, 1, GV_LP_FAILED},
	    {5e-9, 1, GV_LP_OPTIMAL}, {50, 100, GV_LP_OPTIMAL}};
	size_t k;

	for (k = 0; k < sizeof(of) / sizeof(of[0]); k++) {
		struct gv_lp lp = {0};
		struct gv_lp_solution s;
		struct gv_error e = {0};
		size_t x = gv_lp_add_col(&lp, of[k].least, 60, 0);
		size_t y = gv_lp_add_col(&lp, 0, 1, 1);

		gv_lp_set_integer(&lp, y);
		gv_lp_add_row(&lp, -INFINITY, 0);
		gv_lp_set(&lp, 0, x, 1);
		gv_lp_set(&lp, 0, y, -of[k].most);
		is_int(gv_lp_solve(&lp, NULL, NULL, &s, &e), 0, "solves");
		is_int(s.status, of[k].status, "%g <= x <= %g y: infeasible by %g",
		    of[k].least, of[k].most, s.check.infeasibility);
		gv_lp_solution_free(&s);
		gv_lp_free(&lp);
	}
}

int
main(void)
{
	test_small();
	test_outcomes();
	test_random();
	test_integer();
	test_infeasible_integer();
	return done_testing();
}
