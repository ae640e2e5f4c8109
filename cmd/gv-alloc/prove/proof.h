/*
 * The parts of certificates: numbers at work, what all policies share (proof.c),
 * and a proof for each kind of objective (proofs.c).
 */
#ifndef GV_ALLOC_PROOF_H
#define GV_ALLOC_PROOF_H

#include "certificate.h"
#include "exact.h"

/* The numbers at work; one of each, so that memory is taken once. */
struct proof {
	const struct problem *p;
	enum measure measure;
	const struct solution *s;
	struct exact jobs;         /* M */
	struct exact gpus;         /* of reference */
	struct exact limit;        /* C */
	struct exact *thr;         /* [n] of the jobs where they share GPUs; else NULL */
	struct exact sum, a, b, t; /* scratch of the functions below */
};

void proof_init(struct proof *w, const struct problem *p, enum measure measure,
    const struct solution *s);
void proof_free(struct proof *w);

/* The GPUs that P_i and X^isolated are of. */
const double *proof_reference(const struct problem *p);
/* thr_i into x. */
void proof_throughput(struct proof *w, size_t i, struct exact *x);
/* What so many steps/s of job i on type j gain in a sum, into x; what is no fraction is rounded so. */
void proof_worth(struct proof *w, size_t i, size_t j, double rate, enum exact_round round,
    struct exact *x);
/* g_ij of a sum, into x; what is no fraction is rounded so. */
void proof_gain(
    struct proof *w, size_t i, size_t j, enum exact_round round, struct exact *x);
/* Adds what times as much of a share of so many jobs costs in an hour. */
void proof_add_cost(struct exact *x, const struct problem *p, size_t i, size_t j,
    double times, double jobs);
/*
 * limit = C - sum_i v_i q_i; 3600 times as much of MEASURE_RATIO, whose gains are
 * those at a ratio r.
 */
void proof_limit(struct proof *w, double r);

/* (x - limit) / limit where it is over 0, rounded up; limit 0: all of x is too much. */
double proof_over(struct proof *w, const struct exact *x, double limit);

/* Parts of the above where jobs share GPUs (proof_pairs.c). */
void proof_add_pairs(struct proof *w);
void proof_shares_pairs(struct proof *w, struct certificate *c);
void proof_limit_pairs(struct proof *w);

/* Excess and shortfall. */
void proof_shares(struct proof *w, struct certificate *c);
/* Objective, bound and gap, of measures that are the least of all, and so on. */
void proof_least(struct proof *w, struct certificate *c);
void proof_finish(struct proof *w, struct certificate *c);
void proof_sum(struct proof *w, struct certificate *c);
void proof_ratio(struct proof *w, struct certificate *c);

#endif
