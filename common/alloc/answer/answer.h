/*
 * Who gets which GPUs for what share of time: rates in, shares out.  What gv-alloc(1)
 * does between reading and writing, for programs that ask within themselves.
 *
 *	struct gv_answer_options opt = {0};
 *	struct gv_price_memory memory = {0};
 *	struct gv_answer a;
 *
 *	opt.policy.solve.memory = &memory;
 *	for each question: jobs came or went, rates r, cluster c
 *		if (gv_answer_make(&a, &r, &c, gv_policy_find("max-min"), &opt, &e) != 0)
 *			... e says why
 *		for each row k of r
 *			share = gv_answer_share(&a, &r.rate[k]);
 *		gv_answer_free(&a);
 *	gv_price_forget(&memory);
 *
 * Rates are those of a table (sched/rates.h): gv_rates_from() takes one that was read,
 * or one built by gv_frame_start() and gv_frame_add().  Gangs on several nodes count as
 * gv_rates_spread() makes them.
 *
 * Nothing here reads files, writes, or ends the process but for want of memory; there is
 * no state but what the caller holds.  The answer depends on the arguments alone; with a
 * memory it is the same, sooner.
 */
#ifndef GV_ALLOC_ANSWER_H
#define GV_ALLOC_ANSWER_H

#include <stdint.h>

#include "alloc/policy/policy.h"
#include "alloc/problem/entities.h"
#include "alloc/problem/pairs.h"
#include "previous.h"
#include "sched/rates.h"

/* = {0} is what gv-alloc does without options. */
struct gv_answer_options {
	/* also where a memory of prices is named, for nearly the same jobs asked again */
	struct gv_policy_options policy;
	const struct gv_entities *entities; /* their weights; NULL = all 1 */
	uint64_t seed;                      /* of what is drawn */
	size_t pop;     /* parts to split the jobs into (pop.h); 0 or 1 = none */
	bool pop_bound; /* what of the whole would be possible is asked, too */
	/* which jobs may share GPUs; NULL = no table of them */
	const struct gv_pairs *pairs;
	double budget;    /* what all may cost, US dollars per hour; 0 = any */
	bool agnostic;    /* rates are taken for equal on all types a job can run on */
	bool multipliers; /* hand them out, where there are any */
	/* shares that the answer stays close to (stay.h); NULL = none */
	const struct gv_previous *previous;
	double stay; /* part of its throughput that a job may give up for it, below 1 */
};

/* What staying close to the last answer did. */
struct gv_stayed {
	bool asked;
	/* sum_i c_i s_i sum_j |x_ij - y_ij| / 2 over the jobs that were there */
	double moved;
	double without; /* what it were of the policy's own shares */
	double best;    /* the objective of those, and ... */
	double gap;     /* ... its gap */
	double slower;  /* the largest part of its throughput that a job gives up */
	bool failed;    /* no solver came to such shares; those of the policy stay */
	bool idle;      /* they move least, but no solver filled what idles */
};

struct gv_answer {
	struct gv_problem p;         /* the jobs that can run */
	struct gv_together together; /* their pairs, where they have any */
	struct gv_tree tree;         /* their entities, where those are in others */
	size_t *type;                /* [cluster types] column in p */
	size_t *row;                 /* [jobs] row in p, SIZE_MAX = cannot run */
	bool *later;      /* [jobs] it can, but only once GPUs that are away are back */
	size_t *rank;     /* [p.n] in the order of the jobs' names; NULL = no pairs */
	size_t n_classes; /* what the policy saw */
	/* of p: shares, objective, bound and gap; x and late are empty when no job can run */
	struct gv_solution s;
	/* needs cannot be met, s.late and gv_answer_hopeless() say whose; no shares */
	bool impossible;
	struct gv_stayed stayed;
};

/*
 * Asks the policy for shares of all jobs of r on the GPUs of c.  Equal jobs become one
 * class before the policy sees them (the same optimum; equal jobs get equal shares),
 * unless the solver is GV_SOLVER_GLPK, which is asked to look at each.  While GPUs of c
 * are away, needs are relaxed where they cannot be met.
 *
 * 0, or -1 with *e set: a job lacks a number that the policy asks for, the solver
 * failed, or its answer breaks a constraint.  *a must be freed in both cases.  r, c and
 * what opt names must outlive it.
 *
 * Cost: a linear program where jobs are few; of 10^5 jobs that all differ max-min takes
 * some 8 ms on 3 types, 0.3 s on 8.
 */
int gv_answer_make(struct gv_answer *a, const struct gv_rates *r,
    const struct gv_cluster *c, const struct gv_policy *policy,
    const struct gv_answer_options *opt, struct gv_error *e);
void gv_answer_free(struct gv_answer *a); /* also of a zeroed one */

/*
 * The share of a row of the rates of one job (rate->with < 0), 0 to 1: of the time that
 * the job's whole gang has on the type.  What pairs of jobs share is in a->s.pair.
 */
double gv_answer_share(const struct gv_answer *a, const struct gv_rate *rate);

/* Whether the job of the table has a need that counts, and no GPUs that it can run on. */
bool gv_answer_hopeless(const struct gv_answer *a, const struct gv_rates *r,
    const struct gv_policy *policy, size_t job);

/*
 * The needs of a->p's jobs, for deadlines and minimums, as they were met: divided by the
 * relaxation where that was asked for.  The caller's.
 */
double *gv_answer_needs(const struct gv_answer *a);
bool gv_answer_has_needs(const struct gv_answer *a); /* whether any job has one */

/*
 * The policy's program over all jobs, unmerged, with the budget as its last row where
 * there is one, and names of its other rows and columns (policy.h); policy->program is
 * not NULL.
 */
void gv_answer_program(const struct gv_answer *a, const struct gv_policy *policy,
    struct gv_lp *lp, struct gv_lp_names *names);

#endif
