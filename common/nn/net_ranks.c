/* Ranks whose devices reach each other: joined, and their sums beside the way back. */
#include <stdlib.h>

#include "base/mem.h"
#include "nn/net_private.h"

/* Numbers of a bucket, unless the configuration says; models that have pieces of their own. */
enum { BUCKET = 1 << 20, PIECES_MOST = 8 };

int
gv_net_where(struct gv_net *net, struct gv_nn_where *w, struct gv_error *e)
{
	if (net->be->where == NULL)
		return gv_error_set(e, "it computes on the CPU");
	return net->be->where(net->be, w, e);
}

int
gv_net_make_id(struct gv_net *net, unsigned char *id, struct gv_error *e)
{
	return net->be->make_id(net->be, id, e);
}

int
gv_net_join(struct gv_net *net, const struct gv_nn_join *j, struct gv_error *e)
{
	if (net->be->join(net->be, j, e) != 0)
		return -1;
	net->ranks.joined = true;
	return 0;
}

void
gv_net_leave(struct gv_net *net)
{
	if (net->be->leave != NULL)
		net->be->leave(net->be);
	net->ranks.joined = false;
}

/* ---- sums beside the way back ---- */

/* The first row of the bucket that ends with row last. */
static size_t
bucket_begin(const struct gv_net *net, size_t last)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t want = net->bucket > 0 ? net->bucket : BUCKET, first = last, n;

	if (p->B > PIECES_MOST)
		return p->first_row;
	do
		gv_net_gradients_at(p, --first, last, &n);
	while (first > p->first_row && n * p->B < want);
	gv_net_gradients_at(p, p->first_row, first, &n);
	/* what is left is not worth a bucket */
	return n * p->B < want / 4 ? p->first_row : first;
}

/* Begins the sums of what rows [first, last) have made, and of the losses behind. */
static int
add_rows(struct gv_net *net, size_t first, size_t last)
{
	const struct gv_nn_plan *p = &net->plan;
	struct gv_nn_piece piece[PIECES_MOST + 1] = {0};
	size_t n, at = gv_net_gradients_at(p, first, last, &n), k = 0, b;

	if (first == p->first_row && last == p->last_row) {
		piece[0] = (struct gv_nn_piece){net->grads.v, p->B * p->P + p->B, 0, 0};
		return net->be->add_ranks(net->be, piece, 1);
	}
	for (b = 0; b < p->B && n > 0; b++)
		piece[k++] = (struct gv_nn_piece){net->grads.v + b * p->P + at, n, 0, 0};
	if (last == p->rows)
		piece[k++] = (struct gv_nn_piece){net->grads.v + p->B * p->P, p->B, 0, 0};
	return k == 0 ? 0 : net->be->add_ranks(net->be, piece, k);
}

/* n numbers of each model, apart from each other; some: of these models alone. */
static int
add_each(struct gv_net *net, gv_real *v, size_t apart, size_t n, const bool *some,
    double times, double by)
{
	size_t B = net->plan.B, k = 0, b;
	struct gv_nn_piece *piece = gv_xcalloc(B, sizeof(*piece));
	int status = 0;

	for (b = 0; b < B && n > 0; b++)
		if (some == NULL || some[b])
			piece[k++] = (struct gv_nn_piece){v + b * apart, n, times, by};
	if (k > 0)
		status = net->be->add_ranks(net->be, piece, k);
	free(piece);
	return status;
}

int
gv_net_add_rows(struct gv_net *net, size_t first, size_t last, double times)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t n, at = gv_net_gradients_at(p, first, last, &n);

	return add_each(net, net->grads.v + at, p->P, n, NULL, times, 1);
}

int
gv_net_add_running(struct gv_net *net, size_t ranks)
{
	return add_each(
	    net, net->running, net->plan.Q, net->plan.Q, net->active, 1, (double)ranks);
}

int
gv_net_rows_added(struct gv_net *net)
{
	return net->be->added(net->be);
}

int
gv_net_back_and_sum(struct gv_net *net, struct gv_net_work w, bool first)
{
	const struct gv_nn_plan *p = &net->plan;

	for (w.last = p->last_row; w.last > p->first_row; w.last = w.first) {
		w.first = bucket_begin(net, w.last);
		if (gv_net_backward(net, &w) != 0 ||
		    gv_net_gradients(net, &w, first) != 0 ||
		    add_rows(net, w.first, w.last) != 0)
			return -1;
	}
	return 0;
}
