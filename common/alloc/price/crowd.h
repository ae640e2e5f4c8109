/*
 * Many jobs in columns, and what they choose at prices: the loops of price.c that
 * look at every job.
 *
 * The best shares of a job are at a corner of {level reached, time <= 1}: one type
 * until the level is reached, or all the time, or two types that reach the level in
 * just all the time.
 *
 * The loops run in vectors of 8 (AVX-512), 4 (AVX2) or 1 numbers, whatever the
 * processor has.  All do the same operations in the same order on 8 sums, so all
 * give the same bits.
 */
#ifndef GV_ALLOC_CROWD_H
#define GV_ALLOC_CROWD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * n jobs on m types.  Columns have room for a multiple of 8 jobs; those behind the
 * last are zeros, which choose nothing.
 */
struct gv_crowd {
	size_t n, m;
	size_t stride; /* of the columns, n rounded up */
	double *use;   /* [stride] GPUs of a type that a share of 1 takes */
	double *a;     /* [m][stride] level per share; 0 = cannot run */
	double *gain;  /* [m][stride] second objective, per share; NULL = nobody asks */
	size_t *of;    /* [n] where a job is in the crowd it was picked from, or NULL */
	void *memory;
};

/* gains false: there is no room for them, gain is NULL. */
void gv_crowd_alloc(struct gv_crowd *c, size_t n, size_t m, bool gains);
/* From rows a, gain [n][m]. */
void gv_crowd_fill(struct gv_crowd *c, size_t n, size_t m, const double *a,
    const double *use, const double *gain);
/* Job k is job from + k step of c. */
void gv_crowd_sample(
    struct gv_crowd *to, const struct gv_crowd *c, size_t from, size_t step);
/* The n jobs of[] of c; of[] is handed over. */
void gv_crowd_pick(struct gv_crowd *to, const struct gv_crowd *c, size_t *of, size_t n);
void gv_crowd_free(struct gv_crowd *c);

/*
 * What is asked of all jobs: prices p of the types' GPUs, and the level.
 *
 * With gains a job takes what gains most after cost, else what costs least.  With
 * face it takes only what costs least at those prices, but for a part of 1e-9.
 */
struct gv_offer {
	const double *price; /* [m] */
	const double *face;  /* [m], NULL = none */
	double level;
	bool gains;
};

/* What all take together. */
struct gv_taken {
	double *used;  /* [m] GPUs */
	double *grows; /* [m] by the level: d used / d level, below it */
	double gain;
	double lambda; /* d cost / d level, below the level */
};

void gv_crowd_take(
    const struct gv_crowd *c, const struct gv_offer *o, struct gv_taken *t);

/*
 * Only of the jobs that take the same at all prices in [lo, hi], and at all levels
 * within part of o->level; the others are listed in open [n].  Their number.
 * t->used at o->level.
 */
size_t gv_crowd_fold(const struct gv_crowd *c, const struct gv_offer *o, const double *lo,
    const double *hi, double part, struct gv_taken *t, size_t *open);

/*
 * Their shares, times factor, added to x [n][m], NULL = not (of the crowd c was picked
 * from where c->of says so).  lambda NULL, or [n]: d cost / d level of each, set.
 */
void gv_crowd_shares(const struct gv_crowd *c, const struct gv_offer *o, double factor,
    double *x, double *lambda);
/* The same; x is set. */
void gv_crowd_set_shares(const struct gv_crowd *c, const struct gv_offer *o,
    double factor, double *x, double *lambda);

/* min_i max_j a_ij and the first i that has it. */
double gv_crowd_time_bound(const struct gv_crowd *c, size_t *job);

/*
 * For tests: only vectors of that many numbers; 0 = as many as there are.  False:
 * this processor has none of them.
 */
bool gv_crowd_force(int lanes);

#endif
