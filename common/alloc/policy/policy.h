/*
 * The gv_policies, one file each (policy/NAME.c), and the table of them.
 *
 * A policy is a pure function from a problem to a solution.  It must treat equal
 * rows equally, use count[] as so many equal jobs, and give a feasible x.
 */
#ifndef GV_ALLOC_POLICY_H
#define GV_ALLOC_POLICY_H

#include <stdint.h>

#include "base/err.h"
#include "alloc/problem/problem.h"
#include "lp/lp.h"

enum gv_solver {
	SOLVER_AUTO, /* the fastest for the problem's size */
	SOLVER_GLPK, /* a linear program of everything */
	SOLVER_PRICE /* prices of types, price.h */
};

/* Who among an entity's jobs has what it has. */
enum gv_inside {
	INSIDE_FAIRNESS, /* all, by their weights */
	INSIDE_FIFO,     /* one after another, as they came */
	INSIDE_NONE      /* entities do not count */
};

struct gv_entities;
struct gv_price_memory;
struct gv_pairs;

struct gv_solve_options {
	enum gv_solver solver;
	enum gv_inside inside;
	const struct gv_entities *entities; /* their weights; NULL = all 1 */
	uint64_t seed;                      /* of what is drawn */
	size_t pop;     /* parts to split the jobs into (pop.h); 0 or 1 = none */
	bool pop_bound; /* what of the whole would be possible is asked, too */
	double alpha;   /* allox: part of the waiting jobs that is looked at; 0 = all */
	/* which jobs may share GPUs; NULL = no table of them */
	const struct gv_pairs *pairs;
	bool multipliers; /* hand them out, where there are any */
	bool certify;     /* prove optimality in rational arithmetic as well */
	double budget;    /* what all may cost, US dollars per hour; 0 = any */
	struct gv_price_memory *memory; /* of the last solution (price.h); NULL = none */
	bool placeable; /* only shares that rounds can give (constrained.h) */
	bool agnostic;  /* rates are taken for equal on all types a job can run on */
	bool relax_slo; /* longer deadlines where they cannot be met */
};

/*
 * What a policy counts, for programs that look at its answer: of each job, where
 * the least or the largest of all is the objective, or where their sum is.
 */
enum gv_measure {
	MEASURE_NONE,
	MEASURE_LEVEL,      /* max min  s_i thr_i / (w_i P_i) */
	MEASURE_SECONDS,    /* min max  n_i / thr_i */
	MEASURE_ALONE,      /* min max  (e_i + n_i / thr_i) / D_i, policy/finish_time.c */
	MEASURE_SUM,        /* max sum  thr_i */
	MEASURE_PER_DOLLAR, /* max sum  T_ij x_ij / c_j */
	MEASURE_QUEUE,      /* max sum  (M - m_i) thr_i / max_j T_ij */
	MEASURE_RATIO       /* max sum thr_i / sum s_i c_j x_ij */
};

struct gv_policy {
	const char *name;
	/*
	 * s->x has room for [n][m], zeroed, s->multipliers too if they are asked for;
	 * p->n > 0.  0; 1 deadlines cannot be met,
	 * s->late says whose; or -1 with *e set: the solver failed.
	 */
	int (*solve)(const struct gv_problem *p, const struct gv_solve_options *opt,
	    struct gv_solution *s, struct gv_error *e);
	/*
	 * The whole policy as one linear program in the units of the problem, for
	 * --dump-lp, with names for its columns and rows; the caller frees *lp and
	 * names->ctx.  NULL: it is none.
	 */
	void (*program)(
	    const struct gv_problem *p, struct gv_lp *lp, struct gv_lp_names *names);
	unsigned numbers; /* of the jobs that it asks for: bits 1 << NUMBER_... */
	bool minimises;   /* the objective: bound <= objective */
	enum gv_measure measure;
	bool multipliers; /* it hands them out */
	bool entities;    /* it also asks for NUMBER_ENTITY... if there are any */
	bool prices;      /* every type must have one */
	bool shares;      /* it can give the same GPUs to two jobs */
	double proved;    /* a larger gap is worth a warning; 0 = 1e-9 */
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
