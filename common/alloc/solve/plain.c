#include "plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/price/level_prices.h"
#include "alloc/price/linear_prices.h"
#include "alloc/simplex/simplex.h"
#include "lp/tolerance.h"

enum { small = 256 }; /* rows up to which the program of all is fast enough */

/* Tries the other way, and takes it if it gets further. */
static int
try_prices(const struct gv_problem *p, const double *a, double unit, struct gv_level *l)
{
	size_t cells = p->n * p->m;
	struct gv_solution *out = l->s;
	struct gv_solution other = {.x = gv_xcalloc(cells, sizeof(*other.x))};
	struct gv_level alike;
	bool raised;
	int rc;

	gv_level_init(&alike, p, &other, true);
	rc = gv_level_by_prices(p, a, unit, &alike, NULL, &raised);
	if (rc == 0 && raised &&
	    other.objective >= out->objective * (1 - GV_TOL_AS_GOOD)) {
		memcpy(out->x, other.x, cells * sizeof(*other.x));
		out->objective = other.objective;
		out->bound = fmin(out->bound, other.bound);
	}
	free(other.x);
	gv_level_free(&alike);
	return rc < 0 ? -1 : 0;
}

int
gv_level_plain(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e)
{
	enum gv_lp_status status = GV_LP_FAILED;
	bool by_prices = opt->solver == GV_SOLVER_PRICE ||
			 (opt->solver == GV_SOLVER_AUTO && p->n > small);
	struct gv_solution *out = l->s;
	bool raised = false;
	double unit;
	size_t i;
	int rc = 1;

	unit = gv_level_unit(p, a);
	out->has_bound = true;
	if (by_prices && !opt->certify)
		rc = gv_level_by_prices(p, a, unit, l, opt->memory, &raised);
	if (rc == 1)
		rc =
		    gv_level_by_program(p, a, unit, opt->certify, l, &status, &raised, e);
	if (rc == 1 && opt->solver == GV_SOLVER_AUTO && !opt->certify)
		rc = gv_level_by_prices(p, a, unit, l, opt->memory, &raised);
	if (rc == 0 && !raised && !by_prices && opt->solver == GV_SOLVER_AUTO)
		rc = try_prices(p, a, unit, l);
	if (rc == 1)
		rc = gv_error_set(
		    e, "the linear program of %s: %s", name, gv_lp_status_name(status));
	if (rc == 0)
		out->gap = gv_level_gap(p, out->bound, out->objective);
	for (i = 0; i < p->n; i++)
		l->lambda[i] /= unit;
	return rc;
}

int
gv_linear_plain(struct gv_linear *l, const struct gv_solver_options *opt,
    const char *name, struct gv_error *e)
{
	bool by_prices = opt->solver == GV_SOLVER_PRICE ||
			 (opt->solver == GV_SOLVER_AUTO && l->p->n > small);
	int rc = 1;

	if (by_prices && !opt->certify)
		rc = gv_linear_by_prices(l, opt->memory, name, e);
	if (rc == 1)
		rc = gv_linear_by_program(l, opt->certify, name, e);
	return rc;
}
