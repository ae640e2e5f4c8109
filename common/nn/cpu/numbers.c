/*
 * Heads that compare with numbers: mse, (x - t)^2; bce, the binary cross entropy of
 * logits, max(x, 0) - x t + log(1 + e^-|x|).  As in xent the loss of each sample is
 * the row's output, and the gradient of the batch's mean loss goes to x at once.
 */
#include <math.h>

#include "nn/cpu/parts.h"

#ifdef GV_REAL_DOUBLE
#define EXP   exp
#define LOG1P log1p
#define FABS  fabs
#else
#define EXP   expf
#define LOG1P log1pf
#define FABS  fabsf
#endif

/* Loss of x against t, its derivative, whether x is on t's side. */
struct verdict {
	gv_real loss, slope;
	bool hit;
};

static struct verdict
square(gv_real x, gv_real t)
{
	gv_real off = x - t;

	return (struct verdict){off * off, 2 * off, false};
}

static struct verdict
cross(gv_real x, gv_real t)
{
	gv_real e = EXP(-FABS(x)), one = 1;
	gv_real p = x >= 0 ? one / (one + e) : e / (one + e);

	return (struct verdict){
	    (x > 0 ? x : 0) - x * t + LOG1P(e), p - t, (x > 0) == (t > (gv_real)0.5)};
}

static void
forward(const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_block *s, struct verdict (*judge)(gv_real, gv_real))
{
	const gv_real *x = gv_cpu_x(c, r, s), *t = c->f->number;
	gv_real *loss = gv_cpu_y(c, r, s), *hit = c->f->hit + s->b * c->plan->n + s->i;
	gv_real divisor = (gv_real)gv_nn_targets(c->plan);
	bool back = c->training && gv_nn_input(c, r, 0) != NULL;
	gv_real *dx = back ? gv_nn_dx(c, r, 0, s->b, s->i) : NULL;
	size_t i, j, at = 0;

	if (t == NULL)
		return;
	t += s->i * r->in_size;
	for (i = 0; i < s->n; i++) {
		double sum = 0;
		size_t hits = 0;

		for (j = 0; j < r->in_size; j++, at++) {
			struct verdict v = judge(x[at], t[at]);

			sum += (double)v.loss;
			hits += v.hit;
			if (back)
				dx[at] = v.slope / divisor;
		}
		loss[i] = (gv_real)(sum / (double)r->in_size);
		if (!c->training)
			hit[i] = (gv_real)hits;
	}
}

void
gv_cpu_mse_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	(void)cpu;
	forward(c, r, s, square);
}

void
gv_cpu_bce_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	(void)cpu;
	forward(c, r, s, cross);
}

void
gv_cpu_head_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	(void)cpu;
	(void)c;
	(void)r;
	(void)s;
}
