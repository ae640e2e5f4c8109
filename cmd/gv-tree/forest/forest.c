#include "forest.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "branch.h"
#include "routes.h"

#define SCALE_LIMIT \
	((int64_t)1 << 40) /* of a capacity: sums over all links stay below 2^62 */

/* How many nodes are around a switch that all have the same links to it, 0 = they differ. */
static size_t
even_around(const struct fabric *f, size_t w, int64_t *each)
{
	size_t u, around = 0;

	for (u = 0; u < f->n; u++) {
		int64_t in = fabric_cap(f, u, w), out = fabric_cap(f, w, u);

		if (in == 0 && out == 0)
			continue;
		if (in != out || (around > 0 && in != *each))
			return 0;
		*each = in;
		around++;
	}
	return around;
}

/* The factor that makes links to switches divide evenly among the nodes around them. */
static int64_t
even_factor(const struct fabric *f, int64_t scale, int64_t most)
{
	int64_t factor = 1, each = 0;
	size_t w;

	for (w = f->n_gpus; w < f->n; w++) {
		int64_t parts = (int64_t)even_around(f, w, &each) - 1, more;

		if (parts < 1)
			continue;
		more = parts / gcd64(parts, each * scale * factor);
		if (most * scale * factor <= SCALE_LIMIT / 1024 / more)
			factor *= more;
	}
	return factor;
}

/* Trees along routes: a branching whose edges take several routes becomes several trees. */
static void
lay(struct forest *t, struct routes *r, const struct branching *b)
{
	int64_t left = b->units;
	size_t i;

	while (left > 0) {
		int64_t some = left;
		struct tree *tree;

		for (i = 1; i < b->n_reached; i++) {
			size_t v = b->order[i];
			const struct route *p = routes_front(r, b->from[v], v);

			if (p->amount < some)
				some = p->amount;
		}
		tree = forest_add(t, b->root, some, b->n_reached - 1);
		for (i = 1; i < b->n_reached; i++) {
			size_t v = b->order[i];
			const struct route *p = routes_front(r, b->from[v], v);

			tree_edge_set(&tree->edge[i - 1], p->node, p->n);
			routes_take(r, b->from[v], v, some);
		}
		left -= some;
	}
}

/* rate [n_gpus]: what each root sends, in units. */
static int
pack_scaled(struct forest *t, const struct fabric *f, const int64_t *rate)
{
	struct routes r;
	struct branchings p;
	size_t n = f->n_gpus, u, v, i;
	int64_t *cap = gv_xcalloc(n * n + 1, sizeof(*cap));
	int rc;

	routes_start(&r, f);
	routes_bypass_switches(&r, rate);
	for (u = 0; u < n; u++)
		for (v = 0; v < n; v++)
			cap[u * n + v] = fabric_cap(&r.f, u, v);
	rc = branchings_pack(&p, n, cap, rate);
	for (i = 0; i < p.n_b && rc == 0; i++)
		lay(t, &r, &p.b[i]);
	branchings_free(&p);
	routes_free(&r);
	free(cap);
	return rc;
}

int
forest_unreached(const struct fabric *f, const struct demand *d, struct gv_error *e)
{
	bool *side = gv_xcalloc(f->n + 1, sizeof(*side));
	size_t from = 0, to = 0, v;
	char q[2][GV_QUOTE_LEN];

	forest_rate(f, d, side);
	for (v = f->n_gpus; v-- > 0;)
		if (side[v] && d->share[v] > 0)
			from = v;
		else if (!side[v])
			to = v;
	free(side);
	return gv_error_set(e, "no links lead from %s to %s",
	    gv_quote(q[0], f->name[from], strlen(f->name[from])),
	    gv_quote(q[1], f->name[to], strlen(f->name[to])));
}

int
forest_pack_rate(struct forest *t, const struct fabric *f, const struct demand *d,
    int64_t rate, struct gv_error *e)
{
	int64_t *sent = gv_xcalloc(f->n_gpus + 1, sizeof(*sent));
	size_t v;
	int rc;

	for (v = 0; v < f->n_gpus; v++)
		sent[v] = rate * d->share[v];
	rc = pack_scaled(t, f, sent);
	free(sent);
	return rc == 0 ? 0 : gv_error_set(e, "the trees do not fit the rate found");
}

int
forest_pack(struct forest *t, const struct fabric *f, const struct demand *d,
    struct ratio *rate, struct gv_error *e)
{
	struct fabric scaled;
	int64_t most = 0, scale, factor;
	size_t i;
	int rc;

	*t = (struct forest){.unit = {f->unit, 1}};
	*rate = forest_rate(f, d, NULL);
	if (rate->over == 0)
		return forest_unreached(f, d, e);
	for (i = 0; i < f->n * f->n; i++)
		most = f->cap[i] > most ? f->cap[i] : most;
	scale = rate->under;
	if (most > SCALE_LIMIT / scale || rate->over > SCALE_LIMIT)
		return gv_error_set(e, "rates with so many digits cannot be packed "
				       "exactly in a fabric this large: round them");
	factor = even_factor(f, scale, most);
	fabric_copy(&scaled, f);
	fabric_scale(&scaled, scale * factor);
	rc = forest_pack_rate(t, &scaled, d, rate->over * factor, e);
	t->unit = (struct ratio){f->unit, scale * factor};
	fabric_free(&scaled);
	return rc;
}
