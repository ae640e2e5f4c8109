#include "branching.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "greedy.h"
#include "lp/lp.h"
#include "patterns.h"

enum { MOST_TURNS = 1000 };

/* A part of a job that is none, in a mixture. */
static const double whole_within = 1e-7;

/* n_ij is branched on: at most at, or more. */
struct branch {
	size_t cell;
	double lo, hi; /* before */
	double at;
	bool is_second;
};

struct tree {
	const struct gv_problem *p;
	struct gv_patterns set; /* gains of 1 at most, bounds at the node */
	double enough;          /* likewise */
	struct gv_lp lp;        /* of the node; rows: a type's patterns, then classes */
	struct gv_lp_basis basis;
	double *dual;  /* [m + n] of the rows */
	double *known; /* [n] multipliers of the classes, of the best bound so far */
	double *u;     /* [n] likewise, where patterns are priced now */
	double *worth; /* [m] of the best patterns there, */
	size_t *best;  /* [m] and which they are */
	double *mean;  /* [n][m] of the mixture */
	size_t depth, cap_depth;
	struct branch *branch;
	double most;         /* of the nodes that are done */
	double root;         /* of all */
	double work, worked; /* beside that of the patterns */
	double *whole;       /* [n][m] */
	double *point;       /* the best so far, worth enough */
};

enum visit { DONE, BRANCHES, GIVES_UP };

/* ---- a node ---- */

/* A column of the pattern, if it has none; whether it had none. */
static bool
add_column(struct tree *t, struct gv_pattern *a)
{
	size_t k;

	if (a->col != SIZE_MAX)
		return false;
	a->col = gv_lp_add_col(&t->lp, 0, INFINITY, a->gain);
	gv_lp_set(&t->lp, a->type, a->col, 1);
	for (k = a->first; k < a->first + a->n; k++)
		gv_lp_set(
		    &t->lp, t->p->m + t->set.entry[k].row, a->col, t->set.entry[k].jobs);
	return true;
}

/*
 * The best patterns at the multipliers u, each at least known; what they bound placements of
 * the node to, -INFINITY where it has none.
 */
static double
bound_at(struct tree *t)
{
	const struct gv_problem *p = t->p;
	double sum = 0, size, terms = (double)(p->n + p->m);
	size_t i, j;

	for (i = 0; i < p->n; i++)
		sum += p->count[i] * t->u[i];
	size = sum;
	for (j = 0; j < p->m; j++) {
		terms += p->capacity[j];
		t->worth[j] = gv_patterns_best(&t->set, j, t->u);
		if (t->worth[j] == -INFINITY)
			return -INFINITY;
		t->best[j] = gv_patterns_of(&t->set, j, t->set.jobs);
		sum += t->worth[j];
		size += fabs(t->worth[j]);
	}
	/* sums of no more numbers, each rounded */
	return sum + size * DBL_EPSILON * terms;
}

/*
 * The program of the node, with those of the patterns that it allows for which a placement of more than
 * enough may have: one that is worth less than the best of its type lowers the bound by that.
 */
static void
open_program(struct tree *t, double bound)
{
	const struct gv_problem *p = t->p;
	size_t i, j, k;

	gv_lp_free(&t->lp);
	gv_lp_basis_free(&t->basis);
	t->lp.maximise = true;
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&t->lp, 1, 1);
	for (i = 0; i < p->n; i++)
		gv_lp_add_row(&t->lp, -INFINITY, p->count[i]);
	for (k = 0; k < t->set.n; k++)
		t->set.pattern[k].col = SIZE_MAX;
	for (j = 0; j < p->m; j++) { /* so that there is a solution */
		for (i = 0; i < p->n; i++)
			t->set.jobs[i] = t->set.lo[i * p->m + j];
		add_column(t, &t->set.pattern[gv_patterns_of(&t->set, j, t->set.jobs)]);
	}
	for (k = 0; k < t->set.n; k++) {
		struct gv_pattern *a = &t->set.pattern[k];

		if (bound - t->worth[a->type] + gv_patterns_gain_above(&t->set, a, t->u) >
			t->enough &&
		    gv_patterns_allows(&t->set, a))
			add_column(t, a);
	}
}

/* Solves the program of the patterns that there are; false: no solution. */
static bool
mix(struct tree *t)
{
	const struct gv_problem *p = t->p;
	const struct gv_lp_options opt = {.gap = INFINITY};
	struct gv_lp_solution sol = {0};
	struct gv_error e = {0};
	size_t i, k, c;
	bool good;

	good = gv_lp_solve(&t->lp, &opt, &t->basis, &sol, &e) == 0 &&
	       sol.status == GV_LP_OPTIMAL;
	t->worked += (double)t->lp.n_rows * (double)t->lp.n_cols;
	if (good) {
		memset(t->mean, 0, p->n * p->m * sizeof(*t->mean));
		for (i = 0; i < p->m + p->n; i++)
			t->dual[i] =
			    i < p->m ? sol.row_dual[i] : fmax(0, sol.row_dual[i]);
		for (k = 0; k < t->set.n; k++) {
			const struct gv_pattern *a = &t->set.pattern[k];
			double x = a->col != SIZE_MAX ? sol.x[a->col] : 0;

			for (c = a->first; c < a->first + a->n && x > 0; c++)
				t->mean[t->set.entry[c].row * p->m + a->type] +=
				    x * t->set.entry[c].jobs;
		}
	}
	gv_error_clear(&e);
	gv_lp_solution_free(&sol);
	return good;
}

/* Those of the best patterns that the mixture lacks; whether there are any. */
static bool
add_best(struct tree *t)
{
	bool more = false;
	size_t j;

	for (j = 0; j < t->p->m; j++) {
		struct gv_pattern *a = &t->set.pattern[t->best[j]];

		if (gv_patterns_gain_above(&t->set, a, &t->dual[t->p->m]) >
		    t->dual[j] + DBL_EPSILON)
			more |= add_column(t, a);
	}
	return more;
}

/*
 * Prices between the multipliers of the mixture and those of the best bound, nearer and nearer to
 * the mixture's until patterns are found or the bound is low enough (Wentges 1997): the
 * mixture's alone jump from one end to the other.  Whether the mixture lacks patterns.
 */
static bool
price_smoothly(struct tree *t, double *bound)
{
	static const double parts[] = {.8, .4, 0};
	size_t i, k;
	bool more = false;

	for (k = 0; k < 3 && !more && *bound > t->enough; k++) {
		double now;

		for (i = 0; i < t->p->n; i++)
			t->u[i] = parts[k] * t->known[i] +
				  (1 - parts[k]) * t->dual[t->p->m + i];
		now = bound_at(t);
		more = add_best(t);
		if (now < *bound) {
			*bound = now;
			memcpy(t->known, t->u, t->p->n * sizeof(*t->u));
		}
	}
	return more;
}

/* The mixture with whole jobs only, made as good as may be; kept if it is the best so far. */
static void
round_mixture(struct tree *t)
{
	size_t cells = t->p->n * t->p->m, i;
	double sum = 0;

	for (i = 0; i < cells; i++)
		t->whole[i] = floor(t->mean[i] + whole_within);
	gv_greedy_improve(t->p, t->set.gain, t->whole);
	for (i = 0; i < cells; i++)
		sum += t->whole[i] * t->set.gain[i];
	if (sum > t->enough) {
		memcpy(t->point, t->whole, cells * sizeof(*t->point));
		t->enough = sum;
	}
}

/* The cell whose jobs are the least whole, SIZE_MAX where all are. */
static size_t
least_whole(const struct tree *t)
{
	size_t cells = t->p->n * t->p->m, worst = SIZE_MAX, i;
	double most = whole_within;

	for (i = 0; i < cells; i++) {
		double part = t->mean[i] - floor(t->mean[i]);

		part = fmin(part, 1 - part);
		if (part > most) {
			most = part;
			worst = i;
		}
	}
	return worst;
}

static enum visit
visit(struct tree *t)
{
	double bound;
	size_t turn, cell;
	bool more = true;

	memcpy(t->u, t->known, t->p->n * sizeof(*t->u));
	bound = bound_at(t);
	if (bound > t->enough)
		open_program(t, bound);
	for (turn = 0; turn < MOST_TURNS && more && bound > t->enough; turn++) {
		if (t->worked + t->set.worked > t->work || !mix(t))
			break;
		more = price_smoothly(t, &bound);
	}
	if (t->depth == 0)
		t->root = fmin(t->root, bound);
	if (bound > t->enough)
		round_mixture(t);
	if (more && bound > t->enough)
		return GIVES_UP;
	cell = least_whole(t);
	if (bound <= t->enough || cell == SIZE_MAX) {
		t->most = fmax(t->most, bound);
		return DONE;
	}
	t->branch = gv_xgrow(t->branch, &t->cap_depth, t->depth + 1, sizeof(*t->branch));
	t->branch[t->depth++] = (struct branch){.cell = cell,
	    .lo = t->set.lo[cell],
	    .hi = t->set.hi[cell],
	    .at = floor(t->mean[cell])};
	t->set.lo[cell] = floor(t->mean[cell]) + 1;
	return BRANCHES;
}

/* ---- the tree ---- */

/* To the next node, from one that is done; false: there is none. */
static bool
step_back(struct tree *t)
{
	while (t->depth > 0) {
		struct branch *b = &t->branch[t->depth - 1];

		t->set.lo[b->cell] = b->lo;
		t->set.hi[b->cell] = b->hi;
		if (!b->is_second) {
			b->is_second = true;
			t->set.hi[b->cell] = b->at;
			return true;
		}
		t->depth--;
	}
	return false;
}

static enum visit
search(struct tree *t)
{
	enum visit v;

	do {
		do
			v = visit(t);
		while (v == BRANCHES);
	} while (v == DONE && step_back(t));
	return v;
}

/* Multipliers to begin with: those of the program of n_ij without "whole". */
static void
guess_multipliers(struct tree *t)
{
	const struct gv_problem *p = t->p;
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution sol = {0};
	struct gv_error e = {0};
	size_t i, j, col;

	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&lp, -INFINITY, p->capacity[j]);
	for (i = 0; i < p->n; i++) {
		gv_lp_add_row(&lp, -INFINITY, p->count[i]);
		for (j = 0; j < p->m; j++) {
			if (!(t->set.hi[i * p->m + j] > 0))
				continue;
			col = gv_lp_add_col(&lp, 0, INFINITY, t->set.gain[i * p->m + j]);
			gv_lp_set(&lp, j, col, p->scale[i]);
			gv_lp_set(&lp, p->m + i, col, 1);
		}
	}
	if (gv_lp_solve(&lp, NULL, NULL, &sol, &e) == 0 && sol.status == GV_LP_OPTIMAL)
		for (i = 0; i < p->n; i++)
			t->known[i] = fmax(0, sol.row_dual[p->m + i]);
	t->worked += (double)lp.n_rows * (double)lp.n_cols;
	gv_error_clear(&e);
	gv_lp_solution_free(&sol);
	gv_lp_free(&lp);
}

/* False: knapsacks are too large. */
static bool
tree_open(struct tree *t, const struct gv_problem *p, const double *gain, double unit)
{
	size_t cells = p->n * p->m, i, j;
	bool fits = true;

	t->p = p;
	gv_patterns_init(&t->set, p);
	t->dual = gv_xcalloc(p->m + p->n, sizeof(*t->dual));
	t->u = gv_xcalloc(p->n, sizeof(*t->u));
	t->known = gv_xcalloc(p->n, sizeof(*t->known));
	t->worth = gv_xcalloc(p->m, sizeof(*t->worth));
	t->best = gv_xcalloc(p->m, sizeof(*t->best));
	t->mean = gv_xcalloc(cells, sizeof(*t->mean));
	t->whole = gv_xcalloc(cells, sizeof(*t->whole));
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (gv_problem_rate(p, i, j) > 0 && gain[i * p->m + j] > 0) {
				t->set.gain[i * p->m + j] = gain[i * p->m + j] / unit;
				t->set.hi[i * p->m + j] = fmin(
				    p->count[i], floor(p->capacity[j] / p->scale[i]));
			}
	for (j = 0; j < p->m && fits; j++)
		fits = isfinite(gv_patterns_best(&t->set, j, t->u));
	return fits;
}

static void
tree_close(struct tree *t)
{
	gv_patterns_free(&t->set);
	gv_lp_free(&t->lp);
	gv_lp_basis_free(&t->basis);
	free(t->dual);
	free(t->u);
	free(t->known);
	free(t->worth);
	free(t->best);
	free(t->mean);
	free(t->whole);
	free(t->branch);
}

bool
gv_placement_best(const struct gv_problem *p, const double *gain, double enough,
    double work, double *point, double *most)
{
	struct tree t = {
	    .most = -INFINITY, .root = INFINITY, .work = work, .point = point};
	double unit = 0;
	size_t i;
	bool fits;

	for (i = 0; i < p->n * p->m; i++)
		if (gv_problem_rate(p, i / p->m, i % p->m) > 0)
			unit = fmax(unit, gain[i]);
	*most = 0;
	if (!(unit > 0)) /* nothing is worth anything */
		return true;
	t.enough = enough / unit;
	fits = tree_open(&t, p, gain, unit);
	if (fits) {
		guess_multipliers(&t);
		*most = unit * (search(&t) == DONE ? t.most : t.root);
	}
	tree_close(&t);
	return fits;
}
