/*
 * finish-time: no job is done much later than it would be in a cluster of its own
 * that is the n-th part of this one (Themis).
 *
 *	min max_i  (e_i + n_i / thr_i(x)) / D_i,   D_i = h_i + n_i / thr_i(X^isolated)
 *
 * with n_i the steps still to do, e_i the time since arrival and h_i the time the
 * steps done would have taken there.  Gavel, OSDI 2020, section 4.2.
 *
 * Below a ratio theta every job needs thr_i >= n_i / (theta D_i - e_i).  What of
 * it all can have is a program of levels; its multipliers lambda, p make
 *
 *	sum_i lambda_i n_i / (theta D_i - e_i)  <=  sum_j p_j N_j +
 *	    sum_i max(0, max_j (lambda_i T_ij - p_j n_i s_i))
 *
 * a condition for every theta that can be reached.  So the root of its two sides is
 * a lower bound, and the next theta: Newton's method (Dinkelbach 1967), which climbs
 * to the best ratio in some five programs.  Their code has a cone program, which
 * failed in 24 of 312 replicated runs.
 *
 * A job that needs q_i anyway asks for max(n_i / (theta D_i - e_i), q_i) on both sides.
 *
 * Any theta gives a bound, so where jobs are many it begins at the ratio of every 64th
 * of them on as large a part of the GPUs: two programs of all are left.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy.h"
#include "alloc/price/price.h"
#include "alloc/program/multipliers.h"
#include "alloc/solve/deadline.h"
#include "alloc/pairs/shared.h"
#include "alloc/simplex/precise.h"
#include "alloc/problem/unfinished.h"
#include "lp/tolerance.h"

enum { MAX_STEPS = 60, SAMPLED = 65536, PART = 64 };

/* The jobs with steps, and their two times. */
struct finish {
	const struct gv_problem *p;
	const size_t *of; /* [n] their rows */
	double *alone;    /* [n] D_i */
	double *need;     /* [n] q_i */
	double *
	    a; /* [n][m] T_ij (theta D_i - e_i) / n_i, or T_ij / q_i where that is less */
	bool needs;                 /* some q_i is above 0 */
	double reached;             /* what part of what they ask for all have */
	struct gv_shared_warm warm; /* of pairs, from one ratio to the next */
};

/* The ratio that x reaches. */
static double
ratio(const struct finish *f, const struct gv_solution *s)
{
	const struct gv_problem *p = f->p;
	double *throughput = gv_xcalloc(p->n, sizeof(*throughput));
	double most = 0;
	size_t i;

	gv_solution_throughput(p, s, throughput);
	for (i = 0; i < p->n; i++)
		most = fmax(most, (p->number[GV_NUMBER_ELAPSED][i] +
				      p->number[GV_NUMBER_STEPS][i] / throughput[i]) /
				      f->alone[i]);
	free(throughput);
	return most;
}

/* What no job can pass even if it has all there is. */
static double
time_bound(const struct finish *f)
{
	const struct gv_problem *p = f->p;
	double *best = gv_xcalloc(p->n, sizeof(*best));
	double most = 0;
	size_t i;

	gv_problem_fastest(p, best);
	for (i = 0; i < p->n; i++)
		most = fmax(most, (p->number[GV_NUMBER_ELAPSED][i] +
				      p->number[GV_NUMBER_STEPS][i] / best[i]) /
				      f->alone[i]);
	free(best);
	return most * (1 - 8 * DBL_EPSILON);
}

/*
 * theta D_i - e_i, or a little more if it must not be less.  What is less than a rounding of e_i
 * changes no ratio.
 */
static double
time_left(const struct finish *f, size_t i, double theta, bool above)
{
	double elapsed = f->p->number[GV_NUMBER_ELAPSED][i];
	double left = fma(theta, f->alone[i], -elapsed);

	if (above)
		return left + 4 * DBL_EPSILON * theta * f->alone[i];
	return fmax(left, DBL_EPSILON * elapsed);
}

/* 1 over what the job asks for at theta. */
static double
per_asked(const struct finish *f, size_t i, double theta)
{
	double part = time_left(f, i, theta, false) / f->p->number[GV_NUMBER_STEPS][i];

	return f->need[i] > 0 ? fmin(part, 1 / f->need[i]) : part;
}

/* The right side of the condition of the head of this file, and a little more. */
static double
right_side(const struct finish *f, const struct gv_level *l)
{
	const struct gv_problem *p = f->p;
	const double *lambda = l->lambda, *price = l->price;
	double sum = 0;
	size_t i, j;

	if (l->limit > 0)
		return l->limit * (1 + GV_TOL_SUM * (sqrt((double)p->n) + 16));
	for (j = 0; j < p->m; j++)
		sum += price[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		double most = 0, large = 0;

		for (j = 0; j < p->m; j++) {
			double gain = lambda[i] * gv_problem_rate(p, i, j);

			if (gain > 0)
				most = fmax(
				    most, gain - price[j] * p->count[i] * p->scale[i]);
			large = fmax(large, gain);
		}
		sum += most + 4 * DBL_EPSILON * large;
	}
	return sum * (1 + GV_TOL_SUM * (sqrt((double)p->n) + (double)p->m + 16));
}

/*
 * The root.  Its left side falls and is convex, so Newton's method from where it
 * is larger stays there, and wherever it ends is a bound; known: so is this.
 */
static double
root(const struct finish *f, const double *lambda, double right, double known)
{
	const struct gv_problem *p = f->p;
	const double *steps = p->number[GV_NUMBER_STEPS];
	double theta = known;
	size_t i;
	int k;

	for (i = 0; i < p->n; i++)
		if (lambda[i] > 0)
			theta = fmax(theta, (p->number[GV_NUMBER_ELAPSED][i] +
						lambda[i] * steps[i] / right) /
						f->alone[i]);
	for (k = 0; k < 100; k++) {
		double left = 0, slope = 0, next;

		for (i = 0; i < p->n; i++)
			if (lambda[i] > 0) {
				double t = time_left(f, i, theta, true);

				if (t * f->need[i] >= steps[i]) {
					left += lambda[i] * f->need[i];
					continue;
				}
				left += lambda[i] * steps[i] / t;
				slope += lambda[i] * steps[i] / t * (f->alone[i] / t);
			}
		if (!(left > right) || !(slope > 0))
			break;
		next = theta + (left - right) / slope;
		if (!(next > theta * (1 + DBL_EPSILON)))
			break;
		theta = next;
	}
	return theta * (1 - GV_TOL_SUM * (sqrt((double)p->n) + 16));
}

/* Whether the condition of the head of this file is broken a little below that ratio. */
static bool
proves(const struct finish *f, const double *lambda, double right, double bound)
{
	const double *steps = f->p->number[GV_NUMBER_STEPS];
	double left = 0;
	size_t i;

	for (i = 0; i < f->p->n; i++) {
		double t = fma(bound * (1 - GV_TOL_SUM_PROVED), f->alone[i],
		    -f->p->number[GV_NUMBER_ELAPSED][i]);

		if (lambda[i] > 0)
			left +=
			    t > 0 ? lambda[i] * fmax(steps[i] / t, f->need[i]) : INFINITY;
	}
	return left > right;
}

/* The program of levels at theta; s->objective and *bound become what it says of the ratio. */
static int
step(struct finish *f, double theta, const struct gv_solver_options *opt,
    bool lexicographic, struct gv_solution *s, double *bound, struct gv_error *e)
{
	const struct gv_problem *p = f->p;
	struct gv_level l;
	size_t i, j;
	int rc;

	for (i = 0; i < p->n; i++) {
		double part = per_asked(f, i, theta);

		for (j = 0; j < p->m; j++)
			f->a[i * p->m + j] = gv_problem_rate(p, i, j) * part;
	}
	gv_level_init(&l, p, s, lexicographic);
	l.warm = &f->warm;
	rc = gv_level_solve(p, f->a, opt, "finish-time", &l, e);
	if (rc == 0) {
		for (i = 0; i < p->n; i++)
			l.lambda[i] *= per_asked(f, i, theta);
		*bound = fmax(*bound, root(f, l.lambda, right_side(f, &l), *bound));
		f->reached = s->objective;
		s->objective = ratio(f, s);
		if (!s->multipliers.known ||
		    proves(f, l.lambda, right_side(f, &l), *bound))
			gv_multipliers_of_level(&s->multipliers, p, f->of, p->rate, &l);
	}
	gv_level_free(&l);
	return rc;
}

/*
 * Newton's method from theta on, without the second program; *bound is the ratio that it
 * ends at, or is from by the square of near.  0 or -1.
 */
static int
climb(struct finish *f, double theta, double near, const struct gv_solver_options *opt,
    struct gv_solution *s, double *bound, struct gv_error *e)
{
	size_t cells = f->p->n * f->p->m;
	int k, rc = 0;

	for (k = 0; k < MAX_STEPS && rc == 0; k++) {
		memset(s->x, 0, cells * sizeof(*s->x));
		opt->memory->first_of_many = k == 0;
		rc = step(f, theta, opt, false, s, bound, e);
		opt->memory->first_of_many = false;
		if (rc == 0 && ((s->objective - *bound <= GV_TOL_RATIO * s->objective &&
				    (!f->needs || f->reached >= 1 - GV_TOL_LESS_2)) ||
				   *bound <= theta * (1 + near)))
			break;
		opt->memory->change = fabs(*bound / theta - 1);
		theta = *bound;
	}
	return rc;
}

/* The ratio of every PART-th job on as large a part of the GPUs; 0 where it fails. */
static double
sampled_ratio(const struct finish *f, const struct gv_solver_options *opt)
{
	const struct gv_problem *p = f->p;
	struct gv_price_memory memory = {0};
	const struct gv_solver_options quick = {.solver = opt->solver, .memory = &memory};
	bool *keep = gv_xcalloc(p->n, sizeof(*keep));
	double used = 0, sampled = 0, bound;
	struct gv_solution s = {0};
	struct gv_problem part;
	struct gv_error e = {0};
	struct finish sample = {.p = &part};
	size_t i, k = 0;
	int rc;

	for (i = 0; i < p->n; i++) {
		keep[i] = i % PART == PART / 2;
		used += p->count[i] * p->scale[i];
		sampled += keep[i] ? p->count[i] * p->scale[i] : 0;
	}
	gv_problem_pick(&part, p, keep);
	for (i = 0; i < p->m; i++)
		part.capacity[i] = p->capacity[i] * (sampled / used);
	sample.a = gv_xcalloc(part.n, part.m * sizeof(*sample.a));
	sample.alone = gv_xcalloc(part.n, sizeof(*sample.alone));
	sample.need = gv_xcalloc(part.n, sizeof(*sample.need));
	s.x = gv_xcalloc(part.n, part.m * sizeof(*s.x));
	for (i = 0; i < p->n; i++)
		if (keep[i])
			sample.alone[k++] = f->alone[i];
	bound = time_bound(&sample);
	rc = climb(&sample, bound, GV_TOL_RATIO, &quick, &s, &bound, &e);
	gv_price_forget(&memory);
	gv_error_clear(&e);
	gv_problem_free(&part);
	free(sample.a);
	free(sample.alone);
	free(sample.need);
	free(s.x);
	free(keep);
	return rc == 0 ? bound : 0;
}

/* Whether all have what they need anyway, as surely as any shares are feasible. */
static bool
keeps_needs(const struct finish *f, const struct gv_solution *s)
{
	size_t i;

	for (i = 0; i < f->p->n; i++)
		if (gv_problem_throughput(f->p, s->x, i) <
		    f->need[i] * (1 - GV_TOL_FEASIBLE))
			return false;
	return true;
}

/*
 * The largest sum at the ratio that s has: a level that is above 1, where what some ask for does not
 * depend on the ratio, gives them more than that.  s stays where the sum is none that is better.
 */
static void
second_sum(
    const struct finish *f, const struct gv_solver_options *opt, struct gv_solution *s)
{
	const struct gv_problem *p = f->p;
	size_t bytes = p->n * p->m * sizeof(*s->x), i;
	struct gv_solution other = {.x = gv_xcalloc(1, bytes)};
	const struct gv_solver_options quick = {.solver = opt->solver};
	double *need = gv_xcalloc(p->n, sizeof(*need));
	double *gain = gv_linear_normalised(p);
	struct gv_error unsaid = {0};
	struct gv_linear sum;

	for (i = 0; i < p->n; i++)
		need[i] = fmin(
		    1 / per_asked(f, i, s->objective), gv_problem_throughput(p, s->x, i));
	memcpy(other.x, s->x, bytes);
	gv_linear_init(&sum, p, &other);
	sum.gain = gain;
	sum.need = need;
	if (gv_linear_solve(&sum, &quick, "finish-time", &unsaid) == 0 &&
	    ratio(f, &other) <= s->objective * (1 + GV_TOL_RATIO) &&
	    keeps_needs(f, &other) &&
	    gv_linear_sum(p, gain, other.x) > gv_linear_sum(p, gain, s->x)) {
		memcpy(s->x, other.x, bytes);
		s->objective = ratio(f, s);
	}
	gv_linear_free(&sum);
	gv_error_clear(&unsaid);
	free(other.x);
	free(need);
	free(gain);
}

/* The shares themselves: those of the program of levels at theta whose sum is the largest. */
static int
last_step(struct finish *f, double theta, const struct gv_solver_options *opt,
    struct gv_solution *s, double *bound, struct gv_error *e)
{
	int rc = step(f, theta, opt, true, s, bound, e);

	if (rc == 0 && f->reached > 1 + GV_TOL_RATIO && f->p->together == NULL &&
	    !opt->placeable)
		second_sum(f, opt, s);
	return rc;
}

/* Into s, of f->p. */
static int
solve_unfinished(struct finish *f, const struct gv_solver_options *opt,
    struct gv_solution *s, struct gv_error *e)
{
	struct gv_price_memory own = {0};
	struct gv_price_memory *memory = opt->memory != NULL ? opt->memory : &own;
	const struct gv_solver_options quick = {.solver = opt->solver,
	    .placeable = opt->placeable,
	    .digits = opt->digits,
	    .progress = opt->progress,
	    .memory = memory};
	struct gv_solver_options last = *opt;
	size_t cells = f->p->n * f->p->m;
	double bound = time_bound(f);
	double theta = bound, near = DBL_EPSILON;
	int rc;

	if (f->p->n > SAMPLED && f->p->together == NULL && !opt->placeable &&
	    f->p->budget == 0 && !f->needs) {
		theta = fmax(theta, sampled_ratio(f, opt));
		near = sqrt(GV_TOL_RATIO); /* the last step below does the rest */
	}
	rc = climb(f, theta, near, &quick, s, &bound, e);
	if (rc == 0) {
		memset(s->x, 0, cells * sizeof(*s->x));
		last.memory = memory;
		/* what is reached, where needs must be met to the last places */
		theta = f->needs ? s->objective : fmin(bound, s->objective);
		rc = last_step(f, theta, &last, s, &bound, e);
	}
	gv_price_forget(&own);
	s->bound = fmin(bound, s->objective);
	return rc;
}

static bool
is_proved(const struct gv_solution *s, double bound)
{
	return s->objective - bound <= GV_TOL_PROVED * s->objective;
}

/* A second sum that the shares lack many digits may find, and not the same solvers again. */
static bool
is_settled(const struct finish *f, const struct gv_solution *s)
{
	return is_proved(s, s->bound) && !(s->second_missed && gv_precise_is_quick(f->p));
}

/*
 * Ratios by units in the last place above the bound: where theta D_i is next to e_i they ask for
 * much less, which others may need.
 */
static void
try_above(struct finish *f, const struct gv_solver_options *opt, struct gv_solution *s)
{
	size_t bytes = f->p->n * f->p->m * sizeof(*s->x);
	double bound = s->bound;
	struct gv_solution other = *s;
	struct gv_error unsaid = {0};
	int k;

	other.x = gv_xcalloc(1, bytes);
	for (k = 1; k <= 1024 && !is_settled(f, s); k *= 2) {
		double theta = s->bound * (1 + k * DBL_EPSILON);

		memset(other.x, 0, bytes);
		other.second_missed = false;
		if (step(f, theta, opt, false, &other, &bound, &unsaid) == 0 &&
		    is_proved(&other, s->bound) &&
		    last_step(f, theta, opt, &other, &bound, &unsaid) == 0 &&
		    other.objective < s->objective && keeps_needs(f, &other)) {
			memcpy(s->x, other.x, bytes);
			s->objective = other.objective;
			s->second_missed = other.second_missed;
		}
		gv_error_clear(&unsaid);
	}
	free(other.x);
}

/* Once more, where the others came to no proof, with levels in many digits. */
static int
solve_precisely(struct finish *f, const struct gv_solver_options *opt,
    struct gv_solution *s, int rc, struct gv_error *e)
{
	struct gv_solver_options precise = *opt;
	struct gv_solution other = {.multipliers = s->multipliers};
	struct gv_error unsaid = {0};

	precise.digits = true;
	other.x = gv_xcalloc(f->p->n, f->p->m * sizeof(*other.x));
	if (solve_unfinished(f, &precise, &other, &unsaid) == 0) {
		try_above(f, &precise, &other);
		if (keeps_needs(f, &other) && (rc != 0 || is_settled(f, &other) ||
						  other.objective < s->objective)) {
			double *mine = s->x;

			*s = other;
			other.x = mine;
			gv_error_clear(e);
			rc = 0;
		}
	}
	free(other.x);
	gv_error_clear(&unsaid);
	return rc;
}

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *out, struct gv_error *e)
{
	double *need = gv_xcalloc(p->n, sizeof(*need)), *alone;
	struct gv_solution s = {.multipliers = out->multipliers};
	struct finish f = {0};
	struct gv_unfinished w;
	size_t i;
	int rc;

	gv_unfinished_find(&w, p);
	rc = gv_deadline_needs(
	    p, &opt->solve, opt->relax_slo, "finish-time", need, out, e);
	f.need = gv_unfinished_take(&w, need, 1);
	for (i = 0; i < w.p.n; i++)
		f.needs = f.needs || f.need[i] > 0;
	f.p = &w.p;
	f.of = w.of;
	alone = gv_xcalloc(p->n, sizeof(*alone));
	gv_problem_times_alone(p, alone);
	f.alone = gv_unfinished_take(&w, alone, 1);
	f.a = gv_xcalloc(w.p.n, w.p.m * sizeof(*f.a));
	s.x = gv_xcalloc(w.p.n, w.p.m * sizeof(*s.x));
	if (rc == 0 && w.p.n > 0) {
		rc = solve_unfinished(&f, &opt->solve, &s, e);
		if (p->together == NULL && !opt->solve.placeable &&
		    (rc != 0 || !is_settled(&f, &s)))
			rc = solve_precisely(&f, &opt->solve, &s, rc, e);
	} else if (rc == 0)
		s.multipliers.known = s.multipliers.gpu != NULL;
	if (rc == 0) {
		gv_unfinished_scatter(&w, s.x, out->x);
		gv_unfinished_scatter_pairs(&w, &s, out);
		out->objective = s.objective;
		out->bound = s.bound;
		out->gap = s.objective > 0 ? (s.objective - s.bound) / s.objective : 0;
		out->exact = opt->solve.certify && (s.exact || w.p.n == 0);
		out->second_missed = s.second_missed;
		out->has_bound = true;
		out->multipliers = s.multipliers;
	}
	free(s.x);
	free(s.pair);
	gv_shared_warm_free(&f.warm);
	free(need);
	free(alone);
	free(f.need);
	free(f.alone);
	free(f.a);
	gv_unfinished_free(&w);
	return rc;
}

const struct gv_policy gv_policy_finish_time = {
    .name = "finish-time",
    .solve = solve,
    .numbers = 1u << GV_NUMBER_STEPS | 1u << GV_NUMBER_ELAPSED |
	       1u << GV_NUMBER_ISOLATED | GV_NEEDS,
    .minimises = true,
    .shares = true,
    .measure = GV_MEASURE_ALONE,
    .multipliers = true,
};
