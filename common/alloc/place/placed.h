/*
 * Levels and sums over the shares that rounds can really give (hull.h), and with a
 * budget for what the GPUs in use cost in an hour,
 *
 *	sum_i sum_j n_i s_i c_j x_ij <= B
 *
 * where B is p->budget, if it is above 0.  Bounds with placements are sure to
 * GV_TOL_PLACEMENT, and have no prices of GPUs.
 */
#ifndef GV_ALLOC_PLACED_H
#define GV_ALLOC_PLACED_H

#include "alloc/program/level.h"
#include "alloc/program/linear.h"
#include "lp/lp.h"

/*
 * placeable: over mixtures of placements, progress as of struct gv_placement_program.  relaxed: the same program without one of the
 * constraints, solved; its shares are where to start, and its bound holds here, too.
 * l->limit is set: sum lambda_i sum_j a_ij x_ij is at most that.  0, or -1 with *e set,
 * where name is who asks.
 */
int gv_placed_level(const struct gv_problem *p, const double *a, bool placeable,
    void (*progress)(double part), const struct gv_level *relaxed, const char *name,
    struct gv_level *l, struct gv_error *e);
int gv_placed_linear(struct gv_linear *l, bool placeable, void (*progress)(double part),
    const struct gv_solution *relaxed, const char *name, struct gv_error *e);

/*
 * --dump-lp: adds the budget, where there is one, to a policy's program, whose columns
 * are called x(i,j), or u and y(i,j) = u x(i,j), by its names.
 */
void gv_placed_add_budget(
    const struct gv_problem *p, struct gv_lp *lp, const struct gv_lp_names *names);

#endif
