#include "market_job.h"

#include <math.h>

/* The type of the least cost per throughput, the fastest of those; its cost. */
static size_t
cheapest(const double *a, double scale, const double *price, size_t m, double *cost)
{
	size_t best = m, j;

	*cost = INFINITY;
	for (j = 0; j < m; j++) {
		double c = scale * price[j] / a[j];

		if (a[j] > 0 && (c < *cost || (c == *cost && a[j] > a[best]))) {
			*cost = c;
			best = j;
		}
	}
	return best;
}

/* The faster type that is the first worth more than j as l grows; m: none. */
static size_t
next_faster(
    const double *a, double scale, const double *price, size_t m, size_t j, double *l)
{
	size_t best = m, k;

	*l = INFINITY;
	for (k = 0; k < m; k++) {
		double at = scale * (price[k] - price[j]) / (a[k] - a[j]);

		if (a[k] > a[j] && (at < *l || (at == *l && a[k] > a[best]))) {
			*l = at;
			best = k;
		}
	}
	return best;
}

/*
 * f is the least of max(0, max_j (l a_j - s p_j)) - log l - 1 over l, a convex
 * function: from its first edge on along its pieces.
 */
struct gv_taken
gv_market_take(const double *a, double scale, const double *price, size_t m)
{
	double l;
	size_t j = cheapest(a, scale, price, m, &l);
	struct gv_taken t = {.choice = CHOICE_SPEND, .j = j, .k = j, .l = l};

	if (a[j] * l >= 1) {
		t.xj = 1 / (l * a[j]);
		t.value = -log(l) - 1;
		return t;
	}
	for (;;) {
		size_t faster = next_faster(a, scale, price, m, j, &l);

		if (l * a[j] >= 1) {
			t = (struct gv_taken){.choice = CHOICE_FULL,
			    .j = j,
			    .k = j,
			    .l = 1 / a[j],
			    .xj = 1};
			break;
		}
		if (l * a[faster] >= 1) {
			t = (struct gv_taken){
			    .choice = CHOICE_MIX, .j = faster, .k = j, .l = l};
			t.xj = (1 / l - a[j]) / (a[faster] - a[j]);
			t.xk = 1 - t.xj;
			break;
		}
		j = faster;
	}
	t.time = fmax(0, t.l * a[t.k] - scale * price[t.k]);
	t.value = t.time - log(t.l) - 1;
	return t;
}

/* How far until sum_j c_j p_j > 0 may end. */
static double
until(double value, double per_unit)
{
	return value > 0 ? value / per_unit : 0;
}

static double
radius_spend(const struct gv_taken *t, const double *a, double scale, const double *price,
    const double *unit, size_t m)
{
	size_t j = t->j, q;
	double r = until(price[j] - 1 / scale, unit[j]);

	for (q = 0; q < m; q++)
		if (q != j && a[q] > 0)
			r = fmin(r, until(price[q] / a[q] - price[j] / a[j],
					unit[q] / a[q] + unit[j] / a[j]));
	return r;
}

static double
radius_full(const struct gv_taken *t, const double *a, double scale, const double *price,
    const double *unit, size_t m)
{
	size_t j = t->j, q;
	double r = until(1 / scale - price[j], unit[j]);

	for (q = 0; q < m; q++)
		if (q != j && a[q] > 0)
			r = fmin(r, until((1 - a[q] / a[j]) / scale - price[j] + price[q],
					unit[q] + unit[j]));
	return r;
}

static double
radius_mix(const struct gv_taken *t, const double *a, double scale, const double *price,
    const double *unit, size_t m)
{
	size_t j = t->j, k = t->k, q;
	double dearer = price[j] - price[k], faster = a[j] - a[k];
	double r = until(dearer - faster / (scale * a[j]), unit[j] + unit[k]);

	r = fmin(r, until(faster / (scale * a[k]) - dearer, unit[j] + unit[k]));
	r = fmin(
	    r, until(price[j] * a[k] - price[k] * a[j], unit[j] * a[k] + unit[k] * a[j]));
	for (q = 0; q < m; q++) {
		double part = (a[q] - a[k]) / faster;

		if (q != j && q != k && a[q] > 0)
			r = fmin(
			    r, until(price[q] - part * price[j] - (1 - part) * price[k],
				   unit[q] + fabs(part) * unit[j] +
				       fabs(1 - part) * unit[k]));
	}
	return r;
}

double
gv_market_radius(const struct gv_taken *t, const double *a, double scale,
    const double *price, const double *unit, size_t m)
{
	switch (t->choice) {
	case CHOICE_SPEND:
		return radius_spend(t, a, scale, price, unit, m);
	case CHOICE_FULL:
		return radius_full(t, a, scale, price, unit, m);
	default:
		return radius_mix(t, a, scale, price, unit, m);
	}
}

void
gv_fold_add(struct gv_fold *f, const struct gv_taken *t, const double *a, double scale,
    double count, size_t m)
{
	double part;

	switch (t->choice) {
	case CHOICE_SPEND:
		f->own[t->j] += count;
		break;
	case CHOICE_FULL:
		f->slope[t->j] -= count * scale;
		break;
	default:
		part = a[t->k] / (a[t->j] - a[t->k]);
		f->pair[t->j * m + t->k] += count;
		f->slope[t->j] += count * scale * part;
		f->slope[t->k] -= count * scale * (1 + part);
	}
}

double
gv_fold_change(const struct gv_fold *f, const double *p, const double *from, size_t m)
{
	double sum = 0;
	size_t j, k;

	for (j = 0; j < m; j++) {
		sum += f->slope[j] * (p[j] - from[j]);
		if (f->own[j] > 0)
			sum -= f->own[j] * log1p((p[j] - from[j]) / from[j]);
		for (k = 0; k < m; k++)
			if (f->pair[j * m + k] > 0)
				sum -= f->pair[j * m + k] *
				       log1p((p[j] - from[j] - p[k] + from[k]) /
					     (from[j] - from[k]));
	}
	return sum;
}
