/* Attempts, one after the other, until what one says passes our own check. */
#include <math.h>
#include <stdlib.h>

#include "attempt.h"
#include "base/mem.h"
#include "lp/tolerance.h"

enum { MAX_DIM = 100000000, MAX_ENTRIES = 500000000 }; /* GLPK's M_MAX, N_MAX, NNZ_MAX */
enum { ATTEMPTS = 3 };

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

/* ---- attempts ---- */

/* Whether another attempt would be of no use. */
static bool
is_good(const struct gv_lp_attempt *a)
{
	const struct gv_lp_options *opt = a->opt;
	const struct gv_lp_solution *s = a->s;

	if (s->status == GV_LP_LIMIT) /* without a limit asked for it means cycling */
		return !opt->feasible &&
		       (opt->time_limit_s > 0 || opt->max_iterations > 0 ||
			   opt->max_nodes > 0 || opt->first);
	if (s->status == GV_LP_UNBOUNDED) /* of columns of 10^7 it has called that, too */
		return a->number >= 1;
	if (s->status == GV_LP_INFEASIBLE)
		return !opt->feasible && (opt->tight > 0 || a->none_whole ||
					     gv_lp_check_infeasible(a->lp, s->row_dual));
	if (s->status != GV_LP_OPTIMAL)
		return false;
	return s->check.infeasibility <= 10 * GV_TOL_SIMPLEX &&
	       (a->lp->has_integer ||
		   s->check.gap <= (opt->gap > 0 ? opt->gap : GV_TOL_SIMPLEX));
}

int
gv_lp_solve(const struct gv_lp *lp, const struct gv_lp_options *opt,
    struct gv_lp_basis *basis, struct gv_lp_solution *s, struct gv_error *e)
{
	static const struct gv_lp_options defaults = {0};
	struct gv_lp_attempt a = {
	    .lp = lp, .opt = opt != NULL ? opt : &defaults, .basis = basis, .s = s};
	int infeasible = 0;

	*s = (struct gv_lp_solution){.status = GV_LP_FAILED};
	if (check_program(lp, e) != 0)
		return -1;
	s->x = gv_xcalloc(lp->n_cols, sizeof(*s->x));
	s->row_dual = gv_xcalloc(lp->n_rows, sizeof(*s->row_dual));
	for (a.number = 0; a.number < ATTEMPTS; a.number++) {
		s->exact = false;
		gv_lp_attempt(&a);
		infeasible += s->status == GV_LP_INFEASIBLE;
		if (a.out_of_memory || is_good(&a))
			break;
	}
	if (a.number == ATTEMPTS && (infeasible < ATTEMPTS || a.opt->feasible))
		s->status = GV_LP_FAILED;
	return a.out_of_memory ? gv_error_set(e, "out of memory") : 0;
}
