/*
 * Levels by the interior-point method (interior/level_interior.c) alone: points, vertices and
 * proofs are drawn here, with many values just at a limit; what is asked for, and what becomes of
 * it, is what it was.
 */
#include "recorded.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/interior/level_interior.h"
#include "alloc/interior/sift.h"
#include "alloc/interior/vertex.h"
#include "lp/tolerance.h"

static void sift(const struct gv_interior_program *ip, struct gv_interior_point *to);
static void forget(struct gv_interior_point *s);
static int to_vertex(const struct gv_interior_program *p,
    const struct gv_interior_point *at_point, const double *need, const double *also,
    double part, struct gv_interior_vertex *v, struct gv_error *e);
static double level_bound(const struct gv_problem *p, const double *a, double unit,
    const double *lambda, const double *price, double budget);
static double level_reached(const struct gv_problem *p, const double *a, const double *x);
static double level_gap(const struct gv_problem *p, double bound, double level);
static double rounding(const struct gv_problem *p);
static double per_step(const struct gv_problem *p, const double *a, size_t i);
static void equal_throughput(const struct gv_problem *p, double *to);

#define gv_interior_sift            sift
#define gv_interior_free            forget
#define gv_interior_to_vertex       to_vertex
#define gv_level_bound              level_bound
#define gv_level_reached            level_reached
#define gv_level_gap                level_gap
#define gv_level_rounding           rounding
#define gv_level_per_step           per_step
#define gv_problem_equal_throughput equal_throughput
#include "../../common/alloc/interior/level_interior.c"

enum { JOBS = 4, TYPES = 3, CELLS = JOBS * TYPES };

static struct recorded *r;
static const struct gv_level *asked;

static void
record_program(const struct gv_interior_program *ip)
{
	size_t cells = ip->n * ip->m, k;

	recorded_doubles(r, ip->level, cells);
	recorded_doubles(r, ip->use, ip->n);
	recorded_doubles(r, ip->capacity, ip->m);
	recorded_whole(r, ip->narrow);
	if (ip->gain != NULL)
		recorded_doubles(r, ip->gain, cells);
	if (ip->need != NULL)
		recorded_doubles(r, ip->need, ip->n);
	if (ip->start != NULL)
		recorded_double(r, ip->start[0]);
	for (k = 0; k < cells; k++) {
		recorded_whole(r, ip->column != NULL ? ip->column[k] : 2);
		recorded_whole(r, ip->first != NULL ? ip->first[k] : 2);
	}
}

static double
quarters(size_t n)
{
	return (double)below(n) / 4;
}

static void
sift(const struct gv_interior_program *ip, struct gv_interior_point *to)
{
	static const double gap[] = {
	    INFINITY, GV_TOL_INTERIOR_NEAR, 0, 1e-9, 1e-12, 1e-8};
	size_t cells = ip->n * ip->m, i, j, n = 0;

	record_program(ip);
	*to = (struct gv_interior_point){
	    .gap = gap[below(6)], .objective = (double)(1 + below(8))};
	to->begin = gv_xcalloc(ip->n + 1, sizeof(*to->begin));
	to->type = gv_xcalloc(cells, sizeof(*to->type));
	to->x = gv_xcalloc(3 * cells, sizeof(double));
	to->z = to->x + cells;
	to->size = to->z + cells;
	to->price = gv_xcalloc(ip->m + ip->n, sizeof(double));
	to->lambda = to->price + ip->m;
	to->middle = gv_xcalloc(1, sizeof(double));
	to->middle[0] = quarters(9);
	for (i = 0; i < ip->n; i++) {
		double usual = to->objective / (double)ip->n;

		for (j = 0; j < ip->m; j++) {
			if (below(4) == 0)
				continue;
			to->type[n] = j;
			to->x[n] = quarters(3);
			to->size[n] = quarters(16);
			to->z[n] = below(2) == 0
				       ? GV_TOL_INTERIOR_CHEAP * fmax(to->size[n], usual)
				       : quarters(2) + .001;
			n++;
		}
		to->begin[i + 1] = n;
		to->lambda[i] = (double)below(3);
	}
	for (j = 0; j < ip->m; j++)
		to->price[j] = quarters(5);
}

static void
forget(struct gv_interior_point *s)
{
	free(s->begin);
	free(s->type);
	free(s->x);
	free(s->price);
	free(s->middle);
}

static int
to_vertex(const struct gv_interior_program *p, const struct gv_interior_point *at_point,
    const double *need, const double *also, double part, struct gv_interior_vertex *v,
    struct gv_error *e)
{
	size_t k, end;

	recorded_text(r, at_point != NULL ? "vertex" : "");
	recorded_whole(r, need != NULL);
	if (need != NULL)
		recorded_doubles(r, need, p->n);
	recorded_whole(r, also != NULL);
	if (also != NULL)
		recorded_doubles(r, also, p->n * p->m);
	recorded_double(r, part);
	for (k = 0; k < p->n * p->m; k++)
		v->x[k] = quarters(2);
	for (k = 0; k < p->m; k++)
		v->price[k] = below(3) == 0 ? quarters(5) : 0;
	for (k = 0; k < p->n; k++)
		v->lambda[k] = (double)below(3);
	end = below(8);
	if (end == 0)
		gv_error_set(e, "no vertex");
	return end == 0 ? -1 : end < 3 ? 1 : 0;
}

static double
level_bound(const struct gv_problem *p, const double *a, double unit,
    const double *lambda, const double *price, double budget)
{
	recorded_double(r, a[0]);
	recorded_double(r, unit);
	recorded_doubles(r, lambda, p->n);
	recorded_doubles(r, price, p->m);
	recorded_double(r, budget);
	return 1 + (double)below(3);
}

static double
level_reached(const struct gv_problem *p, const double *a, const double *x)
{
	const double now = asked->s->objective;

	recorded_double(r, a[0]);
	recorded_doubles(r, x, p->n * p->m);
	switch (below(6)) {
	case 0:
		return now * (1 - GV_TOL_DUAL_GAP);
	case 1:
		return now * (1 - GV_TOL_LESS_3 - GV_TOL_KEPT);
	case 2:
		return now * (1 - GV_TOL_LESS_3);
	case 3:
		return now;
	default:
		return (double)(1 + below(2));
	}
}

static double
level_gap(const struct gv_problem *p, double bound, double level)
{
	const double gap[] = {0, GV_TOL_SHARP, GV_TOL_DUAL_GAP + 10 * rounding(p),
	    GV_TOL_LEVEL_PROVED, GV_TOL_PROVED, 1.5 * GV_TOL_SHARP,
	    2 * GV_TOL_LEVEL_PROVED, 1, 1e-13, 1e-12};

	recorded_double(r, bound);
	recorded_double(r, level);
	return gap[below(10)];
}

static double
rounding(const struct gv_problem *p)
{
	return ldexp((double)p->m, -50);
}

static double
per_step(const struct gv_problem *p, const double *a, size_t i)
{
	return a[i * p->m] == 0 ? 1 : .5;
}

static void
equal_throughput(const struct gv_problem *p, double *to)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		to[i] = 1 + (double)(i % 2);
}

static void
draw(struct gv_problem *p, double *a)
{
	static const double levels[] = {0, 1, 2, 3, 1.5, INFINITY};
	size_t i, j, n;

	n = 1 + below(JOBS);
	gv_problem_alloc(p, n, 1 + below(TYPES));
	for (j = 0; j < p->m; j++)
		p->capacity[j] = (double)below(8) + (j == 0);
	for (i = 0; i < p->n; i++) {
		p->scale[i] = (double)(1 << below(3));
		p->count[i] = (double)(1 + below(2));
		p->weight[i] = 1;
		for (j = 0; j < p->m; j++) {
			a[i * p->m + j] = levels[below(6)];
			p->rate[i * p->m + j] = (double)below(4);
		}
	}
	p->budget = below(16) == 0 ? 1 : 0;
}

static void
ask(void)
{
	double x[CELLS] = {0}, a[CELLS];
	struct gv_solution s = {.x = x};
	struct gv_error e = {0};
	struct gv_problem p;
	struct gv_level l;
	bool second_done = false, sharp = below(2) == 0;

	draw(&p, a);
	gv_level_init(&l, &p, &s, below(3) != 0);
	asked = &l;
	recorded_whole(r, gv_level_by_interior(
			      &p, a, 1 + (double)below(2), sharp, &l, &second_done, &e));
	recorded_whole(r, second_done);
	recorded_double(r, s.objective);
	recorded_double(r, s.bound);
	recorded_doubles(r, x, p.n * p.m);
	recorded_doubles(r, l.lambda, p.n);
	recorded_doubles(r, l.price, p.m);
	recorded_whole(r, (long long)e.count);
	gv_error_clear(&e);
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
		draws_begin(11, (uint32_t)part, 0);
		for (k = 0; k < 1000; k++)
			ask();
		recorded_answer(&all, "levels %zu", part);
	}
	recorded_close(&all);
	return done_testing();
}
