/*
 * Gradients that are clipped against the definition in net.h: of each model of an array its own,
 * where the backend's memory is the host's and where it is not.
 */
#include <math.h>

#include "nn_help.h"

enum { MODELS = 6, BATCH = 4, ROWS = 3, MOST = 16384 };

/* More than three blocks of sums, and rows that end within lanes of eight. */
static const char table[] = "id,op,out,act\n"
			    "1,linear,97,relu\n"
			    "2,linear,5,\n"
			    "3,xent,,\n";
static const size_t inputs[ROWS] = {157, 97, 0}, outputs[ROWS] = {97, 5, 0};

/* Both; the norm; neither; the value; a norm that is never reached; a model that has ended. */
static const struct {
	double value, norm;
} limits[MODELS] = {{.004, .125}, {0, .25}, {0, 0}, {.004, 0}, {0, 1e6}, {.004, .25}};

static double
sum_of_squares(const gv_real *v, size_t n)
{
	long double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += (long double)v[i] * (long double)v[i];
	return (double)sum;
}

/* Model b's numbers as they must become; sq: of its rows. */
static void
clip(gv_real *v, size_t n, size_t b, double *sq)
{
	gv_real most = (gv_real)limits[b].value;
	double norm = 0;
	size_t i, k, at = 0;

	for (k = 0; k < ROWS; k++)
		sq[k] = 0;
	if (b == MODELS - 1)
		return;
	for (i = 0; limits[b].value > 0 && i < n; i++)
		v[i] = v[i] > most ? most : v[i] < -most ? -most : v[i];
	if (!(limits[b].norm > 0))
		return;
	for (k = 0; k < ROWS; k++) {
		size_t numbers = inputs[k] * outputs[k] + outputs[k];

		sq[k] = sum_of_squares(v + at, numbers);
		norm += sq[k];
		at += numbers;
	}
	norm = sqrt(norm);
	for (i = 0; limits[b].norm < norm + 1e-6 && i < n; i++)
		v[i] *= (gv_real)(limits[b].norm / (norm + 1e-6));
}

static struct gv_net *
clipping_net(const struct gv_model *m, bool host)
{
	struct gv_net_config c = {.models = MODELS, .batch = BATCH};
	struct gv_net *net;
	size_t b;

	c.backend = gv_cpu_new(1);
	c.backend->host_memory = host;
	net = help_net(m, c, 0);
	for (b = 0; b < MODELS; b++) {
		struct gv_net_coef coef = gv_net_coef(net, b);

		coef.clip_value = limits[b].value;
		coef.clip_norm = limits[b].norm;
		gv_net_set_coef(net, b, &coef);
	}
	gv_net_set_active(net, MODELS - 1, false);
	return net;
}

/* Bits that are others, or a last digit that is. */
static size_t
differ(const gv_real *a, const gv_real *b, size_t n)
{
	size_t wrong = 0, i;

	for (i = 0; i < n; i++)
		wrong +=
		    !(fabs((double)a[i] - (double)b[i]) <= 1e-6 * fabs((double)b[i]));
	return wrong;
}

static void
test(const struct gv_model *m, bool host)
{
	static gv_real x[BATCH * 157], want[MODELS][MOST], is[MOST];
	struct gv_net *net = clipping_net(m, host);
	double loss[MODELS], sq[MODELS * ROWS], want_sq[MODELS][ROWS];
	size_t n = 158 * 97 + 98 * 5, b, k, wrong = 0, far = 0, cut = 0;
	int32_t label[BATCH];

	help_batch(x, label, BATCH, 157, 5, 1);
	ok(gv_net_clips(net) && gv_net_gradient(net, x, label, loss) == 0, "gradients");
	for (b = 0; b < MODELS; b++) {
		gv_net_get_gradients(net, b, is);
		gv_net_get_gradients(net, b, want[b]);
		clip(want[b], n, b, want_sq[b]);
		cut += differ(is, want[b], n) > 0;
	}
	is_int(cut, 3, "of three models some are too large");
	ok(gv_net_squares(net, sq) == 0 && gv_net_clip(net, sq) == 0, "clipped");
	for (b = 0; b < MODELS; b++) {
		gv_net_get_gradients(net, b, is);
		wrong += differ(is, want[b], n);
		for (k = 0; k < ROWS; k++)
			far += !(fabs(sq[b * ROWS + k] - want_sq[b][k]) <=
				 1e-12 * want_sq[b][k]);
	}
	is_int(far, 0, "squares of each row");
	is_int(wrong, 0, "gradients as net.h says%s", host ? "" : ", on a device");
	gv_net_free(net);
}

/* Without a limit of any model none is looked for. */
static void
test_none(const struct gv_model *m)
{
	struct gv_net_config c = {.models = 2, .batch = BATCH};
	struct gv_net *net = help_net(m, c, 0);
	struct gv_net_coef coef = gv_net_coef(net, 0);

	ok(!gv_net_clips(net), "no limits");
	coef.clip_value = 1e-9;
	gv_net_set_coef(net, 0, &coef);
	ok(gv_net_clips(net), "one of a number");
	coef.clip_value = 0;
	coef.clip_norm = 1e-9;
	gv_net_set_coef(net, 0, &coef);
	ok(gv_net_clips(net), "one of the norm");
	gv_net_free(net);
}

int
main(void)
{
	struct gv_model m = help_model(table, 157, 1, 1, 5);

	gv_init("nn_clip");
	test(&m, true);
	test(&m, false);
	test_none(&m);
	gv_model_free(&m);
	return done_testing();
}
