/* The table Collectives: a row for each size. */
#ifndef COMM_ROWS_H
#define COMM_ROWS_H

#include <stddef.h>

#include "base/fileio.h"
#include "options.h"
#include "table/tab.h"

struct row {
	size_t count; /* as nccl-tests counts: of a rank's block where there are blocks */
	double time_s;      /* NAN = none */
	double wrong;       /* elements at all ranks; NAN = not looked at */
	double chunk_bytes; /* as in gv_coll_spec */
};

/* Elements of a buffer of so many bytes at most. */
size_t row_count(const struct gv_trees *t, const struct options *o, int64_t bytes);
/* Bytes of it: nccl-tests' size. */
double row_bytes(const struct gv_trees *t, const struct options *o, size_t count);

/* The size after this one; -1 behind the last. */
int64_t row_next(const struct options *o, int64_t bytes);

void rows_start(struct gv_tabw *w, struct gv_out *out, bool tsv);
void row_write(struct gv_tabw *w, const struct gv_trees *t, const struct options *o,
    const struct row *r);

#endif
