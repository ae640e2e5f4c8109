/* How fast bytes pass between processes that a launcher has started, on any machines. */
#ifndef GV_PROFILE_LINK_GANG_H
#define GV_PROFILE_LINK_GANG_H

#include "link_times.h"
#include "net/gang.h"

/*
 * Joins the gang of s, of rule->n, and takes part in all measurements; on rank 0 fills
 * t[n][n].  The others' t is not whole.  0, or -1 with *e set.
 */
int link_gang_times(struct link_time *t, const struct link_rule *rule,
    const struct gv_gang_spec *s, struct gv_error *e);

#endif
