/*
 * bn by its definitions, written down once more: what a training step normalises by
 * is the variance over n, what it carries on is the one over n - 1 (PyTorch's
 * running_var); an evaluation normalises by what was carried on.
 */
#include "nn_help.h"

#define HEAD "id,op,from,out,k,s,p,g,act,bias\n"

enum { STEPS = 3, MOST = 8 };

/* Of numbers v[i * apart], i < n: mean and sum of squares about it. */
static void
moments(const double *v, size_t n, size_t apart, double *mean, double *squares)
{
	size_t i;

	*mean = *squares = 0;
	for (i = 0; i < n; i++)
		*mean += v[i * apart] / (double)n;
	for (i = 0; i < n; i++)
		*squares += (v[i * apart] - *mean) * (v[i * apart] - *mean);
}

/* Largest distance of channel k's y from x normalised. */
static double
distance(const double *y, const double *x, size_t n, size_t apart, double mean,
    double variance)
{
	double worst = 0;
	size_t i;

	for (i = 0; i < n; i++)
		worst = fmax(worst,
		    fabs(y[i * apart] - (x[i * apart] - mean) / sqrt(variance + 1e-5)));
	return worst;
}

/* A bn row on the sample: [batch][places][channels]; so its y is x normalised at first. */
static void
check(size_t batch, size_t side, size_t channels)
{
	struct gv_model m =
	    help_model(HEAD "1,bn,,,,,,,,\n2,linear,,,,,,,,\n3,xent,,,,,,,,\n", side,
		side, channels, 3);
	struct gv_net_config config = {.models = 1, .batch = batch};
	struct gv_net *net = help_net(&m, config, 1);
	size_t n = batch * side * side, all = n * channels, k, t;
	double *x = gv_xcalloc(all, sizeof(*x)), *y = gv_xcalloc(all, sizeof(*y));
	double mean[MOST] = {0}, variance[MOST], at, squares, loss, now = 0, later = 0,
	       carried = 0;
	struct gv_net_work all_rows = {.last = m.n};
	int32_t label[64];
	gv_real *running;

	for (k = 0; k < channels; k++)
		variance[k] = 1;
	for (t = 0; t < STEPS; t++) {
		help_batch(x, label, batch, side * side * channels, 3, 60 + t);
		gv_net_load(net, 0, x, label);
		gv_net_forward(net, &all_rows);
		gv_net_get_row(net, 0, 0, GV_NET_OUTPUT, y);
		for (k = 0; k < channels; k++) {
			moments(x + k, n, channels, &at, &squares);
			if (t == 0)
				now = fmax(now, distance(y + k, x + k, n, channels, at,
						    squares / (double)n));
			mean[k] = 0.9 * mean[k] + 0.1 * at;
			variance[k] = 0.9 * variance[k] + 0.1 * squares / (double)(n - 1);
		}
		if (t == 0) {
			all_rows.evaluate = true;
			gv_net_forward(net, &all_rows);
			gv_net_get_row(net, 0, 0, GV_NET_OUTPUT, y);
			for (k = 0; k < channels; k++) /* nothing is carried yet */
				later = fmax(
				    later, distance(y + k, x + k, n, channels, 0, 1));
			all_rows.evaluate = false;
		}
		gv_net_step(net, x, label, &loss);
	}
	running = help_array(net, 1, 0);
	for (k = 0; k < channels; k++)
		carried = fmax(carried, fmax(fabs(running[k] - mean[k]),
					    fabs(running[channels + k] - variance[k])));
	ok(now < 1e-12, "%zu of a channel: training goes by the variance over n", n);
	ok(later < 1e-12, "an evaluation by what is carried");
	ok(carried < 1e-12, "which is the variance over n - 1");
	free(running);
	free(x);
	free(y);
	gv_net_free(net);
	gv_model_free(&m);
}

int
main(void)
{
	gv_init("nn_bn_f64");
	check(2, 1, 3);
	check(5, 1, 8);
	check(3, 2, 5);
	check(64, 1, 1);
	return done_testing();
}
