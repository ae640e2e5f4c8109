#include "lp/lp.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The arrays of one kind grow together. */
static size_t
grown(size_t cap, size_t want)
{
	size_t n = cap < 64 ? 64 : cap + cap / 2;

	return n < want ? want : n;
}

size_t
gv_lp_add_row(struct gv_lp *lp, double lo, double hi)
{
	size_t i = lp->n_rows;

	if (i == lp->cap_rows) {
		lp->cap_rows = grown(lp->cap_rows, i + 1);
		lp->row_lo = gv_xrealloc(lp->row_lo, lp->cap_rows, sizeof(*lp->row_lo));
		lp->row_hi = gv_xrealloc(lp->row_hi, lp->cap_rows, sizeof(*lp->row_hi));
	}
	lp->row_lo[i] = lo;
	lp->row_hi[i] = hi;
	return lp->n_rows++;
}

size_t
gv_lp_add_col(struct gv_lp *lp, double lo, double hi, double cost)
{
	size_t j = lp->n_cols;

	if (j == lp->cap_cols) {
		lp->cap_cols = grown(lp->cap_cols, j + 1);
		lp->col_lo = gv_xrealloc(lp->col_lo, lp->cap_cols, sizeof(*lp->col_lo));
		lp->col_hi = gv_xrealloc(lp->col_hi, lp->cap_cols, sizeof(*lp->col_hi));
		lp->cost = gv_xrealloc(lp->cost, lp->cap_cols, sizeof(*lp->cost));
		lp->integer =
		    gv_xrealloc(lp->integer, lp->cap_cols, sizeof(*lp->integer));
	}
	lp->col_lo[j] = lo;
	lp->col_hi[j] = hi;
	lp->cost[j] = cost;
	lp->integer[j] = false;
	return lp->n_cols++;
}

void
gv_lp_set(struct gv_lp *lp, size_t row, size_t col, double value)
{
	if (value == 0)
		return;
	lp->entry =
	    gv_xgrow(lp->entry, &lp->cap_entries, lp->n_entries + 1, sizeof(*lp->entry));
	lp->entry[lp->n_entries++] = (struct gv_lp_entry){row, col, value};
}

void
gv_lp_set_integer(struct gv_lp *lp, size_t col)
{
	lp->integer[col] = true;
	lp->has_integer = true;
}

void
gv_lp_free(struct gv_lp *lp)
{
	free(lp->row_lo);
	free(lp->row_hi);
	free(lp->col_lo);
	free(lp->col_hi);
	free(lp->cost);
	free(lp->integer);
	free(lp->entry);
	*lp = (struct gv_lp){0};
}

const char *
gv_lp_status_name(enum gv_lp_status status)
{
	static const char *const name[] = {
	    "optimal", "infeasible", "unbounded", "limit reached", "failed"};

	return name[status];
}

void
gv_lp_basis_copy(struct gv_lp_basis *to, const struct gv_lp_basis *from)
{
	to->n_rows = from->n_rows;
	to->n_cols = from->n_cols;
	to->row = gv_xrealloc(to->row, from->n_rows, 1);
	to->col = gv_xrealloc(to->col, from->n_cols, 1);
	if (from->n_rows > 0)
		memcpy(to->row, from->row, from->n_rows);
	if (from->n_cols > 0)
		memcpy(to->col, from->col, from->n_cols);
}

void
gv_lp_basis_free(struct gv_lp_basis *b)
{
	free(b->row);
	free(b->col);
	*b = (struct gv_lp_basis){0};
}

void
gv_lp_solution_free(struct gv_lp_solution *s)
{
	free(s->x);
	free(s->row_dual);
	*s = (struct gv_lp_solution){0};
}
