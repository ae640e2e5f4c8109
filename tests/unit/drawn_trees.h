/* Tables of trees and of the links that they take, drawn.  Behind draws.h. */
#ifndef DRAWN_TREES_H
#define DRAWN_TREES_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "coll/trees.h"
#include "draws.h"

struct trees_drawn {
	size_t n;              /* ranks */
	size_t names, weights; /* of which kind */
	size_t chain;          /* one of so many trees is one */
	size_t wrong;          /* one of so many rows is spoilt, 0 = none */
	bool switches, has_path;
	enum gv_collective collective;
	struct gv_strbuf *trees, *links;
};

static inline void
tree_name(char name[32], const struct trees_drawn *d, size_t v)
{
	static const char *const odd[] = {"gpu10", "gpu2", "gpu02", "gpu", "g", "", "10",
	    "9", "gpu2a", "gpu2b", "gpu10.1", "\xc3\xa9", "gpu 3", "gpu002", "Gpu2"};

	if (d->names == 0)
		snprintf(name, 32, "gpu%zu", v);
	else if (d->names == 1)
		snprintf(name, 32, "%c.gpu%zu", 'b' - (char)(v % 2), v * 3);
	else
		snprintf(name, 32, "%s",
		    odd[(v + d->names) % 15][0] != '\0' ? odd[(v + d->names) % 15] : "z");
}

static inline double
tree_weight(const struct trees_drawn *d)
{
	size_t size = below(8);

	switch (d->weights) {
	case 0:
		return 1;
	case 1:
		return 1 + (double)below(5);
	case 2:
		return .001 + uniform();
	default:
		return (1 + (double)below(9)) / (double)((int64_t)1 << 2 * size);
	}
}

/* A cell that should not be there. */
static inline const char *
odd_cell(const char *cell, const struct trees_drawn *d)
{
	static const char *const odd[] = {"", "0", "-1", "x", "gpu0", "gpu1", "broadcast",
	    "reduce", "1e7", "2", "nan", "1e6", "1000000.5"};

	return d->wrong > 0 && below(d->wrong) == 0 ? odd[below(13)] : cell;
}

/* A link of the rate of a tree or of more, in one of ten cases not. */
static inline void
drawn_link(const struct trees_drawn *d, const char *src, const char *dst, double weight)
{
	static const double part[] = {1, 1, 1, 2, 10, .5, 1.25};
	double rate = weight * part[below(7)];

	if (d->wrong > 0 && below(40) == 0)
		rate = below(2) == 0 ? 0 : 2e6;
	if (d->wrong == 0 || below(40) > 0)
		gv_strbuf_fmt(d->links, "%s,%s,%.9g\n", src, dst, rate);
}

static inline void
drawn_hops(const struct trees_drawn *d, const char *src, const char *dst, double weight,
    char path[64])
{
	size_t hops = d->switches ? below(4) : 0, k, at = below(3);
	char name[2][32];

	path[0] = '\0';
	snprintf(name[0], 32, "%s", src);
	for (k = 0; k < hops; k++) {
		snprintf(name[1], 32, "s%zu", (at + k) % 3);
		drawn_link(d, name[0], name[1], weight);
		snprintf(path + strlen(path), 64 - strlen(path), "%s%s", k > 0 ? ";" : "",
		    name[1]);
		memcpy(name[0], name[1], 32);
	}
	drawn_link(d, name[0], dst, weight);
}

static inline void
drawn_edge(const struct trees_drawn *d, size_t tree, size_t root, double weight, bool up,
    size_t v, size_t above)
{
	char name[3][32], cell[4][32], path[64];

	tree_name(name[0], d, root);
	tree_name(name[1], d, up ? v : above);
	tree_name(name[2], d, up ? above : v);
	drawn_hops(d, name[1], name[2], weight, path);
	snprintf(cell[0], 32, "%zu", tree);
	snprintf(cell[1], 32, "%.9g", weight);
	gv_strbuf_fmt(d->trees, "%s,", odd_cell(cell[0], d));
	gv_strbuf_fmt(d->trees, "%s,", odd_cell(name[0], d));
	gv_strbuf_fmt(d->trees, "%s,", odd_cell(cell[1], d));
	gv_strbuf_fmt(d->trees, "%s,", odd_cell(up ? "reduce" : "broadcast", d));
	gv_strbuf_fmt(d->trees, "%s,", odd_cell(name[1], d));
	gv_strbuf_fmt(d->trees, "%s%s%s\n", odd_cell(name[2], d), d->has_path ? "," : "",
	    d->has_path ? path : "");
}

/* Each joins one of those before it, or the last one. */
static inline void
drawn_tree(const struct trees_drawn *d, size_t tree, size_t root)
{
	size_t above[16], v, phase, phases = d->collective == GV_ALL_REDUCE ? 2 : 1;
	bool chain = below(d->chain) == 0,
	     first_up = d->collective == GV_REDUCE ||
			d->collective == GV_REDUCE_SCATTER ||
			d->collective == GV_ALL_REDUCE;
	double weight = tree_weight(d);

	for (phase = 0; phase < phases; phase++)
		for (v = 1; v < d->n; v++) {
			above[v] = chain ? v - 1 : below(v);
			if (d->wrong > 0 && below(4 * d->wrong) == 0)
				above[v] = below(d->n);
			drawn_edge(d, tree, root, weight, first_up != (phase == 1),
			    (root + v) % d->n, (root + above[v]) % d->n);
		}
}

/* The names of columns, of which one may be missing. */
static inline void
draw_head(const struct trees_drawn *d)
{
	static const char *const name[] = {
	    "tree", "root", "weight", "phase", "src", "dst", "path"};
	size_t odd = d->wrong > 0 && below(12) == 0 ? below(7) : 7, k;

	for (k = 0; k < (d->has_path ? 7U : 6U); k++)
		gv_strbuf_fmt(
		    d->trees, "%s%s", k > 0 ? "," : "", k == odd ? "other" : name[k]);
	gv_strbuf_char(d->trees, '\n');
}

/* Fills *trees and *links, which are empty before. */
static inline void
draw_trees(struct trees_drawn *d, struct gv_strbuf *trees, struct gv_strbuf *links,
    size_t most, bool wrong)
{
	size_t roots, of_each = 1 + below(3), i, k, first;

	d->trees = trees;
	d->links = links;
	d->n = 2 + below(most - 1);
	d->names = below(15);
	if (below(2) == 0)
		d->names = 0;
	d->weights = below(4);
	d->chain = 1 + below(3);
	d->switches = below(2) == 0;
	d->has_path = d->switches || below(2) == 0;
	d->wrong = wrong ? 5 + below(60) : 0;
	d->collective = (enum gv_collective)below(GV_COLLECTIVES);
	draw_head(d);
	gv_strbuf_str(links, "src,dst,gbytes_per_s\n");
	roots = gv_collective_has_blocks(d->collective) ? d->n
		: d->collective == GV_ALL_REDUCE        ? 1 + below(d->n)
							: 1;
	first = below(d->n);
	if (wrong && below(5) == 0)
		roots = 1 + below(d->n);
	for (i = 0; i < roots; i++)
		for (k = 0; k < of_each; k++)
			drawn_tree(d, i * of_each + k, (first + i) % d->n);
}

#endif
