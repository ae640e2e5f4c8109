/*
 * sjf: the job that can be done first gets all it can use, then the one that can be
 * done first with what is left, and so on (shortest job first).
 *
 *	min_x min_i  n_i / thr_i(x),   and again without that job and its GPUs
 *
 * Gavel, OSDI 2020, section 4.2, stops after the first.  Equal jobs share what the
 * first of them would get, in equal parts.
 *
 * A job that is equally fast on several types leaves the one that a later job needs:
 * before that one is served, what is free moves to its types along a path of such jobs
 * (an augmenting path, Ford and Fulkerson 1956), none of which gets slower.  So no GPU
 * idles that a job could use without slowing down one that is before it.
 *
 * The time of a job grows while GPUs are taken, so a heap of times that were right
 * once gives the next job after few looks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy.h"
#include "lp/tolerance.h"

/* Jobs that have a share of one type and are as fast on another; some no longer. */
struct swaps {
	size_t *row;
	size_t n, cap;
};

struct served {
	const struct gv_problem *p;
	double *x;    /* [n][m] */
	double *left; /* [m] GPUs that nobody has */
	/* [m][m] from, to */
	struct swaps *swaps;
	/* of a path: [m] the type before, m = not reached, and its queue */
	size_t *before, *queue;
};

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

/* Row i can give back what it has of a type and take as much of another. */
static void
note_swaps(struct served *v, size_t i, size_t j)
{
	const double *rate = &v->p->rate[i * v->p->m];
	size_t k;

	for (k = 0; k < v->p->m; k++) {
		struct swaps *w = &v->swaps[j * v->p->m + k];

		if (k == j || rate[k] != rate[j])
			continue;
		w->row = gv_xgrow(w->row, &w->cap, w->n + 1, sizeof(*w->row));
		w->row[w->n++] = i;
	}
}

/* Whether somebody has GPUs of type j and would be as well off with k; then last in swaps. */
static bool
can_swap(struct served *v, size_t j, size_t k)
{
	struct swaps *w = &v->swaps[j * v->p->m + k];

	while (w->n > 0 && !(v->x[w->row[w->n - 1] * v->p->m + j] > 0))
		w->n--;
	return w->n > 0;
}

/* What rounding has left is not worth a move. */
static bool
is_free(const struct served *v, size_t k)
{
	return v->left[k] > GV_TOL_LEFT * v->p->capacity[k];
}

/* A type with GPUs left to which jobs of type j could move, one by one; m = none. */
static size_t
find_path(struct served *v, size_t j)
{
	size_t m = v->p->m, head = 0, n = 0, k;

	for (k = 0; k < m; k++)
		v->before[k] = m;
	v->before[j] = j;
	v->queue[n++] = j;
	while (head < n) {
		size_t at = v->queue[head++];

		for (k = 0; k < m; k++) {
			if (v->before[k] != m || !can_swap(v, at, k))
				continue;
			v->before[k] = at;
			if (is_free(v, k))
				return k;
			v->queue[n++] = k;
		}
	}
	return m;
}

/* Moves up to gpus of type end to the start of the path that ends there. */
static void
move_along(struct served *v, size_t end, double gpus)
{
	const struct gv_problem *p = v->p;
	size_t k, j, i;

	gpus = fmin(gpus, v->left[end]);
	for (k = end; (j = v->before[k]) != k; k = j) {
		i = v->swaps[j * p->m + k].row[v->swaps[j * p->m + k].n - 1];
		gpus = fmin(gpus, p->count[i] * p->scale[i] * v->x[i * p->m + j]);
	}
	v->left[end] -= gpus;
	for (k = end; (j = v->before[k]) != k; k = j) {
		double *x, share;

		i = v->swaps[j * p->m + k].row[v->swaps[j * p->m + k].n - 1];
		x = &v->x[i * p->m];
		share = gpus / (p->count[i] * p->scale[i]);
		share = x[j] - share > GV_TOL_SUM ? share : x[j];
		x[j] -= share;
		if (x[k] == 0)
			note_swaps(v, i, k);
		x[k] += share;
	}
	v->left[k] += gpus;
}

/* Gets as much of gpus of type j free as is possible without slowing down anybody. */
static void
make_room(struct served *v, size_t j, double gpus)
{
	bool any = false;
	size_t end;

	for (end = 0; end < v->p->m; end++)
		any = any || (end != j && is_free(v, end));
	while (any && gpus - v->left[j] > GV_TOL_FEASIBLE * gpus &&
	       (end = find_path(v, j)) != v->p->m)
		move_along(v, end, gpus - v->left[j]);
}

/*
 * All that gangs of row i can use of what is left: of the fastest type as long as
 * there is some, then of the next.  Their number is jobs; x [m] is what each gets.
 * Returns its throughput.
 */
static double
fill(struct served *v, size_t i, double jobs, double *x)
{
	const struct gv_problem *p = v->p;
	double time = 1;
	double sum = 0;
	size_t j, k, last = p->m;

	memset(x, 0, p->m * sizeof(*x));
	for (k = 0; k < p->m && time > 0; k++) {
		size_t best = p->m;

		/* the next slower one, of equal ones the first */
		for (j = 0; j < p->m; j++) {
			double rate = gv_problem_rate(p, i, j);
			double limit =
			    last < p->m ? gv_problem_rate(p, i, last) : INFINITY;

			if (rate > 0 && (rate < limit || (rate == limit && j > last)) &&
			    (best == p->m || rate > gv_problem_rate(p, i, best)))
				best = j;
		}
		if (best == p->m)
			break;
		last = best;
		make_room(v, best, time * jobs * p->scale[i]);
		x[best] = fmin(time, v->left[best] / (jobs * p->scale[i]));
		/* not free for the next type, nor taken before the job is chosen */
		v->left[best] -= jobs * p->scale[i] * x[best];
		time -= x[best];
		sum += gv_problem_rate(p, i, best) * x[best];
	}
	for (j = 0; j < p->m; j++)
		v->left[j] = fmax(0, v->left[j] + jobs * p->scale[i] * x[j]);
	return sum;
}

static void
start(struct heap *h, struct served *v, double *x)
{
	const struct gv_problem *p = v->p;
	size_t i;

	h->entry = gv_xcalloc(p->n, sizeof(*h->entry));
	h->n = 0;
	for (i = 0; i < p->n; i++) {
		double steps = p->number[GV_NUMBER_STEPS][i];

		if (steps > 0)
			h->entry[h->n++] = (struct entry){steps / fill(v, i, 1, x), i};
	}
	for (i = h->n / 2 + 1; i-- > 0;)
		sift_down(h, i);
}

static void
served_init(struct served *v, const struct gv_problem *p, double *x)
{
	*v = (struct served){.p = p, .x = x};
	v->left = gv_xcalloc(p->m, sizeof(*v->left));
	memcpy(v->left, p->capacity, p->m * sizeof(*v->left));
	v->swaps = gv_xcalloc(p->m, p->m * sizeof(*v->swaps));
	v->before = gv_xcalloc(p->m, sizeof(*v->before));
	v->queue = gv_xcalloc(p->m, sizeof(*v->queue));
}

static void
served_free(struct served *v)
{
	size_t k;

	for (k = 0; k < v->p->m * v->p->m; k++)
		free(v->swaps[k].row);
	free(v->swaps);
	free(v->before);
	free(v->queue);
	free(v->left);
}

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *out, struct gv_error *e)
{
	double *x = gv_xcalloc(p->m, sizeof(*x));
	struct served v;
	struct heap h;
	size_t j;

	(void)opt;
	(void)e;
	served_init(&v, p, out->x);
	start(&h, &v, x);
	out->has_bound = h.n == 0; /* nothing is left to do, in 0 s */
	while (h.n > 0) {
		size_t i = h.entry[0].row;
		double time = p->number[GV_NUMBER_STEPS][i] / fill(&v, i, 1, x);
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
		fill(&v, i, p->count[i], x);
		memcpy(row, x, p->m * sizeof(*x));
		for (j = 0; j < p->m; j++) {
			v.left[j] =
			    fmax(0, v.left[j] - p->count[i] * p->scale[i] * row[j]);
			if (row[j] > 0)
				note_swaps(&v, i, j);
		}
		if (out->objective == 0)
			out->objective = p->number[GV_NUMBER_STEPS][i] /
					 gv_problem_throughput(p, out->x, i);
		drop_first(&h);
	}
	gv_problem_clean(p, out->x);
	served_free(&v);
	free(h.entry);
	free(x);
	return 0;
}

const struct gv_policy gv_policy_sjf = {
    .name = "sjf",
    .solve = solve,
    .numbers = 1u << GV_NUMBER_STEPS,
    .minimises = true,
};
