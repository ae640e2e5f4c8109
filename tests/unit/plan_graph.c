/* The order of layers: of those that wait for nothing always the lowest, on random graphs. */
#include "tap.h"

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "draws.h"
#include "plan/graph.h"

enum { MOST = 40 };

struct drawn {
	struct gv_graph g;
	struct gv_graph_edge edge[MOST * MOST];
};

/* Layers are numbered against their order as often as with it; in circles now and then. */
static void
draw_graph(struct drawn *d, size_t n)
{
	size_t place[MOST], i, k, density = 1 + below(9), shuffle = below(2);
	bool circles = below(4) == 0;

	d->g = (struct gv_graph){.n = n, .edge = d->edge};
	for (i = 0; i < n; i++)
		place[i] = i;
	for (i = n; shuffle != 0 && i > 1; i--) {
		size_t other = below(i), was = place[i - 1];

		place[i - 1] = place[other];
		place[other] = was;
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++)
			if (i != k && (place[i] < place[k] || circles) &&
			    below(n * (circles ? 3 : 1)) < density / 2 + (density == 1))
				d->edge[d->g.n_edges++] =
				    (struct gv_graph_edge){(uint32_t)i, (uint32_t)k};
}

static bool
feeds_any(const struct gv_graph *g, const bool *done, size_t v)
{
	size_t k;

	for (k = 0; k < g->n_edges; k++)
		if (g->edge[k].dst == v && !done[g->edge[k].src])
			return false;
	return true;
}

/* As many as can be put in order. */
static size_t
naive(const struct gv_graph *g, uint32_t *order, bool *done)
{
	size_t n, v;

	memset(done, 0, g->n * sizeof(*done));
	for (n = 0; n < g->n; n++) {
		for (v = 0; v < g->n && (done[v] || !feeds_any(g, done, v)); v++)
			;
		if (v == g->n)
			break;
		done[v] = true;
		order[n] = (uint32_t)v;
	}
	return n;
}

/* Whether each layer's list has what it feeds in the order of the edges. */
static bool
fed_right(const struct gv_graph *g)
{
	uint32_t *dst = gv_xcalloc(g->n_edges + 1, sizeof(*dst));
	size_t *at = gv_graph_fed(g, dst), v, k, n = 0;
	bool right = at[0] == 0;

	for (v = 0; v < g->n; v++) {
		for (k = 0; k < g->n_edges; k++)
			if (g->edge[k].src == v)
				right = right && dst[n++] == g->edge[k].dst;
		right = right && at[v + 1] == n;
	}
	free(at);
	free(dst);
	return right && n == g->n_edges;
}

static void
random_graphs(void)
{
	size_t wrong = 0, circles = 0, missed = 0, elsewhere = 0, fed = 0;
	uint32_t trial;

	for (trial = 0; trial < 3000; trial++) {
		struct drawn d;
		uint32_t order[MOST] = {0}, want[MOST] = {0};
		bool done[MOST];
		size_t n;
		int rc;

		draws_begin(3, trial, 0);
		draw_graph(&d, below(MOST + 1));
		n = naive(&d.g, want, done);
		rc = gv_graph_order(&d.g, order);
		fed += !fed_right(&d.g);
		if (n < d.g.n) {
			circles++;
			missed += rc != -1;
			for (n = 0; done[n]; n++)
				;
			elsewhere += order[0] != n;
		} else
			wrong += rc != 0 || memcmp(order, want, n * sizeof(*want)) != 0;
	}
	is_int(wrong, 0, "each layer behind its feeders, the lowest number first");
	is_int(missed, 0, "graphs with a circle have no order");
	is_int(elsewhere, 0, "and the layer that is named is the first on or behind it");
	is_int(fed, 0, "what each layer feeds");
	ok(circles > 100 && circles < 1500, "%zu have circles", circles);
}

int
main(void)
{
	struct gv_graph g = {.n = 3};

	gv_init("plan_graph");
	random_graphs();
	g.layer = gv_xcalloc(3, sizeof(*g.layer));
	g.edge = gv_xcalloc(1, sizeof(*g.edge));
	g.tie = gv_xcalloc(1, sizeof(*g.tie));
	gv_graph_free(&g);
	ok(g.n == 0 && g.layer == NULL && g.edge == NULL && g.tie == NULL,
	    "nothing is left of a freed graph");
	return done_testing();
}
