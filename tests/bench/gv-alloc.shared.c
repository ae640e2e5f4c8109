/*
 * How long max-min with space sharing solves where every two jobs differ: processor
 * time of one core from a problem in memory to its shares and their bound.
 *
 *	gv-alloc.shared [N...]		(default 128 512 1024)
 *
 * N jobs of Gavel's 26 types on N / 12 GPUs of each of 3 types; every rate, alone
 * and of each of the N (N - 1) / 2 pairs, 15 % around its type's.  A line for each N:
 * jobs, seconds, level, gap, pairs that were made, MiB of memory, of which pairs.
 * Then without noise, N / 4 GPUs of each type (POP's instance is such a one
 * of 2,048): merging, solving, dealing.  Status 1 when a gap is above 1e-9.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "alloc/problem/classes.h"
#include "alloc/answer/disaggregate.h"
#include "alloc/policy/policy.h"
#include "alloc/problem/together.h"
#include "table/tab.h"

enum { TYPES = 26, GPUS = 3 };

static const char *const gpu[GPUS] = {"v100", "p100", "k80"};

struct measured {
	size_t n;
	const char *type[TYPES];
	double alone[TYPES][GPUS];
	double pair[TYPES][TYPES][GPUS][2];
};

static size_t
number_of(struct measured *m, struct gv_cell name)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (gv_cell_is(name, m->type[i]))
			return i;
	if (m->n == TYPES)
		gv_die("more than %d types", TYPES);
	m->type[m->n] = name.s;
	return m->n++;
}

static size_t
gpu_of(struct gv_cell name)
{
	size_t j = 0;

	while (j < GPUS && !gv_cell_is(name, gpu[j]))
		j++;
	return j;
}

/* One of the two tables: names in columns a, b (-1: one job), rates in columns at and behind. */
static void
read_table(struct measured *m, struct gv_frame *f, const char *path, const char *a,
    const char *b, const char *at)
{
	struct gv_error e = {0};
	ptrdiff_t name, scale, type, rate;
	size_t i;

	if (gv_frame_load(f, path, &e) != 0)
		gv_die_error(&e);
	name = gv_frame_find(f, a);
	scale = gv_frame_find(f, "scale_factor");
	type = gv_frame_find(f, "gpu_type");
	rate = gv_frame_find(f, at);
	for (i = 0; i < f->n_rows; i++) {
		size_t j = gpu_of(gv_frame_cell(f, i, type));
		size_t k, l;
		double *to;

		if (j == GPUS || !gv_cell_is(gv_frame_cell(f, i, scale), "1"))
			continue;
		k = number_of(m, gv_frame_cell(f, i, name));
		if (b == NULL) {
			gv_frame_double(f, i, rate, 0, &m->alone[k][j], &e);
			continue;
		}
		l = number_of(m, gv_frame_cell(f, i, gv_frame_find(f, b)));
		to = m->pair[k][l][j];
		gv_frame_double(f, i, rate, 0, &to[0], &e);
		gv_frame_double(f, i, rate + 1, 0, &to[1], &e);
		m->pair[l][k][j][0] = to[1];
		m->pair[l][k][j][1] = to[0];
	}
}

static double
noise(uint32_t stream, uint64_t i)
{
	return .85 + .3 * gv_random_uniform(5, stream, 0, i);
}

/* Every job is a kind of its own. */
static void
make(struct gv_problem *p, struct gv_together *t, const struct measured *with, size_t n)
{
	size_t pairs = n * (n - 1) / 2;
	size_t *type = gv_xcalloc(n, sizeof(*type));
	size_t i, j, k, at = 0;

	gv_problem_alloc(p, n, GPUS);
	p->kind = gv_xcalloc(n, sizeof(*p->kind));
	p->together = t;
	*t = (struct gv_together){.n_kinds = n, .m = GPUS, .n = pairs};
	t->first = gv_xcalloc(n + 1, sizeof(*t->first));
	t->with = gv_xcalloc(pairs, sizeof(*t->with));
	t->rate = gv_xcalloc(pairs, 2 * GPUS * sizeof(*t->rate));
	for (j = 0; j < GPUS; j++)
		p->capacity[j] = (double)(n / 12);
	for (i = 0; i < n; i++) {
		type[i] = (size_t)(gv_random_uniform(5, 4, 0, i) * TYPES);
		p->kind[i] = i;
		p->count[i] = p->scale[i] = p->weight[i] = 1;
		for (j = 0; j < GPUS; j++)
			p->rate[i * GPUS + j] =
			    with->alone[type[i]][j] * noise(1, i * GPUS + j);
	}
	for (i = 0; i < n; i++) {
		for (k = i + 1; k < n; k++) {
			for (j = 0; j < GPUS; j++) {
				const double *from = with->pair[type[i]][type[k]][j];
				double *rate = &t->rate[(at * GPUS + j) * 2];

				rate[0] = from[0] * noise(2, at * GPUS + j);
				rate[1] = from[1] * noise(3, at * GPUS + j);
			}
			t->with[at++] = (uint32_t)k;
		}
		t->first[i + 1] = at;
	}
	free(type);
}

static double
cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Whether it was proved. */
static bool
measure(const struct measured *with, size_t n)
{
	const struct gv_policy_options opt = {0};
	struct gv_solution s = {.x = gv_xcalloc(n, GPUS * sizeof(*s.x))};
	struct gv_error e = {0};
	struct gv_together t;
	struct gv_problem p;
	struct rusage use;
	double start;

	make(&p, &t, with, n);
	start = cpu_s();
	if (gv_policy_max_min.solve(&p, &opt, &s, &e) != 0)
		gv_die_error(&e);
	start = cpu_s() - start;
	getrusage(RUSAGE_SELF, &use);
	printf("%zu %.3f %.12g %.2g %zu %.0f %.0f\n", n, start, s.objective, s.gap,
	    s.n_made, (double)use.ru_maxrss / 1024,
	    (double)t.n * (2 * GPUS * sizeof(double) + 4) / (1 << 20));
	fflush(stdout);
	free(s.x);
	free(s.pair);
	gv_problem_free(&p);
	gv_together_free(&t);
	return s.gap <= 1e-9;
}

/* Jobs that are as their types are. */
static bool
measure_types(const struct measured *with, size_t n)
{
	const struct gv_policy_options opt = {0};
	struct gv_together_entry *entry =
	    gv_xcalloc((size_t)TYPES * TYPES * GPUS, sizeof(*entry));
	size_t *rank = gv_xcalloc(n, sizeof(*rank));
	struct gv_solution s = {0};
	struct gv_error e = {0};
	struct gv_together t;
	struct gv_classes c;
	struct gv_problem p;
	struct gv_pair *dealt;
	double start, merged, solved;
	size_t i, k, j, used = 0, n_dealt;

	for (i = 0; i < TYPES; i++)
		for (k = i; k < TYPES; k++)
			for (j = 0; j < GPUS; j++)
				entry[used++] = (struct gv_together_entry){(uint32_t)i,
				    (uint32_t)k, (uint32_t)j, 0, with->pair[i][k][j][0],
				    with->pair[i][k][j][1]};
	gv_together_make(&t, TYPES, GPUS, entry, used);
	gv_problem_alloc(&p, n, GPUS);
	p.kind = gv_xcalloc(n, sizeof(*p.kind));
	p.together = &t;
	for (j = 0; j < GPUS; j++)
		p.capacity[j] = (double)(n / 4);
	for (i = 0; i < n; i++) {
		rank[i] = i;
		p.kind[i] = (size_t)(gv_random_uniform(5, 4, 0, i) * TYPES);
		p.count[i] = p.scale[i] = p.weight[i] = 1;
		for (j = 0; j < GPUS; j++)
			p.rate[i * GPUS + j] = with->alone[p.kind[i]][j];
	}
	start = cpu_s();
	gv_classes_make(&c, &p, true);
	merged = cpu_s();
	s.x = gv_xcalloc(c.p.n, GPUS * sizeof(*s.x));
	if (gv_policy_max_min.solve(&c.p, &opt, &s, &e) != 0)
		gv_die_error(&e);
	solved = cpu_s();
	dealt = gv_disaggregate_pairs(&c, n, rank, s.pair, s.n_pairs, &n_dealt);
	printf("%zu of %d types: merged in %.4f s, solved in %.4f, dealt in %.4f; level "
	       "%.12g, gap %.2g\n",
	    n, TYPES, merged - start, solved - merged, cpu_s() - solved, s.objective,
	    s.gap);
	fflush(stdout);
	free(dealt);
	free(entry);
	free(rank);
	free(s.x);
	free(s.pair);
	gv_classes_free(&c);
	gv_problem_free(&p);
	gv_together_free(&t);
	return s.gap <= 1e-9;
}

int
main(int argc, char **argv)
{
	static const size_t usual[] = {128, 512, 1024};
	static const size_t alike[] = {2048, 100000, 1000000};
	static struct measured with;
	const char *shared = getenv("GV_SHARED");
	struct gv_frame alone = {0}, pairs = {0};
	char path[2][4096];
	bool proved = true;
	size_t i;

	gv_init("gv-alloc.shared");
	snprintf(path[0], sizeof(path[0]), "%s/data/gavel/throughputs.csv",
	    shared != NULL ? shared : "../shared");
	snprintf(path[1], sizeof(path[1]), "%s/data/gavel/throughputs_pairs.csv",
	    shared != NULL ? shared : "../shared");
	if (access(path[1], R_OK) != 0) {
		printf("no %s\n", path[1]);
		return 0;
	}
	read_table(&with, &alone, path[0], "job_type", NULL, "steps_per_s");
	read_table(&with, &pairs, path[1], "job_a", "job_b", "steps_per_s_a");
	printf("jobs seconds level gap pairs MiB of_pairs\n");
	for (i = 1; i < (size_t)argc; i++)
		proved = measure(&with, strtoul(argv[i], NULL, 10)) && proved;
	for (i = 0; argc < 2 && i < sizeof(usual) / sizeof(usual[0]); i++)
		proved = measure(&with, usual[i]) && proved;
	for (i = 0; argc < 2 && i < sizeof(alike) / sizeof(alike[0]); i++)
		proved = measure_types(&with, alike[i]) && proved;
	gv_frame_free(&alone);
	gv_frame_free(&pairs);
	return proved ? 0 : 1;
}
