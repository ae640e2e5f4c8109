#include "patterns.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MOST_CELLS = 1 << 24 };

void
gv_patterns_init(struct gv_patterns *s, const struct gv_problem *p)
{
	size_t cells = p->n * p->m;

	*s = (struct gv_patterns){.p = p,
	    .gain = gv_xcalloc(cells, sizeof(*s->gain)),
	    .lo = gv_xcalloc(cells, sizeof(*s->lo)),
	    .hi = gv_xcalloc(cells, sizeof(*s->hi)),
	    .jobs = gv_xcalloc(p->n, sizeof(*s->jobs)),
	    .item = gv_xcalloc(p->n, sizeof(*s->item))};
}

void
gv_patterns_free(struct gv_patterns *s)
{
	free(s->gain);
	free(s->lo);
	free(s->hi);
	free(s->pattern);
	free(s->entry);
	free(s->jobs);
	free(s->item);
	gv_knapsack_free(&s->knapsack);
}

/* What of class i may run on j: as many as others do not have for sure. */
static double
may_run(const struct gv_patterns *s, size_t i, size_t j)
{
	const double *lo = &s->lo[i * s->p->m];
	double left = s->p->count[i];
	size_t k;

	for (k = 0; k < s->p->m; k++)
		if (k != j)
			left -= lo[k];
	return fmin(left, s->hi[i * s->p->m + j]);
}

bool
gv_patterns_allows(struct gv_patterns *s, const struct gv_pattern *a)
{
	size_t i, k;
	bool allowed = true;

	memset(s->jobs, 0, s->p->n * sizeof(*s->jobs));
	for (k = a->first; k < a->first + a->n; k++)
		s->jobs[s->entry[k].row] = s->entry[k].jobs;
	for (i = 0; i < s->p->n && allowed; i++)
		allowed = s->jobs[i] >= s->lo[i * s->p->m + a->type] &&
			  s->jobs[i] <= may_run(s, i, a->type);
	return allowed;
}

static bool
has_jobs(const struct gv_patterns *s, const struct gv_pattern *a, const double *jobs)
{
	size_t e = a->first, i;

	for (i = 0; i < s->p->n; i++) {
		bool has = e < a->first + a->n && s->entry[e].row == i;

		if (jobs[i] != (has ? s->entry[e].jobs : 0))
			return false;
		e += has;
	}
	return true;
}

size_t
gv_patterns_of(struct gv_patterns *s, size_t type, const double *jobs)
{
	const struct gv_problem *p = s->p;
	struct gv_pattern a = {.type = type, .first = s->n_entries, .col = SIZE_MAX};
	size_t i, k;

	for (k = 0; k < s->n; k++)
		if (s->pattern[k].type == type && has_jobs(s, &s->pattern[k], jobs))
			return k;
	for (i = 0; i < p->n; i++) {
		if (jobs[i] == 0)
			continue;
		s->entry = gv_xgrow(
		    s->entry, &s->cap_entries, s->n_entries + 1, sizeof(*s->entry));
		s->entry[s->n_entries++] = (struct gv_pattern_entry){i, jobs[i]};
		a.n++;
		a.gain += jobs[i] * s->gain[i * p->m + type];
	}
	s->pattern = gv_xgrow(s->pattern, &s->cap, s->n + 1, sizeof(*s->pattern));
	s->pattern[s->n] = a;
	return s->n++;
}

double
gv_patterns_gain_above(
    const struct gv_patterns *s, const struct gv_pattern *a, const double *multiplier)
{
	double sum = a->gain;
	size_t k;

	for (k = a->first; k < a->first + a->n; k++)
		sum -= s->entry[k].jobs * multiplier[s->entry[k].row];
	return sum;
}

double
gv_patterns_best(struct gv_patterns *s, size_t type, const double *u)
{
	const struct gv_problem *p = s->p;
	double gpus = floor(p->capacity[type]), sum = 0, worth;
	size_t i, n = 0;

	for (i = 0; i < p->n; i++) {
		size_t at = i * p->m + type;
		double each = s->gain[at] - u[i], more;

		s->jobs[i] = s->lo[at];
		gpus -= s->lo[at] * p->scale[i];
		sum += s->lo[at] * each;
		more = may_run(s, i, type) - s->lo[at];
		if (more > 0 && each > 0)
			s->item[n++] = (struct gv_knapsack_item){
			    .id = i, .gang = p->scale[i], .jobs = more, .worth = each};
	}
	if (gpus < 0)
		return -INFINITY;
	if (!gv_knapsack_fill(&s->knapsack, s->item, n, gpus, MOST_CELLS, &worth))
		return INFINITY;
	s->worked += (double)(s->knapsack.n_one + 1) * (gpus + 1);
	for (i = 0; i < n; i++)
		s->jobs[s->item[i].id] += s->item[i].taken;
	return sum + worth;
}
