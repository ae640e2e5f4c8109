/*
 * Why an answer is as it is: what holds each job and each GPU type, what it is
 * worth to have more of it, and who keeps the objective from being better.
 *
 * All prices are changes of the objective.  With multipliers p_j >= 0 of the types'
 * GPUs and v_i >= 0 of the jobs' throughputs (struct multipliers), and gains g_ij of
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

#include "gv-alloc/answer.h"
#include "one_more.h"

/* What keeps a job from more; a set. */
enum binds {
	BINDS_TIME = 1,     /* it has all the time there is */
	BINDS_CAPACITY = 2, /* no type it can use has GPUs left */
	BINDS_DEADLINE = 4, /* it has just what its deadline needs */
	BINDS_BUDGET = 8    /* the budget is spent */
};

struct explained_job {
	unsigned binds;
	bool bottleneck;   /* the objective would be better if it needed less */
	double value;      /* what it has of what the policy counts; NAN = nothing */
	double time;       /* sum of its shares */
	double time_price; /* per unit of time that it had more; NAN = not known */
	double need;       /* steps/s for its deadline; NAN = none */
	double need_price; /* per step/s that it needed less; NAN = not known */
};

struct explained_type {
	double used;  /* GPUs */
	double price; /* per GPU more; NAN = not known */
};

struct explanation {
	size_t n, m;
	struct explained_job *job;   /* [n] rows of the problem */
	struct explained_type *type; /* [m] */
	double cost;                 /* of all GPUs in use, US dollars per hour */
	double budget_price;         /* per US dollar an hour more; NAN = not known */
	bool entities; /* the objective is of entities: no job alone is the bottleneck */
};

/*
 * Of the shares s of p by a policy with that measure, which is not MEASURE_NONE;
 * p->number[NUMBER_NEED] is of the deadlines as they were met.  Linear in the
 * jobs.
 */
void explain_make(struct explanation *x, const struct problem *p, enum measure measure,
    const struct solution *s);
void explain_free(struct explanation *x);

/*
 * The table of gv-tables(5), "Explanation": the policy, each type, each job.
 * more [cluster types].
 */
void explain_write(const struct explanation *x, const struct answer *a,
    const struct gv_rates *r, const struct gv_cluster *c, const char *policy,
    const struct one_more *more, struct gv_tabw *w);

#endif
