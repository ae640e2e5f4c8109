#include "proof.h"

#include <math.h>

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
}

void
proof_free(struct proof *w)
{
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

	exact_set_double(x, 0);
	for (j = 0; j < p->m; j++)
		exact_add_product(x, problem_rate(p, i, j), w->s->x[i * p->m + j]);
}

/* ---- feasible ---- */

/* (x - limit) / limit where it is over 0, rounded up; limit 0: all of x is too much. */
static double
over(struct proof *w, const struct exact *x, double limit)
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

void
proof_shares(struct proof *w, struct certificate *c)
{
	const struct problem *p = w->p;
	const double *x = w->s->x;
	const double *need = p->number[NUMBER_NEED];
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		exact_set_double(&w->sum, 0);
		for (j = 0; j < p->m; j++) {
			exact_add_product(&w->sum, x[i * p->m + j], 1);
			if (x[i * p->m + j] < 0)
				c->excess = INFINITY;
		}
		c->excess = fmax(c->excess, over(w, &w->sum, 1));
	}
	for (j = 0; j < p->m; j++) {
		exact_set_double(&w->sum, 0);
		for (i = 0; i < p->n; i++) {
			exact_set_double(&w->t, p->count[i]);
			exact_mul_double(&w->t, &w->t, p->scale[i]);
			exact_mul_double(&w->t, &w->t, x[i * p->m + j]);
			exact_add(&w->sum, &w->sum, &w->t);
		}
		c->excess = fmax(c->excess, over(w, &w->sum, p->capacity[j]));
	}
	if (p->budget > 0) {
		exact_set_double(&w->sum, 0);
		for (i = 0; i < p->n; i++)
			for (j = 0; j < p->m; j++)
				proof_add_cost(
				    &w->sum, p, i, j, x[i * p->m + j], p->count[i]);
		c->excess = fmax(c->excess, over(w, &w->sum, p->budget));
	}
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
proof_gain(struct proof *w, size_t i, size_t j, enum exact_round round, struct exact *x)
{
	const struct problem *p = w->p;
	double rate = problem_rate(p, i, j);

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
