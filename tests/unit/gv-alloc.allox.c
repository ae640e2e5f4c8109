/* gv-alloc's allox against all orders of all jobs on all GPUs. */
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/policy/policy.h"

enum { MOST = 6 };

static struct gv_problem
random_problem(void)
{
	struct gv_problem p;
	size_t i, j, n = 1 + below(MOST), m = 1 + below(3);

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, gv_policy_allox.numbers);
	for (j = 0; j < m; j++)
		p.capacity[j] = (double)(1 + below(2));
	for (i = 0; i < n; i++) {
		p.count[i] = p.weight[i] = p.scale[i] = 1;
		p.number[GV_NUMBER_STEPS][i] = 1 + 100 * uniform();
		p.number[GV_NUMBER_POSITION][i] = (double)i;
		for (j = 0; j < m; j++)
			p.rate[i * m + j] = uniform() < .2 ? 0 : exp(2 * uniform());
		if (p.rate[i * m + below(m)] == 0)
			p.rate[i * m] = 1;
	}
	return p;
}

/* Of jobs put on GPUs the shortest run first: the sum of times to completion. */
static double
sum_of(const struct gv_problem *p, const size_t *gpu, const size_t *type, size_t gpus)
{
	double sum = 0;
	size_t g, i, k;

	for (g = 0; g < gpus; g++) {
		double time[MOST];
		size_t n = 0;

		for (i = 0; i < p->n; i++) {
			double t;

			if (gpu[i] != g)
				continue;
			if (gv_problem_rate(p, i, type[g]) == 0)
				return INFINITY;
			t = p->number[GV_NUMBER_STEPS][i] /
			    gv_problem_rate(p, i, type[g]);
			for (k = n++; k > 0 && time[k - 1] > t; k--)
				time[k] = time[k - 1];
			time[k] = t;
		}
		for (k = 0; k < n; k++)
			sum += (double)(n - k) * time[k];
	}
	return sum;
}

/* The least of all ways to put n jobs on GPUs. */
static double
brute_force(const struct gv_problem *p)
{
	size_t gpu[MOST] = {0}, type[MOST];
	size_t gpus = 0, i, j, k;
	double best = INFINITY;

	for (j = 0; j < p->m; j++)
		for (k = 0; k < (size_t)p->capacity[j]; k++)
			type[gpus++] = j;
	for (;;) {
		best = fmin(best, sum_of(p, gpu, type, gpus));
		for (i = 0; i < p->n && ++gpu[i] == gpus; i++)
			gpu[i] = 0;
		if (i == p->n)
			return best / (double)p->n;
	}
}

/* Started jobs keep their GPUs; the others are as well off as with what is left. */
static void
test_started(void)
{
	int i, wrong = 0, moved = 0, jobs = 0;

	for (i = 0; i < 200; i++) {
		struct gv_problem p = random_problem();
		struct gv_problem rest;
		bool keep[MOST];
		struct gv_policy_options opt = {0};
		struct gv_solution s = {.x = gv_xcalloc(p.n, p.m * sizeof(double))};
		struct gv_error e = {0};
		double sum = 0, best = 0, gpus = 0;
		double left[3];
		size_t k, j;

		memcpy(left, p.capacity, p.m * sizeof(*left));
		for (k = 0; k < p.n; k++) {
			j = below(p.m);
			keep[k] = !(uniform() < .4 && gv_problem_rate(&p, k, j) > 0 &&
				    left[j] > 0);
			if (keep[k])
				continue;
			left[j]--;
			p.number[GV_NUMBER_STARTED][k] = (double)(j + 1);
			sum += p.number[GV_NUMBER_STEPS][k] / gv_problem_rate(&p, k, j);
		}
		gv_problem_pick(&rest, &p, keep);
		memcpy(rest.capacity, left, p.m * sizeof(*left));
		for (j = 0; j < p.m; j++)
			gpus += left[j];
		if (rest.n > 0 && gpus > 0)
			best = brute_force(&rest) * (double)rest.n;
		if (gv_policy_allox.solve(&p, &opt, &s, &e) != 0)
			gv_die_error(&e);
		for (k = 0; k < p.n; k++)
			if (!keep[k])
				moved +=
				    s.x[k * p.m + (size_t)p.number[GV_NUMBER_STARTED][k] -
					1] != 1;
		if (isfinite(best) && (gpus > 0 || rest.n == 0)) {
			jobs++;
			best = (sum + best) / (double)p.n;
			wrong += !(fabs(s.objective - best) <= 1e-9 * best);
			wrong += !(fabs(s.bound - best) <= 1e-9 * best);
		}
		wrong += !(gv_problem_excess(&p, s.x) <= 0);
		free(s.x);
		gv_problem_free(&rest);
		gv_problem_free(&p);
	}
	ok(jobs > 100, "most problems have GPUs left");
	is_int(moved, 0, "started jobs stay");
	is_int(wrong, 0, "the others have the least average of what is left");
}

static void
test_brute_force(void)
{
	int i, bad = 0, unproved = 0, excess = 0, broken = 0;

	/* whatever the unit of time */
	for (i = 0; i < 300; i++) {
		struct gv_problem p = random_problem();
		struct gv_policy_options opt = {0};
		struct gv_solution s = {.x = gv_xcalloc(p.n, p.m * sizeof(double))};
		struct gv_error e = {0};
		double best;
		size_t k;

		for (k = 0; k < p.n; k++)
			p.number[GV_NUMBER_STEPS][k] *= i % 3 == 0   ? 1e-7
							: i % 3 == 1 ? 1
								     : 1e5;
		best = brute_force(&p);
		if (gv_policy_allox.solve(&p, &opt, &s, &e) != 0)
			gv_die_error(&e);
		bad += !(fabs(s.objective - best) <= 1e-9 * best);
		unproved += !(s.gap >= 0 && s.gap <= 1e-9 && s.has_bound &&
			      s.gap == (s.objective - s.bound) / s.objective);
		excess += !(gv_problem_excess(&p, s.x) <= 0);
		for (k = 0; k < p.n * p.m; k++)
			broken += (s.x[k] != 0 && s.x[k] != 1) ||
				  (s.x[k] == 1 && p.rate[k] == 0);
		free(s.x);
		gv_problem_free(&p);
	}
	is_int(bad, 0, "300 problems: the least average of all assignments");
	is_int(unproved, 0, "proved by duals");
	is_int(excess, 0, "no GPU twice, no job twice");
	is_int(broken, 0, "whole shares, where the job can run");
}

/* ---- a line of jobs that wait ---- */

/* In this assignment the jobs of share 1, and no others, are first on their GPUs. */
static bool
has_firsts(const struct gv_problem *p, const double *x, const size_t *gpu,
    const size_t *type, size_t gpus)
{
	size_t g, i;

	for (g = 0; g < gpus; g++) {
		size_t first = SIZE_MAX;
		double least = INFINITY, had = INFINITY;

		for (i = 0; i < p->n; i++) {
			double t = p->number[GV_NUMBER_STEPS][i] /
				   gv_problem_rate(p, i, type[g]);

			if (gpu[i] != g)
				continue;
			least = fmin(least, t);
			if (x[i * p->m + type[g]] != 1)
				continue;
			if (first != SIZE_MAX)
				return false;
			first = i;
			had = t;
		}
		if (isfinite(least) && !(had <= least))
			return false;
	}
	return true;
}

/* Some assignment that is as good as the best has the shares x of p's jobs. */
static bool
is_of_best(const struct gv_problem *p, const double *x, double best)
{
	size_t gpu[MOST] = {0}, type[MOST];
	size_t gpus = 0, i, j, k;

	for (j = 0; j < p->m; j++)
		for (k = 0; k < (size_t)p->capacity[j]; k++)
			type[gpus++] = j;
	for (;;) {
		if (sum_of(p, gpu, type, gpus) <= best * (1 + 1e-9) &&
		    has_firsts(p, x, gpu, type, gpus))
			return true;
		for (i = 0; i < p->n && ++gpu[i] == gpus; i++)
			gpu[i] = 0;
		if (i == p->n)
			return false;
	}
}

/* Who is looked at (keep), and what the started ones have; GPUs that are left in *rest's. */
struct line {
	bool keep[MOST], started[MOST];
	double left[3], sum;
	size_t n_started, n_kept;
};

static void
line_up(struct line *w, const struct gv_problem *p, double alpha)
{
	size_t i, j, k, waits = 0, most;
	double gpus = 0;

	*w = (struct line){.sum = 0};
	memcpy(w->left, p->capacity, p->m * sizeof(*p->capacity));
	for (i = 0; i < p->n; i++) {
		j = (size_t)p->number[GV_NUMBER_STARTED][i];
		if (p->number[GV_NUMBER_STEPS][i] == 0)
			continue;
		w->started[i] = j > 0 && w->left[j - 1] > 0;
		waits += !w->started[i];
		if (!w->started[i])
			continue;
		w->left[j - 1]--;
		w->n_started++;
		w->sum += p->number[GV_NUMBER_STEPS][i] / gv_problem_rate(p, i, j - 1);
	}
	for (j = 0; j < p->m; j++)
		gpus += w->left[j];
	most = (size_t)fmax(gpus, floor((alpha > 0 ? alpha : 1) * (double)waits));
	for (i = 0; i < p->n; i++) {
		size_t ahead = 0;
		bool can = false;

		if (w->started[i] || p->number[GV_NUMBER_STEPS][i] == 0)
			continue;
		for (k = 0; k < p->n; k++)
			ahead += p->number[GV_NUMBER_STEPS][k] > 0 && !w->started[k] &&
				 p->number[GV_NUMBER_POSITION][k] <
				     p->number[GV_NUMBER_POSITION][i];
		for (j = 0; j < p->m; j++)
			can = can || (w->left[j] > 0 && gv_problem_rate(p, i, j) > 0);
		w->keep[i] = can && ahead < most;
		w->n_kept += w->keep[i];
	}
}

/* Jobs of no steps, started ones more than GPUs, others by their places in the queue. */
static struct gv_problem
waiting_problem(void)
{
	struct gv_problem p = random_problem();
	size_t i, j, k;

	for (i = 0; i < p.n; i++) {
		double *position = p.number[GV_NUMBER_POSITION];

		k = below(i + 1);
		position[i] = position[k];
		position[k] = (double)i;
		if (uniform() < .15)
			p.number[GV_NUMBER_STEPS][i] = 0;
		j = below(p.m);
		if (uniform() < .3 && gv_problem_rate(&p, i, j) > 0)
			p.number[GV_NUMBER_STARTED][i] = (double)(j + 1);
	}
	return p;
}

/* What is wrong with an answer s to p. */
static int
line_faults(const struct gv_problem *p, const struct line *w, const struct gv_solution *s)
{
	struct gv_problem rest;
	double best = 0, *x;
	size_t i, j, k = 0, jobs = w->n_started + w->n_kept;
	int faults = 0;

	gv_problem_pick(&rest, p, w->keep);
	memcpy(rest.capacity, w->left, p->m * sizeof(*w->left));
	x = gv_xcalloc(rest.n + 1, p->m * sizeof(*x));
	for (i = 0; i < p->n; i++) {
		double sum = 0;

		for (j = 0; j < p->m; j++)
			sum += s->x[i * p->m + j];
		if (w->keep[i])
			memcpy(&x[k++ * p->m], &s->x[i * p->m], p->m * sizeof(*x));
		else
			faults += sum != w->started[i];
		if (w->started[i])
			faults += s->x[i * p->m +
				       (size_t)p->number[GV_NUMBER_STARTED][i] - 1] != 1;
	}
	if (rest.n > 0) {
		best = brute_force(&rest) * (double)rest.n;
		faults += !is_of_best(&rest, x, best);
	}
	best = jobs > 0 ? (w->sum + best) / (double)jobs : 0;
	faults += !(fabs(s->objective - best) <= 1e-9 * best);
	faults += !(fabs(s->bound - best) <= 1e-9 * best);
	faults += !s->has_bound || !(s->gap >= 0 && s->gap <= 1e-9);
	free(x);
	gv_problem_free(&rest);
	return faults;
}

static void
test_line(void)
{
	static const double alpha[] = {0, .3, .5, .8, 1};
	int i, wrong = 0, idle = 0;

	for (i = 0; i < 400; i++) {
		struct gv_problem p = waiting_problem();
		struct gv_policy_options opt = {.alpha = alpha[i % 5]};
		struct gv_solution s = {.x = gv_xcalloc(p.n, p.m * sizeof(double))};
		struct gv_error e = {0};
		struct line w;

		line_up(&w, &p, opt.alpha);
		if (gv_policy_allox.solve(&p, &opt, &s, &e) != 0)
			gv_die_error(&e);
		wrong += line_faults(&p, &w, &s);
		idle += w.n_started + w.n_kept == 0;
		free(s.x);
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "of those that wait the first come into line");
	ok(idle > 0, "also where nobody has anything to do");
}

/* What it does not do, it says. */
static void
test_refused(void)
{
	enum { MANY = 10000 };
	struct gv_policy_options opt = {0};
	struct gv_solution s = {.x = gv_xcalloc(MANY, 2 * sizeof(double))};
	struct gv_problem p;
	struct gv_error e = {0};
	size_t i;

	gv_problem_alloc(&p, MANY, 2);
	gv_problem_ask(&p, gv_policy_allox.numbers);
	p.capacity[0] = p.capacity[1] = 1;
	for (i = 0; i < MANY; i++) {
		p.count[i] = p.weight[i] = p.scale[i] = 1;
		p.rate[2 * i] = p.rate[2 * i + 1] = 1;
		p.number[GV_NUMBER_STEPS][i] = 1;
		p.number[GV_NUMBER_POSITION][i] = (double)i;
	}
	is_int(gv_policy_allox.solve(&p, &opt, &s, &e), -1, "a line that is too long");
	is_str(e.count == 1 ? e.text[0] : "",
	    "allox: too many jobs: 10000 wait for 2 GPUs; --alpha=A looks at fewer",
	    "says so");
	gv_error_clear(&e);
	p.scale[0] = 2;
	is_int(gv_policy_allox.solve(&p, &opt, &s, &e), -1, "a gang");
	is_str(e.count == 1 ? e.text[0] : "",
	    "allox: only jobs of one GPU; a job here needs 2 at once", "says so");
	gv_error_clear(&e);
	free(s.x);
	gv_problem_free(&p);
}

int
main(void)
{
	draws_begin(14, 0, 0);
	test_brute_force();
	test_started();
	test_line();
	test_refused();
	return done_testing();
}
