/* Which stages are inside which, and in which order layers and stages stand. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "plan/graph.h"
#include "stages.h"

/* ---- stages ---- */

static size_t
parent_of(const struct stages *s, const struct stage *stage)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->stage[i].level == stage->level + 1 &&
		    s->stage[i].stage == stage->within)
			break;
	return i;
}

void
stages_nest(struct stages *s)
{
	size_t i, k;

	for (i = 0; i < s->n; i++)
		s->stage[i].parent = parent_of(s, &s->stage[i]);
	for (i = 0; i < s->n; i++) {
		s->stage[i].outer = 1;
		for (k = s->stage[i].parent; k < s->n; k = s->stage[k].parent)
			s->stage[i].outer *= (double)s->stage[k].replicas;
	}
}

/* Adds the stages inside one, by their numbers, and those inside them. */
static size_t
add_inside(const struct stages *s, size_t parent, size_t *order, size_t n)
{
	size_t from = n, i, k;

	for (i = 0; i < s->n; i++) {
		if (s->stage[i].parent != parent)
			continue;
		for (k = n; k > from && s->stage[order[k - 1]].stage > s->stage[i].stage;
		     k--)
			order[k] = order[k - 1];
		order[k] = i;
		n++;
	}
	return n;
}

size_t *
stages_order(const struct stages *s)
{
	size_t *order = gv_xcalloc(s->n, sizeof(*order));
	size_t *wait = gv_xcalloc(s->n, sizeof(*wait)); /* the last is the next */
	size_t *inside = gv_xcalloc(s->n, sizeof(*inside));
	size_t n = 0, waiting = 0, k = add_inside(s, s->n, inside, 0);

	for (;;) {
		while (k > 0)
			wait[waiting++] = inside[--k];
		if (waiting == 0)
			break;
		order[n++] = wait[--waiting];
		k = add_inside(s, order[n - 1], inside, 0);
	}
	free(wait);
	free(inside);
	return order;
}

/* ---- layers ---- */

/* The edges between rows; those that name other rows, or one row, are left out. */
static struct gv_graph
graph_of(const struct gv_frame *rows, const struct gv_frame *edges)
{
	ptrdiff_t id = gv_frame_find(rows, "node_id"), src = gv_frame_find(edges, "src"),
		  dst = gv_frame_find(edges, "dst");
	struct gv_graph g = {.n = rows->n_rows};
	struct gv_hash ids = {0};
	size_t i;

	g.edge = gv_xcalloc(edges->n_rows, sizeof(*g.edge));
	for (i = 0; i < rows->n_rows; i++) {
		struct gv_cell c = gv_frame_cell(rows, i, id);

		gv_hash_add(&ids, c.s, c.len);
	}
	for (i = 0; ids.n == rows->n_rows && i < edges->n_rows; i++) {
		struct gv_cell a = gv_frame_cell(edges, i, src),
			       b = gv_frame_cell(edges, i, dst);
		ptrdiff_t from = gv_hash_find(&ids, a.s, a.len),
			  to = gv_hash_find(&ids, b.s, b.len);

		if (from >= 0 && to >= 0 && from != to)
			g.edge[g.n_edges++] =
			    (struct gv_graph_edge){(uint32_t)from, (uint32_t)to};
	}
	gv_hash_free(&ids);
	return g;
}

size_t *
stages_ranks(const struct gv_frame *rows, const struct gv_frame *edges)
{
	size_t *rank = gv_xcalloc(rows->n_rows, sizeof(*rank)), i;
	uint32_t *order = gv_xcalloc(rows->n_rows, sizeof(*order));
	struct gv_graph g = graph_of(rows, edges);
	bool ordered = gv_graph_order(&g, order) == 0;

	for (i = 0; i < rows->n_rows; i++)
		rank[ordered ? order[i] : i] = i;
	gv_graph_free(&g);
	free(order);
	return rank;
}
