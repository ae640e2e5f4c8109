/*
 * bn: every channel normalised over the batch and the places,
 *
 *	y = (x - mean) * rstd * gamma + beta,  rstd = 1 / sqrt(variance + 1e-5)
 *
 * (Ioffe and Szegedy, "Batch normalization", 2015), over the whole micro-batch of
 * all ranks.  Running statistics as PyTorch's: 0.9 * old + 0.1 * batch, the variance
 * of the batch with n - 1.
 *
 * Two passes over x, so the variance does not cancel.  Where statistics lie:
 * GV_NN_STATS.
 */
#include <math.h>
#include <string.h>

#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"
#include "nn/cpu/times.h"

#define EPSILON  1e-5
#define MOMENTUM 0.1

static size_t
places(const struct gv_nn_row *r)
{
	return r->l.in_shape.height * r->l.in_shape.width;
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
gv_cpu_bn_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *mean = gv_nn_stats(c, r, s->b);
	size_t channels = r->l.in_shape.channels;

	(void)cpu;
	normalise(gv_cpu_x(c, r, s), gv_cpu_y(c, r, s), s->n * places(r), channels,
	    r->l.act == GV_ACT_RELU, mean, mean + channels, gv_nn_weight(c, r, s->b),
	    gv_nn_bias(c, r, s->b));
}

/*
 * dx = gamma rstd (dy - sum(dy) / n - xhat sum(dy xhat) / n), n = count; what is
 * the same for a channel is made first: scale, shift and slope, c numbers each.
 */
static void
same_of(const gv_real *s, const gv_real *gamma, size_t c, gv_real n, gv_real *same)
{
	size_t j;

	for (j = 0; j < c; j++) {
		same[j] = gamma[j] * s[c + j];
		same[c + j] = s[2 * c + j] / n;
		same[2 * c + j] = s[c + j] * (s[3 * c + j] / n);
	}
}

#define BACK(name, to)                                                                 \
	GV_HOT static void name(const gv_real *restrict x, const gv_real *restrict dy, \
	    gv_real *restrict dx, size_t rows, size_t c, const gv_real *restrict mean, \
	    const gv_real *restrict same)                                              \
	{                                                                              \
		const gv_real *restrict scale = same, *restrict shift = same + c,      \
					*restrict slope = same + 2 * c;                \
		size_t i, j;                                                           \
                                                                                       \
		for (i = 0; i < rows; i++, x += c, dx += c, dy += c)                   \
			for (j = 0; j < c; j++)                                        \
				dx[j] to scale[j] *                                    \
				    (dy[j] - shift[j] - (x[j] - mean[j]) * slope[j]);  \
	}
BACK(normalise_back, =)
BACK(normalise_back_add, +=)

size_t
gv_cpu_bn_scratch(const struct gv_nn_row *r, const struct gv_cpu_row *packed)
{
	(void)packed;
	return 3 * r->l.in_shape.channels;
}

void
gv_cpu_bn_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *stats = gv_nn_stats(c, r, s->b);
	size_t channels = r->l.in_shape.channels;

	(void)cpu;
	same_of(stats, gv_nn_weight(c, r, s->b), channels, (gv_real)gv_nn_count(c, r),
	    s->scratch);
	(r->adds[s->input] ? normalise_back_add : normalise_back)(gv_cpu_x(c, r, s),
	    gv_cpu_dy(c, r, s), gv_cpu_dx(c, r, s), s->n * places(r), channels, stats,
	    s->scratch);
}

/* ---- sums over the micro-batch ---- */

struct job {
	const struct gv_cpu *cpu;
	const struct gv_nn_call *c;
	const struct gv_nn_row *r;
	enum gv_nn_sum what;
	size_t width; /* numbers that are summed: C, or 2 C */
};

/* One shard of one model. */
static void
shard_sums(void *ctx, size_t item, size_t thread)
{
	const struct job *j = ctx;
	const struct gv_nn_call *c = j->c;
	size_t shards = c->plan->shards, b = item / shards, first, last, rows;
	size_t channels = j->r->l.in_shape.channels;
	gv_real *out = c->f->sums + item * j->width;
	const gv_real *s = gv_nn_stats(c, j->r, b), *x, *dy;

	(void)thread;
	if (!c->active[b]) {
		memset(out, 0, j->width * sizeof(*out));
		return;
	}
	gv_nn_shard(c->plan, item % shards, &first, &last);
	rows = (last - first) * places(j->r);
	x = gv_nn_x(c, j->r, 0, b, first);
	dy = gv_nn_dy(c, j->r, b, first);
	switch (j->what) {
	case GV_NN_SUM_X:
		gv_cpu_sum_columns(x, rows, channels, out);
		break;
	case GV_NN_SUM_SQUARES:
		gv_cpu_sum_squares(x, rows, channels, s, out);
		break;
	case GV_NN_SUM_DY:
		gv_cpu_sum_columns(dy, rows, channels, out);
		gv_cpu_sum_products(
		    dy, x, rows, channels, s, s + channels, out + channels);
		break;
	}
}

int
gv_cpu_bn_sum(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row, enum gv_nn_sum what)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;
	const struct gv_nn_row *r = &c->plan->row[row];
	const struct gv_nn_plan *p = c->plan;
	size_t channels = r->l.in_shape.channels, b;
	struct job j = {cpu, c, r, what, what == GV_NN_SUM_DY ? 2 * channels : channels};

	gv_cpu_times_loop(cpu->times);
	gv_cpu_times_item(cpu->times, 0);
	gv_cpu_threads_run(cpu->pool, p->B * p->shards,
	    4 * (double)(p->B * p->n * places(r) * j.width), shard_sums, &j);
	for (b = 0; b < p->B; b++) {
		gv_real *v = c->f->sums + b * p->shards * j.width;

		gv_cpu_sum_tree(v, p->shards, j.width);
		memmove(c->f->sums + b * j.width, v, j.width * sizeof(*v));
		/* the gradients of gamma and beta go through the reduce of all gradients */
		if (what == GV_NN_SUM_DY && c->active[b])
			memcpy(
			    gv_nn_stats(c, r, b) + 4 * channels, v, j.width * sizeof(*v));
	}
	gv_cpu_times_lap(
	    cpu->times, 0, row, what == GV_NN_SUM_DY ? GV_CPU_BACKWARD : GV_CPU_FORWARD);
	gv_cpu_times_loop_end(cpu->times);
	return 0;
}

int
gv_cpu_bn_take(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row, enum gv_nn_sum what)
{
	const struct gv_nn_row *r = &c->plan->row[row];
	size_t b, k, n = r->l.in_shape.channels;
	double count = gv_nn_count(c, r);

	(void)be;
	for (b = 0; b < c->plan->B; b++) {
		gv_real *s = gv_nn_stats(c, r, b);
		const gv_real *sum = c->f->sums + b * n;

		if (!c->active[b])
			continue;
		if (what == GV_NN_SUM_DY)
			memcpy(s + 2 * n, c->f->sums + b * 2 * n, 2 * n * sizeof(*s));
		for (k = 0; k < n && what != GV_NN_SUM_DY; k++) {
			double mean = (double)sum[k] / count;

			if (what == GV_NN_SUM_X) {
				s[k] = s[6 * n + k] = (gv_real)mean;
			} else {
				s[n + k] = (gv_real)(1 / sqrt(mean + EPSILON));
				s[7 * n + k] = (gv_real)mean;
			}
		}
	}
	return 0;
}

/* ---- running statistics ---- */

int
gv_cpu_bn_use_running(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row)
{
	const struct gv_nn_row *r = &c->plan->row[row];
	size_t b, k, n = r->l.in_shape.channels;

	(void)be;
	for (b = 0; b < c->plan->B; b++) {
		const gv_real *v = c->running + b * c->plan->Q + r->running;
		gv_real *s = gv_nn_stats(c, r, b);

		memcpy(s, v, n * sizeof(*s));
		for (k = 0; k < n; k++)
			s[n + k] = (gv_real)(1 / sqrt((double)v[n + k] + EPSILON));
	}
	return 0;
}

int
gv_cpu_bn_update_running(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row, gv_real *to)
{
	const struct gv_nn_row *r = &c->plan->row[row];
	size_t b, k, n = r->l.in_shape.channels;
	double count = gv_nn_count(c, r);

	(void)be;
	for (b = 0; b < c->plan->B; b++) {
		size_t at = b * c->plan->Q + r->running;
		const gv_real *v = c->running + at, *s = gv_nn_stats(c, r, b);

		for (k = 0; k < n && c->active[b]; k++) {
			to[at + k] = (gv_real)((1 - MOMENTUM) * (double)v[k] +
					       MOMENTUM * (double)s[6 * n + k]);
			to[at + n + k] = (gv_real)((1 - MOMENTUM) * (double)v[n + k] +
						   MOMENTUM * (double)s[7 * n + k] *
						       (count / (count - 1)));
		}
	}
	return 0;
}
