/* Fewer prefixes for large graphs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "prefixes.h"

/* The fewest merges that leave at most limit prefixes; more merges leave fewer. */
static void
merge_until(
    struct prefixes *x, const struct graph *g, const uint32_t *group, size_t limit)
{
	struct graph_edge *merge = gv_xcalloc(x->n_groups, sizeof(*merge));
	uint32_t *merged = gv_xcalloc(g->n, sizeof(*merged));
	size_t low = 0, high = groups_merges(g, group, x->n_groups, merge);
	size_t n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		n = groups_after(g, group, x->n_groups, merge, mid, merged);
		if (ideals_make(&x->s, g, IDEALS_ALL, merged, n, limit) == 0)
			high = mid;
		else
			low = mid + 1;
		ideals_free(&x->s);
	}
	n = groups_after(g, group, x->n_groups, merge, high, merged);
	if (ideals_make(&x->s, g, IDEALS_ALL, merged, n, limit) != 0) {
		/* parts that no edge connects: one group, two prefixes */
		memset(merged, 0, g->n * sizeof(*merged));
		n = 1;
		ideals_make(&x->s, g, IDEALS_ALL, merged, n, 2);
	}
	x->n_groups = n;
	free(merge);
	free(merged);
}

void
prefixes_make(
    struct prefixes *x, const struct graph *g, enum ideals_kind kind, size_t limit)
{
	uint32_t *group;

	x->n_groups = g->n;
	x->exact = true;
	if (ideals_make(&x->s, g, kind, NULL, 0, limit + 1) == 0)
		return;
	x->exact = false;
	group = gv_xcalloc(g->n, sizeof(*group));
	x->n_groups = groups_linear(g, group);
	if (ideals_make(&x->s, g, IDEALS_ALL, group, x->n_groups, limit + 1) != 0)
		merge_until(x, g, group, limit + 1);
	free(group);
}

void
prefixes_free(struct prefixes *x)
{
	ideals_free(&x->s);
}
