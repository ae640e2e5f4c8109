#include "greedy.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- jobs one after another ---- */

/* What a class is still owed on a type, in jobs times rounds. */
struct deficit {
	size_t cell;
	double rounds;
	double rank; /* in a round */
};

/* What is left in a round, and who is placed. */
struct room {
	double *gpus; /* [m] */
	double *jobs; /* [n] of a class */
	double *point;
};

static int
by_deficit(const void *a, const void *b)
{
	const struct deficit *x = a;
	const struct deficit *y = b;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return (x->cell > y->cell) - (x->cell < y->cell);
}

/* As many as fit, and no more than that. */
static void
place(const struct gv_problem *p, struct deficit *d, double most, struct room *r)
{
	size_t i = d->cell / p->m, j = d->cell % p->m;
	double now = fmin(most, fmin(r->jobs[i], floor(r->gpus[j] / p->scale[i])));

	if (!(now > 0))
		return;
	r->point[d->cell] += now;
	d->rounds -= now;
	r->jobs[i] -= now;
	r->gpus[j] -= now * p->scale[i];
}

static void
run_round(const struct gv_problem *p, struct deficit *deficit, size_t n, struct room *r)
{
	size_t k;

	memcpy(r->gpus, p->capacity, p->m * sizeof(*r->gpus));
	memcpy(r->jobs, p->count, p->n * sizeof(*r->jobs));
	for (k = 0; k < n; k++)
		deficit[k].rank =
		    deficit[k].rounds * sqrt(p->scale[deficit[k].cell / p->m]);
	qsort(deficit, n, sizeof(*deficit), by_deficit);
	for (k = 0; k < n; k++)
		place(p, &deficit[k], ceil(deficit[k].rounds), r);
	for (k = 0; k < n; k++)
		place(p, &deficit[k], INFINITY, r);
}

static void
room_init(struct room *r, const struct gv_problem *p)
{
	r->gpus = gv_xcalloc(p->m, sizeof(*r->gpus));
	r->jobs = gv_xcalloc(p->n, sizeof(*r->jobs));
}

static void
room_free(struct room *r)
{
	free(r->gpus);
	free(r->jobs);
}

void
gv_greedy_rounds(
    const struct gv_problem *p, const double *x, size_t rounds, double *point)
{
	struct deficit *deficit = gv_xcalloc(p->n, p->m * sizeof(*deficit));
	struct room r;
	size_t i, k, n = 0;

	room_init(&r, p);
	for (i = 0; i < p->n * p->m; i++)
		if (x[i] > 0)
			deficit[n++].cell = i;
	for (k = 0; k < rounds; k++) {
		for (i = 0; i < n; i++)
			deficit[i].rounds +=
			    x[deficit[i].cell] * p->count[deficit[i].cell / p->m];
		r.point = &point[k * p->n * p->m];
		run_round(p, deficit, n, &r);
	}
	free(deficit);
	room_free(&r);
}

void
gv_greedy_by_gain(const struct gv_problem *p, const double *gain, double *point)
{
	struct deficit *by_gain = gv_xcalloc(p->n, p->m * sizeof(*by_gain));
	struct room r;
	size_t i, k, n = 0;

	room_init(&r, p);
	memcpy(r.gpus, p->capacity, p->m * sizeof(*r.gpus));
	memcpy(r.jobs, p->count, p->n * sizeof(*r.jobs));
	for (i = 0; i < p->n * p->m; i++)
		if (gv_problem_rate(p, i / p->m, i % p->m) > 0 && gain[i] > 0)
			by_gain[n++] = (struct deficit){
			    .cell = i, .rank = gain[i] / p->scale[i / p->m]};
	qsort(by_gain, n, sizeof(*by_gain), by_deficit);
	r.point = point;
	for (k = 0; k < n; k++)
		place(p, &by_gain[k], INFINITY, &r);
	free(by_gain);
	room_free(&r);
}

/* ---- type after type ---- */

enum { MOST_CELLS = 1 << 18, MOST_PASSES = 20 };

/* Jobs of a class that could run on the type: those that run nowhere, there, or elsewhere. */
struct item {
	size_t row, from; /* from: the type where they run, SIZE_MAX = nowhere */
	double jobs, gang;
	double worth; /* of one more here */
};

struct knapsack {
	const struct gv_problem *p;
	const double *gain;
	double *point;
	size_t n, cap;
	struct item *item;
	size_t n_one, cap_one;
	size_t *one; /* items, once for each job that may be taken */
	size_t cap_best, cap_taken;
	double *best;         /* [gpus + 1] the largest worth of so many GPUs */
	unsigned char *taken; /* [n_one][gpus + 1] */
};

/* Gangs of one size beside each other, the most worth first. */
static int
by_worth(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->gang != y->gang)
		return x->gang < y->gang ? -1 : 1;
	if (x->worth != y->worth)
		return x->worth > y->worth ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static void
add_item(struct knapsack *w, size_t i, size_t from, double jobs, double worth)
{
	if (!(jobs > 0) || !(worth > 0))
		return;
	w->item = gv_xgrow(w->item, &w->cap, w->n + 1, sizeof(*w->item));
	w->item[w->n++] = (struct item){i, from, jobs, w->p->scale[i], worth};
}

/* Who could run on type j. */
static void
list_items(struct knapsack *w, size_t j)
{
	const struct gv_problem *p = w->p;
	size_t i, k;

	w->n = 0;
	for (i = 0; i < p->n; i++) {
		const double *row = &w->point[i * p->m], *gain = &w->gain[i * p->m];
		double idle = p->count[i];

		if (gv_problem_rate(p, i, j) == 0 || !(gain[j] > 0))
			continue;
		for (k = 0; k < p->m; k++) {
			idle -= row[k];
			add_item(w, i, k, row[k],
			    k == j ? gain[j] : gain[j] - fmax(0, gain[k]));
		}
		add_item(w, i, SIZE_MAX, idle, gain[j]);
	}
	if (w->n > 0)
		qsort(w->item, w->n, sizeof(*w->item), by_worth);
}

/* Of each size the jobs of most worth, as many as fit.  False: too many. */
static bool
list_jobs(struct knapsack *w, double gpus)
{
	double taken = 0;
	size_t k;

	w->n_one = 0;
	for (k = 0; k < w->n; k++) {
		const struct item *item = &w->item[k];
		double jobs;

		if (k == 0 || item->gang != w->item[k - 1].gang)
			taken = 0;
		jobs = fmin(item->jobs, floor(gpus / item->gang) - taken);
		taken += jobs;
		if (((double)w->n_one + jobs) * (gpus + 1) > MOST_CELLS)
			return false;
		w->one = gv_xgrow(
		    w->one, &w->cap_one, w->n_one + (size_t)jobs, sizeof(*w->one));
		for (; jobs > 0; jobs--)
			w->one[w->n_one++] = k;
	}
	return true;
}

static void
fill_knapsack(struct knapsack *w, size_t gpus)
{
	size_t k, g;

	w->best = gv_xgrow(w->best, &w->cap_best, gpus + 1, sizeof(*w->best));
	w->taken = gv_xgrow(w->taken, &w->cap_taken, w->n_one * (gpus + 1) + 1, 1);
	memset(w->best, 0, (gpus + 1) * sizeof(*w->best));
	memset(w->taken, 0, w->n_one * (gpus + 1));
	for (k = 0; k < w->n_one; k++) {
		const struct item *item = &w->item[w->one[k]];
		size_t gang = (size_t)item->gang;

		for (g = gpus + 1; g-- > gang;)
			if (w->best[g - gang] + item->worth > w->best[g]) {
				w->best[g] = w->best[g - gang] + item->worth;
				w->taken[k * (gpus + 1) + g] = 1;
			}
	}
}

/* What runs on type j is worth, as it is. */
static double
worth_now(const struct knapsack *w, size_t j)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < w->p->n; i++)
		sum += w->point[i * w->p->m + j] * w->gain[i * w->p->m + j];
	return sum;
}

/* Type j as the knapsack has it. */
static void
take(struct knapsack *w, size_t j, size_t gpus)
{
	size_t m = w->p->m, left = gpus, k, i;

	for (i = 0; i < w->p->n; i++)
		w->point[i * m + j] = 0;
	for (k = w->n_one; k-- > 0;) {
		const struct item *item = &w->item[w->one[k]];

		if (!w->taken[k * (gpus + 1) + left])
			continue;
		left -= (size_t)item->gang;
		w->point[item->row * m + j]++;
		if (item->from != SIZE_MAX && item->from != j)
			w->point[item->row * m + item->from]--;
	}
}

static double
improve_type(struct knapsack *w, size_t j)
{
	double gpus = floor(w->p->capacity[j]), now, more;

	if (!(gpus >= 1) || gpus * gpus > MOST_CELLS)
		return 0;
	list_items(w, j);
	if (!list_jobs(w, gpus))
		return 0;
	fill_knapsack(w, (size_t)gpus);
	now = worth_now(w, j);
	more = w->best[(size_t)gpus] - now;
	if (!(more > 1e-12 * fabs(now)))
		return 0;
	take(w, j, (size_t)gpus);
	return more;
}

double
gv_greedy_improve(const struct gv_problem *p, const double *gain, double *point)
{
	struct knapsack w = {.p = p, .gain = gain, .point = point};
	size_t j = 0, idle = 0, k;
	double sum = 0;

	for (k = 0; k < MOST_PASSES * p->m && idle < p->m; k++) {
		double more = improve_type(&w, j);

		sum += more;
		idle = more > 0 ? 0 : idle + 1;
		j = (j + 1) % p->m;
	}
	free(w.item);
	free(w.one);
	free(w.best);
	free(w.taken);
	return sum;
}
