/* The rows of a sequence of layers. */
#include "export.h"

struct gv_cell
export_id(const struct export_plan *x, size_t i)
{
	const struct gv_frame *f = &x->l->rows;

	return gv_frame_cell(f, x->l->row[x->order[i]], gv_frame_find(f, "node_id"));
}

struct gv_cell
export_kind(const struct export_plan *x, size_t i)
{
	const struct gv_frame *f = &x->l->rows;
	ptrdiff_t at = gv_frame_find(f, "layer");

	return at < 0 ? export_id(x, i) : gv_frame_cell(f, x->l->row[x->order[i]], at);
}

size_t
export_stage(const struct export_plan *x, size_t i)
{
	return x->p->of[x->order[i]];
}
