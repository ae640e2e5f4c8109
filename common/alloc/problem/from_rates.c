/* The problem of a table of rates. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "lp/tolerance.h"
#include "problem.h"

/* type[] = the rank of each type's name. */
static void
rank_types(const struct gv_cluster *c, size_t *type)
{
	size_t i, k;

	for (i = 0; i < c->n_types; i++) {
		type[i] = 0;
		for (k = 0; k < c->n_types; k++)
			type[i] += strcmp(c->type[k].name, c->type[i].name) < 0;
	}
}

static bool
is_fast(const struct gv_rate *rate)
{
	return rate->type >= 0 && rate->with < 0 && rate->steps_per_s > GV_SMALLEST_RATE;
}

static bool
fits(const struct gv_rate *rate, const struct gv_rates *r, const struct gv_cluster *c)
{
	return (uint64_t)r->job[rate->job].scale_factor <= c->type[rate->type].gpus;
}

static bool
can_run(const struct gv_rate *rate, const struct gv_rates *r, const struct gv_cluster *c)
{
	return is_fast(rate) && fits(rate, r, c);
}

/* Rates on types that are too small for the gang, or of GPUs that are out of its reach. */
static void
add_beyond(struct gv_problem *p, const struct gv_rates *r, const struct gv_cluster *c,
    const size_t *row)
{
	size_t i;

	for (i = 0; i < r->n_rates; i++) {
		const struct gv_rate *rate = &r->rate[i];
		size_t at = row[rate->job];
		double gpus;

		if (at == SIZE_MAX || !is_fast(rate))
			continue;
		gpus = (double)c->type[rate->type].elsewhere;
		if (!fits(rate, r, c))
			gpus += (double)c->type[rate->type].gpus;
		if (gpus == 0)
			continue;
		if (p->number[GV_NUMBER_BEYOND] == NULL)
			gv_problem_ask(
			    p, 1u << GV_NUMBER_BEYOND | 1u << GV_NUMBER_BEYOND_GPUS);
		p->number[GV_NUMBER_BEYOND][at] += rate->steps_per_s * gpus;
		p->number[GV_NUMBER_BEYOND_GPUS][at] += gpus;
	}
}

/* GPUs that D_i is of and that are out of a job's reach, since it has one node. */
static void
add_away(struct gv_problem *p, const struct gv_rates *r, const struct gv_cluster *c,
    const size_t *row)
{
	bool any = false;
	size_t i;

	for (i = 0; i < c->n_types; i++)
		any = any || c->type[i].elsewhere > 0;
	if (!any)
		return;
	gv_problem_ask(p, 1u << GV_NUMBER_AWAY | 1u << GV_NUMBER_AWAY_GPUS);
	for (i = 0; i < r->n_rates; i++) {
		const struct gv_rate *rate = &r->rate[i];
		size_t at = row[rate->job];
		double all, gpus;

		if (at == SIZE_MAX || !is_fast(rate))
			continue;
		all = (double)c->type[rate->type].gpus +
		      (double)c->type[rate->type].elsewhere;
		if (all < (double)r->job[rate->job].scale_factor)
			continue;
		gpus = fits(rate, r, c) ? (double)c->type[rate->type].elsewhere : all;
		p->number[GV_NUMBER_AWAY][at] += rate->steps_per_s * gpus;
		p->number[GV_NUMBER_AWAY_GPUS][at] += gpus;
	}
}

int
gv_problem_from_rates(struct gv_problem *p, const struct gv_rates *r,
    const struct gv_cluster *c, unsigned numbers, size_t *type, size_t *row,
    struct gv_error *e)
{
	size_t i, n = 0;

	rank_types(c, type);
	for (i = 0; i < r->n_jobs; i++)
		row[i] = SIZE_MAX;
	for (i = 0; i < r->n_rates; i++)
		if (can_run(&r->rate[i], r, c))
			row[r->rate[i].job] = 0;
	for (i = 0; i < r->n_jobs; i++)
		if (row[i] == 0)
			row[i] = n++;
	gv_problem_alloc(p, n, c->n_types);
	for (i = 0; i < c->n_types; i++) {
		p->capacity[type[i]] = (double)c->type[i].gpus;
		p->price[type[i]] =
		    isnan(c->type[i].usd_per_h) ? 0 : c->type[i].usd_per_h;
	}
	for (i = 0; i < r->n_jobs; i++) {
		if (row[i] == SIZE_MAX)
			continue;
		p->scale[row[i]] = (double)r->job[i].scale_factor;
		p->weight[row[i]] = r->job[i].priority_weight;
		p->count[row[i]] = 1;
	}
	for (i = 0; i < r->n_rates; i++)
		if (can_run(&r->rate[i], r, c))
			p->rate[row[r->rate[i].job] * p->m + type[r->rate[i].type]] =
			    r->rate[i].steps_per_s;
	add_beyond(p, r, c, row);
	if (numbers >> GV_NUMBER_ISOLATED & 1)
		add_away(p, r, c, row);
	if (gv_problem_numbers(p, r, numbers, row, e) != 0)
		return -1;
	for (i = 0; p->number[GV_NUMBER_STARTED] != NULL && i < r->n_rates; i++)
		if (r->rate[i].share == 1 && can_run(&r->rate[i], r, c))
			p->number[GV_NUMBER_STARTED][row[r->rate[i].job]] =
			    (double)type[r->rate[i].type] + 1;
	return 0;
}
