/*
 * Stages of progressive filling over inequalities that a program of the test's own makes up:
 * levels against a search for each stop, what is left of an inequality, and what is done where
 * one is broken that holds nobody who still rises.
 */
#include "tap.h"

#include <stdlib.h>

#include "alloc_help.h"
#include "alloc/policy/filling_stages.h"

enum { MOST = 2500, RULES = 12 };

/* sum lambda_i v_i <= limit. */
struct rule {
	double *lambda, limit;
};

struct program {
	struct gv_problem p;
	struct gv_filling f;
	size_t n_rules;
	struct rule rule[RULES];
	double part;   /* of the way that it goes at once */
	size_t calls;  /* so far */
	size_t stale;  /* answers in a row that hold nobody, after each that holds some */
	size_t stales; /* of those that are left now */
	double off;    /* what those are broken by, relative */
	double *frozen; /* lambda of those */
	double down;    /* what all came down by, as it is to be */
	size_t in_vain; /* in a row */
	bool stands;    /* nothing goes on */
};

static double
sum_of(const struct program *g, const double *lambda, const double *v)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < g->p.n; i++)
		sum += lambda[i] * v[i];
	return sum;
}

/* An inequality of the first job that has stopped, broken by that. */
static bool
say_stale(struct program *g, const double *from, struct gv_reach *r)
{
	double part;
	size_t i;

	memset(r->lambda, 0, g->p.n * sizeof(*r->lambda));
	for (i = 0; i < g->p.n && !g->f.frozen[i]; i++)
		;
	if (i == g->p.n)
		return false;
	r->lambda[i] = 1;
	r->limit = from[i] / (1 + g->off);
	part = r->limit / from[i];
	g->down *= fmin(part, 1 - ldexp(1e-11, (int)g->in_vain++));
	return true;
}

static int
go_on(void *of, const double *from, const double *by, double most, double *t,
    bool *blocked, struct gv_reach *r, struct gv_error *e)
{
	struct program *g = of;
	size_t k, held = RULES;

	(void)e;
	g->calls++;
	memset(r->price, 0, g->p.m * sizeof(*r->price));
	if (g->stands) {
		*t = 0;
		return 0;
	}
	if (g->stales > 0 && say_stale(g, from, r)) {
		g->stales--;
		*t = 0;
		*blocked = true;
		return 0;
	}
	*t = most;
	for (k = 0; k < g->n_rules; k++) {
		double rest = g->rule[k].limit - sum_of(g, g->rule[k].lambda, from);
		double slope = sum_of(g, g->rule[k].lambda, by);

		if (slope > 0 && rest / slope < *t) {
			*t = rest / slope;
			held = k;
		}
	}
	if (held == RULES)
		return 0;
	*t *= g->part;
	*blocked = true;
	memcpy(r->lambda, g->rule[held].lambda, g->p.n * sizeof(*r->lambda));
	r->limit = g->rule[held].limit;
	g->stales = g->stale;
	g->in_vain = 0;
	return 0;
}

static void
begin(struct program *g, size_t n, size_t n_rules)
{
	double *need = gv_xcalloc(n, sizeof(*need));
	size_t i;

	*g = (struct program){.n_rules = n_rules, .part = 1, .down = 1};
	gv_problem_alloc(&g->p, n, 1);
	g->p.capacity[0] = 1;
	for (i = 0; i < n; i++) {
		g->p.count[i] = g->p.scale[i] = g->p.rate[i] = 1;
		g->p.weight[i] = .5 + uniform();
	}
	gv_filling_init(&g->f, &g->p, false, need);
	for (i = 0; i < n_rules; i++)
		g->rule[i].lambda = gv_xcalloc(n, sizeof(double));
	free(need);
}

static void
end(struct program *g)
{
	size_t k;

	for (k = 0; k < g->n_rules; k++)
		free(g->rule[k].lambda);
	gv_filling_free(&g->f);
	gv_problem_free(&g->p);
}

static int
fill(struct program *g, struct gv_filling_quality *q, struct gv_error *e)
{
	const struct gv_filling_path path = {g, go_on};

	*q = (struct gv_filling_quality){.exact = true};
	return gv_filling_fill(&g->f, NULL, NULL, &path, q, e);
}

/* ---- levels ---- */

static bool
is_kept(
    const struct program *g, const bool *stop, const double *have, double l, double *v)
{
	size_t i, k;

	for (i = 0; i < g->p.n; i++)
		v[i] = stop[i] ? have[i] : fmin(g->p.weight[i] * l, g->f.most[i]);
	for (k = 0; k < g->n_rules; k++)
		if (sum_of(g, g->rule[k].lambda, v) > g->rule[k].limit * (1 + 1e-12))
			return false;
	return true;
}

/* All rise until something holds some of them, and the others go on. */
static void
search(const struct program *g, double *have)
{
	bool *stop = gv_xcalloc(g->p.n, sizeof(*stop));
	double *v = gv_xcalloc(g->p.n, sizeof(*v)), from = 0;
	size_t left = g->p.n, i, k;

	while (left > 0) {
		double low = from, high = 1e9;

		while (high - low > 1e-13 * high) {
			double l = (low + high) / 2;

			*(is_kept(g, stop, have, l, v) ? &low : &high) = l;
		}
		from = low;
		is_kept(g, stop, have, from, v);
		memcpy(have, v, g->p.n * sizeof(*v));
		for (k = 0; k < g->n_rules; k++)
			if (sum_of(g, g->rule[k].lambda, v) >=
			    g->rule[k].limit * (1 - 1e-9))
				for (i = 0; i < g->p.n; i++)
					stop[i] = stop[i] || g->rule[k].lambda[i] > 0;
		for (left = i = 0; i < g->p.n; i++) {
			stop[i] = stop[i] || v[i] >= g->f.most[i] * (1 - 1e-9);
			left += !stop[i];
		}
	}
	free(stop);
	free(v);
}

/* What is far from 1 in an inequality changes nothing. */
static void
test_levels(double scale)
{
	enum { CASES = 60 };
	double have[40], worst = 0;
	size_t round, i, k, held = 0;

	for (round = 0; round < CASES; round++) {
		size_t n = 1 + below(20), n_rules = below(RULES);
		struct gv_filling_quality q;
		struct gv_error e = {0};
		struct program g;

		begin(&g, n, n_rules);
		for (k = 0; k < n_rules; k++) {
			double sum = 0;

			for (i = 0; i < n; i++) {
				if (uniform() < .5)
					g.rule[k].lambda[i] = scale * (.5 + uniform());
				sum += g.rule[k].lambda[i] * g.f.most[i];
			}
			g.rule[k].limit = fmax(sum * uniform(), scale * 1e-3);
		}
		search(&g, have);
		if (fill(&g, &q, &e) != 0)
			gv_die_error(&e);
		for (i = 0; i < n; i++) {
			worst = fmax(worst, fabs(have[i] - g.f.have[i]) / g.f.most[i]);
			held += have[i] < g.f.most[i] * (1 - 1e-6);
		}
		worst = fmax(worst, q.unproved);
		end(&g);
	}
	ok(worst < 1e-9, "levels are those of a search, of rules of about %g: %g", scale,
	    worst);
	ok(held > 150, "%zu jobs are held by one", held);
}

/* One rule of all: what is left of it where they stop before it is full. */
static void
test_unproved(size_t n)
{
	struct gv_filling_quality q;
	struct gv_error e = {0};
	struct program g;
	double sum = 0;
	size_t i;

	begin(&g, n, 1);
	for (i = 0; i < n; i++) {
		g.rule[0].lambda[i] = .5 + uniform();
		sum += g.rule[0].lambda[i] * g.p.weight[i];
	}
	g.rule[0].limit = sum * 1e-6;
	g.part = .75;
	is_int(fill(&g, &q, &e), 0, "%zu jobs that stop early", n);
	is_near(q.unproved * 4, 1, 1e-9, "a quarter is left");
	is_near(sum_of(&g, g.rule[0].lambda, g.f.have) / g.rule[0].limit, .75, 1e-9,
	    "three quarters are used");
	is_int(g.calls, 1, "at once");
	end(&g);
}

/* ---- coming down ---- */

/* Each job has a rule of its own, and after each come so many that hold nobody. */
static void
stale(size_t n, size_t times, double off, bool ends)
{
	double want[RULES], sum = 0, said;
	struct gv_filling_quality q;
	struct gv_error e = {0};
	struct program g;
	size_t i;
	int rc;

	begin(&g, n, n);
	for (i = 0; i < n; i++) {
		g.rule[i].lambda[i] = 1;
		want[i] = g.rule[i].limit = g.p.weight[i] * (double)(i + 1) * 1e-3;
	}
	g.stale = times;
	g.off = off;
	rc = fill(&g, &q, &e);
	is_int(rc, ends ? 0 : -1, "%zu jobs, %zu times in vain, by %g", n, times, off);
	is_str(e.count > 0 ? e.text[0] : "",
	    ends ? "" : "water-filling: rounding kept it from its end", "what is said");
	gv_error_clear(&e);
	if (ends) {
		for (i = 0; i < n; i++)
			sum = fmax(sum, fabs(g.f.have[i] / want[i] - 1));
		ok(sum < 1.5 * (1 - g.down) + 1e-12, "levels are a little lower: %g",
		    sum);
		ok(fabs(g.f.have[0] / want[0] - g.down) < 1e-14,
		    "the first one by all of it: %g of %g", 1 - g.f.have[0] / want[0],
		    1 - g.down);
		/* and what that one was from full */
		said = 1 - g.down + (off < 0 ? -off : 0);
		ok(fabs(q.unproved - said) < 1e-13, "which is said: %g of %g", q.unproved,
		    said);
	}
	end(&g);
}

/* Nothing goes on, and nothing is in the way: that ends. */
static void
test_stands(void)
{
	struct gv_filling_quality q;
	struct gv_error e = {0};
	struct program g;

	begin(&g, 5, 0);
	g.stands = true;
	is_int(fill(&g, &q, &e), -1, "nothing goes on");
	is_str(e.count > 0 ? e.text[0] : "",
	    "water-filling: rounding kept it from its end", "what is said");
	is_int(g.calls, 2 * (5 + g.f.n_nodes), "after two steps for each");
	end(&g);
}

int
main(void)
{
	draws_begin(12, 5, 1);
	test_levels(1);
	test_levels(1e-14);
	test_levels(1e14);
	test_unproved(3);
	test_unproved(1024);
	test_unproved(1025);
	test_unproved(MOST);
	stale(2, 0, 0, true);
	stale(2, 1, .5e-9, true);
	stale(2, 1, .9e-9, true);
	stale(2, 1, 1.1e-9, false);
	stale(2, 1, -.9e-9, true);
	stale(2, 1, -1.1e-9, false);
	stale(2, 1, 1e-12, true);
	stale(2, 7, 1e-12, true);
	stale(2, 8, 1e-12, false);
	stale(11, 7, 1e-12, true);
	test_stands();
	return done_testing();
}
