/*
 * Jobs that have one type and what they want of it (solve/settled.h): which they are, what they
 * leave to the others, and all together again, against the same written plainly.
 */
#include "tap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/solve/settled.h"
#include "base/mem.h"
#include "draws.h"
#include "lp/tolerance.h"

enum { JOBS = 6, TYPES = 3 };

/* Numbers whose sums have no rounding, so that much is just full; below 1 and above. */
static struct gv_problem
draw(double *a, double *want)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, 1 + below(JOBS), 1 + below(TYPES));
	for (j = 0; j < p.m; j++)
		p.capacity[j] = (double)(1 + below(4)) / 2;
	for (i = 0; i < p.n; i++) {
		p.count[i] = (double)(1 + below(2));
		p.scale[i] = (double)(1 + below(2));
		p.weight[i] = 1;
		for (j = 0; j < p.m; j++)
			a[i * p.m + j] = p.rate[i * p.m + j] =
			    uniform() < .5 ? 0 : (double)(1 << below(3)) / 2;
		want[i] = below(4) == 0 ? 0 : (double)(1 + below(4)) / 8;
	}
	if (uniform() < .5) {
		const double other[TYPES] = {3, 5, 7};

		gv_problem_refer(&p, other);
	}
	return p;
}

/* The one type of a job that wants no more than all its time there gives, else p->m. */
static size_t
one_type(const struct gv_problem *p, const double *a, const double *want, size_t i)
{
	size_t j, at = p->m, n = 0;

	for (j = 0; j < p->m; j++)
		if (a[i * p->m + j] > 0) {
			at = j;
			n++;
		}
	return n == 1 && want[i] > 0 && want[i] <= a[i * p->m + at] ? at : p->m;
}

/* What those want of a type, and whether others want it, too. */
static double
wanted(const struct gv_problem *p, const double *a, const double *want, size_t j,
    bool *others)
{
	double sum = 0;
	size_t i;

	*others = false;
	for (i = 0; i < p->n; i++)
		if (one_type(p, a, want, i) == j)
			sum += p->count[i] * p->scale[i] * want[i] / a[i * p->m + j];
		else if (want[i] > 0 && a[i * p->m + j] > 0)
			*others = true;
	return sum;
}

/* Where the job is settled: it fits beside all like it, and leaves others something. */
static size_t
settled_on(const struct gv_problem *p, const double *a, const double *want, size_t i)
{
	size_t j = one_type(p, a, want, i);
	bool others;
	double sum;

	if (j == p->m)
		return j;
	sum = wanted(p, a, want, j, &others);
	return others ? (sum < p->capacity[j] ? j : p->m)
		      : (sum <= p->capacity[j] ? j : p->m);
}

static size_t
wrong_parts(const struct gv_settled *s, const struct gv_problem *p, const double *a,
    const double *want)
{
	size_t i, j, k = 0, wrong = 0;

	for (i = 0; i < p->n; i++) {
		size_t on = settled_on(p, a, want, i);
		double share = on < p->m ? want[i] / a[i * p->m + on] : 0;

		wrong += s->x[i] != share;
		wrong += s->keep[i] != (want[i] > 0 && on == p->m);
		if (!s->keep[i])
			continue;
		wrong += s->want[k] != want[i] || s->q.scale[k] != p->scale[i];
		for (j = 0; j < p->m; j++)
			wrong += s->a[k * p->m + j] != a[i * p->m + j];
		k++;
	}
	wrong += s->q.n != k;
	for (j = 0; j < p->m; j++) {
		bool others;
		double sum = wanted(p, a, want, j, &others);
		double left = p->capacity[j] - (sum < p->capacity[j] ? sum : 0);

		wrong += s->q.capacity[j] != left;
		wrong += s->q.reference[j] !=
			 (p->reference != NULL ? p->reference[j] : p->capacity[j]);
	}
	return wrong;
}

/* p_j n_i s_i / a_ij of the cheapest type, 0 of none. */
static double
lifted(const struct gv_problem *p, const double *a, const double *price, size_t i)
{
	double least = INFINITY;
	size_t j;

	for (j = 0; j < p->m; j++)
		if (a[i * p->m + j] > 0)
			least = fmin(least,
			    price[j] * p->count[i] * p->scale[i] / a[i * p->m + j]);
	return isinf(least) ? 0 : least;
}

/* Of an answer for the others, made up: NULL where there are none. */
static size_t
wrong_join(const struct gv_settled *s, const struct gv_problem *p, const double *a,
    const double *want)
{
	struct gv_reach others, r;
	bool any = s->q.n > 0;
	double limit = any ? 2.5 : 1;
	size_t i, j, k = 0, wrong = 0;

	gv_reach_alloc(&others, &s->q);
	gv_reach_alloc(&r, p);
	r.exact = true;
	others.limit = 2.5;
	for (j = 0; j < p->m; j++) {
		others.price[j] = (double)below(3);
		r.price[j] = 9;
	}
	for (i = 0; i < s->q.n; i++)
		others.lambda[i] = (double)(1 + below(5));
	for (i = 0; i < s->q.n * p->m; i++)
		others.x[i] = (double)(1 + below(5));
	for (i = 0; i < p->n; i++)
		r.lambda[i] = r.x[i * p->m] = 9;
	gv_settled_join(s, any ? &others : NULL, &r, p, a, want);
	for (j = 0; j < p->m; j++)
		wrong += r.price[j] != (any ? others.price[j] : 0);
	for (i = 0; i < p->n; i++) {
		size_t on = settled_on(p, a, want, i);

		for (j = 0; j < p->m; j++)
			wrong += r.x[i * p->m + j] != (s->keep[i] ? others.x[k * p->m + j]
							  : j == on ? s->x[i]
								    : 0);
		wrong += r.lambda[i] !=
			 (s->keep[i] ? others.lambda[k] : lifted(p, a, r.price, i));
		k += s->keep[i];
		limit +=
		    on < p->m ? r.price[on] * p->count[i] * p->scale[i] * s->x[i] : 0;
	}
	wrong += r.limit != limit || r.exact;
	gv_reach_free(&others);
	gv_reach_free(&r);
	return wrong;
}

static void
test_drawn(void)
{
	size_t k, i, parts = 0, joins = 0, none = 0, made = 0;

	for (k = 0; k < 20000; k++) {
		double a[JOBS * TYPES], want[JOBS];
		struct gv_problem p = draw(a, want);
		struct gv_settled s;
		bool any = false;

		for (i = 0; i < p.n; i++)
			any = any || settled_on(&p, a, want, i) < p.m;
		if (gv_settled_make(&s, &p, a, want) != any)
			none++;
		else if (any) {
			made++;
			parts += wrong_parts(&s, &p, a, want);
			joins += wrong_join(&s, &p, a, want);
		} else {
			none += s.keep != NULL || s.x != NULL;
		}
		if (any)
			gv_settled_free(&s);
		none += s.keep != NULL || s.q.n != 0;
		gv_problem_free(&p);
	}
	ok(made > 5000, "%zu problems have settled jobs", made);
	is_int(none, 0, "where there are none, nothing is made");
	is_int(parts, 0, "who is settled, and what others have");
	is_int(joins, 0, "all together again");
}

/* A job, and another one that has two types, or that very one. */
static bool
is_settled(double want, double gpus, bool shared)
{
	const double a[] = {1, 0, 1, 1}, wants[] = {want, shared ? .5 : 0};
	struct gv_problem p;
	struct gv_settled s;
	bool settled;

	gv_problem_alloc(&p, 2, 2);
	memcpy(p.rate, a, sizeof(a));
	p.count[0] = p.scale[0] = p.count[1] = p.scale[1] = 1;
	p.capacity[0] = p.capacity[1] = gpus;
	settled = gv_settled_make(&s, &p, a, wants);
	if (settled)
		settled = s.x[0] > 0 && s.x[0] <= 1 &&
			  (!shared || s.q.capacity[0] == gpus - want);
	if (settled)
		gv_settled_free(&s);
	gv_problem_free(&p);
	return settled;
}

/* What is rounding is not too much; what is left must be more than that. */
static void
test_edges(void)
{
	ok(is_settled(1 + 1e-13, 2, false), "all its time, but for rounding");
	ok(is_settled(1 + GV_TOL_BROKEN, 2, false), "by as much as it may be");
	ok(!is_settled(1 + 1e-11, 2, false), "more than that");
	ok(is_settled(.5 + 1e-14, .5, false), "all GPUs, but for rounding");
	ok(!is_settled(.5 + 1e-11, .5, false), "more than those");
	ok(is_settled(.5 * .998, .5, true), "others are left some");
	ok(is_settled(.5 * (1 - GV_TOL_LEFT_TO_OTHERS), .5, true), "the least that is");
	ok(!is_settled(.5 * .9995, .5, true), "a thousandth is a difference of two");
}

int
main(void)
{
	draws_begin(61, 0, 0);
	test_drawn();
	test_edges();
	return done_testing();
}
