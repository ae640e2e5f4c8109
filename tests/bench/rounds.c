/*
 * How long a round takes to plan: jobs on 2,000 GPUs of three types in nodes of 8,
 * gangs of 1, 2, 4 and 8, shares of three kinds.  Milliseconds of processor time, the
 * median and the largest of 40 rounds that follow each other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "sched/rounds/rounds.h"

enum { TYPES = 3, NODES = 250, ROUNDS = 40 };

static double
now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void
make_cluster(struct gv_cluster *c)
{
	size_t i;

	*c = (struct gv_cluster){.n_types = TYPES, .n_pools = NODES};
	c->type = gv_xcalloc(TYPES, sizeof(*c->type));
	c->pool = gv_xcalloc(NODES, sizeof(*c->pool));
	for (i = 0; i < NODES; i++) {
		c->pool[i] = (struct gv_pool){.type = i % TYPES, .gpus = 8, .node = "n"};
		c->type[i % TYPES].gpus += 8;
	}
}

enum shares { EQUAL, SPARSE, TOO_MUCH };

/* The GPUs of a type that a job of the kind may count on, as a share. */
static double
share(enum shares kind, size_t m, size_t j, double part)
{
	double u = gv_random_uniform(2, (uint32_t)kind, (uint32_t)j, m);

	switch (kind) {
	case EQUAL:
		return part / TYPES; /* of each type the same */
	case SPARSE:
		return m % TYPES == j ? 2 * u * part
				      : 0; /* as linear programs give them */
	case TOO_MUCH:
	default:
		return part * u * 2;
	}
}

static void
add_jobs(struct gv_rounds *r, size_t n, enum shares kind)
{
	size_t gpus = 0;
	size_t m, j;

	for (m = 0; m < n; m++) {
		double u = gv_random_uniform(1, 0, 0, m);

		gv_rounds_add(r, u < .7 ? 1 : u < .8 ? 2 : u < .95 ? 4 : 8);
		gv_rounds_set_active(r, m, true);
		gpus += r->job[m].gang;
	}
	for (m = 0; m < n; m++)
		for (j = 0; j < TYPES; j++) {
			struct gv_round_claim *c = gv_rounds_claim(r, m, j);

			c->rate = 1 + gv_random_uniform(1, 1, (uint32_t)j, m);
			c->share = share(kind, m, j, 2000. / (double)gpus);
			if (c->share > 1. / TYPES)
				c->share = 1. / TYPES;
		}
}

static int
by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void
measure(size_t n, enum shares kind, const char *name)
{
	struct gv_cluster c;
	struct gv_rounds r;
	double ms[ROUNDS];
	ptrdiff_t *owner;
	size_t i;
	int k;

	make_cluster(&c);
	gv_rounds_init(&r, &c, 360);
	add_jobs(&r, n, kind);
	owner = gv_xcalloc(r.n_gpus, sizeof(*owner));
	for (i = 0; i < r.n_gpus; i++)
		owner[i] = GV_GPU_IDLE;
	for (k = 0; k < ROUNDS; k++) {
		double start_s = now_s();

		gv_rounds_plan(&r, GV_ROUND_NEW, owner, owner);
		ms[k] = 1e3 * (now_s() - start_s);
		gv_rounds_pass(&r, 360);
		gv_rounds_hold(&r, owner, 360);
	}
	qsort(ms, ROUNDS, sizeof(*ms), by_value);
	printf("%8zu  %-10s %8.2f %8.2f\n", n, name, ms[ROUNDS / 2], ms[ROUNDS - 1]);
	free(owner);
	gv_rounds_free(&r);
	free(c.type);
	free(c.pool);
}

int
main(void)
{
	static const size_t jobs[] = {100, 1000, 10000};
	size_t i;

	printf("    jobs  shares       median  largest  ms a round\n");
	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		measure(jobs[i], EQUAL, "equal");
		measure(jobs[i], SPARSE, "sparse");
		measure(jobs[i], TOO_MUCH, "too much");
	}
	return 0;
}
