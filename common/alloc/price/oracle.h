/*
 * The oracle of the dual (dual.h): what each of many jobs demands at given prices, and
 * what that sums to; the loops that look at every job, in columns.
 *
 * A job's best shares are at a vertex of {level reached, time <= 1}, where as many types
 * are used as constraints are tight: one type until the level is reached, or all the
 * time, or two types that reach the level in just all the time.
 *
 * The loops run in vectors of 8 (AVX-512), 4 (AVX2) or 1 numbers, whatever the
 * processor has.  All do the same operations in the same order on 8 sums, so all
 * give the same bits.
 */
#ifndef GV_ALLOC_ORACLE_H
#define GV_ALLOC_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * n jobs on m types.  Columns have room for a multiple of 8 jobs; those after the
 * last are zeros, which demand nothing.
 */
struct gv_oracle_jobs {
	size_t n, m;
	size_t stride; /* of the columns, n rounded up */
	double *use;   /* [stride] GPUs of a type that a share of 1 takes */
	double *a;     /* [m][stride] level per share; 0 = cannot run */
	double *gain;  /* [m][stride] second objective, per share; NULL = nobody asks */
	size_t *of;    /* [n] where a job is in the jobs it was picked from, or NULL */
	void *memory;
};

/* gains false: there is no room for them, gain is NULL. */
void gv_oracle_jobs_alloc(struct gv_oracle_jobs *c, size_t n, size_t m, bool gains);
/* From rows a, gain [n][m]. */
void gv_oracle_jobs_fill(struct gv_oracle_jobs *c, size_t n, size_t m, const double *a,
    const double *use, const double *gain);
/* Job k is job from + k step of c. */
void gv_oracle_jobs_sample(
    struct gv_oracle_jobs *to, const struct gv_oracle_jobs *c, size_t from, size_t step);
/* The n jobs of[] of c; of[] is handed over. */
void gv_oracle_jobs_pick(
    struct gv_oracle_jobs *to, const struct gv_oracle_jobs *c, size_t *of, size_t n);
void gv_oracle_jobs_free(struct gv_oracle_jobs *c);

/*
 * What is asked of all jobs: prices p of the types' GPUs, and the level.
 *
 * With gains a job demands what gains most after cost, else what costs least.  With
 * face it demands only what costs least at those prices, but for a part of GV_TOL_FACE.
 */
struct gv_dual_point {
	const double *price; /* [m] */
	const double *face;  /* [m], NULL = none */
	double level;
	bool gains;
};

/* What all demand together. */
struct gv_demand {
	double *used;       /* [m] GPUs */
	double *used_slope; /* [m] by the level: d used / d level, below it */
	double gain;
	double lambda; /* d cost / d level, below the level */
};

/* used_j(p) and so on, the sums over all jobs. */
void gv_oracle_demand(
    const struct gv_oracle_jobs *c, const struct gv_dual_point *o, struct gv_demand *t);

/* About the operations that a demand takes. */
double gv_oracle_effort(const struct gv_oracle_jobs *c, const struct gv_dual_point *o);

/*
 * Fixes jobs: the demand of only those that demand the same at all prices in [lo, hi], and at all levels
 * within part of o->level; the others
 * are listed in free_jobs [n].  Their number.
 * t->used at o->level.
 */
size_t gv_oracle_fix(const struct gv_oracle_jobs *c, const struct gv_dual_point *o,
    const double *lo, const double *hi, double part, struct gv_demand *t,
    size_t *free_jobs);

/*
 * Their shares, times factor, added to x [n][m], NULL = not (of the jobs c was picked
 * from where c->of says so).  lambda NULL, or [n]: d cost / d level of each, set.
 */
void gv_oracle_add_shares(const struct gv_oracle_jobs *c, const struct gv_dual_point *o,
    double factor, double *x, double *lambda);
/* Sets x instead of adding to it. */
void gv_oracle_set_shares(const struct gv_oracle_jobs *c, const struct gv_dual_point *o,
    double factor, double *x, double *lambda);

/* min_i max_j a_ij and the first i that has it. */
double gv_oracle_time_bound(const struct gv_oracle_jobs *c, size_t *job);

/*
 * For tests: only vectors of that many numbers; 0 = as many as there are.  False:
 * this processor has none of them.
 */
bool gv_oracle_force(int lanes);

#endif
