/* gv-alloc's prices: the loops over jobs, the mixture of steps, what is left aside. */
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/price/oracle.h"
#include "alloc/price/master.h"
#include "alloc/policy/policy.h"
#include "alloc/price/price.h"
#include "lp/lp.h"

/* ---- the mixture against GLPK ---- */

struct draw {
	size_t m, n;
	bool gains;
	double lo[6], hi[6], used[40][6], gain[40];
};

static void
draw_mixture(struct draw *d)
{
	size_t j, k;

	d->m = 1 + below(6);
	d->n = 1 + below(40);
	d->gains = uniform() < .5;
	for (j = 0; j < d->m; j++) {
		d->lo[j] = uniform() < .5 ? 0 : .1 * uniform();
		d->hi[j] = d->lo[j] + (uniform() < .5 ? .1 : 3) * uniform();
	}
	/* prices of a level sum to 1, which must be possible */
	d->hi[0] = d->gains ? d->hi[0] : 1 + uniform();
	for (k = 0; k < d->n; k++) {
		d->gain[k] = d->gains ? uniform() : 0;
		for (j = 0; j < d->m; j++)
			d->used[k][j] = uniform() < .2 ? 0 : 3 * uniform() * uniform();
		if (k > 0 && uniform() < .1) { /* the same again */
			memcpy(d->used[k], d->used[k - 1], sizeof(d->used[k]));
			d->gain[k] = d->gain[k - 1];
		}
	}
}

/* The program in the words of master.h; its best value. */
static double
by_glpk(const struct draw *d)
{
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution sol = {0};
	struct gv_error e = {0};
	double best;
	size_t j, k, col;

	for (j = 0; j < d->m; j++)
		gv_lp_add_row(&lp, -INFINITY, d->gains ? 1 : 0);
	gv_lp_add_row(&lp, 1, 1);
	if (!d->gains) {
		col = gv_lp_add_col(&lp, -INFINITY, INFINITY, -1);
		for (j = 0; j < d->m; j++)
			gv_lp_set(&lp, j, col, -1);
	}
	for (k = 0; k < d->n; k++) {
		col = gv_lp_add_col(&lp, 0, INFINITY, d->gain[k]);
		for (j = 0; j < d->m; j++)
			gv_lp_set(&lp, j, col, d->used[k][j]);
		gv_lp_set(&lp, d->m, col, 1);
	}
	for (j = 0; j < d->m; j++) {
		lp.row_lo[j] =
		    lp.row_hi[j]; /* unused GPUs give lo, those beyond cost hi */
		col = gv_lp_add_col(&lp, 0, INFINITY, d->lo[j]);
		gv_lp_set(&lp, j, col, 1);
		col = gv_lp_add_col(&lp, 0, INFINITY, -d->hi[j]);
		gv_lp_set(&lp, j, col, -1);
	}
	if (gv_lp_solve(&lp, NULL, NULL, &sol, &e) != 0)
		gv_die_error(&e);
	best = sol.status == GV_LP_OPTIMAL ? sol.check.objective : NAN;
	gv_lp_solution_free(&sol);
	gv_lp_free(&lp);
	return best;
}

static void
test_mixture(void)
{
	int i, failed = 0, bad_sum = 0, bad_weights = 0, bad_prices = 0, bad_kept = 0;
	double effort = 1e15;

	for (i = 0; i < 2000; i++) {
		struct draw d;
		struct gv_price_master p;
		bool keep[40];
		double weights = 0, best;
		size_t j, k;

		draw_mixture(&d);
		best = by_glpk(&d);
		gv_price_master_init(&p, d.m, d.gains, d.lo, d.hi);
		p.effort = &effort;
		for (k = 0; k < d.n; k++) { /* step by step, as it is used */
			gv_price_master_add(&p, d.used[k], d.gain[k]);
			failed += gv_price_master_solve(&p) != 0;
			keep[k] = true;
		}
		bad_sum += !(fabs(p.objective - best) <= 1e-9 * fmax(1, fabs(best)));
		for (k = 0; k < d.n; k++) {
			weights += p.weight[k];
			bad_weights += p.weight[k] < 0;
		}
		bad_weights += !(fabs(weights - 1) <= 1e-12);
		for (j = 0; j < d.m; j++)
			bad_prices +=
			    p.price[j] < d.lo[j] - 1e-9 || p.price[j] > d.hi[j] + 1e-9;
		gv_price_master_keep(&p, keep, d.lo, d.hi);
		failed += gv_price_master_solve(&p) != 0;
		bad_kept += !(fabs(p.objective - best) <= 1e-9 * fmax(1, fabs(best)));
		gv_price_master_free(&p);
	}
	is_int(failed, 0, "2000 mixtures come to their end");
	is_int(bad_sum, 0, "and are as good as GLPK's");
	is_int(bad_weights, 0, "weights sum to 1");
	is_int(bad_prices, 0, "prices stay between their borders");
	is_int(bad_kept, 0, "the same from its steps at once");
	ok(1e15 - effort <= 1.63e7, "in %.0f operations", 1e15 - effort);
}

/* ---- vectors of all kinds ---- */

static struct gv_oracle_jobs
draw_jobs(size_t n, size_t m)
{
	double *a = gv_xcalloc(n, m * sizeof(*a));
	double *gain = gv_xcalloc(n, m * sizeof(*gain));
	double *use = gv_xcalloc(n, sizeof(*use));
	struct gv_oracle_jobs c;
	size_t i, j;

	for (i = 0; i < n; i++) {
		use[i] = (double)(1 + below(8));
		for (j = 0; j < m; j++) {
			double u = uniform();

			a[i * m + j] = u < .2 ? 0 : u < .4 ? 1 : .5 + 2 * uniform();
			gain[i * m + j] = uniform() < .2 ? 0 : 3 * uniform();
		}
		a[i * m + below(m)] = 1 + uniform();
	}
	gv_oracle_jobs_fill(&c, n, m, a, use, gain);
	free(a);
	free(gain);
	free(use);
	return c;
}

/* All that the loops say, as bytes. */
static double *
all_words(const struct gv_oracle_jobs *c, size_t *len)
{
	enum { WORDS = 8 };
	size_t m = c->m, per = WORDS * (3 * m + 3) + 3 * c->n * (m + 1);
	double *said = gv_xcalloc(per, sizeof(*said));
	double *price = gv_xcalloc(4 * m, sizeof(*price));
	double *lo = price + m, *hi = lo + m, *face = hi + m;
	size_t *open = gv_xcalloc(c->n, sizeof(*open));
	struct gv_demand t = {
	    gv_xcalloc(m, sizeof(double)), gv_xcalloc(m, sizeof(double)), 0, 0};
	double *p = said;
	size_t i, j, k;

	for (j = 0; j < m; j++) {
		price[j] = j % 3 == 2 ? 0 : .1 * (double)(j + 1);
		face[j] = j % 2 ? 0 : .3;
		lo[j] = price[j] * .9;
		hi[j] = price[j] * 1.1 + .001;
	}
	for (k = 0; k < 4; k++) {
		const struct gv_dual_point o = {
		    price, k == 3 ? face : NULL, k == 2 ? 0 : 1, k > 0};
		size_t n;

		gv_oracle_demand(c, &o, &t);
		for (j = 0; j < m; j++)
			*p++ = t.used[j];
		*p++ = t.gain;
		*p++ = t.lambda;
		n = gv_oracle_fix(c, &o, lo, hi, .01, &t, open);
		for (j = 0; j < m; j++) {
			*p++ = t.used[j];
			*p++ = t.used_slope[j];
		}
		*p++ = (double)n;
		for (i = 0; i < n; i++)
			p[i % 3] += (double)open[i];
		p += 3;
		if (k < 3) {
			gv_oracle_add_shares(c, &o, .5, p, k == 0 ? p + c->n * m : NULL);
			p += c->n * (m + 1);
		}
	}
	*len = (size_t)(p - said) * sizeof(*said);
	free(price);
	free(open);
	free(t.used);
	free(t.used_slope);
	return said;
}

static void
test_vectors(void)
{
	static const int lanes[] = {8, 4};
	size_t i, k;

	for (i = 0; i < 2; i++) {
		int differ = 0;

		if (!gv_oracle_force(lanes[i])) {
			skip("no %s on this CPU: vectors of %d numbers",
			    lanes[i] == 8 ? "avx512" : "avx2", lanes[i]);
			continue;
		}
		for (k = 0; k < 60; k++) {
			struct gv_oracle_jobs c =
			    draw_jobs(1 + below(k < 50 ? 40 : 5000), 1 + below(5));
			size_t len, len_c;
			double *v, *one;

			gv_oracle_force(lanes[i]);
			v = all_words(&c, &len);
			gv_oracle_force(1);
			one = all_words(&c, &len_c);
			differ += len != len_c || memcmp(v, one, len) != 0;
			free(v);
			free(one);
			gv_oracle_jobs_free(&c);
		}
		is_int(differ, 0, "vectors of %d numbers and of 1 give the same bits",
		    lanes[i]);
	}
	gv_oracle_force(0);
}

/* ---- many jobs ---- */

/* kinds > 0: rates in proportion to so many jobs', a problem full of ties. */
static struct gv_problem
draw_problem(size_t n, size_t m, size_t kinds, double gpus)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, 1u << GV_NUMBER_STEPS | 1u << GV_NUMBER_ELAPSED |
			       1u << GV_NUMBER_ISOLATED | 1u << GV_NUMBER_NEED);
	for (j = 0; j < m; j++) {
		p.capacity[j] = ceil((double)n * gpus * (.5 + uniform()));
		p.price[j] = .1 + uniform();
	}
	for (i = 0; i < n; i++) {
		double fast = exp(2 * uniform());

		p.count[i] = 1;
		p.scale[i] = (double)(1 << below(4));
		p.weight[i] = .5 + uniform();
		p.number[GV_NUMBER_STEPS][i] = exp(4 * uniform());
		p.number[GV_NUMBER_ELAPSED][i] = 5 * uniform();
		p.number[GV_NUMBER_ISOLATED][i] = 5 * uniform();
		for (j = 0; j < m; j++)
			if (kinds > 0 && i >= kinds)
				p.rate[i * m + j] = fast * p.rate[i % kinds * m + j];
			else if (j == i % m || uniform() < .8)
				p.rate[i * m + j] = exp(2 * uniform());
	}
	return p;
}

/* Solves by prices; the gap, INFINITY where it gave up. */
static double
gap_of(const struct gv_policy *policy, const struct gv_problem *p, double *x)
{
	const struct gv_policy_options opt = {.solve.solver = GV_SOLVER_PRICE};
	struct gv_solution s = {.x = x};
	struct gv_error e = {0};

	memset(x, 0, p->n * p->m * sizeof(*x));
	if (policy->solve(p, &opt, &s, &e) != 0 || gv_problem_excess(p, x) > 1e-9)
		return INFINITY;
	return s.gap;
}

static void
test_many(void)
{
	static const struct gv_policy *const some[] = {&gv_policy_max_min,
	    &gv_policy_makespan, &gv_policy_max_sum, &gv_policy_finish_time};
	static const double gpus[] = {.02, .2, 2};
	int i, differ = 0;
	double worst = 0;

	for (i = 0; i < 36; i++) {
		size_t n = i % 6 == 5 ? 20000 : 300 + below(6000);
		struct gv_problem p = draw_problem(
		    n, 1 + below(i % 6 == 5 ? 3 : 5), i % 4 == 0 ? 7 : 0, gpus[i % 3]);
		double *x = gv_xcalloc(2 * n, p.m * sizeof(*x));
		double *y = x + n * p.m;

		worst = fmax(worst, gap_of(some[i % 4], &p, x));
		gv_oracle_force(1);
		gap_of(some[i % 4], &p, y);
		gv_oracle_force(0);
		differ += memcmp(x, y, n * p.m * sizeof(*x)) != 0;
		free(x);
		gv_problem_free(&p);
	}
	ok(worst <= 1e-9, "300 to 20000 jobs: proved (worst gap %.2g)", worst);
	is_int(differ, 0, "the same bits from vectors of 1 number");
}

/* ---- from where it was ---- */

struct found {
	struct gv_price_solution s;
	size_t n, m;
};

static void
solve_jobs(struct found *f, const struct gv_oracle_jobs *c, const double *capacity,
    struct gv_price_memory *memory)
{
	f->n = c->n;
	f->m = c->m;
	f->s = (struct gv_price_solution){.second_done = true,
	    .x = gv_xcalloc(c->n, c->m * sizeof(double)),
	    .lambda = gv_xcalloc(c->n, sizeof(double)),
	    .price = gv_xcalloc(c->m, sizeof(double))};
	gv_price_level(c, capacity, &f->s, memory);
}

static bool
same_found(const struct found *a, const struct found *b)
{
	return memcmp(a->s.x, b->s.x, a->n * a->m * sizeof(double)) == 0 &&
	       memcmp(a->s.lambda, b->s.lambda, a->n * sizeof(double)) == 0 &&
	       memcmp(a->s.price, b->s.price, a->m * sizeof(double)) == 0 &&
	       a->s.level == b->s.level && a->s.bound == b->s.bound;
}

static void
free_found(struct found *f)
{
	free(f->s.x);
	free(f->s.lambda);
	free(f->s.price);
}

/* One job changes; sooner and no other than without memory. */
static void
test_memory(void)
{
	static const double gpus[] = {.02, .2, 2};
	int i, k, differ = 0, known = 0, asked = 0;
	long warm_steps = 0, cold_steps = 0;

	for (i = 0; i < 40; i++) {
		size_t n = 300 + below(i % 8 == 7 ? 12000 : 3000), m = 1 + below(4), j;
		struct gv_oracle_jobs c = draw_jobs(n, m);
		struct gv_price_memory memory = {.m = m};
		double capacity[4];

		for (j = 0; j < n * m && i % 4 != 3; j++) /* else full of ties */
			if (c.a[j % m * c.stride + j / m] == 1)
				c.a[j % m * c.stride + j / m] = 1.5 + uniform();
		for (j = 0; j < m; j++)
			capacity[j] = ceil((double)n * gpus[i % 3] * (.5 + uniform()));
		for (k = 0; k < 6; k++) {
			struct found warm, cold;

			known += memory.capacity_price != NULL ||
				 memory.gain_capacity_price != NULL;
			asked++;
			solve_jobs(&warm, &c, capacity, &memory);
			solve_jobs(&cold, &c, capacity, NULL);
			differ += !same_found(&warm, &cold);
			warm_steps += warm.s.n_evaluations;
			cold_steps += cold.s.n_evaluations;
			free_found(&warm);
			free_found(&cold);
			c.use[below(n)] = k % 2 ? 0 : 4; /* one leaves, or is another */
		}
		gv_price_forget(&memory);
		gv_oracle_jobs_free(&c);
	}
	is_int(differ, 0, "what was found before changes no bit of 240 answers");
	ok(known > asked / 2, "it is mostly known (%d of %d)", known, asked);
	ok(warm_steps <= 3700 && cold_steps <= 5320, "and saves steps (%ld, not %ld)",
	    warm_steps, cold_steps);
}

int
main(void)
{
	draws_begin(23, 0, 0);
	test_mixture();
	test_vectors();
	test_many();
	test_memory();
	return done_testing();
}
