#include "hamilton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/lp.h"

struct walk {
	struct hamilton *h;
	const struct fabric *f;
	enum hamilton_kind kind;
	size_t at[HAMILTON_GPUS];
	bool seen[HAMILTON_GPUS];
	size_t cap_order;
};

static bool
linked(const struct walk *w, size_t u, size_t v)
{
	return fabric_cap(w->f, u, v) > 0 &&
	       (w->kind != HAMILTON_CHAIN || fabric_cap(w->f, v, u) > 0);
}

/* Goes on from at[0 .. depth); false when there are too many. */
static bool
walk_on(struct walk *w, size_t depth)
{
	struct hamilton *h = w->h;
	size_t v;

	if (depth == h->n) {
		GV_HOLDS(depth > 0);
		if (w->kind == HAMILTON_RING && !linked(w, w->at[depth - 1], w->at[0]))
			return true;
		if (w->kind == HAMILTON_CHAIN && w->at[0] > w->at[depth - 1])
			return true;
		if (h->n_orders == HAMILTON_ORDERS)
			return false;
		h->order = gv_xgrow(
		    h->order, &w->cap_order, (h->n_orders + 1) * h->n, sizeof(*h->order));
		memcpy(&h->order[h->n_orders++ * h->n], w->at, h->n * sizeof(*w->at));
		return true;
	}
	for (v = 0; v < h->n; v++) {
		if (w->seen[v] || (depth > 0 && !linked(w, w->at[depth - 1], v)))
			continue;
		w->at[depth] = v;
		w->seen[v] = true;
		if (!walk_on(w, depth + 1))
			return false;
		w->seen[v] = false;
	}
	return true;
}

static bool
find_orders(struct walk *w, size_t root)
{
	if (w->kind == HAMILTON_CHAIN)
		return walk_on(w, 0);
	w->at[0] = w->kind == HAMILTON_RING ? 0 : root;
	w->seen[w->at[0]] = true;
	return walk_on(w, 1);
}

/* max sum of units, for each link: those over it <= what it carries. */
static int
choose(struct hamilton *h, const struct walk *w, struct gv_error *e)
{
	const struct fabric *f = w->f;
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution s = {0};
	struct gv_lp_options o = {.time_limit_s = 20};
	size_t n = h->n, u, v, i, k, *row = gv_xcalloc(n * n, sizeof(*row));
	int rc;

	for (u = 0; u < n; u++)
		for (v = 0; v < n; v++)
			if (linked(w, u, v) && (w->kind != HAMILTON_CHAIN || u < v)) {
				int64_t c = fabric_cap(f, u, v);

				if (w->kind == HAMILTON_CHAIN && fabric_cap(f, v, u) < c)
					c = fabric_cap(f, v, u);
				row[u * n + v] = gv_lp_add_row(&lp, -INFINITY, (double)c);
				if (w->kind == HAMILTON_CHAIN)
					row[v * n + u] = row[u * n + v];
			}
	for (i = 0; i < h->n_orders; i++) {
		const size_t *at = &h->order[i * n];
		size_t column = gv_lp_add_col(&lp, 0, INFINITY, 1);

		gv_lp_set_integer(&lp, column);
		for (k = 0; k + 1 < n; k++)
			gv_lp_set(&lp, row[at[k] * n + at[k + 1]], column, 1);
		if (w->kind == HAMILTON_RING)
			gv_lp_set(&lp, row[at[n - 1] * n + at[0]], column, 1);
	}
	rc = gv_lp_solve(&lp, &o, NULL, &s, e);
	if (rc == 0 &&
	    s.status != GV_LP_OPTIMAL) /* what a time limit left is no answer */
		rc = gv_error_set(e, "the integer program of orders was not solved: %s",
		    gv_lp_status_name(s.status));
	for (i = 0; rc == 0 && i < h->n_orders; i++)
		h->units[i] = llround(s.x[i]);
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
	free(row);
	return rc;
}

int
hamilton_pack(struct hamilton *h, const struct fabric *f, enum hamilton_kind kind,
    size_t root, struct gv_error *e)
{
	struct walk w = {.h = h, .f = f, .kind = kind};

	*h = (struct hamilton){.n = f->n_gpus};
	if (h->n > HAMILTON_GPUS)
		return gv_error_set(e,
		    "rings and chains are searched among at most %d "
		    "GPUs with direct links",
		    HAMILTON_GPUS);
	if (!find_orders(&w, root))
		return gv_error_set(e,
		    "more than %d rings or chains: too many to choose from",
		    HAMILTON_ORDERS);
	if (h->n_orders == 0)
		return 0;
	h->units = gv_xcalloc(h->n_orders, sizeof(*h->units));
	return choose(h, &w, e);
}

void
hamilton_free(struct hamilton *h)
{
	free(h->order);
	free(h->units);
	*h = (struct hamilton){0};
}
