/*
 * How far plans of graphs with too many prefixes are from the best: random graphs small
 * enough that all their prefixes can be looked at, planned with a tenth of them or less.
 * A row for each family of graphs and machine: graphs, the mean and the worst of the time
 * over the best time, how many are above 1 %, and seconds of both.
 *
 *     gv-partition.large [GRAPHS [LIMIT]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "../unit/large_graphs.h"

struct row {
	size_t n, above, first_above;
	double sum, worst, first_sum, first_worst, ours_s, exact_s;
};

static void
one(struct row *r, const struct gv_graph *g, const struct gv_machine *m, size_t limit,
    size_t most)
{
	struct ideals all;
	struct large_task f = {g, m, IDEALS_ALL};
	struct gv_plan p = {0};
	double best_s, time_s, first_s, at_s;

	if (ideals_make(&all, g, IDEALS_ALL, NULL, 0, most) != 0)
		return;
	if (all.n < 8 * limit) {
		ideals_free(&all);
		return;
	}
	at_s = gv_clock_s();
	large_find(&f, &p, &all);
	best_s = large_time(&f, &p);
	r->exact_s += gv_clock_s() - at_s;
	gv_plan_free(&p);
	ideals_free(&all);
	at_s = gv_clock_s();
	time_s = large_plan(&f, limit, &first_s);
	r->ours_s += gv_clock_s() - at_s;
	r->n++;
	r->sum += time_s / best_s;
	r->worst = fmax(r->worst, time_s / best_s);
	r->above += time_s > 1.01 * best_s;
	r->first_sum += first_s / best_s;
	r->first_worst = fmax(r->first_worst, first_s / best_s);
	r->first_above += first_s > 1.01 * best_s;
}

int
main(int argc, char **argv)
{
	size_t graphs = argc > 1 ? (size_t)atol(argv[1]) : 10;
	size_t limit = argc > 2 ? (size_t)atol(argv[2]) : 100;
	struct large_graph x;
	size_t kind, k, tries;

	for (k = 0; k < N_LARGE_MACHINES; k++)
		for (kind = 0; kind < LARGE_KINDS; kind++) {
			struct row r = {0};

			draws_begin(5, (uint32_t)kind, (uint32_t)k);
			for (tries = 0; r.n < graphs && tries < 3000; tries++) {
				large_draw(&x, (enum large_kind)kind, 16 + draw(64));
				one(&r, &x.g, &large_machines[k], limit,
				    large_machines[k].n_levels > 1 ? 15 * limit
								   : 60 * limit);
			}
			if (r.n == 0)
				continue;
			printf("%-8s %zu levels %3zu GPUs: %3zu graphs, mean %.4f worst "
			       "%.4f above "
			       "%zu; first mean %.4f worst %.4f above %zu; %.2f s, all "
			       "%.2f s\n",
			    large_name[kind], large_machines[k].n_levels,
			    gv_machine_component(
				&large_machines[k], large_machines[k].n_levels),
			    r.n, r.sum / (double)r.n, r.worst, r.above,
			    r.first_sum / (double)r.n, r.first_worst, r.first_above,
			    r.ours_s / (double)r.n, r.exact_s / (double)r.n);
			fflush(stdout);
		}
	return 0;
}
