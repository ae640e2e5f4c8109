/* A table for people: its columns one below the other. */
#ifndef ALIGN_H
#define ALIGN_H

#include "base/fileio.h"
#include "table/tab.h"

/*
 * Writes it with two spaces between columns, numbers to the right and to four digits.  On a
 * terminal columns that have no room stand below, the first one again in front of them.
 * Cells that a terminal could take for more than text are quoted as in messages.
 */
void align_write(const struct gv_frame *f, struct gv_out *out);

#endif
