#include "level_interior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"
#include "sift.h"
#include "vertex.h"

/* The level's program and what is found on the way. */
struct work {
	const struct gv_problem *p;
	const double *a;
	double unit;
	struct gv_interior_program ip;
	double *level, *use, *need, *gain;
	double lowest; /* that the second program may leave of the level */
	double *start; /* where the second program begins */
	bool *column;
	bool *cheap; /* [n][m] columns that the second program begins with */
	bool corner; /* the shares of the level are a vertex's */
	struct gv_interior_vertex vertex;
};

static const double parts[] = {GV_TOL_FREE_2, GV_TOL_FREE_3};

enum { PARTS = 2 };

static void
work_init(struct work *w, const struct gv_problem *p, const double *a, double unit)
{
	size_t cells = p->n * p->m, i;

	*w = (struct work){.p = p, .a = a, .unit = unit};
	w->level = gv_xcalloc(cells, sizeof(*w->level));
	w->use = gv_xcalloc(p->n, sizeof(*w->use));
	for (i = 0; i < cells; i++)
		w->level[i] = isfinite(a[i]) ? a[i] / unit : 0;
	for (i = 0; i < p->n; i++)
		w->use[i] = p->count[i] * p->scale[i];
	w->vertex.x = gv_xcalloc(cells, sizeof(double));
	w->vertex.price = gv_xcalloc(p->m, sizeof(double));
	w->vertex.lambda = gv_xcalloc(p->n, sizeof(double));
	w->ip = (struct gv_interior_program){.n = p->n,
	    .m = p->m,
	    .level = w->level,
	    .use = w->use,
	    .capacity = p->capacity};
}

static void
work_free(struct work *w)
{
	free(w->level);
	free(w->use);
	free(w->need);
	free(w->gain);
	free(w->start);
	free(w->column);
	free(w->cheap);
	free(w->vertex.x);
	free(w->vertex.price);
	free(w->vertex.lambda);
}

/* Those multipliers become those of the level. */
static void
take_bound(const struct work *w, struct gv_level *l, const double *lambda,
    const double *price, double bound)
{
	l->s->bound = bound;
	memcpy(l->lambda, lambda, w->p->n * sizeof(*lambda));
	memcpy(l->price, price, w->p->m * sizeof(*price));
}

/* They do, if they prove more. */
static void
note_bound(
    const struct work *w, struct gv_level *l, const double *lambda, const double *price)
{
	double bound = gv_level_bound(w->p, w->a, w->unit, lambda, price, 0);

	if (bound < l->s->bound)
		take_bound(w, l, lambda, price, bound);
}

/* Those of the vertex do, if they prove nearly as much.  False: they do not. */
static bool
take_sharp_bound(const struct work *w, struct gv_level *l)
{
	const struct gv_interior_vertex *v = &w->vertex;
	double bound = gv_level_bound(w->p, w->a, w->unit, v->lambda, v->price, 0);

	if (gv_level_gap(w->p, bound, l->s->objective) > GV_TOL_SHARP)
		return false;
	take_bound(w, l, v->lambda, v->price, bound);
	return true;
}

/*
 * Those shares become those of the level, if they reach more, or of a vertex as much but for
 * rounding; x changes.
 */
static void
note_shares(struct work *w, struct gv_level *l, double *x, bool corner)
{
	const struct gv_problem *p = w->p;
	double less = corner && l->lexicographic ? GV_TOL_DUAL_GAP : 0;
	double level;

	gv_problem_clean(p, x);
	level = gv_level_reached(p, w->a, x);
	if (!(level > l->s->objective * (1 - less)))
		return;
	w->corner = corner;
	l->s->objective = level;
	memcpy(l->s->x, x, p->n * p->m * sizeof(*x));
}

/* The point's own shares, into zeros. */
static void
spread(const struct gv_problem *p, const struct gv_interior_point *at, double *x)
{
	size_t i, e;

	for (i = 0; i < p->n; i++)
		for (e = at->begin[i]; e < at->begin[i + 1]; e++)
			x[i * p->m + at->type[e]] = at->x[e];
}

static bool
is_proved(const struct work *w, const struct gv_level *l, double tolerance)
{
	return gv_level_gap(w->p, l->s->bound, l->s->objective) <= tolerance;
}

/*
 * Whether all levels are equal wherever the best one is kept, so that the second sum, of c_i times a
 * job's level, is the same, too.  For sum lambda_i level_i <= bound sum lambda_i, levels above
 * the lowest, all together, add at most (bound - level) sum lambda_i max c_i / lambda_i.
 */
static bool
levels_are_equal(const struct work *w, const struct gv_level *l)
{
	const struct gv_problem *p = w->p;
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double all = 0, sum = 0, most = 0;
	size_t i;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++) {
		double c = w->use[i] / (equal[i] * gv_level_per_step(p, w->a, i));

		sum += c;
		all += l->lambda[i];
		most = fmax(most, l->lambda[i] > 0 ? c / l->lambda[i] : INFINITY);
	}
	free(equal);
	return gv_level_gap(p, l->s->bound, l->s->objective) * most * all <=
	       GV_TOL_PROVED * sum;
}

/*
 * Of the columns that there are, those whose reduced costs are near to 0 at the best level: all
 * others are 0 wherever it is kept.  What nobody is short of costs next to nothing, and has its
 * columns.
 */
static void
keep_cheap_columns(struct work *w, const struct gv_interior_point *at)
{
	const struct gv_problem *p = w->p;
	double usual = at->objective / (double)p->n;
	size_t i, e;

	w->cheap = gv_xcalloc(p->n, p->m * sizeof(*w->cheap));
	for (i = 0; i < p->n; i++)
		for (e = at->begin[i]; e < at->begin[i + 1]; e++)
			w->cheap[i * p->m + at->type[e]] =
			    at->z[e] <= GV_TOL_INTERIOR_CHEAP * fmax(at->size[e], usual);
}

/* Whether a vertex is looked for, the k-th time. */
static bool
wants_vertex(const struct work *w, const struct gv_level *l, bool sharp, size_t k)
{
	const double enough = GV_TOL_DUAL_GAP + 10 * gv_level_rounding(w->p);

	return sharp || !is_proved(w, l, k == 0 ? enough : GV_TOL_SHARP) ||
	       (l->lexicographic && !w->corner && levels_are_equal(w, l));
}

/* The level.  0, or 1: it is not proved; -1 with *e set */
static int
first_stage(struct work *w, bool sharp, struct gv_level *l, struct gv_error *e)
{
	struct gv_interior_point at;
	int rc = 0;
	size_t k;

	gv_interior_sift(&w->ip, &at);
	l->s->objective = 0;
	l->s->bound = INFINITY;
	if (at.gap < GV_TOL_INTERIOR_NEAR) {
		note_bound(w, l, at.lambda, at.price);
		spread(w->p, &at, w->vertex.x);
		note_shares(w, l, w->vertex.x, false);
	}
	for (k = 0; k < PARTS && rc >= 0 && at.gap < GV_TOL_INTERIOR_NEAR &&
		    wants_vertex(w, l, sharp, k);
	     k++) {
		rc = gv_interior_to_vertex(
		    &w->ip, &at, NULL, NULL, parts[k], &w->vertex, e);
		if (rc != 0)
			continue;
		note_bound(w, l, w->vertex.lambda, w->vertex.price);
		note_shares(w, l, w->vertex.x, true);
		if (sharp && take_sharp_bound(w, l))
			break;
	}
	if (l->lexicographic && at.gap < GV_TOL_INTERIOR_NEAR)
		keep_cheap_columns(w, &at);
	w->start = at.middle;
	at.middle = NULL;
	gv_interior_free(&at);
	return rc < 0 ? -1 : is_proved(w, l, GV_TOL_LEVEL_PROVED) ? 0 : 1;
}

/* What the second program counts, in numbers whose best sum is about 1. */
static void
second_program(struct work *w)
{
	const struct gv_problem *p = w->p;
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double gpus = 0;
	size_t i, j;

	w->gain = gv_xcalloc(p->n, p->m * sizeof(*w->gain));
	w->need = gv_xcalloc(p->n, sizeof(*w->need));
	w->column = gv_xcalloc(p->n, p->m * sizeof(*w->column));
	gv_problem_equal_throughput(p, equal);
	for (j = 0; j < p->m; j++)
		gpus += p->capacity[j];
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			double rate = gv_problem_rate(p, i, j);

			w->column[i * p->m + j] = rate > 0;
			w->gain[i * p->m + j] = w->use[i] * (rate / equal[i]) / gpus;
		}
	w->ip.gain = w->gain;
	w->ip.column = w->column;
	free(equal);
}

/* Needs of those that ask for something. */
static void
set_needs(struct work *w, double level, double *need)
{
	const struct gv_problem *p = w->p;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		bool asks = true;

		for (j = 0; j < p->m; j++)
			asks = asks && isfinite(w->a[i * p->m + j]);
		need[i] = asks ? level / w->unit : 0;
	}
}

/* What the second sum cannot pass by those multipliers. */
static double
sum_bound(
    const struct work *w, const double *need, const double *lambda, const double *price)
{
	const struct gv_problem *p = w->p;
	double sum = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		sum += price[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		double most = 0;

		for (j = 0; j < p->m; j++)
			if (w->column[i * p->m + j])
				most = fmax(most, w->gain[i * p->m + j] +
						      lambda[i] * w->level[i * p->m + j] -
						      w->use[i] * price[j]);
		sum += most - lambda[i] * need[i];
	}
	return sum;
}

static double
sum_of(const struct work *w, const double *x)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < w->p->n * w->p->m; i++)
		sum += w->gain[i] * x[i];
	return sum;
}

/*
 * The vertex near that point whose level is as good, into l->s if it is better than *best.
 * 0; 1 there is none, or it is not the best; -1 with *e set.
 */
static int
second_vertex(struct work *w, const struct gv_interior_point *at, const double *need,
    struct gv_level *l, double *best, struct gv_error *e)
{
	const struct gv_problem *p = w->p;
	struct gv_interior_vertex *v = &w->vertex;
	size_t k;

	for (k = 0; k < PARTS; k++) {
		int rc = gv_interior_to_vertex(&w->ip, at, need, l->s->x, parts[k], v, e);
		double level, sum, bound;

		if (rc < 0)
			return -1;
		if (rc > 0)
			continue;
		bound = fmin(sum_bound(w, need, v->lambda, v->price),
		    sum_bound(w, need, at->lambda, at->price));
		gv_problem_clean(p, v->x);
		level = gv_level_reached(p, w->a, v->x);
		sum = sum_of(w, v->x);
		if (level < w->lowest || sum < *best)
			continue;
		memcpy(l->s->x, v->x, p->n * p->m * sizeof(*v->x));
		l->s->objective = level;
		*best = sum;
		if (bound - sum <= GV_TOL_PROVED * bound)
			return 0;
	}
	return 1;
}

/*
 * The second program, of which the method is given a little less to keep, for it needs room;
 * the vertex is of the level itself, or where what keeps it is too thin a set a little less.
 */
static int
second_stage(struct work *w, struct gv_level *l, struct gv_error *e)
{
	static const double room[] = {GV_TOL_INTERIOR_ROOM_1, GV_TOL_INTERIOR_ROOM_2};
	static const double less[] = {0, GV_TOL_LESS_2, GV_TOL_LESS_3};
	double level = l->s->objective;
	double *exact = gv_xcalloc(w->p->n, sizeof(*exact));
	double best;
	size_t k, t;
	int rc = 1;

	second_program(w);
	best = sum_of(w, l->s->x);
	w->lowest = level * (1 - GV_TOL_LESS_3 - GV_TOL_KEPT);
	w->ip.need = w->need;
	w->ip.start = w->start;
	w->ip.first = w->cheap;
	for (k = 0; k < 2 && rc == 1; k++) {
		struct gv_interior_point at;

		set_needs(w, level * (1 - room[k]), w->need);
		gv_interior_sift(&w->ip, &at);
		for (t = 0; t < 3 && rc == 1 && at.gap < GV_TOL_INTERIOR_NEAR; t++) {
			set_needs(w, level * (1 - less[t]), exact);
			rc = second_vertex(w, &at, exact, l, &best, e);
		}
		gv_interior_free(&at);
	}
	free(exact);
	return rc;
}

int
gv_level_by_interior(const struct gv_problem *p, const double *a, double unit, bool sharp,
    struct gv_level *l, bool *second_done, struct gv_error *e)
{
	struct work w;
	int rc;

	if (p->budget > 0)
		return 1;
	work_init(&w, p, a, unit);
	rc = first_stage(&w, sharp, l, e);
	*second_done =
	    rc == 0 && (!l->lexicographic || (w.corner && levels_are_equal(&w, l)));
	if (rc == 0 && !*second_done) {
		rc = second_stage(&w, l, e);
		*second_done = rc == 0;
	}
	work_free(&w);
	return rc;
}
