/*
 * gv-alloc.shared [N...]: seconds of one core that max-min with space sharing takes
 * where every two jobs differ, and what memory.  A line for each N: jobs, seconds,
 * level, gap, pairs made, rounds, MiB.
 *
 * N jobs on N / 12 GPUs of each of 3 types, twelve speeds of jobs, noise of 10 % on
 * every rate, alone and of each of the N (N - 1) / 2 pairs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "gv-alloc/policy.h"
#include "gv-alloc/together.h"

static double
noise(uint32_t stream, uint64_t i)
{
	return .9 + .2 * gv_random_uniform(5, stream, 0, i);
}

/* What is left of a job's rate beside another: from 1 (both wait) to .4 (both are busy). */
static double
left(size_t i, size_t k)
{
	double busy = .3 + .7 * (double)(i % 12) / 11;
	double other = .3 + .7 * (double)(k % 12) / 11;

	return busy + other <= 1 ? 1 : 1 / (busy + other);
}

/* Every job is a kind of its own. */
static void
make(struct problem *p, struct together *t, size_t n)
{
	static const double speed[] = {10, 5, 1};
	size_t pairs = n * (n - 1) / 2;
	size_t i, j, k, at = 0;

	problem_alloc(p, n, 3);
	p->kind = gv_xcalloc(n, sizeof(*p->kind));
	p->together = t;
	*t = (struct together){.n_kinds = n, .m = 3, .n = pairs};
	t->first = gv_xcalloc(n + 1, sizeof(*t->first));
	t->with = gv_xcalloc(pairs, sizeof(*t->with));
	t->rate = gv_xcalloc(pairs, 6 * sizeof(*t->rate));
	for (j = 0; j < 3; j++)
		p->capacity[j] = (double)(n / 12);
	for (i = 0; i < n; i++) {
		p->kind[i] = i;
		p->count[i] = p->scale[i] = p->weight[i] = 1;
		for (j = 0; j < 3; j++)
			p->rate[i * 3 + j] =
			    (1 + (double)(i % 12)) * noise(1, i * 3 + j) *
			    (j == 0 ? speed[0] * (.4 + .6 * (double)(i % 5) / 4)
				    : speed[j]);
	}
	for (i = 0; i < n; i++) {
		for (k = i + 1; k < n; k++) {
			for (j = 0; j < 3; j++) {
				double *rate = &t->rate[(at * 3 + j) * 2];

				rate[0] = p->rate[i * 3 + j] * left(i, k) *
					  noise(2, at * 3 + j);
				rate[1] = p->rate[k * 3 + j] * left(k, i) *
					  noise(3, at * 3 + j);
			}
			t->with[at++] = (uint32_t)k;
		}
		t->first[i + 1] = at;
	}
}

static double
cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
measure(size_t n)
{
	const struct solve_options opt = {0};
	struct solution s = {.x = gv_xcalloc(n, 3 * sizeof(*s.x))};
	struct gv_error e = {0};
	struct together t;
	struct problem p;
	struct rusage use;
	double start;

	make(&p, &t, n);
	start = cpu_s();
	if (policy_max_min.solve(&p, &opt, &s, &e) != 0)
		gv_die_error(&e);
	start = cpu_s() - start;
	getrusage(RUSAGE_SELF, &use);
	printf("%zu %.3f %.12g %.2g %zu %.0f\n", n, start, s.objective, s.gap, s.n_made,
	    (double)use.ru_maxrss / 1024);
	free(s.x);
	free(s.pair);
	problem_free(&p);
	together_free(&t);
}

int
main(int argc, char **argv)
{
	int i;

	gv_init("gv-alloc.shared");
	for (i = 1; i < argc; i++)
		measure((size_t)atol(argv[i]));
	return 0;
}
