/* common/lp/precise: small programs in many digits, beside GLPK and where it cannot follow. */
#include "tap.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "lp/precise.h"
#include "lp/tableau.h"

static double
uniform(uint64_t *i)
{
	return gv_random_uniform(11, 0, 0, (*i)++);
}

/* Rows and columns of whole numbers; columns have a row that bounds them. */
static void
draw(struct gv_lp *lp, uint64_t *i)
{
	size_t n = 1 + (size_t)(uniform(i) * 9), m = 1 + (size_t)(uniform(i) * 9), r, c;

	*lp = (struct gv_lp){.maximise = uniform(i) < .5};
	for (c = 0; c < n; c++)
		gv_lp_add_col(lp, 0, INFINITY, floor(uniform(i) * 19) - 9);
	for (r = 0; r < m; r++) {
		double lo = uniform(i) < .5 ? -INFINITY : floor(uniform(i) * 14) - 9;
		double hi = uniform(i) < .5 ? INFINITY : floor(uniform(i) * 20) + 5;

		gv_lp_add_row(lp, uniform(i) < .1 && isfinite(hi) ? hi : lo, hi);
		for (c = 0; c < n; c++)
			if (uniform(i) < .6)
				gv_lp_set(lp, r, c, floor(uniform(i) * 19) - 9);
	}
	for (c = 0; c < n; c++)
		gv_lp_set(lp, gv_lp_add_row(lp, -INFINITY, 10), c, 1);
}

static void
test_beside_glpk(void)
{
	struct gv_error e = {0};
	int k, same = 0, optimal = 0, proved = 0;
	uint64_t i = 0;

	for (k = 0; k < 500; k++) {
		struct gv_lp_solution a, b;
		struct gv_lp lp;

		draw(&lp, &i);
		gv_lp_precisely(&lp, NULL, &a);
		if (gv_lp_solve(&lp, NULL, NULL, &b, &e) != 0)
			break;
		same += a.status == b.status &&
			(a.status != GV_LP_OPTIMAL ||
			    fabs(a.check.objective - b.check.objective) <=
				1e-9 * fmax(1, fabs(b.check.objective)));
		optimal += a.status == GV_LP_OPTIMAL;
		proved += a.status == GV_LP_OPTIMAL && a.check.gap < 1e-13 &&
			  a.check.infeasibility < 1e-13;
		gv_lp_solution_free(&a);
		gv_lp_solution_free(&b);
		gv_lp_free(&lp);
	}
	ok(same == 500, "500 programs end as GLPK's: %d", same);
	ok(optimal > 100 && optimal < 400 && proved == optimal,
	    "each optimum is proved by its duals to the last places: %d of %d", proved,
	    optimal);
}

/* max x + y of x + y <= 1; then of these the largest y, or x. */
static void
test_second(void)
{
	double worth[2] = {1, 2};
	struct gv_lp_solution s;
	struct gv_lp lp = {.maximise = true};

	gv_lp_add_col(&lp, 0, INFINITY, 1);
	gv_lp_add_col(&lp, 0, INFINITY, 1);
	gv_lp_add_row(&lp, -INFINITY, 1);
	gv_lp_set(&lp, 0, 0, 1);
	gv_lp_set(&lp, 0, 1, 1);
	gv_lp_precisely(&lp, worth, &s);
	ok(s.status == GV_LP_OPTIMAL && s.x[0] == 0 && s.x[1] == 1,
	    "of the best solutions the second sum's best");
	ok(s.row_dual[0] == 1, "with the duals of the first");
	gv_lp_solution_free(&s);
	worth[0] = 3;
	gv_lp_precisely(&lp, worth, &s);
	ok(s.x[0] == 1 && s.x[1] == 0, "and of another second sum");
	gv_lp_solution_free(&s);
	lp.cost[0] = 1 + 1e-13;
	worth[0] = 0;
	gv_lp_precisely(&lp, worth, &s);
	ok(s.x[0] == 1, "a first sum that is better by next to nothing comes first");
	gv_lp_solution_free(&s);
	lp.cost[0] = 1 + 0x1p-52;
	gv_lp_precisely(&lp, worth, &s);
	ok(s.x[1] == 1, "but not one that is better by a rounding");
	gv_lp_solution_free(&s);
	lp.cost[0] = INFINITY;
	gv_lp_precisely(&lp, worth, &s);
	ok(s.status == GV_LP_FAILED, "a number that is none");
	gv_lp_solution_free(&s);
	lp.cost[0] = 1;
	lp.row_hi[0] = INFINITY;
	gv_lp_precisely(&lp, NULL, &s);
	ok(s.status == GV_LP_UNBOUNDED, "no bound");
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
}

/*
 * max t, 1e-12 a >= t, 1e12 b >= t, 1e-3 c >= t, a + b + c <= 1, c >= 1e-30: all but 1e-15
 * of it is a's, and t 1e-12 of that.
 */
static void
test_far_apart(void)
{
	const double rate[3] = {1e-12, 1e12, 1e-3};
	double a = 1 / (1 + 1e-24 + 1e-9), worst = 0;
	struct gv_lp_solution s;
	struct gv_lp lp = {.maximise = true};
	size_t i, t = gv_lp_add_col(&lp, 0, INFINITY, 1),
		  all = gv_lp_add_row(&lp, -INFINITY, 1);

	for (i = 0; i < 3; i++) {
		size_t col = gv_lp_add_col(&lp, 0, INFINITY, 0),
		       row = gv_lp_add_row(&lp, 0, INFINITY);

		gv_lp_set(&lp, all, col, 1);
		gv_lp_set(&lp, row, col, rate[i]);
		gv_lp_set(&lp, row, t, -1);
	}
	gv_lp_set(&lp, gv_lp_add_row(&lp, 1e-30, INFINITY), 3, 1);
	gv_lp_precisely(&lp, NULL, &s);
	for (i = 0; i < 3; i++)
		worst = fmax(worst, fabs(s.x[1 + i] * rate[i] / (a * 1e-12) - 1));
	ok(s.status == GV_LP_OPTIMAL && worst < 1e-15,
	    "shares 1e24 apart are right to the last place: %g", worst);
	gv_lp_solution_free(&s);
	lp.row_hi[all] = 1e-31;
	gv_lp_precisely(&lp, NULL, &s);
	ok(s.status == GV_LP_INFEASIBLE, "1e-31 is less than 1e-30");
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
}

/*
 * The most steps for a unit of cost: jobs' shares x_ij of types, all scaled by t, so that but for
 * the unit of cost all right sides are 0 and nearly all pivots gain nothing.
 */
static void
draw_ratio(struct gv_lp *lp, size_t jobs, size_t types, uint64_t *i)
{
	size_t n = jobs * types, t, unit, k, j;

	*lp = (struct gv_lp){.maximise = true};
	for (k = 0; k < n; k++)
		gv_lp_add_col(lp, 0, INFINITY, pow(10, 8 * uniform(i) - 4));
	t = gv_lp_add_col(lp, 0, INFINITY, 0);
	unit = gv_lp_add_row(lp, 1, 1);
	for (k = 0; k < n; k++)
		gv_lp_set(lp, unit, k, .1 + uniform(i));
	for (j = 0; j < types; j++) {
		size_t row = gv_lp_add_row(lp, -INFINITY, 0);

		gv_lp_set(lp, row, t, -(1 + floor(8 * uniform(i))));
		for (k = j; k < n; k += types)
			gv_lp_set(lp, row, k, 1);
	}
	for (j = 0; j < jobs; j++) {
		size_t time = gv_lp_add_row(lp, -INFINITY, 0),
		       need = gv_lp_add_row(lp, 0, INFINITY);

		gv_lp_set(lp, time, t, -1);
		gv_lp_set(lp, need, t, -.3 * lp->cost[j * types]);
		for (k = j * types; k < (j + 1) * types; k++) {
			gv_lp_set(lp, time, k, 1);
			gv_lp_set(lp, need, k, lp->cost[k]);
		}
	}
}

/* Whether ties were broken, and each row at 0 is a little above it: no basis comes again. */
static bool
is_above(const struct gv_tableau *t, bool *broken)
{
	bool above = true;
	size_t i;

	*broken = false;
	for (i = 0; i < t->m; i++) {
		*broken = *broken || mpf_sgn(*gv_tableau_tie(t, i)) != 0;
		above = above && (mpf_sgn(*gv_tableau_right(t, i)) != 0 ||
				     mpf_sgn(*gv_tableau_tie(t, i)) > 0);
	}
	return above || !*broken;
}

static void
test_pivots(void)
{
	size_t most = 0, least = SIZE_MAX, stood = 0, below = 0;
	uint64_t i = 0;
	int k;

	for (k = 0; k < 20; k++) {
		struct gv_tableau t;
		struct gv_lp lp;
		bool broken;

		draw_ratio(&lp, 10, 5, &i);
		if (gv_tableau_make(&t, &lp, NULL, 0) &&
		    gv_tableau_find(&t) == GV_LP_OPTIMAL) {
			below += !is_above(&t, &broken);
			stood += broken;
			gv_tableau_climb(&t, GV_FIRST);
		}
		most = t.pivots > most ? t.pivots : most;
		least = t.pivots < least ? t.pivots : least;
		gv_tableau_free(&t);
		gv_lp_free(&lp);
	}
	ok(least > 10 && most < 150, "%zu to %zu pivots where nearly none gains anything",
	    least, most);
	ok(stood > 10 && below == 0,
	    "ties are broken in %zu of 20, by which no row is below 0", stood);
}

/*
 * The value of each label where the program's columns are v and nothing is missing: slacks are
 * what rows leave of their sides.
 */
static void
label_values(
    const struct gv_tableau *t, const struct gv_lp *lp, const double *v, double *value)
{
	double row[16] = {0};
	size_t k;

	memcpy(value, v, lp->n_cols * sizeof(*v));
	value[lp->n_cols] = 0;
	for (k = 0; k < lp->n_entries; k++)
		row[lp->entry[k].row] += lp->entry[k].value * v[lp->entry[k].col];
	for (k = 0; k < t->n_sides; k++) {
		size_t i = t->side[k].row;

		value[gv_tableau_slack(t, k)] =
		    t->side[k].sign > 0 ? lp->row_hi[i] - row[i] : row[i] - lp->row_lo[i];
	}
}

/* The larger of both; what is no number stays. */
static double
worse(double a, double b)
{
	return b <= a ? a : b;
}

/* By how much the rows of the tableau, and its objectives, do not hold for these values. */
static double
rows_off(const struct gv_tableau *t, const struct gv_lp *lp, const double *second,
    const double *value)
{
	double worst = 0, sign = lp->maximise ? 1 : -1;
	size_t i, j;

	for (i = 0; i < t->m + GV_MISSING; i++) {
		size_t row = i < t->m ? i : gv_tableau_objective(t, i - t->m);
		double sum = -mpf_get_d(*gv_tableau_right(t, row)), z = 0;

		for (j = 0; j < t->n; j++)
			sum += mpf_get_d(*gv_tableau_at(t, row, j)) * value[t->other[j]];
		for (j = 0; j < lp->n_cols; j++)
			z += sign * (i == t->m ? lp->cost[j] : second[j]) * value[j];
		sum += i < t->m ? value[t->basic[i]] : z;
		worst = worse(worst, fabs(sum));
	}
	return worst;
}

/* Whole numbers, so that many rows tie; every third side is below 0. */
static void
draw_whole(struct gv_lp *lp, double *second, uint64_t *i)
{
	size_t n = 1 + (size_t)(4 * uniform(i)), m = 1 + (size_t)(5 * uniform(i)), k, j;

	*lp = (struct gv_lp){.maximise = uniform(i) < .5};
	for (j = 0; j < n; j++) {
		gv_lp_add_col(lp, 0, INFINITY, floor(7 * uniform(i)) - 3);
		second[j] = floor(7 * uniform(i)) - 3;
	}
	for (k = 0; k < m; k++) {
		double hi = floor(6 * uniform(i)) - 1;

		gv_lp_add_row(lp, uniform(i) < .3 ? hi - 2 : -INFINITY, hi);
		for (j = 0; j < n; j++)
			if (uniform(i) < .7)
				gv_lp_set(lp, k, j, floor(5 * uniform(i)) - 1);
	}
}

/* Each row is still a sum of those of the program, whatever became basic. */
static void
test_rows(void)
{
	size_t found = 0, best = 0, pivots = 0;
	double worst = 0;
	uint64_t i = 0;
	int k;

	for (k = 0; k < 400; k++) {
		double second[8], v[8], value[32];
		struct gv_tableau t;
		struct gv_lp lp;
		size_t j;

		draw_whole(&lp, second, &i);
		for (j = 0; j < lp.n_cols; j++)
			v[j] = floor(9 * uniform(&i)) - 4;
		if (!gv_tableau_make(&t, &lp, second, 0))
			abort();
		label_values(&t, &lp, v, value);
		worst = worse(worst, rows_off(&t, &lp, second, value));
		if (gv_tableau_find(&t) == GV_LP_OPTIMAL) {
			found++;
			worst = worse(worst, rows_off(&t, &lp, second, value));
			best += gv_tableau_climb(&t, GV_FIRST) == GV_LP_OPTIMAL;
		}
		worst = worse(worst, rows_off(&t, &lp, second, value));
		pivots += t.pivots;
		gv_tableau_free(&t);
		gv_lp_free(&lp);
	}
	ok(found > 100 && best > 50 && found < 400 && pivots > 400,
	    "of 400 programs %zu have a solution, %zu a best one, in %zu pivots", found,
	    best, pivots);
	ok(worst <= 1e-11, "all rows are sums of the program's, but for %g", worst);
}

int
main(void)
{
	test_beside_glpk();
	test_second();
	test_far_apart();
	test_pivots();
	test_rows();
	ok(gv_lp_precise_effort(30, 30) < .01 && gv_lp_precise_effort(1000, 1000) > 60,
	    "what takes long is known before");
	return done_testing();
}
