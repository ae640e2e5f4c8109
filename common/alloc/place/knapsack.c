#include "knapsack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Gangs of one size beside each other, the most worth first. */
static int
by_worth(const void *a, const void *b)
{
	const struct gv_knapsack_item *x = a, *y = b;

	if (x->gang != y->gang)
		return x->gang < y->gang ? -1 : 1;
	if (x->worth != y->worth)
		return x->worth > y->worth ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

/* Of each size the jobs of most worth, as many as fit.  False: too many. */
static bool
list_jobs(struct gv_knapsack *w, const struct gv_knapsack_item *item, size_t n,
    double gpus, double cells)
{
	double taken = 0;
	size_t k;

	w->n_one = 0;
	for (k = 0; k < n; k++) {
		double jobs;

		if (k == 0 || item[k].gang != item[k - 1].gang)
			taken = 0;
		jobs = fmin(item[k].jobs, floor(gpus / item[k].gang) - taken);
		taken += jobs;
		if (((double)w->n_one + jobs) * (gpus + 1) > cells)
			return false;
		w->one = gv_xgrow(
		    w->one, &w->cap_one, w->n_one + (size_t)jobs, sizeof(*w->one));
		for (; jobs > 0; jobs--)
			w->one[w->n_one++] = k;
	}
	return true;
}

static void
fill(struct gv_knapsack *w, const struct gv_knapsack_item *item, size_t gpus)
{
	size_t k, g;

	w->best = gv_xgrow(w->best, &w->cap_best, gpus + 1, sizeof(*w->best));
	w->taken = gv_xgrow(w->taken, &w->cap_taken, w->n_one * (gpus + 1) + 1, 1);
	memset(w->best, 0, (gpus + 1) * sizeof(*w->best));
	memset(w->taken, 0, w->n_one * (gpus + 1));
	for (k = 0; k < w->n_one; k++) {
		size_t gang = (size_t)item[w->one[k]].gang;
		double worth = item[w->one[k]].worth;

		for (g = gpus + 1; g-- > gang;)
			if (w->best[g - gang] + worth > w->best[g]) {
				w->best[g] = w->best[g - gang] + worth;
				w->taken[k * (gpus + 1) + g] = 1;
			}
	}
}

bool
gv_knapsack_fill(struct gv_knapsack *w, struct gv_knapsack_item *item, size_t n,
    double gpus, double cells, double *worth)
{
	size_t left = (size_t)gpus, k;

	if (n > 0)
		qsort(item, n, sizeof(*item), by_worth);
	if (!list_jobs(w, item, n, gpus, cells))
		return false;
	fill(w, item, left);
	*worth = w->best[left];
	for (k = w->n_one; k-- > 0;)
		if (w->taken[k * ((size_t)gpus + 1) + left]) {
			left -= (size_t)item[w->one[k]].gang;
			item[w->one[k]].taken++;
		}
	return true;
}

void
gv_knapsack_free(struct gv_knapsack *w)
{
	free(w->one);
	free(w->best);
	free(w->taken);
	*w = (struct gv_knapsack){0};
}
