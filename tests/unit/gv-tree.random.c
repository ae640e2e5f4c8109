/* gv-tree's cores on random fabrics, against every cut, partition and tree there is. */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "gv-tree/forest/few.h"
#include "gv-tree/forest/forest.h"
#include "gv-tree/packing/packing.h"
#include "gv-tree/plan/plan.h"

static uint64_t draws;

static size_t
below(size_t n)
{
	return (size_t)(gv_random_uniform(11, 0, 0, draws++) * (double)n);
}

/*
 * gpus GPUs and switches; a pair is linked with chance density, with up to most units each
 * way, the same both ways when equal.  Names are not needed.
 */
static void
random_fabric(struct fabric *f, size_t gpus, size_t switches, double density, size_t most,
    bool equal)
{
	size_t u, v;

	*f = (struct fabric){.n = gpus + switches, .n_gpus = gpus, .unit = 1};
	f->name = gv_xcalloc(f->n, sizeof(*f->name));
	f->cap = gv_xcalloc(f->n * f->n, sizeof(*f->cap));
	for (u = 0; u < f->n; u++) {
		f->name[u] = gv_xstrdup("x");
		for (v = 0; v < u; v++) {
			if ((double)below(1000) >= density * 1000)
				continue;
			fabric_cap(f, u, v) = 1 + (int64_t)below(most);
			fabric_cap(f, v, u) =
			    equal ? fabric_cap(f, u, v) : (int64_t)below(most + 1);
		}
	}
}

/* ---- the slow, obvious way ---- */

/* The least B+(S) / share(S) over all sets of nodes. */
static double
slow_rate(const struct fabric *f, const struct demand *d)
{
	double best = INFINITY;
	size_t set, u, v;

	for (set = 1; set < (size_t)1 << f->n; set++) {
		int64_t leaves = 0, share = 0;
		bool all = true;

		for (u = 0; u < f->n; u++) {
			if ((set >> u & 1) == 0) {
				all = all && u >= f->n_gpus;
				continue;
			}
			share += u < f->n_gpus ? d->share[u] : 0;
			for (v = 0; v < f->n; v++)
				leaves += (set >> v & 1) == 0 ? fabric_cap(f, u, v) : 0;
		}
		if (!all && share > 0 && (double)leaves / (double)share < best)
			best = (double)leaves / (double)share;
	}
	return best;
}

/* The least crossing / (parts - 1) over all partitions: restricted growth strings. */
static void
partitions(const struct fabric *f, size_t *part, size_t at, size_t parts, double *best)
{
	size_t i, u, v;
	int64_t crossing = 0;

	if (at < f->n_gpus) {
		for (i = 0; i <= parts; i++) {
			part[at] = i;
			partitions(f, part, at + 1, parts + (i == parts), best);
		}
		return;
	}
	if (parts < 2)
		return;
	for (u = 0; u < at; u++)
		for (v = 0; v < u; v++)
			if (part[u] != part[v]) {
				int64_t a = fabric_cap(f, u, v), b = fabric_cap(f, v, u);

				crossing += a < b ? a : b;
			}
	if ((double)crossing / (double)(parts - 1) < *best)
		*best = (double)crossing / (double)(parts - 1);
}

/* What leaves the GPUs of a part at least, over all sets of switches with them. */
static int64_t
slow_leaving(const struct fabric *f, const size_t *part, size_t which)
{
	size_t switches = f->n - f->n_gpus, set, u, v;
	int64_t least = INT64_MAX;

	for (set = 0; set < (size_t)1 << switches; set++) {
		int64_t leaves = 0;
		bool in[16];

		for (u = 0; u < f->n; u++)
			in[u] = u < f->n_gpus ? part[u] == which
					      : (set >> (u - f->n_gpus) & 1) != 0;
		for (u = 0; u < f->n; u++)
			for (v = 0; v < f->n; v++)
				leaves += in[u] && !in[v] ? fabric_cap(f, u, v) : 0;
		least = leaves < least ? leaves : least;
	}
	return least;
}

/* The least of what leaves all parts / (2 (parts - 1)) over all partitions. */
static void
slow_bound(const struct fabric *f, size_t *part, size_t at, size_t parts, double *best)
{
	size_t i;
	int64_t sum = 0;

	for (i = 0; i <= parts && at < f->n_gpus; i++) {
		part[at] = i;
		slow_bound(f, part, at + 1, parts + (i == parts), best);
	}
	if (at < f->n_gpus || parts < 2)
		return;
	for (i = 0; i < parts; i++)
		sum += slow_leaving(f, part, i);
	if ((double)sum / (2 * (double)(parts - 1)) < *best)
		*best = (double)sum / (2 * (double)(parts - 1));
}

/* ---- what a forest carries ---- */

/*
 * Whether every tree reaches all GPUs from its root along links, and no direction
 * carries more than it can (both_ways: each edge up and down); the sum of the weights of
 * each root in *sent.
 */
static bool
sound(const struct fabric *f, const struct forest *t, bool both_ways, double *sent)
{
	double *load = gv_xcalloc(f->n * f->n, sizeof(*load));
	bool good = true;
	size_t i, k, h, v;

	for (i = 0; i < t->n; i++) {
		const struct tree *x = &t->tree[i];
		double w =
		    (double)x->weight * (double)t->unit.over / (double)t->unit.under;
		bool *has = gv_xcalloc(f->n, sizeof(*has));

		has[x->root] = true;
		sent[x->root] += w;
		good = good && x->weight > 0 && x->n_edges == f->n_gpus - 1;
		for (k = 0; k < x->n_edges; k++) {
			const struct tree_edge *e = &x->edge[k];

			good = good && has[e->from] && !has[e->to] && e->to < f->n_gpus &&
			       e->path[0] == e->from && e->path[e->n_path - 1] == e->to;
			has[e->to] = true;
			for (h = 0; h + 1 < e->n_path; h++) {
				load[e->path[h] * f->n + e->path[h + 1]] += w;
				if (both_ways)
					load[e->path[h + 1] * f->n + e->path[h]] += w;
				good = good && (h == 0 || e->path[h] >= f->n_gpus);
			}
		}
		free(has);
	}
	for (v = 0; v < f->n * f->n; v++)
		good = good && load[v] <= (double)f->cap[v] * (1 + 1e-9);
	free(load);
	return good;
}

/* Whether no link carries more up and down than it can, to the last unit. */
static bool
exactly_sound(const struct fabric *f, const struct forest *t)
{
	int64_t *load = gv_xcalloc(f->n * f->n, sizeof(*load));
	int64_t under = t->unit.under;
	bool good = t->unit.over == 1;
	size_t i, k, h, v;

	for (i = 0; i < t->n; i++)
		for (k = 0; k < t->tree[i].n_edges; k++) {
			const struct tree_edge *e = &t->tree[i].edge[k];

			for (h = 0; h + 1 < e->n_path; h++) {
				load[e->path[h] * f->n + e->path[h + 1]] +=
				    t->tree[i].weight;
				load[e->path[h + 1] * f->n + e->path[h]] +=
				    t->tree[i].weight;
			}
		}
	for (v = 0; v < f->n * f->n; v++)
		good =
		    good && (load[v] / under < f->cap[v] ||
				(load[v] / under == f->cap[v] && load[v] % under == 0));
	free(load);
	return good;
}

static double
value(struct ratio r)
{
	return (double)r.over / (double)r.under;
}

/* ---- tests ---- */

/* Balanced fabrics of up to 9 nodes: rates and packings of one and of all roots. */
static void
test_forest(void)
{
	size_t run, wrong_rate = 0, unsound = 0, short_of = 0, packed = 0, many = 0;
	struct gv_error e = {0};

	for (run = 0; run < 1500; run++) {
		size_t gpus = 2 + below(5), switches = below(4), v;
		bool direct = switches == 0, one = below(2) == 0;
		struct fabric f;
		struct demand d;
		struct forest t;
		struct ratio x;
		double sent[8] = {0}, want;

		random_fabric(&f, gpus, switches, .3 + .7 * (double)below(10) / 9,
		    1 + below(4), !direct);
		if (one)
			demand_of_root(&d, &f, below(gpus));
		else
			demand_of_all(&d, &f);
		want = slow_rate(&f, &d);
		x = forest_rate(&f, &d, NULL);
		wrong_rate += fabs(value(x) - want) > 1e-9 * (1 + want);
		if (x.over == 0) {
			short_of += forest_pack(&t, &f, &d, &x, &e) == 0;
			gv_error_clear(&e);
		} else if (forest_pack(&t, &f, &d, &x, &e) != 0) {
			short_of++;
			gv_error_clear(&e);
		} else {
			packed++;
			unsound += !sound(&f, &t, false, sent);
			for (v = 0; v < gpus; v++)
				short_of += fabs(sent[v] - want * (double)d.share[v]) >
					    1e-9 * want;
			many += t.n > 40;
		}
		forest_free(&t);
		demand_free(&d);
		fabric_free(&f);
	}
	is_int(wrong_rate, 0, "rates are those of the best of all cuts");
	is_int(unsound, 0, "trees reach all GPUs and pass no link");
	is_int(short_of, 0, "and carry the rate");
	ok(packed > 800, "in %zu of 1500 fabrics", packed);
	ok(many < 30, "with more than 40 trees in %zu", many);
}

static void
test_few(void)
{
	size_t run, unsound = 0, too_many = 0, worse = 0, last;
	struct gv_error e = {0};

	for (run = 0; run < 150; run++) {
		size_t gpus = 2 + below(4), switches = below(3), most, v;
		struct fabric f;
		struct demand d;
		double before = 0;

		random_fabric(&f, gpus, switches, .9, 3, true);
		demand_of_all(&d, &f);
		for (most = 1; most <= 4; most++) {
			struct forest t;
			double sent[8] = {0}, x = value(forest_rate(&f, &d, NULL));

			if (x == 0 || few_pack(&t, &f, &d, most, &e) != 0)
				break;
			unsound += !sound(&f, &t, false, sent);
			too_many += t.n > most * gpus;
			for (v = 1; v < gpus; v++)
				worse += fabs(sent[v] - sent[0]) > 1e-9;
			worse += sent[0] < before - 1e-9 || sent[0] > x * (1 + 1e-9);
			before = sent[0];
			forest_free(&t);
		}
		demand_free(&d);
		fabric_free(&f);
	}
	is_int(unsound, 0, "few trees: they are sound");
	is_int(too_many, 0, "and as few as asked for");
	is_int(worse, 0, "and more trees carry no less");
	for (run = 0, unsound = too_many = worse = 0; run < 150; run++) {
		size_t gpus = 2 + below(5), most, v;
		struct fabric f;
		double best = INFINITY;
		size_t part[8];

		random_fabric(&f, gpus, 0, .8, 3, true);
		partitions(&f, part, 0, 0, &best);
		for (most = 1, last = 0; most <= 5 && best > 0; most++) {
			struct forest t;
			double sent[8] = {0}, sum = 0;

			if (packing_few(&t, &f, most, &e) != 0) {
				worse++;
				break;
			}
			unsound += !sound(&f, &t, true, sent);
			too_many += t.n > most;
			for (v = 0; v < gpus; v++)
				sum += sent[v];
			worse += sum > best * (1 + 1e-9) || t.n < last;
			last = t.n;
			/* Nash-Williams: the whole part of the strength in unit trees */
			worse += (double)most >= best && sum < floor(best) - 1e-9;
			forest_free(&t);
		}
		fabric_free(&f);
	}
	is_int(unsound, 0, "few trees up and down: they are sound");
	is_int(too_many, 0, "and as few as asked for");
	is_int(worse, 0, "as good as Nash-Williams' theorem says");
}

static void
test_packing(void)
{
	size_t run, wrong = 0, unsound = 0, short_of = 0, inexact = 0;
	struct gv_error e = {0};

	for (run = 0; run < 400; run++) {
		size_t gpus = 2 + below(6), part[8], v;
		struct fabric f;
		struct forest t;
		double best = INFINITY, sent[8] = {0}, sum = 0;
		struct ratio s;

		random_fabric(&f, gpus, 0, .4 + .6 * (double)below(10) / 9, 1 + below(5),
		    below(2) == 0);
		partitions(&f, part, 0, 0, &best);
		s = packing_strength(&f, NULL);
		wrong += fabs(value(s) - best) > 1e-12 * (1 + best);
		if (s.over == 0) {
			fabric_free(&f);
			continue;
		}
		if (packing_colgen(&t, &f, &e) != 0) {
			short_of++;
			gv_error_clear(&e);
		} else {
			unsound += !sound(&f, &t, true, sent);
			for (v = 0; v < gpus; v++)
				sum += sent[v];
			short_of += fabs(sum - best) > 1e-8 * best;
			inexact += fabs(sum - best) > 1e-13 * best;
		}
		forest_free(&t);
		fabric_free(&f);
	}
	is_int(wrong, 0, "the strength is that of the best of all partitions");
	is_int(unsound, 0, "trees up and down pass no link");
	is_int(short_of, 0, "and carry the strength");
	ok(inexact <= 4, "exactly in all but %zu of 400", inexact);
}

/* Of capacities with many digits, with and without switches. */
static void
test_digits(void)
{
	static const size_t digits[] = {100, 10000, 1000000, 100000000, 2000000000};
	size_t run, failed = 0, above = 0, short_of = 0, packed = 0;
	struct gv_error e = {0};

	for (run = 0; run < 300; run++) {
		size_t switches = run % 2, i;
		struct fabric f;
		struct forest t;
		double sum = 0, want;

		random_fabric(
		    &f, 2 + below(5), switches, .8, digits[run / 2 % 5], below(2) == 0);
		want = value(packing_strength(&f, NULL));
		if (want > 0) {
			failed += (switches == 0 ? packing_colgen(&t, &f, &e)
						 : packing_relayed(&t, &f, &e)) != 0;
			above += !exactly_sound(&f, &t);
			for (i = 0; i < t.n; i++)
				sum += (double)t.tree[i].weight / (double)t.unit.under;
			short_of += sum < want * (1 - 1e-8);
			packed++;
			forest_free(&t);
		}
		fabric_free(&f);
	}
	is_int(failed, 0, "links of many digits are packed");
	is_int(above, 0, "no link carries a unit too much");
	is_int(short_of, 0, "and as much as they can");
	ok(packed > 150, "in %zu fabrics", packed);
}

/* An allreduce through switches: what no plan passes, and how near plans come. */
static void
test_allreduce(void)
{
	size_t run, wrong = 0, above = 0, failed = 0, planned = 0, best = 0;
	struct gv_error e = {0};
	double sum = 0, least = 1;

	for (run = 0; run < 300; run++) {
		size_t gpus = 2 + below(4), part[8], v;
		struct fabric f;
		struct plan p;
		struct wish w = {.collective = ALL_REDUCE};
		double want = INFINITY, sent[8] = {0}, got = 0;

		random_fabric(&f, gpus, 1 + below(3), .3 + .7 * (double)below(10) / 9,
		    1 + below(5), true);
		slow_bound(&f, part, 0, 0, &want);
		wrong += fabs(value(packing_bound(&f, NULL)) - want) > 1e-12 * (1 + want);
		if (plan_make(&p, &f, &w, &e) != 0) {
			failed += want > 0;
			gv_error_clear(&e);
		} else {
			above += !sound(&p.f, &p.forest, true, sent);
			for (v = 0; v < gpus; v++)
				got += sent[v];
			above += got > want * (1 + 1e-9);
			planned++;
			best += got > want * (1 - 1e-9);
			sum += got / want;
			least = got / want < least ? got / want : least;
		}
		plan_free(&p);
	}
	is_int(wrong, 0, "what no allreduce passes, of all partitions");
	is_int(failed, 0, "each that is possible is planned");
	is_int(above, 0, "soundly, and none passes it");
	ok(sum / (double)planned > .95,
	    "%.4f of it in the mean of %zu, %zu reach it, least %.3f",
	    sum / (double)planned, planned, best, least);
}

/* ---- trees hung up ---- */

/* How deep a tree of n - 1 links is from this root: all distances, again and again. */
static size_t
slow_depth(size_t n, size_t (*link)[2], size_t root)
{
	size_t away[8], most = 0, turn, i;

	for (i = 0; i < n; i++)
		away[i] = i == root ? 0 : n;
	for (turn = 0; turn < n; turn++)
		for (i = 0; i + 1 < n; i++) {
			size_t *a = &away[link[i][0]], *b = &away[link[i][1]];

			*a = *a < *b + 1 ? *a : *b + 1;
			*b = *b < *a + 1 ? *b : *a + 1;
		}
	for (i = 0; i < n; i++)
		most = away[i] > most ? away[i] : most;
	return most;
}

/* Random trees, their links in any order: hung up where they are least deep, parents first. */
static void
test_hang(void)
{
	size_t k, deep = 0, late = 0, others = 0;

	for (k = 0; k < 500; k++) {
		size_t n = 2 + below(7), link[7][2], depth[8], least = n, most = 0, i, j;
		struct forest t = {0};

		for (i = 0; i + 1 < n; i++) {
			size_t at = below(i + 1), swap = below(2);

			memcpy(link[i], link[at], sizeof(link[i]));
			link[at][swap] = i + 1;
			link[at][1 - swap] = below(i + 1);
		}
		for (i = 0; i < n; i++) {
			depth[i] = n;
			least = slow_depth(n, link, i) < least ? slow_depth(n, link, i)
							       : least;
		}
		packing_hang(&t, n, (const size_t(*)[2])link, 3);
		depth[t.tree[0].root] = 0;
		for (i = 0; i < t.tree[0].n_edges; i++) {
			const struct tree_edge *e = &t.tree[0].edge[i];

			for (j = 0; j + 1 < n; j++)
				if ((link[j][0] == e->from && link[j][1] == e->to) ||
				    (link[j][1] == e->from && link[j][0] == e->to))
					break;
			others += j + 1 == n;
			late += depth[e->from] == n || depth[e->to] != n;
			depth[e->to] = depth[e->from] + 1;
			most = depth[e->to] > most ? depth[e->to] : most;
		}
		deep += most != least;
		late += t.tree[0].n_edges != n - 1 || t.tree[0].weight != 3;
		forest_free(&t);
	}
	is_int((int)deep, 0, "a tree is hung up where it is least deep");
	is_int((int)(late + others), 0, "all of its links, parents first");
}

int
main(void)
{
	test_forest();
	test_few();
	test_packing();
	test_digits();
	test_allreduce();
	test_hang();
	return done_testing();
}
