/*
 * What certificates claim of any shares and any multipliers, good or bad: the excess, the
 * objective and the bound are what the inequalities of certificate.h and proof_pairs.c say,
 * written here once more, plainly, in long double.
 */
#include "tap.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/program/multipliers.h"
#include "alloc/prove/certificate.h"
#include "alloc/prove/explain.h"
#include "lp/tolerance.h"

enum { JOBS = 9, TYPES = 3, KINDS = 5 };

/* ---- problems, shares and multipliers by chance ---- */

/* Every second kind shares with every second. */
static void
draw_together(struct gv_together *t, size_t m)
{
	struct gv_together_entry entry[KINDS * KINDS * TYPES];
	size_t a, b, j, n = 0;

	for (a = 0; a < KINDS; a++)
		for (b = a; b < KINDS; b += 2)
			for (j = 0; j < m; j++)
				if (uniform() < .8)
					entry[n++] = (struct gv_together_entry){
					    .a = (uint32_t)a,
					    .b = (uint32_t)b,
					    .type = (uint32_t)j,
					    .rate_a =
						uniform() < .1 ? 0 : .1 + 2 * uniform(),
					    .rate_b = .1 + 2 * uniform()};
	gv_together_make(t, KINDS, m, entry, n);
}

static void
draw_job(struct gv_problem *p, size_t i, enum gv_measure measure, bool pairs)
{
	size_t j, like = below(JOBS);

	p->count[i] = pairs ? 1 : (double)(1 + below(3));
	p->scale[i] = pairs ? (double)(1 + p->kind[i] % 2) : (double)(1 + below(4));
	p->weight[i] = uniform() < .5 ? 1 : .25 + 4 * uniform();
	for (j = 0; j < p->m; j++)
		p->rate[i * p->m + j] = uniform() < .8 && p->scale[i] <= p->capacity[j]
					    ? exp(2 * uniform())
					    : 0;
	if (uniform() < .3) { /* only a few types have jobs' rates, and jobs are alike */
		p->rate[i * p->m] = 2;
		if (like < i && p->scale[like] == p->scale[i])
			memcpy(&p->rate[i * p->m], &p->rate[like * p->m],
			    p->m * sizeof(*p->rate));
	}
	if (gv_row_max(&p->rate[i * p->m], p->m) == 0)
		p->rate[i * p->m] = 1;
	if (p->number[GV_NUMBER_STEPS] != NULL)
		p->number[GV_NUMBER_STEPS][i] = uniform() < .1 ? 0 : exp(3 * uniform());
	p->number[GV_NUMBER_ELAPSED][i] = 3 * uniform();
	p->number[GV_NUMBER_ISOLATED][i] = 3 * uniform();
	p->number[GV_NUMBER_POSITION][i] = (double)i;
	if (uniform() < .4 &&
	    !(p->number[GV_NUMBER_STEPS] != NULL && p->number[GV_NUMBER_STEPS][i] == 0))
		p->number[GV_NUMBER_NEED][i] =
		    (measure == GV_MEASURE_ALONE ? 6 : 1) * uniform();
}

static bool
counts_steps(enum gv_measure measure)
{
	return measure == GV_MEASURE_SECONDS || measure == GV_MEASURE_ALONE;
}

static struct gv_problem
draw_problem(enum gv_measure measure, const struct gv_together *t, size_t m)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, 1 + below(JOBS), m);
	gv_problem_ask(&p, (counts_steps(measure) ? 1u << GV_NUMBER_STEPS : 0) |
			       1u << GV_NUMBER_ELAPSED | 1u << GV_NUMBER_ISOLATED |
			       1u << GV_NUMBER_NEED | 1u << GV_NUMBER_POSITION);
	if (t != NULL) {
		p.kind = gv_xcalloc(p.n, sizeof(*p.kind));
		p.together = t;
	}
	for (j = 0; j < m; j++) {
		p.capacity[j] = (double)(j == 0 ? 4 + below(4) : 1 + below(8));
		p.price[j] = .1 + uniform();
	}
	p.budget = t != NULL || uniform() < .5 ? 0 : 1 + 9 * uniform();
	for (i = 0; i < p.n; i++) {
		if (t != NULL)
			p.kind[i] = below(KINDS);
		draw_job(&p, i, measure, t != NULL);
	}
	if (uniform() < .3) {
		double own[TYPES];

		for (j = 0; j < m; j++)
			own[j] = p.capacity[j] + (double)below(2);
		gv_problem_refer(&p, own);
	}
	return p;
}

/* Shares that may be too much, pairs among them; multipliers of any size, some of them 0. */
static struct gv_solution
draw_answer(const struct gv_problem *p, enum gv_measure measure)
{
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(*s.x))};
	double most = .05 + uniform();
	size_t i, k, j;

	for (i = 0; i < p->n * p->m; i++)
		s.x[i] = p->rate[i] > 0 && uniform() < .9
			     ? most * uniform() / (double)p->m
			     : 0;
	s.pair = gv_xcalloc(p->n * p->n * p->m, sizeof(*s.pair));
	for (i = 0; p->together != NULL && i < p->n; i++)
		for (k = 0; k < p->n; k++) {
			size_t at =
			    p->kind[i] > p->kind[k] || k == i ||
				    (p->kind[i] == p->kind[k] && k < i)
				? SIZE_MAX
				: gv_together_find(p->together, p->kind[i], p->kind[k]);

			for (j = 0; j < p->m && at != SIZE_MAX; j++) {
				const double *r = &p->together->rate[(at * p->m + j) * 2];

				if (r[0] > 0 && uniform() < .5)
					s.pair[s.n_pairs++] =
					    (struct gv_pair){i, k, j, r[0], r[1],
						uniform() < .1
						    ? 0
						    : most * uniform() / (double)p->n};
			}
		}
	gv_multipliers_alloc(&s.multipliers, p->n, p->m);
	/* dollars are what counts where there is a ratio to them */
	for (j = 0; j < p->m && !(measure == GV_MEASURE_RATIO && uniform() < .8); j++)
		s.multipliers.gpu[j] = uniform() < .2 ? 0 : 2 * uniform();
	for (i = 0; i < p->n; i++) {
		s.multipliers.job[i] = uniform() < .2 ? 0 : 3 * uniform();
		if (s.multipliers.time != NULL)
			s.multipliers.time[i] = uniform() < .3 ? 0 : uniform();
	}
	if (p->budget > 0)
		s.multipliers.budget =
		    uniform() < (measure == GV_MEASURE_RATIO ? .8 : .3) ? 0 : uniform();
	s.objective = .01 + uniform();
	return s;
}

/* ---- the inequalities ---- */

static const double *
own_gpus(const struct gv_problem *p)
{
	return p->reference != NULL ? p->reference : p->capacity;
}

static long double
throughput(const struct gv_problem *p, const struct gv_solution *s, size_t i)
{
	long double thr = 0;
	size_t j;

	for (j = 0; j < p->m; j++)
		thr += (long double)p->rate[i * p->m + j] * s->x[i * p->m + j];
	for (j = 0; j < s->n_pairs; j++)
		thr += (long double)s->pair[j].x *
		       ((s->pair[j].a == i ? s->pair[j].rate_a : 0) +
			   (s->pair[j].b == i ? s->pair[j].rate_b : 0));
	return thr;
}

/* The largest part of a limit that is passed. */
static long double
excess(const struct gv_problem *p, const struct gv_solution *s)
{
	long double job[JOBS] = {0}, type[TYPES] = {0}, cost = 0, most = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			long double gpus =
			    (long double)s->x[i * p->m + j] * p->scale[i] * p->count[i];

			job[i] += s->x[i * p->m + j];
			type[j] += gpus;
			cost += gpus * p->price[j];
		}
	for (i = 0; i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];

		job[q->a] += q->x;
		job[q->b] += q->x;
		type[q->type] += (long double)q->x * p->scale[q->a];
	}
	for (i = 0; i < p->n; i++)
		most = fmaxl(most, job[i] - 1);
	for (j = 0; j < p->m; j++)
		most = fmaxl(most, type[j] / p->capacity[j] - 1);
	return p->budget > 0 ? fmaxl(most, cost / p->budget - 1) : most;
}

static long double
shortfall(const struct gv_problem *p, const struct gv_solution *s)
{
	long double most = 0;
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->number[GV_NUMBER_NEED][i] > 0)
			most = fmaxl(
			    most, 1 - throughput(p, s, i) / p->number[GV_NUMBER_NEED][i]);
	return most;
}

/* Q_i, and the GPUs that it is of. */
static long double
of_all(const struct gv_problem *p, size_t i, long double *gpus)
{
	const double *own = own_gpus(p);
	long double q = 0;
	size_t j;

	*gpus = 0;
	for (j = 0; j < p->m; j++)
		if (p->rate[i * p->m + j] > 0 && p->scale[i] <= own[j]) {
			q += (long double)p->rate[i * p->m + j] * own[j];
			*gpus += own[j];
		}
	return q;
}

/* a_i: the throughput of a level of 1, or of a second. */
static long double
demand(const struct gv_problem *p, enum gv_measure measure, size_t i)
{
	long double all = 0, gpus;
	size_t j;

	if (measure == GV_MEASURE_SECONDS)
		return p->number[GV_NUMBER_STEPS][i];
	for (j = 0; j < p->m; j++)
		all += own_gpus(p)[j];
	return p->weight[i] * of_all(p, i, &gpus) / all / p->scale[i];
}

/* D_i of finish times. */
static long double
alone(const struct gv_problem *p, size_t i)
{
	long double gpus, jobs = 0, q = of_all(p, i, &gpus);
	size_t k;

	for (k = 0; k < p->n; k++)
		jobs += p->count[k];
	return p->number[GV_NUMBER_ISOLATED][i] +
	       p->number[GV_NUMBER_STEPS][i] * fmaxl(jobs * p->scale[i], gpus) / q;
}

/* What a step/s of a job on a type gains. */
static long double
gain(const struct gv_problem *p, enum gv_measure measure, size_t i, size_t j)
{
	long double jobs = 0, most = 0;
	size_t k;

	switch (measure) {
	case GV_MEASURE_SUM:
	case GV_MEASURE_RATIO:
		return 1;
	case GV_MEASURE_PER_DOLLAR:
		return 3600 / (long double)p->price[j];
	case GV_MEASURE_QUEUE:
		for (k = 0; k < p->n; k++)
			jobs += p->count[k];
		for (k = 0; k < p->m; k++)
			most = fmaxl(most, p->rate[i * p->m + k]);
		return (jobs - p->number[GV_NUMBER_POSITION][i]) / most;
	default:
		return 0;
	}
}

/* What job i needs anyway, where that is not in the objective. */
static long double
need(const struct gv_problem *p, enum gv_measure measure, const struct gv_solution *s,
    size_t i)
{
	long double q = p->number[GV_NUMBER_NEED][i], asked = 0;

	if (measure == GV_MEASURE_ALONE)
		return 0;
	if (measure == GV_MEASURE_LEVEL)
		asked = s->objective * demand(p, measure, i);
	if (measure == GV_MEASURE_SECONDS)
		asked = p->number[GV_NUMBER_STEPS][i] / (long double)s->objective;
	return q > asked ? q : 0;
}

/* g + v T - s p - s c (b + r / 3600) of a job alone. */
static long double
reduced(const struct gv_problem *p, enum gv_measure measure,
    const struct gv_multipliers *mu, long double r, size_t i, size_t j)
{
	return p->rate[i * p->m + j] * (gain(p, measure, i, j) + mu->job[i]) -
	       p->scale[i] * (mu->gpu[j] + p->price[j] * (mu->budget + r / 3600));
}

/* C - sum v q where jobs share. */
static long double
limit_of_pairs(
    const struct gv_problem *p, enum gv_measure measure, const struct gv_solution *s)
{
	const struct gv_multipliers *mu = &s->multipliers;
	long double more[JOBS] = {0}, sum = 0;
	size_t i, k, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (p->rate[i * p->m + j] > 0)
				more[i] = fmaxl(more[i],
				    2 * (reduced(p, measure, mu, 0, i, j) - mu->time[i]));
	for (i = 0; i < p->n; i++)
		for (k = 0; k < p->n; k++) {
			size_t at =
			    p->kind[i] > p->kind[k] || i == k
				? SIZE_MAX
				: gv_together_find(p->together, p->kind[i], p->kind[k]);

			if (counts_steps(measure) &&
			    (p->number[GV_NUMBER_STEPS][i] == 0 ||
				p->number[GV_NUMBER_STEPS][k] == 0))
				continue;
			for (j = 0; j < p->m && at != SIZE_MAX; j++) {
				const double *r = &p->together->rate[(at * p->m + j) * 2];
				long double over;

				if (!(r[0] > 0))
					continue;
				over = r[0] * (gain(p, measure, i, j) + mu->job[i]) +
				       r[1] * (gain(p, measure, k, j) + mu->job[k]) -
				       mu->time[i] - mu->time[k] -
				       p->scale[i] * mu->gpu[j];
				more[i] = fmaxl(more[i], over);
				more[k] = fmaxl(more[k], over);
			}
		}
	for (i = 0; i < p->n; i++)
		if (!counts_steps(measure) || p->number[GV_NUMBER_STEPS][i] > 0)
			sum += mu->time[i] + more[i] / 2;
	for (i = 0; i < p->n; i++)
		sum -= mu->job[i] * need(p, measure, s, i);
	for (j = 0; j < p->m; j++)
		sum += (long double)mu->gpu[j] * p->capacity[j];
	return sum;
}

/* C - sum v q, of gains less r dollars. */
static long double
limit(const struct gv_problem *p, enum gv_measure measure, const struct gv_solution *s,
    long double r)
{
	const struct gv_multipliers *mu = &s->multipliers;
	long double sum = (long double)mu->budget * p->budget;
	size_t i, j;

	if (p->together != NULL)
		return limit_of_pairs(p, measure, s);
	for (j = 0; j < p->m; j++)
		sum += (long double)mu->gpu[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		long double most = 0;

		for (j = 0; j < p->m; j++)
			if (p->rate[i * p->m + j] > 0)
				most = fmaxl(most, reduced(p, measure, mu, r, i, j));
		sum += p->count[i] * (most - mu->job[i] * need(p, measure, s, i));
	}
	return sum;
}

/* sum v_i n_i / (r D_i - e_i), no less than what they need; INFINITY: no time is left. */
static long double
least_worth(const struct gv_problem *p, const struct gv_solution *s, long double r)
{
	long double sum = 0;
	size_t i;

	for (i = 0; i < p->n; i++) {
		long double left = r * alone(p, i) - p->number[GV_NUMBER_ELAPSED][i];

		if (p->number[GV_NUMBER_STEPS][i] == 0)
			continue;
		if (left <= 0)
			return INFINITY;
		sum += p->count[i] * s->multipliers.job[i] *
		       fmaxl(p->number[GV_NUMBER_STEPS][i] / left,
			   p->number[GV_NUMBER_NEED][i]);
	}
	return sum;
}

/* What the measure says of the shares; of seconds and ratios that are to be small, too. */
static long double
objective(
    const struct gv_problem *p, enum gv_measure measure, const struct gv_solution *s)
{
	long double least = INFINITY, most = 0, sum = 0, cost = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		long double thr = throughput(p, s, i), steps;

		for (j = 0; j < p->m; j++) {
			long double x = (long double)s->x[i * p->m + j] * p->count[i];

			sum += x * p->rate[i * p->m + j] * gain(p, measure, i, j);
			cost += x * p->scale[i] * p->price[j] / 3600;
		}
		if (measure == GV_MEASURE_LEVEL)
			least = fminl(least, thr / demand(p, measure, i));
		steps = counts_steps(measure) ? p->number[GV_NUMBER_STEPS][i] : 0;
		if (steps > 0 && measure == GV_MEASURE_SECONDS)
			most = fmaxl(most, steps / thr);
		if (steps > 0 && measure == GV_MEASURE_ALONE)
			most =
			    fmaxl(most, (p->number[GV_NUMBER_ELAPSED][i] + steps / thr) /
					    alone(p, i));
	}
	for (i = 0; i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];

		sum += q->x * (q->rate_a * gain(p, measure, q->a, q->type) +
				  q->rate_b * gain(p, measure, q->b, q->type));
	}
	return measure == GV_MEASURE_LEVEL   ? least
	       : counts_steps(measure)       ? most
	       : measure == GV_MEASURE_RATIO ? sum / cost
					     : sum;
}

/* The bound where it is not searched for; NAN: nothing is proved. */
static long double
bound(const struct gv_problem *p, enum gv_measure measure, const struct gv_solution *s)
{
	long double c = limit(p, measure, s, 0), asked = 0;
	size_t i;

	if (measure != GV_MEASURE_LEVEL && measure != GV_MEASURE_SECONDS)
		return c > 0 ? c : NAN;
	for (i = 0; i < p->n; i++)
		if (need(p, measure, s, i) == 0)
			asked +=
			    s->multipliers.job[i] * p->count[i] * demand(p, measure, i);
	if (!(asked > 0))
		return NAN;
	return measure == GV_MEASURE_LEVEL ? c / asked : asked / c;
}

/*
 * Where the proof ends that nothing is better: below it (of finish times), above it (of
 * steps per dollar) all is out of reach.
 */
static long double
turning_point(
    const struct gv_problem *p, enum gv_measure measure, const struct gv_solution *s)
{
	long double low = 0, high = 1e7;
	int k;

	for (k = 0; k < 200; k++) {
		long double at = (low + high) / 2;
		bool out = measure == GV_MEASURE_ALONE
			       ? least_worth(p, s, at) > limit(p, measure, s, 0)
			       : limit(p, measure, s, at) > 0;

		if (out)
			low = at;
		else
			high = at;
	}
	return low;
}

/* ---- against them ---- */

static struct {
	size_t cases, excess, shortfall, objective, explained, bound, gap, proved;
} seen;

static bool
is_close(long double got, long double want, long double tol)
{
	return (isinf((double)want) && got == want) ||
	       (isnan((double)got) && isnan((double)want)) ||
	       fabsl(got - want) <= tol * fmaxl(fabsl(want), 1e-3L);
}

/* The bound that is found from a little beside the turning point is just beside it. */
static void
check_search(const struct gv_problem *p, enum gv_measure measure, struct gv_solution *s)
{
	long double at = turning_point(p, measure, s);
	long double o = objective(p, measure, s);
	double side = measure == GV_MEASURE_ALONE ? 1 : -1;
	struct gv_certificate c;

	if (!(at > 1e-6) || at > 1e6 || isinf((double)o) || isnan((double)o))
		return;
	s->objective = (double)at * (1 + side * 1e-9);
	gv_certificate_make(&c, p, measure, s);
	if (!is_close(c.objective, o, 1e-12L))
		seen.objective++;
	seen.bound += !(side * (c.bound - (double)at) <= 1e-14 * (double)at) ||
		      !is_close(c.bound, at, 1e-7L);
	seen.proved++;
}

static void
check_bound(const struct gv_problem *p, enum gv_measure measure, struct gv_solution *s)
{
	long double o = objective(p, measure, s), b = bound(p, measure, s);
	struct gv_certificate c;
	bool least = measure == GV_MEASURE_SECONDS;

	gv_certificate_make(&c, p, measure, s);
	if (isnan((double)b) || isinf((double)o) ||
	    (o == 0 && measure == GV_MEASURE_LEVEL)) {
		seen.gap += isfinite(c.gap) && !(o == 0 && c.gap == 0);
		return;
	}
	seen.proved++;
	seen.objective += !is_close(c.objective, o, 1e-12L);
	seen.bound += !is_close(c.bound, b, 1e-12L);
	seen.gap += !is_close(c.gap, fmaxl(0, least ? 1 - b / o : 1 - o / b), 1e-12L);
}

/* Shares that are none. */
static void
check_wrong_shares(
    const struct gv_problem *p, enum gv_measure measure, struct gv_solution *s)
{
	struct gv_certificate c;
	size_t at = below(p->n * p->m);
	double was = s->x[at];
	struct gv_pair *q;

	s->x[at] = -1e-9;
	gv_certificate_make(&c, p, measure, s);
	seen.excess += c.excess != INFINITY;
	s->x[at] = was;
	if (s->n_pairs == 0)
		return;
	q = &s->pair[below(s->n_pairs)];
	was = q->x;
	q->x = -1e-9;
	gv_certificate_make(&c, p, measure, s);
	seen.excess += c.excess != INFINITY;
	q->x = was;
	if (measure != GV_MEASURE_QUEUE) { /* which asks what is fastest of what fits */
		p->scale[q->a] += 1;
		gv_certificate_make(&c, p, measure, s);
		seen.excess += c.excess != INFINITY;
		p->scale[q->a] -= 1;
	}
	q->b = q->a;
	gv_certificate_make(&c, p, measure, s);
	seen.excess += c.excess != INFINITY;
}

static void
test_measure(enum gv_measure measure, const char *name, bool pairs)
{
	int k;

	memset(&seen, 0, sizeof(seen));
	for (k = 0; k < 600; k++) {
		size_t m = 1 + below(TYPES);
		struct gv_together t = {0};
		struct gv_certificate c;
		struct gv_problem p;
		struct gv_solution s;

		if (pairs)
			draw_together(&t, m);
		p = draw_problem(measure, pairs ? &t : NULL, m);
		s = draw_answer(&p, measure);
		gv_certificate_make(&c, &p, measure, &s);
		seen.cases++;
		seen.excess += !is_close(c.excess, excess(&p, &s), 1e-12L);
		seen.shortfall += !is_close(c.shortfall, shortfall(&p, &s), 1e-12L);
		if (measure == GV_MEASURE_ALONE || measure == GV_MEASURE_RATIO)
			check_search(&p, measure, &s);
		else
			check_bound(&p, measure, &s);
		seen.explained += !is_close(gv_explain_objective(&p, measure, &s),
		    objective(&p, measure, &s), 1e-12L);
		check_wrong_shares(&p, measure, &s);
		free(s.x);
		free(s.pair);
		gv_multipliers_free(&s.multipliers);
		gv_problem_free(&p);
		gv_together_free(&t);
	}
	is_int(seen.excess, 0, "%s: the excess of %zu random shares", name, seen.cases);
	is_int(seen.shortfall, 0, "%s: what they lack of needs", name);
	ok(seen.proved > seen.cases / 4, "%s: %zu of %zu have a bound", name, seen.proved,
	    seen.cases);
	is_int(seen.objective, 0, "%s: what the policy counts", name);
	is_int(seen.explained, 0, "%s: and what is explained", name);
	is_int(seen.bound, 0, "%s: what the inequality says", name);
	is_int(seen.gap, 0, "%s: the gap between both", name);
}

/*
 * Levels of entities: of all that the jobs of one have together, per weight; of a tree,
 * those at its top.
 */
static void
test_entities(void)
{
	int k, wrong = 0;

	for (k = 0; k < 300; k++) {
		struct gv_problem p =
		    draw_problem(GV_MEASURE_LEVEL, NULL, 1 + below(TYPES));
		struct gv_solution s = draw_answer(&p, GV_MEASURE_LEVEL);
		long double of[3] = {0}, least = INFINITY;
		bool has[3] = {false};
		size_t i;

		gv_problem_ask(
		    &p, 1u << GV_NUMBER_ENTITY | 1u << GV_NUMBER_ENTITY_WEIGHT);
		for (i = 0; i < p.n; i++) {
			size_t e = i == 0 ? 2 : below(3);

			p.number[GV_NUMBER_ENTITY][i] = (double)e;
			p.number[GV_NUMBER_ENTITY_WEIGHT][i] = (double)(1 + e * e);
			has[e] = true;
			of[e] += p.count[i] * p.weight[i] * throughput(&p, &s, i) /
				 demand(&p, GV_MEASURE_LEVEL, i) /
				 (long double)(1 + e * e);
		}
		for (i = 0; i < 3; i++)
			if (has[i])
				least = fminl(least, of[i]);
		wrong += !is_close(
		    gv_explain_objective(&p, GV_MEASURE_LEVEL, &s), least, 1e-12L);
		free(s.x);
		free(s.pair);
		gv_multipliers_free(&s.multipliers);
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "levels of entities");
}

/*
 * What holds whom: without prices those at the lowest level; with prices of any size who
 * and what has one above rounding, of all that counts.
 */
static void
test_explained(void)
{
	int k, wrong = 0, low = 0, paid = 0, unpaid = 0;

	for (k = 0; k < 600; k++) {
		enum gv_measure measure = k % 2 ? GV_MEASURE_LEVEL : GV_MEASURE_SUM;
		struct gv_problem p = draw_problem(measure, NULL, 1 + below(TYPES));
		struct gv_solution s = draw_answer(&p, measure);
		struct gv_explanation x;
		long double least, all = 0;
		size_t i, j;

		memset(p.number[GV_NUMBER_NEED], 0, p.n * sizeof(double));
		s.multipliers.job[0] = 1;
		s.objective = (double)objective(&p, measure, &s);
		if (measure == GV_MEASURE_LEVEL) {
			gv_explain_make(&x, &p, measure, &s);
			for (i = 0; i < p.n; i++) {
				long double o =
				    throughput(&p, &s, i) / demand(&p, measure, i);

				wrong +=
				    x.job[i].bottleneck !=
				    (o <= s.objective * (1 + (long double)GV_TOL_BINDS));
				wrong += !is_close(x.job[i].value, o, 1e-12L);
				low += x.job[i].bottleneck;
			}
			gv_explain_free(&x);
		}
		s.multipliers.known = true;
		for (j = 0; j < p.m; j++)
			s.multipliers.gpu[j] *= pow(10, -(double)below(15));
		for (i = 0; i < p.n; i++) {
			s.multipliers.job[i] *= pow(10, -(double)below(15));
			all += s.multipliers.job[i] * throughput(&p, &s, i) * p.count[i];
		}
		gv_explain_make(&x, &p, measure, &s);
		least = GV_TOL_PRICE * (measure == GV_MEASURE_SUM ? s.objective : all);
		for (i = 0; i < p.n; i++) {
			bool above = s.multipliers.job[i] * throughput(&p, &s, i) > least;

			wrong += x.job[i].bottleneck != above;
			wrong += (x.job[i].need_price > 0) != above;
			if (measure == GV_MEASURE_SUM && above)
				wrong += !is_close(
				    x.job[i].need_price, s.multipliers.job[i], 1e-12L);
		}
		for (j = 0; j < p.m; j++) {
			bool above = s.multipliers.gpu[j] * p.capacity[j] > least;

			paid += above;
			unpaid += !above;
			wrong += (x.type[j].price > 0) != above;
			if (measure == GV_MEASURE_SUM && above)
				wrong += x.type[j].price != s.multipliers.gpu[j];
		}
		gv_explain_free(&x);
		gv_explain_free(&x);
		free(s.x);
		free(s.pair);
		gv_multipliers_free(&s.multipliers);
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "what is explained");
	ok(low > 200 && paid > 100 && unpaid > 100,
	    "the lowest (%d), prices (%d) and none (%d)", low, paid, unpaid);
}

/* Nobody can do anything, and that is proved. */
static void
test_nothing(void)
{
	static const enum gv_measure of[] = {
	    GV_MEASURE_SECONDS, GV_MEASURE_ALONE, GV_MEASURE_SUM};
	size_t k;

	for (k = 0; k < 3; k++) {
		struct gv_problem p;
		struct gv_solution s = {.x = gv_xcalloc(2, sizeof(double))};
		struct gv_certificate c;

		gv_problem_alloc(&p, 2, 1);
		gv_problem_ask(&p, 1u << GV_NUMBER_STEPS | 1u << GV_NUMBER_ELAPSED |
				       1u << GV_NUMBER_ISOLATED);
		p.capacity[0] = p.scale[0] = p.scale[1] = p.count[0] = p.count[1] = 1;
		gv_multipliers_alloc(&s.multipliers, 2, 1);
		gv_certificate_make(&c, &p, of[k], &s);
		ok(c.gap == 0 && c.objective == 0 && c.bound == 0 && c.excess == 0,
		    "no steps to do, no rate: nothing is the best");
		free(s.x);
		gv_multipliers_free(&s.multipliers);
		gv_problem_free(&p);
	}
}

/* ---- multipliers that are next to the right ones ---- */

/* One job on types that are used up, in no order among others that are too dear. */
static struct gv_problem
dear_problem(size_t n, const double *rate, const double *gpus, const double *price,
    struct gv_solution *s)
{
	struct gv_problem p;
	size_t first = below(3), j, k = 0;

	gv_problem_alloc(&p, 1, 4);
	gv_problem_ask(&p, 1u << GV_NUMBER_NEED);
	*s = (struct gv_solution){.x = gv_xcalloc(4, sizeof(double))};
	gv_multipliers_alloc(&s->multipliers, 1, 4);
	p.count[0] = p.weight[0] = 1;
	p.scale[0] = 2;
	for (j = 0; j < 4; j++) {
		bool used = j >= first && k < n;

		p.rate[j] = used ? rate[k] : .5;
		p.capacity[j] = used ? gpus[k] : 1;
		s->multipliers.gpu[j] = used ? price[k] : 0x1p50;
		s->x[j] = used ? gpus[k] / 2 : 0;
		p.number[GV_NUMBER_NEED][0] += used ? rate[k] * gpus[k] / 2 : 0;
		k += used;
	}
	for (j = 0; j < 4; j++) /* of a type that nobody wants nothing is paid */
		if (s->x[j] == 0)
			p.capacity[j] = 0;
	return p;
}

/* How much more than the best sum is what a multiplier proves so many roundings off. */
static double
off_by(struct gv_problem *p, struct gv_solution *s, double mu, int roundings)
{
	struct gv_certificate c;
	double best = p->number[GV_NUMBER_NEED][0];

	for (; roundings != 0; roundings += roundings < 0 ? 1 : -1)
		mu = nextafter(mu, roundings < 0 ? 0 : INFINITY);
	s->multipliers.job[0] = mu;
	gv_certificate_make(&c, p, GV_MEASURE_SUM, s);
	return c.excess > 0 || c.shortfall > 0 ? INFINITY : (c.bound - best) / best;
}

/*
 * A job that needs all it can have has a large multiplier, of which a rounding is more than
 * its sum: between two types, or one and none, the bound is that of the right one.
 */
static void
test_roundings(void)
{
	static const double rate[] = {4, 1}, half[] = {1, 1};
	static const double price[] = {0x1p40, 0x1p20}, one[] = {0x1p40};
	int k, wrong = 0;

	for (k = 0; k < 60; k++) {
		struct gv_solution s;
		struct gv_problem p = dear_problem(2, rate, half, price, &s);
		double off = off_by(&p, &s, 2 * (price[0] - price[1]) / 3 - 1, k % 7 - 3);

		wrong += !(off >= 0 && off <= 4 * DBL_EPSILON);
		free(s.x);
		gv_multipliers_free(&s.multipliers);
		gv_problem_free(&p);
		p = dear_problem(1, (double[]){3}, half, one, &s);
		off = off_by(&p, &s, 2 * one[0] / 3 - 1, k % 7 - 3);
		wrong += !(off >= 0 && off <= 4 * DBL_EPSILON);
		free(s.x);
		gv_multipliers_free(&s.multipliers);
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "a rounding of a multiplier is none of the bound");
}

/* A floor leaves another job a part of 2^-30: its level is proved as sharply. */
static void
test_little_left(void)
{
	int k, wrong = 0;

	for (k = 0; k < 49; k++) {
		const double little = 0x1p-30;
		struct gv_solution s = {
		    .x = gv_xcalloc(2, sizeof(double)), .objective = little};
		struct gv_certificate c;
		struct gv_problem p;
		double mu[] = {1. / 3, 1. / 5};
		int i, r;

		gv_problem_alloc(&p, 2, 1);
		gv_problem_ask(&p, 1u << GV_NUMBER_NEED);
		gv_multipliers_alloc(&s.multipliers, 2, 1);
		p.capacity[0] = s.multipliers.gpu[0] = 1;
		p.rate[0] = 3;
		p.rate[1] = 5;
		p.number[GV_NUMBER_NEED][0] = 3 * (1 - little);
		s.x[0] = 1 - little;
		s.x[1] = little;
		for (i = 0; i < 2; i++) {
			p.count[i] = p.weight[i] = p.scale[i] = 1;
			for (r = i == 0 ? k % 7 - 3 : k / 7 - 3; r != 0;
			     r += r < 0 ? 1 : -1)
				mu[i] = nextafter(mu[i], r < 0 ? 0 : 1);
			s.multipliers.job[i] = mu[i];
		}
		gv_certificate_make(&c, &p, GV_MEASURE_LEVEL, &s);
		wrong += c.excess > 0 || c.shortfall > 0 || !(c.bound >= little) ||
			 !(c.gap <= 8 * DBL_EPSILON);
		free(s.x);
		gv_multipliers_free(&s.multipliers);
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "what a floor leaves is proved to some roundings");
}

/* The bound of the sum of n equal jobs of a step a second, two on a GPU of so much each. */
static double
bound_of_equal(size_t n, double both, double price)
{
	struct gv_together_entry entry = {.rate_a = both, .rate_b = both};
	struct gv_solution s = {.x = gv_xcalloc(n, sizeof(double))};
	struct gv_certificate c;
	struct gv_together t;
	struct gv_problem p;
	size_t i;

	gv_together_make(&t, 1, 1, &entry, 1);
	gv_problem_alloc(&p, n, 1);
	p.kind = gv_xcalloc(n, sizeof(*p.kind));
	p.together = &t;
	p.capacity[0] = 1;
	for (i = 0; i < n; i++)
		p.count[i] = p.weight[i] = p.scale[i] = p.rate[i] = 1;
	s.x[0] = 1;
	gv_multipliers_alloc(&s.multipliers, n, 1);
	s.multipliers.gpu[0] = price;
	gv_certificate_make(&c, &p, GV_MEASURE_SUM, &s);
	free(s.x);
	gv_multipliers_free(&s.multipliers);
	gv_problem_free(&p);
	gv_together_free(&t);
	return c.bound;
}

/* Jobs that are alike share, too; a little above 0 is not below it. */
static void
test_equal(void)
{
	is_near(bound_of_equal(1, .75, 1), 1, 1e-15, "a job has nobody to share with");
	is_near(bound_of_equal(2, .75, 1), 1.5, 1e-15, "two like it have each other");
	is_near(bound_of_equal(3, .75, 1), 1.75, 1e-15, "three have more");
	ok(bound_of_equal(1, .75, 1 - 0x1p-45) >= 1, "no bound is below what there is");
}

int
main(void)
{
	draws_begin(83, 0, 0);
	test_equal();
	test_roundings();
	test_little_left();
	test_nothing();
	test_entities();
	test_explained();
	test_measure(GV_MEASURE_LEVEL, "levels", false);
	test_measure(GV_MEASURE_SECONDS, "seconds", false);
	test_measure(GV_MEASURE_ALONE, "finish times", false);
	test_measure(GV_MEASURE_SUM, "sums", false);
	test_measure(GV_MEASURE_PER_DOLLAR, "per dollar", false);
	test_measure(GV_MEASURE_QUEUE, "the queue", false);
	test_measure(GV_MEASURE_RATIO, "steps per dollar", false);
	test_measure(GV_MEASURE_LEVEL, "levels with pairs", true);
	test_measure(GV_MEASURE_SECONDS, "seconds with pairs", true);
	test_measure(GV_MEASURE_ALONE, "finish times with pairs", true);
	test_measure(GV_MEASURE_SUM, "sums with pairs", true);
	test_measure(GV_MEASURE_PER_DOLLAR, "per dollar with pairs", true);
	test_measure(GV_MEASURE_QUEUE, "the queue with pairs", true);
	return done_testing();
}
