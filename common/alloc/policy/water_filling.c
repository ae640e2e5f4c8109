/*
 * water-filling: the least served job is served as well as possible, then the
 * next, and so on: the lexicographically largest vector of sorted levels
 * (leximin), by progressive filling (filling.h); over one level, or two: entities share by their
 * weights, and the jobs inside an entity by theirs or one after another. Gavel,
 * OSDI 2020, section 4.3.
 *
 * Let v_i = s_i thr_i(x) / P_i.  All v_i start at 0.  Each entity e fills its jobs with
 * W_e per unit of time: all that are active, in the ratio of w_i (fairness), or the first
 * in the queue (fifo).  Without entities all jobs are one.  A job that cannot rise without
 * lowering another one is frozen where it is, and what it would have had goes to its
 * entity's others.
 *
 * Gavel solves a linear and a mixed integer program for each job that it freezes.
 * Here time is not stepped through.  As long as GPUs do not run short a job
 * is frozen only when it has all the time there is, so the levels v(c) after time c
 * are known beforehand.  They can be had for all x exactly while every
 * inequality sum lambda_i v_i <= limit that allocations keep is kept (reach.h):
 * from the end on, each inequality that is broken says how far back to go,
 * until none is. The jobs of the last one, those with lambda_i > 0, are
 * those to freeze: while nobody is lowered, none of them can rise.  The prices of its
 * GPUs say more: types that have one are theirs in whatever shares keep these
 * levels, and nobody else's.  So the others go on with the other types, each as
 * far as those let it: there are about as many phases as types, however many
 * jobs stop.
 *
 * In queues of jobs that share GPUs few rise at a time, each next to where the one before it
 * ended: there time is stepped through, from one job to the next (pairs/climb.h).
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/problem/components.h"
#include "alloc/solve/deadline.h"
#include "base/mem.h"
#include "filling_precise.h"
#include "filling_stages.h"
#include "policy.h"
#include "alloc/pairs/climb.h"
#include "alloc/pairs/shared.h"
#include "lp/tolerance.h"

/* ---- the policy ---- */

/* The least that an entity at the top has, its jobs' v together, per weight. */
static double
lowest_entity(const struct gv_filling *f, const double *v)
{
	const struct gv_problem *p = f->p;
	double lowest = INFINITY;
	double *sum = gv_xcalloc(f->n_nodes, sizeof(*sum));
	bool *any = gv_xcalloc(f->n_nodes, sizeof(*any));
	size_t i, k;

	for (i = 0; i < p->n; i++) {
		k = (size_t)p->number[GV_NUMBER_ENTITY][i];
		if (p->tree != NULL)
			k = gv_tree_top(p->tree, k);
		sum[k] += p->count[i] * v[i];
		any[k] = true;
	}
	for (k = 0; k < f->n_nodes; k++)
		if (any[k])
			lowest = fmin(lowest, sum[k] / f->node[k].weight);
	free(sum);
	free(any);
	return lowest;
}

/* The lowest level, per weight. */
static double
lowest(const struct gv_problem *p, const double *v)
{
	double least = INFINITY;
	size_t i;

	for (i = 0; i < p->n; i++)
		least = fmin(least, v[i] / p->weight[i]);
	return least;
}

/*
 * The lowest level cannot be above that of the filling, whatever the shares that were found
 * for it give; unsure: what the filling's inequalities leave open.
 */
static void
say_bound(struct gv_solution *s, double filled, double unsure)
{
	s->bound = fmax(s->objective, unsure < 1 ? filled / (1 - unsure) : INFINITY);
	s->has_bound = true;
	if (s->bound > s->objective)
		s->gap = fmax(s->gap, 1 - s->objective / s->bound);
}

/* v of the shares, and the worst it falls short of what the levels are to be,
 * relative. */
static double
levels(const struct gv_filling *f, const struct gv_solution *s, double *v)
{
	const struct gv_problem *p = f->p;
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double worst = 0;
	size_t i;

	gv_problem_equal_throughput(p, equal);
	gv_solution_throughput(p, s, v);
	for (i = 0; i < p->n; i++) {
		v[i] = p->scale[i] * (v[i] / equal[i]);
		if (f->have[i] > 0)
			worst = fmax(worst,
			    (f->have[i] - v[i]) / fmax(f->have[i], f->most[i] / 128));
	}
	free(equal);
	return worst;
}

/*
 * Who has next to nothing may be given nothing: that is within a solver's tolerance.  What is
 * missing comes from the type of which it is the smallest part, whose other jobs lose as
 * little.
 */
static void
top_up(const struct gv_filling *f, double *x)
{
	const struct gv_problem *p = f->p;
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	size_t i, j;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++) {
		double missing = f->have[i], least = INFINITY, per_share = 0;
		size_t best = 0;

		for (j = 0; j < p->m; j++) {
			double level =
			    p->scale[i] * (gv_problem_rate(p, i, j) / equal[i]);
			double part =
			    p->count[i] * p->scale[i] / (level * p->capacity[j]);

			missing -= level * x[i * p->m + j];
			if (level > 0 && part < least) {
				least = part;
				best = j;
				per_share = level;
			}
		}
		if (missing > GV_TOL_FEASIBLE * f->have[i] &&
		    missing * least <= GV_TOL_FEASIBLE)
			x[i * p->m + best] += missing / per_share;
	}
	free(equal);
}

/* Shares of the levels, in s.  0 or -1. */
static int
share(struct gv_filling *f, const struct gv_solver_options *opt,
    struct gv_shared_warm *warm, struct gv_solution *s, struct gv_filling_quality *q,
    struct gv_error *e)
{
	const struct gv_problem *p = f->p;
	struct gv_reach r = {0};
	int rc;

	gv_reach_alloc(&r, p);
	r.warm = warm;
	rc = gv_reach_solve(&r, p, f->a, f->have, true, opt, e);
	if (rc == 0) {
		memcpy(s->x, r.x, p->n * p->m * sizeof(*s->x));
		s->pair = r.pair;
		s->n_pairs = r.n_pairs;
		q->exact = q->exact && r.exact;
		r.pair = NULL;
	}
	gv_reach_free(&r);
	return rc;
}

/* Fills phase by phase, and finds the shares.  0 or -1. */
static int
fill(struct gv_filling *f, const struct gv_solver_options *opt, struct gv_solution *s,
    struct gv_filling_quality *q, struct gv_error *e)
{
	struct gv_shared_warm warm = {0}; /* of pairs, from one program to the next */
	int rc = gv_filling_fill(f, opt, &warm, NULL, q, e);

	if (rc == 0)
		rc = share(f, opt, &warm, s, q, e);
	gv_shared_warm_free(&warm);
	return rc;
}

/* Fills without what can hardly count, and if that fails with all of it.  0 or -1. */
static int
fill_again(struct gv_filling *f, bool fifo, const double *need,
    const struct gv_solver_options *opt, struct gv_solution *s,
    struct gv_filling_quality *q, struct gv_error *e)
{
	const struct gv_problem *p = f->p;
	struct gv_solver_options wide = *opt;

	if (fill(f, opt, s, q, e) == 0)
		return 0;
	if (!gv_reach_is_narrow(p, opt))
		return -1;
	wide.wide = true;
	gv_error_clear(e);
	gv_filling_free(f);
	gv_filling_init(f, p, fifo, need);
	q->unproved = 0;
	return fill(f, &wide, s, q, e);
}

static int
climb_on(void *of, const double *from, const double *by, double most, double *t,
    bool *blocked, struct gv_reach *r, struct gv_error *e)
{
	return gv_climb_go_on(of, from, by, most, t, blocked, r, e);
}

/* Step by step, where the last one has the shares. */
static int
fill_by_steps(struct gv_filling *f, const struct gv_solver_options *opt,
    struct gv_solution *s, struct gv_filling_quality *q, struct gv_error *e)
{
	struct gv_climb c;
	const struct gv_filling_path path = {&c, climb_on};
	int rc;

	gv_climb_init(&c, f->p, f->a, f->most);
	rc = gv_filling_fill(f, opt, NULL, &path, q, e);
	if (rc == 0)
		gv_climb_shares(&c, s);
	gv_climb_free(&c);
	return rc;
}

/* Step by step as if jobs could share GPUs, where none do: what is left where phases fail. */
static int
fill_alone_by_steps(struct gv_filling *f, bool fifo, const double *need,
    const struct gv_solver_options *opt, struct gv_solution *s,
    struct gv_filling_quality *q, struct gv_error *e)
{
	const struct gv_problem *p = f->p;
	struct gv_problem shared = *p;
	struct gv_together none;
	int rc;

	gv_together_make(&none, 1, p->m, NULL, 0);
	shared.kind = gv_xcalloc(p->n, sizeof(*shared.kind));
	shared.together = &none;
	gv_filling_free(f);
	gv_filling_init(f, &shared, fifo, need);
	rc = fill_by_steps(f, opt, s, q, e);
	f->p = p;
	free(s->pair);
	s->pair = NULL;
	s->n_pairs = s->n_made = 0;
	gv_together_free(&none);
	free(shared.kind);
	return rc;
}

/* What is reached, and what is proved of it, into s; v [n]. */
static void
take_filled(const struct gv_filling *f, const struct gv_filling_quality *q,
    struct gv_solution *s, double *v)
{
	const struct gv_problem *p = f->p;
	bool entities = p->number[GV_NUMBER_ENTITY] != NULL;
	double unsure = q->unproved + 2 * gv_reach_rounding(p);

	gv_solution_clean(p, s);
	s->gap = unsure + levels(f, s, v);
	s->objective = entities ? lowest_entity(f, v) : lowest(p, v);
	say_bound(s, entities ? lowest_entity(f, f->have) : lowest(p, f->have), unsure);
	s->exact = q->exact;
}

/* Few jobs in many digits, into s, and f anew.  False: s is as it was, and f of no use. */
static bool
fill_precisely(
    struct gv_filling *f, bool fifo, const double *need, struct gv_solution *s, double *v)
{
	const struct gv_problem *p = f->p;
	struct gv_filling_quality q = {.exact = false};
	struct gv_error e = {0};
	bool done;

	gv_filling_free(f);
	gv_filling_init(f, p, fifo, need);
	done = gv_filling_precisely(f, s, &q, &e) == 0;
	if (done)
		take_filled(f, &q, s, v);
	gv_error_clear(&e);
	return done;
}

/* By phases, or where that is asked for or is left, by steps.  0 or -1. */
static int
fill_quickly(struct gv_filling *f, const struct gv_policy_options *opt, bool fifo,
    const double *need, struct gv_solution *s, double *v, struct gv_error *e)
{
	const struct gv_problem *p = f->p;
	struct gv_filling_quality q = {.exact = opt->solve.certify};
	bool steps = fifo && p->together != NULL && !opt->solve.certify &&
		     opt->solve.solver != GV_SOLVER_GLPK;
	struct gv_error other = {0};
	int rc = -1;

	if (steps)
		rc = fill_by_steps(f, &opt->solve, s, &q, e);
	if (steps && rc != 0) {
		gv_error_clear(e);
		gv_filling_free(f);
		gv_filling_init(f, p, fifo, need);
		q.unproved = 0;
	}
	if (rc != 0)
		rc = fill_again(f, fifo, need, &opt->solve, s, &q, e);
	if (rc == -1 && !q.exact && p->together == NULL &&
	    opt->solve.solver == GV_SOLVER_AUTO) {
		q.unproved = 0;
		rc = fill_alone_by_steps(f, fifo, need, &opt->solve, s, &q, &other);
		if (rc == 0)
			gv_error_clear(e);
		gv_error_clear(&other);
	}
	if (rc == 0 && p->together == NULL)
		top_up(f, s->x);
	if (rc == 0)
		take_filled(f, &q, s, v);
	return rc;
}

/*
 * The same without what can hardly count, and where that leaves a gap with all of it: into s
 * and v what leaves less.
 */
static int
fill_or_widen(struct gv_filling *f, const struct gv_policy_options *opt, bool fifo,
    const double *need, struct gv_solution *s, double *v, struct gv_error *e)
{
	const struct gv_problem *p = f->p;
	struct gv_policy_options wide = *opt;
	struct gv_solution other = {0};
	struct gv_error unsaid = {0};
	double *own;
	int rc = fill_quickly(f, opt, fifo, need, s, v, e);

	if (rc != 0 || !(s->gap > GV_TOL_PROVED) || !gv_reach_is_narrow(p, &opt->solve))
		return rc;
	wide.solve.wide = true;
	own = gv_xcalloc(p->n, sizeof(*own));
	other.x = gv_xcalloc(p->n, p->m * sizeof(*other.x));
	gv_filling_free(f);
	gv_filling_init(f, p, fifo, need);
	if (fill_quickly(f, &wide, fifo, need, &other, own, &unsaid) == 0 &&
	    other.gap < s->gap) {
		memcpy(s->x, other.x, p->n * p->m * sizeof(*s->x));
		memcpy(v, own, p->n * sizeof(*v));
		s->objective = other.objective;
		s->bound = other.bound;
		s->gap = other.gap;
	}
	gv_error_clear(&unsaid);
	free(other.x);
	free(own);
	return 0;
}

/* Whether levels v [n] are those that many digits find; where these fail there is no doubt. */
static bool
agrees_precisely(struct gv_filling *f, bool fifo, const double *need, const double *v)
{
	const struct gv_problem *p = f->p;
	struct gv_solution other = {.x = gv_xcalloc(p->n, p->m * sizeof(*other.x))};
	double *own = gv_xcalloc(p->n, sizeof(*own));
	bool alike = true;
	size_t i;

	if (fill_precisely(f, fifo, need, &other, own))
		for (i = 0; i < p->n; i++)
			alike =
			    alike && fabs(own[i] - v[i]) <= GV_TOL_LEVEL_SAID * own[i];
	free(other.x);
	free(own);
	return alike;
}

/* All jobs together, or those of one component. */
static int
solve_whole(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *s, struct gv_error *e)
{
	bool fifo =
	    opt->inside == GV_INSIDE_FIFO && p->number[GV_NUMBER_POSITION] != NULL;
	struct gv_filling f;
	double *need = gv_xcalloc(p->n, sizeof(*need));
	double *v = gv_xcalloc(p->n, sizeof(*v));
	int rc = gv_deadline_needs(
	    p, &opt->solve, opt->relax_slo, "water-filling", need, s, e);
	bool few, far, first;

	gv_filling_init(&f, p, fifo, need);
	few = gv_filling_is_few(&f);
	far = few && gv_filling_is_far(&f);
	first = far && !opt->solve.certify;
	if (rc == 0 && !(first && fill_precisely(&f, fifo, need, s, v))) {
		gv_filling_free(&f);
		gv_filling_init(&f, p, fifo, need);
		rc = fill_or_widen(&f, opt, fifo, need, s, v, e);
		if (rc == 0 && far && s->exact)
			s->exact = agrees_precisely(&f, fifo, need, v);
		if (few && !first && (rc == -1 || !(s->gap <= GV_TOL_PROVED)) &&
		    fill_precisely(&f, fifo, need, s, v)) {
			gv_error_clear(e);
			rc = 0;
		}
	}
	gv_filling_free(&f);
	free(need);
	free(v);
	return rc;
}

/* ---- jobs that fall apart ---- */

/* Component k into s.  False: it failed, or what its jobs need cannot be had. */
static bool
solve_component(const struct gv_components *g, size_t k, const struct gv_problem *p,
    const struct gv_policy_options *opt, struct gv_solution *s)
{
	struct gv_error e = {0};
	struct gv_solution own = {0};
	struct gv_problem q;
	bool done;

	gv_components_problem(&q, g, k, p);
	own.x = gv_xcalloc(q.n, q.m * sizeof(*own.x));
	done = solve_whole(&q, opt, &own, &e) == 0 && own.relaxation <= 1 && own.gap < 1;
	if (done) {
		gv_components_put_cells(g, k, own.x, s->x);
		s->gap = fmax(s->gap, own.gap);
		s->relaxation = fmax(s->relaxation, own.relaxation);
		s->exact = s->exact && own.exact;
	}
	gv_error_clear(&e);
	gv_problem_free(&q);
	free(own.x);
	free(own.pair);
	free(own.late);
	return done;
}

/*
 * Jobs that nothing ties together but GPUs have what their component gives them: sorted
 * levels are the largest where each component's are.  False: s is as it was, but for x.
 */
static bool
solve_components(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *s)
{
	struct gv_solution all = {.x = s->x, .exact = true, .has_bound = true};
	struct gv_policy_options own = *opt;
	struct gv_components g;
	bool done;
	size_t k;

	if (p->together != NULL || p->number[GV_NUMBER_ENTITY] != NULL ||
	    opt->solve.solver != GV_SOLVER_AUTO)
		return false;
	own.solve.memory = NULL;
	gv_components_make(&g, p, p->rate);
	done = gv_components_pay(&g, p);
	for (k = 0; done && k < g.n; k++)
		done = solve_component(&g, k, p, &own, &all);
	gv_components_free(&g);
	if (done) {
		all.objective = gv_problem_level(p, all.x);
		all.bound = all.objective / (1 - all.gap);
		all.multipliers = s->multipliers;
		*s = all;
	}
	return done;
}

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *s, struct gv_error *e)
{
	if (solve_components(p, opt, s))
		return 0;
	memset(s->x, 0, p->n * p->m * sizeof(*s->x));
	return solve_whole(p, opt, s, e);
}

const struct gv_policy gv_policy_water_filling = {
    .name = "water-filling",
    .solve = solve,
    .numbers = GV_NEEDS,
    .entities = true,
    .shares = true,
    .measure = GV_MEASURE_LEVEL,
};
