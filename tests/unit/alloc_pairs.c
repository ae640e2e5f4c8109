/*
 * Pairs of jobs on the same GPUs (pairs/): pricing against every two rows, one by one, how
 * few rounds and columns programs take, and how far all can go on (climb.h) against one
 * linear program of all pairs.
 */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draws.h"
#include "lp/lp.h"
#include "alloc/pairs/climb.h"
#include "alloc/pairs/pricing.h"
#include "alloc/program/level.h"

enum { N = 12, M = 3, KINDS = 5 };

/* Kinds of two scales; those of one scale share, most of them. */
static void
draw_together(struct gv_together *t, size_t m)
{
	struct gv_together_entry entry[KINDS * KINDS * M];
	size_t a, b, j, n = 0;

	for (a = 0; a < KINDS; a++)
		for (b = a; b < KINDS; b += 2)
			for (j = 0; j < m; j++)
				if (uniform() < .8)
					entry[n++] =
					    (struct gv_together_entry){.a = (uint32_t)a,
						.b = (uint32_t)b,
						.type = (uint32_t)j,
						.rate_a = .3 + 3 * uniform(),
						.rate_b = .3 + 3 * uniform()};
	gv_together_make(t, KINDS, m, entry, n);
}

/* Rows of one job, or of up to three; of kinds below some. */
static struct gv_problem
draw(struct gv_together *t, size_t n, size_t most, size_t kinds)
{
	struct gv_problem p;
	size_t m = 1 + below(M), i, j;

	draw_together(t, m);
	gv_problem_alloc(&p, n, m);
	p.together = t;
	p.kind = gv_xcalloc(n, sizeof(*p.kind));
	for (j = 0; j < m; j++)
		p.capacity[j] = (double)(2 + below(1 + n / 2));
	for (i = 0; i < n; i++) {
		p.kind[i] = below(kinds);
		p.scale[i] = (double)(1 + p.kind[i] % 2);
		p.count[i] = (double)(1 + below(most));
		p.weight[i] = 1;
		for (j = 0; j < m; j++)
			p.rate[i * m + j] =
			    j > 0 && below(4) == 0 ? 0 : .5 + 4 * uniform();
	}
	return p;
}

static void
drop(struct gv_problem *p, struct gv_together *t)
{
	gv_problem_free(p);
	gv_together_free(t);
}

/* ---- pricing ---- */

/* The pair of the kinds of rows a and b in the table; SIZE_MAX: they do not share the type. */
static size_t
shares(const struct gv_problem *p, size_t a, size_t b, size_t j)
{
	size_t at = gv_together_find(p->together, p->kind[a], p->kind[b]);

	if (p->kind[a] > p->kind[b] || (a == b && p->count[a] < 2) || at == SIZE_MAX ||
	    p->together->rate[(at * p->m + j) * 2] == 0)
		return SIZE_MAX;
	return at;
}

/* What comes of gv_pricing_all(): each as often as it comes. */
struct seen {
	const struct gv_problem *p;
	size_t n, wrong;
	unsigned char times[N][N][M];
};

static void
see(void *ctx, size_t a, size_t b, size_t pair, size_t type)
{
	struct seen *s = ctx;

	s->n++;
	s->wrong += shares(s->p, a, b, type) != pair || pair == SIZE_MAX;
	s->times[a][b][type]++;
}

static void
test_all(void)
{
	size_t k, a, b, j, wrong = 0, all = 0;

	for (k = 0; k < 200; k++) {
		struct gv_together t;
		struct gv_problem p = draw(&t, 1 + below(N), 3, 1 + below(KINDS));
		struct seen s = {.p = &p};
		struct gv_pricing g;

		gv_pricing_init(&g, &p);
		gv_pricing_all(&g, see, &s);
		gv_pricing_free(&g);
		for (a = 0; a < p.n; a++)
			for (b = 0; b < p.n; b++)
				for (j = 0; j < p.m; j++) {
					bool both = p.kind[a] == p.kind[b] && a != b;
					size_t times = s.times[a][b][j];

					/* of one kind in any order, but once */
					if (both)
						times += s.times[b][a][j];
					wrong +=
					    times != (shares(&p, a, b, j) != SIZE_MAX);
				}
		wrong += s.wrong + (s.n != gv_columns_count_all(&p));
		all += s.n;
		drop(&p, &t);
	}
	ok(wrong == 0 && all > 2000, "all pairs, each once (%zu)", all);
}

static double
reduced_cost(const struct gv_problem *p, const struct gv_pair_prices *v, size_t a,
    size_t b, size_t j)
{
	const double *rate = &p->together->rate[(shares(p, a, b, j) * p->m + j) * 2];

	return v->worth[a * p->m + j] * rate[0] + v->worth[b * p->m + j] * rate[1] -
	       v->time[a] - v->time[b] - p->scale[a] * v->gpu[j];
}

/* The largest of a pair with row i; -INFINITY: there is none. */
static double
largest_with(const struct gv_problem *p, const struct gv_pair_prices *v, size_t i)
{
	double most = -INFINITY;
	size_t k, j;

	for (k = 0; k < p->n; k++)
		for (j = 0; j < p->m; j++) {
			if (shares(p, i, k, j) != SIZE_MAX)
				most = fmax(most, reduced_cost(p, v, i, k, j));
			if (shares(p, k, i, j) != SIZE_MAX)
				most = fmax(most, reduced_cost(p, v, k, i, j));
		}
	return most;
}

/* Whether what is said of row i is what there is; *best: of its candidate. */
static bool
is_right(const struct gv_problem *p, const struct gv_pair_prices *v,
    const struct gv_candidate *c, size_t i, double *best)
{
	double most = largest_with(p, v, i), own;

	*best = -INFINITY;
	if (most > 0 ? !(c->most >= most && c->most <= most + 1e-12)
		     : !(c->most <= fmax(most, 0) + 1e-12))
		return false;
	if (c->reduced_cost == -INFINITY)
		return true;
	if ((c->a != i && c->b != i) || shares(p, c->a, c->b, c->type) != c->pair ||
	    c->pair == SIZE_MAX)
		return false;
	own = reduced_cost(p, v, c->a, c->b, c->type);
	*best = own;
	return fabs(own - c->reduced_cost) <= 1e-12 && c->reduced_cost <= c->most;
}

static void
test_pass(void)
{
	size_t k, i, wrong = 0, behind = 0, helping = 0, alone = 0;

	for (k = 0; k < 1000; k++) {
		struct gv_together t;
		struct gv_problem p = draw(&t, 1 + below(N), 3, 1 + below(KINDS));
		double worth[N * M], time[N], gpu[M], most = -INFINITY, found = -INFINITY;
		struct gv_pair_prices v = {worth, time, gpu};
		struct gv_candidate best[N];
		double part = uniform();
		struct gv_pricing g;

		for (i = 0; i < p.n * p.m; i++)
			worth[i] = below(5) == 0 ? 0 : uniform();
		for (i = 0; i < p.n; i++)
			time[i] = below(4) == 0 ? 0 : 4 * part * uniform();
		for (i = 0; i < p.m; i++)
			gpu[i] = below(4) == 0 ? 0 : 2 * uniform();
		gv_pricing_init(&g, &p);
		gv_pricing_pass(&g, &v, best);
		gv_pricing_free(&g);
		for (i = 0; i < p.n; i++) {
			double own, with = largest_with(&p, &v, i);

			wrong += !is_right(&p, &v, &best[i], i, &own);
			found = fmax(found, own);
			most = fmax(most, with);
			helping += with > 0;
			behind += with > 1e-12 && !(own > 0);
			if (p.n <= 2) /* kinds of one row: the best there is */
				alone += with > 0 && own < with - 1e-12;
		}
		wrong += most > 1e-12 && fabs(found - most) > 1e-12;
		drop(&p, &t);
	}
	is_int(wrong, 0, "reduced costs of pairs, and the best one of all");
	is_int(alone, 0, "of two rows the best");
	ok(helping > 3000 && behind * 5 <= helping,
	    "%zu rows that a pair would help, %zu are not offered one", helping, behind);
}

/* ---- programs ---- */

/* Rounds and columns of levels and then sums, which more pricing than is needed would raise. */
static void
test_effort(void)
{
	size_t k, i, failed = 0, columns = 0, all = 0, warm = 0;
	int rounds = 0, again = 0;

	for (k = 0; k < 100; k++) {
		struct gv_together t;
		struct gv_problem p = draw(&t, 20 + below(20), 1, KINDS);
		struct gv_solution s = {.x = gv_xcalloc(p.n, p.m * sizeof(double))};
		double *ones = gv_linear_ones(&p), *job = gv_linear_ones(&p);
		const struct gv_shared_gain gain = {.job = job};
		struct gv_shared_warm was = {0};
		struct gv_error e = {0};
		struct gv_shared h;

		for (i = 0; i < p.n; i++)
			job[i] = .5 + uniform();
		gv_shared_init(&h, &p, &s);
		h.factor = job;
		h.demand = ones;
		h.second = k % 2 == 0 ? &gain : NULL;
		h.warm = &was;
		failed += gv_shared_solve(&h, "test", &e) != 0;
		columns += h.n_columns;
		all += gv_columns_count_all(&p);
		rounds += h.rounds;
		gv_shared_free(&h);
		job[below(p.n)] *= 1.01; /* nearly the same */
		gv_shared_init(&h, &p, &s);
		h.factor = job;
		h.demand = ones;
		h.warm = &was;
		failed += gv_shared_solve(&h, "test", &e) != 0;
		warm += h.n_columns;
		again += h.rounds;
		gv_shared_free(&h);
		gv_shared_warm_free(&was);
		free(s.x);
		free(s.pair);
		free(ones);
		free(job);
		drop(&p, &t);
	}
	is_int(failed, 0, "programs of pairs");
	ok(rounds <= 820 && columns <= 4450, "take %d rounds and %zu of %zu columns",
	    rounds, columns, all);
	ok(again <= 105 && warm <= 2500, "and from the last one %d, and %zu", again,
	    warm);
}

/* ---- how far all can go on ---- */

/* A column of what rows i and k make of a share on type j; k == i: i alone. */
static void
add_column(struct gv_lp *lp, const struct gv_problem *p, const double *factor, size_t i,
    size_t k, size_t j, const double *rate)
{
	size_t col = gv_lp_add_col(lp, 0, INFINITY, 0);

	gv_lp_set(lp, j, col, p->scale[i]);
	gv_lp_set(lp, p->m + i, col, 1);
	gv_lp_set(lp, p->m + p->n + i, col, factor[i] * rate[0]);
	if (k == i)
		return;
	gv_lp_set(lp, p->m + k, col, 1);
	gv_lp_set(lp, p->m + p->n + k, col, factor[k] * rate[1]);
}

/* max t <= most of from + t by; lambda not NULL: the most that its sum of levels can be. */
static double
farthest(const struct gv_problem *p, const double *factor, const double *from,
    const double *by, double most, const double *lambda)
{
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution sol;
	struct gv_error e = {0};
	double best;
	size_t i, k, j;

	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&lp, -INFINITY, p->capacity[j]);
	for (i = 0; i < p->n; i++)
		gv_lp_add_row(&lp, -INFINITY, 1);
	for (i = 0; i < p->n; i++)
		gv_lp_add_row(&lp, lambda != NULL ? 0 : from[i], INFINITY);
	gv_lp_add_col(&lp, 0, most, lambda == NULL);
	for (i = 0; i < p->n; i++)
		gv_lp_set(&lp, p->m + p->n + i, 0, lambda != NULL ? 0 : -by[i]);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			if (p->rate[i * p->m + j] > 0)
				add_column(
				    &lp, p, factor, i, i, j, &p->rate[i * p->m + j]);
			for (k = 0; k < p->n; k++)
				if (k != i && (p->kind[i] < p->kind[k] || i < k) &&
				    shares(p, i, k, j) != SIZE_MAX)
					add_column(&lp, p, factor, i, k, j,
					    &p->together
						 ->rate[(shares(p, i, k, j) * p->m + j) *
							2]);
		}
	for (k = 0; lambda != NULL && k < lp.n_entries; k++)
		if (lp.entry[k].row >= p->m + p->n)
			lp.cost[lp.entry[k].col] +=
			    lambda[lp.entry[k].row - p->m - p->n] * lp.entry[k].value;
	if (gv_lp_solve(&lp, NULL, NULL, &sol, &e) != 0 || sol.status != GV_LP_OPTIMAL)
		abort();
	best = sol.check.objective;
	gv_lp_solution_free(&sol);
	gv_lp_free(&lp);
	return best;
}

struct worst {
	double behind, broken, loose, shares;
	size_t blocked, free_ways, failed;
	int rounds;
};

/* One way from where they are on, compared; from is where they are then. */
static void
go_on(struct gv_climb *c, const double *factor, double *from, struct worst *w)
{
	const struct gv_problem *p = c->p;
	double by[N], most = below(3) == 0 ? .05 : 1 + uniform(), t = NAN, want, has = 0;
	struct gv_error e = {0};
	struct gv_reach r;
	bool blocked = false;
	size_t i, some = below(p->n);

	for (i = 0; i < p->n; i++)
		by[i] = i == some || below(2) == 0 ? .2 + uniform() : 0;
	gv_reach_alloc(&r, p);
	w->failed += gv_climb_go_on(c, from, by, most, &t, &blocked, &r, &e) != 0;
	want = farthest(p, factor, from, by, most, NULL);
	w->behind = gv_worse(w->behind, fabs(t - want));
	w->rounds += c->w.rounds;
	w->blocked += blocked;
	w->free_ways += !blocked;
	w->failed += !blocked && t != most;
	for (i = 0; i < p->n; i++) {
		from[i] += t * (1 - 1e-9) * by[i];
		has += r.lambda[i] * from[i];
	}
	if (blocked) {
		double limit = farthest(p, factor, from, by, 1, r.lambda);

		w->broken = gv_worse(w->broken, limit / r.limit - 1);
		w->loose = gv_worse(w->loose, 1 - has / r.limit);
	}
	gv_reach_free(&r);
}

/* By how much the shares of the last program lack what they are to give. */
static double
lacking(struct gv_climb *c, const double *factor, const double *from)
{
	const struct gv_problem *p = c->p;
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(double))};
	double thr[N], worst = 0;
	size_t i;

	gv_climb_shares(c, &s);
	gv_solution_throughput(p, &s, thr);
	for (i = 0; i < p->n; i++)
		worst = gv_worse(worst, from[i] - factor[i] * thr[i]);
	free(s.x);
	free(s.pair);
	return worst;
}

static void
test_climb(void)
{
	struct worst w = {0};
	size_t k, i, turns;

	for (k = 0; k < 120; k++) {
		struct gv_together t;
		struct gv_problem p = draw(&t, 2 + below(N - 2), 1, KINDS);
		double a[N * M], size[N], factor[N], from[N] = {0};
		struct gv_climb c;

		for (i = 0; i < p.n; i++) {
			factor[i] = .5 + uniform();
			size[i] = 4 * factor[i] * (.5 + uniform());
		}
		for (i = 0; i < p.n * p.m; i++)
			a[i] = factor[i / p.m] * p.rate[i];
		gv_climb_init(&c, &p, a, size);
		for (turns = 0; turns < 4; turns++)
			go_on(&c, factor, from, &w);
		w.shares = gv_worse(w.shares, lacking(&c, factor, from));
		gv_climb_free(&c);
		drop(&p, &t);
	}
	is_int(w.failed, 0, "ways on are found");
	ok(w.blocked > 100 && w.free_ways > 200, "%zu blocked, %zu not", w.blocked,
	    w.free_ways);
	ok(w.behind <= 1e-8, "as far as all pairs at once go, to %g", w.behind);
	ok(w.broken <= 1e-9 && w.loose <= 1e-7,
	    "an inequality that all keep (%g) and that is full (%g)", w.broken, w.loose);
	ok(w.shares <= 1e-9, "and shares that do it, to %g", w.shares);
	ok(w.rounds <= 630, "in %d rounds", w.rounds);
}

int
main(void)
{
	draws_begin(61, 0, 0);
	test_all();
	test_pass();
	test_effort();
	test_climb();
	return done_testing();
}
