/*
 * Which solvers a level or a sum is given to, in which order, with what effort, and what becomes
 * of what they come to: with solvers that only say what they were asked and answer by chance.
 * They stand before the library's.
 */
#include "tap.h"

#include "alloc_draws.h"
#include "alloc/interior/interior.h"
#include "alloc/interior/level_interior.h"
#include "alloc/price/level_prices.h"
#include "alloc/price/linear_prices.h"
#include "alloc/simplex/precise.h"
#include "alloc/simplex/simplex.h"
#include "alloc/solve/plain.h"
#include "lp/tolerance.h"

static struct recorded r;

/* What the solvers are said to take. */
static struct {
	double program, interior, other; /* other: of the program that is not asked for */
} takes;

static size_t calls; /* of solvers, in one question */

double
gv_simplex_level_effort(size_t n, size_t m)
{
	return n > 0 && m > 0 ? takes.program : -1;
}

double
gv_simplex_sum_effort(size_t n, size_t m)
{
	return n > 0 && m > 0 ? takes.program : -1;
}

double
gv_interior_level_effort(size_t n, size_t m)
{
	return n > 0 && m > 0 ? takes.interior : -1;
}

double
gv_interior_sum_effort(size_t n, size_t m)
{
	return n > 0 && m > 0 ? takes.other : -1;
}

static void
record(const double *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		recorded_double(&r, v[i]);
}

/* ---- solvers ---- */

/* Solved seldom, so that all have their turn. */
static int
draw_end(void)
{
	double end = uniform();

	calls++;
	return end < .3 ? 0 : end < .97 ? 1 : -1;
}

/* Efforts are rounded: of products that machines may contract. */
static void
record_effort(double *effort)
{
	static const double left[] = {0, -1, 1, 1e4};

	recorded_rounded(&r, *effort, 12);
	if (uniform() < .7)
		*effort = left[below(4)];
}

/* A level with this gap. */
static void
set_apart(const struct gv_problem *p, struct gv_level *l, double gap)
{
	l->s->bound = 1 / gap;
	l->s->objective = l->s->bound - 1;
	while (gv_level_gap(p, l->s->bound, l->s->objective) > gap)
		l->s->objective = nextafter(l->s->objective, l->s->bound);
}

/* Some of few levels and bounds, next to one another or apart. */
static int
draw_level(const struct gv_problem *p, struct gv_level *l, bool *second_done)
{
	static const double below_1[] = {0, 0, GV_TOL_AS_GOOD, 1.01 * GV_TOL_AS_GOOD,
	    GV_TOL_AS_GOOD / 2, 1e-9, 1e-7, 1e-3, 1, 1.5},
			    above[] = {0, 0, 1e-11, 4e-10, 6e-10, 2e-9, 2e-9, 5e-8, 9e-7,
				1.1e-6, 1e-3};
	size_t i;

	recorded_double(&r, l->second_effort);
	recorded_whole(&r, l->lexicographic);
	record(l->s->x, p->n * p->m);
	for (i = 0; i < p->n * p->m; i++)
		l->s->x[i] = .25 * (double)below(2);
	for (i = 0; i < p->n; i++)
		l->lambda[i] = (double)below(5);
	for (i = 0; i < p->m; i++)
		l->price[i] = (double)below(5);
	l->s->objective = 1 - below_1[below(10)];
	l->s->bound = 1 + above[below(11)];
	if (uniform() < .2) /* apart by just as much as may be */
		set_apart(p, l, uniform() < .5 ? GV_TOL_LEVEL_SAID : GV_TOL_PROVED);
	*second_done = uniform() < .5;
	return draw_end();
}

int
gv_level_by_prices(const struct gv_problem *p, const double *a, double unit,
    struct gv_level *l, double *effort, struct gv_price_memory *memory, bool *second_done)
{
	recorded_text(&r, "prices");
	record(a, p->n * p->m);
	recorded_double(&r, unit);
	record_effort(effort);
	recorded_whole(&r, memory != NULL);
	return draw_level(p, l, second_done);
}

int
gv_level_by_interior(const struct gv_problem *p, const double *a, double unit, bool sharp,
    struct gv_level *l, bool *second_done, struct gv_error *e)
{
	int rc;

	recorded_text(&r, "interior");
	record(a, p->n * p->m);
	recorded_double(&r, unit);
	recorded_whole(&r, sharp);
	rc = draw_level(p, l, second_done);
	return rc < 0 ? gv_error_set(e, "interior") : rc;
}

int
gv_level_by_program(const struct gv_problem *p, const double *a, double unit, bool exact,
    bool limited, struct gv_level *l, enum gv_lp_status *status, bool *second_done,
    struct gv_error *e)
{
	int rc;

	recorded_text(&r, "program");
	record(a, p->n * p->m);
	recorded_double(&r, unit);
	recorded_whole(&r, exact);
	recorded_whole(&r, limited);
	*status = (enum gv_lp_status)(1 + below(4));
	rc = draw_level(p, l, second_done);
	return rc < 0 ? gv_error_set(e, "program") : rc;
}

bool
gv_level_precisely(const struct gv_problem *p, const double *a, struct gv_level *l)
{
	recorded_text(&r, "precisely");
	record(a, p->n * p->m);
	recorded_whole(&r, l->lexicographic);
	return uniform() < .5;
}

/* Shares that just keep a need, do not quite, or keep more, where the rates are 1. */
static int
draw_sum(struct gv_linear *l, struct gv_error *e)
{
	static const double part[] = {1, 1 - GV_TOL_FEASIBLE, 1 - 1.1 * GV_TOL_FEASIBLE,
	    1 - .9 * GV_TOL_FEASIBLE, .5, 2};
	static const double gap[] = {
	    0, GV_TOL_PROVED, 1.1 * GV_TOL_PROVED, .9 * GV_TOL_PROVED, 1e-6};
	size_t i, most = uniform() < .6 ? 2 : 6;
	int rc = draw_end();

	for (i = 0; i < l->p->n; i++)
		l->s->x[i * l->p->m] =
		    (l->need != NULL ? l->need[i] : 1) * part[below(most)];
	l->s->gap = gap[below(5)];
	if (uniform() < .7)
		l->s->second_missed = uniform() < .3;
	return rc < 0 || (rc > 0 && uniform() < .5) ? (gv_error_set(e, "%zu", calls), rc)
						    : rc;
}

int
gv_linear_by_prices(struct gv_linear *l, double *effort, struct gv_price_memory *memory,
    const char *name, struct gv_error *e)
{
	recorded_text(&r, "prices");
	recorded_text(&r, name);
	record(l->s->x, l->p->n * l->p->m);
	record_effort(effort);
	recorded_whole(&r, memory != NULL);
	return draw_sum(l, e);
}

int
gv_linear_by_interior(struct gv_linear *l, const char *name, struct gv_error *e)
{
	recorded_text(&r, "interior");
	recorded_text(&r, name);
	record(l->s->x, l->p->n * l->p->m);
	return draw_sum(l, e);
}

int
gv_linear_by_program(
    struct gv_linear *l, bool exact, bool limited, const char *name, struct gv_error *e)
{
	int rc;

	recorded_text(&r, "program");
	recorded_text(&r, name);
	recorded_whole(&r, exact);
	recorded_whole(&r, limited);
	record(l->s->x, l->p->n * l->p->m);
	rc = draw_sum(l, e);
	return rc > 0 ? gv_error_set(e, "program") : rc;
}

bool
gv_linear_precisely(struct gv_linear *l)
{
	recorded_text(&r, "precisely");
	record(l->s->x, l->p->n * l->p->m);
	return uniform() < .5;
}

/* ---- questions ---- */

/* A few jobs on a few types, of the rate 1; and what solvers take, often just at a limit. */
static void
draw(struct gv_problem *p)
{
	static const double program[] = {1e4, 1e5, 1.01e5, 1e6, 3e7, 1e9},
			    times[] = {.01, .1, 1 / 30., .04, 1, 1.3, 1.31, 10},
			    budget[8] = {2, .5};
	size_t n = 1 + below(4), m = 1 + below(4), i;

	gv_problem_alloc(p, n, m);
	for (i = 0; i < m; i++) {
		p->capacity[i] = (double)(1 + below(3));
		p->price[i] = 1;
	}
	for (i = 0; i < n; i++)
		p->scale[i] = p->weight[i] = p->count[i] = p->rate[i * m] = 1;
	p->budget = budget[below(8)];
	takes.program = program[below(6)];
	takes.interior = takes.program * times[below(8)];
	takes.other = takes.interior * (1 + 3 * uniform());
	calls = 0;
}

static struct gv_solver_options
draw_options(struct gv_price_memory *memory, double *price)
{
	struct gv_solver_options opt = {.solver = GV_SOLVER_AUTO};

	if (uniform() < .3)
		opt.solver = (enum gv_solver)below(4);
	opt.sharp = uniform() < .4;
	opt.any = uniform() < .3;
	opt.certify = uniform() < .1;
	opt.placeable = uniform() < .1;
	*memory = (struct gv_price_memory){.first_of_many = uniform() < .5};
	if (uniform() < .3)
		memory->capacity_price = price;
	if (uniform() < .5)
		opt.memory = memory;
	return opt;
}

static void
record_end(
    int rc, const struct gv_problem *p, const struct gv_solution *s, struct gv_error *e)
{
	size_t k;

	recorded_whole(&r, rc);
	recorded_whole(&r, (long long)e->count);
	for (k = 0; k < e->count; k++)
		recorded_text(&r, e->text[k]);
	record(s->x, p->n * p->m);
	recorded_double(&r, s->objective);
	recorded_double(&r, s->bound);
	recorded_double(&r, s->gap);
	recorded_whole(&r, s->has_bound);
	recorded_whole(&r, s->second_missed);
	gv_error_clear(e);
}

static void
ask_level(void)
{
	struct gv_price_memory memory;
	struct gv_solution s = {0};
	struct gv_solver_options opt;
	struct gv_error e = {0};
	double price[4] = {1, 1, 1, 1}, a[16] = {0};
	struct gv_problem p;
	struct gv_level l;
	size_t i;
	int rc;

	draw(&p);
	opt = draw_options(&memory, price);
	for (i = 0; i < p.n * p.m; i++) {
		double level = (double)(1 + below(3));

		a[i] = i % p.m == 0 || uniform() < .5 ? level : 0;
	}
	s.x = gv_xcalloc(p.n, p.m * sizeof(*s.x));
	gv_level_init(&l, &p, &s, uniform() < .6);
	rc = gv_level_plain(&p, a, &opt, "levels", &l, &e);
	record_end(rc, &p, &s, &e);
	record(l.lambda, p.n);
	record(l.price, p.m);
	gv_level_free(&l);
	free(s.x);
	gv_problem_free(&p);
}

static void
ask_sum(void)
{
	struct gv_price_memory memory;
	struct gv_solution s = {0};
	struct gv_solver_options opt;
	struct gv_error e = {0};
	double price[4] = {1, 1, 1, 1}, gain[16] = {0}, need[4];
	struct gv_problem p;
	struct gv_linear l;
	size_t i;

	draw(&p);
	opt = draw_options(&memory, price);
	for (i = 0; i < p.n * p.m; i++) {
		double each = uniform();

		gain[i] = i % p.m == 0 || uniform() < .5 ? each : 0;
	}
	for (i = 0; i < p.n; i++)
		need[i] = .25 * (double)(1 + below(3));
	s.x = gv_xcalloc(p.n, p.m * sizeof(*s.x));
	s.second_missed = uniform() < .5;
	if (uniform() < .2)
		gv_error_set(&e, "before");
	gv_linear_init(&l, &p, &s);
	l.gain = gain;
	l.need = uniform() < .6 ? need : NULL;
	l.size = uniform() < .2 ? gain : NULL;
	record_end(gv_linear_plain(&l, &opt, "sums", &e), &p, &s, &e);
	gv_linear_free(&l);
	free(s.x);
	gv_problem_free(&p);
}

static void
test_all(const char *what, uint32_t stream, void (*ask)(void))
{
	int k, i;

	for (k = 0; k < 40; k++) {
		draws_begin(stream, 1, (uint32_t)k);
		for (i = 0; i < 200; i++)
			ask();
		recorded_answer(&r, "%s, %d", what, k);
	}
}

int
main(void)
{
	recorded_open(&r);
	test_all("levels", 1, ask_level);
	test_all("sums", 2, ask_sum);
	recorded_close(&r);
	return done_testing();
}
