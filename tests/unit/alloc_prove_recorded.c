/*
 * prove/: what certificates, explanations and exact arithmetic say of drawn problems, good
 * shares and bad ones, is what they have said before.
 */
#include "tap.h"

#include <float.h>

#include "alloc_help.h"
#include "alloc_draws.h"
#include "alloc/prove/certificate.h"
#include "alloc/prove/exact.h"
#include "alloc/prove/explain.h"
#include "alloc/prove/printed.h"

static struct recorded r;

static const char *const measure_name[] = {
    "none", "level", "seconds", "alone", "sum", "per dollar", "queue", "ratio"};

/* ---- numbers ---- */

static double
drawn_signed(void)
{
	static const double edge[] = {
	    0, DBL_MIN, DBL_MAX, 0x1p-1074, 1, 0x1p-1030, 1e300, 1e-300};
	double v = uniform() < .15 ? edge[below(8)] : drawn_far();

	return uniform() < .4 ? -v : v;
}

static void
record_exact(const struct gv_exact *x)
{
	recorded_whole(&r, gv_exact_sign(x));
	recorded_double(&r, gv_exact_double(x, GV_EXACT_DOWN));
	recorded_double(&r, gv_exact_double(x, GV_EXACT_UP));
}

/* Sums, products and quotients of each other, in place as well. */
static void
test_exact(void)
{
	struct gv_exact x[4];
	int k, i;

	for (i = 0; i < 4; i++)
		gv_exact_init(&x[i]);
	draws_begin(1, 0, 0);
	for (k = 0; k < 1200; k++) {
		size_t a = below(4), b = below(4), c = below(4), what = below(8);
		double v = drawn_signed(), u = drawn_signed();

		if (what == 0)
			gv_exact_set_double(&x[a], v);
		else if (what == 1)
			gv_exact_add(&x[a], &x[b], &x[c]);
		else if (what == 2)
			gv_exact_sub(&x[a], &x[b], &x[c]);
		else if (what == 3)
			gv_exact_mul(&x[a], &x[b], &x[c]);
		else if (what == 4)
			gv_exact_mul_double(&x[a], &x[b], v);
		else if (what == 5)
			gv_exact_add_product(&x[a], v, u);
		else if (what == 6 && gv_exact_sign(&x[c]) != 0)
			gv_exact_div(&x[a], &x[b], &x[c],
			    uniform() < .5 ? GV_EXACT_UP : GV_EXACT_DOWN);
		else
			gv_exact_set(&x[a], &x[b]);
		recorded_whole(&r, gv_exact_compare(&x[b], &x[c]));
		record_exact(&x[a]);
		if (labs(x[a].e) > 4000) /* not larger and larger */
			gv_exact_set_double(&x[a], u);
		if (k % 60 == 59)
			recorded_answer(&r, "numbers %d", k / 60);
	}
	for (i = 0; i < 4; i++)
		gv_exact_free(&x[i]);
}

/* ---- multipliers ---- */

/* One and no share are as good for the job, or two types are. */
static double
even_multiplier(const struct gv_problem *p, const double *gpu, size_t i)
{
	size_t j = below(p->m), k = below(p->m);
	double a = gv_problem_rate(p, i, j), b = gv_problem_rate(p, i, k);
	double v = 0;

	if (uniform() < .5 && a > 0)
		v = gpu[j] * p->scale[i] / a;
	else if (a != b)
		v = (gpu[j] - gpu[k]) * p->scale[i] / (a - b);
	return v > 0 ? v : 0;
}

static void
drawn_multipliers(const struct gv_problem *p, struct gv_multipliers *mu)
{
	enum drawn_sort gpu = drawn_sort(), job = drawn_sort();
	double none = uniform(), even = uniform();
	size_t i, j;

	gv_multipliers_alloc(mu, p->n, p->m);
	for (j = 0; j < p->m; j++)
		mu->gpu[j] = uniform() < none ? 0 : drawn_number(gpu);
	for (i = 0; i < p->n; i++) {
		mu->time[i] = uniform() < none ? 0 : drawn_number(job);
		mu->job[i] = uniform() < none ? 0 : drawn_number(job);
		if (uniform() < even)
			mu->job[i] = even_multiplier(p, mu->gpu, i);
	}
	mu->budget = p->budget > 0 && uniform() < .7 ? uniform() : 0;
	mu->known = uniform() < .9;
}

/* A pair that must not be: of less than nothing, of a job with itself or with a larger one. */
static void
spoil_pair(struct gv_solution *s, size_t n)
{
	struct gv_pair *q;
	double way = uniform();

	if (s->n_pairs == 0)
		return;
	q = &s->pair[below(s->n_pairs)];
	if (way < .1)
		q->x *= -1;
	else if (way < .2)
		q->b = q->a;
	else if (way < .3)
		q->b = below(n);
}

/* ---- answers ---- */

static void
record_certificate(
    const struct gv_problem *p, enum gv_measure measure, struct gv_solution *s)
{
	struct gv_certificate c;

	recorded_whole(&r, gv_certificate_possible(p, measure));
	if (!gv_certificate_possible(p, measure) && measure != GV_MEASURE_NONE)
		return;
	gv_certificate_make(&c, p, measure, s);
	recorded_double(&r, c.excess);
	recorded_double(&r, c.shortfall);
	recorded_double(&r, c.objective);
	recorded_double(&r, c.bound);
	recorded_double(&r, c.gap);
	recorded_doubles(&r, s->x, p->n * p->m);
	recorded_pairs(&r, s->pair, s->n_pairs);
}

static void
record_explanation(
    const struct gv_problem *p, enum gv_measure measure, const struct gv_solution *s)
{
	struct gv_explanation x;
	size_t i, j;

	gv_explain_make(&x, p, measure, s);
	for (i = 0; i < p->n; i++) {
		recorded_whole(&r, x.job[i].binds);
		recorded_whole(&r, x.job[i].bottleneck);
		recorded_double(&r, x.job[i].value);
		recorded_double(&r, x.job[i].time);
		recorded_double(&r, x.job[i].time_price);
		recorded_double(&r, x.job[i].need);
		recorded_double(&r, x.job[i].need_price);
	}
	for (j = 0; j < p->m; j++) {
		recorded_double(&r, x.type[j].used);
		recorded_double(&r, x.type[j].price);
	}
	recorded_double(&r, x.cost);
	recorded_double(&r, x.budget_price);
	recorded_whole(&r, x.entities);
	gv_explain_free(&x);
}

static unsigned
numbers_of(enum gv_measure measure)
{
	unsigned numbers = 1u << GV_NUMBER_POSITION;

	if (measure == GV_MEASURE_SECONDS || measure == GV_MEASURE_ALONE)
		numbers |= 1u << GV_NUMBER_STEPS;
	if (measure == GV_MEASURE_ALONE)
		numbers |= 1u << GV_NUMBER_ELAPSED | 1u << GV_NUMBER_ISOLATED;
	if (uniform() < .6)
		numbers |= (unsigned)GV_NEEDS;
	return numbers;
}

/* The numbers of what lies beyond the types, where there are some: as much as there is. */
static unsigned
numbers_beyond(enum gv_measure measure)
{
	unsigned numbers = 0;

	if (uniform() < .2)
		numbers |= 1u << GV_NUMBER_BEYOND | 1u << GV_NUMBER_BEYOND_GPUS;
	if (measure == GV_MEASURE_ALONE && uniform() < .2)
		numbers |= 1u << GV_NUMBER_AWAY | 1u << GV_NUMBER_AWAY_GPUS;
	return numbers;
}

/* Of half of the jobs with a need just as much as they have. */
static void
meet_needs(struct gv_problem *p, const struct gv_solution *s)
{
	double *thr = gv_xcalloc(p->n, sizeof(*thr));
	size_t i;

	gv_solution_throughput(p, s, thr);
	for (i = 0; i < p->n && p->number[GV_NUMBER_NEED] != NULL; i++)
		if (p->number[GV_NUMBER_NEED][i] > 0 && uniform() < .5) {
			p->number[GV_NUMBER_NEED][i] = thr[i];
			if (uniform() < .5)
				p->number[GV_NUMBER_MINIMUM][i] = thr[i];
		}
	free(thr);
}

static void
ask_any(enum gv_measure measure, unsigned with)
{
	size_t n = drawn_size(14), m = drawn_size(5);
	unsigned numbers = numbers_of(measure);
	struct gv_solution s = {.relaxation = uniform() < .3 ? 1 + uniform() : 1};
	struct drawn d;

	if (!(with & DRAWN_PAIRS)) {
		numbers |= numbers_beyond(measure);
		with |= DRAWN_CLASSES | DRAWN_BUDGET;
	}
	if (measure == GV_MEASURE_LEVEL && uniform() < .3)
		with |= uniform() < .5 ? DRAWN_ENTITIES : DRAWN_TREE;
	drawn_problem(&d, n, m, numbers, with | DRAWN_REFERENCE);
	for (m = 0; m < d.p.m; m++)
		if (d.p.price[m] == 0 && measure == GV_MEASURE_PER_DOLLAR)
			d.p.price[m] = 1;
	s.x = gv_xcalloc(d.p.n, d.p.m * sizeof(*s.x));
	drawn_shares(&d.p, s.x);
	if (with & DRAWN_PAIRS)
		drawn_pair_shares(&d.p, &s);
	spoil_pair(&s, d.p.n);
	if (uniform() < .05)
		s.x[below(d.p.n * d.p.m)] = -.25;
	drawn_multipliers(&d.p, &s.multipliers);
	meet_needs(&d.p, &s);
	s.objective = measure == GV_MEASURE_RATIO && gv_problem_cost(&d.p, s.x) == 0
			  ? 1
			  : gv_explain_objective(&d.p, measure, &s);
	recorded_double(&r, s.objective);
	if (!isfinite(s.objective))
		s.objective = 1;
	record_explanation(&d.p, measure, &s);
	if (!(measure == GV_MEASURE_LEVEL && d.p.number[GV_NUMBER_ENTITY] != NULL))
		record_certificate(&d.p, measure, &s);
	free(s.x);
	free(s.pair);
	gv_multipliers_free(&s.multipliers);
	drawn_free(&d);
}

static void
test_any(void)
{
	int measure, pairs, k, i;

	for (measure = 0; measure <= GV_MEASURE_RATIO; measure++)
		for (pairs = 0; pairs < 2; pairs++)
			for (k = 0; k < 12; k++) {
				draws_begin(
				    2, (uint32_t)measure, (uint32_t)(2 * k + pairs));
				for (i = 0; i < 12; i++)
					ask_any((enum gv_measure)measure,
					    pairs ? DRAWN_PAIRS : 0);
				recorded_answer(&r, "any shares, %s%s, %d",
				    measure_name[measure], pairs ? ", pairs" : "", k);
			}
}

/* ---- the policies' own ---- */

/* The first 34 bits, for the last ones are of whoever solved it. */
static double
cut(double v)
{
	double times = v * 0x1p19;

	return v + times - times;
}

static void
cut_all(double *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = cut(v[i]);
}

static void
ask_policy(const struct gv_policy *policy, unsigned with)
{
	struct gv_policy_options opt = {.relax_slo = true};
	size_t n = drawn_size(12), m = drawn_size(4);
	unsigned numbers = policy->numbers;
	struct gv_solution s = {0};
	struct gv_error e = {0};
	struct drawn d;
	size_t i;

	if (uniform() < .3)
		numbers &= ~(unsigned)GV_NEEDS;
	if (!(with & DRAWN_PAIRS))
		with |= DRAWN_CLASSES | DRAWN_BUDGET;
	drawn_problem(&d, n, m, numbers, with);
	for (i = 0; i < m; i++)
		if (d.p.price[i] == 0)
			d.p.price[i] = 1;
	opt.solve.certify = uniform() < .2;
	opt.solve.sharp = uniform() < .5;
	s.x = gv_xcalloc(n, m * sizeof(*s.x));
	gv_multipliers_alloc(&s.multipliers, n, m);
	recorded_whole(&r, policy->solve(&d.p, &opt, &s, &e));
	if (e.count == 0 && s.multipliers.known) {
		cut_all(s.x, n * m);
		for (i = 0; i < s.n_pairs; i++)
			s.pair[i].x = cut(s.pair[i].x);
		cut_all(s.multipliers.job, n);
		cut_all(s.multipliers.time, n);
		cut_all(s.multipliers.gpu, m);
		cut_all(&s.multipliers.budget, 1);
		s.objective = cut(gv_explain_objective(&d.p, policy->measure, &s));
		record_explanation(&d.p, policy->measure, &s);
		record_certificate(&d.p, policy->measure, &s);
	}
	gv_error_clear(&e);
	free(s.x);
	free(s.pair);
	free(s.late);
	gv_multipliers_free(&s.multipliers);
	drawn_free(&d);
}

static void
test_policies(void)
{
	static const struct gv_policy *const policy[] = {&gv_policy_max_min,
	    &gv_policy_makespan, &gv_policy_finish_time, &gv_policy_max_sum,
	    &gv_policy_min_cost, &gv_policy_per_dollar, &gv_policy_fifo};
	size_t k, pairs, i, q;

	for (k = 0; k < sizeof(policy) / sizeof(policy[0]); k++)
		for (pairs = 0; pairs < 2; pairs++)
			for (i = 0; i < 5 && (policy[k]->shares || pairs == 0); i++) {
				draws_begin(3, (uint32_t)k, (uint32_t)(2 * i + pairs));
				for (q = 0; q < 6; q++)
					ask_policy(policy[k], pairs ? DRAWN_PAIRS : 0);
				recorded_answer(&r, "%s%s, %zu", policy[k]->name,
				    pairs ? ", pairs" : "", i);
			}
}

int
main(void)
{
	recorded_open(&r);
	test_exact();
	test_any();
	test_policies();
	recorded_close(&r);
	return done_testing();
}
