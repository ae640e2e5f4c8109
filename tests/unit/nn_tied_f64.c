/*
 * Rows that have one weight: gradients against central differences in double, where both
 * copies are moved; copies that stay the same; the norm that counts them once; parts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn_help.h"

#define HEAD "id,op,from,out,k,s,p,g,act,bias,tied_with\n"

/* a language model of 7 tokens and 6 channels; its output has a bias of its own */
static const char table[] =
    HEAD "1,embed,0,6,,,,,,,\n2,ln,,,,,,,,,\n3,linear,,18,1,,,,,,\n4,causal,,,,,,2,,,\n"
	 "5,linear,,6,1,,,,,,\n6,add,1;5,,,,,,,,\n7,linear,,,1,,,,,,1\n8,xent,,,,,,,,,\n";

enum { MODELS = 2, BATCH = 5, PLACES = 4, TOKENS = 7, CHANNELS = 6, ROWS = 8 };

struct samples {
	gv_real x[BATCH * PLACES];
	int32_t label[BATCH * PLACES];
};

static void
make(struct samples *s)
{
	size_t i;

	for (i = 0; i < BATCH * PLACES; i++) {
		s->x[i] = (gv_real)((i * i + i / 3) % TOKENS);
		s->label[i] = (int32_t)((i * 5 + i / 4) % TOKENS);
	}
}

/* Where the two copies lie in params. */
static void
find(const struct gv_net *net, size_t *embed, size_t *linear)
{
	struct gv_net_tensor t;
	size_t i;

	for (i = 0; gv_net_tensor(net, i, &t) == 0; i++) {
		if (strcmp(t.name, "1.weight") == 0)
			*embed = t.offset;
		if (strcmp(t.name, "7.weight") == 0)
			*linear = t.offset;
	}
}

static size_t
differing(const gv_real *v, size_t embed, size_t linear)
{
	size_t t, c, n = 0;

	for (t = 0; t < TOKENS; t++)
		for (c = 0; c < CHANNELS; c++)
			n += memcmp(&v[embed + t * CHANNELS + c],
				 &v[linear + c * TOKENS + t], sizeof(*v)) != 0;
	return n;
}

static double
loss_at(struct gv_net *net, gv_real *v, size_t b, size_t i, size_t also, double by,
    const struct samples *s)
{
	gv_real was[2] = {v[i], v[also]};
	double loss[MODELS];

	v[i] = was[0] + by;
	v[also] = v[i];
	gv_net_put(net, 0, b, v);
	gv_net_gradient(net, s->x, s->label, loss);
	v[i] = was[0];
	v[also] = was[1];
	gv_net_put(net, 0, b, v);
	return loss[b];
}

static void
test_gradients(struct gv_net *net, const struct samples *s)
{
	size_t embed = 0, linear = 0, b, t, c;
	double worst = 0, h = 1e-5, loss[MODELS], *grads, numeric, off;
	struct gv_net_array a;
	size_t same = 0;

	gv_net_array(net, 0, &a);
	grads = gv_xcalloc(a.n, sizeof(*grads));
	find(net, &embed, &linear);
	for (b = 0; b < MODELS; b++) {
		gv_real *v = help_array(net, 0, b);

		gv_net_gradient(net, s->x, s->label, loss);
		gv_net_get_gradients(net, b, grads);
		same += differing(grads, embed, linear);
		for (t = 0; t < TOKENS; t++)
			for (c = 0; c < CHANNELS; c++) {
				size_t i = embed + t * CHANNELS + c;
				size_t also = linear + c * TOKENS + t;

				numeric = (loss_at(net, v, b, i, also, h, s) -
					      loss_at(net, v, b, i, also, -h, s)) /
					  (2 * h);
				off = fabs(numeric - grads[i]) /
				      fmax(fabs(numeric) + fabs(grads[i]), 1e-3);
				worst = off <= worst ? worst : off;
			}
		free(v);
	}
	ok(worst <= 1e-6, "gradients of a weight that two rows have: %g", worst);
	is_int(same, 0, "and both rows have them");
	free(grads);
}

/* Copies and losses behind steps; the copies are the same to the last bit. */
static void
test_steps(const struct gv_model *m, enum gv_optimiser optimiser, const struct samples *s)
{
	struct gv_net_coef coef[MODELS];
	struct gv_net_config config = {.models = MODELS,
	    .batch = BATCH,
	    .optimiser = optimiser,
	    .coef = coef,
	    .backend = gv_cpu_new(2)};
	struct gv_net *net;
	size_t embed = 0, linear = 0, b, i, n = 0;
	double first[MODELS], loss[MODELS];

	for (b = 0; b < MODELS; b++)
		coef[b] = (struct gv_net_coef){.lr = 0.05,
		    .momentum = 0.9,
		    .beta1 = 0.9,
		    .beta2 = 0.99,
		    .eps = 1e-8,
		    .weight_decay = 0.01,
		    .clip_norm = b == 1 ? 0.5 : 0};
	net = help_net(m, config, 0);
	find(net, &embed, &linear);
	gv_net_step(net, s->x, s->label, first);
	for (i = 0; i < 40; i++)
		gv_net_step(net, s->x, s->label, loss);
	for (b = 0; b < MODELS; b++) {
		gv_real *v = help_array(net, 0, b);

		n += differing(v, embed, linear);
		free(v);
	}
	is_int(n, 0, "optimiser %d: copies are the same behind 41 steps", (int)optimiser);
	ok(loss[0] < first[0] && loss[1] < first[1], "and losses fall");
	gv_net_free(net);
}

/* What is clipped by: PyTorch's norm, of each parameter once. */
static void
test_norm(struct gv_net *net, const struct samples *s)
{
	struct gv_net_array a;
	struct gv_net_coef coef = gv_net_coef(net, 0);
	double sq[MODELS * ROWS], loss[MODELS], *grads, sum = 0, whole = 0;
	size_t embed = 0, linear = 0, i;

	coef.clip_norm = 1;
	gv_net_set_coef(net, 0, &coef);
	find(net, &embed, &linear);
	gv_net_array(net, 0, &a);
	grads = gv_xcalloc(a.n, sizeof(*grads));
	gv_net_gradient(net, s->x, s->label, loss);
	gv_net_get_gradients(net, 0, grads);
	gv_net_squares(net, sq);
	for (i = 0; i < ROWS; i++)
		sum += sq[i];
	for (i = 0; i < a.n; i++)
		if (i < linear || i >= linear + TOKENS * CHANNELS)
			whole += grads[i] * grads[i];
	is_near(
	    sum, whole, 1e-12 * whole, "a weight of two rows counts once in the norm");
	free(grads);
}

/* Two parts, whose gradients are told from one to the other, are the whole. */
static void
test_parts(const struct gv_model *m, const struct samples *s)
{
	struct gv_net_config config = {.models = MODELS, .batch = BATCH};
	struct gv_net *whole = help_net(m, config, 0), *part[2];
	double loss[MODELS];
	gv_real of[2][MODELS * TOKENS * CHANNELS], all[MODELS * TOKENS * CHANNELS],
	    sum[MODELS * TOKENS * CHANNELS];
	gv_real *cross;
	size_t k, differ = 0;

	config.last_row = 6;
	part[0] = help_net(m, config, 0);
	config.first_row = 6;
	config.last_row = 0;
	part[1] = help_net(m, config, 0);
	gv_net_gradient(whole, s->x, s->label, loss);
	gv_net_tied_get(whole, 0, all);
	cross = gv_xcalloc(gv_net_row_size(part[0], 5), sizeof(*cross));
	for (k = 0; k < 2; k++)
		gv_net_load(part[k], 0, s->x, s->label);
	gv_net_forward(part[0], &(struct gv_net_work){.last = 6});
	gv_net_get_row(part[0], 0, 5, GV_NET_OUTPUT, cross);
	gv_net_put_row(part[1], 0, 5, GV_NET_OUTPUT, cross);
	gv_net_forward(part[1], &(struct gv_net_work){.first = 6, .last = 8});
	gv_net_backward(part[1], &(struct gv_net_work){.first = 6, .last = 8});
	gv_net_gradients(part[1], &(struct gv_net_work){.first = 6, .last = 8}, true);
	gv_net_get_row(part[1], 0, 5, GV_NET_GRADIENT, cross);
	gv_net_put_row(part[0], 0, 5, GV_NET_GRADIENT, cross);
	gv_net_backward(part[0], &(struct gv_net_work){.last = 6});
	gv_net_gradients(part[0], &(struct gv_net_work){.last = 6}, true);
	for (k = 0; k < 2; k++)
		gv_net_tied_get(part[k], k * 6, of[k]);
	for (k = 0; k < 2; k++) {
		gv_net_tie(part[k]);
		gv_net_tie_with(part[k], k * 6, of[1 - k]);
		gv_net_tied_get(part[k], k * 6, sum);
		differ += memcmp(sum, all, sizeof(all)) != 0;
	}
	is_int(differ, 0, "parts that tell each other have the gradients of the whole");
	free(cross);
	gv_net_free(whole);
	gv_net_free(part[0]);
	gv_net_free(part[1]);
}

int
main(void)
{
	struct gv_model m = help_model(table, PLACES, 1, 1, TOKENS);
	struct gv_net_config config = {.models = MODELS, .batch = BATCH};
	struct gv_net *net = help_net(&m, config, 0);
	struct samples s;
	gv_real *v = help_array(net, 0, 1);
	size_t embed = 0, linear = 0;

	make(&s);
	find(net, &embed, &linear);
	is_int(differing(v, embed, linear), 0, "a fresh net's copies are the same");
	test_gradients(net, &s);
	test_norm(net, &s);
	test_steps(&m, GV_SGD, &s);
	test_steps(&m, GV_ADAM, &s);
	test_steps(&m, GV_ADAMW, &s);
	test_parts(&m, &s);
	free(v);
	gv_net_free(net);
	gv_model_free(&m);
	return done_testing();
}
