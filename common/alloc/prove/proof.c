#include "proof.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lp/tolerance.h"

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
	w->mu = gv_xcalloc(p->n, sizeof(*w->mu));
	for (i = 0; i < p->n; i++) {
		gv_exact_init(&w->mu[i]);
		gv_exact_set_double(&w->mu[i], s->multipliers.job[i]);
	}
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
	for (i = 0; w->mu != NULL && i < w->p->n; i++)
		gv_exact_free(&w->mu[i]);
	free(w->mu);
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

/* What a share of 1 of job i on type j gains less what it costs, but for its multiplier. */
static void
net_of_share(struct gv_proof *w, size_t i, size_t j, double r, struct gv_exact *net)
{
	const struct gv_problem *p = w->p;
	const struct gv_multipliers *mu = &w->s->multipliers;

	gv_proof_gain(w, i, j, GV_EXACT_UP, net);
	gv_exact_add_product(net, -mu->gpu[j], p->scale[i]);
	if (mu->budget > 0)
		gv_proof_add_cost(net, p, i, j, -mu->budget, 1);
	if (w->measure == GV_MEASURE_RATIO) {
		gv_exact_mul_double(net, net, 3600);
		gv_proof_add_cost(net, p, i, j, -r, 1);
	}
}

/* A job's multiplier, and what it makes of its shares. */
struct own_part {
	struct gv_exact mu;
	struct gv_exact most;         /* max(0, max_j net_ij), less mu_i q_i */
	struct gv_exact best, second; /* nets; no share is 0, too */
	size_t best_j, second_j;      /* their types; m = no share */
};

static void
own_part_init(struct own_part *o)
{
	gv_exact_init(&o->mu);
	gv_exact_init(&o->most);
	gv_exact_init(&o->best);
	gv_exact_init(&o->second);
}

static void
own_part_free(struct own_part *o)
{
	gv_exact_free(&o->mu);
	gv_exact_free(&o->most);
	gv_exact_free(&o->best);
	gv_exact_free(&o->second);
}

/* All of it, from its mu. */
static void
own_part_set(struct gv_proof *w, size_t i, double r, struct own_part *o)
{
	const struct gv_problem *p = w->p;
	double times = w->measure == GV_MEASURE_RATIO ? 3600 : 1;
	double need = gv_proof_need(w, i);
	struct gv_exact net, more;
	bool any = false;
	size_t j;

	gv_exact_init(&net);
	gv_exact_init(&more);
	gv_exact_set_double(&o->best, 0);
	o->best_j = o->second_j = p->m;
	for (j = 0; j < p->m; j++) {
		if (gv_problem_rate(p, i, j) == 0)
			continue;
		net_of_share(w, i, j, r, &net);
		gv_exact_mul_double(&more, &o->mu, gv_problem_rate(p, i, j));
		gv_exact_mul_double(&more, &more, times);
		gv_exact_add(&net, &net, &more);
		if (gv_exact_compare(&net, &o->best) > 0) {
			gv_exact_set(&o->second, &o->best);
			o->second_j = o->best_j;
			gv_exact_set(&o->best, &net);
			o->best_j = j;
		} else if (!any || gv_exact_compare(&net, &o->second) > 0) {
			gv_exact_set(&o->second, &net);
			o->second_j = j;
		}
		any = true;
	}
	gv_exact_set(&o->most, &o->best);
	if (need > 0) {
		gv_exact_mul_double(&more, &o->mu, need);
		gv_exact_mul_double(&more, &more, times);
		gv_exact_sub(&o->most, &o->most, &more);
	}
	gv_exact_free(&net);
	gv_exact_free(&more);
}

/* Into mu: where the nets of the two best meet.  False: nowhere, or below 0. */
static bool
meet(struct gv_proof *w, size_t i, const struct own_part *o, struct gv_exact *mu)
{
	const struct gv_problem *p = w->p;
	struct gv_exact net, rate;
	const size_t type[] = {o->best_j, o->second_j};
	bool found;
	size_t k;

	gv_exact_init(&net);
	gv_exact_init(&rate);
	gv_exact_set_double(mu, 0);
	for (k = 0; k < 2; k++) {
		if (type[k] == p->m)
			continue;
		net_of_share(w, i, type[k], 0, &net);
		if (k == 0) {
			gv_exact_sub(mu, mu, &net);
			gv_exact_add_product(&rate, gv_problem_rate(p, i, type[k]), 1);
		} else {
			gv_exact_add(mu, mu, &net);
			gv_exact_add_product(&rate, -gv_problem_rate(p, i, type[k]), 1);
		}
	}
	found = gv_exact_sign(&rate) != 0 && gv_exact_sign(mu) * gv_exact_sign(&rate) > 0;
	if (found)
		gv_exact_div(mu, mu, &rate, GV_EXACT_DOWN);
	gv_exact_free(&net);
	gv_exact_free(&rate);
	return found;
}

/* Whether the two best are the same but for rounding; alone: one of them is no share. */
static bool
is_even(struct gv_proof *w, size_t i, const struct own_part *o, bool alone)
{
	const struct gv_problem *p = w->p;
	double cost = 0;

	if (o->best_j == o->second_j ||
	    (alone && o->best_j != p->m && o->second_j != p->m))
		return false;
	if (o->best_j != p->m)
		cost = w->s->multipliers.gpu[o->best_j];
	if (o->second_j != p->m)
		cost = fmax(cost, w->s->multipliers.gpu[o->second_j]);
	gv_exact_sub(&w->a, &o->best, &o->second);
	return gv_exact_double(&w->a, GV_EXACT_UP) <= GV_TOL_CLEARLY * cost * p->scale[i];
}

/*
 * Multipliers are doubles, and a rounding of them may be much of what needs leave to others: where a
 * job is between two types, or one and none, but for rounding, it has the multiplier at which it is.
 */
static void
sharpen(struct gv_proof *w, size_t i, struct own_part *o)
{
	bool needy = gv_proof_need(w, i) > 0;
	struct own_part other;

	if (!is_even(w, i, o, !needy))
		return;
	own_part_init(&other);
	if (meet(w, i, o, &other.mu)) {
		own_part_set(w, i, 0, &other);
		if (!needy || gv_exact_compare(&other.most, &o->most) < 0) {
			struct own_part mine = *o;

			*o = other;
			other = mine;
		}
	}
	own_part_free(&other);
}

void
gv_proof_lagrangian(struct gv_proof *w, double r)
{
	const struct gv_problem *p = w->p;
	const struct gv_multipliers *mu = &w->s->multipliers;
	struct own_part own;
	size_t i, j;

	if (p->together != NULL) {
		gv_proof_lagrangian_pairs(w);
		return;
	}
	own_part_init(&own);
	gv_exact_set_double(&w->limit, 0);
	for (j = 0; j < p->m; j++)
		gv_exact_add_product(&w->limit, mu->gpu[j], p->capacity[j]);
	gv_exact_add_product(&w->limit, mu->budget, p->budget);
	gv_exact_mul_double(
	    &w->limit, &w->limit, w->measure == GV_MEASURE_RATIO ? 3600 : 1);
	for (i = 0; i < p->n; i++) {
		gv_exact_set_double(&own.mu, mu->job[i]);
		own_part_set(w, i, r, &own);
		if (w->measure != GV_MEASURE_RATIO)
			sharpen(w, i, &own);
		gv_exact_set(&w->mu[i], &own.mu);
		gv_exact_mul_double(&own.most, &own.most, p->count[i]);
		gv_exact_add(&w->limit, &w->limit, &own.most);
	}
	own_part_free(&own);
}
