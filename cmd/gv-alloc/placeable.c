#include "placeable.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hull.h"

enum { MOST_ROUNDS = 1000 }; /* to start with */

/* What keeps the best may be too thin a set: then a hair less will do, relative. */
static const double hair[] = {0, 1e-11};

static void
program_init(struct hull_program *g, const struct problem *p)
{
	*g = (struct hull_program){.close = 1e-9, .enough = INFINITY};
	g->dual = gv_xcalloc(p->n, sizeof(*g->dual));
	g->mean = gv_xcalloc(p->n, p->m * sizeof(*g->mean));
}

static void
program_free(struct hull_program *g)
{
	free(g->dual);
	free(g->mean);
}

/* How many make a good start: two for each row of the programs. */
static size_t
rounds(const struct problem *p)
{
	size_t most = MOST_ROUNDS;

	return 2 * p->n * p->m < most ? 2 * p->n * p->m : most;
}

/* The jobs of a class take turns. */
static void
take_shares(const struct problem *p, const double *mean, double *x)
{
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			x[i * p->m + j] = mean[i * p->m + j] / p->count[i];
	problem_clean(p, x);
}

static double
largest(const double *v, size_t n)
{
	double most = 0;
	size_t i;

	for (i = 0; i < n; i++)
		most = fmax(most, fabs(v[i]));
	return most;
}

/* The second sum of several policies: s_i T_ij / P_i, in numbers of about 1.  The caller's. */
static double *
second_sum(const struct problem *p)
{
	double *second = linear_normalised(p);
	double most = largest(second, p->n * p->m);
	size_t i;

	for (i = 0; i < p->n * p->m; i++)
		second[i] /= most;
	return second;
}

/* ---- levels ---- */

static double
level_of(const struct problem *p, const double *a, const double *x)
{
	double level = INFINITY;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double sum = 0;

		for (j = 0; j < p->m; j++)
			sum += a[i * p->m + j] * x[i * p->m + j];
		level = fmin(level, sum);
	}
	return level;
}

/* Rows of rise and ask in numbers of about 1; returns the level that t = 1 is. */
static double
scale(const struct problem *p, const double *a, double *rise, double *ask)
{
	double unit = INFINITY;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double most = largest(&a[i * p->m], p->m);

		unit = fmin(unit, most);
		ask[i] = 1 / most;
		for (j = 0; j < p->m; j++)
			rise[i * p->m + j] = a[i * p->m + j] / most / p->count[i];
	}
	for (i = 0; i < p->n; i++)
		ask[i] *= unit;
	return unit;
}

/* Keeps the level found, and raises the sum. */
static int
raise_level(struct hull *h, const struct problem *p, const double *a,
    const struct hull_program *first, const char *name, struct solution *s,
    struct gv_error *e)
{
	double *second = second_sum(p);
	double *least = gv_xcalloc(p->n, sizeof(*least));
	double *x = gv_xcalloc(p->n, p->m * sizeof(*x));
	struct hull_program g;
	size_t i, k;
	int rc = 1;

	program_init(&g, p);
	g.close = 1e-7; /* what it proves is not said */
	g.gain = second;
	g.rise = first->rise;
	g.least = least;
	for (k = 0; k < 2 && rc == 1; k++) {
		for (i = 0; i < p->n; i++)
			least[i] = first->ask[i] * first->value * (1 - hair[k]);
		rc = hull_solve(h, &g, name, e);
	}
	if (rc == 0) {
		take_shares(p, g.mean, x);
		if (level_of(p, a, x) >= s->objective * (1 - 2 * hair[1])) {
			memcpy(s->x, x, p->n * p->m * sizeof(*x));
			s->objective = level_of(p, a, x);
		}
	}
	program_free(&g);
	free(second);
	free(least);
	free(x);
	return rc < 0 ? -1 : 0;
}

/* The level without --placeable into l, and the placements of rounds that follow its shares. */
static int
start_level(struct hull *h, const struct problem *p, const double *a,
    const struct solve_options *opt, const char *name, struct level *l,
    struct gv_error *e)
{
	struct solve_options other = *opt;
	int rc;

	other.placeable = false;
	rc = level_solve(p, a, &other, name, l, e);
	if (rc == 0)
		hull_follow(h, l->s->x, rounds(p));
	return rc;
}

/* The shares of the mixture, and the better one of both proofs. */
static void
take_level(struct level *l, const struct problem *p, const double *a,
    const struct hull_program *g, double unit, const struct level *relaxed)
{
	struct solution *s = l->s;
	double sum = 0, all = 0;
	size_t i;

	take_shares(p, g->mean, s->x);
	s->objective = level_of(p, a, s->x);
	for (i = 0; i < p->n; i++) {
		sum += g->dual[i] * g->ask[i];
		all += relaxed->lambda[i];
	}
	s->bound = unit * (g->most / sum);
	l->limit = g->most;
	for (i = 0; i < p->n; i++)
		l->lambda[i] = g->dual[i] * g->ask[i] / unit;
	if (!(s->bound < relaxed->s->bound)) {
		s->bound = relaxed->s->bound;
		l->limit = relaxed->s->bound * all;
		memcpy(l->lambda, relaxed->lambda, p->n * sizeof(*l->lambda));
	}
	s->has_bound = true;
}

int
placeable_level(const struct problem *p, const double *a, const struct solve_options *opt,
    const char *name, struct level *l, struct gv_error *e)
{
	double *rise = gv_xcalloc(p->n, p->m * sizeof(*rise));
	double *ask = gv_xcalloc(p->n, sizeof(*ask));
	double unit = scale(p, a, rise, ask);
	struct solution other = {.x = gv_xcalloc(p->n, p->m * sizeof(*other.x))};
	struct solution *s = l->s;
	struct level relaxed;
	struct hull_program g;
	struct hull h;
	int rc;

	hull_init(&h, p);
	program_init(&g, p);
	level_init(&relaxed, p, &other, true);
	g.level = true;
	g.rise = rise;
	g.ask = ask;
	rc = start_level(&h, p, a, opt, name, &relaxed, e);
	if (rc == 0) {
		g.enough = other.objective / unit * (1 - 1e-12);
		rc = hull_solve(&h, &g, name, e);
	}
	if (rc == 0) {
		take_level(l, p, a, &g, unit, &relaxed);
		if (l->raise)
			rc = raise_level(&h, p, a, &g, name, s, e);
		s->gap = (s->bound - s->objective) / s->bound;
	}
	level_free(&relaxed);
	free(other.x);
	program_free(&g);
	hull_free(&h);
	free(rise);
	free(ask);
	return rc;
}

/* ---- sums ---- */

/* Into rise and least: the needs, in numbers of about 1. */
static void
scale_needs(const struct linear *l, double *rise, double *least)
{
	const struct problem *p = l->p;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		if (l->need == NULL || !(l->need[i] > 0))
			continue;
		least[i] = 1 - hair[1];
		for (j = 0; j < p->m; j++)
			rise[i * p->m + j] =
			    problem_rate(p, i, j) / l->need[i] / p->count[i];
	}
}

/* Placements that a mixture of which meets all needs. */
static int
meet_needs(struct hull *h, const double *rise, const double *least, const char *name,
    struct gv_error *e)
{
	struct hull_program g;
	int rc;

	program_init(&g, h->p);
	g.level = true;
	g.rise = rise;
	g.ask = least;
	rc = hull_solve(h, &g, name, e);
	program_free(&g);
	return rc;
}

/* The second sum among those of the best first, into l->s. */
static int
raise_sum(struct hull *h, const struct linear *l, const struct hull_program *first,
    const double *second, const char *name, struct gv_error *e)
{
	const struct problem *p = l->p;
	struct hull_program g;
	size_t k;
	int rc = 1;

	program_init(&g, p);
	g.close = 1e-7; /* what it proves is not said */
	g.gain = second;
	g.rise = first->rise;
	g.least = first->least;
	g.keep = first->gain;
	for (k = 0; k < 2 && rc == 1; k++) {
		g.at_least = first->value - hair[k] * fmax(1, fabs(first->value));
		rc = hull_solve(h, &g, name, e);
	}
	if (rc == 0)
		take_shares(p, g.mean, l->s->x);
	program_free(&g);
	return rc < 0 ? -1 : 0;
}

static double
sum_of(const struct problem *p, const double *gain, const double *x)
{
	double sum = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			sum += p->count[i] * (gain[i * p->m + j] * x[i * p->m + j]);
	return sum;
}

/* Of l's gains, divided by unit; the bound is the better one of both. */
static int
solve_sum(struct hull *h, struct linear *l, struct hull_program *g, double unit,
    const struct linear *relaxed, const char *name, struct gv_error *e)
{
	const struct problem *p = l->p;
	double *second = NULL;
	struct solution *s = l->s;
	double needs = 0;
	size_t i;
	int rc;

	g->enough = relaxed->s->objective / unit;
	g->enough -= 1e-12 * fmax(1, fabs(g->enough));
	rc = hull_solve(h, g, name, e);
	if (rc == 1)
		rc = gv_error_set(e, "the placements of %s: %s", name,
		    gv_lp_status_name(GV_LP_INFEASIBLE));
	if (rc != 0)
		return rc;
	for (i = 0; i < p->n; i++) {
		l->mu[i] = l->need != NULL && l->need[i] > 0
			       ? unit * g->dual[i] / (l->need[i] * p->count[i])
			       : 0;
		needs += g->dual[i] * g->least[i];
	}
	take_shares(p, g->mean, s->x);
	if (l->second != NULL) {
		double most = largest(l->second, p->n * p->m);

		second = gv_xcalloc(p->n, p->m * sizeof(*second));
		for (i = 0; i < p->n * p->m; i++)
			second[i] = l->second[i] / most;
		rc = raise_sum(h, l, g, second, name, e);
	}
	free(second);
	s->objective = sum_of(p, l->gain, s->x);
	s->bound = fmin(unit * (g->most - needs), relaxed->s->bound);
	s->has_bound = true;
	s->gap = (s->bound - s->objective) / fmax(fabs(s->bound), DBL_MIN);
	return rc;
}

/* The same of sums, into r. */
static int
start_linear(struct hull *h, const struct linear *l, const struct solve_options *opt,
    const char *name, struct linear *r, struct gv_error *e)
{
	const struct problem *p = l->p;
	struct solve_options other = *opt;
	int rc;

	other.placeable = false;
	memcpy(r->s->x, l->s->x, p->n * p->m * sizeof(*r->s->x));
	r->gain = l->gain;
	r->size = l->size;
	r->second = l->second;
	r->need = l->need;
	rc = linear_solve(r, &other, name, e);
	if (rc == 0)
		hull_follow(h, r->s->x, rounds(p));
	return rc;
}

int
placeable_linear(struct linear *l, const struct solve_options *opt, const char *name,
    struct gv_error *e)
{
	const struct problem *p = l->p;
	size_t cells = p->n * p->m;
	double *gain = gv_xcalloc(p->n, p->m * sizeof(*gain));
	double *rise = gv_xcalloc(p->n, p->m * sizeof(*rise));
	double *least = gv_xcalloc(p->n, sizeof(*least));
	double unit = largest(l->size != NULL ? l->size : l->gain, cells);
	struct hull_program g;
	struct hull h;
	struct solution other = {.x = gv_xcalloc(p->n, p->m * sizeof(*other.x))};
	struct linear relaxed;
	size_t i;
	int rc;

	unit = unit > 0 ? unit : 1;
	for (i = 0; i < cells; i++)
		gain[i] = l->gain[i] / unit;
	scale_needs(l, rise, least);
	hull_init(&h, p);
	program_init(&g, p);
	linear_init(&relaxed, p, &other);
	g.gain = gain;
	g.rise = rise;
	g.least = least;
	rc = start_linear(&h, l, opt, name, &relaxed, e);
	if (rc == 0 && largest(least, p->n) > 0)
		rc = meet_needs(&h, rise, least, name, e);
	if (rc == 0)
		rc = solve_sum(&h, l, &g, unit, &relaxed, name, e);
	linear_free(&relaxed);
	free(other.x);
	program_free(&g);
	hull_free(&h);
	free(gain);
	free(rise);
	free(least);
	return rc;
}
