/* gv-profile arrays: how long a step of an array takes, by how many models it has. */
#include <math.h>

#include "gv-profile/layers/layers_table.h"
#include "gv-profile/layers/net_options.h"
#include "profile.h"
#include "table/tab.h"

struct options {
	struct net_options net;
	size_t most;
};

static const char usage[] =
    "usage: gv-profile arrays [-qvV] [-o FILE] [option ...] [model]";

static const char help[] =
    "usage: gv-profile arrays [option ...] [model.tsv]\n"
    "Times steps of arrays of 1, 2, 4, ... models of one shape, as gv-train's, and\n"
    "fits them: a step of B models takes fixed_ms + B * per_model_ms.\n"
    "\n"
    "      --most=N           the largest array (16)\n"
    "      --batch=N          samples of a minibatch (64)\n"
    "      --data=DATA        gv-train's, with --context --label --scale --autoencode\n"
    "      --shape=HxWxC, --classes=N   or random (28x28x1, 10; tokens 64x1, 256)\n"
    "      --optimizer=NAME   sgd, momentum, adam or adamw (sgd)\n"
    "      --threads=N        of the CPU (1)\n"
    "      --device=DEVICE    cpu, cuda[:N] or auto (cpu); --math=fp32|tf32|bf16\n"
    "      --warmup=TIME      train first, not measured (0.5s)\n"
    "      --window=TIME      measure each for at least this long (2s)\n"
    "      --repeats=N        and at least so many steps (20)\n"
    "      --tsv              write TSV instead of CSV\n"
    "  -o, --output=FILE      write to FILE, which is replaced whole or not at all\n"
    "  -q, --quiet            no warnings\n"
    "  -v, --verbose          say what was fitted\n"
    "  -h, --help             this text\n"
    "  -V, --version          the version\n";

static void
set_most(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->most = (size_t)gv_opt_int(&o->net.common, "--most", arg, 1, 1 << 16);
}

/* Step times of arrays of 1, 2, 4, ... models, and the last one of the most. */
struct sweep {
	size_t n;
	size_t models[20];
	struct spread step[20];
	double fixed_s, per_model_s;
};

/*
 * Least squares of relative errors, sum of ((a + b B - t) / t)^2: what is small counts as
 * what is large.  One size alone: all of it is per model.
 */
static void
fit(struct sweep *s)
{
	double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0, d;
	size_t i;

	for (i = 0; i < s->n; i++) {
		double x = (double)s->models[i], y = s->step[i].median_s, u = 1 / (y * y);

		w += u;
		wx += u * x;
		wxx += u * x * x;
		wy += u * y;
		wxy += u * x * y;
	}
	d = w * wxx - wx * wx;
	s->per_model_s = s->n < 2 ? s->step[0].median_s / (double)s->models[0]
				  : (w * wxy - wx * wy) / d;
	s->fixed_s = s->n < 2 ? 0 : (wy - s->per_model_s * wx) / w;
}

static int
measure(struct sweep *s, const struct gv_model *m, const struct options *o,
    struct gv_error *e)
{
	struct times_rule rule = o->net.rule;
	struct layer_times t;

	for (rule.models = 1;;
	     rule.models = rule.models * 2 < o->most ? rule.models * 2 : o->most) {
		if (layer_times(&t, m, &rule, e) != 0)
			return -1;
		s->models[s->n] = rule.models;
		s->step[s->n++] = t.step;
		layer_times_free(&t);
		if (rule.models >= o->most)
			break;
	}
	fit(s);
	return 0;
}

static void
write_sweep(struct gv_tabw *w, const struct sweep *s, size_t batch)
{
	static const char *const names[] = {"models", "step_ms", "step_mad_ms", "fit_ms",
	    "fixed_ms", "per_model_ms", "samples_per_s", "speedup"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		gv_tabw_str(w, names[i]);
	gv_tabw_end(w);
	for (i = 0; i < s->n; i++) {
		double b = (double)s->models[i], t = s->step[i].median_s;

		gv_tabw_int(w, (int64_t)s->models[i]);
		write_rounded(w, 1000 * t);
		write_rounded(w, 1000 * s->step[i].deviation_s);
		write_rounded(w, 1000 * (s->fixed_s + b * s->per_model_s));
		write_rounded(w, 1000 * s->fixed_s);
		write_rounded(w, 1000 * s->per_model_s);
		write_rounded(w, b * (double)batch / t);
		write_rounded(w, b * s->step[0].median_s / t);
		gv_tabw_end(w);
	}
}

static void
say(const struct sweep *s)
{
	double worst = 0, f;
	size_t i;

	for (i = 0; i < s->n; i++) {
		f = s->fixed_s + (double)s->models[i] * s->per_model_s;
		worst = fmax(worst, fabs(f / s->step[i].median_s - 1));
	}
	gv_warn("fixed_ms=%.4g per_model_ms=%.4g worst_relative_error=%.2g",
	    1000 * s->fixed_s, 1000 * s->per_model_s, worst);
}

int
profile_arrays(int argc, char **argv)
{
	static const struct gv_opt_own own[] = {
	    {"most", required_argument, .set = set_most}, NET_OPTIONS, TIMES_OPTIONS,
	    {.name = NULL}};
	struct options o = {.net = NET_DEFAULTS(usage, help), .most = 16};
	struct gv_error e = {0};
	struct gv_model m = {0};
	struct sweep s = {0};
	struct gv_out *out;
	struct gv_tabw w;

	opterr = 0;
	gv_opt_parse(&o.net.common, true, own, &o, argc, argv);
	o.net.model = gv_opt_input(&o.net.common, argc, argv);
	o.net.rule.quiet = o.net.common.quiet;
	if (net_model(&m, &o.net, &e) != 0 ||
	    gv_out_open(&out, o.net.common.output, &e) != 0 ||
	    measure(&s, &m, &o, &e) != 0)
		gv_die_error(&e);
	if (o.net.common.verbose > 0)
		say(&s);
	gv_tabw_init(&w, out, o.net.common.tsv);
	write_sweep(&w, &s, o.net.rule.batch);
	if (gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	gv_model_free(&m);
	net_free(&o.net);
	return gv_finish();
}
