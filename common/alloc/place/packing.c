#include "packing.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

static const double most_steps = 2e7; /* jobs x states x types */

struct packing {
	const struct gv_problem *p;
	const double *gain;
	size_t *gpus;   /* [m] of a type, in units */
	size_t *stride; /* [m] in states */
	size_t *unit;   /* [m] that all gangs there are multiples of */
	size_t *left;   /* [m] digits of the state */
	size_t states;
	size_t n_jobs;
	size_t *row;           /* [n_jobs] */
	double *best;          /* [states] */
	unsigned char *choice; /* [n_jobs][states] type + 1, 0 = none */
};

static size_t
common_divisor(size_t a, size_t b)
{
	while (b > 0) {
		size_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static bool
may_gain(const struct packing *w, size_t i, size_t j)
{
	return gv_problem_rate(w->p, i, j) > 0 && w->gain[i * w->p->m + j] > 0 &&
	       w->p->scale[i] <= w->p->capacity[j];
}

/* Jobs of class i that could run at once; 0: none of them gains. */
static double
most_jobs(const struct packing *w, size_t i)
{
	double most = 0;
	size_t j;

	for (j = 0; j < w->p->m; j++)
		if (may_gain(w, i, j))
			most += floor(w->p->capacity[j] / w->p->scale[i]);
	return fmin(most, w->p->count[i]);
}

/* False: too many states. */
static bool
count_states(struct packing *w)
{
	const struct gv_problem *p = w->p;
	double states = 1, jobs = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++) {
		for (i = 0; i < p->n; i++)
			if (may_gain(w, i, j))
				w->unit[j] =
				    common_divisor((size_t)p->scale[i], w->unit[j]);
		if (w->unit[j] > 0)
			states *= floor(p->capacity[j] / (double)w->unit[j]) + 1;
	}
	for (i = 0; i < p->n; i++)
		jobs += most_jobs(w, i);
	if (p->m >= UCHAR_MAX || jobs * states * (double)(p->m + 1) > most_steps)
		return false;
	w->states = 1;
	for (j = 0; j < p->m; j++) {
		w->stride[j] = w->states;
		if (w->unit[j] > 0)
			w->gpus[j] = (size_t)(p->capacity[j] / (double)w->unit[j]);
		w->states *= w->gpus[j] + 1;
	}
	w->n_jobs = (size_t)jobs;
	return true;
}

/* One state less. */
static void
count_down(const struct packing *w)
{
	size_t j;

	for (j = 0; j < w->p->m && w->left[j] == 0; j++)
		w->left[j] = w->gpus[j];
	if (j < w->p->m)
		w->left[j]--;
}

/* One job more: what it may bring in every state, those with more GPUs first. */
static void
add_job(struct packing *w, size_t i, unsigned char *choice)
{
	const struct gv_problem *p = w->p;
	size_t state, j;

	for (j = 0; j < p->m; j++)
		w->left[j] = w->gpus[j];
	for (state = w->states; state-- > 0; count_down(w)) {
		double most = w->best[state];

		for (j = 0; j < p->m; j++) {
			size_t gang;
			double value;

			if (!may_gain(w, i, j))
				continue;
			gang = (size_t)p->scale[i] / w->unit[j];
			if (gang > w->left[j])
				continue;
			value =
			    w->best[state - gang * w->stride[j]] + w->gain[i * p->m + j];
			if (value > most) {
				most = value;
				choice[state] = (unsigned char)(j + 1);
			}
		}
		w->best[state] = most;
	}
}

static void
pack(struct packing *w, double *point)
{
	const struct gv_problem *p = w->p;
	size_t state = w->states - 1, i, k = 0;
	double jobs;

	w->row = gv_xcalloc(w->n_jobs + 1, sizeof(*w->row));
	w->best = gv_xcalloc(w->states, sizeof(*w->best));
	w->choice = gv_xcalloc(w->n_jobs + 1, w->states);
	for (i = 0; i < p->n; i++)
		for (jobs = most_jobs(w, i); jobs > 0; jobs--) {
			w->row[k] = i;
			add_job(w, i, &w->choice[k++ * w->states]);
		}
	while (k-- > 0) {
		size_t j = w->choice[k * w->states + state];

		if (j == 0)
			continue;
		i = w->row[k];
		point[i * p->m + j - 1]++;
		state -= (size_t)p->scale[i] / w->unit[j - 1] * w->stride[j - 1];
	}
}

bool
gv_packing_best(const struct gv_problem *p, const double *gain, double *point)
{
	struct packing w = {.p = p, .gain = gain};
	bool few;

	w.gpus = gv_xcalloc(p->m, sizeof(*w.gpus));
	w.stride = gv_xcalloc(p->m, sizeof(*w.stride));
	w.unit = gv_xcalloc(p->m, sizeof(*w.unit));
	w.left = gv_xcalloc(p->m, sizeof(*w.left));
	few = count_states(&w);
	if (few)
		pack(&w, point);
	free(w.gpus);
	free(w.stride);
	free(w.unit);
	free(w.left);
	free(w.row);
	free(w.best);
	free(w.choice);
	return few;
}
