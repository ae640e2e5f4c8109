#include "components.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/problem/components.h"
#include "alloc/simplex/simplex.h"
#include "base/mem.h"
#include "choice.h"
#include "lp/tolerance.h"
#include "plain.h"

/*
 * Proofs in rational arithmetic are of the whole; and where one program, which takes so many
 * operations, is quick, its answer is the vertex that it always was.
 */
static bool
may_be_apart(
    const struct gv_problem *p, const struct gv_solver_options *opt, double program)
{
	return opt->solver == GV_SOLVER_AUTO && !opt->certify && p->budget == 0 &&
	       !gv_choice_whole(program);
}

static struct gv_solver_options
options_of_one(const struct gv_solver_options *opt)
{
	struct gv_solver_options own = *opt;

	own.memory = NULL;
	return own;
}

/* ---- levels: the lowest component's is that of all ---- */

struct levels {
	const struct gv_problem *p;
	const double *a;
	struct gv_solver_options opt;
	const char *name;
	struct gv_components g;
	double *x;              /* [n][m] */
	double *lambda;         /* [n] of the lowest bound's component, ... */
	double *price;          /* [m] */
	double level, bound;    /* of the lowest */
	double *own;            /* [components] the level of each */
	bool second_missed;     /* of one of them */
	struct gv_error unsaid; /* the whole is asked again, and says it */
};

/* Component k's own best level. */
static bool
own_level(struct levels *w, size_t k, bool lexicographic)
{
	struct gv_problem q;
	double *a = gv_components_cells(&w->g, k, w->a);
	struct gv_solution s = {0};
	struct gv_level l;
	bool done;

	gv_components_problem(&q, &w->g, k, w->p);
	s.x = gv_xcalloc(q.n, q.m * sizeof(*s.x));
	gv_level_init(&l, &q, &s, lexicographic);
	done = gv_level_plain(&q, a, &w->opt, w->name, &l, &w->unsaid) == 0;
	if (done)
		gv_components_put_cells(&w->g, k, s.x, w->x);
	w->second_missed |= s.second_missed;
	if (done && s.bound < w->bound) {
		w->bound = s.bound;
		memset(w->lambda, 0, w->p->n * sizeof(*w->lambda));
		memset(w->price, 0, w->p->m * sizeof(*w->price));
		gv_components_put_rows(&w->g, k, l.lambda, w->lambda);
		gv_components_put_types(&w->g, k, l.price, w->price);
	}
	if (done) {
		w->own[k] = s.objective;
		w->level = fmin(w->level, s.objective);
	}
	gv_level_free(&l);
	gv_problem_free(&q);
	free(s.x);
	free(a);
	return done;
}

/* Component k, which could have more, at the level of all: the second sum. */
static bool
raise_sum(struct levels *w, size_t k)
{
	struct gv_problem q;
	double *a = gv_components_cells(&w->g, k, w->a);
	struct gv_solution s = {.x = gv_components_cells(&w->g, k, w->x)};
	double *gain, *need;
	struct gv_linear l;
	bool done;
	size_t i;

	gv_components_problem(&q, &w->g, k, w->p);
	gain = gv_linear_normalised(&q);
	need = gv_xcalloc(q.n, sizeof(*need));
	for (i = 0; i < q.n; i++)
		need[i] = w->level / gv_level_per_step(&q, a, i);
	gv_linear_init(&l, &q, &s);
	l.gain = gain;
	l.need = need;
	done = gv_linear_plain(&l, &w->opt, w->name, &w->unsaid) == 0 &&
	       gv_level_reached(&q, a, s.x) >= w->level * (1 - GV_TOL_LESS_2);
	if (done)
		gv_components_put_cells(&w->g, k, s.x, w->x);
	gv_linear_free(&l);
	gv_problem_free(&q);
	free(need);
	free(gain);
	free(s.x);
	free(a);
	return done;
}

static bool
all_levels(struct levels *w, bool lexicographic)
{
	double level;
	size_t k;

	for (k = 0; k < w->g.n; k++)
		if (!own_level(w, k, false))
			return false;
	level = w->level;
	for (k = 0; lexicographic && k < w->g.n; k++)
		if (!(w->own[k] > level * (1 + GV_TOL_LESS_2) ? raise_sum(w, k)
							      : own_level(w, k, true)))
			return false;
	return true;
}

bool
gv_level_components(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l)
{
	struct levels w = {.p = p,
	    .a = a,
	    .opt = options_of_one(opt),
	    .name = name,
	    .level = INFINITY,
	    .bound = INFINITY};
	bool done;

	if (!may_be_apart(p, opt, gv_simplex_level_effort(p->n, p->m)))
		return false;
	gv_components_make(&w.g, p, a);
	done = gv_components_pay(&w.g, p);
	if (done) {
		w.x = gv_xcalloc(p->n, p->m * sizeof(*w.x));
		w.lambda = gv_xcalloc(p->n, sizeof(*w.lambda));
		w.price = gv_xcalloc(p->m, sizeof(*w.price));
		w.own = gv_xcalloc(w.g.n, sizeof(*w.own));
		done = all_levels(&w, l->lexicographic);
	}
	if (done) {
		memcpy(l->s->x, w.x, p->n * p->m * sizeof(*w.x));
		memcpy(l->lambda, w.lambda, p->n * sizeof(*w.lambda));
		memcpy(l->price, w.price, p->m * sizeof(*w.price));
		l->s->objective = gv_level_reached(p, a, w.x);
		l->s->bound = fmax(w.bound, l->s->objective);
		l->s->has_bound = true;
		l->s->second_missed = w.second_missed;
		l->s->gap = gv_level_gap(p, l->s->bound, l->s->objective);
	}
	gv_components_free(&w.g);
	gv_error_clear(&w.unsaid);
	free(w.x);
	free(w.lambda);
	free(w.price);
	free(w.own);
	return done;
}

/* ---- sums: those of the components ---- */

struct sums {
	struct gv_linear *l; /* of all */
	struct gv_solver_options opt;
	const char *name;
	struct gv_components g;
	double *x, *mu, *price; /* [n][m], [n], [m] */
	bool second_missed;
	struct gv_error unsaid;
};

static bool
own_sum(struct sums *w, size_t k)
{
	const struct gv_components *g = &w->g;
	struct gv_problem q;
	double *gain = gv_components_cells(g, k, w->l->gain);
	double *size = gv_components_cells(g, k, w->l->size);
	double *second = gv_components_cells(g, k, w->l->second);
	double *need = gv_components_rows(g, k, w->l->need);
	struct gv_solution s = {.x = gv_components_cells(g, k, w->l->s->x)};
	struct gv_linear l;
	bool done;

	gv_components_problem(&q, g, k, w->l->p);
	gv_linear_init(&l, &q, &s);
	l.gain = gain;
	l.size = size;
	l.second = second;
	l.need = need;
	done = gv_linear_plain(&l, &w->opt, w->name, &w->unsaid) == 0;
	w->second_missed |= s.second_missed;
	if (done) {
		gv_components_put_cells(g, k, s.x, w->x);
		gv_components_put_rows(g, k, l.mu, w->mu);
		gv_components_put_types(g, k, l.price, w->price);
	}
	gv_linear_free(&l);
	gv_problem_free(&q);
	free(gain);
	free(size);
	free(second);
	free(need);
	free(s.x);
	return done;
}

bool
gv_linear_components(
    struct gv_linear *l, const struct gv_solver_options *opt, const char *name)
{
	const struct gv_problem *p = l->p;
	struct sums w = {.l = l, .opt = options_of_one(opt), .name = name};
	bool done;
	size_t k;

	if (!may_be_apart(p, opt, gv_simplex_sum_effort(p->n, p->m)))
		return false;
	gv_components_make(&w.g, p, p->rate);
	done = gv_components_pay(&w.g, p);
	if (done) {
		w.x = gv_xcalloc(p->n, p->m * sizeof(*w.x));
		w.mu = gv_xcalloc(p->n, sizeof(*w.mu));
		w.price = gv_xcalloc(p->m, sizeof(*w.price));
	}
	for (k = 0; done && k < w.g.n; k++)
		done = own_sum(&w, k);
	if (done) {
		memcpy(l->s->x, w.x, p->n * p->m * sizeof(*w.x));
		memcpy(l->mu, w.mu, p->n * sizeof(*w.mu));
		memcpy(l->price, w.price, p->m * sizeof(*w.price));
		l->s->objective = gv_linear_sum(p, l->gain, w.x);
		l->s->second_missed = w.second_missed;
		l->s->has_bound = true;
		gv_linear_prove(l);
	}
	gv_components_free(&w.g);
	gv_error_clear(&w.unsaid);
	free(w.x);
	free(w.mu);
	free(w.price);
	return done;
}
