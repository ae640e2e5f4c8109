/* Cuts: the dual at a point of prices, and what it proves and demands there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dual_state.h"
#include "lp/tolerance.h"

void
gv_dual_gpu_prices(const struct gv_dual_problem *problem, const double *capacity_price,
    size_t m, double *price)
{
	size_t j;

	for (j = 0; j < m; j++)
		price[j] = problem->capacity[j] > 0
			       ? fmax(0, capacity_price[j]) / problem->capacity[j]
			       : 0;
	for (j = 0; problem->dollars != NULL && j + 1 < m; j++)
		price[j] += problem->dollars[j] * price[m - 1];
}

double
gv_dual_own_price(
    const struct gv_dual_problem *problem, const double *price, size_t m, size_t j)
{
	return problem->dollars == NULL || j + 1 == m
		   ? price[j]
		   : fmax(0, price[j] - problem->dollars[j] * price[m - 1]);
}

void
gv_dual_spend(const struct gv_dual_problem *problem, double *gpus, size_t m)
{
	size_t j;

	if (problem->dollars == NULL)
		return;
	gpus[m - 1] = 0;
	for (j = 0; j + 1 < m; j++)
		gpus[m - 1] += problem->dollars[j] * gpus[j];
}

static double
worth(const double *price, const double *gpus, size_t m)
{
	double sum = 0;
	size_t j;

	for (j = 0; j < m; j++)
		sum += price[j] * gpus[j];
	return sum;
}

void
gv_dual_forget_cuts(struct gv_dual *d)
{
	while (d->n_cuts > 0)
		free(d->cut[--d->n_cuts].price);
}

struct gv_cut *
gv_dual_next_cut(struct gv_dual_state *w, const double *capacity_price)
{
	struct gv_dual *d = w->d;
	struct gv_cut *cut;

	d->cut = gv_xgrow(d->cut, &d->cap_cuts, d->n_cuts + 1, sizeof(*d->cut));
	cut = &d->cut[d->n_cuts++];
	cut->price = gv_xcalloc(d->m, sizeof(*cut->price));
	gv_dual_gpu_prices(w->problem, capacity_price, d->m, cut->price);
	cut->level = w->problem->gains ? w->problem->level : d->bound;
	cut->weight = 0;
	d->n_evaluations++;
	return cut;
}

/*
 * Of gains the dual is D(p) = sum_i max_x (gain_i - p) x + sum_j p_j N_j as it stands.  Of
 * levels any feasible t keeps sum_i C_i(t) <= sum_j p_j N_j, where C_i is the least cost
 * of t at p; C is convex, C(t) >= C(t_0) + lambda (t - t_0), so
 *
 *	t <= t_0 + (sum_j p_j N_j - C(t_0)) / lambda,
 *
 * a step of Newton's method.  Fixed jobs demand fixed_used + fixed_slope t.
 */
double
gv_dual_evaluate(struct gv_dual_state *w, const struct gv_cut *cut)
{
	const struct gv_dual_problem *problem = w->problem;
	struct gv_demand *t = &w->demand;
	const struct gv_dual_point o = {
	    cut->price, problem->face, cut->level, problem->gains};
	size_t j, m = w->d->m, types = m - (problem->dollars != NULL);
	double left = 0;

	gv_oracle_demand(gv_dual_free_jobs(w), &o, t);
	gv_dual_spend(problem, t->used, m);
	if (problem->effort != NULL)
		*problem->effort -= gv_oracle_effort(gv_dual_free_jobs(w), &o);
	for (j = 0; j < m; j++) {
		t->used[j] += w->fixed_used[j] + w->fixed_slope[j] * cut->level;
		w->part[j] =
		    problem->capacity[j] > 0 ? t->used[j] / problem->capacity[j] : 0;
		if (!problem->gains)
			w->part[j] /= cut->level;
	}
	t->gain += w->fixed_gain;
	t->lambda += worth(cut->price, w->fixed_slope, types);
	for (j = 0; j < m; j++)
		left +=
		    gv_dual_own_price(problem, cut->price, m, j) * problem->capacity[j];
	left -= worth(cut->price, t->used, types);
	if (problem->gains)
		return t->gain + left;
	return t->lambda > 0 ? cut->level + left / t->lambda : INFINITY;
}

void
gv_dual_note_bound(struct gv_dual_state *w, const struct gv_cut *cut, double bound)
{
	struct gv_dual *d = w->d;

	if (!(bound < d->bound))
		return;
	d->bound = bound;
	d->price_level = cut->level;
	memcpy(d->price, cut->price, d->m * sizeof(*d->price));
}

/*
 * Of levels: the master has sum_k mu_k U_kj <= v, U_kj what cut k demands of type j for
 * each of its level t_k, so weights mu_k t / t_k of the cuts' shares reach t = 1 / v
 * within the capacities.  They sum to at most 1, as time wants it, where no t_k is below
 * t.
 */
static void
note_level(struct gv_dual_state *w)
{
	struct gv_dual *d = w->d;
	const struct gv_price_master *p = &w->master;
	double level, most = 0, weight = 0;
	size_t j, k;

	for (j = 0; j < d->m; j++) {
		double part = 0;

		for (k = 0; k < d->n_cuts; k++)
			part += p->weight[k] * gv_price_master_used(p, k)[j];
		most = fmax(most, part);
	}
	level = 1 / most;
	for (k = 0; k < d->n_cuts; k++)
		if (p->weight[k] > GV_TOL_WEIGHT)
			level = fmin(level, d->cut[k].level);
	if (!(level > d->level))
		return;
	d->level = level;
	for (k = 0; k < d->n_cuts; k++) {
		d->cut[k].weight = p->weight[k] * level / d->cut[k].level;
		weight += d->cut[k].weight;
	}
	d->weight = weight;
}

/* Of gains: sum_k mu_k = 1, so the mixture of the cuts keeps every level and time. */
static void
note_gains(struct gv_dual_state *w)
{
	struct gv_dual *d = w->d;
	size_t k;

	d->level = w->master.objective;
	for (k = 0; k < d->n_cuts; k++)
		d->cut[k].weight =
		    w->master.weight[k + (w->problem->incumbent_used != NULL)];
	d->weight = 1;
}

void
gv_dual_note_mixture(struct gv_dual_state *w)
{
	if (w->problem->gains)
		note_gains(w);
	else
		note_level(w);
}

bool
gv_dual_spent(const struct gv_dual_state *w)
{
	return w->problem->effort != NULL && *w->problem->effort < 0;
}

bool
gv_dual_has_to_end(struct gv_dual_state *w)
{
	if (!gv_dual_spent(w))
		return false;
	if (!w->near_end || w->grant <= 0)
		return true;
	*w->problem->effort += w->grant;
	w->grant = 0;
	return gv_dual_spent(w);
}

double
gv_dual_tolerance(const struct gv_dual_state *w)
{
	return w->problem->gap * (w->problem->gains
					 ? fmax(fabs(w->d->bound), w->problem->gap_floor)
					 : w->d->bound);
}

const struct gv_oracle_jobs *
gv_dual_free_jobs(const struct gv_dual_state *w)
{
	return w->d->all_free ? w->all : &w->d->free_jobs;
}
