/*
 * gv-alloc's water-filling against the loop that the paper describes, job by job
 * and with nothing of ours but the linear programs: raise all by a program, find
 * who is stuck by one small program each, go on.
 */
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "gv-alloc/classes.h"
#include "gv-alloc/policy.h"

static uint64_t drawn;

static double
uniform(void)
{
	return gv_random_uniform(12, 0, 0, drawn++);
}

static size_t
below(size_t n)
{
	return (size_t)(uniform() * (double)n);
}

/* kinds 0: all jobs differ.  entities 0: none. */
static struct problem
random_problem(size_t n, size_t m, size_t kinds, size_t entities, bool fifo)
{
	struct problem p;
	double weight[8];
	size_t i, j;

	problem_alloc(&p, n, m);
	if (entities > 0)
		problem_ask(&p, 1u << NUMBER_ENTITY | 1u << NUMBER_ENTITY_WEIGHT);
	if (fifo)
		problem_ask(&p, 1u << NUMBER_PLACE);
	for (j = 0; j < m; j++)
		p.capacity[j] = (double)(1 + below(6));
	for (j = 0; j < entities; j++)
		weight[j] = (double)(1 + below(3));
	for (i = 0; i < n; i++) {
		size_t like = kinds > 0 && i >= kinds ? below(kinds) : i;

		p.count[i] = 1;
		if (entities > 0) {
			size_t entity = below(entities);

			p.number[NUMBER_ENTITY][i] = (double)entity;
			p.number[NUMBER_ENTITY_WEIGHT][i] = weight[entity];
		}
		if (fifo)
			p.number[NUMBER_PLACE][i] = (double)((i * 11) % n);
		if (like < i) {
			memcpy(&p.rate[i * m], &p.rate[like * m], m * sizeof(*p.rate));
			p.scale[i] = p.scale[like];
			p.weight[i] = p.weight[like];
			continue;
		}
		p.scale[i] = (double)(1 << below(3));
		p.weight[i] = uniform() < .5 ? 1 : .25 + 4 * uniform();
		for (j = 0; j < m; j++)
			if (uniform() < .7 && p.scale[i] <= p.capacity[j])
				p.rate[i * m + j] = exp(3 * uniform());
		for (j = 0; j < m && p.rate[i * m + j] == 0; j++)
			continue;
		if (j == m) {
			p.scale[i] = 1;
			p.rate[i * m + below(m)] = 1 + uniform();
		}
	}
	return p;
}

static double
number(const struct problem *p, enum problem_number k, size_t i, double otherwise)
{
	return p->number[k] != NULL ? p->number[k][i] : otherwise;
}

/* v_i = s_i thr_i / P_i of shares. */
static void
levels(const struct problem *p, const double *x, double *v)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	size_t i, j;

	problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++) {
		v[i] = 0;
		for (j = 0; j < p->m; j++)
			v[i] += p->scale[i] * problem_rate(p, i, j) / equal[i] *
				x[i * p->m + j];
	}
	free(equal);
}

/*
 * max t: v_i >= floor_i + t rate_i for all jobs.  Infinite when t is not bounded
 * (no rate is above 0).
 */
static double
highest(const struct problem *p, const double *floor, const double *rate)
{
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution sol = {0};
	struct gv_error e = {0};
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	size_t i, j, t;
	double found;

	problem_equal_throughput(p, equal);
	t = gv_lp_add_col(&lp, 0, INFINITY, 1);
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&lp, -INFINITY, p->capacity[j]);
	for (i = 0; i < p->n; i++) {
		size_t row = gv_lp_add_row(&lp, floor[i], INFINITY);
		size_t time = gv_lp_add_row(&lp, -INFINITY, 1);

		gv_lp_set(&lp, row, t, -rate[i]);
		for (j = 0; j < p->m; j++) {
			size_t col;

			if (problem_rate(p, i, j) == 0)
				continue;
			col = gv_lp_add_col(&lp, 0, INFINITY, 0);
			gv_lp_set(&lp, row, col,
			    p->scale[i] * problem_rate(p, i, j) / equal[i]);
			gv_lp_set(&lp, time, col, 1);
			gv_lp_set(&lp, j, col, p->scale[i]);
		}
	}
	if (gv_lp_solve(&lp, NULL, NULL, &sol, &e) != 0)
		gv_die_error(&e);
	found = sol.status == GV_LP_OPTIMAL ? sol.x[t] : NAN;
	gv_lp_solution_free(&sol);
	gv_lp_free(&lp);
	free(equal);
	return found;
}

/* Who rises how fast: the paper's weights. */
static void
rates_of(const struct problem *p, const bool *done, bool fifo, double *rate)
{
	size_t i, k;

	for (i = 0; i < p->n; i++) {
		double entity = number(p, NUMBER_ENTITY, i, 0);
		double sum = 0;
		bool first = true;

		rate[i] = 0;
		if (done[i])
			continue;
		for (k = 0; k < p->n; k++) {
			if (done[k] || number(p, NUMBER_ENTITY, k, 0) != entity)
				continue;
			sum += p->weight[k];
			first = first && !(fifo && p->number[NUMBER_PLACE][k] <
						       p->number[NUMBER_PLACE][i]);
		}
		if (fifo)
			rate[i] = first ? number(p, NUMBER_ENTITY_WEIGHT, i, 1) : 0;
		else
			rate[i] =
			    number(p, NUMBER_ENTITY_WEIGHT, i, 1) * p->weight[i] / sum;
	}
}

/* The paper's loop.  False: a program failed, which says nothing. */
static bool
paper_loop(const struct problem *p, bool fifo, double *v)
{
	double *rate = gv_xcalloc(p->n, sizeof(*rate));
	double *one = gv_xcalloc(p->n, sizeof(*one));
	double *floor = gv_xcalloc(p->n, sizeof(*floor));
	bool *done = gv_xcalloc(p->n, sizeof(*done));
	size_t i, left = p->n;
	bool fine = true;

	memset(v, 0, p->n * sizeof(*v));
	while (left > 0 && fine) {
		size_t before = left;
		double t;

		rates_of(p, done, fifo, rate);
		for (i = 0; i < p->n; i++)
			floor[i] = v[i] * (1 - 1e-13);
		t = highest(p, floor, rate);
		fine = isfinite(t);
		for (i = 0; i < p->n && fine; i++)
			v[i] += t * rate[i];
		for (i = 0; i < p->n; i++)
			floor[i] = v[i] * (1 - 1e-13);
		for (i = 0; i < p->n && fine; i++) {
			double more;

			if (rate[i] == 0)
				continue;
			one[i] = 1;
			more = highest(p, floor, one);
			one[i] = 0;
			fine = isfinite(more);
			if (more <= 1e-7 * fmax(1e-2, v[i])) {
				done[i] = true;
				left--;
			}
		}
		fine = fine && left < before;
	}
	free(rate);
	free(one);
	free(floor);
	free(done);
	return fine;
}

static struct solution
solve(const struct problem *p, enum solver solver, bool fifo)
{
	struct solve_options opt = {
	    .solver = solver, .inside = fifo ? INSIDE_FIFO : INSIDE_FAIRNESS};
	struct solution s = {0};
	struct classes c;
	struct gv_error e = {0};
	double *x;

	classes_make(&c, p, solver != SOLVER_GLPK);
	s.x = x = gv_xcalloc(c.p.n, c.p.m * sizeof(*x));
	if (policy_water_filling.solve(&c.p, &opt, &s, &e) != 0)
		gv_die_error(&e);
	s.x = gv_xcalloc(p->n, p->m * sizeof(*x));
	classes_deal(&c, p->n, x, s.x);
	free(x);
	classes_free(&c);
	return s;
}

static double
worst_difference(const struct problem *p, const double *x, const double *want)
{
	double *v = gv_xcalloc(p->n, sizeof(*v));
	double worst = 0;
	size_t i;

	levels(p, x, v);
	for (i = 0; i < p->n; i++)
		worst = fmax(worst, fabs(v[i] - want[i]) / fmax(1, fabs(want[i])));
	free(v);
	return worst;
}

static void
test_paper_loop(size_t entities, bool fifo, int rounds)
{
	static const enum solver solver[] = {SOLVER_AUTO, SOLVER_GLPK, SOLVER_PRICE};
	int i, lost = 0, bad[3] = {0}, unproved = 0, excess = 0;
	double worst = 0;

	for (i = 0; i < rounds; i++) {
		struct problem p = random_problem(
		    1 + below(9), 1 + below(4), below(2) * 3, entities, fifo);
		double *v = gv_xcalloc(p.n, sizeof(*v));
		size_t k;

		if (!paper_loop(&p, fifo, v)) {
			lost++;
		} else {
			for (k = 0; k < 3; k++) {
				struct solution s = solve(&p, solver[k], fifo);
				double d = worst_difference(&p, s.x, v);

				worst = fmax(worst, d);
				bad[k] += !(d <= 3e-9);
				unproved += !(s.gap <= 1e-9 && s.gap >= 0);
				excess += !(problem_excess(&p, s.x) <= 1e-12);
				free(s.x);
			}
		}
		free(v);
		problem_free(&p);
	}
	printf("# %zu entities%s: %d of %d lost by the loop; worst difference %.2g\n",
	    entities, fifo ? ", fifo" : "", lost, rounds, worst);
	ok(lost <= rounds / 20, "the paper's loop ends");
	is_int(bad[0], 0, "levels of classes are those of the paper's loop");
	is_int(bad[1], 0, "those of --solver=glpk, too");
	is_int(bad[2], 0, "and those of --solver=price");
	is_int(unproved, 0, "all are proved");
	is_int(excess, 0, "rows at most 1, types at most full");
}

int
main(void)
{
	test_paper_loop(0, false, 300);
	test_paper_loop(1, true, 150);
	test_paper_loop(3, false, 300);
	test_paper_loop(3, true, 300);
	return done_testing();
}
