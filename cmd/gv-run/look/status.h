/* How the jobs of a run are, out of its state; the run need not know that it is asked. */
#ifndef STATUS_H
#define STATUS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/fileio.h"
#include "gv-run/core/settings.h"

/*
 * Writes the table "Status" of gv-tables(5) for the run of settings.state, as of the
 * last whole line of its journal, what its clock says and what running jobs have told
 * since.  aligned: for people.  Says, unless quiet, that no gv-run is there, and what waits
 * for one.  Reads only.  0, or -1 with *e set: no run there, or a damaged journal.
 */
int status_write(
    const struct settings *o, struct gv_out *out, bool aligned, struct gv_error *e);

#endif
