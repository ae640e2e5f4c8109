/*
 * Jobs that fall apart (problem/components.h): who is in which component, and policies over
 * the components against one linear program of all jobs.
 */
#include "tap.h"

#include <stdlib.h>

#include "alloc/problem/components.h"
#include "alloc/program/linear.h"
#include "alloc_help.h"

/* Jobs whose types are all of one block, in no order; the last type may be nobody's. */
static struct gv_problem
random_problem(const struct gv_policy *policy, size_t blocks, double needs)
{
	struct gv_problem p;
	size_t n = blocks + below(5 * blocks), m = 2 * blocks + below(2 * blocks);
	size_t *block = gv_xcalloc(m, sizeof(*block));
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, policy->numbers & ~(1u << GV_NUMBER_ENTITY));
	for (j = 0; j < m; j++) {
		block[j] = j < blocks ? j : below(blocks);
		p.capacity[j] = (double)(2 + below(6));
		p.price[j] = .1 + uniform();
	}
	for (j = m; j > 1; j--) {
		size_t k = below(j), swap = block[j - 1];

		block[j - 1] = block[k];
		block[k] = swap;
	}
	for (i = 0; i < n; i++) {
		size_t own = i < blocks ? i : below(blocks), some = m;

		p.count[i] = (double)(1 + below(3));
		p.scale[i] = (double)(1 + below(2));
		p.weight[i] = uniform() < .5 ? 1 : .25 + 4 * uniform();
		for (j = 0; j < m; j++) {
			if (block[j] != own)
				continue;
			some = j;
			if (uniform() < .8)
				p.rate[i * m + j] = exp(3 * uniform());
		}
		if (gv_row_max(&p.rate[i * m], m) == 0)
			p.rate[i * m + some] = 1 + uniform();
		draw_numbers(&p, i, 0);
		if (p.number[GV_NUMBER_NEED] != NULL && uniform() < needs)
			p.number[GV_NUMBER_NEED][i] =
			    1.5 * uniform() * uniform() * gv_row_max(&p.rate[i * m], m);
	}
	if (p.number[GV_NUMBER_STEPS] != NULL)
		p.number[GV_NUMBER_STEPS][0] = 100;
	free(block);
	return p;
}

/* ---- who is where ---- */

/* Whether a job of one runs on a type of the other, by way of others: brute force. */
static void
reach(const struct gv_problem *p, bool *together, size_t i)
{
	size_t j, k;

	if (together[i])
		return;
	together[i] = true;
	for (j = 0; j < p->m; j++)
		for (k = 0; k < p->n; k++)
			if (p->rate[i * p->m + j] > 0 && p->rate[k * p->m + j] > 0)
				reach(p, together, k);
}

static void
test_components(int rounds)
{
	int r, bad = 0, apart = 0;

	for (r = 0; r < rounds; r++) {
		struct gv_problem p = random_problem(&gv_policy_max_sum, 1 + below(6), 0);
		size_t *of = gv_xcalloc(p.n, sizeof(*of));
		bool *together = gv_xcalloc(p.n, sizeof(*together));
		struct gv_components g;
		size_t i, k, rows = 0;

		gv_components_make(&g, &p, p.rate);
		for (k = 0; k < g.n; k++)
			for (i = g.first_row[k]; i < g.first_row[k + 1]; i++, rows++)
				of[g.row[i]] = k;
		for (i = 0; i < p.n; i++) {
			memset(together, 0, p.n * sizeof(*together));
			reach(&p, together, i);
			for (k = 0; k < p.n; k++)
				bad += together[k] != (of[i] == of[k]);
		}
		bad += rows != p.n;
		apart += g.n > 1;
		for (k = 0; k < g.n; k++) { /* its rows and types, and all their rates */
			struct gv_problem q;
			double sum = 0, all = 0;
			size_t j;

			gv_components_problem(&q, &g, k, &p);
			for (i = 0; i < q.n * q.m; i++)
				sum += q.rate[i];
			for (i = g.first_row[k]; i < g.first_row[k + 1]; i++)
				for (j = 0; j < p.m; j++)
					all += p.rate[g.row[i] * p.m + j];
			bad += !near(sum, all, 1e-12);
			gv_problem_free(&q);
		}
		gv_components_free(&g);
		gv_problem_free(&p);
		free(of);
		free(together);
	}
	is_int(bad, 0, "components are those of a search, with all their rates");
	ok(apart > rounds / 2, "of %d problems %d fall apart", rounds, apart);
}

/* ---- policies ---- */

/* sum_i n_i s_i thr_i / P_i, the second of two objectives. */
static double
second(const struct gv_problem *p, const double *x)
{
	double *gain = gv_linear_normalised(p), sum = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			sum += p->count[i] * gain[i * p->m + j] * x[i * p->m + j];
	free(gain);
	return sum;
}

/* [n] the levels, for free(). */
static double *
levels(const struct gv_problem *p, const double *x)
{
	double *v = gv_xcalloc(p->n, sizeof(*v));
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	size_t i;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++)
		v[i] = p->scale[i] * gv_problem_throughput(p, x, i) / equal[i];
	free(equal);
	return v;
}

struct found {
	int differ, unproved, broken, apart, late;
	double worst;
};

static void
compare(struct found *f, const struct gv_policy *policy, const struct gv_problem *p)
{
	const struct gv_policy_options by_parts = {.solve.solver = GV_SOLVER_AUTO};
	const struct gv_policy_options whole = {.solve.solver = GV_SOLVER_GLPK};
	struct gv_error e = {0};
	struct gv_solution a, b;
	int got = answer(&a, policy, p, &by_parts, false, &e);
	int want = answer(&b, policy, p, &whole, false, &e);
	struct gv_components g;
	double d = 0;
	size_t i;

	gv_components_make(&g, p, p->rate);
	f->apart += gv_components_pay(&g, p);
	gv_components_free(&g);
	f->differ += got != want;
	f->late += want == 1;
	if (got == 1 && want == 1)
		f->differ += !near(a.relaxation, b.relaxation, 1e-8);
	if (got == 0 && want == 0) {
		d = fabs(a.objective - b.objective) / fmax(fabs(b.objective), 1e-300);
		if (policy == &gv_policy_water_filling) {
			double *v = levels(p, a.x), *w = levels(p, b.x);

			for (i = 0; i < p->n; i++)
				d = fmax(d, fabs(v[i] - w[i]) / fmax(w[i], 1e-3));
			free(v);
			free(w);
		} else if (policy != &gv_policy_min_cost) {
			double w = second(p, b.x);

			d = fmax(d, fabs(second(p, a.x) - w) / w);
		}
		f->differ += !(d <= 1e-7);
		f->worst = fmax(f->worst, d);
		f->unproved += a.has_bound && !(a.gap <= 1e-9);
		f->broken += !(gv_problem_excess(p, a.x) <= 1e-9);
	}
	free(a.x);
	free(a.late);
	free(b.x);
	free(b.late);
	gv_error_clear(&e);
}

static void
test_policy(const struct gv_policy *policy, double needs, int rounds)
{
	struct found f = {0};
	int r;

	for (r = 0; r < rounds; r++) {
		struct gv_problem p = random_problem(policy, 2 + below(6), needs);

		compare(&f, policy, &p);
		gv_problem_free(&p);
	}
	printf(
	    "# %s: %d of %d apart, %d whose needs cannot be met, worst difference %.2g\n",
	    policy->name, f.apart, rounds, f.late, f.worst);
	is_int(f.differ, 0, "%s%s: components give what one program of all gives",
	    policy->name, needs > 0 ? " with needs" : "");
	is_int(f.unproved, 0, "... and it is proved");
	is_int(f.broken, 0, "... within all limits");
	ok(f.apart > rounds / 2, "... most fall apart");
	if (needs > 0)
		ok(f.late > rounds / 10 && f.late < 4 * rounds / 5,
		    "... some have needs that cannot be met");
}

/* Whether parts of so many rows and types pay, where the whole has n rows and m types. */
static bool
pays(size_t n, size_t m, size_t rows, size_t types, size_t more_rows, size_t more_types)
{
	size_t row[] = {0, rows, rows + more_rows},
	       type[] = {0, types, types + more_types};
	struct gv_components g = {
	    .n = more_rows > 0 ? 2 : 1, .m = m, .first_row = row, .first_type = type};
	struct gv_problem p = {.n = n, .m = m};

	return gv_components_pay(&g, &p);
}

static void
test_pay(void)
{
	ok(pays(4, 2, 2, 1, 2, 1), "two parts that are half of the whole pay");
	ok(pays(5, 3, 2, 2, 3, 1), "so do two that are less");
	ok(!pays(5, 3, 3, 2, 2, 1), "two that are more do not");
	ok(!pays(4, 4, 4, 2, 0, 0), "one does not, whatever it leaves out");
}

int
main(void)
{
	int rounds = getenv("GV_LONG") != NULL ? 20 : 1;

	draws_begin(22, 0, 0);
	test_pay();
	test_components(300 * rounds);
	test_policy(&gv_policy_max_sum, 0, 150 * rounds);
	test_policy(&gv_policy_max_sum, .6, 150 * rounds);
	test_policy(&gv_policy_max_min, 0, 150 * rounds);
	test_policy(&gv_policy_max_min, .6, 150 * rounds);
	test_policy(&gv_policy_makespan, 0, 150 * rounds);
	test_policy(&gv_policy_water_filling, 0, 150 * rounds);
	test_policy(&gv_policy_water_filling, .6, 150 * rounds);
	test_policy(&gv_policy_fifo, 0, 150 * rounds);
	test_policy(&gv_policy_min_cost, 0, 150 * rounds);
	return done_testing();
}
