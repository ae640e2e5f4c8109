/*
 * Many digits are the last resort: ordinary tables ask for none, so that what makes them slow is
 * seen, and tables whose numbers are far apart still do.  The programs of lp/precise.h and
 * lp/rise.h are compiled in and counted.
 */
#include "tap.h"

#include "alloc_help.h"
#include "alloc/solve/solve.h"
#include "lp/precise.h"
#include "lp/rise.h"

void real_lp_precisely(
    const struct gv_lp *lp, const double *second, struct gv_lp_solution *s);
struct gv_rise *real_rise_make(const struct gv_lp *lp, size_t steps);

#define gv_lp_precisely real_lp_precisely
#include "../../common/lp/precise.c"
#undef gv_lp_precisely
#define gv_rise_make real_rise_make
#include "../../common/lp/rise.c"
#undef gv_rise_make

static int asked;

void
gv_lp_precisely(const struct gv_lp *lp, const double *second, struct gv_lp_solution *s)
{
	asked++;
	real_lp_precisely(lp, second, s);
}

struct gv_rise *
gv_rise_make(const struct gv_lp *lp, size_t steps)
{
	asked++;
	return real_rise_make(lp, steps);
}

/* Rates over some decades, weights over one; a type too few for a gang or two, some needs. */
static struct gv_problem
draw(size_t n, size_t m, double decades, bool needs)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, 1u << GV_NUMBER_STEPS | 1u << GV_NUMBER_ELAPSED |
			       1u << GV_NUMBER_ISOLATED | 1u << GV_NUMBER_POSITION |
			       (needs ? GV_NEEDS : 0u));
	for (j = 0; j < m; j++) {
		p.capacity[j] = (double)(1 + below(n / m + 4));
		p.price[j] = .5 + 3 * uniform();
	}
	for (i = 0; i < n; i++) {
		double fast = pow(10, decades * (uniform() - .5));

		p.count[i] = 1;
		p.weight[i] = pow(10, uniform() - .5);
		p.scale[i] = uniform() < .8 ? 1 : 2;
		for (j = 0; j < m; j++)
			if (uniform() < .9 && p.scale[i] <= p.capacity[j])
				p.rate[i * m + j] = fast * (.3 + uniform());
		make_runnable(&p, i);
		draw_numbers(&p, i, 0);
		p.number[GV_NUMBER_STEPS][i] = fast * (10 + 1000 * uniform());
		if (needs && i % 5 == 0)
			p.number[GV_NUMBER_MINIMUM][i] =
			    gv_row_max(&p.rate[i * m], m) * .1 * uniform() / (double)n;
	}
	return p;
}

/* How often many digits were asked for; the answer must be proved. */
static int
digits(const struct gv_policy *policy, const struct gv_problem *p, enum gv_inside inside)
{
	const struct gv_policy_options opt = {.inside = inside};
	struct gv_problem seen = seen_by(policy, p);
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(*s.x))};
	struct gv_error e = {0};
	int rc;

	asked = 0;
	rc = policy->solve(&seen, &opt, &s, &e);
	ok(rc == 0 && s.gap <= 1e-9, "%s, %zu jobs on %zu types: proved", policy->name,
	    p->n, p->m);
	gv_error_clear(&e);
	free(s.x);
	free(s.pair);
	free(s.late);
	return asked;
}

static void
test_ordinary(const struct gv_policy *policy, enum gv_inside inside, bool needs)
{
	static const struct {
		size_t n, m;
		double decades;
	} size[] = {{3, 1, 1}, {8, 2, 3}, {14, 3, 2}, {24, 4, 4}, {40, 3, 1}, {77, 6, 2},
	    {90, 12, 2}};
	size_t i, k;

	for (i = 0; i < sizeof(size) / sizeof(*size); i++)
		for (k = 0; k < 4; k++) {
			struct gv_problem p =
			    draw(size[i].n, size[i].m, size[i].decades, needs);

			ok(digits(policy, &p, inside) == 0,
			    "%s%s, %zu jobs on %zu types: no program in many digits",
			    policy->name, needs ? " with needs" : "", p.n, p.m);
			gv_problem_free(&p);
		}
}

/* Weights 1e12 apart. */
static void
test_far(void)
{
	struct gv_problem p = draw(6, 2, 1, false);

	p.weight[0] = 1e12;
	ok(digits(&gv_policy_water_filling, &p, GV_INSIDE_FAIRNESS) > 0,
	    "weights far apart: many digits");
	gv_problem_free(&p);
}

int
main(void)
{
	draws_begin(97, 0, 0);
	test_ordinary(&gv_policy_water_filling, GV_INSIDE_FAIRNESS, false);
	test_ordinary(&gv_policy_water_filling, GV_INSIDE_FAIRNESS, true);
	test_ordinary(&gv_policy_water_filling, GV_INSIDE_FIFO, false);
	test_ordinary(&gv_policy_max_min, GV_INSIDE_NONE, true);
	test_ordinary(&gv_policy_makespan, GV_INSIDE_NONE, false);
	test_ordinary(&gv_policy_finish_time, GV_INSIDE_NONE, false);
	test_ordinary(&gv_policy_max_sum, GV_INSIDE_NONE, true);
	test_ordinary(&gv_policy_min_cost, GV_INSIDE_NONE, true);
	test_ordinary(&gv_policy_fifo, GV_INSIDE_NONE, false);
	test_far();
	return done_testing();
}
