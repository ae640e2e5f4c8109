/*
 * fifo-greedy: one job after another takes whole GPUs of its fastest type that has
 * enough left, all the time, until the first that finds none; who stands behind it
 * waits.  It is what Gavel's program does instead of the paper's fifo.
 *
 * With pairs: who finds none may have the GPUs of a job before it that has its own to
 * itself, and of those the partner with which both together make most of what they
 * would make alone there, if that is above 1.5.
 *
 *	the objective: sum_i (M - m_i) thr_i / max_j T_ij
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy.h"

static const double worth_while = 1.5;

struct queued {
	double position;
	size_t row;
};

static int
by_position(const void *a, const void *b)
{
	const struct queued *x = a;
	const struct queued *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

/* The fastest type that has the GPUs of job i left, or m; the first of equal ones. */
static size_t
fastest_free(const struct gv_problem *p, size_t i, const double *left)
{
	size_t best = p->m;
	size_t j;

	for (j = 0; j < p->m; j++)
		if (gv_problem_rate(p, i, j) > 0 && p->scale[i] <= left[j] &&
		    (best == p->m ||
			gv_problem_rate(p, i, j) > gv_problem_rate(p, i, best)))
			best = j;
	return best;
}

/* Rates of jobs i and k together on type j into rate; false: they cannot share. */
static bool
rates_together(const struct gv_problem *p, size_t i, size_t k, size_t j, double rate[2])
{
	size_t pair = gv_together_find(p->together, p->kind[i], p->kind[k]);
	const double *found;
	bool turned = p->kind[i] > p->kind[k];

	if (pair == SIZE_MAX)
		return false;
	found = &p->together->rate[(pair * p->m + j) * 2];
	rate[0] = found[turned];
	rate[1] = found[!turned];
	return found[0] > 0;
}

struct greedy {
	const struct gv_problem *p;
	struct queued *queue; /* [n] */
	size_t *type;         /* [n] of the row, m = it waits */
	bool *alone;          /* [n] */
	struct gv_solution *s;
};

/* Job i shares with the best of those before it.  False: there is none. */
static bool
share(struct greedy *g, size_t before, size_t i)
{
	const struct gv_problem *p = g->p;
	double most = worth_while, rate[2] = {0, 0}, best[2] = {0, 0};
	size_t q, with = SIZE_MAX;

	for (q = 0; q < before && p->together != NULL; q++) {
		size_t k = g->queue[q].row, j = g->type[k];
		double sum;

		if (!g->alone[k] || !(gv_problem_rate(p, i, j) > 0) ||
		    !rates_together(p, i, k, j, rate))
			continue;
		sum = rate[0] / gv_problem_rate(p, i, j) +
		      rate[1] / gv_problem_rate(p, k, j);
		if (sum > most) {
			most = sum;
			with = k;
			memcpy(best, rate, sizeof(best));
		}
	}
	if (with == SIZE_MAX)
		return false;
	g->alone[with] = false;
	g->type[i] = g->type[with];
	g->s->x[with * p->m + g->type[i]] = 0;
	g->s->pair[g->s->n_pairs++] =
	    p->kind[i] <= p->kind[with]
		? (struct gv_pair){i, with, g->type[i], best[0], best[1], 1}
		: (struct gv_pair){with, i, g->type[i], best[1], best[0], 1};
	return true;
}

static double
objective(const struct gv_problem *p, const struct gv_solution *s)
{
	double *throughput = gv_xcalloc(p->n, sizeof(*throughput));
	double sum = 0;
	size_t i;

	gv_solution_throughput(p, s, throughput);
	for (i = 0; i < p->n; i++) {
		double fastest = gv_problem_own_fastest(p, i);

		sum += ((double)p->n - p->number[GV_NUMBER_POSITION][i]) *
		       (throughput[i] / fastest);
	}
	free(throughput);
	return sum;
}

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *s, struct gv_error *e)
{
	struct greedy g = {.p = p, .s = s};
	double *left = gv_xcalloc(p->m, sizeof(*left));
	size_t i, j;

	(void)opt;
	(void)e;
	g.queue = gv_xcalloc(p->n, sizeof(*g.queue));
	g.type = gv_xcalloc(p->n, sizeof(*g.type));
	g.alone = gv_xcalloc(p->n, sizeof(*g.alone));
	s->pair = gv_xcalloc(p->n, sizeof(*s->pair));
	memcpy(left, p->capacity, p->m * sizeof(*left));
	for (i = 0; i < p->n; i++)
		g.queue[i] = (struct queued){p->number[GV_NUMBER_POSITION][i], i};
	qsort(g.queue, p->n, sizeof(*g.queue), by_position);
	for (i = 0; i < p->n; i++) {
		size_t row = g.queue[i].row;

		j = fastest_free(p, row, left);
		if (j == p->m && !share(&g, i, row))
			break;
		if (j == p->m)
			continue;
		left[j] -= p->scale[row];
		g.type[row] = j;
		g.alone[row] = true;
		s->x[row * p->m + j] = 1;
	}
	s->objective = objective(p, s);
	free(g.queue);
	free(g.type);
	free(g.alone);
	free(left);
	return 0;
}

const struct gv_policy gv_policy_fifo_greedy = {
    .name = "fifo-greedy",
    .solve = solve,
    .numbers = 1u << GV_NUMBER_POSITION,
    .shares = true,
};
