/*
 * Patterns: what may run at once on the GPUs of one type, and which of all is worth the most.
 */
#ifndef GV_ALLOC_PATTERNS_H
#define GV_ALLOC_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#include "alloc/problem/problem.h"
#include "knapsack.h"

struct gv_pattern_entry {
	size_t row; /* class */
	double jobs;
};

struct gv_pattern {
	size_t type;
	size_t first, n; /* entries */
	double gain;     /* of all its jobs */
	size_t col;      /* the caller's; SIZE_MAX in a new one */
};

/* Those that are known, and what the numbers of jobs n_ij are held to; = {0} is none. */
struct gv_patterns {
	const struct gv_problem *p;
	double *gain; /* [n][m] of a job, above 0 where it may run; the caller's to set */
	double *lo, *hi; /* [n][m] of n_ij; likewise */
	size_t n, cap, n_entries, cap_entries;
	struct gv_pattern *pattern;
	struct gv_pattern_entry *entry;
	double *jobs;                  /* [n] of one pattern */
	struct gv_knapsack_item *item; /* [n] */
	struct gv_knapsack knapsack;
	double worked; /* jobs times GPUs of knapsacks so far */
};

/* For a problem that outlives it, with gains and bounds of 0. */
void gv_patterns_init(struct gv_patterns *s, const struct gv_problem *p);
void gv_patterns_free(struct gv_patterns *s);

/* Which is the type's pattern of these jobs [n], a new one if it is not known.  Time: of all that are. */
size_t gv_patterns_of(struct gv_patterns *s, size_t type, const double *jobs);

/* Whether its jobs are within the bounds, those of other types' least included. */
bool gv_patterns_allows(struct gv_patterns *s, const struct gv_pattern *a);

/* What it gains more than the multipliers [n] of its jobs. */
double gv_patterns_gain_above(
    const struct gv_patterns *s, const struct gv_pattern *a, const double *multiplier);

/*
 * The best pattern of a type within the bounds, into jobs, where a job of class i gains gain_ij -
 * u_i: what it gains so, INFINITY where its knapsack is too large, -INFINITY where none fits.
 */
double gv_patterns_best(struct gv_patterns *s, size_t type, const double *u);

#endif
