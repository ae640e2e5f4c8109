/* The one file that knows GLPK: a program in its words, and one attempt to solve it. */
#include <glpk.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "attempt.h"
#include "base/mem.h"
#include "lp/tolerance.h"

_Static_assert(GV_LP_BASIC == GLP_BS, "a basis is in GLPK's words");

/* The entries as GLPK takes them, from 1, but for those that have become 0. */
struct triplets {
	int n;
	int *row, *col;
	double *value;
};

/* ---- to GLPK ---- */

static int
bound_type(double lo, double hi)
{
	if (isfinite(lo) && isfinite(hi))
		return lo == hi ? GLP_FX : GLP_DB;
	return isfinite(lo) ? GLP_LO : isfinite(hi) ? GLP_UP : GLP_FR;
}

static void
triplets_make(struct triplets *t, const struct gv_lp *lp)
{
	size_t i;

	t->row = gv_xcalloc(lp->n_entries + 1, sizeof(*t->row));
	t->col = gv_xcalloc(lp->n_entries + 1, sizeof(*t->col));
	t->value = gv_xcalloc(lp->n_entries + 1, sizeof(*t->value));
	t->n = 0;
	for (i = 0; i < lp->n_entries; i++) {
		if (lp->entry[i].value == 0)
			continue;
		t->n++;
		t->row[t->n] = (int)lp->entry[i].row + 1;
		t->col[t->n] = (int)lp->entry[i].col + 1;
		t->value[t->n] = lp->entry[i].value;
	}
}

static void
triplets_free(struct triplets *t)
{
	free(t->row);
	free(t->col);
	free(t->value);
}

static glp_prob *
make_problem(const struct gv_lp *lp, const struct triplets *t)
{
	glp_prob *p = glp_create_prob();
	int i;

	glp_set_obj_dir(p, lp->maximise ? GLP_MAX : GLP_MIN);
	if (lp->n_rows > 0)
		glp_add_rows(p, (int)lp->n_rows);
	if (lp->n_cols > 0)
		glp_add_cols(p, (int)lp->n_cols);
	for (i = 0; i < (int)lp->n_rows; i++)
		glp_set_row_bnds(p, i + 1, bound_type(lp->row_lo[i], lp->row_hi[i]),
		    lp->row_lo[i], lp->row_hi[i]);
	for (i = 0; i < (int)lp->n_cols; i++) {
		glp_set_col_bnds(p, i + 1, bound_type(lp->col_lo[i], lp->col_hi[i]),
		    lp->col_lo[i], lp->col_hi[i]);
		glp_set_obj_coef(p, i + 1, lp->cost[i]);
		if (lp->integer[i])
			glp_set_col_kind(p, i + 1, GLP_IV);
	}
	glp_load_matrix(p, t->n, t->row, t->col, t->value);
	return p;
}

static void
set_basis(glp_prob *p, const struct gv_lp_basis *b)
{
	int i;

	glp_std_basis(p); /* what the basis does not know yet */
	for (i = 0; i < (int)b->n_rows && i < glp_get_num_rows(p); i++)
		glp_set_row_stat(p, i + 1, b->row[i]);
	for (i = 0; i < (int)b->n_cols && i < glp_get_num_cols(p); i++)
		glp_set_col_stat(p, i + 1, b->col[i]);
}

static void
get_basis(glp_prob *p, struct gv_lp_basis *b)
{
	size_t i;

	b->n_rows = (size_t)glp_get_num_rows(p);
	b->n_cols = (size_t)glp_get_num_cols(p);
	b->row = gv_xrealloc(b->row, b->n_rows, 1);
	b->col = gv_xrealloc(b->col, b->n_cols, 1);
	for (i = 0; i < b->n_rows; i++)
		b->row[i] = (signed char)glp_get_row_stat(p, (int)i + 1);
	for (i = 0; i < b->n_cols; i++)
		b->col[i] = (signed char)glp_get_col_stat(p, (int)i + 1);
}

/* ---- one attempt ---- */

/* All that an attempt works on; lives outside of the frame that longjmp leaves. */
struct attempt {
	struct gv_lp_attempt *of;
	const struct gv_lp *lp;
	const struct gv_lp_options *opt;
	struct gv_lp_solution *s;
	struct triplets triplets;
	double *multipliers; /* [n_rows + 1], from 1 */
	double tm_limit_ms;
	jmp_buf aborted;
};

static void
on_abort(void *info)
{
	struct attempt *a = info;

	longjmp(a->aborted, 1);
}

/*
 * GLPK says why it gives up by printing, to stdout; this takes the text instead.
 * Another attempt after a lack of memory could answer with other last digits.
 */
static int
on_text(void *info, const char *text)
{
	struct attempt *a = info;

	if (strstr(text, "no memory available") != NULL)
		a->of->out_of_memory = true;
	return 1;
}

static enum gv_lp_status
status_of(int rc, int status)
{
	switch (rc) {
	case 0:
		break;
	case GLP_EITLIM:
	case GLP_ETMLIM:
	case GLP_ESTOP:
		return GV_LP_LIMIT;
	case GLP_ENOPFS:
		return GV_LP_INFEASIBLE;
	case GLP_ENODFS:
		return GV_LP_UNBOUNDED; /* every use here has a feasible point then */
	default:
		return GV_LP_FAILED;
	}
	switch (status) {
	case GLP_OPT:
		return GV_LP_OPTIMAL;
	case GLP_NOFEAS:
		return GV_LP_INFEASIBLE;
	case GLP_UNBND:
		return GV_LP_UNBOUNDED;
	default:
		return GV_LP_FAILED;
	}
}

static void
set_options(glp_smcp *parm, const struct attempt *a)
{
	double iterations = a->opt->max_iterations > 0
				? (double)a->opt->max_iterations
				: 50.0 * (double)(a->lp->n_rows + a->lp->n_cols) + 10000;

	if (a->opt->tight > 0) /* near its end, or it cycles */
		iterations = fmin(iterations,
		    (a->of->number == 0 ? 500 : 5000) + (double)a->lp->n_rows);
	glp_init_smcp(parm);
	parm->msg_lev = GLP_MSG_OFF;
	parm->tol_bnd = parm->tol_dj = GV_TOL_SIMPLEX;
	parm->it_lim = iterations < 2e9 ? (int)iterations : 2000000000;
	if (a->tm_limit_ms > 0)
		parm->tm_lim = a->tm_limit_ms < 2e9 ? (int)a->tm_limit_ms : 2000000000;
	parm->meth = a->of->number == 2 ? GLP_DUAL : GLP_PRIMAL;
}

static void
take_solution(glp_prob *p, struct attempt *a)
{
	struct gv_lp_solution *s = a->s;
	size_t i;

	for (i = 0; i < a->lp->n_cols; i++)
		s->x[i] = glp_get_col_prim(p, (int)i + 1);
	for (i = 0; i < a->lp->n_rows; i++)
		s->row_dual[i] = glp_get_row_dual(p, (int)i + 1);
	gv_lp_check(a->lp, s->x, isinf(a->opt->gap) ? NULL : s->row_dual, &s->check);
	if (a->of->basis != NULL)
		get_basis(p, a->of->basis);
}

/*
 * Reduced costs below the tolerance add up where columns are many: some steps more, until none of
 * a thousandth of it is left.
 */
static void
sharpen(glp_prob *p, const glp_smcp *parm, struct attempt *a)
{
	double enough = a->opt->gap > 0 ? a->opt->gap : GV_TOL_SIMPLEX;
	glp_smcp fine = *parm;

	if (!(a->s->check.gap > enough) || isinf(a->s->check.gap))
		return;
	fine.meth = GLP_PRIMAL;
	fine.tol_dj = GV_TOL_SHARPEN;
	fine.it_lim = 1000 + glp_get_num_rows(p);
	if (glp_simplex(p, &fine) == 0 && glp_get_status(p) == GLP_OPT)
		take_solution(p, a);
}

/*
 * Lets GLPK's rational simplex method start at the basis found.  It takes each
 * coefficient as a fraction within 1e-10 of it, so its optimum may differ by as
 * much; the solution kept is the one of the given numbers.
 */
static void
prove(glp_prob *p, const glp_smcp *parm, struct gv_lp_solution *s)
{
	int rc = glp_exact(p, parm);

	s->exact = rc == 0 && glp_get_status(p) == GLP_OPT &&
		   fabs(glp_get_obj_val(p) - s->check.objective) <=
		       10 * GV_TOL_SIMPLEX * fmax(1, fabs(s->check.objective));
}

/* Ends the search where it has done enough. */
static void
on_node(glp_tree *tree, void *info)
{
	struct attempt *a = info;
	int reason = glp_ios_reason(tree);

	a->of->nodes += reason == GLP_ISELECT;
	if ((a->opt->max_nodes > 0 && a->of->nodes > a->opt->max_nodes) ||
	    (a->opt->first && reason == GLP_IBINGO))
		glp_ios_terminate(tree);
}

static void
branch_and_cut(glp_prob *p, struct attempt *a)
{
	struct gv_lp_solution *s = a->s;
	glp_iocp parm;
	size_t i;
	int rc;

	glp_init_iocp(&parm);
	parm.msg_lev = GLP_MSG_OFF;
	parm.tol_obj = GV_TOL_SIMPLEX;
	parm.cb_func = on_node;
	parm.cb_info = a;
	if (a->tm_limit_ms > 0)
		parm.tm_lim = a->tm_limit_ms < 2e9 ? (int)a->tm_limit_ms : 2000000000;
	rc = glp_intopt(p, &parm);
	s->status = status_of(rc, glp_mip_status(p));
	a->of->none_whole = s->status == GV_LP_INFEASIBLE;
	if (glp_mip_status(p) != GLP_OPT && glp_mip_status(p) != GLP_FEAS)
		return;
	for (i = 0; i < a->lp->n_cols; i++) {
		s->x[i] = glp_mip_col_val(p, (int)i + 1);
		if (a->lp->integer[i])
			s->x[i] = round(s->x[i]);
	}
	gv_lp_check(a->lp, s->x, NULL, &s->check);
}

/*
 * The ratio test lets basic variables be beyond their bounds by its tolerance: dual steps bring
 * them back, or say that there is nothing within the bounds.  What takes long may be of
 * rounding; then it is as it was.
 */
static int
tighten(glp_prob *p, const glp_smcp *parm, double tight)
{
	glp_smcp dual = *parm;
	int rc;

	dual.meth = GLP_DUAL;
	dual.tol_bnd = tight;
	dual.it_lim = 100;
	rc = glp_simplex(p, &dual);
	return rc == GLP_EITLIM ? glp_simplex(p, parm) : rc;
}

/* What a basic variable's bounds ask it to do: -1 to fall, 1 to rise. */
static int
beyond(double value, double lo, double hi)
{
	if (value > hi + GV_TOL_SIMPLEX * fmax(1, fabs(hi)))
		return -1;
	return value < lo - GV_TOL_SIMPLEX * fmax(1, fabs(lo)) ? 1 : 0;
}

/* What rounding has left of multipliers, in units of their rows, is none. */
static void
drop_dust(const struct gv_lp *lp, double *y)
{
	double *largest = gv_xcalloc(lp->n_rows, sizeof(*largest)), most = 0;
	size_t i;

	for (i = 0; i < lp->n_entries; i++)
		largest[lp->entry[i].row] =
		    fmax(largest[lp->entry[i].row], fabs(lp->entry[i].value));
	for (i = 0; i < lp->n_rows; i++)
		most = fmax(most, fabs(y[i]) * largest[i]);
	for (i = 0; i < lp->n_rows; i++)
		if (fabs(y[i]) * largest[i] < GV_TOL_CANCELLED * most)
			y[i] = 0;
	free(largest);
}

/*
 * The multipliers of the rows at the end of the first phase, where what basic variables are
 * beyond their bounds sums to the least: B'y = that sum's costs.
 */
static void
take_contradiction(glp_prob *p, struct attempt *a)
{
	int m = glp_get_num_rows(p), i, k;
	double *y = a->multipliers;

	if (m == 0 || (!glp_bf_exists(p) && glp_factorize(p) != 0))
		return;
	for (i = 1; i <= m; i++) {
		k = glp_get_bhead(p, i);
		y[i] =
		    -(k <= m ? beyond(glp_get_row_prim(p, k), glp_get_row_lb(p, k),
				   glp_get_row_ub(p, k))
			     : beyond(glp_get_col_prim(p, k - m),
				   glp_get_col_lb(p, k - m), glp_get_col_ub(p, k - m)));
	}
	glp_btran(p, y);
	for (i = 0; i < m; i++)
		a->s->row_dual[i] = y[i + 1];
	drop_dust(a->lp, a->s->row_dual);
}

static void
attempt_inside(struct attempt *a)
{
	glp_prob *p = make_problem(a->lp, &a->triplets);
	glp_smcp parm;
	int rc;

	set_options(&parm, a);
	if (a->of->number > 0)
		glp_scale_prob(p, GLP_SF_AUTO);
	if (a->of->number == 0 && a->of->basis != NULL && a->of->basis->row != NULL)
		set_basis(p, a->of->basis);
	else if (a->of->number == 0)
		glp_adv_basis(p, 0);
	else
		glp_std_basis(p);
	rc = glp_simplex(p, &parm);
	if (rc == 0 && glp_get_status(p) == GLP_OPT && a->opt->tight > 0)
		rc = tighten(p, &parm, a->opt->tight);
	a->s->status = status_of(rc, glp_get_status(p));
	if (a->s->status == GV_LP_OPTIMAL && a->lp->has_integer) {
		branch_and_cut(p, a);
	} else if (a->s->status == GV_LP_OPTIMAL) {
		take_solution(p, a);
		sharpen(p, &parm, a);
		if (a->opt->exact)
			prove(p, &parm, a->s);
	} else if (a->s->status == GV_LP_INFEASIBLE) {
		take_contradiction(p, a);
	}
	glp_delete_prob(p);
}

/*
 * GLPK reports what it holds for impossible by calling the hook, after which it
 * must not be used until its environment, with all its memory, is freed.
 */
static void
in_environment(struct attempt *a)
{
	a->s->status = GV_LP_FAILED;
	if (glp_init_env() > 1) {
		a->of->out_of_memory = true;
		return;
	}
	glp_term_hook(on_text, a);
	if (glp_init_env() >
	    1) { /* out of memory; without this call GLPK would end the process */
		a->s->status = GV_LP_FAILED;
		return;
	}
	glp_term_out(GLP_OFF);
	if (setjmp(a->aborted) == 0) {
		glp_error_hook(on_abort, a);
		attempt_inside(a);
	} else {
		a->s->status = GV_LP_FAILED;
	}
	glp_free_env();
}

void
gv_lp_attempt(struct gv_lp_attempt *of)
{
	struct attempt a = {.of = of, .lp = of->lp, .opt = of->opt, .s = of->s};
	size_t i;

	of->none_whole = false;
	a.tm_limit_ms = a.opt->time_limit_s > 0 ? fmax(1, a.opt->time_limit_s * 1000) : 0;
	for (i = 0; i < a.lp->n_rows; i++)
		a.s->row_dual[i] = 0;
	triplets_make(&a.triplets, a.lp);
	a.multipliers = gv_xcalloc(a.lp->n_rows + 1, sizeof(*a.multipliers));
	in_environment(&a);
	triplets_free(&a.triplets);
	free(a.multipliers);
}
