/* gv-alloc --certify: exact numbers, and certificates of right and of spoilt answers. */
#include "tap.h"

#include <float.h>
#include <stdlib.h>

#include "alloc_help.h"
#include "base/num.h"
#include "alloc/prove/certificate.h"
#include "alloc/prove/exact.h"

/* Of any size and sign. */
static double
any_double(void)
{
	return ldexp(2 * uniform() - 1, (int)below(400) - 200);
}

/* ---- exact numbers ---- */

static void
test_sums(void)
{
	struct gv_exact x, y, z;
	size_t wrong = 0;
	int k;

	gv_exact_init(&x);
	gv_exact_init(&y);
	gv_exact_init(&z);
	for (k = 0; k < 2000; k++) {
		double a = any_double(), b = any_double(), c = any_double();

		/* (a + b) c - a c = b c */
		gv_exact_set_double(&x, a);
		gv_exact_set_double(&y, b);
		gv_exact_add(&x, &x, &y);
		gv_exact_mul_double(&x, &x, c);
		gv_exact_add_product(&x, -a, c);
		gv_exact_mul_double(&y, &y, c);
		wrong += gv_exact_compare(&x, &y) != 0;
		gv_exact_sub(&x, &x, &y);
		wrong += gv_exact_sign(&x) != 0;
		wrong +=
		    gv_exact_double(&y, GV_EXACT_DOWN) > gv_exact_double(&y, GV_EXACT_UP);
		/* b c is within those, and they are neighbours */
		gv_exact_set_double(&x, gv_exact_double(&y, GV_EXACT_DOWN));
		gv_exact_set_double(&z, gv_exact_double(&y, GV_EXACT_UP));
		wrong += gv_exact_compare(&x, &y) > 0 || gv_exact_compare(&z, &y) < 0;
		wrong += nextafter(gv_exact_double(&y, GV_EXACT_DOWN), HUGE_VAL) <
			 gv_exact_double(&y, GV_EXACT_UP);
	}
	is_int(wrong, 0, "sums, products and comparisons have no rounding");
	for (wrong = 0, k = 0; k < 200; k++) {
		/* also of odd last digits */
		const double number =
		    k < 100 ? k - 50 : nextafter(any_double(), HUGE_VAL);

		gv_exact_set_double(&x, number);
		wrong += gv_exact_double(&x, GV_EXACT_DOWN) != number ||
			 gv_exact_double(&x, GV_EXACT_UP) != number;
	}
	is_int(wrong, 0, "what is a double comes back");
	gv_exact_free(&x);
	gv_exact_free(&y);
	gv_exact_free(&z);
}

static void
test_quotients(void)
{
	struct gv_exact a, b, low, high;
	size_t wrong = 0;
	int k;

	gv_exact_init(&a);
	gv_exact_init(&b);
	gv_exact_init(&low);
	gv_exact_init(&high);
	for (k = 0; k < 2000; k++) {
		gv_exact_set_double(&a, any_double());
		gv_exact_set_double(&b, any_double());
		gv_exact_div(&low, &a, &b, GV_EXACT_DOWN);
		gv_exact_div(&high, &a, &b, GV_EXACT_UP);
		wrong += gv_exact_compare(&low, &high) > 0;
		gv_exact_sub(&high, &high, &low); /* the width, against 2^-190 of it */
		gv_exact_mul_double(&high, &high, 0x1p190);
		if (gv_exact_sign(&low) < 0)
			gv_exact_mul_double(&low, &low, -1);
		wrong += gv_exact_compare(&high, &low) > 0;
	}
	gv_exact_set_double(&a, 1);
	gv_exact_set_double(&b, 3);
	gv_exact_div(&low, &a, &b, GV_EXACT_DOWN);
	ok(gv_exact_double(&low, GV_EXACT_DOWN) == 1. / 3 &&
		gv_exact_double(&low, GV_EXACT_UP) == nextafter(1. / 3, 1),
	    "a third lies between two doubles");
	gv_exact_set_double(&b, -7);
	gv_exact_div(&low, &a, &b, GV_EXACT_UP);
	gv_exact_mul_double(&low, &low, 7);
	ok(gv_exact_compare(&low, &a) < 0 && gv_exact_sign(&low) < 0,
	    "up is towards +infinity");
	is_int(wrong, 0, "quotients lie between their roundings, 190 bits apart");
	gv_exact_free(&a);
	gv_exact_free(&b);
	gv_exact_free(&low);
	gv_exact_free(&high);
}

static void
test_ends(void)
{
	struct gv_exact x;

	gv_exact_init(&x);
	gv_exact_set_double(&x, DBL_MAX);
	gv_exact_add(&x, &x, &x);
	ok(gv_exact_double(&x, GV_EXACT_UP) == HUGE_VAL &&
		gv_exact_double(&x, GV_EXACT_DOWN) == DBL_MAX,
	    "more than any double");
	gv_exact_mul_double(&x, &x, -1);
	ok(gv_exact_double(&x, GV_EXACT_UP) == -DBL_MAX &&
		gv_exact_double(&x, GV_EXACT_DOWN) == -HUGE_VAL,
	    "less than any");
	gv_exact_set_double(&x, 0x1p-1074);
	gv_exact_mul_double(&x, &x, .25);
	ok(gv_exact_double(&x, GV_EXACT_UP) == 0x1p-1074 &&
		gv_exact_double(&x, GV_EXACT_DOWN) == 0,
	    "next to nothing");
	gv_exact_set_double(&x, 0x1p-1000);
	gv_exact_mul_double(&x, &x, 0x1.8p-1000);
	gv_exact_mul_double(&x, &x, 0x1p-1000);
	ok(gv_exact_double(&x, GV_EXACT_UP) == 0x1p-1074 &&
		gv_exact_double(&x, GV_EXACT_DOWN) == 0,
	    "still less");
	gv_exact_set_double(&x, DBL_MAX);
	gv_exact_mul_double(&x, &x, DBL_MAX);
	gv_exact_mul_double(&x, &x, DBL_MAX);
	ok(gv_exact_double(&x, GV_EXACT_UP) == HUGE_VAL &&
		gv_exact_double(&x, GV_EXACT_DOWN) == DBL_MAX,
	    "still more");
	gv_exact_mul_double(&x, &x, -1);
	ok(gv_exact_double(&x, GV_EXACT_UP) == -DBL_MAX &&
		gv_exact_double(&x, GV_EXACT_DOWN) == -HUGE_VAL,
	    "on both sides");
	gv_exact_mul_double(&x, &x, 0);
	ok(gv_exact_double(&x, GV_EXACT_UP) == 0 &&
		gv_exact_double(&x, GV_EXACT_DOWN) == 0,
	    "nothing of that is nothing");
	gv_exact_free(&x);
}

/* One unit in the last of so many bits beside a power of two, whatever its size. */
static void
test_long(void)
{
	static const int bits[] = {53, 54, 64, 200, 554, 1500, 2600};
	size_t wrong = 0, k;
	int e;

	for (k = 0; k < sizeof(bits) / sizeof(*bits); k++)
		for (e = -1000; e <= 1000; e += 50) {
			const double power = ldexp(1, e);
			struct gv_exact x, y;
			int i;

			gv_exact_init(&x);
			gv_exact_init(&y);
			gv_exact_set_double(&x, power);
			gv_exact_set_double(&y, power);
			for (i = 0; i < bits[k]; i += 50)
				gv_exact_mul_double(&y, &y, 0x1p-50);
			gv_exact_add(&x, &x, &y);
			wrong += gv_exact_double(&x, GV_EXACT_DOWN) != power;
			wrong += gv_exact_double(&x, GV_EXACT_UP) !=
				 nextafter(power, HUGE_VAL);
			gv_exact_free(&x);
			gv_exact_free(&y);
		}
	is_int(wrong, 0, "numbers of many bits lie between two doubles");
}

/* ---- certificates ---- */

static struct gv_problem
random_problem(const struct gv_policy *policy)
{
	struct gv_problem p;
	size_t n = 1 + below(12), m = 1 + below(4);
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, policy->numbers);
	for (j = 0; j < m; j++) {
		p.capacity[j] = (double)(1 + below(9));
		p.price[j] = .1 + uniform();
	}
	p.capacity[0] = 9;
	p.budget = uniform() < .5 ? 0 : .5 + 5 * uniform();
	for (i = 0; i < n; i++) {
		p.count[i] = (double)(1 + below(3));
		p.scale[i] = (double)(1 + below(4));
		p.weight[i] = uniform() < .5 ? 1 : .25 + 4 * uniform();
		for (j = 0; j < m; j++)
			if (p.scale[i] <= p.capacity[j] && (j == 0 || uniform() < .8))
				p.rate[i * m + j] = exp(5 * uniform());
		draw_numbers(&p, i, .3);
	}
	return p;
}

static struct gv_solution
solve(const struct gv_policy *policy, const struct gv_problem *p, enum gv_solver solver)
{
	struct gv_solution s = solve_rows(policy, p, solver);

	gv_problem_trim(p, s.x);
	return s;
}

/* v as it is printed, times 10^400, added times to sum. */
static void
add_printed(mpz_t sum, double v, double times)
{
	char text[GV_NUM_LEN], digits[GV_NUM_LEN + 400] = "";
	size_t n = 0, behind = 0;
	long power = 0;
	const char *c;
	mpz_t x;

	gv_format_double(text, v);
	for (c = text; *c != '\0' && *c != 'e'; c++)
		if (*c == '.')
			behind = 1;
		else
			digits[n++] = *c, power += behind > 0;
	power = 400 - power + (*c == 'e' ? atol(c + 1) : 0);
	while (power-- > 0)
		digits[n++] = '0';
	digits[n] = '\0';
	mpz_init_set_str(x, digits, 10);
	mpz_addmul_ui(sum, x, (unsigned long)times);
	mpz_clear(x);
}

/* Constraints that the shares' decimals break, in whole numbers. */
static size_t
decimals_over(const struct gv_problem *p, const struct gv_solution *s)
{
	mpz_t sum, limit;
	size_t i, j, over = 0;

	mpz_inits(sum, limit, NULL);
	for (i = 0; i < p->n; i++) {
		mpz_set_ui(sum, 0);
		for (j = 0; j < p->m; j++)
			add_printed(sum, s->x[i * p->m + j], 1);
		mpz_ui_pow_ui(limit, 10, 400);
		over += mpz_cmp(sum, limit) > 0;
	}
	for (j = 0; j < p->m; j++) {
		mpz_set_ui(sum, 0);
		for (i = 0; i < p->n; i++)
			add_printed(sum, s->x[i * p->m + j], p->count[i] * p->scale[i]);
		mpz_ui_pow_ui(limit, 10, 400);
		mpz_mul_ui(limit, limit, (unsigned long)p->capacity[j]);
		over += mpz_cmp(sum, limit) > 0;
	}
	mpz_clears(sum, limit, NULL);
	return over;
}

struct seen {
	size_t decimals;  /* as printed, constraints that were not kept */
	size_t over;      /* shares of a constraint that were not kept */
	double gap;       /* the widest */
	double objective; /* how far from what the policy says, relative */
	double shortfall; /* of needs */
	size_t below;     /* bounds better than proved otherwise: wrong theorems */
	size_t unnoticed; /* spoilt shares that passed */
	size_t not_wider; /* lower shares that did not widen the gap */
	size_t spoilt, lowered;
};

static bool
better(const struct gv_policy *policy, double a, double b)
{
	return policy->minimises ? a < b : a > b;
}

/* Multipliers that are wrong prove less. */
static void
spoil_multipliers(const struct gv_policy *policy, const struct gv_problem *p,
    struct gv_solution *s, const struct gv_certificate *right, struct seen *seen)
{
	double how = uniform();
	struct gv_certificate c;
	size_t i;

	for (i = 0; i < p->m; i++)
		s->multipliers.gpu[i] *= how < .3 ? uniform() : 1 + .01 * uniform();
	for (i = 0; i < p->n; i++)
		s->multipliers.job[i] = how < .1   ? uniform()
					: how < .6 ? s->multipliers.job[i] * uniform()
						   : s->multipliers.job[i];
	gv_certificate_make(&c, p, policy->measure, s);
	if (isfinite(c.gap) && c.shortfall == 0)
		seen->below += better(policy, right->objective, c.bound);
}

/* A share more than there is; a job at the bottom with less than it had. */
static void
spoil_shares(const struct gv_policy *policy, const struct gv_problem *p,
    struct gv_solution *s, const struct gv_certificate *right, struct seen *seen)
{
	struct gv_certificate c;
	size_t at = below(p->n * p->m);
	double before = s->x[at];
	double sum = 0;
	size_t j;

	for (j = 0; j < p->m; j++)
		sum += s->x[at / p->m * p->m + j];
	s->x[at] += 1 - sum + 4 * DBL_EPSILON;
	gv_certificate_make(&c, p, policy->measure, s);
	seen->unnoticed += c.excess == 0;
	s->x[at] = -1e-300;
	gv_certificate_make(&c, p, policy->measure, s);
	seen->unnoticed += c.excess == 0;
	seen->spoilt += 2;
	s->x[at] = before;
	for (j = 0; j < p->n * p->m; j++)
		s->x[j] *= 1 - 1e-9;
	gv_certificate_make(&c, p, policy->measure, s);
	/* a part of the time less is no part of the ratio less */
	if (policy->measure != GV_MEASURE_ALONE && policy->measure != GV_MEASURE_RATIO &&
	    right->objective > 0) {
		seen->lowered++;
		seen->not_wider += !(c.gap > .9e-9);
	}
	for (j = 0; j < p->n * p->m; j++)
		s->x[j] /= 1 - 1e-9;
}

static void
test_policy(const struct gv_policy *policy, enum gv_solver solver)
{
	struct seen seen = {0};
	int k;

	for (k = 0; k < 150; k++) {
		struct gv_problem p = random_problem(policy);
		struct gv_solution s = solve(policy, &p, solver);
		struct gv_certificate c;

		gv_certificate_make(&c, &p, policy->measure, &s);
		seen.over += c.excess != 0;
		seen.decimals += decimals_over(&p, &s);
		seen.gap = fmax(seen.gap, c.gap);
		seen.shortfall = fmax(seen.shortfall, c.shortfall);
		seen.objective = fmax(seen.objective,
		    fabs(c.objective - s.objective) / fmax(s.objective, DBL_MIN));
		spoil_shares(policy, &p, &s, &c, &seen);
		spoil_multipliers(policy, &p, &s, &c, &seen);
		solution_free(&s);
		gv_problem_free(&p);
	}
	is_int(seen.over, 0, "%s: shares keep all constraints, exactly", policy->name);
	is_int(seen.decimals, 0, "%s: so do the decimals that are printed", policy->name);
	ok(seen.gap <= 1e-10, "%s: proved: %g", policy->name, seen.gap);
	ok(seen.shortfall <= 1e-9, "%s: needs are met: %g", policy->name, seen.shortfall);
	ok(seen.objective <= 1e-13, "%s: the objective that the policy says: %g",
	    policy->name, seen.objective);
	is_int(seen.unnoticed, 0, "%s: no share too many passes, of %zu", policy->name,
	    seen.spoilt);
	is_int(seen.not_wider, 0, "%s: shares 1e-9 too small widen the gap, of %zu",
	    policy->name, seen.lowered);
	is_int(seen.below, 0, "%s: wrong multipliers prove nothing false", policy->name);
}

/* The paper's example, by hand: 8/11 is no double, so the bound is the next above. */
static void
test_paper(void)
{
	struct gv_problem p = paper_problem();
	struct gv_solution s = solve(&gv_policy_max_min, &p, GV_SOLVER_AUTO);
	struct gv_certificate c;

	s.multipliers.gpu[0] = 3;
	s.multipliers.gpu[1] = 1;
	s.multipliers.job[0] = 3. / 40; /* rounded, which the bound shows */
	s.multipliers.job[1] = 3. / 12;
	s.multipliers.job[2] = 1. / 25;
	gv_certificate_make(&c, &p, GV_MEASURE_LEVEL, &s);
	ok(c.bound * 11 >= 8 && c.bound <= 8. / 11 + 1e-15, "8/11 is proved: %.17g",
	    c.bound);
	ok(c.objective * 11 <= 8 && c.objective >= 8. / 11 - 1e-15, "and reached: %.17g",
	    c.objective);
	memset(s.multipliers.job, 0, 3 * sizeof(*s.multipliers.job));
	gv_certificate_make(&c, &p, GV_MEASURE_LEVEL, &s);
	ok(isinf(c.gap), "no multipliers prove nothing");
	solution_free(&s);
	gv_problem_free(&p);
}

int
main(void)
{
	gv_init("certificate");
	draws_begin(29, 0, 0);
	test_sums();
	test_quotients();
	test_ends();
	test_long();
	test_paper();
	for_programs(test_policy);
	return done_testing();
}
