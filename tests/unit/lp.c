/*
 * common/lp: GLPK behind its interface, the independent check, bases, limits.  This
 * program's glp_simplex() stands before GLPK's: it notes what is asked of it, and fails when
 * told.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include "tap.h"

#include <dlfcn.h>
#include <float.h>
#include <glpk.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fileio.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "lp/lp.h"

/* So many calls fail; of the last attempts: the method, the limits. */
static int failures, attempts;
static int failing = GLP_EFAIL, fails_after; /* as what, and behind so many that do not */
static glp_smcp asked[3];
static bool coarse; /* the next call is, in reduced costs */

int
glp_simplex(glp_prob *p, const glp_smcp *parm)
{
	int (*next)(glp_prob *, const glp_smcp *);
	void *found = dlsym(RTLD_NEXT, "glp_simplex");
	glp_smcp given = *parm;

	if (attempts < 3)
		asked[attempts] = *parm;
	attempts++;
	if (attempts > fails_after && failures > 0) {
		failures--;
		return failing;
	}
	memcpy(&next, &found, sizeof(next));
	if (coarse)
		given.tol_dj = 1e-4;
	coarse = false;
	return next(p, &given);
}

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

/* A program with whole columns that no branch and cut solves soon: a market split problem. */
static void
split(struct gv_lp *lp)
{
	enum { ROWS = 5, COLS = 40 };
	uint64_t at = 300000;
	size_t r, k;

	*lp = (struct gv_lp){0};
	for (k = 0; k < COLS; k++)
		gv_lp_set_integer(lp, gv_lp_add_col(lp, 0, 1, 0));
	for (r = 0; r < ROWS; r++) {
		double sum = 0;

		gv_lp_add_row(lp, 0, 0);
		for (k = 0; k < COLS; k++) {
			double v = floor(uniform(&at) * 100);

			gv_lp_set(lp, r, k, v);
			sum += v;
		}
		lp->row_lo[r] = lp->row_hi[r] = floor(sum / 2);
		for (k = 0; k < 2; k++) { /* what is too much, and too little */
			size_t col = gv_lp_add_col(lp, 0, INFINITY, 1);

			gv_lp_set(lp, r, col, k == 0 ? 1 : -1);
		}
	}
}

/* The shortest limit there is ends a search that would take hours. */
static void
test_time(void)
{
	struct gv_lp_options soon = {.time_limit_s = 1e-9};
	struct gv_lp lp;
	struct gv_lp_solution s;
	struct gv_error e = {0};

	split(&lp);
	is_int(gv_lp_solve(&lp, &soon, NULL, &s, &e), 0, "a search with a time limit");
	is_str(gv_lp_status_name(s.status), "limit reached", "ends there");
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
}

/* A limit that leaves some solution leaves it in x; it is in seconds. */
static void
test_time_left(void)
{
	struct gv_lp_options third = {.time_limit_s = 1};
	struct gv_lp lp;
	struct gv_lp_solution s;
	struct gv_error e = {0};
	double start_s = gv_clock_s(), sum = 0;
	size_t k;

	split(&lp);
	is_int(gv_lp_solve(&lp, &third, NULL, &s, &e), 0, "a search of a second");
	is_str(gv_lp_status_name(s.status), "limit reached", "ends there");
	ok(gv_clock_s() - start_s > .8, "not before");
	ok(s.check.infeasibility <= 1e-9, "with a solution");
	for (k = 0; k < lp.n_cols; k++)
		sum += s.x[k];
	ok(sum >= 1, "that is one");
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
}

/* What follows where an attempt fails: three of them, the last by the dual method. */
static void
test_attempts(void)
{
	int fail;

	for (fail = 0; fail <= 3; fail++) {
		struct gv_lp lp;
		struct gv_lp_solution s;
		struct gv_error e = {0};
		int k;

		small(&lp);
		failures = fail;
		attempts = 0;
		is_int(gv_lp_solve(&lp, NULL, NULL, &s, &e), 0, "%d attempts fail", fail);
		is_int(
		    attempts, fail < 3 ? fail + 1 : 3, "as many and one more, at most 3");
		is_int(s.status, fail < 3 ? GV_LP_OPTIMAL : GV_LP_FAILED, "its status");
		if (fail < 3)
			is_near(s.check.objective, 11, 1e-12, "the same objective");
		for (k = 0; k < attempts; k++)
			ok(asked[k].meth == (k == 2 ? GLP_DUAL : GLP_PRIMAL) &&
				asked[k].msg_lev == GLP_MSG_OFF &&
				asked[k].it_lim == 10000 + 50 * 4,
			    "attempt %d", k);
		gv_lp_solution_free(&s);
		gv_lp_free(&lp);
	}
	failures = 0;
}

/* Tighter bounds: a few steps of the dual method; where they are not enough, as it was. */
static void
test_tight(void)
{
	struct gv_lp_options tight = {.tight = 1e-11};
	int k;

	for (k = 0; k < 2; k++) {
		struct gv_lp lp;
		struct gv_lp_solution s;
		struct gv_error e = {0};

		small(&lp);
		attempts = 0;
		fails_after = 1;
		failures = k;
		failing = GLP_EITLIM;
		is_int(gv_lp_solve(&lp, &tight, NULL, &s, &e), 0, "solves");
		is_int(attempts, 2 + k, "calls of GLPK");
		ok(asked[0].meth == GLP_PRIMAL && asked[1].meth == GLP_DUAL &&
			asked[1].tol_bnd == 1e-11 && asked[1].it_lim == 100,
		    "dual steps behind the primal method");
		ok(k == 0 || asked[2].meth == GLP_PRIMAL, "and that again");
		is_int(s.status, GV_LP_OPTIMAL, "optimal");
		is_near(s.check.objective, 11, 1e-12, "the same objective");
		gv_lp_solution_free(&s);
		gv_lp_free(&lp);
	}
	fails_after = failures = 0;
	failing = GLP_EFAIL;
}

/* Every entry that is none is refused by its number. */
static void
test_entries(void)
{
	size_t k;

	for (k = 0; k < 4 * 3; k++) {
		struct gv_lp lp;
		struct gv_lp_solution s;
		struct gv_error e = {0};
		char start[64];

		small(&lp);
		if (k % 3 == 0)
			lp.entry[k / 3].row = 2;
		else if (k % 3 == 1)
			lp.entry[k / 3].col = 2;
		else
			lp.entry[k / 3].value = NAN;
		snprintf(start, sizeof(start), "linear program: entry %zu: ", k / 3 + 1);
		ok(gv_lp_solve(&lp, NULL, NULL, &s, &e) == -1 &&
			strncmp(e.text[0], start, strlen(start)) == 0,
		    "%s", start);
		gv_lp_solution_free(&s);
		gv_lp_free(&lp);
	}
}

/* Limits go to GLPK as they are asked for, as long as its numbers hold them. */
static void
test_limits(void)
{
	static const struct {
		double seconds;
		long iterations;
		int ms, its;
	} of[] = {{0, 7, INT_MAX, 7}, {1e-9, 1999999999, 1, 1999999999},
	    {.25, 3000000000, 250, 2000000000}, {3e6, 0, 2000000000, 10200}};
	size_t k;

	for (k = 0; k < sizeof(of) / sizeof(of[0]); k++) {
		struct gv_lp_options o = {
		    .time_limit_s = of[k].seconds, .max_iterations = of[k].iterations};
		struct gv_lp lp;
		struct gv_lp_solution s;
		struct gv_error e = {0};

		small(&lp);
		attempts = 0;
		gv_lp_solve(&lp, &o, NULL, &s, &e);
		is_int(asked[0].tm_lim, of[k].ms, "%g s", of[k].seconds);
		is_int(asked[0].it_lim, of[k].its, "%ld iterations", of[k].iterations);
		gv_lp_solution_free(&s);
		gv_lp_free(&lp);
	}
}

/* Every two bounds, of a row and of a column: refused where no number is between them. */
static void
test_bounds(void)
{
	static const double at[] = {NAN, -INFINITY, -1, 0, 1, INFINITY};
	size_t k, wrong = 0;

	for (k = 0; k < 2 * 36; k++) {
		double lo = at[k % 6], hi = at[k / 6 % 6];
		struct gv_lp lp = {0};
		struct gv_lp_solution s;
		struct gv_error e = {0};
		bool none = isnan(lo) || isnan(hi) || lo > hi || lo == INFINITY ||
			    hi == -INFINITY;

		gv_lp_add_col(&lp, k < 36 ? lo : 0, k < 36 ? hi : 1, 0);
		gv_lp_add_row(&lp, k < 36 ? 0 : lo, k < 36 ? 0 : hi);
		wrong += gv_lp_solve(&lp, NULL, NULL, &s, &e) != (none ? -1 : 0);
		gv_lp_solution_free(&s);
		gv_lp_free(&lp);
	}
	is_int(wrong, 0, "bounds that no number keeps are refused, no others");
}

/* A copy of a basis of any size is the same, and freed twice. */
static void
test_basis_copy(void)
{
	size_t rows, cols, wrong = 0;

	for (rows = 0; rows < 4; rows++)
		for (cols = 0; cols < 4; cols++) {
			signed char row[] = {1, 2, 3, 4}, col[] = {5, 4, 3, 2};
			struct gv_lp_basis from = {rows, cols, row, col}, to = {0};

			gv_lp_basis_copy(&to, &from);
			wrong += to.n_rows != rows || to.n_cols != cols ||
				 (rows > 0 && memcmp(to.row, row, rows) != 0) ||
				 (cols > 0 && memcmp(to.col, col, cols) != 0);
			gv_lp_basis_free(&to);
			gv_lp_basis_free(&to);
			wrong += to.row != NULL || to.n_rows != 0;
		}
	is_int(wrong, 0, "copies of bases");
}

/* From their own final bases programs of 30 rows take no step: one is allowed, and enough. */
static void
test_warm(void)
{
	struct gv_lp_options few = {.max_iterations = 1};
	uint64_t at = 400000;
	int i, limits = 0, wrong = 0;

	for (i = 0; i < 20; i++) {
		struct gv_lp lp = {.maximise = true};
		struct gv_lp_basis basis = {0};
		struct gv_lp_solution s;
		struct gv_error e = {0};
		double best;
		size_t r, k;

		for (k = 0; k < 40; k++)
			gv_lp_add_col(&lp, 0, 1, uniform(&at));
		for (r = 0; r < 30; r++) {
			gv_lp_add_row(&lp, -INFINITY, 3);
			for (k = 0; k < 40; k++)
				gv_lp_set(&lp, r, k, uniform(&at));
		}
		gv_lp_solve(&lp, &few, NULL, &s, &e);
		limits += s.status == GV_LP_LIMIT;
		gv_lp_solution_free(&s);
		gv_lp_solve(&lp, NULL, &basis, &s, &e);
		best = s.check.objective;
		gv_lp_solution_free(&s);
		gv_lp_solve(&lp, &few, &basis, &s, &e);
		wrong += s.status != GV_LP_OPTIMAL ||
			 fabs(s.check.objective - best) > 1e-12 * best;
		gv_lp_solution_free(&s);
		gv_lp_basis_free(&basis);
		gv_lp_free(&lp);
	}
	is_int(limits, 20, "one step is too few from nothing");
	is_int(wrong, 0, "and enough from the final basis, to the same optimum");
}

/* A program of every kind of row and column, some rows empty. */
static void
make_any(struct gv_lp *lp, uint64_t *at)
{
	static const double value[] = {1, -2.5, 1. / 3, 1e-7, 4e9};
	size_t n = 1 + (size_t)(uniform(at) * 12);
	size_t m = 1 + (size_t)(uniform(at) * 8); /* GLPK reads none without rows */
	size_t r, k;

	*lp = (struct gv_lp){.maximise = uniform(at) < .5};
	for (k = 0; k < n; k++) {
		double lo = uniform(at) < .3 ? -INFINITY : floor(uniform(at) * 3) - 1;
		double hi = uniform(at) < .3 ? INFINITY
			    : isinf(lo)      ? floor(uniform(at) * 5) + 1
					     : lo + floor(uniform(at) * 3);
		size_t col = gv_lp_add_col(
		    lp, lo, hi, uniform(at) < .5 ? 0 : value[(size_t)(uniform(at) * 5)]);

		if (uniform(at) < .2)
			gv_lp_set_integer(lp, col);
	}
	for (r = 0; r < m; r++) {
		double lo = uniform(at) < .3 ? -INFINITY : uniform(at);

		gv_lp_add_row(lp, lo,
		    isinf(lo) || uniform(at) < .4 ? 5 + uniform(at)
		    : uniform(at) < .5            ? lo
						  : INFINITY);
	}
	/* column by column: the writer sorts them */
	for (k = 0; k < n; k++)
		for (r = m; r-- > 1;)
			if (uniform(at) < .7)
				gv_lp_set(lp, r, k, value[(size_t)(uniform(at) * 5)]);
}

/* the coefficient of a row (0: the objective) and a column of what GLPK has read */
static double
coefficient(glp_prob *p, int row, int col)
{
	int at[64];
	double value[64];
	int i, n;

	if (row == 0)
		return glp_get_obj_coef(p, col);
	n = glp_get_mat_row(p, row, at, value);
	for (i = 1; i <= n; i++)
		if (at[i] == col)
			return value[i];
	return 0;
}

/* Whether a row of p has the coefficients of a row of lp and just this bound. */
static bool
is_row(glp_prob *p, const char *name, const struct gv_lp *lp, size_t row, double lo,
    double hi)
{
	int i = glp_find_row(p, name);
	double want[64] = {0};
	size_t k;

	if (i == 0)
		return false;
	for (k = 0; k < lp->n_entries; k++)
		if (lp->entry[k].row == row)
			want[lp->entry[k].col] = lp->entry[k].value;
	for (k = 0; k < lp->n_cols; k++) {
		char col[32];
		int j;

		snprintf(col, sizeof(col), "x%zu", k + 1);
		j = glp_find_col(p, col);
		if ((j == 0 ? 0 : coefficient(p, i, j)) != want[k])
			return false;
	}
	return (isinf(lo) ? glp_get_row_lb(p, i) == -DBL_MAX
			  : glp_get_row_lb(p, i) == lo) &&
	       (isinf(hi) ? glp_get_row_ub(p, i) == DBL_MAX : glp_get_row_ub(p, i) == hi);
}

static bool
is_col(glp_prob *p, const struct gv_lp *lp, size_t k)
{
	double lo = isinf(lp->col_lo[k]) ? -DBL_MAX : lp->col_lo[k];
	double hi = isinf(lp->col_hi[k]) ? DBL_MAX : lp->col_hi[k];
	char name[32];
	int j;

	snprintf(name, sizeof(name), "x%zu", k + 1);
	j = glp_find_col(p, name);
	if (j == 0) /* one without bounds of its own that stands nowhere is left out */
		return lo == 0 && hi == DBL_MAX && lp->cost[k] == 0 && !lp->integer[k];
	return glp_get_col_lb(p, j) == lo && glp_get_col_ub(p, j) == hi &&
	       glp_get_obj_coef(p, j) == lp->cost[k] &&
	       (glp_get_col_kind(p, j) != GLP_CV) == lp->integer[k];
}

/* Whether p is lp with a row of two bounds as two rows. */
static bool
is_same(glp_prob *p, const struct gv_lp *lp)
{
	int rows = 0;
	size_t i;

	glp_create_index(p);
	if ((glp_get_obj_dir(p) == GLP_MAX) != lp->maximise)
		return false;
	for (i = 0; i < lp->n_cols; i++)
		if (!is_col(p, lp, i))
			return false;
	for (i = 0; i < lp->n_rows; i++) {
		double lo = lp->row_lo[i], hi = lp->row_hi[i];
		bool two = isfinite(lo) && isfinite(hi) && lo != hi;
		char name[32];

		rows += two ? 2 : 1;
		snprintf(name, sizeof(name), "r%zu%s", i + 1, two ? "_lo" : "");
		if (!is_row(p, name, lp, i, lo, two ? INFINITY : hi))
			return false;
		snprintf(name, sizeof(name), "r%zu_hi", i + 1);
		if (two && !is_row(p, name, lp, i, -INFINITY, hi))
			return false;
	}
	return rows == glp_get_num_rows(p);
}

/* The most terms on a line of a text. */
static int
most_terms(const char *text)
{
	int most = 0, terms = 0;

	for (; *text != '\0'; text++) {
		terms = *text == '\n' ? 0 : terms + (*text == 'x');
		most = terms > most ? terms : most;
	}
	return most;
}

/* What is written, read by GLPK, is the same program. */
static void
test_written(void)
{
	char file[] = "/tmp/gv-lp.XXXXXX";
	int fd = mkstemp(file);
	uint64_t at = 500000;
	int i, bad = 0, long_lines = 0;

	glp_term_out(GLP_OFF);
	for (i = 0; i < 300; i++) {
		struct gv_strbuf text = {0};
		struct gv_out *out = gv_out_memory(&text);
		struct gv_error e = {0};
		struct gv_lp lp;
		glp_prob *p = glp_create_prob();

		make_any(&lp, &at);
		gv_lp_write(&lp, NULL, out);
		gv_out_close(out, &e);
		bad += lseek(fd, 0, SEEK_SET) != 0 || ftruncate(fd, 0) != 0 ||
		       write(fd, text.s, text.len) != (ssize_t)text.len ||
		       glp_read_lp(p, NULL, file) != 0 || !is_same(p, &lp);
		long_lines += most_terms(text.s) > 5;
		glp_delete_prob(p);
		gv_strbuf_free(&text);
		gv_lp_free(&lp);
	}
	is_int(bad, 0, "programs that GLPK reads as they were written");
	is_int(long_lines, 0, "five terms a line");
	glp_free_env();
	close(fd);
	unlink(file);
}

/* Names and a comment of the caller's: text for text. */
static void
test_names(void)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_lp_names names;
	struct gv_lp_name_table *t;
	struct gv_error e = {0};
	struct gv_lp lp;

	small(&lp);
	gv_lp_set_integer(&lp, 1);
	lp.cost[0] = 0;
	t = gv_lp_name_table(&lp, &names);
	strcpy(t->row[0], "first");
	memset(t->row[1], 'r', GV_LP_NAME_LEN - 1);
	strcpy(t->col[0], "one");
	memset(t->col[1], 'c', GV_LP_NAME_LEN - 1);
	names.head = "two\nlines";
	gv_lp_write(&lp, &names, out);
	gv_out_close(out, &e);
	/* clang-format off */
#define C63 "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define R63 "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr"
	is_str(text.s, "\\ two\n\\ lines\nMaximize\n obj: + 2 " C63 "\n\nSubject To\n"
	    " first: + 1 one + 1 " C63 " <= 4\n " R63 ": + 1 one + 3 " C63 " <= 6\n"
	    "\nBounds\n 0 <= one <= 3\n\nGeneral\n " C63 "\n\nEnd\n", "names of the caller's");
	/* clang-format on */
	gv_strbuf_free(&text);
	free(names.ctx);
	gv_lp_free(&lp);
}

/* 2x = 1 of a whole x: branch and cut ends without a solution, which is not tried again; nor is
 * what is proved, x >= 2 and x <= 1. */
static void
test_none(void)
{
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution s;
	struct gv_error e = {0};

	gv_lp_add_col(&lp, 0, 1, 1);
	gv_lp_add_row(&lp, 1, 1);
	gv_lp_set(&lp, 0, 0, 2);
	gv_lp_set_integer(&lp, 0);
	attempts = 0;
	ok(gv_lp_solve(&lp, NULL, NULL, &s, &e) == 0 && s.status == GV_LP_INFEASIBLE &&
		attempts == 1,
	    "no whole number: one attempt");
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);

	lp = (struct gv_lp){.maximise = true};
	gv_lp_add_col(&lp, 0, 1, 1);
	gv_lp_add_row(&lp, 2, INFINITY);
	gv_lp_set(&lp, 0, 0, 1);
	attempts = 0;
	ok(gv_lp_solve(&lp, NULL, NULL, &s, &e) == 0 && s.status == GV_LP_INFEASIBLE &&
		attempts == 1 && s.row_dual[0] < 0,
	    "a contradiction: one attempt, and the row's multiplier");
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
}

/*
 * A hundred columns that gain 1e-5 each, where the first call takes less than 1e-4 for none: what
 * that adds up to is not left.
 */
static void
test_sharpened(void)
{
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_options rough = {.gap = .01};
	struct gv_lp_solution s;
	struct gv_error e = {0};
	size_t row = gv_lp_add_row(&lp, -INFINITY, 1000), i;

	for (i = 0; i < 100; i++)
		gv_lp_set(&lp, row, gv_lp_add_col(&lp, 0, 1, 1e-5), 1);
	attempts = 0;
	coarse = true;
	ok(gv_lp_solve(&lp, NULL, NULL, &s, &e) == 0 && s.status == GV_LP_OPTIMAL &&
		fabs(s.check.objective - 1e-3) < 1e-12 && s.check.gap < 1e-12,
	    "small reduced costs that add up are not left");
	ok(attempts == 2 && asked[1].tol_dj <= 1e-12 && asked[1].meth == GLP_PRIMAL &&
		asked[1].it_lim == 1001,
	    "some steps more from where the first ones ended");
	gv_lp_solution_free(&s);
	attempts = 0;
	coarse = true;
	ok(gv_lp_solve(&lp, &rough, NULL, &s, &e) == 0 && attempts == 1 &&
		s.check.objective == 0,
	    "but are where so much of a gap is allowed");
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
}

int
main(void)
{
	test_small();
	test_time();
	test_time_left();
	test_attempts();
	test_tight();
	test_entries();
	test_limits();
	test_bounds();
	test_basis_copy();
	test_warm();
	test_written();
	test_names();
	test_outcomes();
	test_random();
	test_integer();
	test_infeasible_integer();
	test_none();
	test_sharpened();
	return done_testing();
}
