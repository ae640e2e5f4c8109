/* How fast all roots can send: the cut that binds. */
#include <stdlib.h>

#include "base/mem.h"
#include "forest.h"

void
demand_of_root(struct demand *d, const struct fabric *f, size_t root)
{
	d->share = gv_xcalloc(f->n_gpus + 1, sizeof(*d->share));
	d->share[root] = 1;
	d->sum = 1;
}

void
demand_of_all(struct demand *d, const struct fabric *f)
{
	size_t v;

	d->share = gv_xcalloc(f->n_gpus + 1, sizeof(*d->share));
	for (v = 0; v < f->n_gpus; v++)
		d->share[v] = 1;
	d->sum = (int64_t)f->n_gpus;
}

void
demand_free(struct demand *d)
{
	free(d->share);
	*d = (struct demand){0};
}

static struct ratio
lowest(int64_t over, int64_t under)
{
	int64_t common = gcd64(over, under);

	return (struct ratio){over / common, under / common};
}

/* B+(S) / share(S) of a side. */
static struct ratio
ratio_of(const struct fabric *f, const struct demand *d, const bool *side)
{
	int64_t leaves = 0, share = 0;
	size_t u, v;

	for (u = 0; u < f->n; u++) {
		if (!side[u])
			continue;
		share += u < f->n_gpus ? d->share[u] : 0;
		for (v = 0; v < f->n; v++)
			leaves += side[v] ? 0 : fabric_cap(f, u, v);
	}
	return lowest(leaves, share);
}

/* a < b; terms stay below 2^62, since shares are at most the number of GPUs. */
static bool
less(struct ratio a, struct ratio b)
{
	return a.over * b.under < b.over * a.under;
}

/* All nodes but one GPU that does not have all the data: a cut to start from. */
static struct ratio
first_cut(const struct fabric *f, const struct demand *d, bool *side)
{
	struct ratio best = {0, 0};
	size_t u, v, at = 0;

	for (v = 0; v < f->n_gpus; v++) {
		int64_t enters = 0;
		struct ratio r;

		if (d->share[v] == d->sum)
			continue;
		for (u = 0; u < f->n; u++)
			enters += fabric_cap(f, u, v);
		r = lowest(enters, d->sum - d->share[v]);
		if (best.under == 0 || less(r, best)) {
			best = r;
			at = v;
		}
	}
	for (u = 0; u < f->n; u++)
		side[u] = u != at;
	return best;
}

/*
 * Is there a cut below x?  A source sends x share[v] into each root; x holds where
 * x sum reaches every GPU, and where it does not, the minimum cut has a smaller ratio.
 */
static bool
lower_cut(const struct fabric *f, const struct demand *d, struct flow *w, struct ratio *x,
    bool *side)
{
	struct ratio tried = *x;
	bool *cut = gv_xcalloc(f->n, sizeof(*cut)), found = false;
	size_t u, v, t;

	flow_start(w, f->n + 1);
	for (u = 0; u < f->n; u++)
		for (v = 0; v < f->n; v++)
			flow_arc(w, u, v, fabric_cap(f, u, v) * tried.under);
	for (v = 0; v < f->n_gpus; v++)
		flow_arc(w, f->n, v, tried.over * d->share[v]);
	for (t = 0; t < f->n_gpus; t++) {
		int64_t want = tried.over * d->sum;
		struct ratio r;

		if (flow_run(w, f->n, t, want) == want)
			continue;
		for (v = 0; v < f->n; v++)
			cut[v] = flow_on_source_side(w, v);
		r = ratio_of(f, d, cut);
		if (!less(r, *x))
			continue;
		*x = r;
		found = true;
		for (v = 0; v < f->n; v++)
			side[v] = cut[v];
	}
	free(cut);
	return found;
}

struct ratio
forest_rate(const struct fabric *f, const struct demand *d, bool *side)
{
	struct flow w = {0};
	bool *own = side != NULL ? side : gv_xcalloc(f->n + 1, sizeof(*own));
	struct ratio x = first_cut(f, d, own);

	while (x.over > 0 && lower_cut(f, d, &w, &x, own))
		;
	if (x.over == 0)
		x = (struct ratio){0, 1};
	flow_free(&w);
	if (side == NULL)
		free(own);
	return x;
}
