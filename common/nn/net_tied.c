/* Rows that have one weight: the sums of their gradients. */
#include <stdlib.h>

#include "base/mem.h"
#include "nn/net_private.h"

enum { TILE = 16 };

static size_t
lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

void
gv_nn_transpose(gv_real *to, const gv_real *v, size_t m, size_t n)
{
	size_t i, k, first, from;

	for (first = 0; first < m; first += TILE)
		for (from = 0; from < n; from += TILE)
			for (i = first; i < lesser(first + TILE, m); i++)
				for (k = from; k < lesser(from + TILE, n); k++)
					to[k * m + i] = v[i * n + k];
}

/* Where model b's gradient of a row's weight lies. */
static gv_real *
place(struct gv_net *net, const struct gv_nn_row *r, size_t b)
{
	return net->grads.v + b * net->plan.P + r->weight;
}

/* Model b's gradient of a row's weight as an embed has it; room [weights]. */
static int
get(struct gv_net *net, const struct gv_nn_row *r, size_t b, gv_real *v, gv_real *room)
{
	size_t bytes = r->l.weights * sizeof(*v);

	if (!r->l.is_tied)
		return net->be->get(net->be, v, place(net, r, b), bytes);
	if (net->be->get(net->be, room, place(net, r, b), bytes) != 0)
		return -1;
	gv_nn_transpose(v, room, r->matrix_rows, r->columns);
	return 0;
}

static int
put(struct gv_net *net, const struct gv_nn_row *r, size_t b, const gv_real *v,
    gv_real *room)
{
	size_t bytes = r->l.weights * sizeof(*v);

	if (r->l.is_tied)
		gv_nn_transpose(room, v, r->columns, r->matrix_rows);
	return net->be->put(net->be, place(net, r, b), r->l.is_tied ? room : v, bytes);
}

static void
add(gv_real *v, const gv_real *more, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] += more[i];
}

/* Both rows of the net get the sum.  0 or -1. */
static int
tie(struct gv_net *net, const struct gv_nn_row *embed, const struct gv_nn_row *linear)
{
	size_t n = embed->l.weights, b;
	gv_real *v = gv_xcalloc(3 * n, sizeof(*v)), *more = v + n, *room = more + n;
	int status = 0;

	for (b = 0; b < net->plan.B && status == 0; b++) {
		if (!net->active[b])
			continue;
		status = get(net, embed, b, v, room) != 0 ||
				 get(net, linear, b, more, room) != 0
			     ? -1
			     : 0;
		add(v, more, n);
		if (status == 0)
			status = put(net, embed, b, v, room) != 0 ||
					 put(net, linear, b, v, room) != 0
				     ? -1
				     : 0;
	}
	free(v);
	return status;
}

static bool
holds(const struct gv_nn_plan *p, size_t row)
{
	return row >= p->first_row && row < p->last_row;
}

int
gv_net_tie(struct gv_net *net)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t i;

	for (i = p->first_row; i < p->last_row; i++)
		if (p->row[i].l.is_tied && holds(p, p->row[i].l.tied) &&
		    tie(net, &p->row[p->row[i].l.tied], &p->row[i]) != 0)
			return -1;
	return 0;
}

size_t
gv_net_tied_size(const struct gv_net *net, size_t row)
{
	return net->plan.B * net->plan.row[row].l.weights;
}

int
gv_net_tied_get(struct gv_net *net, size_t row, gv_real *v)
{
	const struct gv_nn_row *r = &net->plan.row[row];
	gv_real *room = gv_xcalloc(r->l.weights, sizeof(*room));
	size_t b;
	int status = 0;

	for (b = 0; b < net->plan.B && status == 0; b++)
		status = get(net, r, b, v + b * r->l.weights, room);
	free(room);
	return status;
}

int
gv_net_tie_with(struct gv_net *net, size_t row, const gv_real *other)
{
	const struct gv_nn_row *r = &net->plan.row[row];
	size_t n = r->l.weights, b;
	gv_real *v = gv_xcalloc(2 * n, sizeof(*v)), *room = v + n;
	int status = 0;

	/* a sum of two is the same in either order */
	for (b = 0; b < net->plan.B && status == 0; b++) {
		if (!net->active[b])
			continue;
		status = get(net, r, b, v, room);
		add(v, other + b * n, n);
		if (status == 0)
			status = put(net, r, b, v, room);
	}
	free(v);
	return status;
}
