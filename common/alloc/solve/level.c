#include "solve.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/pairs/shared_level.h"
#include "alloc/simplex/simplex.h"
#include "floored.h"
#include "unfloored.h"

int
gv_level_solve(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e)
{
	return l->floor != NULL ? gv_level_floored(p, a, opt, name, l, e)
				: gv_level_unfloored(p, a, opt, name, l, e);
}

/* ---- --dump-lp ---- */

/* Of a row "level(i)" the job i - 1; else SIZE_MAX. */
static size_t
job_of_level(const struct gv_lp_names *names, size_t row)
{
	static const char level[] = "level(";
	char name[GV_LP_NAME_LEN];

	names->row(names->ctx, row, name);
	if (strncmp(name, level, sizeof(level) - 1) != 0)
		return SIZE_MAX;
	return strtoul(name + sizeof(level) - 1, NULL, 10) - 1;
}

/* The names of rows up to n_rows and of all columns in a list, which takes more. */
static struct gv_lp_name_table *
list_names(const struct gv_lp *lp, size_t n_rows, struct gv_lp_names *names)
{
	struct gv_lp_names old = *names;
	struct gv_lp_name_table *list = gv_lp_name_table(lp, names);
	size_t i;

	for (i = 0; i < n_rows; i++)
		old.row(old.ctx, i, list->row[i]);
	for (i = 0; i < lp->n_cols; i++)
		old.col(old.ctx, i, list->col[i]);
	free(old.ctx);
	return list;
}

/* Rows "need(i)": what stands in "level(i)" but for t, as steps/s. */
static void
add_needs(const struct gv_problem *p, const double *a, const double *need,
    struct gv_lp *lp, struct gv_lp_names *names)
{
	size_t n_rows = lp->n_rows, n_entries = lp->n_entries;
	size_t *row = gv_xcalloc(p->n, sizeof(*row));
	struct gv_lp_name_table *list;
	size_t i, k;

	for (i = 0; i < p->n; i++)
		row[i] = need[i] > 0 ? gv_lp_add_row(lp, need[i], INFINITY) : SIZE_MAX;
	for (k = 0; k < n_entries; k++) {
		const struct gv_lp_entry entry = lp->entry[k];
		char col[GV_LP_NAME_LEN];

		i = job_of_level(names, entry.row);
		names->col(names->ctx, entry.col, col);
		if (i < p->n && row[i] != SIZE_MAX && strcmp(col, "t") != 0)
			gv_lp_set(lp, row[i], entry.col,
			    entry.value / gv_level_per_step(p, a, i));
	}
	list = list_names(lp, n_rows, names);
	for (i = 0; i < p->n; i++)
		if (row[i] != SIZE_MAX)
			snprintf(list->row[row[i]], GV_LP_NAME_LEN, "need(%zu)", i + 1);
	free(row);
}

static bool
any_need(const struct gv_problem *p, const double *need)
{
	size_t i;

	for (i = 0; need != NULL && i < p->n; i++)
		if (need[i] > 0)
			return true;
	return false;
}

void
gv_level_program(const struct gv_problem *p, const double *a, const double *need,
    struct gv_lp *lp, struct gv_lp_names *names)
{
	if (p->together != NULL)
		gv_shared_level_program(p, a, lp, names);
	else
		gv_level_lp(p, a, lp, names);
	if (any_need(p, need))
		add_needs(p, a, need, lp, names);
}
