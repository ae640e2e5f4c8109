#include "master.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"

/*
 * The primal simplex method: with the inverse of the basis B, x_B = B^-1 b, duals y =
 * c_B B^-1, and the column that enters is one of reduced cost c_k - y a_k < 0.
 *
 * Columns: m of unused GPUs, m of GPUs beyond, v, then the cuts.  The rows are
 * equations.
 */
enum { MAX_ITERATIONS = 2000, PATIENCE = 60, AGAIN = 16 };

static size_t
first_cut(const struct gv_price_master *p)
{
	return 2 * p->m + 1;
}

static double *
column(const struct gv_price_master *p, size_t k)
{
	return &p->column[k * (p->m + 1)];
}

static void
make_room(struct gv_price_master *p)
{
	size_t cap = p->cap + first_cut(p);

	p->cost = gv_xrealloc(p->cost, cap, sizeof(*p->cost));
	p->column = gv_xrealloc(p->column, cap, (p->m + 1) * sizeof(*p->column));
	p->weight = gv_xrealloc(p->weight, p->cap, sizeof(*p->weight));
}

void
gv_price_master_init(
    struct gv_price_master *p, size_t m, bool gains, const double *lo, const double *hi)
{
	size_t j;

	*p = (struct gv_price_master){.m = m, .gains = gains, .cap = 64};
	make_room(p);
	p->basis = gv_xcalloc(m + 1, sizeof(*p->basis));
	p->value = gv_xcalloc(m + 1, sizeof(*p->value));
	p->dual = gv_xcalloc(m + 1, sizeof(*p->dual));
	p->entering = gv_xcalloc(m + 1, sizeof(*p->entering));
	p->inverted = gv_xcalloc(m + 1, 2 * (m + 1) * sizeof(*p->inverted));
	p->price = gv_xcalloc(m, sizeof(*p->price));
	memset(p->column, 0, first_cut(p) * (m + 1) * sizeof(*p->column));
	for (j = 0; j < m; j++) {
		column(p, j)[j] = 1;
		p->cost[j] = -lo[j];
		column(p, m + j)[j] = -1;
		p->cost[m + j] = hi[j];
		column(p, 2 * m)[j] = -1;
	}
	p->cost[2 * m] = 1;
}

void
gv_price_master_free(struct gv_price_master *p)
{
	free(p->cost);
	free(p->column);
	free(p->basis);
	free(p->value);
	free(p->dual);
	free(p->entering);
	free(p->inverted);
	free(p->weight);
	free(p->price);
	*p = (struct gv_price_master){0};
}

/* The first cut alone, and in each row what it leaves excess or lacks. */
static void
start(struct gv_price_master *p)
{
	const double *used = column(p, first_cut(p));
	size_t most = 0;
	size_t j;

	for (j = 0; j < p->m; j++) {
		p->basis[j] = p->gains && used[j] > 1 ? p->m + j : j;
		if (used[j] > used[most])
			most = j;
	}
	if (!p->gains)
		p->basis[most] = 2 * p->m;
	p->basis[p->m] = first_cut(p);
}

void
gv_price_master_add(struct gv_price_master *p, const double *used, double gain)
{
	size_t k = first_cut(p) + p->n;

	if (p->n == p->cap) {
		p->cap *= 2;
		make_room(p);
	}
	memmove(column(p, k), used, p->m * sizeof(*used));
	column(p, k)[p->m] = 1;
	p->cost[k] = -gain;
	p->weight[p->n] = 0;
	if (p->n++ == 0)
		start(p);
}

const double *
gv_price_master_used(const struct gv_price_master *p, size_t k)
{
	return column(p, first_cut(p) + k);
}

/* The inverse of the basis, in the right half of inverted.  False: it is singular. */
static bool
invert(struct gv_price_master *p)
{
	size_t r = p->m + 1, w = 2 * r;
	double *a = p->inverted;
	size_t i, j, k;

	for (i = 0; i < r; i++)
		for (j = 0; j < r; j++) {
			a[i * w + j] = column(p, p->basis[j])[i];
			a[i * w + r + j] = i == j;
		}
	for (k = 0; k < r; k++) {
		size_t best = k;
		double pivot;

		for (i = k + 1; i < r; i++)
			if (fabs(a[i * w + k]) > fabs(a[best * w + k]))
				best = i;
		for (j = 0; j < w && best != k; j++) {
			double swap = a[k * w + j];

			a[k * w + j] = a[best * w + j];
			a[best * w + j] = swap;
		}
		pivot = a[k * w + k];
		if (!(fabs(pivot) > GV_TOL_PIVOT))
			return false;
		for (j = k; j < w; j++)
			a[k * w + j] /= pivot;
		for (i = 0; i < r; i++) {
			double f = a[i * w + k];

			for (j = k; j < w && i != k && f != 0; j++)
				a[i * w + j] -= f * a[k * w + j];
		}
	}
	return true;
}

/* B^-1 */
static double
inverse(const struct gv_price_master *p, size_t i, size_t j)
{
	size_t r = p->m + 1;

	return p->inverted[i * 2 * r + r + j];
}

/* Values of the basic columns and duals of the rows, from the inverse. */
static void
evaluate(struct gv_price_master *p)
{
	size_t r = p->m + 1;
	size_t i, j;

	for (i = 0; i < r; i++) {
		p->value[i] = inverse(p, i, p->m);
		p->dual[i] = 0;
		for (j = 0; j < r; j++) {
			if (p->gains && j < p->m)
				p->value[i] += inverse(p, i, j);
			p->dual[i] += p->cost[p->basis[j]] * inverse(p, j, i);
		}
	}
}

/* The column takes its place in the basis; the inverse follows. */
static void
exchange(struct gv_price_master *p, size_t out, size_t in)
{
	size_t r = p->m + 1, w = 2 * r;
	double *row = &p->inverted[out * w + r];
	size_t i, j;

	p->basis[out] = in;
	for (j = 0; j < r; j++)
		row[j] /= p->entering[out];
	for (i = 0; i < r; i++)
		for (j = 0; j < r && i != out; j++)
			p->inverted[i * w + r + j] -= p->entering[i] * row[j];
}

static bool
is_basic(const struct gv_price_master *p, size_t k)
{
	size_t i;

	for (i = 0; i <= p->m; i++)
		if (p->basis[i] == k)
			return true;
	return false;
}

/*
 * The column to enter: of the most negative reduced cost, or the first negative one
 * (Bland 1977: that ends also where nothing improves).  SIZE_MAX: the end.
 */
static size_t
enter(const struct gv_price_master *p, int iteration)
{
	size_t r = p->m + 1, columns = first_cut(p) + p->n;
	size_t best = (size_t)-1;
	double least = 0;
	double rounding =
	    ldexp(GV_TOL_REDUCED, iteration / 24); /* more, if it does not end */
	bool first = iteration > PATIENCE;
	size_t i, k;

	for (k = 0; k < columns; k++) {
		const double *c = column(p, k);
		double reduced = p->cost[k], size = fabs(reduced);

		if ((k == 2 * p->m && p->gains) || is_basic(p, k))
			continue;
		for (i = 0; i < r; i++) {
			reduced -= p->dual[i] * c[i];
			size += fabs(p->dual[i] * c[i]);
		}
		if (reduced < -rounding * size &&
		    (best == (size_t)-1 || (!first && reduced < least))) {
			best = k;
			least = reduced;
		}
	}
	return best;
}

/* The basic column that leaves for it, its place; SIZE_MAX: none does. */
static size_t
leave(struct gv_price_master *p, size_t k)
{
	size_t r = p->m + 1;
	size_t best = (size_t)-1;
	double least = INFINITY;
	double pivot = 0;
	size_t i, j;

	for (i = 0; i < r; i++) {
		double d = 0, ratio;

		for (j = 0; j < r; j++)
			d += inverse(p, i, j) * column(p, k)[j];
		p->entering[i] = d;
		if (p->basis[i] == 2 * p->m || !(d > GV_TOL_ENTERING))
			continue; /* v never leaves: it is not bounded */
		ratio = fmax(0, p->value[i]) / d;
		if (ratio < least || (ratio == least && d > pivot)) {
			least = ratio;
			pivot = d;
			best = i;
		}
	}
	return best;
}

/* The answer of the present basis. */
static void
answer(struct gv_price_master *p)
{
	size_t i, j;

	memset(p->weight, 0, p->n * sizeof(*p->weight));
	p->excess = p->objective = 0;
	for (i = 0; i <= p->m; i++) {
		double v = fmax(0, p->value[i]);

		p->objective -= p->cost[p->basis[i]] * v;
		if (p->basis[i] >= first_cut(p))
			p->weight[p->basis[i] - first_cut(p)] = v;
		else if (p->basis[i] >= p->m && p->basis[i] < 2 * p->m)
			p->excess = fmax(p->excess, v);
	}
	for (j = 0; j < p->m; j++)
		p->price[j] = fmax(0, -p->dual[j]);
}

/*
 * What an iteration takes: every column is priced, the basis inverted anew at times, rows at
 * once.
 */
static double
iteration_effort(const struct gv_price_master *p)
{
	double r = (double)p->m + 1;

	return r * ((double)(first_cut(p) + p->n) + 4 * r + r * r / AGAIN);
}

int
gv_price_master_solve(struct gv_price_master *p)
{
	bool fresh = false;
	int k;

	for (k = 0; k < MAX_ITERATIONS; k++) {
		size_t in, out;

		if (p->effort != NULL && (*p->effort -= iteration_effort(p)) < 0)
			return 1;
		if (k % AGAIN == 0) {
			if (!invert(p))
				return 1;
			fresh = true;
		}
		evaluate(p);
		in = enter(p, k);
		if (in == (size_t)-1 && fresh)
			break;
		if (in == (size_t)-1) { /* to be sure */
			if (!invert(p))
				return 1;
			fresh = true;
			continue;
		}
		out = leave(p, in);
		if (out == (size_t)-1)
			return 1;
		exchange(p, out, in);
		fresh = false;
	}
	if (k == MAX_ITERATIONS)
		return 1;
	answer(p);
	return 0;
}

bool
gv_price_master_unique(const struct gv_price_master *p)
{
	size_t i;

	for (i = 0; i <= p->m; i++)
		if (!(p->value[i] > GV_TOL_DEGENERATE))
			return false;
	return true;
}

void
gv_price_master_keep(
    struct gv_price_master *p, const bool *keep, const double *lo, const double *hi)
{
	size_t j, k, n = p->n;

	for (j = 0; j < p->m; j++) {
		p->cost[j] = -lo[j];
		p->cost[p->m + j] = hi[j];
	}
	p->n = 0;
	for (k = 0; k < n; k++)
		if (keep[k]) {
			size_t at = first_cut(p) + k;

			gv_price_master_add(p, column(p, at), -p->cost[at]);
		}
}
