/* A private directory that lives as long as the measurements. */
#ifndef GV_PROFILE_SCRATCH_H
#define GV_PROFILE_SCRATCH_H

#include "base/err.h"

/* Makes one below $TMPDIR (or /tmp); its absolute path, which the caller frees, or NULL with *e set. */
char *scratch_make(struct gv_error *e);

#endif
