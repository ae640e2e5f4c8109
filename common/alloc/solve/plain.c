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
#include "alloc/simplex/precise.h"
#include "alloc/simplex/simplex.h"
#include "choice.h"
#include "lp/tolerance.h"

/*
 * How many times an interior-point method the search for prices may take where others came to
 * nothing, and where hardly any are left: numbers far apart may keep it from its end.
 */
enum { AGAIN = 30, AT_LAST = 100 };

static const double little = 1e8; /* a tenth of a second, which nobody minds at last */

/* Tries the other way, and takes it if it gets further. */
static int
try_prices(const struct gv_problem *p, const double *a, double unit, struct gv_level *l,
    bool *done)
{
	size_t cells = p->n * p->m;
	struct gv_solution *out = l->s;
	struct gv_solution other = {.x = gv_xcalloc(cells, sizeof(*other.x))};
	struct gv_level alike;
	bool second_done = false;
	double effort = AGAIN * gv_interior_level_effort(p->n, p->m);
	int rc;

	gv_level_init(&alike, p, &other, true);
	rc = gv_level_by_prices(p, a, unit, &alike, &effort, NULL, &second_done);
	if (rc == 0 && second_done &&
	    other.objective >= out->objective * (1 - GV_TOL_AS_GOOD)) {
		memcpy(out->x, other.x, cells * sizeof(*other.x));
		out->objective = other.objective;
		out->bound = fmin(out->bound, other.bound);
		*done = true;
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
	double effort; /* of prices where others follow, ... */
	double again;  /* ... where others came to nothing, ... */
	double last;   /* ... and in the end */
};

static void
add_turn(struct turns *t, enum gv_solver solver)
{
	t->solver[t->n++] = solver;
}

/* What is known of a program beforehand. */
struct asked {
	bool sum;                 /* not a level */
	double program, interior; /* what GLPK and the interior point take, about */
	const double *worth;      /* [n][m] as of gv_choice_short(), ... */
	double level;             /* ... and this */
};

/* How many operations the first search for prices may take. */
static double
effort_of_first(const struct gv_problem *p, const struct gv_solver_options *opt,
    const struct asked *a, double next)
{
	const struct gv_price_memory *memory = opt->memory;
	bool many = (memory != NULL &&
			(memory->first_of_many || memory->capacity_price != NULL)) ||
		    isfinite(a->level);
	struct gv_choice_short missing = gv_choice_short(p, a->worth, a->level);

	return gv_choice_prices_effort(
	    p->n, p->m, a->sum, next, p->budget > 0 ? NULL : &missing, many && !a->sum);
}

/* certify: the simplex method proves its basis exactly, the others have none. */
static struct turns
turns_of(const struct gv_problem *p, const struct gv_solver_options *opt,
    const struct asked *a)
{
	bool whole = gv_choice_whole(a->program);
	bool simplex = gv_choice_simplex_second(p->n, p->m, a->program, a->interior);
	struct turns t = {.again = AGAIN * a->interior,
	    /* only prices know a budget */
	    .last = opt->solver != GV_SOLVER_AUTO || p->budget > 0
			? INFINITY
			: fmax(AT_LAST * a->interior, little)};

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
		else
			add_turn(&t, GV_SOLVER_PRICE);
		return t;
	}
	t.limited = !whole;
	if (!whole) {
		t.effort = effort_of_first(p, opt, a, simplex ? a->program : a->interior);
		add_turn(&t, GV_SOLVER_PRICE);
		add_turn(&t, simplex ? GV_SOLVER_GLPK : GV_SOLVER_INTERIOR);
	}
	if (!whole && (simplex || a->program < t.again)) {
		/* the sooner of the last two first */
		add_turn(&t, simplex ? GV_SOLVER_INTERIOR : GV_SOLVER_GLPK);
		add_turn(&t, GV_SOLVER_PRICE);
		return t;
	}
	add_turn(&t, GV_SOLVER_PRICE);
	add_turn(&t, whole ? GV_SOLVER_INTERIOR : GV_SOLVER_GLPK);
	return t;
}

/*
 * What the search for prices may take besides where it comes to a second program: the interior
 * point would have one to solve, too.
 */
static double
second_effort(const struct gv_problem *p, const struct turns *t, double interior)
{
	if (!t->limited || t->solver[1] != GV_SOLVER_INTERIOR)
		return 0;
	return t->effort / interior * gv_interior_sum_effort(p->n, p->m);
}

/* The operations that the k-th turn may take, if it is one of prices; now: the first one's. */
static double
effort_of(const struct turns *t, size_t k, double now)
{
	if (k + 1 == t->n || !t->limited)
		return t->last;
	return k == 2 && t->solver[k] == GV_SOLVER_PRICE ? t->again : now;
}

/* Whether the k-th turn would be a search for prices that came to no end before. */
static bool
has_ended(const struct turns *t, size_t k, double effort)
{
	return t->limited && k != 0 && t->solver[k] == GV_SOLVER_PRICE && effort >= 0;
}

/* The best level so far: that is not quite proved, or whose second program is not at its end. */
struct kept {
	bool any;
	double objective, bound, gap, sum;
	double *gain;               /* [n][m] of the second program */
	double *x, *lambda, *price; /* [n][m], [n], [m] */
};

static void
copy_level(const struct gv_problem *p, struct kept *k, struct gv_level *l, bool back)
{
	double *ours[] = {k->x, k->lambda, k->price},
	       *theirs[] = {l->s->x, l->lambda, l->price};
	const size_t n[] = {p->n * p->m, p->n, p->m};
	size_t i;

	for (i = 0; i < 3; i++)
		memcpy(back ? theirs[i] : ours[i], back ? ours[i] : theirs[i],
		    n[i] * sizeof(double));
}

/* Keeps that level if its gap is less, or among those that are proved if its second sum is more. */
static void
keep_level(const struct gv_problem *p, struct kept *k, struct gv_level *l)
{
	double sum, gap = gv_level_gap(p, l->s->bound, l->s->objective);

	if (!(gap <= GV_TOL_LEVEL_SAID))
		return;
	gap = fmax(gap, GV_TOL_LEVEL_PROVED);
	if (k->gain == NULL) {
		k->gain = gv_linear_normalised(p);
		k->x = gv_xcalloc(p->n * p->m + p->n + p->m, sizeof(*k->x));
		k->lambda = k->x + p->n * p->m;
		k->price = k->lambda + p->n;
	}
	sum = gv_linear_sum(p, k->gain, l->s->x);
	if (k->any && !(gap < k->gap || (gap == k->gap && sum > k->sum)))
		return;
	copy_level(p, k, l, false);
	*k = (struct kept){true, l->s->objective, l->s->bound, gap, sum, k->gain, k->x,
	    k->lambda, k->price};
}

/* The level that was kept, where no other is as good.  0, or 1: there is none */
static int
take_kept(const struct gv_problem *p, struct kept *k, struct gv_level *l, int rc)
{
	if (rc == 0)
		keep_level(p, k, l);
	if (!k->any)
		return rc;
	copy_level(p, k, l, true);
	l->s->objective = k->objective;
	l->s->bound = k->bound;
	return 0;
}

/* What the level of the job that gets least of all its time is. */
static double
level_of_time(const struct gv_problem *p, const double *a)
{
	double least = INFINITY;
	size_t i;

	for (i = 0; i < p->n; i++)
		least = fmin(least, gv_row_max(&a[i * p->m], p->m));
	return least;
}

/* Where the others came to no end, or to none that is proved: in many digits, if that is quick. */
static bool
precise_level(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, struct gv_level *l)
{
	return !opt->placeable && gv_level_precisely(p, a, l);
}

int
gv_level_plain(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e)
{
	const struct asked asked = {.program = gv_simplex_level_effort(p->n, p->m),
	    .interior = gv_interior_level_effort(p->n, p->m),
	    .worth = a,
	    .level = l->lexicographic ? INFINITY : level_of_time(p, a)};
	struct turns t = turns_of(p, opt, &asked);
	enum gv_lp_status status = GV_LP_FAILED;
	bool first = opt->memory != NULL && opt->memory->first_of_many;
	double effort = t.effort * (first ? 2 : 1); /* others will begin at its end */
	double unit = gv_level_unit(p, a);
	struct gv_solution *out = l->s;
	struct kept kept = {0};
	bool second_done = false;
	size_t i, k;
	int rc = 1;

	out->has_bound = true;
	l->second_effort = second_effort(p, &t, asked.interior);
	for (k = 0; k < t.n && rc == 1; k++) {
		if (has_ended(&t, k, effort))
			continue;
		effort = effort_of(&t, k, effort);
		if (t.solver[k] == GV_SOLVER_INTERIOR)
			rc = gv_level_by_interior(
			    p, a, unit, opt->sharp, l, &second_done, e);
		else if (t.solver[k] == GV_SOLVER_PRICE)
			rc = gv_level_by_prices(
			    p, a, unit, l, &effort, opt->memory, &second_done);
		else
			rc = gv_level_by_program(p, a, unit, opt->certify,
			    t.limited && (kept.any || opt->sharp || k + 1 < t.n), l,
			    &status, &second_done, e);
		if (rc == 1 && p->budget <= 0 && opt->solver == GV_SOLVER_AUTO)
			keep_level(p, &kept, l);
	}
	second_done |= rc == 0 && !l->lexicographic;
	if (rc == 0 && !second_done && t.solver[k - 1] == GV_SOLVER_GLPK &&
	    opt->solver == GV_SOLVER_AUTO)
		rc = try_prices(p, a, unit, l, &second_done);
	if (rc >= 0 && !second_done && (!opt->sharp || opt->any))
		rc = take_kept(p, &kept, l, rc);
	free(kept.gain);
	free(kept.x);
	for (i = 0; i < p->n; i++)
		l->lambda[i] /= unit;
	if (rc == 0)
		out->gap = gv_level_gap(p, out->bound, out->objective);
	/* who looks at multipliers asks others first */
	if (rc >= 0 && (!opt->sharp || opt->any) &&
	    !(rc == 0 && second_done && out->gap <= GV_TOL_PROVED) &&
	    precise_level(p, a, opt, l)) {
		rc = 0;
		second_done = true;
	}
	if (rc == 1)
		rc = gv_error_set(
		    e, "the linear program of %s: %s", name, gv_lp_status_name(status));
	out->second_missed = l->lexicographic && !second_done;
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
linear_turn(struct gv_linear *l, enum gv_solver solver, bool limited, double *effort,
    const struct gv_solver_options *opt, const char *name, struct gv_error *e)
{
	if (solver == GV_SOLVER_GLPK)
		return gv_linear_by_program(l, opt->certify, limited, name, e);
	return by_prices(l, solver == GV_SOLVER_INTERIOR, effort, opt, name, e);
}

/* Whether a sum is proved, its second program at its end, and every need met, small ones too. */
static bool
is_settled(const struct gv_linear *l)
{
	size_t i;

	for (i = 0; l->need != NULL && i < l->p->n; i++)
		if (gv_problem_throughput(l->p, l->s->x, i) <
		    l->need[i] * (1 - GV_TOL_FEASIBLE))
			return false;
	return !l->s->second_missed && l->s->gap <= GV_TOL_PROVED;
}

int
gv_linear_plain(struct gv_linear *l, const struct gv_solver_options *opt,
    const char *name, struct gv_error *e)
{
	size_t n = l->p->n, m = l->p->m, k;
	const struct asked asked = {.sum = true,
	    .program = gv_simplex_sum_effort(n, m),
	    .interior = gv_interior_sum_effort(n, m),
	    .worth = l->gain,
	    .level = INFINITY};
	struct turns t = turns_of(l->p, opt, &asked);
	double effort = t.effort;
	int rc = -1;

	l->s->second_missed = false;
	for (k = 0; k < t.n && rc != 0; k++) {
		struct gv_error own = {0};

		if (has_ended(&t, k, effort))
			continue;
		effort = effort_of(&t, k, effort);
		rc = linear_turn(
		    l, t.solver[k], t.limited && k + 1 < t.n, &effort, opt, name, &own);
		if (rc < 0 && e->count == 0)
			*e = own;
	}
	if (!(rc == 0 && is_settled(l)) && l->size == NULL && !opt->placeable &&
	    gv_linear_precisely(l))
		rc = 0;
	if (rc == 0)
		gv_error_clear(e);
	return rc == 0 ? 0 : -1;
}
