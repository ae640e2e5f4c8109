/* All stages of a filling: phases from an inequality that is full to the next (water_filling.c). */
#ifndef GV_ALLOC_FILLING_STAGES_H
#define GV_ALLOC_FILLING_STAGES_H

#include "alloc/solve/solve.h"
#include "filling.h"

struct gv_shared_warm;

/* How far all can go on: gv_climb_go_on() of what it is of (pairs/climb.h), or as that. */
struct gv_filling_path {
	void *of;
	int (*go_on)(void *of, const double *from, const double *by, double most,
	    double *t, bool *blocked, struct gv_reach *r, struct gv_error *e);
};

struct gv_filling_quality {
	/* how far an inequality that frozen jobs is from full, relative */
	double unproved;
	bool exact; /* all were proved in rational arithmetic */
};

/*
 * Fills f up, to f->have.  warm: of pairs, from one program to the next.  path: where not
 * NULL, each phase is stepped through from job to job, by its program, and opt may be NULL.
 * 0, or -1 with *e set.
 */
int gv_filling_fill(struct gv_filling *f, const struct gv_solver_options *opt,
    struct gv_shared_warm *warm, const struct gv_filling_path *path,
    struct gv_filling_quality *q, struct gv_error *e);

#endif
