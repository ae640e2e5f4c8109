#include "constrained.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/place/placed.h"
#include "alloc/place/turns.h"
#include "apart.h"
#include "alloc/price/level_prices.h"
#include "alloc/price/linear_prices.h"
#include "alloc/simplex/precise.h"
#include "alloc/simplex/simplex.h"
#include "choice.h"
#include "plain.h"

enum { FEW = 32 };

bool
gv_constrained(const struct gv_problem *p, const struct gv_solver_options *opt)
{
	return opt->placeable || p->budget > 0;
}

/* What is left of the problem without one of its constraints. */
static struct gv_problem
relax(const struct gv_problem *p, const struct gv_solver_options *opt,
    struct gv_solver_options *to)
{
	struct gv_problem q = *p;

	*to = *opt;
	if (!opt->placeable)
		q.budget = 0;
	to->placeable = false;
	return q;
}

/* Whether the relaxed shares keep the constraint, too, and so are the answer. */
static bool
relaxed_is_feasible(
    const struct gv_problem *p, const struct gv_solver_options *opt, const double *x)
{
	return opt->placeable ? gv_turns_exist(p, x) : gv_problem_cost(p, x) <= p->budget;
}

/*
 * Other shares of the relaxed level that rounds can give, into s; where there are few
 * jobs all mixtures are looked at.
 */
static bool
is_placed_apart(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, struct gv_solution *s)
{
	if (!opt->placeable || p->n <= FEW ||
	    !gv_level_apart(p, a, opt, s->objective, s->x, s->x) ||
	    (p->budget > 0 && gv_problem_cost(p, s->x) > p->budget))
		return false;
	s->objective = gv_level_reached(p, a, s->x);
	s->gap = gv_level_gap(p, s->bound, s->objective);
	return true;
}

/* The relaxed shares, and what is proved of them. */
static void
accept_relaxed(
    const struct gv_problem *p, const struct gv_solution *relaxed, struct gv_solution *s)
{
	memcpy(s->x, relaxed->x, p->n * p->m * sizeof(*s->x));
	s->objective = relaxed->objective;
	s->bound = relaxed->bound;
	s->gap = relaxed->gap;
	s->second_missed = relaxed->second_missed;
	s->has_bound = true;
}

/* Under a budget, by prices of GPUs and of money.  False: they did not find it. */
static bool
by_prices(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, struct gv_level *l)
{
	double effort = gv_simplex_level_effort(p->n, p->m);
	double unit = gv_level_unit(p, a);
	bool any = opt->solver == GV_SOLVER_AUTO, second;
	size_t i;

	if (opt->placeable || opt->solver == GV_SOLVER_GLPK ||
	    (any && gv_choice_whole(effort)) ||
	    gv_level_by_prices(p, a, unit, l, any ? &effort : NULL, NULL, &second) != 0 ||
	    (l->lexicographic && !second))
		return false;
	l->s->has_bound = true;
	l->s->gap = gv_level_gap(p, l->s->bound, l->s->objective);
	l->limit = 0;
	for (i = 0; i < p->n; i++) {
		l->lambda[i] /= unit;
		l->limit += l->s->bound * l->lambda[i];
	}
	return true;
}

int
gv_constrained_level(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e)
{
	struct gv_solver_options other;
	struct gv_problem q = relax(p, opt, &other);
	struct gv_solution s = *l->s;
	struct gv_level relaxed;
	int rc;

	s.x = gv_xcalloc(p->n, p->m * sizeof(*s.x));
	gv_level_init(&relaxed, p, &s, true);
	rc = gv_constrained(&q, &other)
		 ? gv_constrained_level(&q, a, &other, name, &relaxed, e)
		 : gv_level_plain(&q, a, &other, name, &relaxed, e);
	if (rc == 0 &&
	    (relaxed_is_feasible(p, opt, s.x) || is_placed_apart(p, a, opt, &s))) {
		accept_relaxed(p, &s, l->s);
		memcpy(l->lambda, relaxed.lambda, p->n * sizeof(*l->lambda));
		memcpy(l->price, relaxed.price, p->m * sizeof(*l->price));
		l->limit = relaxed.limit;
		l->budget = relaxed.budget;
	} else if (rc == 0 && !by_prices(p, a, opt, l) &&
		   (opt->placeable || !gv_level_precisely(p, a, l))) {
		rc = gv_placed_level(
		    p, a, opt->placeable, opt->progress, &relaxed, name, l, e);
	}
	gv_level_free(&relaxed);
	free(s.x);
	return rc;
}

/* The same of a sum, from the x that keeps the needs; it stays where that fails. */
static bool
linear_by_prices(
    struct gv_linear *l, const struct gv_solver_options *opt, const char *name)
{
	const struct gv_problem *p = l->p;
	double effort = gv_simplex_sum_effort(p->n, p->m);
	bool any = opt->solver == GV_SOLVER_AUTO, found;
	size_t bytes = p->n * p->m * sizeof(double);
	struct gv_error e = {0};
	double *x;

	if (opt->placeable || opt->solver == GV_SOLVER_GLPK ||
	    (any && gv_choice_whole(effort)))
		return false;
	x = gv_xcalloc(1, bytes);
	memcpy(x, l->s->x, bytes);
	l->s->second_missed = false;
	found = gv_linear_by_prices(l, any ? &effort : NULL, NULL, name, &e) == 0;
	if (found && l->s->second_missed)
		gv_linear_precisely(l);
	if (!found)
		memcpy(l->s->x, x, bytes);
	free(x);
	gv_error_clear(&e);
	return found;
}

int
gv_constrained_linear(struct gv_linear *l, const struct gv_solver_options *opt,
    const char *name, struct gv_error *e)
{
	const struct gv_problem *p = l->p;
	struct gv_solver_options other;
	struct gv_problem q = relax(p, opt, &other);
	struct gv_solution s = *l->s;
	struct gv_linear relaxed = *l;
	int rc;

	s.x = gv_xcalloc(p->n, p->m * sizeof(*s.x));
	memcpy(s.x, l->s->x, p->n * p->m * sizeof(*s.x));
	relaxed.p = &q;
	relaxed.s = &s;
	relaxed.budget = 0;
	/* also sets l's multipliers */
	rc = gv_constrained(&q, &other) ? gv_constrained_linear(&relaxed, &other, name, e)
					: gv_linear_plain(&relaxed, &other, name, e);
	l->budget = relaxed.budget;
	if (rc == 0 && relaxed_is_feasible(p, opt, s.x))
		accept_relaxed(p, &s, l->s);
	else if (rc == 0 && !linear_by_prices(l, opt, name) &&
		 (opt->placeable || !gv_linear_precisely(l)))
		rc = gv_placed_linear(l, opt->placeable, opt->progress, &s, name, e);
	free(s.x);
	return rc;
}
