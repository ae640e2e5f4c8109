/*
 * Sums in the space of prices (price/linear_prices.c) alone: searches, programs and proofs answer
 * as drawn here, of numbers that tie, with many values just at a limit; what is asked of them, and
 * what becomes of it, is what it was.
 */
#include "recorded.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/interior/sift.h"
#include "alloc/price/linear_prices.h"
#include "alloc/simplex/simplex.h"
#include "lp/tolerance.h"

static int price_sum(const struct gv_oracle_jobs *c, const double *capacity,
    const double *used, double gain, double level, const double *dollars, double *price,
    double *effort, struct gv_price_memory *memory);
static void sift(const struct gv_interior_program *ip, struct gv_interior_point *to);
static void forget(struct gv_interior_point *s);
static int by_program(
    struct gv_linear *l, bool first, bool second, const char *name, struct gv_error *e);
static double sum_effort(size_t n, size_t m);
static double sum_of(const struct gv_problem *p, const double *gain, const double *x);
static void prove_it(struct gv_linear *l);

#define gv_price_sum          price_sum
#define gv_interior_sift      sift
#define gv_interior_free      forget
#define gv_linear_by_program  by_program
#define gv_simplex_sum_effort sum_effort
#define gv_linear_sum         sum_of
#define gv_linear_prove       prove_it
#include "../../common/alloc/price/linear_prices.c"

static struct recorded *r;
static double drawn_price[8], proof;

static int
price_sum(const struct gv_oracle_jobs *c, const double *capacity, const double *used,
    double gain, double level, const double *dollars, double *price, double *effort,
    struct gv_price_memory *memory)
{
	size_t i, j;

	recorded_doubles(r, c->use, c->n);
	for (j = 0; j < c->m; j++)
		for (i = 0; i < c->n; i++) {
			recorded_double(r, c->a[j * c->stride + i]);
			recorded_double(r, c->gain[j * c->stride + i]);
		}
	recorded_doubles(r, capacity, c->m);
	if (used != NULL)
		recorded_doubles(r, used, c->m);
	recorded_double(r, gain);
	recorded_double(r, level);
	if (dollars != NULL)
		recorded_doubles(r, dollars, c->m - 1);
	recorded_whole(r, memory != NULL);
	memcpy(price, drawn_price, c->m * sizeof(*price));
	if (effort != NULL)
		*effort -= 8;
	return 0;
}

static void
sift(const struct gv_interior_program *ip, struct gv_interior_point *to)
{
	static const double gap[] = {INFINITY, 0, 1e-3, 1e-9, 0, GV_TOL_INTERIOR_NEAR};

	recorded_doubles(r, ip->level, ip->n * ip->m);
	recorded_doubles(r, ip->use, ip->n);
	recorded_doubles(r, ip->gain, ip->n * ip->m);
	if (ip->need != NULL)
		recorded_doubles(r, ip->need, ip->n);
	recorded_doubles(r, ip->capacity, ip->m);
	to->gap = gap[below(6)];
	to->price = gv_xcalloc(ip->m, sizeof(double));
	memcpy(to->price, drawn_price, ip->m * sizeof(double));
}

static void
forget(struct gv_interior_point *s)
{
	free(s->price);
}

static int
by_program(
    struct gv_linear *l, bool first, bool second, const char *name, struct gv_error *e)
{
	const struct gv_problem *p = l->p;
	const double *rows[] = {l->gain, l->size, l->second, p->rate};
	size_t k;

	recorded_whole(r, 2 * first + second);
	recorded_text(r, name);
	for (k = 0; k < 4; k++) {
		recorded_whole(r, rows[k] != NULL);
		if (rows[k] != NULL)
			recorded_doubles(r, rows[k], p->n * p->m);
	}
	if (l->need != NULL)
		recorded_doubles(r, l->need, p->n);
	recorded_doubles(r, p->capacity, p->m);
	recorded_double(r, p->budget);
	for (k = 0; k < p->n * p->m; k++)
		l->s->x[k] = p->rate[k] > 0 ? (double)below(3) / 2 : 0;
	for (k = 0; k < p->m; k++)
		l->price[k] = (double)below(4) / 4;
	l->budget = (double)below(3);
	l->s->second_missed = (double)below(2);
	if (below(4) != 0)
		return 0;
	gv_error_set(e, "no solution");
	return -1;
}

static double
sum_effort(size_t n, size_t m)
{
	recorded_whole(r, (long long)(n * 100 + m));
	return 8;
}

static double
sum_of(const struct gv_problem *p, const double *gain, const double *x)
{
	double sum = 0;
	size_t k;

	for (k = 0; k < p->n * p->m; k++)
		sum += gain[k] * x[k] * p->count[k / p->m];
	recorded_double(r, sum);
	return below(2) == 0 ? sum : 0;
}

/* Bounds as far from what is reached as they may be, and a little farther. */
static void
prove_it(struct gv_linear *l)
{
	static const double times[] = {0, .5, 1, 1.5, 1e9};

	recorded_whole(r, l->s->has_bound);
	recorded_double(r, l->s->objective);
	recorded_doubles(r, l->mu, l->p->n);
	recorded_doubles(r, l->price, l->p->m);
	recorded_double(r, l->budget);
	l->s->bound = l->s->objective + times[below(5)] * proof;
	if (below(2) == 0)
		l->s->bound = l->s->objective * (1 + times[below(5)] * GV_TOL_SUM_PROVED);
}

/* ---- what is drawn ---- */

static void
draw_numbers(struct gv_problem *p, double *need, bool ties)
{
	const double below_1 = 1 - GV_TOL_NEED;
	const double rates[] = {0, 1, 2, 4, below_1, below_1 * below_1, 3};
	const double needs[] = {0, 0, 1, 2, .5, below_1, 1 / below_1, 4, 5, 3};
	size_t i, j, n;

	n = 1 + below(5);
	gv_problem_alloc(p, n, 1 + below(4));
	for (j = 0; j < p->m; j++) {
		p->capacity[j] = (double)(below(5) == 0 ? 0 : 1 + below(8));
		p->price[j] = (double)below(4) / 2;
		drawn_price[j] = (double)below(5) / 4;
	}
	for (; j < 8; j++)
		drawn_price[j] = (double)below(3) / 4;
	for (i = 0; i < p->n; i++) {
		p->scale[i] = (double)(1 << below(3));
		p->count[i] = (double)(1 + below(2));
		p->weight[i] = 1;
		need[i] = ties ? needs[below(10)] : below(2) == 0 ? 0 : uniform();
		for (j = 0; j < p->m; j++)
			p->rate[i * p->m + j] = ties            ? rates[below(7)]
						: below(4) == 0 ? 0
								: 3 * uniform();
		p->rate[i * p->m + below(p->m)] = 4;
	}
	if (below(3) == 0)
		p->budget = (double)(1 + below(16));
}

static void
record(const struct gv_linear *l, int rc)
{
	recorded_whole(r, rc);
	recorded_doubles(r, l->s->x, l->p->n * l->p->m);
	recorded_doubles(r, l->mu, l->p->n);
	recorded_doubles(r, l->price, l->p->m);
	recorded_double(r, l->budget);
	recorded_double(r, l->s->objective);
	recorded_double(r, l->s->bound);
	recorded_double(r, l->s->second_missed);
	recorded_whole(r, l->s->has_bound);
}

/* Which jobs are fixed, where what is as good is a quarter away. */
static void
ask_fixed(struct gv_linear *l)
{
	static const struct near as_good[] = {{0, 0}, {.25, 0}, {0, .25}, {.125, .125}};
	bool is_free[8] = {false};
	struct gv_problem q;
	size_t i;

	recorded_whole(r, fix_jobs(l, drawn_price, &as_good[below(4)], &q, is_free));
	for (i = 0; i < l->p->n; i++)
		recorded_whole(r, is_free[i]);
	recorded_doubles(r, l->s->x, l->p->n * l->p->m);
	recorded_doubles(r, q.rate, q.n * q.m);
	recorded_doubles(r, q.capacity, q.m);
	recorded_double(r, q.budget);
	gv_problem_free(&q);
}

static void
ask(size_t k)
{
	double need[8], gain[32], size[32], second[32], x[32] = {0};
	double effort = (double)(4 * below(8)), *left;
	struct gv_solution s = {.x = x};
	struct gv_price_memory memory = {0};
	struct gv_error e = {0};
	struct gv_problem p;
	struct gv_linear l;
	size_t i;

	draw_numbers(&p, need, k % 3 != 0);
	gv_linear_init(&l, &p, &s);
	for (i = 0; i < p.n * p.m; i++) {
		gain[i] = p.rate[i] > 0 ? (double)below(9) / 4 - .5 : 0;
		size[i] = fabs(gain[i]) + (double)below(3);
		second[i] = (double)below(3);
		x[i] = p.rate[i] > 0 ? (double)below(3) / 2 : 0;
	}
	gain[0] = k % 3 == 0 && p.rate[0] > 0 ? uniform() : gain[0];
	l.gain = gain;
	l.size = below(2) == 0 ? size : NULL;
	l.second = below(2) == 0 ? second : NULL;
	l.need = below(3) != 0 ? need : NULL;
	proof = GV_TOL_SUM_PROVED * (GV_TOL_DIFFERENCE * sum_size(&l));
	left = below(3) != 0 ? &effort : NULL;
	ask_fixed(&l);
	record(&l,
	    gv_linear_by_prices(&l, left, below(2) == 0 ? &memory : NULL, "this", &e));
	recorded_double(r, effort);
	recorded_whole(r, (long long)e.count);
	record(&l, gv_linear_by_interior(&l, "that", &e));
	gv_error_clear(&e);
	gv_linear_free(&l);
	gv_problem_free(&p);
}

int
main(void)
{
	struct recorded all;
	size_t k, part;

	recorded_open(&all);
	r = &all;
	for (part = 0; part < 40; part++) {
		draws_begin(10, (uint32_t)part, 0);
		for (k = 0; k < 1000; k++)
			ask(k);
		recorded_answer(&all, "sums %zu", part);
	}
	recorded_close(&all);
	return done_testing();
}
