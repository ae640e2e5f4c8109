#include "answer.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/place/placed.h"
#include "alloc/program/multipliers.h"
#include "alloc/prove/certificate.h"
#include "alloc/prove/printed.h"
#include "pop.h"
#include "shares.h"
#include "stay.h"
#include "lp/tolerance.h"

/* Policies of cost divide by prices, budgets count them. */
static int
check_prices(const struct gv_policy *policy, const struct gv_answer_options *opt,
    const struct gv_cluster *c, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	size_t i;
	int rc = 0;

	for (i = 0; (policy->prices || opt->budget > 0) && i < c->n_types; i++)
		if (c->type[i].gpus > 0 && isnan(c->type[i].usd_per_h))
			rc = gv_error_set(e,
			    "%s%s needs the usd_per_h of every GPU type; %s has none",
			    policy->prices ? "policy " : "",
			    policy->prices ? policy->name : "--budget",
			    gv_quote(q, c->type[i].name, strlen(c->type[i].name)));
	return rc;
}

bool
gv_answer_hopeless(const struct gv_answer *a, const struct gv_rates *r,
    const struct gv_policy *policy, size_t job)
{
	const struct gv_job *j = &r->job[job];

	return policy->numbers & GV_NEEDS && a->row[job] == SIZE_MAX && !a->later[job] &&
	       (!isnan(j->deadline_s) || !isnan(j->slo_factor) ||
		   j->min_steps_per_s > 0) &&
	       !(j->steps_remaining <= (0 + 1));
}

/* What is proved of the shares replaces what the policy says of them. */
static void
certify(struct gv_answer *a, enum gv_measure measure)
{
	struct gv_problem p = a->p;
	double *need = gv_answer_needs(a);
	struct gv_certificate c;

	if (p.number[GV_NUMBER_NEED] != NULL)
		p.number[GV_NUMBER_NEED] = need;
	gv_certificate_make(&c, &p, measure, &a->s);
	a->s.exact = c.excess == 0 && c.shortfall <= GV_TOL_FEASIBLE && isfinite(c.gap);
	a->s.gap = c.gap;
	if (a->s.exact) {
		a->s.objective = c.objective;
		a->s.bound = c.bound;
	}
	free(need);
}

static bool
any_away(const struct gv_cluster *c)
{
	size_t i = 0;

	while (i < c->n_types && c->type[i].away == 0)
		i++;
	return i < c->n_types;
}

int
gv_answer_make(struct gv_answer *a, const struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_policy *policy, const struct gv_answer_options *opt,
    struct gv_error *e)
{
	struct gv_answer_options now = *opt, own;
	bool proof;
	size_t i;

	/* what was promised on all GPUs need not be possible on some: as much as there can be */
	now.policy.relax_slo |= any_away(c);
	opt = &now;
	own = now;
	if (gv_answer_problem(a, r, c, policy, opt, e) != 0 ||
	    check_prices(policy, opt, c, e) != 0)
		return -1;
	if (opt->agnostic)
		gv_answer_agnostic(a);
	if ((opt->policy.solve.placeable || opt->budget > 0) && a->p.together != NULL)
		return gv_error_set(e, "%s does not go together with rows of two jobs",
		    opt->policy.solve.placeable ? "--placeable" : "--budget");
	if (opt->previous != NULL && a->p.together != NULL)
		return gv_error_set(
		    e, "--previous does not go together with rows of two jobs");
	proof = opt->policy.solve.certify && policy->multipliers &&
		gv_certificate_possible(&a->p, policy->measure);
	if (proof) {
		own.policy.solve.certify = false;
		own.multipliers = true;
	}
	if (opt->pop > 1 && gv_answer_has_needs(a))
		return gv_error_set(
		    e, "--pop: deadlines and minimums are not met part by part");
	if (a->p.n > 0 && opt->pop > 1)
		return gv_pop_solve(a, r, policy, &own, e);
	if (a->p.n > 0 && gv_answer_solve(a, policy, &own, e) != 0)
		return -1;
	for (i = 0; !opt->policy.relax_slo && !a->impossible && i < r->n_jobs; i++)
		a->impossible = gv_answer_hopeless(a, r, policy, i);
	if (opt->previous != NULL && a->p.n > 0 && !a->impossible &&
	    gv_stay_solve(a, r, policy, opt, e) != 0)
		return -1;
	if (a->p.n == 0 || a->impossible || !opt->policy.solve.certify)
		return 0;
	if (proof && a->s.multipliers.known)
		certify(a, policy->measure);
	else
		gv_printed_trim(&a->p, &a->s);
	return 0;
}

double
gv_answer_share(const struct gv_answer *a, const struct gv_rate *rate)
{
	if (rate->type < 0 || a->row[rate->job] == SIZE_MAX)
		return 0;
	return a->s.x[a->row[rate->job] * a->p.m + a->type[rate->type]];
}

void
gv_answer_program(const struct gv_answer *a, const struct gv_policy *policy,
    struct gv_lp *lp, struct gv_lp_names *names)
{
	struct gv_problem p = a->p;
	double *need = gv_answer_needs(a);

	if (p.number[GV_NUMBER_NEED] != NULL)
		p.number[GV_NUMBER_NEED] = need;
	policy->program(&p, lp, names);
	free(need);
	gv_placed_add_budget(&p, lp, names);
}
