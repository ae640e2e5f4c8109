/* Events into a history. */
#ifndef GV_REPORT_READ_H
#define GV_REPORT_READ_H

#include "history.h"

/*
 * Takes all events of the present table of tab, to its end, and closes the history.
 * Errors are collected, so that one run shows them all.  A log may end in the middle
 * of a row, which its writer has yet to finish: this is no error unless the run has
 * ended, and *cut is its line (0: none).  0, or -1 with *e set.
 */
int history_read(struct history *h, struct gv_tab *tab, long *cut, struct gv_error *e);

#endif
