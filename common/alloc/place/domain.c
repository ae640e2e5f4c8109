#include "domain.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lp/tolerance.h"

enum { MAX_ROUNDS = 1000 }; /* to start with */

const double gv_domain_slack[2] = {0, GV_TOL_LESS_2};

void
gv_domain_init(struct gv_domain *w, const struct gv_problem *p, bool placeable)
{
	size_t i, j;

	*w = (struct gv_domain){.p = p, .unit = 1};
	if (placeable) {
		w->hull = &w->own_hull;
		gv_hull_init(w->hull, p);
	}
	if (p->budget == 0)
		return;
	w->unit = ldexp(1, ilogb(p->budget));
	w->cost = gv_xcalloc(p->n, p->m * sizeof(*w->cost));
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			w->cost[i * p->m + j] = p->scale[i] * p->price[j] / w->unit;
}

void
gv_domain_free(struct gv_domain *w)
{
	if (w->hull != NULL)
		gv_hull_free(w->hull);
	free(w->cost);
}

int
gv_domain_solve(struct gv_domain *w, struct gv_placement_program *g, const char *name,
    struct gv_error *e)
{
	g->cost = w->cost;
	g->budget = w->p->budget / w->unit;
	return w->hull != NULL ? gv_hull_solve(w->hull, g, name, e)
			       : gv_placement_program_solve(g, name, e);
}

void
gv_domain_seed(struct gv_domain *w, const double *x)
{
	size_t cells = w->p->n * w->p->m;

	if (w->hull != NULL)
		gv_hull_add_rounds(
		    w->hull, x, 2 * cells < MAX_ROUNDS ? 2 * cells : MAX_ROUNDS);
}

void
gv_domain_shares(const struct gv_problem *p, const double *mean, double *x)
{
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			x[i * p->m + j] = mean[i * p->m + j] / p->count[i];
	gv_problem_clean(p, x);
}

double
gv_domain_largest(const double *v, size_t n)
{
	double most = 0;
	size_t i;

	for (i = 0; i < n; i++)
		most = fmax(most, fabs(v[i]));
	return most;
}

double *
gv_domain_scaled(const double *v, size_t n, double by)
{
	double *to = gv_xcalloc(n, sizeof(*to));
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = v[i] / by;
	return to;
}
