/* Tables of transformers in, their plans out. */
#ifndef GV_PARTITION_TRANSFORMERS_H
#define GV_PARTITION_TRANSFORMERS_H

#include "base/err.h"
#include "ptd.h"
#include "table/tab.h"

struct transformer_row {
	struct transformer x;
	struct ptd_pins pins;
	const char *gpu_type; /* NULL: the row has none */
	size_t gpus;          /* 0: the row has none */
};

/* = {0} is empty. */
struct transformers {
	struct gv_frame rows;
	struct transformer_row *row; /* [rows.n_rows] */
};

/* Reads a table of transformers, gv-tables(5).  0, or -1 with *e set. */
int transformers_read(struct transformers *t, const char *path, struct gv_error *e);
void transformers_free(struct transformers *t);

/* What a row is called in messages: "FILE:LINE", or with its model "FILE:LINE: MODEL". */
void transformers_name(const struct transformers *t, size_t row, char *buf, size_t size);

/* The names of the columns: those of the table, then those of a plan that it lacks. */
void transformers_header(const struct transformers *t, struct gv_tabw *w);

/* A row with a plan in its columns; rank from 1. */
void transformers_write(const struct transformers *t, size_t row,
    const struct ptd_machine *m, const struct ptd_row *plan, size_t rank,
    struct gv_tabw *w);

#endif
