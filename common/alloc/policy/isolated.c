/*
 * isolated: every job has its n-th part of every type to itself, whether it needs
 * it or not.  Gavel's X^isolated (Themis calls it the share of an isolated
 * cluster).
 */
#include "policy.h"

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *s, struct gv_error *e)
{
	(void)opt;
	(void)e;
	gv_problem_isolated(p, s->x);
	s->objective = gv_problem_level(p, s->x);
	return 0;
}

const struct gv_policy gv_policy_isolated = {
    .name = "isolated",
    .solve = solve,
};
