#include "solve.h"

#include "alloc/pairs/shared_level.h"
#include "alloc/price/linear_prices.h"
#include "alloc/simplex/simplex.h"
#include "constrained.h"

enum { small = 256 }; /* rows up to which the program of all is fast enough */

int
gv_linear_solve(struct gv_linear *l, const struct gv_solver_options *opt,
    const char *name, struct gv_error *e)
{
	bool by_prices = opt->solver == GV_SOLVER_PRICE ||
			 (opt->solver == GV_SOLVER_AUTO && l->p->n > small);
	int rc = 1;

	if (l->p->together != NULL)
		return gv_shared_linear(
		    l, opt->solver == GV_SOLVER_GLPK, opt->certify, name, e);
	if (gv_constrained(l->p, opt))
		return gv_constrained_linear(l, opt, name, e);
	if (by_prices && !opt->certify)
		rc = gv_linear_by_prices(l, opt->memory, name, e);
	if (rc == 1)
		rc = gv_linear_by_program(l, opt->certify, name, e);
	return rc;
}

void
gv_linear_program(const struct gv_linear *l, struct gv_lp *lp, struct gv_lp_names *names)
{
	if (l->p->together != NULL)
		gv_shared_linear_program(l->p, l->shared, l->need, lp, names);
	else
		gv_linear_lp(l->p, l->gain, l->need, lp, names);
}
