/*
 * Water-filling over trees of entities, with quotas and minimums: against its definition,
 * with time halved until it fits, and a linear program for each question.
 */
#include "tap.h"

#include <stdint.h>
#include <stdlib.h>

#include "alloc_help.h"
#include "alloc/problem/tree.h"
#include "lp/lp.h"

enum { MOST_JOBS = 9, MOST_NODES = 8 };

/* ---- problems ---- */

/* Nodes whose parents come first; jobs are of nodes that have no others in them. */
static void
random_tree(struct gv_tree *t, size_t n, double gpus, bool quotas)
{
	double left = gpus;
	size_t k;

	*t = (struct gv_tree){.n = n};
	t->parent = gv_xcalloc(n, sizeof(*t->parent));
	t->weight = gv_xcalloc(n, sizeof(*t->weight));
	t->quota = gv_xcalloc(n, sizeof(*t->quota));
	for (k = 0; k < n; k++) {
		t->parent[k] = k == 0 || uniform() < .4 ? SIZE_MAX : below(k);
		if (t->parent[k] != SIZE_MAX && t->parent[t->parent[k]] != SIZE_MAX &&
		    t->parent[t->parent[t->parent[k]]] != SIZE_MAX)
			t->parent[k] = SIZE_MAX; /* the definition takes long there */
		t->weight[k] = (double)(1 + below(3));
	}
	for (k = n; quotas && k-- > 0;) {
		double inside = 0;
		size_t i;

		for (i = k + 1; i < n; i++)
			inside += t->parent[i] == k ? t->quota[i] : 0;
		if (uniform() < .6)
			t->quota[k] = inside + uniform() * left / 2;
		left -= fmax(0, t->quota[k] - inside);
	}
	/* an inner node without a quota must not hide those in it from the one above */
	for (k = n; k-- > 0;)
		if (t->parent[k] != SIZE_MAX && t->quota[t->parent[k]] > 0) {
			double inside = 0;
			size_t i;

			for (i = 0; i < n; i++)
				inside += t->parent[i] == t->parent[k] ? t->quota[i] : 0;
			t->quota[t->parent[k]] = fmax(t->quota[t->parent[k]], inside);
		}
}

static bool
is_leaf(const struct gv_tree *t, size_t node)
{
	size_t k;

	for (k = 0; k < t->n; k++)
		if (t->parent[k] == node)
			return false;
	return true;
}

static struct gv_problem
random_problem(const struct gv_tree *t, size_t n, size_t m, bool fifo)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, 1u << GV_NUMBER_ENTITY | 1u << GV_NUMBER_ENTITY_WEIGHT |
			       GV_NEEDS | (fifo ? 1u << GV_NUMBER_POSITION : 0));
	p.tree = t;
	for (j = 0; j < m; j++)
		p.capacity[j] = (double)(1 + below(5));
	for (i = 0; i < n; i++) {
		p.count[i] = 1;
		p.scale[i] = (double)(1 << below(2));
		p.weight[i] = uniform() < .5 ? 1 : .25 + 4 * uniform();
		if (fifo)
			p.number[GV_NUMBER_POSITION][i] = (double)((i * 11) % n);
		for (j = 0; j < m; j++)
			if (uniform() < .7 && p.scale[i] <= p.capacity[j])
				p.rate[i * m + j] = exp(3 * uniform());
		make_runnable(&p, i);
		do
			p.number[GV_NUMBER_ENTITY][i] = (double)below(t->n);
		while (!is_leaf(t, (size_t)p.number[GV_NUMBER_ENTITY][i]));
		p.number[GV_NUMBER_ENTITY_WEIGHT][i] =
		    t->weight[(size_t)p.number[GV_NUMBER_ENTITY][i]];
	}
	return p;
}

/* ---- linear programs ---- */

/* max t: v_i >= least_i + t rate_i for all jobs; NAN: there is none. */
static double
highest(const struct gv_problem *p, const double *least, const double *rate)
{
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution sol = {0};
	struct gv_error e = {0};
	double equal[MOST_JOBS];
	size_t i, j;
	double found;

	gv_problem_equal_throughput(p, equal);
	gv_lp_add_col(&lp, -INFINITY, INFINITY, 1);
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&lp, -INFINITY, p->capacity[j]);
	for (i = 0; i < p->n; i++) {
		size_t row = gv_lp_add_row(&lp, least[i], INFINITY);
		size_t time = gv_lp_add_row(&lp, -INFINITY, 1);

		gv_lp_set(&lp, row, 0, -rate[i]);
		for (j = 0; j < p->m; j++) {
			size_t col;

			if (gv_problem_rate(p, i, j) == 0)
				continue;
			col = gv_lp_add_col(&lp, 0, INFINITY, 0);
			gv_lp_set(&lp, row, col,
			    p->scale[i] * gv_problem_rate(p, i, j) / equal[i]);
			gv_lp_set(&lp, time, col, 1);
			gv_lp_set(&lp, j, col, p->scale[i]);
		}
	}
	if (gv_lp_solve(&lp, NULL, NULL, &sol, &e) != 0)
		gv_die_error(&e);
	found = sol.status == GV_LP_OPTIMAL ? sol.x[0] : NAN;
	gv_lp_solution_free(&sol);
	gv_lp_free(&lp);
	return found;
}

/* ---- the definition ---- */

struct filling {
	const struct gv_problem *p;
	const struct gv_tree *t;
	bool fifo;
	double have[MOST_JOBS]; /* at the beginning of the stage, or where it is frozen */
	double most[MOST_JOBS];
	bool frozen[MOST_JOBS];
	double quota_filled[MOST_NODES]; /* what the node has at least */
	bool lost;
};

static bool
inside(const struct filling *f, size_t job, size_t node)
{
	size_t at = (size_t)f->p->number[GV_NUMBER_ENTITY][job];

	while (at != SIZE_MAX && at != node)
		at = f->t->parent[at];
	return at == node;
}

static double
has(const struct filling *f, size_t node, const double *v)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < f->p->n; i++)
		sum += inside(f, i, node) ? v[i] : 0;
	return sum;
}

static void give(const struct filling *f, size_t node, double amount, double *v);

/* Gives what is in the node max(have, w l). */
static void
give_at(const struct filling *f, size_t node, double l, double *v)
{
	size_t i, k;

	for (i = 0; i < f->p->n; i++)
		if ((size_t)f->p->number[GV_NUMBER_ENTITY][i] == node)
			v[i] = f->frozen[i] ? f->have[i]
					    : fmin(f->most[i],
						  fmax(f->have[i], f->p->weight[i] * l));
	for (k = 0; k < f->t->n; k++)
		if (f->t->parent[k] == node)
			give(f, k, fmax(has(f, k, f->have), f->t->weight[k] * l), v);
}

/* One job after another as much as it can have. */
static void
give_in_queue(const struct filling *f, size_t node, double amount, double *v)
{
	size_t place, i;

	amount -= has(f, node, f->have);
	for (place = 0; place < f->p->n; place++)
		for (i = 0; i < f->p->n; i++) {
			if (!inside(f, i, node) ||
			    f->p->number[GV_NUMBER_POSITION][i] != (double)place)
				continue;
			v[i] = f->have[i];
			if (!f->frozen[i] && amount > 0) {
				v[i] = fmin(f->most[i], f->have[i] + amount);
				amount -= v[i] - f->have[i];
			}
		}
}

/*
 * The l of the node at which all in it have so much together: between two that have less
 * and more, where a line between them says, or half way.
 */
static void
give(const struct filling *f, size_t node, double amount, double *v)
{
	double low = 0, high = 1e3, below, above;
	int k;

	if (f->fifo && is_leaf(f->t, node)) {
		give_in_queue(f, node, amount, v);
		return;
	}
	give_at(f, node, high, v);
	above = has(f, node, v) - amount;
	if (above <= 0)
		return;
	give_at(f, node, low, v);
	below = has(f, node, v) - amount;
	for (k = 0; k < 60 && below < 0 && high - low > 1e-15 * high; k++) {
		double l =
		    low + (high - low) * (k % 3 == 2 ? .5 : below / (below - above));
		double off;

		give_at(f, node, l, v);
		off = has(f, node, v) - amount;
		if (fabs(off) <= 1e-15 * amount)
			return;
		if (off < 0) {
			low = l;
			below = off;
		} else {
			high = l;
			above = off;
		}
	}
	give_at(f, node, low, v);
}

/* All levels after time c of a stage: quotas of a depth, or all (depth SIZE_MAX). */
static void
at_time(const struct filling *f, size_t depth, double c, double *v)
{
	size_t k, d, at;

	memcpy(v, f->have, f->p->n * sizeof(*v));
	for (k = 0; k < f->t->n; k++) {
		double speed = depth == SIZE_MAX ? f->t->weight[k] : f->t->quota[k];

		for (d = 0, at = k; f->t->parent[at] != SIZE_MAX; at = f->t->parent[at])
			d++;
		if (depth == SIZE_MAX ? d == 0 : d == depth && speed > 0)
			give(f, k, fmax(has(f, k, f->have), speed * c), v);
	}
}

static bool
possible(const struct gv_problem *p, const double *v)
{
	double none[MOST_JOBS] = {0};
	bool any = false;
	size_t i;

	for (i = 0; i < p->n; i++)
		any = any || v[i] > 0;
	return !any || highest(p, none, v) >= 1 - 1e-12;
}

/* Freezes who cannot rise beside the others at v; how many. */
static size_t
freeze(struct filling *f, const double *v)
{
	double least[MOST_JOBS], one[MOST_JOBS] = {0};
	size_t i, n = 0;

	for (i = 0; i < f->p->n; i++)
		least[i] = v[i] * (1 - 1e-11);
	for (i = 0; i < f->p->n; i++) {
		double more;

		if (f->frozen[i])
			continue;
		one[i] = 1;
		more = highest(f->p, least, one);
		one[i] = 0;
		f->lost = f->lost || isnan(more);
		if (more > 1e-6 * fmax(1e-2, v[i]))
			continue;
		f->frozen[i] = true;
		n++;
	}
	for (i = 0; i < f->p->n; i++)
		if (f->frozen[i])
			f->have[i] = v[i];
	return n;
}

static void
run_stage(struct filling *f, size_t depth, double end)
{
	double v[MOST_JOBS];

	for (;;) {
		double low = 0, high = end;
		int k;

		at_time(f, depth, end, v);
		if (possible(f->p, v))
			break;
		for (k = 0; k < 50; k++) {
			double c = (low + high) / 2;

			at_time(f, depth, c, v);
			if (possible(f->p, v))
				low = c;
			else
				high = c;
		}
		at_time(f, depth, low, v);
		if (freeze(f, v) == 0)
			f->lost = true;
		if (f->lost)
			return;
	}
	memcpy(f->have, v, f->p->n * sizeof(*v));
}

static bool
define(const struct gv_problem *p, bool fifo, const double *need, double *v)
{
	struct filling f = {.p = p, .t = p->tree, .fifo = fifo};
	double equal[MOST_JOBS], fastest[MOST_JOBS];
	size_t i, depth;

	gv_problem_equal_throughput(p, equal);
	gv_problem_fastest(p, fastest);
	for (i = 0; i < p->n; i++) {
		f.most[i] = p->scale[i] * fastest[i] / equal[i];
		f.have[i] = p->scale[i] * need[i] / equal[i];
	}
	for (depth = p->tree->n; depth-- > 0 && !f.lost;)
		run_stage(&f, depth, 1);
	if (!f.lost)
		run_stage(&f, SIZE_MAX, 1e3);
	memcpy(v, f.have, p->n * sizeof(*v));
	return !f.lost;
}

/* ---- the test ---- */

/* Needs of some jobs, a part of what all can have. */
static void
draw_needs(struct gv_problem *p, double *need)
{
	double equal[MOST_JOBS], v[MOST_JOBS], none[MOST_JOBS] = {0};
	double most = 1;
	size_t i;
	bool any = false;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++) {
		v[i] = uniform() < .4 ? uniform() : 0;
		any = any || v[i] > 0;
	}
	if (any)
		most = highest(p, none, v);
	for (i = 0; i < p->n; i++) {
		need[i] = .8 * most * v[i] * equal[i] / p->scale[i];
		p->number[GV_NUMBER_MINIMUM][i] = need[i];
	}
}

struct tally {
	int lost, wrong, unproved, excess;
	double worst;
};

static void
check(struct tally *t, const struct gv_problem *p, bool fifo, const double *want,
    enum gv_solver solver)
{
	const struct gv_policy_options opt = {
	    .solve.solver = solver, .inside = fifo ? GV_INSIDE_FIFO : GV_INSIDE_FAIRNESS};
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(*s.x))};
	struct gv_error e = {0};
	double equal[MOST_JOBS], off = 0;
	size_t i;

	if (gv_policy_water_filling.solve(p, &opt, &s, &e) != 0)
		gv_die_error(&e);
	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++) {
		double v = p->scale[i] * gv_problem_throughput(p, s.x, i) / equal[i];

		off = fmax(off, fabs(v - want[i]) / fmax(1, want[i]));
	}
	t->worst = fmax(t->worst, off);
	t->wrong += !(off <= 1e-7);
	if (!(off <= 1e-7) && getenv("GV_TALK") != NULL)
		for (i = 0; i < p->n; i++)
			printf("# %zu entity %g: %.9g, want %.9g, floor %.9g\n", i,
			    p->number[GV_NUMBER_ENTITY][i],
			    p->scale[i] * gv_problem_throughput(p, s.x, i) / equal[i],
			    want[i],
			    p->number[GV_NUMBER_MINIMUM][i] * p->scale[i] / equal[i]);
	t->unproved += !(s.gap <= 1e-9);
	t->excess += !(gv_problem_excess(p, s.x) <= 1e-12);
	free(s.x);
	free(s.late);
}

static void
test(const char *name, bool quotas, bool needs, bool fifo, int rounds)
{
	struct tally t = {0};
	int k;

	for (k = 0; k < rounds; k++) {
		size_t m = 1 + below(3), j;
		double need[MOST_JOBS] = {0}, v[MOST_JOBS];
		double gpus = 0;
		struct gv_tree tree = {0};
		struct gv_problem p;

		random_tree(&tree, 1 + below(MOST_NODES), 3, quotas);
		p = random_problem(&tree, 1 + below(MOST_JOBS), m, fifo);
		for (j = 0; j < m; j++)
			gpus += p.capacity[j];
		for (j = 0; j < tree.n; j++)
			tree.quota[j] *=
			    gpus / (k % 2 == 0 ? 6 : 3); /* of half of all, or of all */
		if (needs)
			draw_needs(&p, need);
		if (define(&p, fifo, need, v)) {
			check(&t, &p, fifo, v, GV_SOLVER_AUTO);
			check(&t, &p, fifo, v, GV_SOLVER_PRICE);
		} else {
			t.lost++;
		}
		gv_problem_free(&p);
		free(tree.parent);
		free(tree.weight);
		free(tree.quota);
	}
	printf("# %s: %d of %d lost by the definition; worst difference %.2g\n", name,
	    t.lost, rounds, t.worst);
	ok(t.lost <= rounds / 10, "%s: the definition ends", name);
	/* whose halving and programs are sure to some 1e-6 where a job all but stops */
	ok(t.wrong <= rounds / 100, "%s: levels are those of the definition", name);
	is_int(t.unproved, 0, "%s: all are proved", name);
	is_int(t.excess, 0, "%s: rows at most 1, types at most full", name);
}

int
main(void)
{
	int rounds = getenv("GV_LONG") != NULL ? 10 : 1;

	draws_begin(23, 0, 0);
	test("trees", false, false, false, 60 * rounds);
	test("minimums", false, true, false, 60 * rounds);
	test("quotas", true, false, false, 120 * rounds);
	test("quotas and minimums", true, true, false, 60 * rounds);
	test("queues in trees", false, false, true, 40 * rounds);
	test("queues with quotas and minimums", true, true, true, 40 * rounds);
	return done_testing();
}
