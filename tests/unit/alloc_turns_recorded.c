/*
 * place/turns: how jobs are laid out on types, which of them get times of their own, and when;
 * what is asked of each type is kept, and answered by chance, before the library's own.
 */
#include "tap.h"

#include "alloc_draws.h"
#include "alloc/place/groups.h"
#include "alloc/place/turns.h"
#include "lp/tolerance.h"

static struct recorded r;
static double likely; /* that a type's jobs can take turns */

bool
gv_turns_fit(struct gv_turns_type *t)
{
	size_t k, i;

	recorded_double(&r, t->gpus);
	recorded_whole(&r, (long long)t->n_sizes);
	for (k = 0; k < t->n_sizes; k++) {
		const struct gv_turns_size *s = &t->size[k];

		recorded_double(&r, s->gang);
		recorded_double(&r, s->spread);
		recorded_whole(&r, (long long)s->n);
		for (i = 0; i < s->n; i++) {
			recorded_double(&r, s->jobs[i].share);
			recorded_double(&r, s->jobs[i].jobs);
		}
	}
	recorded_whole(&r, (long long)t->n_stays);
	for (k = 0; k < t->n_stays; k++) {
		recorded_whole(&r, (long long)t->stay[k].size);
		recorded_double(&r, t->stay[k].from);
		recorded_double(&r, t->stay[k].to);
	}
	return uniform() < likely;
}

bool
gv_groups_fit(const struct gv_problem *p, const double *x)
{
	recorded_text(&r, "groups");
	recorded_doubles(&r, x, p->n * p->m);
	return uniform() < .5;
}

/* Eighths of what a job has left of its time, or all that is left, now and then but for rounding. */
static void
draw_row(double *x, size_t m)
{
	static const double rounding[] = {0, 0, 1e-15, 1e-10, GV_TOL_FEASIBLE, 3e-9};
	double left = 1, some = uniform();
	size_t j;

	for (j = 0; j < m; j++) {
		double way = uniform(), part = left * (double)below(9) / 8;

		part = way < .2 ? left : way < .4 ? left / 64 : part;

		x[j] = uniform() < some ? fmax(0, part - rounding[below(6)]) : 0;
		left = fmax(0, left - x[j]);
	}
}

static void
ask(size_t n, size_t m, size_t most, bool gangs)
{
	struct gv_problem p;
	double *x;
	size_t i;

	gv_problem_alloc(&p, n, m);
	x = gv_xcalloc(n, m * sizeof(*x));
	for (i = 0; i < m; i++)
		p.capacity[i] = .5 * (double)(1 + below(20));
	for (i = 0; i < n; i++) {
		p.weight[i] = 1;
		p.count[i] = (double)(1 + below(most));
		p.scale[i] = (double)(1 + below(4)) + gangs;
		draw_row(&x[i * m], m);
	}
	recorded_whole(&r, gv_turns_by_stairs(&p, x));
	if (uniform() < .5)
		recorded_whole(&r, gv_turns_exist(&p, x));
	free(x);
	gv_problem_free(&p);
}

static void
test_turns(void)
{
	int k, i;

	for (k = 0; k < 40; k++) {
		draws_begin(1, 0, (uint32_t)k);
		likely = k % 2 == 0 ? .5 : .9;
		for (i = 0; i < 40; i++) {
			size_t n = 1 + below(7), m = 1 + below(4);

			ask(n, m, k % 4 < 2 ? 1 : 7, k % 3 == 0);
		}
		recorded_answer(&r, "turns, %d", k);
	}
}

/* Gangs, each on all types for a while: so many of them are given times. */
static void
test_most(void)
{
	static const size_t rows[] = {128, 171}, types[] = {4, 3};
	size_t k, i;

	likely = 1;
	for (k = 0; k < 2; k++) {
		struct gv_problem p;
		double *x;

		draws_begin(2, 0, (uint32_t)k);
		gv_problem_alloc(&p, rows[k], types[k]);
		x = gv_xcalloc(rows[k], types[k] * sizeof(*x));
		for (i = 0; i < types[k]; i++)
			p.capacity[i] = 8;
		for (i = 0; i < rows[k]; i++)
			p.weight[i] = p.count[i] = 1, p.scale[i] = 2;
		for (i = 0; i < rows[k] * types[k]; i++)
			x[i] = .125;
		recorded_whole(&r, gv_turns_by_stairs(&p, x));
		recorded_answer(&r, "%zu gangs on %zu types", rows[k], types[k]);
		free(x);
		gv_problem_free(&p);
	}
}

int
main(void)
{
	recorded_open(&r);
	test_turns();
	test_most();
	recorded_close(&r);
	return done_testing();
}
