#include "queues.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

/* The k-th last place of a type. */
struct place {
	size_t type, k;
	size_t n;    /* of its GPUs that have a job there */
	size_t *job; /* [n] */
	double dual; /* <= 0, 0 while it is not full */

	/* of the path that is looked for */
	double dist;
	bool done;
	size_t mover,
	    from; /* the job that would come, and from which place; SIZE_MAX: none */
};

struct matching {
	struct gv_queues *q;
	struct place *place;
	size_t n_places, cap;
	double *dual; /* [n] of the jobs */
};

static void
add_place(struct matching *a, size_t type)
{
	size_t k = ++a->q->places[type];

	a->place = gv_xgrow(a->place, &a->cap, a->n_places + 1, sizeof(*a->place));
	a->place[a->n_places++] = (struct place){
	    .type = type, .k = k, .job = gv_xcalloc(a->q->gpus[type], sizeof(size_t))};
}

static double
cost(const struct matching *a, size_t job, const struct place *p)
{
	return (double)p->k * a->q->time_s[job * a->q->m + p->type];
}

/* What it would cost to come to each place by moving the job there. */
static void
relax(struct matching *a, size_t job, size_t from, double so_far)
{
	double base = so_far - a->dual[job];
	size_t c;

	for (c = 0; c < a->n_places; c++) {
		struct place *p = &a->place[c];
		double d = base + (cost(a, job, p) - p->dual);

		if (!p->done && d < p->dist) {
			p->dist = d;
			p->mover = job;
			p->from = from;
		}
	}
}

/* The cheapest way to make room for the job, by Dijkstra's method: the free place it ends in. */
static size_t
find_path(struct matching *a, size_t job)
{
	size_t c, i, at = SIZE_MAX;
	double so_far = 0;

	for (c = 0; c < a->n_places; c++) {
		a->place[c].dist = INFINITY;
		a->place[c].done = false;
	}
	relax(a, job, SIZE_MAX, 0);
	for (;;) {
		at = SIZE_MAX;
		for (c = 0; c < a->n_places; c++)
			if (!a->place[c].done &&
			    (at == SIZE_MAX || a->place[c].dist < a->place[at].dist))
				at = c;
		so_far = a->place[at].dist;
		a->place[at].done = true;
		if (a->place[at].n < a->q->gpus[a->place[at].type])
			return at;
		for (i = 0; i < a->place[at].n; i++)
			relax(a, a->place[at].job[i], at, so_far);
	}
}

static void
take_out(struct place *p, size_t job)
{
	size_t i = 0;

	while (p->job[i] != job)
		i++;
	p->job[i] = p->job[--p->n];
}

static void
add_job(struct matching *a, size_t job)
{
	size_t end = find_path(a, job);
	double so_far = a->place[end].dist;
	size_t c, i, at;

	a->dual[job] += so_far;
	for (c = 0; c < a->n_places; c++) {
		struct place *p = &a->place[c];

		if (!p->done || c == end)
			continue;
		for (i = 0; i < p->n; i++)
			a->dual[p->job[i]] += so_far - p->dist;
		p->dual -= so_far - p->dist;
	}
	for (at = end; at != SIZE_MAX; at = a->place[at].from) {
		struct place *p = &a->place[at];

		if (p->from != SIZE_MAX)
			take_out(&a->place[p->from], p->mover);
		p->job[p->n++] = p->mover;
	}
	c = a->place[end].type;
	if (a->place[end].k == a->q->places[c] && a->place[end].n == a->q->gpus[c])
		add_place(a, c);
}

/* The answer, and both sums in blocks. */
static void
take(const struct matching *a)
{
	struct gv_queues *q = a->q;
	double least = 0;
	size_t c, i;

	for (c = 0; c < a->n_places; c++) {
		const struct place *p = &a->place[c];
		double sum = 0, duals = 0;

		for (i = 0; i < p->n; i++) {
			q->type[p->job[i]] = p->type;
			q->last[p->job[i]] = p->k;
			sum += cost(a, p->job[i], p);
			duals += a->dual[p->job[i]];
		}
		if (p->n == 0)
			q->places[p->type]--;
		q->sum_s += sum;
		least += duals + p->dual * (double)p->n;
	}
	q->least_s = fmin(least, q->sum_s);
}

void
gv_queues_fill(struct gv_queues *q)
{
	struct matching a = {.q = q,
	    .dual = gv_xcalloc(q->n, sizeof(double)),
	    .place = gv_xcalloc(q->m, sizeof(*a.place)),
	    .cap = q->m};
	size_t i, j;

	q->type = gv_xcalloc(q->n, sizeof(*q->type));
	q->last = gv_xcalloc(q->n, sizeof(*q->last));
	q->places = gv_xcalloc(q->m, sizeof(*q->places));
	q->sum_s = 0;
	for (j = 0; j < q->m; j++)
		if (q->gpus[j] > 0)
			add_place(&a, j);
	for (i = q->n; i-- > 0;) /* of equal jobs the first is in front */
		add_job(&a, i);
	take(&a);
	for (i = 0; i < a.n_places; i++)
		free(a.place[i].job);
	free(a.place);
	free(a.dual);
}

void
gv_queues_free(struct gv_queues *q)
{
	free(q->type);
	free(q->last);
	free(q->places);
}
