/*
 * max-sum: as many steps per second as possible, of all jobs together, while
 * deadlines are met.
 *
 *	max sum_i thr_i(x)   subject to   thr_i(x) >= need_i
 *
 * Steps of different jobs are added as they are, so jobs of short steps get what
 * they can use.  Gavel, OSDI 2020, section 4.2.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "deadline.h"
#include "linear.h"
#include "multipliers.h"

static int
solve(const struct problem *p, const struct solve_options *opt, struct solution *out,
    struct gv_error *e)
{
	double *need = gv_xcalloc(p->n, sizeof(*need));
	double *second = linear_normalised(p);
	struct linear l;
	int rc;

	linear_init(&l, p, out);
	l.gain = p->rate;
	l.second = second;
	l.need = need;
	rc = deadline_needs(p, opt, "max-sum", need, out, e);
	if (rc == 0)
		rc = linear_solve(&l, opt, "max-sum", e);
	if (rc == 0)
		multipliers_of_linear(&out->multipliers, &l);
	linear_free(&l);
	free(need);
	free(second);
	return rc;
}

static void
program(const struct problem *p, struct gv_lp *lp, struct gv_lp_names *names)
{
	linear_program(p, p->rate, p->number[NUMBER_NEED], lp, names);
}

const struct policy policy_max_sum = {
    .name = "max-sum",
    .solve = solve,
    .program = program,
    .numbers = 1u << NUMBER_NEED,
    .measure = MEASURE_SUM,
    .multipliers = true,
};
