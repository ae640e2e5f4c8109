/*
 * place/: placements, mixtures of them and turns of drawn problems are what they were.  What
 * GLPK comes to is kept in the digits that any solver comes to.
 */
#include "tap.h"

#include "alloc_help.h"
#include "alloc_draws.h"
#include "alloc/place/branching.h"
#include "alloc/place/domain.h"
#include "alloc/place/greedy.h"
#include "alloc/place/groups.h"
#include "alloc/place/hull_pricing.h"
#include "alloc/place/placed.h"
#include "alloc/place/turns.h"

static struct recorded r;

static const unsigned shapes = DRAWN_CLASSES | DRAWN_BROKEN;

/* Gains of jobs where they can run and elsewhere, some of them below 0, many of them equal. */
static double *
drawn_gains(const struct gv_problem *p)
{
	double *gain = gv_xcalloc(p->n, p->m * sizeof(*gain));
	enum drawn_sort sort = drawn_sort();
	double none = uniform() * .5, below_0 = uniform() * .4;
	size_t i;

	for (i = 0; i < p->n * p->m; i++) {
		double v = drawn_number(sort);

		if (uniform() < none)
			v = 0;
		gain[i] = uniform() < below_0 ? -v : v;
	}
	return gain;
}

/* Wrong placements, of all points, are what nobody may hand out. */
static bool
is_placement(const struct gv_problem *p, const double *point)
{
	size_t i, j;
	bool right = true;

	for (i = 0; i < p->n; i++) {
		double jobs = 0;

		for (j = 0; j < p->m; j++) {
			double n = point[i * p->m + j];

			jobs += n;
			right = right && n >= 0 && n == floor(n);
		}
		right = right && jobs <= p->count[i];
	}
	for (j = 0; j < p->m; j++) {
		double gpus = 0;

		for (i = 0; i < p->n; i++)
			gpus += p->scale[i] * point[i * p->m + j];
		right = right && gpus <= p->capacity[j];
	}
	return right;
}

/* ---- by steps ---- */

/* The best placement, first of all, then of those that are worth more than a part of it. */
static void
ask_patterns(const struct gv_problem *p, const double *gain)
{
	static const double parts[] = {0, .96, 1.02}, works[] = {INFINITY, 2e4, INFINITY};
	size_t cells = p->n * p->m, k, i;
	double best = 0, most;

	for (k = 0; k < 3; k++) {
		double *point = gv_xcalloc(cells, sizeof(*point)), sum = 0;

		recorded_whole(&r,
		    gv_placement_best(p, gain, parts[k] * best, works[k], point, &most));
		for (i = 0; i < cells; i++) {
			sum += point[i] * gain[i];
			recorded_way(&r, point[i]);
		}
		if (!is_placement(p, point))
			recorded_text(&r, "no placement");
		recorded_way(&r, most);
		if (k == 0)
			recorded_solved(&r, best = sum);
		free(point);
	}
}

static void
ask_greedy(size_t n, size_t m)
{
	struct drawn d;
	size_t cells, rounds = 1 + below(12), k;
	double *x, *gain, *point, sum;

	drawn_problem(&d, n, m, 0, shapes);
	cells = n * m;
	x = gv_xcalloc(n, m * sizeof(*x));
	drawn_shares(&d.p, x);
	point = gv_xcalloc(rounds, cells * sizeof(*point));
	gv_greedy_rounds(&d.p, x, rounds, point);
	recorded_doubles(&r, point, rounds * cells);
	for (k = 0; k < rounds; k++)
		if (!is_placement(&d.p, &point[k * cells]))
			recorded_text(&r, "no placement");
	gain = drawn_gains(&d.p);
	if (uniform() < .5) {
		memset(point, 0, cells * sizeof(*point));
		gv_greedy_by_gain(&d.p, gain, point);
		recorded_doubles(&r, point, cells);
	}
	sum = gv_greedy_improve(&d.p, gain, point);
	recorded_double(&r, sum);
	recorded_doubles(&r, point, cells);
	ask_patterns(&d.p, gain);
	free(x);
	free(gain);
	free(point);
	drawn_free(&d);
}

static void
test_greedy(void)
{
	size_t n;
	int k, i;

	for (k = 0; k < 60; k++) {
		draws_begin(1, 0, (uint32_t)k);
		for (i = 0; i < 12; i++) {
			n = drawn_size(10);
			ask_greedy(n, drawn_size(4));
		}
		recorded_answer(&r, "by steps, %d", k);
	}
	for (k = 0; k < 8; k++) { /* too many for the best; and types too large */
		draws_begin(1, 1, (uint32_t)k);
		n = 40 + below(60);
		ask_greedy(n, 1 + below(7));
		recorded_answer(&r, "by steps, many jobs, %d", k);
	}
}

/* A few jobs on very many GPUs: what is looked at in full ends somewhere. */
static void
test_many_gpus(void)
{
	static const double gpus[] = {100, 511, 512, 513, 3000, 131071, 131072, 2e6};
	size_t k, i;

	for (k = 0; k < sizeof(gpus) / sizeof(gpus[0]); k++) {
		draws_begin(1, 2, (uint32_t)k);
		for (i = 0; i < 4; i++) {
			struct drawn d;
			double *gain, *point;
			size_t at, n = 1 + below(4), m = 1 + below(3);

			drawn_problem(&d, n, m, 0, DRAWN_CLASSES);
			d.p.capacity[0] = gpus[k];
			for (at = 0; at < n; at++) {
				d.p.count[at] = (double)(1 + below(600));
				d.p.scale[at] = (double)(1 + below(8));
			}
			gain = drawn_gains(&d.p);
			point = gv_xcalloc(n, m * sizeof(*point));
			recorded_double(&r, gv_greedy_improve(&d.p, gain, point));
			recorded_doubles(&r, point, n * m);
			if (n * gpus[k] < 2000)
				ask_patterns(&d.p, gain);
			free(gain);
			free(point);
			drawn_free(&d);
		}
		recorded_answer(&r, "%.0f GPUs", gpus[k]);
	}
}

/* ---- turns ---- */

/* A mixture of placements, whole or not much more than that. */
static void
drawn_mixture(const struct gv_problem *p, double *x)
{
	size_t cells = p->n * p->m, parts = 1 + below(5), k, i;
	double *point = gv_xcalloc(cells, sizeof(*point)), left = 1;

	memset(x, 0, cells * sizeof(*x));
	for (k = 0; k < parts; k++) {
		double *gain = drawn_gains(p);
		double part = k == parts - 1 ? left : left * (double)(1 + below(7)) / 8;

		memset(point, 0, cells * sizeof(*point));
		gv_greedy_by_gain(p, gain, point);
		for (i = 0; i < cells; i++)
			x[i] += part * point[i] / p->count[i / p->m];
		left -= part;
		free(gain);
	}
	free(point);
}

/* Shares that are mixtures, or nearly, or what fills all GPUs. */
static void
drawn_turns(const struct gv_problem *p, double *x)
{
	double way = uniform();
	size_t i;

	if (way < .5) {
		drawn_mixture(p, x);
	} else if (way < .8) {
		drawn_mixture(p, x);
		for (i = 0; i < p->n * p->m; i++)
			x[i] *= 1 + .2 * uniform();
		gv_problem_clean(p, x);
	} else {
		drawn_shares(p, x);
		gv_problem_clean(p, x);
	}
}

static void
test_turns(void)
{
	int k, i;

	for (k = 0; k < 60; k++) {
		draws_begin(2, 0, (uint32_t)k);
		for (i = 0; i < 12; i++) {
			size_t n = drawn_size(9), m = drawn_size(4);
			struct drawn d;
			double *x;

			drawn_problem(&d, n, m, 0, shapes);
			x = gv_xcalloc(n, m * sizeof(*x));
			drawn_turns(&d.p, x);
			recorded_whole(&r, gv_turns_by_stairs(&d.p, x));
			recorded_whole(&r, gv_groups_fit(&d.p, x));
			recorded_whole(&r, gv_turns_exist(&d.p, x));
			free(x);
			drawn_free(&d);
		}
		recorded_answer(&r, "turns, %d", k);
	}
}

/* Rows of several jobs on several types, which fill what there is: how they are laid out counts. */
static void
test_full_turns(void)
{
	int k, i;

	for (k = 0; k < 40; k++) {
		draws_begin(2, 1, (uint32_t)k);
		for (i = 0; i < 60; i++) {
			size_t n = 1 + below(k % 2 ? 14 : 6), m = 2 + below(3), j;
			struct drawn d;
			double *x;

			drawn_problem(&d, n, m, 0, DRAWN_CLASSES | DRAWN_NEAR);
			for (j = 0; j < n; j++)
				d.p.count[j] = k % 2 ? 1 : (double)(1 + below(7));
			for (j = 0; j < n * m; j++)
				d.p.rate[j] = fmax(d.p.rate[j], .5);
			x = gv_xcalloc(n, m * sizeof(*x));
			drawn_mixture(&d.p, x);
			recorded_whole(&r, gv_turns_by_stairs(&d.p, x));
			recorded_whole(&r, gv_groups_fit(&d.p, x));
			free(x);
			drawn_free(&d);
		}
		recorded_answer(&r, "full turns, %d", k);
	}
}

static void
drawn_type(struct gv_turns_type *t)
{
	size_t k, i, slots = uniform() < .1 ? 20 : 3;
	double gang = 0;

	*t = (struct gv_turns_type){
	    .gpus = (double)(1 + below(12)), .n_sizes = 1 + below(3)};
	t->size = gv_xcalloc(t->n_sizes, sizeof(*t->size));
	for (k = 0; k < t->n_sizes; k++) {
		struct gv_turns_size *s = &t->size[k];
		double none = uniform();

		gang += (double)(1 + below(3));
		s->gang = gang;
		s->spread = uniform() < .7 ? 0 : .25 * (double)below(6);
		s->n = none < .3 ? 0 : 1 + below(4);
		s->jobs = gv_xcalloc(s->n + 1, sizeof(*s->jobs));
		for (i = 0; i < s->n; i++) {
			s->jobs[i].share = (double)(1 + below(8)) / 8;
			s->jobs[i].jobs = (double)(1 + below(3));
		}
	}
	t->n_stays = below(slots);
	t->stay = gv_xcalloc(t->n_stays + 1, sizeof(*t->stay));
	for (k = 0; k < t->n_stays; k++) {
		double from = (double)below(slots > 3 ? 64 : 8) / (slots > 3 ? 64 : 8);

		t->stay[k].size = below(t->n_sizes);
		t->stay[k].from = from;
		t->stay[k].to = from + (1 - from) * (double)(1 + below(4)) / 4;
	}
}

static void
test_stairs(void)
{
	int k, i;
	size_t s, a;

	for (k = 0; k < 40; k++) {
		draws_begin(2, 1, (uint32_t)k);
		for (i = 0; i < 20; i++) {
			struct gv_turns_type t;

			drawn_type(&t);
			recorded_whole(&r, gv_turns_fit(&t));
			for (s = 0; s < t.n_sizes; s++) {
				for (a = 0; a < t.size[s].n; a++)
					recorded_double(&r, t.size[s].jobs[a].share);
				free(t.size[s].jobs);
			}
			free(t.size);
			free(t.stay);
		}
		recorded_answer(&r, "stairs, %d", k);
	}
}

/* ---- hulls ---- */

static void
record_points(const struct gv_hull *h)
{
	size_t cells = h->p->n * h->p->m, k;

	recorded_whole(&r, (long long)h->n_placements);
	recorded_doubles(&r, h->point, h->n_placements * cells);
	for (k = 0; k < h->n_placements; k++)
		if (!is_placement(h->p, &h->point[k * cells]))
			recorded_text(&r, "no placement");
}

static void
ask_hull(const struct gv_problem *p, double work)
{
	size_t cells = p->n * p->m, rounds = 1 + below(6), k;
	double *x = gv_xcalloc(cells, sizeof(*x));
	double *gain = drawn_gains(p), enough;
	struct gv_hull h;

	gv_hull_init(&h, p);
	recorded_lp(&r, &h.placement);
	drawn_shares(p, x);
	gv_hull_add_rounds(&h, x, rounds);
	record_points(&h);
	h.weight = gv_xcalloc(h.n_placements + 1, sizeof(double));
	for (k = 0; k < h.n_placements; k++)
		h.weight[k] = uniform() < .3 ? 0 : uniform();
	k = below(h.n_placements);
	enough = gv_hull_value(&h, &h.point[k * cells], gain);
	recorded_double(&r, enough);
	enough = uniform() < .3 ? 0 : enough;
	recorded_whole(&r, gv_hull_price_by_steps(&h, gain, enough));
	record_points(&h);
	k = h.n_placements;
	recorded_rounded(&r, gv_hull_price(&h, gain, enough, work), 9);
	recorded_whole(&r, h.n_placements > k);
	if (h.n_placements > k)
		recorded_rounded(&r, gv_hull_value(&h, &h.point[k * cells], gain), 9);
	gv_hull_free(&h);
	free(x);
	free(gain);
}

static void
test_hulls(void)
{
	int k, i;

	for (k = 0; k < 40; k++) {
		draws_begin(3, 0, (uint32_t)k);
		for (i = 0; i < 10; i++) {
			size_t n = drawn_size(8), m = drawn_size(3);
			struct drawn d;

			drawn_problem(&d, n, m, 0, shapes);
			ask_hull(&d.p, INFINITY);
			drawn_free(&d);
		}
		recorded_answer(&r, "hulls, %d", k);
	}
}

/* More GPUs than all ways to use them can be looked at: by branch and cut. */
static void
test_wide_hulls(void)
{
	int k, i;

	for (k = 0; k < 20; k++) {
		draws_begin(3, 1, (uint32_t)k);
		for (i = 0; i < 3; i++) {
			size_t n = 4 + below(6), m = 4 + below(3), j;
			struct drawn d;

			drawn_problem(&d, n, m, 0, shapes | DRAWN_NEAR);
			for (j = 0; j < m; j++)
				d.p.capacity[j] += 30;
			for (j = 0; j < n; j++)
				d.p.scale[j] += (double)(2 * below(4));
			ask_hull(&d.p, uniform() < .5 ? 1e4 : 5e5);
			drawn_free(&d);
		}
		recorded_answer(&r, "wide hulls, %d", k);
	}
}

/* ---- programs ---- */

static void
record_program(const struct gv_placement_program *g)
{
	const struct gv_problem *p = g->p;
	double lower = 0;
	size_t i;

	recorded_whole(&r, g->value >= g->target);
	if (isfinite(g->target))
		return;
	recorded_rounded(&r, g->value, 7);
	for (i = 0; i < p->n && g->lower != NULL; i++)
		lower += g->dual[i] * g->lower[i];
	if (isinf(g->lagrangian_max))
		recorded_text(&r, "reached");
	else if (g->first == NULL && !g->level)
		recorded_rounded(
		    &r, g->lagrangian_max + g->budget_dual * g->budget - lower, 6);
}

/* A program of every sort, of whole placements or parts of them. */
static void
ask_program(const struct gv_problem *p, bool whole)
{
	size_t cells = p->n * p->m, i;
	struct gv_domain w;
	struct gv_placement_program g;
	struct gv_error e = {0};
	double *gain = drawn_gains(p), *x = gv_xcalloc(cells, sizeof(*x));
	double *each = gv_xcalloc(cells, sizeof(*each));
	double *first = drawn_gains(p), *number = gv_xcalloc(2 * p->n, sizeof(double));
	int rc;

	drawn_mixture(p, each);
	for (i = 0; i < 2 * p->n; i++)
		number[i] = uniform() < .3 ? 0 : uniform();
	gv_domain_init(&w, p, whole);
	gv_problem_isolated(p, x);
	gv_domain_seed(&w, x);
	gv_placement_program_init(&g, p);
	g.throughput = p->rate;
	g.level = uniform() < .6;
	if (g.level)
		g.demand = number;
	if (uniform() < .3)
		g.lower = number + p->n;
	if (!g.level || uniform() < .3)
		g.gain = gain;
	if (uniform() < .3) {
		g.first = first;
		g.first_value = .1;
	}
	if (whole && g.level && uniform() < .5)
		g.each = each;
	g.sure = uniform() < .3;
	if (uniform() < .2)
		g.target = 1;
	rc = gv_domain_solve(&w, &g, "this", &e);
	recorded_whole(&r, rc);
	recorded_text(&r, e.text[0]);
	if (rc == 0)
		record_program(&g);
	gv_error_clear(&e);
	gv_placement_program_free(&g);
	gv_domain_free(&w);
	free(gain);
	free(first);
	free(number);
	free(each);
	free(x);
}

static void
test_programs(void)
{
	int k, i, whole;

	for (whole = 0; whole < 2; whole++)
		for (k = 0; k < 20; k++) {
			draws_begin(4, (uint32_t)whole, (uint32_t)k);
			for (i = 0; i < 8; i++) {
				size_t n = drawn_size(7), m = drawn_size(3);
				struct drawn d;

				drawn_problem(&d, n, m, 0,
				    shapes | DRAWN_BUDGET | (whole ? 0 : DRAWN_MISFITS));
				ask_program(&d.p, whole);
				drawn_free(&d);
			}
			recorded_answer(
			    &r, "programs of %s, %d", whole ? "placements" : "parts", k);
		}
}

/* ---- policies ---- */

static double at; /* of what is known to be the best, the last time */

static void
note(double part)
{
	at = part;
}

static double
second_sum(const struct gv_problem *p, const double *x)
{
	double *gain = gv_linear_normalised(p);
	double sum = gv_linear_sum(p, gain, x);

	free(gain);
	return sum;
}

static void
ask_policy(const struct gv_policy *policy, bool placeable)
{
	struct gv_policy_options opt = {.relax_slo = true};
	size_t n = drawn_size(8), m = drawn_size(3), i;
	unsigned numbers = policy->numbers;
	struct gv_solution s = {0};
	struct gv_error e = {0};
	struct drawn d;
	int rc;

	if (uniform() < .5)
		numbers &= ~(unsigned)GV_NEEDS;
	drawn_problem(
	    &d, n, m, numbers, shapes | DRAWN_BUDGET | (placeable ? DRAWN_NEAR : 0));
	for (i = 0; i < m; i++)
		if (d.p.price[i] == 0)
			d.p.price[i] = 1;
	opt.solve.placeable = placeable;
	if (uniform() < .5)
		opt.solve.progress = note;
	at = 0;
	s.x = gv_xcalloc(n, m * sizeof(*s.x));
	gv_multipliers_alloc(&s.multipliers, n, m);
	rc = policy->solve(&d.p, &opt, &s, &e);
	recorded_whole(&r, rc);
	recorded_text(&r, e.text[0]);
	recorded_whole(&r, at > 0);
	if (rc == 0) {
		recorded_rounded(&r, s.objective, 7);
		recorded_rounded(&r, s.bound, 6);
		recorded_rounded(&r, s.relaxation, 6);
		recorded_whole(&r, s.multipliers.known);
		recorded_whole(&r, s.has_bound);
		recorded_whole(&r, s.gap < 1e-6);
		if (policy == &gv_policy_max_min || policy == &gv_policy_max_sum)
			recorded_rounded(&r, second_sum(&d.p, s.x), 3);
	}
	gv_error_clear(&e);
	free(s.x);
	free(s.late);
	gv_multipliers_free(&s.multipliers);
	drawn_free(&d);
}

static void
test_policies(void)
{
	static const struct gv_policy *const policy[] = {&gv_policy_max_min,
	    &gv_policy_makespan, &gv_policy_finish_time, &gv_policy_max_sum,
	    &gv_policy_min_cost, &gv_policy_per_dollar, &gv_policy_fifo};
	size_t k, i, q, whole;

	for (k = 0; k < sizeof(policy) / sizeof(policy[0]); k++)
		for (whole = 0; whole < 2; whole++)
			for (i = 0; i < 3; i++) {
				draws_begin(5, (uint32_t)k, (uint32_t)(2 * i + whole));
				for (q = 0; q < 6; q++)
					ask_policy(policy[k], whole);
				recorded_answer(&r, "%s%s, %zu", policy[k]->name,
				    whole ? ", placeable" : "", i);
			}
}

/* The budget's row in the programs of policies. */
static void
test_budgets(void)
{
	static const struct gv_policy *const policy[] = {&gv_policy_max_min,
	    &gv_policy_makespan, &gv_policy_max_sum, &gv_policy_per_dollar};
	size_t k, i;

	for (k = 0; k < sizeof(policy) / sizeof(policy[0]); k++) {
		draws_begin(6, (uint32_t)k, 0);
		for (i = 0; i < 10; i++) {
			size_t n = drawn_size(14), m = drawn_size(12);
			struct gv_lp_names names = {0};
			struct gv_lp lp = {0};
			struct drawn d;

			drawn_problem(&d, n, m, policy[k]->numbers & ~(unsigned)GV_NEEDS,
			    shapes | DRAWN_BUDGET);
			policy[k]->program(&d.p, &lp, &names);
			gv_placed_add_budget(&d.p, &lp, &names);
			recorded_lp(&r, &lp);
			gv_lp_free(&lp);
			free(names.ctx);
			drawn_free(&d);
		}
		recorded_answer(&r, "budget of %s", policy[k]->name);
	}
}

int
main(void)
{
	recorded_open(&r);
	test_greedy();
	test_many_gpus();
	test_turns();
	test_full_turns();
	test_stairs();
	test_hulls();
	test_wide_hulls();
	test_programs();
	test_policies();
	test_budgets();
	recorded_close(&r);
	return done_testing();
}
