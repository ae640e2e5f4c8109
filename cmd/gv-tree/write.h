/* A plan as the table of its trees, and as the lines of -v. */
#ifndef TREE_WRITE_H
#define TREE_WRITE_H

#include "base/fileio.h"
#include "gv-tree/import/xml.h"
#include "gv-tree/plan/plan.h"
#include "table/tab.h"

/* tree, root, weight, phase, src, dst, path */
void write_header(struct gv_tabw *w, struct gv_out *out, bool tsv);

/* A row for each edge of each tree; trees are numbered from first on, weights times part. */
void write_trees(struct gv_tabw *w, const struct plan *p, size_t first, double part);

/* src, dst, gbytes_per_s, kind: the rows of frame between nodes that f has. */
void write_links(
    struct gv_out *out, const struct gv_frame *frame, const struct fabric *f, bool tsv);

/* line, level, message */
void write_findings(struct gv_out *out, const struct xml_findings *f, bool tsv);

/* What is best, what is reached, and why no more is possible: on standard error. */
void say_plan(const struct plan *p);

#endif
