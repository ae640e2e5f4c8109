#include "vertex.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <string.h>

#include "base/mem.h"
#include "lp/lp.h"
#include "lp/tolerance.h"

/* What is known of a job: the shares of at most two columns, base + slope T at level T. */
struct choice {
	bool free;
	bool open;     /* all of its columns are looked at */
	bool inside;   /* nothing of it binds: its shares are those of the point */
	size_t n;      /* columns used */
	size_t col[2]; /* of the point's */
	double base[2], slope[2];
};

enum { MANY_STEPS = 20 }; /* of the simplex method, a row: few programs take a tenth */

/* The program of the free jobs, in numbers of about 1: t = level u, x = unit_i z. */
struct work {
	const struct gv_interior_program *p;
	const struct gv_interior_point *at;
	const double *need, *also;
	double part;
	bool level;
	bool all_free; /* all jobs are in the program, with their active columns */
	struct choice *choice; /* [n] */
	double *base, *slope;  /* [m] GPUs by decided jobs: base + slope t */
	struct gv_lp lp;
	double unit_t, unit_gain;
	double *most;            /* [n] largest share of a job that has to have some */
	double *unit, *row_unit; /* [n] of the shares and of the level of free jobs */
	size_t t;                /* column */
	size_t *col;             /* [n_columns] of the free jobs, SIZE_MAX = none */
	size_t *row;             /* [n] of the level of free jobs */
};

static double
level_of(const struct work *w, size_t i, size_t e)
{
	return w->p->level[i * w->p->m + w->at->type[e]];
}

static bool
wants(const struct work *w, size_t i)
{
	return w->at->begin[i + 1] > w->at->begin[i] &&
	       (w->level || (w->need != NULL && w->need[i] > 0));
}

static bool
is_active(const struct work *w, size_t i, size_t e)
{
	if (w->choice[i].open ||
	    (w->all_free && w->also != NULL && w->also[i * w->p->m + w->at->type[e]] > 0))
		return true;
	return w->at->z[e] <= w->part * w->at->size[e] ||
	       w->at->z[e] * w->most[i] <= w->at->x[e] * w->at->size[e];
}

/* The largest of what the reduced costs of a job's active columns are made of. */
static double
size_of(const struct work *w, size_t i)
{
	double size = 0;
	size_t e;

	for (e = w->at->begin[i]; e < w->at->begin[i + 1]; e++)
		if (is_active(w, i, e))
			size = fmax(size, w->at->size[e]);
	return size;
}

/* ---- jobs with one choice ---- */

/* Shares of two columns, all the time, at a level between theirs. */
static void
choose_two(struct work *w, size_t i, struct choice *c)
{
	double fast = level_of(w, i, c->col[0]), slow = level_of(w, i, c->col[1]);

	c->free = fast == slow;
	c->slope[0] = 1 / (fast - slow);
	c->base[0] = -slow / (fast - slow);
	c->slope[1] = -c->slope[0];
	c->base[1] = 1 - c->base[0];
}

/* Of a level: whether the job is so much above it that it does not keep it down. */
static bool
is_above(const struct work *w, size_t i)
{
	double sum = 0;
	size_t e;

	for (e = w->at->begin[i]; e < w->at->begin[i + 1]; e++)
		sum += w->at->x[e] * level_of(w, i, e);
	return w->at->lambda[i] * (double)w->p->n <
	       w->part * (sum / w->at->objective - 1);
}

static void
choose(struct work *w, size_t i)
{
	struct choice *c = &w->choice[i];
	double size = size_of(w, i), most = 0;
	bool idle, over;
	size_t e, n = 0;

	if (w->level && wants(w, i) && is_above(w, i)) {
		c->inside = true;
		return;
	}
	for (e = w->at->begin[i]; e < w->at->begin[i + 1]; e++) {
		if (!is_active(w, i, e))
			continue;
		if (n < 2)
			c->col[n] = e;
		most = fmax(most, level_of(w, i, e));
		n++;
	}
	c->n = n < 2 ? n : 2;
	if (c->open || w->all_free) {
		c->free = true;
		return;
	}
	idle = w->at->time[i] <= w->part * size;
	over = wants(w, i) && w->at->lambda[i] * most <= w->part * size;
	if (!wants(w, i)) {
		c->free = n + idle > 1 ||
			  (n + idle == 0 && w->at->begin[i + 1] > w->at->begin[i]);
		c->base[0] = 1;
		c->slope[0] = 0;
		return;
	}
	c->free = n == 0 || n + idle + over != 2;
	if (!c->free && n == 2) {
		choose_two(w, i, c);
	} else if (!c->free) {
		c->base[0] = idle ? 0 : 1;
		c->slope[0] = idle ? 1 / level_of(w, i, c->col[0]) : 0;
	}
}

/* What a job without choice uses. */
static void
add_use(struct work *w, size_t i)
{
	const struct choice *c = &w->choice[i];
	size_t k, e;

	for (e = w->at->begin[i]; c->inside && e < w->at->begin[i + 1]; e++)
		w->base[w->at->type[e]] += w->p->use[i] * w->at->x[e];
	for (k = 0; k < c->n; k++) {
		size_t j = w->at->type[c->col[k]];
		double use = w->p->use[i];

		if (w->level) {
			w->base[j] += use * c->base[k];
			w->slope[j] += use * c->slope[k];
		} else {
			double level = wants(w, i) ? w->need[i] : 0;

			w->base[j] += use * (c->base[k] + c->slope[k] * level);
		}
	}
}

/* ---- the others ---- */

static void
add_free_job(struct work *w, size_t i)
{
	const struct gv_interior_program *p = w->p;
	double most = 0, share = 0,
	       goal = w->level      ? w->unit_t
		      : wants(w, i) ? w->need[i]
				    : 0;
	size_t time, e;

	for (e = w->at->begin[i]; e < w->at->begin[i + 1]; e++)
		if (is_active(w, i, e)) {
			most = fmax(most, level_of(w, i, e));
			share = fmax(share, w->at->x[e]);
		}
	w->unit[i] = wants(w, i) && most > 0 ? goal / most : 1;
	if (!w->level && wants(w, i) && most > 0)
		w->unit[i] = fmax(w->unit[i], fmin(1, share));
	w->row_unit[i] = w->level || most == 0 ? goal : most * w->unit[i];
	time = gv_lp_add_row(&w->lp, -INFINITY, 1 / w->unit[i]);
	w->row[i] = SIZE_MAX;
	if (wants(w, i)) {
		w->row[i] =
		    gv_lp_add_row(&w->lp, w->level ? 0 : goal / w->row_unit[i], INFINITY);
		if (w->level)
			gv_lp_set(&w->lp, w->row[i], w->t, -1);
	}
	for (e = w->at->begin[i]; e < w->at->begin[i + 1]; e++) {
		size_t j = w->at->type[e];
		double gain = w->level ? 0 : p->gain[i * p->m + j] * w->unit[i];

		w->col[e] = SIZE_MAX;
		if (!is_active(w, i, e))
			continue;
		w->col[e] = gv_lp_add_col(&w->lp, 0, INFINITY, gain);
		w->unit_gain = fmax(w->unit_gain, fabs(gain));
		gv_lp_set(&w->lp, j, w->col[e], p->use[i] * w->unit[i] / p->capacity[j]);
		gv_lp_set(&w->lp, time, w->col[e], 1);
		if (w->row[i] != SIZE_MAX)
			gv_lp_set(&w->lp, w->row[i], w->col[e],
			    level_of(w, i, e) * w->unit[i] / w->row_unit[i]);
	}
}

static size_t
build(struct work *w)
{
	const struct gv_interior_program *p = w->p;
	size_t i, j, n_free = 0;

	w->lp.maximise = true;
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&w->lp, -INFINITY,
		    p->capacity[j] > 0 ? 1 - w->base[j] / p->capacity[j] : 0);
	if (w->level) {
		w->t = gv_lp_add_col(&w->lp, 0, INFINITY, 1);
		for (j = 0; j < p->m; j++)
			if (p->capacity[j] > 0)
				gv_lp_set(&w->lp, j, w->t,
				    w->slope[j] * w->unit_t / p->capacity[j]);
	}
	for (i = 0; i < p->n; i++)
		if (w->choice[i].free) {
			add_free_job(w, i);
			n_free++;
		}
	for (j = 0; j < w->lp.n_cols && !w->level && w->unit_gain > 0; j++)
		w->lp.cost[j] /= w->unit_gain;
	return n_free;
}

/* ---- what comes out ---- */

/* The multiplier of the level of a job without choice: what a bit of level costs it. */
static double
lambda_of(const struct work *w, size_t i, const double *price)
{
	const struct choice *c = &w->choice[i];
	double sum = 0;
	size_t k;

	for (k = 0; k < c->n && wants(w, i); k++) {
		size_t j = w->at->type[c->col[k]];
		double gain = w->level ? 0 : w->p->gain[i * w->p->m + j];

		sum += c->slope[k] * (w->p->use[i] * price[j] - gain);
	}
	return fmax(0, sum);
}

static void
take(
    const struct work *w, const struct gv_lp_solution *sol, struct gv_interior_vertex *to)
{
	const struct gv_interior_program *p = w->p;
	double gain = w->level ? w->unit_t : w->unit_gain;
	size_t i, j, e, k;

	memset(to->x, 0, p->n * p->m * sizeof(*to->x));
	to->level = w->level ? sol->x[w->t] * w->unit_t : 0;
	for (j = 0; j < p->m; j++)
		to->price[j] = p->capacity[j] > 0
				   ? fmax(0, sol->row_dual[j]) * gain / p->capacity[j]
				   : 0;
	for (i = 0; i < p->n; i++) {
		const struct choice *c = &w->choice[i];
		double level = w->level ? to->level : wants(w, i) ? w->need[i] : 0;

		to->lambda[i] = c->free ? 0 : lambda_of(w, i, to->price);
		for (k = 0; k < c->n && !c->free; k++)
			to->x[i * p->m + w->at->type[c->col[k]]] =
			    fmax(0, c->base[k] + c->slope[k] * level);
		for (e = w->at->begin[i]; c->inside && e < w->at->begin[i + 1]; e++)
			to->x[i * p->m + w->at->type[e]] = w->at->x[e];
		if (!c->free)
			continue;
		if (w->row[i] != SIZE_MAX)
			to->lambda[i] =
			    fmax(0, -sol->row_dual[w->row[i]]) * gain / w->row_unit[i];
		for (e = w->at->begin[i]; e < w->at->begin[i + 1]; e++)
			if (w->col[e] != SIZE_MAX)
				to->x[i * p->m + w->at->type[e]] =
				    sol->x[w->col[e]] * w->unit[i];
	}
}

/*
 * Jobs without choice that by rounding take more of a type than there is: those that take much
 * of it may give way.  False: there are none.
 */
static bool
open_crowded(struct work *w)
{
	const struct gv_interior_program *p = w->p;
	bool any = false;
	size_t i, k;

	for (i = 0; i < p->n; i++) {
		struct choice *c = &w->choice[i];

		for (k = 0; k < c->n && !c->free; k++) {
			size_t j = w->at->type[c->col[k]];

			if (w->base[j] < p->capacity[j] * (1 - GV_TOL_CROWDED) ||
			    p->use[i] * w->at->x[c->col[k]] <
				GV_TOL_MUCH * p->capacity[j])
				continue;
			c->open = any = true;
		}
	}
	return any;
}

/* The program of those that have a choice.  0; 1 it has no solution; -1 with *e set */
static int
solve_free(struct work *w, struct gv_interior_vertex *to, struct gv_error *e)
{
	const struct gv_interior_program *p = w->p;
	struct gv_lp_options opt = {.feasible = w->all_free};
	struct gv_lp_solution sol = {0};
	size_t i;
	int rc;

	memset(w->base, 0, 2 * p->m * sizeof(*w->base));
	for (i = 0; i < p->n; i++) {
		w->choice[i] = (struct choice){.open = w->choice[i].open};
		choose(w, i);
		if (!w->choice[i].free)
			add_use(w, i);
	}
	w->unit_gain = 0;
	to->n_free = build(w);
	opt.max_iterations =
	    w->all_free ? MANY_STEPS * (long)(w->lp.n_rows + MANY_STEPS) : 0;
	rc = gv_lp_solve(&w->lp, &opt, NULL, &sol, e);
	if (rc == 0 && sol.status != GV_LP_OPTIMAL)
		rc = 1;
	if (rc == 0)
		take(w, &sol, to);
	gv_lp_solution_free(&sol);
	gv_lp_free(&w->lp);
	w->lp = (struct gv_lp){0};
	return rc;
}

/* The largest share of jobs that have to have some; of others INFINITY. */
static void
find_most(struct work *w)
{
	const struct gv_interior_point *at = w->at;
	size_t i, e;

	for (i = 0; i < w->p->n; i++) {
		double most = 0;

		for (e = at->begin[i]; e < at->begin[i + 1]; e++)
			most = fmax(most, at->x[e]);
		w->most[i] = wants(w, i) && most > 0 ? most : INFINITY;
	}
}

int
gv_interior_to_vertex(const struct gv_interior_program *p,
    const struct gv_interior_point *at, const double *need, const double *also,
    double part, struct gv_interior_vertex *to, struct gv_error *e)
{
	struct work w = {.p = p,
	    .at = at,
	    .need = need != NULL ? need : p->need,
	    .also = also,
	    .part = part,
	    .level = p->gain == NULL,
	    .unit_t = p->gain == NULL ? at->objective : 1};
	int rc;

	w.choice = gv_xcalloc(p->n, sizeof(*w.choice));
	w.base = gv_xcalloc(2 * p->m, sizeof(*w.base));
	w.slope = w.base + p->m;
	w.unit = gv_xcalloc(3 * p->n, sizeof(*w.unit));
	w.row_unit = w.unit + p->n;
	w.most = w.row_unit + p->n;
	w.row = gv_xcalloc(p->n, sizeof(*w.row));
	w.col = gv_xcalloc(at->n_columns, sizeof(*w.col));
	find_most(&w);
	rc = solve_free(&w, to, e);
	if (rc == 1 && open_crowded(&w))
		rc = solve_free(&w, to, e);
	if (rc == 1 && also != NULL && part >= GV_TOL_FREE_3) {
		w.all_free = true;
		rc = solve_free(&w, to, e);
	}
	free(w.choice);
	free(w.base);
	free(w.unit);
	free(w.row);
	free(w.col);
	return rc;
}
