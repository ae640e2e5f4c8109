/* Fewer prefixes for large graphs. */
#include <stdlib.h>

#include "base/mem.h"
#include "groups.h"
#include "prefixes.h"

/* Whether the first k merges leave at most limit prefixes; more leave fewer. */
static bool
few_enough(const struct merges *m, size_t k, size_t limit, uint32_t *group)
{
	return ideals_few(m->g, group, merges_groups(m, k, group), limit);
}

void
prefixes_make(
    struct prefixes *x, const struct gv_graph *g, enum ideals_kind kind, size_t limit)
{
	size_t low = g->n > limit ? g->n - limit : 1, high;
	uint32_t *group;
	struct merges m;

	x->n_groups = g->n;
	x->exact = true;
	if (ideals_make(&x->s, g, kind, NULL, 0, limit + 1) == 0)
		return;
	x->exact = false;
	group = gv_xcalloc(g->n, sizeof(*group));
	merges_linear(&m, g);
	if (!few_enough(&m, m.n, limit + 1, group)) {
		low = m.n + 1 > low ? m.n + 1 : low;
		merges_further(&m);
	}
	for (high = m.n; low < high;) {
		size_t mid = (low + high) / 2;

		if (few_enough(&m, mid, limit + 1, group))
			high = mid;
		else
			low = mid + 1;
	}
	x->n_groups = merges_groups(&m, high, group);
	ideals_make(&x->s, g, kind, group, x->n_groups, limit + 1);
	merges_free(&m);
	free(group);
}

void
prefixes_free(struct prefixes *x)
{
	ideals_free(&x->s);
}
