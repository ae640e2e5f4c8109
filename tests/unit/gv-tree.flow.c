/* Flows against all cuts of small networks. */
#include "tap.h"

#include "base/mem.h"
#include "draws.h"
#include "gv-tree/fabric/flow.h"

enum { MOST = 6 };

/* Capacities between all nodes; several arcs of one pair add up. */
struct network {
	size_t n;
	int64_t cap[MOST][MOST];
};

static void
draw_network(struct network *w, struct flow *f)
{
	size_t arcs = below(20), k, u, v;

	memset(w, 0, sizeof(*w));
	w->n = 2 + below(MOST - 1);
	flow_start(f, w->n);
	for (k = 0; k < arcs; k++) {
		int64_t c = (int64_t)below(6) - 1;

		u = below(w->n);
		v = below(w->n);
		flow_arc(f, u, v, c);
		w->cap[u][v] += c > 0 ? c : 0;
	}
}

static int64_t
leaving(const struct network *w, size_t set)
{
	int64_t sum = 0;
	size_t u, v;

	for (u = 0; u < w->n; u++)
		for (v = 0; v < w->n; v++)
			sum += (set >> u & 1) && !(set >> v & 1) ? w->cap[u][v] : 0;
	return sum;
}

/* The least cut, and of all least ones what they have in common. */
static int64_t
least_cut(const struct network *w, size_t s, size_t t, size_t *smallest)
{
	int64_t least = INT64_MAX;
	size_t set;

	for (set = 0; set < (size_t)1 << w->n; set++) {
		int64_t c = leaving(w, set);

		if (!(set >> s & 1) || (set >> t & 1) || c > least)
			continue;
		/* least cuts are closed under intersection */
		*smallest = c < least ? set : *smallest & set;
		least = c;
	}
	return least;
}

/* Whether what flows is no more than fits, and is kept between s and t. */
static bool
is_flow(const struct flow *f, size_t s, size_t t, int64_t amount)
{
	int64_t net[MOST] = {0};
	size_t a, v;

	for (a = 0; a < f->n_arcs; a += 2) {
		int64_t flows = f->arc[a].capacity - f->arc[a].left;

		if (flows < 0 || f->arc[a].left < 0 || f->arc[a + 1].left != flows)
			return false;
		net[f->arc[a + 1].to] -= flows;
		net[f->arc[a].to] += flows;
	}
	for (v = 0; v < f->n; v++)
		if (net[v] != (v == t ? amount : v == s ? -amount : 0))
			return false;
	return true;
}

int
main(void)
{
	size_t trial, wrong = 0, limited = 0, sides = 0, lost = 0, turn, v, positive = 0;
	struct flow f = {0};

	for (trial = 0; trial < 4000; trial++) {
		struct network w;

		draws_begin(5, (uint32_t)trial, 0);
		draw_network(&w, &f);
		/* the same arcs, between several pairs */
		for (turn = 0; turn < 3; turn++) {
			size_t s = below(w.n), t = (s + 1 + below(w.n - 1)) % w.n,
			       set = 0;
			int64_t want = least_cut(&w, s, t, &set), limit, got;

			limit = (int64_t)below(8);
			got = flow_run(&f, s, t, limit);
			limited += got != (want < limit ? want : limit);
			lost += !is_flow(&f, s, t, got);
			got = flow_run(&f, s, t, FLOW_MAX);
			wrong += got != want;
			lost += !is_flow(&f, s, t, got);
			positive += got > 0;
			for (v = 0; v < w.n; v++)
				sides += flow_on_source_side(&f, v) != (set >> v & 1);
		}
	}
	is_int(wrong, 0, "as much flows as the least cut lets");
	is_int(limited, 0, "but no more than was asked for");
	is_int(lost, 0, "nothing is lost on the way");
	is_int(sides, 0, "the least cut with the fewest nodes is left");
	ok(positive > 4000, "%zu flows", positive);
	flow_free(&f);
	ok(f.n == 0 && f.arc == NULL && f.head == NULL && f.n_arcs == 0,
	    "nothing is left");
	return done_testing();
}
