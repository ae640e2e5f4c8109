#include "whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Units of that many are finer than rates are measured. */
static const double many = 1000;

struct part {
	size_t column;
	double left; /* what rounding down takes away */
};

static int
by_left(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->left != y->left)
		return x->left > y->left ? -1 : 1;
	return x->column < y->column ? -1 : 1;
}

/* Takes so many units of a column off what rows can hold, entries from first on. */
static void
take(const struct gv_lp *lp, size_t first, size_t column, double units, double *left)
{
	size_t k;

	for (k = first; k < lp->n_entries && lp->entry[k].col == column; k++)
		left[lp->entry[k].row] -= units * lp->entry[k].value;
}

/* How many more units of a column fit. */
static double
fitting(const struct gv_lp *lp, size_t first, size_t column, const double *left)
{
	double most = INFINITY;
	size_t k;

	for (k = first; k < lp->n_entries && lp->entry[k].col == column; k++)
		most = fmin(most, floor(left[lp->entry[k].row] / lp->entry[k].value));
	return isfinite(most) ? fmax(most, 0) : 0;
}

/* x rounded down, and filled up where rows have room left, the largest parts first; the sum. */
static int64_t
round_down(const struct gv_lp *lp, const double *x, int64_t *units)
{
	double *left = gv_xcalloc(lp->n_rows + 1, sizeof(*left));
	size_t *first = gv_xcalloc(lp->n_cols + 1, sizeof(*first)), i;
	struct part *part = gv_xcalloc(lp->n_cols + 1, sizeof(*part));
	int64_t sum = 0;

	memcpy(left, lp->row_hi, lp->n_rows * sizeof(*left));
	for (i = lp->n_entries; i-- > 0;)
		first[lp->entry[i].col] = i;
	for (i = 0; i < lp->n_cols; i++) {
		/* as many as rows hold for sure, whatever rounding says of x */
		double whole = fmin(floor(fmax(x[i], 0)), fitting(lp, first[i], i, left));

		units[i] = (int64_t)whole;
		take(lp, first[i], i, whole, left);
		part[i] = (struct part){.column = i, .left = x[i] - whole};
	}
	qsort(part, lp->n_cols, sizeof(*part), by_left);
	for (i = 0; i < lp->n_cols; i++) {
		size_t column = part[i].column;
		double more = fitting(lp, first[column], column, left);

		units[column] += (int64_t)more;
		take(lp, first[column], column, more, left);
	}
	for (i = 0; i < lp->n_cols; i++)
		sum += units[i];
	free(left);
	free(first);
	free(part);
	return sum;
}

static int
unsolved(const struct gv_lp_solution *s, struct gv_error *e)
{
	return gv_error_set(e, "the integer program of trees was not solved: %s",
	    gv_lp_status_name(s->status));
}

int
whole_units(struct gv_lp *lp, double seconds, int64_t *units, struct gv_error *e)
{
	const struct gv_lp_options o = {.time_limit_s = seconds};
	struct gv_lp_solution parts = {0}, s = {0};
	int64_t rounded = 0;
	double sum = 0;
	size_t i;
	int rc = gv_lp_solve(lp, NULL, NULL, &parts, e);

	if (rc == 0 && parts.status != GV_LP_OPTIMAL)
		rc = unsolved(&parts, e);
	if (rc == 0)
		rounded = round_down(lp, parts.x, units);
	if (rc == 0 && (parts.check.objective < many ||
			   (double)rounded < (1 - 1 / many) * parts.check.objective)) {
		for (i = 0; i < lp->n_cols; i++)
			gv_lp_set_integer(lp, i);
		rc = gv_lp_solve(lp, &o, NULL, &s, e);
		if (rc == 0 && s.status != GV_LP_OPTIMAL && s.status != GV_LP_LIMIT)
			rc = unsolved(&s, e);
		for (i = 0; rc == 0 && s.x != NULL && i < lp->n_cols; i++)
			sum += round(s.x[i]);
		for (i = 0; i < lp->n_cols && rc == 0 && s.x != NULL &&
			    (s.status == GV_LP_OPTIMAL || sum > (double)rounded);
		     i++)
			units[i] = llround(s.x[i]);
	}
	gv_lp_solution_free(&parts);
	gv_lp_solution_free(&s);
	return rc;
}
