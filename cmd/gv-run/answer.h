/* What the policy has answered: checked, then taken as a whole or not at all. */
#ifndef ANSWER_H
#define ANSWER_H

#include "base/err.h"
#include "jobs.h"
#include "table/tab.h"

/*
 * Takes the shares of an allocation, an answer about the jobs asked[0..n_asked), if it
 * is good; pairs that are new are added.  f is freed.  0, or -1 with *e set.
 */
int answer_take(struct jobs *jobs, struct gv_frame *f, const size_t *asked,
    size_t n_asked, struct gv_error *e);

#endif
