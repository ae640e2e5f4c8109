/*
 * All policies over drawn problems of all shapes, while solvers fail now and then: what is
 * done then, and what is said of it, is what it was.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include "tap.h"

#include "alloc_draws.h"
#include "alloc_failing.h"
#include "alloc/policy/policy.h"

static struct recorded r;
static bool logarithms; /* its numbers differ between processors */

static void
record(const double *v, size_t n)
{
	size_t i;

	for (i = 0; v != NULL && i < n; i++)
		recorded_solved(&r, v[i]);
}

static void
record_solution(const struct gv_problem *p, const struct gv_solution *s)
{
	size_t k;

	record(s->x, p->n * p->m);
	recorded_whole(&r, (long long)s->n_pairs);
	for (k = 0; k < s->n_pairs; k++) {
		const struct gv_pair *pair = &s->pair[k];

		recorded_whole(
		    &r, (long long)((pair->a * p->n + pair->b) * p->m + pair->type));
		recorded_solved(&r, pair->x);
	}
	recorded_solved(&r, s->objective);
	recorded_whole(&r, s->has_bound);
	recorded_solved(&r, s->bound);
	recorded_way(&r, s->gap);
	recorded_whole(&r, s->exact);
	recorded_whole(&r, s->second_missed);
	recorded_whole(&r, s->multipliers.known);
	if (!s->multipliers.known)
		return;
	record(s->multipliers.gpu, p->m);
	record(s->multipliers.job, p->n);
	record(s->multipliers.time, p->n);
	recorded_solved(&r, s->multipliers.budget);
}

/* One answer. */
static void
ask(const struct gv_policy *policy, struct gv_problem *p,
    const struct gv_policy_options *opt)
{
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(*s.x))};
	struct gv_error e = {0};
	size_t k;
	int rc;

	if (policy->multipliers)
		gv_multipliers_alloc(&s.multipliers, p->n, p->m);
	rc = policy->solve(p, opt, &s, &e);
	recorded_whole(&r, rc);
	recorded_whole(&r, (long long)e.count);
	for (k = 0; k < e.count && k < GV_ERROR_KEPT; k++)
		recorded_text(&r, e.text[k]);
	for (k = 0; s.late != NULL && k < p->n; k++)
		recorded_whole(&r, s.late[k]);
	recorded_solved(&r, s.relaxation);
	if (rc == 0)
		record_solution(p, &s);
	gv_error_clear(&e);
	gv_multipliers_free(&s.multipliers);
	free(s.late);
	free(s.pair);
	free(s.x);
	if (logarithms)
		r.bits = 0;
}

/* What --dump-lp writes. */
static void
record_program(const struct gv_policy *policy, const struct gv_problem *p)
{
	char name[GV_LP_NAME_LEN];
	struct gv_lp lp = {0};
	struct gv_lp_names names;
	size_t i;

	if (policy->program == NULL)
		return;
	policy->program(p, &lp, &names);
	recorded_lp(&r, &lp);
	for (i = 0; i < lp.n_rows; i++) {
		names.row(names.ctx, i, name);
		recorded_text(&r, name);
	}
	for (i = 0; i < lp.n_cols; i++) {
		names.col(names.ctx, i, name);
		recorded_text(&r, name);
	}
	free(names.ctx);
	gv_lp_free(&lp);
}

static unsigned
drawn_with(const struct gv_policy *policy)
{
	unsigned with = DRAWN_CLASSES | DRAWN_REFERENCE;

	if (policy->numbers & (1u << GV_NUMBER_POSITION | 1u << GV_NUMBER_DRAW))
		with = DRAWN_REFERENCE; /* each has a place of its own */
	if (policy->multipliers && uniform() < .5)
		with |= DRAWN_BUDGET;
	if (policy->entities && uniform() < .6)
		with |= uniform() < .5 ? DRAWN_ENTITIES : DRAWN_TREE;
	if (policy->shares && uniform() < .25)
		with = DRAWN_PAIRS | (with & (DRAWN_ENTITIES | DRAWN_TREE));
	if (uniform() < .5)
		with |= DRAWN_NEAR;
	return with;
}

static void
ask_any(const struct gv_policy *policy)
{
	struct gv_policy_options opt = {0};
	struct gv_price_memory memory = {0};
	unsigned with = drawn_with(policy), numbers = policy->numbers;
	size_t most = uniform() < .25 ? 36 : 12;
	size_t n = drawn_size(most);
	size_t m = 1 + below(with & DRAWN_PAIRS ? 3 : 6);
	bool fail = uniform() < .7, again = uniform() < .2;
	struct drawn d;
	size_t j;

	numbers &= ~(1u << GV_NUMBER_BEYOND | 1u << GV_NUMBER_BEYOND_GPUS |
		     1u << GV_NUMBER_AWAY | 1u << GV_NUMBER_AWAY_GPUS);
	opt.inside = (enum gv_inside)below(3);
	if (policy->entities && opt.inside == GV_INSIDE_FIFO) {
		numbers |= 1u << GV_NUMBER_POSITION;
		with &= ~(unsigned)DRAWN_CLASSES;
	}
	if (uniform() < .4)
		numbers &= ~(unsigned)GV_NEEDS;
	if (with & DRAWN_PAIRS && n > 8)
		n = 8;
	drawn_problem(&d, n, m, numbers, with);
	for (j = 0; j < m; j++)
		if (d.p.price[j] == 0 && policy->prices)
			d.p.price[j] = 1;
	opt.solve.solver = (enum gv_solver)(uniform() < .6 ? 0 : below(4));
	opt.solve.sharp = uniform() < .3;
	opt.solve.certify = uniform() < .1;
	opt.solve.digits = uniform() < .1;
	opt.solve.placeable = uniform() < .2 && n <= 4 && m <= 3 && !(with & DRAWN_PAIRS);
	opt.alpha = below(2) == 0 ? 0 : .5;
	opt.relax_slo = below(2) == 0;
	if (again)
		opt.solve.memory = &memory;
	if (fail && !opt.solve.placeable)
		some_fail();
	ask(policy, &d.p, &opt);
	if (n <= 12)
		record_program(policy, &d.p);
	if (again) { /* with what is remembered, of a job that has changed */
		d.p.weight[0] *= 1.5;
		memory.change = .1;
		ask(policy, &d.p, &opt);
	}
	none_fail();
	gv_price_forget(&memory);
	drawn_free(&d);
}

/* More jobs than a program of many digits is quick for, until GLPK works again. */
static void
ask_many(void)
{
	struct gv_policy_options opt = {.inside = (enum gv_inside)below(3)};
	size_t n = 52 + below(12), m = 2 + below(2);
	unsigned numbers = uniform() < .3 ? (unsigned)GV_NEEDS : 0;
	struct drawn d;

	if (opt.inside == GV_INSIDE_FIFO)
		numbers |= 1u << GV_NUMBER_POSITION;
	drawn_problem(&d, n, m, numbers, DRAWN_NEAR);
	some_fail();
	failing.part[FAILS_SIMPLEX] = 0;
	failing.part[FAILS_PRICES] = failing.part[FAILS_INTERIOR] = 1;
	failing.first = 1 + below(40);
	ask(&gv_policy_water_filling, &d.p, &opt);
	none_fail();
	drawn_free(&d);
}

int
main(void)
{
	const struct gv_policy *const *policy;
	int k, i;

	recorded_open(&r);
	recorded_glpk(&r, glp_version());
	for (policy = gv_policies; *policy != NULL; policy++) {
		int answers = *policy == &gv_policy_water_filling ? 60 : 20;

		logarithms = *policy == &gv_policy_strategy_proof;
		for (k = 0; k < answers; k++) {
			draws_begin(1, (uint32_t)(policy - gv_policies), (uint32_t)k);
			for (i = 0; i < (logarithms ? 3 : 24); i++)
				ask_any(*policy);
			recorded_answer(&r, "%s, %d", (*policy)->name, k);
		}
	}
	for (k = 0; k < 24; k++) {
		draws_begin(2, 0, (uint32_t)k);
		ask_many();
		recorded_answer(&r, "many, %d", k);
	}
	recorded_close(&r);
	return done_testing();
}
