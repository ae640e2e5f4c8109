/* What nets that share a stage tell each other: gradients by rows, losses and hits. */
#include "nn/net_private.h"

size_t
gv_net_gradients_at(const struct gv_nn_plan *p, size_t first, size_t last, size_t *n)
{
	size_t end = last < p->last_row ? p->row[last].weight : p->P;

	*n = end - p->row[first].weight;
	return p->row[first].weight;
}

size_t
gv_net_gradients_size(const struct gv_net *net, size_t first, size_t last)
{
	size_t n;

	gv_net_gradients_at(&net->plan, first, last, &n);
	return net->plan.B * (n + (last == net->plan.rows));
}

size_t
gv_net_piece_end(const struct gv_net *net, size_t first, size_t last)
{
	for (first++; first < last; first++)
		if (gv_net_gradients_size(net, first, first + 1) > 0)
			break;
	return first;
}

size_t
gv_net_piece_begin(const struct gv_net *net, size_t first, size_t last)
{
	for (last--; last > first; last--)
		if (gv_net_gradients_size(net, last, last + 1) > 0)
			break;
	return last;
}

/* Each piece of them and its place in v, one after another; 0, or -1. */
static int
each(struct gv_net *net, size_t first, size_t last,
    int (*copy)(struct gv_nn_backend *, gv_real *there, gv_real *here, size_t bytes),
    gv_real *v)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t n, at = gv_net_gradients_at(p, first, last, &n), b;

	for (b = 0; b < p->B; b++)
		if (n > 0 && copy(net->be, net->grads.v + b * p->P + at, v + b * n,
				 n * sizeof(*v)) != 0)
			return -1;
	if (last < p->rows)
		return 0;
	return copy(net->be, net->grads.v + p->B * p->P, v + p->B * n, p->B * sizeof(*v));
}

static int
get(struct gv_nn_backend *be, gv_real *there, gv_real *here, size_t bytes)
{
	return be->get(be, here, there, bytes);
}

static int
put(struct gv_nn_backend *be, gv_real *there, gv_real *here, size_t bytes)
{
	return be->put(be, there, here, bytes);
}

int
gv_net_gradients_get(struct gv_net *net, size_t first, size_t last, gv_real *v)
{
	return each(net, first, last, get, v);
}

int
gv_net_gradients_put(struct gv_net *net, size_t first, size_t last, gv_real *v)
{
	return each(net, first, last, put, v);
}

gv_real *
gv_net_gradients_here(struct gv_net *net, size_t first, size_t last)
{
	size_t n, at = gv_net_gradients_at(&net->plan, first, last, &n);

	/* the losses are behind the gradients of the last rows of the last model */
	return net->be->host_memory && net->plan.B == 1 ? net->grads.v + at : NULL;
}

int
gv_net_scores(struct gv_net *net, size_t slot, gv_real *loss, gv_real *hit)
{
	const struct gv_nn_plan *p = &net->plan;
	const struct gv_nn_flight *f = &net->flight[slot];
	size_t n = p->B * p->n;

	if (net->be->get(net->be, loss, f->loss, n * sizeof(*loss)) != 0)
		return -1;
	return net->be->get(net->be, hit, f->hit, n * sizeof(*hit));
}
