/* One attempt to solve a linear program by GLPK: what solve.c makes up to three of. */
#ifndef GV_LP_ATTEMPT_H
#define GV_LP_ATTEMPT_H

#include "lp/lp.h"

struct gv_lp_attempt {
	const struct gv_lp *lp; /* a valid one */
	const struct gv_lp_options *opt;
	struct gv_lp_basis *basis; /* as gv_lp_solve()'s */
	struct gv_lp_solution *s;  /* x and row_dual have their room */
	int number; /* 0 as given, warm when there is a basis; 1 scaled, cold; 2 the dual
		       method, cold */
	long nodes; /* of branch and cut, so far */
	bool out_of_memory;
	bool none_whole; /* branch and cut came to its end: no solution is of integers */
};

/*
 * Makes the attempt of that number: s->status; of an optimum all of *s, and the basis; of a program
 * that GLPK calls infeasible row_dual, the multipliers which should prove it
 * (gv_lp_check_infeasible()), or zeros.  GLPK's environment is made and freed inside.
 */
void gv_lp_attempt(struct gv_lp_attempt *a);

#endif
