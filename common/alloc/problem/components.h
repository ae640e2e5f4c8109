/*
 * Jobs that fall apart: components of jobs and GPU types such that no job can run on
 * another component's types, as when each job is of one node (nodes.h).  What does not
 * tie jobs together but by GPUs can be asked for each component alone.
 */
#ifndef GV_ALLOC_PROBLEM_COMPONENTS_H
#define GV_ALLOC_PROBLEM_COMPONENTS_H

#include "problem.h"

/* Components in the order of their first types, and the types and rows of each, in theirs. */
struct gv_components {
	size_t n;
	size_t m;                       /* types of the whole */
	size_t *first_type, *first_row; /* [n + 1] in type and row: from k's to k + 1's */
	size_t *type;                   /* types on which no job can run are in none */
	size_t *row;                    /* [rows of the whole] */
};

/*
 * By a [n][m]: row i can run on type j where a_ij > 0, and each row can somewhere.
 * O(n m).
 */
void gv_components_make(
    struct gv_components *g, const struct gv_problem *p, const double *a);
void gv_components_free(struct gv_components *g);

/* Whether there are several, whose problems are together at most half as large as the whole. */
bool gv_components_pay(const struct gv_components *g, const struct gv_problem *p);

/*
 * The problem of component k: without pairs, a tree of entities and a budget.  P_i is of
 * its GPUs alone (problem.h), larger by the same factor for all its jobs.  Frees by
 * gv_problem_free().
 */
void gv_components_problem(struct gv_problem *to, const struct gv_components *g, size_t k,
    const struct gv_problem *p);

/* Numbers of its types [m], rows [n] and both [n][m] from those of the whole; NULL of NULL.  The caller's. */
double *gv_components_types(const struct gv_components *g, size_t k, const double *from);
double *gv_components_rows(const struct gv_components *g, size_t k, const double *from);
double *gv_components_cells(const struct gv_components *g, size_t k, const double *from);
/* And back to where they are in those of the whole. */
void gv_components_put_types(
    const struct gv_components *g, size_t k, const double *from, double *to);
void gv_components_put_rows(
    const struct gv_components *g, size_t k, const double *from, double *to);
void gv_components_put_cells(
    const struct gv_components *g, size_t k, const double *from, double *to);

#endif
