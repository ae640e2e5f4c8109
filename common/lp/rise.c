#include "rise.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tableau.h"

struct gv_rise {
	struct gv_tableau t;
	size_t n_rows;
	size_t *below; /* [n_rows] the side of a row's lower bound, SIZE_MAX = none */
	size_t n_done; /* steps */
	size_t *done;  /* [n_done] the labels of what rose */
};

struct gv_rise *
gv_rise_make(const struct gv_lp *lp, size_t steps)
{
	struct gv_rise *w = gv_xcalloc(1, sizeof(*w));
	size_t i;

	if (!gv_tableau_make(&w->t, lp, NULL, steps) ||
	    gv_tableau_find(&w->t) != GV_LP_OPTIMAL) {
		gv_rise_free(w);
		return NULL;
	}
	w->n_rows = lp->n_rows;
	w->below = gv_xcalloc(lp->n_rows, sizeof(*w->below));
	w->done = gv_xcalloc(steps, sizeof(*w->done));
	for (i = 0; i < lp->n_rows; i++)
		w->below[i] = SIZE_MAX;
	for (i = 0; i < w->t.n_sides; i++)
		if (w->t.side[i].sign < 0)
			w->below[w->t.side[i].row] = i;
	return w;
}

void
gv_rise_free(struct gv_rise *w)
{
	if (w == NULL)
		return;
	gv_tableau_free(&w->t);
	free(w->below);
	free(w->done);
	free(w);
}

/* Of all labels: where they are, rows first, then columns behind m. */
static size_t *
places(const struct gv_tableau *t)
{
	size_t *place = gv_xcalloc(t->labels, sizeof(*place));
	size_t i;

	for (i = 0; i < t->m; i++)
		place[t->basic[i]] = i;
	for (i = 0; i < t->n; i++)
		place[t->other[i]] = t->m + i;
	return place;
}

/* v += part times what is in the tableau's row and column. */
static void
add(struct gv_tableau *t, size_t row, size_t to, size_t from, double part)
{
	mpf_t *v = gv_tableau_at(t, row, to);

	mpf_set_d(t->factor, part);
	mpf_mul(t->product, t->factor, *gv_tableau_at(t, row, from));
	mpf_add(*v, *v, t->product);
}

/*
 * A column of the new t, which takes by from the slacks of lower bounds: that part of their
 * columns, which of a basic one is 1 in its row.
 */
static size_t
add_column(struct gv_rise *w, const double *by)
{
	struct gv_tableau *t = &w->t;
	size_t *place = places(t);
	size_t i, k, col = t->n++;

	t->other[col] = t->labels++;
	t->stays[col] = false;
	for (i = 0; i < w->n_rows; i++) {
		size_t at = by[i] > 0 && w->below[i] != SIZE_MAX
				? place[gv_tableau_slack(t, w->below[i])]
				: SIZE_MAX;

		if (at == SIZE_MAX)
			continue;
		if (at < t->m) {
			mpf_set_d(t->factor, by[i]);
			mpf_add(*gv_tableau_at(t, at, col), *gv_tableau_at(t, at, col),
			    t->factor);
			continue;
		}
		for (k = 0; k < t->m; k++)
			add(t, k, col, at - t->m, by[i]);
	}
	free(place);
	return col;
}

/* A row that keeps the column at most. */
static void
add_limit(struct gv_tableau *t, size_t col, double most)
{
	size_t row = t->m++;

	t->basic[row] = t->labels++;
	mpf_set_ui(*gv_tableau_at(t, row, col), 1);
	mpf_set_d(*gv_tableau_right(t, row), most);
}

static void
aim_at(struct gv_tableau *t, size_t col)
{
	size_t row = gv_tableau_objective(t, GV_FIRST), j;

	for (j = 0; j < t->n; j++)
		mpf_set_ui(*gv_tableau_at(t, row, j), 0);
	mpf_set_ui(*gv_tableau_right(t, row), 0);
	mpf_set_si(*gv_tableau_at(t, row, col), -1);
}

/*
 * The row of an earlier step, which says t + sum d s = t_max of what stays at 0: where the new
 * column is in it, it could only rise at the cost of that t.  SIZE_MAX, there is none.
 */
static size_t
holds(const struct gv_rise *w, size_t col)
{
	const struct gv_tableau *t = &w->t;
	size_t i, k;

	for (i = 0; i < t->m; i++)
		for (k = 0; k < w->n_done; k++)
			if (t->basic[i] == w->done[k] &&
			    mpf_sgn(*gv_tableau_at(t, i, col)) != 0)
				return i;
	return SIZE_MAX;
}

/* The multipliers of a row that holds, and what they hold stays. */
static void
take_duals(struct gv_rise *w, size_t row, size_t except, double *dual)
{
	struct gv_tableau *t = &w->t;
	size_t i;

	for (i = 0; i < w->n_rows; i++)
		dual[i] = 0;
	for (i = 0; i < t->n; i++) {
		mpf_t *d = gv_tableau_at(t, row, i);
		size_t k = t->other[i];

		if (mpf_sgn(*d) == 0 || i == except)
			continue;
		t->stays[i] = true;
		if (k > t->n_cols && k < gv_tableau_slack(t, t->n_sides))
			dual[t->side[k - t->n_cols - 1].row] = gv_tableau_double(t, *d);
	}
}

bool
gv_rise_by(struct gv_rise *w, const double *by, double most, double *t_max, bool *blocked,
    double *dual)
{
	struct gv_tableau *t = &w->t;
	size_t goal = gv_tableau_objective(t, GV_FIRST), col, row, limit;

	if (t->m == t->cap_m || t->n == t->cap_n)
		return false;
	col = add_column(w, by);
	row = holds(w, col);
	*t_max = 0;
	*blocked = true;
	if (row != SIZE_MAX) {
		t->stays[col] = true;
		take_duals(w, row, col, dual);
		return true;
	}
	w->done[w->n_done++] = t->other[col];
	limit = t->labels;
	if (isfinite(most))
		add_limit(t, col, most);
	aim_at(t, col);
	if (gv_tableau_climb(t, GV_FIRST) != GV_LP_OPTIMAL)
		return false;
	*t_max = gv_tableau_double(t, *gv_tableau_right(t, goal));
	take_duals(w, goal, SIZE_MAX, dual);
	for (col = 0; isfinite(most) && col < t->n; col++)
		if (t->other[col] == limit && mpf_sgn(*gv_tableau_at(t, goal, col)) != 0)
			*blocked = false;
	return true;
}

void
gv_rise_solution(struct gv_rise *w, double *x)
{
	struct gv_tableau *t = &w->t;
	size_t i;

	for (i = 0; i < t->n_cols; i++)
		x[i] = 0;
	for (i = 0; i < t->m; i++)
		if (t->basic[i] < t->n_cols)
			x[t->basic[i]] = gv_tableau_double(t, *gv_tableau_right(t, i));
}
