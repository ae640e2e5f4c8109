#include "turns.h"
#include "groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"

enum { MOST_STAYS = 512 }; /* of gangs that use several types */

/* Which of the jobs that use several types are spread evenly; the others get times. */
enum spread { SPREAD_SINGLES, SPREAD_ALL, SPREAD_NONE };

struct turns {
	const struct gv_problem *p;
	struct gv_turns_type *type; /* [m] */
	size_t n_sizes;
	double *gang;   /* [n_sizes] smaller first */
	double *part;   /* [m] of one job, room */
	double *total;  /* [m] of the jobs of a row, room */
	size_t n_stays; /* on all types */
	enum spread spread;
};

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static size_t
find_size(const struct turns *w, double gang)
{
	const double *at = bsearch(&gang, w->gang, w->n_sizes, sizeof(*w->gang), by_size);

	return (size_t)(at - w->gang);
}

static void
turns_init(struct turns *w, const struct gv_problem *p, enum spread spread)
{
	size_t i, j, k = 0;

	*w = (struct turns){.p = p, .spread = spread};
	w->gang = gv_xcalloc(p->n, sizeof(*w->gang));
	w->part = gv_xcalloc(p->m, sizeof(*w->part));
	w->total = gv_xcalloc(p->m, sizeof(*w->total));
	memcpy(w->gang, p->scale, p->n * sizeof(*w->gang));
	qsort(w->gang, p->n, sizeof(*w->gang), by_size);
	for (i = 0; i < p->n; i++)
		if (i == 0 || w->gang[i] != w->gang[k - 1])
			w->gang[k++] = w->gang[i];
	w->n_sizes = k;
	w->type = gv_xcalloc(p->m, sizeof(*w->type));
	for (j = 0; j < p->m; j++) {
		w->type[j].gpus = floor(p->capacity[j]);
		w->type[j].n_sizes = k;
		w->type[j].size = gv_xcalloc(k, sizeof(*w->type[j].size));
		for (i = 0; i < k; i++)
			w->type[j].size[i].gang = w->gang[i];
	}
}

static void
turns_free(struct turns *w)
{
	size_t j, k;

	for (j = w->p->m; j-- > 0;) {
		for (k = 0; k < w->n_sizes; k++)
			free(w->type[j].size[k].jobs);
		free(w->type[j].size);
		free(w->type[j].stay);
	}
	free(w->type);
	free(w->gang);
	free(w->part);
	free(w->total);
}

/* ---- jobs that use one type ---- */

static void
add_jobs(struct turns *w, size_t size, size_t j, double jobs, double total)
{
	struct gv_turns_size *s = &w->type[j].size[size];

	if (jobs == 0)
		return;
	s->jobs = gv_xgrow(s->jobs, &s->cap, s->n + 1, sizeof(*s->jobs));
	s->jobs[s->n++] = (struct gv_turns_jobs){fmin(1, total / jobs), jobs};
}

/* ---- jobs that use several ---- */

static double
overlap(const struct gv_turns_stay *s, double from, double to)
{
	return fmax(0, fmin(s->to, to) - fmax(s->from, from));
}

/* GPUs that those who have their times hold from then on, for so long, past the end from the start. */
static double
crowd(const struct turns *w, size_t j, double from, double length)
{
	const struct gv_turns_type *t = &w->type[j];
	double sum = 0;
	size_t k;

	for (k = 0; k < t->n_stays; k++)
		sum += t->size[t->stay[k].size].gang *
		       (overlap(&t->stay[k], from, from + length) +
			   overlap(&t->stay[k], from - 1, from - 1 + length));
	return sum;
}

/* What the job, type after type from then on, would meet there. */
static double
crowd_at(const struct turns *w, double from)
{
	double sum = 0;
	size_t j;

	for (j = 0; j < w->p->m; j++) {
		if (w->part[j] > 0)
			sum += crowd(w, j, from, w->part[j]);
		from += w->part[j];
	}
	return sum;
}

static void
add_stay(struct turns *w, size_t size, size_t j, double from, double to)
{
	struct gv_turns_type *t = &w->type[j];

	if (!(to > from))
		return;
	t->stay = gv_xgrow(t->stay, &t->cap, t->n_stays + 1, sizeof(*t->stay));
	t->stay[t->n_stays++] = (struct gv_turns_stay){size, from, to};
	w->n_stays++;
}

/* When it should start: where another one comes or goes and it meets the least. */
static double
best_start(const struct turns *w)
{
	double best = 0, least = crowd_at(w, 0);
	size_t j, k;

	for (j = 0; j < w->p->m; j++)
		for (k = 0; w->part[j] > 0 && k < w->type[j].n_stays; k++) {
			const struct gv_turns_stay *s = &w->type[j].stay[k];
			double from = s->to < 1 ? s->to : 0;
			double met = crowd_at(w, from);

			if (met < least - GV_TOL_FEASIBLE) {
				least = met;
				best = from;
			}
		}
	return best;
}

/* One job with part[]: times of its own, or its even spread. */
static void
add_several(struct turns *w, size_t size)
{
	bool spread = w->spread == SPREAD_ALL ||
		      (w->spread == SPREAD_SINGLES && w->gang[size] == 1);
	double from = spread ? 0 : best_start(w);
	size_t j;

	for (j = 0; j < w->p->m; j++) {
		if (spread) {
			w->type[j].size[size].spread += w->part[j];
			continue;
		}
		add_stay(w, size, j, from, fmin(1, from + w->part[j]));
		add_stay(w, size, j, 0, from + w->part[j] - 1);
		from += w->part[j];
		from -= from >= 1;
	}
}

static double
least_jobs(double total)
{
	return ceil(total - GV_TOL_FEASIBLE);
}

static double
even_jobs(double total, double each)
{
	return fmax(least_jobs(total), floor(total * each));
}

/* Whole numbers that hold the totals, in proportion where there are jobs enough; false: there are too few. */
static bool
split_jobs(struct turns *w, size_t size, double jobs)
{
	double least = 0, even = 0, sum = 0;
	size_t j;
	bool proportional;

	for (j = 0; j < w->p->m; j++)
		sum += w->total[j];
	for (j = 0; j < w->p->m; j++) {
		least += least_jobs(w->total[j]);
		even += even_jobs(w->total[j], jobs / sum);
	}
	if (least > jobs)
		return false;
	proportional = even <= jobs;
	for (j = 0; j < w->p->m; j++)
		add_jobs(w, size, j,
		    proportional ? even_jobs(w->total[j], jobs / sum)
				 : least_jobs(w->total[j]),
		    w->total[j]);
	return true;
}

/* Whole jobs of a type, and what is left laid one behind the other (McNaughton 1959). */
static void
wrap_jobs(struct turns *w, size_t size)
{
	double time = 0;
	size_t j;

	memset(w->part, 0, w->p->m * sizeof(*w->part));
	for (j = 0; j < w->p->m; j++) {
		double whole = floor(w->total[j] + GV_TOL_FEASIBLE);
		double rest = fmax(0, w->total[j] - whole);

		add_jobs(w, size, j, whole, whole);
		if (time + rest >= 1) {
			w->part[j] = 1 - time;
			add_several(w, size);
			memset(w->part, 0, w->p->m * sizeof(*w->part));
			rest -= 1 - time;
			time = 0;
		}
		w->part[j] = rest;
		time += rest;
	}
	add_several(w, size);
}

static void
add_row(struct turns *w, size_t i, const double *x)
{
	size_t size = find_size(w, w->p->scale[i]);
	double jobs = w->p->count[i];
	size_t j, last = 0, types = 0;

	for (j = 0; j < w->p->m; j++) {
		w->total[j] = jobs * fmax(0, x[j]);
		w->part[j] = x[j];
		if (x[j] > 0)
			last = j;
		types += x[j] > 0;
	}
	if (types == 1)
		add_jobs(w, size, last, jobs, w->total[last]);
	else if (types > 1 && jobs == 1)
		add_several(w, size);
	else if (types > 1 && !split_jobs(w, size, jobs))
		wrap_jobs(w, size);
}

static bool
by_stairs(const struct gv_problem *p, const double *x, enum spread spread)
{
	struct turns w;
	size_t i, j;
	bool fit = true;

	turns_init(&w, p, spread);
	for (i = 0; i < p->n && w.n_stays <= MOST_STAYS; i++)
		add_row(&w, i, &x[i * p->m]);
	fit = w.n_stays <= MOST_STAYS;
	for (j = 0; j < p->m && fit; j++)
		fit = gv_turns_fit(&w.type[j]);
	turns_free(&w);
	return fit;
}

bool
gv_turns_by_stairs(const struct gv_problem *p, const double *x)
{
	return by_stairs(p, x, SPREAD_SINGLES) || by_stairs(p, x, SPREAD_ALL) ||
	       by_stairs(p, x, SPREAD_NONE);
}

bool
gv_turns_exist(const struct gv_problem *p, const double *x)
{
	return gv_turns_by_stairs(p, x) || gv_groups_fit(p, x);
}
