/* All stages of a filling: phases from an inequality that is full to the next (water_filling.c). */
#ifndef GV_ALLOC_FILLING_STAGES_H
#define GV_ALLOC_FILLING_STAGES_H

#include "alloc/solve/solve.h"
#include "filling.h"

struct gv_climb;
struct gv_shared_warm;

struct gv_filling_quality {
	/* how far an inequality that frozen jobs is from full, relative */
	double unproved;
	bool exact; /* all were proved in rational arithmetic */
};

/*
 * Fills f up, to f->have.  warm: of pairs, from one program to the next.  path: where not
 * NULL, each phase is stepped through from job to job, by its program.  0, or -1 with *e set.
 */
int gv_filling_fill(struct gv_filling *f, const struct gv_solver_options *opt,
    struct gv_shared_warm *warm, struct gv_climb *path, struct gv_filling_quality *q,
    struct gv_error *e);

#endif
