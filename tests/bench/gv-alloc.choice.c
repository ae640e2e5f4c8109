/*
 * How long the solvers of gv-alloc take, each policy by each solver, and whether the
 * choice that gv-alloc makes by itself (auto) is a good one: time of the processor
 * from a problem in memory to its shares, every job different from every other.
 *
 *	gv-alloc.choice [MOST [POLICY [TYPES [LEAST [DECADES]]]]]
 *
 * from LEAST up to MOST jobs (default 4096; just that number where both are the same), of
 * one policy or all, and of one number of GPU types (0: several); rates drawn
 * each alone over DECADES, or of kinds of jobs that are alike.  The last column is the time
 * of auto over that of the best of the others; what took longer than GV_CHOICE_S seconds
 * (default 5) is "> " those.  The last line is the largest of these ratios, of
 * rows where auto takes a millisecond or more.  Status 1 where two solvers' objectives differ by
 * more than 1e-8 of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "alloc/problem/classes.h"
#include "alloc/policy/policy.h"

enum { KINDS = 26, SOLVERS = 4 };

#define COUNTS 1e-3 /* seconds; nobody waits for less */

/* What one solver came to; seconds INFINITY: to nothing in time. */
struct outcome {
	double seconds, objective;
};

static double
uniform(uint32_t a, uint32_t b)
{
	return gv_random_uniform(7, a, 0, b);
}

/* A rate of one of a kind's jobs, a little different from its kind. */
static double
rate_of_kind(uint32_t i, uint32_t kind, uint32_t j)
{
	return exp(3 * uniform(8, kind)) * (.2 + uniform(100 + j, kind)) *
	       (.85 + .3 * uniform(10 + j, i));
}

/*
 * As those of gv-alloc.solve: kinds of jobs, each a little different from its kind; or rates
 * drawn each alone over so many decades.
 */
static struct gv_problem
draw(size_t n, size_t m, double decades)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, ((1u << GV_NUMBER_NEED) - 1) | 1u << GV_NUMBER_POSITION);
	for (j = 0; j < m; j++) {
		p.capacity[j] = fmax(m > 64 ? 1 : 8, floor((double)n / 2 / (double)m));
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
		p.number[GV_NUMBER_POSITION][i] = (double)i;
		p.number[GV_NUMBER_ISOLATED][i] = 3 * uniform(6, (uint32_t)i);
		for (j = 0; j < m; j++)
			p.rate[i * m + j] =
			    decades > 0 ? pow(10, decades * uniform(100 + (uint32_t)j,
								(uint32_t)i))
					: rate_of_kind((uint32_t)i, kind, (uint32_t)j);
	}
	return p;
}

/* The problem with the numbers that a policy asks for. */
static void
classes(struct gv_classes *c, const struct gv_problem *p, const struct gv_policy *policy)
{
	struct gv_problem seen = *p;
	bool needs = policy->numbers >> GV_NUMBER_NEED & 1;
	size_t k;

	for (k = 0; k < GV_N_NUMBERS; k++)
		if (!(policy->numbers >> k & 1))
			seen.number[k] = NULL;
	if (needs)
		seen.number[GV_NUMBER_NEED] = gv_xcalloc(p->n, sizeof(double));
	gv_classes_make(c, &seen, true);
	if (needs)
		free(seen.number[GV_NUMBER_NEED]);
}

/* Of this process alone, whatever else the machine does. */
static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The mean of runs of one solver: the processor's clock may tick in milliseconds. */
static struct outcome
solve(const struct gv_policy *policy, const struct gv_problem *p, enum gv_solver solver)
{
	const struct gv_policy_options opt = {.solve.solver = solver};
	struct outcome o = {INFINITY, 0};
	double start = seconds(), all = 0;
	int k;

	for (k = 0; k == 0 || all < .08; k++) {
		struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(*s.x))};
		struct gv_error e = {0};

		if (policy->solve(p, &opt, &s, &e) != 0)
			_exit(1);
		all = seconds() - start;
		o.objective = s.objective;
		free(s.x);
	}
	o.seconds = all / k;
	return o;
}

/* The seconds of the processor that a solver has. */
static rlim_t
limit_s(void)
{
	const char *given = getenv("GV_CHOICE_S");

	return given != NULL ? strtoul(given, NULL, 10) : 5;
}

/* That in a process of its own, which is ended when it takes too long. */
static struct outcome
try(const struct gv_policy *policy, const struct gv_problem *p, enum gv_solver solver)
{
	struct outcome o = {INFINITY, NAN};
	int fd[2];
	pid_t pid;

	if (pipe(fd) != 0 || (pid = fork()) < 0)
		gv_die("fork");
	if (pid == 0) {
		const struct rlimit limit = {limit_s(), limit_s()};

		setrlimit(RLIMIT_CPU, &limit);
		o = solve(policy, p, solver);
		_exit(write(fd[1], &o, sizeof(o)) != sizeof(o));
	}
	close(fd[1]);
	if (read(fd[0], &o, sizeof(o)) != sizeof(o))
		o = (struct outcome){INFINITY, NAN};
	close(fd[0]);
	waitpid(pid, NULL, 0);
	return o;
}

/* Where auto was furthest from the best of the others. */
struct worst {
	double ratio;
	const char *policy;
	size_t types, jobs;
};

static void
print_seconds(double s)
{
	char late[32];

	snprintf(late, sizeof(late), "> %lu s", (unsigned long)limit_s());
	if (isfinite(s))
		printf(" %10.4f", s * 1e3);
	else
		printf(" %10s", late);
}

/* Time of auto over that of the best of the others, into the row and *worst. */
static void
compare(const struct gv_policy *policy, const struct gv_problem *p,
    const struct outcome *o, struct worst *worst)
{
	double best = fmin(fmin(o[0].seconds, o[1].seconds), o[2].seconds);
	double ratio = o[3].seconds / best;

	if (!isfinite(best)) {
		printf(" %7s", "-");
		return;
	}
	printf(" %7.2f", ratio);
	if (o[3].seconds >= COUNTS && ratio > worst->ratio)
		*worst = (struct worst){ratio, policy->name, p->m, p->n};
}

/* True: the solvers' objectives differ. */
static bool
measure(const struct gv_policy *policy, const struct gv_problem *p, struct worst *worst)
{
	static const enum gv_solver solver[SOLVERS] = {
	    GV_SOLVER_GLPK, GV_SOLVER_PRICE, GV_SOLVER_INTERIOR, GV_SOLVER_AUTO};
	struct outcome o[SOLVERS];
	struct gv_classes c;
	bool differ = false;
	size_t k;

	classes(&c, p, policy);
	printf("%-13s %5zu %8zu", policy->name, p->m, p->n);
	for (k = 0; k < SOLVERS; k++) {
		o[k] = try(policy, &c.p, solver[k]);
		print_seconds(o[k].seconds);
		differ = differ || fabs(o[k].objective - o[0].objective) >
				       1e-8 * fabs(o[0].objective);
	}
	compare(policy, &c.p, o, worst);
	puts(differ ? " differ" : "");
	fflush(stdout);
	gv_classes_free(&c);
	return differ;
}

/* What is asked for on the command line. */
struct range {
	double least, most;
	const char *policy; /* NULL = all */
	size_t types;       /* 0 = all */
	double decades;
};

/* Numbers of jobs of one policy on m types.  True: objectives differ. */
static bool
measure_jobs(
    const struct gv_policy *policy, size_t m, const struct range *r, struct worst *worst)
{
	static const double jobs[] = {
	    4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 1e5, 1e6};
	bool one = r->least == r->most, wrong = false;
	size_t i;

	for (i = 0; i < (one ? 1 : sizeof(jobs) / sizeof(jobs[0])); i++) {
		double n = one ? r->most : jobs[i];
		struct gv_problem p;

		if (n > r->most || n < r->least)
			continue;
		p = draw((size_t)n, m, r->decades);
		wrong |= measure(policy, &p, worst);
		gv_problem_free(&p);
	}
	return wrong;
}

static bool
measure_types(const struct gv_policy *policy, const struct range *r, struct worst *worst)
{
	static const size_t types[] = {1, 2, 3, 4, 6, 8, 10, 16, 32, 64};
	bool wrong = false;
	size_t j;

	if (r->types > 0)
		return measure_jobs(policy, r->types, r, worst);
	for (j = 0; j < sizeof(types) / sizeof(types[0]); j++)
		wrong |= measure_jobs(policy, types[j], r, worst);
	return wrong;
}

int
main(int argc, char **argv)
{
	static const struct gv_policy *const policies[] = {&gv_policy_max_min,
	    &gv_policy_makespan, &gv_policy_finish_time, &gv_policy_water_filling,
	    &gv_policy_max_sum, &gv_policy_fifo, &gv_policy_min_cost,
	    &gv_policy_per_dollar};
	const struct range r = {.most = argc > 1 ? atof(argv[1]) : 4096,
	    .policy = argc > 2 ? argv[2] : NULL,
	    .types = argc > 3 ? (size_t)atol(argv[3]) : 0,
	    .least = argc > 4 ? atof(argv[4]) : 0,
	    .decades = argc > 5 ? atof(argv[5]) : 0};
	struct worst worst = {0};
	bool wrong = false;
	size_t k;

	gv_init("gv-alloc.choice");
	printf("%-13s %5s %8s %10s %10s %10s %10s %7s\n", "policy", "types", "jobs",
	    "glpk ms", "price ms", "interior ms", "auto ms", "ratio");
	for (k = 0; k < sizeof(policies) / sizeof(policies[0]); k++)
		if (r.policy == NULL || strcmp(r.policy, policies[k]->name) == 0)
			wrong |= measure_types(policies[k], &r, &worst);
	if (worst.ratio > 0)
		printf("auto over the best of the others, from 1 ms on: at most %.2f "
		       "(%s, %zu types, %zu "
		       "jobs)\n",
		    worst.ratio, worst.policy, worst.types, worst.jobs);
	return wrong;
}
