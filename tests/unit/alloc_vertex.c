/*
 * From near the best to the best (interior/vertex.h): vertices keep all constraints and are
 * proved by their own multipliers, both written down from the headers, for random levels and
 * sums with needs; few jobs have to be in a program for it.
 */
#include "tap.h"

#include <math.h>
#include <string.h>

#include "alloc/interior/interior.h"
#include "alloc/interior/sift.h"
#include "alloc/interior/vertex.h"
#include "base/mem.h"
#include "draws.h"
#include "lp/tolerance.h"

enum { TRIALS = 300, N = 200, M = 8 };

static struct {
	double level[N * M], use[N], gain[N * M], need[N], capacity[M];
	struct gv_interior_program p;
	double x[N * M], price[M], lambda[N];
} w;

static void
draw(bool sum, bool needs, bool ties)
{
	size_t n = 1 + below(N), m = 1 + below(M), i, j;
	double decades = 1 + (double)below(3);

	memset(&w, 0, sizeof(w));
	w.p = (struct gv_interior_program){.n = n,
	    .m = m,
	    .level = w.level,
	    .use = w.use,
	    .gain = sum ? w.gain : NULL,
	    .need = needs ? w.need : NULL,
	    .capacity = w.capacity};
	for (j = 0; j < m; j++)
		w.capacity[j] = j > 0 && below(8) == 0 ? 0 : 1 + uniform() * (double)n;
	for (j = 0; ties && j < m; j++)
		w.capacity[j] = floor(w.capacity[j]);
	for (i = 0; i < n; i++) {
		w.use[i] = (double)(1 << below(3));
		for (j = 0; j < m; j++) {
			double rate =
			    j > 0 && below(5) == 0 ? 0 : pow(10, decades * uniform());

			if (ties && rate > 0)
				rate = (double)(1 << below(3));
			w.level[i * m + j] = rate;
			w.gain[i * m + j] = rate * (.5 + uniform());
		}
		w.need[i] = i % 3 == 0
				? w.level[i * m] * .5 *
				      fmin(1, w.capacity[0] / (w.use[i] * (double)n))
				: 0;
	}
}

/* What those multipliers say that no shares are better than. */
static double
bound_of(const struct gv_interior_vertex *v)
{
	double bound = 0, lambdas = 0;
	size_t i, j;

	for (i = 0; i < w.p.n; i++)
		lambdas += v->lambda[i];
	for (j = 0; j < w.p.m; j++)
		bound += w.capacity[j] * v->price[j];
	for (i = 0; i < w.p.n; i++) {
		double time = 0;

		for (j = 0; j < w.p.m; j++)
			if (gv_interior_has_column(&w.p, i, j))
				time = fmax(time,
				    v->lambda[i] * w.level[i * w.p.m + j] +
					(w.p.gain != NULL ? w.gain[i * w.p.m + j] : 0) -
					v->price[j] * w.use[i]);
		bound += time - (w.p.need != NULL ? v->lambda[i] * w.need[i] : 0);
	}
	return w.p.gain != NULL ? bound : bound / lambdas;
}

/* The level or sum of its shares; below 0: they break a constraint. */
static double
reached(const struct gv_interior_vertex *v)
{
	double least = HUGE_VAL, sum = 0, used[M] = {0};
	size_t i, j;

	for (i = 0; i < w.p.n; i++) {
		double time = 0, level = 0;

		for (j = 0; j < w.p.m; j++) {
			double x = v->x[i * w.p.m + j];

			if (x < 0 || (x > 0 && !gv_interior_has_column(&w.p, i, j)))
				return -1;
			time += x;
			used[j] += x * w.use[i];
			level += x * w.level[i * w.p.m + j];
			sum += x * w.gain[i * w.p.m + j];
		}
		if (time > 1 + 1e-9 ||
		    (w.p.need != NULL && level < w.need[i] * (1 - 1e-9)))
			return -1;
		least = fmin(least, level);
	}
	for (j = 0; j < w.p.m; j++)
		if (used[j] > w.capacity[j] * (1 + 1e-9) || v->price[j] < 0)
			return -1;
	return w.p.gain != NULL ? sum : least;
}

/* The best at the first part that is proved; how many jobs were in its program. */
static bool
proved(const struct gv_interior_point *at, struct gv_interior_vertex *v)
{
	static const double parts[] = {GV_TOL_FREE_1, GV_TOL_FREE_2, GV_TOL_FREE_3};
	size_t k;

	for (k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
		struct gv_error e = {0};
		int rc = gv_interior_to_vertex(&w.p, at, NULL, NULL, parts[k], v, &e);
		double got;

		gv_error_clear(&e);
		if (rc != 0)
			continue;
		got = reached(v);
		if (got >= 0 && bound_of(v) - got <= 1e-9 * got)
			return true;
	}
	return false;
}

static void
test_kind(const char *name, bool sum, bool needs, bool ties)
{
	size_t all = 0, found = 0, jobs = 0, in_program = 0, columns = 0;
	int trial;

	for (trial = 0; trial < TRIALS; trial++) {
		struct gv_interior_vertex v = {
		    .x = w.x, .price = w.price, .lambda = w.lambda};
		struct gv_interior_point at;

		draws_begin((uint64_t)trial, 2, (uint64_t)(4 * ties + 2 * sum + needs));
		draw(sum, needs, ties);
		gv_interior_solve(&w.p, &at);
		if (at.gap < GV_TOL_INTERIOR_NEAR) {
			all++;
			if (proved(&at, &v)) {
				found++;
				jobs += w.p.n;
				in_program += v.n_free;
				columns += w.p.m;
			}
		}
		gv_interior_free(&at);
	}
	printf("# %s: %zu of %zu, %zu of %zu jobs in programs, %zu types\n", name, found,
	    all, in_program, jobs, columns);
	ok(found >= all * 97 / 100 && all >= TRIALS * 9 / 10,
	    "%s: proved by a vertex, %zu of %zu", name, found, all);
	ok(in_program <= (sum || ties ? jobs / 3 : 2 * columns),
	    "%s: %zu of %zu jobs are in programs", name, in_program, jobs);
}

/*
 * What is guessed of the operations grows with what there is to do, no faster than its cubes
 * (steeper than those by so much where cells leave the caches), but where sifting begins, which
 * takes less.
 */
static void
test_effort(double effort(size_t n, size_t m), double steeper, const char *name)
{
	size_t n, m, wrong = 0;

	for (n = 1; n <= 1 << 22; n *= 2)
		for (m = 1; m <= 1 << 10; m *= 2) {
			double here = effort(n, m);
			bool sifted = n * m > GV_INTERIOR_MANY;

			wrong += !(here > 0);
			if (sifted == (2 * n * m > GV_INTERIOR_MANY))
				wrong += !(effort(2 * n, m) > here &&
					   effort(2 * n, m) <= 2 * steeper * here &&
					   effort(n, 2 * m) > here &&
					   effort(n, 2 * m) <= 8 * steeper * here);
		}
	is_int((long long)wrong, 0, "%s: as much as there is to do", name);
}

int
main(void)
{
	test_kind("levels", false, false, false);
	test_kind("sums", true, false, false);
	test_kind("sums with needs", true, true, false);
	test_kind("levels with ties", false, false, true);
	test_effort(gv_interior_level_effort, 1, "levels");
	test_effort(gv_interior_sum_effort, 1.6, "sums");
	return done_testing();
}
