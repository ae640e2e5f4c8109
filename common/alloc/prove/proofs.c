#include "proof.h"
#include "lp/tolerance.h"

#include <math.h>

/* ---- the least of all ---- */

/* Q_i = sum_j T_ij N_j over the types of reference that the gang fits into; *gpus: those. */
static void
equal_share_rate(
    const struct gv_proof *w, size_t i, struct gv_exact *q, struct gv_exact *gpus)
{
	const struct gv_problem *p = w->p;
	const double *own = gv_proof_reference(p);
	size_t j;

	gv_exact_set_double(q, 0);
	gv_exact_set_double(gpus, 0);
	for (j = 0; j < p->m; j++)
		if (gv_problem_rate(p, i, j) > 0 && p->scale[i] <= own[j]) {
			gv_exact_add_product(q, gv_problem_rate(p, i, j), own[j]);
			gv_exact_add_product(gpus, own[j], 1);
		}
}

/* a_i = top / bottom: job i needs thr_i >= t a_i for a level of t. */
static void
demanded_rate(struct gv_proof *w, size_t i, struct gv_exact *top, struct gv_exact *bottom)
{
	const struct gv_problem *p = w->p;

	gv_exact_set_double(bottom, 1);
	if (w->measure == GV_MEASURE_SECONDS) {
		gv_exact_set_double(top, p->number[GV_NUMBER_STEPS][i]);
		return;
	}
	equal_share_rate(w, i, top, &w->t);
	if (p->number[GV_NUMBER_BEYOND] != NULL)
		gv_exact_add_product(top, p->number[GV_NUMBER_BEYOND][i], 1);
	gv_exact_mul_double(top, top, p->weight[i]);
	gv_exact_mul_double(bottom, &w->gpus, p->scale[i]);
}

static bool
has_steps(const struct gv_proof *w, size_t i)
{
	return w->measure == GV_MEASURE_LEVEL || w->p->number[GV_NUMBER_STEPS][i] > 0;
}

/*
 * gap = 1 - (a / b) / (c / d) for a / b that is reached and c / d that cannot be
 * passed, all > 0; objective and bound = a / b and c / d, or what they are the
 * inverse of.
 */
static void
set_gap(struct gv_certificate *c, struct gv_exact *a, struct gv_exact *b,
    struct gv_exact *top, struct gv_exact *bottom, bool inverse)
{
	struct gv_exact x, one;

	gv_exact_init(&x);
	gv_exact_init(&one);
	gv_exact_div(
	    &x, inverse ? b : a, inverse ? a : b, inverse ? GV_EXACT_UP : GV_EXACT_DOWN);
	c->objective = gv_exact_double(&x, inverse ? GV_EXACT_UP : GV_EXACT_DOWN);
	gv_exact_div(&x, inverse ? bottom : top, inverse ? top : bottom,
	    inverse ? GV_EXACT_DOWN : GV_EXACT_UP);
	c->bound = gv_exact_double(&x, inverse ? GV_EXACT_DOWN : GV_EXACT_UP);
	gv_exact_mul(a, a, bottom);
	gv_exact_mul(b, b, top);
	gv_exact_div(&x, a, b, GV_EXACT_DOWN);
	gv_exact_set_double(&one, 1);
	gv_exact_sub(&x, &one, &x);
	c->gap = fmax(0, gv_exact_double(&x, GV_EXACT_UP));
	gv_exact_free(&x);
	gv_exact_free(&one);
}

void
gv_proof_level(struct gv_proof *w, struct gv_certificate *c)
{
	const struct gv_problem *p = w->p;
	struct gv_exact low_top, low_bottom; /* of the lowest level */
	struct gv_exact top, bottom, thr;
	bool any = false;
	size_t i;

	gv_exact_init(&low_top);
	gv_exact_init(&low_bottom);
	gv_exact_init(&top);
	gv_exact_init(&bottom);
	gv_exact_init(&thr);
	gv_proof_lagrangian(w, 0);
	gv_exact_set_double(&w->sum, 0);
	for (i = 0; i < p->n; i++) {
		if (!has_steps(w, i))
			continue;
		demanded_rate(w, i, &top, &bottom);
		gv_proof_throughput(w, i, &thr);
		gv_exact_mul(&thr, &thr, &bottom);
		/* thr / top against the lowest so far */
		gv_exact_mul(&w->a, &thr, &low_bottom);
		gv_exact_mul(&w->b, &low_top, &top);
		if (!any || gv_exact_compare(&w->a, &w->b) < 0) {
			gv_exact_set(&low_top, &thr);
			gv_exact_set(&low_bottom, &top);
		}
		any = true;
		if (gv_proof_need(w, i) > 0)
			continue;
		gv_exact_mul(&top, &top, &w->mu[i]);
		gv_exact_mul_double(&top, &top, p->count[i]);
		gv_exact_div(&top, &top, &bottom, GV_EXACT_DOWN);
		gv_exact_add(&w->sum, &w->sum, &top);
	}
	if (!any)
		c->gap = c->objective = c->bound = 0;
	else if (gv_exact_sign(&low_top) > 0 && gv_exact_sign(&w->sum) > 0)
		set_gap(c, &low_top, &low_bottom, &w->limit, &w->sum,
		    w->measure == GV_MEASURE_SECONDS);
	gv_exact_free(&low_top);
	gv_exact_free(&low_bottom);
	gv_exact_free(&top);
	gv_exact_free(&bottom);
	gv_exact_free(&thr);
}

/* ---- finish times ---- */

/*
 * D_i = top / bottom = (h_i Q_i + n_i max(M s_i, F_i)) / Q_i, F_i being Q_i's GPUs, those
 * out of the job's reach with them.
 */
static void
time_alone(struct gv_proof *w, size_t i, struct gv_exact *top, struct gv_exact *bottom)
{
	const struct gv_problem *p = w->p;

	equal_share_rate(w, i, bottom, &w->a);
	if (p->number[GV_NUMBER_AWAY] != NULL) {
		gv_exact_add_product(bottom, p->number[GV_NUMBER_AWAY][i], 1);
		gv_exact_add_product(&w->a, p->number[GV_NUMBER_AWAY_GPUS][i], 1);
	}
	gv_exact_mul_double(&w->b, &w->jobs, p->scale[i]);
	if (gv_exact_compare(&w->a, &w->b) > 0)
		gv_exact_set(&w->b, &w->a);
	gv_exact_mul_double(&w->b, &w->b, p->number[GV_NUMBER_STEPS][i]);
	gv_exact_mul_double(top, bottom, p->number[GV_NUMBER_ISOLATED][i]);
	gv_exact_add(top, top, &w->b);
}

/* Into top / bottom: the largest (e_i + n_i / thr_i) / D_i; false: there is none. */
static bool
largest_ratio(struct gv_proof *w, struct gv_exact *top, struct gv_exact *bottom)
{
	const struct gv_problem *p = w->p;
	struct gv_exact d, q, thr;
	bool any = false;
	size_t i;

	gv_exact_init(&d);
	gv_exact_init(&q);
	gv_exact_init(&thr);
	for (i = 0; i < p->n; i++) {
		if (!has_steps(w, i))
			continue;
		time_alone(w, i, &d, &q);
		gv_proof_throughput(w, i, &thr);
		gv_exact_mul(&d, &d, &thr); /* the denominator */
		gv_exact_mul_double(&thr, &thr, p->number[GV_NUMBER_ELAPSED][i]);
		gv_exact_add_product(&thr, p->number[GV_NUMBER_STEPS][i], 1);
		gv_exact_mul(&q, &q, &thr);
		gv_exact_mul(&w->a, &q, bottom);
		gv_exact_mul(&w->b, top, &d);
		if (!any || gv_exact_compare(&w->a, &w->b) > 0) {
			gv_exact_set(top, &q);
			gv_exact_set(bottom, &d);
		}
		any = true;
	}
	gv_exact_free(&d);
	gv_exact_free(&q);
	gv_exact_free(&thr);
	return any;
}

/* Whether job i needs more anyway than n_i q / d. */
static bool
needs_more(
    struct gv_proof *w, size_t i, const struct gv_exact *q, const struct gv_exact *d)
{
	const double *need = w->p->number[GV_NUMBER_NEED];

	if (need == NULL || !(need[i] > 0))
		return false;
	gv_exact_mul_double(&w->a, d, need[i]);
	gv_exact_mul_double(&w->b, q, w->p->number[GV_NUMBER_STEPS][i]);
	return gv_exact_compare(&w->a, &w->b) > 0;
}

/*
 * Whether sum_i v_i max(n_i / (r D_i - e_i), q_i) > C, so that no allocation has the
 * ratio r.
 */
static bool
finish_out_of_reach(struct gv_proof *w, double r)
{
	const struct gv_problem *p = w->p;
	struct gv_exact d, q;
	bool never = false;
	size_t i;

	gv_exact_init(&d);
	gv_exact_init(&q);
	gv_exact_set_double(&w->sum, 0);
	for (i = 0; i < p->n && !never; i++) {
		if (!has_steps(w, i))
			continue;
		time_alone(w, i, &d, &q);
		gv_exact_mul_double(&d, &d, r);
		gv_exact_mul_double(&w->t, &q, p->number[GV_NUMBER_ELAPSED][i]);
		gv_exact_sub(&d, &d, &w->t);
		never = gv_exact_sign(&d) <= 0; /* no time is left */
		if (!never && needs_more(w, i, &q, &d)) {
			gv_exact_set_double(&q, w->p->number[GV_NUMBER_NEED][i]);
			gv_exact_set_double(&d, 1);
		} else {
			gv_exact_mul_double(&q, &q, p->number[GV_NUMBER_STEPS][i]);
		}
		gv_exact_mul(&q, &q, &w->mu[i]);
		gv_exact_mul_double(&q, &q, p->count[i]);
		if (!never && gv_exact_sign(&q) > 0) {
			gv_exact_div(&q, &q, &d, GV_EXACT_DOWN);
			gv_exact_add(&w->sum, &w->sum, &q);
		}
	}
	gv_exact_free(&d);
	gv_exact_free(&q);
	return never || gv_exact_compare(&w->sum, &w->limit) > 0;
}

/*
 * The value closest to the objective, on the side of side (-1 or 1), that cannot be
 * reached as holds() proves; 0 = there is none near.
 */
static double
closest_bound(struct gv_proof *w, bool (*holds)(struct gv_proof *, double), double side)
{
	double low = GV_TOL_CLOSEST_LOW,
	       high =
		   GV_TOL_CLOSEST_HIGH; /* relative distances: not proved, to be tried */
	int k;

	while (high < GV_TOL_CLOSEST_NONE &&
	       !holds(w, w->s->objective * (1 + side * high))) {
		low = high;
		high *= 5;
	}
	for (k = 0; k < 3 && high > GV_TOL_CLOSEST_END && high < GV_TOL_CLOSEST_NONE;
	     k++) {
		double between = sqrt(low * high);

		if (holds(w, w->s->objective * (1 + side * between)))
			high = between;
		else
			low = between;
	}
	return high < GV_TOL_CLOSEST_NONE ? w->s->objective * (1 + side * high) : 0;
}

void
gv_proof_finish_time(struct gv_proof *w, struct gv_certificate *c)
{
	struct gv_exact top, bottom, one, bound;

	gv_exact_init(&top);
	gv_exact_init(&bottom);
	gv_exact_init(&one);
	gv_exact_init(&bound);
	gv_exact_set_double(&one, 1);
	gv_proof_lagrangian(w, 0);
	if (!largest_ratio(w, &top, &bottom)) {
		c->gap = c->objective = c->bound = 0;
	} else if (gv_exact_sign(&bottom) > 0) {
		gv_exact_set_double(&bound, closest_bound(w, finish_out_of_reach, -1));
		if (gv_exact_sign(&bound) > 0)
			set_gap(c, &bottom, &top, &one, &bound, true);
	}
	gv_exact_free(&top);
	gv_exact_free(&bottom);
	gv_exact_free(&one);
	gv_exact_free(&bound);
}

/* ---- sums ---- */

/* What a pair gains. */
static void
add_pair_gain(struct gv_proof *w, const struct gv_pair *q, struct gv_exact *sum)
{
	struct gv_exact g;

	gv_exact_init(&g);
	gv_proof_worth(w, q->a, q->type, q->rate_a, GV_EXACT_DOWN, &g);
	gv_exact_mul_double(&g, &g, q->x);
	gv_exact_add(sum, sum, &g);
	gv_proof_worth(w, q->b, q->type, q->rate_b, GV_EXACT_DOWN, &g);
	gv_exact_mul_double(&g, &g, q->x);
	gv_exact_add(sum, sum, &g);
	gv_exact_free(&g);
}

void
gv_proof_sum(struct gv_proof *w, struct gv_certificate *c)
{
	const struct gv_problem *p = w->p;
	struct gv_exact sum, g;
	size_t i, j;

	gv_exact_init(&sum);
	gv_exact_init(&g);
	gv_proof_lagrangian(w, 0);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			if (w->s->x[i * p->m + j] == 0)
				continue;
			gv_proof_gain(w, i, j, GV_EXACT_DOWN, &g);
			gv_exact_mul_double(&g, &g, w->s->x[i * p->m + j]);
			gv_exact_mul_double(&g, &g, p->count[i]);
			gv_exact_add(&sum, &sum, &g);
		}
	for (i = 0; i < w->s->n_pairs; i++)
		add_pair_gain(w, &w->s->pair[i], &sum);
	gv_exact_set_double(&w->t, 1);
	gv_exact_set_double(&g, 1);
	if (gv_exact_sign(&w->limit) > 0)
		set_gap(c, &sum, &w->t, &w->limit, &g, false);
	else if (gv_exact_sign(&sum) == 0)
		c->gap = c->objective = c->bound = 0;
	gv_exact_free(&sum);
	gv_exact_free(&g);
}

/* ---- steps per dollar ---- */

/* Whether no allocation has r steps for a dollar. */
static bool
ratio_out_of_reach(struct gv_proof *w, double r)
{
	gv_proof_lagrangian(w, r);
	return gv_exact_sign(&w->limit) <= 0;
}

void
gv_proof_ratio(struct gv_proof *w, struct gv_certificate *c)
{
	const struct gv_problem *p = w->p;
	struct gv_exact steps, cost, one, bound;
	size_t i, j;

	gv_exact_init(&steps);
	gv_exact_init(&cost);
	gv_exact_init(&one);
	gv_exact_init(&bound);
	gv_exact_set_double(&one, 1);
	for (i = 0; i < p->n; i++) {
		gv_proof_throughput(w, i, &w->t);
		gv_exact_mul_double(&w->t, &w->t, p->count[i] * 3600);
		gv_exact_add(&steps, &steps, &w->t);
		for (j = 0; j < p->m; j++)
			gv_proof_add_cost(
			    &cost, p, i, j, w->s->x[i * p->m + j], p->count[i]);
	}
	gv_exact_set_double(&bound, closest_bound(w, ratio_out_of_reach, 1));
	if (gv_exact_sign(&cost) > 0 && gv_exact_sign(&bound) > 0)
		set_gap(c, &steps, &cost, &bound, &one, false);
	gv_exact_free(&steps);
	gv_exact_free(&cost);
	gv_exact_free(&one);
	gv_exact_free(&bound);
}
