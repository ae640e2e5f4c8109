#include "master.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * t counts for that, so that GLPK's GV_TOL_SIMPLEX for duals is one of 1e-13: of
 * thousands of columns each may take as much from the bound.
 */
static const double level_scale = 1e4;

/* The first sum is scaled by that in its row: GLPK keeps rows to GV_TOL_SIMPLEX. */
static const double first_row_scale = 1e3;

/* ---- in numbers of about 1 ---- */

static double
factor(const struct gv_shared *h, size_t i)
{
	return h->factor != NULL ? h->factor[i] : 1;
}

static double
demand(const struct gv_shared *h, size_t i)
{
	return h->demand != NULL ? h->demand[i] : 0;
}

/* A level that equal shares reach: all want so many GPUs at once, fit is what there is. */
static double
equal_level(const struct gv_shared *h)
{
	const struct gv_problem *p = h->p;
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double gpus = 0, gangs = 0, level = INFINITY;
	size_t i;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->m; i++)
		gpus += p->capacity[i];
	for (i = 0; i < p->n; i++)
		gangs += p->count[i] * p->scale[i];
	for (i = 0; i < p->n; i++)
		if (demand(h, i) > 0)
			level = fmin(level, fmin(1, gpus / gangs) * factor(h, i) *
						equal[i] / demand(h, i));
	free(equal);
	return level;
}

/*
 * Shares of a row are about those that lift it to the level on its best type; where
 * none is looked for, those of a job that has what it needs, all of a gpu_unit at most.
 */
static void
set_units(struct gv_master *m)
{
	const struct gv_problem *p = m->p;
	double largest = 0;
	size_t i;

	m->level = m->h->gain == NULL && !m->h->turns ? equal_level(m->h) : 1;
	for (i = 0; i < p->m; i++) {
		m->gpu_unit[i] = fmax(1, p->capacity[i]);
		largest = fmax(largest, p->capacity[i]);
	}
	for (i = 0; i < p->n; i++) {
		double most = fmin(1, largest / (p->count[i] * p->scale[i]));
		double level = m->level * demand(m->h, i) / factor(m->h, i);

		m->unit[i] = most;
		if (m->h->gain == NULL && !m->h->turns && level > 0)
			m->unit[i] =
			    fmin(1, level / gv_row_max(&p->rate[i * p->m], p->m));
	}
}

static const struct gv_shared_gain *
gain_of(const struct gv_master *m, int sum)
{
	return sum == 0 ? m->h->gain : m->h->second;
}

static double
per_step(const struct gv_shared_gain *g, size_t job, size_t type)
{
	return g->job[job] * (g->type != NULL ? g->type[type] : 1);
}

/* *size: the gain, and its costs, all counted as gains. */
static double
sum_gain(const struct gv_master *m, int sum, const struct gv_share *s, double *size)
{
	const struct gv_shared_gain *g = gain_of(m, sum);
	double gain = per_step(g, s->a, s->type) * s->rate_a;
	double cost = 0;

	if (s->b != SIZE_MAX)
		gain += per_step(g, s->b, s->type) * s->rate_b;
	if (g->cost != NULL)
		cost = m->p->scale[s->a] * g->cost[s->type];
	*size = gain + cost;
	return gain - cost;
}

double
gv_master_gain(const struct gv_master *m, int sum, const struct gv_share *s)
{
	double size;

	return sum_gain(m, sum, s, &size);
}

/* ---- columns ---- */

/* What a row of a job's throughput is counted in. */
static double
demand_unit(const struct gv_master *m, size_t i)
{
	return (demand(m->h, i) > 0 ? demand(m->h, i) : 1) * (m->h->turns ? 1 : m->level);
}

static void
set_job(struct gv_master *m, size_t col, size_t i, double rate, double unit, double times)
{
	const struct gv_shared *h = m->h;
	double n = m->p->count[i];

	if (m->demand[i] != SIZE_MAX)
		gv_lp_set(&m->lp, m->demand[i], col,
		    factor(h, i) * rate * (unit / n) / demand_unit(m, i));
	gv_lp_set(&m->lp, m->time[i], col, times * (unit / (n * m->unit[i])));
}

static double
cost_of(const struct gv_master *m, const struct gv_share *s)
{
	return m->objective < 0
		   ? 0
		   : m->objective_scale * (gv_master_gain(m, m->objective, s) * s->unit /
					      m->size[m->objective]);
}

/* The coefficient in the row that keeps the first sum. */
static double
in_first_row(const struct gv_master *m, const struct gv_share *s)
{
	return first_row_scale * (gv_master_gain(m, 0, s) * s->unit / m->size[0]);
}

static void
add_share(struct gv_master *m, const struct gv_share *s)
{
	const struct gv_problem *p = m->p;
	size_t col = gv_lp_add_col(&m->lp, 0, INFINITY, cost_of(m, s));

	m->share = gv_xgrow(m->share, &m->cap, m->n + 1, sizeof(*m->share));
	m->share[m->n] = *s;
	m->share[m->n++].col = col;
	gv_lp_set(&m->lp, s->type, col, p->scale[s->a] * s->unit / m->gpu_unit[s->type]);
	if (s->b == s->a) {
		set_job(m, col, s->a, s->rate_a + s->rate_b, s->unit, 2);
	} else {
		set_job(m, col, s->a, s->rate_a, s->unit, 1);
		if (s->b != SIZE_MAX)
			set_job(m, col, s->b, s->rate_b, s->unit, 1);
	}
	if (m->first_row != SIZE_MAX)
		gv_lp_set(&m->lp, m->first_row, col, in_first_row(m, s));
}

void
gv_master_add_job(struct gv_master *m, size_t i)
{
	const struct gv_problem *p = m->p;
	const struct gv_shared *h = m->h;
	size_t j;

	if (m->time[i] != SIZE_MAX)
		return;
	m->time[i] = gv_lp_add_row(&m->lp, -INFINITY, 1 / m->unit[i]);
	if (demand(h, i) > 0 || h->warm != NULL) /* the same rows each time */
		m->demand[i] = gv_lp_add_row(&m->lp, h->turns ? -INFINITY : 0, INFINITY);
	if (demand(h, i) > 0 && !h->turns)
		gv_lp_set(&m->lp, m->demand[i], m->level_col, -1);
	for (j = 0; j < p->m; j++)
		if (gv_problem_rate(p, i, j) > 0)
			add_share(m,
			    &(struct gv_share){i, SIZE_MAX, j, gv_problem_rate(p, i, j),
				0, p->count[i] * m->unit[i], 0});
}

bool
gv_master_add(struct gv_master *m, size_t a, size_t b, size_t pair, size_t type)
{
	const struct gv_problem *p = m->p;
	const double *rate = &p->together->rate[(pair * p->m + type) * 2];
	size_t known = m->made.n;
	size_t *key = gv_arena_alloc(&m->keys, 3, sizeof(*key));
	struct gv_share s = {.a = a, .b = b, .type = type};

	key[0] = a;
	key[1] = b;
	key[2] = type;
	if (gv_hash_add(&m->made, (const char *)key, 3 * sizeof(*key)) < known)
		return false;
	s.rate_a = rate[0];
	s.rate_b = rate[1];
	s.unit = fmin(p->count[a] * m->unit[a], p->count[b] * m->unit[b]);
	gv_master_add_job(m, a);
	gv_master_add_job(m, b);
	add_share(m, &s);
	return true;
}

/* The largest gain of any share, as it stands in the program, or 1. */
static double
size_of(const struct gv_master *m, int sum)
{
	const struct gv_problem *p = m->p;
	double largest = 0, size;
	size_t i, j;

	for (i = 0; i < p->n && gain_of(m, sum) != NULL; i++)
		for (j = 0; j < p->m; j++) {
			struct gv_share s = {
			    i, SIZE_MAX, j, gv_problem_rate(p, i, j), 0, 0, 0};

			if (s.rate_a == 0)
				continue;
			sum_gain(m, sum, &s, &size);
			largest = fmax(largest, size * p->count[i] * m->unit[i]);
		}
	return largest > 0 ? largest : 1;
}

void
gv_master_init(struct gv_master *m, const struct gv_shared *h, bool plain)
{
	const struct gv_problem *p = h->p;
	size_t i, j;

	*m = (struct gv_master){
	    .p = p, .h = h, .first_row = SIZE_MAX, .objective_scale = 1, .objective = -1};
	m->unit = gv_xcalloc(p->n, sizeof(*m->unit));
	m->gpu_unit = gv_xcalloc(p->m, sizeof(*m->gpu_unit));
	m->demand = gv_xcalloc(p->n, sizeof(*m->demand));
	m->time = gv_xcalloc(p->n, sizeof(*m->time));
	set_units(m);
	m->size[0] = size_of(m, 0);
	m->size[1] = size_of(m, 1);
	for (i = 0; i < p->n && plain; i++)
		m->unit[i] = 1;
	for (j = 0; j < p->m && plain; j++)
		m->gpu_unit[j] = 1;
	if (plain)
		m->level = m->size[0] = m->size[1] = 1;
	m->lp.maximise = true;
	gv_lp_add_col(&m->lp, 0, INFINITY, plain || h->turns ? 1 : level_scale);
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&m->lp, -INFINITY, p->capacity[j] / m->gpu_unit[j]);
	for (i = 0; i < p->n; i++)
		m->time[i] = m->demand[i] = SIZE_MAX;
	for (i = 0; i < p->n && !h->turns; i++)
		gv_master_add_job(m, i);
}

void
gv_master_free(struct gv_master *m)
{
	gv_lp_free(&m->lp);
	gv_lp_basis_free(&m->basis);
	gv_lp_solution_free(&m->sol);
	gv_hash_free(&m->made);
	gv_arena_free(&m->keys);
	free(m->share);
	free(m->unit);
	free(m->gpu_unit);
	free(m->demand);
	free(m->time);
}

/* ---- objectives ---- */

void
gv_master_set_objective(struct gv_master *m, int objective, double objective_scale)
{
	size_t k;

	m->objective = objective;
	m->objective_scale = objective_scale;
	m->lp.cost[m->level_col] = objective < 0 ? level_scale : 0;
	for (k = 0; k < m->n; k++)
		m->lp.cost[m->share[k].col] = cost_of(m, &m->share[k]);
}

void
gv_master_fix_level(struct gv_master *m, double value)
{
	m->lp.col_lo[m->level_col] = m->lp.col_hi[m->level_col] = value;
}

void
gv_master_keep_sum(struct gv_master *m, double value)
{
	size_t k;

	if (m->first_row == SIZE_MAX) {
		m->first_row = gv_lp_add_row(&m->lp, value * first_row_scale, INFINITY);
		for (k = 0; k < m->n; k++)
			gv_lp_set(&m->lp, m->first_row, m->share[k].col,
			    in_first_row(m, &m->share[k]));
	}
	m->lp.row_lo[m->first_row] = value * first_row_scale;
}

/* ---- what sol says ---- */

/* What its duals are to be divided by. */
static double
magnitude(const struct gv_master *m)
{
	if (m->h->turns)
		return 1;
	return m->objective < 0 ? level_scale : m->objective_scale;
}

void
gv_master_duals(const struct gv_master *m, double *lambda, double *price)
{
	const struct gv_problem *p = m->p;
	const double *y = m->sol.row_dual;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		price[j] = fmax(0, y[j]) / (m->gpu_unit[j] * magnitude(m));
	for (i = 0; i < p->n; i++) {
		lambda[i] = 0;
		if (demand(m->h, i) > 0 && m->demand[i] != SIZE_MAX)
			lambda[i] = fmax(0, -y[m->demand[i]]) /
				    (demand_unit(m, i) * magnitude(m));
	}
}

/* Adds a sum's gains, times part, to the worth of steps, and its costs to those of GPUs. */
static void
add_gains(const struct gv_master *m, int sum, double part, struct gv_pair_prices *v)
{
	const struct gv_problem *p = m->p;
	const struct gv_shared_gain *g = gain_of(m, sum);
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			v->worth[i * p->m + j] += part * per_step(g, i, j);
	for (j = 0; j < p->m && g->cost != NULL; j++)
		v->gpu[j] += part * g->cost[j];
}

void
gv_master_prices(const struct gv_master *m, struct gv_pair_prices *v)
{
	const struct gv_problem *p = m->p;
	const double *y = m->sol.row_dual;
	double *lambda = gv_xcalloc(p->n, sizeof(*lambda));
	size_t i, j;

	gv_master_duals(m, lambda, v->gpu);
	for (i = 0; i < p->n; i++) {
		double n = p->count[i];

		v->time[i] = 0;
		if (m->time[i] != SIZE_MAX)
			v->time[i] =
			    fmax(0, y[m->time[i]]) / (n * m->unit[i] * magnitude(m));
		for (j = 0; j < p->m; j++)
			v->worth[i * p->m + j] = lambda[i] * factor(m->h, i) / n;
	}
	if (m->objective >= 0)
		add_gains(m, m->objective, 1 / m->size[m->objective], v);
	if (m->first_row != SIZE_MAX)
		add_gains(m, 0,
		    fmax(0, -y[m->first_row]) * first_row_scale /
			(m->size[0] * magnitude(m)),
		    v);
	free(lambda);
}

bool
gv_master_at_most(const struct gv_master *m)
{
	return m->objective < 0 &&
	       m->lp.col_lo[m->level_col] < m->lp.col_hi[m->level_col] &&
	       m->sol.x[m->level_col] >= m->lp.col_hi[m->level_col];
}

double
gv_master_value(const struct gv_master *m)
{
	return m->sol.check.objective / magnitude(m);
}

void
gv_master_shares(const struct gv_master *m)
{
	const struct gv_problem *p = m->p;
	struct gv_solution *s = m->h->s;
	size_t k;

	s->n_pairs = 0;
	free(s->pair);
	s->pair = gv_xcalloc(m->n, sizeof(*s->pair));
	for (k = 0; k < m->n; k++) {
		const struct gv_share *c = &m->share[k];
		double x = fmax(0, m->sol.x[c->col]) * c->unit;

		if (c->b == SIZE_MAX)
			s->x[c->a * p->m + c->type] = x / p->count[c->a];
		else if (x > 0)
			s->pair[s->n_pairs++] = (struct gv_pair){
			    c->a, c->b, c->type, c->rate_a, c->rate_b, x};
	}
	gv_solution_clean(p, s);
}
