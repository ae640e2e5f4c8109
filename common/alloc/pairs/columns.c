#include "columns.h"
#include "lp/tolerance.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX_ROUNDS_ASIDE = 100 }; /* rounds that set columns aside; usual are 10 to 20 */

/*
 * GLPK leaves out columns of reduced costs up to GV_TOL_SIMPLEX; where those left out would add more
 * than GV_TOL_PAIR_FINE, a first sum is taken MAGNIFIED times for some more steps.
 */
enum { MAGNIFIED = 1000 };

static void
add_pair(void *ctx, size_t a, size_t b, size_t pair, size_t type)
{
	gv_master_add(ctx, a, b, pair, type);
}

static void
count_pair(void *ctx, size_t a, size_t b, size_t pair, size_t type)
{
	size_t *n = ctx;

	(void)a;
	(void)b;
	(void)pair;
	(void)type;
	++*n;
}

size_t
gv_columns_count_all(const struct gv_problem *p)
{
	struct gv_pricing g;
	size_t n = 0;

	gv_pricing_init(&g, p);
	gv_pricing_all(&g, count_pair, &n);
	gv_pricing_free(&g);
	return n;
}

static void
add_known_pairs(struct gv_columns *w, const struct gv_pair *pair, size_t n)
{
	const struct gv_problem *p = w->m.p;
	size_t i;

	for (i = 0; i < n; i++)
		gv_master_add(&w->m, pair[i].a, pair[i].b,
		    gv_together_find(p->together, p->kind[pair[i].a], p->kind[pair[i].b]),
		    pair[i].type);
}

void
gv_columns_init(struct gv_columns *w, const struct gv_shared *h, bool all)
{
	const struct gv_problem *p = h->p;

	gv_master_init(&w->m, h, false);
	gv_pricing_init(&w->g, p);
	w->v.worth = gv_xcalloc(p->n, p->m * sizeof(double));
	w->v.time = gv_xcalloc(p->n, sizeof(double));
	w->v.gpu = gv_xcalloc(p->m, sizeof(double));
	w->best = gv_xcalloc(p->n, sizeof(*w->best));
	w->all = all;
	w->rounds = 0;
	if (all)
		gv_pricing_all(&w->g, add_pair, &w->m);
	else if (h->warm != NULL && h->warm->basis.n_rows > 0) {
		add_known_pairs(w, h->warm->pair, h->warm->n);
		gv_lp_basis_copy(&w->m.basis, &h->warm->basis);
	} else {
		add_known_pairs(w, h->s->pair, h->s->n_pairs);
	}
}

void
gv_shared_warm_free(struct gv_shared_warm *w)
{
	gv_lp_basis_free(&w->basis);
	free(w->pair);
	*w = (struct gv_shared_warm){0};
}

void
gv_columns_keep(const struct gv_columns *w, struct gv_shared_warm *warm)
{
	const struct gv_master *m = &w->m;
	size_t k;

	gv_shared_warm_free(warm);
	gv_lp_basis_copy(&warm->basis, &m->basis);
	warm->pair = gv_xcalloc(m->made.n, sizeof(*warm->pair));
	warm->basis.n_cols = 1;
	for (k = 0; k < m->n; k++) {
		bool is_pair = m->share[k].b != SIZE_MAX;
		size_t col = m->share[k].col;

		if (is_pair &&
		    m->lp.col_hi[col] == 0) /* set aside: far from being of use */
			continue;
		warm->basis.col[warm->basis.n_cols++] = m->basis.col[col];
		if (is_pair)
			warm->pair[warm->n++] = (struct gv_pair){.a = m->share[k].a,
			    .b = m->share[k].b,
			    .type = m->share[k].type};
	}
}

void
gv_columns_free(struct gv_columns *w)
{
	gv_master_free(&w->m);
	gv_pricing_free(&w->g);
	free(w->v.worth);
	free(w->v.time);
	free(w->v.gpu);
	free(w->best);
}

/* ---- multipliers and what they prove ---- */

/* t_i >= max_j (v_i T_ij - s_i p_j): then no job alone has a reduced cost above 0. */
static void
raise_time_duals(struct gv_columns *w)
{
	const struct gv_problem *p = w->m.p;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			double gain = w->v.worth[i * p->m + j] * gv_problem_rate(p, i, j);
			double cost = p->scale[i] * w->v.gpu[j];

			if (gv_problem_rate(p, i, j) > 0)
				w->v.time[i] = fmax(w->v.time[i],
				    gain - cost + (gain + cost) * (8 * DBL_EPSILON));
		}
}

/*
 * Weak duality, sum_j p_j N_j + sum_i n_i t_i: half of the largest reduced cost of a pair is
 * added to the t_i of both its jobs, so that no pair has one above 0.
 */
double
gv_columns_bound(
    const struct gv_columns *w, const double *price, double unit, double *time)
{
	const struct gv_problem *p = w->m.p;
	double sum = 0;
	size_t i;

	for (i = 0; i < p->m; i++)
		sum += price[i] * p->capacity[i];
	for (i = 0; i < p->n; i++) {
		double worth = w->v.time[i] + fmax(0, w->best[i].most) / 2;

		sum += p->count[i] * worth;
		time[i] = unit * worth;
	}
	return sum * (1 + ((double)(p->n + p->m) + 16) * DBL_EPSILON);
}

/* ---- column generation ---- */

/* The reduced cost of a column at the prices v; *gain: without what it costs. */
static double
reduced_cost_of(const struct gv_master *m, const struct gv_pair_prices *v,
    const struct gv_share *s, double *gain)
{
	const struct gv_problem *p = m->p;
	double cost = v->time[s->a] + p->scale[s->a] * v->gpu[s->type];

	*gain = v->worth[s->a * p->m + s->type] * s->rate_a;
	if (s->b != SIZE_MAX) {
		*gain += v->worth[s->b * p->m + s->type] * s->rate_b;
		cost += v->time[s->b];
	}
	return *gain - cost;
}

/*
 * Partial pricing: lets columns in again that were set aside and would add more than helps to
 * an optimum of about 1 at the prices v, which are those of sol; aside: sets those aside whose
 * reduced costs are far below 0.  How many came in again.
 */
static size_t
reprice(struct gv_master *m, const struct gv_pair_prices *v, double helps, bool aside)
{
	static const double far =
	    .1; /* of what they gain; from .1 to .2 it is the fastest */
	size_t k, back = 0;

	for (k = 0; k < m->n; k++) {
		double gain, reduced_cost = reduced_cost_of(m, v, &m->share[k], &gain);
		double *most = &m->lp.col_hi[m->share[k].col];

		if (*most == 0 && reduced_cost * m->share[k].unit > helps) {
			*most = INFINITY;
			back++;
		} else if (aside && m->sol.x[m->share[k].col] == 0 &&
			   reduced_cost < -far * gain) {
			*most = 0;
		}
	}
	return back;
}

/* The largest reduced cost of a column that is in, of an optimum of about 1; should be 0. */
static double
largest_reduced_cost(const struct gv_master *m, const struct gv_pair_prices *v)
{
	double largest = 0, gain;
	size_t k;

	for (k = 0; k < m->n; k++)
		largest = fmax(largest,
		    reduced_cost_of(m, v, &m->share[k], &gain) * m->share[k].unit);
	return largest;
}

/* Also raises *largest to what the best of them would add. */
static bool
add_pairs(struct gv_columns *w, double *largest)
{
	const struct gv_problem *p = w->m.p;
	size_t before = w->m.n;
	size_t i;

	for (i = 0; i < p->n; i++) {
		const struct gv_candidate *c = &w->best[i];
		double unit;

		if (!(c->reduced_cost > 0))
			continue;
		unit = fmin(
		    p->count[c->a] * w->m.unit[c->a], p->count[c->b] * w->m.unit[c->b]);
		*largest = fmax(*largest, c->reduced_cost * unit);
		if (c->reduced_cost * unit > GV_TOL_PAIR_HELPS / w->m.objective_scale)
			gv_master_add(&w->m, c->a, c->b, c->pair, c->type);
	}
	return w->m.n > before;
}

/* Steps of a program that can be done without; 0 = no limit. */
static long
iteration_limit(const struct gv_master *m)
{
	if (m->objective_scale > 1)
		return (long)m->lp.n_rows + 1000;
	return m->objective == 1 ? 10 * (long)m->lp.n_rows + 10000 : 0;
}

int
gv_columns_generate(struct gv_columns *w, const struct gv_lp_options *opt,
    enum gv_lp_status *status, struct gv_error *e)
{
	struct gv_master *m = &w->m;
	struct gv_lp_options own = opt != NULL ? *opt : (struct gv_lp_options){0};
	bool again, magnified = false;
	double largest;
	int rc;

	do {
		gv_lp_solution_free(&m->sol);
		own.max_iterations = iteration_limit(m);
		rc = gv_lp_solve(&m->lp, &own, &m->basis, &m->sol, e);
		*status = m->sol.status;
		if (rc == 0 && *status != GV_LP_OPTIMAL && m->objective_scale > 1) {
			/* too near; it was good enough before */
			gv_master_set_objective(m, m->objective, 1);
			again = true;
			continue;
		}
		if (rc != 0 || *status != GV_LP_OPTIMAL)
			return rc != 0 ? -1 : 1;
		w->rounds++;
		if (gv_master_at_most(m))
			return 0;
		gv_master_prices(m, &w->v);
		largest = largest_reduced_cost(m, &w->v);
		again =
		    !w->all && reprice(m, &w->v, GV_TOL_PAIR_HELPS / m->objective_scale,
				   w->rounds < MAX_ROUNDS_ASIDE) > 0;
		raise_time_duals(w);
		gv_pricing_pass(&w->g, &w->v, w->best);
		again = (!w->all && add_pairs(w, &largest)) || again;
		if (!again && largest > GV_TOL_PAIR_FINE && m->objective == 0 &&
		    !magnified) {
			magnified = again = true;
			gv_master_set_objective(m, m->objective, MAGNIFIED);
		}
	} while (again);
	return 0;
}
