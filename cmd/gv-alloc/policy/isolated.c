/*
 * isolated: every job has its n-th part of every type to itself, whether it needs
 * it or not.  Gavel's X^isolated (Themis calls it the share of an isolated
 * cluster).
 */
#include "policy.h"

static int
solve(const struct problem *p, const struct solve_options *opt, struct solution *s,
    struct gv_error *e)
{
	(void)opt;
	(void)e;
	problem_isolated(p, s->x);
	s->objective = problem_level(p, s->x);
	return 0;
}

const struct policy policy_isolated = {
    .name = "isolated",
    .solve = solve,
};
