/* common/lp/rise: rows that rise one after the other, in many digits. */
#include "tap.h"

#include <math.h>

#include "base/rng.h"
#include "lp/precise.h"
#include "lp/rise.h"

enum { JOBS = 4, ROWS = 2 + JOBS };

static double
uniform(uint64_t *i)
{
	return gv_random_uniform(12, 0, 0, (*i)++);
}

/* Two limits of 1 and 2; columns i and JOBS + i are of either, and row 2 + i is their sum. */
static void
two_types(struct gv_lp *lp, const double rate[2 * JOBS])
{
	size_t i;

	*lp = (struct gv_lp){.maximise = true};
	gv_lp_add_row(lp, -INFINITY, 1);
	gv_lp_add_row(lp, -INFINITY, 2);
	for (i = 0; i < JOBS; i++)
		gv_lp_add_row(lp, 0, INFINITY);
	for (i = 0; i < 2 * JOBS; i++) {
		size_t col = gv_lp_add_col(lp, 0, INFINITY, 0);

		gv_lp_set(lp, i / JOBS, col, 1);
		gv_lp_set(lp, 2 + i % JOBS, col, rate[i]);
	}
}

/* 1e18 apart: the light one has its part of what the heavy one leaves, to the last place. */
static void
test_far(void)
{
	const double rate[2 * JOBS] = {1, 1, 1, 1, 0, 0, 1, 1};
	double by[ROWS] = {0, 0, 1e12, 1e-6, 1e-6, 0}, dual[ROWS], x[2 * JOBS], t;
	struct gv_lp lp;
	struct gv_rise *w;
	bool blocked;

	two_types(&lp, rate);
	w = gv_rise_make(&lp, 4);
	ok(w != NULL, "a program that has a solution");
	ok(gv_rise_by(w, by, 1e-13, &t, &blocked, dual) && t == 1e-13 && !blocked,
	    "as far as is asked");
	ok(gv_rise_by(w, by, INFINITY, &t, &blocked, dual) && blocked &&
		fabs(t / (1 / (1e12 + 1e-6) - 1e-13) - 1) < 1e-15,
	    "then as far as the first limit: %g", t);
	ok(dual[0] > 0 && dual[1] == 0 && dual[2] > 0 && dual[3] > 0 && dual[4] == 0,
	    "which those who have no other are held by");
	by[2] = by[3] = 0;
	by[5] = 1;
	ok(gv_rise_by(w, by, INFINITY, &t, &blocked, dual) && blocked &&
		fabs(t / ((2 - 1e-18) / (1 + 1e-6)) - 1) < 1e-15,
	    "the others go on to the second one: %g", t);
	gv_rise_solution(w, x);
	ok(fabs(x[1] / (1e-18 / (1 + 1e-18)) - 1) < 1e-15 && x[0] + x[1] == 1,
	    "and what was reached is kept: %g", x[1]);
	ok(gv_rise_by(w, by, 1, &t, &blocked, dual) && t == 0 && blocked && dual[5] > 0,
	    "to the end");
	ok(!gv_rise_by(w, by, 1, &t, &blocked, dual), "more steps than there are");
	gv_rise_free(w);
	lp.row_lo[2] = 1;
	lp.row_lo[3] = .5;
	w = gv_rise_make(&lp, 4);
	ok(w == NULL, "a program that has none");
	gv_rise_free(w);
	gv_lp_free(&lp);
}

/* Drawn ones: each step is the optimum of a program of its own, from what was reached. */
static void
test_drawn(void)
{
	double worst = 0;
	uint64_t draw = 0;
	int k, step, held = 0;

	for (k = 0; k < 100; k++) {
		double rate[2 * JOBS], by[ROWS] = {0}, dual[ROWS], at[JOBS] = {0};
		struct gv_lp lp;
		struct gv_rise *w;
		size_t i;

		for (i = 0; i < 2 * JOBS; i++)
			rate[i] =
			    uniform(&draw) < .3 && i >= JOBS ? 0 : .5 + uniform(&draw);
		two_types(&lp, rate);
		w = gv_rise_make(&lp, 3);
		for (step = 0; step < 3; step++) {
			double most = uniform(&draw) < .5 ? INFINITY : uniform(&draw);
			struct gv_lp_solution s;
			struct gv_lp own;
			double t;
			bool blocked;
			size_t col;

			two_types(&own, rate);
			col = gv_lp_add_col(&own, 0, INFINITY, 1);
			for (i = 0; i < JOBS; i++) {
				by[2 + i] = i == (size_t)step || uniform(&draw) < .4
						? uniform(&draw)
						: 0;
				own.row_lo[2 + i] = at[i] * (1 - 1e-13);
				if (by[2 + i] > 0)
					gv_lp_set(&own, 2 + i, col, -by[2 + i]);
			}
			gv_lp_precisely(&own, NULL, &s);
			if (gv_rise_by(w, by, most, &t, &blocked, dual))
				worst =
				    fmax(worst, fabs(t - fmin(most, s.check.objective)));
			held += blocked;
			for (i = 0; i < JOBS; i++)
				at[i] += t * by[2 + i];
			gv_lp_solution_free(&s);
			gv_lp_free(&own);
		}
		gv_rise_free(w);
		gv_lp_free(&lp);
	}
	ok(worst < 1e-9 && held > 100, "100 programs of 3 steps: %g", worst);
}

int
main(void)
{
	test_far();
	test_drawn();
	return done_testing();
}
