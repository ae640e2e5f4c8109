#include "hamilton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "whole.h"

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
	if (w->kind == HAMILTON_RELAYED && w->h->relay[u * w->h->n + v] > 0)
		return true;
	return fabric_cap(w->f, u, v) > 0 &&
	       (w->kind != HAMILTON_CHAIN || fabric_cap(w->f, v, u) > 0);
}

static bool
is_ring(enum hamilton_kind kind)
{
	return kind == HAMILTON_RING || kind == HAMILTON_RELAYED;
}

/* Of each pair without a link, the GPU between that has the widest links to both. */
static void
find_relays(struct hamilton *h, const struct fabric *f)
{
	size_t n = h->n, u, v, w;

	h->relay = gv_xcalloc(n * n + 1, sizeof(*h->relay));
	for (u = 0; u < n; u++)
		for (v = 0; v < n; v++) {
			int64_t best = 0;

			for (w = 0; w < n && u != v && fabric_cap(f, u, v) == 0; w++) {
				int64_t there = fabric_cap(f, u, w),
					on = fabric_cap(f, w, v);

				if (on < there)
					there = on;
				if (there > best) {
					best = there;
					h->relay[u * n + v] = w + 1;
				}
			}
		}
}

size_t
hamilton_hop(const struct hamilton *h, size_t u, size_t v, size_t path[3])
{
	size_t relay = h->relay != NULL ? h->relay[u * h->n + v] : 0, n = 0;

	path[n++] = u;
	if (relay > 0)
		path[n++] = relay - 1;
	path[n++] = v;
	return n;
}

/* Goes on from at[0 .. depth); false when there are too many. */
static bool
walk_on(struct walk *w, size_t depth)
{
	struct hamilton *h = w->h;
	size_t v;

	if (depth == h->n) {
		GV_HOLDS(depth > 0);
		if (is_ring(w->kind) && !linked(w, w->at[depth - 1], w->at[0]))
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
	w->at[0] = is_ring(w->kind) ? 0 : root;
	w->seen[w->at[0]] = true;
	return walk_on(w, 1);
}

/* max sum of units, for each link: those over it <= what it carries. */
static int
choose(struct hamilton *h, const struct walk *w, struct gv_error *e)
{
	const struct fabric *f = w->f;
	struct gv_lp lp = {.maximise = true};
	size_t n = h->n, u, v, i, k, *row = gv_xcalloc(n * n, sizeof(*row));
	double *times = gv_xcalloc(n * n, sizeof(*times));
	int rc;

	for (u = 0; u < n; u++)
		for (v = 0; v < n; v++)
			if (fabric_cap(f, u, v) > 0 && linked(w, u, v) &&
			    (w->kind != HAMILTON_CHAIN || u < v)) {
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

		memset(times, 0, n * n * sizeof(*times));
		for (k = 0; k + (is_ring(w->kind) ? 0 : 1) < n; k++) {
			size_t path[3],
			    hops = hamilton_hop(h, at[k], at[(k + 1) % n], path), j;

			for (j = 0; j + 1 < hops; j++)
				times[path[j] * n + path[j + 1]]++;
		}
		for (k = 0; k < n * n; k++)
			if (times[k] > 0)
				gv_lp_set(&lp, row[k], column, times[k]);
	}
	free(times);
	rc = whole_units(&lp, 20, h->units, e);
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
	if (kind == HAMILTON_RELAYED)
		find_relays(h, f);
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
	free(h->relay);
	*h = (struct hamilton){0};
}
