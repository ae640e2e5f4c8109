#include "solve.h"

#include "alloc/pairs/shared_level.h"
#include "alloc/simplex/simplex.h"
#include "components.h"
#include "constrained.h"
#include "plain.h"

int
gv_linear_solve(struct gv_linear *l, const struct gv_solver_options *opt,
    const char *name, struct gv_error *e)
{
	if (l->p->together != NULL)
		return gv_shared_linear(
		    l, opt->solver == GV_SOLVER_GLPK, opt->certify, name, e);
	if (gv_constrained(l->p, opt))
		return gv_constrained_linear(l, opt, name, e);
	if (gv_linear_components(l, opt, name))
		return 0;
	return gv_linear_plain(l, opt, name, e);
}

void
gv_linear_program(const struct gv_linear *l, struct gv_lp *lp, struct gv_lp_names *names)
{
	if (l->p->together != NULL)
		gv_shared_linear_program(l->p, l->shared, l->need, lp, names);
	else
		gv_linear_lp(l->p, l->gain, l->need, lp, names);
}
