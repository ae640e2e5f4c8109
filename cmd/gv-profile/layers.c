/*
 * gv-profile layers: the time and the bytes of each layer of a model in training,
 * as gv-partition reads them, measured or from another profiler's file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "gv-profile/layers/beside.h"
#include "gv-profile/layers/import_graph.h"
#include "gv-profile/layers/layers_table.h"
#include "gv-profile/layers/net_options.h"
#include "profile.h"

/* Errors above this part of a time are warned of. */
static const double max_relative_error = 0.05;

struct options {
	struct net_options net; /* its model: or a graph */
	bool import;
	size_t beside; /* processes that train meanwhile */
};

static const char usage[] =
    "usage: gv-profile layers [-qvV] [-o FILE] [option ...] [model]";

static const char help[] =
    "usage: gv-profile layers [option ...] [model.tsv]\n"
    "Times each layer of a gv-train model, forward and backward: a table of layers.\n"
    "\n"
    "      --from=pipedream   the input is a graph.txt of PipeDream's profiler\n"
    "      --batch=N          samples of a minibatch (64)\n"
    "      --beside=N         while N other processes train the same model (0)\n"
    "      --in-flight=N, --micro-batches=N   as a stage, so many on their way (1),\n"
    "                         and in an update; or --stages=N, as stages have them\n"
    "      --data=DATA        gv-train's, with --context --label --scale --autoencode\n"
    "      --shape=HxWxC, --classes=N   or random (28x28x1, 10; tokens 64x1, 256)\n"
    "      --optimizer=NAME   sgd, momentum, adam or adamw (sgd)\n"
    "      --threads=N        of the CPU (1)\n"
    "      --device=DEVICE    cpu, cuda[:N] or auto (cpu); --math=fp32|tf32|bf16\n"
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

	gv_opt_one_of(&o->net.common, "--from", arg, names, 1);
	o->import = true;
}

static void
set_beside(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->beside = (size_t)gv_opt_int(&o->net.common, "--beside", arg, 0, 1024);
	o->net.measuring = true;
}

static void
set_in_flight(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->net.rule.in_flight =
	    (size_t)gv_opt_int(&o->net.common, "--in-flight", arg, 1, 4096);
	o->net.measuring = true;
}

static void
set_micro_batches(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->net.rule.micro_batches =
	    (size_t)gv_opt_int(&o->net.common, "--micro-batches", arg, 1, 4096);
	o->net.measuring = true;
}

static void
set_stages(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->net.rule.stages = (size_t)gv_opt_int(&o->net.common, "--stages", arg, 1, 4096);
	o->net.measuring = true;
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	static const struct gv_opt_own own[] = {
	    {"beside", required_argument, .set = set_beside},
	    {"from", required_argument, .set = set_from},
	    {"in-flight", required_argument, .set = set_in_flight},
	    {"micro-batches", required_argument, .set = set_micro_batches},
	    {"stages", required_argument, .set = set_stages}, NET_OPTIONS, TIMES_OPTIONS,
	    {.name = NULL}};

	opterr = 0;
	gv_opt_parse(&o->net.common, true, own, o, argc, argv);
	if (o->import && o->net.measuring)
		gv_opt_usage(&o->net.common,
		    "with --from nothing is measured: options of "
		    "measuring say nothing");
	if (o->net.rule.stages > 0 && o->net.rule.in_flight > 0)
		gv_opt_usage(&o->net.common, "--in-flight and --stages: one of them");
	o->net.model = gv_opt_input(&o->net.common, argc, argv);
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
	int rc = import_graph(&layers, &edges, o->net.model, e);

	if (rc == 0)
		rc = gv_out_open(&out, o->net.common.output, e);
	if (rc == 0) {
		gv_tabw_init(&w, out, o->net.common.tsv);
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
say(const struct layer_times *t, const struct times_rule *rule)
{
	size_t flying = rule->stages > rule->in_flight ? rule->stages : rule->in_flight,
	       most = rule->micro_batches > flying ? rule->micro_batches : flying;
	double passes = t->layers.median_s * (most > 1 ? (double)most : 1);
	double sum = passes + t->update_s;

	gv_warn("steps=%zu forward_backward_ms=%.6g update_ms=%.3g step_ms=%.6g "
		"step_error_ms=%.2g sum_to_step=%.4g passed_ms=%.6g",
	    t->steps, 1000 * t->layers.median_s, 1000 * t->update_s,
	    1000 * t->step.median_s, 1000 * t->step.error_s, sum / t->step.median_s,
	    1000 * t->passed_s);
}

static int
measure(struct options *o, struct gv_error *e)
{
	struct layer_times t = {0};
	struct gv_model m = {0};
	struct beside others = {0};
	struct gv_out *out = NULL;
	struct gv_tabw w;
	int rc = net_model(&m, &o->net, e);

	if (rc == 0)
		rc = gv_out_open(&out, o->net.common.output, e);
	if (rc == 0)
		rc = beside_start(&others, o->beside, &m, &o->net.rule, e);
	if (rc == 0)
		rc = layer_times(&t, &m, &o->net.rule, e);
	if (!beside_stop(&others) && rc == 0)
		rc = gv_error_set(e, "a process of --beside has gone");
	if (rc == 0) {
		if (!o->net.common.quiet)
			warn_noise(&m, &t);
		if (o->net.common.verbose > 0)
			say(&t, &o->net.rule);
		gv_tabw_init(&w, out, o->net.common.tsv);
		write_layers(&w, &m, &t, o->net.rule.batch);
		write_edges(&w, &m);
		rc = gv_out_close(out, e);
	}
	layer_times_free(&t);
	gv_model_free(&m);
	net_free(&o->net);
	return rc;
}

int
profile_layers(int argc, char **argv)
{
	struct options o = {.net = NET_DEFAULTS(usage, help)};
	struct gv_error e = {0};

	parse_options(&o, argc, argv);
	o.net.rule.quiet = o.net.common.quiet;
	if ((o.import ? import(&o, &e) : measure(&o, &e)) != 0)
		gv_die_error(&e);
	return gv_finish();
}
