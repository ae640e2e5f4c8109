#include "patterns.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "greedy.h"
#include "knapsack.h"
#include "lp/lp.h"

enum { MOST_CELLS = 1 << 24, MOST_TURNS = 1000 };

/* A part of a job that is none, in a mixture. */
static const double whole_within = 1e-7;

struct entry {
	size_t row;
	double jobs;
};

struct pattern {
	size_t type;
	size_t first, n; /* entries */
	double gain;
	size_t col; /* in the program of the node, SIZE_MAX = not there */
};

/* n_ij is branched on: at most at, or more. */
struct branch {
	size_t cell;
	double lo, hi; /* before */
	double at;
	bool is_second;
};

struct tree {
	const struct gv_problem *p;
	double *gain;    /* [n][m], of 1 at most */
	double enough;   /* likewise */
	double *lo, *hi; /* [n][m] of n_ij, at the node */
	size_t n_patterns, cap_patterns, n_entries, cap_entries;
	struct pattern *pattern;
	struct entry *entry;
	struct gv_lp lp; /* of the node; rows: a type's patterns, then classes */
	struct gv_lp_basis basis;
	double *dual;  /* [m + n] of the rows */
	double *known; /* [n] multipliers of the classes, of the best bound so far */
	double *u;     /* [n] likewise, where patterns are priced now */
	double *worth; /* [m] of the best patterns there, */
	size_t *best;  /* [m] and which they are */
	double *mean;  /* [n][m] of the mixture */
	double *jobs;  /* [n] of one pattern */
	struct gv_knapsack knapsack;
	struct gv_knapsack_item *item; /* [n] */
	size_t depth, cap_depth;
	struct branch *branch;
	double most; /* of the nodes that are done */
	double root; /* of all */
	double work, worked;
	double *whole; /* [n][m] */
	double *point; /* the best so far, worth enough */
};

enum visit { DONE, BRANCHES, GIVES_UP };

/* ---- patterns ---- */

/* What of class i may run on j: as many as others do not have for sure. */
static double
may_run(const struct tree *t, size_t i, size_t j)
{
	const double *lo = &t->lo[i * t->p->m];
	double left = t->p->count[i];
	size_t k;

	for (k = 0; k < t->p->m; k++)
		if (k != j)
			left -= lo[k];
	return fmin(left, t->hi[i * t->p->m + j]);
}

/* Whether the node allows for it. */
static bool
is_allowed(struct tree *t, const struct pattern *a)
{
	size_t i, k;
	bool allowed = true;

	memset(t->jobs, 0, t->p->n * sizeof(*t->jobs));
	for (k = a->first; k < a->first + a->n; k++)
		t->jobs[t->entry[k].row] = t->entry[k].jobs;
	for (i = 0; i < t->p->n && allowed; i++)
		allowed = t->jobs[i] >= t->lo[i * t->p->m + a->type] &&
			  t->jobs[i] <= may_run(t, i, a->type);
	return allowed;
}

static bool
has_jobs(const struct tree *t, const struct pattern *a, const double *jobs)
{
	size_t e = a->first, i;

	for (i = 0; i < t->p->n; i++) {
		bool has = e < a->first + a->n && t->entry[e].row == i;

		if (jobs[i] != (has ? t->entry[e].jobs : 0))
			return false;
		e += has;
	}
	return true;
}

/* The type's pattern of these jobs [n], a new one if it is not known. */
static struct pattern *
pattern_of(struct tree *t, size_t type, const double *jobs)
{
	const struct gv_problem *p = t->p;
	struct pattern a = {.type = type, .first = t->n_entries, .col = SIZE_MAX};
	size_t i, k;

	for (k = 0; k < t->n_patterns; k++)
		if (t->pattern[k].type == type && has_jobs(t, &t->pattern[k], jobs))
			return &t->pattern[k];
	for (i = 0; i < p->n; i++) {
		if (jobs[i] == 0)
			continue;
		t->entry = gv_xgrow(
		    t->entry, &t->cap_entries, t->n_entries + 1, sizeof(*t->entry));
		t->entry[t->n_entries++] = (struct entry){i, jobs[i]};
		a.n++;
		a.gain += jobs[i] * t->gain[i * p->m + type];
	}
	t->pattern = gv_xgrow(
	    t->pattern, &t->cap_patterns, t->n_patterns + 1, sizeof(*t->pattern));
	t->pattern[t->n_patterns] = a;
	return &t->pattern[t->n_patterns++];
}

/* A column of the pattern, if it has none; whether it had none. */
static bool
add_column(struct tree *t, struct pattern *a)
{
	size_t k;

	if (a->col != SIZE_MAX)
		return false;
	a->col = gv_lp_add_col(&t->lp, 0, INFINITY, a->gain);
	gv_lp_set(&t->lp, a->type, a->col, 1);
	for (k = a->first; k < a->first + a->n; k++)
		gv_lp_set(&t->lp, t->p->m + t->entry[k].row, a->col, t->entry[k].jobs);
	return true;
}

/* What it gains more than the multipliers of its jobs [n]. */
static double
gain_above(const struct tree *t, const struct pattern *a, const double *multiplier)
{
	double sum = a->gain;
	size_t k;

	for (k = a->first; k < a->first + a->n; k++)
		sum -= t->entry[k].jobs * multiplier[t->entry[k].row];
	return sum;
}

/*
 * The best pattern of a type that the node allows for, into jobs, where a job of class i gains
 * gain_ij - u_i: what it gains so, INFINITY where its knapsack is too large, -INFINITY where none fits.
 */
static double
best_pattern(struct tree *t, size_t j)
{
	const struct gv_problem *p = t->p;
	double gpus = floor(p->capacity[j]), sum = 0, worth;
	size_t i, n = 0;

	for (i = 0; i < p->n; i++) {
		size_t at = i * p->m + j;
		double each = t->gain[at] - t->u[i], more;

		t->jobs[i] = t->lo[at];
		gpus -= t->lo[at] * p->scale[i];
		sum += t->lo[at] * each;
		more = may_run(t, i, j) - t->lo[at];
		if (more > 0 && each > 0)
			t->item[n++] = (struct gv_knapsack_item){
			    .id = i, .gang = p->scale[i], .jobs = more, .worth = each};
	}
	if (gpus < 0)
		return -INFINITY;
	if (!gv_knapsack_fill(&t->knapsack, t->item, n, gpus, MOST_CELLS, &worth))
		return INFINITY;
	t->worked += (double)(t->knapsack.n_one + 1) * (gpus + 1);
	for (i = 0; i < n; i++)
		t->jobs[t->item[i].id] += t->item[i].taken;
	return sum + worth;
}

/* ---- a node ---- */

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
		t->worth[j] = best_pattern(t, j);
		if (t->worth[j] == -INFINITY)
			return -INFINITY;
		t->best[j] = (size_t)(pattern_of(t, j, t->jobs) - t->pattern);
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
	for (k = 0; k < t->n_patterns; k++)
		t->pattern[k].col = SIZE_MAX;
	for (j = 0; j < p->m; j++) { /* so that there is a solution */
		for (i = 0; i < p->n; i++)
			t->jobs[i] = t->lo[i * p->m + j];
		add_column(t, pattern_of(t, j, t->jobs));
	}
	for (k = 0; k < t->n_patterns; k++) {
		struct pattern *a = &t->pattern[k];

		if (bound - t->worth[a->type] + gain_above(t, a, t->u) > t->enough &&
		    is_allowed(t, a))
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
		for (k = 0; k < t->n_patterns; k++) {
			const struct pattern *a = &t->pattern[k];
			double x = a->col != SIZE_MAX ? sol.x[a->col] : 0;

			for (c = a->first; c < a->first + a->n && x > 0; c++)
				t->mean[t->entry[c].row * p->m + a->type] +=
				    x * t->entry[c].jobs;
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
		struct pattern *a = &t->pattern[t->best[j]];

		if (gain_above(t, a, &t->dual[t->p->m]) > t->dual[j] + DBL_EPSILON)
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
	gv_greedy_improve(t->p, t->gain, t->whole);
	for (i = 0; i < cells; i++)
		sum += t->whole[i] * t->gain[i];
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
		if (t->worked > t->work || !mix(t))
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
	    .lo = t->lo[cell],
	    .hi = t->hi[cell],
	    .at = floor(t->mean[cell])};
	t->lo[cell] = floor(t->mean[cell]) + 1;
	return BRANCHES;
}

/* ---- the tree ---- */

/* To the next node, from one that is done; false: there is none. */
static bool
step_back(struct tree *t)
{
	while (t->depth > 0) {
		struct branch *b = &t->branch[t->depth - 1];

		t->lo[b->cell] = b->lo;
		t->hi[b->cell] = b->hi;
		if (!b->is_second) {
			b->is_second = true;
			t->hi[b->cell] = b->at;
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
			if (!(t->hi[i * p->m + j] > 0))
				continue;
			col = gv_lp_add_col(&lp, 0, INFINITY, t->gain[i * p->m + j]);
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
	t->gain = gv_xcalloc(cells, sizeof(*t->gain));
	t->lo = gv_xcalloc(cells, sizeof(*t->lo));
	t->hi = gv_xcalloc(cells, sizeof(*t->hi));
	t->dual = gv_xcalloc(p->m + p->n, sizeof(*t->dual));
	t->u = gv_xcalloc(p->n, sizeof(*t->u));
	t->known = gv_xcalloc(p->n, sizeof(*t->known));
	t->worth = gv_xcalloc(p->m, sizeof(*t->worth));
	t->best = gv_xcalloc(p->m, sizeof(*t->best));
	t->mean = gv_xcalloc(cells, sizeof(*t->mean));
	t->whole = gv_xcalloc(cells, sizeof(*t->whole));
	t->jobs = gv_xcalloc(p->n, sizeof(*t->jobs));
	t->item = gv_xcalloc(p->n, sizeof(*t->item));
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (gv_problem_rate(p, i, j) > 0 && gain[i * p->m + j] > 0) {
				t->gain[i * p->m + j] = gain[i * p->m + j] / unit;
				t->hi[i * p->m + j] = fmin(
				    p->count[i], floor(p->capacity[j] / p->scale[i]));
			}
	for (j = 0; j < p->m && fits; j++)
		fits = isfinite(best_pattern(t, j));
	return fits;
}

static void
tree_close(struct tree *t)
{
	free(t->gain);
	free(t->lo);
	free(t->hi);
	free(t->pattern);
	free(t->entry);
	gv_lp_free(&t->lp);
	gv_lp_basis_free(&t->basis);
	free(t->dual);
	free(t->u);
	free(t->known);
	free(t->worth);
	free(t->best);
	free(t->mean);
	free(t->whole);
	free(t->jobs);
	gv_knapsack_free(&t->knapsack);
	free(t->item);
	free(t->branch);
}

bool
gv_patterns_best(const struct gv_problem *p, const double *gain, double enough,
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
