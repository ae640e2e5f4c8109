/*
 * Progressive filling: how far the levels rise in each stage, and who stops there.  See
 * policy/water_filling.c.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "filling_stages.h"
#include "lp/tolerance.h"

/* ---- how far ---- */

static double
weighed(const struct gv_problem *p, const double *lambda, const double *v)
{
	double sum = 0, block = 0;
	size_t i;

	for (i = 0; i < p->n; i++) {
		block += lambda[i] * v[i];
		if (i % 1024 == 1023 || i == p->n - 1) {
			sum += block;
			block = 0;
		}
	}
	return sum;
}

/* The part of the inequality that jobs have that do not rise; lambda of the active ones, in their order. */
static double
split(const struct gv_filling *f, const struct gv_reach *r, double *lambda)
{
	bool *rises = gv_xcalloc(f->p->n, sizeof(*rises));
	double sum = 0;
	size_t i, k;

	for (k = 0; k < f->n_active; k++)
		if (f->active[k].job != SIZE_MAX) {
			lambda[k] = r->lambda[f->active[k].job];
			rises[f->active[k].job] = true;
		}
	for (i = 0; i < f->p->n; i++)
		sum += rises[i] ? 0 : r->lambda[i] * f->have[i];
	free(rises);
	return sum;
}

/*
 * The time at which the inequality is full; at c it is broken.  The left side grows
 * with time and is linear between stops: secants between a time on either side,
 * halved where they are slow.
 */
static double
time_of_limit(const struct gv_filling *f, const struct gv_reach *r, double c)
{
	double *lambda = gv_xcalloc(f->n_active, sizeof(*lambda));
	double rest = r->limit - split(f, r, lambda);
	double low = 0, high = c;
	double above = gv_filling_weighted(f, lambda, c) - rest;
	double below = gv_filling_weighted(f, lambda, 0) - rest;
	int k;

	if (below < 0 && above <= 0)
		low = c * (1 - DBL_EPSILON);
	for (k = 0;
	     below < 0 && above > 0 && k < 300 && high - low > 2 * DBL_EPSILON * high;
	     k++) {
		double at = low + (high - low) * (below / (below - above));
		double value;

		if (k % 3 == 2 || !(at > low && at < high))
			at = low + (high - low) / 2;
		value = gv_filling_weighted(f, lambda, at) - rest;
		if (value <= 0) {
			low = at;
			below = value;
		} else {
			high = at;
			above = value;
		}
		if (fabs(value) <= 8 * DBL_EPSILON * r->limit) {
			low = at;
			break;
		}
	}
	free(lambda);
	return low; /* v jumps where what a job would have is rounding */
}

/*
 * Of jobs that have stopped: a column whose reduced cost in the inequality, full at f->have, is
 * clearly above 0 is 0 in whatever shares keep these levels.  Programs to come are without it.
 */
static void
leave_out_columns(struct gv_filling *f, const struct gv_reach *r)
{
	const struct gv_problem *p = f->p;
	double unsure =
	    fmax(r->limit - weighed(p, r->lambda, f->have), GV_TOL_BROKEN * r->limit);
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double *a = &f->a[i * p->m];
		double best = gv_row_max(a, p->m);
		double use = p->count[i] * p->scale[i], time = 0;
		bool all = f->have[i] >= best * (1 - 8 * DBL_EPSILON);

		if (!f->frozen[i] || !(f->have[i] > 0))
			continue;
		for (j = 0; j < p->m; j++)
			if (a[j] > 0)
				time =
				    fmax(time, r->lambda[i] * a[j] - use * r->price[j]);
		for (j = 0; j < p->m; j++) {
			double cost = use * r->price[j] + time,
			       gain = r->lambda[i] * a[j];

			if ((all && a[j] < best * (1 - GV_TOL_LEAVE_OUT)) ||
			    (cost - gain > GV_TOL_LEAVE_OUT * (cost + gain) &&
				GV_TOL_LEAVE_OUT_SHARE * (cost - gain) > unsure))
				a[j] = 0;
		}
	}
}

/* Stops the jobs that the inequality, full at f->have, holds. */
static void
freeze_held(struct gv_filling *f, const struct gv_reach *r, struct gv_filling_quality *q)
{
	const struct gv_problem *p = f->p;
	double *dear =
	    gv_xcalloc(p->n, sizeof(*dear)); /* what a GPU is worth to the job */
	double dearest = 0;
	size_t i;

	for (i = 0; i < p->n; i++) {
		dear[i] = r->lambda[i] * f->most[i] / (p->count[i] * p->scale[i]);
		dearest = fmax(dearest, dear[i]);
	}
	for (i = 0; i < p->n; i++)
		if (dear[i] > GV_TOL_PRICE * dearest)
			f->frozen[i] = true;
	gv_filling_freeze_types(f, r->price, GV_TOL_PRICE * dearest);
	free(dear);
	q->unproved =
	    fmax(q->unproved, (r->limit - weighed(p, r->lambda, f->have)) / r->limit);
}

enum {
	MOST_KEPT = 64,
	MOST_IN_VAIN = 7 /* all of those together about GV_TOL_COME_DOWN */
};

/*
 * Two of them in turn: the last inequality that was broken is kept.  Those of earlier
 * times hold as well, and say from where a phase may begin.
 */
struct limits {
	struct gv_reach now, broken;
	bool is_broken; /* there was one */
	struct gv_reach kept[MOST_KEPT];
	size_t n_kept;
};

static void
copy_limit(struct gv_reach *to, const struct gv_reach *from, const struct gv_problem *p)
{
	memcpy(to->lambda, from->lambda, p->n * sizeof(*to->lambda));
	memcpy(to->price, from->price, p->m * sizeof(*to->price));
	to->limit = from->limit;
}

static void
swap(struct limits *l, const struct gv_problem *p)
{
	struct gv_reach r = l->now;
	struct gv_reach *keep = &l->kept[l->n_kept++ % MOST_KEPT];

	l->now = l->broken;
	l->broken = r;
	l->is_broken = true;
	if (l->n_kept <= MOST_KEPT)
		gv_reach_alloc(keep, p);
	copy_limit(keep, &l->broken, p);
}

static void
limits_free(struct limits *l)
{
	size_t k;

	gv_reach_free(&l->now);
	gv_reach_free(&l->broken);
	for (k = 0; k < l->n_kept && k < MOST_KEPT; k++)
		gv_reach_free(&l->kept[k]);
}

/*
 * The time by which one of the inequalities so far is full, c where none is; that one
 * becomes the broken one.  Those that the levels so far fill say nothing.
 */
static double
start_time(const struct gv_filling *f, struct limits *l, double c)
{
	double *lambda = gv_xcalloc(f->n_active, sizeof(*lambda));
	size_t k;

	for (k = 0; k < l->n_kept && k < MOST_KEPT; k++) {
		const struct gv_reach *r = &l->kept[k];
		double rest = r->limit - split(f, r, lambda);

		if (gv_filling_weighted(f, lambda, 0) > rest - GV_TOL_PRICE * r->limit ||
		    gv_filling_weighted(f, lambda, c) <= rest + GV_TOL_BROKEN * r->limit)
			continue;
		c = time_of_limit(f, r, c);
		copy_limit(&l->broken, r, f->p);
		l->is_broken = true;
	}
	free(lambda);
	return c;
}

/* A time c goes by: levels, and who has all. */
static void
rise(struct gv_filling *f, double c, double *v)
{
	size_t i;

	gv_filling_levels(f, c, v);
	gv_filling_go_on(f, c);
	for (i = 0; i < f->p->n; i++) {
		f->frozen[i] = f->frozen[i] || v[i] >= f->most[i] * (1 - 8 * DBL_EPSILON);
		f->have[i] = v[i];
	}
}

/*
 * One phase: lets the levels rise as far as GPUs allow, into f->have, and stops
 * who must.  0 or -1.
 */
static int
phase(struct gv_filling *f, struct limits *l, const struct gv_solver_options *opt,
    struct gv_filling_quality *q, struct gv_error *e)
{
	const struct gv_problem *p = f->p;
	double *v = gv_xcalloc(p->n, sizeof(*v));
	double c, before;
	int rc = 0;

	l->is_broken = false;
	gv_filling_sort(f);
	c = start_time(f, l, gv_filling_time(f));
	do {
		gv_filling_levels(f, c, v);
		if (memcmp(v, f->have, p->n * sizeof(*v)) == 0)
			break;
		rc = gv_reach_solve(&l->now, p, f->a, v, false, opt, e);
		if (rc != 0)
			break;
		q->exact = q->exact && l->now.exact;
		if (weighed(p, l->now.lambda, v) <= l->now.limit * (1 + GV_TOL_BROKEN))
			break;
		swap(l, p);
		before = c;
		c = time_of_limit(f, &l->broken, before);
	} while (c < before);
	if (rc == 0)
		rise(f, c, v);
	free(v);
	if (rc == 0 && l->is_broken) {
		freeze_held(f, &l->broken, q);
		if (gv_reach_is_narrow(p, opt))
			leave_out_columns(f, &l->broken);
	}
	return rc;
}

/*
 * The same step by step, each from where one job has all to where the next one has: for
 * queues of jobs that share GPUs, where few rise at a time, it is sooner there than from the
 * end of all.
 */
static int
climb(struct gv_filling *f, const struct gv_filling_path *path, struct limits *l,
    struct gv_filling_quality *q, struct gv_error *e)
{
	double *slope = gv_xcalloc(f->p->n, sizeof(*slope));
	double *v = gv_xcalloc(f->p->n, sizeof(*v));
	size_t left = gv_filling_rising(f), steps = 2 * (left + f->n_nodes);
	int rc = 0;

	l->is_broken = false;
	while (rc == 0 && !l->is_broken && steps-- > 0 && f->time < f->limit &&
	       gv_filling_rising(f) == left) {
		double most, c;

		gv_filling_sort(f);
		c = most = gv_filling_slopes(f, slope);
		if (gv_row_max(slope, f->p->n) > 0)
			rc = path->go_on(path->of, f->have, slope, most, &c,
			    &l->is_broken, &l->broken, e);
		if (rc == 0)
			rise(f, c, v);
	}
	if (rc == 0 && l->is_broken)
		freeze_held(f, &l->broken, q);
	free(slope);
	free(v);
	return rc;
}

/*
 * What a solver was wrong by has raised the levels of those that have frozen so that the
 * inequality is broken whatever the others do, or leaves them no more than rounding: all come
 * down by that, and by a little for the others, twice as much each time that it does not help.
 * False: by more than it can be wrong.
 */
static bool
come_down(struct gv_filling *f, const struct gv_reach *r, int in_vain,
    struct gv_filling_quality *q)
{
	double part = r->limit / weighed(f->p, r->lambda, f->have);
	double down = fmin(part, 1 - ldexp(GV_TOL_COME_DOWN_LEAST, in_vain));
	size_t i;

	for (i = 0; i < f->p->n; i++)
		f->have[i] *= down;
	q->unproved += 1 - down;
	return part < 1 + GV_TOL_COME_DOWN && part > 1 - GV_TOL_COME_DOWN;
}

/* All phases of a stage.  0 or -1. */
static int
fill_stage(struct gv_filling *f, struct limits *l, const struct gv_solver_options *opt,
    const struct gv_filling_path *path, struct gv_filling_quality *q, struct gv_error *e)
{
	size_t left = gv_filling_rising(f);
	bool full = false; /* quotas are */
	int tries = 0, in_vain = 0;
	int rc = 0;

	while (left > 0 && rc == 0 && !full) {
		size_t before = left;

		rc = path != NULL ? climb(f, path, l, q, e) : phase(f, l, opt, q, e);
		left = gv_filling_rising(f);
		full = isfinite(f->limit) && !l->is_broken &&
		       (path == NULL || !(f->time < f->limit));
		if (left < before)
			in_vain = 0;
		if (rc == 0 && left == before && !full &&
		    !(l->is_broken && tries++ < 100 && in_vain < MOST_IN_VAIN &&
			come_down(f, &l->broken, in_vain++, q)))
			rc = gv_error_set(
			    e, "water-filling: rounding kept it from its end");
	}
	return rc;
}

int
gv_filling_fill(struct gv_filling *f, const struct gv_solver_options *opt,
    struct gv_shared_warm *warm, const struct gv_filling_path *path,
    struct gv_filling_quality *q, struct gv_error *e)
{
	struct limits l = {0};
	int rc;

	gv_reach_alloc(&l.now, f->p);
	gv_reach_alloc(&l.broken, f->p);
	l.now.warm = l.broken.warm = warm;
	do
		rc = fill_stage(f, &l, opt, path, q, e);
	while (rc == 0 && gv_filling_next(f));
	limits_free(&l);
	return rc;
}
