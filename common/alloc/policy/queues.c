#include "queues.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

/* The k-th last position of a type. */
struct position {
	size_t type, k;
	size_t n;    /* of its GPUs that have a job there */
	size_t *job; /* [n] */
	double dual; /* <= 0, 0 while it is not full */

	/* of the path that is looked for */
	double dist;
	bool done;
	size_t mover,
	    from; /* the job that would come, and from which position; SIZE_MAX: none */
};

struct matching {
	struct gv_queues *q;
	struct position *position;
	size_t n_positions, cap;
	double *dual; /* [n] of the jobs */
};

static void
add_position(struct matching *a, size_t type)
{
	size_t k = ++a->q->length[type];

	a->position =
	    gv_xgrow(a->position, &a->cap, a->n_positions + 1, sizeof(*a->position));
	a->position[a->n_positions++] = (struct position){
	    .type = type, .k = k, .job = gv_xcalloc(a->q->gpus[type], sizeof(size_t))};
}

static double
cost(const struct matching *a, size_t job, const struct position *p)
{
	return (double)p->k * a->q->time_s[job * a->q->m + p->type];
}

/* What it would cost to come to each position by moving the job there. */
static void
relax(struct matching *a, size_t job, size_t from, double so_far)
{
	double base = so_far - a->dual[job];
	size_t c;

	for (c = 0; c < a->n_positions; c++) {
		struct position *p = &a->position[c];
		double d = base + (cost(a, job, p) - p->dual);

		if (!p->done && d < p->dist) {
			p->dist = d;
			p->mover = job;
			p->from = from;
		}
	}
}

/* The cheapest way to make room for the job, by Dijkstra's method: the free position it ends in. */
static size_t
find_path(struct matching *a, size_t job)
{
	size_t c, i, at = SIZE_MAX;
	double so_far = 0;

	for (c = 0; c < a->n_positions; c++) {
		a->position[c].dist = INFINITY;
		a->position[c].done = false;
	}
	relax(a, job, SIZE_MAX, 0);
	for (;;) {
		at = SIZE_MAX;
		for (c = 0; c < a->n_positions; c++)
			if (!a->position[c].done &&
			    (at == SIZE_MAX ||
				a->position[c].dist < a->position[at].dist))
				at = c;
		so_far = a->position[at].dist;
		a->position[at].done = true;
		if (a->position[at].n < a->q->gpus[a->position[at].type])
			return at;
		for (i = 0; i < a->position[at].n; i++)
			relax(a, a->position[at].job[i], at, so_far);
	}
}

static void
take_out(struct position *p, size_t job)
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
	double so_far = a->position[end].dist;
	size_t c, i, at;

	a->dual[job] += so_far;
	for (c = 0; c < a->n_positions; c++) {
		struct position *p = &a->position[c];

		if (!p->done || c == end)
			continue;
		for (i = 0; i < p->n; i++)
			a->dual[p->job[i]] += so_far - p->dist;
		p->dual -= so_far - p->dist;
	}
	for (at = end; at != SIZE_MAX; at = a->position[at].from) {
		struct position *p = &a->position[at];

		if (p->from != SIZE_MAX)
			take_out(&a->position[p->from], p->mover);
		p->job[p->n++] = p->mover;
	}
	c = a->position[end].type;
	if (a->position[end].k == a->q->length[c] && a->position[end].n == a->q->gpus[c])
		add_position(a, c);
}

/* The answer, and both sums in blocks. */
static void
take(const struct matching *a)
{
	struct gv_queues *q = a->q;
	double least = 0;
	size_t c, i;

	for (c = 0; c < a->n_positions; c++) {
		const struct position *p = &a->position[c];
		double sum = 0, duals = 0;

		for (i = 0; i < p->n; i++) {
			q->type[p->job[i]] = p->type;
			q->last[p->job[i]] = p->k;
			sum += cost(a, p->job[i], p);
			duals += a->dual[p->job[i]];
		}
		if (p->n == 0)
			q->length[p->type]--;
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
	    .position = gv_xcalloc(q->m, sizeof(*a.position)),
	    .cap = q->m};
	size_t i, j;

	q->type = gv_xcalloc(q->n, sizeof(*q->type));
	q->last = gv_xcalloc(q->n, sizeof(*q->last));
	q->length = gv_xcalloc(q->m, sizeof(*q->length));
	q->sum_s = 0;
	for (j = 0; j < q->m; j++)
		if (q->gpus[j] > 0)
			add_position(&a, j);
	for (i = q->n; i-- > 0;) /* of equal jobs the first is in front */
		add_job(&a, i);
	take(&a);
	for (i = 0; i < a.n_positions; i++)
		free(a.position[i].job);
	free(a.position);
	free(a.dual);
}

void
gv_queues_free(struct gv_queues *q)
{
	free(q->type);
	free(q->last);
	free(q->length);
}
