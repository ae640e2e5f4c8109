#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gv-tree/forest/few.h"
#include "gv-tree/named/named.h"
#include "gv-tree/packing/packing.h"

const char *const collective_name[COLLECTIVES] = {
    "broadcast", "reduce", "allreduce", "allgather", "reducescatter"};
const char *const method_name[METHODS] = {
    "auto", "forest", "colgen", "blink", "onehop", "ring", "chain"};

#define GB_PER_KB 1e-6

/* Every link the other way round: what is packed from a root there flows to it here. */
static void
turn_round(struct fabric *f)
{
	size_t u, v;

	for (u = 0; u < f->n; u++)
		for (v = u + 1; v < f->n; v++) {
			int64_t there = fabric_cap(f, u, v);

			fabric_cap(f, u, v) = fabric_cap(f, v, u);
			fabric_cap(f, v, u) = there;
		}
}

/* Both directions carry what the slower one does. */
static void
lower(struct fabric *f)
{
	size_t u, v;

	for (u = 0; u < f->n; u++)
		for (v = 0; v < f->n; v++)
			if (fabric_cap(f, u, v) > fabric_cap(f, v, u)) {
				fabric_cap(f, u, v) = fabric_cap(f, v, u);
				f->lowered = true;
			}
}

static bool
to_one_root(enum collective c)
{
	return c == BROADCAST || c == REDUCE;
}

static bool
has_two_phases(enum collective c)
{
	return c == ALL_REDUCE;
}

/* Trees that are used up and down, one root each; else every root has its own. */
static bool
shares_trees(const struct plan *p)
{
	return has_two_phases(p->wish.collective) &&
	       (p->wish.method == COLGEN || p->wish.method == BLINK ||
		   p->wish.method == CHAIN);
}

static void
demand_of(struct demand *d, const struct plan *p)
{
	if (to_one_root(p->wish.collective))
		demand_of_root(d, &p->f, p->wish.root);
	else
		demand_of_all(d, &p->f);
}

/* What x of one part comes to for the whole buffer, GB/s. */
static double
whole(const struct plan *p, struct ratio x)
{
	double rate = (double)x.over / (double)x.under * (double)p->f.unit * GB_PER_KB;

	if (to_one_root(p->wish.collective))
		return rate;
	rate *= (double)p->f.n_gpus;
	return has_two_phases(p->wish.collective) ? rate / 2 : rate;
}

/* What direct links alone carry, up and down. */
static double
strength_rate(const struct fabric *f)
{
	struct ratio s = packing_strength(f, NULL);

	return (double)s.over / (double)s.under * (double)f->unit * GB_PER_KB;
}

static void
find_optimum(struct plan *p)
{
	struct demand d;
	double direct;

	p->side = gv_xcalloc(p->f.n + 1, sizeof(*p->side));
	demand_of(&d, p);
	p->optimum = whole(p, forest_rate(&p->f, &d, p->side));
	demand_free(&d);
	direct = has_two_phases(p->wish.collective) ? strength_rate(&p->f) : 0;
	p->by_direct_links = direct > 0 && direct >= p->optimum;
	if (direct > p->optimum) {
		p->optimum = direct;
		free(p->side);
		p->side = NULL;
	}
}

static int
pack(struct plan *p, struct gv_error *e)
{
	struct demand d;
	struct ratio rate;
	int rc;

	demand_of(&d, p);
	switch (p->wish.method) {
	case COLGEN:
		rc = p->wish.trees > 0 ? packing_few(&p->forest, &p->f, p->wish.trees, e)
				       : packing_colgen(&p->forest, &p->f, e);
		break;
	case BLINK:
		rc = named_blink(&p->forest, &p->f,
		    to_one_root(p->wish.collective) ? &p->wish.root : NULL, e);
		break;
	case ONE_HOP:
		rc = named_one_hop(&p->forest, &p->f, &d, e);
		break;
	case RING:
		rc = named_ring(&p->forest, &p->f, &d, e);
		break;
	case CHAIN:
		rc = named_chain(&p->forest, &p->f,
		    to_one_root(p->wish.collective) ? &p->wish.root : NULL, e);
		break;
	default:
		rc = p->wish.trees > 0 ? few_pack(&p->forest, &p->f, &d, p->wish.trees, e)
				       : forest_pack(&p->forest, &p->f, &d, &rate, e);
	}
	demand_free(&d);
	return rc;
}

/* Sums what each direction of each link carries, both phases of an all-reduce. */
static void
measure(struct plan *p)
{
	const struct fabric *f = &p->f;
	double *load = gv_xcalloc(f->n * f->n + 1, sizeof(*load)), sum = 0, unit;
	size_t i, k, h;

	if (has_two_phases(p->wish.collective) && !shares_trees(p))
		p->forest.unit.under *= 2; /* each direction carries both phases */
	unit = (double)p->forest.unit.over / (double)p->forest.unit.under;
	for (i = 0; i < p->forest.n; i++) {
		const struct tree *t = &p->forest.tree[i];

		sum += (double)t->weight * unit;
		for (k = 0; k < t->n_edges; k++)
			for (h = 0; h + 1 < t->edge[k].n_path; h++) {
				size_t u = t->edge[k].path[h], v = t->edge[k].path[h + 1];

				load[u * f->n + v] += (double)t->weight * unit;
				if (has_two_phases(p->wish.collective))
					load[v * f->n + u] += (double)t->weight * unit;
			}
	}
	p->achieved = sum * GB_PER_KB;
	for (i = 0; i < f->n * f->n; i++) {
		double part;

		if (load[i] <= 0)
			continue;
		part = load[i] / ((double)f->cap[i] * (double)f->unit);
		if (part > p->busiest * (1 + 1e-12)) {
			p->busiest = part;
			p->busiest_from = i / f->n;
			p->busiest_to = i % f->n;
		}
	}
	free(load);
}

int
plan_check(const struct wish *w, struct gv_error *e)
{
	enum method m = w->method;
	enum collective c = w->collective;

	if (m == COLGEN && c != ALL_REDUCE)
		return gv_error_set(e,
		    "colgen packs trees for allreduce; forest is exact for %s",
		    collective_name[c]);
	if ((m == BLINK || m == CHAIN) && (c == ALL_GATHER || c == REDUCE_SCATTER))
		return gv_error_set(e, "%s has one root, %s has many: use forest",
		    method_name[m], collective_name[c]);
	if (w->trees > 0 && m != AUTO && m != FOREST && m != COLGEN)
		return gv_error_set(e,
		    "--trees bounds the trees of forest and colgen, not of %s",
		    method_name[m]);
	return 0;
}

/* The fabric as the collective sees it. */
static void
prepare(struct plan *p)
{
	enum collective c = p->wish.collective;

	if (has_two_phases(c) || (p->wish.trees > 0 && fabric_has_switches(&p->f)))
		lower(&p->f);
	if (fabric_has_switches(&p->f))
		fabric_balance(&p->f);
	if (c == REDUCE || c == REDUCE_SCATTER)
		turn_round(&p->f);
}

double
plan_optimum(const struct fabric *f, enum collective c, size_t root)
{
	struct plan p = {.wish = {.collective = c, .root = root}};
	double optimum;

	fabric_copy(&p.f, f);
	prepare(&p);
	find_optimum(&p);
	optimum = p.optimum;
	plan_free(&p);
	return optimum;
}

int
plan_make(struct plan *p, struct fabric *f, const struct wish *w, struct gv_error *e)
{
	*p = (struct plan){.wish = *w, .f = *f};
	*f = (struct fabric){0};
	prepare(p);
	find_optimum(p);
	if (p->wish.method == AUTO)
		p->wish.method = p->by_direct_links ? COLGEN : FOREST;
	if (p->wish.method == COLGEN || p->wish.method == BLINK) {
		fabric_drop_switches(&p->f);
		free(p->side);
		p->side = NULL;
	}
	if (pack(p, e) != 0)
		return -1;
	measure(p);
	if (p->busiest > 1 + 1e-6)
		return gv_error_set(
		    e, "the plan uses %g times what a link carries", p->busiest);
	return 0;
}

void
plan_free(struct plan *p)
{
	forest_free(&p->forest);
	fabric_free(&p->f);
	free(p->side);
	*p = (struct plan){0};
}
