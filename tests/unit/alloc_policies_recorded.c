/*
 * All policies over drawn clusters, by each solver: shares, bounds, multipliers, who is late
 * and what is said are what they were.
 */
#include "recorded.h"

#include <glpk.h>

#include "alloc/policy/policy.h"
#include "alloc/program/multipliers.h"
#include "alloc/problem/classes.h"
#include "alloc/price/price.h"
#include "program_draws.h"

enum { NODES = 5 };

static int infeasible;

/* Two groups of two, and one by itself; inner quotas are no less than what is in them. */
static size_t parents[NODES] = {SIZE_MAX, 0, 0, SIZE_MAX, SIZE_MAX};
static double weights[NODES] = {2, 1, 3, 1, 2}, quotas[NODES] = {2, 1, 0, 0, 1},
	      none[NODES];

/* Some have a deadline, some a minimum, which all together mostly can have. */
static void
draw_needs(struct gv_problem *p, size_t i, const struct drawn *d, size_t shape)
{
	double fast = gv_row_max(&d->a[i * d->m], d->m) / (double)d->n;
	double part = shape % 4 == 1 ? .2 : shape % 4 == 3 ? 2 : 0;

	p->number[GV_NUMBER_NEED][i] = i % 3 == 0 ? fast * part * uniform() : 0;
	p->number[GV_NUMBER_MINIMUM][i] = i % 4 == 1 ? fast * part * uniform() : 0;
	if (shape % 8 == 3 && i % 9 == 0)
		p->number[GV_NUMBER_NEED][i] = INFINITY;
	if (p->number[GV_NUMBER_STEPS][i] == 0)
		p->number[GV_NUMBER_NEED][i] = p->number[GV_NUMBER_MINIMUM][i] = 0;
}

static void
draw_job(struct gv_problem *p, size_t i, const struct drawn *d, size_t shape)
{
	size_t leaf = 1 + below(NODES - 1);
	double *number[GV_N_NUMBERS];
	size_t k;

	memcpy(number, p->number, sizeof(number));
	p->scale[i] = fmin(d->use[i], 1 + (double)(shape % 3 > 0 ? 1 : 0));
	p->weight[i] = shape % 3 == 0 ? 1 : (double)(1 + below(4)) / 2;
	if (shape % 6 == 5) /* far apart */
		p->weight[i] = ldexp(1, 12 * (int)(i % 4));
	p->count[i] = shape % 5 == 4 ? (double)(1 + below(3)) : 1;
	number[GV_NUMBER_STEPS][i] = below(8) == 0 ? 0 : floor(1 + 1000 * uniform());
	number[GV_NUMBER_ELAPSED][i] = floor(20 * uniform());
	number[GV_NUMBER_ISOLATED][i] = floor(20 * uniform());
	number[GV_NUMBER_POSITION][i] = (double)((i * 7) % d->n);
	number[GV_NUMBER_DRAW][i] = (double)(d->n - 1 - i);
	number[GV_NUMBER_STARTED][i] = shape % 6 == 2 && i == 0 ? 1 : 0;
	number[GV_NUMBER_ENTITY][i] = (double)leaf;
	number[GV_NUMBER_ENTITY_WEIGHT][i] = weights[leaf];
	draw_needs(p, i, d, shape);
	for (k = 0; k < d->m; k++)
		p->rate[i * d->m + k] =
		    p->scale[i] <= d->capacity[k] ? d->a[i * d->m + k] : 0;
	if (gv_row_max(&p->rate[i * d->m], d->m) == 0) {
		p->scale[i] = 1;
		memcpy(&p->rate[i * d->m], &d->a[i * d->m], d->m * sizeof(double));
		for (k = 0; k < d->m; k++)
			if (d->capacity[k] == 0)
				p->rate[i * d->m + k] = 0;
	}
}

static struct gv_problem
draw(const struct drawn *d, size_t shape)
{
	struct gv_problem p;
	size_t i;

	gv_problem_alloc(&p, d->n, d->m);
	gv_problem_ask(&p, (1u << GV_N_NUMBERS) - 1);
	memcpy(p.capacity, d->capacity, d->m * sizeof(double));
	memcpy(p.price, d->dollars, d->m * sizeof(double));
	for (i = 0; i < d->n; i++)
		draw_job(&p, i, d, shape);
	for (i = 0; shape % 7 == 6 && i < d->m; i++)
		p.budget += p.capacity[i] * p.price[i] / 3;
	return p;
}

static void
record(struct recorded *r, const double *v, size_t n)
{
	size_t i;

	for (i = 0; v != NULL && i < n; i++)
		recorded_solved(r, v[i]);
}

static void
record_answer(struct recorded *r, int rc, const struct gv_solution *s,
    const struct gv_error *e, const struct gv_problem *p)
{
	size_t k;

	recorded_whole(r, rc);
	for (k = 0; k < e->count && k < GV_ERROR_KEPT; k++)
		recorded_text(r, e->text[k]);
	for (k = 0; s->late != NULL && k < p->n; k++)
		recorded_whole(r, s->late[k]);
	recorded_solved(r, s->relaxation);
	if (rc != 0)
		return;
	record(r, s->x, p->n * p->m);
	infeasible += gv_solution_excess(p, s) > 1e-9;
	recorded_whole(r, (long long)s->n_pairs);
	for (k = 0; k < s->n_pairs; k++) {
		const struct gv_pair *pair = &s->pair[k];

		recorded_whole(
		    r, (long long)((pair->a * p->n + pair->b) * p->m + pair->type));
		recorded_double(r, pair->rate_a);
		recorded_double(r, pair->rate_b);
		recorded_solved(r, pair->x);
	}
	recorded_solved(r, s->objective);
	recorded_whole(r, s->has_bound);
	recorded_solved(r, s->bound);
	recorded_whole(r, s->gap <= 1e-9);
	recorded_way(r, s->gap);
	recorded_whole(r, s->exact);
	recorded_whole(r, s->second_missed);
	recorded_whole(r, s->multipliers.known);
	if (!s->multipliers.known)
		return;
	record(r, s->multipliers.gpu, p->m);
	record(r, s->multipliers.job, p->n);
	record(r, s->multipliers.time, p->n);
	recorded_solved(r, s->multipliers.budget);
}

/* One answer; the policy sees the numbers that it asks for. */
static void
ask(struct recorded *r, const struct gv_policy *policy, const struct gv_problem *p,
    const struct gv_policy_options *opt, size_t entities)
{
	struct gv_tree tree = {NODES, parents, weights, entities == 3 ? quotas : none};
	struct gv_problem q = *p;
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(double))};
	struct gv_error e = {0};
	size_t k;

	for (k = 0; k < GV_N_NUMBERS; k++)
		if (!(policy->numbers >> k & 1) &&
		    !(policy->entities && entities > 0 &&
			(k == GV_NUMBER_ENTITY || k == GV_NUMBER_ENTITY_WEIGHT)))
			q.number[k] = NULL;
	if (!(policy->entities && entities > 0))
		q.number[GV_NUMBER_ENTITY] = q.number[GV_NUMBER_ENTITY_WEIGHT] = NULL;
	if (policy->entities && entities > 1)
		q.tree = &tree;
	q.number[GV_NUMBER_BEYOND] = q.number[GV_NUMBER_BEYOND_GPUS] = NULL;
	q.number[GV_NUMBER_AWAY] = q.number[GV_NUMBER_AWAY_GPUS] = NULL;
	if (q.number[GV_NUMBER_POSITION] != NULL || q.number[GV_NUMBER_DRAW] != NULL)
		for (k = 0; k < p->n; k++)
			q.count[k] = 1; /* each has a place of its own */
	if (!policy->multipliers)
		q.budget = 0;
	if (policy->multipliers)
		gv_multipliers_alloc(&s.multipliers, p->n, p->m);
	record_answer(r, policy->solve(&q, opt, &s, &e), &s, &e, &q);
	if (policy == &gv_policy_strategy_proof)
		r->bits = 0; /* logarithms */
	gv_error_clear(&e);
	gv_multipliers_free(&s.multipliers);
	free(s.late);
	free(s.pair);
	free(s.x);
}

/* A policy with all options that it may have. */
static void
ask_all(struct recorded *r, const struct gv_policy *policy, const struct gv_problem *p,
    size_t shape)
{
	struct gv_policy_options opt = {0};
	int k;

	opt.alpha = shape % 2 == 0 ? 0 : .5;
	opt.relax_slo = shape % 4 == 3;
	for (k = GV_SOLVER_AUTO; k <= GV_SOLVER_INTERIOR; k++) {
		opt.solve = (struct gv_solver_options){.solver = (enum gv_solver)k};
		opt.solve.sharp = shape % 2 == 1;
		opt.inside = k % 2 == 0 ? GV_INSIDE_FAIRNESS : GV_INSIDE_FIFO;
		ask(r, policy, p, &opt, (size_t)k);
	}
	opt.solve = (struct gv_solver_options){.certify = shape % 3 == 0,
	    .digits = shape % 3 == 1,
	    .placeable = shape % 3 == 2 && p->n <= 3};
	opt.inside = GV_INSIDE_NONE;
	if (p->budget == 0 || !opt.solve.placeable)
		ask(r, policy, p, &opt, 0);
}

/* What every second kind makes of the same GPUs with others like it; not all were measured. */
static void
draw_together(struct gv_together *t, size_t kinds, size_t m)
{
	struct gv_together_entry *entry = gv_xcalloc(kinds * kinds * m, sizeof(*entry));
	size_t a, b, j, n = 0;

	for (a = 0; a < kinds; a++)
		for (b = a; b < kinds; b += 2)
			for (j = 0; j < m; j++) {
				struct gv_together_entry *e = &entry[n];

				e->a = (uint32_t)a;
				e->b = (uint32_t)b;
				e->type = (uint32_t)j;
				e->rate_a = below(8) == 0 ? 0 : .2 + uniform();
				e->rate_b = (1 + (double)below(4)) / 4;
				n += below(6) != 0;
			}
	gv_together_make(t, kinds, m, entry, n);
	free(entry);
}

/* Jobs that may share GPUs: alone about as fast as in the table, which makes it worth while. */
static void
ask_shared(
    struct recorded *r, const struct gv_policy *policy, size_t n, size_t m, size_t shape)
{
	struct drawn d = draw_program(n, m, shape);
	struct gv_problem p = draw(&d, shape % 7 == 6 ? shape + 1 : shape);
	size_t kinds = 1 + below(n < 6 ? n : 6), i, j;
	struct gv_together t;

	draw_together(&t, kinds, m);
	p.kind = gv_xcalloc(n, sizeof(*p.kind));
	p.together = &t;
	for (i = 0; i < n; i++) {
		p.kind[i] = below(kinds);
		p.count[i] = 1;
		p.scale[i] = p.kind[i] % 2 == 0 ? 1 : 2;
		for (j = 0; j < m; j++) {
			p.capacity[j] = fmax(2, p.capacity[j]);
			p.rate[i * m + j] =
			    .5 + (double)((p.kind[i] * 7 + j * 3) % 8) / 8;
			if (below(8) == 0 && j != i % m)
				p.rate[i * m + j] = 0;
		}
	}
	ask_all(r, policy, &p, shape);
	gv_together_free(&t);
	gv_problem_free(&p);
	drawn_free(&d);
}

/* A policy over clusters of m types and n jobs. */
static void
ask_policy(struct recorded *r, const struct gv_policy *policy, size_t n, size_t m)
{
	/* few of what takes long */
	const size_t step = policy == &gv_policy_strategy_proof ? n : n > 9 ? 12 : 6;
	size_t shape;

	for (shape = m; shape < 42; shape += step) {
		struct gv_problem p;
		struct drawn d;

		draws_begin(n, (uint32_t)m, (uint32_t)shape);
		d = draw_program(n, m, shape);
		p = draw(&d, shape + n);
		ask_all(r, policy, &p, shape);
		gv_problem_free(&p);
		drawn_free(&d);
		if (policy->shares && n < 14)
			ask_shared(r, policy, n, m, shape);
	}
}

int
main(void)
{
	static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 9, 14, 21};
	const struct gv_policy *const *policy;
	struct recorded r;
	size_t k, m;

	recorded_open(&r);
	recorded_glpk(&r, glp_version());
	for (policy = gv_policies; *policy != NULL; policy++) {
		for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			for (m = 1; m <= 9; m += 1 + m / 3)
				ask_policy(&r, *policy, sizes[k], m);
			recorded_answer(&r, "%s, %zu jobs", (*policy)->name, sizes[k]);
		}
	}
	is_int(infeasible, 0, "shares keep time and GPUs");
	recorded_close(&r);
	return done_testing();
}
