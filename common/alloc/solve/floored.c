#include "floored.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/pairs/shared.h"
#include "alloc/simplex/precise.h"
#include "base/mem.h"
#include "lp/tolerance.h"
#include "unfloored.h"

enum { MAX_STEPS = 60 };

struct floored {
	const struct gv_problem *p;
	const double *a;
	const double *floor;
	const struct gv_solver_options *opt;
	const char *name;
	struct gv_level *l; /* the caller's: it keeps the multipliers of the bound */
	double bound;       /* no t is above, rounding allowed for */
	double next;        /* the t to be tried next: that without rounding */
	double without;     /* nor any without floors */
	double *want;       /* [n] max(t, floor_i) */
	double *b;          /* [n][m] a_ij / want_i */
	double reached;     /* what part of want all have in l->s->x */
	bool nothing;       /* next to nothing is left, or no solver tells */
	struct gv_shared_warm warm; /* of pairs, from one program to the next */
};

double *
gv_level_floors(const struct gv_problem *p, const double *a, const double *need)
{
	double *floor = NULL;
	size_t i;

	for (i = 0; i < p->n; i++)
		if (need[i] > 0) {
			if (floor == NULL)
				floor = gv_xcalloc(p->n, sizeof(*floor));
			floor[i] = need[i] * gv_level_per_step(p, a, i);
		}
	return floor;
}

/* [n] the levels of s; the lowest is returned. */
static double
levels_of(const struct floored *f, const struct gv_solution *s, double *level)
{
	const struct gv_problem *p = f->p;
	double lowest = INFINITY;
	size_t i;

	gv_solution_throughput(p, s, level);
	for (i = 0; i < p->n; i++) {
		level[i] *= gv_level_per_step(p, f->a, i);
		lowest = fmin(lowest, level[i]);
	}
	return lowest;
}

/* Whether shares keep all floors. */
static bool
keeps(const struct floored *f, const struct gv_solution *s)
{
	double *level = gv_xcalloc(f->p->n, sizeof(*level));
	bool kept = true;
	size_t i;

	levels_of(f, s, level);
	for (i = 0; i < f->p->n; i++)
		kept = kept && level[i] >= f->floor[i] * (1 - GV_TOL_MET);
	free(level);
	return kept;
}

/*
 * The largest t with sum_i lambda_i max(t, floor_i) <= limit, from above; t where all of
 * it is.
 */
static double
root(const struct floored *f, const double *lambda, double limit, double t)
{
	size_t i;
	int k;

	for (k = 0; k < 100; k++) {
		double sum = -limit, slope = 0, next;

		for (i = 0; i < f->p->n; i++) {
			sum += lambda[i] * fmax(t, f->floor[i]);
			slope += t > f->floor[i] ? lambda[i] : 0;
		}
		if (!(sum > 0))
			break;
		next = slope > 0 ? t - sum / slope : 0;
		if (!(next > 0))
			return 0;
		if (!(next < t))
			break;
		t = next;
	}
	return t;
}

static void
take_multipliers(const struct floored *f, const struct gv_level *of, const double *lambda)
{
	struct gv_level *l = f->l;

	memcpy(l->lambda, lambda, f->p->n * sizeof(*lambda));
	memcpy(l->price, of->price, f->p->m * sizeof(*l->price));
	if (l->time != NULL)
		memcpy(l->time, of->time, f->p->n * sizeof(*l->time));
	l->budget = of->budget;
	l->limit = of->limit;
}

/* Whether all can have t: the shares, and what they say of the bound. */
static int
step(struct floored *f, double t, const struct gv_solver_options *opt, bool raise,
    struct gv_error *e)
{
	const struct gv_problem *p = f->p;
	double *lambda = gv_xcalloc(p->n, sizeof(*lambda));
	struct gv_level of;
	size_t i, j;
	int rc;

	for (i = 0; i < p->n; i++) {
		f->want[i] = fmax(t, f->floor[i]);
		for (j = 0; j < p->m; j++)
			f->b[i * p->m + j] = f->a[i * p->m + j] / f->want[i];
	}
	memset(f->l->s->x, 0, p->n * p->m * sizeof(*f->l->s->x));
	gv_level_init(&of, p, f->l->s, raise);
	of.warm = &f->warm;
	rc = gv_level_unfloored(p, f->b, opt, f->name, &of, e);
	if (rc == 0) {
		double limit = gv_level_limit(p, f->b, &of);
		double sum = 0, to;

		f->reached = f->l->s->objective;
		for (i = 0; i < p->n; i++) {
			lambda[i] = of.lambda[i] / f->want[i];
			sum += of.lambda[i];
		}
		to = root(f, lambda, limit * (1 + gv_level_rounding(f->p)), f->bound);
		f->next = root(f, lambda,
		    fmax(f->reached * sum, limit * (1 - 2 * gv_level_rounding(f->p))), t);
		if (to < f->bound) {
			f->bound = to;
			take_multipliers(f, &of, lambda);
		}
	}
	gv_level_free(&of);
	free(lambda);
	return rc;
}

/* The floors leave nothing for others: they are kept, and the second program decides. */
static int
nothing_left(struct floored *f, const double *kept, struct gv_error *e)
{
	const struct gv_problem *p = f->p;
	double *need = gv_xcalloc(p->n, sizeof(*need));
	double *gain = gv_linear_normalised(p);
	double *worth = gv_linear_normal(p);
	const struct gv_shared_gain shared = {.job = worth};
	struct gv_linear sum;
	size_t i;
	int rc;

	f->nothing = true;
	memcpy(f->l->s->x, kept, p->n * p->m * sizeof(*kept));
	for (i = 0; i < p->n; i++)
		need[i] = f->floor[i] / gv_level_per_step(p, f->a, i);
	gv_linear_init(&sum, p, f->l->s);
	sum.gain = gain;
	sum.need = need;
	sum.shared = &shared;
	rc = gv_linear_solve(&sum, f->opt, f->name, e);
	gv_linear_free(&sum);
	free(need);
	free(gain);
	free(worth);
	return rc;
}

/* From the bound without floors down to the best level. */
static int
come_down(struct floored *f, const double *kept, struct gv_error *e)
{
	struct gv_solver_options quick = *f->opt;
	double t;
	int k, rc = 0;

	quick.certify = false;
	quick.memory = NULL; /* what is found does not depend on what was asked before */
	f->next = f->bound;
	for (k = 0; k < MAX_STEPS && rc == 0; k++) {
		t = f->next;
		if (!(t > GV_TOL_NOTHING_LEFT * f->without))
			return nothing_left(f, kept, e);
		rc = step(f, t, &quick, false, e);
		if (rc == -1 && t < GV_TOL_LITTLE_LEFT * f->without) {
			gv_error_clear(e);
			return nothing_left(f, kept, e);
		}
		/* floors are possible: of one that is all a job can have a rounding is short */
		if (f->reached >= 1 - GV_TOL_RATIO ||
		    (f->reached >= 1 - GV_TOL_PROVED && !(f->next > 0)))
			f->next = t;
		if (f->next >= t * (1 - DBL_EPSILON))
			break;
	}
	quick.certify = f->opt->certify;
	return rc == 0 ? step(f, f->next, &quick, true, e) : rc;
}

/* What the shares found are, and what is proved of them. */
static void
finish(const struct floored *f)
{
	struct gv_solution *s = f->l->s;
	double *level = gv_xcalloc(f->p->n, sizeof(*level));
	double sure;

	s->objective = levels_of(f, s, level);
	s->bound = fmax(f->bound, s->objective);
	s->has_bound = true;
	sure = s->objective * (1 - ((double)f->p->m + 16) * DBL_EPSILON);
	s->gap = (s->bound - sure) / fmax(s->bound, GV_TOL_LITTLE_LEFT * f->without);
	free(level);
}

/* Whether the best level is reached and proved, and its second program at its end. */
static bool
is_settled(const struct floored *f)
{
	const struct gv_solution *s = f->l->s;

	return !f->nothing && !s->second_missed &&
	       s->bound - s->objective <= GV_TOL_PROVED * s->objective;
}

/* With the floors in one program of many digits, where that is quick. */
static bool
precisely(struct floored *f)
{
	const struct gv_problem *p = f->p;
	struct gv_level all;
	bool found;

	if (f->opt->placeable)
		return false;
	gv_level_init(&all, p, f->l->s, f->l->lexicographic);
	all.floor = f->floor;
	found = gv_level_precisely(p, f->a, &all);
	if (found) {
		double limit = gv_level_limit(p, f->a, &all);

		take_multipliers(f, &all, all.lambda);
		f->bound =
		    root(f, all.lambda, limit * (1 + gv_level_rounding(p)), f->without);
		finish(f);
	}
	gv_level_free(&all);
	return found;
}

int
gv_level_floored(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e)
{
	size_t cells = p->n * p->m;
	struct floored f = {
	    .p = p, .a = a, .floor = l->floor, .opt = opt, .name = name, .l = l};
	double *kept = gv_xcalloc(cells, sizeof(*kept));
	int rc;

	memcpy(kept, l->s->x, cells * sizeof(*kept));
	memset(l->s->x, 0, cells * sizeof(*kept));
	rc = gv_level_unfloored(p, a, opt, name, l, e);
	if (rc == 0 && !keeps(&f, l->s)) {
		f.bound = f.without = l->s->bound;
		f.want = gv_xcalloc(p->n, sizeof(*f.want));
		f.b = gv_xcalloc(cells, sizeof(*f.b));
		rc = come_down(&f, kept, e);
		if (rc == 0)
			finish(&f);
		if ((rc == -1 || (rc == 0 && !is_settled(&f))) && precisely(&f)) {
			gv_error_clear(e);
			rc = 0;
		}
		gv_shared_warm_free(&f.warm);
		free(f.want);
		free(f.b);
	}
	free(kept);
	return rc;
}
