/*
 * Where the interior-point method ends (interior/interior.h): near the best by the conditions
 * of optimality themselves, written down from the header and nothing else, for random levels
 * and sums, with needs, columns that are not there, types without GPUs and points to begin at.
 */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/interior/interior.h"
#include "base/mem.h"
#include "draws.h"
#include "lp/tolerance.h"

enum { TRIALS = 400, N = 40, M = 12 };

static struct {
	double level[N * M], use[N], gain[N * M], need[N], capacity[M], start[N * M];
	bool column[N * M];
	struct gv_interior_program p;
} w;

static void
draw(int trial)
{
	size_t n = 1 + below(N), m = 1 + below(M), i, j;
	double decades = 1 + 2 * (double)below(2);
	bool sum = below(2) == 0;

	memset(&w, 0, sizeof(w));
	w.p = (struct gv_interior_program){.n = n,
	    .m = m,
	    .level = w.level,
	    .use = w.use,
	    .gain = sum ? w.gain : NULL,
	    .need = sum && below(2) == 0 ? w.need : NULL,
	    .capacity = w.capacity,
	    .column = below(3) == 0 ? w.column : NULL,
	    .narrow = trial % 4 == 1};
	for (j = 0; j < m; j++)
		w.capacity[j] = j > 0 && below(6) == 0 ? 0 : 1 + uniform() * (double)n;
	for (i = 0; i < n; i++) {
		w.use[i] = (double)(1 << below(3));
		for (j = 0; j < m; j++) {
			double rate =
			    j > 0 && below(5) == 0 ? 0 : pow(10, decades * uniform());

			w.level[i * m + j] = rate;
			w.gain[i * m + j] = rate * (.5 + uniform());
			w.column[i * m + j] = rate > 0 && (j == 0 || below(4) > 0);
		}
		/* what an equal part of the first type gives, or less */
		w.need[i] = i % 3 == 0
				? w.level[i * m] * .5 *
				      fmin(1, w.capacity[0] / (w.use[i] * (double)n))
				: 0;
	}
	if (below(3) == 0 && w.p.need == NULL) {
		w.p.start = w.start;
		for (i = 0; i < n; i++)
			for (j = 0; j < m; j++)
				if (gv_interior_has_column(&w.p, i, j))
					w.start[i * m + j] =
					    .5 / (double)m *
					    fmin(1,
						w.capacity[j] / (w.use[i] * (double)n));
	}
}

static size_t wrongs;

static void
holds(bool is, const char *what, int trial)
{
	if (!is && wrongs++ < 5)
		printf("# program %d (%zu x %zu, %s%s%s): %s\n", trial, w.p.n, w.p.m,
		    w.p.gain != NULL ? "sum" : "level", w.p.need != NULL ? ", needs" : "",
		    w.p.start != NULL ? ", begun" : "", what);
}

/* a is at least b, but for that part of size. */
static bool
least(double a, double b, double size)
{
	return a >= b - 1e-5 * size;
}

static void
check_columns(const struct gv_interior_point *s, int trial)
{
	double small = 1e-8 * s->objective; /* where nothing binds */
	size_t i, j, e;

	for (i = 0; i < w.p.n; i++)
		for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
			double price, paid, g;

			j = s->type[e];
			holds(j < w.p.m && gv_interior_has_column(&w.p, i, j) &&
				  (e == s->begin[i] || s->type[e - 1] < j),
			    "columns are some of those there are, in order", trial);
			price = s->price[j] * w.use[i];
			paid = s->lambda[i] * w.level[i * w.p.m + j];
			g = w.p.gain != NULL ? w.gain[i * w.p.m + j] : 0;
			holds(s->x[e] >= 0 && s->x[e] <= 1 + 1e-6, "shares", trial);
			holds(fabs(s->size[e] - (price + s->time[i] + paid + fabs(g))) <=
				  1e-12 * s->size[e],
			    "what reduced costs are made of", trial);
			holds(fabs(price + s->time[i] - paid - g - s->z[e]) <=
				  1e-5 * s->size[e] + small,
			    "reduced costs", trial);
			holds(
			    s->z[e] >= -1e-5 * s->size[e] - small, "none below 0", trial);
		}
}

/* Feasible, multipliers of the right signs, and both objectives the same. */
static void
check(const struct gv_interior_point *s, int trial)
{
	double primal = HUGE_VAL, dual = 0, lambdas = 0, used[M] = {0};
	size_t i, j, e, columns = 0;

	for (i = 0; i < w.p.n; i++)
		for (j = 0; j < w.p.m; j++)
			columns += gv_interior_has_column(&w.p, i, j);
	holds(w.p.narrow ? s->n_columns <= columns : s->n_columns == columns,
	    "all columns", trial);
	holds(
	    s->begin[0] == 0 && s->begin[w.p.n] == s->n_columns, "whose they are", trial);
	check_columns(s, trial);
	if (w.p.gain != NULL)
		primal = 0;
	for (i = 0; i < w.p.n; i++) {
		double time = 0, level = 0;

		for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
			j = s->type[e];
			time += s->x[e];
			level += s->x[e] * w.level[i * w.p.m + j];
			used[j] += s->x[e] * w.use[i];
			if (w.p.gain != NULL)
				primal += s->x[e] * w.gain[i * w.p.m + j];
		}
		if (w.p.gain == NULL)
			primal = fmin(primal, level);
		if (w.p.need != NULL)
			holds(least(level, w.need[i], w.need[i]), "needs", trial);
		holds(time <= 1 + 1e-6, "nobody has more than all the time", trial);
		holds(s->time[i] >= 0 && s->lambda[i] >= 0, "signs", trial);
		lambdas += s->lambda[i];
		dual += s->time[i] - (w.p.need != NULL ? s->lambda[i] * w.need[i] : 0);
	}
	for (j = 0; j < w.p.m; j++) {
		holds(used[j] <= w.capacity[j] * (1 + 1e-6), "GPUs", trial);
		holds(s->price[j] >= 0, "prices", trial);
		dual += w.capacity[j] * s->price[j];
	}
	if (w.p.gain == NULL)
		holds(fabs(lambdas - 1) <= 1e-5, "a level is the mean of all", trial);
	holds(fabs(primal - dual) <= 1e-4 * fabs(dual), "both objectives", trial);
	holds(fabs(s->objective - dual) <= 1e-4 * fabs(dual), "the one that is told",
	    trial);
}

/* ---- numbers far apart ---- */

enum { FAR = 20, FAR_STEPS = 590, FAR_N = 200, FAR_M = 24 };

/*
 * Rates over eight decades, of which half of the jobs want as much as their fastest type
 * gives and others less: equal shares' level is thousands of times below the best one.
 */
static void
draw_far(struct gv_interior_program *p, double *level, double *use, double *capacity)
{
	size_t i, j;

	*p = (struct gv_interior_program){
	    .n = FAR_N, .m = FAR_M, .level = level, .use = use, .capacity = capacity};
	for (j = 0; j < FAR_M; j++)
		capacity[j] = floor(pow(10, 3 * uniform()));
	for (i = 0; i < FAR_N; i++) {
		double want = 0;

		use[i] = 1;
		for (j = 0; j < FAR_M; j++) {
			level[i * FAR_M + j] = pow(10, 8 * uniform());
			want = fmax(want, level[i * FAR_M + j]);
		}
		want *= below(2) == 0 ? 1 : uniform();
		for (j = 0; j < FAR_M; j++)
			level[i * FAR_M + j] /= want;
	}
}

static void
test_far(void)
{
	double *level = gv_xcalloc(FAR_N * FAR_M + FAR_N + FAR_M, sizeof(*level));
	double *use = level + FAR_N * FAR_M, *capacity = use + FAR_N;
	int trial, near = 0, steps = 0;

	for (trial = 0; trial < FAR; trial++) {
		struct gv_interior_program p;
		struct gv_interior_point s;

		draws_begin((uint64_t)trial, 2, 0);
		draw_far(&p, level, use, capacity);
		gv_interior_solve(&p, &s);
		near += s.gap <= GV_TOL_INTERIOR_NEAR;
		steps += s.steps;
		gv_interior_free(&s);
	}
	free(level);
	is_int(near, FAR, "far from equal shares: all come to their end");
	ok(steps <= FAR_STEPS, "in %d steps", steps);
}

/* ---- so many types that steps are corrected ---- */

enum { MANY = 6, MANY_N = 40, MANY_M = 120, MANY_STEPS = 65 };

static void
test_many_types(void)
{
	double *level = gv_xcalloc(MANY_N * MANY_M, 2 * sizeof(*level));
	double *gain = level + MANY_N * MANY_M, use[MANY_N], capacity[MANY_M];
	int trial, near = 0, steps = 0, k;

	for (trial = 0; trial < MANY; trial++) {
		struct gv_interior_program p = {.n = MANY_N,
		    .m = MANY_M,
		    .level = level,
		    .use = use,
		    .gain = trial % 2 == 0 ? NULL : gain,
		    .capacity = capacity};
		struct gv_interior_point s;

		draws_begin((uint64_t)trial, 3, 0);
		for (k = 0; k < MANY_M; k++)
			capacity[k] = 1 + (double)below(3);
		for (k = 0; k < MANY_N; k++)
			use[k] = (double)(1 << below(4));
		for (k = 0; k < MANY_N * MANY_M; k++) {
			level[k] = pow(10, 3 * uniform());
			gain[k] = level[k] * (.5 + uniform());
		}
		gv_interior_solve(&p, &s);
		near += s.gap <= GV_TOL_INTERIOR_NEAR;
		steps += s.steps;
		gv_interior_free(&s);
	}
	free(level);
	is_int(near, MANY, "many types: all come to their end");
	ok(steps <= MANY_STEPS, "in %d steps", steps);
}

int
main(void)
{
	static const int most[4] = {1100, 710, 690, 1260};
	int trial, near = 0, kinds[4] = {0}, steps[4] = {0}, k;

	for (trial = 0; trial < TRIALS; trial++) {
		struct gv_interior_point s;

		draws_begin((uint64_t)trial, 1, 0);
		draw(trial);
		gv_interior_solve(&w.p, &s);
		if (s.gap <= GV_TOL_INTERIOR_NEAR) {
			near++;
			k = (w.p.gain != NULL) +
			    2 * (w.p.need != NULL || w.p.start != NULL);
			kinds[k]++;
			steps[k] += s.steps;
			check(&s, trial);
		}
		holds(s.steps > 0 || s.gap == INFINITY, "it takes steps", trial);
		gv_interior_free(&s);
	}
	is_int((long long)wrongs, 0, "%d programs: the conditions of optimality hold",
	    TRIALS);
	ok(near > TRIALS * 9 / 10, "%d came to their end", near);
	ok(kinds[0] > 50 && kinds[1] > 20 && kinds[2] > 20 && kinds[3] > 50,
	    "levels and sums, plain and not (%d %d %d %d)", kinds[0], kinds[1], kinds[2],
	    kinds[3]);
	for (k = 0; k < 4; k++)
		ok(steps[k] <= most[k], "of those kinds %d take %d steps", kinds[k],
		    steps[k]);
	test_far();
	test_many_types();
	return done_testing();
}
