#include "greedy.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "knapsack.h"

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

struct improving {
	const struct gv_problem *p;
	const double *gain;
	double *point;
	size_t n, cap;
	struct gv_knapsack_item *item; /* id: row and type where they run, m = nowhere */
	struct gv_knapsack knapsack;
};

static void
add_item(struct improving *w, size_t i, size_t from, double jobs, double worth)
{
	if (!(jobs > 0) || !(worth > 0))
		return;
	w->item = gv_xgrow(w->item, &w->cap, w->n + 1, sizeof(*w->item));
	w->item[w->n++] = (struct gv_knapsack_item){.id = i * (w->p->m + 1) + from,
	    .gang = w->p->scale[i],
	    .jobs = jobs,
	    .worth = worth};
}

/* Who could run on type j: those that run nowhere, there, or elsewhere. */
static void
list_items(struct improving *w, size_t j)
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
		add_item(w, i, p->m, idle, gain[j]);
	}
}

/* What runs on type j is worth, as it is. */
static double
worth_now(const struct improving *w, size_t j)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < w->p->n; i++)
		sum += w->point[i * w->p->m + j] * w->gain[i * w->p->m + j];
	return sum;
}

/* Type j as the knapsack has it. */
static void
take(struct improving *w, size_t j)
{
	size_t m = w->p->m, i, k;

	for (i = 0; i < w->p->n; i++)
		w->point[i * m + j] = 0;
	for (k = 0; k < w->n; k++) {
		size_t row = w->item[k].id / (m + 1), from = w->item[k].id % (m + 1);

		w->point[row * m + j] += w->item[k].taken;
		if (from < m && from != j)
			w->point[row * m + from] -= w->item[k].taken;
	}
}

static double
improve_type(struct improving *w, size_t j)
{
	double gpus = floor(w->p->capacity[j]), now, most;

	if (!(gpus >= 1) || gpus * gpus > MOST_CELLS)
		return 0;
	list_items(w, j);
	if (!gv_knapsack_fill(&w->knapsack, w->item, w->n, gpus, MOST_CELLS, &most))
		return 0;
	now = worth_now(w, j);
	if (!(most - now > 1e-12 * fabs(now)))
		return 0;
	take(w, j);
	return most - now;
}

double
gv_greedy_improve(const struct gv_problem *p, const double *gain, double *point)
{
	struct improving w = {.p = p, .gain = gain, .point = point};
	size_t j = 0, idle = 0, k;
	double sum = 0;

	for (k = 0; k < MOST_PASSES * p->m && idle < p->m; k++) {
		double more = improve_type(&w, j);

		sum += more;
		idle = more > 0 ? 0 : idle + 1;
		j = (j + 1) % p->m;
	}
	free(w.item);
	gv_knapsack_free(&w.knapsack);
	return sum;
}
