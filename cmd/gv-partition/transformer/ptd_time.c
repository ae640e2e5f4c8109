/* How long an iteration takes. */
#include "ptd.h"

#include <math.h>

const char *const ptd_feature_name[PTD_FEATURES] = {"scatter-gather", "sequence-parallel",
    "flash-attention", "distributed-optimizer", "overlap", "short-last-stage"};
const char *const ptd_schedule_name[PTD_SCHEDULES] = {
    "flush", "interleaved", "gpipe", "zb-h1"};

size_t
ptd_stage_layers(const struct transformer *x, const struct ptd_plan *k)
{
	return k->p > 1 ? ((size_t)x->layers - k->last) / (k->p - 1) : k->last;
}

size_t
ptd_micro_batches(const struct transformer *x, const struct ptd_plan *k)
{
	return (size_t)x->batch / (k->d * k->b);
}

/* Bytes of a number in a matrix product. */
static double
width(const struct ptd_machine *m)
{
	return m->precision == PRECISION_FP32 ? 4 : 2;
}

static double
memory_rate(const struct ptd_machine *m)
{
	return m->gpu->memory_bytes_per_s * m->gpu->memory_share;
}

static double
product_s(const struct ptd_machine *m, double rows, double columns, double inner)
{
	const struct gpu_type *g = m->gpu;
	double bytes = width(m) * (rows * columns + rows * inner + inner * columns);

	return 2 * rows * columns * inner /
		   (g->flops_per_s[m->precision] * g->gemm_share) +
	       bytes / memory_rate(m);
}

/* ---- links ---- */

/* Bytes per second of the ring over n GPUs that are stride apart. */
static double
ring_rate(const struct ptd_machine *m, size_t n, size_t stride)
{
	size_t together = m->node / stride;
	double rate = m->link_bytes_per_s, outside;

	if (together == 0)
		together = 1;
	if (n > together) {
		/* the servers' other GPUs lend it their ports */
		outside = (double)together * m->network_bytes_per_s;
		rate = outside < rate ? outside : rate;
	}
	return rate * m->gpu->link_share;
}

/* Half of an all-reduce: a reduce-scatter or an all-gather of so many bytes. */
static double
half_reduce_s(const struct ptd_machine *m, double bytes, size_t n, size_t stride)
{
	return bytes * (double)(n - 1) / (double)n / ring_rate(m, n, stride);
}

/* ---- a layer ---- */

struct ptd_layer
ptd_layer_time(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k)
{
	double t = (double)k->t, b = (double)k->b, h = x->hidden, s = x->seq;
	double half = width(m) / 2; /* sizes below are those of 16 bits */
	double products, core, elements, scores;
	struct ptd_layer l = {0};

	products = product_s(m, b * s, 3 * h / t, h) + product_s(m, b * s, h, h / t) +
		   product_s(m, b * s, x->ffn / t, h) +
		   product_s(m, b * s, h, x->ffn / t);
	core = 4 * b * s * s * h / t /
	       (m->gpu->flops_per_s[m->precision] * m->gpu->gemm_share);
	/* bytes of saved activations, Korthikanti et al., section 4.1 */
	elements = half * s * b *
		   ((m->can[PTD_SEQUENCE_PARALLEL] ? 10 / t : 10) * h + 8 * h / t +
		       4 * x->ffn / t);
	scores = half * 5 * x->heads * s * s * b / t;
	if (m->can[PTD_FLASH_ATTENTION])
		scores = 0;
	l.core_s = core + 2 * scores / memory_rate(m);
	l.forward_s = products + 2 * elements / memory_rate(m) + l.core_s;
	l.weight_s = products;
	/* flash attention computes the scores once more */
	l.backward_s = 2 * products + (m->can[PTD_FLASH_ATTENTION] ? 2.5 : 2) * core +
		       4 * (elements + scores) / memory_rate(m);
	l.reduce_s = 2 * 2 * half_reduce_s(m, width(m) * b * s * h, k->t, 1);
	/* in pieces beside the products that need them, which hides about half */
	if (m->can[PTD_OVERLAP] && m->can[PTD_SEQUENCE_PARALLEL])
		l.reduce_s /= 2;
	return l;
}

/* ---- a stage ---- */

/* The output layer's product and its loss, forward and backward. */
static double
output_s(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k)
{
	double t = (double)k->t, tokens = (double)k->b * x->seq;

	/* scores of 32 bits: written, read for maximum, sum and loss, gradient made */
	return 3 * product_s(m, tokens, x->vocab / t, x->hidden) +
	       6 * 4 * tokens * x->vocab / t / memory_rate(m);
}

/* Sending to the next stage and back, for one micro-batch, all its virtual stages. */
static double
send_s(const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k)
{
	double t = (double)k->t, bytes = width(m) * (double)k->b * x->seq * x->hidden, s;
	bool sliced = m->can[PTD_SEQUENCE_PARALLEL];

	if (k->p == 1 || (m->can[PTD_OVERLAP] && k->v > 1))
		return 0;
	s = sliced || m->can[PTD_SCATTER_GATHER] ? bytes / t : bytes;
	s /= (k->t * k->p * k->d <= m->node ? m->link_bytes_per_s
					    : m->network_bytes_per_s) *
	     m->gpu->link_share;
	if (m->can[PTD_SCATTER_GATHER] && !sliced)
		s += half_reduce_s(m, bytes, k->t, 1);
	return 2 * (double)k->v * s;
}

/* ---- after the micro-batches ---- */

/* Parameters of a GPU of the first stage: its layers and the embedding. */
static double
stage_parameters(const struct transformer *x, const struct ptd_plan *k)
{
	return ((double)ptd_stage_layers(x, k) * transformer_layer_parameters(x) +
		   x->vocab * x->hidden) /
	       (double)k->t;
}

/* forward_s, backward_s: of the stage for one micro-batch, which may hide it. */
static double
data_s(const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k,
    double forward_s, double backward_s)
{
	double parameters = stage_parameters(x, k), gradients, weights, s = 0;
	double gradient = m->precision == PRECISION_FP16 ? 2 : 4;
	bool hide = m->can[PTD_OVERLAP];

	if (k->d > 1) {
		gradients = half_reduce_s(m, gradient * parameters, k->d, k->t);
		/* without a distributed optimiser the second half has gradients again */
		weights = m->can[PTD_DISTRIBUTED_OPTIMIZER]
			      ? gradients * width(m) / gradient
			      : gradients;
		s = hide ? fmax(0, gradients - backward_s) + fmax(0, weights - forward_s)
			 : gradients + weights;
	}
	if (k->p > 1 && !x->untied) /* the embedding's gradients, first and last stage */
		s += gradient * x->vocab * x->hidden / (double)k->t /
		     ((k->t * k->p * k->d <= m->node ? m->link_bytes_per_s
						     : m->network_bytes_per_s) *
			 m->gpu->link_share);
	return s;
}

/* Adam: gradients read, weights written, three numbers of 32 bits both. */
static double
optimizer_s(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k)
{
	double bytes = (m->precision == PRECISION_FP16 ? 2 : 4) + width(m) + 3 * 8;
	double share = m->can[PTD_DISTRIBUTED_OPTIMIZER] ? (double)k->d : 1;

	return bytes * stage_parameters(x, k) / share / memory_rate(m);
}

struct ptd_time
ptd_time(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k)
{
	struct ptd_layer l = ptd_layer_time(x, m, k);
	double n = (double)ptd_micro_batches(x, k),
	       layers = (double)ptd_stage_layers(x, k);
	double slowest = (double)k->last, again, passes, layer, stage, last;
	double output = output_s(x, m, k), send = send_s(x, m, k);
	struct ptd_time r = {0};

	again = k->recompute == PTD_FULL        ? l.forward_s
		: k->recompute == PTD_SELECTIVE ? l.core_s
						: 0;
	passes = k->recompute == PTD_FULL ? 3 : 2;
	layer = l.forward_s + l.backward_s + again + passes * l.reduce_s;
	stage = layers * layer + send;
	last = slowest * layer + output + send;
	if (stage > last) {
		slowest = layers;
		output = 0;
	}
	r.compute_s = n * (slowest * (layer - passes * l.reduce_s) + output);
	r.tensor_s = n * slowest * passes * l.reduce_s;
	r.pipeline_s = n * send;
	r.bubble_s = (double)(k->p - 1) * stage + last - fmax(stage, last);
	if (k->schedule == PTD_ZB_H1) /* gradients of weights fill it twice */
		r.bubble_s -= 2 * (double)(k->p - 1) * layers * l.weight_s;
	r.bubble_s = fmax(0, r.bubble_s) / (double)k->v;
	r.data_s = data_s(x, m, k, layers * (l.forward_s + l.reduce_s),
	    layers * (l.backward_s + again + (passes - 1) * l.reduce_s));
	r.optimizer_s = optimizer_s(x, m, k);
	r.iteration_s = r.compute_s + r.tensor_s + r.pipeline_s + r.data_s +
			r.optimizer_s + r.bubble_s;
	return r;
}
