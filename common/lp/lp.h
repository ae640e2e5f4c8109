/*
 * Linear programs: built row by row and column by column, solved by GLPK's
 * simplex method, checked by our own arithmetic.
 *
 *	max or min  c x    subject to    lo_i <= a_i x <= hi_i    (rows)
 *	                                 lo_j <=  x_j  <= hi_j    (columns)
 *
 * with -INFINITY and INFINITY for what is not bounded.  A program is plain data
 * that may grow between two solves (new rows, new columns, new coefficients);
 * a basis carries over, new rows enter basic, new columns nonbasic.  No solver
 * object lives between calls: GLPK's environment is made and freed in each, so
 * nothing leaks when GLPK gives up inside.
 *
 * Trust.  A returned solution carries the result of gv_lp_check(), which uses
 * nothing of GLPK: it recomputes the objective, the worst violation and, from
 * the duals, a bound that no solution can pass.
 */
#ifndef GV_LP_LP_H
#define GV_LP_LP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/fileio.h"

struct gv_lp_entry {
	size_t row, col;
	double value;
};

struct gv_lp {
	bool maximise;
	size_t n_rows, n_cols, n_entries;
	double *row_lo, *row_hi;   /* [n_rows] */
	double *col_lo, *col_hi;   /* [n_cols] */
	double *cost;              /* [n_cols], c */
	bool *integer;             /* [n_cols] */
	struct gv_lp_entry *entry; /* [n_entries], a row and column at most once */
	size_t cap_rows, cap_cols, cap_entries;
	bool has_integer;
};

/* = {0} is an empty program (to be minimised).  Each add returns the index of what it added. */
size_t gv_lp_add_row(struct gv_lp *lp, double lo, double hi);
size_t gv_lp_add_col(struct gv_lp *lp, double lo, double hi, double cost);
/* Coefficient of a row and column; at most once for each.  0 is not stored. */
void gv_lp_set(struct gv_lp *lp, size_t row, size_t col, double value);
/* The column takes whole values only. */
void gv_lp_set_integer(struct gv_lp *lp, size_t col);
void gv_lp_free(struct gv_lp *lp); /* also of a zeroed one */

enum gv_lp_status {
	GV_LP_OPTIMAL,
	GV_LP_INFEASIBLE, /* proved (gv_lp_check_infeasible()), or all attempts say so */
	GV_LP_UNBOUNDED,
	GV_LP_LIMIT, /* of iterations or time */
	GV_LP_FAILED /* GLPK gave up, or its answer does not pass the check, in all attempts */
};

const char *gv_lp_status_name(enum gv_lp_status status);

/*
 * A basis: for each row and column whether it is basic, or at which bound it
 * stands (GLPK's GLP_BS ...).  = {0} is none.
 */
enum { GV_LP_BASIC = 1 }; /* GLP_BS */
struct gv_lp_basis {
	size_t n_rows, n_cols;
	signed char *row, *col;
};

void gv_lp_basis_copy(struct gv_lp_basis *to, const struct gv_lp_basis *from);
void gv_lp_basis_free(struct gv_lp_basis *b);

/* What gv_lp_check() finds. */
struct gv_lp_check {
	double objective; /* c x */
	/* worst violation of a row, bound or wholeness, divided by max(1, |bound|) */
	double infeasibility;
	/* no feasible x is better than this; infinite when the duals prove none */
	double bound;
	double gap; /* |bound - objective| / max(1, |objective|); of a MIP infinite */
};

struct gv_lp_solution {
	enum gv_lp_status status;
	double *x; /* [n_cols], when optimal (of a MIP also when a limit left one) */

	double *row_dual; /* [n_rows]; when infeasible, the proof, if there is one */
	struct gv_lp_check check;
	/*
	 * Asked for, and glp_exact, started at the final basis, came to the same
	 * optimum in rational arithmetic.  It rounds each coefficient to a nearby
	 * fraction (glpk.c): what holds for the given numbers is in check.
	 */
	bool exact;
};

void gv_lp_solution_free(struct gv_lp_solution *s);

struct gv_lp_options {
	double time_limit_s; /* 0 = none */
	long max_iterations; /* 0 = enough for anything that does not cycle */
	long max_nodes;      /* of branch and cut; 0 = any */
	bool first; /* the first solution of integers will do, GV_LP_LIMIT then */
	/* of the check that calls for no other attempt; 0 = GV_TOL_SIMPLEX, INFINITY = any */
	double gap;
	/*
	 * Bounds are kept to that, less than GV_TOL_SIMPLEX, and where they cannot be from a
	 * given basis, the program is infeasible; 0 = GV_TOL_SIMPLEX
	 */
	double tight;
	/* there is a solution: where the simplex method finds none, it errs, and tries again */
	bool feasible;
	/* prove the basis in rational arithmetic (GMP); 0.5 to 3 times the solve */
	bool exact;
};

/*
 * Solves.  *basis, when not NULL, is where to start (if it holds one) and is
 * replaced by the final one.  opt NULL = defaults.  Integer columns: branch and
 * cut after the simplex method, no duals, no basis.
 *
 * GLPK runs the primal simplex method at GV_TOL_SIMPLEX (tolerance.h).  When it aborts,
 * stalls or returns what fails the check at that tolerance, or finds no solution and no proof that
 * there is none, further attempts follow: scaled, from the slack basis, the dual method.  The result does not depend on the clock
 * unless a time limit is set.
 *
 * 0 with s->status set, or -1 with *e set: the program is malformed (a bound
 * that is NAN, lo > hi, a coefficient that is not finite, more than 10^8 rows
 * or columns).  *s must be freed in both cases.
 */
int gv_lp_solve(const struct gv_lp *lp, const struct gv_lp_options *opt,
    struct gv_lp_basis *basis, struct gv_lp_solution *s, struct gv_error *e);

/*
 * Checks a claimed solution against the data alone.  y may be NULL (no bound).
 *
 * The bound is weak duality made rigorous: with y clipped to the sign that its
 * row's bounds allow and d = c - y A, every feasible x has
 *
 *	c x <= sum_i max(y_i lo_i, y_i hi_i) + sum_j max(d_j lo_j, d_j hi_j)
 *
 * (for max; min is the mirror).  Where a column has no bound on the side that d_j
 * needs, one implied by the rows is used; where there is none either, a d_j within
 * GV_TOL_UNBOUNDED of 0 counts as 0, the one step that is not rigorous.  Sums are compensated.
 * Time: two passes over the entries for each of three rounds of implied bounds.
 */
void gv_lp_check(
    const struct gv_lp *lp, const double *x, const double *y, struct gv_lp_check *c);

/*
 * Whether y [n_rows] shows that there is no solution (Farkas 1902): with y clipped to the signs
 * that bounds allow, every x would have
 *
 *	0 <= sum_i max(y_i lo_i, y_i hi_i) + sum_j max(d_j lo_j, d_j hi_j),    d = -y A
 *
 * and the right side is below 0 by more than violations of GV_TOL_SIMPLEX of all these limits
 * make up for.  Bounds of columns that rows imply count; a d_j that meets none, and is not what
 * rounding leaves of its terms (GV_TOL_CANCELLED), proves nothing.
 */
bool gv_lp_check_infeasible(const struct gv_lp *lp, const double *y);

/*
 * Writes the program in CPLEX LP format, which glpsol --lp, cbc, HiGHS and
 * CPLEX read; numbers in full precision.  Names: row(ctx, i) and col(ctx, j)
 * fill buf; NULL gives r1, r2, ... and x1, x2, ....  head, when not NULL, stands
 * in front as a comment, line by line.
 */
enum { GV_LP_NAME_LEN = 64 };
typedef void gv_lp_namer(void *ctx, size_t i, char buf[GV_LP_NAME_LEN]);
struct gv_lp_names {
	gv_lp_namer *row, *col;
	void *ctx;
	const char *head;
};
void gv_lp_write(
    const struct gv_lp *lp, const struct gv_lp_names *names, struct gv_out *out);

/* Names that are listed: [n_rows] and [n_cols], empty at first, the caller's to fill in. */
struct gv_lp_name_table {
	char (*row)[GV_LP_NAME_LEN];
	char (*col)[GV_LP_NAME_LEN];
};

/* Makes them for lp; *names hands them out.  Frees with free(names->ctx). */
struct gv_lp_name_table *gv_lp_name_table(
    const struct gv_lp *lp, struct gv_lp_names *names);

#endif
