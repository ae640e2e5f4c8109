/* Tables and errors as parts of an answer. */
#ifndef RECORDED_FRAME_H
#define RECORDED_FRAME_H

#include "base/err.h"
#include "recorded.h"
#include "table/tab.h"

static inline void
recorded_cell(struct recorded *r, struct gv_cell c)
{
	recorded_whole(r, (long long)c.len);
	if (c.len > 0)
		recorded_bytes(r, c.s, c.len);
}

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
	size_t i, k;

	recorded_whole(r, (long long)f->n_rows);
	recorded_whole(r, f->header_line);
	for (k = 0; k < f->n_columns; k++)
		recorded_cell(r, f->name[k]);
	for (i = 0; i < f->n_rows; i++) {
		recorded_whole(r, f->line[i]);
		for (k = 0; k < f->n_columns; k++)
			recorded_cell(r, gv_frame_cell(f, i, (ptrdiff_t)k));
	}
}

#endif
