#include "solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/pairs/reach_pairs.h"
#include "alloc/simplex/simplex.h"
#include "choice.h"
#include "constrained.h"
#include "lp/tolerance.h"
#include "settled.h"

enum { SMALL_CORNER = 128 }; /* rows up to which one program of all takes little time */

/*
 * The jobs of p that want something, and level [n][m] of a share of theirs.  Where all
 * do, it is p.
 */
static struct gv_problem
pick_wanting(
    const struct gv_problem *p, const double *a, const double *want, double *level)
{
	bool *keep = gv_xcalloc(p->n, sizeof(*keep));
	struct gv_problem to = *p;
	size_t i, j, n = 0;

	for (i = 0; i < p->n; i++) {
		keep[i] = want[i] > 0;
		for (j = 0; j < p->m && keep[i]; j++)
			level[n * p->m + j] = a[i * p->m + j] / want[i];
		n += keep[i];
	}
	if (n < p->n)
		gv_problem_pick(&to, p, keep);
	free(keep);
	return to;
}

static void
scatter(struct gv_reach *r, const struct gv_problem *p, const double *want,
    const struct gv_level *l, const double *x)
{
	double sum = 0;
	size_t i, n = 0;

	for (i = 0; i < p->n; i++) {
		r->lambda[i] = 0;
		memset(&r->x[i * p->m], 0, p->m * sizeof(*x));
		if (!(want[i] > 0))
			continue;
		r->lambda[i] = l->lambda[n] / want[i];
		sum += l->lambda[n];
		memcpy(&r->x[i * p->m], &x[n * p->m], p->m * sizeof(*x));
		n++;
	}
	r->limit = l->s->bound * sum;
	r->exact = l->s->exact;
}

/*
 * [n] what is wanted; less than all the time on the best type by GV_TOL_ALL_TIME, where
 * time and GPUs would bound the level alike.
 */
static double *
below_saturation(const struct gv_problem *p, const double *a, const double *want)
{
	double *less = gv_xcalloc(p->n, sizeof(*less));
	size_t i;

	for (i = 0; i < p->n; i++)
		less[i] =
		    fmin(want[i], gv_row_max(&a[i * p->m], p->m) * (1 - GV_TOL_ALL_TIME));
	return less;
}

static int
by_prices(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, bool any, const struct gv_solver_options *opt, struct gv_error *e)
{
	struct gv_solver_options sharp = *opt;
	struct gv_problem wanting;
	struct gv_solution s = {0};
	struct gv_level l;
	double *level = gv_xcalloc(p->n, p->m * sizeof(*level));
	double *less = below_saturation(p, a, want);
	int rc;

	wanting = pick_wanting(p, a, less, level);
	s.x = gv_xcalloc(wanting.n, p->m * sizeof(*s.x));
	gv_level_init(&l, &wanting, &s, false);
	sharp.sharp = true;
	sharp.any = any;
	rc = gv_level_solve(&wanting, level, &sharp, "water-filling", &l, e);
	if (rc == 0)
		scatter(r, p, less, &l, s.x);
	memcpy(r->price, l.price, p->m * sizeof(*r->price));
	if (rc == 0)
		gv_reach_lift(r, p, a, want);
	gv_level_free(&l);
	free(s.x);
	free(level);
	free(less);
	if (wanting.n < p->n)
		gv_problem_free(&wanting);
	return rc;
}

/* All of p, by the solver of choice, and another one if that fails. */
static int
solve_all(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, bool corner, const struct gv_solver_options *opt,
    struct gv_error *e)
{
	bool large = !gv_choice_whole(gv_simplex_level_effort(p->n, p->m)) &&
		     (!corner || p->n > SMALL_CORNER ||
			 gv_choice_short(p, a, INFINITY).types == 0);
	bool either = opt->solver == GV_SOLVER_AUTO && !opt->certify;
	bool prices =
	    !opt->certify && opt->solver != GV_SOLVER_GLPK && (!either || large);
	struct gv_error other = {0};
	int rc;

	rc = prices ? by_prices(r, p, a, want, false, opt, e)
		    : gv_reach_by_program(r, p, a, want, opt->certify, e);
	if (rc == 0 || (!prices && !either))
		return rc;
	rc = prices ? gv_reach_by_program(r, p, a, want, opt->certify, &other)
		    : by_prices(r, p, a, want, false, opt, &other);
	if (rc != 0) {
		gv_error_clear(&other);
		rc = by_prices(r, p, a, want, true, opt, &other);
	}
	if (rc == 0)
		gv_error_clear(e);
	gv_error_clear(&other);
	return rc;
}

bool
gv_reach_is_narrow(const struct gv_problem *p, const struct gv_solver_options *opt)
{
	return p->together == NULL && opt->solver == GV_SOLVER_AUTO && !opt->certify &&
	       !opt->wide && !gv_constrained(p, opt);
}

int
gv_reach_solve(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, bool corner, const struct gv_solver_options *opt,
    struct gv_error *e)
{
	struct gv_reach others = {0};
	struct gv_settled s;
	int rc = 0;

	if (p->together != NULL)
		return gv_reach_by_pairs(
		    r, p, a, want, opt->solver == GV_SOLVER_GLPK, opt->certify, e);
	if (!gv_reach_is_narrow(p, opt) || !gv_settled_make(&s, p, a, want))
		return solve_all(r, p, a, want, corner, opt, e);
	if (s.q.n > 0) {
		gv_reach_alloc(&others, &s.q);
		rc = solve_all(&others, &s.q, s.a, s.want, corner, opt, e);
	}
	if (rc == 0)
		gv_settled_join(&s, s.q.n > 0 ? &others : NULL, r, p, a, want);
	gv_reach_free(&others);
	gv_settled_free(&s);
	return rc;
}
