/*
 * How long gv-alloc's policies solve: processor time of one core from a problem in
 * memory to its shares and their bound, reading and writing not counted.  Every job
 * differs from every other.  The best of several runs, the gap that was proved, and the
 * time when one job has gone and the prices of before are known.
 *
 *	gv-alloc.solve [MOST [POLICY]]
 *
 * up to MOST jobs (default 8192), of one policy or of all that have a solver for so
 * many.  Status 1 when a gap is above 1e-9.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "alloc/problem/classes.h"
#include "alloc/policy/policy.h"
#include "alloc/price/price.h"

enum { KINDS = 26 };

struct shape {
	const char *name;
	size_t m;
	double gpus; /* a job and type */
};

static double
uniform(uint32_t a, uint32_t b)
{
	return gv_random_uniform(5, a, 0, b);
}

/* Gangs of 1 to 8 of 26 kinds, every rate 15 % around its kind's, every weight its own. */
static struct gv_problem
draw(size_t n, const struct shape *shape)
{
	struct gv_problem p;
	size_t i, j, m = shape->m;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, (1u << GV_NUMBER_NEED) - 1);
	for (j = 0; j < m; j++) {
		p.capacity[j] = fmax(8, floor((double)n * shape->gpus));
		p.price[j] = .3 + .5 * (double)(m - j);
	}
	for (i = 0; i < n; i++) {
		uint32_t kind = (uint32_t)(uniform(1, (uint32_t)i) * KINDS);
		double u = uniform(2, (uint32_t)i);

		p.count[i] = 1;
		p.scale[i] = u < .7 ? 1 : u < .8 ? 2 : u < .95 ? 4 : 8;
		p.weight[i] = .5 + 1.5 * uniform(3, (uint32_t)i);
		p.number[GV_NUMBER_STEPS][i] = exp(5 + 4 * uniform(4, (uint32_t)i));
		p.number[GV_NUMBER_ELAPSED][i] = 3 * uniform(5, (uint32_t)i);
		p.number[GV_NUMBER_ISOLATED][i] = 3 * uniform(6, (uint32_t)i);
		for (j = 0; j < m; j++) {
			double slower = 1 + (double)j * (.2 + uniform(7, kind));

			p.rate[i * m + j] =
			    exp(3 * uniform(8, kind)) / slower *
			    (.85 + .3 * uniform(10 + (uint32_t)j, (uint32_t)i));
		}
	}
	return p;
}

/* The problem with the numbers that a policy asks for, its rows in their order. */
static void
classes(struct gv_classes *c, const struct gv_problem *p, const struct gv_policy *policy)
{
	struct gv_problem seen = *p;
	size_t k;

	for (k = 0; k < GV_N_NUMBERS; k++)
		if (!(policy->numbers >> k & 1))
			seen.number[k] = NULL;
	if (policy->numbers >> GV_NUMBER_NEED & 1)
		seen.number[GV_NUMBER_NEED] = gv_xcalloc(p->n, sizeof(double));
	gv_classes_make(c, &seen, true);
	if (policy->numbers >> GV_NUMBER_NEED & 1)
		free(seen.number[GV_NUMBER_NEED]);
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of one solution. */
static double
solve(const struct gv_policy *policy, const struct gv_problem *p,
    struct gv_price_memory *memory, struct gv_solution *s)
{
	const struct gv_policy_options opt = {
	    .solve.solver = GV_SOLVER_AUTO, .solve.memory = memory};
	struct gv_error e = {0};
	double start = seconds();

	memset(s->x, 0, p->n * p->m * sizeof(*s->x));
	if (policy->solve(p, &opt, s, &e) != 0)
		gv_die_error(&e);
	return seconds() - start;
}

/* A job comes and goes, from the prices of the time before: the best of some runs. */
static double
measure_next(
    const struct gv_policy *policy, const struct gv_problem *p, struct gv_solution *s)
{
	struct gv_price_memory memory = {0};
	struct gv_problem less;
	bool *keep = gv_xcalloc(p->n, sizeof(*keep));
	double best = INFINITY;
	int k;

	memset(keep, true, p->n * sizeof(*keep));
	keep[p->n / 2] = false;
	gv_problem_pick(&less, p, keep);
	for (k = 0; k < 5; k++) {
		solve(policy, p, &memory, s);
		best = fmin(best, solve(policy, &less, &memory, s));
	}
	gv_problem_free(&less);
	gv_price_forget(&memory);
	free(keep);
	return best;
}

static int
measure(const struct gv_policy *policy, const struct gv_problem *p, const char *shape)
{
	struct gv_classes c;
	struct gv_solution s = {0};
	double best = INFINITY, all = 0, gap;
	int runs = 0;

	classes(&c, p, policy);
	s.x = gv_xcalloc(c.p.n, c.p.m * sizeof(*s.x));
	while (runs < 3 || (runs < 50 && all < .3)) {
		double t = solve(policy, &c.p, NULL, &s);

		best = fmin(best, t);
		all += t;
		runs++;
		if (t > 5)
			break;
	}
	gap = s.gap;
	printf(
	    "%-12s %-10s %9zu %11.3f %9.1e", policy->name, shape, p->n, best * 1e3, gap);
	if (p->n >= 512 && p->n <= 100000)
		printf(" %11.3f", measure_next(policy, &c.p, &s) * 1e3);
	printf("\n");
	fflush(stdout);
	free(s.x);
	gv_classes_free(&c);
	return gap > 1e-9;
}

int
main(int argc, char **argv)
{
	static const struct shape shapes[] = {{"m=3", 3, 1. / 6},
	    {"m=3 load", 3, 1. / 12}, {"m=3 idle", 3, 1}, {"m=8", 8, 1. / 12}};
	static const struct gv_policy *const measured[] = {&gv_policy_max_min,
	    &gv_policy_makespan, &gv_policy_finish_time, &gv_policy_max_sum,
	    &gv_policy_min_cost};
	double most = argc > 1 ? atof(argv[1]) : 8192;
	const char *only = argc > 2 ? argv[2] : NULL;
	int wrong = 0;
	size_t i, k;
	double n;

	gv_init("gv-alloc.solve");
	printf("%-12s %-10s %9s %11s %9s %11s\n", "policy", "shape", "jobs", "ms", "gap",
	    "one less");
	for (k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++)
		for (n = 32; n <= most; n = n < 8192 ? n * 4 : n < 1e5 ? 1e5 : n * 10) {
			struct gv_problem p = draw((size_t)n, &shapes[k]);

			for (i = 0; i < sizeof(measured) / sizeof(measured[0]); i++)
				if (only == NULL || strcmp(only, measured[i]->name) == 0)
					wrong |= measure(measured[i], &p, shapes[k].name);
			gv_problem_free(&p);
		}
	return wrong;
}
