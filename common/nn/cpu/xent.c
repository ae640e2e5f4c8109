/* xent, a head: softmax cross entropy at every place that has a label. */
#include <math.h>
#include <string.h>

#include "nn/cpu/exp.h"
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

/* The same of one of many places, of which each counts for little time. */
static gv_real
softmax_of_place(const gv_real *x, size_t classes, int32_t label, gv_real *p)
{
	gv_real top, sum;

	memcpy(p, x, classes * sizeof(*p));
	sum = gv_cpu_softmax(p, classes, 1, &top);
	return LOG(sum) - (x[label] - top);
}

/* One place: its loss; where to: the gradient that reaches it, otherwise room. */
static gv_real
place(const gv_real *x, size_t classes, int32_t label, gv_real divisor, bool many,
    bool back, gv_real *to)
{
	gv_real loss;
	size_t j;

	if (label < 0) {
		for (j = 0; j < classes && back; j++)
			to[j] = 0;
		return 0;
	}
	loss = (many ? softmax_of_place : softmax)(x, classes, label, to);
	if (!back)
		return loss;
	to[label] -= 1;
	if (many)
		gv_cpu_scale(to, classes, 1 / divisor);
	for (j = 0; j < classes && !many; j++)
		to[j] /= divisor;
	return loss;
}

/*
 * The loss of each sample is the row's output.  Training, the gradient of the
 * batch's mean loss goes to the logits at once; evaluating, hits are noted.
 */
void
gv_cpu_xent_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *x = gv_cpu_x(c, r, s);
	gv_real *loss = gv_cpu_y(c, r, s), *hit = c->f->hit + s->b * c->plan->n + s->i;
	size_t i, t, places = c->plan->targets, classes = r->in_size / places;
	gv_real divisor = (gv_real)gv_nn_targets(c->plan);
	bool back = c->training && gv_nn_input(c, r, 0) != NULL;
	gv_real *p = back ? gv_nn_dx(c, r, 0, s->b, s->i) : s->scratch;
	const int32_t *label = c->f->label;

	(void)cpu;
	if (label == NULL)
		return;
	label += s->i * places;
	for (i = 0; i < s->n; i++) {
		double sum = 0;
		size_t hits = 0;

		for (t = 0; t < places; t++, label++, x += classes) {
			sum += (double)place(
			    x, classes, *label, divisor, places > 1, back, p);
			if (!c->training && *label >= 0)
				hits += is_hit(x, classes, *label);
			p += back ? classes : 0;
		}
		loss[i] = (gv_real)(sum / (double)places);
		if (!c->training)
			hit[i] = (gv_real)hits;
	}
}
