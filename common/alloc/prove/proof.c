#include "proof.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

void
gv_proof_init(struct gv_proof *w, const struct gv_problem *p, enum gv_measure measure,
    const struct gv_solution *s)
{
	const double *own = gv_proof_reference(p);
	struct gv_exact *thr;
	size_t i;

	*w = (struct gv_proof){.p = p, .measure = measure, .s = s};
	gv_exact_init(&w->jobs);
	gv_exact_init(&w->gpus);
	gv_exact_init(&w->limit);
	gv_exact_init(&w->sum);
	gv_exact_init(&w->a);
	gv_exact_init(&w->b);
	gv_exact_init(&w->t);
	for (i = 0; i < p->m; i++)
		gv_exact_add_product(&w->gpus, own[i], 1);
	for (i = 0; i < p->n; i++)
		gv_exact_add_product(&w->jobs, p->count[i], 1);
	if (measure == GV_MEASURE_LEVEL) {
		w->per_level = gv_xcalloc(p->n, sizeof(*w->per_level));
		gv_problem_equal_throughput(p, w->per_level);
		for (i = 0; i < p->n; i++)
			w->per_level[i] *= p->weight[i] / p->scale[i];
	}
	if (p->together == NULL)
		return;
	thr = gv_xcalloc(p->n, sizeof(*thr));
	for (i = 0; i < p->n; i++) {
		gv_exact_init(&thr[i]);
		gv_proof_throughput(w, i, &thr[i]);
	}
	w->thr = thr;
	gv_proof_add_pairs(w);
}

void
gv_proof_free(struct gv_proof *w)
{
	size_t i;

	for (i = 0; w->thr != NULL && i < w->p->n; i++)
		gv_exact_free(&w->thr[i]);
	free(w->thr);
	free(w->per_level);
	gv_exact_free(&w->jobs);
	gv_exact_free(&w->gpus);
	gv_exact_free(&w->limit);
	gv_exact_free(&w->sum);
	gv_exact_free(&w->a);
	gv_exact_free(&w->b);
	gv_exact_free(&w->t);
}

/* Excess of the shares of jobs alone on their GPUs. */
static void
shares_alone(struct gv_proof *w, struct gv_certificate *c)
{
	const struct gv_problem *p = w->p;
	const double *x = w->s->x;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		gv_exact_set_double(&w->sum, 0);
		for (j = 0; j < p->m; j++) {
			gv_exact_add_product(&w->sum, x[i * p->m + j], 1);
			if (x[i * p->m + j] < 0)
				c->excess = INFINITY;
		}
		c->excess = fmax(c->excess, gv_proof_over(w, &w->sum, 1));
	}
	for (j = 0; j < p->m; j++) {
		gv_exact_set_double(&w->sum, 0);
		for (i = 0; i < p->n; i++) {
			gv_exact_set_double(&w->t, p->count[i]);
			gv_exact_mul_double(&w->t, &w->t, p->scale[i]);
			gv_exact_mul_double(&w->t, &w->t, x[i * p->m + j]);
			gv_exact_add(&w->sum, &w->sum, &w->t);
		}
		c->excess = fmax(c->excess, gv_proof_over(w, &w->sum, p->capacity[j]));
	}
	if (p->budget > 0) {
		gv_exact_set_double(&w->sum, 0);
		for (i = 0; i < p->n; i++)
			for (j = 0; j < p->m; j++)
				gv_proof_add_cost(
				    &w->sum, p, i, j, x[i * p->m + j], p->count[i]);
		c->excess = fmax(c->excess, gv_proof_over(w, &w->sum, p->budget));
	}
}

void
gv_proof_shares(struct gv_proof *w, struct gv_certificate *c)
{
	const struct gv_problem *p = w->p;
	const double *need = p->number[GV_NUMBER_NEED];
	size_t i;

	if (p->together != NULL)
		gv_proof_shares_pairs(w, c);
	else
		shares_alone(w, c);
	for (i = 0; need != NULL && i < p->n; i++) {
		if (!(need[i] > 0))
			continue;
		gv_proof_throughput(w, i, &w->sum);
		gv_exact_set_double(&w->a, need[i]);
		gv_exact_sub(&w->b, &w->a, &w->sum);
		gv_exact_div(&w->t, &w->b, &w->a, GV_EXACT_UP);
		c->shortfall = fmax(c->shortfall, gv_exact_double(&w->t, GV_EXACT_UP));
	}
}

void
gv_proof_lagrangian(struct gv_proof *w, double r)
{
	const struct gv_problem *p = w->p;
	const struct gv_multipliers *mu = &w->s->multipliers;
	double times = w->measure == GV_MEASURE_RATIO ? 3600 : 1;
	struct gv_exact most, net;
	size_t i, j;

	if (p->together != NULL) {
		gv_proof_lagrangian_pairs(w);
		return;
	}
	gv_exact_init(&most);
	gv_exact_init(&net);
	gv_exact_set_double(&w->limit, 0);
	for (j = 0; j < p->m; j++)
		gv_exact_add_product(&w->limit, mu->gpu[j], p->capacity[j]);
	gv_exact_add_product(&w->limit, mu->budget, p->budget);
	gv_exact_mul_double(&w->limit, &w->limit, times);
	for (i = 0; i < p->n; i++) {
		gv_exact_set_double(&most, 0);
		for (j = 0; j < p->m; j++) {
			if (gv_problem_rate(p, i, j) == 0)
				continue;
			gv_proof_gain(w, i, j, GV_EXACT_UP, &net);
			gv_exact_add_product(&net, mu->job[i], gv_problem_rate(p, i, j));
			gv_exact_add_product(&net, -mu->gpu[j], p->scale[i]);
			if (mu->budget > 0)
				gv_proof_add_cost(&net, p, i, j, -mu->budget, 1);
			if (w->measure == GV_MEASURE_RATIO) {
				gv_exact_mul_double(&net, &net, times);
				gv_proof_add_cost(&net, p, i, j, -r, 1);
			}
			if (gv_exact_compare(&net, &most) > 0)
				gv_exact_set(&most, &net);
		}
		if (gv_proof_need(w, i) > 0) {
			gv_exact_set_double(&net, mu->job[i]);
			gv_exact_mul_double(&net, &net, gv_proof_need(w, i));
			gv_exact_mul_double(&net, &net, times);
			gv_exact_sub(&most, &most, &net);
		}
		gv_exact_mul_double(&most, &most, p->count[i]);
		gv_exact_add(&w->limit, &w->limit, &most);
	}
	gv_exact_free(&most);
	gv_exact_free(&net);
}
