/*
 * G1: every operator's gradient, and those of whole nets, against central
 * differences, in double: h = 1e-5, relative error <= 1e-6.
 */
#include "nn_help.h"

#define HEAD "id,op,from,out,k,s,p,g,act,bias\n"

static const struct {
	const char *name, *table;
	size_t height, width, channels, classes, batch, models, shards;
} cases[] = {
    {"linear", HEAD "1,linear,,,,,,,,\n2,xent,,,,,,,,\n", 1, 1, 7, 3, 5, 2, 2},
    {"linear without bias", HEAD "1,linear,,,,,,,,0\n2,xent,,,,,,,,\n", 2, 3, 2, 4, 3, 1,
	1},
    {"linear relu linear",
	HEAD "1,linear,,9,,,,,relu,\n2,linear,,,,,,,,\n3,xent,,,,,,,,\n", 3, 1, 2, 5, 7,
	2, 4},
    {"relu as a row",
	HEAD "1,linear,,9,,,,,,\n2,relu,,,,,,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n", 1,
	1, 4, 3, 4, 2, 4},
    {"conv", HEAD "1,conv,,3,3,1,1,,,\n2,linear,,,,,,,,\n3,xent,,,,,,,,\n", 5, 4, 2, 3, 3,
	2, 2},
    {"conv, conv behind it",
	HEAD
	"1,conv,,3,3,1,1,,,\n2,conv,,4,2,1,0,,relu,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	5, 4, 2, 3, 3, 2, 2},
    {"conv of stride 2 and padding",
	HEAD "1,conv,,4,1,1,0,,,\n2,conv,,5,3,2,1,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	7, 6, 3, 4, 3, 1, 2},
    {"conv of stride 3, window 2",
	HEAD "1,conv,,4,1,1,0,,,\n2,conv,,5,2,3,0,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	8, 7, 3, 4, 2, 1, 1},
    {"conv with padding beyond the window",
	HEAD "1,conv,,4,1,1,2,,,\n2,conv,,2,2,1,3,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	3, 3, 2, 4, 2, 1, 1},
    {"conv in groups",
	HEAD "1,conv,,6,3,1,1,1,,\n2,conv,,9,3,2,1,3,relu,\n3,linear,,,,,,,,\n4,xent,,,,,"
	     ",,,\n",
	5, 5, 2, 3, 3, 2, 2},
    {"depthwise, pointwise",
	HEAD "1,conv,,4,1,1,0,,relu,\n2,conv,,4,3,1,1,4,,\n3,conv,,5,1,1,0,,relu,\n4,"
	     "linear,,,,,,,,\n"
	     "5,xent,,,,,,,,\n",
	4, 3, 3, 3, 3, 2, 2},
    {"conv with wide windows",
	HEAD
	"1,conv,,40,1,1,0,,,\n2,conv,,3,3,1,1,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	3, 3, 2, 3, 2, 1, 2},
    {"maxpool",
	HEAD "1,conv,,3,1,1,0,,,\n2,maxpool,,,2,,,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	5, 4, 2, 3, 4, 2, 4},
    {"maxpool, windows that overlap",
	HEAD
	"1,conv,,3,1,1,0,,,\n2,maxpool,,,3,2,1,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	6, 5, 2, 3, 3, 1, 1},
    {"avgpool",
	HEAD
	"1,conv,,3,1,1,0,,,\n2,avgpool,,,3,2,1,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	6, 5, 2, 3, 3, 2, 2},
    {"avgpool of all",
	HEAD
	"1,conv,,3,2,1,0,,relu,\n2,avgpool,,,,,,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	4, 5, 2, 3, 3, 2, 2},
    {"bn", HEAD "1,linear,,6,,,,,,\n2,bn,,,,,,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n", 1,
	1, 5, 3, 7, 2, 4},
    {"bn of the sample", HEAD "1,bn,,,,,,,,\n2,linear,,,,,,,,\n3,xent,,,,,,,,\n", 2, 2, 3,
	3, 4, 1, 2},
    {"conv bn relu, twice",
	HEAD
	"1,conv,,3,3,1,1,,,0\n2,bn,,,,,,,relu,\n3,maxpool,,,2,,,,,\n4,conv,,4,3,1,1,,,0\n"
	"5,bn,,,,,,,relu,\n6,avgpool,,,,,,,,\n7,linear,,,,,,,,\n8,xent,,,,,,,,\n",
	6, 6, 2, 4, 5, 2, 4},
    {"a whole net",
	HEAD "1,conv,,4,3,1,1,,relu,\n2,maxpool,,,2,,,,,\n3,conv,,6,3,1,1,2,relu,\n4,"
	     "maxpool,,,2,,,,,\n"
	     "5,linear,,11,,,,,relu,\n6,linear,,,,,,,,\n7,xent,,,,,,,,\n",
	9, 8, 1, 5, 5, 2, 4},
};

/* The gradient by differences of parameter i of model b, against the net's. */
static double
error_of(struct gv_net *net, gv_real *params, double grad, size_t i, size_t b,
    const gv_real *x, const int32_t *label)
{
	double up[HELP_MODELS], down[HELP_MODELS], was = params[i], h = 1e-5, numeric,
						   size;

	params[i] = was + h;
	gv_net_put(net, 0, b, params);
	gv_net_gradient(net, x, label, up);
	params[i] = was - h;
	gv_net_put(net, 0, b, params);
	gv_net_gradient(net, x, label, down);
	params[i] = was;
	gv_net_put(net, 0, b, params);
	numeric = (up[b] - down[b]) / (2 * h);
	size = fabs(numeric) + fabs(grad);
	/* differences of losses near 1 carry 1e-16 / 1e-5 of rounding */
	return fabs(numeric - grad) / (size > 1e-3 ? size : 1e-3);
}

static void
check(size_t c)
{
	struct gv_model m = help_model(cases[c].table, cases[c].height, cases[c].width,
	    cases[c].channels, cases[c].classes);
	struct gv_net_config config = {.models = cases[c].models,
	    .batch = cases[c].batch,
	    .shards = cases[c].shards,
	    .backend = gv_cpu_new(c % 3 + 1)};
	struct gv_net *net = help_net(&m, config, 0);
	size_t size = gv_shape_size(m.input), n = cases[c].batch,
	       all = config.models * m.parameters;
	gv_real *x = gv_xcalloc(n * size, sizeof(*x));
	int32_t *label = gv_xcalloc(n, sizeof(*label));
	double *grads = gv_xcalloc(m.parameters, sizeof(*grads)), loss[HELP_MODELS],
	       worst = 0;
	gv_real *params;
	size_t i, b, at = 0, zeros = 0;

	/* of these batches no number lies within h of a kink of relu or maxpool */
	help_batch(x, label, n, size, m.classes, 40 + c);
	/* bn starts at gamma 1, beta 0: move away from there */
	for (b = 0; b < config.models; b++) {
		params = help_array(net, 0, b);
		for (i = 0; i < m.parameters; i++)
			params[i] +=
			    0.3 * gv_random_normal(5, 0, 0, b * m.parameters + i);
		gv_net_put(net, 0, b, params);
		free(params);
	}
	for (b = 0; b < config.models; b++) {
		params = help_array(net, 0, b);
		gv_net_gradient(net, x, label, loss);
		gv_net_get_gradients(net, b, grads);
		for (i = 0; i < m.parameters; i++) {
			double error = error_of(net, params, grads[i], i, b, x, label);

			zeros += grads[i] == 0;
			if (!(error <= worst)) {
				worst = error;
				at = b * m.parameters + i;
			}
		}
		free(params);
	}
	ok(worst <= 1e-6, "%s: %zu gradients of %zu models", cases[c].name, m.parameters,
	    config.models);
	if (!(worst <= 1e-6))
		printf("#   worst %g at %zu\n", worst, at);
	ok(zeros < all / 2 + 1, "%s: most gradients are not 0", cases[c].name);
	gv_net_free(net);
	gv_model_free(&m);
	free(x);
	free(label);
	free(grads);
}

int
main(void)
{
	size_t c;

	gv_init("nn_grad_f64");
	is_int(sizeof(gv_real), 8, "this is the double build");
	for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
		check(c);
	return done_testing();
}
