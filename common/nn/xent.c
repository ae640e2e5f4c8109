/* xent, the head: softmax cross entropy, mean over the batch. */
#include <math.h>

#include "nn/passes.h"

#ifdef GV_REAL_DOUBLE
#define EXP exp
#define LOG log
#else
#define EXP expf
#define LOG logf
#endif

const char *
xent_shape(struct gv_layer *l, const char **column, char text[200])
{
	(void)column;
	(void)text;
	l->out_shape = (struct gv_shape){1, 1, 1};
	return NULL;
}

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
xent_forward(struct gv_net *net, const struct row *r, size_t b, size_t i, size_t n,
    gv_real *scratch)
{
	const gv_real *x = row_x(net, r, b, i);
	gv_real *loss = row_y(net, r, b, i);
	size_t s, j, classes = r->in_size;

	if (net->label == NULL)
		return;
	for (s = 0; s < n; s++, x += classes) {
		int32_t label = net->label[i + s];
		gv_real *p = net->training ? row_dx(net, r, b, i + s) : scratch;

		loss[s] = softmax(x, classes, label, p);
		if (!net->training) {
			net->hit[b * net->n + i + s] = is_hit(x, classes, label);
			continue;
		}
		p[label] -= 1;
		for (j = 0; j < classes; j++)
			p[j] /= (gv_real)net->N;
	}
}

/* Nothing is left to do: xent_forward made the gradient. */
void
xent_backward(struct gv_net *net, const struct row *r, size_t b, size_t i, size_t n,
    gv_real *scratch)
{
	(void)net;
	(void)r;
	(void)b;
	(void)i;
	(void)n;
	(void)scratch;
}
