#include "table/sort.h"

#include <stdlib.h>
#include <string.h>

void
gv_frame_sort(struct gv_frame *f, const size_t *order)
{
	struct gv_frame_row **row = gv_xcalloc(f->n_rows + 1, sizeof(*row));
	long *line = gv_xcalloc(f->n_rows + 1, sizeof(*line));
	size_t i;

	for (i = 0; i < f->n_rows; i++) {
		row[i] = f->row[order[i]];
		line[i] = f->line[order[i]];
	}
	if (f->n_rows > 0) {
		memcpy(f->row, row, f->n_rows * sizeof(*row));
		memcpy(f->line, line, f->n_rows * sizeof(*line));
	}
	free(row);
	free(line);
}
