/* Terms of the inequalities: throughputs, gains, costs. */
#include "proof.h"

#include <math.h>

const double *
gv_proof_reference(const struct gv_problem *p)
{
	return p->reference != NULL ? p->reference : p->capacity;
}

void
gv_proof_throughput(struct gv_proof *w, size_t i, struct gv_exact *x)
{
	const struct gv_problem *p = w->p;
	size_t j;

	if (w->thr != NULL) {
		gv_exact_set(x, &w->thr[i]);
		return;
	}
	gv_exact_set_double(x, 0);
	for (j = 0; j < p->m; j++)
		gv_exact_add_product(x, gv_problem_rate(p, i, j), w->s->x[i * p->m + j]);
}

/* ---- feasible ---- */

double
gv_proof_need(const struct gv_proof *w, size_t i)
{
	const struct gv_problem *p = w->p;
	const double *need = p->number[GV_NUMBER_NEED];
	double objective = w->s->objective;

	if (need == NULL || !(need[i] > 0))
		return 0;
	switch (w->measure) {
	case GV_MEASURE_ALONE:
		return 0;
	case GV_MEASURE_LEVEL:
		return need[i] > objective * w->per_level[i] ? need[i] : 0;
	case GV_MEASURE_SECONDS:
		return need[i] > p->number[GV_NUMBER_STEPS][i] / objective ? need[i] : 0;
	default:
		return need[i];
	}
}

double
gv_proof_over(struct gv_proof *w, const struct gv_exact *x, double limit)
{
	gv_exact_set_double(&w->a, limit);
	gv_exact_sub(&w->b, x, &w->a);
	if (gv_exact_sign(&w->b) <= 0)
		return 0;
	if (limit == 0)
		return INFINITY;
	gv_exact_div(&w->t, &w->b, &w->a, GV_EXACT_UP);
	return gv_exact_double(&w->t, GV_EXACT_UP);
}

/* ---- what jobs gain ---- */

void
gv_proof_worth(struct gv_proof *w, size_t i, size_t j, double rate,
    enum gv_exact_round round, struct gv_exact *x)
{
	const struct gv_problem *p = w->p;

	gv_exact_set_double(x, rate);
	if (w->measure == GV_MEASURE_PER_DOLLAR) {
		gv_exact_mul_double(x, x, 3600);
		gv_exact_set_double(&w->a, p->price[j]);
		gv_exact_div(x, x, &w->a, round);
	} else if (w->measure == GV_MEASURE_QUEUE) {
		gv_exact_set_double(&w->a, p->number[GV_NUMBER_POSITION][i]);
		gv_exact_sub(&w->a, &w->jobs, &w->a);
		gv_exact_mul(x, x, &w->a);
		gv_exact_set_double(&w->a, gv_problem_own_fastest(p, i));
		gv_exact_div(x, x, &w->a, round);
	} else if (w->measure != GV_MEASURE_SUM && w->measure != GV_MEASURE_RATIO) {
		gv_exact_set_double(x, 0);
	}
}

void
gv_proof_gain(
    struct gv_proof *w, size_t i, size_t j, enum gv_exact_round round, struct gv_exact *x)
{
	gv_proof_worth(w, i, j, gv_problem_rate(w->p, i, j), round, x);
}

void
gv_proof_add_cost(struct gv_exact *x, const struct gv_problem *p, size_t i, size_t j,
    double times, double jobs)
{
	struct gv_exact y;

	gv_exact_init(&y);
	gv_exact_set_double(&y, p->scale[i]);
	gv_exact_mul_double(&y, &y, p->price[j]);
	gv_exact_mul_double(&y, &y, times);
	gv_exact_mul_double(&y, &y, jobs);
	gv_exact_add(x, x, &y);
	gv_exact_free(&y);
}
