/*
 * problem/ and program/: what is said of drawn problems and shares, and what is made of them,
 * is what it was.
 */
#include "tap.h"

#include <float.h>

#include "alloc_help.h"
#include "alloc_draws.h"
#include "alloc/answer/disaggregate.h"
#include "alloc/pairs/pricing.h"
#include "alloc/problem/components.h"
#include "alloc/problem/least.h"
#include "alloc/problem/unfinished.h"
#include "alloc/program/reach.h"

static struct recorded r;

static const unsigned all_numbers = 1u << GV_NUMBER_STEPS | 1u << GV_NUMBER_ELAPSED |
				    1u << GV_NUMBER_ISOLATED | 1u << GV_NUMBER_NEED |
				    1u << GV_NUMBER_MINIMUM | 1u << GV_NUMBER_POSITION |
				    1u << GV_NUMBER_STARTED | 1u << GV_NUMBER_DRAW;

/* Some of the numbers, and of all else that problems may have. */
static void
drawn_any(struct drawn *d, size_t most_jobs, size_t most_types, unsigned with)
{
	size_t n = drawn_size(most_jobs), m = drawn_size(most_types);
	unsigned numbers = uniform() < .3 ? all_numbers : 0;

	if (uniform() < .3)
		numbers |= 1u << GV_NUMBER_BEYOND | 1u << GV_NUMBER_BEYOND_GPUS;
	if (uniform() < .3)
		numbers |= 1u << GV_NUMBER_AWAY | 1u << GV_NUMBER_AWAY_GPUS;
	if (uniform() < .5)
		with |= DRAWN_BUDGET;
	if (uniform() < .5)
		with |= DRAWN_REFERENCE;
	if (uniform() < .3)
		with |= DRAWN_MISFITS;
	if (uniform() < .3)
		with |= DRAWN_BROKEN;
	drawn_problem(d, n, m, numbers, with);
}

/* ---- of jobs ---- */

static void
record_jobs(struct gv_problem *p)
{
	double *v = gv_xcalloc(p->n, sizeof(*v)),
	       *x = gv_xcalloc(p->n, p->m * sizeof(*x));
	size_t i;

	gv_problem_equal_throughput(p, v);
	recorded_doubles(&r, v, p->n);
	i = below(p->n);
	gv_problem_equal_throughput_of(p, i, p->n, v);
	recorded_doubles(&r, v, p->n);
	gv_problem_fastest(p, v);
	recorded_doubles(&r, v, p->n);
	for (i = 0; i < p->n; i++)
		recorded_double(&r, gv_problem_own_fastest(p, i));
	gv_problem_isolated(p, x);
	recorded_doubles(&r, x, p->n * p->m);
	if (p->number[GV_NUMBER_STEPS] != NULL) {
		gv_problem_times_alone(p, v);
		recorded_doubles(&r, v, p->n);
	}
	free(v);
	free(x);
}

static void
record_shares(const struct gv_problem *p, double *x)
{
	size_t i;

	recorded_double(&r, gv_problem_cost(p, x));
	for (i = 0; i < p->n; i++)
		recorded_double(&r, gv_problem_throughput(p, x, i));
	recorded_double(&r, gv_problem_level(p, x));
	recorded_double(&r, gv_problem_excess(p, x));
}

/* Shares that are nearly over the limits, by units in the last place. */
static void
nudge(double *x, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++)
		for (k = below(4); k > 0 && x[i] > 0; k--)
			x[i] = nextafter(x[i], 2);
}

static void
ask_shares(void)
{
	struct drawn d;
	struct gv_problem *p = &d.p;
	double *x;
	size_t i;

	drawn_any(&d, 12, 5, DRAWN_CLASSES);
	x = gv_xcalloc(p->n, p->m * sizeof(*x));
	record_jobs(p);
	drawn_shares(p, x);
	for (i = 0; i < p->n * p->m; i++)
		if (uniform() < .1)
			x[i] = uniform() < .3 ? -x[i]
					      : x[i] * (uniform() < .5 ? 1e-12 : 1e-15);
	record_shares(p, x);
	gv_problem_clean(p, x);
	record_shares(p, x);
	recorded_doubles(&r, x, p->n * p->m);
	nudge(x, p->n * p->m);
	recorded_double(&r, gv_problem_excess(p, x));
	gv_problem_trim(p, x);
	recorded_doubles(&r, x, p->n * p->m);
	recorded_double(&r, gv_problem_excess(p, x));
	gv_problem_agnostic(p);
	recorded_problem(&r, p);
	free(x);
	drawn_free(&d);
}

static void
ask_pair_shares(void)
{
	struct drawn d;
	struct gv_problem *p = &d.p;
	struct gv_solution s = {0};
	double *v;
	size_t i;

	drawn_any(&d, 9, 4, DRAWN_PAIRS);
	p->budget = 0;
	s.x = gv_xcalloc(p->n, p->m * sizeof(*s.x));
	v = gv_xcalloc(p->n, sizeof(*v));
	recorded_together(&r, &d.together);
	record_jobs(p);
	drawn_shares(p, s.x);
	drawn_pair_shares(p, &s);
	for (i = 0; i < s.n_pairs; i++)
		if (uniform() < .1)
			s.pair[i].x *= uniform() < .5 ? 1e-13 : -1;
	gv_solution_throughput(p, &s, v);
	recorded_doubles(&r, v, p->n);
	recorded_double(&r, gv_solution_excess(p, &s));
	gv_solution_clean(p, &s);
	recorded_double(&r, gv_solution_excess(p, &s));
	recorded_doubles(&r, s.x, p->n * p->m);
	recorded_pairs(&r, s.pair, s.n_pairs);
	nudge(s.x, p->n * p->m);
	for (i = 0; i < s.n_pairs; i++)
		nudge(&s.pair[i].x, 1);
	gv_solution_trim(p, &s);
	recorded_doubles(&r, s.x, p->n * p->m);
	recorded_pairs(&r, s.pair, s.n_pairs);
	recorded_double(&r, gv_solution_excess(p, &s));
	gv_together_agnostic(&d.together, p->capacity);
	recorded_together(&r, &d.together);
	free(s.x);
	free(s.pair);
	free(v);
	drawn_free(&d);
}

/* ---- parts of problems ---- */

static void
record_classes(const struct drawn *d, bool merge)
{
	const struct gv_problem *p = &d->p;
	struct gv_classes c;
	struct gv_solution s = {0};
	double *x;
	size_t *rank, i, n = 0;

	gv_classes_make(&c, p, merge);
	recorded_problem(&r, &c.p);
	recorded_wholes(&r, c.of, p->n);
	s.x = gv_xcalloc(c.p.n, c.p.m * sizeof(*s.x));
	x = gv_xcalloc(p->n, p->m * sizeof(*x));
	drawn_shares(&c.p, s.x);
	gv_classes_disaggregate(&c, p->n, s.x, x);
	recorded_doubles(&r, x, p->n * p->m);
	if (p->together != NULL) {
		struct gv_pair *pair;

		rank = gv_xcalloc(p->n, sizeof(*rank));
		for (i = 0; i < p->n; i++)
			rank[i] = (i * 7 + 3) % p->n;
		for (i = 0; p->n % 7 == 0 && i < p->n; i++)
			rank[i] = p->n - 1 - i;
		drawn_pair_shares(&c.p, &s);
		pair = gv_disaggregate_pairs(&c, p->n, rank, s.pair, s.n_pairs, &n);
		recorded_pairs(&r, pair, n);
		free(pair);
		free(rank);
	}
	free(s.x);
	free(s.pair);
	free(x);
	gv_classes_free(&c);
}

/* Of every second job or so what the one before it is. */
static void
make_alike(struct gv_problem *p)
{
	double likely = uniform();
	size_t i, k;

	for (i = 1; i < p->n; i++) {
		size_t like = below(i);

		if (uniform() > likely)
			continue;
		copy_job(p, i, like);
		for (k = 0; k < GV_N_NUMBERS; k++)
			if (p->number[k] != NULL && uniform() < .95)
				p->number[k][i] = p->number[k][like];
		if (p->kind != NULL)
			p->kind[i] = p->kind[like];
	}
}

static void
ask_classes(void)
{
	struct drawn d;

	drawn_any(&d, 14, 4, uniform() < .5 ? DRAWN_PAIRS : 0);
	make_alike(&d.p);
	record_classes(&d, true);
	record_classes(&d, false);
	drawn_free(&d);
}

static void
ask_components(void)
{
	struct gv_components g;
	struct drawn d;
	struct gv_problem *p = &d.p, part;
	double *cells, *back, *v;
	size_t i, k;

	drawn_any(&d, 20, 9, DRAWN_CLASSES);
	p->budget = 0;
	for (i = 0; i < p->n; i++) { /* most jobs on a type or two */
		size_t one = below(p->m), two = below(p->m), j;

		for (j = 0; j < p->m && uniform() < .9; j++)
			if (j != one && j != two)
				p->rate[i * p->m + j] = 0;
		make_runnable(p, i);
	}
	gv_components_make(&g, p, p->rate);
	recorded_whole(&r, (long long)g.n);
	recorded_whole(&r, gv_components_pay(&g, p));
	recorded_wholes(&r, g.first_type, g.n + 1);
	recorded_wholes(&r, g.first_row, g.n + 1);
	recorded_wholes(&r, g.type, g.first_type[g.n]);
	recorded_wholes(&r, g.row, p->n);
	cells = gv_xcalloc(p->n, p->m * sizeof(*cells));
	back = gv_xcalloc(p->n, p->m * sizeof(*back));
	for (i = 0; i < p->n * p->m; i++)
		cells[i] = uniform();
	for (k = 0; k < g.n; k++) {
		gv_components_problem(&part, &g, k, p);
		recorded_problem(&r, &part);
		v = gv_components_cells(&g, k, cells);
		recorded_doubles(&r, v, part.n * part.m);
		gv_components_put_cells(&g, k, v, back);
		free(v);
		v = gv_components_rows(&g, k, p->scale);
		recorded_doubles(&r, v, part.n);
		free(v);
		v = gv_components_types(&g, k, p->price);
		recorded_doubles(&r, v, part.m);
		free(v);
		gv_problem_free(&part);
	}
	recorded_doubles(&r, back, p->n * p->m);
	free(cells);
	free(back);
	gv_components_free(&g);
	drawn_free(&d);
}

static void
ask_unfinished(void)
{
	struct gv_unfinished w;
	struct drawn d;
	struct gv_problem *p = &d.p;
	double *own, *all;
	size_t n = drawn_size(9), m = drawn_size(4), i;

	drawn_problem(
	    &d, n, m, all_numbers, DRAWN_CLASSES | DRAWN_BUDGET | DRAWN_REFERENCE);
	gv_unfinished_find(&w, p);
	recorded_whole(&r, w.all);
	recorded_problem(&r, &w.p);
	recorded_wholes(&r, w.of, w.p.n);
	own = gv_unfinished_take(&w, p->rate, m);
	recorded_doubles(&r, own, w.p.n * m);
	all = gv_xcalloc(n, m * sizeof(*all));
	for (i = 0; i < n * m; i++)
		all[i] = -1;
	gv_unfinished_scatter(&w, own, all);
	recorded_doubles(&r, all, n * m);
	free(own);
	free(all);
	gv_unfinished_free(&w);
	drawn_free(&d);
}

static void
ask_least(void)
{
	struct gv_least l;
	size_t n = 1 + below(20), k;

	gv_least_open(&l, n);
	for (k = 0; k < 40; k++) {
		double key = drawn_number(DRAWN_WHOLE);
		size_t at = below(n);

		gv_least_set(&l, at, uniform() < .1 ? INFINITY : key);
		recorded_whole(&r, (long long)gv_least_first(&l));
	}
	gv_least_close(&l);
}

/* ---- programs ---- */

static double *
drawn_list(size_t n, double none)
{
	double *v = gv_xcalloc(n, sizeof(*v));
	enum drawn_sort sort = drawn_sort();
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = uniform() < none ? 0 : drawn_number(sort);
	return v;
}

static void
record_multipliers(const struct gv_multipliers *mu, size_t n, size_t m)
{
	recorded_doubles(&r, mu->gpu, m);
	recorded_doubles(&r, mu->job, n);
	recorded_doubles(&r, mu->time, n);
	recorded_double(&r, mu->budget);
	recorded_whole(&r, mu->known);
}

static void
record_level(const struct gv_problem *p, const double *a, const double *x)
{
	struct gv_multipliers mu;
	struct gv_solution s = {0};
	struct gv_level l;
	size_t *of = gv_xcalloc(p->n, sizeof(*of)), i;
	double unit = gv_level_unit(p, a);

	gv_level_init(&l, p, &s, true);
	free(l.lambda);
	free(l.price);
	l.lambda = drawn_list(p->n, .2);
	l.price = drawn_list(p->m, .2);
	l.lambda[0] = 1;
	l.budget = p->budget > 0 && uniform() < .7 ? uniform() : 0;
	recorded_double(&r, unit);
	recorded_double(&r, gv_level_reached(p, a, x));
	recorded_double(&r, gv_level_bound(p, a, unit, l.lambda, l.price, l.budget));
	recorded_double(&r, gv_level_limit(p, a, &l));
	recorded_double(&r, gv_level_rounding(p));
	recorded_double(&r, gv_level_gap(p, 1 + uniform(), 1));
	gv_multipliers_alloc(&mu, p->n, p->m);
	for (i = 0; i < p->n; i++)
		of[i] = p->n - 1 - i;
	gv_multipliers_of_level(&mu, p, uniform() < .5 ? of : NULL, a, &l);
	record_multipliers(&mu, p->n, p->m);
	gv_multipliers_free(&mu);
	l.limit = uniform();
	recorded_double(&r, gv_level_limit(p, a, &l));
	gv_level_free(&l);
	free(of);
}

static void
record_linear(const struct gv_problem *p, const double *x)
{
	struct gv_multipliers mu;
	struct gv_solution s = {0};
	struct gv_linear l;
	double *gain = gv_linear_normalised(p), *one = gv_linear_ones(p);
	double *normal = gv_linear_normal(p), *need = drawn_list(p->n, .5);
	size_t i;

	recorded_doubles(&r, gain, p->n * p->m);
	recorded_doubles(&r, one, p->n);
	recorded_doubles(&r, normal, p->n);
	gv_linear_init(&l, p, &s);
	free(l.mu);
	free(l.price);
	l.mu = drawn_list(p->n, .3);
	l.price = drawn_list(p->m, .2);
	l.budget = p->budget > 0 && uniform() < .7 ? uniform() : 0;
	for (i = 0; i < p->n * p->m; i++)
		gain[i] *= uniform() < .2 ? -1 : 1;
	l.gain = gain;
	l.need = uniform() < .5 ? need : NULL;
	s.objective = gv_linear_sum(p, gain, x);
	gv_linear_prove(&l);
	recorded_double(&r, s.objective);
	recorded_double(&r, s.bound);
	recorded_double(&r, s.gap);
	gv_multipliers_alloc(&mu, p->n, p->m);
	gv_multipliers_of_linear(&mu, &l);
	record_multipliers(&mu, p->n, p->m);
	gv_multipliers_free(&mu);
	gv_linear_free(&l);
	free(gain);
	free(one);
	free(normal);
	free(need);
}

static void
record_reach(const struct gv_problem *p, const double *a)
{
	struct gv_reach reach;
	double *want = drawn_list(p->n, .5), *price = drawn_list(p->m, .3);

	gv_reach_alloc(&reach, p);
	memcpy(reach.price, price, p->m * sizeof(*price));
	gv_reach_lift(&reach, p, a, want);
	recorded_doubles(&r, reach.lambda, p->n);
	recorded_double(&r, gv_reach_rounding(p));
	gv_reach_free(&reach);
	free(want);
	free(price);
}

static void
ask_program(void)
{
	struct drawn d;
	double *a, *x;
	size_t i;

	drawn_any(&d, 12, 5, uniform() < .2 ? DRAWN_PAIRS : DRAWN_CLASSES);
	x = gv_xcalloc(d.p.n, d.p.m * sizeof(*x));
	a = gv_xcalloc(d.p.n, d.p.m * sizeof(*a));
	drawn_shares(&d.p, x);
	for (i = 0; i < d.p.n * d.p.m; i++)
		a[i] = d.p.rate[i] * d.p.scale[i / d.p.m];
	record_level(&d.p, a, x);
	record_linear(&d.p, x);
	record_reach(&d.p, a);
	free(a);
	free(x);
	drawn_free(&d);
}

/* Sums are of blocks where rows are many. */
static void
ask_many(size_t n)
{
	struct drawn d;
	double *x;

	drawn_problem(&d, n, 3, 0, DRAWN_CLASSES);
	x = gv_xcalloc(n, 3 * sizeof(*x));
	drawn_shares(&d.p, x);
	record_level(&d.p, d.p.rate, x);
	record_linear(&d.p, x);
	record_reach(&d.p, d.p.rate);
	gv_problem_clean(&d.p, x);
	nudge(x, n * 3);
	gv_problem_trim(&d.p, x);
	recorded_doubles(&r, x, n * 3);
	free(x);
	drawn_free(&d);
}

/* ---- pairs, priced ---- */

static void
note_pair(void *ctx, size_t a, size_t b, size_t pair, size_t type)
{
	(void)ctx;
	recorded_whole(&r, (long long)a);
	recorded_whole(&r, (long long)b);
	recorded_whole(&r, (long long)pair);
	recorded_whole(&r, (long long)type);
}

static void
ask_pricing(void)
{
	struct drawn d;
	struct gv_pricing g;
	struct gv_pair_prices v;
	struct gv_candidate *best;
	size_t i;

	drawn_any(&d, 30, 4, DRAWN_PAIRS);
	for (i = 0; i < d.p.n; i++)
		d.p.count[i] = uniform() < .5 ? 1 : 2;
	if (uniform() < .5)
		make_alike(&d.p);
	v.worth = drawn_list(d.p.n * d.p.m, .1);
	v.time = drawn_list(d.p.n, .3);
	v.gpu = drawn_list(d.p.m, .3);
	best = gv_xcalloc(d.p.n, sizeof(*best));
	gv_pricing_init(&g, &d.p);
	gv_pricing_pass(&g, &v, best);
	for (i = 0; i < d.p.n; i++) {
		recorded_double(&r, best[i].most);
		recorded_double(&r, best[i].reduced_cost);
		if (best[i].reduced_cost > -INFINITY)
			note_pair(NULL, best[i].a, best[i].b, best[i].pair, best[i].type);
	}
	gv_pricing_all(&g, note_pair, NULL);
	gv_pricing_free(&g);
	free(v.worth);
	free(v.time);
	free(v.gpu);
	free(best);
	drawn_free(&d);
}

static void
test_all(const char *what, uint32_t stream, void (*ask)(void), int answers)
{
	int k, i;

	for (k = 0; k < answers; k++) {
		draws_begin(stream, 0, (uint32_t)k);
		for (i = 0; i < 60; i++)
			ask();
		recorded_answer(&r, "%s, %d", what, k);
	}
}

int
main(void)
{
	static const size_t many[] = {1023, 1024, 1025, 2100};
	size_t k;

	recorded_open(&r);
	test_all("shares", 1, ask_shares, 40);
	test_all("pairs", 2, ask_pair_shares, 40);
	test_all("classes", 3, ask_classes, 30);
	test_all("components", 4, ask_components, 20);
	test_all("unfinished", 5, ask_unfinished, 10);
	test_all("the least", 6, ask_least, 10);
	test_all("programs", 7, ask_program, 40);
	test_all("priced", 8, ask_pricing, 40);
	for (k = 0; k < sizeof(many) / sizeof(many[0]); k++) {
		draws_begin(9, 0, (uint32_t)k);
		ask_many(many[k]);
		recorded_answer(&r, "%zu jobs", many[k]);
	}
	recorded_close(&r);
	return done_testing();
}
