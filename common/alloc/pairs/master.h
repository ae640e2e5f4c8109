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
struct gv_share {
	size_t a, b; /* b SIZE_MAX: alone */
	size_t type;
	double rate_a, rate_b;
	double unit;
	size_t col;
};

struct gv_master {
	const struct gv_problem *p;
	const struct gv_shared *h;
	struct gv_lp lp;
	struct gv_lp_basis basis;
	struct gv_lp_solution sol;
	size_t n, cap;
	struct gv_share *share; /* [n] */
	size_t level_col;       /* t */
	struct gv_hash made;    /* pairs that are in */
	struct gv_arena keys;

	double level;     /* t is that times its column */
	double *unit;     /* [n] of shares of one job of the row */
	double *gpu_unit; /* [m] of GPUs */
	size_t *demand;   /* [n] row of a job's throughput, SIZE_MAX = none */
	size_t *time;     /* [n] row of its time, SIZE_MAX = the job is not in yet */
	double size[2];   /* of the first and second sum: its gains are divided by that */
	size_t first_row; /* row that keeps the first sum, SIZE_MAX = not yet */
	double objective_scale; /* a sum, in the program, is that times what it is */
	int objective;          /* -1: t, 0: the first sum, 1: the second */
};

/* All jobs alone, or where t turns none yet.  plain: in the units of the problem. */
void gv_master_init(struct gv_master *m, const struct gv_shared *h, bool plain);
void gv_master_free(struct gv_master *m);

/* The rows of a job and its shares alone, if they are not in yet. */
void gv_master_add_job(struct gv_master *m, size_t i);

/* True: the pair was not in and is now. */
bool gv_master_add(struct gv_master *m, size_t a, size_t b, size_t pair, size_t type);

/* Maximises t (-1), the first sum (0) or the second (1) from now on, a sum times objective_scale. */
void gv_master_set_objective(struct gv_master *m, int objective, double objective_scale);
/* Whether t is what is looked for and has all that it may have. */
bool gv_master_at_most(const struct gv_master *m);
/* The optimum of sol. */
double gv_master_value(const struct gv_master *m);
/* Keeps t = level * value; the first sum at that of the program's sol or a little less. */
void gv_master_fix_level(struct gv_master *m, double value);
void gv_master_keep_sum(struct gv_master *m, double value);

/* Gain of a sum per pair of a share, in the units of the problem. */
double gv_master_gain(const struct gv_master *m, int sum, const struct gv_share *s);

/* The multipliers of sol, in the units of what is looked for; v has room. */
void gv_master_prices(const struct gv_master *m, struct gv_pair_prices *v);

/* lambda and price of the jobs' rows and types in those units.  [n], [m] */
void gv_master_duals(const struct gv_master *m, double *lambda, double *price);

/* The shares of sol, into h->s. */
void gv_master_shares(const struct gv_master *m);

#endif
