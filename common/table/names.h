/* What row by row and whole tables share about names and cells; private to common/table. */
#ifndef GV_TABLE_NAMES_H
#define GV_TABLE_NAMES_H

#include "table/tab.h"

/* The place of wanted among name[0..n), or -1. */
ptrdiff_t gv_names_find(const struct gv_cell *name, size_t n, const char *wanted);

/* The error that wanted is not there, with the names that are.  -1. */
int gv_names_missing(const struct gv_cell *name, size_t n, const char *wanted,
    const char *file, long line, struct gv_error *e);

/* As gv_frame_warn_names, of name[0..n). */
void gv_names_warn(const struct gv_cell *name, size_t n, const char *const *known,
    size_t n_known, const char *file, long line, struct gv_error *w);

/* The names, and the cells of the present row, as arrays [n_columns]. */
const struct gv_cell *gv_tab_names(const struct gv_tab *t);
const struct gv_cell *gv_tab_cells(const struct gv_tab *t);

/* A cell as it stands after "got" in a message: quoted, or nothing.  Returns buf. */
char *gv_cell_shown(char buf[GV_QUOTE_LEN], struct gv_cell c);

#endif
