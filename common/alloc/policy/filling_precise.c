#include "filling_precise.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lp/precise.h"
#include "lp/rise.h"
#include "lp/tolerance.h"

/* Seconds, by its own reckoning; some ten pivots for each step. */
#define FEW 1.
enum { PIVOTS = 10 };

/* Weights that are farther apart, or needs that are less of what the job can have than 1 of that. */
#define FAR 1e6

/* A job stops, or begins to rise, and so does what it is in; and each stage ends. */
static size_t
most_steps(const struct gv_filling *f)
{
	return 4 * (f->p->n + f->n_nodes) + 16;
}

bool
gv_filling_is_few(const struct gv_filling *f)
{
	const struct gv_problem *p = f->p;
	size_t steps = 2 * (p->n + f->n_nodes);

	return p->together == NULL &&
	       gv_lp_precise_effort(2 * p->n + p->m + steps, p->n * p->m + steps) *
		       PIVOTS / 3 <=
		   FEW;
}

bool
gv_filling_is_far(const struct gv_filling *f)
{
	double job[2] = {INFINITY, 0}, node[2] = {INFINITY, 0};
	double least = 1; /* of what a job has in any case, of what it can have */
	size_t i;

	for (i = 0; i < f->p->n; i++) {
		job[0] = fmin(job[0], f->p->weight[i]);
		job[1] = fmax(job[1], f->p->weight[i]);
		if (f->floor[i] > 0)
			least = fmin(least, f->floor[i] / f->most[i]);
	}
	for (i = 0; i < f->n_nodes; i++) {
		node[0] = fmin(node[0], f->node[i].weight);
		node[1] = fmax(node[1], f->node[i].weight);
	}
	return job[1] / job[0] * (node[1] / node[0]) > FAR || least < 1 / FAR;
}

/* Rows of GPUs, then of each job's time, then of its v; columns as x [n][m] of rates above 0. */
struct few {
	struct gv_filling *f;
	struct gv_rise *rise;
	struct gv_lp lp;
	size_t *col;       /* [n][m], SIZE_MAX where the job cannot run */
	double *by, *dual; /* [n_rows] */
};

static void
build(struct few *w, double less)
{
	const struct gv_filling *f = w->f;
	const struct gv_problem *p = f->p;
	size_t i, j, col;

	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&w->lp, -INFINITY, p->capacity[j]);
	for (i = 0; i < p->n; i++)
		gv_lp_add_row(&w->lp, -INFINITY, 1);
	for (i = 0; i < p->n; i++)
		gv_lp_add_row(&w->lp, f->have[i] * (1 - less), INFINITY);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			w->col[i * p->m + j] = SIZE_MAX;
			if (!(f->a[i * p->m + j] > 0))
				continue;
			col = w->col[i * p->m + j] =
			    gv_lp_add_col(&w->lp, 0, INFINITY, 0);
			gv_lp_set(&w->lp, j, col, p->count[i] * p->scale[i]);
			gv_lp_set(&w->lp, p->m + i, col, 1);
			gv_lp_set(&w->lp, p->m + p->n + i, col, f->a[i * p->m + j]);
		}
}

/* The first program of which there is a solution: needs may be all there is, but for rounding. */
static bool
begin(struct few *w, struct gv_filling *f)
{
	static const double less[] = {0, GV_TOL_LESS_1, GV_TOL_LESS_2, GV_TOL_LESS_3};
	const struct gv_problem *p = f->p;
	size_t k;

	*w = (struct few){.f = f};
	w->col = gv_xcalloc(p->n, p->m * sizeof(*w->col));
	w->by = gv_xcalloc(2 * p->n + p->m, sizeof(*w->by));
	w->dual = gv_xcalloc(2 * p->n + p->m, sizeof(*w->dual));
	for (k = 0; k < sizeof(less) / sizeof(*less) && w->rise == NULL; k++) {
		gv_lp_free(&w->lp);
		w->lp = (struct gv_lp){.maximise = true};
		build(w, less[k]);
		w->rise = gv_rise_make(&w->lp, most_steps(f));
	}
	return w->rise != NULL;
}

static void
end(struct few *w)
{
	gv_rise_free(w->rise);
	gv_lp_free(&w->lp);
	free(w->col);
	free(w->by);
	free(w->dual);
}

/* As gv_climb_go_on(). */
static int
go_on(void *of, const double *from, const double *by, double most, double *t,
    bool *blocked, struct gv_reach *r, struct gv_error *e)
{
	struct few *w = of;
	const struct gv_filling *f = w->f;
	const struct gv_problem *p = f->p;
	double sum = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		w->by[p->m + p->n + i] = by[i];
	if (!gv_rise_by(w->rise, w->by, most, t, blocked, w->dual))
		return gv_error_set(e, "the linear program of water-filling: failed");
	for (j = 0; j < p->m; j++)
		sum += (r->price[j] = w->dual[j]) * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		r->lambda[i] = w->dual[p->m + p->n + i];
		sum += w->dual[p->m + i];
	}
	r->limit = sum;
	(void)from; /* it is there without rounding */
	return 0;
}

int
gv_filling_precisely(struct gv_filling *f, struct gv_solution *s,
    struct gv_filling_quality *q, struct gv_error *e)
{
	const struct gv_problem *p = f->p;
	struct few w;
	const struct gv_filling_path path = {&w, go_on};
	double *x;
	size_t i;
	int rc = 0;

	if (!begin(&w, f))
		rc = gv_error_set(e, "the linear program of water-filling: failed");
	if (rc == 0)
		rc = gv_filling_fill(f, NULL, NULL, &path, q, e);
	if (rc == 0) {
		x = gv_xcalloc(w.lp.n_cols, sizeof(*x));
		gv_rise_solution(w.rise, x);
		for (i = 0; i < p->n * p->m; i++)
			s->x[i] = w.col[i] == SIZE_MAX ? 0 : x[w.col[i]];
		free(x);
	}
	end(&w);
	return rc;
}
