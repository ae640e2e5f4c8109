/*
 * Levels, sums and reaches of drawn problems by all ways to solve them, while solvers fail now
 * and then: what is found, and what is proved of it, is what it was.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include "tap.h"

#include "alloc_draws.h"
#include "alloc_failing.h"
#include "alloc/solve/apart.h"
#include "alloc/solve/choice.h"
#include "alloc/solve/deadline.h"
#include "alloc/solve/settled.h"
#include "alloc/solve/solve.h"

static struct recorded r;

/* ---- what is recorded ---- */

static void
record(const double *v, size_t n)
{
	size_t i;

	for (i = 0; v != NULL && i < n; i++)
		recorded_solved(&r, v[i]);
}

static void
record_errors(int rc, struct gv_error *e)
{
	size_t k;

	recorded_whole(&r, rc);
	recorded_whole(&r, (long long)e->count);
	for (k = 0; k < e->count && k < GV_ERROR_KEPT; k++)
		recorded_text(&r, e->text[k]);
	gv_error_clear(e);
}

static void
record_solution(const struct gv_problem *p, const struct gv_solution *s)
{
	record(s->x, p->n * p->m);
	recorded_solved(&r, s->objective);
	recorded_solved(&r, s->bound);
	recorded_way(&r, s->gap);
	recorded_whole(&r, s->has_bound);
	recorded_whole(&r, s->exact);
	recorded_whole(&r, s->second_missed);
}

/* ---- problems ---- */

/* Jobs and types in groups that have nothing in common. */
static void
separate(struct gv_problem *p)
{
	size_t groups = 2 + below(2), i, j;

	for (i = 0; i < p->n; i++) {
		double *row = &p->rate[i * p->m];
		size_t own = i % groups;

		for (j = 0; j < p->m; j++)
			if (j % groups != own)
				row[j] = 0;
		if (gv_row_max(row, p->m) == 0) {
			row[own % p->m] = 1 + (double)(i % 3);
			p->scale[i] = 1;
		}
	}
}

static void
draw(struct drawn *d, unsigned with)
{
	size_t most = uniform() < .4 ? 40 : 14, n = drawn_size(most), m = 1 + below(7);
	bool apart = uniform() < .3;

	with |= DRAWN_CLASSES;
	if (uniform() < .6)
		with |= DRAWN_NEAR;
	if (apart) { /* more than one quick program */
		n += 12;
		m += 2;
	} else if (uniform() < .3)
		with |= DRAWN_BUDGET;
	if (uniform() < .2)
		with |= DRAWN_BROKEN;
	drawn_problem(d, n, m, 0, with);
	if (apart)
		separate(&d->p);
}

static struct gv_solver_options
draw_options(const struct gv_problem *p, struct gv_price_memory *memory)
{
	struct gv_solver_options opt = {.solver = GV_SOLVER_AUTO};
	double part = uniform();

	if (part > .6)
		opt.solver = (enum gv_solver)below(4);
	opt.sharp = uniform() < .3;
	opt.any = uniform() < .2;
	opt.wide = uniform() < .3;
	opt.digits = uniform() < .1;
	opt.certify = uniform() < .1 && p->n < 9;
	opt.placeable = uniform() < .15 && p->n <= 4 && p->m <= 3;
	memory->first_of_many = uniform() < .3;
	if (uniform() < .4)
		opt.memory = memory;
	if (!opt.placeable && uniform() < .7)
		some_fail();
	return opt;
}

/* What shares that there are bring, or part of it, to some.  [n], the caller's */
static double *
draw_needs(const struct gv_problem *p, double *x, double most)
{
	double *need = gv_xcalloc(p->n, sizeof(*need)), part = most * uniform(),
	       likely = uniform();
	size_t i;

	gv_problem_isolated(p, x);
	if (p->budget > 0 && gv_problem_cost(p, x) > p->budget)
		for (i = 0; i < p->n * p->m; i++)
			x[i] *= .99 * p->budget / gv_problem_cost(p, x);
	for (i = 0; i < p->n; i++)
		if (uniform() < likely)
			need[i] = part * gv_problem_throughput(p, x, i);
	return need;
}

static double *
draw_levels(const struct gv_problem *p)
{
	double *a = gv_xcalloc(p->n, p->m * sizeof(*a));
	enum drawn_sort sort = drawn_sort_with(DRAWN_NEAR);
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double each = drawn_number(sort);

		for (j = 0; j < p->m; j++)
			a[i * p->m + j] = each * gv_problem_rate(p, i, j);
	}
	return a;
}

/* ---- questions ---- */

static void
ask_level(void)
{
	struct gv_price_memory memory = {0};
	struct gv_solver_options opt;
	struct gv_solution s = {0};
	struct gv_error e = {0};
	double *a, *need, *floor = NULL;
	struct gv_level l;
	struct drawn d;
	size_t i;
	int k;

	draw(&d, 0);
	opt = draw_options(&d.p, &memory);
	s.x = gv_xcalloc(d.p.n, d.p.m * sizeof(*s.x));
	a = draw_levels(&d.p);
	need = draw_needs(&d.p, s.x, 1);
	if (uniform() < .3) {
		floor = gv_xcalloc(d.p.n, sizeof(*floor));
		for (i = 0; i < d.p.n; i++)
			floor[i] = need[i] * gv_level_per_step(&d.p, a, i);
	}
	for (k = 0; k < (opt.memory != NULL ? 2 : 1); k++) {
		gv_level_init(&l, &d.p, &s, uniform() < .6);
		l.floor = floor;
		record_errors(gv_level_solve(&d.p, a, &opt, "levels", &l, &e), &e);
		record_solution(&d.p, &s);
		record(l.lambda, d.p.n);
		record(l.price, d.p.m);
		recorded_solved(&r, l.budget);
		recorded_solved(&r, l.limit);
		gv_level_free(&l);
		draw_needs(&d.p, s.x, 0);
	}
	none_fail();
	gv_price_forget(&memory);
	free(floor);
	free(need);
	free(a);
	free(s.x);
	drawn_free(&d);
}

/* Gains, often those of rates, some below 0, or those of a few rows only.  [n][m] */
static double *
draw_gains(const struct gv_problem *p)
{
	double *gain = gv_linear_normalised(p), sort = uniform();
	size_t k;

	for (k = 0; k < p->n * p->m && sort < .4; k++)
		if (gain[k] > 0)
			gain[k] *= sort < .1 ? uniform() - .3 : sort < .2 ? 1 : uniform();
	return gain;
}

static void
ask_sum(void)
{
	struct gv_price_memory memory = {0};
	struct gv_solver_options opt;
	struct gv_solution s = {0};
	struct gv_error e = {0};
	double *gain, *second, *need, *size;
	struct gv_linear l;
	struct drawn d;
	size_t i;

	draw(&d, 0);
	opt = draw_options(&d.p, &memory);
	gain = draw_gains(&d.p);
	second = draw_gains(&d.p);
	size = gv_xcalloc(d.p.n, d.p.m * sizeof(*size));
	for (i = 0; i < d.p.n * d.p.m; i++) {
		size[i] = 2 * fabs(gain[i]);
		second[i] = fabs(second[i]);
	}
	s.x = gv_xcalloc(d.p.n, d.p.m * sizeof(*s.x));
	need = draw_needs(&d.p, s.x, 1);
	gv_linear_init(&l, &d.p, &s);
	l.gain = gain;
	l.second = uniform() < .6 ? second : NULL;
	l.need = uniform() < .6 ? need : NULL;
	l.size = uniform() < .2 ? size : NULL;
	record_errors(gv_linear_solve(&l, &opt, "sums", &e), &e);
	record_solution(&d.p, &s);
	record(l.mu, d.p.n);
	record(l.price, d.p.m);
	recorded_solved(&r, l.budget);
	none_fail();
	gv_linear_free(&l);
	gv_price_forget(&memory);
	free(need);
	free(size);
	free(second);
	free(gain);
	free(s.x);
	drawn_free(&d);
}

static void
ask_reach(void)
{
	struct gv_price_memory memory = {0};
	struct gv_solver_options opt;
	struct gv_error e = {0};
	double *a, *want, *x;
	struct gv_reach reach;
	struct drawn d;
	size_t i;

	draw(&d, 0);
	d.p.budget = 0;
	opt = draw_options(&d.p, &memory);
	opt.memory = NULL;
	a = draw_levels(&d.p);
	x = gv_xcalloc(d.p.n, d.p.m * sizeof(*x));
	want = draw_needs(&d.p, x, 3);
	for (i = 0; i < d.p.n; i++)
		want[i] *= gv_level_per_step(&d.p, a, i);
	if (gv_row_max(want, d.p.n) == 0)
		want[0] = gv_row_max(a, d.p.m);
	gv_reach_alloc(&reach, &d.p);
	recorded_whole(&r, gv_reach_is_narrow(&d.p, &opt));
	record_errors(
	    gv_reach_solve(&reach, &d.p, a, want, uniform() < .4, &opt, &e), &e);
	record(reach.x, d.p.n * d.p.m);
	record(reach.lambda, d.p.n);
	record(reach.price, d.p.m);
	recorded_solved(&r, reach.limit);
	recorded_whole(&r, reach.exact);
	none_fail();
	gv_reach_free(&reach);
	free(want);
	free(a);
	free(x);
	drawn_free(&d);
}

static void
ask_settled(void)
{
	struct gv_settled s;
	double *a, *want, *x;
	struct drawn d;
	size_t i;

	draw(&d, 0);
	a = draw_levels(&d.p);
	x = gv_xcalloc(d.p.n, d.p.m * sizeof(*x));
	want = draw_needs(&d.p, x, 2);
	for (i = 0; i < d.p.n; i++)
		want[i] *= gv_level_per_step(&d.p, a, i);
	recorded_whole(&r, gv_settled_make(&s, &d.p, a, want));
	if (s.q.n > 0) {
		recorded_problem(&r, &s.q);
		recorded_doubles(&r, s.a, s.q.n * s.q.m);
		recorded_doubles(&r, s.want, s.q.n);
	}
	recorded_some(&r, s.x, s.x != NULL ? d.p.n : 0);
	for (i = 0; s.keep != NULL && i < d.p.n; i++)
		recorded_whole(&r, s.keep[i]);
	gv_settled_free(&s);
	free(want);
	free(a);
	free(x);
	drawn_free(&d);
}

/* Gangs that are relaxed shares of a level, each size by itself. */
static void
ask_apart(void)
{
	struct gv_solver_options opt = {.solver = (enum gv_solver)below(4)};
	struct gv_solution s = {0};
	struct gv_error e = {0};
	struct gv_level l;
	struct drawn d;
	double *a, *x;
	size_t n = 1 + below(30), m = 1 + below(3), i;

	drawn_problem(&d, n, m, 0, DRAWN_CLASSES | DRAWN_NEAR);
	for (i = 0; i < d.p.m; i++) /* that go into it or not */
		d.p.capacity[i] = fmax(d.p.capacity[i], 4 + (double)below(20));
	a = draw_levels(&d.p);
	s.x = gv_xcalloc(d.p.n, d.p.m * sizeof(*s.x));
	x = gv_xcalloc(d.p.n, d.p.m * sizeof(*x));
	gv_level_init(&l, &d.p, &s, uniform() < .5);
	if (uniform() < .3)
		some_fail();
	if (gv_level_solve(&d.p, a, &opt, "levels", &l, &e) == 0) {
		double level = s.objective * (uniform() < .4 ? 1 : uniform());

		recorded_whole(&r, gv_level_apart(&d.p, a, &opt, level, s.x, x));
		record(x, d.p.n * d.p.m);
	}
	none_fail();
	gv_error_clear(&e);
	gv_level_free(&l);
	free(s.x);
	free(a);
	free(x);
	drawn_free(&d);
}

/* Jobs of which not all mixtures are looked at, in whole gangs. */
static void
ask_placed(void)
{
	const struct gv_solver_options opt = {.placeable = true};
	size_t n = 33 + below(8), m = 1 + below(2), i;
	struct gv_solution s = {0};
	struct gv_error e = {0};
	struct gv_level l;
	struct drawn d;
	double *a;

	drawn_problem(&d, n, m, 0, DRAWN_NEAR);
	for (i = 0; i < m; i++)
		d.p.capacity[i] = 8 + (double)below(20);
	a = draw_levels(&d.p);
	s.x = gv_xcalloc(n, m * sizeof(*s.x));
	gv_level_init(&l, &d.p, &s, true);
	record_errors(gv_level_solve(&d.p, a, &opt, "levels", &l, &e), &e);
	record_solution(&d.p, &s);
	record(l.lambda, n);
	record(l.price, m);
	recorded_solved(&r, l.limit);
	gv_level_free(&l);
	free(s.x);
	free(a);
	drawn_free(&d);
}

static void
ask_deadlines(void)
{
	struct gv_solution s = {0};
	struct gv_solver_options opt;
	struct gv_price_memory memory = {0};
	struct gv_error e = {0};
	double *need, *own;
	struct drawn d;
	size_t n = drawn_size(16), m = 1 + below(4), i, k;
	unsigned numbers = uniform() < .9 ? (unsigned)GV_NEEDS : 0;

	drawn_problem(&d, n, m, numbers,
	    uniform() < .2 ? DRAWN_PAIRS : DRAWN_CLASSES | DRAWN_BUDGET | DRAWN_NEAR);
	opt = draw_options(&d.p, &memory);
	s.x = gv_xcalloc(d.p.n, d.p.m * sizeof(*s.x));
	need = gv_xcalloc(d.p.n, sizeof(*need));
	for (k = GV_NUMBER_NEED; k <= GV_NUMBER_MINIMUM; k++) {
		if (d.p.number[k] == NULL)
			continue;
		own = draw_needs(&d.p, s.x, k == GV_NUMBER_NEED ? 2 : 1);
		memcpy(d.p.number[k], own, d.p.n * sizeof(*own));
		free(own);
	}
	if (d.p.number[GV_NUMBER_NEED] != NULL && uniform() < .2)
		d.p.number[GV_NUMBER_NEED][below(d.p.n)] = INFINITY;
	memset(s.x, 0, d.p.n * d.p.m * sizeof(*s.x));
	record_errors(
	    gv_deadline_needs(&d.p, &opt, uniform() < .5, "needs", need, &s, &e), &e);
	record(need, d.p.n);
	record(s.x, d.p.n * d.p.m);
	recorded_solved(&r, s.relaxation);
	for (i = 0; s.late != NULL && i < d.p.n; i++)
		recorded_whole(&r, s.late[i]);
	none_fail();
	gv_price_forget(&memory);
	free(s.pair);
	free(s.late);
	free(s.x);
	free(need);
	drawn_free(&d);
}

static void
ask_choice(void)
{
	static const double efforts[] = {1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10};
	size_t n = 1 + below(uniform() < .5 ? 40 : 20000), m = 1 + below(24);
	double effort = efforts[below(7)], next = effort * (1 + uniform());
	bool sum = uniform() < .5, many = uniform() < .5;
	struct gv_choice_short missing;
	struct drawn d;
	size_t few;
	double *a;

	draw(&d, 0);
	a = draw_levels(&d.p);
	missing = gv_choice_short(&d.p, a, uniform() < .3 ? INFINITY : 4 * uniform());
	recorded_whole(&r, (long long)missing.types);
	recorded_double(&r, missing.part);
	recorded_whole(&r, gv_choice_whole(next));
	recorded_whole(&r, gv_choice_whole(uniform() < .5 ? 1e5 : next * uniform()));
	few = 1 + below(2 * m);
	recorded_whole(&r, gv_choice_simplex_second(few, m, next, 2 * next * uniform()));
	recorded_double(&r, gv_choice_prices_effort(
				n, m, sum, next, uniform() < .3 ? NULL : &missing, many));
	free(a);
	drawn_free(&d);
}

static void
test_all(const char *what, uint32_t stream, void (*ask)(void), int answers, int questions)
{
	int k, i;

	for (k = 0; k < answers; k++) {
		draws_begin(stream, 1, (uint32_t)k);
		for (i = 0; i < questions; i++)
			ask();
		recorded_answer(&r, "%s, %d", what, k);
	}
}

int
main(void)
{
	recorded_open(&r);
	recorded_glpk(&r, glp_version());
	test_all("choices", 1, ask_choice, 20, 90);
	test_all("settled", 2, ask_settled, 20, 90);
	test_all("levels", 3, ask_level, 40, 24);
	test_all("sums", 4, ask_sum, 40, 24);
	test_all("reaches", 5, ask_reach, 40, 24);
	test_all("apart", 6, ask_apart, 40, 24);
	test_all("deadlines", 7, ask_deadlines, 40, 24);
	test_all("placed", 8, ask_placed, 12, 1);
	recorded_close(&r);
	return done_testing();
}
