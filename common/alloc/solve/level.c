#include "solve.h"

#include "alloc/pairs/shared_level.h"
#include "alloc/simplex/simplex.h"
#include "constrained.h"
#include "plain.h"

int
gv_level_solve(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e)
{
	if (p->together != NULL)
		return gv_shared_level(
		    p, a, opt->solver == GV_SOLVER_GLPK, opt->certify, name, l, e);
	if (gv_constrained(p, opt))
		return gv_constrained_level(p, a, opt, name, l, e);
	return gv_level_plain(p, a, opt, name, l, e);
}

void
gv_level_program(const struct gv_problem *p, const double *a, struct gv_lp *lp,
    struct gv_lp_names *names)
{
	if (p->together != NULL)
		gv_shared_level_program(p, a, lp, names);
	else
		gv_level_lp(p, a, lp, names);
}
