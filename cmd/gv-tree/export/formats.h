/* The formats, one function each; export.h says what they write. */
#ifndef TREE_FORMATS_H
#define TREE_FORMATS_H

#include "base/err.h"
#include "base/fileio.h"
#include "gv-tree/plan/plan.h"

int export_dot(const struct plan *p, struct gv_out *out, struct gv_error *e);
int export_msccl(const struct plan *p, struct gv_out *out, struct gv_error *e);
int export_nccl_graph(const struct plan *p, struct gv_out *out, struct gv_error *e);
int export_tuner(const struct plan *p, struct gv_out *out, struct gv_error *e);

#endif
