#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arborescence.h"
#include "base/mem.h"
#include "gv-tree/packing/packing.h"
#include "named.h"
#include "whole.h"

#define EPS    .1
#define ENOUGH .95 /* of the optimum: then trees of whole lanes do */

enum { POOL = 150, TENTHS = 10 };

/* A tree that multiplicative weights used, and how much. */
struct candidate {
	size_t *from; /* [n] */
	double weight;
};

struct blink {
	const struct fabric *f;
	size_t n, root;
	bool both_ways;
	int64_t lane;   /* units: the slowest link */
	double *length; /* [n][n] */
	struct candidate *c;
	size_t n_c, cap_c;
};

/* What an edge of a tree may carry: one direction, or the slower one of both. */
static int64_t
room(const struct blink *b, size_t u, size_t v)
{
	int64_t there = fabric_cap(b->f, u, v), back = fabric_cap(b->f, v, u);

	return b->both_ways && back < there ? back : there;
}

static void
keep(struct blink *b, const size_t *from, double weight)
{
	size_t i;

	for (i = 0; i < b->n_c; i++)
		if (memcmp(b->c[i].from, from, b->n * sizeof(*from)) == 0) {
			b->c[i].weight += weight;
			return;
		}
	b->c = gv_xgrow(b->c, &b->cap_c, b->n_c + 1, sizeof(*b->c));
	b->c[b->n_c].from = gv_xcalloc(b->n, sizeof(*from));
	memcpy(b->c[b->n_c].from, from, b->n * sizeof(*from));
	b->c[b->n_c++].weight = weight;
}

/*
 * Garg and Konemann's weights: the shortest tree is used for as much as its
 * narrowest link holds, and its links grow longer by 1 + eps times the part of
 * them that it used, until no tree is shorter than 1.
 */
static bool
weigh(struct blink *b)
{
	size_t n = b->n, u, v, links = 0, *from = gv_xcalloc(n, sizeof(*from));
	double total;

	for (u = 0; u < n; u++)
		for (v = 0; v < n; v++) {
			int64_t c = u == v ? 0 : room(b, u, v);

			/* they begin at delta / c; here in units of delta */
			b->length[u * n + v] = c > 0 ? 1 / (double)c : INFINITY;
			links += c > 0;
			if (c > 0 && (b->lane == 0 || c < b->lane))
				b->lane = c;
		}
	total = pow((1 + EPS) * (double)links, 1 / EPS) / (1 + EPS);
	for (;;) {
		double least = INFINITY,
		       length = arborescence(n, b->root, b->length, from);

		if (!isfinite(length) || length >= total)
			break;
		for (v = 0; v < n; v++)
			if (v != b->root && (double)room(b, from[v], v) < least)
				least = (double)room(b, from[v], v);
		keep(b, from, least);
		for (v = 0; v < n; v++) {
			double grow;

			if (v == b->root)
				continue;
			grow = 1 + EPS * least / (double)room(b, from[v], v);
			b->length[from[v] * n + v] *= grow;
			if (b->both_ways)
				b->length[v * n + from[v]] = b->length[from[v] * n + v];
		}
	}
	free(from);
	return b->n_c > 0;
}

static int
by_weight(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	return a->weight > b->weight ? -1 : a->weight < b->weight;
}

/*
 * As many steps of candidates as links hold: max sum x, x whole.  units [n_c]; the sum of
 * steps, or -1 with *e.
 */
static int64_t
choose(const struct blink *b, int64_t parts, int64_t *units, struct gv_error *e)
{
	struct gv_lp lp = {.maximise = true};
	size_t n = b->n, u, v, i, *row = gv_xcalloc(n * n, sizeof(*row));
	size_t pool = b->n_c < POOL ? b->n_c : POOL;
	int64_t sum = 0;

	for (u = 0; u < n; u++)
		for (v = 0; v < n; v++) {
			int64_t steps = u == v ? 0 : room(b, u, v) * parts / b->lane;

			if (b->both_ways && v < u)
				row[u * n + v] = row[v * n + u];
			else
				row[u * n + v] =
				    gv_lp_add_row(&lp, -INFINITY, (double)steps);
		}
	for (i = 0; i < pool; i++) {
		size_t column = gv_lp_add_col(&lp, 0, INFINITY, 1);

		for (v = 0; v < n; v++)
			if (v != b->root)
				gv_lp_set(&lp, row[b->c[i].from[v] * n + v], column, 1);
	}
	if (whole_units(&lp, 10, units, e) != 0)
		sum = -1;
	for (i = 0; i < pool && sum >= 0; i++)
		sum += units[i];
	gv_lp_free(&lp);
	free(row);
	return sum;
}

static void
hang(struct forest *t, const struct blink *b, const struct candidate *c, int64_t units)
{
	struct tree *tree = forest_add(t, b->root, units, b->n - 1);
	size_t *order = gv_xcalloc(b->n, sizeof(*order)), done = 1, i, v, k = 0;

	order[0] = b->root;
	for (i = 0; i < done; i++)
		for (v = 0; v < b->n; v++)
			if (v != b->root && c->from[v] == order[i]) {
				size_t path[2] = {order[i], v};

				tree_edge_set(&tree->edge[k++], path, 2);
				order[done++] = v;
			}
	free(order);
}

static double
optimum(const struct blink *b)
{
	struct demand d;
	struct ratio x;

	if (b->both_ways)
		x = packing_strength(b->f, NULL);
	else {
		demand_of_root(&d, b->f, b->root);
		x = forest_rate(b->f, &d, NULL);
		demand_free(&d);
	}
	return (double)x.over / (double)x.under;
}

static int
pack(struct forest *t, struct blink *b, struct gv_error *e)
{
	int64_t *units, parts = 1, sum;
	size_t i;

	if (!weigh(b)) {
		const char *name = b->f->name[b->root];
		char q[GV_QUOTE_LEN];

		return gv_error_set(e, "no links lead from %s to all others",
		    gv_quote(q, name, strlen(name)));
	}
	qsort(b->c, b->n_c, sizeof(*b->c), by_weight);
	units = gv_xcalloc(b->n_c, sizeof(*units));
	sum = choose(b, parts, units, e);
	if (sum >= 0 && (double)(sum * b->lane) < ENOUGH * optimum(b)) {
		parts = TENTHS;
		sum = choose(b, parts, units, e);
	}
	for (i = 0; i < b->n_c && sum >= 0; i++)
		if (units[i] > 0)
			hang(t, b, &b->c[i], units[i]);
	t->unit = (struct ratio){b->f->unit * b->lane, parts};
	free(units);
	return sum < 0 ? -1 : 0;
}

int
named_blink(
    struct forest *t, const struct fabric *f, const size_t *root, struct gv_error *e)
{
	struct blink b = {.f = f,
	    .n = f->n_gpus,
	    .root = root != NULL ? *root : 0,
	    .both_ways = root == NULL};
	size_t i;
	int rc;

	*t = (struct forest){.unit = {f->unit, 1}};
	b.length = gv_xcalloc(b.n * b.n + 1, sizeof(*b.length));
	rc = pack(t, &b, e);
	for (i = 0; i < b.n_c; i++)
		free(b.c[i].from);
	free(b.c);
	free(b.length);
	return rc;
}
