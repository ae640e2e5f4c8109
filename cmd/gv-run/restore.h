/* The state of a run out of its journal: the events, replayed. */
#ifndef RESTORE_H
#define RESTORE_H

#include <stdbool.h>

#include "base/err.h"
#include "jobs.h"

/*
 * Replays DIR/events.csv, cutting off a torn last line; *any: there were events.  *pairs:
 * in, whether events shall say who shares GPUs; out, whether they do: a journal that did
 * not so far is written anew with the column.  0 or -1.
 */
int restore(
    struct jobs *jobs, const char *dir, bool *pairs, bool *any, struct gv_error *e);

#endif
