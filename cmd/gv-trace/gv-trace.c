/*
 * Which jobs come when, and what do GPUs cost?  Each subcommand makes, converts,
 * checks or changes a trace of jobs, or works with series of prices.
 */
#include <string.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/opt.h"
#include "trace.h"

static const struct gv_opt_sub subcommands[] = {
    {"check", trace_check},
    {"convert", trace_convert},
    {"generate", trace_generate},
    {"prices", trace_prices},
    {"scale", trace_scale},
};

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

int
main(int argc, char **argv)
{
	struct gv_opt o = {.usage = usage, .help = help};

	gv_init("gv-trace");
	return gv_opt_subcommand(
	    &o, subcommands, sizeof(subcommands) / sizeof(subcommands[0]), argc, argv);
}
