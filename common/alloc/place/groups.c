#include "groups.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hull.h"
#include "lp/tolerance.h"

enum { MOST_TRIES = 8 };

static const double most_effort = 4e8;

/* Jobs on one type, second SIZE_MAX, or all of their time on two; a row of its own has neither. */
struct group {
	double gang;
	size_t first, second;
	size_t row;
	size_t part; /* of a group that was split */
};

/* A job of a group, and its share of the first type. */
struct member {
	double share;
	size_t row;
};

struct groups {
	const struct gv_problem *p;
	const double *x;
	struct gv_problem q; /* a row for each group */
	double *each;        /* [groups][m] jobs in the mean */
	struct group *group; /* [n] */
	size_t n, cap;
	size_t *of; /* [p->n] SIZE_MAX: they have all their time on one type, or none */
	struct member *member; /* [p->n] room */
};

/* The group of row i.  False: it is in none. */
static bool
group_of(const struct gv_problem *p, const double *x, size_t i, struct group *to)
{
	const double *row = &x[i * p->m];
	double sum = 0;
	size_t j, types = 0;

	*to = (struct group){p->scale[i], SIZE_MAX, SIZE_MAX, SIZE_MAX, 0};
	for (j = 0; j < p->m; j++) {
		if (!(row[j] > 0))
			continue;
		sum += row[j];
		types++;
		if (types == 1)
			to->first = j;
		else
			to->second = j;
	}
	if (types == 0 || (types == 1 && sum >= 1 - GV_TOL_FEASIBLE))
		return false;
	if (p->count[i] > 1 || types > 2 || (types == 2 && sum < 1 - GV_TOL_FEASIBLE))
		*to = (struct group){p->scale[i], SIZE_MAX, SIZE_MAX, i, 0};
	return true;
}

static bool
alike(const struct group *a, const struct group *b)
{
	return a->gang == b->gang && a->first == b->first && a->second == b->second &&
	       a->row == b->row && a->part == b->part;
}

static size_t
find_group(struct groups *w, const struct group *g)
{
	size_t k;

	for (k = 0; k < w->n; k++)
		if (alike(&w->group[k], g))
			return k;
	w->group = gv_xgrow(w->group, &w->cap, w->n + 1, sizeof(*w->group));
	w->group[w->n] = *g;
	return w->n++;
}

/* Row i joins its group; who has all the time on a type takes the GPUs from it. */
static void
join(struct groups *w, size_t i)
{
	const struct gv_problem *p = w->p;
	struct gv_problem *q = &w->q;
	size_t k = w->of[i], j;

	for (j = 0; j < p->m; j++) {
		double share = w->x[i * p->m + j];

		if (!(share > 0))
			continue;
		if (k == SIZE_MAX) {
			q->capacity[j] -= p->count[i] * p->scale[i];
		} else {
			w->each[k * p->m + j] += p->count[i] * share;
			q->rate[k * p->m + j] = 1;
		}
	}
	if (k == SIZE_MAX)
		return;
	q->count[k] += p->count[i];
	q->scale[k] = p->scale[i];
	q->weight[k] = 1;
}

static void
groups_init(struct groups *w, const struct gv_problem *p, const double *x)
{
	size_t i;

	*w = (struct groups){.p = p, .x = x};
	w->of = gv_xcalloc(p->n, sizeof(*w->of));
	w->member = gv_xcalloc(p->n, sizeof(*w->member));
	for (i = 0; i < p->n; i++) {
		struct group g;

		w->of[i] = group_of(p, x, i, &g) ? find_group(w, &g) : SIZE_MAX;
	}
}

/* The problem of the groups.  False: jobs that have all their time need too many GPUs. */
static bool
make_problem(struct groups *w)
{
	const struct gv_problem *p = w->p;
	bool fit = true;
	size_t i, j;

	gv_problem_alloc(&w->q, w->n, p->m);
	w->each = gv_xcalloc(w->n, p->m * sizeof(*w->each));
	for (j = 0; j < p->m; j++)
		w->q.capacity[j] = floor(p->capacity[j]);
	for (i = 0; i < p->n; i++)
		join(w, i);
	for (j = 0; j < p->m; j++)
		fit = fit && w->q.capacity[j] >= 0;
	return fit;
}

static void
groups_free(struct groups *w)
{
	free(w->group);
	free(w->of);
	free(w->member);
}

static int
by_share(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return (x->row > y->row) - (x->row < y->row);
}

/*
 * How many of a group's jobs, those of the largest shares, cannot take turns in the
 * mixture; 0: all can.  w->member is of them.
 */
static size_t
find_short(const struct groups *w, const struct gv_hull *h, size_t group)
{
	size_t type = w->group[group].first, m = w->p->m, jobs = 0, i, k;
	double need = 0;

	for (i = 0; i < w->p->n && type != SIZE_MAX; i++)
		if (w->of[i] == group)
			w->member[jobs++] = (struct member){w->x[i * m + type], i};
	qsort(w->member, jobs, sizeof(*w->member), by_share);
	for (i = 0; i < jobs; i++) {
		double given = 0;

		need += w->member[i].share;
		for (k = 0; k < h->n_placements; k++)
			given += h->weight[k] *
				 fmin((double)(i + 1),
				     h->point[(k * h->p->n + group) * m + type]);
		if (need > given + GV_TOL_HULL * fmax(1, need))
			return i + 1;
	}
	return 0;
}

/* Groups whose jobs cannot take turns are split there.  How many. */
static size_t
split_groups(struct groups *w, const struct gv_hull *h)
{
	size_t n = w->n, parts = 0, k, i;

	for (k = 0; k < n; k++) {
		size_t some = find_short(w, h, k);
		struct group g = w->group[k];

		if (some == 0)
			continue;
		g.part = w->n;
		parts++;
		find_group(w, &g);
		for (i = 0; i < some; i++)
			w->of[w->member[i].row] = w->n - 1;
	}
	return parts;
}

/* A mixture in which each group has what its jobs have together. */
static bool
mix(const struct groups *w, struct gv_hull *h)
{
	double *start = gv_xcalloc(w->n, w->p->m * sizeof(*start));
	struct gv_placement_program g;
	struct gv_error e = {0};
	bool found;
	size_t i, j;

	for (i = 0; i < w->n; i++)
		for (j = 0; j < w->p->m; j++)
			start[i * w->p->m + j] = w->each[i * w->p->m + j] / w->q.count[i];
	gv_hull_add_rounds(h, start, 4 * w->n + 50);
	gv_placement_program_init(&g, &w->q);
	g.level = true;
	g.each = w->each;
	g.target = 1 - GV_TOL_HULL;
	g.effort = most_effort;
	found = gv_hull_solve(h, &g, "placements", &e) == 0 && g.value >= g.target;
	gv_placement_program_free(&g);
	gv_error_clear(&e);
	free(start);
	return found;
}

/* One try with the groups as they are; split: how many had to be split. */
static bool
try_groups(struct groups *w, size_t *split)
{
	struct gv_hull h;
	bool fit = make_problem(w);

	gv_hull_init(&h, &w->q);
	fit = fit && (w->n == 0 || mix(w, &h));
	*split = fit ? split_groups(w, &h) : 0;
	gv_hull_free(&h);
	gv_problem_free(&w->q);
	free(w->each);
	return fit && *split == 0;
}

bool
gv_groups_fit(const struct gv_problem *p, const double *x)
{
	struct groups w;
	size_t split = 1;
	bool fit = false;
	int k;

	groups_init(&w, p, x);
	for (k = 0; k < MOST_TRIES && split > 0; k++)
		fit = try_groups(&w, &split);
	groups_free(&w);
	return fit;
}
