#include "pop.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/program/multipliers.h"
#include "draw.h"
#include "shares.h"

bool
gv_pop_possible(const struct gv_policy *policy)
{
	return policy->multipliers && (policy->measure == GV_MEASURE_LEVEL ||
					  policy->measure == GV_MEASURE_SECONDS ||
					  policy->measure == GV_MEASURE_SUM ||
					  policy->measure == GV_MEASURE_PER_DOLLAR);
}

/* The places of the jobs in a random order.  The caller's. */
static double *
shuffle(struct gv_problem *p, uint64_t seed, const struct gv_rates *r, const size_t *row)
{
	double *position;

	gv_problem_ask(p, 1u << GV_NUMBER_DRAW);
	gv_draw_order(p, seed, r, row);
	position = p->number[GV_NUMBER_DRAW];
	p->number[GV_NUMBER_DRAW] = NULL;
	return position;
}

struct part {
	struct gv_answer b;
	size_t *row; /* [b.p.n] in the whole */
};

static int
by_rank(const void *a, const void *b)
{
	const size_t *const x = a;
	const size_t *const y = b;

	return (x[0] > y[0]) - (x[0] < y[0]);
}

/* The jobs of a part keep the order of their names. */
static void
rank_part(struct part *w, const struct gv_answer *a)
{
	size_t n = w->b.p.n;
	size_t(*rank)[2];
	size_t i;

	if (a->rank == NULL)
		return;
	rank = gv_xcalloc(n, sizeof(*rank));
	w->b.rank = gv_xcalloc(n, sizeof(*w->b.rank));
	for (i = 0; i < n; i++) {
		rank[i][0] = a->rank[w->row[i]];
		rank[i][1] = i;
	}
	qsort(rank, n, sizeof(*rank), by_rank);
	for (i = 0; i < n; i++)
		w->b.rank[rank[i][1]] = i;
	free(rank);
}

static void
part_make(struct part *w, const struct gv_answer *a, const double *position, size_t k,
    size_t parts)
{
	const struct gv_problem *p = &a->p;
	bool *keep = gv_xcalloc(p->n, sizeof(*keep));
	size_t i, j, n = 0;

	*w = (struct part){.row = gv_xcalloc(p->n, sizeof(*w->row))};
	for (i = 0; i < p->n; i++) {
		keep[i] = (size_t)position[i] % parts == k;
		if (keep[i])
			w->row[n++] = i;
	}
	gv_problem_pick(&w->b.p, p, keep);
	for (j = 0; j < p->m; j++)
		w->b.p.capacity[j] /= (double)parts;
	gv_problem_refer(&w->b.p, p->capacity);
	rank_part(w, a);
	free(keep);
}

static void
part_free(struct part *w)
{
	gv_answer_free(&w->b);
	free(w->row);
}

/* The shares and pairs of a part, into those of all. */
static void
merge_part(struct gv_answer *a, const struct part *w)
{
	const struct gv_solution *s = &w->b.s;
	size_t m = a->p.m;
	size_t i;

	for (i = 0; i < w->b.p.n; i++)
		memcpy(&a->s.x[w->row[i] * m], &s->x[i * m], m * sizeof(*s->x));
	if (s->n_pairs == 0)
		return;
	a->s.pair = gv_xrealloc(a->s.pair, a->s.n_pairs + s->n_pairs, sizeof(*a->s.pair));
	for (i = 0; i < s->n_pairs; i++) {
		struct gv_pair q = s->pair[i];

		q.a = w->row[q.a];
		q.b = w->row[q.b];
		a->s.pair[a->s.n_pairs++] = q;
	}
}

/* The objective of all, with that of a part more. */
static double
together(enum gv_measure measure, double all, double part, bool first)
{
	if (first)
		return part;
	if (measure == GV_MEASURE_LEVEL)
		return fmin(all, part);
	return measure == GV_MEASURE_SECONDS ? fmax(all, part) : all + part;
}

/* The bound of the whole. */
static int
find_bound(struct gv_answer *a, const struct gv_policy *policy,
    const struct gv_answer_options *opt, struct gv_error *e)
{
	struct gv_answer whole = {.p = a->p, .rank = a->rank};
	struct gv_solution *s = &a->s;
	int rc = gv_answer_solve(&whole, policy, opt, e);

	if (rc == 0) {
		s->has_bound = whole.s.has_bound;
		s->bound = whole.s.bound;
		s->gap = s->bound == s->objective /* both may be 0 */
			     ? 0
			     : fabs(s->bound - s->objective) /
				   (policy->minimises ? s->objective : s->bound);
	}
	free(whole.s.x);
	free(whole.s.pair);
	free(whole.s.late);
	gv_multipliers_free(&whole.s.multipliers);
	return rc;
}

int
gv_pop_solve(struct gv_answer *a, const struct gv_rates *r,
    const struct gv_policy *policy, const struct gv_answer_options *opt,
    struct gv_error *e)
{
	double *position = shuffle(&a->p, opt->seed, r, a->row);
	size_t k, n = 0;
	int rc = 0;

	a->s.x = gv_xcalloc(a->p.n, a->p.m * sizeof(*a->s.x));
	for (k = 0; k < opt->pop && rc == 0; k++) {
		struct part w;

		part_make(&w, a, position, k, opt->pop);
		if (w.b.p.n > 0)
			rc = gv_answer_solve(&w.b, policy, opt, e);
		if (rc == 0 && w.b.p.n > 0) {
			merge_part(a, &w);
			a->s.objective = together(
			    policy->measure, a->s.objective, w.b.s.objective, n++ == 0);
			a->n_classes += w.b.n_classes;
			a->s.n_made += w.b.s.n_made;
		}
		part_free(&w);
	}
	free(position);
	if (rc == 0 && a->p.together == NULL)
		gv_problem_trim(&a->p, a->s.x);
	if (rc == 0 && opt->pop_bound)
		rc = find_bound(a, policy, opt, e);
	return rc;
}
