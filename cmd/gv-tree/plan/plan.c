#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gv-tree/forest/few.h"
#include "gv-tree/named/named.h"
#include "gv-tree/named/ways.h"
#include "gv-tree/packing/packing.h"

const char *const collective_name[COLLECTIVES] = {
    "broadcast", "reduce", "allreduce", "allgather", "reducescatter"};
const char *const method_name[METHODS] = {
    "auto", "forest", "colgen", "blink", "onehop", "ring", "relayed", "chain", "phases"};

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

/* Planned on links that are turned round. */
static bool
is_upwards(enum collective c)
{
	return c == REDUCE || c == REDUCE_SCATTER;
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
		   p->wish.method == CHAIN || p->wish.method == PHASES);
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

static double
gbytes(const struct fabric *f, struct ratio r)
{
	return (double)r.over / (double)r.under * (double)f->unit * GB_PER_KB;
}

/* The cut that binds where there are two parts; NULL = there are more. */
static bool *
side_of(const struct fabric *f, const size_t *part)
{
	bool *side = gv_xcalloc(f->n + 1, sizeof(*side));
	size_t v, other = 0;

	for (v = 0; v < f->n_gpus; v++) {
		side[v] = part[v] == part[0];
		if (!side[v] && other != 0 && part[v] != other - 1) {
			free(side);
			return NULL;
		}
		if (!side[v])
			other = part[v] + 1;
	}
	return side;
}

static void
find_optimum(struct plan *p)
{
	struct demand d;
	size_t *part;

	p->side = gv_xcalloc(p->f.n + 1, sizeof(*p->side));
	demand_of(&d, p);
	p->optimum = whole(p, forest_rate(&p->f, &d, p->side));
	demand_free(&d);
	if (!has_two_phases(p->wish.collective))
		return;
	part = gv_xcalloc(p->f.n_gpus + 1, sizeof(*part));
	if (p->optimum < gbytes(&p->f, packing_bound(&p->f, part)) * (1 - 1e-12)) {
		p->optimum = gbytes(&p->f, packing_bound(&p->f, NULL));
		free(p->side);
		p->side = side_of(&p->f, part);
	}
	free(part);
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
		rc = fabric_has_switches(&p->f) ? packing_relayed(&p->forest, &p->f, e)
		     : p->wish.trees > 0
			 ? packing_few(&p->forest, &p->f, p->wish.trees, e)
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
	case RELAYED_RING:
		rc = named_ring(&p->forest, &p->f, &d, p->wish.method == RELAYED_RING, e);
		break;
	case PHASES:
		rc = named_phases(&p->forest, &p->f, e);
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
	if (rc == 0 && p->wish.method == FOREST && has_two_phases(p->wish.collective))
		ways_fill(&p->forest, &p->f, true);
	return rc;
}

/* Sums what each direction of each link carries, both phases of an all-reduce. */
static void
measure(struct plan *p)
{
	const struct fabric *f = &p->f;
	double *load = gv_xcalloc(f->n * f->n + 1, sizeof(*load)), sum = 0, unit;
	bool upwards = is_upwards(p->wish.collective);
	size_t i, k, h;

	if (has_two_phases(p->wish.collective) && !shares_trees(p) &&
	    p->wish.method != FOREST)
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
			p->busiest_from = upwards ? i % f->n : i / f->n;
			p->busiest_to = upwards ? i / f->n : i % f->n;
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
	if (m == PHASES && c != ALL_REDUCE)
		return gv_error_set(
		    e, "phases are a plan for allreduce, not for %s", collective_name[c]);
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
	if (is_upwards(c))
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

static bool
reaches_by_direct_links(const struct plan *from)
{
	return gbytes(&from->f, packing_strength(&from->f, NULL)) >=
	       from->optimum * (1 - 1e-12);
}

/* Whether a method's trees have direct links alone. */
static bool
leaves_switches(const struct plan *from, enum method m)
{
	return m == BLINK ||
	       (m == COLGEN && (from->wish.trees > 0 || reaches_by_direct_links(from)));
}

/* One method on a copy of the fabric; what the optimum is, is told already. */
static int
attempt(struct plan *p, const struct plan *from, enum method m, struct gv_error *e)
{
	*p = (struct plan){.wish = from->wish, .optimum = from->optimum};
	p->wish.method = m;
	fabric_copy(&p->f, &from->f);
	if (leaves_switches(from, m))
		fabric_drop_switches(&p->f);
	else if (from->side != NULL) {
		p->side = gv_xcalloc(from->f.n + 1, sizeof(*p->side));
		memcpy(p->side, from->side, from->f.n * sizeof(*p->side));
	}
	if (pack(p, e) != 0)
		return -1;
	measure(p);
	if (p->busiest > 1 + 1e-6)
		return gv_error_set(
		    e, "the plan uses %g times what a link carries", p->busiest);
	return 0;
}

/*
 * Trees that are used up and down are the fastest and fewest; a number of them that is
 * bounded is packed exactly over direct links alone.
 */
static enum method
best_for(const struct plan *from)
{
	if (!has_two_phases(from->wish.collective))
		return FOREST;
	return from->wish.trees == 0 || reaches_by_direct_links(from) ? COLGEN : FOREST;
}

/* Whether all GPUs reach each other, both ways on the same links where trees are used so. */
static int
check_reach(const struct fabric *given, const struct plan *from, struct gv_error *e)
{
	struct demand d;
	bool reached;
	int rc = 0;

	if (!has_two_phases(from->wish.collective) || from->optimum > 0)
		return 0;
	demand_of_all(&d, given);
	reached = forest_rate(given, &d, NULL).over > 0;
	if (!reached)
		rc = forest_unreached(given, &d, e);
	else
		rc =
		    gv_error_set(e, "an allreduce uses links up and down, and those that "
				    "have two directions do not join all GPUs");
	demand_free(&d);
	return rc;
}

int
plan_make(struct plan *p, struct fabric *f, const struct wish *w, struct gv_error *e)
{
	struct plan from = {.wish = *w};
	enum method m = w->method;
	int rc;

	*p = (struct plan){.wish = *w};
	fabric_copy(&from.f, f);
	prepare(&from);
	find_optimum(&from);
	rc = m == AUTO || m == FOREST ? check_reach(f, &from, e) : 0;
	fabric_free(f);
	if (rc == 0)
		rc = attempt(p, &from, m == AUTO ? best_for(&from) : m, e);
	plan_free(&from);
	return rc;
}

void
plan_free(struct plan *p)
{
	forest_free(&p->forest);
	fabric_free(&p->f);
	free(p->side);
	*p = (struct plan){0};
}
