#include "apart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"
#include "plain.h"

/* A part of a gang from which on it is given a whole one, in turn. */
static const double rounded_up[] = {.5, GV_TOL_FEASIBLE, .25};

struct apart {
	const struct gv_problem *p;
	const double *a;
	const double *second; /* [n][m] gains */
	double level;
	size_t n_sizes;
	double *size;  /* [n_sizes] GPUs of a gang, larger first */
	double *asked; /* [n_sizes][m] gangs of the relaxed shares */
	double *jobs;  /* [n_sizes][m] that can run there */
	double *gangs; /* [n_sizes][m] whole ones */
};

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

static void
apart_init(struct apart *w, const struct gv_problem *p, const double *relaxed)
{
	size_t i, j, k;

	w->size = gv_xcalloc(p->n, sizeof(*w->size));
	memcpy(w->size, p->scale, p->n * sizeof(*w->size));
	qsort(w->size, p->n, sizeof(*w->size), by_size);
	for (i = 0; i < p->n; i++)
		if (i == 0 || w->size[i] != w->size[w->n_sizes - 1])
			w->size[w->n_sizes++] = w->size[i];
	w->asked = gv_xcalloc(w->n_sizes, p->m * sizeof(*w->asked));
	w->jobs = gv_xcalloc(w->n_sizes, p->m * sizeof(*w->jobs));
	w->gangs = gv_xcalloc(w->n_sizes, p->m * sizeof(*w->gangs));
	for (i = 0; i < p->n; i++) {
		const double *at =
		    bsearch(&p->scale[i], w->size, w->n_sizes, sizeof(*w->size), by_size);

		k = (size_t)(at - w->size);
		for (j = 0; j < p->m; j++) {
			w->asked[k * p->m + j] += p->count[i] * relaxed[i * p->m + j];
			if (gv_problem_rate(p, i, j) > 0)
				w->jobs[k * p->m + j] += p->count[i];
		}
	}
}

static void
apart_free(struct apart *w)
{
	free(w->size);
	free(w->asked);
	free(w->jobs);
	free(w->gangs);
}

/* Whole gangs for all sizes on type j: those asked for rounded, then as many small ones as fit. */
static void
round_type(struct apart *w, size_t j, double up)
{
	size_t m = w->p->m, k;
	double left = floor(w->p->capacity[j]);

	for (k = 0; k < w->n_sizes; k++) {
		double *gangs = &w->gangs[k * m + j];

		*gangs = floor(w->asked[k * m + j] + GV_TOL_FEASIBLE);
		left -= *gangs * w->size[k];
	}
	for (k = 0; k < w->n_sizes; k++)
		if (w->asked[k * m + j] - w->gangs[k * m + j] >= up &&
		    left >= w->size[k]) {
			w->gangs[k * m + j]++;
			left -= w->size[k];
		}
	for (k = w->n_sizes; k-- > 0;) {
		double more = fmin(
		    floor(left / w->size[k]), w->jobs[k * m + j] - w->gangs[k * m + j]);

		if (more > 0) {
			w->gangs[k * m + j] += more;
			left -= more * w->size[k];
		}
	}
}

/* The jobs of a size, and the GPUs that it has.  False: a job of it has none. */
static bool
pick_size(const struct apart *w, size_t k, struct gv_problem *q, bool *keep)
{
	const struct gv_problem *p = w->p;
	bool all = true;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		keep[i] = p->scale[i] == w->size[k];
	gv_problem_pick(q, p, keep);
	for (j = 0; j < p->m; j++)
		q->capacity[j] = w->gangs[k * p->m + j] * w->size[k];
	for (i = 0; i < q->n; i++) {
		bool some = false;

		for (j = 0; j < p->m; j++) {
			if (q->capacity[j] == 0)
				q->rate[i * p->m + j] = 0;
			some = some || gv_problem_rate(q, i, j) > 0;
		}
		all = all && some;
	}
	return all;
}

/* The rows of a size, 0 where it has no GPUs. */
static double *
pick_rows(const struct gv_problem *q, const double *from, const bool *keep, size_t n)
{
	double *to = gv_xcalloc(q->n, q->m * sizeof(*to));
	size_t i, j, k = 0;

	for (i = 0; i < n; i++) {
		for (j = 0; j < q->m && keep[i]; j++)
			if (gv_problem_rate(q, k, j) > 0)
				to[k * q->m + j] = from[i * q->m + j];
		k += keep[i];
	}
	return to;
}

/* What each job needs for the level, in steps/s.  [n] */
static double *
needs(const struct gv_problem *q, const double *a, double level)
{
	double *need = gv_xcalloc(q->n, sizeof(*need));
	size_t i, j;

	for (i = 0; i < q->n; i++) {
		double most = 0;

		for (j = 0; j < q->m; j++)
			if (a[i * q->m + j] > most) {
				most = a[i * q->m + j];
				need[i] = level * (gv_problem_rate(q, i, j) / most);
			}
	}
	return need;
}

/* The largest second sum at the level, from shares s->x that reach it; they stay where that fails. */
static void
raise_size(const struct gv_problem *q, const double *a, const double *second,
    double level, const struct gv_solver_options *opt, struct gv_solution *s)
{
	size_t bytes = q->n * q->m * sizeof(*s->x);
	double *kept = gv_xcalloc(1, bytes);
	double *need = needs(q, a, level);
	struct gv_error e = {0};
	struct gv_linear l;

	memcpy(kept, s->x, bytes);
	gv_linear_init(&l, q, s);
	l.gain = second;
	l.need = need;
	if (gv_linear_plain(&l, opt, "placements", &e) != 0 ||
	    gv_level_reached(q, a, s->x) < level * (1 - GV_TOL_LESS_2))
		memcpy(s->x, kept, bytes);
	gv_linear_free(&l);
	gv_error_clear(&e);
	free(need);
	free(kept);
}

/* Size k by itself, into x.  False: it does not reach the level. */
static bool
solve_size(
    const struct apart *w, size_t k, const struct gv_solver_options *opt, double *x)
{
	const struct gv_problem *p = w->p;
	bool *keep = gv_xcalloc(p->n, sizeof(*keep));
	struct gv_problem q;
	bool reached = pick_size(w, k, &q, keep);
	double *a = pick_rows(&q, w->a, keep, p->n);
	double *second = pick_rows(&q, w->second, keep, p->n);
	struct gv_solution s = {.x = gv_xcalloc(q.n, q.m * sizeof(*s.x))};
	struct gv_error e = {0};
	struct gv_level l;
	size_t i, row = 0;

	gv_level_init(&l, &q, &s, false);
	reached = reached && gv_level_plain(&q, a, opt, "placements", &l, &e) == 0 &&
		  s.objective >= w->level * (1 - GV_TOL_LESS_2);
	if (reached)
		raise_size(&q, a, second, fmin(w->level, s.objective), opt, &s);
	for (i = 0; i < p->n && reached; i++)
		if (keep[i])
			memcpy(&x[i * p->m], &s.x[row++ * p->m], p->m * sizeof(*x));
	gv_level_free(&l);
	gv_error_clear(&e);
	gv_problem_free(&q);
	free(s.x);
	free(second);
	free(a);
	free(keep);
	return reached;
}

bool
gv_level_apart(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, double level, const double *relaxed, double *x)
{
	const struct gv_solver_options own = {.solver = opt->solver};
	double *second = gv_linear_normalised(p);
	double *found = gv_xcalloc(p->n, p->m * sizeof(*found));
	struct apart w = {.p = p, .a = a, .second = second, .level = level};
	size_t j, k, round;
	bool reached = false;

	apart_init(&w, p, relaxed);
	for (round = 0; round < sizeof(rounded_up) / sizeof(*rounded_up) && !reached;
	     round++) {
		for (j = 0; j < p->m; j++)
			round_type(&w, j, rounded_up[round]);
		reached = true;
		for (k = 0; k < w.n_sizes && reached; k++)
			reached = solve_size(&w, k, &own, found);
	}
	if (reached)
		memcpy(x, found, p->n * p->m * sizeof(*x));
	apart_free(&w);
	free(second);
	free(found);
	return reached;
}
