/* Reading layers and edges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "table/kind.h"
#include "plan/layers.h"

static int
expect_number(
    const struct gv_frame *f, size_t row, ptrdiff_t column, double *v, struct gv_error *e)
{
	if (gv_frame_double(f, row, column, NAN, v, e) != 0)
		return -1;
	if (*v >= 0 && *v <= 1e18)
		return 0;
	return gv_frame_expected(f, row, column, e, "a number from 0 to 1e18");
}

struct columns {
	ptrdiff_t id, forward, backward, activation, parameter;
	ptrdiff_t update, kept; /* -1: it is not there */
};

static int
read_layer(struct gv_graph_layer *a, const struct gv_frame *f, const struct columns *c,
    size_t row, struct gv_error *e)
{
	double forward = 0, backward = 0, update = 0;
	int rc = 0;

	rc |= expect_number(f, row, c->forward, &forward, e);
	rc |= expect_number(f, row, c->backward, &backward, e);
	rc |= expect_number(f, row, c->activation, &a->activation, e);
	rc |= expect_number(f, row, c->parameter, &a->parameter, e);
	if (c->update >= 0 && gv_frame_cell(f, row, c->update).len > 0)
		rc |= expect_number(f, row, c->update, &update, e);
	a->kept = a->activation;
	if (c->kept >= 0 && gv_frame_cell(f, row, c->kept).len > 0)
		rc |= expect_number(f, row, c->kept, &a->kept, e);
	a->forward_s = forward / 1000;
	a->update_s = update / 1000;
	a->time_s = (forward + backward) / 1000;
	return rc;
}

static int
read_rows(struct gv_graph *all, struct gv_hash *ids, const struct gv_frame *f,
    struct gv_error *e)
{
	struct columns c;
	size_t *first; /* [ids] the row of each */
	size_t i;
	int rc = 0;

	rc |= gv_frame_require(f, "node_id", &c.id, e);
	rc |= gv_frame_require(f, "forward_ms", &c.forward, e);
	rc |= gv_frame_require(f, "backward_ms", &c.backward, e);
	rc |= gv_frame_require(f, "activation_bytes", &c.activation, e);
	rc |= gv_frame_require(f, "parameter_bytes", &c.parameter, e);
	c.update = gv_frame_find(f, "update_ms");
	c.kept = gv_frame_find(f, "kept_bytes");
	if (rc != 0)
		return -1;
	all->n = f->n_rows;
	all->layer = gv_xcalloc(all->n, sizeof(*all->layer));
	first = gv_xcalloc(all->n, sizeof(*first));
	for (i = 0; i < all->n; i++) {
		struct gv_cell id = gv_frame_cell(f, i, c.id);
		size_t n = ids->n;
		size_t at = gv_hash_add(ids, id.s, id.len);
		char q[GV_QUOTE_LEN];

		if (at == n)
			first[at] = i;
		else
			rc = gv_frame_error(f, i, c.id, e,
			    "duplicate node_id %s, first at line %ld",
			    gv_quote(q, id.s, id.len), f->line[first[at]]);
		rc |= read_layer(&all->layer[i], f, &c, i, e);
	}
	free(first);
	return rc;
}

static int
find_end(uint32_t *node, const struct gv_frame *f, size_t row, ptrdiff_t column,
    const struct gv_hash *ids, struct gv_error *e)
{
	struct gv_cell id = gv_frame_cell(f, row, column);
	ptrdiff_t at = gv_hash_find(ids, id.s, id.len);

	*node = (uint32_t)at;
	if (at >= 0)
		return 0;
	return gv_frame_expected(f, row, column, e, "the node_id of a layer");
}

static int
read_edges(struct gv_graph *all, const struct gv_hash *ids, const struct gv_frame *f,
    struct gv_error *e)
{
	struct gv_hash seen = {0};
	ptrdiff_t src, dst;
	size_t i;
	int rc = 0;

	if (gv_frame_expect(f, GV_KIND_EDGES, e) != 0)
		return -1;
	rc |= gv_frame_require(f, "src", &src, e);
	rc |= gv_frame_require(f, "dst", &dst, e);
	if (rc != 0)
		return -1;
	all->edge = gv_xcalloc(f->n_rows, sizeof(*all->edge));
	for (i = 0; i < f->n_rows; i++) {
		struct gv_graph_edge *edge = &all->edge[all->n_edges];
		size_t before = seen.n;

		if (find_end(&edge->src, f, i, src, ids, e) != 0 ||
		    find_end(&edge->dst, f, i, dst, ids, e) != 0)
			rc = -1;
		else if (edge->src == edge->dst)
			rc = gv_frame_error(f, i, dst, e, "a layer cannot feed itself");
		else if (gv_hash_add(&seen, (const char *)edge, sizeof(*edge)) == before)
			all->n_edges++;
	}
	gv_hash_free(&seen);
	return rc;
}

/* Which layers have weights of others. */
static int
read_ties(struct gv_graph *all, const struct gv_hash *ids, const struct gv_frame *f,
    struct gv_error *e)
{
	ptrdiff_t tied = gv_frame_find(f, "tied_with");
	size_t i;
	int rc = 0;

	if (tied < 0)
		return 0;
	all->tie = gv_xcalloc(f->n_rows, sizeof(*all->tie));
	for (i = 0; i < f->n_rows; i++) {
		struct gv_graph_edge t = {.dst = (uint32_t)i};

		if (gv_frame_cell(f, i, tied).len == 0)
			continue;
		if (find_end(&t.src, f, i, tied, ids, e) != 0)
			rc = -1;
		else
			all->tie[all->n_ties++] = t;
	}
	return rc;
}

static void
chain(struct gv_graph *all)
{
	size_t i;

	all->edge = gv_xcalloc(all->n, sizeof(*all->edge));
	for (i = 1; i < all->n; i++)
		all->edge[all->n_edges++] =
		    (struct gv_graph_edge){(uint32_t)i - 1, (uint32_t)i};
}

/* ---- what is planned ---- */

static bool
starts_with(struct gv_cell c, const char *s)
{
	return c.len >= strlen(s) && memcmp(c.s, s, strlen(s)) == 0;
}

/* Which rows take no part: 1 data loading, 2 an output that nobody reads. */
static unsigned char *
idle_rows(const struct gv_layers *l, const struct gv_graph *all)
{
	unsigned char *idle = gv_xcalloc(all->n, 1);
	unsigned char *fed = gv_xcalloc(all->n, 1);
	unsigned char *read = gv_xcalloc(all->n, 1);
	ptrdiff_t name = gv_frame_find(&l->rows, "layer");
	size_t i;

	for (i = 0; i < all->n_edges; i++) {
		read[all->edge[i].src] = 1;
		fed[all->edge[i].dst] = 1;
	}
	for (i = 0; i < all->n; i++) {
		struct gv_cell cell = gv_frame_cell(&l->rows, i, name);

		if (!fed[i] && starts_with(cell, "Input"))
			idle[i] = 1;
		else if (!read[i] && starts_with(cell, "__getitem__"))
			idle[i] = 2;
	}
	free(fed);
	free(read);
	return idle;
}

static void
take_working(struct gv_layers *l, const struct gv_graph *all)
{
	unsigned char *idle = idle_rows(l, all);
	struct gv_graph *g = &l->g;
	size_t i;

	l->row = gv_xcalloc(all->n, sizeof(*l->row));
	l->layer = gv_xcalloc(all->n, sizeof(*l->layer));
	g->layer = gv_xcalloc(all->n, sizeof(*g->layer));
	g->edge = gv_xcalloc(all->n_edges, sizeof(*g->edge));
	for (i = 0; i < all->n; i++) {
		l->layer[i] = -1;
		if (idle[i] != 0)
			continue;
		l->layer[i] = (ptrdiff_t)g->n;
		l->row[g->n] = i;
		g->layer[g->n++] = all->layer[i];
	}
	for (i = 0; i < all->n_edges; i++) {
		struct gv_graph_edge e = all->edge[i];

		if (idle[e.dst] == 2)
			l->layer[e.dst] = l->layer[e.src];
		else if (idle[e.src] == 0)
			g->edge[g->n_edges++] = (struct gv_graph_edge){
			    (uint32_t)l->layer[e.src], (uint32_t)l->layer[e.dst]};
	}
	g->tie = gv_xcalloc(all->n_ties, sizeof(*g->tie));
	for (i = 0; i < all->n_ties; i++) {
		struct gv_graph_edge t = all->tie[i];

		if (l->layer[t.src] >= 0 && l->layer[t.dst] >= 0)
			g->tie[g->n_ties++] = (struct gv_graph_edge){
			    (uint32_t)l->layer[t.src], (uint32_t)l->layer[t.dst]};
	}
	free(idle);
}

static int
check_graph(const struct gv_layers *l, struct gv_error *e)
{
	uint32_t *order;
	char q[GV_QUOTE_LEN];
	struct gv_cell id;
	int rc = 0;

	if (l->g.n == 0)
		return gv_error_at(
		    e, l->rows.file, l->rows.header_line, NULL, "no layers to plan");
	order = gv_xcalloc(l->g.n, sizeof(*order));
	if (gv_graph_order(&l->g, order) != 0) {
		id = gv_frame_cell(
		    &l->rows, l->row[order[0]], gv_frame_find(&l->rows, "node_id"));
		rc = gv_error_at(e, l->edges.file, 0, NULL,
		    "the edges have a circle, on or in front of %s",
		    gv_quote(q, id.s, id.len));
	}
	free(order);
	return rc;
}

/* The one or two tables of the input. */
static int
read_tables(struct gv_layers *l, const char *input, const char *edges, struct gv_error *e)
{
	struct gv_tab *t;
	int rc = -1, more = 0;

	if (gv_tab_open(&t, input, e) != 0)
		return -1;
	if (gv_tab_table(t, e) == 1 && gv_tab_expect(t, GV_KIND_LAYERS, e) == 0 &&
	    gv_frame_read(&l->rows, t, e) == 0) {
		rc = 0;
		if (edges != NULL)
			rc = gv_frame_load(&l->edges, edges, e);
		else if ((more = gv_tab_table(t, e)) == 1)
			rc = gv_frame_read(&l->edges, t, e);
		l->edges_behind = more == 1;
		l->chain = edges == NULL && more == 0;
		if (more == -1 ||
		    (rc == 0 && (more == 1 || edges != NULL) && gv_tab_last(t, e) != 0))
			rc = -1;
	}
	gv_tab_close(t);
	return rc;
}

int
gv_layers_read(
    struct gv_layers *l, const char *input, const char *edges, struct gv_error *e)
{
	struct gv_hash ids = {0};
	struct gv_graph all = {0};
	int rc = -1;

	memset(l, 0, sizeof(*l));
	if (read_tables(l, input, edges, e) == 0)
		rc = read_rows(&all, &ids, &l->rows, e);
	if (rc == 0 && l->chain)
		chain(&all);
	else if (rc == 0)
		rc = read_edges(&all, &ids, &l->edges, e);
	if (rc == 0)
		rc = read_ties(&all, &ids, &l->rows, e);
	if (rc == 0) {
		take_working(l, &all);
		rc = check_graph(l, e);
	}
	gv_graph_free(&all);
	gv_hash_free(&ids);
	return rc;
}

void
gv_layers_free(struct gv_layers *l)
{
	gv_frame_free(&l->rows);
	gv_frame_free(&l->edges);
	gv_graph_free(&l->g);
	free(l->row);
	free(l->layer);
	memset(l, 0, sizeof(*l));
}
