/* Policies by their full names, with options behind "+": max-min+agnostic. */
#ifndef GV_ALLOC_NAMED_H
#define GV_ALLOC_NAMED_H

#include "answer.h"

enum { GV_MOST_PARTS = 1000000 }; /* of +popK */

/*
 * The policy of a name, with +fifo or +none (inside entities), +agnostic, +placeable,
 * +relax-slo and +popK in this order behind it, which are set in *opt; *inside is set
 * where the name says how it is inside entities.  NULL: there is none of that name.
 */
const struct gv_policy *gv_policy_named(
    const char *name, struct gv_answer_options *opt, bool *inside);

/* The names of all policies, ", " between them, cut to len bytes with the NUL. */
void gv_policy_names(char *names, size_t len);

#endif
