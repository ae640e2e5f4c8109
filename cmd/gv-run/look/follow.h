/* The events of a run as they come, out of its journal; the run need not know. */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "base/err.h"
#include "base/fileio.h"
#include "gv-run/core/settings.h"

/*
 * Writes all events of the run of settings.state to out, NULL = standard output, those that are
 * there and those to come, until the run is over; also across a run that is killed and
 * goes on.  0, also when the reader has gone, or -1 with *e set.
 */
int follow(const struct settings *o, struct gv_out *out, struct gv_error *e);

#endif
