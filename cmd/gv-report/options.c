#include "options.h"

#include <string.h>

#include "gv-report/charts/figure.h"

static const char *const axes[] = {"auto", "linear", "log"};

static const char usage[] = "usage: gv-report [-jqv] [-f FORMAT] [-b PART] [-c CLUSTER] "
			    "[-o FILE] [[NAME=]TABLE ...]";

static const char help[] =
    "usage: gv-report [options] [[NAME=]TABLE ...]\n"
    "Reports what happened in a run, from the events table that gv-run and gv-sim\n"
    "write; compares several runs, from events, jobs and summaries of gv-sim; sums up\n"
    "and draws plans and schedules of pipelines, links and trees of gv-tree; shows\n"
    "any other table of gv.\n"
    "\n"
    "  -f, --format=FORMAT    text (default), csv, tsv, json, svg (drawn), html\n"
    "                         (svg and text), or prom (for Prometheus)\n"
    "  -j, --json; --tsv      short for --format=json, --format=tsv\n"
    "  -b, --by=PART          one part only: summary, type, entity, job or share; of\n"
    "                         runs run, type, job or curve; of trees tree or link\n"
    "      --chart=LIST       only these charts: jobs, runs, completion, lengths,\n"
    "                         queueing, fairness, busy, waiting, held, rounds\n"
    "      --axis=AXIS        of losses: log or linear; --smooth=N: means of N steps\n"
    "  -c, --cluster=CLUSTER  how many GPUs there are (allocation), what they cost\n"
    "  -d, --digits=N         digits behind the point: text, svg, html (default 1)\n"
    "      --expect-finished  exit 1 unless every job has finished\n"
    "      --expect-shares=POINTS\n"
    "                         exit 1 unless shares received are so near to promised\n"
    "      --per-job          prom: also series of every job\n"
    "      --run=NAME         what the run is called (default: by the file's name)\n"
    "  -o, --output=FILE      write there, atomically (default standard output)\n"
    "  -q, --quiet; -v, --verbose  no warnings; say how much was read\n"
    "  -h, --help; -V, --version   this text; name and version\n";

static enum format
parse_format(const struct gv_opt *o, const char *arg)
{
	char q[GV_QUOTE_LEN];
	int i;

	for (i = 0; i < FORMATS; i++)
		if (strcmp(arg, format_name((enum format)i)) == 0)
			return (enum format)i;
	gv_opt_usage(o, "unknown format %s; known: text, csv, tsv, json, svg, html, prom",
	    gv_quote(q, arg, strlen(arg)));
}

/* The part of a history, or NULL for one of runs alone. */
static const struct part *
parse_part(const struct gv_opt *o, const char *arg)
{
	static const char *const others[] = {"run", "curve", "tree", "link"};
	char q[GV_QUOTE_LEN];
	int i;

	for (i = 0; i < PARTS; i++)
		if (strcmp(arg, parts[i].by) == 0)
			return &parts[i];
	for (i = 0; i < 4; i++)
		if (strcmp(arg, others[i]) == 0)
			return NULL;
	gv_opt_usage(o,
	    "unknown part %s; known: summary, type, entity, job, share; of runs: run, "
	    "type, job, curve; of trees: tree, link",
	    gv_quote(q, arg, strlen(arg)));
}

static void
parse_charts(struct options *o, const char *arg)
{
	const char *s = arg, *end;
	char q[GV_QUOTE_LEN];

	o->chart = arg;
	o->charts = 0;
	o->drawn = false;
	for (;; s = end + 1) {
		size_t len;
		int f = 0;

		end = s + strcspn(s, ",");
		len = (size_t)(end - s);
		if (len == 4 && memcmp(s, "jobs", 4) == 0) {
			o->drawn = true;
		} else {
			for (; f < FIGURES; f++)
				if (strlen(figure_name((enum figure)f)) == len &&
				    memcmp(figure_name((enum figure)f), s, len) == 0)
					break;
			if (f == FIGURES)
				gv_opt_usage(&o->common,
				    "unknown chart %s; known: jobs, runs, completion, "
				    "lengths, queueing, fairness, busy, waiting, held, "
				    "rounds",
				    gv_quote(q, s, len));
			o->charts |= 1u << f;
		}
		if (*end == '\0')
			return;
	}
}

static void
check(const struct options *o)
{
	if (o->by != NULL && o->format >= FORMAT_SVG)
		gv_opt_usage(&o->common, "--by cannot be used with --format=%s",
		    format_name(o->format));
	if (o->per_job && o->format != FORMAT_PROM)
		gv_opt_usage(&o->common, "--per-job needs --format=prom");
	if ((o->axis != LOSS_AUTO || o->smooth > 0) && o->format != FORMAT_SVG &&
	    o->format != FORMAT_HTML)
		gv_opt_usage(&o->common, "--%s needs --format=svg or --format=html",
		    o->smooth > 0 ? "smooth" : "axis");
	if (o->chart != NULL && o->format != FORMAT_SVG && o->format != FORMAT_HTML)
		gv_opt_usage(&o->common, "--chart needs --format=svg or --format=html");
}

void
options_parse(struct options *o, int argc, char **argv)
{
	enum {
		EXPECT_FINISHED = GV_OPT_OWN,
		EXPECT_SHARES,
		PER_JOB,
		RUN,
		CHART,
		AXIS,
		SMOOTH
	};
	static const struct option longopts[] = {GV_OPT_COMMON, GV_OPT_TABLE,
	    {"format", required_argument, NULL, 'f'},
	    {"by", required_argument, NULL, 'b'},
	    {"chart", required_argument, NULL, CHART},
	    {"digits", required_argument, NULL, 'd'}, {"json", no_argument, NULL, 'j'},
	    {"expect-finished", no_argument, NULL, EXPECT_FINISHED},
	    {"expect-shares", required_argument, NULL, EXPECT_SHARES},
	    {"axis", required_argument, NULL, AXIS},
	    {"smooth", required_argument, NULL, SMOOTH},
	    {"per-job", no_argument, NULL, PER_JOB},
	    {"cluster", required_argument, NULL, 'c'},
	    {"run", required_argument, NULL, RUN}, {NULL, 0, NULL, 0}};
	int c;

	o->common.usage = usage;
	o->common.help = help;
	o->charts = ~0u;
	while ((c = getopt_long(argc, argv, GV_OPT_SHORT "f:b:c:d:j", longopts, NULL)) !=
	       -1) {
		switch (c) {
		case 'f':
			o->format = parse_format(&o->common, optarg);
			break;
		case 'j':
			o->format = FORMAT_JSON;
			break;
		case GV_OPT_TSV:
			o->format = FORMAT_TSV;
			break;
		case 'c':
			o->cluster = optarg;
			break;
		case RUN:
			o->run = optarg;
			break;
		case CHART:
			parse_charts(o, optarg);
			break;
		case 'b':
			o->by = optarg;
			o->part = parse_part(&o->common, optarg);
			break;
		case 'd':
			o->digits =
			    (int)gv_opt_int(&o->common, "--digits", optarg, 0, 15);
			break;
		case AXIS:
			o->axis = (enum loss_axis)gv_opt_one_of(
			    &o->common, "--axis", optarg, axes, 3);
			break;
		case SMOOTH:
			o->smooth = (double)gv_opt_int(
			    &o->common, "--smooth", optarg, 1, INT64_C(1) << 53);
			break;
		case PER_JOB:
			o->per_job = true;
			break;
		case EXPECT_FINISHED:
			o->expect_finished = true;
			break;
		case EXPECT_SHARES:
			o->expect_points =
			    gv_opt_double(&o->common, "--expect-shares", optarg, 0, 100);
			break;
		default:
			gv_opt_common(&o->common, c, argc, argv);
		}
	}
	check(o);
}
