/*
 * How fast is it?  Each subcommand measures one kind of thing and writes one
 * kind of table.
 */
#include <string.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/opt.h"
#include "launch/slurm/slurm.h"
#include "profile.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} subcommands[] = {
    {"arrays", profile_arrays},
    {"devices", profile_devices},
    {"jobs", profile_jobs},
    {"layers", profile_layers},
    {"links", profile_links},
    {"memory", profile_memory},
};

static const char usage[] =
    "usage: gv-profile [-hV] arrays|devices|jobs|layers|links|memory [option ...] [file]";

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
    "\n"
    "  -h, --help      this text; after a subcommand, its own\n"
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
		gv_opt_usage(o, "options other than -h and -V go after the subcommand");
	if (optind == argc)
		gv_opt_usage(o, "no subcommand given; known: arrays, devices, jobs, "
				"layers, links, memory");
}

int
main(int argc, char **argv)
{
	struct gv_opt o = {.usage = usage, .help = help};
	char q[GV_QUOTE_LEN];
	const char *name;
	size_t i;

	gv_init("gv-profile");
	if (argc == 2 && strncmp(argv[1], "--worker=", 9) == 0)
		return gv_slurm_worker(
		    argv[1] + 9); /* on a node of Slurm, by ourselves */
	parse_options(&o, argc, argv);
	name = argv[optind];
	argc -= optind;
	argv += optind;
	optind =
	    0; /* a new start for getopt_long, which then takes options after operands */
	for (i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
		if (strcmp(name, subcommands[i].name) == 0)
			return subcommands[i].run(argc, argv);
	gv_opt_usage(&o,
	    "unknown subcommand %s; known: arrays, devices, jobs, layers, links, memory",
	    gv_quote(q, name, strlen(name)));
}
