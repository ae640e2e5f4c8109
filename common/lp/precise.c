#include "precise.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tableau.h"

enum { GIVEN = 16 }; /* roundings in coefficients that were computed */

#define SECONDS_A_CELL 6e-8

double
gv_lp_precise_effort(size_t n_rows, size_t n_cols)
{
	return SECONDS_A_CELL * 1.5 * (double)n_rows * (double)n_rows * (double)n_cols;
}

/*
 * What a pivot would make worse stays; but not by what is rounding in the coefficients that
 * were given: a reduced cost so much smaller than the terms that it is the difference of, or a dual that
 * is so in all basic columns.
 */
static void
keep_best(struct gv_tableau *t, const struct gv_lp *lp)
{
	double *y = gv_xcalloc(lp->n_rows, sizeof(*y));
	double *size = gv_xcalloc(lp->n_cols, sizeof(*size));
	bool *basic = gv_xcalloc(lp->n_cols, sizeof(*basic));
	bool *rounding = gv_xcalloc(lp->n_rows, sizeof(*rounding));
	size_t i, j;

	for (i = 0; i < t->m; i++)
		if (t->basic[i] < lp->n_cols)
			basic[t->basic[i]] = true;
	for (j = 0; j < t->n; j++)
		if (t->other[j] > lp->n_cols)
			y[t->side[t->other[j] - lp->n_cols - 1].row] += fabs(mpf_get_d(
			    *gv_tableau_at(t, gv_tableau_objective(t, GV_FIRST), j)));
	for (j = 0; j < lp->n_cols; j++)
		size[j] = fabs(lp->cost[j]);
	for (i = 0; i < lp->n_entries; i++)
		size[lp->entry[i].col] += y[lp->entry[i].row] * fabs(lp->entry[i].value);
	for (i = 0; i < lp->n_rows; i++)
		rounding[i] = true;
	for (i = 0; i < lp->n_entries; i++) {
		const struct gv_lp_entry *a = &lp->entry[i];

		if (basic[a->col] &&
		    y[a->row] * fabs(a->value) > GIVEN * DBL_EPSILON * size[a->col])
			rounding[a->row] = false;
	}
	for (j = 0; j < t->n; j++) {
		double d = fabs(
		    mpf_get_d(*gv_tableau_at(t, gv_tableau_objective(t, GV_FIRST), j)));
		size_t k = t->other[j];

		if (k < lp->n_cols)
			t->stays[j] |= d > GIVEN * DBL_EPSILON * size[k];
		else if (k > lp->n_cols)
			t->stays[j] |=
			    d > 0 && !rounding[t->side[k - lp->n_cols - 1].row];
	}
	free(y);
	free(size);
	free(basic);
	free(rounding);
}

static void
read_out(struct gv_tableau *t, const struct gv_lp *lp, struct gv_lp_solution *s)
{
	double sign = lp->maximise ? 1 : -1;
	size_t i, j;

	for (i = 0; i < t->m; i++)
		if (t->basic[i] < lp->n_cols)
			s->x[t->basic[i]] = gv_tableau_double(t, *gv_tableau_right(t, i));
	for (j = 0; j < t->n; j++)
		if (t->other[j] > lp->n_cols) {
			const struct gv_side *of = &t->side[t->other[j] - lp->n_cols - 1];

			s->row_dual[of->row] +=
			    sign * of->sign *
			    gv_tableau_double(t,
				*gv_tableau_at(t, gv_tableau_objective(t, GV_FIRST), j));
		}
}

void
gv_lp_precisely(const struct gv_lp *lp, const double *second, struct gv_lp_solution *s)
{
	struct gv_tableau t;

	*s = (struct gv_lp_solution){.status = GV_LP_FAILED};
	if (!gv_tableau_make(&t, lp, second, 0))
		return;
	s->x = gv_xcalloc(lp->n_cols, sizeof(*s->x));
	s->row_dual = gv_xcalloc(lp->n_rows, sizeof(*s->row_dual));
	s->status = gv_tableau_find(&t);
	if (s->status == GV_LP_OPTIMAL)
		s->status = gv_tableau_climb(&t, GV_FIRST);
	if (s->status == GV_LP_OPTIMAL && second != NULL) {
		keep_best(&t, lp);
		s->status = gv_tableau_climb(&t, GV_SECOND);
	}
	if (s->status == GV_LP_OPTIMAL) {
		read_out(&t, lp, s);
		gv_lp_check(lp, s->x, s->row_dual, &s->check);
	}
	gv_tableau_free(&t);
}
