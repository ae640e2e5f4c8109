/* Where a job keeps its things in the state: checkpoints, progress, log. */
#ifndef FILES_H
#define FILES_H

#include "base/err.h"
#include "state.h"
#include "table/tab.h"

/* All absolute. */
struct files {
	char *checkpoint_dir;
	char *progress;
	char *log;
};

/*
 * Names those of a job; free with files_free, also on error.  Nothing is made, since most
 * jobs of a long table wait for hours: a name that is too long and a log that is a pipe are
 * errors at once, whatever else is wrong shows when the job is launched.  0 or -1.
 */
int files_name(
    struct files *files, const struct state *s, struct gv_cell id, struct gv_error *e);
/* Makes what is not there, before each launch: it may have been removed.  0 or -1. */
int files_make(const struct files *files, struct gv_error *e);
void files_free(struct files *files);

/* Where the job tells its progress, in the state of that directory; the caller frees. */
char *files_progress(const char *dir, struct gv_cell id);

#endif
