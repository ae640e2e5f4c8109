/*
 * gv-alloc's programs of pairs: the level and the sums against one linear program of
 * all jobs and all pairs, written here from the definitions; and what every
 * allocation keeps.
 */
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "gv-alloc/classes.h"
#include "gv-alloc/shared.h"

static uint64_t drawn;

static double
uniform(void)
{
	return gv_random_uniform(23, 0, 0, drawn++);
}

static size_t
below(size_t n)
{
	return (size_t)(uniform() * (double)n);
}

/* A random table of kinds, of which every second shares; two scales. */
static void
random_together(struct together *t, size_t kinds, size_t m)
{
	struct together_entry *entry = gv_xcalloc(kinds * kinds * m, sizeof(*entry));
	size_t a, b, j, n = 0;

	for (a = 0; a < kinds; a++)
		for (b = a; b < kinds; b++) {
			if (a % 2 != b % 2 || uniform() < .2)
				continue; /* other scales, or not measured */
			for (j = 0; j < m; j++) {
				if (uniform() < .1)
					continue;
				entry[n++] = (struct together_entry){.a = (uint32_t)a,
				    .b = (uint32_t)b,
				    .type = (uint32_t)j,
				    .rate_a = uniform() < .1 ? 0 : .2 + uniform(),
				    .rate_b = .2 + uniform()};
			}
		}
	together_make(t, kinds, m, entry, n);
	free(entry);
}

/* Jobs of kinds; alone about as fast as in the table, which is what makes sharing worth while. */
static struct problem
random_problem(size_t n, size_t m, size_t kinds, const struct together *t)
{
	struct problem p;
	size_t i, j;

	problem_alloc(&p, n, m);
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
};

static double
gain(const struct sums *g, size_t i, size_t j)
{
	return g->job[i] * (g->type != NULL ? g->type[j] : 1);
}

/* Column of a pair of jobs on a type. */
static void
define_pair(struct gv_lp *lp, const struct problem *p, const double *factor,
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

/*
 * max t, or the sum while f thr >= be; every job a row, every two jobs a pair, looked up
 * in either order.
 */
static double
define(const struct problem *p, const double *factor, const double *rise,
    const struct sums *g)
{
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution sol;
	struct gv_error e = {0};
	size_t i, j, k;
	double best;

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
			double rate = problem_rate(p, i, j);
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
			size_t at = together_find(p->together, p->kind[i], p->kind[k]);

			for (j = 0; j < p->m && at != SIZE_MAX; j++) {
				const double *r = &p->together->rate[(at * p->m + j) * 2];

				if (r[0] > 0)
					define_pair(
					    &lp, p, factor, g, low, i + k - low, j, r);
			}
		}
	}
	if (gv_lp_solve(&lp, NULL, NULL, &sol, &e) != 0 || sol.status != GV_LP_OPTIMAL)
		best = NAN;
	else
		best = sol.check.objective;
	gv_lp_solution_free(&sol);
	gv_lp_free(&lp);
	return best;
}

/* ---- against them ---- */

static int wrong, cases;
static double worst, worst_gap, worst_excess;

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
normalised(const struct problem *p)
{
	double *job = gv_xcalloc(p->n, sizeof(*job));
	size_t i;

	problem_equal_throughput(p, job);
	for (i = 0; i < p->n; i++)
		job[i] = p->scale[i] / job[i];
	return job;
}

/* Takes the jobs' numbers to their classes. */
static double *
of_classes(const struct classes *c, const struct problem *p, const double *v)
{
	double *to = gv_xcalloc(c->p.n, sizeof(*to));
	size_t i;

	for (i = 0; i < p->n; i++)
		to[c->of[i]] = v[i];
	return to;
}

static void
check_level(const struct problem *p, bool merge, enum solver solver)
{
	const struct solve_options opt = {.solver = solver};
	struct solution s = {0};
	struct gv_error e = {0};
	struct shared_gain second = {0};
	struct shared h;
	struct classes c;
	double *factor = gv_xcalloc(p->n, sizeof(*factor));
	double *rise = gv_xcalloc(p->n, sizeof(*rise));
	double *f, *r, *job;
	double want;
	size_t i;

	problem_equal_throughput(p, factor);
	for (i = 0; i < p->n; i++) {
		factor[i] = p->scale[i] / (p->weight[i] * factor[i]);
		rise[i] = p->weight[i] > 1 || p->kind[i] < 3 ? 1 : 0;
	}
	rise[0] = 1;
	for (i = 1; i < p->n; i++) /* alike jobs ask alike */
		if (p->kind[i] == p->kind[0])
			rise[i] = 1;
	classes_make(&c, p, merge);
	f = of_classes(&c, p, factor);
	r = of_classes(&c, p, rise);
	job = normalised(&c.p);
	second.job = job;
	s.x = gv_xcalloc(c.p.n, c.p.m * sizeof(*s.x));
	shared_init(&h, &c.p, &s);
	h.factor = f;
	h.rise = r;
	h.second = &second;
	want = define(p, factor, rise, NULL);
	if (shared_solve(&h, &opt, "test", &e) != 0)
		wrong++;
	else
		compare(h.value, h.bound, want, solution_excess(&c.p, &s));
	shared_free(&h);
	free(s.x);
	free(s.pair);
	free(factor);
	free(rise);
	free(f);
	free(r);
	free(job);
	classes_free(&c);
}

/* A sum of gains that may be below 0, while some need half of what they could have alone. */
static void
check_sum(const struct problem *p, bool merge, enum solver solver)
{
	const struct solve_options opt = {.solver = solver};
	struct solution s = {0};
	struct gv_error e = {0};
	struct classes c;
	double *worth = gv_xcalloc(p->n, sizeof(*worth));
	double *cost = gv_xcalloc(p->m, sizeof(*cost));
	double *type = gv_xcalloc(p->m, sizeof(*type));
	double *need = gv_xcalloc(p->n, sizeof(*need));
	double *one = gv_xcalloc(p->n, sizeof(*one));
	double *f, *r, *job;
	struct shared_gain first, second = {0};
	struct sums sums;
	struct shared h;
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
	level = define(p, one, need, NULL);
	for (i = 0; i < p->n; i++)
		need[i] *= isnan(level) ? 0 : fmin(1, level) * (1 - 1e-10);
	sums = (struct sums){worth, type, cost};
	classes_make(&c, p, merge);
	f = of_classes(&c, p, worth);
	r = of_classes(&c, p, need);
	job = normalised(&c.p);
	first = (struct shared_gain){f, type, cost};
	second.job = job;
	s.x = gv_xcalloc(c.p.n, c.p.m * sizeof(*s.x));
	shared_init(&h, &c.p, &s);
	h.gain = &first;
	h.second = uniform() < .5 ? &second : NULL;
	h.rise = r;
	if (shared_solve(&h, &opt, "test", &e) != 0) {
		wrong++;
		printf("# %s\n", e.text[0]);
	} else {
		compare(h.value, h.bound, define(p, one, need, &sums),
		    solution_excess(&c.p, &s));
	}
	shared_free(&h);
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
	classes_free(&c);
}

static void
check_random(void)
{
	size_t instance;

	for (instance = 0; instance < 300; instance++) {
		size_t kinds = 2 + below(7), m = 1 + below(3);
		enum solver solver = instance % 3 == 2 ? SOLVER_GLPK : SOLVER_AUTO;
		bool merge = instance % 2 == 0;
		struct together t;
		struct problem p;

		random_together(&t, kinds, m);
		p = random_problem(1 + below(12), m, kinds, &t);
		check_level(&p, merge, solver);
		check_sum(&p, merge, solver);
		problem_free(&p);
		together_free(&t);
	}
	printf(
	    "# worst difference %g, gap %g, excess %g\n", worst, worst_gap, worst_excess);
	ok(wrong == 0 && cases == 600,
	    "levels and sums are those of all pairs (%d of %d)", cases - wrong, cases);
}

int
main(void)
{
	check_random();
	return done_testing();
}
