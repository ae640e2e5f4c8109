/* What --expect-finished and --expect-shares ask. */
#ifndef GV_REPORT_EXPECT_H
#define GV_REPORT_EXPECT_H

#include "gv-report/history/parts.h"

/* Every job has finished.  0, or -1 with a message in *e for each that has not. */
int expect_finished(const struct report *r, struct gv_error *e);

/*
 * Every share received is within points percentage points of the share
 * promised, for each job on each type.  0, or -1 with a message for each.
 */
int expect_shares(const struct report *r, double points, struct gv_error *e);

#endif
