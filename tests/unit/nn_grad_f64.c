/*
 * G1: every operator's gradient, and those of whole nets, against central
 * differences, in double: h = 1e-5, relative error <= 1e-6.
 */
#include "nn_cases.h"

/* The gradient by differences of parameter i of model b, against the net's. */
static double
error_of(struct gv_net *net, gv_real *params, double grad, size_t i, size_t b,
    const gv_real *x, const void *target)
{
	double up[HELP_MODELS], down[HELP_MODELS], was = params[i], h = 1e-5, numeric,
						   size;

	params[i] = was + h;
	gv_net_put(net, 0, b, params);
	gv_net_gradient(net, x, target, up);
	params[i] = was - h;
	gv_net_put(net, 0, b, params);
	gv_net_gradient(net, x, target, down);
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
	char *target = gv_xcalloc(n, help_target_bytes(&m));
	double *grads = gv_xcalloc(m.parameters, sizeof(*grads)), loss[HELP_MODELS],
	       worst = 0;
	gv_real *params;
	size_t i, b, at = 0, zeros = 0;

	/* of these batches no number lies within h of a kink of relu or maxpool */
	help_samples(&m, x, target, n, 40 + c);
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
		gv_net_gradient(net, x, target, loss);
		gv_net_get_gradients(net, b, grads);
		for (i = 0; i < m.parameters; i++) {
			double error = error_of(net, params, grads[i], i, b, x, target);

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
	free(target);
	free(grads);
}

int
main(void)
{
	size_t c;

	gv_init("nn_grad_f64");
	is_int(sizeof(gv_real), 8, "this is the double build");
	for (c = 0; c < CASES; c++)
		check(c);
	return done_testing();
}
