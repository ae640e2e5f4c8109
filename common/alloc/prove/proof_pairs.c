/*
 * Certificates where two jobs may have the same GPUs.  With multipliers t_i of the
 * jobs' time beside those of GPUs and throughputs, every allocation keeps
 *
 *	gains + sum_i v_i thr_i  <=  sum_j p_j N_j + sum_i t_i
 *
 * if no column, a share of 1 of a job alone or of two jobs a, b on a type j together, has a
 * reduced cost above 0:
 *
 *	g_ij + v_i T_ij          <=  t_i + s p_j
 *	g_abj + v_a T_a + v_b T_b  <=  t_a + t_b + s p_j
 *
 * Where one has, half of it is added to the t_i of both, which makes the multipliers dual
 * feasible.  Jobs that are equal in all these numbers are looked at once, those without a
 * step left not at all.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "proof.h"
#include "lp/tolerance.h"

/* ---- what the shares are ---- */

/* w->thr, with what jobs do in pairs; count is 1 of all. */
void
gv_proof_add_pairs(struct gv_proof *w)
{
	const struct gv_solution *s = w->s;
	size_t i;

	for (i = 0; i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];

		gv_exact_add_product(&w->thr[q->a], q->rate_a, q->x);
		gv_exact_add_product(&w->thr[q->b], q->rate_b, q->x);
	}
}

/* Excess of the time of jobs and of GPUs. */
void
gv_proof_shares_pairs(struct gv_proof *w, struct gv_certificate *c)
{
	const struct gv_problem *p = w->p;
	const struct gv_solution *s = w->s;
	struct gv_exact *sum = gv_xcalloc(p->n + p->m, sizeof(*sum));
	size_t i, j;

	for (i = 0; i < p->n + p->m; i++)
		gv_exact_init(&sum[i]);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			double x = s->x[i * p->m + j];

			gv_exact_add_product(&sum[i], x, 1);
			gv_exact_add_product(&sum[p->n + j], p->scale[i], x);
			if (x < 0)
				c->excess = INFINITY;
		}
	for (i = 0; i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];

		gv_exact_add_product(&sum[q->a], q->x, 1);
		gv_exact_add_product(&sum[q->b], q->x, 1);
		gv_exact_add_product(&sum[p->n + q->type], p->scale[q->a], q->x);
		if (q->x < 0 || q->a == q->b || p->scale[q->a] != p->scale[q->b])
			c->excess = INFINITY;
	}
	for (i = 0; i < p->n; i++)
		c->excess = fmax(c->excess, gv_proof_over(w, &sum[i], 1));
	for (j = 0; j < p->m; j++)
		c->excess =
		    fmax(c->excess, gv_proof_over(w, &sum[p->n + j], p->capacity[j]));
	for (i = 0; i < p->n + p->m; i++)
		gv_exact_free(&sum[i]);
	free(sum);
}

/* ---- what no allocation passes ---- */

/* Jobs that the inequalities cannot tell apart. */
struct job_kind {
	size_t first; /* one of them */
	double jobs;
	double time_increase; /* twice what is added to their t_i */
};

struct job_kinds {
	size_t n;
	struct job_kind *of;
};

/* Jobs without a step left get nothing, where steps count: nobody shares with them. */
static bool
is_done(const struct gv_problem *p, size_t i)
{
	return p->number[GV_NUMBER_STEPS] != NULL && p->number[GV_NUMBER_STEPS][i] == 0;
}

/* Groups of jobs by all that the inequalities have of them. */
static struct job_kinds
find_job_kinds(const struct gv_proof *w)
{
	const struct gv_problem *p = w->p;
	const struct gv_multipliers *mu = &w->s->multipliers;
	size_t width = p->m + 5;
	double *key = gv_xcalloc(p->n, width * sizeof(*key));
	struct job_kinds k = {.of = gv_xcalloc(p->n, sizeof(*k.of))};
	struct gv_hash hash = {0};
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double *own = &key[i * width];
		size_t at;

		if (is_done(p, i))
			continue;
		for (j = 0; j < p->m; j++)
			own[j] = gv_problem_rate(p, i, j) + 0.0;
		own[p->m] = (double)p->kind[i];
		own[p->m + 1] = p->scale[i];
		own[p->m + 2] = mu->job[i] + 0.0;
		own[p->m + 3] = mu->time[i] + 0.0;
		own[p->m + 4] = w->measure == GV_MEASURE_QUEUE
				    ? p->number[GV_NUMBER_POSITION][i] + 0.0
				    : 0;
		at = gv_hash_add(&hash, (const char *)own, width * sizeof(*own));
		if (at == k.n)
			k.of[k.n++].first = i;
		k.of[at].jobs += p->count[i];
	}
	gv_hash_free(&hash);
	free(key);
	return k;
}

/* About g_ij / T_ij, in doubles: enough to see where a reduced cost may be above 0. */
static double
approximate_gain(const struct gv_proof *w, size_t i, size_t j)
{
	const struct gv_problem *p = w->p;
	double top, jobs;

	switch (w->measure) {
	case GV_MEASURE_SUM:
		return 1;
	case GV_MEASURE_PER_DOLLAR:
		return 3600 / p->price[j];
	case GV_MEASURE_QUEUE:
		top = gv_row_max(&p->rate[i * p->m], p->m);
		jobs = gv_exact_double(&w->jobs, GV_EXACT_UP);
		return (jobs - p->number[GV_NUMBER_POSITION][i]) / top;
	default:
		return 0;
	}
}

/* A column: the rates of its one or two jobs. */
struct column {
	size_t n;
	size_t job[2];
	double rate[2];
	size_t type;
};

/* g + sum_k v_k T_k - sum_k t_k - s p_j, rounded up; where it is clearly below 0, just below. */
static double
reduced_cost(struct gv_proof *w, const struct column *q)
{
	const struct gv_problem *p = w->p;
	const struct gv_multipliers *mu = &w->s->multipliers;
	double gpus = mu->gpu[q->type] * p->scale[q->job[0]];
	double plus = 0, minus = gpus;
	struct gv_exact sum, part;
	size_t k;

	for (k = 0; k < q->n; k++) {
		size_t i = q->job[k];

		plus += (mu->job[i] + approximate_gain(w, i, q->type)) * q->rate[k];
		minus += mu->time[i];
	}
	if (plus < minus * (1 - GV_TOL_CLEARLY))
		return -DBL_MIN;
	gv_exact_init(&sum);
	gv_exact_init(&part);
	gv_exact_add_product(&sum, -mu->gpu[q->type], p->scale[q->job[0]]);
	for (k = 0; k < q->n; k++) {
		size_t i = q->job[k];

		gv_proof_worth(w, i, q->type, q->rate[k], GV_EXACT_UP, &part);
		gv_exact_add_product(&part, mu->job[i], q->rate[k]);
		gv_exact_add_product(&part, -mu->time[i], 1);
		gv_exact_add(&sum, &sum, &part);
	}
	plus = gv_exact_double(&sum, GV_EXACT_UP);
	gv_exact_free(&sum);
	gv_exact_free(&part);
	return plus;
}

static void
price_single(struct gv_proof *w, struct job_kind *a)
{
	const struct gv_problem *p = w->p;
	size_t j;

	for (j = 0; j < p->m; j++) {
		struct column q = {1, {a->first}, {gv_problem_rate(p, a->first, j)}, j};

		if (q.rate[0] > 0)
			a->time_increase =
			    fmax(a->time_increase, 2 * reduced_cost(w, &q));
	}
}

static void
price_pair(struct gv_proof *w, struct job_kind *a, struct job_kind *b)
{
	const struct gv_problem *p = w->p;
	const struct gv_together *with = p->together;
	size_t kind_a = p->kind[a->first], kind_b = p->kind[b->first];
	size_t pair, j;
	bool turned = kind_a > kind_b;

	if (p->scale[a->first] != p->scale[b->first] || (a == b && a->jobs < 2))
		return;
	pair = gv_together_find(with, turned ? kind_b : kind_a, turned ? kind_a : kind_b);
	if (pair == SIZE_MAX)
		return;
	for (j = 0; j < p->m; j++) {
		const double *rate = &with->rate[(pair * p->m + j) * 2];
		struct column q = {
		    2, {a->first, b->first}, {rate[turned], rate[!turned]}, j};
		double over;

		if (!(rate[0] > 0))
			continue;
		over = reduced_cost(w, &q);
		a->time_increase = fmax(a->time_increase, over);
		b->time_increase = fmax(b->time_increase, over);
	}
}

void
gv_proof_lagrangian_pairs(struct gv_proof *w)
{
	const struct gv_problem *p = w->p;
	const struct gv_multipliers *mu = &w->s->multipliers;
	struct job_kinds k = find_job_kinds(w);
	struct gv_exact time;
	size_t i, j;

	gv_exact_init(&time);
	gv_exact_set_double(&w->limit, 0);
	for (j = 0; j < p->m; j++)
		gv_exact_add_product(&w->limit, mu->gpu[j], p->capacity[j]);
	for (i = 0; i < k.n; i++) {
		price_single(w, &k.of[i]);
		for (j = i; j < k.n; j++)
			price_pair(w, &k.of[i], &k.of[j]);
	}
	for (i = 0; i < k.n; i++) {
		gv_exact_set_double(&time, .5 * fmax(0, k.of[i].time_increase));
		gv_exact_add_product(&time, mu->time[k.of[i].first], 1);
		gv_exact_mul_double(&time, &time, k.of[i].jobs);
		gv_exact_add(&w->limit, &w->limit, &time);
	}
	for (i = 0; i < p->n; i++) {
		double need = gv_proof_need(w, i);

		if (!(need > 0))
			continue;
		gv_exact_set_double(&time, -mu->job[i]);
		gv_exact_mul_double(&time, &time, need);
		gv_exact_mul_double(&time, &time, p->count[i]);
		gv_exact_add(&w->limit, &w->limit, &time);
	}
	gv_exact_free(&time);
	free(k.of);
}
