/* Fabrics, forests and plans of gv-tree as parts of an answer, and whether they are sound. */
#ifndef RECORDED_TREES_H
#define RECORDED_TREES_H

#include <stdlib.h>

#include "base/mem.h"
#include "gv-tree/plan/plan.h"
#include "recorded_frame.h"

static inline void
recorded_fabric(struct recorded *r, const struct fabric *f)
{
	size_t i;

	recorded_whole(r, (long long)f->n);
	recorded_whole(r, (long long)f->n_gpus);
	recorded_whole(r, f->unit);
	recorded_whole(r, f->lowered);
	for (i = 0; i < f->n; i++)
		recorded_text(r, f->name != NULL ? f->name[i] : "");
	for (i = 0; i < f->n * f->n; i++)
		recorded_whole(r, f->cap[i]);
}

static inline void
recorded_ratio(struct recorded *r, struct ratio x)
{
	recorded_whole(r, x.over);
	recorded_whole(r, x.under);
}

/* Weights that were rounded to very small parts come from GLPK: nine digits are kept. */
static inline void
recorded_forest(struct recorded *r, const struct forest *t)
{
	bool fine = t->unit.under > (int64_t)1 << 40;
	size_t i, k, h;

	recorded_whole(r, (long long)t->n);
	if (!fine)
		recorded_ratio(r, t->unit);
	for (i = 0; i < t->n; i++) {
		const struct tree *x = &t->tree[i];

		recorded_whole(r, (long long)x->root);
		if (fine)
			recorded_rounded(r,
			    (double)x->weight * (double)t->unit.over /
				(double)t->unit.under,
			    9);
		else
			recorded_whole(r, x->weight);
		recorded_whole(r, (long long)x->n_edges);
		for (k = 0; k < x->n_edges; k++)
			for (h = 0; h < x->edge[k].n_path; h++)
				recorded_whole(r, (long long)x->edge[k].path[h]);
	}
}

static inline void
recorded_plan(struct recorded *r, const struct plan *p)
{
	size_t v;

	recorded_whole(r, p->wish.method);
	recorded_fabric(r, &p->f);
	recorded_forest(r, &p->forest);
	recorded_rounded(r, p->optimum, 12);
	recorded_rounded(r, p->achieved, 9);
	recorded_rounded(r, p->busiest, 9);
	recorded_whole(r, (long long)p->busiest_from);
	recorded_whole(r, (long long)p->busiest_to);
	for (v = 0; p->side != NULL && v < p->f.n; v++)
		recorded_whole(r, p->side[v]);
}

/*
 * Whether each tree leads from its root to all GPUs, over switches alone, and no direction of a
 * pair carries more than it can (both_ways: each edge is used up and down).
 */
static inline bool
is_sound(const struct fabric *f, const struct forest *t, bool both_ways)
{
	double *load = gv_xcalloc(f->n * f->n, sizeof(*load));
	double unit = (double)t->unit.over / (double)t->unit.under / (double)f->unit;
	bool good = true;
	size_t i, k, h;

	for (i = 0; i < t->n; i++) {
		const struct tree *x = &t->tree[i];
		bool *has = gv_xcalloc(f->n, sizeof(*has));

		has[x->root] = true;
		good = good && x->weight > 0 && x->n_edges == f->n_gpus - 1;
		for (k = 0; k < x->n_edges; k++) {
			const struct tree_edge *e = &x->edge[k];

			good = good && has[e->from] && !has[e->to] && e->to < f->n_gpus &&
			       e->path[0] == e->from && e->path[e->n_path - 1] == e->to;
			has[e->to] = true;
			for (h = 0; h + 1 < e->n_path; h++) {
				load[e->path[h] * f->n + e->path[h + 1]] +=
				    (double)x->weight * unit;
				if (both_ways)
					load[e->path[h + 1] * f->n + e->path[h]] +=
					    (double)x->weight * unit;
			}
		}
		free(has);
	}
	for (i = 0; i < f->n * f->n; i++)
		good = good && load[i] <= (double)f->cap[i] * (1 + 1e-6);
	free(load);
	return good;
}

#endif
