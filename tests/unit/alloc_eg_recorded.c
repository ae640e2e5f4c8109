/*
 * Proportional fairness by prices (price/eisenberg_gale.h) over drawn markets: shares, prices and
 * what each job costs the others are what they were; where logarithms come in, to nine digits.
 */
#include "recorded.h"

#include "alloc/price/eg_demand.h"
#include "alloc/price/eisenberg_gale.h"
#include "program_draws.h"

enum { DIGITS = 9 };

static void
ask_demands(struct recorded *r, const struct drawn *d)
{
	double *price = gv_xcalloc(d->m, 4 * sizeof(double)), *unit = price + d->m;
	double *to = unit + d->m;
	struct gv_eg_fixed fixed = {.slope = to + d->m};
	size_t i, j;

	fixed.own = gv_xcalloc(d->m, sizeof(double));
	fixed.pair = gv_xcalloc(d->m * d->m, sizeof(double));
	for (i = 0; i < d->n; i++) {
		const double *a = &d->a[i * d->m];
		struct gv_eg_demand t;

		for (j = 0; j < d->m; j++) {
			price[j] =
			    i % 3 == 0 ? (double)(1 + below(3)) / 4 : .05 + uniform();
			unit[j] = .01 + uniform();
			to[j] = price[j] * (1 + uniform() / 1024);
		}
		t = gv_eg_demand_at(a, d->use[i], price, d->m);
		recorded_whole(r, t.vertex);
		recorded_whole(r, (long long)(t.j * 100 + t.k));
		recorded_double(r, t.l);
		recorded_double(r, t.time);
		recorded_double(r, t.xj);
		recorded_double(r, t.xk);
		recorded_rounded(r, t.value, DIGITS);
		recorded_double(
		    r, gv_eg_demand_radius(&t, a, d->use[i], price, unit, d->m));
		gv_eg_fixed_add(&fixed, &t, a, d->use[i], 1 + (double)(i % 2), d->m);
		recorded_doubles(r, fixed.slope, d->m);
		recorded_doubles(r, fixed.own, d->m);
		recorded_doubles(r, fixed.pair, d->m * d->m);
	}
	/* prices in the order of the types, so that all pairs are apart */
	for (j = 0; j < d->m; j++) {
		price[j] = 1 + (double)j;
		to[j] = price[j] * (1 + uniform() / 64);
	}
	for (j = 0; j < d->m * d->m; j++)
		fixed.pair[j] = j / d->m > j % d->m ? fixed.pair[j] : 0;
	recorded_rounded(r, gv_eg_fixed_change(&fixed, to, price, d->m), DIGITS - 2);
	free(price);
	free(fixed.own);
	free(fixed.pair);
}

static void
ask_market(struct recorded *r, const struct drawn *d, size_t shape)
{
	double *x = gv_xcalloc(d->n * d->m, sizeof(double)),
	       *price = gv_xcalloc(d->m, sizeof(double));
	struct gv_eg_market *k;
	struct gv_problem p;
	size_t i;

	gv_problem_alloc(&p, d->n, d->m);
	memcpy(p.rate, d->a, d->n * d->m * sizeof(double));
	memcpy(p.capacity, d->capacity, d->m * sizeof(double));
	for (i = 0; i < d->n * d->m; i++)
		if (p.capacity[i % d->m] == 0)
			p.rate[i] = 0;
	for (i = 0; i < d->n; i++) {
		p.scale[i] = d->use[i];
		p.weight[i] = 1;
		p.count[i] = shape % 3 == 2 ? (double)(1 + below(3)) : 1;
	}
	k = gv_eg_market_open(&p);
	gv_eg_market_shares(k, x, price);
	for (i = 0; i < d->n * d->m; i++)
		recorded_rounded(r, x[i], DIGITS);
	for (i = 0; i < d->m; i++)
		recorded_rounded(r, price[i], DIGITS);
	for (i = 0; i < d->n; i += 1 + d->n / 8)
		recorded_rounded(r, gv_eg_market_externality(k, i), DIGITS - 1);
	gv_eg_market_free(k);
	gv_problem_free(&p);
	free(x);
	free(price);
}

int
main(void)
{
	static const size_t sizes[] = {1, 2, 3, 5, 9, 16, 30};
	struct recorded r;
	size_t k, m, shape;

	recorded_open(&r);
	for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		for (m = 1; m <= 10; m += 1 + m / 3) {
			for (shape = 0; shape < 36; shape++) {
				struct drawn d;

				draws_begin(k, (uint32_t)m, (uint32_t)shape);
				d = draw_program(sizes[k], m, shape + 12 * (k + m));
				ask_demands(&r, &d);
				if (sizes[k] < 10 || shape % 4 == 0)
					ask_market(&r, &d, shape);
				drawn_free(&d);
			}
			recorded_answer(&r, "%zu jobs, %zu types", sizes[k], m);
		}
	}
	recorded_close(&r);
	return done_testing();
}
