/*
 * The policies, one file each (policy/NAME.c), and the table of them.
 *
 * A policy is a pure function from a problem to a solution.  It must treat equal
 * rows equally, use count[] as so many equal jobs, and give a feasible x.
 */
#ifndef GV_ALLOC_POLICY_H
#define GV_ALLOC_POLICY_H

#include "base/err.h"
#include "alloc/problem/measure.h"
#include "alloc/solve/solve.h"

/* Who among an entity's jobs has what it has. */
enum gv_inside {
	GV_INSIDE_FAIRNESS, /* all, by their weights */
	GV_INSIDE_FIFO,     /* one after another, as they came */
	GV_INSIDE_NONE      /* entities do not count */
};

struct gv_policy_options {
	struct gv_solver_options solve;
	enum gv_inside inside;
	double alpha;   /* allox: part of the waiting jobs that is looked at; 0 = all */
	bool relax_slo; /* longer deadlines where they cannot be met */
};

struct gv_policy {
	const char *name;
	/*
	 * s->x has room for [n][m], zeroed, s->multipliers too if they are asked for;
	 * p->n > 0.  0; 1 deadlines cannot be met,
	 * s->late says whose; or -1 with *e set: the solver failed.
	 */
	int (*solve)(const struct gv_problem *p, const struct gv_policy_options *opt,
	    struct gv_solution *s, struct gv_error *e);
	/*
	 * The whole policy as one linear program in the units of the problem, for
	 * --dump-lp, with names for its columns and rows; the caller frees *lp and
	 * names->ctx.  NULL: it is none.
	 */
	void (*program)(
	    const struct gv_problem *p, struct gv_lp *lp, struct gv_lp_names *names);
	unsigned numbers; /* of the jobs that it asks for: bits 1 << GV_NUMBER_... */
	bool minimises;   /* the objective: bound <= objective */
	enum gv_measure measure;
	bool multipliers; /* it hands them out; no other is asked to keep a budget */
	bool entities;    /* it also asks for GV_NUMBER_ENTITY... if there are any */
	bool prices;      /* every type must have one */
	bool shares;      /* it can give the same GPUs to two jobs */
	double proved;    /* a larger gap is worth a warning; 0 = GV_TOL_PROVED */
};

extern const struct gv_policy gv_policy_max_min;
extern const struct gv_policy gv_policy_isolated;
extern const struct gv_policy gv_policy_proportional;
extern const struct gv_policy gv_policy_makespan;
extern const struct gv_policy gv_policy_finish_time;
extern const struct gv_policy gv_policy_water_filling;
extern const struct gv_policy gv_policy_max_sum;
extern const struct gv_policy gv_policy_min_cost;
extern const struct gv_policy gv_policy_per_dollar;
extern const struct gv_policy gv_policy_fifo;
extern const struct gv_policy gv_policy_fifo_greedy;
extern const struct gv_policy gv_policy_sjf;
extern const struct gv_policy gv_policy_strategy_proof;
extern const struct gv_policy gv_policy_allox;
extern const struct gv_policy gv_policy_gandiva;

extern const struct gv_policy *const gv_policies[]; /* NULL at the end */

const struct gv_policy *gv_policy_find(const char *name); /* NULL: there is none of it */

#endif
