/* A table of changes, read: who goes, who comes and where (gv-tables(5), "Rates: changes"). */
#ifndef GV_ALLOC_CHANGES_H
#define GV_ALLOC_CHANGES_H

#include "sched/rates.h"

struct changes {
	bool *gone; /* [jobs that were there] */
	size_t n_gone;
	struct gv_rates new; /* rates of those who come, as in a whole table */
	size_t *place;       /* [new.n_jobs] in the next table, from 0, ascending */
};

/*
 * Reads the present table of t, changes of the table before, whose jobs get the numbers
 * that are others now.  0, or -1 with *e set, every bad cell located.
 */
int changes_read(struct changes *x, struct gv_rates *before, struct gv_tab *t,
    const struct gv_cluster *c, struct gv_error *e);
void changes_free(struct changes *x); /* also of a zeroed one */

#endif
