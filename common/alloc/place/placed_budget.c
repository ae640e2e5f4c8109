#include "placed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
gv_placed_add_budget(
    const struct gv_problem *p, struct gv_lp *lp, const struct gv_lp_names *names)
{
	size_t col, row;

	if (p->budget == 0)
		return;
	row = gv_lp_add_row(lp, -INFINITY, p->budget);
	for (col = 0; col < lp->n_cols; col++) {
		char name[GV_LP_NAME_LEN];
		char *end;
		size_t i, j;

		names->col(names->ctx, col, name);
		if (strcmp(name, "u") == 0) {
			gv_lp_set(lp, row, col, -p->budget);
			lp->row_hi[row] = 0;
		}
		if (name[0] == '\0' || name[1] != '(') /* no x(i,j) or y(i,j) */
			continue;
		i = strtoul(name + 2, &end, 10) - 1;
		j = strtoul(end + 1, NULL, 10) - 1;
		gv_lp_set(lp, row, col, p->count[i] * p->scale[i] * p->price[j]);
	}
}
