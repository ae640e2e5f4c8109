/*
 * How fast is it?  Each subcommand measures one kind of thing and writes one
 * kind of table.
 */
#include <string.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/opt.h"
#include "base/subnormal.h"
#include "launch/slurm/slurm.h"
#include "profile.h"

static const struct gv_opt_sub subcommands[] = {
    {"arrays", profile_arrays},
    {"devices", profile_devices},
    {"jobs", profile_jobs},
    {"layers", profile_layers},
    {"links", profile_links},
    {"memory", profile_memory},
    {"pairs", profile_pairs},
};

static const char usage[] =
    "usage: gv-profile [-hV] arrays|devices|jobs|layers|links|memory|pairs [option ...] "
    "[file]";

static const char help[] =
    "usage: gv-profile [-hV] SUBCOMMAND [option ...] [file]\n"
    "Measures, and writes what it found as a table.\n"
    "\n"
    "  arrays    how long steps of arrays take, by the number of models\n"
    "  devices   what GPUs (or CPU) this machine has: a cluster table\n"
    "  jobs      how fast each job trains on each GPU type: a rates table\n"
    "  layers    how long each layer of a model takes, and its bytes: a layers table\n"
    "  links     how fast bytes pass between processes: a links table\n"
    "  memory    what memory holds over a step of training, row by row\n"
    "  pairs     how fast each two jobs train on the same GPUs: a pairs table\n"
    "\n"
    "  -h, --help      this text; after a subcommand, its own\n"
    "  -V, --version   the version\n";

int
main(int argc, char **argv)
{
	struct gv_opt o = {.usage = usage, .help = help};

	gv_init("gv-profile");
	gv_subnormal_flush(); /* as gv-train does, whose passes it times */
	if (argc == 2 && strncmp(argv[1], "--worker=", 9) == 0)
		return gv_slurm_worker(
		    argv[1] + 9); /* on a node of Slurm, by ourselves */
	return gv_opt_subcommand(
	    &o, subcommands, sizeof(subcommands) / sizeof(subcommands[0]), argc, argv);
}
