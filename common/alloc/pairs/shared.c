#include "shared.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "columns.h"
#include "lp/tolerance.h"

enum { MAX_PAIRS = 1000000 }; /* pairs that one program is made of; half a gigabyte */

/* Programs on the way need no proof of GLPK's, and the last has its own. */
static const struct gv_lp_options quick = {.gap = GV_TOL_PAIR_QUICK};

void
gv_shared_init(struct gv_shared *h, const struct gv_problem *p, struct gv_solution *s)
{
	*h = (struct gv_shared){.p = p, .s = s};
	h->lambda = gv_xcalloc(p->n, sizeof(*h->lambda));
	h->price = gv_xcalloc(p->m, sizeof(*h->price));
	h->time = gv_xcalloc(p->n, sizeof(*h->time));
}

void
gv_shared_free(struct gv_shared *h)
{
	free(h->lambda);
	free(h->price);
	free(h->time);
}

/* ---- the level ---- */

static double
level_of(const struct gv_shared *h)
{
	double *throughput = gv_xcalloc(h->p->n, sizeof(*throughput));
	double level = INFINITY;
	size_t i;

	gv_solution_throughput(h->p, h->s, throughput);
	for (i = 0; i < h->p->n; i++)
		if (h->demand != NULL && h->demand[i] > 0)
			level = fmin(level, (h->factor != NULL ? h->factor[i] : 1) *
						throughput[i] / h->demand[i]);
	free(throughput);
	return level;
}

static void
set_level(struct gv_columns *w, struct gv_shared *h)
{
	double sum = 0;
	size_t i;

	gv_master_shares(&w->m);
	gv_master_duals(&w->m, h->lambda, h->price);
	h->limit = gv_columns_bound(w, h->price, 1, h->time);
	for (i = 0; i < h->p->n; i++)
		sum += h->lambda[i] * (h->demand != NULL ? h->demand[i] : 0);
	h->value = level_of(h);
	h->bound =
	    h->limit / sum * (1 + ((double)(h->p->n + h->p->m) + 16) * DBL_EPSILON);
	h->s->exact = w->m.sol.exact;
}

/* Shares and pairs as they were, for an attempt that may fail. */
struct backup {
	double *x;
	struct gv_pair *pair;
	size_t n_pairs;
};

static struct backup
back_up(struct gv_shared *h)
{
	size_t bytes = h->p->n * h->p->m * sizeof(double);
	struct backup k = {.pair = h->s->pair, .n_pairs = h->s->n_pairs};

	k.x = gv_xcalloc(1, bytes);
	memcpy(k.x, h->s->x, bytes);
	h->s->pair = NULL;
	h->s->n_pairs = 0;
	return k;
}

static void
restore(struct gv_shared *h, struct backup *k)
{
	memcpy(h->s->x, k->x, h->p->n * h->p->m * sizeof(double));
	free(h->s->pair);
	h->s->pair = k->pair;
	h->s->n_pairs = k->n_pairs;
	k->pair = NULL;
}

/*
 * The second sum at the best level, or where the simplex method does not find the
 * thin face of those, a little below.  The shares stay where it fails.
 */
static int
second_stage_level(
    struct gv_columns *w, struct gv_shared *h, double best, struct gv_error *e)
{
	static const double less[] = {0, GV_TOL_LESS_2, GV_TOL_LESS_3};
	enum gv_lp_status status;
	struct backup k = back_up(h);
	double level = 0;
	bool done = false;
	int i, rc = 0;

	gv_master_set_objective(&w->m, 1, 1);
	for (i = 0; i < 3 && rc >= 0 && !done; i++) {
		gv_master_fix_level(&w->m, best * (1 - less[i]));
		rc = gv_columns_generate(w, &quick, &status, e);
		if (rc != 0)
			continue;
		gv_master_shares(&w->m);
		level = level_of(h);
		done = level >= h->value * (1 - less[i] - GV_TOL_KEPT);
	}
	if (done)
		h->value = level;
	else
		restore(h, &k);
	free(k.x);
	free(k.pair);
	return rc < 0 ? -1 : 0;
}

static int
solve_level(struct gv_columns *w, struct gv_shared *h, const struct gv_lp_options *opt,
    enum gv_lp_status *status, struct gv_error *e)
{
	int rc = gv_columns_generate(w, opt, status, e);

	if (rc != 0)
		return rc;
	set_level(w, h);
	if (h->warm != NULL)
		gv_columns_keep(w, h->warm);
	return h->second == NULL ? 0 : second_stage_level(w, h, w->m.sol.x[0], e);
}

/* ---- the sum ---- */

static double
sum_of(const struct gv_master *m)
{
	const struct gv_problem *p = m->p;
	const struct gv_solution *s = m->h->s;
	double sum = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			struct gv_share c = {
			    i, SIZE_MAX, j, gv_problem_rate(p, i, j), 0, 0, 0};

			if (s->x[i * p->m + j] > 0)
				sum += p->count[i] * s->x[i * p->m + j] *
				       gv_master_gain(m, 0, &c);
		}
	for (i = 0; i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];
		struct gv_share c = {q->a, q->b, q->type, q->rate_a, q->rate_b, 0, 0};

		sum += q->x * gv_master_gain(m, 0, &c);
	}
	return sum;
}

/*
 * With costs (1 + cost_margin) c_j no column has a reduced cost above 0, and sum_j p_j N_j +
 * sum_i n_i t_i <= sum_i lambda_i be_i, so that no sum is above 0 by weak duality.  The
 * margin pays for the largest reduced cost, and for the part by which p and t must be
 * lowered for the second inequality.
 */
static double
cost_margin(const struct gv_columns *w, const double *price, double needs)
{
	const struct gv_problem *p = w->m.p;
	const double *cost = w->m.h->gain->cost;
	double owners = 0, time = 0, gpus = 0, least = INFINITY, worst = 0, part;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		owners += price[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		owners += p->count[i] * w->v.time[i];
		time = fmax(time, w->v.time[i]);
		worst = fmax(worst, w->best[i].most);
		for (j = 0; j < p->m; j++) {
			gpus = fmax(gpus, p->scale[i] * price[j]);
			if (p->capacity[j] >= p->scale[i])
				least = fmin(least, p->scale[i] * cost[j]);
		}
	}
	part = owners > needs ? (owners - needs) / owners : 0;
	part += ((double)(p->n + p->m) + 16) * DBL_EPSILON;
	return (worst + part * (2 * time + gpus)) * w->m.size[0] / least;
}

static void
set_sum(struct gv_columns *w, struct gv_shared *h)
{
	const struct gv_problem *p = h->p;
	double unit = w->m.size[0];
	double needs = 0;
	size_t i;

	gv_master_shares(&w->m);
	gv_master_duals(&w->m, h->lambda, h->price);
	h->limit = gv_columns_bound(w, h->price, unit, h->time) * unit;
	if (h->gain->cost != NULL) {
		for (i = 0; i < p->n && h->demand != NULL; i++)
			needs += h->lambda[i] * h->demand[i];
		h->cost_margin = cost_margin(w, h->price, needs);
		needs = 0;
	}
	for (i = 0; i < p->n; i++) {
		h->lambda[i] *= unit;
		needs += h->lambda[i] * (h->demand != NULL ? h->demand[i] : 0);
	}
	for (i = 0; i < p->m; i++)
		h->price[i] *= unit;
	h->value = sum_of(&w->m);
	h->bound = h->limit - needs + needs * ((double)(p->n + p->m) + 16) * DBL_EPSILON;
	h->s->exact = w->m.sol.exact;
}

/* What every job needs, by pairs if not alone: t = 1, or as near as there is. */
static int
phase_one(
    struct gv_columns *w, double *reached, enum gv_lp_status *status, struct gv_error *e)
{
	int rc;

	w->m.lp.col_hi[0] = 1;
	rc = gv_columns_generate(w, &quick, status, e);
	if (rc == 0 && w->m.sol.x[0] < 1 - GV_TOL_FEASIBLE) {
		*status = GV_LP_INFEASIBLE;
		return 1;
	}
	*reached = rc == 0 ? fmin(1, w->m.sol.x[0]) : 0;
	return rc;
}

/* The first sum, where it must be with needs that are a little lower. */
static int
first_stage_sum(struct gv_columns *w, struct gv_shared *h,
    const struct gv_lp_options *opt, double needs, enum gv_lp_status *status,
    struct gv_error *e)
{
	static const double less[] = {0, GV_TOL_LESS_1, GV_TOL_LESS_2, GV_TOL_LESS_3};
	int i, rc = 1;

	gv_master_set_objective(&w->m, 0, 1);
	for (i = 0; i < 4 && rc == 1; i++) {
		if (h->demand != NULL)
			gv_master_fix_level(&w->m, needs * (1 - less[i]));
		rc = gv_columns_generate(w, opt, status, e);
		if (h->demand == NULL)
			break;
	}
	return rc;
}

static int
second_stage_sum(
    struct gv_columns *w, struct gv_shared *h, double best, struct gv_error *e)
{
	static const double less[] = {0, 1, 10, 100};
	enum gv_lp_status status;
	struct backup k = back_up(h);
	double size = fmax(1, fabs(best)) * w->m.size[0];
	double sum = 0;
	bool done = false;
	int i, rc = 0;

	for (i = 0; i < 4 && rc >= 0 && !done; i++) {
		gv_master_keep_sum(
		    &w->m, best - less[i] * GV_TOL_LESS_1 * fmax(1, fabs(best)));
		gv_master_set_objective(&w->m, 1, 1);
		rc = gv_columns_generate(w, &quick, &status, e);
		if (rc != 0)
			continue;
		gv_master_shares(&w->m);
		sum = sum_of(&w->m);
		done = sum >= h->value - (less[i] * GV_TOL_LESS_1 + GV_TOL_KEPT) * size;
	}
	if (done)
		h->value = sum;
	else
		restore(h, &k);
	free(k.x);
	free(k.pair);
	return rc < 0 ? -1 : 0;
}

static int
solve_sum(struct gv_columns *w, struct gv_shared *h, const struct gv_lp_options *opt,
    enum gv_lp_status *status, struct gv_error *e)
{
	double needs = 0;
	int rc = 0;

	if (h->demand != NULL)
		rc = phase_one(w, &needs, status, e);
	if (rc != 0)
		return rc;
	rc = first_stage_sum(w, h, opt, needs, status, e);
	if (rc != 0)
		return rc;
	set_sum(w, h);
	return h->second == NULL ? 0 : second_stage_sum(w, h, gv_master_value(&w->m), e);
}

int
gv_shared_solve(struct gv_shared *h, const char *name, struct gv_error *e)
{
	const struct gv_lp_options lp_opt = {.exact = h->exact, .gap = quick.gap};
	enum gv_lp_status status = GV_LP_FAILED;
	bool all = h->all || h->exact;
	struct gv_columns w;
	int rc;

	if (all && gv_columns_count_all(h->p) > MAX_PAIRS)
		return gv_error_set(e,
		    "%zu pairs of jobs are too many for one program; --solver=auto does "
		    "not make them all",
		    gv_columns_count_all(h->p));
	gv_columns_init(&w, h, all);
	rc = h->gain == NULL ? solve_level(&w, h, &lp_opt, &status, e)
			     : solve_sum(&w, h, &lp_opt, &status, e);
	if (rc == 1)
		rc = gv_error_set(
		    e, "the linear program of %s: %s", name, gv_lp_status_name(status));
	h->n_columns = w.m.made.n;
	h->s->n_made += w.m.made.n;
	h->rounds = w.rounds;
	gv_columns_free(&w);
	return rc;
}
