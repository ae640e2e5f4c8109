/*
 * Solvers of programs that fail now and then, as drawn: GLPK's simplex method, the search for
 * prices, the interior-point method, programs in many digits; and that come to an end which
 * is not quite one.  They are compiled in and stand before the library's.
 */
#ifndef ALLOC_FAILING_H
#define ALLOC_FAILING_H

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <glpk.h>

#include "alloc_real.h"
#include "draws.h"

enum failing {
	FAILS_SIMPLEX,
	FAILS_PRICES,
	FAILS_INTERIOR,
	IS_LOOSE,  /* the bound is above what is reached */
	IS_WORSE,  /* less is reached than could be */
	IS_MISSED, /* the second program is not at its end */
	IS_SPENT,  /* no effort is left where prices fail */
	FAILINGS
};

static struct {
	uint64_t
	    dice; /* apart from what is drawn, which does not depend on the way taken */
	double part[FAILINGS]; /* of the calls */
	size_t first;          /* so many calls of GLPK's fail at first */
} failing;

static inline void
none_fail(void)
{
	memset(&failing, 0, sizeof failing);
}

/* Which ones fail from now on, and how often. */
static inline void
some_fail(void)
{
	bool all = uniform() < .3; /* until GLPK works again */
	int k;

	failing.dice = below(1u << 30);
	for (k = 0; k < FAILINGS; k++) {
		double which = uniform();

		failing.part[k] = which < .5 ? 0 : which < .6 ? .05 : which < .8 ? .3 : 1;
	}
	if (all) {
		failing.part[FAILS_SIMPLEX] = 0;
		failing.part[FAILS_PRICES] = failing.part[FAILS_INTERIOR] = 1;
		failing.first = below(2) == 0 ? 8 : 40;
		failing.first = 1 + below(failing.first);
	}
}

static inline bool
falls(enum failing what)
{
	failing.dice = failing.dice * 6364136223846793005U + 1442695040888963407U;
	return ldexp((double)(failing.dice >> 32), -32) < failing.part[what];
}

int
glp_simplex(glp_prob *p, const glp_smcp *parm)
{
	int (*next)(glp_prob *, const glp_smcp *);
	void *found = dlsym(RTLD_NEXT, "glp_simplex");

	if (failing.first > 0) {
		failing.first--;
		return GLP_EFAIL;
	}
	if (falls(FAILS_SIMPLEX))
		return GLP_EFAIL;
	memcpy(&next, &found, sizeof(next));
	return next(p, parm);
}

/* Half of something, which must not stay. */
static inline int
spoil(struct gv_solution *s, const struct gv_problem *p)
{
	size_t i;

	for (i = 0; i < p->n * p->m; i++)
		s->x[i] = .5;
	return 1;
}

/* A level that is not what it could be. */
static inline void
loosen(const struct gv_problem *p, const double *a, struct gv_level *l, bool *second_done)
{
	static const double much[] = {1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2};
	size_t i;

	if (falls(IS_WORSE)) {
		for (i = 0; i < p->n * p->m; i++)
			l->s->x[i] *= 1 - much[failing.dice >> 33 & 3];
		l->s->objective = gv_level_reached(p, a, l->s->x);
	}
	if (falls(IS_LOOSE))
		l->s->bound *= 1 + much[(failing.dice >> 33) % 6];
	if (falls(IS_MISSED))
		*second_done = false;
}

int
gv_level_by_prices(const struct gv_problem *p, const double *a, double unit,
    struct gv_level *l, double *effort, struct gv_price_memory *memory, bool *second_done)
{
	int rc;

	*second_done = false;
	if (falls(FAILS_PRICES)) {
		if (effort != NULL && falls(IS_SPENT))
			*effort = -1;
		return 1;
	}
	rc = real_level_by_prices(p, a, unit, l, effort, memory, second_done);
	if (rc == 0)
		loosen(p, a, l, second_done);
	return rc;
}

int
gv_linear_by_prices(struct gv_linear *l, double *effort, struct gv_price_memory *memory,
    const char *name, struct gv_error *e)
{
	int rc;

	if (falls(FAILS_PRICES)) {
		if (effort != NULL && falls(IS_SPENT))
			*effort = -1;
		return spoil(l->s, l->p);
	}
	rc = real_linear_by_prices(l, effort, memory, name, e);
	if (rc == 0 && falls(IS_MISSED))
		l->s->second_missed = true;
	if (rc == 0 && falls(IS_LOOSE))
		l->s->gap += 1e-6;
	return rc;
}

int
gv_linear_by_interior(struct gv_linear *l, const char *name, struct gv_error *e)
{
	int rc;

	if (falls(FAILS_INTERIOR))
		return spoil(l->s, l->p);
	rc = real_linear_by_interior(l, name, e);
	if (rc == 0 && falls(IS_MISSED))
		l->s->second_missed = true;
	return rc;
}

int
gv_level_by_interior(const struct gv_problem *p, const double *a, double unit, bool sharp,
    struct gv_level *l, bool *second_done, struct gv_error *e)
{
	int rc;

	*second_done = false;
	if (falls(FAILS_INTERIOR))
		return spoil(l->s, p);
	rc = real_level_by_interior(p, a, unit, sharp, l, second_done, e);
	if (rc == 0)
		loosen(p, a, l, second_done);
	return rc;
}

#endif
