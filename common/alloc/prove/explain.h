/*
 * Why an answer is as it is: what holds each job and each GPU type, what it is
 * worth to have more of it, and who keeps the objective from being better.
 *
 * All prices are changes of the objective.  With multipliers p_j >= 0 of the types'
 * GPUs and v_i >= 0 of the jobs' throughputs (struct gv_multipliers), and gains g_ij of
 * a share (0 where the objective is the least or the largest of all jobs), a job's
 * time is worth u_i = max(0, max_j (g_ij + v_i T_ij - p_j s_i)).  Where the jobs must
 * have the throughputs r_i(o) for the objective to be o,
 *
 *	sum_j p_j N_j + sum_i u_i = sum_i v_i r_i(o)
 *
 * so that one more unit of what p_j is of changes o by p_j / sum_i v_i r_i'(o).  Where
 * the objective is a sum, p_j is that change itself.
 */
#ifndef GV_ALLOC_EXPLAIN_H
#define GV_ALLOC_EXPLAIN_H

#include "alloc/problem/measure.h"
#include "alloc/problem/problem.h"

/* What keeps a job from more; a set. */
enum gv_binds {
	GV_BINDS_TIME = 1,     /* it has all the time there is */
	GV_BINDS_CAPACITY = 2, /* no type it can use has GPUs left */
	GV_BINDS_DEADLINE = 4, /* it has just what its deadline needs */
	GV_BINDS_BUDGET = 8,   /* the budget is spent */
	GV_BINDS_MINIMUM = 16  /* it has just its minimum */
};

struct gv_explained_job {
	unsigned binds;
	bool bottleneck;   /* the objective would be better if it needed less */
	double value;      /* what it has of what the policy counts; NAN = nothing */
	double time;       /* sum of its shares */
	double time_price; /* per unit of time that it had more; NAN = not known */
	double need;       /* steps/s for its deadline or minimum; NAN = none */
	double need_price; /* per step/s that it needed less; NAN = not known */
};

struct gv_explained_type {
	double used;  /* GPUs */
	double price; /* per GPU more; NAN = not known */
};

struct gv_explanation {
	size_t n, m;
	struct gv_explained_job *job;   /* [n] rows of the problem */
	struct gv_explained_type *type; /* [m] */
	double cost;                    /* of all GPUs in use, US dollars per hour */
	double budget_price;            /* per US dollar an hour more; NAN = not known */
	bool entities; /* the objective is of entities: no job alone is the bottleneck */
};

/*
 * Of the shares s of p by a policy with that measure, which is not GV_MEASURE_NONE;
 * p->number[GV_NUMBER_NEED] is of all needs as they were met.  Linear in the
 * jobs.
 */
void gv_explain_make(struct gv_explanation *x, const struct gv_problem *p,
    enum gv_measure measure, const struct gv_solution *s);
void gv_explain_free(struct gv_explanation *x);

/*
 * The objective of shares, whosever they are; s->objective counts only for
 * GV_MEASURE_RATIO, where it does not change what is found.
 */
double gv_explain_objective(
    const struct gv_problem *p, enum gv_measure measure, const struct gv_solution *s);

#endif
