/* What a whole GPU more of each type, or of a quota, would bring: by solving again. */
#ifndef GV_ALLOC_ONE_MORE_H
#define GV_ALLOC_ONE_MORE_H

#include "entity_levels.h"

struct gv_one_more {
	double change;   /* of the objective; NAN = nobody can run */
	size_t unlocked; /* jobs that can never run, and then could */
};

/*
 * For the jobs that can run now, also on types that then first have room for
 * them.  What their levels and times alone are compared with stays (reference in
 * problem.h), and so do the needs of their deadlines.  more [cluster types] is the
 * caller's; l, entities' levels of a, gets what it says of one more.  A quota is larger by
 * one with those of what the entity is in.  Solves once for each type and each entity that
 * opt->entities has; step, where not NULL, is told before each how many of them are done.
 * 0, or -1 with *e set.
 */
int gv_one_more_make(struct gv_one_more *more, struct gv_entity_levels *l,
    const struct gv_answer *a, const struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_policy *policy, const struct gv_answer_options *opt,
    void (*step)(size_t done, size_t of), struct gv_error *e);

#endif
