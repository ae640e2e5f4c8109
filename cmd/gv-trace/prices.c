/* gv-trace prices: spot series as a price table, or what jobs cost under a policy. */
#include <math.h>
#include <string.h>

#include "base/fileio.h"
#include "base/num.h"
#include "prices.h"
#include "prices/table.h"
#include "trace.h"

static const char usage[] =
    "usage: gv-trace prices [-qvV] [-o FILE] [-p POLICY --jobs=FILE -t THROUGHPUTS] "
    "[option ...] [series.csv ...]";

static const char help[] =
    "usage: gv-trace prices [option ...] [series.csv ...]\n"
    "Writes spot series as a price table; with -p what each job costs under a policy.\n"
    "\n"
    "      --clouds=LIST           only these clouds\n"
    "      --regions=LIST          only these regions\n"
    "      --start=DATE            what times count from (the first row)\n"
    "  -p, --policy=NAME           one, gpu-type, multi-gpu, multi-cloud, dynamic\n"
    "      --jobs=FILE             job_type, total_steps, arrival_s, deadline_s\n"
    "  -t, --throughputs=FILE      how fast jobs are\n"
    "      --home=CLOUD            of one, gpu-type, multi-gpu (the first row's)\n"
    "      --gpu-type=TYPE         of one (the first of the throughputs)\n"
    "      --every=TIME            when prices and choices are looked at (24h)\n"
    "      --move-cost=TIME        that a move takes (0s)\n"
    "      --checkpoint=TIME, --restart=TIME  that each takes (0s)\n"
    "      --lifetimes=FILE        of instances, for how often they are preempted\n"
    "      --mttp=TIME             mean time to preemption of the others (never)\n"
    "      --schedule              write where each job is when, instead of its cost\n"
    "      --tsv                   write TSV instead of CSV\n"
    "  -o, --output=FILE           write to FILE, replaced whole or not at all\n"
    "  -q, --quiet; -v, --verbose  no warnings; totals\n"
    "  -h, --help; -V, --version   this text; the version\n";

static void
set_policy(void *ctx, const char *arg)
{
	struct prices_options *o = ctx;

	o->has_policy = true;
	o->rules.policy = (enum spot_policy)gv_opt_one_of(
	    &o->common, "--policy", arg, spot_policy_names, N_SPOT_POLICIES);
}

static void
set_start(void *ctx, const char *arg)
{
	struct prices_options *o = ctx;
	char q[GV_QUOTE_LEN];

	if (gv_parse_time(arg, &o->start_s) != 0)
		gv_opt_usage(&o->common,
		    "--start: expected a date such as 2026-11-22T09:30, or seconds, got "
		    "%s",
		    gv_quote(q, arg, strlen(arg)));
	o->has_start = true;
}

static void
set_every(void *ctx, const char *arg)
{
	struct prices_options *o = ctx;

	o->rules.every_s = gv_opt_duration(&o->common, "--every", arg);
	if (o->rules.every_s < 1)
		gv_opt_usage(&o->common, "--every: expected at least 1s");
}

static void
set_move_cost(void *ctx, const char *arg)
{
	struct prices_options *o = ctx;

	o->rules.move_s = gv_opt_duration(&o->common, "--move-cost", arg);
}

static void
set_checkpoint(void *ctx, const char *arg)
{
	struct prices_options *o = ctx;

	o->rules.checkpoint_s = gv_opt_duration(&o->common, "--checkpoint", arg);
}

static void
set_restart(void *ctx, const char *arg)
{
	struct prices_options *o = ctx;

	o->rules.restart_s = gv_opt_duration(&o->common, "--restart", arg);
}

static void
set_mttp(void *ctx, const char *arg)
{
	struct prices_options *o = ctx;

	o->mttp_s = gv_opt_duration(&o->common, "--mttp", arg);
	if (o->mttp_s <= 0)
		gv_opt_usage(&o->common, "--mttp: expected a time above 0");
}

static void
check_options(const struct prices_options *o, int argc, char **argv)
{
	const struct gv_opt *c = &o->common;
	size_t n_stdin = 0;
	int i;

	if (o->has_policy && (o->jobs == NULL || o->throughputs == NULL))
		gv_opt_usage(c, "-p needs --jobs and -t");
	if (!o->has_policy && (o->jobs != NULL || o->throughputs != NULL || o->schedule))
		gv_opt_usage(c, "--jobs, -t and --schedule need -p");
	if (optind == argc)
		gv_opt_input(c, argc, argv); /* complains of a terminal */
	n_stdin += optind == argc;
	for (i = optind; i < argc; i++)
		n_stdin += strcmp(argv[i], "-") == 0;
	n_stdin += o->jobs != NULL && strcmp(o->jobs, "-") == 0;
	n_stdin += o->throughputs != NULL && strcmp(o->throughputs, "-") == 0;
	n_stdin += o->lifetimes != NULL && strcmp(o->lifetimes, "-") == 0;
	if (n_stdin > 1)
		gv_opt_usage(c, "standard input can be read only once");
}

static void
parse_options(struct prices_options *o, int argc, char **argv)
{
	const struct gv_opt_own own[] = {
	    {"policy", required_argument, 'p', .set = set_policy},
	    {"jobs", required_argument, .text = &o->jobs},
	    {"throughputs", required_argument, 't', .text = &o->throughputs},
	    {"clouds", required_argument, .text = &o->filter.clouds},
	    {"regions", required_argument, .text = &o->filter.regions},
	    {"start", required_argument, .set = set_start},
	    {"home", required_argument, .text = &o->home},
	    {"gpu-type", required_argument, .text = &o->gpu_type},
	    {"every", required_argument, .set = set_every},
	    {"move-cost", required_argument, .set = set_move_cost},
	    {"checkpoint", required_argument, .set = set_checkpoint},
	    {"restart", required_argument, .set = set_restart},
	    {"lifetimes", required_argument, .text = &o->lifetimes},
	    {"mttp", required_argument, .set = set_mttp},
	    {"schedule", no_argument, .flag = &o->schedule}, {.name = NULL}};

	gv_opt_parse(&o->common, true, own, o, argc, argv);
	check_options(o, argc, argv);
}

static int
read_markets(struct markets *m, const struct prices_options *o, int argc, char **argv,
    struct gv_error *e)
{
	int i;

	if (optind == argc && markets_read(m, NULL, &o->filter, e) != 0)
		return -1;
	for (i = optind; i < argc; i++)
		if (markets_read(m, argv[i], &o->filter, e) != 0)
			return -1;
	markets_sort(m);
	if (m->n == 0)
		return gv_error_set(
		    e, m->n_rows == 0 ? "the series have no row"
				      : "no row of the series is of these clouds and "
					"regions");
	return markets_lifetimes(m, o->lifetimes, o->mttp_s, e);
}

static int
write_table(const struct prices_options *o, const struct markets *m, struct gv_error *e)
{
	struct gv_out *out;
	struct gv_tabw w;
	size_t n;

	if (gv_out_open(&out, o->common.output, e) != 0)
		return -1;
	gv_tabw_init(&w, out, o->common.tsv);
	n = price_table_write(&w, m, o->start_s);
	if (o->common.verbose > 0)
		gv_warn("%zu markets, %zu prices in %.6g days", m->n, n,
		    (m->end_s - o->start_s) / 86400);
	return gv_out_close(out, e);
}

int
trace_prices(int argc, char **argv)
{
	struct prices_options o = {.common = {.usage = usage, .help = help},
	    .mttp_s = INFINITY,
	    .rules = {.every_s = 86400}};
	struct gv_error e = {0};
	struct markets m = {0};
	bool all_well = true;
	int rc;

	parse_options(&o, argc, argv);
	if (read_markets(&m, &o, argc, argv, &e) != 0)
		gv_die_error(&e);
	if (!o.has_start)
		o.start_s = m.begin_s;
	rc = o.has_policy ? prices_run(&o, &m, &all_well, &e) : write_table(&o, &m, &e);
	if (rc != 0)
		gv_die_error(&e);
	markets_free(&m);
	return gv_finish() != 0 ? GV_EXIT_TROUBLE : all_well ? GV_EXIT_OK : GV_EXIT_NO;
}
