#include "sift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"

enum { PART = 16, FIRST_ROUNDS = 2, ROUNDS = 8, NEWTON = 50 };

static size_t
count_columns(const struct gv_interior_program *p)
{
	size_t i, j, n = 0;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			n += gv_interior_has_column(p, i, j);
	return n;
}

/* ---- a sample ---- */

/* Rows of m numbers, every PART-th; NULL of NULL.  The caller's. */
static void *
sample_rows(const void *from, size_t n, size_t row)
{
	const char *old = from;
	char *to = from != NULL ? gv_xcalloc(n / PART, row) : NULL;
	size_t k;

	for (k = 0; to != NULL && k < n / PART; k++)
		memcpy(to + k * row, old + (k * PART + PART / 2) * row, row);
	return to;
}

/* Prices of every PART-th job, into price [m], and the level.  False: they came to nothing. */
static bool
sample_prices(const struct gv_interior_program *p, double *price, double *level)
{
	size_t row = p->m * sizeof(double), i, j;
	double *a = sample_rows(p->level, p->n, row);
	double *use = sample_rows(p->use, p->n, sizeof(double));
	double *gain = sample_rows(p->gain, p->n, row);
	double *need = sample_rows(p->need, p->n, sizeof(double));
	bool *column = sample_rows(p->column, p->n, p->m * sizeof(bool));
	double *capacity = gv_xcalloc(p->m, sizeof(*capacity));
	struct gv_interior_program s = {.n = p->n / PART,
	    .m = p->m,
	    .level = a,
	    .use = use,
	    .gain = gain,
	    .need = need,
	    .column = column,
	    .capacity = capacity};
	struct gv_interior_point at;
	double all = 0, part = 0;

	for (i = 0; i < p->n; i++)
		all += p->use[i];
	for (i = 0; i < s.n; i++)
		part += use[i];
	for (j = 0; j < p->m; j++)
		capacity[j] = p->capacity[j] * part / all;
	gv_interior_sift(&s, &at);
	memcpy(price, at.price, row);
	*level = at.objective;
	free(a);
	free(use);
	free(gain);
	free(need);
	free(column);
	free(capacity);
	part = at.gap;
	gv_interior_free(&at);
	return part < GV_TOL_INTERIOR_MIDDLE;
}

/* ---- columns that may count ---- */

/* cost[] of a job's shares at those prices, less their gains; INFINITY: no column */
static void
costs_of(const struct gv_interior_program *p, const double *price, size_t i, double *cost)
{
	size_t j;

	for (j = 0; j < p->m; j++) {
		cost[j] = INFINITY;
		if (gv_interior_has_column(p, i, j))
			cost[j] = p->use[i] * price[j] -
				  (p->gain != NULL ? p->gain[i * p->m + j] : 0);
	}
}

/*
 * What a job's level and time are worth at those costs: the most of lambda q - time, where
 * time = max(0, max_j (lambda a_j - cost_j)) is convex and piecewise linear in lambda, from
 * lambda = 0 on by Newton's method along its pieces: while a piece's slope is below q the
 * next one that meets it goes on.
 */
static double
worth_of(const double *a, const double *cost, size_t m, double q, double *time)
{
	double lambda = 0, slope = 0, height = 0; /* the piece: slope lambda - height */
	size_t j;
	int k;

	for (j = 0; j < m; j++)
		if (-cost[j] > -height ||
		    (-cost[j] == -height && a[j] > slope && height < 0)) {
			height = cost[j];
			slope = a[j];
		}
	for (k = 0; k < NEWTON && slope < q; k++) {
		double next = INFINITY, steep = slope, high = height;

		for (j = 0; j < m; j++) {
			double meet = (cost[j] - height) / (a[j] - slope);

			if (isfinite(cost[j]) && a[j] > slope &&
			    (meet < next || (meet == next && a[j] > steep))) {
				next = meet;
				steep = a[j];
				high = cost[j];
			}
		}
		if (!isfinite(next))
			break;
		lambda = fmax(lambda, next);
		slope = steep;
		height = high;
	}
	*time = fmax(0, slope * lambda - height);
	return lambda;
}

/* Columns whose reduced cost at those prices is at most a part of what it is made of. */
static void
choose_columns(const struct gv_interior_program *p, const double *price, double level,
    double part, bool *column)
{
	double *cost = gv_xcalloc(p->m, sizeof(*cost));
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		const double *a = &p->level[i * p->m];
		double q = p->gain == NULL ? level : p->need != NULL ? p->need[i] : 0;
		double time, lambda;

		costs_of(p, price, i, cost);
		lambda = worth_of(a, cost, p->m, q, &time);
		for (j = 0; j < p->m; j++) {
			double gain = p->gain != NULL ? p->gain[i * p->m + j] : 0;

			column[i * p->m + j] = isfinite(cost[j]) &&
					       cost[j] + time - lambda * a[j] <=
						   part * (p->use[i] * price[j] + time +
							      lambda * a[j] + fabs(gain));
		}
	}
	free(cost);
}

/* Those that are likely to count; all of a job that would have none. */
static void
first_columns(const struct gv_interior_program *p, bool *column)
{
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		bool any = false;

		for (j = 0; j < p->m; j++)
			any |= p->first[i * p->m + j] && gv_interior_has_column(p, i, j);
		for (j = 0; j < p->m; j++)
			column[i * p->m + j] = (!any || p->first[i * p->m + j]) &&
					       gv_interior_has_column(p, i, j);
	}
}

/* Reached by those shares of a job. */
static double
level_at(
    const struct gv_interior_program *p, const struct gv_interior_point *at, size_t i)
{
	double sum = 0;
	size_t e;

	for (e = at->begin[i]; e < at->begin[i + 1]; e++)
		sum += at->x[e] * p->level[i * p->m + at->type[e]];
	return sum;
}

/*
 * The multiplier of a job's level: 0 where it is far above what it has to reach, for then it is the
 * product that is left over what is over, and times the level of a column that is missing
 * no small number.
 */
static double
multiplier(const struct gv_interior_program *p, const struct gv_interior_point *at,
    double usual, size_t i)
{
	double want = p->gain == NULL ? at->objective : p->need != NULL ? p->need[i] : 0;
	double worth = at->lambda[i] * want;

	return worth < GV_TOL_FREE_3 * usual * (level_at(p, at, i) / want - 1)
		   ? 0
		   : at->lambda[i];
}

/* What job i's time is worth at that multiplier: its best column. */
static double
time_at(const struct gv_interior_program *p, const struct gv_interior_point *at,
    double lambda, size_t i)
{
	double most = 0;
	size_t e;

	for (e = at->begin[i]; e < at->begin[i + 1]; e++) {
		size_t j = i * p->m + at->type[e];

		most =
		    fmax(most, lambda * p->level[j] + (p->gain != NULL ? p->gain[j] : 0) -
				   p->use[i] * at->price[at->type[e]]);
	}
	return most;
}

/*
 * Takes in columns whose reduced costs at that point are below 0, by more than what rounding
 * makes of them or all jobs' bound would feel.  At first only what is missing now; jobs that are
 * far above their levels wait, but where columns are taken in for one job after another, as
 * each of them holds the others up, they would wait too long.  False: there are none.
 */
static bool
add_columns(const struct gv_interior_program *p, const struct gv_interior_point *at,
    bool first, bool *column)
{
	double usual = fabs(at->objective) / (double)p->n;
	bool any = false;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double lambda = first ? multiplier(p, at, usual, i) : at->lambda[i];
		double time = time_at(p, at, lambda, i);

		for (j = 0; j < p->m; j++) {
			size_t k = i * p->m + j;
			double cost = p->use[i] * at->price[j] + time;
			double gain =
			    lambda * p->level[k] + (p->gain != NULL ? p->gain[k] : 0);

			if (column[k] || !gv_interior_has_column(p, i, j) ||
			    gain - cost <=
				fmax(GV_TOL_INTERIOR_MISSING * (cost + fabs(gain)),
				    GV_TOL_INTERIOR_UNFELT * usual))
				continue;
			column[k] = any = true;
		}
	}
	return any;
}

/* The columns of that point. */
static void
keep_columns(
    const struct gv_interior_program *p, const struct gv_interior_point *at, bool *column)
{
	size_t i, e;

	memset(column, 0, p->n * p->m * sizeof(*column));
	for (i = 0; i < p->n; i++)
		for (e = at->begin[i]; e < at->begin[i + 1]; e++)
			column[i * p->m + at->type[e]] = true;
}

void
gv_interior_sift(const struct gv_interior_program *p, struct gv_interior_point *to)
{
	struct gv_interior_program some = *p;
	size_t columns = count_columns(p);
	double *price, level;
	bool *column;
	int k;

	if (columns <= GV_INTERIOR_FEW) {
		gv_interior_solve(p, to);
		return;
	}
	price = gv_xcalloc(p->m, sizeof(*price));
	column = gv_xcalloc(p->n, p->m * sizeof(*column));
	if (p->first != NULL) {
		first_columns(p, column);
		some.column = column;
	} else if (columns > GV_INTERIOR_MANY && p->n >= PART * p->m &&
		   sample_prices(p, price, &level)) {
		choose_columns(p, price, level,
		    .5 * fmin(1, 1 / sqrt((double)p->n / PART / (double)p->m)), column);
		some.column = column;
	}
	some.narrow = true;
	gv_interior_solve(&some, to);
	keep_columns(p, to, column);
	some.column = column;
	some.narrow = false;
	for (k = 0; k < ROUNDS && to->gap < GV_TOL_INTERIOR_NEAR &&
		    add_columns(p, to, k < FIRST_ROUNDS, column);
	     k++) {
		gv_interior_free(to);
		gv_interior_solve(&some, to);
	}
	if (!(to->gap <
		GV_TOL_INTERIOR_NEAR)) { /* those columns may not keep the needs */
		gv_interior_free(to);
		gv_interior_solve(p, to);
	}
	free(price);
	free(column);
}
