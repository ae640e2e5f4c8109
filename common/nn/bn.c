/*
 * bn: every channel normalised over the batch and the places,
 *
 *	y = (x - mean) * rstd * gamma + beta,  rstd = 1 / sqrt(variance + 1e-5)
 *
 * (Ioffe and Szegedy, "Batch normalization", 2015), over the whole batch of all
 * ranks.  Running statistics as PyTorch's: 0.9 * old + 0.1 * batch, the variance
 * of the batch with n - 1.
 *
 * Two passes over x, so the variance does not cancel.  stats of a row, for each
 * model: mean [C], rstd [C], two sums of the backward pass [2C], and mean and
 * variance of the last batch, until the update takes them [2C].
 */
#include <math.h>
#include <string.h>

#include "nn/passes.h"
#include "nn/simd.h"

#define EPSILON  1e-5
#define MOMENTUM 0.1

const char *
bn_shape(struct gv_layer *l, const char **column, char text[200])
{
	(void)column;
	(void)text;
	l->out_shape = l->in_shape;
	l->weights = l->biases = l->in_shape.channels;
	l->running = 2 * l->in_shape.channels;
	return NULL;
}

static gv_real *
stats(const struct gv_net *net, const struct row *r, size_t b)
{
	return net->stats + b * net->stat_size + r->stat;
}

static size_t
places(const struct row *r)
{
	return r->l.in_shape.height * r->l.in_shape.width;
}

/* Numbers of one channel in the whole batch. */
static double
count(const struct gv_net *net, const struct row *r)
{
	return (double)net->N * (double)places(r);
}

/* ---- the block of samples ---- */

GV_HOT static void
normalise(const gv_real *restrict x, gv_real *restrict y, size_t rows, size_t c,
    bool relu, const gv_real *restrict mean, const gv_real *restrict rstd,
    const gv_real *restrict gamma, const gv_real *restrict beta)
{
	size_t i, j;

	if (relu)
		for (i = 0; i < rows; i++, x += c, y += c)
			for (j = 0; j < c; j++) {
				gv_real v =
				    (x[j] - mean[j]) * rstd[j] * gamma[j] + beta[j];

				y[j] = 0 > v ? 0 : v;
			}
	else
		for (i = 0; i < rows; i++, x += c, y += c)
			for (j = 0; j < c; j++)
				y[j] = (x[j] - mean[j]) * rstd[j] * gamma[j] + beta[j];
}

void
bn_forward(struct gv_net *net, const struct row *r, size_t b, size_t i, size_t n,
    gv_real *scratch)
{
	const gv_real *s = stats(net, r, b);
	size_t c = r->l.in_shape.channels;

	(void)scratch;
	normalise(row_x(net, r, b, i), row_y(net, r, b, i), n * places(r), c, r->l.relu,
	    s, s + c, row_weight(net, r, b), row_bias(net, r, b));
}

/*
 * dx = gamma rstd (dy - sum(dy) / n - xhat sum(dy xhat) / n), n = count; what is
 * the same for a channel, in c numbers each, is made first.
 */
GV_HOT static void
normalise_back(const gv_real *restrict x, const gv_real *restrict dy,
    gv_real *restrict dx, size_t rows, size_t c, const gv_real *restrict s,
    const gv_real *restrict gamma, gv_real n, gv_real *restrict same)
{
	const gv_real *restrict mean = s, *restrict rstd = s + c;
	gv_real *restrict scale = same, *restrict shift = same + c,
			  *restrict slope = same + 2 * c;
	size_t i, j;

	for (j = 0; j < c; j++) {
		scale[j] = gamma[j] * rstd[j];
		shift[j] = s[2 * c + j] / n;
		slope[j] = rstd[j] * (s[3 * c + j] / n);
	}
	for (i = 0; i < rows; i++, x += c, dx += c, dy += c)
		for (j = 0; j < c; j++)
			dx[j] =
			    scale[j] * (dy[j] - shift[j] - (x[j] - mean[j]) * slope[j]);
}

size_t
bn_scratch(const struct row *r)
{
	return 3 * r->l.in_shape.channels;
}

void
bn_backward(struct gv_net *net, const struct row *r, size_t b, size_t i, size_t n,
    gv_real *scratch)
{
	normalise_back(row_x(net, r, b, i), row_dy(net, r, b, i), row_dx(net, r, b, i),
	    n * places(r), r->l.in_shape.channels, stats(net, r, b),
	    row_weight(net, r, b), (gv_real)count(net, r), scratch);
}

/* ---- sums over the batch ---- */

enum what { MEAN, VARIANCE, GRADIENTS };

struct job {
	struct gv_net *net;
	const struct row *r;
	enum what what;
	size_t width; /* numbers that are summed: C, or 2 C */
};

/* One shard of one model. */
static void
shard_sums(void *ctx, size_t item, size_t thread)
{
	const struct job *j = ctx;
	struct gv_net *net = j->net;
	size_t b = item / net->shards, shard = item % net->shards, first, last, rows;
	size_t c = j->r->l.in_shape.channels;
	gv_real *out = net->partial + item * j->width;
	const gv_real *s = stats(net, j->r, b), *x;

	(void)thread;
	if (!net->active[b]) {
		memset(out, 0, j->width * sizeof(*out));
		return;
	}
	net_shard(net, shard, &first, &last);
	rows = (last - first) * places(j->r);
	x = row_x(net, j->r, b, first);
	switch (j->what) {
	case MEAN:
		sum_columns(x, rows, c, out);
		break;
	case VARIANCE:
		sum_squares(x, rows, c, s, out);
		break;
	case GRADIENTS:
		sum_columns(row_dy(net, j->r, b, first), rows, c, out);
		sum_products(row_dy(net, j->r, b, first), x, rows, c, s, s + c, out + c);
		break;
	}
}

/* Sums of this rank, [B][width] at the front of partial. */
static void
rank_sums(struct job *j)
{
	struct gv_net *net = j->net;
	size_t b;

	pool_run(net->pool, net->B * net->shards,
	    (double)(net->B * net->n * places(j->r) * j->width), shard_sums, j);
	for (b = 0; b < net->B; b++) {
		gv_real *v = net->partial + b * net->shards * j->width;

		sum_tree(v, net->shards, j->width);
		memmove(net->partial + b * j->width, v, j->width * sizeof(*v));
	}
}

static int
all_ranks(const struct job *j)
{
	struct gv_net *net = j->net;

	return net->R == 1 ? 0 : net->reduce(net->ctx, net->partial, net->B * j->width);
}

int
bn_forward_sums(struct gv_net *net, const struct row *r)
{
	size_t b, k, c = r->l.in_shape.channels;
	struct job j = {net, r, MEAN, c};

	rank_sums(&j);
	if (all_ranks(&j) != 0)
		return -1;
	for (b = 0; b < net->B; b++)
		for (k = 0; k < c; k++) {
			double mean = (double)net->partial[b * c + k] / count(net, r);

			stats(net, r, b)[k] = stats(net, r, b)[4 * c + k] = (gv_real)mean;
		}
	j.what = VARIANCE;
	rank_sums(&j);
	if (all_ranks(&j) != 0)
		return -1;
	for (b = 0; b < net->B; b++)
		for (k = 0; k < c; k++) {
			double variance = (double)net->partial[b * c + k] / count(net, r);

			stats(net, r, b)[c + k] = (gv_real)(1 / sqrt(variance + EPSILON));
			stats(net, r, b)[5 * c + k] = (gv_real)variance;
		}
	return 0;
}

int
bn_backward_sums(struct gv_net *net, const struct row *r)
{
	size_t b, c = r->l.in_shape.channels;
	struct job j = {net, r, GRADIENTS, 2 * c};

	rank_sums(&j);
	/* the gradients of gamma and beta go through the reduce of all gradients */
	for (b = 0; b < net->B; b++) {
		gv_real *g = net->grads + b * net->P;

		if (!net->active[b])
			continue;
		memcpy(g + r->bias, net->partial + b * 2 * c, c * sizeof(*g));
		memcpy(g + r->weight, net->partial + b * 2 * c + c, c * sizeof(*g));
	}
	if (all_ranks(&j) != 0)
		return -1;
	for (b = 0; b < net->B; b++)
		memcpy(stats(net, r, b) + 2 * c, net->partial + b * 2 * c,
		    2 * c * sizeof(*net->partial));
	return 0;
}

/* ---- running statistics ---- */

void
bn_use_running(struct gv_net *net, const struct row *r)
{
	size_t b, k, c = r->l.in_shape.channels;

	for (b = 0; b < net->B; b++) {
		const gv_real *v = net->running + b * net->Q + r->running;
		gv_real *s = stats(net, r, b);

		memcpy(s, v, c * sizeof(*s));
		for (k = 0; k < c; k++)
			s[c + k] = (gv_real)(1 / sqrt((double)v[c + k] + EPSILON));
	}
}

void
bn_update_running(struct gv_net *net, const struct row *r, size_t b)
{
	size_t k, c = r->l.in_shape.channels;
	gv_real *v = net->running + b * net->Q + r->running;
	const gv_real *s = stats(net, r, b);
	double n = count(net, r);

	for (k = 0; k < c; k++) {
		v[k] = (gv_real)((1 - MOMENTUM) * (double)v[k] +
				 MOMENTUM * (double)s[4 * c + k]);
		v[c + k] = (gv_real)((1 - MOMENTUM) * (double)v[c + k] +
				     MOMENTUM * (double)s[5 * c + k] * (n / (n - 1)));
	}
}
