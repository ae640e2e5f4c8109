/* A plan as the table of its trees, and as the lines of -v. */
#ifndef TREE_WRITE_H
#define TREE_WRITE_H

#include "base/fileio.h"
#include "plan.h"

/* tree, root, weight, phase, src, dst, path: a row for each edge of each tree. */
void write_trees(struct gv_out *out, const struct plan *p, bool tsv);

/* What is best, what is reached, and why no more is possible: on standard error. */
void say_plan(const struct plan *p);

#endif
