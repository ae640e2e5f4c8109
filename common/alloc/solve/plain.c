#include "plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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

/* What a search for prices may take: twice as much where others will begin at its end. */
static double
level_effort(const struct gv_price_memory *memory, double program)
{
	bool first = memory != NULL && memory->first_of_many;

	return gv_prices_effort(program) * (first ? 2 : 1);
}

int
gv_level_plain(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e)
{
	enum gv_lp_status status = GV_LP_FAILED;
	double program = gv_simplex_level_effort(p->n, p->m);
	double effort = level_effort(opt->memory, program);
	bool by_prices = opt->solver == GV_SOLVER_PRICE ||
			 (opt->solver == GV_SOLVER_AUTO && gv_prices_first(program));
	struct gv_solution *out = l->s;
	bool second_done = false;
	double unit;
	size_t i;
	int rc = 1;

	unit = gv_level_unit(p, a);
	out->has_bound = true;
	if (by_prices && !opt->certify)
		rc = gv_level_by_prices(p, a, unit, l,
		    opt->solver == GV_SOLVER_AUTO ? &effort : NULL, opt->memory,
		    &second_done);
	if (rc == 1)
		rc = gv_level_by_program(
		    p, a, unit, opt->certify, l, &status, &second_done, e);
	if (rc == 1 && opt->solver == GV_SOLVER_AUTO && !opt->certify)
		rc = gv_level_by_prices(p, a, unit, l, NULL, opt->memory, &second_done);
	if (rc == 0 && !second_done && !by_prices && opt->solver == GV_SOLVER_AUTO)
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
by_prices(struct gv_linear *l, double *effort, const struct gv_solver_options *opt,
    const char *name, struct gv_error *e)
{
	size_t size = l->p->n * l->p->m * sizeof(*l->s->x);
	double *x = gv_xcalloc(1, size);
	int rc;

	memcpy(x, l->s->x, size);
	rc = gv_linear_by_prices(l, effort, opt->memory, name, e);
	if (rc != 0)
		memcpy(l->s->x, x, size);
	free(x);
	return rc;
}

int
gv_linear_plain(struct gv_linear *l, const struct gv_solver_options *opt,
    const char *name, struct gv_error *e)
{
	bool either = opt->solver == GV_SOLVER_AUTO && !opt->certify;
	double program = gv_simplex_sum_effort(l->p->n, l->p->m);
	double effort = gv_prices_effort(program);
	bool limited = either && gv_prices_first(program);
	int rc = 1;

	if (limited || (opt->solver == GV_SOLVER_PRICE && !opt->certify))
		rc = by_prices(l, limited ? &effort : NULL, opt, name, e);
	if (rc == 1)
		rc = gv_linear_by_program(l, opt->certify, name, e);
	if (rc == -1 && either && (!limited || effort < 0)) {
		struct gv_error other = {0};

		if (by_prices(l, NULL, opt, name, &other) == 0) {
			gv_error_clear(e);
			rc = 0;
		}
		gv_error_clear(&other);
	}
	return rc;
}
