/*
 * What every policy solves: jobs, GPU types, and how fast which job runs where.
 * Gavel, OSDI 2020, section 3.1.
 */
#ifndef GV_ALLOC_PROBLEM_H
#define GV_ALLOC_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "sched/cluster.h"
#include "sched/rates.h"
#include "together.h"
#include "tree.h"

/*
 * Numbers of a job that only some policies look at.  A policy names those it
 * asks for (a set of bits 1 << number); the others are not there, so that jobs
 * that differ in them are equal.
 */
enum gv_problem_number {
	GV_NUMBER_STEPS,    /* steps_remaining */
	GV_NUMBER_ELAPSED,  /* elapsed_s */
	GV_NUMBER_ISOLATED, /* isolated_elapsed_s */
	GV_NUMBER_NEED, /* steps/s that meet the deadline: 0 none, INFINITY it is over */
	GV_NUMBER_MINIMUM, /* min_steps_per_s */
	GV_NUMBER_POSITION, /* in the queue, from 0: by arrival_s, then in the table's order */
	GV_NUMBER_ENTITY,        /* which, from 0 */
	GV_NUMBER_ENTITY_WEIGHT, /* its weight, W_e */
	GV_NUMBER_DRAW,          /* in a random order, from 0 */
	GV_NUMBER_STARTED, /* it has all its time on a type: which, from 1; 0 = none */
	/*
	 * Where some gang has a rate on a type with too few GPUs for it, or GPUs of it
	 * elsewhere (nodes.h), asked for or not: sum_j T_ij N_j and sum_j N_j over those types of reference.
	 */
	GV_NUMBER_BEYOND,
	GV_NUMBER_BEYOND_GPUS,
	/*
	 * Where there are GPUs elsewhere and GV_NUMBER_ISOLATED is asked for: the same sums
	 * over the GPUs of D_i that are no cells of rate.
	 */
	GV_NUMBER_AWAY,
	GV_NUMBER_AWAY_GPUS,
	GV_N_NUMBERS
};

/* What a job must have at least; the problem has both or neither. */
enum { GV_NEEDS = 1 << GV_NUMBER_NEED | 1 << GV_NUMBER_MINIMUM };

/*
 * n jobs (or classes of equal jobs) on m GPU types.  A job that appears here can
 * run somewhere: it has a rate above 0.
 */
struct gv_problem {
	size_t n, m;
	double *rate;   /* [n][m] T_ij, steps/s of the whole gang; 0 = cannot run there */
	double *scale;  /* [n] s_i, GPUs at once */
	double *weight; /* [n] w_i, priority */
	double *count;  /* [n] how many equal jobs the row stands for */
	double *number[GV_N_NUMBERS]; /* [n] each, NULL = not asked for */
	double *capacity;             /* [m] N_j, GPUs */
	/*
	 * [m] the GPUs that P_i and X^isolated are of, where it is asked what other
	 * GPUs would bring and they must stay as they are; NULL = capacity.
	 */
	double *reference;
	double *price; /* [m] of a GPU for an hour, 0 = not given */
	double budget; /* of all GPUs in use for an hour; 0 = any */
	/*
	 * Space sharing: what two jobs of equal scale make of the same GPUs.  Both NULL:
	 * no job shares.
	 */
	size_t *kind;                       /* [n] of the job, in together */
	const struct gv_together *together; /* not its own */
	/* what GV_NUMBER_ENTITY are nodes of; NULL: entities are all of one level */
	const struct gv_tree *tree; /* not its own */
};

/*
 * Two jobs on the same GPUs for some of the time.  x is a share of wall time; where
 * rows stand for several jobs, of all such pairs of their jobs together.
 */
struct gv_pair {
	size_t a, b; /* rows, kind[a] <= kind[b]; equal rows: two jobs of it */
	size_t type;
	double rate_a, rate_b; /* steps/s of each */
	double x;
};

/*
 * Multipliers >= 0 of the constraints, whatever the policy's objective is: what a
 * GPU of each type, and a step per second of each job, is worth, in a unit that
 * the policy chooses.  They prove its bound (certificate.h).
 */
struct gv_multipliers {
	double *gpu;   /* [m], NULL = nobody asked */
	double *job;   /* [n], of one job, also where a row stands for several */
	double budget; /* of a US dollar an hour */
	double *time;  /* [n] of a job's time, where jobs share GPUs */
	bool known;    /* the policy has such, and has set them */
};

/* The answer; x is per job, also where a row stands for several. */
struct gv_solution {
	double *x; /* [n][m] X_ij, share of wall time, [0,1]; alone on its GPUs */
	/* [n_pairs] shares of pairs, above 0; allocated by the policy */
	struct gv_pair *pair;
	size_t n_pairs;
	size_t n_made;    /* pairs that were looked at one by one */
	double objective; /* what the policy optimises, of x as it is */
	double bound;     /* proved: no allocation has a better objective */
	double gap;       /* |bound - objective|, relative to the larger */
	bool has_bound;   /* the policy optimises something */
	/*
	 * [n] whose need cannot be met, NULL = there are none; and what all needs would
	 * have to be divided by (the time that is left, multiplied), 1 = they need not, 0
	 * = none were looked at.
	 */
	bool *late;
	double relaxation;
	bool exact; /* optimality was also proved in rational arithmetic */
	/* of two objectives one after the other, the second is not known to be the best */
	bool second_missed;
	struct gv_multipliers multipliers;
};

static inline double
gv_problem_rate(const struct gv_problem *p, size_t i, size_t j)
{
	return p->rate[i * p->m + j];
}

/* The largest of a row's m numbers >= 0: a_ij of the job's best type; 0 of none. */
static inline double
gv_row_max(const double *row, size_t m)
{
	double most = 0;
	size_t j;

	for (j = 0; j < m; j++)
		most = row[j] > most ? row[j] : most;
	return most;
}

/* The larger excess; what is no number is worse than any. */
static inline double
gv_worse(double a, double b)
{
	return b > a || b != b ? b : a;
}

void gv_problem_alloc(struct gv_problem *p, size_t n, size_t m);
/* Makes room for the numbers asked for, zeroed. */
void gv_problem_ask(struct gv_problem *p, unsigned numbers);
/* The rows that keep[] says, with all their numbers. */
void gv_problem_pick(struct gv_problem *to, const struct gv_problem *p, const bool *keep);
/* Sets reference to a copy of gpus [m], or NULL. */
void gv_problem_refer(struct gv_problem *p, const double *gpus);
void gv_problem_free(struct gv_problem *p);

/*
 * The problem of a rates table.  Its types are the cluster's in order of their
 * names, so that the order of the cluster's rows does not matter; its jobs are
 * those that can run, in the table's order.  A rate counts only where the whole
 * gang fits into the type's GPUs and it is above GV_SMALLEST_RATE.
 *
 *	type[cluster type]  its column in the problem
 *	row[job]            its row in the problem, or SIZE_MAX: it can never run
 *
 * Both are the caller's, with room for the cluster's types and the table's jobs.
 * numbers: what the policy asks for.  0, or -1 with *e set: a job lacks one of
 * them.
 */
int gv_problem_from_rates(struct gv_problem *p, const struct gv_rates *r,
    const struct gv_cluster *c, unsigned numbers, size_t *type, size_t *row,
    struct gv_error *e);

/*
 * A part of it: the numbers of the jobs (numbers.c).  Needs are not there where no job
 * has any; one without a step left needs nothing.
 */
int gv_problem_numbers(struct gv_problem *p, const struct gv_rates *r, unsigned numbers,
    const size_t *row, struct gv_error *e);

/*
 * P_i = sum_j T_ij N_j / sum N: the throughput of job i with an equal share of
 * every type (X^equal); what throughputs are compared with.  Of the rates as they are
 * given: also on types that have too few GPUs for the gang.  [n]
 */
void gv_problem_equal_throughput(const struct gv_problem *p, double *throughput);
/* P_i of rows from to end - 1 alone. */
void gv_problem_equal_throughput_of(
    const struct gv_problem *p, size_t from, size_t end, double *throughput);

/*
 * X^isolated: each of n jobs has its n-th part of every type, x_ij = N_j / (n s_i),
 * the row divided by its sum where that is over 1.  x [n][m]
 *
 * Differs: a type that the job cannot use, since it has no rate there or its gang does
 * not fit, takes none of its time; in Gavel's code such a type still counts in the sum.
 */
void gv_problem_isolated(const struct gv_problem *p, double *x);

/*
 * D_i = h_i + n_i / thr_i(X^isolated): what the job takes from its arrival on in a cluster of
 * its own, the n-th part of the whole one, also where it can have the GPUs of one node
 * alone.  With GV_NUMBER_STEPS and GV_NUMBER_ISOLATED; alone [n].
 */
void gv_problem_times_alone(const struct gv_problem *p, double *alone);

/*
 * What a scheduler that does not know GPU types assumes: every rate of a job
 * becomes the mean over the GPUs it has a rate on.  Where it cannot run it still
 * cannot.  Pairs have gv_together_agnostic.
 */
void gv_problem_agnostic(struct gv_problem *p);

/* What the GPUs of shares x cost, US dollars per hour. */
double gv_problem_cost(const struct gv_problem *p, const double *x);

/* thr_i(x) = sum_j T_ij x_ij */
double gv_problem_throughput(const struct gv_problem *p, const double *x, size_t i);

/* The fastest each job can be, alone or in a pair.  [n] */
void gv_problem_fastest(const struct gv_problem *p, double *rate);
/*
 * F_i: the fastest that row i is alone, on the GPUs of reference that its gang fits
 * into; what fifo compares throughputs with.
 */
double gv_problem_own_fastest(const struct gv_problem *p, size_t i);
/* thr_i of all jobs, with what they do in pairs.  [n] */
void gv_solution_throughput(
    const struct gv_problem *p, const struct gv_solution *s, double *throughput);

/* min_i s_i thr_i(x) / (w_i P_i), the level that max-min fairness maximises. */
double gv_problem_level(const struct gv_problem *p, const double *x);

/*
 * Makes x keep the constraints to the last bit that matters: negative and
 * vanishing shares become 0 (but of those who would miss one), rows over 1 and types over
 * capacity are scaled down.
 */
void gv_problem_clean(const struct gv_problem *p, double *x);

/*
 * Takes units in the last place from shares of a row or type that, summed without
 * rounding, are over their limit.  x is of gv_problem_clean().
 */
void gv_problem_trim(const struct gv_problem *p, double *x);
/* Does so for shares with pairs, of single jobs: every count is 1. */
void gv_solution_trim(const struct gv_problem *p, struct gv_solution *s);

/* The worst excess over a constraint, relative: of a row over 1, of a type over its GPUs. */
double gv_problem_excess(const struct gv_problem *p, const double *x);

/* Cleaning and excess of shares with pairs.  A GPU that two jobs share is used once. */
void gv_solution_clean(const struct gv_problem *p, struct gv_solution *s);
double gv_solution_excess(const struct gv_problem *p, const struct gv_solution *s);

#endif
