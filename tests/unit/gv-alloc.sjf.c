/*
 * gv-alloc's sjf against a program for each choice: who is served keeps his throughput,
 * of the others the one that then can be done first is next.  That is what sjf gives
 * where a job is equally fast on all types it can use; where it is not, no GPU idles
 * that somebody with time left could use.
 */
#include "tap.h"

#include "alloc_help.h"
#include "lp/lp.h"

enum { MOST = 7 };

static struct gv_problem
random_problem(bool even)
{
	struct gv_problem p;
	size_t i, j, n = 1 + below(MOST), m = 1 + below(4);

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, gv_policy_sjf.numbers);
	for (j = 0; j < m; j++)
		p.capacity[j] = (double)(1 + below(3));
	for (i = 0; i < n; i++) {
		double rate = 1 + (double)below(4);

		p.count[i] = p.weight[i] = 1;
		p.scale[i] = (double)(1 + below(2));
		/* no two times are equal */
		p.number[GV_NUMBER_STEPS][i] = 1 + 100 * uniform();
		for (j = 0; j < m; j++)
			if (uniform() < .6)
				p.rate[i * m + j] = even ? rate : 1 + (double)below(3);
		make_runnable(&p, i);
	}
	return p;
}

/* The largest throughput of row i when those with done[] keep kept[]. */
static double
most(const struct gv_problem *p, size_t i, const bool *done, const double *kept)
{
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution s;
	struct gv_error e = {0};
	double best;
	size_t k, j;

	for (k = 0; k < p->n; k++)
		for (j = 0; j < p->m; j++)
			gv_lp_add_col(&lp, 0, gv_problem_rate(p, k, j) > 0 ? 1 : 0,
			    k == i ? gv_problem_rate(p, k, j) : 0);
	for (j = 0; j < p->m; j++) {
		size_t r = gv_lp_add_row(&lp, -INFINITY, p->capacity[j]);

		for (k = 0; k < p->n; k++)
			gv_lp_set(&lp, r, k * p->m + j, p->scale[k]);
	}
	for (k = 0; k < p->n; k++) {
		size_t time = gv_lp_add_row(&lp, -INFINITY, 1), r;

		for (j = 0; j < p->m; j++)
			gv_lp_set(&lp, time, k * p->m + j, 1);
		if (!done[k])
			continue;
		r = gv_lp_add_row(&lp, kept[k] * (1 - 1e-10), INFINITY);
		for (j = 0; j < p->m; j++)
			gv_lp_set(&lp, r, k * p->m + j, gv_problem_rate(p, k, j));
	}
	if (gv_lp_solve(&lp, NULL, NULL, &s, &e) != 0 || s.status != GV_LP_OPTIMAL)
		gv_die("a program has no answer");
	best = s.check.objective;
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
	return best;
}

static void
test_programs(void)
{
	int k, differ = 0, first = 0;

	for (k = 0; k < 1500; k++) {
		struct gv_problem p = random_problem(true);
		struct gv_policy_options opt = {0};
		struct gv_solution s = shares(&gv_policy_sjf, &p, &opt, false);
		bool done[MOST] = {false};
		double kept[MOST] = {0};
		size_t i, turn;

		for (turn = 0; turn < p.n; turn++) {
			double time = INFINITY;
			size_t next = 0;

			for (i = 0; i < p.n; i++) {
				double at = done[i] ? 0 : most(&p, i, done, kept);

				if (done[i] || at < 1e-7 ||
				    p.number[GV_NUMBER_STEPS][i] / at >= time)
					continue;
				time = p.number[GV_NUMBER_STEPS][i] / at;
				next = i;
			}
			if (isinf(time))
				break;
			done[next] = true;
			kept[next] = p.number[GV_NUMBER_STEPS][next] / time;
			first += turn == 0 && !near(s.objective, time, 1e-9);
		}
		for (i = 0; i < p.n; i++)
			differ +=
			    fabs(gv_problem_throughput(&p, s.x, i) - kept[i]) > 1e-6;
		free(s.x);
		gv_problem_free(&p);
	}
	is_int(first, 0, "the objective is the time of the first");
	is_int(differ, 0, "every job has what a program for each choice gives it");
}

static void
test_idle(void)
{
	int k, idle = 0, over = 0;

	for (k = 0; k < 20000; k++) {
		struct gv_problem p = random_problem(false);
		struct gv_policy_options opt = {0};
		struct gv_solution s = shares(&gv_policy_sjf, &p, &opt, k & 1);
		size_t i, j;

		over += gv_problem_excess(&p, s.x) > 1e-12;
		for (j = 0; j < p.m; j++) {
			double left = p.capacity[j];

			for (i = 0; i < p.n; i++)
				left -= p.scale[i] * s.x[i * p.m + j];
			for (i = 0; i < p.n && left > 1e-9; i++) {
				double time = 0;
				size_t l;

				for (l = 0; l < p.m; l++)
					time += s.x[i * p.m + l];
				idle += gv_problem_rate(&p, i, j) > 0 && time < 1 - 1e-9;
			}
		}
		free(s.x);
		gv_problem_free(&p);
	}
	is_int(over, 0, "no constraint is broken");
	is_int(idle, 0, "no GPU idles that a job with time left can use");
}

int
main(void)
{
	test_programs();
	test_idle();
	return done_testing();
}
