#include "available.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What a row says of its type, first[] being the rows that said so before, SIZE_MAX = none. */
static int
take_row(const struct gv_rates *r, size_t row, ptrdiff_t column, struct gv_cluster *now,
    const struct gv_cluster *c, size_t *first, struct gv_error *e)
{
	const struct gv_frame *f = &r->frame;
	struct gv_cell cell = gv_frame_cell(f, r->rate[row].row, column);
	size_t type = (size_t)r->rate[row].type;
	struct gv_gpu_type *t = &now->type[type];
	char q[GV_QUOTE_LEN];
	int64_t gpus;

	if (gv_frame_int(f, r->rate[row].row, column, 0, &gpus, e) != 0)
		return -1;
	gv_quote(q, cell.s, cell.len);
	if (gpus < 0)
		return gv_frame_error(f, r->rate[row].row, column, e,
		    "expected a whole number >= 0, got %s", q);
	if (first[type] != SIZE_MAX && t->gpus != (size_t)gpus)
		return gv_frame_error(f, r->rate[row].row, column, e,
		    "expected %zu as at line %ld, got %s", t->gpus,
		    f->line[r->rate[first[type]].row], q);
	if (first[type] == SIZE_MAX)
		first[type] = row;
	t->gpus = (size_t)gpus;
	t->away = c->type[type].gpus > t->gpus ? c->type[type].gpus - t->gpus : 0;
	return 0;
}

int
gv_rates_available(const struct gv_rates *r, const struct gv_cluster *c,
    struct gv_cluster *now, struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(&r->frame, "gpus_available");
	size_t *first;
	size_t i;
	int rc = 0;

	*now = *c;
	now->type = gv_xcalloc(c->n_types + 1, sizeof(*now->type));
	memcpy(now->type, c->type, c->n_types * sizeof(*now->type));
	if (column < 0)
		return 0;
	first = gv_xcalloc(c->n_types + 1, sizeof(*first));
	for (i = 0; i < c->n_types; i++)
		first[i] = SIZE_MAX;
	for (i = 0; i < r->n_rates; i++)
		if (r->rate[i].type >= 0 &&
		    gv_frame_cell(&r->frame, r->rate[i].row, column).len > 0)
			rc |= take_row(r, i, column, now, c, first, e);
	free(first);
	return rc == 0 ? 0 : -1;
}
