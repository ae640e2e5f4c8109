/* Shares that keep every constraint to the last bit, not only but for rounding. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "problem.h"

/* A sum in twice the precision of double (Dekker 1971). */
struct twice {
	double high, low;
};

static void
add(struct twice *a, double v)
{
	double sum = a->high + v;
	double part = sum - a->high;

	a->low += (a->high - (sum - part)) + (v - part);
	a->high = sum;
}

static bool
is_over(const struct twice *a, double limit)
{
	return (a->high - limit) + a->low > 0;
}

static bool
cost_is_over(const struct gv_problem *p, const double *x)
{
	struct twice sum = {0, 0};
	size_t i, j;

	for (j = 0; j < p->m; j++) {
		struct twice used = {0, 0};
		double cost;

		for (i = 0; i < p->n; i++) {
			double gpus = p->count[i] * p->scale[i];
			double part = gpus * x[i * p->m + j];

			add(&used, part);
			add(&used, fma(gpus, x[i * p->m + j], -part));
		}
		cost = p->price[j] * used.high;
		add(&sum, cost);
		add(&sum, fma(p->price[j], used.high, -cost));
		add(&sum, p->price[j] * used.low);
	}
	return is_over(&sum, p->budget);
}

static bool
row_is_over(const struct gv_problem *p, const double *row)
{
	struct twice sum = {0, 0};
	size_t j;

	for (j = 0; j < p->m; j++)
		add(&sum, row[j]);
	return is_over(&sum, 1);
}

static bool
type_is_over(const struct gv_problem *p, const double *x, size_t j)
{
	struct twice sum = {0, 0};
	size_t i;

	for (i = 0; i < p->n; i++) {
		double gpus = p->count[i] * p->scale[i]; /* whole, so not rounded */
		double used = gpus * x[i * p->m + j];

		add(&sum, used);
		add(&sum, fma(gpus, x[i * p->m + j], -used));
	}
	return is_over(&sum, p->capacity[j]);
}

/* Sums of the time of each job [n] and, after them, of the GPUs of each type [m]. */
static void
add_up(const struct gv_problem *p, const struct gv_solution *s, struct twice *sum)
{
	size_t i, j;

	memset(sum, 0, (p->n + p->m) * sizeof(*sum));
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			double gpus = p->count[i] * p->scale[i];
			double x = s->x[i * p->m + j];

			add(&sum[i], x);
			add(&sum[p->n + j], gpus * x);
			add(&sum[p->n + j], fma(gpus, x, -(gpus * x)));
		}
	for (i = 0; i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];
		double gpus = p->scale[q->a];

		add(&sum[q->a], q->x);
		add(&sum[q->b], q->x);
		add(&sum[p->n + q->type], gpus * q->x);
		add(&sum[p->n + q->type], fma(gpus, q->x, -(gpus * q->x)));
	}
}

void
gv_solution_trim(const struct gv_problem *p, struct gv_solution *s)
{
	static const double less = 1 - DBL_EPSILON;
	struct twice *sum = gv_xcalloc(p->n + p->m, sizeof(*sum));
	bool *over = gv_xcalloc(p->n + p->m, sizeof(*over));
	bool any = true;
	size_t i, j;
	int tries;

	for (tries = 0; any && tries < 64; tries++) {
		any = false;
		add_up(p, s, sum);
		for (i = 0; i < p->n + p->m; i++) {
			over[i] = is_over(&sum[i], i < p->n ? 1 : p->capacity[i - p->n]);
			any = any || over[i];
		}
		for (i = 0; any && i < p->n; i++)
			for (j = 0; j < p->m; j++)
				if (over[i] || over[p->n + j])
					s->x[i * p->m + j] *= less;
		for (i = 0; any && i < s->n_pairs; i++) {
			struct gv_pair *q = &s->pair[i];

			if (over[q->a] || over[q->b] || over[p->n + q->type])
				q->x *= less;
		}
	}
	free(sum);
	free(over);
}

void
gv_problem_trim(const struct gv_problem *p, double *x)
{
	static const double less = 1 - DBL_EPSILON;
	size_t i, j;
	int tries;

	for (i = 0; i < p->n; i++)
		for (tries = 0; tries < 64 && row_is_over(p, &x[i * p->m]); tries++)
			for (j = 0; j < p->m; j++)
				x[i * p->m + j] *= less;
	for (j = 0; j < p->m; j++)
		for (tries = 0; tries < 64 && type_is_over(p, x, j); tries++)
			for (i = 0; i < p->n; i++)
				x[i * p->m + j] *= less;
	for (tries = 0; p->budget > 0 && tries < 64 && cost_is_over(p, x); tries++)
		for (i = 0; i < p->n * p->m; i++)
			x[i] *= less;
}
