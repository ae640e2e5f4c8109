/*
 * Whole units of a program: they fit, none more fits, and they are as many as an enumeration finds;
 * where they are many, within a thousandth of what parts of units could be.
 */
#include "gv-tree/named/whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draws.h"
#include "tap.h"

/* Rows that hold up to most units, columns that take 1 or 2 of some of them, each at least one. */
static void
draw_program(struct gv_lp *lp, size_t rows, size_t cols, double most)
{
	size_t i, k;

	*lp = (struct gv_lp){.maximise = true};
	for (i = 0; i < rows; i++)
		gv_lp_add_row(lp, -INFINITY, floor(uniform() * (most + 1)));
	for (k = 0; k < cols; k++) {
		size_t column = gv_lp_add_col(lp, 0, INFINITY, 1), sure = below(rows);

		for (i = 0; i < rows; i++)
			if (i == sure || below(3) == 0)
				gv_lp_set(lp, i, column, 1 + (double)(below(4) == 0));
	}
}

/* What rows have left, the least of all; whether a unit more of some column fits. */
static double
left_of(const struct gv_lp *lp, const int64_t *units, bool *more)
{
	double *left = gv_xcalloc(lp->n_rows, sizeof(*left)), least = INFINITY;
	bool *full = gv_xcalloc(lp->n_cols, sizeof(*full));
	size_t i, k;

	memcpy(left, lp->row_hi, lp->n_rows * sizeof(*left));
	for (k = 0; k < lp->n_entries; k++)
		left[lp->entry[k].row] -=
		    lp->entry[k].value * (double)units[lp->entry[k].col];
	for (k = 0; k < lp->n_entries; k++)
		full[lp->entry[k].col] |= left[lp->entry[k].row] < lp->entry[k].value;
	for (i = 0; i < lp->n_rows; i++)
		least = fmin(least, left[i]);
	for (*more = false, k = 0; k < lp->n_cols; k++)
		*more |= !full[k];
	free(left);
	free(full);
	return least;
}

static int64_t
sum_of(const struct gv_lp *lp, const int64_t *units)
{
	int64_t sum = 0;
	size_t k;

	for (k = 0; k < lp->n_cols; k++)
		sum += units[k];
	return sum;
}

/* The most units of columns from at on that fit into left. */
static int64_t
most_units(const struct gv_lp *lp, size_t at, double *left)
{
	int64_t best = 0, taken, now;
	size_t k;

	if (at == lp->n_cols)
		return 0;
	for (taken = 0;; taken++) {
		bool fits = true;

		now = taken + most_units(lp, at + 1, left);
		best = now > best ? now : best;
		for (k = 0; k < lp->n_entries; k++)
			if (lp->entry[k].col == at)
				fits &=
				    (left[lp->entry[k].row] -= lp->entry[k].value) >= 0;
		if (!fits)
			break;
	}
	for (k = 0; k < lp->n_entries; k++)
		if (lp->entry[k].col == at)
			left[lp->entry[k].row] +=
			    lp->entry[k].value * (double)(taken + 1);
	return best;
}

static void
few(size_t i)
{
	struct gv_error e = {0};
	struct gv_lp lp;
	int64_t units[4] = {0};
	double left[5];
	bool more;

	draw_program(&lp, 1 + below(5), 1 + below(4), 1 + (double)below(12));
	ok(whole_units(&lp, 0, units, &e) == 0, "few %zu: solved", i);
	memcpy(left, lp.row_hi, lp.n_rows * sizeof(*left));
	ok(left_of(&lp, units, &more) >= 0 && !more, "few %zu: they fit, and no more", i);
	ok(sum_of(&lp, units) == most_units(&lp, 0, left), "few %zu: the most there are",
	    i);
	gv_lp_free(&lp);
	gv_error_clear(&e);
}

/* Where whole units are many: from seconds of branch and cut, none asked for where parts do. */
static void
lots(size_t i)
{
	struct gv_error e = {0};
	struct gv_lp_solution s = {0};
	struct gv_lp lp;
	int64_t units[60] = {0};
	bool more, solved;

	draw_program(&lp, 3 + below(20), 2 + below(58), 1e5 * pow(10, (double)below(4)));
	solved = whole_units(&lp, 1, units, &e) == 0 && !lp.has_integer &&
		 gv_lp_solve(&lp, NULL, NULL, &s, &e) == 0 && s.status == GV_LP_OPTIMAL;
	ok(solved, "lots %zu: solved without branches", i);
	ok(left_of(&lp, units, &more) >= 0 && !more, "lots %zu: they fit, and no more",
	    i);
	ok((double)sum_of(&lp, units) >= s.check.objective * (1 - 1e-3) &&
		(double)sum_of(&lp, units) <= s.check.objective * (1 + 1e-9),
	    "lots %zu: within a thousandth of what parts could be", i);
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
	gv_error_clear(&e);
}

/* Branch and cut has no time: what is rounded down is left, or what was found till then. */
static void
in_no_time(size_t i)
{
	struct gv_error e = {0};
	struct gv_lp lp;
	int64_t units[30] = {0};
	bool more;

	draw_program(&lp, 5 + below(10), 10 + below(20), 9);
	ok(whole_units(&lp, 1e-9, units, &e) == 0, "in no time %zu: answered", i);
	ok(left_of(&lp, units, &more) >= 0 && !more,
	    "in no time %zu: they fit, and no more", i);
	gv_lp_free(&lp);
	gv_error_clear(&e);
}

int
main(void)
{
	size_t i;

	draws_begin(20, 0, 0);
	for (i = 0; i < 300; i++)
		few(i);
	for (i = 0; i < 60; i++)
		lots(i);
	for (i = 0; i < 60; i++)
		in_no_time(i);
	return done_testing();
}
