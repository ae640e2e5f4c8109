/*
 * common/alloc/problem: what is said of shares, rates and pairs, against the definitions in
 * its headers, written here plainly; what makes shares feasible leaves alone those that are.
 */
#include "tap.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/problem/classes.h"
#include "alloc/problem/problem.h"
#include "alloc/problem/unfinished.h"
#include "alloc/prove/exact.h"

enum { JOBS = 8, TYPES = 4, KINDS = 5, MOST_PAIRS = JOBS * JOBS * TYPES };

static size_t wrong;

static bool
is_close(double got, long double want)
{
	return fabsl(got - want) <= 1e-13L * fmaxl(1e-3L, fabsl(want)) || got == want;
}

static double
any(double zero)
{
	return uniform() < zero ? 0 : exp(4 * uniform() - 2);
}

/* ---- tables of pairs ---- */

/* Entries in any order, some of them twice; what is to come of them in want. */
static size_t
draw_entries(struct gv_together_entry *entry, double want[KINDS][KINDS][TYPES][2],
    bool seen[KINDS][KINDS], size_t m)
{
	static bool taken[KINDS][KINDS][TYPES];
	size_t n = below(60), i;

	memset(want, 0, sizeof(double[KINDS][KINDS][TYPES][2]));
	memset(seen, 0, sizeof(bool[KINDS][KINDS]));
	memset(taken, 0, sizeof(taken));
	for (i = 0; i < n; i++) {
		size_t a = below(KINDS), b = below(KINDS), j = below(m);
		double rate_a = any(.2), rate_b = any(.2);
		bool first = !taken[a][b][j];

		entry[i] = (struct gv_together_entry){.a = (uint32_t)a,
		    .b = (uint32_t)b,
		    .type = (uint32_t)j,
		    .rate_a = rate_a,
		    .rate_b = rate_b};
		seen[a][b] = seen[b][a] = true;
		taken[a][b][j] = taken[b][a][j] = true;
		if (!first)
			continue;
		if (a == b) /* two of a kind are as fast */
			rate_a = rate_b = rate_a / 2 + rate_b / 2;
		if (rate_a == 0 || rate_b == 0)
			continue;
		want[a][b][j][0] = want[b][a][j][1] = rate_a;
		want[a][b][j][1] = want[b][a][j][0] = rate_b;
	}
	return n;
}

static void
check_together(const struct gv_together *t, double want[KINDS][KINDS][TYPES][2],
    bool seen[KINDS][KINDS])
{
	size_t a, b, j, pairs = 0;

	for (a = 0; a < KINDS; a++)
		for (b = 0; b < KINDS; b++) {
			size_t at = gv_together_find(t, a, b);

			pairs += a <= b && seen[a][b];
			wrong += (at == SIZE_MAX) == seen[a][b];
			for (j = 0; j < t->m && at != SIZE_MAX; j++) {
				const double *r = &t->rate[(at * t->m + j) * 2];

				wrong += !is_close(r[a > b], want[a][b][j][0]) ||
					 !is_close(r[a <= b], want[a][b][j][1]);
			}
		}
	wrong += t->n != pairs || t->first[KINDS] != pairs || t->first[0] != 0;
}

static void
test_together(void)
{
	static struct gv_together_entry entry[60];
	static double want[KINDS][KINDS][TYPES][2];
	bool seen[KINDS][KINDS];
	double capacity[TYPES];
	int k;

	for (k = 0; k < 2000; k++) {
		size_t m = 1 + below(TYPES), a, b, j;
		size_t n = draw_entries(entry, want, seen, m);
		struct gv_together t;
		int side;

		gv_together_make(&t, KINDS, m, entry, n);
		check_together(&t, want, seen);
		for (j = 0; j < m; j++)
			capacity[j] = 1 + (double)below(9);
		gv_together_agnostic(&t, capacity);
		for (a = 0; a < KINDS; a++)
			for (b = 0; b < KINDS; b++)
				for (side = 0; side < 2; side++) {
					double sum = 0, gpus = 0;

					for (j = 0; j < m; j++)
						if (want[a][b][j][side] > 0) {
							sum += want[a][b][j][side] *
							       capacity[j];
							gpus += capacity[j];
						}
					for (j = 0; j < m; j++)
						if (want[a][b][j][side] > 0)
							want[a][b][j][side] = sum / gpus;
				}
		check_together(&t, want, seen);
		gv_together_free(&t);
		gv_together_free(&t);
	}
	is_int(wrong, 0, "tables of pairs, of kinds in any order");
}

/* ---- problems ---- */

/* Rates, pairs among them; numbers of all sorts. */
static struct gv_problem
draw_problem(struct gv_together *t)
{
	struct gv_problem p;
	size_t i, j, k, m = 1 + below(TYPES);

	gv_problem_alloc(&p, 1 + below(JOBS), m);
	gv_problem_ask(
	    &p, 1u << GV_NUMBER_STEPS | 1u << GV_NUMBER_NEED | 1u << GV_NUMBER_POSITION);
	if (uniform() < .3)
		gv_problem_ask(&p, 1u << GV_NUMBER_BEYOND | 1u << GV_NUMBER_BEYOND_GPUS);
	if (t != NULL) {
		static struct gv_together_entry entry[60];
		static double want[KINDS][KINDS][TYPES][2];
		bool seen[KINDS][KINDS];

		gv_together_make(t, KINDS, m, entry, draw_entries(entry, want, seen, m));
		p.together = t;
		p.kind = gv_xcalloc(p.n, sizeof(*p.kind));
	}
	for (j = 0; j < m; j++) {
		p.capacity[j] = (double)(1 + below(6));
		p.price[j] = any(.2);
	}
	p.budget = uniform() < .5 ? 0 : any(0);
	for (i = 0; i < p.n; i++) {
		p.count[i] = (double)(1 + below(3));
		p.scale[i] = (double)(1 + below(3));
		p.weight[i] = any(0);
		if (t != NULL)
			p.kind[i] = below(KINDS);
		for (j = 0; j < m; j++)
			p.rate[i * m + j] = any(.3);
		p.rate[i * m + below(m)] = any(0);
		for (k = 0; k < GV_N_NUMBERS; k++)
			if (p.number[k] != NULL)
				p.number[k][i] = any(.3);
	}
	if (uniform() < .3) {
		double own[TYPES];

		for (j = 0; j < m; j++)
			own[j] = p.capacity[j] + (double)below(3);
		gv_problem_refer(&p, own);
	}
	return p;
}

/* Shares whose sums are up to about most; pairs where p has them. */
static struct gv_solution
draw_shares(const struct gv_problem *p, double most)
{
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(*s.x))};
	size_t i;

	for (i = 0; i < p->n * p->m; i++)
		s.x[i] = uniform() < .3 ? 0 : most * uniform() / (double)p->m;
	s.pair = gv_xcalloc(20, sizeof(*s.pair));
	for (i = 0; p->together != NULL && i < 20; i++)
		if (uniform() < .5)
			s.pair[s.n_pairs++] = (struct gv_pair){below(p->n), below(p->n),
			    below(p->m), any(0), any(0), most * uniform() / 10};
	return s;
}

static const double *
own_gpus(const struct gv_problem *p)
{
	return p->reference != NULL ? p->reference : p->capacity;
}

static long double
equal(const struct gv_problem *p, size_t i)
{
	long double gpus = 0, sum = 0;
	size_t j;

	for (j = 0; j < p->m; j++) {
		gpus += own_gpus(p)[j];
		sum += (long double)p->rate[i * p->m + j] * own_gpus(p)[j];
	}
	if (p->number[GV_NUMBER_BEYOND] != NULL)
		sum += p->number[GV_NUMBER_BEYOND][i];
	return sum / gpus;
}

static void
check_terms(const struct gv_problem *p, const struct gv_solution *s)
{
	double equals[JOBS], fastest[JOBS], thr[JOBS];
	long double cost = 0, level = INFINITY;
	size_t i, j, k, from = below(p->n);

	gv_problem_equal_throughput(p, equals);
	gv_problem_fastest(p, fastest);
	gv_solution_throughput(p, s, thr);
	for (i = 0; i < p->n; i++) {
		long double own = 0, most = 0, fits = 0;

		for (j = 0; j < p->m; j++) {
			double rate = p->rate[i * p->m + j];

			own += (long double)rate * s->x[i * p->m + j];
			cost += (long double)p->price[j] * s->x[i * p->m + j] *
				p->scale[i] * p->count[i];
			most = fmaxl(most, rate);
			if (p->scale[i] <= own_gpus(p)[j])
				fits = fmaxl(fits, rate);
		}
		level = fminl(level, p->scale[i] * own / (p->weight[i] * equal(p, i)));
		wrong += !is_close(equals[i], equal(p, i));
		wrong += !is_close(gv_problem_throughput(p, s->x, i), own);
		wrong += !is_close(gv_problem_own_fastest(p, i), fits);
		for (k = 0; k < s->n_pairs; k++)
			own += (long double)s->pair[k].x / p->count[i] *
			       ((s->pair[k].a == i ? s->pair[k].rate_a : 0) +
				   (s->pair[k].b == i ? s->pair[k].rate_b : 0));
		wrong += !is_close(thr[i], own);
		for (k = 0; k < p->n && p->together != NULL; k++) {
			size_t a = p->kind[i], b = p->kind[k];
			size_t at = gv_together_find(p->together, a, b);

			for (j = 0; j < p->m && at != SIZE_MAX; j++) {
				const double *r = &p->together->rate[(at * p->m + j) * 2];

				most = fmaxl(most, r[a > b]);
				if (a == b)
					most = fmaxl(most, r[1]);
			}
		}
		wrong += !is_close(fastest[i], most);
	}
	gv_problem_equal_throughput_of(p, from, p->n, equals);
	for (i = from; i < p->n; i++)
		wrong += !is_close(equals[i - from], equal(p, i));
	wrong += !is_close(gv_problem_cost(p, s->x), cost);
	wrong += !is_close(gv_problem_level(p, s->x), level);
}

/* N_j / (n s_i) of the types that a job can use, no more than 1 together; then feasible. */
static void
check_isolated(const struct gv_problem *p)
{
	double *x = gv_xcalloc(p->n, p->m * sizeof(*x));
	double jobs = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		jobs += p->count[i];
	gv_problem_isolated(p, x);
	for (i = 0; i < p->n; i++) {
		long double row[TYPES], sum = 0;

		for (j = 0; j < p->m; j++) {
			row[j] =
			    p->rate[i * p->m + j] > 0 && p->scale[i] <= own_gpus(p)[j]
				? own_gpus(p)[j] / (jobs * p->scale[i])
				: 0;
			sum += row[j];
		}
		for (j = 0; j < p->m; j++)
			wrong += !is_close(x[i * p->m + j], row[j] / fmaxl(1, sum));
	}
	free(x);
}

/* Every rate the mean over the GPUs that the job has a rate on. */
static void
check_agnostic(struct gv_problem *p)
{
	const double *beyond = p->number[GV_NUMBER_BEYOND];
	const double *beyond_gpus = p->number[GV_NUMBER_BEYOND_GPUS];
	long double mean[JOBS];
	bool has[JOBS * TYPES];
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		long double gpus = beyond != NULL ? beyond_gpus[i] : 0;

		mean[i] = beyond != NULL ? beyond[i] : 0;
		for (j = 0; j < p->m; j++) {
			has[i * p->m + j] = p->rate[i * p->m + j] > 0;
			if (has[i * p->m + j]) {
				mean[i] +=
				    (long double)p->rate[i * p->m + j] * own_gpus(p)[j];
				gpus += own_gpus(p)[j];
			}
		}
		mean[i] /= gpus;
	}
	gv_problem_agnostic(p);
	for (i = 0; i < p->n * p->m; i++)
		wrong += !is_close(p->rate[i], has[i] ? mean[i / p->m] : 0);
	for (i = 0; i < p->n && beyond != NULL; i++)
		wrong += !is_close(beyond[i], mean[i] * beyond_gpus[i]);
}

static void
test_terms(void)
{
	int k;

	wrong = 0;
	for (k = 0; k < 2000; k++) {
		struct gv_together t = {0};
		struct gv_problem p = draw_problem(k % 2 ? &t : NULL);
		struct gv_solution s = draw_shares(&p, 2);

		check_terms(&p, &s);
		check_isolated(&p);
		check_agnostic(&p);
		free(s.x);
		free(s.pair);
		gv_problem_free(&p);
		gv_problem_free(&p);
		gv_together_free(&t);
	}
	is_int(wrong, 0, "throughputs, costs, levels, isolated shares, means");
}

/* ---- constraints ---- */

static long double
over(const struct gv_problem *p, const struct gv_solution *s, bool pairs)
{
	long double time[JOBS] = {0}, gpus[TYPES] = {0}, cost = 0, worst = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			long double used =
			    (long double)s->x[i * p->m + j] * p->scale[i] * p->count[i];

			time[i] += s->x[i * p->m + j];
			gpus[j] += used;
			cost += used * p->price[j];
		}
	for (i = 0; pairs && i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];

		time[q->a] += (long double)q->x / p->count[q->a];
		time[q->b] += (long double)q->x / p->count[q->b];
		gpus[q->type] += (long double)q->x * p->scale[q->a];
	}
	for (i = 0; i < p->n; i++)
		worst = fmaxl(worst, time[i] - 1);
	for (j = 0; j < p->m; j++)
		worst =
		    fmaxl(worst, (gpus[j] - p->capacity[j]) / fmax(1, p->capacity[j]));
	return !pairs && p->budget > 0 ? fmaxl(worst, cost / p->budget - 1) : worst;
}

/* Which shares are not what they were. */
static size_t
changed(const struct gv_problem *p, const struct gv_solution *s,
    const struct gv_solution *was)
{
	size_t i, n = s->n_pairs != was->n_pairs;

	for (i = 0; i < p->n * p->m; i++)
		n += s->x[i] != was->x[i];
	for (i = 0; i < s->n_pairs && s->n_pairs == was->n_pairs; i++)
		n += s->pair[i].x != was->pair[i].x || s->pair[i].a != was->pair[i].a;
	return n;
}

static struct gv_solution
copy_of(const struct gv_problem *p, const struct gv_solution *s)
{
	struct gv_solution c = *s;

	c.x = gv_xcalloc(p->n, p->m * sizeof(*c.x));
	c.pair = gv_xcalloc(s->n_pairs, sizeof(*c.pair));
	memcpy(c.x, s->x, p->n * p->m * sizeof(*c.x));
	if (s->n_pairs > 0)
		memcpy(c.pair, s->pair, s->n_pairs * sizeof(*c.pair));
	return c;
}

/*
 * Dust: below 0, and next to nothing beside another share of the job.  *missed: on a type so
 * much faster, or where the job does nothing else, that it would be missed.
 */
static size_t
strew(const struct gv_problem *p, struct gv_solution *s, bool *missed)
{
	size_t i = below(p->n), j = below(p->m), k = (j + 1) % p->m;
	double all = 0;

	*missed = false;
	if (p->m < 2)
		return SIZE_MAX;
	s->x[i * p->m + k] = .01;
	s->x[i * p->m + j] = uniform() < .5 ? -1e-300 : 1e-40;
	for (k = 0; k < p->m; k++)
		all += k == j ? 0 : s->x[i * p->m + k] * gv_problem_rate(p, i, k);
	*missed = s->x[i * p->m + j] * gv_problem_rate(p, i, j) > 1e-9 * all;
	return i * p->m + j;
}

static void
test_constraints(void)
{
	size_t k, excess = 0, unclean = 0, touched = 0, fine = 0, dust = 0;
	size_t stays = 0;

	for (k = 0; k < 4000; k++) {
		struct gv_together t = {0};
		bool pairs = k % 2;
		struct gv_problem p = draw_problem(pairs ? &t : NULL);
		struct gv_solution s = draw_shares(&p, k % 3 ? 3 : .2), was;
		size_t strewn;
		bool missed;
		double e;

		e = pairs ? gv_solution_excess(&p, &s) : gv_problem_excess(&p, s.x);
		excess += !is_close(e, over(&p, &s, pairs));
		was = copy_of(&p, &s);
		fine += e == 0;
		if (pairs)
			gv_solution_clean(&p, &s);
		else
			gv_problem_clean(&p, s.x);
		unclean += over(&p, &s, pairs) > 1e-14L;
		if (e == 0) /* what keeps all constraints stays; dust apart */
			touched += changed(&p, &s, &was) > 0;
		strewn = strew(&p, &s, &missed);
		missed &= !pairs;
		stays += missed;
		if (pairs)
			gv_solution_clean(&p, &s);
		else
			gv_problem_clean(&p, s.x);
		dust += strewn != SIZE_MAX && (s.x[strewn] != 0) != missed;
		free(s.x);
		free(s.pair);
		free(was.x);
		free(was.pair);
		gv_problem_free(&p);
		gv_together_free(&t);
	}
	is_int(excess, 0, "the excess over constraints");
	is_int(unclean, 0, "none is left in shares that were made feasible");
	ok(touched == 0 && fine > 400, "and %zu that were are as before", fine);
	is_int(dust, 0, "dust goes");
	ok(stays > 0, "and %zu shares that would be missed stay", stays);
}

/* Which limits are passed, summed without rounding: of n jobs, of m types, of the budget. */
static size_t
passed(const struct gv_problem *p, const struct gv_solution *s, bool *over)
{
	size_t n = p->n + p->m, i, j, over_limit = 0;
	struct gv_exact *sum = gv_xcalloc(n + 1, sizeof(*sum)), number;

	gv_exact_init(&number);
	for (i = 0; i <= n; i++)
		gv_exact_init(&sum[i]);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			gv_exact_add_product(&sum[i], s->x[i * p->m + j], 1);
			gv_exact_add_product(&sum[p->n + j], s->x[i * p->m + j],
			    p->scale[i] * p->count[i]);
		}
	for (i = 0; i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];

		gv_exact_add_product(&sum[q->a], q->x, 1);
		gv_exact_add_product(&sum[q->b], q->x, 1);
		gv_exact_add_product(&sum[p->n + q->type], q->x, p->scale[q->a]);
	}
	for (j = 0; j < p->m; j++) {
		gv_exact_mul_double(&number, &sum[p->n + j], p->price[j]);
		gv_exact_add(&sum[n], &sum[n], &number);
	}
	for (i = 0; i <= n; i++) {
		gv_exact_set_double(&number, i < p->n ? 1
					     : i < n  ? p->capacity[i - p->n]
						      : p->budget);
		over[i] = gv_exact_compare(&sum[i], &number) > 0;
		over[i] = over[i] && (i < n || p->budget > 0);
		over_limit += over[i];
		gv_exact_free(&sum[i]);
	}
	gv_exact_free(&number);
	free(sum);
	return over_limit;
}

/* A unit in the last place, again and again, of shares in what is over its limit: all at once, */
static void
trim_at_once(const struct gv_problem *p, struct gv_solution *s)
{
	bool over[JOBS + TYPES + 1];
	size_t i;

	while (passed(p, s, over) > 0) {
		for (i = 0; i < p->n * p->m; i++)
			if (over[i / p->m] || over[p->n + i % p->m])
				s->x[i] *= 1 - DBL_EPSILON;
		for (i = 0; i < s->n_pairs; i++)
			if (over[s->pair[i].a] || over[s->pair[i].b] ||
			    over[p->n + s->pair[i].type])
				s->pair[i].x *= 1 - DBL_EPSILON;
	}
}

/* or jobs first, then types, then all. */
static void
trim_in_turn(const struct gv_problem *p, struct gv_solution *s)
{
	bool over[JOBS + TYPES + 1];
	size_t limit, i;

	for (limit = 0; limit <= p->n + p->m; limit++)
		while (passed(p, s, over) > 0 && over[limit])
			for (i = 0; i < p->n * p->m; i++)
				if (limit == p->n + p->m || i / p->m == limit ||
				    p->n + i % p->m == limit)
					s->x[i] *= 1 - DBL_EPSILON;
}

/* Shares that fill all there is keep it to the last bit, and stay as large but for that. */
static void
test_trim(void)
{
	size_t k, i, before = 0, after = 0, dear = 0, differ = 0;

	for (k = 0; k < 3000; k++) {
		struct gv_together t = {0};
		bool pairs = k % 2, over[JOBS + TYPES + 1];
		struct gv_problem p = draw_problem(pairs ? &t : NULL);
		struct gv_solution s = draw_shares(&p, 5), want;

		if (pairs)
			p.budget = 0;
		for (i = 0; i < p.n && pairs; i++)
			p.count[i] = 1;
		for (i = 0; i < s.n_pairs;
		     i++) /* two jobs of one scale, and two of them */
			s.pair[i].b = s.pair[i].a == 0 ? p.n - 1 : s.pair[i].a - 1;
		for (i = 0; i < s.n_pairs; i++)
			if (s.pair[i].a == s.pair[i].b)
				s.n_pairs = 0;
		if (pairs)
			gv_solution_clean(&p, &s);
		else
			gv_problem_clean(&p, s.x);
		want = copy_of(&p, &s);
		before += passed(&p, &s, over) > 0;
		dear += over[p.n + p.m];
		if (pairs) {
			gv_solution_trim(&p, &s);
			trim_at_once(&p, &want);
		} else {
			gv_problem_trim(&p, s.x);
			trim_in_turn(&p, &want);
		}
		after += passed(&p, &s, over);
		for (i = 0; i < p.n * p.m; i++)
			differ += s.x[i] != want.x[i];
		for (i = 0; i < s.n_pairs; i++)
			differ += s.pair[i].x != want.pair[i].x;
		free(s.x);
		free(s.pair);
		free(want.x);
		free(want.pair);
		gv_problem_free(&p);
		gv_together_free(&t);
	}
	ok(before > 300 && dear > 30, "rounding breaks limits of %zu, %zu budgets",
	    before, dear);
	is_int(after, 0, "of none that were trimmed");
	is_int(differ, 0, "by as little as sums without rounding say");
}

/* The more types, the more roundings. */
static void
test_many_types(void)
{
	enum { MANY = 200 };
	struct gv_problem p;
	struct gv_exact sum, one;
	double x[MANY];
	size_t k, j, over = 0;

	gv_problem_alloc(&p, 1, MANY);
	p.count[0] = p.scale[0] = p.weight[0] = 1;
	for (j = 0; j < MANY; j++)
		p.rate[j] = p.capacity[j] = 1;
	gv_exact_init(&one);
	gv_exact_set_double(&one, 1);
	for (k = 0; k < 1000; k++) {
		for (j = 0; j < MANY; j++)
			x[j] = uniform() < .5 ? uniform() : .01 * uniform();
		gv_problem_clean(&p, x);
		gv_problem_trim(&p, x);
		gv_exact_init(&sum);
		for (j = 0; j < MANY; j++)
			gv_exact_add_product(&sum, x[j], 1);
		over += gv_exact_compare(&sum, &one) > 0;
		gv_exact_free(&sum);
	}
	is_int(over, 0, "a job on %d types has no more than all its time", MANY);
	gv_exact_free(&one);
	gv_problem_free(&p);
}

/* NaN is worse than any excess. */
static void
test_nan(void)
{
	struct gv_together t = {0};
	struct gv_problem p = draw_problem(&t);
	struct gv_solution s = draw_shares(&p, .1);

	s.x[0] = NAN;
	ok(isnan(gv_problem_excess(&p, s.x)) && isnan(gv_solution_excess(&p, &s)),
	    "what is no number breaks a constraint");
	free(s.x);
	free(s.pair);
	gv_problem_free(&p);
	gv_together_free(&t);
}

/* ---- parts of a problem ---- */

/* What differs of the jobs with steps left, rates own [n][m] among it, from what p has of them. */
static size_t
differences_of_jobs(
    const struct gv_problem *p, const struct gv_unfinished *w, const double *own)
{
	size_t differ = 0, i, j, n = 0, c;

	for (i = 0; i < p->n; i++) {
		if (!(p->number[GV_NUMBER_STEPS][i] > 0))
			continue;
		differ += w->of[n] != i || w->p.scale[n] != p->scale[i] ||
			  w->p.weight[n] != p->weight[i] ||
			  w->p.count[n] != p->count[i] ||
			  (p->kind != NULL && w->p.kind[n] != p->kind[i]);
		for (j = 0; j < p->m; j++)
			differ += own[n * p->m + j] != p->rate[i * p->m + j] ||
				  gv_problem_rate(&w->p, n, j) != p->rate[i * p->m + j];
		for (c = 0; c < GV_N_NUMBERS; c++)
			differ += (p->number[c] == NULL) != (w->p.number[c] == NULL) ||
				  (p->number[c] != NULL &&
				      w->p.number[c][n] != p->number[c][i]);
		n++;
	}
	return differ + (w->p.n != n || w->all != (n == p->n));
}

/* And of all else. */
static size_t
differences_of_types(const struct gv_problem *p, const struct gv_unfinished *w)
{
	size_t differ = w->p.m != p->m || w->p.tree != p->tree ||
			w->p.together != p->together || w->p.budget != p->budget ||
			(p->kind == NULL) != (w->p.kind == NULL) ||
			(p->reference == NULL) != (w->p.reference == NULL);
	size_t j;

	for (j = 0; j < p->m; j++)
		differ += w->p.capacity[j] != p->capacity[j] ||
			  w->p.price[j] != p->price[j] ||
			  (p->reference != NULL && w->p.reference[j] != p->reference[j]);
	return differ;
}

/* Pairs of the part become the whole's. */
static size_t
wrong_pairs(const struct gv_unfinished *w)
{
	struct gv_solution s = {0}, to = {0};
	size_t n = w->p.n, differ, i;

	if (n == 0)
		return 0;
	s.pair = gv_xcalloc(3, sizeof(*s.pair));
	s.n_pairs = 3;
	s.n_made = 7;
	for (i = 0; i < 3; i++)
		s.pair[i] = (struct gv_pair){.a = i % n, .b = (i + 1) % n};
	to.pair = gv_xcalloc(1, sizeof(*to.pair));
	gv_unfinished_scatter_pairs(w, &s, &to);
	differ = s.pair != NULL || to.n_pairs != 3 || to.n_made != 7;
	for (i = 0; i < 3; i++)
		differ +=
		    to.pair[i].a != w->of[i % n] || to.pair[i].b != w->of[(i + 1) % n];
	free(to.pair);
	return differ;
}

static void
test_parts(void)
{
	size_t k, n_all = 0;

	wrong = 0;
	for (k = 0; k < 500; k++) {
		struct gv_together t = {0};
		struct gv_problem p = draw_problem(k % 2 ? &t : NULL);
		struct gv_unfinished w;
		double *own, *all = gv_xcalloc(p.n, p.m * sizeof(*all));
		size_t i;

		p.tree = (const void *)&t; /* any place */
		if (k % 3 == 0)
			for (i = 0; i < p.n; i++)
				p.number[GV_NUMBER_STEPS][i] = 1;
		gv_unfinished_find(&w, &p);
		own = gv_unfinished_take(&w, p.rate, p.m);
		wrong += differences_of_jobs(&p, &w, own) + differences_of_types(&p, &w);
		n_all += w.all;
		gv_unfinished_scatter(&w, own, all);
		for (i = 0; i < p.n * p.m; i++)
			wrong += all[i] !=
				 (p.number[GV_NUMBER_STEPS][i / p.m] > 0 ? p.rate[i] : 0);
		wrong += wrong_pairs(&w);
		gv_unfinished_free(&w);
		free(own);
		free(all);
		p.tree = NULL;
		gv_problem_free(&p);
		gv_together_free(&t);
	}
	is_int(wrong, 0, "jobs that have steps left, with all that is theirs");
	ok(n_all > 100, "and all of them");
}

/* ---- classes ---- */

/* Job i of p becomes like job k of q, but for how many it stands for. */
static void
copy_row(struct gv_problem *p, size_t i, const struct gv_problem *q, size_t k)
{
	size_t c;

	memcpy(&p->rate[i * p->m], &q->rate[k * q->m], q->m * sizeof(*q->rate));
	p->scale[i] = q->scale[k];
	p->weight[i] = q->weight[k];
	if (q->kind != NULL)
		p->kind[i] = q->kind[k];
	for (c = 0; c < GV_N_NUMBERS; c++)
		if (q->number[c] != NULL)
			p->number[c][i] = q->number[c][k];
}

/* One number of job i becomes another. */
static void
differ_in_one(struct gv_problem *p, size_t i)
{
	switch (below(p->kind != NULL ? 5 : 4)) {
	case 0:
		p->rate[i * p->m + below(p->m)] += 1;
		break;
	case 1:
		p->scale[i] += 1;
		break;
	case 2:
		p->weight[i] *= 2;
		break;
	case 3:
		p->number[GV_NUMBER_NEED][i] += 1;
		break;
	default:
		p->kind[i] = (p->kind[i] + 1) % KINDS;
	}
}

static bool
same_row(const struct gv_problem *p, size_t i, const struct gv_problem *q, size_t k)
{
	size_t c;
	bool same =
	    memcmp(&p->rate[i * p->m], &q->rate[k * q->m], q->m * sizeof(double)) == 0 &&
	    p->scale[i] == q->scale[k] && p->weight[i] == q->weight[k] &&
	    (p->kind == NULL || p->kind[i] == q->kind[k]);

	for (c = 0; c < GV_N_NUMBERS; c++)
		same = same && (p->number[c] == NULL) == (q->number[c] == NULL) &&
		       (p->number[c] == NULL || p->number[c][i] == q->number[c][k]);
	return same;
}

/* Whether the classes are those of p's jobs, and hand on what is the problem's. */
static size_t
classes_wrong(const struct gv_classes *c, const struct gv_problem *p, bool merge)
{
	double count[JOBS] = {0};
	size_t i, k,
	    n = c->p.m != p->m || c->p.budget != p->budget ||
		c->p.together != p->together || c->p.tree != p->tree ||
		(c->p.reference == NULL) != (p->reference == NULL);

	for (k = 0; k < p->m; k++)
		n += c->p.capacity[k] != p->capacity[k] || c->p.price[k] != p->price[k] ||
		     (p->reference != NULL && c->p.reference[k] != p->reference[k]);
	for (i = 0; i < p->n; i++) {
		n += c->of[i] >= c->p.n || !same_row(&c->p, c->of[i], p, i);
		count[c->of[i]] += p->count[i];
		for (k = 0; k < i; k++)
			n += (c->of[i] == c->of[k]) != (merge && same_row(p, i, p, k));
	}
	for (i = 0; i < c->p.n; i++)
		n += c->p.count[i] != count[i] || count[i] == 0;
	return n;
}

/* Equal jobs are one class, in whatever order they come. */
static void
test_classes(void)
{
	size_t k, order = 0, merged = 0;

	wrong = 0;
	for (k = 0; k < 1000; k++) {
		struct gv_together t = {0};
		struct gv_problem p = draw_problem(k % 2 ? &t : NULL), q;
		bool merge = k % 5 > 0, all[JOBS];
		struct gv_classes c, d;
		double x[JOBS * TYPES], class_x[JOBS * TYPES];
		size_t i, j;

		p.tree = (const void *)&t; /* any place */
		for (i = 1; i < p.n; i++) {
			if (below(2) == 0)
				copy_row(&p, i, &p, below(i));
			if (below(4) == 0)
				differ_in_one(&p, i);
		}
		memset(all, true, sizeof(all));
		gv_problem_pick(&q, &p, all);
		for (i = 0; i < p.n; i++) { /* turned around */
			copy_row(&q, i, &p, p.n - 1 - i);
			q.count[i] = p.count[p.n - 1 - i];
		}
		gv_classes_make(&c, &p, merge);
		gv_classes_make(&d, &q, merge);
		wrong += classes_wrong(&c, &p, merge) + classes_wrong(&d, &q, merge);
		merged += c.p.n < p.n;
		order += c.p.n != d.p.n;
		for (i = 0; i < c.p.n && c.p.n == d.p.n; i++)
			order += !same_row(&c.p, i, &d.p, i) ||
				 (merge && c.p.count[i] != d.p.count[i]);
		for (i = 0; i < c.p.n * p.m; i++)
			class_x[i] = (double)i;
		gv_classes_disaggregate(&c, p.n, class_x, x);
		for (i = 0; i < p.n; i++)
			for (j = 0; j < p.m; j++)
				wrong += x[i * p.m + j] != (double)(c.of[i] * p.m + j);
		gv_classes_free(&c);
		gv_classes_free(&d);
		p.tree = q.tree = NULL;
		gv_problem_free(&p);
		gv_problem_free(&q);
		gv_together_free(&t);
	}
	ok(wrong == 0 && merged > 100, "equal jobs are one class (%zu: %zu wrong)",
	    merged, wrong);
	is_int(order, 0, "whatever their order");
}

int
main(void)
{
	draws_begin(97, 0, 0);
	test_together();
	test_terms();
	test_constraints();
	test_trim();
	test_many_types();
	test_nan();
	test_parts();
	test_classes();
	return done_testing();
}
