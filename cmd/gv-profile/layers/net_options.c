#include "net_options.h"

#include <stdlib.h>
#include <string.h>

static size_t
whole(
    struct net_options *o, const char *option, const char *arg, int64_t min, int64_t max)
{
	o->measuring = true;
	return (size_t)gv_opt_int(&o->common, option, arg, min, max);
}

void
net_set_batch(void *ctx, const char *arg)
{
	struct net_options *o = ctx;

	o->rule.batch = whole(o, "--batch", arg, 1, 1 << 24);
}

void
net_set_classes(void *ctx, const char *arg)
{
	struct net_options *o = ctx;

	o->classes = whole(o, "--classes", arg, 2, 1 << 24);
}

void
net_set_threads(void *ctx, const char *arg)
{
	struct net_options *o = ctx;

	o->rule.device.threads = whole(o, "--threads", arg, 1, 1024);
}

void
net_set_repeats(void *ctx, const char *arg)
{
	struct net_options *o = ctx;

	o->rule.least_steps = whole(o, "--repeats", arg, 1, 1000000);
}

void
net_set_shape(void *ctx, const char *arg)
{
	struct net_options *o = ctx;
	char q[GV_QUOTE_LEN];

	if (gv_shape_parse(arg, &o->shape) != 0)
		gv_opt_usage(&o->common, "--shape: expected HxW or HxWxC, got %s",
		    gv_quote(q, arg, strlen(arg)));
	o->measuring = true;
}

void
net_set_optimizer(void *ctx, const char *arg)
{
	static const char *const names[] = {"sgd", "momentum", "adam", "adamw"};
	static const enum gv_optimiser kinds[] = {GV_SGD, GV_SGD, GV_ADAM, GV_ADAMW};
	struct net_options *o = ctx;
	size_t i = gv_opt_one_of(&o->common, "--optimizer", arg, names, 4);

	o->rule.optimiser = kinds[i];
	o->rule.momentum = i == 1 ? 0.9 : 0;
	o->measuring = true;
}

void
net_set_warmup(void *ctx, const char *arg)
{
	struct net_options *o = ctx;

	o->rule.warmup_s = gv_opt_duration(&o->common, "--warmup", arg);
	o->measuring = true;
}

void
net_set_window(void *ctx, const char *arg)
{
	struct net_options *o = ctx;

	o->rule.window_s = gv_opt_duration(&o->common, "--window", arg);
	o->measuring = true;
}

void
net_set_device(void *ctx, const char *arg)
{
	struct net_options *o = ctx;
	char q[GV_QUOTE_LEN];

	if (gv_nn_device_parse(arg, &o->rule.device) != 0)
		gv_opt_usage(&o->common,
		    "--device: expected cpu, cuda, cuda:N or auto, got %s",
		    gv_quote(q, arg, strlen(arg)));
	o->measuring = true;
}

void
net_set_math(void *ctx, const char *arg)
{
	static const char *const names[] = {"fp32", "tf32", "bf16"};
	struct net_options *o = ctx;

	o->rule.device.math = (enum gv_nn_math)gv_opt_one_of(
	    &o->common, "--math", arg, names, GV_NN_BF16 + 1);
	o->measuring = true;
}

void
net_set_data(void *ctx, const char *arg)
{
	struct net_options *o = ctx;

	o->sets.train.text = arg;
	o->measuring = true;
}

static struct gv_data_sets *
sets_by(struct net_options *o, const char *option)
{
	o->of_sets = option;
	o->measuring = true;
	return &o->sets;
}

void
net_set_label(void *ctx, const char *arg)
{
	sets_by(ctx, "--label")->train.label = arg;
}

void
net_set_context(void *ctx, const char *arg)
{
	struct net_options *o = ctx;

	sets_by(o, "--context")->train.context =
	    gv_opt_int(&o->common, "--context", arg, 1, 1 << 20);
}

void
net_set_scale(void *ctx, const char *arg)
{
	struct net_options *o = ctx;

	sets_by(o, "--scale")->scale = (enum gv_data_scale)gv_opt_one_of(
	    &o->common, "--scale", arg, gv_data_scale_names, GV_DATA_UNSCALED + 1);
}

void
net_set_autoencode(void *ctx, const char *arg)
{
	(void)arg;
	sets_by(ctx, "--autoencode")->own = true;
}

/* Random samples. */
static int
shape_random(struct gv_model *m, const struct net_options *o, struct gv_error *e)
{
	static const struct gv_shape image = {1, 28, 28}, text = {1, 64, 1};
	bool tokens = gv_model_embeds(m);
	struct gv_shape shape = o->shape;
	size_t classes = o->classes;

	if (shape.channels == 0)
		shape = tokens ? text : image;
	if (classes == 0)
		classes = tokens ? 256 : 10;
	return gv_model_shape(m, shape, classes, e);
}

int
net_model(struct gv_model *m, struct net_options *o, struct gv_error *e)
{
	bool real = o->sets.train.text != NULL;
	char *path;
	int rc;

	if (!real && o->of_sets != NULL)
		gv_opt_usage(&o->common, "%s says nothing without --data", o->of_sets);
	if (real && o->classes > 0)
		gv_opt_usage(
		    &o->common, "--classes and --data: the samples say how many");
	path = gv_model_path(o->model);
	rc = gv_model_read(m, path, e);
	free(path);
	if (rc != 0 || !real)
		return rc != 0 ? -1 : shape_random(m, o, e);
	o->sets.train.h = o->shape.height;
	o->sets.train.w = o->shape.width;
	o->sets.train.c = o->shape.channels;
	if (gv_data_fit(&o->data, &o->test, m, &o->sets, e) != 0)
		return -1;
	gv_data_fit_scale(&o->data, &o->test, m, &o->sets);
	o->rule.data = &o->data;
	return 0;
}

void
net_free(struct net_options *o)
{
	gv_data_free(&o->data);
	gv_data_free(&o->test);
}
