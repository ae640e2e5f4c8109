/* Allocations with pairs: what comes of them, and whether they keep the constraints. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "problem.h"
#include "lp/tolerance.h"

void
gv_solution_throughput(
    const struct gv_problem *p, const struct gv_solution *s, double *throughput)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		throughput[i] = gv_problem_throughput(p, s->x, i);
	for (i = 0; i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];

		throughput[q->a] += q->rate_a * (q->x / p->count[q->a]);
		throughput[q->b] += q->rate_b * (q->x / p->count[q->b]);
	}
}

void
gv_problem_fastest(const struct gv_problem *p, double *rate)
{
	const struct gv_together *t = p->together;
	size_t kinds = t != NULL ? t->n_kinds : 0;
	double *most = gv_xcalloc(kinds, sizeof(*most)); /* of each kind in a pair */
	bool *there = gv_xcalloc(kinds, sizeof(*there));
	size_t i, j, k;

	for (i = 0; i < p->n && t != NULL; i++)
		there[p->kind[i]] = true;
	for (k = 0; k < kinds; k++)
		for (i = t->first[k]; i < t->first[k + 1]; i++)
			for (j = 0; j < t->m && there[k] && there[t->with[i]]; j++) {
				const double *r = &t->rate[(i * t->m + j) * 2];

				most[k] = fmax(most[k], r[0]);
				most[t->with[i]] = fmax(most[t->with[i]], r[1]);
			}
	for (i = 0; i < p->n; i++) {
		rate[i] = t != NULL ? most[p->kind[i]] : 0;
		for (j = 0; j < p->m; j++)
			rate[i] = fmax(rate[i], gv_problem_rate(p, i, j));
	}
	free(most);
	free(there);
}

/* The time of each job that is given away.  [n] */
static void
time_used(const struct gv_problem *p, const struct gv_solution *s, double *used)
{
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		used[i] = 0;
		for (j = 0; j < p->m; j++)
			used[i] += s->x[i * p->m + j];
	}
	for (i = 0; i < s->n_pairs; i++) {
		used[s->pair[i].a] += s->pair[i].x / p->count[s->pair[i].a];
		used[s->pair[i].b] += s->pair[i].x / p->count[s->pair[i].b];
	}
}

/* The GPUs of each type that are given away.  [m] */
static void
gpus_used(const struct gv_problem *p, const struct gv_solution *s, double *used)
{
	size_t i, j;

	for (j = 0; j < p->m; j++)
		used[j] = 0;
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			used[j] += p->count[i] * p->scale[i] * s->x[i * p->m + j];
	for (i = 0; i < s->n_pairs; i++)
		used[s->pair[i].type] += p->scale[s->pair[i].a] * s->pair[i].x;
}

/* Shares that are nothing against the others of their jobs go. */
static void
drop_vanishing(const struct gv_problem *p, struct gv_solution *s)
{
	double *largest = gv_xcalloc(p->n, sizeof(*largest));
	size_t i, j, kept = 0;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			largest[i] = fmax(largest[i], s->x[i * p->m + j]);
	for (i = 0; i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];

		largest[q->a] = fmax(largest[q->a], q->x / p->count[q->a]);
		largest[q->b] = fmax(largest[q->b], q->x / p->count[q->b]);
	}
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (!(s->x[i * p->m + j] > GV_TOL_DUST * largest[i]))
				s->x[i * p->m + j] = 0;
	for (i = 0; i < s->n_pairs; i++) {
		struct gv_pair q = s->pair[i];

		if (q.x / p->count[q.a] > GV_TOL_DUST * largest[q.a] ||
		    q.x / p->count[q.b] > GV_TOL_DUST * largest[q.b])
			s->pair[kept++] = q;
	}
	s->n_pairs = kept;
	free(largest);
}

void
gv_solution_clean(const struct gv_problem *p, struct gv_solution *s)
{
	double *time = gv_xcalloc(p->n, sizeof(*time));
	double *gpus = gv_xcalloc(p->m, sizeof(*gpus));
	size_t i, j;

	drop_vanishing(p, s);
	time_used(p, s, time);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			s->x[i * p->m + j] /= fmax(1, time[i]);
	for (i = 0; i < s->n_pairs; i++)
		s->pair[i].x /= fmax(1, fmax(time[s->pair[i].a], time[s->pair[i].b]));
	gpus_used(p, s, gpus);
	for (j = 0; j < p->m; j++)
		gpus[j] = gpus[j] > p->capacity[j] ? p->capacity[j] / gpus[j] : 1;
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			s->x[i * p->m + j] *= gpus[j];
	for (i = 0; i < s->n_pairs; i++)
		s->pair[i].x *= gpus[s->pair[i].type];
	free(time);
	free(gpus);
}

double
gv_solution_excess(const struct gv_problem *p, const struct gv_solution *s)
{
	double *time = gv_xcalloc(p->n, sizeof(*time));
	double *gpus = gv_xcalloc(p->m, sizeof(*gpus));
	double worst = 0;
	size_t i;

	time_used(p, s, time);
	gpus_used(p, s, gpus);
	for (i = 0; i < p->n; i++)
		worst = gv_worse(worst, time[i] - 1);
	for (i = 0; i < p->m; i++)
		worst =
		    gv_worse(worst, (gpus[i] - p->capacity[i]) / fmax(1, p->capacity[i]));
	free(time);
	free(gpus);
	return worst;
}
