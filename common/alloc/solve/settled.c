#include "settled.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"

/* The one type that the job has, SIZE_MAX where it has none or several. */
static size_t
only_type(const double *a, size_t m)
{
	size_t j, only = SIZE_MAX;

	for (j = 0; j < m; j++)
		if (a[j] > 0) {
			if (only != SIZE_MAX)
				return SIZE_MAX;
			only = j;
		}
	return only;
}

/* What jobs that want something and have several types may use; what the others' shares take. */
static void
look_at_types(const struct gv_problem *p, const double *a, const double *want,
    const size_t *only, bool *shared, double *taken)
{
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		if (!(want[i] > 0))
			continue;
		if (only[i] != SIZE_MAX)
			taken[only[i]] +=
			    p->count[i] * p->scale[i] * (want[i] / a[i * p->m + only[i]]);
		for (j = 0; j < p->m && only[i] == SIZE_MAX; j++)
			shared[j] = shared[j] || a[i * p->m + j] > 0;
	}
}

/* only[] of jobs that are not to be settled, and taken[] of their types, becomes none. */
static void
leave_full_types(
    const struct gv_problem *p, size_t *only, const bool *shared, double *taken)
{
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		if ((j = only[i]) == SIZE_MAX)
			continue;
		if (taken[j] > p->capacity[j] * (shared[j] ? 1 - GV_TOL_LEFT_TO_OTHERS
							   : 1 + GV_TOL_BROKEN))
			only[i] = SIZE_MAX;
	}
	for (j = 0; j < p->m; j++)
		if (taken[j] > p->capacity[j] * (1 - GV_TOL_LEFT_TO_OTHERS))
			taken[j] = 0;
}

/* The others, with what is left; taken[] of a type that is full is not theirs to use. */
static void
pick_others(struct gv_settled *s, const struct gv_problem *p, const double *a,
    const double *want, const double *taken)
{
	size_t i, j, n = 0;

	gv_problem_pick(&s->q, p, s->keep);
	s->a = gv_xcalloc(s->q.n, p->m * sizeof(*s->a));
	s->want = gv_xcalloc(s->q.n, sizeof(*s->want));
	for (i = 0; i < p->n; i++)
		if (s->keep[i]) {
			memcpy(&s->a[n * p->m], &a[i * p->m], p->m * sizeof(*a));
			s->want[n++] = want[i];
		}
	if (s->q.reference == NULL)
		gv_problem_refer(&s->q, p->capacity);
	for (j = 0; j < p->m; j++)
		s->q.capacity[j] -= taken[j];
}

bool
gv_settled_make(
    struct gv_settled *s, const struct gv_problem *p, const double *a, const double *want)
{
	size_t *only = gv_xcalloc(p->n, sizeof(*only));
	bool *shared = gv_xcalloc(p->m, sizeof(*shared));
	double *taken = gv_xcalloc(p->m, sizeof(*taken));
	size_t i, n = 0;

	*s = (struct gv_settled){.keep = gv_xcalloc(p->n, sizeof(*s->keep)),
	    .x = gv_xcalloc(p->n, sizeof(*s->x))};
	for (i = 0; i < p->n; i++) {
		only[i] = want[i] > 0 ? only_type(&a[i * p->m], p->m) : SIZE_MAX;
		if (only[i] != SIZE_MAX &&
		    want[i] > a[i * p->m + only[i]] * (1 + GV_TOL_BROKEN))
			only[i] = SIZE_MAX;
	}
	look_at_types(p, a, want, only, shared, taken);
	leave_full_types(p, only, shared, taken);
	for (i = 0; i < p->n; i++) {
		s->keep[i] = want[i] > 0 && only[i] == SIZE_MAX;
		if (only[i] != SIZE_MAX) {
			s->x[i] = fmin(1, want[i] / a[i * p->m + only[i]]);
			n++;
		}
	}
	if (n > 0)
		pick_others(s, p, a, want, taken);
	else
		gv_settled_free(s);
	free(only);
	free(shared);
	free(taken);
	return n > 0;
}

void
gv_settled_free(struct gv_settled *s)
{
	gv_problem_free(&s->q);
	free(s->a);
	free(s->want);
	free(s->keep);
	free(s->x);
	*s = (struct gv_settled){0};
}

void
gv_settled_join(const struct gv_settled *s, const struct gv_reach *others,
    struct gv_reach *r, const struct gv_problem *p, const double *a, const double *want)
{
	double *lifted = gv_xcalloc(p->n, sizeof(*lifted));
	size_t i, n = 0;

	memset(r->price, 0, p->m * sizeof(*r->price));
	if (others != NULL)
		memcpy(r->price, others->price, p->m * sizeof(*r->price));
	r->limit = others != NULL ? others->limit : 1;
	r->exact = false;
	for (i = 0; i < p->n; i++) {
		double *x = &r->x[i * p->m];
		size_t j = s->x[i] > 0 ? only_type(&a[i * p->m], p->m) : SIZE_MAX;

		memset(x, 0, p->m * sizeof(*x));
		if (s->keep[i]) {
			memcpy(x, &others->x[n * p->m], p->m * sizeof(*x));
			r->lambda[i] = others->lambda[n++];
			lifted[i] = want[i];
		} else if (j != SIZE_MAX) {
			x[j] = s->x[i];
			r->limit += r->price[j] * p->count[i] * p->scale[i] * s->x[i];
		}
	}
	gv_reach_lift(r, p, a, lifted);
	free(lifted);
}
