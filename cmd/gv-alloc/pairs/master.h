/*
 * The linear program of shared.h with the pairs made so far, in numbers of about 1,
 * and what its duals say.  Private to the files of shared.h.
 */
#ifndef GV_ALLOC_MASTER_H
#define GV_ALLOC_MASTER_H

#include "base/hash.h"
#include "base/mem.h"
#include "pricing.h"
#include "shared.h"

/* A share of a job, or of two: column of the program, x = unit z. */
struct share {
	size_t a, b; /* b SIZE_MAX: alone */
	size_t type;
	double rate_a, rate_b;
	double unit;
};

struct master {
	const struct problem *p;
	const struct shared *h;
	struct gv_lp lp;
	struct gv_lp_basis basis;
	struct gv_lp_solution sol;
	size_t n, cap;
	struct share *share; /* [n] column 1 + k is share k; column 0 is t */
	struct gv_hash made; /* pairs that are in */
	struct gv_arena keys;

	double level;   /* t is that times column 0 */
	double *unit;   /* [n] of shares of one job of the row */
	double *pool;   /* [m] of GPUs */
	size_t *rise;   /* [n] row of a job's throughput, SIZE_MAX = none */
	size_t *time;   /* [n] row of its time */
	double size[2]; /* of the first and second sum: its gains are divided by that */
	size_t lock;    /* row that keeps the first sum, SIZE_MAX = not yet */
	double zoom;    /* a sum, in the program, is that times what it is */
	int aim;        /* what is looked for: -1 t, 0 the first sum, 1 the second */
};

/* All jobs alone.  plain: in the units of the problem. */
void master_init(struct master *m, const struct shared *h, bool plain);
void master_free(struct master *m);

/* True: the pair was not in and is now. */
bool master_add(struct master *m, size_t a, size_t b, size_t pair, size_t type);

/* From now on looks for t (-1), the first sum (0) or the second (1), and the sum zoom times. */
void master_aim(struct master *m, int aim, double zoom);
/* The optimum of sol. */
double master_value(const struct master *m);
/* Keeps t = level * value; the first sum at that of the program's sol or a little less. */
void master_keep_level(struct master *m, double value);
void master_keep_sum(struct master *m, double value);

/* Gain of a sum per pair of a share, in the units of the problem. */
double master_gain(const struct master *m, int sum, const struct share *s);

/* The multipliers of sol, in the units of what is looked for; v has room. */
void master_prices(const struct master *m, struct pair_prices *v);

/*
 * Takes columns back that would add more than helps to an optimum of about 1 at the
 * prices v, which are those of sol; aside: sets those aside that are far from being of
 * use.  How many were taken back.
 */
size_t master_review(
    struct master *m, const struct pair_prices *v, double helps, bool aside);

/* The largest that a column which is in would add to an optimum of about 1; all should be 0. */
double master_late(const struct master *m, const struct pair_prices *v);

/* lambda and price of the jobs' rows and types in those units.  [n], [m] */
void master_duals(const struct master *m, double *lambda, double *price);

/* The shares of sol, into h->s. */
void master_shares(const struct master *m);

#endif
