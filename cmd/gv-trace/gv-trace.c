/*
 * Which jobs come when, and what do GPUs cost?  Each subcommand makes, converts,
 * checks or changes a trace of jobs, or works with series of prices.
 */
#include <string.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/opt.h"
#include "trace.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} subcommands[] = {
    {"check", trace_check},
    {"convert", trace_convert},
    {"generate", trace_generate},
    {"prices", trace_prices},
    {"scale", trace_scale},
};

#define KNOWN "check, convert, generate, prices, scale"

static const char usage[] =
    "usage: gv-trace [-hV] check|convert|generate|prices|scale [option ...] [file]";

static const char help[] =
    "usage: gv-trace [-hV] SUBCOMMAND [option ...] [file]\n"
    "Makes, converts, checks and changes traces of jobs; works with prices of GPUs.\n"
    "\n"
    "  check      which jobs have no throughput, which gangs fit nowhere\n"
    "  convert    a trace of Gavel, Philly, Slurm or Alibaba as a jobs table\n"
    "  generate   a synthetic workload: a jobs table\n"
    "  prices     spot series of clouds as a price table; what jobs cost under a\n"
    "             policy of moving between them\n"
    "  scale      more load, other times, other sizes\n"
    "\n"
    "  -h, --help      this text; behind a subcommand, its own\n"
    "  -V, --version   the version\n";

/* Options before the subcommand. */
static void
parse_options(struct gv_opt *o, int argc, char **argv)
{
	static const struct option longopts[] = {GV_OPT_COMMON, {NULL, 0, NULL, 0}};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+" GV_OPT_SHORT, longopts, NULL)) != -1)
		gv_opt_common(o, c, argc, argv);
	if (o->output != NULL || o->quiet || o->verbose > 0)
		gv_opt_usage(o, "options other than -h and -V go behind the subcommand");
	if (optind == argc)
		gv_opt_usage(o, "no subcommand given; known: " KNOWN);
}

int
main(int argc, char **argv)
{
	struct gv_opt o = {.usage = usage, .help = help};
	char q[GV_QUOTE_LEN];
	const char *name;
	size_t i;

	gv_init("gv-trace");
	parse_options(&o, argc, argv);
	name = argv[optind];
	argc -= optind;
	argv += optind;
	optind =
	    0; /* a new start for getopt_long, which then takes options behind operands */
	for (i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
		if (strcmp(name, subcommands[i].name) == 0)
			return subcommands[i].run(argc, argv);
	gv_opt_usage(
	    &o, "unknown subcommand %s; known: " KNOWN, gv_quote(q, name, strlen(name)));
}
