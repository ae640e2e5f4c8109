/* Drawn linear programs: what is checked, proved, written and solved in many digits is what it was. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "draws.h"
#include "lp/lp.h"
#include "lp/precise.h"
#include "lp/rise.h"
#include "lp/tableau.h"
#include "recorded_frame.h"

enum { MOST = 10 };

enum numbers { WHOLE, SMALL, ANY, FAR, NUMBERS };

static struct gv_error e;

static double
draw_number(enum numbers kind)
{
	double u = uniform(), sign = below(3) == 0 ? -1 : 1;
	size_t size = below(13);

	switch (kind) {
	case WHOLE:
		return sign * floor(4 * u);
	case SMALL:
		return floor(8 * u) / 8;
	case ANY:
		return sign * u;
	default:
		return sign * floor(1 + 9 * u) *
		       (size < 6 ? 1 / (double)((int64_t)1 << 3 * (6 - size))
				 : (double)((int64_t)1 << 3 * (size - 6)));
	}
}

static void
draw_bounds(double *lo, double *hi, enum numbers kind)
{
	/* no -0: which of 0 and -0 is less is the library's choice */
	double a = draw_number(kind) + 0.0, b = draw_number(kind) + 0.0;
	size_t how = below(6);

	*lo = how == 0 || how == 1 ? -INFINITY : fmin(a, b);
	*hi = how == 0 || how == 2 ? INFINITY : how == 3 ? *lo : fmax(a, b);
}

/* simple: columns are all >= 0, as programs of many digits have them. */
static void
draw_program(struct gv_lp *lp, bool simple)
{
	enum numbers kind = (enum numbers)below(NUMBERS);
	size_t rows = below(8), cols = 1 + below(8), density = 3 + below(8), i, j;
	bool whole = !simple && below(5) == 0, mild = below(2) == 0;
	double lo = 0, hi = INFINITY;

	*lp = (struct gv_lp){.maximise = below(2) == 0};
	for (i = 0; i < rows; i++) {
		draw_bounds(&lo, &hi, kind);
		if (mild) { /* 0 is a solution */
			lo = lo > 0 ? -INFINITY : lo;
			hi = hi < 0 ? INFINITY : hi;
		}
		gv_lp_add_row(lp, lo, hi);
	}
	for (j = 0; j < cols; j++) {
		double cost = below(4) == 0 ? 0 : draw_number(kind);

		lo = 0;
		hi = INFINITY;
		if (!simple && below(3) > 0)
			draw_bounds(&lo, &hi, kind);
		gv_lp_add_col(lp, lo, hi, cost);
		if (whole && below(2) == 0)
			gv_lp_set_integer(lp, j);
	}
	for (i = 0; i < rows; i++)
		for (j = 0; j < cols; j++)
			if (below(10) < density)
				gv_lp_set(lp, i, j, draw_number(kind));
}

static void
recorded_check(struct recorded *r, const struct gv_lp_check *c)
{
	recorded_double(r, c->objective);
	recorded_double(r, c->infeasibility);
	recorded_double(r, c->bound);
	recorded_double(r, c->gap);
}

/* ---- what is claimed ---- */

static void
ask_check(struct recorded *r)
{
	struct gv_lp lp;
	struct gv_lp_check c;
	double x[MOST], y[MOST];
	size_t i, how;

	draw_program(&lp, below(2) == 0);
	for (how = 0; how < 4; how++) {
		for (i = 0; i < lp.n_cols; i++)
			x[i] = how == 0 ? 0 : draw_number((enum numbers)(how - 1));
		for (i = 0; i < lp.n_rows; i++)
			y[i] = below(10) == 0 ? 0 : draw_number((enum numbers)how);
		if (how == 3 && below(4) == 0 && lp.n_rows > 0)
			y[0] = NAN;
		if (how == 3 && below(4) == 0)
			x[0] = below(2) == 0 ? NAN : INFINITY;
		gv_lp_check(&lp, x, how == 2 ? NULL : y, &c);
		recorded_check(r, &c);
		recorded_whole(r, gv_lp_check_infeasible(&lp, y));
	}
	gv_lp_free(&lp);
}

static void
name_row(void *ctx, size_t i, char buf[GV_LP_NAME_LEN])
{
	snprintf(buf, GV_LP_NAME_LEN, "%s_%zu", (const char *)ctx, i);
}

static void
ask_written(struct recorded *r)
{
	static const char *const head[] = {NULL, "", "one", "one\ntwo", "one\n\nthree\n"};
	static char ours[] = "of_ours";
	struct gv_strbuf s = {0};
	struct gv_out *out = gv_out_memory(&s);
	struct gv_lp_names names = {.head = head[below(5)]};
	struct gv_lp lp;
	size_t how = below(4);

	draw_program(&lp, false);
	if (how == 0)
		names.row = name_row;
	if (how == 1)
		names.col = name_row;
	names.ctx = ours;
	gv_lp_write(&lp, how == 3 ? NULL : &names, out);
	recorded_whole(r, gv_out_close(out, &e));
	recorded_text(r, s.s);
	gv_strbuf_free(&s);
	gv_lp_free(&lp);
}

/* ---- in many digits ---- */

/* The way that the tableau went: which rows and columns there are in the end. */
static void
ask_tableau(struct recorded *r, const struct gv_lp *lp, const double *second)
{
	struct gv_tableau t;
	enum gv_lp_status status;
	size_t i;

	if (!gv_tableau_make(&t, lp, second, 0)) {
		recorded_whole(r, -1);
		return;
	}
	status = gv_tableau_find(&t);
	recorded_whole(r, status);
	recorded_whole(r, (long long)t.pivots);
	if (status == GV_LP_OPTIMAL)
		recorded_whole(r, gv_tableau_climb(&t, GV_FIRST));
	recorded_whole(r, (long long)t.pivots);
	for (i = 0; i < t.m; i++) {
		recorded_whole(r, (long long)t.basic[i]);
		recorded_double(r, gv_tableau_double(&t, *gv_tableau_right(&t, i)));
	}
	for (i = 0; i < t.n; i++) {
		recorded_whole(r, (long long)t.other[i]);
		recorded_whole(r, t.stays[i]);
	}
	gv_tableau_free(&t);
}

/* Solved twice: what is best by GLPK is best in many digits, too. */
static size_t
ask_precise(struct recorded *r)
{
	struct gv_lp lp;
	struct gv_lp_solution s, other;
	double second[MOST];
	size_t i, how = below(3), wrong = 0;

	draw_program(&lp, true);
	for (i = 0; i < lp.n_cols; i++)
		second[i] = how == 1 ? draw_number(WHOLE) : 1;
	if (below(30) == 0)
		second[0] = INFINITY;
	if (below(30) == 0)
		lp.cost[0] = NAN;
	if (below(30) == 0 && lp.n_entries > 0)
		lp.entry[0].value = INFINITY;
	if (below(30) == 0 && lp.n_rows > 0)
		lp.row_lo[0] = NAN;
	gv_lp_precisely(&lp, how == 0 ? NULL : second, &s);
	recorded_whole(r, s.status);
	if (s.status == GV_LP_OPTIMAL) {
		recorded_doubles(r, s.x, lp.n_cols);
		recorded_doubles(r, s.row_dual, lp.n_rows);
		recorded_check(r, &s.check);
	}
	ask_tableau(r, &lp, how == 0 ? NULL : second);
	gv_error_clear(&e);
	if (s.status != GV_LP_FAILED && gv_lp_solve(&lp, NULL, NULL, &other, &e) == 0) {
		wrong += s.status == GV_LP_OPTIMAL && other.status == GV_LP_OPTIMAL &&
			 fabs(s.check.objective - other.check.objective) >
			     1e-7 * fmax(1, fabs(s.check.objective));
		gv_lp_solution_free(&other);
	}
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
	return wrong;
}

/* Who does what at the most, or the least: bases that are many for one solution. */
static void
ask_assignment(struct recorded *r)
{
	struct gv_lp lp = {.maximise = below(3) > 0};
	size_t n = 3 + below(5), costs = 1 + below(4), i, j;
	double limit = below(2) == 0 ? 0 : 1;

	for (i = 0; i < 2 * n; i++)
		gv_lp_add_row(
		    &lp, lp.maximise ? -INFINITY : limit, lp.maximise ? limit : INFINITY);
	gv_lp_add_row(&lp, -INFINITY, (double)n / 2);
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++) {
			gv_lp_add_col(&lp, 0, INFINITY, (double)below(costs + 1));
			gv_lp_set(&lp, i, i * n + j, 1);
			gv_lp_set(&lp, n + j, i * n + j, below(4) == 0 ? 2 : 1);
			gv_lp_set(&lp, 2 * n, i * n + j, 1);
		}
	ask_tableau(r, &lp, NULL);
	gv_lp_free(&lp);
}

/* Rows that rise, one or several at a time, as far as is asked or as they can. */
static void
ask_rise(struct recorded *r)
{
	static const double far[] = {INFINITY, INFINITY, 1e-3, .25, 1};
	struct gv_lp lp;
	struct gv_rise *w;
	double by[MOST], dual[MOST], x[MOST], t = 0;
	size_t steps = 1 + below(5), i, k;
	bool blocked = false;

	draw_program(&lp, true);
	for (i = 0; i < lp.n_cols; i++)
		lp.cost[i] = 0;
	for (i = 0; i < lp.n_rows; i++)
		if (isfinite(lp.row_lo[i]))
			lp.row_hi[i] = INFINITY;
	w = gv_rise_make(&lp, steps);
	recorded_whole(r, w != NULL);
	for (k = 0; w != NULL && k <= steps; k++) {
		double some = 0, most = far[below(5)];
		bool can;

		for (i = 0; i < lp.n_rows; i++) {
			by[i] = isfinite(lp.row_lo[i]) && below(2) == 0
				    ? 1 + (double)below(3)
				    : 0;
			some += by[i];
		}
		if (some == 0)
			continue;
		can = gv_rise_by(w, by, most, &t, &blocked, dual);
		recorded_whole(r, can);
		if (!can)
			break;
		recorded_double(r, t);
		recorded_whole(r, blocked);
		recorded_doubles(r, dual, lp.n_rows);
		gv_rise_solution(w, x);
		recorded_doubles(r, x, lp.n_cols);
	}
	gv_rise_free(w);
	gv_lp_free(&lp);
}

/* ---- by GLPK ---- */

/* What is wrong with a program is said. */
static void
spoil(struct gv_lp *lp)
{
	size_t how = below(8);

	if (how == 0)
		lp->col_lo[0] = NAN;
	else if (how == 1)
		lp->col_hi[0] = -INFINITY;
	else if (how == 2)
		lp->cost[lp->n_cols - 1] = INFINITY;
	else if (how == 3 && lp->n_rows > 0)
		lp->row_lo[lp->n_rows - 1] = INFINITY;
	else if (how == 4 && lp->n_rows > 0)
		lp->row_hi[0] = lp->row_lo[0] - 1;
	else if (how == 5 && lp->n_entries > 0)
		lp->entry[0].value = NAN;
	else if (how == 6 && lp->n_entries > 0)
		lp->entry[lp->n_entries - 1].row = lp->n_rows;
	else if (how == 7 && lp->n_entries > 0)
		lp->entry[lp->n_entries / 2].col = lp->n_cols;
}

static size_t
ask_solved(struct recorded *r, bool spoilt)
{
	struct gv_lp lp;
	struct gv_lp_options o = {.exact = below(4) == 0};
	struct gv_lp_basis basis = {0};
	struct gv_lp_solution s;
	size_t wrong = 0, turn;

	draw_program(&lp, false);
	if (spoilt)
		spoil(&lp);
	for (turn = 0; turn < 2; turn++) {
		gv_error_clear(&e);
		recorded_whole(r, gv_lp_solve(&lp, &o, &basis, &s, &e));
		recorded_error(r, &e);
		recorded_whole(r, s.status);
		recorded_text(r, gv_lp_status_name(s.status));
		if (s.status == GV_LP_OPTIMAL) {
			recorded_rounded(r, s.check.objective, 7);
			recorded_whole(r, s.exact);
			wrong += s.check.infeasibility > 1e-8;
			wrong += !lp.has_integer && s.check.gap > 1e-8;
		}
		gv_lp_solution_free(&s);
	}
	gv_lp_basis_free(&basis);
	gv_lp_free(&lp);
	return wrong;
}

int
main(void)
{
	struct recorded r;
	size_t turn, i, wrong = 0;

	recorded_open(&r);
	for (turn = 0; turn < 50; turn++) {
		draws_begin(75, 0, (uint32_t)turn);
		for (i = 0; i < 30; i++)
			ask_check(&r);
		recorded_answer(&r, "checks %zu", turn);
		for (i = 0; i < 15; i++)
			ask_written(&r);
		recorded_answer(&r, "written %zu", turn);
		for (i = 0; i < 30; i++)
			wrong += ask_precise(&r);
		recorded_answer(&r, "many digits %zu", turn);
		for (i = 0; i < 4; i++)
			ask_assignment(&r);
		recorded_answer(&r, "assignments %zu", turn);
		for (i = 0; i < 30; i++)
			ask_rise(&r);
		recorded_answer(&r, "rising %zu", turn);
		for (i = 0; i < 30; i++)
			wrong += ask_solved(&r, i % 6 == 0);
		recorded_answer(&r, "solved %zu", turn);
	}
	is_int(wrong, 0, "what is best is feasible and has a bound that says so");
	recorded_close(&r);
	return done_testing();
}
