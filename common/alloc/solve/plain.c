#include "plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/interior/interior.h"
#include "alloc/interior/level_interior.h"
#include "alloc/price/level_prices.h"
#include "alloc/price/linear_prices.h"
#include "alloc/price/price.h"
#include "alloc/simplex/simplex.h"
#include "choice.h"
#include "lp/tolerance.h"

/* Tries the other way, and takes it if it gets further. */
static int
try_prices(const struct gv_problem *p, const double *a, double unit, struct gv_level *l)
{
	size_t cells = p->n * p->m;
	struct gv_solution *out = l->s;
	struct gv_solution other = {.x = gv_xcalloc(cells, sizeof(*other.x))};
	struct gv_level alike;
	bool second_done;
	int rc;

	gv_level_init(&alike, p, &other, true);
	rc = gv_level_by_prices(p, a, unit, &alike, NULL, NULL, &second_done);
	if (rc == 0 && second_done &&
	    other.objective >= out->objective * (1 - GV_TOL_AS_GOOD)) {
		memcpy(out->x, other.x, cells * sizeof(*other.x));
		out->objective = other.objective;
		out->bound = fmin(out->bound, other.bound);
	}
	free(other.x);
	gv_level_free(&alike);
	return rc < 0 ? -1 : 0;
}

/* The solvers, in the order in which they are tried. */
struct turns {
	enum gv_solver solver[4];
	size_t n;
	bool limited;  /* the first ones end where others are likely to be sooner */
	double effort; /* of prices where others follow */
};

static void
add_turn(struct turns *t, enum gv_solver solver)
{
	t->solver[t->n++] = solver;
}

/*
 * program, interior: what those take, about.  certify: the simplex method proves its basis
 * exactly, the others have none.
 */
static struct turns
turns_of(const struct gv_problem *p, const struct gv_solver_options *opt, double program,
    double interior)
{
	bool whole = gv_choice_whole(program);
	struct turns t = {.effort = opt->sharp
					? .9 * program
					: gv_choice_prices_effort(p->n, p->m, interior)};

	if (opt->certify || (opt->solver == GV_SOLVER_AUTO && whole))
		add_turn(&t, GV_SOLVER_GLPK);
	if (opt->certify)
		return t;
	if (opt->solver != GV_SOLVER_AUTO) {
		add_turn(&t, opt->solver);
		if (opt->solver != GV_SOLVER_GLPK)
			add_turn(&t, GV_SOLVER_GLPK);
		if (opt->solver != GV_SOLVER_INTERIOR)
			add_turn(&t, GV_SOLVER_INTERIOR);
		return t;
	}
	t.limited = !whole;
	if (!whole) {
		add_turn(&t, GV_SOLVER_PRICE);
		if (!opt->sharp)
			add_turn(&t, GV_SOLVER_INTERIOR);
		add_turn(&t, GV_SOLVER_GLPK);
	}
	add_turn(&t, GV_SOLVER_PRICE);
	if (whole)
		add_turn(&t, GV_SOLVER_INTERIOR);
	return t;
}

/* Whether the k-th turn has no limit. */
static bool
is_last(const struct turns *t, size_t k)
{
	return k + 1 == t->n || !t->limited;
}

/* Whether the k-th turn would be a search for prices that came to no end before. */
static bool
has_ended(const struct turns *t, size_t k, double effort)
{
	return t->limited && k > 1 && k < t->n && t->solver[k] == GV_SOLVER_PRICE &&
	       effort >= 0;
}

int
gv_level_plain(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e)
{
	struct turns t = turns_of(p, opt, gv_simplex_level_effort(p->n, p->m),
	    gv_interior_level_effort(p->n, p->m));
	enum gv_lp_status status = GV_LP_FAILED;
	bool first = opt->memory != NULL && opt->memory->first_of_many;
	double effort = t.effort * (first ? 2 : 1); /* others will begin at its end */
	double unit = gv_level_unit(p, a);
	struct gv_solution *out = l->s;
	bool second_done = false;
	size_t i, k;
	int rc = 1;

	out->has_bound = true;
	for (k = 0; k < t.n && rc == 1 && !has_ended(&t, k, effort); k++) {
		if (t.solver[k] == GV_SOLVER_INTERIOR)
			rc = gv_level_by_interior(p, a, unit, l, &second_done, e);
		else if (t.solver[k] == GV_SOLVER_PRICE)
			rc = gv_level_by_prices(p, a, unit, l,
			    is_last(&t, k) ? NULL : &effort, opt->memory, &second_done);
		else
			rc = gv_level_by_program(
			    p, a, unit, opt->certify, l, &status, &second_done, e);
	}
	if (rc == 0 && !second_done && t.solver[k - 1] == GV_SOLVER_GLPK &&
	    opt->solver == GV_SOLVER_AUTO)
		rc = try_prices(p, a, unit, l);
	if (rc == 1)
		rc = gv_error_set(
		    e, "the linear program of %s: %s", name, gv_lp_status_name(status));
	if (rc == 0)
		out->gap = gv_level_gap(p, out->bound, out->objective);
	for (i = 0; i < p->n; i++)
		l->lambda[i] /= unit;
	return rc;
}

/* By prices, from the x that keeps the needs; it stays where that fails. */
static int
by_prices(struct gv_linear *l, bool inside, double *effort,
    const struct gv_solver_options *opt, const char *name, struct gv_error *e)
{
	size_t size = l->p->n * l->p->m * sizeof(*l->s->x);
	double *x = gv_xcalloc(1, size);
	int rc;

	memcpy(x, l->s->x, size);
	rc = inside ? gv_linear_by_interior(l, name, e)
		    : gv_linear_by_prices(l, effort, opt->memory, name, e);
	if (rc != 0)
		memcpy(l->s->x, x, size);
	free(x);
	return rc;
}

/* One turn of a sum. */
static int
linear_turn(struct gv_linear *l, enum gv_solver solver, double *effort,
    const struct gv_solver_options *opt, const char *name, struct gv_error *e)
{
	if (solver == GV_SOLVER_GLPK)
		return gv_linear_by_program(l, opt->certify, name, e);
	return by_prices(l, solver == GV_SOLVER_INTERIOR, effort, opt, name, e);
}

int
gv_linear_plain(struct gv_linear *l, const struct gv_solver_options *opt,
    const char *name, struct gv_error *e)
{
	size_t n = l->p->n, m = l->p->m, k;
	struct turns t = turns_of(
	    l->p, opt, gv_simplex_sum_effort(n, m), gv_interior_sum_effort(n, m));
	double effort = t.effort;
	int rc = 1;

	for (k = 0; k < t.n && rc != 0 && !has_ended(&t, k, effort); k++) {
		struct gv_error own = {0};

		rc = linear_turn(
		    l, t.solver[k], is_last(&t, k) ? NULL : &effort, opt, name, &own);
		if (rc < 0 && e->count == 0)
			*e = own;
		else
			gv_error_clear(&own);
	}
	if (rc == 0)
		gv_error_clear(e);
	else if (e->count == 0)
		gv_error_set(e, "the linear program of %s: failed", name);
	return rc == 0 ? 0 : -1;
}
