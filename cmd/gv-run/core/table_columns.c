#include "table_columns.h"

#include "base/mem.h"
#include "table.h"

const char *const table_computed[TABLE_COMPUTED] = {"steps_remaining", "elapsed_s",
    "isolated_elapsed_s", "share", "policy", "gpus_available"};

bool
table_computes(struct gv_cell name)
{
	size_t i;

	for (i = 0; i < TABLE_COMPUTED; i++)
		if (gv_cell_is(name, table_computed[i]))
			return true;
	return false;
}

void
table_add_columns(
    struct table_columns *c, const struct gv_frame *f, const struct gv_frame *unless_in)
{
	size_t i;

	c->name = gv_xrealloc(c->name, c->n + f->n_columns + 1, sizeof(*c->name));
	for (i = 0; i < f->n_columns; i++)
		if (!table_computes(f->name[i]) &&
		    (unless_in == NULL || gv_frame_find(unless_in, f->name[i].s) < 0))
			c->name[c->n++] = f->name[i].s;
}

void
table_write_header(struct gv_tabw *w, const struct table_columns *c, bool shares,
    bool policy, bool available)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		gv_tabw_str(w, c->name[i]);
	for (i = 0; i < 3 + (size_t)shares + (size_t)policy; i++)
		gv_tabw_str(w, table_computed[i]);
	if (available)
		gv_tabw_str(w, table_computed[TABLE_AVAILABLE]);
	gv_tabw_end(w);
}

void
table_write_carried(struct gv_tabw *w, const struct table_columns *c,
    const struct gv_frame *f, size_t row)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		gv_tabw_cell(w, gv_frame_cell(f, row, gv_frame_find(f, c->name[i])));
}
