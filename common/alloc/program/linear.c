#include "linear.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lp/tolerance.h"

void
gv_linear_init(struct gv_linear *l, const struct gv_problem *p, struct gv_solution *s)
{
	*l = (struct gv_linear){.p = p, .s = s};
	l->mu = gv_xcalloc(p->n, sizeof(*l->mu));
	l->price = gv_xcalloc(p->m, sizeof(*l->price));
	if (p->together != NULL)
		l->time = gv_xcalloc(p->n, sizeof(*l->time));
}

void
gv_linear_free(struct gv_linear *l)
{
	free(l->mu);
	free(l->price);
	free(l->time);
}

double *
gv_linear_normalised(const struct gv_problem *p)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double *g = gv_xcalloc(p->n, p->m * sizeof(*g));
	size_t i, j;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			g[i * p->m + j] =
			    p->scale[i] * (gv_problem_rate(p, i, j) / equal[i]);
	free(equal);
	return g;
}

double *
gv_linear_ones(const struct gv_problem *p)
{
	double *one = gv_xcalloc(p->n, sizeof(*one));
	size_t i;

	for (i = 0; i < p->n; i++)
		one[i] = 1;
	return one;
}

double *
gv_linear_normal(const struct gv_problem *p)
{
	double *normal = gv_xcalloc(p->n, sizeof(*normal));
	size_t i;

	gv_problem_equal_throughput(p, normal);
	for (i = 0; i < p->n; i++)
		normal[i] = p->scale[i] / normal[i];
	return normal;
}

double
gv_linear_sum(const struct gv_problem *p, const double *gain, const double *x)
{
	double sum = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double own = 0;

		for (j = 0; j < p->m; j++)
			own += gain[i * p->m + j] * x[i * p->m + j];
		sum += p->count[i] * own;
	}
	return sum;
}

/* The bound that the multipliers prove, from the problem's numbers, rounding allowed for. */
static double
sum_bound(const struct gv_linear *l)
{
	const struct gv_problem *p = l->p;
	const double *gain = l->gain;
	double sum = 0;
	double magnitude; /* of all that is added or subtracted */
	size_t i, j;

	for (j = 0; j < p->m; j++)
		sum += l->price[j] * p->capacity[j];
	sum += l->budget * p->budget;
	magnitude = sum;
	for (i = 0; i < p->n; i++) {
		double most = 0, large = 0;

		for (j = 0; j < p->m; j++) {
			double more = l->mu[i] * gv_problem_rate(p, i, j);
			double less =
			    (l->price[j] + l->budget * p->price[j]) * p->scale[i];
			double net = gain[i * p->m + j] + more - less;

			if (gv_problem_rate(p, i, j) == 0)
				continue;
			most = net > most ? net : most;
			if (net > -(fabs(gain[i * p->m + j]) + more) * GV_TOL_CLEARLY) {
				double all = fabs(gain[i * p->m + j]) + more + less;

				large = all > large ? all : large;
			}
		}
		sum += p->count[i] * most;
		magnitude += p->count[i] * large;
		if (l->need != NULL && l->need[i] > 0) {
			sum -= p->count[i] * l->mu[i] * l->need[i];
			magnitude += p->count[i] * l->mu[i] * l->need[i];
		}
	}
	return sum + magnitude * DBL_EPSILON * (16 + (double)p->m + sqrt((double)p->n));
}

void
gv_linear_prove(struct gv_linear *l)
{
	struct gv_solution *s = l->s;

	s->bound = sum_bound(l);
	s->gap = (s->bound - s->objective) / fmax(fabs(s->bound), DBL_MIN);
}
