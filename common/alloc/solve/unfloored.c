#include "unfloored.h"

#include "alloc/pairs/shared_level.h"
#include "alloc/simplex/precise.h"
#include "components.h"
#include "constrained.h"
#include "plain.h"

int
gv_level_unfloored(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e)
{
	if (p->together != NULL)
		return gv_shared_level(
		    p, a, opt->solver == GV_SOLVER_GLPK, opt->certify, name, l, e);
	if (opt->digits && !opt->placeable && gv_level_precisely(p, a, l))
		return 0;
	if (gv_constrained(p, opt))
		return gv_constrained_level(p, a, opt, name, l, e);
	if (gv_level_components(p, a, opt, name, l))
		return 0;
	return gv_level_plain(p, a, opt, name, l, e);
}
