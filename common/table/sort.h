/* Another order of the rows of a table in memory. */
#ifndef GV_TABLE_SORT_H
#define GV_TABLE_SORT_H

#include "table/tab.h"

/* Row i is then what order[i], [n_rows], was. */
void gv_frame_sort(struct gv_frame *f, const size_t *order);

#endif
