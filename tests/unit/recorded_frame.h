/* Tables and errors as parts of an answer. */
#ifndef RECORDED_FRAME_H
#define RECORDED_FRAME_H

#include "base/err.h"
#include "recorded.h"
#include "table/tab.h"

static inline void
recorded_error(struct recorded *r, const struct gv_error *e)
{
	size_t i;

	recorded_whole(r, (long long)e->count);
	for (i = 0; i < e->count && i < GV_ERROR_KEPT; i++)
		recorded_text(r, e->text[i]);
}

static inline void
recorded_frame(struct recorded *r, const struct gv_frame *f)
{
	size_t row, i;

	recorded_whole(r, (long long)f->n_rows);
	for (i = 0; i < f->n_columns; i++)
		recorded_text(r, f->name[i].s);
	for (row = 0; row < f->n_rows; row++) {
		recorded_whole(r, f->line[row]);
		for (i = 0; i < f->n_columns; i++)
			recorded_text(r, gv_frame_cell(f, row, (ptrdiff_t)i).s);
	}
}

#endif
