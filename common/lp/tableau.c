#include "tableau.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"

enum {
	BITS = 448,
	/* what is so much smaller than the numbers that it is the difference of, is rounding */
	NOTHING = 320,
	STANDS_STILL = 12, /* pivots without a gain until ties are broken */
};

#define at            gv_tableau_at
#define right         gv_tableau_right
#define tie           gv_tableau_tie
#define objective_row gv_tableau_objective

static struct gv_side *
sides_of(const struct gv_lp *lp, size_t *n)
{
	struct gv_side *side = gv_xcalloc(2 * lp->n_rows + 1, sizeof(*side));
	size_t i;

	*n = 0;
	for (i = 0; i < lp->n_rows; i++) {
		if (isfinite(lp->row_hi[i]))
			side[(*n)++] = (struct gv_side){i, 1};
		if (isfinite(lp->row_lo[i]))
			side[(*n)++] = (struct gv_side){i, -1};
	}
	return side;
}

/* The last column is what is missing of rows below 0. */
static void
fill(struct gv_tableau *t, const struct gv_lp *lp, const double *second)
{
	const struct gv_side *side = t->side;
	double sign = lp->maximise ? 1 : -1;
	size_t missing = lp->n_cols;
	size_t i, k, *first = gv_xcalloc(lp->n_rows, sizeof(*first)),
		     *n = gv_xcalloc(lp->n_rows, sizeof(*n));

	for (k = 0; k < t->m; k++) {
		if (n[side[k].row]++ == 0)
			first[side[k].row] = k;
		t->basic[k] = gv_tableau_slack(t, k);
		mpf_set_d(*right(t, k), side[k].sign > 0 ? lp->row_hi[side[k].row]
							 : -lp->row_lo[side[k].row]);
		if (mpf_sgn(*right(t, k)) < 0)
			mpf_set_si(*at(t, k, missing), -1);
	}
	for (i = 0; i < lp->n_entries; i++) {
		const struct gv_lp_entry *a = &lp->entry[i];

		for (k = 0; k < n[a->row]; k++)
			mpf_set_d(*at(t, first[a->row] + k, a->col),
			    a->value * side[first[a->row] + k].sign);
		t->unit[a->col] = fmax(t->unit[a->col], fabs(a->value));
	}
	for (i = 0; i < lp->n_cols; i++) {
		t->other[i] = i;
		mpf_set_d(*at(t, objective_row(t, GV_FIRST), i), -sign * lp->cost[i]);
		if (second != NULL)
			mpf_set_d(
			    *at(t, objective_row(t, GV_SECOND), i), -sign * second[i]);
	}
	t->other[missing] = missing;
	mpf_set_si(*at(t, objective_row(t, GV_MISSING), missing), 1);
	free(first);
	free(n);
}

static bool
is_finite(const struct gv_lp *lp, const double *second)
{
	size_t i;

	for (i = 0; i < lp->n_entries; i++)
		if (!isfinite(lp->entry[i].value))
			return false;
	for (i = 0; i < lp->n_cols; i++)
		if (!isfinite(lp->cost[i]) || (second != NULL && !isfinite(second[i])))
			return false;
	for (i = 0; i < lp->n_rows; i++)
		if (isnan(lp->row_lo[i]) || isnan(lp->row_hi[i]))
			return false;
	return true;
}

bool
gv_tableau_make(
    struct gv_tableau *t, const struct gv_lp *lp, const double *second, size_t more)
{
	size_t i, cells;

	*t = (struct gv_tableau){0};
	if (!is_finite(lp, second))
		return false;
	t->side = sides_of(lp, &t->n_sides);
	t->m = t->n_sides;
	t->n_cols = lp->n_cols;
	t->n = lp->n_cols + 1;
	t->labels = gv_tableau_slack(t, t->m);
	t->cap_m = t->m + more;
	t->cap_n = t->n + more;
	cells = (t->cap_m + GV_OBJECTIVES) * (t->cap_n + 2);
	t->cell = gv_xcalloc(cells, sizeof(*t->cell));
	for (i = 0; i < cells; i++)
		mpf_init2(t->cell[i], BITS);
	mpf_init2(t->ratio, BITS);
	mpf_init2(t->best, BITS);
	mpf_init2(t->part, BITS);
	mpf_init2(t->product, BITS);
	mpf_init2(t->factor, BITS);
	t->basic = gv_xcalloc(t->cap_m + 1, sizeof(*t->basic));
	t->other = gv_xcalloc(t->cap_n, sizeof(*t->other));
	t->stays = gv_xcalloc(t->cap_n, sizeof(*t->stays));
	t->unit = gv_xcalloc(t->n, sizeof(*t->unit));
	fill(t, lp, second);
	return true;
}

void
gv_tableau_free(struct gv_tableau *t)
{
	size_t i;

	if (t->cell == NULL)
		return;
	for (i = 0; i < (t->cap_m + GV_OBJECTIVES) * (t->cap_n + 2); i++)
		mpf_clear(t->cell[i]);
	mpf_clear(t->ratio);
	mpf_clear(t->best);
	mpf_clear(t->part);
	mpf_clear(t->product);
	mpf_clear(t->factor);
	free(t->cell);
	free(t->basic);
	free(t->other);
	free(t->stays);
	free(t->unit);
	free(t->side);
}

/* v -= t->factor a, where next to nothing is left nothing. */
static void
subtract(struct gv_tableau *t, mpf_t v, const mpf_t a)
{
	long before, after;

	mpf_mul(t->product, t->factor, a);
	if (mpf_sgn(v) == 0) {
		mpf_neg(v, t->product);
		return;
	}
	mpf_get_d_2exp(&before, v);
	mpf_sub(v, v, t->product);
	mpf_get_d_2exp(&after, v);
	if (mpf_sgn(v) != 0 && after < before - NOTHING)
		mpf_set_ui(v, 0);
}

/* Row i after the pivot of row and col, whose own row is done; p is 1 over the pivot. */
static void
pivot_row(struct gv_tableau *t, size_t i, size_t row, size_t col)
{
	mpf_t *own = at(t, i, col);
	size_t j;

	if (mpf_sgn(*own) == 0)
		return;
	mpf_set(t->factor, *own);
	for (j = 0; j < t->n; j++)
		if (j != col && mpf_sgn(*at(t, row, j)) != 0)
			subtract(t, *at(t, i, j), *at(t, row, j));
	if (mpf_sgn(*right(t, row)) != 0)
		subtract(t, *right(t, i), *right(t, row));
	if (mpf_sgn(*tie(t, row)) != 0)
		subtract(t, *tie(t, i), *tie(t, row));
	mpf_mul(*own, t->factor, *at(t, row, col));
	mpf_neg(*own, *own);
}

static void
pivot(struct gv_tableau *t, size_t row, size_t col)
{
	size_t i, j, was = t->basic[row];
	mpf_t *p = at(t, row, col);

	mpf_ui_div(*p, 1, *p);
	for (j = 0; j < t->n; j++)
		if (j != col && mpf_sgn(*at(t, row, j)) != 0)
			mpf_mul(*at(t, row, j), *at(t, row, j), *p);
	mpf_mul(*right(t, row), *right(t, row), *p);
	mpf_mul(*tie(t, row), *tie(t, row), *p);
	for (i = 0; i < t->m; i++)
		if (i != row)
			pivot_row(t, i, row, col);
	for (i = 0; i < GV_OBJECTIVES; i++)
		pivot_row(t, objective_row(t, i), row, col);
	t->basic[row] = t->other[col];
	t->other[col] = was;
	t->pivots++;
}

/* Which column comes in: SIZE_MAX, none gains. */
static size_t
entering(const struct gv_tableau *t, size_t objective)
{
	size_t j, best = SIZE_MAX;
	double most = 0;

	for (j = 0; j < t->n; j++) {
		double gain;

		if (t->stays[j] || mpf_sgn(*at(t, objective_row(t, objective), j)) >= 0)
			continue;
		gain = -mpf_get_d(*at(t, objective_row(t, objective), j));
		if (t->other[j] < t->n_cols && t->unit[t->other[j]] > 0)
			gain /= t->unit[t->other[j]];
		if (best == SIZE_MAX || gain > most) {
			most = gain;
			best = j;
		}
	}
	return best;
}

/* Whether row i goes out before the best so far, that does at as much of the column. */
static bool
is_before(struct gv_tableau *t, size_t i, size_t best, size_t col)
{
	size_t missing = t->n_cols;
	int less;

	if (t->basic[best] == missing || t->basic[i] == missing)
		return t->basic[i] == missing;
	mpf_div(t->part, *tie(t, i), *at(t, i, col));
	mpf_div(t->product, *tie(t, best), *at(t, best, col));
	less = mpf_cmp(t->part, t->product);
	return less < 0 || (less == 0 && t->basic[i] < t->basic[best]);
}

/* Which row goes out, what is missing before others, then by ties, then the first: SIZE_MAX, none
 * does. */
static size_t
leaving(struct gv_tableau *t, size_t col)
{
	size_t i, best = SIZE_MAX;

	for (i = 0; i < t->m; i++) {
		int less;

		if (mpf_sgn(*at(t, i, col)) <= 0)
			continue;
		mpf_div(t->ratio, *right(t, i), *at(t, i, col));
		less = best == SIZE_MAX ? -1 : mpf_cmp(t->ratio, t->best);
		if (less < 0 || (less == 0 && is_before(t, i, best, col))) {
			best = i;
			mpf_set(t->best, t->ratio);
		}
	}
	return best;
}

/* Above 0 and different, or all 0: from then on no basis comes again. */
static void
set_ties(struct gv_tableau *t, bool broken)
{
	size_t i;

	for (i = 0; i < t->m; i++)
		mpf_set_d(*tie(t, i), broken ? 1 + gv_random_uniform(1, 0, 0, i) : 0);
}

enum gv_lp_status
gv_tableau_climb(struct gv_tableau *t, size_t objective)
{
	size_t k, most = 50 * (t->m + t->n) + 1000, still = 0;

	set_ties(t, false);
	for (k = 0; k < most; k++) {
		size_t col = entering(t, objective), row;

		if (col == SIZE_MAX)
			return GV_LP_OPTIMAL;
		row = leaving(t, col);
		if (row == SIZE_MAX)
			return GV_LP_UNBOUNDED;
		still = mpf_sgn(t->best) == 0 ? still + 1 : 0;
		pivot(t, row, col);
		if (still == STANDS_STILL)
			set_ties(t, true);
	}
	return GV_LP_LIMIT;
}

/* A solution, whatever the objectives are; then what was missing stays at 0. */
enum gv_lp_status
gv_tableau_find(struct gv_tableau *t)
{
	size_t n_cols = t->n_cols;
	enum gv_lp_status status = GV_LP_OPTIMAL;
	size_t i, j, least = SIZE_MAX;

	for (i = 0; i < t->m; i++)
		if (mpf_sgn(*right(t, i)) < 0 &&
		    (least == SIZE_MAX || mpf_cmp(*right(t, i), *right(t, least)) < 0))
			least = i;
	if (least != SIZE_MAX) {
		pivot(t, least, n_cols);
		status = gv_tableau_climb(t, GV_MISSING);
	}
	if (status == GV_LP_OPTIMAL &&
	    mpf_sgn(*right(t, objective_row(t, GV_MISSING))) < 0)
		status = GV_LP_INFEASIBLE;
	for (i = 0; i < t->m && status == GV_LP_OPTIMAL; i++)
		for (j = 0; t->basic[i] == n_cols && j < t->n; j++)
			if (mpf_sgn(*at(t, i, j)) != 0)
				pivot(t, i, j);
	for (j = 0; j < t->n; j++)
		t->stays[j] = t->other[j] == n_cols;
	return status;
}

double
gv_tableau_double(struct gv_tableau *t, const mpf_t v)
{
	double low = mpf_get_d(v);

	if (!isfinite(low))
		return low;
	mpf_set_d(t->product, low);
	mpf_sub(t->product, v, t->product);
	return low + mpf_get_d(t->product);
}
