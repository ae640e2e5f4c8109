/* gv-tree's cores on drawn fabrics: flows, rates, packings, orders and ways are what they were. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draws.h"
#include "gv-tree/forest/branch.h"
#include "gv-tree/forest/few.h"
#include "gv-tree/forest/routes.h"
#include "gv-tree/named/arborescence.h"
#include "gv-tree/named/hamilton.h"
#include "gv-tree/named/ways.h"
#include "gv-tree/packing/packing.h"
#include "recorded_trees.h"

static struct gv_error e;

/* A capacity: of one, small, any, or very large. */
static int64_t
draw_cap(size_t kind)
{
	switch (kind) {
	case 0:
		return 1;
	case 1:
		return (int64_t)below(4);
	case 2:
		return 1 + (int64_t)below(1000);
	case 3:
		return (int64_t)1 << below(38);
	default:
		return 12 * (int64_t)(1 + below(3));
	}
}

static void
draw_fabric(struct fabric *f, size_t gpus, size_t switches)
{
	size_t kind = below(5), density = 3 + below(8), u, v;
	bool equal = below(3) > 0;

	*f = (struct fabric){.n = gpus + switches, .n_gpus = gpus, .unit = 1};
	f->name = gv_xcalloc(f->n, sizeof(*f->name));
	f->cap = gv_xcalloc(f->n * f->n, sizeof(*f->cap));
	for (u = 0; u < f->n; u++) {
		char name[32];

		snprintf(name, sizeof(name), u < gpus ? "gpu%zu" : "sw%zu", u);
		f->name[u] = gv_xstrdup(name);
		for (v = 0; v < u; v++) {
			if (below(10) >= density)
				continue;
			fabric_cap(f, u, v) = draw_cap(kind);
			fabric_cap(f, v, u) =
			    equal ? fabric_cap(f, u, v) : draw_cap(kind);
		}
	}
}

/* Shares of the roots, one of them at least. */
static void
draw_demand(struct demand *d, const struct fabric *f)
{
	size_t kind = below(3), v;

	if (kind == 0) {
		demand_of_root(d, f, below(f->n_gpus));
	} else if (kind == 1) {
		demand_of_all(d, f);
	} else {
		d->share = gv_xcalloc(f->n_gpus + 1, sizeof(*d->share));
		d->share[below(f->n_gpus)] = 1;
		for (d->sum = 0, v = 0; v < f->n_gpus; v++) {
			d->share[v] += (int64_t)below(3);
			d->sum += d->share[v];
		}
	}
}

/* ---- flows ---- */

static void
ask_flow(struct recorded *r, struct flow *f)
{
	size_t n = 2 + below(7), arcs = below(25), k, v;

	flow_start(f, n);
	for (k = 0; k < arcs; k++) {
		size_t u = below(n);

		v = below(n);
		flow_arc(f, u, v, (int64_t)below(7) - 1);
	}
	for (k = 0; k < 4; k++) {
		size_t s = below(n), t = (s + 1 + below(n - 1)) % n;
		int64_t limit = below(2) == 0 ? FLOW_MAX : (int64_t)below(6);

		recorded_whole(r, flow_run(f, s, t, limit));
		for (v = 0; v < n; v++)
			recorded_whole(r, flow_on_source_side(f, v));
		for (v = 0; v < f->n_arcs; v++)
			recorded_whole(r, f->arc[v].left);
	}
}

/* ---- forests ---- */

static void
recorded_branchings(struct recorded *r, const struct branchings *p)
{
	size_t i, v;

	for (i = 0; i < p->n_b; i++) {
		const struct branching *b = &p->b[i];

		recorded_whole(r, (long long)b->root);
		recorded_whole(r, b->units);
		recorded_whole(r, (long long)b->n_reached);
		for (v = 0; v < b->n_reached; v++) {
			recorded_whole(r, (long long)b->order[v]);
			recorded_whole(r, (long long)b->from[b->order[v]]);
			recorded_whole(r, (long long)b->depth[b->order[v]]);
		}
	}
}

/* Rates that may be more than what fits. */
static void
ask_branchings(struct recorded *r)
{
	struct fabric f;
	struct branchings p;
	size_t gpus = 2 + below(6), v;
	int64_t *rate = gv_xcalloc(gpus, sizeof(*rate)); /* no room behind it */

	draw_fabric(&f, gpus, 0);
	for (v = 0; v < gpus; v++)
		rate[v] = below(2) == 0 ? 0 : 1 + (int64_t)below(3);
	recorded_whole(r, branchings_pack(&p, gpus, f.cap, rate));
	recorded_branchings(r, &p);
	for (v = 0; v < gpus * gpus; v++)
		recorded_whole(r, f.cap[v]);
	free(rate);
	branchings_free(&p);
	fabric_free(&f);
}

static void
recorded_routes(struct recorded *r, const struct routes *x)
{
	size_t i, k, v;

	for (i = 0; i < x->f.n * x->f.n; i++) {
		recorded_whole(r, x->f.cap[i]);
		recorded_whole(r, (long long)x->pair[i].used);
		for (k = 0; k < x->pair[i].n; k++) {
			recorded_whole(r, x->pair[i].route[k].amount);
			for (v = 0; v < x->pair[i].route[k].n; v++)
				recorded_whole(r, (long long)x->pair[i].route[k].node[v]);
		}
	}
}

/* Switches are taken away at the rate that is possible, and at others. */
static void
ask_routes(struct recorded *r, size_t gpus, size_t switches)
{
	struct fabric f;
	struct demand d;
	struct routes x;
	struct ratio rate;
	int64_t *sent = gv_xcalloc(gpus, sizeof(*sent)); /* no room behind it */
	size_t v;

	draw_fabric(&f, gpus, switches);
	fabric_balance(&f);
	draw_demand(&d, &f);
	rate = forest_rate(&f, &d, NULL);
	fabric_scale(&f, rate.under);
	for (v = 0; v < gpus; v++)
		sent[v] = (rate.over - (int64_t)below(2)) * d.share[v];
	routes_start(&x, &f);
	routes_bypass_switches(&x, sent);
	recorded_routes(r, &x);
	free(sent);
	routes_free(&x);
	demand_free(&d);
	fabric_free(&f);
}

/*
 * A switch that cannot send to each the same: what one GPU gets of two others comes to it over
 * another switch as well.
 */
static void
ask_uneven(struct recorded *r)
{
	static const size_t link[][3] = {
	    {3, 0, 3}, {3, 1, 3}, {3, 2, 3}, {3, 4, 3}, {4, 0, 10}};
	static const int64_t sent[] = {0, 3, 3};
	struct fabric f;
	struct routes x;
	size_t i;

	draw_fabric(&f, 3, 2);
	memset(f.cap, 0, f.n * f.n * sizeof(*f.cap));
	for (i = 0; i < sizeof(link) / sizeof(link[0]); i++)
		fabric_cap(&f, link[i][0], link[i][1]) =
		    fabric_cap(&f, link[i][1], link[i][0]) = (int64_t)link[i][2];
	routes_start(&x, &f);
	routes_bypass_switches(&x, sent);
	recorded_routes(r, &x);
	recorded_answer(r, "a switch that sends unevenly");
	routes_free(&x);
	fabric_free(&f);
}

/* How many of all nodes are on the side of a cut that is as narrow as the rate says. */
static bool
cut_is(const struct fabric *f, const struct demand *d, const bool *side, struct ratio x)
{
	int64_t leaves = 0, share = 0;
	size_t u, v;

	for (u = 0; u < f->n; u++) {
		share += side[u] && u < f->n_gpus ? d->share[u] : 0;
		for (v = 0; v < f->n; v++)
			leaves += side[u] && !side[v] ? fabric_cap(f, u, v) : 0;
	}
	return (share == 0 && x.over == 0) ||
	       (double)leaves * (double)x.under == (double)x.over * (double)share;
}

/* Fabrics that are as they are, of which some cannot be packed. */
static size_t
ask_forest(struct recorded *r)
{
	struct fabric f;
	struct demand d;
	struct forest t = {0};
	struct ratio rate;
	bool side[16];
	size_t gpus = 1 + below(6), switches = below(2) == 0 ? 0 : below(4), v, wrong;
	int rc;

	draw_fabric(&f, gpus, switches);
	if (below(4) > 0)
		fabric_balance(&f);
	draw_demand(&d, &f);
	rate = forest_rate(&f, &d, side);
	wrong = !cut_is(&f, &d, side, rate);
	recorded_ratio(r, rate);
	for (v = 0; v < f.n; v++)
		recorded_whole(r, side[v]);
	gv_error_clear(&e);
	if (below(3) == 0)
		rc = few_pack(&t, &f, &d, 1 + below(4), &e);
	else
		rc = forest_pack(&t, &f, &d, &rate, &e);
	recorded_whole(r, rc);
	recorded_error(r, &e);
	recorded_forest(r, &t);
	wrong += rc == 0 && !is_sound(&f, &t, false);
	forest_free(&t);
	demand_free(&d);
	fabric_free(&f);
	return wrong;
}

/* ---- packings ---- */

static size_t
ask_packing(struct recorded *r)
{
	struct fabric f;
	struct forest t = {0};
	size_t part[8], gpus = 2 + below(6), switches = below(2) == 0 ? 0 : below(4), v;
	size_t how = below(3), wrong;
	int rc;

	draw_fabric(&f, gpus, switches);
	recorded_ratio(r, packing_strength(&f, part));
	for (v = 0; v < gpus; v++)
		recorded_whole(r, (long long)part[v]);
	recorded_ratio(r, packing_bound(&f, part));
	for (v = 0; v < gpus; v++)
		recorded_whole(r, (long long)part[v]);
	if (how != 1)
		fabric_drop_switches(&f);
	gv_error_clear(&e);
	rc = how == 0   ? packing_colgen(&t, &f, &e)
	     : how == 1 ? packing_relayed(&t, &f, &e)
			: packing_few(&t, &f, 1 + below(4), &e);
	recorded_whole(r, rc);
	recorded_error(r, &e);
	recorded_forest(r, &t);
	wrong = rc == 0 && !is_sound(&f, &t, true);
	forest_free(&t);
	fabric_free(&f);
	return wrong;
}

/* ---- orders and ways ---- */

static void
ask_orders(struct recorded *r)
{
	struct fabric f;
	struct hamilton h;
	enum hamilton_kind kind = (enum hamilton_kind)below(4);
	size_t gpus = 1 + below(5), i, path[3], u;

	draw_fabric(&f, gpus, below(2));
	gv_error_clear(&e);
	recorded_whole(r, hamilton_pack(&h, &f, kind, below(gpus), &e));
	recorded_error(r, &e);
	recorded_whole(r, (long long)h.n_orders);
	for (i = 0; i < h.n_orders * h.n; i++)
		recorded_whole(r, (long long)h.order[i]);
	for (i = 0; h.units != NULL && i < h.n_orders; i++)
		recorded_whole(r, h.units[i]);
	for (i = 0; i < gpus * gpus; i++) {
		size_t n = hamilton_hop(&h, i / gpus, i % gpus, path);

		for (u = 0; u < n; u++)
			recorded_whole(r, (long long)path[u]);
	}
	hamilton_free(&h);
	fabric_free(&f);
}

static void
ask_ways(struct recorded *r)
{
	struct fabric f;
	struct forest t = {0};
	size_t path[16], u, v, k, i, gpus = 2 + below(5), switches = below(5);
	bool both = below(2) == 0;

	draw_fabric(&f, gpus, switches);
	for (u = 0; u < f.n; u++)
		for (v = 0; v < f.n; v++)
			for (k = 0; k < 2; k++) {
				size_t n = ways_shortest(&f, u, v, k == 1, path);
				struct tree *tree;

				for (i = 0; i < n; i++)
					recorded_whole(r, (long long)path[i]);
				if (n < 2 || below(2) == 0)
					continue;
				tree = forest_add(&t, u, draw_cap(1 + below(3)), 1);
				tree_edge_set(&tree->edge[0], path, n);
			}
	ways_fill(&t, &f, both);
	recorded_forest(r, &t);
	forest_free(&t);
	fabric_free(&f);
}

/* Lengths with many ties, of which some are infinite. */
static void
ask_arborescence(struct recorded *r)
{
	double length[64];
	size_t n = 1 + below(8), kind = below(3), from[8], i;

	for (i = 0; i < n * n; i++)
		length[i] = below(5) == 0 ? INFINITY
			    : kind == 0   ? (double)below(4)
			    : kind == 1   ? uniform()
					  : (double)((int64_t)1 << below(30));
	for (i = 0; i < n; i++)
		from[i] = SIZE_MAX;
	recorded_double(r, arborescence(n, below(n), length, from));
	for (i = 0; i < n; i++)
		recorded_whole(r, (long long)from[i]);
}

int
main(void)
{
	struct recorded r;
	struct flow flow = {0};
	size_t turn, i, wrong = 0;

	recorded_open(&r);
	for (turn = 0; turn < 30; turn++) {
		draws_begin(72, 0, (uint32_t)turn);
		for (i = 0; i < 20; i++)
			ask_flow(&r, &flow);
		recorded_answer(&r, "flows %zu", turn);
		for (i = 0; i < 20; i++)
			ask_branchings(&r);
		recorded_answer(&r, "branchings %zu", turn);
		for (i = 0; i < 20; i++) {
			size_t gpus = 2 + below(4);

			ask_routes(&r, gpus, 1 + below(3));
		}
		recorded_answer(&r, "routes %zu", turn);
		for (i = 0; i < 40; i++)
			wrong += ask_forest(&r);
		recorded_answer(&r, "forests %zu", turn);
		for (i = 0; i < 30; i++)
			wrong += ask_packing(&r);
		recorded_answer(&r, "packings %zu", turn);
		for (i = 0; i < 20; i++)
			ask_orders(&r);
		recorded_answer(&r, "orders %zu", turn);
		for (i = 0; i < 20; i++)
			ask_ways(&r);
		recorded_answer(&r, "ways %zu", turn);
		for (i = 0; i < 20; i++)
			ask_arborescence(&r);
		recorded_answer(&r, "arborescences %zu", turn);
	}
	for (turn = 0; turn < 10; turn++) {
		draws_begin(72, 1, (uint32_t)turn);
		for (i = 0; i < 20; i++)
			ask_routes(&r, 2 + i % 2, 3 + i % 4);
		recorded_answer(&r, "routes over many switches %zu", turn);
	}
	ask_uneven(&r);
	flow_free(&flow);
	is_int(wrong, 0, "cuts are as narrow as rates say, trees pass no link");
	recorded_close(&r);
	return done_testing();
}
