/* A private directory that lives as long as the measurements. */
#ifndef GV_PROFILE_SCRATCH_H
#define GV_PROFILE_SCRATCH_H

#include "base/err.h"

/*
 * Makes one below dir, or where that is NULL below $TMPDIR (or /tmp).  Its absolute path, which the caller frees,
 * or NULL with *e set.
 */
char *scratch_make(const char *dir, struct gv_error *e);

/*
 * Removes it and all in it; tries twice, for what is in the way may pass.  0, or
 * -1 with *e set.
 */
int scratch_remove(const char *path, struct gv_error *e);

#endif
