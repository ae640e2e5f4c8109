#include "climb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/program/level.h"
#include "base/mem.h"
#include "lp/tolerance.h"
#include "reach_pairs.h"

void
gv_climb_init(
    struct gv_climb *c, const struct gv_problem *p, const double *a, const double *size)
{
	size_t i;

	*c = (struct gv_climb){.p = p, .a = a, .slack = GV_TOL_CLIMB_SLACK};
	c->factor = gv_xcalloc(p->n, sizeof(*c->factor));
	c->size = gv_xcalloc(p->n, sizeof(*c->size));
	memcpy(c->size, size, p->n * sizeof(*size));
	for (i = 0; i < p->n; i++)
		c->factor[i] = gv_level_per_step(p, a, i);
	gv_shared_init(&c->h, p, &c->s);
	c->h.factor = c->factor;
	c->h.demand = c->size;
	c->h.turns = true;
	gv_columns_init(&c->w, &c->h, false);
}

void
gv_climb_free(struct gv_climb *c)
{
	gv_columns_free(&c->w);
	gv_shared_free(&c->h);
	free(c->turned);
	free(c->factor);
	free(c->size);
}

/* A column for t: the one it has, unless that is in the basis, which then stays one. */
static void
renew_level(struct gv_climb *c)
{
	struct gv_master *m = &c->w.m;
	size_t k, old = m->level_col;

	/* one that was added for a program that failed is in no basis */
	if (m->basis.row != NULL && old < m->basis.n_cols &&
	    m->basis.col[old] == GV_LP_BASIC) {
		m->lp.col_hi[old] = m->lp.cost[old] = 0;
		m->level_col = gv_lp_add_col(&m->lp, 0, INFINITY, 1);
		c->n_turned = 0;
	}
	for (k = 0; k < c->n_turned; k++)
		m->lp.entry[c->turned[k]].value = 0;
}

/*
 * The program of a new direction.  Shares of the last one that keep from keep it at t = 0, and
 * so does its basis.
 */
static void
turn(struct gv_climb *c, const double *from, const double *by, double most)
{
	struct gv_master *m = &c->w.m;
	double largest = 0;
	size_t i, k = 0;

	for (i = 0; i < c->p->n; i++)
		largest = fmax(largest, by[i] / c->size[i]);
	renew_level(c);
	m->level = 1 / largest;
	m->lp.col_hi[m->level_col] = most * largest;
	for (i = 0; i < c->p->n; i++) {
		double unit = c->size[i];

		if (by[i] > 0 || from[i] > 0)
			gv_master_add_job(m, i);
		if (m->demand[i] != SIZE_MAX)
			m->lp.row_lo[m->demand[i]] =
			    by[i] > 0 || from[i] > 0 ? from[i] / unit : -INFINITY;
		if (!(by[i] > 0))
			continue;
		if (k == c->n_turned) {
			c->turned = gv_xgrow(
			    c->turned, &c->cap_turned, k + 1, sizeof(*c->turned));
			c->turned[c->n_turned++] = m->lp.n_entries;
			gv_lp_set(&m->lp, m->demand[i], m->level_col, -1);
		}
		m->lp.entry[c->turned[k]].row = m->demand[i];
		m->lp.entry[c->turned[k++]].value = -by[i] / (unit * largest);
	}
}

/*
 * The inequality that the last program's multipliers prove, and the t at which from and
 * by fill it: floors were lower by slack, and t is the higher for it.
 */
static double
take_limit(struct gv_climb *c, const double *from, const double *by, struct gv_reach *r)
{
	const struct gv_problem *p = c->p;
	struct gv_shared *h = &c->h;
	double *want = gv_xcalloc(p->n, sizeof(*want));
	double t = c->w.m.level * c->w.m.sol.x[c->w.m.level_col];
	double has = 0, rises = 0;
	size_t i;

	gv_master_duals(&c->w.m, h->lambda, h->price);
	h->limit = gv_columns_bound(&c->w, h->price, 1, h->time);
	for (i = 0; i < p->n; i++) {
		want[i] = from[i] + by[i];
		has += h->lambda[i] * from[i];
		rises += h->lambda[i] * by[i];
	}
	gv_reach_from_pairs(r, h, c->a, want);
	free(want);
	return fmax(0, fmin(t - c->slack * (has / rises), (h->limit - has) / rises));
}

/* The program, of floors that are lower by slack.  As gv_columns_generate(). */
static int
solve(struct gv_climb *c, const double *from, const double *by, double most,
    enum gv_lp_status *status, struct gv_error *e)
{
	static const struct gv_lp_options quick = {
	    .gap = INFINITY, .tight = GV_TOL_CLIMB};
	double *floor = gv_xcalloc(c->p->n, sizeof(*floor));
	size_t i;
	int rc;

	for (i = 0; i < c->p->n; i++)
		floor[i] = from[i] * (1 - c->slack);
	turn(c, floor, by, most);
	c->w.rounds = 0;
	rc = gv_columns_generate(&c->w, &quick, status, e);
	free(floor);
	return rc;
}

int
gv_climb_go_on(struct gv_climb *c, const double *from, const double *by, double most,
    double *t, bool *blocked, struct gv_reach *r, struct gv_error *e)
{
	enum gv_lp_status status = GV_LP_FAILED;
	int rc = solve(c, from, by, most, &status, e);

	while (rc == 1 && c->slack < GV_TOL_CLIMB_MOST) {
		c->slack *= 2;
		rc = solve(c, from, by, most, &status, e);
	}
	if (rc != 0)
		return rc == 1
			   ? gv_error_set(e, "the linear program of water-filling: %s",
				 gv_lp_status_name(status))
			   : -1;
	*blocked = !gv_master_at_most(&c->w.m);
	*t = *blocked ? fmin(take_limit(c, from, by, r), most) : most;
	return 0;
}

void
gv_climb_shares(struct gv_climb *c, struct gv_solution *s)
{
	c->s = (struct gv_solution){.x = s->x};
	gv_master_shares(&c->w.m);
	s->pair = c->s.pair;
	s->n_pairs = c->s.n_pairs;
	s->n_made += c->w.m.made.n;
}
