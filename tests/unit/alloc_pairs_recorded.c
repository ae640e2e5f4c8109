/*
 * pairs/: the programs of pairs of drawn problems, what their duals say and what they come to
 * is what it was.  What GLPK comes to is kept in the digits that any solver comes to.
 */
#include "tap.h"

#include "alloc_help.h"
#include "alloc_draws.h"
#include "alloc/pairs/climb.h"
#include "alloc/pairs/reach_pairs.h"
#include "alloc/pairs/shared_level.h"

static struct recorded r;

static size_t wrong; /* answers that break a constraint, or their bound */

static double *
drawn_list(size_t n, double none, enum drawn_sort sort)
{
	double *v = gv_xcalloc(n + 1, sizeof(*v));
	size_t i;

	for (i = 0; i < n; i++) {
		double x = drawn_number(sort);

		v[i] = uniform() < none ? 0 : x;
	}
	return v;
}

/* Classes of up to three jobs, or jobs alone. */
static void
drawn_pairs(struct drawn *d, size_t most, unsigned with)
{
	size_t n = drawn_size(most), m = drawn_size(3), i;
	bool classes = uniform() < .5;

	drawn_problem(d, n, m, 0, with | DRAWN_PAIRS);
	for (i = 0; i < n && classes; i++)
		d->p.count[i] = (double)(1 + below(3));
}

/* ---- programs ---- */

/* All that a program is of. */
struct asked {
	struct gv_shared h;
	struct gv_shared_gain gain, second;
	struct gv_solution s;
	double *list[8];
};

static void
asked_init(struct asked *q, const struct gv_problem *p, bool level, double most_demand)
{
	enum drawn_sort sort = uniform() < .5 ? DRAWN_PART : DRAWN_WHOLE;
	size_t i;

	memset(q, 0, sizeof(*q));
	q->s.x = gv_xcalloc(p->n, p->m * sizeof(*q->s.x));
	gv_shared_init(&q->h, p, &q->s);
	q->list[0] = drawn_list(p->n, 0, sort);
	q->list[1] = drawn_list(p->n, .2, sort);
	q->list[1][0] = 1;
	for (i = 0; i < p->n && !level; i++)
		q->list[1][i] *= most_demand;
	q->list[2] = drawn_list(p->n, .1, sort);
	q->list[3] = drawn_list(p->m, 0, sort);
	q->list[4] = drawn_list(p->m, .2, sort);
	q->list[5] = drawn_list(p->n, 0, sort);
	q->gain.job = q->list[2];
	q->gain.type = uniform() < .5 ? q->list[3] : NULL;
	q->gain.cost = uniform() < .4 ? q->list[4] : NULL;
	q->second.job = q->list[5];
	if (uniform() < .5)
		q->h.factor = q->list[0];
	if (level || most_demand > 0)
		q->h.demand = q->list[1];
	if (!level)
		q->h.gain = &q->gain;
	if (uniform() < .6)
		q->h.second = &q->second;
}

static void
asked_free(struct asked *q)
{
	size_t k;

	gv_shared_free(&q->h);
	free(q->s.x);
	free(q->s.pair);
	for (k = 0; k < 8; k++)
		free(q->list[k]);
}

/* Some of the pairs, some of them twice. */
static void
add_some(void *ctx, size_t a, size_t b, size_t pair, size_t type)
{
	struct gv_master *m = ctx;

	if (uniform() < .6)
		recorded_whole(&r, gv_master_add(m, a, b, pair, type));
	if (uniform() < .2)
		recorded_whole(&r, gv_master_add(m, a, b, pair, type));
}

/* What the master makes of any solution. */
static void
record_master(struct gv_master *m)
{
	const struct gv_problem *p = m->p;
	struct gv_pair_prices v;
	double *lambda = gv_xcalloc(p->n, sizeof(*lambda));
	size_t k;

	gv_lp_solution_free(&m->sol);
	m->sol.x = drawn_list(m->lp.n_cols, .3, DRAWN_PART);
	m->sol.row_dual = drawn_list(m->lp.n_rows, .2, DRAWN_PART);
	for (k = 0; k < m->lp.n_rows; k++)
		if (uniform() < .5)
			m->sol.row_dual[k] *= -1;
	m->sol.check.objective = uniform();
	v.worth = gv_xcalloc(p->n, p->m * sizeof(double));
	v.time = gv_xcalloc(p->n, sizeof(double));
	v.gpu = gv_xcalloc(p->m, sizeof(double));
	gv_master_prices(m, &v);
	recorded_doubles(&r, v.worth, p->n * p->m);
	recorded_doubles(&r, v.time, p->n);
	recorded_doubles(&r, v.gpu, p->m);
	gv_master_duals(m, lambda, v.gpu);
	recorded_doubles(&r, lambda, p->n);
	recorded_doubles(&r, v.gpu, p->m);
	recorded_double(&r, gv_master_value(m));
	recorded_whole(&r, gv_master_at_most(m));
	gv_master_shares(m);
	recorded_doubles(&r, m->h->s->x, p->n * p->m);
	recorded_pairs(&r, m->h->s->pair, m->h->s->n_pairs);
	free(v.worth);
	free(v.time);
	free(v.gpu);
	free(lambda);
}

static void
ask_master(void)
{
	struct drawn d;
	struct asked q;
	struct gv_master m;
	struct gv_pricing g;
	bool level = uniform() < .5;
	size_t k;

	drawn_pairs(&d, 10, 0);
	asked_init(&q, &d.p, level, uniform() < .5 ? .1 : 0);
	q.h.turns = level && uniform() < .3;
	gv_master_init(&m, &q.h, uniform() < .3);
	recorded_lp(&r, &m.lp);
	for (k = 0; q.h.turns && k < d.p.n; k++)
		if (uniform() < .7)
			gv_master_add_job(&m, k);
	gv_pricing_init(&g, &d.p);
	if (!q.h.turns)
		gv_pricing_all(&g, add_some, &m);
	gv_pricing_free(&g);
	gv_master_set_objective(&m, level ? -1 : 0, 1);
	recorded_lp(&r, &m.lp);
	record_master(&m);
	if (level)
		gv_master_fix_level(&m, uniform());
	else
		gv_master_keep_sum(&m, uniform());
	if (q.h.second != NULL) {
		gv_master_set_objective(&m, 1, .5);
		recorded_lp(&r, &m.lp);
		record_master(&m);
	}
	for (k = 0; k < m.n && !level; k++)
		recorded_double(&r, gv_master_gain(&m, 0, &m.share[k]));
	gv_master_free(&m);
	recorded_whole(&r, (long long)gv_columns_count_all(&d.p));
	asked_free(&q);
	drawn_free(&d);
}

static void
ask_dump(void)
{
	struct drawn d;
	struct asked q;
	struct gv_lp lp = {0};
	struct gv_lp_names names = {0};
	char name[GV_LP_NAME_LEN];
	bool level = uniform() < .5;
	size_t k;

	drawn_pairs(&d, 7, 0);
	asked_init(&q, &d.p, level, uniform() < .5 ? .1 : 0);
	if (level || uniform() < .5)
		gv_shared_program(&q.h, &lp, &names);
	else
		gv_shared_ratio_program(&q.h, q.list[4], &lp, &names);
	recorded_lp(&r, &lp);
	for (k = 0; k < lp.n_cols; k++) {
		names.col(names.ctx, k, name);
		recorded_text(&r, name);
	}
	for (k = 0; k < lp.n_rows; k++) {
		names.row(names.ctx, k, name);
		recorded_text(&r, name);
	}
	gv_lp_free(&lp);
	free(names.ctx);
	asked_free(&q);
	drawn_free(&d);
}

/* ---- what they come to ---- */

static double
times(const double *a, const double *b, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void
ask_solve(void)
{
	struct drawn d;
	struct asked q;
	struct gv_error e = {0};
	struct gv_shared_warm warm = {0};
	bool level = uniform() < .5;
	int rc, k;

	drawn_pairs(&d, 9, DRAWN_NEAR);
	asked_init(&q, &d.p, level, 0);
	q.h.all = uniform() < .2;
	q.h.exact = uniform() < .2;
	if (level && uniform() < .3)
		q.h.warm = &warm;
	for (k = 0; k < 2; k++) { /* the second time from where it ended */
		rc = gv_shared_solve(&q.h, "this", &e);
		recorded_whole(&r, rc);
		recorded_text(&r, e.text[0]);
		gv_error_clear(&e);
		if (rc != 0)
			break;
		recorded_rounded(&r, q.h.value, 7);
		recorded_rounded(&r, q.h.bound, 7);
		recorded_whole(&r, q.s.exact);
		wrong += gv_solution_excess(&d.p, &q.s) > 1e-15 ||
			 q.h.value > q.h.bound + 1e-12 * fabs(q.h.bound);
		if (level)
			recorded_rounded(
			    &r, q.h.limit / times(q.h.lambda, q.h.demand, d.p.n), 6);
		memset(q.s.x, 0, d.p.n * d.p.m * sizeof(*q.s.x));
	}
	gv_shared_warm_free(&warm);
	asked_free(&q);
	drawn_free(&d);
}

/* As policies ask for levels and sums: gaps are of what is sure. */
static void
ask_level(void)
{
	struct drawn d;
	struct gv_solution s = {0};
	struct gv_error e = {0};
	struct gv_level l;
	double *a, sum = 0, second = 0, *normal;
	bool all = uniform() < .2, exact = uniform() < .2, lexicographic = uniform() < .7;
	size_t i;
	int rc;

	drawn_pairs(&d, 8, DRAWN_NEAR);
	a = gv_xcalloc(d.p.n, d.p.m * sizeof(*a));
	s.x = gv_xcalloc(d.p.n, d.p.m * sizeof(*s.x));
	for (i = 0; i < d.p.n * d.p.m; i++)
		a[i] = d.p.rate[i] / d.p.weight[i / d.p.m];
	gv_level_init(&l, &d.p, &s, lexicographic);
	rc = gv_shared_level(&d.p, a, all, exact, "this", &l, &e);
	recorded_whole(&r, rc);
	recorded_text(&r, e.text[0]);
	if (rc == 0) {
		normal = gv_linear_normal(&d.p);
		gv_solution_throughput(&d.p, &s, a);
		second = times(normal, a, d.p.n);
		for (i = 0; i < d.p.n; i++)
			sum += l.lambda[i];
		recorded_rounded(&r, s.objective, 7);
		recorded_rounded(&r, s.bound, 7);
		recorded_rounded(&r, l.limit / sum, 6);
		if (lexicographic)
			recorded_rounded(&r, second, 4);
		recorded_whole(&r, s.has_bound);
		wrong += !(s.gap > (s.bound - s.objective) / s.bound && s.gap < 1e-9);
		free(normal);
	}
	gv_error_clear(&e);
	gv_level_free(&l);
	free(s.x);
	free(s.pair);
	free(a);
	drawn_free(&d);
}

static void
ask_sum(void)
{
	struct drawn d;
	struct asked q;
	struct gv_error e = {0};
	struct gv_linear l;
	double *thr, *need, *second;
	bool all = uniform() < .2, exact = uniform() < .2;
	size_t i;
	int rc;

	drawn_pairs(&d, 8, DRAWN_NEAR);
	asked_init(&q, &d.p, false, 0);
	thr = gv_xcalloc(d.p.n, sizeof(*thr));
	need = gv_xcalloc(d.p.n, sizeof(*need));
	second = gv_linear_normalised(&d.p);
	gv_problem_isolated(&d.p, q.s.x);
	for (i = 0; i < d.p.n; i++)
		if (uniform() < .4)
			need[i] = .5 * gv_problem_throughput(&d.p, q.s.x, i);
	memset(q.s.x, 0, d.p.n * d.p.m * sizeof(*q.s.x));
	gv_linear_init(&l, &d.p, &q.s);
	l.shared = &q.gain;
	l.second = uniform() < .5 ? second : NULL;
	l.shared_second = &q.second;
	l.need = uniform() < .7 ? need : NULL;
	rc = gv_shared_linear(&l, all, exact, "this", &e);
	recorded_whole(&r, rc);
	recorded_text(&r, e.text[0]);
	if (rc == 0) {
		gv_solution_throughput(&d.p, &q.s, thr);
		recorded_rounded(&r, q.s.objective, 7);
		recorded_rounded(&r, q.s.bound, 7);
		if (l.second != NULL)
			recorded_rounded(&r, times(q.second.job, thr, d.p.n), 4);
		for (i = 0; i < d.p.n && l.need != NULL; i++)
			wrong += thr[i] < need[i] * (1 - 1e-7);
		/* where nothing pays both are 0, but for rounding */
		wrong += q.s.bound > 1e-12 && !(q.s.gap > -1e-9 && q.s.gap < 1e-7);
	}
	gv_error_clear(&e);
	gv_linear_free(&l);
	free(thr);
	free(need);
	free(second);
	asked_free(&q);
	drawn_free(&d);
}

static void
ask_reach(void)
{
	struct drawn d;
	struct gv_reach reach;
	struct gv_error e = {0};
	double *want, *a;
	bool all = uniform() < .2, exact = uniform() < .2;
	size_t i;
	int rc;

	drawn_pairs(&d, 8, DRAWN_NEAR);
	want = drawn_list(d.p.n, .3, DRAWN_PART);
	want[0] = 1;
	a = gv_xcalloc(d.p.n, d.p.m * sizeof(*a));
	for (i = 0; i < d.p.n * d.p.m; i++)
		a[i] = d.p.rate[i] * d.p.weight[i / d.p.m];
	gv_reach_alloc(&reach, &d.p);
	rc = gv_reach_by_pairs(&reach, &d.p, a, want, all, exact, &e);
	recorded_whole(&r, rc);
	recorded_text(&r, e.text[0]);
	if (rc == 0) {
		recorded_rounded(&r, reach.limit / times(reach.lambda, want, d.p.n), 6);
		recorded_whole(&r, reach.exact);
	}
	gv_error_clear(&e);
	gv_reach_free(&reach);
	free(want);
	free(a);
	drawn_free(&d);
}

/* Up, in one direction after another, jobs coming in and going out. */
static void
ask_climb(void)
{
	struct drawn d;
	struct gv_climb c;
	struct gv_reach reach;
	struct gv_error e = {0};
	double *from, *by, *size;
	size_t i;
	int k, rc = 0;

	drawn_pairs(&d, 8, DRAWN_NEAR);
	from = gv_xcalloc(d.p.n, sizeof(*from));
	by = gv_xcalloc(d.p.n, sizeof(*by));
	size = gv_xcalloc(d.p.n, sizeof(*size));
	gv_problem_fastest(&d.p, size);
	gv_climb_init(&c, &d.p, d.p.rate, size);
	gv_reach_alloc(&reach, &d.p);
	for (k = 0; k < 4 && rc == 0; k++) {
		double t = 0, most = k == 0 ? .1 : .5;
		bool blocked = false;

		for (i = 0; i < d.p.n; i++) {
			double part = drawn_number(DRAWN_WHOLE);

			by[i] = uniform() < .4 ? 0 : .1 * part * size[i];
		}
		by[below(d.p.n)] = .1;
		rc = gv_climb_go_on(&c, from, by, most, &t, &blocked, &reach, &e);
		recorded_whole(&r, rc);
		recorded_rounded(&r, t < 1e-7 ? 0 : t, 5);
		recorded_whole(&r, blocked);
		for (i = 0; i < d.p.n; i++)
			from[i] += .999 * t * by[i];
	}
	gv_error_clear(&e);
	gv_climb_free(&c);
	gv_reach_free(&reach);
	free(from);
	free(by);
	free(size);
	drawn_free(&d);
}

static void
test_all(const char *what, uint32_t stream, void (*ask)(void), int answers, int each)
{
	int k, i;

	for (k = 0; k < answers; k++) {
		draws_begin(stream, 0, (uint32_t)k);
		for (i = 0; i < each; i++)
			ask();
		recorded_answer(&r, "%s, %d", what, k);
	}
}

int
main(void)
{
	recorded_open(&r);
	test_all("masters", 1, ask_master, 50, 20);
	test_all("programs", 2, ask_dump, 30, 20);
	test_all("solved", 3, ask_solve, 40, 6);
	test_all("reached", 4, ask_reach, 30, 6);
	test_all("levels", 6, ask_level, 30, 6);
	test_all("sums", 7, ask_sum, 30, 6);
	test_all("climbed", 5, ask_climb, 30, 6);
	recorded_close(&r);
	is_int(wrong, 0, "shares keep the constraints and pass no bound");
	return done_testing();
}
