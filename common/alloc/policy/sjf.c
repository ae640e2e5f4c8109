/*
 * sjf: the job that can be done first gets all it can use, then the one that can be
 * done first with what is left, and so on (shortest job first).
 *
 *	min_x min_i  n_i / thr_i(x),   and again without that job and its GPUs
 *
 * Gavel, OSDI 2020, section 4.2, stops after the first.  Equal jobs share what the
 * first of them would get, in equal parts.
 *
 * The time of a job grows while GPUs are taken, so a heap of times that were right
 * once gives the next job after few looks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy.h"

struct entry {
	double time_s; /* at least */
	size_t row;
};

struct heap {
	struct entry *entry;
	size_t n;
};

static bool
before(const struct entry *a, const struct entry *b)
{
	return a->time_s != b->time_s ? a->time_s < b->time_s : a->row < b->row;
}

static void
sift_down(struct heap *h, size_t i)
{
	for (;;) {
		size_t first = i;
		size_t child = 2 * i + 1;
		struct entry swap;

		if (child < h->n && before(&h->entry[child], &h->entry[first]))
			first = child;
		if (child + 1 < h->n && before(&h->entry[child + 1], &h->entry[first]))
			first = child + 1;
		if (first == i)
			return;
		swap = h->entry[i];
		h->entry[i] = h->entry[first];
		h->entry[first] = swap;
		i = first;
	}
}

static void
drop_first(struct heap *h)
{
	h->entry[0] = h->entry[--h->n];
	sift_down(h, 0);
}

/*
 * All that gangs of row i can use of what is left: of the fastest type as long as
 * there is some, then of the next.  Their number is jobs; x [m] is what each gets.
 * Returns its throughput.
 */
static double
fill(const struct gv_problem *p, size_t i, const double *left, double jobs, double *x)
{
	double time = 1;
	double sum = 0;
	size_t j, k;

	memset(x, 0, p->m * sizeof(*x));
	for (k = 0; k < p->m && time > 0; k++) {
		size_t best = p->m;

		for (j = 0; j < p->m; j++)
			if (x[j] == 0 && left[j] > 0 && gv_problem_rate(p, i, j) > 0 &&
			    (best == p->m ||
				gv_problem_rate(p, i, j) > gv_problem_rate(p, i, best)))
				best = j;
		if (best == p->m)
			break;
		x[best] = fmin(time, left[best] / (jobs * p->scale[i]));
		time -= x[best];
		sum += gv_problem_rate(p, i, best) * x[best];
	}
	return sum;
}

static void
start(struct heap *h, const struct gv_problem *p, double *x)
{
	size_t i;

	h->entry = gv_xcalloc(p->n, sizeof(*h->entry));
	h->n = 0;
	for (i = 0; i < p->n; i++) {
		double steps = p->number[GV_NUMBER_STEPS][i];

		if (steps > 0)
			h->entry[h->n++] =
			    (struct entry){steps / fill(p, i, p->capacity, 1, x), i};
	}
	for (i = h->n / 2 + 1; i-- > 0;)
		sift_down(h, i);
}

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *out, struct gv_error *e)
{
	double *left = gv_xcalloc(p->m, sizeof(*left));
	double *x = gv_xcalloc(p->m, sizeof(*x));
	struct heap h;
	size_t j;

	(void)opt;
	(void)e;
	memcpy(left, p->capacity, p->m * sizeof(*left));
	start(&h, p, x);
	out->has_bound = h.n == 0; /* nothing is left to do, in 0 s */
	while (h.n > 0) {
		size_t i = h.entry[0].row;
		double time = p->number[GV_NUMBER_STEPS][i] / fill(p, i, left, 1, x);
		double *row = &out->x[i * p->m];

		if (isinf(time)) {
			drop_first(&h);
			continue;
		}
		if (time > h.entry[0].time_s) {
			h.entry[0].time_s = time;
			sift_down(&h, 0);
			continue;
		}
		fill(p, i, left, p->count[i], row);
		for (j = 0; j < p->m; j++)
			left[j] = fmax(0, left[j] - p->count[i] * p->scale[i] * row[j]);
		if (out->objective == 0)
			out->objective = p->number[GV_NUMBER_STEPS][i] /
					 gv_problem_throughput(p, out->x, i);
		drop_first(&h);
	}
	gv_problem_clean(p, out->x);
	free(h.entry);
	free(left);
	free(x);
	return 0;
}

const struct gv_policy gv_policy_sjf = {
    .name = "sjf",
    .solve = solve,
    .numbers = 1u << GV_NUMBER_STEPS,
    .minimises = true,
};
