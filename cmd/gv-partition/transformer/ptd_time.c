/* How long an iteration takes. */
#include <math.h>

#include "ptd_parts.h"

const char *const ptd_feature_name[PTD_FEATURES] = {"scatter-gather", "sequence-parallel",
    "flash-attention", "distributed-optimizer", "overlap", "short-last-stage",
    "context-parallel", "expert-parallel"};
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

static double
memory_rate(const struct ptd_machine *m)
{
	return m->gpu->memory_bytes_per_s * m->gpu->memory_share;
}

/* ---- a stage ---- */

/* The output layer's product and its loss, forward and backward. */
static double
output_s(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k)
{
	double t = (double)k->t, tokens = ptd_tokens(x, k);

	/* scores of 32 bits: written, read for maximum, sum and loss, gradient made */
	return 3 * ptd_product_s(m, tokens, x->vocab / t, x->hidden) +
	       6 * 4 * tokens * x->vocab / t / memory_rate(m);
}

/* Sending to the next stage and back, for one micro-batch, all its virtual stages. */
static double
send_s(const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k)
{
	double t = (double)k->t, bytes = ptd_width(m) * ptd_tokens(x, k) * x->hidden, s;
	bool sliced = m->can[PTD_SEQUENCE_PARALLEL];

	if (k->p == 1 || (m->can[PTD_OVERLAP] && k->v > 1))
		return 0;
	s = sliced || m->can[PTD_SCATTER_GATHER] ? bytes / t : bytes;
	s /= ptd_stage_rate(m, k);
	if (m->can[PTD_SCATTER_GATHER] && !sliced)
		s += ptd_half_reduce_s(m, bytes, k->t, 1);
	return 2 * (double)k->v * s;
}

/* ---- after the micro-batches ---- */

/* Parameters of a GPU of the first stage: its layers and the embedding. */
static struct ptd_parts
stage_parameters(const struct transformer *x, const struct ptd_plan *k)
{
	struct ptd_parts each = ptd_layer_parts(x, k);
	double layers = (double)ptd_stage_layers(x, k);

	return (struct ptd_parts){
	    .dense = layers * each.dense + x->vocab * x->hidden / (double)k->t,
	    .expert = layers * each.expert};
}

/* Adding up, or gathering, numbers of these bytes among the copies of a stage. */
static double
half_s(const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k,
    double width)
{
	struct ptd_parts all = stage_parameters(x, k);
	double s = ptd_half_reduce_s(m, width * all.dense, ptd_copies(k), k->t);

	return all.expert == 0 ? s
			       : s + ptd_half_reduce_s(m, width * all.expert,
					 ptd_expert_copies(k), k->t * k->e);
}

/* Communication of so many seconds beside work of so many. */
static double
beside(const struct ptd_machine *m, double s, double work_s)
{
	return m->can[PTD_OVERLAP] ? fmax(0, s - work_s) : s;
}

/* forward_s, backward_s: of the stage for one micro-batch, which may hide it. */
static double
data_s(const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k,
    double forward_s, double backward_s)
{
	double wide = ptd_gradient_width(m), gradients, weights, s = 0;
	double n = (double)ptd_micro_batches(x, k);

	if (ptd_copies(k) > 1) {
		gradients = half_s(x, m, k, wide);
		/* without ZeRO the second half has gradients again */
		weights = k->zero > 0 ? gradients * ptd_width(m) / wide : gradients;
		if (k->zero < 3)
			s = (k->zero < 2 ? 1 : n) * beside(m, gradients, backward_s) +
			    beside(m, weights, forward_s);
		else
			s = n * (beside(m, gradients + weights, backward_s) +
				    beside(m, weights, forward_s));
	}
	if (k->p > 1 && !x->untied) /* the embedding's gradients, first and last stage */
		s += wide * x->vocab * x->hidden / (double)k->t / ptd_stage_rate(m, k);
	return s;
}

/* Adam: gradients read, weights written, three numbers of 32 bits both. */
static double
optimizer_s(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k)
{
	double bytes = ptd_gradient_width(m) + ptd_width(m) + 3 * 8;
	struct ptd_parts all = stage_parameters(x, k);

	if (k->zero > 0) {
		all.dense /= (double)ptd_copies(k);
		all.expert /= (double)ptd_expert_copies(k);
	}
	return bytes * (all.dense + all.expert) / memory_rate(m);
}

struct ptd_time
ptd_time(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k)
{
	struct ptd_layer l = ptd_layer_time(x, m, k);
	double n = (double)ptd_micro_batches(x, k),
	       layers = (double)ptd_stage_layers(x, k);
	double slowest = (double)k->last, again, inside, ahead, layer, stage, last;
	double output = output_s(x, m, k), send = send_s(x, m, k);
	struct ptd_time r = {0};

	again = k->recompute == PTD_FULL        ? l.forward_s
		: k->recompute == PTD_SELECTIVE ? l.core_s
						: 0;
	ahead = l.reduce_s + l.ring_s;
	inside = (k->recompute == PTD_FULL ? 3 : 2) * l.reduce_s +
		 (k->recompute == PTD_NONE ? 1 : 2) * l.ring_s + l.ring_back_s;
	layer = l.forward_s + l.backward_s + again + inside;
	stage = layers * layer + send;
	last = slowest * layer + output + send;
	if (stage > last) {
		slowest = layers;
		output = 0;
	}
	r.compute_s = n * (slowest * (layer - inside) + output);
	r.tensor_s = n * slowest * inside;
	r.pipeline_s = n * send;
	r.bubble_s = (double)(k->p - 1) * stage + last - fmax(stage, last);
	if (k->schedule == PTD_ZB_H1) /* gradients of weights fill it twice */
		r.bubble_s -= 2 * (double)(k->p - 1) * layers * l.weight_s;
	r.bubble_s = fmax(0, r.bubble_s) / (double)k->v;
	r.data_s = data_s(x, m, k, layers * (l.forward_s + ahead),
	    layers * (l.backward_s + again + inside - ahead));
	r.optimizer_s = optimizer_s(x, m, k);
	r.iteration_s = r.compute_s + r.tensor_s + r.pipeline_s + r.data_s +
			r.optimizer_s + r.bubble_s;
	return r;
}
