#include "eg_demand.h"

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
struct gv_eg_demand
gv_eg_demand_at(const double *a, double scale, const double *price, size_t m)
{
	double l;
	size_t j = cheapest(a, scale, price, m, &l);
	struct gv_eg_demand t = {.vertex = GV_EG_PART_TIME, .j = j, .k = j, .l = l};

	if (a[j] * l >= 1) {
		t.xj = 1 / (l * a[j]);
		t.value = -log(l) - 1;
		return t;
	}
	for (;;) {
		size_t faster = next_faster(a, scale, price, m, j, &l);

		if (l * a[j] >= 1) {
			t = (struct gv_eg_demand){.vertex = GV_EG_ONE_TYPE,
			    .j = j,
			    .k = j,
			    .l = 1 / a[j],
			    .xj = 1};
			break;
		}
		if (l * a[faster] >= 1) {
			t = (struct gv_eg_demand){
			    .vertex = GV_EG_TWO_TYPES, .j = faster, .k = j, .l = l};
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

/* A condition sum_j c_j p_j + c > 0 of that value may end at r = value / sum_j |c_j| unit_j. */
static double
until(double value, double per_unit)
{
	return value > 0 ? value / per_unit : 0;
}

/* l = s p_j / a_j is the least over types, and time is left: s p_j > 1. */
static double
radius_part_time(const struct gv_eg_demand *t, const double *a, double scale,
    const double *price, const double *unit, size_t m)
{
	size_t j = t->j, q;
	double r = until(price[j] - 1 / scale, unit[j]);

	for (q = 0; q < m; q++)
		if (q != j && a[q] > 0)
			r = fmin(r, until(price[q] / a[q] - price[j] / a[j],
					unit[q] / a[q] + unit[j] / a[j]));
	return r;
}

/* l = 1 / a_j lies between where j starts to be worth more than slower types, and less than faster ones. */
static double
radius_one_type(const struct gv_eg_demand *t, const double *a, double scale,
    const double *price, const double *unit, size_t m)
{
	size_t j = t->j, q;
	double r = until(1 / scale - price[j], unit[j]);

	for (q = 0; q < m; q++)
		if (q != j && a[q] > 0)
			r = fmin(r, until((1 - a[q] / a[j]) / scale - price[j] + price[q],
					unit[q] + unit[j]));
	return r;
}

/* l = s (p_j - p_k) / (a_j - a_k) lies between 1 / a_j and 1 / a_k, and no type q is above the line through j and k. */
static double
radius_two_types(const struct gv_eg_demand *t, const double *a, double scale,
    const double *price, const double *unit, size_t m)
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
gv_eg_demand_radius(const struct gv_eg_demand *t, const double *a, double scale,
    const double *price, const double *unit, size_t m)
{
	switch (t->vertex) {
	case GV_EG_PART_TIME:
		return radius_part_time(t, a, scale, price, unit, m);
	case GV_EG_ONE_TYPE:
		return radius_one_type(t, a, scale, price, unit, m);
	default:
		return radius_two_types(t, a, scale, price, unit, m);
	}
}

/*
 * f = time - log l - 1 of the vertex, but for constants:
 *
 *	part time   l = s p_j / a_j, time = 0:    -log p_j
 *	one type    l = 1 / a_j:                  -s p_j
 *	two types   l = s (p_j - p_k) / (a_j - a_k), time = l a_k - s p_k:
 *	            s (p_j - p_k) a_k / (a_j - a_k) - s p_k - log (p_j - p_k)
 */
void
gv_eg_fixed_add(struct gv_eg_fixed *f, const struct gv_eg_demand *t, const double *a,
    double scale, double count, size_t m)
{
	double part;

	switch (t->vertex) {
	case GV_EG_PART_TIME:
		f->own[t->j] += count;
		break;
	case GV_EG_ONE_TYPE:
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
gv_eg_fixed_change(
    const struct gv_eg_fixed *f, const double *p, const double *from, size_t m)
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
