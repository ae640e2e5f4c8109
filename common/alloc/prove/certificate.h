/*
 * A theorem about an answer: that its shares keep every constraint, what their
 * objective is, and that no allocation has one that is better by more than the
 * gap.  From the problem's numbers as they are and the shares as they are printed
 * (printed.h; what is claimed holds for their decimals and for what reads back),
 * all of them doubles and so fractions, in arithmetic without rounding (exact.h).  Of
 * the solver only multipliers are taken, and any numbers >= 0 would do: wrong
 * ones prove less, never something false.
 *
 * With prices p_j of the types' GPUs and v_i of the jobs' throughputs, every
 * allocation keeps
 *
 *	sum_i v_i thr_i  <=  C = sum_j p_j N_j + sum_i max(0, max_j (v_i T_ij - p_j s_i))
 *
 * because x_ij >= 0, sum_j x_ij <= 1 and sum_i s_i x_ij <= N_j.  With a budget B and its
 * multiplier b, b B is added to C, and b s_i c_j to p_j s_i.  Where jobs share GPUs,
 * proof_pairs.c has the inequality.
 *
 *  - The least of all: thr_i >= t a_i with a_i = w_i P_i / s_i (levels), n_i (1 / s of
 *    the makespan), so t <= C / sum_i v_i a_i.  Jobs that need q_i anyway may be left out
 *    of that sum, with C less their v_i q_i.
 *  - Finish times: a ratio r is out of reach where sum_i v_i n_i / (r D_i - e_i) > C; a
 *    job that needs more anyway counts with that.
 *  - Sums: with gains g_ij in front of v_i T_ij, C - sum_i v_i q_i for the needs q_i
 *    bounds the sum.
 *  - Steps per dollar: r is out of reach where that is < 0 for g_ij = T_ij - r s_i c_j.
 *
 * What is not a fraction of two doubles' sums and products is not rounded
 * either but for quotients, which are rounded to 192 bits the safe way.
 */
#ifndef GV_ALLOC_CERTIFICATE_H
#define GV_ALLOC_CERTIFICATE_H

#include "alloc/problem/measure.h"
#include "alloc/problem/problem.h"

struct gv_certificate {
	double excess;    /* over a constraint, relative, rounded up; 0 = all are kept */
	double shortfall; /* of a need, relative, rounded up */
	/* both in the direction in which less is claimed, like gap */
	double objective;
	double bound;
	double gap; /* relative to the better of both; INFINITY = nothing is proved */
};

/* Whether there are certificates of that measure: not of steps per dollar where jobs share GPUs. */
bool gv_certificate_possible(const struct gv_problem *p, enum gv_measure measure);

/*
 * Takes from the shares of s what their decimals would have too much (printed.h), and
 * makes the certificate of s, whose multipliers are known; p->number[GV_NUMBER_NEED] is of
 * all needs as they were met.  Some
 * microseconds a job.
 */
void gv_certificate_make(struct gv_certificate *c, const struct gv_problem *p,
    enum gv_measure measure, struct gv_solution *s);

#endif
