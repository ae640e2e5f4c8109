/* Programs of several subcommands. */
#include <string.h>

#include "base/opt.h"
#include "base/strbuf.h"

static const char *
listed(const struct gv_opt_sub *sub, size_t n, struct gv_strbuf *b)
{
	size_t i;

	for (i = 0; i < n; i++)
		gv_strbuf_fmt(b, "%s%s", i > 0 ? ", " : "", sub[i].name);
	return b->s;
}

int
gv_opt_subcommand(
    struct gv_opt *o, const struct gv_opt_sub *sub, size_t n, int argc, char **argv)
{
	static const struct option longopts[] = {GV_OPT_COMMON, {NULL, 0, NULL, 0}};
	struct gv_strbuf known = {0};
	char q[GV_QUOTE_LEN];
	const char *name;
	size_t i;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+" GV_OPT_SHORT, longopts, NULL)) != -1)
		gv_opt_common(o, c, argc, argv);
	if (o->output != NULL || o->quiet || o->verbose > 0)
		gv_opt_usage(o, "options other than -h and -V go after the subcommand");
	if (optind == argc)
		gv_opt_usage(o, "no subcommand given; known: %s", listed(sub, n, &known));
	name = argv[optind];
	argc -= optind;
	argv += optind;
	/* a new start for getopt_long, which then takes options after operands */
	optind = 0;
	for (i = 0; i < n; i++)
		if (strcmp(name, sub[i].name) == 0)
			return sub[i].run(argc, argv);
	gv_opt_usage(o, "unknown subcommand %s; known: %s",
	    gv_quote(q, name, strlen(name)), listed(sub, n, &known));
}
