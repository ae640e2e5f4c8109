/* gv-alloc --explain: prices against what solving again says, and duality. */
#include "tap.h"

#include <stdlib.h>

#include "alloc_help.h"
#include "alloc/prove/explain.h"

/* Random jobs, all different; every type has room for every gang that has a rate there. */
static struct gv_problem
random_problem(const struct gv_policy *policy)
{
	struct gv_problem p;
	size_t n = 2 + below(7), m = 2 + below(2);
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, policy->numbers);
	for (j = 0; j < m; j++) {
		p.capacity[j] = (double)(2 + below(6));
		p.price[j] = .1 + uniform();
	}
	for (i = 0; i < n; i++) {
		p.count[i] = 1;
		p.scale[i] = (double)(1 + below(2));
		p.weight[i] = uniform() < .5 ? 1 : .25 + 4 * uniform();
		for (j = 0; j < m; j++)
			p.rate[i * m + j] = exp(3 * uniform());
		draw_numbers(&p, i, .5);
	}
	if (p.number[GV_NUMBER_STEPS] != NULL)
		p.number[GV_NUMBER_STEPS][0] = 100;
	p.budget = uniform() < .5 ? 0 : .1 + 3 * uniform(); /* of some 4 dollars */
	return p;
}

/* The objective with so many GPUs more of a type, or dollars (type m), all else as it is. */
static double
objective_with(
    const struct gv_policy *policy, struct gv_problem *p, size_t j, double more)
{
	double *of = j < p->m ? &p->capacity[j] : &p->budget;
	double before = *of;
	struct gv_solution s;
	double objective;

	gv_problem_refer(p, p->capacity);
	*of += more;
	s = solve_rows(policy, p, GV_SOLVER_GLPK);
	objective = s.objective;
	*of = before;
	gv_problem_refer(p, NULL);
	solution_free(&s);
	return objective;
}

/* Of all that is checked, the worst. */
struct worst {
	double duality; /* |sum of price * limit - objective|, relative */
	double slack;   /* of a constraint that has a price */
	double beyond;  /* a price outside of what more brings and less costs, relative */
	double apart;   /* and from what both say where they agree */
	size_t compared; /* where they do */
};

static void
check_duality(const struct gv_policy *policy, const struct gv_problem *p,
    const struct gv_solution *s, const struct gv_explanation *x, struct worst *w)
{
	double sum = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++) {
		sum += x->type[j].price * p->capacity[j];
		if (x->type[j].price != 0)
			w->slack = fmax(w->slack, 1 - x->type[j].used / p->capacity[j]);
	}
	if (p->budget > 0 && x->budget_price != 0) {
		sum += x->budget_price * p->budget;
		w->slack = fmax(w->slack, 1 - x->cost / p->budget);
	}
	for (i = 0; i < p->n; i++) {
		const struct gv_explained_job *job = &x->job[i];
		double throughput = gv_problem_throughput(p, s->x, i);

		sum += job->time_price;
		if (job->need > 0)
			sum -= job->need_price * job->need;
		if (job->time_price != 0)
			w->slack = fmax(w->slack, 1 - job->time);
		if (job->need_price != 0 && job->need > 0)
			w->slack = fmax(w->slack, throughput / job->need - 1);
		else if (job->need_price != 0)
			w->slack = fmax(w->slack, fabs(job->value / s->objective - 1));
	}
	if (policy->measure == GV_MEASURE_SECONDS)
		sum = -sum;
	if (policy->measure == GV_MEASURE_RATIO)
		w->duality = fmax(w->duality, fabs(sum) / s->objective);
	else if (policy->measure != GV_MEASURE_ALONE)
		w->duality = fmax(w->duality, fabs(sum / s->objective - 1));
}

/* A price is a slope of the objective: between that to the right and to the left. */
static void
check_slopes(const struct gv_policy *policy, struct gv_problem *p,
    const struct gv_solution *s, const struct gv_explanation *x, struct worst *w)
{
	static const double h = 1e-5;
	double sign = policy->minimises ? -1 : 1;
	size_t j;

	for (j = 0; j < p->m + (p->budget > 0); j++) {
		double price = sign * (j < p->m ? x->type[j].price : x->budget_price);
		double right =
		    sign * (objective_with(policy, p, j, h) - s->objective) / h;
		double left =
		    sign * (s->objective - objective_with(policy, p, j, -h)) / h;
		double size = s->objective / (j < p->m ? p->capacity[j] : p->budget);

		w->beyond = fmax(w->beyond, (right - price) / size);
		w->beyond = fmax(w->beyond, (price - left) / size);
		if (left - right > 1e-4 * size)
			continue;
		w->compared++;
		w->apart = fmax(w->apart, fabs(price - (left + right) / 2) / size);
	}
}

static void
test_policy(const struct gv_policy *policy, enum gv_solver solver)
{
	struct worst w = {0};
	size_t types = 0;
	int k;

	for (k = 0; k < 60; k++) {
		struct gv_problem p = random_problem(policy);
		struct gv_solution s = solve_rows(policy, &p, solver);
		struct gv_explanation x;

		gv_explain_make(&x, &p, policy->measure, &s);
		check_duality(policy, &p, &s, &x, &w);
		check_slopes(policy, &p, &s, &x, &w);
		types += p.m;
		gv_explain_free(&x);
		solution_free(&s);
		gv_problem_free(&p);
	}
	ok(w.duality <= 1e-9, "%s: prices add up to the objective: %g", policy->name,
	    w.duality);
	ok(w.slack <= 1e-8, "%s: what has a price is full: %g", policy->name, w.slack);
	ok(w.beyond <= 2e-4, "%s: prices lie between the slopes: %g", policy->name,
	    w.beyond);
	ok(w.apart <= 2e-4 && w.compared > types / 2,
	    "%s: and are the slope where there is one: %g, %zu of %zu", policy->name,
	    w.apart, w.compared, types);
}

int
main(void)
{
	gv_init("explain");
	draws_begin(23, 0, 0);
	for_programs(test_policy);
	return done_testing();
}
