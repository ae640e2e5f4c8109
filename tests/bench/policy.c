/*
 * What a question to the policy takes: over the stream, and with a process for each.
 * Wall time, medians in the same run, of 100 jobs of 26 types on three GPU types; the
 * table is made anew for each question, and the answer is read as a table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fileio.h"
#include "base/rng.h"
#include "policy/policy.h"

enum { JOBS = 100, KINDS = 26, STREAMED = 201, STARTED = 51 };

static char dir[] = "/tmp/gv-policy.XXXXXX";

/* What gv-run would ask in round n. */
static void
make(struct gv_strbuf *b, uint32_t n)
{
	static const char *const type[] = {"v100", "p100", "k80"};
	uint32_t m, j;

	gv_strbuf_str(b, "job_id,job_type,scale_factor,total_steps,command,gpu_type,"
			 "steps_per_s,steps_remaining,elapsed_s,isolated_elapsed_s\n");
	for (m = 0; m < JOBS; m++) {
		uint32_t kind = (uint32_t)(gv_random_uniform(1, 0, 0, m) * KINDS);

		for (j = 0; j < 3; j++)
			gv_strbuf_fmt(b,
			    "job%u,type%u,%u,100000,python3 train.py --type=%u,%s,%.6g,"
			    "%.9g,%u,%u\n",
			    m, kind, m % 7 == 0 ? 4u : 1u, kind, type[j],
			    (1 + 3 * gv_random_uniform(1, 1, j, kind)) * (double)(3 - j),
			    1e5 * gv_random_uniform(1, 2, n, m), 60 * n, 50 * n);
	}
}

static int
by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The median of so many questions in seconds. */
static double
median_s(const char *command, bool streams, uint32_t times)
{
	struct gv_policy_spec spec = {
	    .command = command, .directory = dir, .streams = streams, .timeout_s = 60};
	struct gv_policy *p = gv_policy_new(&spec);
	double t[STREAMED];
	struct gv_error e = {0};
	uint32_t i;

	for (i = 0; i < times; i++) {
		struct gv_strbuf b = {0};
		struct gv_frame f;
		double start_s;

		make(&b, i);
		start_s = gv_clock_s();
		if (gv_policy_ask(p, &b, &e) != 0 || gv_policy_wait(p, &e) != 0 ||
		    gv_policy_table(p, "answer", &f, &e) != 0)
			gv_die_error(&e);
		t[i] = gv_clock_s() - start_s;
		gv_frame_free(&f);
	}
	gv_policy_free(p);
	qsort(t, times, sizeof(*t), by_value);
	return t[times / 2];
}

int
main(void)
{
	static const char *const policy[] = {"isolated", "max-min",
	    "max-min --solver=price", "finish-time --solver=price", "water-filling"};
	static const char cluster[] = "gpu_type,gpus\nv100,8\np100,16\nk80,24\n";
	const char *bin = getenv("GV_BIN");
	struct gv_error e = {0};
	char command[1024];
	size_t i;

	gv_init("policy");
	if (bin == NULL || mkdtemp(dir) == NULL)
		gv_die("GV_BIN is not set, or no directory can be made");
	snprintf(command, sizeof(command), "%s/cluster.csv", dir);
	if (gv_file_write(command, cluster, strlen(cluster), &e) != 0)
		gv_die_error(&e);
	printf("a question of %d jobs       streamed ms   started ms   ratio\n", JOBS);
	for (i = 0; i < sizeof(policy) / sizeof(policy[0]); i++) {
		double streamed_s;
		double started_s;

		snprintf(command, sizeof(command),
		    "exec '%s/gv-alloc' --stream -p %s -c cluster.csv", bin, policy[i]);
		streamed_s = median_s(command, true, STREAMED);
		snprintf(command, sizeof(command),
		    "exec '%s/gv-alloc' -p %s -c cluster.csv", bin, policy[i]);
		started_s = median_s(command, false, STARTED);
		printf("%-28s %10.3f %12.3f %7.1f\n", policy[i], 1e3 * streamed_s,
		    1e3 * started_s, started_s / streamed_s);
	}
	gv_remove_tree(dir, &e);
	return 0;
}
