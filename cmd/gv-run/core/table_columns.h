/* The columns of a run's tables: those that it computes, and those it carries through. */
#ifndef TABLE_COLUMNS_H
#define TABLE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "table/tab.h"

/* In the order they are written in; the last says how many GPUs of a type are there. */
enum { TABLE_AVAILABLE = 5, TABLE_COMPUTED };
extern const char *const table_computed[TABLE_COMPUTED];

/* Names carried through, of up to two tables; name is the owner's. */
struct table_columns {
	size_t n;
	const char **name; /* of the tables */
};

/* The columns of a table but computed ones and those of another (NULL = none). */
void table_add_columns(
    struct table_columns *c, const struct gv_frame *f, const struct gv_frame *unless_in);
/* The names; of computed ones the first three, and those that are asked for. */
void table_write_header(struct gv_tabw *w, const struct table_columns *c, bool shares,
    bool policy, bool available);
/* A row's cells; empty where its table has no such column. */
void table_write_carried(struct gv_tabw *w, const struct table_columns *c,
    const struct gv_frame *f, size_t row);

#endif
