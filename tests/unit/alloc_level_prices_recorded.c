/*
 * Levels in the space of prices (price/level_prices.c) alone: the search answers as drawn here;
 * what it is asked, and what becomes of it, is what it was.
 */
#include "recorded.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/price/level_prices.h"
#include "lp/tolerance.h"

static int price_level(const struct gv_oracle_jobs *c, const double *capacity,
    struct gv_price_solution *s, struct gv_price_memory *memory);
static double level_gap(const struct gv_problem *p, double bound, double level);

#define gv_price_level price_level
#define gv_level_gap   level_gap
#include "../../common/alloc/price/level_prices.c"

enum { JOBS = 4, TYPES = 3, CELLS = JOBS * TYPES };

static struct recorded *r;

static void
record_columns(const struct gv_oracle_jobs *c, bool gains)
{
	size_t i, j;

	recorded_whole(r, (long long)c->n);
	recorded_whole(r, (long long)c->m);
	recorded_doubles(r, c->use, c->n);
	for (j = 0; j < c->m; j++)
		for (i = 0; i < c->n; i++) {
			recorded_double(r, c->a[j * c->stride + i]);
			recorded_double(r, gains ? c->gain[j * c->stride + i] : 0);
		}
}

static int
price_level(const struct gv_oracle_jobs *c, const double *capacity,
    struct gv_price_solution *s, struct gv_price_memory *memory)
{
	size_t k;

	record_columns(c, false);
	recorded_doubles(r, capacity, c->m);
	recorded_whole(r, s->second_done);
	recorded_double(r, s->effort != NULL ? *s->effort : -1);
	recorded_double(r, s->second_effort);
	if (s->dollars != NULL)
		recorded_doubles(r, s->dollars, c->m - 1);
	recorded_double(r, memory != NULL ? memory->level : -1);
	recorded_whole(r, c->gain != NULL);
	if (c->gain != NULL) {
		s->fill(s->ctx, c);
		record_columns(c, true);
	}
	for (k = 0; k < c->n * c->m; k++)
		s->x[k] = (double)below(3) / 4;
	for (k = 0; k < c->n; k++)
		s->lambda[k] = (double)below(3);
	for (k = 0; k < c->m; k++)
		s->price[k] = (double)below(5) / 4;
	s->second_done = below(2) == 0;
	return below(4) == 0;
}

static double
level_gap(const struct gv_problem *p, double bound, double level)
{
	static const double gap[] = {
	    0, GV_TOL_LEVEL_PROVED, 1.5 * GV_TOL_LEVEL_PROVED, 1e-12};

	recorded_whole(r, (long long)p->n);
	recorded_double(r, bound);
	recorded_double(r, level);
	return gap[below(4)];
}

static void
draw(struct gv_problem *p, double *a)
{
	const size_t n = 1 + below(JOBS);
	size_t i, k;

	gv_problem_alloc(p, n, 1 + below(TYPES));
	for (k = 0; k < p->m; k++) {
		p->capacity[k] = (double)(1 + below(6));
		p->price[k] = (double)below(4) / 2;
	}
	for (i = 0; i < n; i++) {
		p->scale[i] = (double)(1 << below(3));
		p->count[i] = (double)(1 << below(2));
		p->weight[i] = 1;
		for (k = 0; k < p->m; k++)
			p->rate[i * p->m + k] = (double)below(4);
		p->rate[i * p->m + below(p->m)] = 4;
		for (k = 0; k < p->m; k++)
			a[i * p->m + k] = p->rate[i * p->m + k] * (double)(1 + i % 2);
	}
	p->budget = below(2) == 0 ? (double)(1 + below(8)) : 0;
}

static void
ask(void)
{
	double x[CELLS] = {0}, a[CELLS], effort = 64;
	struct gv_price_memory memory = {.level = (double)(1 + below(4))};
	struct gv_solution s = {.x = x};
	bool second_done = false, knows = below(2) == 0;
	struct gv_problem p;
	struct gv_level l;

	draw(&p, a);
	gv_level_init(&l, &p, &s, below(2) == 0);
	l.second_effort = (double)below(9);
	recorded_whole(
	    r, gv_level_by_prices(&p, a, below(2) == 0 ? 1 : .5, &l,
		   knows ? &effort : NULL, knows ? &memory : NULL, &second_done));
	recorded_whole(r, second_done);
	recorded_double(r, memory.level);
	recorded_doubles(r, x, p.n * p.m);
	recorded_doubles(r, l.lambda, p.n);
	recorded_doubles(r, l.price, p.m);
	recorded_double(r, l.budget);
	recorded_double(r, s.objective);
	recorded_double(r, s.bound);
	gv_level_free(&l);
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
		draws_begin(15, (uint32_t)part, 0);
		for (k = 0; k < 300; k++)
			ask();
		recorded_answer(&all, "levels %zu", part);
	}
	recorded_close(&all);
	return done_testing();
}
