/*
 * What a job costs that lives through the machine: jobs come, run round by round and
 * end, with never more than some of them there at once.  Microseconds of processor time
 * a job; they should not grow with the number of jobs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "sched/life/life.h"

enum { TYPES = 3, GPUS = 16 };

static const double round_s = 360;

static double
now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Some 30 of them at once. */
static void
add_jobs(struct gv_life *l, size_t n)
{
	size_t m;
	size_t j;

	for (m = 0; m < n; m++) {
		double u = gv_random_uniform(1, 0, 0, m);
		struct gv_life_spec spec = {.gang = u < .8 ? 1 : 2,
		    .total_steps = 100 + 9900 * gv_random_uniform(1, 1, 0, m),
		    .arrival_s = 200 * (double)m};

		gv_life_add(l, &spec);
		for (j = 0; j < TYPES; j++)
			gv_rounds_claim(&l->rounds, m, j)->rate =
			    1 + gv_random_uniform(1, 2, (uint32_t)j, m);
	}
}

static void
new_shares(struct gv_life *l)
{
	double share = TYPES * GPUS / (double)(l->n_active + 1) / TYPES;
	size_t i;
	size_t j;

	for (i = 0; i < l->n_active; i++)
		for (j = 0; j < TYPES; j++)
			gv_life_set_share(
			    l, l->active[i], j, share < 1. / TYPES ? share : 1. / TYPES);
}

static bool
obey(struct gv_life *l)
{
	struct gv_life_out out;
	bool ask = false;

	while (gv_life_next(l, &out)) {
		if (out.kind == GV_LIFE_START)
			gv_life_started(l, (size_t)out.row.job);
		else if (out.kind == GV_LIFE_STOP)
			gv_life_left(l, (size_t)out.row.job, 143);
		ask |= out.kind == GV_LIFE_ASK;
	}
	return ask;
}

static void
play(struct gv_life *l)
{
	size_t i;

	gv_life_time(l, l->now_s + round_s);
	for (i = l->n_open; i-- > 0;) {
		size_t m = l->open[i];
		double rate = gv_rounds_claim(&l->rounds, m, l->job[m].type)->rate;
		double done = l->job[m].steps > 0 ? l->job[m].steps : 0;

		gv_life_report(l, m, done + rate * round_s, -1);
		if (l->job[m].steps >= l->job[m].spec.total_steps)
			gv_life_left(l, m, 0);
	}
}

static void
measure(size_t n)
{
	struct gv_gpu_type type[TYPES] = {{.gpus = GPUS}, {.gpus = GPUS}, {.gpus = GPUS}};
	struct gv_pool pool[TYPES] = {{.type = 0, .gpus = GPUS},
	    {.type = 1, .gpus = GPUS}, {.type = 2, .gpus = GPUS}};
	struct gv_cluster c = {
	    .n_types = TYPES, .type = type, .n_pools = TYPES, .pool = pool};
	double start_s = now_s();
	struct gv_life l;
	size_t most = 0;

	gv_life_init(&l, &c, round_s, 5);
	add_jobs(&l, n);
	while (!gv_life_done(&l)) {
		gv_life_time(&l, l.now_s);
		if (obey(&l))
			new_shares(&l);
		gv_life_turn(&l, true);
		obey(&l);
		gv_life_turn(&l, false);
		obey(&l);
		most = l.n_active > most ? l.n_active : most;
		play(&l);
	}
	printf("%8zu %8zu %8lld %10.2f\n", n, most, (long long)l.round,
	    1e6 * (now_s() - start_s) / (double)n);
	gv_life_free(&l);
}

int
main(int argc, char **argv)
{
	size_t most = argc > 1 ? (size_t)atol(argv[1]) : 100000;
	size_t n;

	printf("    jobs  at once   rounds   us a job\n");
	for (n = 1000; n <= most; n *= 10)
		measure(n);
	return 0;
}
