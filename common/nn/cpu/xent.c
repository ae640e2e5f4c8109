/* xent, the head: softmax cross entropy, mean over the batch. */
#include <math.h>

#include "nn/cpu/parts.h"

#ifdef GV_REAL_DOUBLE
#define EXP exp
#define LOG log
#else
#define EXP expf
#define LOG logf
#endif

/* Loss of one sample; its softmax into p. */
static gv_real
softmax(const gv_real *x, size_t classes, int32_t label, gv_real *p)
{
	gv_real top = x[0], sum = 0;
	size_t j;

	for (j = 1; j < classes; j++)
		if (x[j] > top)
			top = x[j];
	for (j = 0; j < classes; j++) {
		p[j] = EXP(x[j] - top);
		sum += p[j];
	}
	for (j = 0; j < classes; j++)
		p[j] /= sum;
	return LOG(sum) - (x[label] - top);
}

/* The largest logit is at the label, and no other before it is as large. */
static bool
is_hit(const gv_real *x, size_t classes, int32_t label)
{
	size_t j;

	for (j = 0; j < classes; j++)
		if (!(j < (size_t)label ? x[label] > x[j] : x[label] >= x[j]))
			return false;
	return true;
}

/*
 * The loss of each sample is the row's output.  Training, the gradient of the
 * batch's mean loss goes to the logits at once; evaluating, hit is noted.
 */
void
gv_cpu_xent_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *x = gv_cpu_x(c, r, s);
	gv_real *loss = gv_cpu_y(c, r, s), *hit = c->f->hit + s->b * c->plan->n + s->i;
	size_t i, j, classes = r->in_size;
	gv_real samples = (gv_real)gv_nn_samples(c->plan);
	bool back = c->training && gv_nn_input(c, r, 0) != NULL;
	gv_real *p = back ? gv_nn_dx(c, r, 0, s->b, s->i) : s->scratch;

	(void)cpu;
	if (c->f->label == NULL)
		return;
	for (i = 0; i < s->n; i++, x += classes, p += back ? classes : 0) {
		int32_t label = c->f->label[s->i + i];

		loss[i] = softmax(x, classes, label, p);
		if (!c->training)
			hit[i] = is_hit(x, classes, label);
		if (!back)
			continue;
		p[label] -= 1;
		for (j = 0; j < classes; j++)
			p[j] /= samples;
	}
}

/* Nothing is left to do: forward made the gradient. */
void
gv_cpu_xent_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	(void)cpu;
	(void)c;
	(void)r;
	(void)s;
}
