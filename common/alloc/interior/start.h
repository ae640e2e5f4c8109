/* Where the method of interior.h begins; private to its files. */
#ifndef GV_ALLOC_INTERIOR_START_H
#define GV_ALLOC_INTERIOR_START_H

#include "newton.h"

/*
 * Sets the point: the shares of s->p->start, or if those are not inside equal ones, and
 * multipliers that suit them.
 */
void gv_interior_start(struct gv_interior_state *s);

#endif
