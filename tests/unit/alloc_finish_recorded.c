/*
 * finish-time alone: programs of levels and sums are answered as drawn here; which ones are asked for,
 * ratio after ratio, and what becomes of their answers, is what it was.
 */
#include <math.h>

#include "alloc_draws.h"
#include "alloc/problem/unfinished.h"
#include "alloc/simplex/precise.h"
#include "alloc/solve/deadline.h"

static int level_solve(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e);
static int linear_solve(struct gv_linear *l, const struct gv_solver_options *opt,
    const char *name, struct gv_error *e);
static int deadline_needs(const struct gv_problem *p, const struct gv_solver_options *opt,
    bool relax, const char *name, double *need, struct gv_solution *s,
    struct gv_error *e);
static bool is_quick(const struct gv_problem *p);

#define gv_level_solve      level_solve
#define gv_linear_solve     linear_solve
#define gv_deadline_needs   deadline_needs
#define gv_precise_is_quick is_quick
#include "../../common/alloc/policy/finish_time.c"

static struct recorded r;

/* Whose programs are asked for, where their answers are to be next to what it looks for. */
static const struct finish *known;
static size_t calls; /* of solvers, in one question */
static bool quick;

static bool
one_in(size_t n)
{
	return below(n) == 0;
}

/* Sums of products: machines may contract them. */
static void
record(const double *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		recorded_rounded(&r, v[i], 10);
}

static bool
is_quick(const struct gv_problem *p)
{
	recorded_whole(&r, (long long)p->n);
	return quick;
}

static void
record_options(const struct gv_solver_options *o)
{
	recorded_whole(&r, o->solver);
	recorded_whole(&r, o->certify + 2 * o->placeable + 4 * o->digits + 8 * o->sharp);
	recorded_whole(&r, o->progress != NULL);
	recorded_whole(&r, o->memory != NULL);
	if (o->memory != NULL) {
		recorded_whole(&r, o->memory->first_of_many);
		recorded_rounded(&r, o->memory->change, 3);
	}
}

/* Shares of some of its types. */
static void
draw_shares(const struct gv_problem *p, double *x)
{
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double part = (double)(1 + below(4)) / 4;

		for (j = 0; j < p->m; j++)
			if (gv_problem_rate(p, i, j) > 0 && !one_in(4))
				x[i * p->m + j] += part / (double)p->m;
	}
	if (one_in(5))
		gv_problem_isolated(p, x);
}

/* The right side whose root is a little below the ratio that the shares have. */
static double
limit_at(const struct gv_problem *p, const struct gv_level *l, double theta)
{
	static const double off[] = {
	    0, GV_TOL_RATIO / 2, 2 * GV_TOL_RATIO, 1e-10, 2e-9, .1};
	struct gv_solution s = {.x = l->s->x};
	double at = ratio(known, &s) * (1 - off[below(6)]), sum = 0;
	size_t i;

	if (one_in(8))
		at = theta * (1 + off[below(6)]);
	for (i = 0; i < p->n && isfinite(at); i++)
		sum +=
		    l->lambda[i] / per_asked(known, i, at) * per_asked(known, i, theta);
	return isfinite(sum) ? sum : 1;
}

/* theta of what is asked for: a_ij / T_ij = (theta D_i - e_i) / n_i, of the job with no need. */
static double
theta_of(const struct gv_problem *p, const double *a)
{
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (gv_problem_rate(p, i, j) > 0 && known->need[i] == 0)
				return (a[i * p->m + j] / gv_problem_rate(p, i, j) *
					       p->number[GV_NUMBER_STEPS][i] +
					   p->number[GV_NUMBER_ELAPSED][i]) /
				       known->alone[i];
	return 1;
}

static int
level_solve(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e)
{
	static const double reached[] = {1, 1, 1 - GV_TOL_LESS_2 / 2,
	    1 - 2 * GV_TOL_LESS_2, 1 + GV_TOL_RATIO / 2, 1 + 2 * GV_TOL_RATIO, .5, 1.5};
	bool many = p->n > 1000;
	size_t i;

	recorded_text(&r, name);
	recorded_whole(&r, (long long)p->n);
	recorded_whole(&r, l->lexicographic);
	recorded_whole(&r, l->warm != NULL);
	recorded_whole(&r, l->floor != NULL);
	record_options(opt);
	record(a, many ? 4 * p->m : p->n * p->m);
	record(l->s->x, many ? 4 * p->m : p->n * p->m);
	record(p->capacity, p->m);
	calls++;
	draw_shares(p, l->s->x);
	for (i = 0; i < p->n; i++)
		l->lambda[i] = one_in(3) ? 0 : (double)(1 + below(3));
	for (i = 0; i < p->m; i++)
		l->price[i] = (double)below(3) * .5;
	l->s->objective = reached[below(8)];
	l->s->second_missed = one_in(4);
	l->s->exact = one_in(2);
	if (known != NULL && p == known->p && !one_in(4))
		l->limit = limit_at(p, l, theta_of(p, a));
	else if (one_in(4))
		l->limit = .5 + uniform();
	if (one_in(25))
		return gv_error_set(e, "level %zu", calls);
	return 0;
}

static int
linear_solve(struct gv_linear *l, const struct gv_solver_options *opt, const char *name,
    struct gv_error *e)
{
	static const double more[] = {1, 1, 1 + GV_TOL_FEASIBLE / 2, 1.25, .9};
	double part = more[below(5)];
	size_t cells = l->p->n * l->p->m, i;

	recorded_text(&r, name);
	record_options(opt);
	record(l->gain, cells);
	record(l->need, l->p->n);
	record(l->s->x, cells);
	for (i = 0; i < cells; i++)
		l->s->x[i] *= part;
	if (one_in(4))
		draw_shares(l->p, l->s->x);
	return one_in(8) ? gv_error_set(e, "sum") : 0;
}

/* Whose needs are met, or not. */
static int
deadline_needs(const struct gv_problem *p, const struct gv_solver_options *opt,
    bool relax, const char *name, double *need, struct gv_solution *s, struct gv_error *e)
{
	bool any = one_in(3);
	size_t i;

	recorded_text(&r, name);
	recorded_whole(&r, relax);
	record_options(opt);
	for (i = 0; i < p->n; i++)
		need[i] = any && one_in(2) && p->number[GV_NUMBER_STEPS][i] > 0
			      ? .1 * (double)(1 + below(4))
			      : 0;
	s->relaxation = 1;
	if (one_in(30))
		return gv_error_set(e, "needs");
	return one_in(20);
}

/* ---- questions ---- */

static void
draw(struct drawn *d, size_t n, unsigned with)
{
	drawn_problem(d, n, 1 + below(3),
	    1u << GV_NUMBER_STEPS | 1u << GV_NUMBER_ELAPSED | 1u << GV_NUMBER_ISOLATED,
	    DRAWN_CLASSES | DRAWN_NEAR | with);
	calls = 0;
	quick = one_in(2);
}

static struct gv_solver_options
draw_options(struct gv_price_memory *memory)
{
	struct gv_solver_options o = {.solver = (enum gv_solver)below(4)};

	o.certify = one_in(4);
	o.placeable = one_in(8);
	o.sharp = one_in(4);
	*memory = (struct gv_price_memory){.change = .5};
	if (one_in(2))
		o.memory = memory;
	return o;
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
	record(s->x, p->n > 1000 ? 100 : p->n * p->m);
	recorded_rounded(&r, s->objective, 9);
	recorded_rounded(&r, s->bound, 9);
	recorded_rounded(&r, s->gap, 3);
	recorded_whole(&r, s->has_bound + 2 * s->exact + 4 * s->second_missed);
	recorded_whole(&r, s->multipliers.known);
	if (s->multipliers.gpu != NULL) {
		record(s->multipliers.gpu, p->m);
		record(s->multipliers.job, p->n > 1000 ? 100 : p->n);
	}
	gv_error_clear(e);
}

/* The jobs with steps of a drawn problem, as solve() makes them. */
static void
finish_open(struct finish *f, struct gv_unfinished *w, const struct gv_problem *p)
{
	double *alone = gv_xcalloc(p->n, sizeof(*alone));
	double *need = gv_xcalloc(p->n, sizeof(*need));
	bool any = one_in(3);
	size_t i;

	gv_unfinished_find(w, p);
	gv_problem_times_alone(p, alone);
	for (i = 0; i < p->n; i++)
		need[i] = any && one_in(2) ? .1 * (double)(1 + below(4)) : 0;
	*f = (struct finish){.p = &w->p,
	    .of = w->of,
	    .alone = gv_unfinished_take(w, alone, 1),
	    .need = gv_unfinished_take(w, need, 1),
	    .a = gv_xcalloc(w->p.n + 1, p->m * sizeof(*f->a)),
	    .needs = any};
	free(alone);
	free(need);
	known = f;
}

static void
finish_close(struct finish *f, struct gv_unfinished *w)
{
	known = NULL;
	free(f->alone);
	free(f->need);
	free(f->a);
	gv_unfinished_free(w);
}

/* What the condition of ratios is made of. */
static void
ask_parts(void)
{
	struct drawn d;
	struct finish f;
	struct gv_unfinished w;
	struct gv_solution s = {0};
	struct gv_level l;
	double theta, right, bound;
	size_t i;

	draw(&d, drawn_size(12), 0);
	finish_open(&f, &w, &d.p);
	s.x = gv_xcalloc(w.p.n + 1, w.p.m * sizeof(*s.x));
	draw_shares(&w.p, s.x);
	gv_level_init(&l, &w.p, &s, false);
	for (i = 0; i < w.p.n; i++)
		l.lambda[i] = one_in(3) ? 0 : (double)(1 + below(3));
	for (i = 0; i < w.p.m; i++)
		l.price[i] = (double)below(3) * .5;
	l.limit = one_in(3) ? .5 + uniform() : 0;
	bound = time_bound(&f);
	theta = bound * (1 + (one_in(3) ? 0 : uniform()));
	recorded_rounded(&r, ratio(&f, &s), 10);
	recorded_rounded(&r, bound, 10);
	for (i = 0; i < w.p.n; i++) {
		recorded_rounded(&r, time_left(&f, i, theta, false), 8);
		recorded_rounded(&r, time_left(&f, i, theta, true), 8);
		recorded_rounded(&r, per_asked(&f, i, theta), 8);
	}
	right = right_side(&f, &l);
	recorded_rounded(&r, right, 10);
	if (right > 0) {
		double at = root(&f, l.lambda, right, one_in(2) ? bound : 0);
		static const double off[] = {1e-3, 2e-10, 1.1e-10, .9e-10, 0, -1e-9};

		recorded_rounded(&r, at, 8);
		for (i = 0; i < 6 && at > 0; i++)
			recorded_whole(
			    &r, proves(&f, l.lambda, right, at * (1 + off[i])) && i != 4);
	}
	recorded_whole(&r, keeps_needs(&f, &s));
	gv_level_free(&l);
	free(s.x);
	finish_close(&f, &w);
	drawn_free(&d);
}

/* Ratio after ratio; those above the bound; the largest sum. */
static void
ask_steps(void)
{
	static const double nears[] = {DBL_EPSILON, GV_TOL_RATIO, 1e-6};
	struct gv_price_memory memory;
	struct drawn d;
	struct finish f;
	struct gv_unfinished w;
	struct gv_solution s = {0};
	struct gv_solver_options o;
	struct gv_error e = {0};
	double bound, near = nears[below(3)];
	int rc = 0;

	draw(&d, drawn_size(6), 0);
	finish_open(&f, &w, &d.p);
	s.x = gv_xcalloc(w.p.n + 1, w.p.m * sizeof(*s.x));
	if (one_in(2))
		gv_multipliers_alloc(&s.multipliers, d.p.n, d.p.m);
	o = draw_options(&memory);
	o.memory = &memory;
	bound = w.p.n > 0 ? time_bound(&f) : 0;
	switch (w.p.n > 0 ? below(3) : 3) {
	case 0:
		rc = climb(&f, bound, near, &o, &s, &bound, &e);
		s.bound = bound;
		break;
	case 1:
		draw_shares(&w.p, s.x);
		s.objective = ratio(&f, &s);
		if (isfinite(s.objective))
			rc = last_step(&f, s.objective, &o, &s, &bound, &e);
		s.bound = bound;
		break;
	case 2:
		draw_shares(&w.p, s.x);
		s.objective = ratio(&f, &s);
		s.bound = s.objective * (one_in(2) ? .5 : 1 - 2e-9);
		s.second_missed = one_in(2);
		if (isfinite(s.objective))
			try_above(&f, &o, &s);
		break;
	default:
		break;
	}
	recorded_rounded(&r, f.reached, 9);
	record_end(rc, &w.p, &s, &e);
	gv_multipliers_free(&s.multipliers);
	free(s.x);
	finish_close(&f, &w);
	drawn_free(&d);
}

static void
ask_policy(void)
{
	unsigned with = one_in(8) ? DRAWN_PAIRS : one_in(4) ? DRAWN_BUDGET : 0;
	struct gv_price_memory memory;
	struct gv_policy_options o = {0};
	struct gv_solution s = {0};
	struct gv_error e = {0};
	struct drawn d;
	int rc;

	draw(&d, drawn_size(8), with);
	o.solve = draw_options(&memory);
	o.relax_slo = one_in(2);
	s.x = gv_xcalloc(d.p.n, d.p.m * sizeof(*s.x));
	if (one_in(2))
		gv_multipliers_alloc(&s.multipliers, d.p.n, d.p.m);
	rc = gv_policy_finish_time.solve(&d.p, &o, &s, &e);
	record_end(rc, &d.p, &s, &e);
	gv_multipliers_free(&s.multipliers);
	free(s.pair);
	free(s.x);
	drawn_free(&d);
}

/* What every PART-th job comes to. */
static void
ask_sample(void)
{
	struct gv_price_memory memory;
	struct drawn d;
	struct finish f;
	struct gv_unfinished w;
	struct gv_solver_options o;

	draw(&d, PART / 2 + 1 + below(4 * PART), 0);
	finish_open(&f, &w, &d.p);
	o = draw_options(&memory);
	known = NULL;
	if (w.p.n > PART / 2)
		recorded_rounded(&r, sampled_ratio(&f, &o), 9);
	finish_close(&f, &w);
	drawn_free(&d);
}

/* A job more than those from which on a sample is looked at first, or just as many. */
static void
ask_many(void)
{
	struct gv_price_memory memory;
	struct drawn d;
	struct finish f;
	struct gv_unfinished w;
	struct gv_solver_options o;
	struct gv_solution s = {0};
	struct gv_error e = {0};
	size_t n = one_in(3) ? SAMPLED : SAMPLED + 1, i;

	draw(&d, n, one_in(4) ? DRAWN_BUDGET : 0);
	for (i = 0; i < d.p.n; i++)
		if (d.p.number[GV_NUMBER_STEPS][i] == 0)
			d.p.number[GV_NUMBER_STEPS][i] = 50;
	finish_open(&f, &w, &d.p);
	known = NULL;
	s.x = gv_xcalloc(d.p.n, d.p.m * sizeof(*s.x));
	o = draw_options(&memory);
	record_end(solve_unfinished(&f, &o, &s, &e), &w.p, &s, &e);
	free(s.x);
	finish_close(&f, &w);
	drawn_free(&d);
}

static void
test_all(const char *what, uint32_t stream, int n, int each, void (*ask)(void))
{
	int k, i;

	for (k = 0; k < n; k++) {
		draws_begin(stream, 7, (uint32_t)k);
		for (i = 0; i < each; i++)
			ask();
		recorded_answer(&r, "%s, %d", what, k);
	}
}

int
main(void)
{
	recorded_open(&r);
	test_all("parts", 1, 40, 60, ask_parts);
	test_all("steps", 2, 60, 60, ask_steps);
	test_all("policy", 3, 60, 40, ask_policy);
	test_all("sample", 4, 30, 4, ask_sample);
	test_all("many", 5, 10, 1, ask_many);
	recorded_close(&r);
	return done_testing();
}
