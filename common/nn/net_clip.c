/* Clipping of gradients; its definition is in net.h. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "nn/net_private.h"

enum { BLOCK = 4096, LANES = 8 };

/* Sum of squares of v [n], n up to BLOCK: lanes, then a tree over them. */
static double
block_squares(const gv_real *v, size_t n)
{
	double lane[LANES] = {0};
	size_t i, k, half;

	for (i = 0; i + LANES <= n; i += LANES)
		for (k = 0; k < LANES; k++)
			lane[k] += (double)v[i + k] * (double)v[i + k];
	for (; i < n; i++)
		lane[i % LANES] += (double)v[i] * (double)v[i];
	for (half = LANES / 2; half > 0; half /= 2)
		for (k = 0; k < half; k++)
			lane[k] += lane[k + half];
	return lane[0];
}

/* Over blocks as a tree: the left one is of the largest power of two below their number. */
static double
squares(const gv_real *v, size_t n)
{
	size_t left = BLOCK;

	if (n <= BLOCK)
		return block_squares(v, n);
	while (2 * left < n)
		left *= 2;
	return squares(v, left) + squares(v + left, n - left);
}

static void
limit(gv_real *v, size_t n, gv_real most)
{
	size_t i;

	/* what is no number stays none */
	for (i = 0; i < n; i++) {
		gv_real x = v[i];

		x = x > most ? most : x;
		v[i] = x < -most ? -most : x;
	}
}

bool
gv_net_clips(const struct gv_net *net)
{
	size_t b;

	for (b = 0; b < net->plan.B; b++)
		if (net->coef[b].clip_norm > 0 || net->coef[b].clip_value > 0)
			return true;
	return false;
}

/* Model b's gradients where the host can work on them; room [P] where they must be copied. */
static gv_real *
take(struct gv_net *net, size_t b, gv_real *room)
{
	gv_real *at = net->grads.v + b * net->plan.P;

	if (net->be->host_memory)
		return at;
	return net->be->get(net->be, room, at, net->plan.P * sizeof(*at)) == 0 ? room
									       : NULL;
}

static int
give(struct gv_net *net, size_t b, const gv_real *v)
{
	gv_real *at = net->grads.v + b * net->plan.P;

	return v == at ? 0 : net->be->put(net->be, at, v, net->plan.P * sizeof(*at));
}

static gv_real *
room_of(const struct gv_net *net)
{
	return net->be->host_memory ? NULL : gv_xcalloc(net->plan.P + 1, sizeof(gv_real));
}

/* Squares of the rows of one model whose gradients are v. */
static void
row_squares(const struct gv_nn_plan *p, const gv_real *v, double *sq)
{
	size_t i;

	for (i = p->first_row; i < p->last_row; i++) {
		const struct gv_nn_row *r = &p->row[i];

		/* a weight that is another's counts there */
		sq[i] = (r->l.is_tied ? 0 : squares(v + r->weight, r->l.weights)) +
			squares(v + r->bias, r->l.biases);
	}
}

int
gv_net_clip_values(struct gv_net *net)
{
	const struct gv_nn_plan *p = &net->plan;
	gv_real *room = room_of(net), *v;
	size_t b;
	int status = 0;

	for (b = 0; b < p->B && status == 0; b++) {
		double most = net->coef[b].clip_value;

		if (!net->active[b] || !(most > 0))
			continue;
		v = take(net, b, room);
		if (v != NULL)
			limit(v, p->P, (gv_real)most);
		status = v == NULL ? -1 : give(net, b, v);
	}
	free(room);
	return status;
}

int
gv_net_squares(struct gv_net *net, double *sq)
{
	const struct gv_nn_plan *p = &net->plan;
	gv_real *room = room_of(net), *v;
	size_t b, i;
	int status = gv_net_clip_values(net);

	for (i = 0; i < p->B * p->rows; i++)
		sq[i] = 0;
	for (b = 0; b < p->B && status == 0; b++) {
		if (!net->active[b] || !(net->coef[b].clip_norm > 0))
			continue;
		v = take(net, b, room);
		if (v != NULL)
			row_squares(p, v, sq + b * p->rows);
		status = v == NULL ? -1 : 0;
	}
	free(room);
	return status;
}

/* What the gradients of model b are multiplied by; 1 or more: by nothing. */
static double
factor(const struct gv_net *net, size_t b, const double *sq)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < net->plan.rows; i++)
		sum += sq[b * net->plan.rows + i];
	return net->coef[b].clip_norm / (sqrt(sum) + 1e-6);
}

int
gv_net_clip(struct gv_net *net, const double *sq)
{
	size_t P = net->plan.P, b, i;
	gv_real *room = room_of(net), *v;
	int status = 0;

	for (b = 0; b < net->plan.B && status == 0; b++) {
		double by = factor(net, b, sq);

		if (!net->active[b] || !(net->coef[b].clip_norm > 0) || by >= 1)
			continue;
		v = take(net, b, room);
		for (i = 0; v != NULL && i < P; i++)
			v[i] *= (gv_real)by;
		status = v == NULL ? -1 : give(net, b, v);
	}
	free(room);
	return status;
}
