/*
 * What programs of placements (placed.h) are over, and what they share: the set P with its
 * costs, columns to begin with, and what second stages may take.
 */
#ifndef GV_ALLOC_DOMAIN_H
#define GV_ALLOC_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "hull.h"
#include "placement_program.h"

/*
 * What a second stage may take, about a second: best placements, times cells, and rows
 * squared times columns of masters.  Hundreds of placements bring the last thousandth.
 */
enum { GV_MOST_EXACT = 2000 };

#define GV_SECOND_EFFORT 1e9

/* And a first stage, some seconds, after which what is missing is said. */
#define GV_FIRST_EFFORT 1e10

/* The best face may be too thin for the simplex method: then this part less will do. */
extern const double gv_domain_slack[2];

/* The set P that a program is over (placement_program.h). */
struct gv_domain {
	const struct gv_problem *p;
	struct gv_hull *hull; /* NULL = fractional placements */
	struct gv_hull own_hull;
	double *cost; /* [n][m] of a job, in units of dollars; NULL = none */
	void (*progress)(double part); /* of first stages */
	double unit;                   /* a power of two about as large as the budget */
};

/* Of p, which must outlive it; placeable: over mixtures of placements. */
void gv_domain_init(struct gv_domain *w, const struct gv_problem *p, bool placeable);
void gv_domain_free(struct gv_domain *w);

/* Initial columns: rounds towards shares x [n][m], two for each row of the programs. */
void gv_domain_seed(struct gv_domain *w, const double *x);

/*
 * Solves g over P and under the budget: as gv_placement_program_solve(), where name is who
 * asks.
 */
int gv_domain_solve(struct gv_domain *w, struct gv_placement_program *g, const char *name,
    struct gv_error *e);

/* x_ij = n_ij / n_i, of mean [n][m] into x [n][m]: the jobs of a class take turns. */
void gv_domain_shares(const struct gv_problem *p, const double *mean, double *x);

/* The largest absolute value of v [n], 0 of none. */
double gv_domain_largest(const double *v, size_t n);

/* v [n] / by: numbers of at most 1.  The caller's. */
double *gv_domain_scaled(const double *v, size_t n, double by);

#endif
