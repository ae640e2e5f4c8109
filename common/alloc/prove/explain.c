#include "explain.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lp/tolerance.h"

/* What the formulas of a measure take of the jobs. */
struct measured {
	const struct gv_problem *p;
	enum gv_measure measure;
	const struct gv_solution *s;
	double *throughput; /* [n] */
	double *alone;      /* [n] P_i of levels, D_i of GV_MEASURE_ALONE; else NULL */
	double jobs;        /* M */
	double cost;        /* of all shares, US dollars per second */
	double *paid;       /* [n] the job's part of it: a half where two share */
	double *together;   /* [n] what it gains in pairs, GV_MEASURE_PER_DOLLAR */
};

static double
dollars(const struct gv_problem *p, size_t i, size_t j)
{
	return p->scale[i] * (p->price[j] / 3600);
}

/* What job i pays for its shares that it does not share with another. */
static double
own_cost(const struct gv_problem *p, const double *x, size_t i)
{
	double sum = 0;
	size_t j;

	for (j = 0; j < p->m; j++)
		sum += dollars(p, i, j) * x[i * p->m + j];
	return sum;
}

/* What jobs pay for and gain by GPUs that they share. */
static void
add_pairs(struct measured *d)
{
	const struct gv_problem *p = d->p;
	size_t i;

	for (i = 0; i < d->s->n_pairs; i++) {
		const struct gv_pair *q = &d->s->pair[i];
		double cost = dollars(p, q->a, q->type) * q->x;
		double per_gpu = p->price[q->type] / 3600;

		d->cost += cost;
		d->paid[q->a] += cost / 2 / p->count[q->a];
		d->paid[q->b] += cost / 2 / p->count[q->b];
		d->together[q->a] += q->rate_a * q->x / per_gpu / p->count[q->a];
		d->together[q->b] += q->rate_b * q->x / per_gpu / p->count[q->b];
	}
}

static void
measured_init(struct measured *d, const struct gv_problem *p, enum gv_measure measure,
    const struct gv_solution *s)
{
	size_t i;

	*d = (struct measured){.p = p, .measure = measure, .s = s};
	d->throughput = gv_xcalloc(p->n, sizeof(*d->throughput));
	gv_solution_throughput(p, s, d->throughput);
	if (measure == GV_MEASURE_LEVEL || measure == GV_MEASURE_ALONE)
		d->alone = gv_xcalloc(p->n, sizeof(*d->alone));
	if (measure == GV_MEASURE_LEVEL)
		gv_problem_equal_throughput(p, d->alone);
	else if (measure == GV_MEASURE_ALONE)
		gv_problem_times_alone(p, d->alone);
	d->paid = gv_xcalloc(p->n, sizeof(*d->paid));
	d->together = gv_xcalloc(p->n, sizeof(*d->together));
	for (i = 0; i < p->n; i++) {
		d->jobs += p->count[i];
		d->paid[i] = own_cost(p, s->x, i);
		d->cost += p->count[i] * d->paid[i];
	}
	add_pairs(d);
}

static void
measured_free(struct measured *d)
{
	free(d->throughput);
	free(d->alone);
	free(d->paid);
	free(d->together);
}

/* g_ij */
static double
gain(const struct measured *d, size_t i, size_t j, double top)
{
	const struct gv_problem *p = d->p;
	double rate = gv_problem_rate(p, i, j);

	switch (d->measure) {
	case GV_MEASURE_SUM:
		return rate;
	case GV_MEASURE_PER_DOLLAR:
		return rate / (p->price[j] / 3600);
	case GV_MEASURE_QUEUE:
		return (d->jobs - p->number[GV_NUMBER_POSITION][i]) * (rate / top);
	case GV_MEASURE_RATIO:
		return rate - d->s->objective * dollars(p, i, j);
	default:
		return 0;
	}
}

/* What job i has; NAN where there is nothing to say. */
static double
value(const struct measured *d, size_t i)
{
	const struct gv_problem *p = d->p;
	double throughput = d->throughput[i];
	double top = gv_problem_own_fastest(p, i);
	double sum = 0;
	size_t j;

	switch (d->measure) {
	case GV_MEASURE_LEVEL:
		return p->scale[i] / p->weight[i] * (throughput / d->alone[i]);
	case GV_MEASURE_SECONDS:
		return p->number[GV_NUMBER_STEPS][i] > 0
			   ? p->number[GV_NUMBER_STEPS][i] / throughput
			   : NAN;
	case GV_MEASURE_ALONE:
		return p->number[GV_NUMBER_STEPS][i] > 0
			   ? (p->number[GV_NUMBER_ELAPSED][i] +
				 p->number[GV_NUMBER_STEPS][i] / throughput) /
				 d->alone[i]
			   : NAN;
	case GV_MEASURE_RATIO:
		return throughput > 0 ? throughput / d->paid[i] : NAN;
	case GV_MEASURE_SUM:
		return throughput;
	case GV_MEASURE_QUEUE:
		return (d->jobs - p->number[GV_NUMBER_POSITION][i]) * (throughput / top);
	default:
		sum = d->together[i];
		for (j = 0; j < p->m; j++)
			sum += gain(d, i, j, top) * d->s->x[i * p->m + j];
		return sum;
	}
}

/* r_i'(o): what more the job must have for a better objective. */
static double
slope(const struct measured *d, size_t i)
{
	const struct gv_problem *p = d->p;
	double o = d->s->objective;
	double left;

	switch (d->measure) {
	case GV_MEASURE_LEVEL:
		return p->weight[i] * d->alone[i] / p->scale[i];
	case GV_MEASURE_SECONDS:
		return -p->number[GV_NUMBER_STEPS][i] / (o * o);
	case GV_MEASURE_ALONE:
		left = o * d->alone[i] - p->number[GV_NUMBER_ELAPSED][i];
		return -p->number[GV_NUMBER_STEPS][i] * d->alone[i] / (left * left);
	default:
		return 0;
	}
}

/* Whether the objective is the least or the largest of all jobs. */
static bool
is_least(enum gv_measure measure)
{
	return measure == GV_MEASURE_LEVEL || measure == GV_MEASURE_SECONDS ||
	       measure == GV_MEASURE_ALONE;
}

/* Whether job i needs more anyway than the objective asks of it. */
static bool
needs_more(const struct measured *d, size_t i)
{
	const struct gv_problem *p = d->p;
	const double *need = p->number[GV_NUMBER_NEED];
	double o = d->s->objective;

	if (need == NULL || !(need[i] > 0))
		return false;
	switch (d->measure) {
	case GV_MEASURE_LEVEL:
		return need[i] > o * slope(d, i);
	case GV_MEASURE_SECONDS:
		return need[i] > p->number[GV_NUMBER_STEPS][i] / o;
	case GV_MEASURE_ALONE:
		return need[i] * (o * d->alone[i] - p->number[GV_NUMBER_ELAPSED][i]) >
		       p->number[GV_NUMBER_STEPS][i];
	default:
		return false;
	}
}

/* The objective's change per unit of what the multipliers are of. */
static double
unit(const struct measured *d)
{
	const struct gv_problem *p = d->p;
	const double *v = d->s->multipliers.job;
	double sum = 0;
	size_t i;

	if (d->measure == GV_MEASURE_RATIO)
		return d->cost > 0 ? 1 / d->cost : 0;
	if (!is_least(d->measure))
		return 1;
	for (i = 0; i < p->n; i++)
		if (v[i] > 0 && !needs_more(d, i))
			sum += p->count[i] * v[i] * slope(d, i);
	return sum != 0 ? 1 / sum : 0;
}

/* u_i, where it is more than that or rounding. */
static double
time_dual(const struct measured *d, size_t i, double least)
{
	const struct gv_problem *p = d->p;
	const struct gv_multipliers *mu = &d->s->multipliers;
	double top = gv_problem_own_fastest(p, i);
	double most = 0, size = 0;
	size_t j;

	if (p->together != NULL)
		return mu->time[i] > least ? mu->time[i] : 0;
	for (j = 0; j < p->m; j++) {
		double rate = gv_problem_rate(p, i, j);
		double plus = gain(d, i, j, top) + mu->job[i] * rate;
		double minus = (mu->gpu[j] + mu->budget * p->price[j]) * p->scale[i];

		if (rate == 0)
			continue;
		most = fmax(most, plus - minus);
		size = fmax(size, fabs(plus) + minus);
	}
	return most > fmax(least, GV_TOL_PRICE * size) ? most : 0;
}

/* ---- the rows ---- */

/* Time of each job and GPUs of each type that are given away. */
static void
add_up_use(
    struct gv_explanation *x, const struct gv_problem *p, const struct gv_solution *s)
{
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			double share = s->x[i * p->m + j];

			x->job[i].time += share;
			x->type[j].used += p->count[i] * p->scale[i] * share;
		}
	for (i = 0; i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];

		x->job[q->a].time += q->x / p->count[q->a];
		x->job[q->b].time += q->x / p->count[q->b];
		x->type[q->type].used += p->scale[q->a] * q->x;
	}
	for (i = 0; i < p->n; i++) /* what is more was rounded here */
		x->job[i].time = fmin(x->job[i].time, 1);
	for (j = 0; j < p->m; j++)
		x->type[j].used = fmin(x->type[j].used, p->capacity[j]);
}

/* Whether the job needs so much for its minimum, not for its deadline. */
static bool
is_minimum(const struct measured *d, size_t i, double need)
{
	const double *minimum = d->p->number[GV_NUMBER_MINIMUM];

	return minimum != NULL &&
	       minimum[i] >= need * fmax(1, d->s->relaxation) * (1 - GV_TOL_BINDS);
}

static unsigned
binding_constraints(const struct gv_explanation *x, const struct measured *d, size_t i)
{
	const struct gv_problem *p = d->p;

	const struct gv_explained_job *job = &x->job[i];
	unsigned binds = 0;
	bool room = false;
	size_t j;

	for (j = 0; j < p->m; j++)
		if (gv_problem_rate(p, i, j) > 0 &&
		    x->type[j].used < p->capacity[j] * (1 - GV_TOL_BINDS))
			room = true;
	if (job->time >= 1 - GV_TOL_BINDS)
		binds |= GV_BINDS_TIME;
	else if (!room)
		binds |= GV_BINDS_CAPACITY;
	if (job->time < 1 - GV_TOL_BINDS && p->budget > 0 &&
	    x->cost >= p->budget * (1 - GV_TOL_BINDS))
		binds |= GV_BINDS_BUDGET;
	if (job->need > 0 && d->throughput[i] <= job->need * (1 + GV_TOL_BINDS))
		binds |=
		    is_minimum(d, i, job->need) ? GV_BINDS_MINIMUM : GV_BINDS_DEADLINE;
	return binds;
}

/* What all that counts amounts to, in the unit of the multipliers. */
static double
dual_scale(const struct measured *d)
{
	const double *v = d->s->multipliers.job;
	double sum = 0;
	size_t i;

	switch (d->measure) {
	case GV_MEASURE_SUM:
	case GV_MEASURE_PER_DOLLAR:
	case GV_MEASURE_QUEUE:
		return d->s->objective;
	case GV_MEASURE_RATIO:
		return d->s->objective * d->cost;
	default:
		for (i = 0; i < d->p->n; i++)
			sum += d->p->count[i] * v[i] * d->throughput[i];
		return sum;
	}
}

static void
set_prices(struct gv_explanation *x, const struct measured *d)
{
	const struct gv_problem *p = d->p;
	const struct gv_multipliers *mu = &d->s->multipliers;
	double per = unit(d);
	double least = GV_TOL_PRICE * dual_scale(d);
	size_t i, j;

	for (j = 0; j < p->m; j++)
		x->type[j].price = p->capacity[j] == 0 ? NAN
				   : mu->gpu[j] * p->capacity[j] > least
				       ? per * mu->gpu[j]
				       : 0;
	x->budget_price = mu->budget * p->budget > least ? per * mu->budget : 0;
	for (i = 0; i < p->n; i++) {
		struct gv_explained_job *job = &x->job[i];

		job->bottleneck = mu->job[i] * d->throughput[i] > least;
		job->need_price = job->bottleneck ? per * mu->job[i] : 0;
		job->time_price = per * time_dual(d, i, least);
	}
}

/* Without prices, who has the least where that is the objective. */
static void
set_least(struct gv_explanation *x, const struct measured *d)
{
	size_t i;

	for (i = 0; i < x->n; i++)
		x->job[i].bottleneck =
		    d->measure == GV_MEASURE_LEVEL &&
		    x->job[i].value <= d->s->objective * (1 + GV_TOL_BINDS);
}

void
gv_explain_make(struct gv_explanation *x, const struct gv_problem *p,
    enum gv_measure measure, const struct gv_solution *s)
{
	const double *need = p->number[GV_NUMBER_NEED];
	struct measured d;
	size_t i, j;

	*x = (struct gv_explanation){.n = p->n, .m = p->m};
	x->job = gv_xcalloc(p->n, sizeof(*x->job));
	x->type = gv_xcalloc(p->m, sizeof(*x->type));
	x->entities = p->number[GV_NUMBER_ENTITY] != NULL;
	measured_init(&d, p, measure, s);
	add_up_use(x, p, s);
	for (j = 0; j < p->m; j++)
		x->type[j].price = NAN;
	x->budget_price = NAN;
	x->cost = gv_problem_cost(p, s->x);
	for (i = 0; i < p->n; i++) {
		x->job[i].value = value(&d, i);
		x->job[i].need = need != NULL && need[i] > 0 ? need[i] : NAN;
		x->job[i].binds = binding_constraints(x, &d, i);
		x->job[i].time_price = x->job[i].need_price = NAN;
		if (is_least(measure) && !needs_more(&d, i))
			x->job[i].need = NAN; /* its part in the objective is more */
	}
	if (s->multipliers.known)
		set_prices(x, &d);
	else
		set_least(x, &d);
	measured_free(&d);
}

/* The entity at the top that row i is of. */
static size_t
entity_of(const struct gv_problem *p, size_t i)
{
	size_t entity = (size_t)p->number[GV_NUMBER_ENTITY][i];

	return p->tree != NULL ? gv_tree_top(p->tree, entity) : entity;
}

/* The least that the jobs of an entity have together, per weight. */
static double
least_entity(const struct measured *d)
{
	const struct gv_problem *p = d->p;
	double least = INFINITY;
	double *sum;
	size_t i, entities = 0;

	for (i = 0; i < p->n; i++)
		if (entity_of(p, i) >= entities)
			entities = entity_of(p, i) + 1;
	sum = gv_xcalloc(entities, sizeof(*sum));
	for (i = 0; i < p->n; i++)
		sum[entity_of(p, i)] += p->count[i] * p->weight[i] * value(d, i);
	for (i = 0; i < p->n; i++)
		least = fmin(
		    least, sum[entity_of(p, i)] /
			       (p->tree != NULL ? p->tree->weight[entity_of(p, i)]
						: p->number[GV_NUMBER_ENTITY_WEIGHT][i]));
	free(sum);
	return least;
}

double
gv_explain_objective(
    const struct gv_problem *p, enum gv_measure measure, const struct gv_solution *s)
{
	struct measured d;
	double least = INFINITY, most = 0, sum = 0;
	size_t i;

	measured_init(&d, p, measure, s);
	for (i = 0; i < p->n; i++) {
		double has = value(&d, i);

		least = fmin(least, has); /* NAN counts as nothing */
		most = fmax(most, has);
		sum += p->count[i] *
		       (measure == GV_MEASURE_RATIO ? d.throughput[i] / d.cost : has);
	}
	if (measure == GV_MEASURE_LEVEL && p->number[GV_NUMBER_ENTITY] != NULL)
		least = least_entity(&d);
	measured_free(&d);
	return measure == GV_MEASURE_LEVEL                                    ? least
	       : measure == GV_MEASURE_SECONDS || measure == GV_MEASURE_ALONE ? most
									      : sum;
}

void
gv_explain_free(struct gv_explanation *x)
{
	free(x->job);
	free(x->type);
	*x = (struct gv_explanation){0};
}
