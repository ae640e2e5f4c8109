#include "proof.h"

#include <math.h>

/* ---- the least of all ---- */

/* Q_i = sum_j T_ij N_j over the types of reference that the gang fits into; *gpus: those. */
static void
equal(const struct proof *w, size_t i, struct exact *q, struct exact *gpus)
{
	const struct problem *p = w->p;
	const double *own = proof_reference(p);
	size_t j;

	exact_set_double(q, 0);
	exact_set_double(gpus, 0);
	for (j = 0; j < p->m; j++)
		if (problem_rate(p, i, j) > 0 && p->scale[i] <= own[j]) {
			exact_add_product(q, problem_rate(p, i, j), own[j]);
			exact_add_product(gpus, own[j], 1);
		}
}

/* What job i asks for: thr_i >= t top / bottom at a level of t. */
static void
asks(struct proof *w, size_t i, struct exact *top, struct exact *bottom)
{
	const struct problem *p = w->p;

	exact_set_double(bottom, 1);
	if (w->measure == MEASURE_SECONDS) {
		exact_set_double(top, p->number[NUMBER_STEPS][i]);
		return;
	}
	equal(w, i, top, &w->t);
	exact_mul_double(top, top, p->weight[i]);
	exact_mul_double(bottom, &w->gpus, p->scale[i]);
}

static bool
has_steps(const struct proof *w, size_t i)
{
	return w->measure == MEASURE_LEVEL || w->p->number[NUMBER_STEPS][i] > 0;
}

/*
 * gap = 1 - (a / b) / (c / d) for a / b that is reached and c / d that cannot be
 * passed, all > 0; objective and bound = a / b and c / d, or what they are the
 * inverse of.
 */
static void
compare(struct certificate *c, struct exact *a, struct exact *b, struct exact *top,
    struct exact *bottom, bool inverse)
{
	struct exact x, one;

	exact_init(&x);
	exact_init(&one);
	exact_div(&x, inverse ? b : a, inverse ? a : b, inverse ? EXACT_UP : EXACT_DOWN);
	c->objective = exact_double(&x, inverse ? EXACT_UP : EXACT_DOWN);
	exact_div(&x, inverse ? bottom : top, inverse ? top : bottom,
	    inverse ? EXACT_DOWN : EXACT_UP);
	c->bound = exact_double(&x, inverse ? EXACT_DOWN : EXACT_UP);
	exact_mul(a, a, bottom);
	exact_mul(b, b, top);
	exact_div(&x, a, b, EXACT_DOWN);
	exact_set_double(&one, 1);
	exact_sub(&x, &one, &x);
	c->gap = fmax(0, exact_double(&x, EXACT_UP));
	exact_free(&x);
	exact_free(&one);
}

void
proof_least(struct proof *w, struct certificate *c)
{
	const struct problem *p = w->p;
	struct exact low_top, low_bottom; /* of the lowest level */
	struct exact top, bottom, thr;
	bool any = false;
	size_t i;

	exact_init(&low_top);
	exact_init(&low_bottom);
	exact_init(&top);
	exact_init(&bottom);
	exact_init(&thr);
	proof_limit(w, 0);
	exact_set_double(&w->sum, 0);
	for (i = 0; i < p->n; i++) {
		if (!has_steps(w, i))
			continue;
		asks(w, i, &top, &bottom);
		proof_throughput(w, i, &thr);
		exact_mul(&thr, &thr, &bottom);
		/* thr / top against the lowest so far */
		exact_mul(&w->a, &thr, &low_bottom);
		exact_mul(&w->b, &low_top, &top);
		if (!any || exact_compare(&w->a, &w->b) < 0) {
			exact_set(&low_top, &thr);
			exact_set(&low_bottom, &top);
		}
		any = true;
		exact_mul_double(&top, &top, w->s->multipliers.job[i]);
		exact_mul_double(&top, &top, p->count[i]);
		exact_div(&top, &top, &bottom, EXACT_DOWN);
		exact_add(&w->sum, &w->sum, &top);
	}
	if (!any)
		c->gap = c->objective = c->bound = 0;
	else if (exact_sign(&low_top) > 0 && exact_sign(&w->sum) > 0)
		compare(c, &low_top, &low_bottom, &w->limit, &w->sum,
		    w->measure == MEASURE_SECONDS);
	exact_free(&low_top);
	exact_free(&low_bottom);
	exact_free(&top);
	exact_free(&bottom);
	exact_free(&thr);
}

/* ---- finish times ---- */

/* D_i = top / bottom = (h_i Q_i + n_i max(M s_i, F_i)) / Q_i, F_i being Q_i's GPUs. */
static void
time_alone(struct proof *w, size_t i, struct exact *top, struct exact *bottom)
{
	const struct problem *p = w->p;

	equal(w, i, bottom, &w->a);
	exact_mul_double(&w->b, &w->jobs, p->scale[i]);
	if (exact_compare(&w->a, &w->b) > 0)
		exact_set(&w->b, &w->a);
	exact_mul_double(&w->b, &w->b, p->number[NUMBER_STEPS][i]);
	exact_mul_double(top, bottom, p->number[NUMBER_ISOLATED][i]);
	exact_add(top, top, &w->b);
}

/* Into top / bottom: the largest (e_i + n_i / thr_i) / D_i; false: there is none. */
static bool
largest_ratio(struct proof *w, struct exact *top, struct exact *bottom)
{
	const struct problem *p = w->p;
	struct exact d, q, thr;
	bool any = false;
	size_t i;

	exact_init(&d);
	exact_init(&q);
	exact_init(&thr);
	for (i = 0; i < p->n; i++) {
		if (!has_steps(w, i))
			continue;
		time_alone(w, i, &d, &q);
		proof_throughput(w, i, &thr);
		exact_mul(&d, &d, &thr); /* the denominator */
		exact_mul_double(&thr, &thr, p->number[NUMBER_ELAPSED][i]);
		exact_add_product(&thr, p->number[NUMBER_STEPS][i], 1);
		exact_mul(&q, &q, &thr);
		exact_mul(&w->a, &q, bottom);
		exact_mul(&w->b, top, &d);
		if (!any || exact_compare(&w->a, &w->b) > 0) {
			exact_set(top, &q);
			exact_set(bottom, &d);
		}
		any = true;
	}
	exact_free(&d);
	exact_free(&q);
	exact_free(&thr);
	return any;
}

/* Whether sum_i v_i n_i / (r D_i - e_i) > C, so that no allocation has the ratio r. */
static bool
out_of_reach(struct proof *w, double r)
{
	const struct problem *p = w->p;
	struct exact d, q;
	bool never = false;
	size_t i;

	exact_init(&d);
	exact_init(&q);
	exact_set_double(&w->sum, 0);
	for (i = 0; i < p->n && !never; i++) {
		if (!has_steps(w, i))
			continue;
		time_alone(w, i, &d, &q);
		exact_mul_double(&d, &d, r);
		exact_mul_double(&w->t, &q, p->number[NUMBER_ELAPSED][i]);
		exact_sub(&d, &d, &w->t);
		never = exact_sign(&d) <= 0; /* no time is left */
		exact_mul_double(&q, &q, w->s->multipliers.job[i]);
		exact_mul_double(&q, &q, p->number[NUMBER_STEPS][i]);
		exact_mul_double(&q, &q, p->count[i]);
		if (!never && exact_sign(&q) > 0) {
			exact_div(&q, &q, &d, EXACT_DOWN);
			exact_add(&w->sum, &w->sum, &q);
		}
	}
	exact_free(&d);
	exact_free(&q);
	return never || exact_compare(&w->sum, &w->limit) > 0;
}

/*
 * The value closest to the objective, on the side of side (-1 or 1), that cannot be
 * reached as holds() proves; 0 = there is none near.
 */
static double
closest(struct proof *w, bool (*holds)(struct proof *, double), double side)
{
	double low = 1e-16,
	       high = 4e-16; /* relative distances: not proved, to be tried */
	int k;

	while (high < 1e-5 && !holds(w, w->s->objective * (1 + side * high))) {
		low = high;
		high *= 5;
	}
	for (k = 0; k < 3 && high > 1e-14 && high < 1e-5; k++) {
		double between = sqrt(low * high);

		if (holds(w, w->s->objective * (1 + side * between)))
			high = between;
		else
			low = between;
	}
	return high < 1e-5 ? w->s->objective * (1 + side * high) : 0;
}

void
proof_finish(struct proof *w, struct certificate *c)
{
	struct exact top, bottom, one, bound;

	exact_init(&top);
	exact_init(&bottom);
	exact_init(&one);
	exact_init(&bound);
	exact_set_double(&one, 1);
	proof_limit(w, 0);
	if (!largest_ratio(w, &top, &bottom)) {
		c->gap = c->objective = c->bound = 0;
	} else if (exact_sign(&bottom) > 0) {
		exact_set_double(&bound, closest(w, out_of_reach, -1));
		if (exact_sign(&bound) > 0)
			compare(c, &bottom, &top, &one, &bound, true);
	}
	exact_free(&top);
	exact_free(&bottom);
	exact_free(&one);
	exact_free(&bound);
}

/* ---- sums ---- */

/* What a pair gains. */
static void
add_pair(struct proof *w, const struct pair *q, struct exact *sum)
{
	struct exact g;

	exact_init(&g);
	proof_worth(w, q->a, q->type, q->rate_a, EXACT_DOWN, &g);
	exact_mul_double(&g, &g, q->x);
	exact_add(sum, sum, &g);
	proof_worth(w, q->b, q->type, q->rate_b, EXACT_DOWN, &g);
	exact_mul_double(&g, &g, q->x);
	exact_add(sum, sum, &g);
	exact_free(&g);
}

void
proof_sum(struct proof *w, struct certificate *c)
{
	const struct problem *p = w->p;
	struct exact sum, g;
	size_t i, j;

	exact_init(&sum);
	exact_init(&g);
	proof_limit(w, 0);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			if (w->s->x[i * p->m + j] == 0)
				continue;
			proof_gain(w, i, j, EXACT_DOWN, &g);
			exact_mul_double(&g, &g, w->s->x[i * p->m + j]);
			exact_mul_double(&g, &g, p->count[i]);
			exact_add(&sum, &sum, &g);
		}
	for (i = 0; i < w->s->n_pairs; i++)
		add_pair(w, &w->s->pair[i], &sum);
	exact_set_double(&w->t, 1);
	exact_set_double(&g, 1);
	if (exact_sign(&w->limit) > 0)
		compare(c, &sum, &w->t, &w->limit, &g, false);
	else if (exact_sign(&sum) == 0)
		c->gap = c->objective = c->bound = 0;
	exact_free(&sum);
	exact_free(&g);
}

/* ---- steps per dollar ---- */

/* Whether no allocation has r steps for a dollar. */
static bool
costs_too_much(struct proof *w, double r)
{
	proof_limit(w, r);
	return exact_sign(&w->limit) <= 0;
}

void
proof_ratio(struct proof *w, struct certificate *c)
{
	const struct problem *p = w->p;
	struct exact steps, cost, one, bound;
	size_t i, j;

	exact_init(&steps);
	exact_init(&cost);
	exact_init(&one);
	exact_init(&bound);
	exact_set_double(&one, 1);
	for (i = 0; i < p->n; i++) {
		proof_throughput(w, i, &w->t);
		exact_mul_double(&w->t, &w->t, p->count[i] * 3600);
		exact_add(&steps, &steps, &w->t);
		for (j = 0; j < p->m; j++)
			proof_add_cost(
			    &cost, p, i, j, w->s->x[i * p->m + j], p->count[i]);
	}
	exact_set_double(&bound, closest(w, costs_too_much, 1));
	if (exact_sign(&cost) > 0 && exact_sign(&bound) > 0)
		compare(c, &steps, &cost, &bound, &one, false);
	exact_free(&steps);
	exact_free(&cost);
	exact_free(&one);
	exact_free(&bound);
}
