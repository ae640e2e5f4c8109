/* The one file that knows GLPK. */
#include <glpk.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/lp.h"
#include "lp/tolerance.h"

enum { MAX_DIM = 100000000, MAX_ENTRIES = 500000000 }; /* GLPK's M_MAX, N_MAX, NNZ_MAX */

_Static_assert(GV_LP_BASIC == GLP_BS, "a basis is in GLPK's words");

/* ---- is it a program at all ---- */

static int
check_bounds(const char *what, size_t i, double lo, double hi, struct gv_error *e)
{
	if (isnan(lo) || isnan(hi) || lo > hi || lo == INFINITY || hi == -INFINITY)
		return gv_error_set(e, "linear program: %s %zu: impossible bounds %g, %g",
		    what, i + 1, lo, hi);
	return 0;
}

static int
check_program(const struct gv_lp *lp, struct gv_error *e)
{
	size_t i;

	if (lp->n_rows > MAX_DIM || lp->n_cols > MAX_DIM || lp->n_entries > MAX_ENTRIES)
		return gv_error_set(e,
		    "linear program: too large for GLPK: %zu rows, %zu columns, %zu "
		    "entries",
		    lp->n_rows, lp->n_cols, lp->n_entries);
	for (i = 0; i < lp->n_rows; i++)
		if (check_bounds("row", i, lp->row_lo[i], lp->row_hi[i], e) != 0)
			return -1;
	for (i = 0; i < lp->n_cols; i++) {
		if (check_bounds("column", i, lp->col_lo[i], lp->col_hi[i], e) != 0)
			return -1;
		if (!isfinite(lp->cost[i]))
			return gv_error_set(
			    e, "linear program: column %zu: cost is not finite", i + 1);
	}
	for (i = 0; i < lp->n_entries; i++) {
		const struct gv_lp_entry *a = &lp->entry[i];

		if (a->row >= lp->n_rows || a->col >= lp->n_cols || !isfinite(a->value))
			return gv_error_set(e,
			    "linear program: entry %zu: row %zu, column %zu, value %g",
			    i + 1, a->row + 1, a->col + 1, a->value);
	}
	return 0;
}

/* ---- to GLPK ---- */

static int
bound_type(double lo, double hi)
{
	if (isfinite(lo) && isfinite(hi))
		return lo == hi ? GLP_FX : GLP_DB;
	return isfinite(lo) ? GLP_LO : isfinite(hi) ? GLP_UP : GLP_FR;
}

/* The entries as GLPK takes them, from 1, but for those that have become 0. */
struct triplets {
	int n;
	int *row, *col;
	double *value;
};

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
	const struct gv_lp *lp;
	const struct gv_lp_options *opt;
	const struct triplets *triplets;
	struct gv_lp_basis *basis;
	struct gv_lp_solution *s;
	int number;
	long nodes; /* of branch and cut, so far */
	double tm_limit_ms;
	bool out_of_memory;
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
		a->out_of_memory = true;
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
		iterations = fmin(
		    iterations, (a->number == 0 ? 500 : 5000) + (double)a->lp->n_rows);
	glp_init_smcp(parm);
	parm->msg_lev = GLP_MSG_OFF;
	parm->tol_bnd = parm->tol_dj = GV_TOL_SIMPLEX;
	parm->it_lim = iterations < 2e9 ? (int)iterations : 2000000000;
	if (a->tm_limit_ms > 0)
		parm->tm_lim = a->tm_limit_ms < 2e9 ? (int)a->tm_limit_ms : 2000000000;
	parm->meth = a->number == 2 ? GLP_DUAL : GLP_PRIMAL;
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

	a->nodes += reason == GLP_ISELECT;
	if ((a->opt->max_nodes > 0 && a->nodes > a->opt->max_nodes) ||
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

/* Attempts: 0 as given, warm when there is a basis; 1 scaled, cold; 2 the dual method, cold. */
static void
attempt_inside(struct attempt *a)
{
	glp_prob *p = make_problem(a->lp, a->triplets);
	glp_smcp parm;
	int rc;

	set_options(&parm, a);
	if (a->number > 0)
		glp_scale_prob(p, GLP_SF_AUTO);
	if (a->number == 0 && a->basis != NULL && a->basis->row != NULL)
		set_basis(p, a->basis);
	else if (a->number == 0)
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
		if (a->basis != NULL)
			get_basis(p, a->basis);
		if (a->opt->exact)
			prove(p, &parm, a->s);
	}
	glp_delete_prob(p);
}

/*
 * GLPK reports what it holds for impossible by calling the hook, after which it
 * must not be used until its environment, with all its memory, is freed.
 */
static void
attempt(struct attempt *a)
{
	a->s->status = GV_LP_FAILED;
	if (glp_init_env() > 1) {
		a->out_of_memory = true;
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

/* Whether another attempt, this being the number-th, would be of no use. */
static bool
is_good(const struct gv_lp *lp, const struct gv_lp_options *opt, int number, bool warm,
    const struct gv_lp_solution *s)
{
	if (s->status == GV_LP_LIMIT) /* without a limit asked for it means cycling */
		return !opt->feasible &&
		       (opt->time_limit_s > 0 || opt->max_iterations > 0 ||
			   opt->max_nodes > 0 || opt->first);
	if (s->status == GV_LP_UNBOUNDED) /* of columns of 10^7 it has called that, too */
		return number >= 1;
	if (s->status == GV_LP_INFEASIBLE && opt->feasible)
		return false;
	if (s->status !=
	    GV_LP_OPTIMAL) /* from a bad basis GLPK has called a program infeasible */
		return s->status != GV_LP_FAILED && (!warm || opt->tight > 0);
	return s->check.infeasibility <= 10 * GV_TOL_SIMPLEX &&
	       (lp->has_integer ||
		   s->check.gap <= (opt->gap > 0 ? opt->gap : GV_TOL_SIMPLEX));
}

int
gv_lp_solve(const struct gv_lp *lp, const struct gv_lp_options *opt,
    struct gv_lp_basis *basis, struct gv_lp_solution *s, struct gv_error *e)
{
	static const struct gv_lp_options defaults = {0};
	struct attempt a = {
	    .lp = lp, .opt = opt != NULL ? opt : &defaults, .basis = basis, .s = s};
	struct triplets t;
	bool warm = basis != NULL && basis->row != NULL;

	*s = (struct gv_lp_solution){.status = GV_LP_FAILED};
	if (check_program(lp, e) != 0)
		return -1;
	triplets_make(&t, lp);
	a.triplets = &t;
	a.tm_limit_ms = a.opt->time_limit_s > 0 ? fmax(1, a.opt->time_limit_s * 1000) : 0;
	s->x = gv_xcalloc(lp->n_cols, sizeof(*s->x));
	s->row_dual = gv_xcalloc(lp->n_rows, sizeof(*s->row_dual));
	for (a.number = 0; a.number < 3; a.number++) {
		s->exact = false;
		attempt(&a);
		if (a.out_of_memory ||
		    is_good(lp, a.opt, a.number, a.number == 0 && warm, s))
			break;
	}
	if (a.number == 3)
		s->status = GV_LP_FAILED;
	triplets_free(&t);
	return a.out_of_memory ? gv_error_set(e, "out of memory") : 0;
}
