/*
 * Proportional fairness in the space of prices: the largest
 *
 *	sum_i n_i log thr_i(x)   subject to   sum_j x_ij <= 1           each job i
 *	                                      sum_i n_i s_i x_ij <= N_j   each type j
 *
 * and how it changes when one job leaves.  Its dual is the least, over prices p >= 0
 * of GPUs, of
 *
 *	D(p) = sum_j p_j N_j + sum_i n_i f_i(p),
 *	f_i(p) = max_x  log thr_i(x) - s_i sum_j p_j x_ij   subject to sum_j x_ij <= 1
 *
 * (Eisenberg and Gale 1959).  What a job takes at given prices is one of three: a
 * type until 1 is spent; all the time on a type; all the time on two of them.  In
 * each, f_i is a logarithm of prices and a linear part, so all jobs whose vertex does
 * not change in a box of prices are together M^2 numbers.  When one of n jobs leaves,
 * prices change by about their n-th part: only few jobs are left to look at.
 */
#ifndef GV_ALLOC_EISENBERG_GALE_H
#define GV_ALLOC_EISENBERG_GALE_H

#include "alloc/problem/problem.h"

struct gv_eg_market;

/*
 * Finds the prices for all jobs of p, which must outlive the market.  About 50 n m^3
 * operations.
 */
struct gv_eg_market *gv_eg_market_open(const struct gv_problem *p);
void gv_eg_market_free(struct gv_eg_market *k);

/* The best shares x [n][m], and prices [m] that prove them. */
void gv_eg_market_shares(const struct gv_eg_market *k, double *x, double *price);

/*
 * log of thr_i(all) times what the others lose because job i is there,
 *
 *	log thr_i(all) + sum_{k != i} log (thr_k(all) / thr_k(all but i)),
 *
 * with rates as parts of the job's fastest.  Costs what its neighbours in prices do,
 * not n.  As a difference of two optima it is right to about 1e-13 n.
 */
double gv_eg_market_externality(struct gv_eg_market *k, size_t i);

#endif
