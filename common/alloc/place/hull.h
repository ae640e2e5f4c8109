/*
 * Mixtures of placements.  A placement gives gangs whole GPUs at one moment: n_ij
 * jobs of class i run on type j,
 *
 *	sum_j n_ij <= n_i              each class i, of n_i jobs
 *	sum_i s_i n_ij <= N_j          each type j
 *	n_ij >= 0, whole
 *
 * Shares can be given in rounds exactly if they are the mean of placements, each
 * for a part of the time, in the convex hull of the points n_ij / n_i (jobs of a class
 * take turns).  The constraints of shares, the same without "whole", allow more: a
 * gang of 2 and a single job on a type of 2 GPUs could have all the time each.
 *
 * Programs over that hull are solved column by column (Dantzig and Wolfe 1960):
 * a restricted master mixes the placements found so far, and an integer program
 * (the pricing problem) looks for the placement of the largest value at its duals, until
 * none is worth more than those there are; that value bounds every mixture.
 */
#ifndef GV_ALLOC_HULL_H
#define GV_ALLOC_HULL_H

#include "lp/lp.h"
#include "placement_program.h"

struct gv_hull {
	const struct gv_problem *p;
	size_t n_placements, cap;
	double *point; /* [n_placements][n][m] n_ij */
	size_t cap_weights;
	double *weight;         /* [n_placements] in the last mixture; later ones 0 */
	struct gv_lp placement; /* the pricing problem */
	size_t *col;        /* [n][m] of n_ij there, SIZE_MAX where the job cannot run */
	size_t first_entry; /* of its last row, the value; one for each column */
};

void gv_hull_init(struct gv_hull *h, const struct gv_problem *p);
void gv_hull_free(struct gv_hull *h);

/*
 * Initial columns: the placements of so many rounds of deficit round-robin towards shares
 * x [n][m] of the jobs, and some with those whose shares are smaller than a round; a good
 * start where x can nearly be given.
 */
void gv_hull_add_rounds(struct gv_hull *h, const double *x, size_t rounds);

/*
 * Solves the program over all mixtures; g->mean is the best one.  The placements that are
 * there must suffice for a feasible mixture; those found are added.  0; 1 infeasible; -1
 * with *e set, where name is who asks.
 */
int gv_hull_solve(struct gv_hull *h, struct gv_placement_program *g, const char *name,
    struct gv_error *e);

#endif
