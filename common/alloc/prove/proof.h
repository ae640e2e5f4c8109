/*
 * The parts of certificates: numbers at work, what all policies share (proof.c),
 * and a proof for each kind of objective (proofs.c).
 */
#ifndef GV_ALLOC_PROOF_H
#define GV_ALLOC_PROOF_H

#include "certificate.h"
#include "exact.h"

/* The numbers at work; one of each, so that memory is taken once. */
struct gv_proof {
	const struct gv_problem *p;
	enum gv_measure measure;
	const struct gv_solution *s;
	struct gv_exact jobs;  /* M */
	struct gv_exact gpus;  /* of reference */
	struct gv_exact limit; /* C */
	double *per_level; /* [n] steps/s of a level of 1, about; of levels, else NULL */
	struct gv_exact
	    *mu; /* [n] of the jobs: what gv_proof_lagrangian() made of them */
	struct gv_exact *thr; /* [n] of the jobs where they share GPUs; else NULL */
	struct gv_exact sum, a, b, t; /* scratch of the functions below */
};

void gv_proof_init(struct gv_proof *w, const struct gv_problem *p,
    enum gv_measure measure, const struct gv_solution *s);
void gv_proof_free(struct gv_proof *w);

/* The GPUs that P_i and X^isolated are of. */
const double *gv_proof_reference(const struct gv_problem *p);
/* thr_i into x. */
void gv_proof_throughput(struct gv_proof *w, size_t i, struct gv_exact *x);
/* What so many steps/s of job i on type j gain in a sum, into x; what is no fraction is rounded so. */
void gv_proof_worth(struct gv_proof *w, size_t i, size_t j, double rate,
    enum gv_exact_round round, struct gv_exact *x);
/* g_ij of a sum, into x; what is no fraction is rounded so. */
void gv_proof_gain(struct gv_proof *w, size_t i, size_t j, enum gv_exact_round round,
    struct gv_exact *x);
/* Adds what times as much of a share of so many jobs costs in an hour. */
void gv_proof_add_cost(struct gv_exact *x, const struct gv_problem *p, size_t i, size_t j,
    double times, double jobs);
/*
 * What job i needs, where that counts in the limit: all needs of sums; of levels and
 * seconds those of jobs that the objective asks less of than they need; of finish times none.
 */
double gv_proof_need(const struct gv_proof *w, size_t i);
/*
 * limit = C - sum_i v_i q_i; 3600 times as much of GV_MEASURE_RATIO, whose gains are
 * those at a ratio r.
 */
void gv_proof_lagrangian(struct gv_proof *w, double r);

/* (x - limit) / limit where it is over 0, rounded up; limit 0: all of x is too much. */
double gv_proof_over(struct gv_proof *w, const struct gv_exact *x, double limit);

/* Parts of the above where jobs share GPUs (proof_pairs.c). */
void gv_proof_add_pairs(struct gv_proof *w);
void gv_proof_shares_pairs(struct gv_proof *w, struct gv_certificate *c);
void gv_proof_lagrangian_pairs(struct gv_proof *w);

/* Excess and shortfall. */
void gv_proof_shares(struct gv_proof *w, struct gv_certificate *c);
/* Objective, bound and gap, of measures that are the least of all, and so on. */
void gv_proof_level(struct gv_proof *w, struct gv_certificate *c);
void gv_proof_finish_time(struct gv_proof *w, struct gv_certificate *c);
void gv_proof_sum(struct gv_proof *w, struct gv_certificate *c);
void gv_proof_ratio(struct gv_proof *w, struct gv_certificate *c);

#endif
