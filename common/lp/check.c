/* Is it feasible, how good is it, how good can anything be: from the data alone. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lp/lp.h"
#include "lp/tolerance.h"

/* A compensated sum (Neumaier 1974): the error does not grow with the number of terms. */
struct sum {
	double s, c;
};

static void
add(struct sum *a, double v)
{
	double t = a->s + v;

	if (fabs(a->s) >= fabs(v))
		a->c += (a->s - t) + v;
	else
		a->c += (v - t) + a->s;
	a->s = t;
}

static double
total(const struct sum *a)
{
	return isfinite(a->s) ? a->s + a->c : a->s;
}

/* Adds a times v, its rounding error included. */
static void
add_product(struct sum *a, double x, double v)
{
	double p = x * v;

	add(a, p);
	if (isfinite(p))
		add(a, fma(x, v, -p));
}

static double
violation(double v, double lo, double hi)
{
	double worst = 0;

	if (v < lo)
		worst = (lo - v) / fmax(1, fabs(lo));
	if (v > hi)
		worst = fmax(worst, (v - hi) / fmax(1, fabs(hi)));
	return isnan(v) ? INFINITY : worst;
}

static void
check_primal(const struct gv_lp *lp, const double *x, struct gv_lp_check *c)
{
	struct sum *row = gv_xcalloc(lp->n_rows, sizeof(*row));
	struct sum objective = {0};
	size_t i;

	c->infeasibility = 0;
	for (i = 0; i < lp->n_entries; i++)
		add_product(
		    &row[lp->entry[i].row], lp->entry[i].value, x[lp->entry[i].col]);
	for (i = 0; i < lp->n_rows; i++)
		c->infeasibility = fmax(c->infeasibility,
		    violation(total(&row[i]), lp->row_lo[i], lp->row_hi[i]));
	for (i = 0; i < lp->n_cols; i++) {
		c->infeasibility =
		    fmax(c->infeasibility, violation(x[i], lp->col_lo[i], lp->col_hi[i]));
		if (lp->integer[i])
			c->infeasibility =
			    fmax(c->infeasibility, fabs(x[i] - round(x[i])));
		add_product(&objective, lp->cost[i], x[i]);
	}
	c->objective = total(&objective);
	free(row);
}

/*
 * Bounds of columns that follow from the rows: in a_i x <= hi, when all other
 * terms are bounded below by m, a_ij x_j <= hi - m.  Terms without a bound are
 * counted, so that the one of x_j itself may be missing.
 */
struct activity {
	struct sum min, max;
	size_t no_min, no_max;
};

static void
row_activity(
    const struct gv_lp *lp, const double *lo, const double *hi, struct activity *row)
{
	size_t i;

	for (i = 0; i < lp->n_rows; i++)
		row[i] = (struct activity){0};
	for (i = 0; i < lp->n_entries; i++) {
		const struct gv_lp_entry *a = &lp->entry[i];
		struct activity *r = &row[a->row];
		double low = a->value > 0 ? lo[a->col] : hi[a->col];
		double high = a->value > 0 ? hi[a->col] : lo[a->col];

		if (isfinite(low))
			add_product(&r->min, a->value, low);
		else
			r->no_min++;
		if (isfinite(high))
			add_product(&r->max, a->value, high);
		else
			r->no_max++;
	}
}

/* What the row leaves for a term, given the extreme of all others; INFINITY = nothing known. */
static double
rest(double limit, const struct sum *extreme, size_t missing, double own)
{
	struct sum s = *extreme;

	if (!isfinite(limit) || missing > (isfinite(own) ? 0 : 1))
		return INFINITY;
	if (isfinite(own))
		add(&s, -own);
	add(&s, -limit);
	return -total(&s);
}

/* A bound found to hold is a little wider than computed, so that rounding cannot make it wrong. */
static double
wider(double v)
{
	return v + GV_TOL_IMPLIED * fmax(1, fabs(v));
}

/* Fills in missing bounds, the tightest that any row implies. */
static bool
imply_bounds(const struct gv_lp *lp, double *lo, double *hi, struct activity *row)
{
	size_t n = lp->n_cols;
	double *new_lo = gv_xcalloc(n, sizeof(*new_lo));
	double *new_hi = gv_xcalloc(n, sizeof(*new_hi));
	bool changed = false;
	size_t i;

	row_activity(lp, lo, hi, row);
	for (i = 0; i < n; i++) {
		new_lo[i] = lo[i];
		new_hi[i] = hi[i];
	}
	for (i = 0; i < lp->n_entries; i++) {
		const struct gv_lp_entry *a = &lp->entry[i];
		const struct activity *r = &row[a->row];
		size_t j = a->col;
		double low = a->value * (a->value > 0 ? lo[j] : hi[j]);
		double high = a->value * (a->value > 0 ? hi[j] : lo[j]);
		double above = wider(rest(lp->row_hi[a->row], &r->min, r->no_min, low));
		double below =
		    -wider(-rest(lp->row_lo[a->row], &r->max, r->no_max, high));

		if (isfinite(above) && a->value > 0 && isinf(hi[j]))
			new_hi[j] = fmin(new_hi[j], above / a->value);
		else if (isfinite(above) && a->value < 0 && isinf(lo[j]))
			new_lo[j] = fmax(new_lo[j], above / a->value);
		if (isfinite(below) && a->value > 0 && isinf(lo[j]))
			new_lo[j] = fmax(new_lo[j], below / a->value);
		else if (isfinite(below) && a->value < 0 && isinf(hi[j]))
			new_hi[j] = fmin(new_hi[j], below / a->value);
	}
	for (i = 0; i < n; i++) {
		changed = changed || lo[i] != new_lo[i] || hi[i] != new_hi[i];
		lo[i] = new_lo[i];
		hi[i] = new_hi[i];
	}
	free(new_lo);
	free(new_hi);
	return changed;
}

/* max over lo <= v <= hi of d v; a d that is 0 but for rounding meets no infinite bound */
static void
add_best(struct sum *s, double d, double lo, double hi)
{
	if (fabs(d) <= GV_TOL_UNBOUNDED && isinf(d > 0 ? hi : lo))
		return;
	if (d > 0)
		add_product(s, d, hi);
	else if (d < 0)
		add_product(s, d, lo);
}

/*
 * What bounds the maximisation of sign * c x, or of 0: the columns' bounds, also those that rows
 * imply, z = sign * y clipped to the signs that the rows' bounds allow, and d = c - z A.
 */
struct dual {
	double *lo, *hi; /* [n_cols] */
	double *z;       /* [n_rows] */
	struct sum *d;   /* [n_cols] */
};

static void
dual_make(
    struct dual *v, const struct gv_lp *lp, const double *y, double sign, bool costs)
{
	struct activity *row = gv_xcalloc(lp->n_rows, sizeof(*row));
	size_t i;
	int round;

	v->d = gv_xcalloc(lp->n_cols, sizeof(*v->d));
	v->lo = gv_xcalloc(lp->n_cols, sizeof(*v->lo));
	v->hi = gv_xcalloc(lp->n_cols, sizeof(*v->hi));
	v->z = gv_xcalloc(lp->n_rows, sizeof(*v->z));
	for (i = 0; i < lp->n_cols; i++) {
		v->lo[i] = lp->col_lo[i];
		v->hi[i] = lp->col_hi[i];
		if (costs)
			add(&v->d[i], sign * lp->cost[i]);
	}
	for (round = 0; round < 3 && imply_bounds(lp, v->lo, v->hi, row); round++)
		continue;
	for (i = 0; i < lp->n_rows; i++) {
		v->z[i] = sign * y[i];
		if (!isfinite(v->z[i]) || (v->z[i] > 0 && isinf(lp->row_hi[i])) ||
		    (v->z[i] < 0 && isinf(lp->row_lo[i])))
			v->z[i] = 0;
	}
	for (i = 0; i < lp->n_entries; i++)
		add_product(
		    &v->d[lp->entry[i].col], -v->z[lp->entry[i].row], lp->entry[i].value);
	free(row);
}

static void
dual_free(struct dual *v)
{
	free(v->d);
	free(v->lo);
	free(v->hi);
	free(v->z);
}

/* The bound of the maximisation of sign * c x, for y of the original program. */
static double
dual_bound(const struct gv_lp *lp, const double *y, double sign)
{
	struct sum bound = {0};
	struct dual v;
	size_t i;

	dual_make(&v, lp, y, sign, true);
	for (i = 0; i < lp->n_rows; i++)
		add_best(&bound, v.z[i], lp->row_lo[i], lp->row_hi[i]);
	for (i = 0; i < lp->n_cols; i++)
		add_best(&bound, total(&v.d[i]), v.lo[i], v.hi[i]);
	dual_free(&v);
	return total(&bound);
}

/* Adds the most of d v to the bound, and to slack what a violation of 1 of that limit adds. */
static void
add_limit(struct sum *bound, struct sum *slack, double d, double lo, double hi)
{
	double limit = d > 0 ? hi : lo;

	if (d == 0)
		return;
	add_product(bound, d, limit);
	add(slack, fabs(d) * fmax(1, fabs(limit)));
}

bool
gv_lp_check_infeasible(const struct gv_lp *lp, const double *y)
{
	double *terms = gv_xcalloc(lp->n_cols, sizeof(*terms));
	struct sum bound = {0}, slack = {0};
	struct dual v;
	size_t i;

	dual_make(&v, lp, y, 1, false);
	for (i = 0; i < lp->n_entries; i++)
		terms[lp->entry[i].col] +=
		    fabs(v.z[lp->entry[i].row] * lp->entry[i].value);
	for (i = 0; i < lp->n_rows; i++)
		add_limit(&bound, &slack, v.z[i], lp->row_lo[i], lp->row_hi[i]);
	for (i = 0; i < lp->n_cols; i++) {
		double d = total(&v.d[i]);

		if (isfinite(d > 0 ? v.hi[i] : v.lo[i]) ||
		    fabs(d) > GV_TOL_CANCELLED * terms[i])
			add_limit(&bound, &slack, d, v.lo[i], v.hi[i]);
	}
	dual_free(&v);
	free(terms);
	return total(&bound) < -GV_TOL_SIMPLEX * total(&slack);
}

void
gv_lp_check(
    const struct gv_lp *lp, const double *x, const double *y, struct gv_lp_check *c)
{
	double sign = lp->maximise ? 1 : -1;

	check_primal(lp, x, c);
	c->bound = sign * INFINITY;
	if (y != NULL)
		c->bound = sign * dual_bound(lp, y, sign);
	c->gap = fabs(c->bound - c->objective) / fmax(1, fabs(c->objective));
	if (isnan(c->gap))
		c->gap = INFINITY;
}
