/*
 * gv-alloc's programs of pairs: the level and the sums against one linear program of
 * all jobs and all pairs, written here from the definitions; and what every
 * allocation keeps.
 */
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/problem/classes.h"
#include "alloc/answer/disaggregate.h"
#include "alloc/pairs/shared.h"
#include "alloc/policy/policy.h"

/* How many instances: quick ones, or what is promised. */
static size_t
many(size_t n)
{
	return getenv("GV_LONG") != NULL ? 100 * n : n;
}

/* A random table of kinds, of which every second shares; two scales. */
static void
random_together(struct gv_together *t, size_t kinds, size_t m)
{
	struct gv_together_entry *entry = gv_xcalloc(kinds * kinds * m, sizeof(*entry));
	size_t a, b, j, n = 0;

	for (a = 0; a < kinds; a++)
		for (b = a; b < kinds; b++) {
			if (a % 2 != b % 2 || uniform() < .2)
				continue; /* other scales, or not measured */
			for (j = 0; j < m; j++) {
				if (uniform() < .1)
					continue;
				entry[n++] = (struct gv_together_entry){.a = (uint32_t)a,
				    .b = (uint32_t)b,
				    .type = (uint32_t)j,
				    .rate_a = uniform() < .1 ? 0 : .2 + uniform(),
				    .rate_b = .2 + uniform()};
			}
		}
	gv_together_make(t, kinds, m, entry, n);
	free(entry);
}

/* Jobs of kinds; alone about as fast as in the table, which is what makes sharing worth while. */
static struct gv_problem
random_problem(size_t n, size_t m, size_t kinds, const struct gv_together *t)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	p.kind = gv_xcalloc(n, sizeof(*p.kind));
	p.together = t;
	for (j = 0; j < m; j++)
		p.capacity[j] = (double)(2 + below(6));
	for (i = 0; i < n; i++) {
		p.kind[i] = below(kinds);
		p.count[i] = 1;
		p.scale[i] = p.kind[i] % 2 == 0 ? 1 : 2;
		p.weight[i] = uniform() < .3 ? 5 : 1;
		for (j = 0; j < m; j++)
			p.rate[i * m + j] =
			    .5 + fmod((double)(p.kind[i] * 7 + j * 3) * .37, 1);
		p.rate[i * m + below(m)] *= uniform() < .2 ? 0 : 1;
		p.rate[i * m + i % m] = fmax(.3, p.rate[i * m + i % m]);
	}
	return p;
}

/* ---- the definitions ---- */

struct sums {
	const double *job, *type, *cost; /* of a step/s, times; of a GPU */
	const double *per; /* of a GPU: the sum is divided by what all cost */
};

static double
gain(const struct sums *g, size_t i, size_t j)
{
	return g->job[i] * (g->type != NULL ? g->type[j] : 1);
}

/* Column of a pair of jobs on a type. */
static void
define_pair(struct gv_lp *lp, const struct gv_problem *p, const double *factor,
    const struct sums *g, size_t i, size_t k, size_t j, const double *rate)
{
	size_t col;
	double worth = 0;

	if (g != NULL)
		worth = gain(g, i, j) * rate[0] + gain(g, k, j) * rate[1] -
			(g->cost != NULL ? g->cost[j] * p->scale[i] : 0);
	col = gv_lp_add_col(lp, 0, INFINITY, worth);
	gv_lp_set(lp, j, col, p->scale[i]);
	gv_lp_set(lp, p->m + 2 * i, col, 1);
	gv_lp_set(lp, p->m + 2 * k, col, 1);
	gv_lp_set(lp, p->m + 2 * i + 1, col, factor[i] * rate[0]);
	gv_lp_set(lp, p->m + 2 * k + 1, col, factor[k] * rate[1]);
}

/* Shares become shares / cost, column 0 the inverse of the cost. */
static void
divide(struct gv_lp *lp, const struct gv_problem *p, const double *per)
{
	size_t entries = lp->n_entries, rows = lp->n_rows;
	size_t cost = gv_lp_add_row(lp, 1, 1);
	size_t i;

	lp->col_lo[0] = 0;
	lp->col_hi[0] = INFINITY;
	for (i = 0; i < rows; i++)
		if (isfinite(lp->row_hi[i])) {
			gv_lp_set(lp, i, 0, -lp->row_hi[i]);
			lp->row_hi[i] = 0;
		}
	for (i = 0; i < entries; i++)
		if (lp->entry[i].row < p->m && lp->entry[i].col > 0)
			gv_lp_set(lp, cost, lp->entry[i].col,
			    lp->entry[i].value * per[lp->entry[i].row]);
}

/* Rows thr_i >= least_i, from those of f_i thr_i. */
static void
add_least(struct gv_lp *lp, const struct gv_problem *p, const double *factor,
    const double *least)
{
	size_t entries = lp->n_entries, rows = lp->n_rows;
	size_t i;

	for (i = 0; i < p->n; i++)
		gv_lp_add_row(lp, least[i], INFINITY);
	for (i = 0; i < entries; i++) {
		size_t row = lp->entry[i].row;

		if (lp->entry[i].col == 0 || row < p->m || (row - p->m) % 2 == 0)
			continue;
		row = (row - p->m) / 2;
		gv_lp_set(
		    lp, rows + row, lp->entry[i].col, lp->entry[i].value / factor[row]);
	}
}

/* The columns and rows of all jobs, every two jobs a pair, looked up in either order. */
static struct gv_lp
all_pairs(const struct gv_problem *p, const double *factor, const double *rise,
    const struct sums *g)
{
	struct gv_lp lp = {.maximise = true};
	size_t i, j, k;

	gv_lp_add_col(&lp, 0, g == NULL ? INFINITY : 1, g == NULL ? 1 : 0);
	if (g != NULL)
		lp.col_lo[0] = 1;
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&lp, -INFINITY, p->capacity[j]);
	for (i = 0; i < p->n; i++) {
		gv_lp_add_row(&lp, -INFINITY, 1);
		gv_lp_add_row(&lp, 0, INFINITY);
		gv_lp_set(&lp, p->m + 2 * i + 1, 0, -rise[i]);
		for (j = 0; j < p->m; j++) {
			double rate = gv_problem_rate(p, i, j);
			size_t col = gv_lp_add_col(&lp, 0, INFINITY,
			    g == NULL
				? 0
				: gain(g, i, j) * rate -
				      (g->cost != NULL ? g->cost[j] * p->scale[i] : 0));

			if (rate == 0)
				lp.col_hi[col] = 0;
			gv_lp_set(&lp, j, col, p->scale[i]);
			gv_lp_set(&lp, p->m + 2 * i, col, 1);
			gv_lp_set(&lp, p->m + 2 * i + 1, col, factor[i] * rate);
		}
		for (k = 0; k < i; k++) {
			size_t low = p->kind[i] <= p->kind[k] ? i : k;
			size_t at = gv_together_find(p->together, p->kind[i], p->kind[k]);

			for (j = 0; j < p->m && at != SIZE_MAX; j++) {
				const double *r = &p->together->rate[(at * p->m + j) * 2];

				if (r[0] > 0)
					define_pair(
					    &lp, p, factor, g, low, i + k - low, j, r);
			}
		}
	}
	return lp;
}

/* The optimum; NAN: there is none. */
static double
optimum(struct gv_lp *lp)
{
	const struct gv_lp_options opt = {.gap = 1e-8};
	struct gv_lp_solution sol;
	struct gv_error e = {0};
	double best = NAN;

	if (gv_lp_solve(lp, &opt, NULL, &sol, &e) == 0 && sol.status == GV_LP_OPTIMAL)
		best = sol.check.objective;
	gv_lp_solution_free(&sol);
	gv_lp_free(lp);
	return best;
}

/* max t, or the sum while f thr >= be. */
static double
define(const struct gv_problem *p, const double *factor, const double *rise,
    const double *least, const struct sums *g)
{
	struct gv_lp lp = all_pairs(p, factor, rise, g);

	if (least != NULL)
		add_least(&lp, p, factor, least);
	if (g != NULL && g->per != NULL)
		divide(&lp, p, g->per);
	return optimum(&lp);
}

/* The best second sum of those whose first one is so high. */
static double
define_second(const struct gv_problem *p, const double *factor, const double *rise,
    const struct sums *first, double least, const struct sums *second)
{
	struct gv_lp one = all_pairs(p, factor, rise, first);
	struct gv_lp lp = all_pairs(p, factor, rise, second);
	size_t row = gv_lp_add_row(&lp, least, INFINITY), k;

	for (k = 0; k < one.n_cols; k++)
		gv_lp_set(&lp, row, k, one.cost[k]);
	gv_lp_free(&one);
	return optimum(&lp);
}

/* ---- against them ---- */

static int wrong, cases, seconds, lacking;
static double worst, worst_gap, worst_excess, lowest;

static void
compare(double got, double bound, double want, double excess)
{
	double size =
	    fmax(1e-1, fabs(want)); /* gains are of about 1, their sum may be 0 */

	cases++;
	worst = fmax(worst, fabs(got - want) / size);
	worst_gap = fmax(worst_gap, (bound - got) / size);
	worst_excess = fmax(worst_excess, excess);
	if (!(fabs(got - want) <= 1e-9 * size) || bound < got - 1e-15 * size ||
	    !(bound - got <= 1e-9 * size) || !(excess <= 1e-12))
		wrong++;
}

/* The normalised sum, which levels have as their second. */
static double *
normalised(const struct gv_problem *p)
{
	double *job = gv_xcalloc(p->n, sizeof(*job));
	size_t i;

	gv_problem_equal_throughput(p, job);
	for (i = 0; i < p->n; i++)
		job[i] = p->scale[i] / job[i];
	return job;
}

/* What the second sum of an allocation of rows lacks of the best one. */
static void
compare_second(const struct gv_problem *p, const struct gv_solution *s, const double *job,
    double want)
{
	double *throughput = gv_xcalloc(p->n, sizeof(*throughput)), sum = 0;
	size_t i;

	gv_solution_throughput(p, s, throughput);
	for (i = 0; i < p->n; i++)
		sum += p->count[i] * job[i] * throughput[i];
	free(throughput);
	if (isnan(want))
		return;
	seconds++;
	lowest = fmax(lowest, (want - sum) / fmax(1e-1, want));
	lacking += !(sum >= want - 1e-6 * fmax(1e-1, want));
}

/* Takes the jobs' numbers to their classes. */
static double *
of_classes(const struct gv_classes *c, const struct gv_problem *p, const double *v)
{
	double *to = gv_xcalloc(c->p.n, sizeof(*to));
	size_t i;

	for (i = 0; i < p->n; i++)
		to[c->of[i]] = v[i];
	return to;
}

static void
check_level(const struct gv_problem *p, bool merge, enum gv_solver solver)
{
	struct gv_solution s = {0};
	struct gv_error e = {0};
	struct gv_shared_gain second = {0};
	struct gv_shared h;
	struct gv_classes c;
	double *factor = gv_xcalloc(p->n, sizeof(*factor));
	double *rise = gv_xcalloc(p->n, sizeof(*rise));
	double *f, *r, *job, *own = normalised(p);
	double want;
	size_t i;

	gv_problem_equal_throughput(p, factor);
	for (i = 0; i < p->n; i++) {
		factor[i] = p->scale[i] / (p->weight[i] * factor[i]);
		rise[i] = p->weight[i] > 1 || p->kind[i] < 3 ? 1 : 0;
	}
	rise[0] = 1;
	for (i = 1; i < p->n; i++) /* alike jobs ask alike */
		if (p->kind[i] == p->kind[0])
			rise[i] = 1;
	gv_classes_make(&c, p, merge);
	f = of_classes(&c, p, factor);
	r = of_classes(&c, p, rise);
	job = normalised(&c.p);
	second.job = job;
	s.x = gv_xcalloc(c.p.n, c.p.m * sizeof(*s.x));
	gv_shared_init(&h, &c.p, &s);
	h.all = solver == GV_SOLVER_GLPK;
	h.factor = f;
	h.demand = r;
	h.second = &second;
	want = define(p, factor, rise, NULL, NULL);
	if (gv_shared_solve(&h, "test", &e) != 0)
		wrong++;
	else {
		struct sums sums = {.job = own};

		compare(h.value, h.bound, want, gv_solution_excess(&c.p, &s));
		for (i = 0; i < p->n; i++)
			rise[i] *= h.value * (1 - 1e-9);
		compare_second(&c.p, &s, job, define(p, factor, rise, NULL, &sums));
	}
	gv_shared_free(&h);
	free(s.x);
	free(s.pair);
	free(factor);
	free(rise);
	free(f);
	free(r);
	free(job);
	free(own);
	gv_classes_free(&c);
}

/* A sum of gains that may be below 0, while some need half of what they could have alone. */
static void
check_sum(const struct gv_problem *p, bool merge, enum gv_solver solver)
{
	struct gv_solution s = {0};
	struct gv_error e = {0};
	struct gv_classes c;
	double *worth = gv_xcalloc(p->n, sizeof(*worth));
	double *cost = gv_xcalloc(p->m, sizeof(*cost));
	double *type = gv_xcalloc(p->m, sizeof(*type));
	double *need = gv_xcalloc(p->n, sizeof(*need));
	double *one = gv_xcalloc(p->n, sizeof(*one));
	double *f, *r, *job, *own = normalised(p);
	struct gv_shared_gain first, second = {0};
	struct sums sums;
	struct gv_shared h;
	double level;
	size_t i;

	for (i = 0; i < p->n; i++) {
		worth[i] = (double)(1 + p->kind[i] * 5 % 7);
		need[i] = p->weight[i] > 1 ? .1 * (double)(1 + p->kind[i] % 3) : 0;
		one[i] = 1;
	}
	for (i = 0; i < p->m; i++) {
		type[i] = .5 + uniform();
		cost[i] = 2 * uniform();
	}
	level = define(p, one, need, NULL, NULL);
	for (i = 0; i < p->n; i++)
		need[i] *= isnan(level) ? 0 : fmin(1, level) * (1 - 1e-10);
	sums = (struct sums){.job = worth, .type = type, .cost = cost};
	gv_classes_make(&c, p, merge);
	f = of_classes(&c, p, worth);
	r = of_classes(&c, p, need);
	job = normalised(&c.p);
	first = (struct gv_shared_gain){f, type, cost};
	second.job = job;
	s.x = gv_xcalloc(c.p.n, c.p.m * sizeof(*s.x));
	gv_shared_init(&h, &c.p, &s);
	h.all = solver == GV_SOLVER_GLPK;
	h.gain = &first;
	h.second = uniform() < .5 ? &second : NULL;
	h.demand = r;
	if (gv_shared_solve(&h, "test", &e) != 0) {
		wrong++;
		printf("# %s\n", e.text[0]);
	} else {
		struct sums of_second = {.job = own};

		compare(h.value, h.bound, define(p, one, need, NULL, &sums),
		    gv_solution_excess(&c.p, &s));
		if (h.second != NULL)
			compare_second(&c.p, &s, job,
			    define_second(p, one, need, &sums,
				h.value - 1e-9 * fmax(1e-1, fabs(h.value)), &of_second));
	}
	gv_shared_free(&h);
	free(s.x);
	free(s.pair);
	free(worth);
	free(cost);
	free(type);
	free(need);
	free(one);
	free(f);
	free(r);
	free(job);
	free(own);
	gv_classes_free(&c);
}

static void
check_random(void)
{
	size_t instance;

	for (instance = 0; instance < many(300); instance++) {
		size_t kinds = 2 + below(7), m = 1 + below(3);
		enum gv_solver solver =
		    instance % 3 == 2 ? GV_SOLVER_GLPK : GV_SOLVER_AUTO;
		bool merge = instance % 2 == 0;
		struct gv_together t;
		struct gv_problem p;

		random_together(&t, kinds, m);
		p = random_problem(1 + below(12), m, kinds, &t);
		check_level(&p, merge, solver);
		check_sum(&p, merge, solver);
		gv_problem_free(&p);
		gv_together_free(&t);
	}
	printf(
	    "# worst difference %g, gap %g, excess %g\n", worst, worst_gap, worst_excess);
	ok(wrong == 0 && cases == 2 * (int)many(300),
	    "levels and sums are those of all pairs (%d of %d)", cases - wrong, cases);
	ok(lacking == 0 && seconds > (int)many(300),
	    "second sums are the best there are: %d of %d, but for %.2g",
	    seconds - lacking, seconds, lowest);
}

/* ---- policies ---- */

/* Numbers that policies ask for, also of jobs that are done and of needs that can be met. */
static void
random_numbers(struct gv_problem *p)
{
	size_t i, j;

	gv_problem_ask(p, 1u << GV_NUMBER_STEPS | 1u << GV_NUMBER_ELAPSED |
			      1u << GV_NUMBER_ISOLATED | 1u << GV_NUMBER_NEED |
			      1u << GV_NUMBER_POSITION);
	for (j = 0; j < p->m; j++)
		p->price[j] = .1 + uniform();
	for (i = 0; i < p->n; i++) {
		p->number[GV_NUMBER_STEPS][i] =
		    i > 0 && uniform() < .1 ? 0 : exp(5 * uniform());
		p->number[GV_NUMBER_ELAPSED][i] = uniform() < .3 ? 0 : 20 * uniform();
		p->number[GV_NUMBER_ISOLATED][i] = uniform() < .3 ? 0 : 20 * uniform();
		p->number[GV_NUMBER_POSITION][i] = (double)i;
		p->number[GV_NUMBER_NEED][i] = uniform() < .3 ? .03 * uniform() : 0;
	}
}

/* A policy's answer to the jobs, by classes. */
static int
ask(const struct gv_policy *policy, const struct gv_problem *p, double *objective,
    double *bound, double *excess)
{
	const struct gv_policy_options opt = {.solve.solver = GV_SOLVER_AUTO};
	struct gv_solution s = {0};
	struct gv_error e = {0};
	struct gv_classes c;
	int rc;

	gv_classes_make(&c, p, true);
	s.x = gv_xcalloc(c.p.n, c.p.m * sizeof(*s.x));
	rc = policy->solve(&c.p, &opt, &s, &e);
	if (rc == 0 &&
	    !(fabs(s.gap - fabs(s.bound - s.objective) /
			       fmax(fabs(s.bound), fabs(s.objective))) <= 1e-11))
		wrong++;
	*objective = s.objective;
	*bound = s.bound;
	*excess = gv_solution_excess(&c.p, &s);
	if (rc < 0)
		printf("# %s: %s\n", policy->name, e.text[0]);
	free(s.x);
	free(s.pair);
	free(s.late);
	gv_classes_free(&c);
	return rc;
}

static void
expect(const struct gv_policy *policy, const struct gv_problem *p, double want)
{
	double got, bound, excess;
	int rc = ask(policy, p, &got, &bound, &excess);
	double gap = policy->minimises ? got - bound : bound - got;
	int before = wrong;

	if (isnan(want)) /* GLPK has not solved the one of all jobs: there is the proof */
		want = bound;

	cases++;
	if (rc != 0 || !(fabs(got - want) <= 1e-9 * fabs(want)) ||
	    !(gap >= -1e-15 * fabs(want) && gap <= 1e-9 * fabs(want)) ||
	    !(excess <= 1e-12))
		wrong++;
	if (wrong > before && wrong < 10)
		printf("# %s: got %.17g, bound %.17g, want %.17g, excess %g, status %d\n",
		    policy->name, got, bound, want, excess, rc);
}

/* The jobs with steps. */
static struct gv_problem
with_steps(const struct gv_problem *p)
{
	bool *keep = gv_xcalloc(p->n, sizeof(*keep));
	struct gv_problem q;
	size_t i;

	for (i = 0; i < p->n; i++)
		keep[i] = p->number[GV_NUMBER_STEPS][i] > 0;
	gv_problem_pick(&q, p, keep);
	free(keep);
	return q;
}

/* The least ratio: where what all need is just what they can have, found by halving. */
static double
define_ratio(const struct gv_problem *all, const struct gv_problem *q, const double *one)
{
	double *x = gv_xcalloc(all->n, all->m * sizeof(*x));
	double *need = gv_xcalloc(q->n, sizeof(*need));
	double *alone = gv_xcalloc(q->n, sizeof(*alone));
	double low = 0, high = 1e6;
	size_t i, k = 0;

	gv_problem_isolated(all, x);
	for (i = 0; i < all->n; i++)
		if (all->number[GV_NUMBER_STEPS][i] > 0)
			alone[k++] = all->number[GV_NUMBER_ISOLATED][i] +
				     all->number[GV_NUMBER_STEPS][i] /
					 gv_problem_throughput(all, x, i);
	while (high - low > 1e-12 * high) {
		double at = low + (high - low) / 2;
		bool possible = true;

		for (i = 0; i < q->n; i++) {
			double left = at * alone[i] - q->number[GV_NUMBER_ELAPSED][i];

			possible = possible && left > 0;
			need[i] = fmax(q->number[GV_NUMBER_STEPS][i] / left,
			    q->number[GV_NUMBER_NEED][i]);
		}
		if (possible && define(q, one, need, NULL, NULL) >= 1)
			high = at;
		else
			low = at;
	}
	free(x);
	free(need);
	free(alone);
	return high;
}

static void
check_levels(const struct gv_problem *p)
{
	const double *need = p->number[GV_NUMBER_NEED];
	double *factor = gv_xcalloc(p->n, sizeof(*factor));
	double *one = gv_xcalloc(p->n, sizeof(*one));
	struct gv_problem q = with_steps(p);
	size_t i;

	gv_problem_equal_throughput(p, factor);
	for (i = 0; i < p->n; i++) {
		factor[i] = p->scale[i] / (p->weight[i] * factor[i]);
		one[i] = 1;
	}
	expect(&gv_policy_max_min, p, define(p, factor, one, need, NULL));
	expect(&gv_policy_makespan, p,
	    1 / define(
		    &q, one, q.number[GV_NUMBER_STEPS], q.number[GV_NUMBER_NEED], NULL));
	expect(&gv_policy_finish_time, p, define_ratio(p, &q, one));
	gv_problem_free(&q);
	free(factor);
	free(one);
}

static void
check_sums(struct gv_problem *p)
{
	double *one = gv_xcalloc(p->n, sizeof(*one));
	double *worth = gv_xcalloc(p->n, sizeof(*worth));
	double *type = gv_xcalloc(p->m, sizeof(*type));
	double *need = p->number[GV_NUMBER_NEED];
	double level, got, bound, excess;
	struct sums sums = {.job = one};
	bool any = false;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double fastest = 0;

		for (j = 0; j < p->m; j++)
			fastest = fmax(fastest, gv_problem_rate(p, i, j));
		worth[i] = ((double)p->n - p->number[GV_NUMBER_POSITION][i]) / fastest;
		one[i] = 1;
		any = any || need[i] > 0;
	}
	for (j = 0; j < p->m; j++)
		type[j] = 3600 / p->price[j];
	level = any ? define(p, one, need, NULL, NULL) : 2;
	if (level < 1 - 1e-9) {
		cases++;
		if (ask(&gv_policy_max_sum, p, &got, &bound, &excess) != 1)
			wrong++;
		for (i = 0; i < p->n; i++)
			need[i] *= .9 * level;
	}
	expect(&gv_policy_max_sum, p, define(p, one, need, NULL, &sums));
	sums.type = type;
	expect(&gv_policy_per_dollar, p, define(p, one, need, NULL, &sums));
	sums = (struct sums){.job = worth};
	expect(&gv_policy_fifo, p, define(p, one, need, NULL, &sums));
	for (j = 0; j < p->m; j++)
		type[j] = p->price[j] / 3600;
	sums = (struct sums){.job = one, .per = type};
	expect(&gv_policy_min_cost, p, define(p, one, need, NULL, &sums));
	free(one);
	free(worth);
	free(type);
}

/* What --dump-lp writes of the policy, job by job, is the program that it solves. */
static void
check_program(const struct gv_policy *policy, const struct gv_problem *p)
{
	struct gv_lp lp = {0};
	struct gv_lp_names names = {0};
	double got, bound, excess, want;
	int rc = ask(policy, p, &got, &bound, &excess);
	bool inverse = policy == &gv_policy_makespan; /* of the seconds of the last */

	policy->program(p, &lp, &names);
	want = optimum(&lp);
	free(names.ctx);
	want = inverse ? 1 / want : want;
	cases++;
	if (rc != 0 || !(fabs(got - want) <= 1e-9 * fabs(want))) {
		wrong++;
		printf("# --dump-lp of %s%s: %.17g, not %.17g\n", policy->name,
		    p->together != NULL ? ", pairs" : "", want, got);
	}
}

static void
check_programs(const struct gv_problem *p)
{
	static const struct gv_policy *const policy[] = {&gv_policy_max_min,
	    &gv_policy_makespan, &gv_policy_max_sum, &gv_policy_min_cost,
	    &gv_policy_per_dollar, &gv_policy_fifo};
	struct gv_problem alone = *p;
	size_t i, k;

	for (i = 0; i < p->n; i++) /* who is done needs nothing */
		if (p->number[GV_NUMBER_STEPS][i] == 0)
			p->number[GV_NUMBER_NEED][i] = 0;
	alone.together = NULL;
	for (k = 0; k < sizeof(policy) / sizeof(policy[0]); k++) {
		check_program(policy[k], p);
		check_program(policy[k], &alone);
	}
}

static void
check_policies(void)
{
	size_t instance, dumped = 0;
	int before;

	wrong = cases = 0;
	for (instance = 0; instance < many(100); instance++) {
		size_t kinds = 2 + below(6), m = 1 + below(3);
		struct gv_together t;
		struct gv_problem p;

		random_together(&t, kinds, m);
		p = random_problem(1 + below(9), m, kinds, &t);
		random_numbers(&p);
		check_sums(&p); /* which also makes needs possible */
		check_levels(&p);
		before = wrong;
		check_programs(&p);
		dumped += wrong == before;
		gv_problem_free(&p);
		gv_together_free(&t);
	}
	ok(wrong == 0 && cases > 6 * (int)many(100),
	    "policies with pairs are what they are defined as (%d of %d)", cases - wrong,
	    cases);
	is_int(
	    dumped, many(100), "and the programs of --dump-lp, with pairs and without");
}

/* ---- units ---- */

/* Steps of a kind in another unit: its rates, alone and in pairs, times size[kind]. */
static void
change_units(struct gv_problem *p, struct gv_together *t, const double *size)
{
	size_t i, j, k;

	for (i = 0; i < p->n; i++) {
		for (j = 0; j < p->m; j++)
			p->rate[i * p->m + j] *= size[p->kind[i]];
		p->number[GV_NUMBER_STEPS][i] *= size[p->kind[i]];
		p->number[GV_NUMBER_NEED][i] *= size[p->kind[i]];
	}
	for (k = 0; k < t->n_kinds; k++)
		for (i = t->first[k]; i < t->first[k + 1]; i++)
			for (j = 0; j < t->m; j++) {
				t->rate[(i * t->m + j) * 2] *= size[k];
				t->rate[(i * t->m + j) * 2 + 1] *= size[t->with[i]];
			}
}

/* What is compared with itself does not change, however far apart the kinds are. */
static void
check_units(void)
{
	static const struct gv_policy *const same[] = {&gv_policy_max_min,
	    &gv_policy_makespan, &gv_policy_finish_time, &gv_policy_fifo};
	size_t instance, k;

	wrong = cases = 0;
	for (instance = 0; instance < many(100); instance++) {
		size_t kinds = 2 + below(6), m = 1 + below(3);
		double before[4], size[8];
		struct gv_together t;
		struct gv_problem p;
		double bound, excess;

		random_together(&t, kinds, m);
		p = random_problem(1 + below(9), m, kinds, &t);
		random_numbers(&p);
		for (k = 0; k < p.n; k++) /* needs that can be met in any unit */
			p.number[GV_NUMBER_NEED][k] *= .01;
		for (k = 0; k < 4; k++)
			wrong += ask(same[k], &p, &before[k], &bound, &excess) != 0;
		for (k = 0; k < 8; k++)
			size[k] = exp(40 * (uniform() - .5)); /* 1e-9 to 1e9 */
		change_units(&p, &t, size);
		for (k = 0; k < 4; k++)
			expect(same[k], &p, before[k]);
		gv_problem_free(&p);
		gv_together_free(&t);
	}
	ok(wrong == 0, "the units of a job's steps do not count (%d of %d)",
	    cases - wrong, cases);
}

/* ---- dealing ---- */

/* Every job of a class has as much of each of its pairs, and so its throughput and time. */
static void
check_dealt(const struct gv_classes *c, const struct gv_problem *p,
    const struct gv_pair *pair, size_t n_pairs, const struct gv_pair *dealt, size_t n)
{
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(*s.x))};
	double *own = gv_xcalloc(p->n, sizeof(*own));
	double *of_class = gv_xcalloc(c->p.n, sizeof(*of_class));
	double most = 0;
	size_t i;

	s.pair = gv_xcalloc(n, sizeof(*s.pair));
	if (n > 0)
		memcpy(s.pair, dealt, n * sizeof(*dealt));
	s.n_pairs = n;
	gv_solution_throughput(p, &s, own);
	free(s.pair);
	free(s.x);
	s.x = gv_xcalloc(c->p.n, c->p.m * sizeof(*s.x));
	s.pair = gv_xcalloc(n_pairs, sizeof(*s.pair));
	memcpy(s.pair, pair, n_pairs * sizeof(*pair));
	s.n_pairs = n_pairs;
	gv_solution_throughput(&c->p, &s, of_class);
	for (i = 0; i < p->n; i++)
		most = fmax(most,
		    fabs(own[i] - of_class[c->of[i]]) / fmax(1e-300, of_class[c->of[i]]));
	for (i = 0; i < n; i++)
		if (dealt[i].a == dealt[i].b || !(dealt[i].x > 0) ||
		    p->kind[dealt[i].a] > p->kind[dealt[i].b])
			wrong++;
	cases++;
	worst = fmax(worst, most);
	if (!(most <= 1e-14))
		wrong++;
	free(s.x);
	free(s.pair);
	free(own);
	free(of_class);
}

static void
check_deal(void)
{
	size_t instance, i, k, n;

	wrong = cases = 0;
	worst = 0;
	for (instance = 0; instance < many(300); instance++) {
		size_t kinds = 1 + below(4), jobs = 2 + below(40), n_pairs = 0, named = 0;
		struct gv_together t = {.n_kinds = kinds, .m = 1};
		struct gv_problem p = random_problem(jobs, 1, kinds, &t);
		size_t *rank = gv_xcalloc(jobs, sizeof(*rank));
		struct gv_pair pair[64], *dealt;
		struct gv_classes c;

		gv_classes_make(&c, &p, true);
		for (i = 0; i < jobs; i++)
			rank[i] = jobs - 1 - i;
		for (i = 0; i < c.p.n; i++)
			for (k = i; k < c.p.n && n_pairs < 64; k++)
				if (uniform() < .5 && (i != k || c.p.count[i] > 1)) {
					bool swap = c.p.kind[i] > c.p.kind[k];
					double rate = 1 + uniform();

					pair[n_pairs++] =
					    (struct gv_pair){swap ? k : i, swap ? i : k,
						0, rate, i == k ? rate : 1 + uniform(),
						.1 + uniform()};
					named += (size_t)(i == k ? c.p.count[i]
								 : c.p.count[i] +
								       c.p.count[k] - 1);
				}
		dealt = gv_disaggregate_pairs(&c, jobs, rank, pair, n_pairs, &n);
		check_dealt(&c, &p, pair, n_pairs, dealt, n);
		if (n > named)
			wrong++;
		free(dealt);
		free(rank);
		gv_classes_free(&c);
		gv_problem_free(&p);
	}
	printf("# worst difference of throughputs %g\n", worst);
	ok(wrong == 0, "jobs get their class's throughput, from few pairs (%d)", cases);
}

int
main(void)
{
	draws_begin(23, 0, 0);
	check_random();
	check_policies();
	check_units();
	check_deal();
	return done_testing();
}
