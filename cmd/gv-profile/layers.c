/*
 * gv-profile layers: the time and the bytes of each layer of a model in training,
 * as gv-partition reads them, measured or from another profiler's file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "import_graph.h"
#include "layers_table.h"
#include "profile.h"

/* Errors above this part of a time are warned of. */
static const double max_relative_error = 0.05;

struct options {
	struct gv_opt common;
	const char *model; /* or a graph */
	bool import;
	bool measuring; /* an option about measuring was given */
	struct gv_shape shape;
	size_t classes;
	struct times_rule rule;
};

static const char usage[] =
    "usage: gv-profile layers [-qvV] [-o FILE] [option ...] [model]";

static const char help[] =
    "usage: gv-profile layers [option ...] [model.tsv]\n"
    "Times each layer of a gv-train model, forward and backward: a table of layers.\n"
    "\n"
    "      --from=pipedream   the input is a graph.txt of PipeDream's profiler\n"
    "      --batch=N          samples of a minibatch (64)\n"
    "      --shape=HxWxC      of a sample (28x28x1)\n"
    "      --classes=N        of the labels (10)\n"
    "      --optimizer=NAME   sgd, momentum, adam or adamw (sgd)\n"
    "      --threads=N        of the CPU (1)\n"
    "      --warmup=TIME      train first, not measured (0.5s)\n"
    "      --window=TIME      measure for at least this long (2s)\n"
    "      --repeats=N        and at least so many steps (20)\n"
    "      --tsv              write TSV instead of CSV\n"
    "  -o, --output=FILE      write to FILE, which is replaced whole or not at all\n"
    "  -q, --quiet            no warnings\n"
    "  -v, --verbose          compare the layers with whole steps\n"
    "  -h, --help             this text\n"
    "  -V, --version          the version\n";

static void
set_from(void *ctx, const char *arg)
{
	static const char *const names[] = {"pipedream"};
	struct options *o = ctx;

	gv_opt_one_of(&o->common, "--from", arg, names, 1);
	o->import = true;
}

static size_t
whole(struct options *o, const char *option, const char *arg, int64_t min, int64_t max)
{
	o->measuring = true;
	return (size_t)gv_opt_int(&o->common, option, arg, min, max);
}

static void
set_batch(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->rule.batch = whole(o, "--batch", arg, 1, 1 << 24);
}

static void
set_classes(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->classes = whole(o, "--classes", arg, 2, 1 << 24);
}

static void
set_threads(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->rule.threads = whole(o, "--threads", arg, 1, 1024);
}

static void
set_repeats(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->rule.least_steps = whole(o, "--repeats", arg, 1, 1000000);
}

static void
set_shape(void *ctx, const char *arg)
{
	struct options *o = ctx;
	char q[GV_QUOTE_LEN];

	if (gv_shape_parse(arg, &o->shape) != 0)
		gv_opt_usage(&o->common, "--shape: expected HxW or HxWxC, got %s",
		    gv_quote(q, arg, strlen(arg)));
	o->measuring = true;
}

static void
set_optimizer(void *ctx, const char *arg)
{
	static const char *const names[] = {"sgd", "momentum", "adam", "adamw"};
	static const enum gv_optimiser kinds[] = {GV_SGD, GV_SGD, GV_ADAM, GV_ADAMW};
	struct options *o = ctx;
	size_t i = gv_opt_one_of(&o->common, "--optimizer", arg, names, 4);

	o->rule.optimiser = kinds[i];
	o->rule.momentum = i == 1 ? 0.9 : 0;
	o->measuring = true;
}

static void
set_warmup(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->rule.warmup_s = gv_opt_duration(&o->common, "--warmup", arg);
	o->measuring = true;
}

static void
set_window(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->rule.window_s = gv_opt_duration(&o->common, "--window", arg);
	o->measuring = true;
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	static const struct gv_opt_own own[] = {
	    {"from", required_argument, .set = set_from},
	    {"batch", required_argument, .set = set_batch},
	    {"shape", required_argument, .set = set_shape},
	    {"classes", required_argument, .set = set_classes},
	    {"optimizer", required_argument, .set = set_optimizer},
	    {"threads", required_argument, .set = set_threads},
	    {"warmup", required_argument, .set = set_warmup},
	    {"window", required_argument, .set = set_window},
	    {"repeats", required_argument, .set = set_repeats}, {.name = NULL}};

	opterr = 0;
	gv_opt_parse(&o->common, true, own, o, argc, argv);
	if (o->import && o->measuring)
		gv_opt_usage(&o->common, "with --from nothing is measured: options of "
					 "measuring say nothing");
	o->model = gv_opt_input(&o->common, argc, argv);
}

/* ---- import ---- */

static void
write_frame(struct gv_tabw *w, const struct gv_frame *f)
{
	size_t i, k;

	for (k = 0; k < f->n_columns; k++)
		gv_tabw_cell(w, f->name[k]);
	gv_tabw_end(w);
	for (i = 0; i < f->n_rows; i++) {
		for (k = 0; k < f->n_columns; k++)
			gv_tabw_cell(w, gv_frame_cell(f, i, (ptrdiff_t)k));
		gv_tabw_end(w);
	}
}

static int
import(const struct options *o, struct gv_error *e)
{
	struct gv_frame layers = {0}, edges = {0};
	struct gv_out *out;
	struct gv_tabw w;
	int rc = import_graph(&layers, &edges, o->model, e);

	if (rc == 0)
		rc = gv_out_open(&out, o->common.output, e);
	if (rc == 0) {
		gv_tabw_init(&w, out, o->common.tsv);
		write_frame(&w, &layers);
		gv_tabw_between(&w);
		write_frame(&w, &edges);
		rc = gv_out_close(out, e);
	}
	gv_frame_free(&layers);
	gv_frame_free(&edges);
	return rc;
}

/* ---- measuring ---- */

/* A layer whose time is noisy, unless next to nothing. */
static double
relative_error(const struct layer_times *t, const struct spread *s)
{
	if (s->median_s < 0.01 * t->layers.median_s)
		return 0;
	return s->error_s / s->median_s;
}

static void
warn_noise(const struct gv_model *m, const struct layer_times *t)
{
	double worst = 0, f, b;
	size_t i, noisy = 0, at = 0;

	for (i = 0; i < t->n; i++) {
		f = relative_error(t, &t->layer[i].forward);
		b = relative_error(t, &t->layer[i].backward);
		f = f > b ? f : b;
		noisy += f > max_relative_error;
		if (f > worst) {
			worst = f;
			at = i;
		}
	}
	if (noisy > 0)
		gv_warn("warning: times of %zu of %zu layers are noisy; layer %lld has a "
			"relative "
			"standard error of %.2g; measure longer, with --window",
		    noisy, t->n, (long long)m->layer[at].id, worst);
}

/* The layers beside whole steps, in which nobody read a clock. */
static void
say(const struct layer_times *t)
{
	double sum = t->layers.median_s + t->update_s;

	gv_warn("steps=%zu forward_backward_ms=%.6g update_ms=%.3g step_ms=%.6g "
		"step_error_ms=%.2g sum_to_step=%.4g",
	    t->steps, 1000 * t->layers.median_s, 1000 * t->update_s,
	    1000 * t->step.median_s, 1000 * t->step.error_s, sum / t->step.median_s);
}

static int
measure(const struct options *o, struct gv_error *e)
{
	struct layer_times t = {0};
	struct gv_model m = {0};
	struct gv_out *out = NULL;
	struct gv_tabw w;
	char *path = gv_model_path(o->model);
	int rc = gv_model_read(&m, path, e);

	free(path);
	if (rc == 0)
		rc = gv_model_shape(&m, o->shape, o->classes, e);
	if (rc == 0)
		rc = gv_out_open(&out, o->common.output, e);
	if (rc == 0)
		rc = layer_times(&t, &m, &o->rule, e);
	if (rc == 0) {
		if (!o->common.quiet)
			warn_noise(&m, &t);
		if (o->common.verbose > 0)
			say(&t);
		gv_tabw_init(&w, out, o->common.tsv);
		write_layers(&w, &m, &t, o->rule.batch);
		write_edges(&w, &m);
		rc = gv_out_close(out, e);
	}
	layer_times_free(&t);
	gv_model_free(&m);
	return rc;
}

int
profile_layers(int argc, char **argv)
{
	struct options o = {.common = {.usage = usage, .help = help},
	    .shape = {1, 28, 28},
	    .classes = 10,
	    .rule = {.batch = 64,
		.threads = 1,
		.optimiser = GV_SGD,
		.warmup_s = 0.5,
		.window_s = 2,
		.least_steps = 20}};
	struct gv_error e = {0};

	parse_options(&o, argc, argv);
	o.rule.quiet = o.common.quiet;
	if ((o.import ? import(&o, &e) : measure(&o, &e)) != 0)
		gv_die_error(&e);
	return gv_finish();
}
