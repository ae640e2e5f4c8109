#include "constrained.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/place/placed.h"
#include "alloc/place/turns.h"
#include "apart.h"
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
	s->has_bound = true;
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
	} else if (rc == 0) {
		rc = gv_placed_level(p, a, opt->placeable, &relaxed, name, l, e);
	}
	gv_level_free(&relaxed);
	free(s.x);
	return rc;
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
	else if (rc == 0)
		rc = gv_placed_linear(l, opt->placeable, &s, name, e);
	free(s.x);
	return rc;
}
