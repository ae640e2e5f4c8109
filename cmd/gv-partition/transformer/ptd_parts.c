#include "ptd_parts.h"

#include <math.h>

struct ptd_parts
ptd_layer_parts(const struct transformer *x, const struct ptd_plan *k)
{
	double t = (double)k->t, all = transformer_layer_parameters(x);
	double experts = transformer_expert_parameters(x);

	return (struct ptd_parts){
	    .dense = (all - experts) / t, .expert = experts / (t * (double)k->e)};
}

size_t
ptd_copies(const struct ptd_plan *k)
{
	return k->c * k->d;
}

size_t
ptd_expert_copies(const struct ptd_plan *k)
{
	return k->c * k->d / k->e;
}

double
ptd_tokens(const struct transformer *x, const struct ptd_plan *k)
{
	return (double)k->b * x->seq / (double)k->c;
}

double
ptd_width(const struct ptd_machine *m)
{
	return m->precision == PRECISION_FP32 ? 4 : 2;
}

double
ptd_gradient_width(const struct ptd_machine *m)
{
	return m->precision == PRECISION_FP16 ? 2 : 4;
}

/* ---- links ---- */

bool
ptd_one_server(const struct ptd_machine *m, const struct ptd_plan *k)
{
	return k->t * k->c * k->p * k->d <= m->node;
}

double
ptd_stage_rate(const struct ptd_machine *m, const struct ptd_plan *k)
{
	return (ptd_one_server(m, k) ? m->link_bytes_per_s : m->network_bytes_per_s) *
	       m->gpu->link_share;
}

/* Of GPUs that are stride apart, how many are in one server. */
static size_t
together(const struct ptd_machine *m, size_t stride)
{
	return m->node > stride ? m->node / stride : 1;
}

/* Bytes per second of the ring over n GPUs that are stride apart. */
static double
ring_rate(const struct ptd_machine *m, size_t n, size_t stride)
{
	double rate = m->link_bytes_per_s, outside;

	if (n > together(m, stride)) {
		/* the servers' other GPUs lend it their ports */
		outside = (double)together(m, stride) * m->network_bytes_per_s;
		rate = outside < rate ? outside : rate;
	}
	return rate * m->gpu->link_share;
}

double
ptd_half_reduce_s(const struct ptd_machine *m, double bytes, size_t n, size_t stride)
{
	return bytes * (double)(n - 1) / (double)n / ring_rate(m, n, stride);
}

double
ptd_all_to_all_s(const struct ptd_machine *m, double bytes, size_t n, size_t stride)
{
	size_t inside = together(m, stride) < n ? together(m, stride) : n;
	double each = bytes / (double)n / m->gpu->link_share;

	return fmax(each * (double)(inside - 1) / m->link_bytes_per_s,
	    each * (double)(n - inside) / m->network_bytes_per_s);
}
