/*
 * Whether shares are the mean of placements (hull.h), seen without making them.
 *
 * At any moment so many gangs of each size run on each type, whole numbers c_sj that
 * fit: sum_s s c_sj <= N_j.  Which jobs they are is for each size a flow from jobs to
 * types, and flows with whole limits are means of whole flows (Birkhoff 1946; Dantzig
 * 1951): where the numbers stay for a while, any parts of that while will do that sum
 * to at most all of it for a job and c_sj for a type.
 *
 * So it is enough to find for each type a few such numbers, its stairs, and how long
 * each stays.  The jobs of a size that have a share x_i on this type alone can take
 * turns on stairs of height h_k and length w_k if and only if
 *
 *	sum of the n largest x_i  <=  sum_k w_k min(n, h_k)      for all n
 *
 * (Gale 1957).  Gangs that use several types get times of their own beforehand, which
 * lower the stairs; single GPUs that do are spread evenly.
 */
#ifndef GV_ALLOC_TURNS_H
#define GV_ALLOC_TURNS_H

#include <stdbool.h>

#include "alloc/problem/problem.h"

/* Jobs of one size that have the same share on one type alone. */
struct gv_turns_jobs {
	double share, jobs;
};

/* Gangs of one size on a type. */
struct gv_turns_size {
	double gang;
	struct gv_turns_jobs *jobs; /* [n] */
	size_t n, cap;
	double spread; /* of it evenly, in gangs */
};

/* A gang's time on a type, in [0, 1]. */
struct gv_turns_stay {
	size_t size;
	double from, to;
};

struct gv_turns_type {
	double gpus;
	size_t n_sizes;
	struct gv_turns_size *size; /* [n_sizes], smaller gangs first */
	struct gv_turns_stay *stay; /* [n_stays] */
	size_t n_stays, cap;
};

/*
 * Shares x [n][m] of the jobs, which GPUs and time allow but for rounding.  True: they
 * are the mean of placements, but for 1e-9.  False: they may be or not.
 */
bool gv_turns_exist(const struct gv_problem *p, const double *x);

/* The same by stairs alone, without groups (groups.h): a few linear programs of few rows. */
bool gv_turns_by_stairs(const struct gv_problem *p, const double *x);

/* The same for one type; jobs come back sorted.  One linear program of a few rows. */
bool gv_turns_fit(struct gv_turns_type *t);

#endif
