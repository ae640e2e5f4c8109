#include "deadline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/pairs/shared.h"
#include "lp/tolerance.h"

/* Jobs that need something, and what, in their order. */
static size_t
needy(const struct gv_problem *p, const double *need, bool *keep, double *kept)
{
	size_t i, n = 0;

	for (i = 0; i < p->n; i++) {
		keep[i] = need[i] > 0;
		if (keep[i])
			kept[n++] = need[i];
	}
	return n;
}

/*
 * The best level of the needs of q, what none is above, shares x that reach it, and whose
 * multipliers hold it down.
 */
static int
level_of_needs(const struct gv_problem *q, const double *need,
    const struct gv_solver_options *opt, const char *name, double *level, double *bound,
    double *x, double *lambda, struct gv_error *e)
{
	const struct gv_solver_options quick = {
	    .solver = opt->solver, .placeable = opt->placeable};
	struct gv_solution s = {.x = x};
	double *a = gv_xcalloc(q->n, q->m * sizeof(*a));
	double sum = 0;
	struct gv_level l;
	size_t i, j;
	int rc;

	for (i = 0; i < q->n; i++)
		for (j = 0; j < q->m; j++)
			a[i * q->m + j] = gv_problem_rate(q, i, j) / need[i];
	gv_level_init(&l, q, &s, false);
	rc = gv_level_solve(q, a, &quick, name, &l, e);
	*level = s.objective;
	*bound = s.bound;
	for (i = 0; i < q->n; i++)
		sum += l.lambda[i];
	for (i = 0; i < q->n; i++)
		lambda[i] = l.lambda[i] / sum;
	gv_level_free(&l);
	free(a);
	return rc;
}

/* Marks whose deadline cannot be met: alone, or because of the others. */
static void
mark_late(const struct gv_problem *p, const double *need, const bool *keep,
    const double *lambda, bool *late)
{
	double *fastest = gv_xcalloc(p->n, sizeof(*fastest));
	size_t i, k = 0;

	gv_problem_fastest(p, fastest);
	for (i = 0; i < p->n; i++) {
		if (!keep[i])
			continue;
		if (need[i] > fastest[i] || lambda[k] > GV_TOL_PRICE)
			late[i] = true;
		k++;
	}
	free(fastest);
}

/*
 * The best level of the needs where jobs share GPUs, also with jobs that need nothing: of
 * all jobs.  lambda of the needy ones.
 */
static int
shared_level_of_needs(const struct gv_problem *p, const struct gv_solver_options *opt,
    const char *name, const double *need, double *level, double *lambda,
    struct gv_error *e)
{
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(*s.x))};
	struct gv_shared h;
	double sum = 0;
	size_t i, k = 0;
	int rc;

	gv_shared_init(&h, p, &s);
	h.demand = need;
	h.all = opt->solver == GV_SOLVER_GLPK;
	rc = gv_shared_solve(&h, name, e);
	*level = h.value;
	for (i = 0; i < p->n; i++)
		sum += h.lambda[i] * need[i];
	for (i = 0; i < p->n; i++)
		if (need[i] > 0)
			lambda[k++] = h.lambda[i] * need[i] / sum;
	gv_shared_free(&h);
	free(s.x);
	free(s.pair);
	return rc;
}

/* Placements are many: the search for them may end before it is known what can be had. */
static int
say_unsettled(const char *name, double level, double bound, struct gv_error *e)
{
	return gv_error_set(e,
	    "%s: --placeable: shares were found that give all jobs %.4g of what they "
	    "need, "
	    "and none gives more than %.4g: whether all can be met is not settled "
	    "(--relax-slo takes those)",
	    name, level, bound);
}

/* Takes the same arguments as gv_deadline_needs; needs are finite. */
static int
meet(const struct gv_problem *p, const struct gv_solver_options *opt, bool relax,
    const char *name, double *need, struct gv_solution *s, struct gv_error *e)
{
	bool *keep = gv_xcalloc(p->n, sizeof(*keep));
	double *kept = gv_xcalloc(p->n, sizeof(*kept));
	size_t n = needy(p, need, keep, kept);
	double *lambda = gv_xcalloc(n, sizeof(*lambda));
	double *x = gv_xcalloc(n, p->m * sizeof(*x));
	double level = INFINITY, bound = 0;
	struct gv_problem q;
	size_t i, k = 0;
	bool met;
	int rc = 0;

	gv_problem_pick(&q, p, keep);
	if (n > 0 && p->together != NULL)
		rc = shared_level_of_needs(p, opt, name, need, &level, lambda, e);
	else if (n > 0)
		rc = level_of_needs(&q, kept, opt, name, &level, &bound, x, lambda, e);
	if (rc == 0 && level < 1 - GV_TOL_FEASIBLE && bound >= 1 && opt->placeable &&
	    !relax)
		rc = say_unsettled(name, level, bound, e);
	/* what nothing speaks against is had as surely as any shares are feasible */
	met = level >= 1 - GV_TOL_MET || (bound >= 1 && level >= 1 - GV_TOL_FEASIBLE);
	if (rc == 0 && !met) {
		s->relaxation = 1 / level;
		mark_late(p, need, keep, lambda, s->late);
	}
	for (i = 0; i < p->n && rc == 0; i++) {
		need[i] *= fmin(1, level);
		if (keep[i])
			memcpy(&s->x[i * p->m], &x[k++ * p->m], p->m * sizeof(*x));
	}
	gv_problem_free(&q);
	free(keep);
	free(kept);
	free(lambda);
	free(x);
	return rc;
}

int
gv_deadline_needs(const struct gv_problem *p, const struct gv_solver_options *opt,
    bool relax, const char *name, double *need, struct gv_solution *s, struct gv_error *e)
{
	const double *deadline = p->number[GV_NUMBER_NEED];
	const double *minimum = p->number[GV_NUMBER_MINIMUM];
	bool any = false, over = false;
	size_t i;
	int rc;

	s->relaxation = 1;
	for (i = 0; i < p->n; i++) {
		need[i] = deadline != NULL ? deadline[i] : 0;
		if (minimum != NULL)
			need[i] = fmax(need[i], minimum[i]);
		any = any || need[i] > 0;
	}
	if (!any)
		return 0;
	s->late = gv_xcalloc(p->n, sizeof(*s->late));
	for (i = 0; i < p->n; i++)
		if (isinf(need[i])) {
			over = s->late[i] = true;
			need[i] = minimum != NULL ? minimum[i] : 0;
		}
	rc = meet(p, opt, relax, name, need, s, e);
	if (rc == 0 && (over || s->relaxation > 1) && !relax)
		rc = 1;
	return rc;
}
