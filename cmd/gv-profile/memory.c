/* gv-profile memory: the bytes in use over one step of training. */
#include "gv-profile/layers/bench.h"
#include "gv-profile/layers/layers_table.h"
#include "gv-profile/layers/net_options.h"
#include "profile.h"
#include "table/tab.h"

static const char usage[] =
    "usage: gv-profile memory [-qvV] [-o FILE] [option ...] [model]";

static const char help[] =
    "usage: gv-profile memory [option ...] [model.tsv]\n"
    "Trains a gv-train model and writes what its memory holds over one step: a row\n"
    "for each output that comes into use or is done with.\n"
    "\n"
    "      --models=N         of an array (1)\n"
    "      --batch=N          samples of a minibatch (64)\n"
    "      --data=DATA        gv-train's, with --context --label --scale --autoencode\n"
    "      --shape=HxWxC, --classes=N   or random (28x28x1, 10; tokens 64x1, 256)\n"
    "      --optimizer=NAME   sgd, momentum, adam or adamw (sgd)\n"
    "      --threads=N        of the CPU (1)\n"
    "      --device=DEVICE    cpu, cuda[:N] or auto (cpu); --math=fp32|tf32|bf16\n"
    "      --tsv              write TSV instead of CSV\n"
    "  -o, --output=FILE      write to FILE, which is replaced whole or not at all\n"
    "  -q, --quiet            no warnings\n"
    "  -v, --verbose          say how much it was at most\n"
    "  -h, --help             this text\n"
    "  -V, --version          the version\n";

static void
set_models(void *ctx, const char *arg)
{
	struct net_options *o = ctx;

	o->rule.models = (size_t)gv_opt_int(&o->common, "--models", arg, 1, 1 << 16);
}

/* The sum of all changes up to a row. */
static void
write_log(struct gv_tabw *w, const struct memory_log *l, bool verbose)
{
	int64_t bytes = 0, most = 0;
	size_t i;

	gv_tabw_str(w, "time_ms");
	gv_tabw_str(w, "bytes");
	gv_tabw_str(w, "change_bytes");
	gv_tabw_str(w, "tensor");
	gv_tabw_end(w);
	for (i = 0; i < l->n; i++) {
		bytes += l->event[i].bytes;
		most = bytes > most ? bytes : most;
		write_rounded(w, 1000 * l->event[i].time_s);
		gv_tabw_int(w, bytes);
		gv_tabw_int(w, l->event[i].bytes);
		gv_tabw_str(w, l->event[i].tensor);
		gv_tabw_end(w);
	}
	if (verbose)
		gv_warn("at most %lld bytes", (long long)most);
}

static int
log_step(struct memory_log *l, const struct gv_model *m, const struct times_rule *rule,
    struct gv_error *e)
{
	struct bench b = {0};
	int status = bench_open(&b, m, rule, l, e);

	if (status == 0) {
		memory_log_samples();
		bench_step(&b, NULL); /* what is made when it is first needed */
		memory_log_step(m);
		bench_step(&b, NULL);
		memory_log_end();
		if (b.failed)
			status = gv_error_set(e, "a step: %s", gv_net_error(b.net));
	}
	bench_close(&b);
	return status;
}

int
profile_memory(int argc, char **argv)
{
	static const struct gv_opt_own own[] = {
	    {"models", required_argument, .set = set_models}, NET_OPTIONS,
	    {.name = NULL}};
	struct net_options o = NET_DEFAULTS(usage, help);
	struct memory_log log = {0};
	struct gv_error e = {0};
	struct gv_model m = {0};
	struct gv_out *out;
	struct gv_tabw w;

	opterr = 0;
	gv_opt_parse(&o.common, true, own, &o, argc, argv);
	o.model = gv_opt_input(&o.common, argc, argv);
	o.rule.quiet = o.common.quiet;
	if (net_model(&m, &o, &e) != 0 || gv_out_open(&out, o.common.output, &e) != 0 ||
	    log_step(&log, &m, &o.rule, &e) != 0)
		gv_die_error(&e);
	gv_tabw_init(&w, out, o.common.tsv);
	write_log(&w, &log, o.common.verbose > 0);
	if (gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	memory_log_free(&log);
	gv_model_free(&m);
	net_free(&o);
	return gv_finish();
}
