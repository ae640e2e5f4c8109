/* The state of a run out of its journal: the events, replayed. */
#ifndef RESTORE_H
#define RESTORE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/fileio.h"
#include "gv-run/core/jobs.h"

/*
 * Replays DIR/events.csv, cutting off a torn last line; *any: there were
 * events.  *pairs: in, whether events shall say who shares GPUs; out, whether
 * they do.  A journal that did not so far, or has no checksums, is written
 * anew.  Damaged lines are errors; with repair they are warned about and left
 * out, and the journal as it was is kept as DIR/events.csv.damaged.  0 or -1.
 */
int restore(struct jobs *jobs, const char *dir, bool repair, bool *pairs, bool *any,
    struct gv_error *e);

/*
 * Writes to out what restore would leave out of the journal in dir: 1 =
 * something, 0 = nothing is damaged, -1 with *e set.
 */
int restore_inspect(const char *dir, struct gv_out *out, struct gv_error *e);

/*
 * Replays the whole lines of DIR/events.csv, to be looked at, also while a run writes
 * there; changes nothing.  0, or -1 with *e set: lines are damaged.
 */
int restore_view(struct jobs *jobs, const char *dir, struct gv_error *e);

#endif
