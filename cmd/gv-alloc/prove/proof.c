#include "proof.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

const double *
proof_reference(const struct problem *p)
{
	return p->reference != NULL ? p->reference : p->capacity;
}

void
proof_init(struct proof *w, const struct problem *p, enum measure measure,
    const struct solution *s)
{
	const double *own = proof_reference(p);
	struct exact *thr;
	size_t i;

	*w = (struct proof){.p = p, .measure = measure, .s = s};
	exact_init(&w->jobs);
	exact_init(&w->gpus);
	exact_init(&w->limit);
	exact_init(&w->sum);
	exact_init(&w->a);
	exact_init(&w->b);
	exact_init(&w->t);
	for (i = 0; i < p->m; i++)
		exact_add_product(&w->gpus, own[i], 1);
	for (i = 0; i < p->n; i++)
		exact_add_product(&w->jobs, p->count[i], 1);
	if (p->together == NULL)
		return;
	thr = gv_xcalloc(p->n, sizeof(*thr));
	for (i = 0; i < p->n; i++) {
		exact_init(&thr[i]);
		proof_throughput(w, i, &thr[i]);
	}
	w->thr = thr;
	proof_add_pairs(w);
}

void
proof_free(struct proof *w)
{
	size_t i;

	for (i = 0; w->thr != NULL && i < w->p->n; i++)
		exact_free(&w->thr[i]);
	free(w->thr);
	exact_free(&w->jobs);
	exact_free(&w->gpus);
	exact_free(&w->limit);
	exact_free(&w->sum);
	exact_free(&w->a);
	exact_free(&w->b);
	exact_free(&w->t);
}

void
proof_throughput(struct proof *w, size_t i, struct exact *x)
{
	const struct problem *p = w->p;
	size_t j;

	if (w->thr != NULL) {
		exact_set(x, &w->thr[i]);
		return;
	}
	exact_set_double(x, 0);
	for (j = 0; j < p->m; j++)
		exact_add_product(x, problem_rate(p, i, j), w->s->x[i * p->m + j]);
}

/* ---- feasible ---- */

double
proof_over(struct proof *w, const struct exact *x, double limit)
{
	exact_set_double(&w->a, limit);
	exact_sub(&w->b, x, &w->a);
	if (exact_sign(&w->b) <= 0)
		return 0;
	if (limit == 0)
		return INFINITY;
	exact_div(&w->t, &w->b, &w->a, EXACT_UP);
	return exact_double(&w->t, EXACT_UP);
}

/* Excess of the shares of jobs alone on their GPUs. */
static void
shares_alone(struct proof *w, struct certificate *c)
{
	const struct problem *p = w->p;
	const double *x = w->s->x;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		exact_set_double(&w->sum, 0);
		for (j = 0; j < p->m; j++) {
			exact_add_product(&w->sum, x[i * p->m + j], 1);
			if (x[i * p->m + j] < 0)
				c->excess = INFINITY;
		}
		c->excess = fmax(c->excess, proof_over(w, &w->sum, 1));
	}
	for (j = 0; j < p->m; j++) {
		exact_set_double(&w->sum, 0);
		for (i = 0; i < p->n; i++) {
			exact_set_double(&w->t, p->count[i]);
			exact_mul_double(&w->t, &w->t, p->scale[i]);
			exact_mul_double(&w->t, &w->t, x[i * p->m + j]);
			exact_add(&w->sum, &w->sum, &w->t);
		}
		c->excess = fmax(c->excess, proof_over(w, &w->sum, p->capacity[j]));
	}
	if (p->budget > 0) {
		exact_set_double(&w->sum, 0);
		for (i = 0; i < p->n; i++)
			for (j = 0; j < p->m; j++)
				proof_add_cost(
				    &w->sum, p, i, j, x[i * p->m + j], p->count[i]);
		c->excess = fmax(c->excess, proof_over(w, &w->sum, p->budget));
	}
}

void
proof_shares(struct proof *w, struct certificate *c)
{
	const struct problem *p = w->p;
	const double *need = p->number[NUMBER_NEED];
	size_t i;

	if (p->together != NULL)
		proof_shares_pairs(w, c);
	else
		shares_alone(w, c);
	for (i = 0; need != NULL && i < p->n; i++) {
		if (!(need[i] > 0))
			continue;
		proof_throughput(w, i, &w->sum);
		exact_set_double(&w->a, need[i]);
		exact_sub(&w->b, &w->a, &w->sum);
		exact_div(&w->t, &w->b, &w->a, EXACT_UP);
		c->shortfall = fmax(c->shortfall, exact_double(&w->t, EXACT_UP));
	}
}

/* ---- what jobs gain ---- */

static double
fastest(const struct problem *p, size_t i)
{
	double most = 0;
	size_t j;

	for (j = 0; j < p->m; j++)
		most = fmax(most, problem_rate(p, i, j));
	return most;
}

void
proof_worth(struct proof *w, size_t i, size_t j, double rate, enum exact_round round,
    struct exact *x)
{
	const struct problem *p = w->p;

	exact_set_double(x, rate);
	if (w->measure == MEASURE_PER_DOLLAR) {
		exact_mul_double(x, x, 3600);
		exact_set_double(&w->a, p->price[j]);
		exact_div(x, x, &w->a, round);
	} else if (w->measure == MEASURE_QUEUE) {
		exact_set_double(&w->a, p->number[NUMBER_PLACE][i]);
		exact_sub(&w->a, &w->jobs, &w->a);
		exact_mul(x, x, &w->a);
		exact_set_double(&w->a, fastest(p, i));
		exact_div(x, x, &w->a, round);
	} else if (w->measure != MEASURE_SUM && w->measure != MEASURE_RATIO) {
		exact_set_double(x, 0);
	}
}

void
proof_gain(struct proof *w, size_t i, size_t j, enum exact_round round, struct exact *x)
{
	proof_worth(w, i, j, problem_rate(w->p, i, j), round, x);
}

void
proof_add_cost(struct exact *x, const struct problem *p, size_t i, size_t j, double times,
    double jobs)
{
	struct exact y;

	exact_init(&y);
	exact_set_double(&y, p->scale[i]);
	exact_mul_double(&y, &y, p->price[j]);
	exact_mul_double(&y, &y, times);
	exact_mul_double(&y, &y, jobs);
	exact_add(x, x, &y);
	exact_free(&y);
}

void
proof_limit(struct proof *w, double r)
{
	const struct problem *p = w->p;
	const struct multipliers *mu = &w->s->multipliers;
	const double *need = p->number[NUMBER_NEED];
	double times = w->measure == MEASURE_RATIO ? 3600 : 1;
	struct exact most, net;
	size_t i, j;

	if (p->together != NULL) {
		proof_limit_pairs(w);
		return;
	}
	exact_init(&most);
	exact_init(&net);
	exact_set_double(&w->limit, 0);
	for (j = 0; j < p->m; j++)
		exact_add_product(&w->limit, mu->gpu[j], p->capacity[j]);
	exact_add_product(&w->limit, mu->budget, p->budget);
	exact_mul_double(&w->limit, &w->limit, times);
	for (i = 0; i < p->n; i++) {
		exact_set_double(&most, 0);
		for (j = 0; j < p->m; j++) {
			if (problem_rate(p, i, j) == 0)
				continue;
			proof_gain(w, i, j, EXACT_UP, &net);
			exact_add_product(&net, mu->job[i], problem_rate(p, i, j));
			exact_add_product(&net, -mu->gpu[j], p->scale[i]);
			if (mu->budget > 0)
				proof_add_cost(&net, p, i, j, -mu->budget, 1);
			if (w->measure == MEASURE_RATIO) {
				exact_mul_double(&net, &net, times);
				proof_add_cost(&net, p, i, j, -r, 1);
			}
			if (exact_compare(&net, &most) > 0)
				exact_set(&most, &net);
		}
		if (need != NULL && need[i] > 0) {
			exact_set_double(&net, mu->job[i]);
			exact_mul_double(&net, &net, need[i]);
			exact_mul_double(&net, &net, times);
			exact_sub(&most, &most, &net);
		}
		exact_mul_double(&most, &most, p->count[i]);
		exact_add(&w->limit, &w->limit, &most);
	}
	exact_free(&most);
	exact_free(&net);
}
