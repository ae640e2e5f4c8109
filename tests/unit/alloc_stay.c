/*
 * Answers that stay close to the last one (alloc/answer/stay), against the two programs that
 * its header asks for, written here plainly.
 */
#include "tap.h"

#include <stdlib.h>

#include "alloc/answer/answer.h"
#include "alloc/answer/stay.h"
#include "alloc_help.h"
#include "lp/precise.h"

enum { JOBS = 5, TYPES = 3 };

/* Not in the order of their names. */
static struct gv_gpu_type types[TYPES] = {{.name = "v100", .usd_per_h = 3},
    {.name = "k80", .usd_per_h = .5}, {.name = "p100", .usd_per_h = 1.25}};
static struct gv_cluster cluster = {.n_types = TYPES, .type = types};

static struct gv_cell
cell(const char *s)
{
	return (struct gv_cell){.s = s, .len = strlen(s)};
}

/* Jobs of all kinds: gangs, some that differ in their costs of moving alone, some with a need. */
static struct gv_rates
random_rates(size_t n, double unit)
{
	const struct gv_cell names[] = {
	    cell("job_id"), cell("gpu_type"), cell("steps_per_s")};
	struct gv_frame frame = {0};
	struct gv_rates r = {0};
	struct gv_error e = {0};
	double rate[TYPES] = {0};
	size_t i, j;

	gv_frame_start(&frame, "memory", false, names, 3);
	for (i = 0; i < n; i++)
		for (j = 0; j < TYPES; j++) {
			char id[32], number[32];
			struct gv_cell row[3];

			if (i % 3 != 2) /* else as the one before it */
				rate[j] =
				    uniform() < .2 ? 0 : unit * exp(3 * uniform() - 1.5);
			snprintf(id, sizeof(id), "job%zu", i);
			snprintf(number, sizeof(number), "%.17g", rate[j]);
			row[0] = cell(id);
			row[1] = cell(types[j].name);
			row[2] = cell(number);
			gv_frame_add(&frame, row, (long)(i * TYPES + j) + 2);
		}
	if (gv_rates_from(&r, &frame, &cluster, &e) != 0)
		gv_die_error(&e);
	for (i = 0; i < n; i++) {
		r.job[i].scale_factor =
		    i % 3 == 2 ? r.job[i - 1].scale_factor : 1 + (int64_t)below(3);
		r.job[i].move_cost = i % 3 == 2 && uniform() < .5 ? r.job[i - 1].move_cost
								  : (double)below(4);
		r.job[i].min_steps_per_s = uniform() < .2 ? .3 * unit * uniform() : 0;
	}
	return r;
}

/* y [p.n][m] in the problem's types, and what it costs to move a GPU of each job. */
struct last {
	double y[JOBS * TYPES], cost[JOBS];
};

/* Last shares, of jobs that were there; of one that is no longer there, too. */
static void
random_last(struct gv_previous *v, struct last *w, const struct gv_answer *a,
    const struct gv_rates *r)
{
	size_t i, j;

	*w = (struct last){{0}, {0}};
	gv_previous_clear(v, TYPES);
	gv_previous_add(v, cell("gone"), below(TYPES), .5);
	for (i = 0; i < r->n_jobs; i++) {
		size_t k = a->row[i];
		bool near = uniform() < .3;

		if (uniform() < .2)
			continue;
		for (j = 0; j < TYPES; j++) {
			double y = uniform() < .4   ? 0
				   : uniform() < .1 ? 1.25
						    : uniform() / 2;

			if (near && k != SIZE_MAX)
				y = a->s.x[k * TYPES + a->type[j]];
			gv_previous_add(v, r->job[i].id, j, y);
			if (k != SIZE_MAX)
				w->y[k * TYPES + a->type[j]] = fmin(1, y);
		}
		if (k != SIZE_MAX)
			w->cost[k] = r->job[i].move_cost;
	}
}

static double
distance(const struct gv_problem *p, const struct last *w, const double *x)
{
	double sum = 0;
	size_t at;

	for (at = 0; at < p->n * p->m; at++)
		sum += w->cost[at / p->m] * p->scale[at / p->m] * fabs(x[at] - w->y[at]);
	return sum / 2;
}

/* sum_i s_i thr_i / P_i */
static double
sum_of(const struct gv_problem *p, const double *x)
{
	double equal[JOBS], sum = 0;
	size_t i;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++)
		sum += p->scale[i] * gv_problem_throughput(p, x, i) / equal[i];
	return sum;
}

/* The part of its throughput that a job may give up, and what all may cost. */
struct limits {
	double part, cost, sum; /* sum: of steps per dollar at least; 0 = any */
};

/* x in columns 0 to n m - 1, |x - y| in those after them. */
static void
plain_program(struct gv_lp *lp, const struct gv_answer *best, const struct last *w,
    const struct limits *l)
{
	const struct gv_problem *p = &best->p;
	double *need = gv_answer_needs(best);
	size_t nm = p->n * p->m, i, j, at, row;

	*lp = (struct gv_lp){0};
	for (at = 0; at < nm; at++)
		gv_lp_add_col(lp, 0, INFINITY, 0);
	for (at = 0; at < nm; at++) {
		size_t col = gv_lp_add_col(
		    lp, 0, INFINITY, w->cost[at / p->m] * p->scale[at / p->m] / 2);

		if (p->rate[at] == 0) {
			row = gv_lp_add_row(lp, -INFINITY, 0);
			gv_lp_set(lp, row, at, 1);
			continue;
		}
		row = gv_lp_add_row(lp, w->y[at], INFINITY);
		gv_lp_set(lp, row, at, 1);
		gv_lp_set(lp, row, col, 1);
		row = gv_lp_add_row(lp, -INFINITY, w->y[at]);
		gv_lp_set(lp, row, at, 1);
		gv_lp_set(lp, row, col, -1);
	}
	for (i = 0; i < p->n; i++) {
		double has = gv_problem_throughput(p, best->s.x, i);

		row = gv_lp_add_row(lp, -INFINITY, 1);
		for (j = 0; j < p->m; j++)
			gv_lp_set(lp, row, i * p->m + j, 1);
		has = fmin(has, fmax((1 - l->part) * has, need[i])) * (1 - 1e-10);
		row = gv_lp_add_row(lp, has, INFINITY);
		for (j = 0; j < p->m; j++)
			gv_lp_set(lp, row, i * p->m + j, gv_problem_rate(p, i, j));
	}
	for (j = 0; j < p->m; j++) {
		row = gv_lp_add_row(lp, -INFINITY, p->capacity[j]);
		for (i = 0; i < p->n; i++)
			gv_lp_set(lp, row, i * p->m + j, p->scale[i]);
	}
	if (isfinite(l->cost)) {
		row = gv_lp_add_row(lp, -INFINITY, l->cost * (1 + 1e-10));
		for (at = 0; at < nm; at++)
			gv_lp_set(lp, row, at, p->scale[at / p->m] * p->price[at % p->m]);
	}
	if (l->sum > 0) {
		row = gv_lp_add_row(lp, l->sum * (1 - 1e-10), INFINITY);
		for (at = 0; at < nm; at++)
			gv_lp_set(lp, row, at, p->rate[at] / p->price[at % p->m] * 3600);
	}
	free(need);
}

/* The least that moves, and the largest sum of those who move so little. */
static void
plain_optima(const struct gv_lp *lp, const struct gv_problem *p, const struct last *w,
    double *moves, double *sum)
{
	double equal[JOBS], second[2 * JOBS * TYPES] = {0}, x[JOBS * TYPES];
	struct gv_lp_solution s;
	size_t nm = p->n * p->m, at;

	gv_problem_equal_throughput(p, equal);
	for (at = 0; at < nm; at++) /* they are least */
		second[at] = -p->scale[at / p->m] * p->rate[at] / equal[at / p->m];
	gv_lp_precisely(lp, second, &s);
	if (s.status != GV_LP_OPTIMAL)
		gv_die("a program has no answer");
	for (at = 0; at < nm; at++)
		x[at] = p->rate[at] > 0 ? s.x[at] : 0;
	*moves = distance(p, w, x);
	*sum = sum_of(p, x);
	gv_lp_solution_free(&s);
}

/* ---- what is wrong with answers ---- */

struct counts {
	int moving, sums, faults;
};

static double
slower(const struct gv_answer *best, const double *x)
{
	double most = 0;
	size_t i;

	for (i = 0; i < best->p.n; i++)
		most = fmax(most, 1 - gv_problem_throughput(&best->p, x, i) /
					  gv_problem_throughput(&best->p, best->s.x, i));
	return most;
}

static int
money_faults(const struct gv_problem *p, const struct limits *l, const double *x)
{
	double sum = 0;
	size_t at;

	for (at = 0; at < p->n * p->m; at++)
		sum += p->rate[at] * x[at] / p->price[at % p->m] * 3600;
	for (at = 0; at < p->n * p->m; at++) /* nor what is no use */
		if (p->rate[at] == 0 && x[at] != 0)
			return 1;
	return !(gv_problem_cost(p, x) <= l->cost * (1 + 1e-9)) +
	       !(sum >= l->sum * (1 - 1e-9));
}

/* a: the answer that stays close to w; best: the policy's own. */
static void
check(const struct gv_answer *a, const struct gv_answer *best, const struct last *w,
    const struct limits *l, bool level, struct counts *n)
{
	const struct gv_stayed *to = &a->stayed;
	double without = distance(&best->p, w, best->s.x), moves, sum;
	struct gv_lp lp;

	plain_program(&lp, best, w, l);
	plain_optima(&lp, &best->p, w, &moves, &sum);
	gv_lp_free(&lp);
	n->faults += !to->asked || to->failed || to->idle;
	n->faults += !near(to->without, without, 1e-9) || to->best != best->s.objective ||
		     to->gap != best->s.gap;
	n->faults += !near(to->moved, distance(&a->p, w, a->s.x), 1e-9) ||
		     !(fabs(to->moved - moves) <= 1e-6 * fmax(1e-3, moves));
	n->faults += !(gv_problem_excess(&a->p, a->s.x) <= 1e-15);
	n->faults += !(slower(best, a->s.x) <= l->part + 1e-9) ||
		     !(fabs(to->slower - fmax(0, slower(best, a->s.x))) <= 1e-9);
	n->faults += money_faults(&a->p, l, a->s.x);
	if (level)
		n->faults +=
		    !near(a->s.objective, gv_problem_level(&a->p, a->s.x), 1e-9) ||
		    !(fabs(a->s.gap - fabs(a->s.bound - a->s.objective) /
					  fmax(a->s.bound, a->s.objective)) <= 1e-12);
	n->moving += to->moved < to->without * .9;
	if (l->part > 0 && to->moved < to->without * (1 - 1e-6)) {
		n->sums++;
		n->faults += !(fabs(sum_of(&a->p, a->s.x) - sum) <= 1e-5 * sum);
	}
}

/* The answer without last shares, and with such. */
static void
ask_both(const struct gv_policy *policy, bool budget, int k, struct counts *n)
{
	struct gv_rates r = random_rates(1 + below(JOBS), k & 1 ? 1 : 1e-5);
	struct gv_answer_options opt = {.budget = budget ? 4 + 4 * uniform() : 0};
	struct limits l = {.part = k % 3 * .05, .cost = INFINITY};
	struct gv_previous v = {0};
	struct gv_answer a, best;
	struct gv_error e = {0};
	struct last w;

	opt.policy.relax_slo = true;
	if (gv_answer_make(&best, &r, &cluster, policy, &opt, &e) != 0)
		gv_die_error(&e);
	random_last(&v, &w, &best, &r);
	opt.previous = &v;
	opt.stay = l.part;
	if (gv_answer_make(&a, &r, &cluster, policy, &opt, &e) != 0)
		gv_die_error(&e);
	if (policy->measure == GV_MEASURE_PER_DOLLAR ||
	    policy->measure == GV_MEASURE_RATIO)
		l.cost = gv_problem_cost(&best.p, best.s.x);
	else if (budget)
		l.cost = opt.budget;
	if (policy->measure == GV_MEASURE_PER_DOLLAR)
		l.sum = (1 - l.part) * best.s.objective;
	if (best.p.n > 0)
		check(&a, &best, &w, &l, policy->measure == GV_MEASURE_LEVEL, n);
	gv_answer_free(&a);
	gv_answer_free(&best);
	gv_previous_free(&v);
	gv_rates_free(&r);
}

static void
test_programs(const char *name, bool budget, int turns)
{
	struct counts n = {0};
	size_t j;
	int k;

	for (k = 0; k < turns; k++) {
		for (j = 0; j < TYPES; j++)
			types[j].gpus = 1 + below(3);
		ask_both(gv_policy_find(name), budget, k, &n);
	}
	is_int(n.faults, 0, "%s: as close as its programs are", name);
	ok(n.moving > turns / 10 && n.sums > turns / 10,
	    "%d of %d closer than the policy's own", n.moving, turns);
}

/* What is remembered is what was answered. */
static void
test_remember(void)
{
	struct gv_rates r = random_rates(JOBS, 1);
	struct gv_answer_options opt = {0};
	struct gv_previous v = {0};
	struct gv_answer a, again;
	struct gv_error e = {0};
	size_t i, j, faults = 0;

	opt.policy.relax_slo = true;
	if (gv_answer_make(&a, &r, &cluster, gv_policy_find("max-min"), &opt, &e) != 0)
		gv_die_error(&e);
	gv_previous_clear(&v, TYPES);
	gv_previous_add(&v, cell("gone"), 0, 1);
	gv_stay_remember(&v, &a, &r);
	ok(gv_previous_find(&v, cell("gone")) == NULL, "of no other job");
	for (i = 0; i < r.n_jobs; i++) {
		const double *had = gv_previous_find(&v, r.job[i].id);

		faults += (had == NULL) != (a.row[i] == SIZE_MAX);
		for (j = 0; had != NULL && j < TYPES; j++)
			faults += had[j] != a.s.x[a.row[i] * a.p.m + a.type[j]];
	}
	is_int(faults, 0, "what jobs have, by the cluster's types");
	opt.previous = &v;
	if (gv_answer_make(&again, &r, &cluster, gv_policy_find("max-min"), &opt, &e) !=
	    0)
		gv_die_error(&e);
	ok(again.stayed.asked && again.stayed.without == 0 && again.stayed.moved == 0 &&
		memcmp(a.s.x, again.s.x, a.p.n * a.p.m * sizeof(*a.s.x)) == 0,
	    "asked again nothing moves");
	gv_answer_free(&a);
	gv_answer_free(&again);
	gv_previous_free(&v);
	gv_rates_free(&r);
}

int
main(void)
{
	draws_begin(33, 0, 0);
	test_programs("max-min", false, 120);
	test_programs("max-min", true, 60);
	test_programs("max-sum", false, 60);
	test_programs("min-cost+per-dollar", false, 60);
	test_programs("min-cost", false, 60);
	test_remember();
	return done_testing();
}
