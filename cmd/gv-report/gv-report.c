/*
 * gv-report: what happened in a run, from its events.
 *
 * Reads the events row by row into a history of each job and GPU type, sums it
 * up, and writes it for people (text, SVG, HTML) or machines (CSV, TSV, JSON,
 * Prometheus).  It does so for a pipeline's plan and schedule, too, and shows
 * the other tables of the house, which it knows by their columns.
 */
#include <string.h>

#include "base/opt.h"
#include "expect.h"
#include "schedule.h"
#include "sheet.h"
#include "stages.h"
#include "write.h"

enum format {
	FORMAT_TEXT,
	FORMAT_CSV,
	FORMAT_TSV,
	FORMAT_JSON,
	FORMAT_SVG,
	FORMAT_HTML,
	FORMAT_PROM,
	FORMATS
};

static const char *const format_name[FORMATS] = {
    "text", "csv", "tsv", "json", "svg", "html", "prom"};

struct options {
	struct gv_opt common;
	enum format format;
	const struct part *part; /* NULL = the format's default */
	int digits;
	const char *by;      /* what --by says */
	const char *cluster; /* NULL = not given */
	const char *run;     /* its name for Prometheus; NULL = by the file's */
	bool per_job;
	bool expect_finished;
	double expect_points; /* < 0: nothing is expected of shares */
};

static const char usage[] =
    "usage: gv-report [-jqv] [-f FORMAT] [-b PART] [-c CLUSTER] [-o FILE] [TABLE]";

static const char help[] =
    "usage: gv-report [options] [TABLE]\n"
    "\n"
    "Reports what happened in a run, from the events table that gv-run writes; sums\n"
    "up and draws a pipeline's plan and schedule; and shows allocations, rates, dry\n"
    "runs, explanations and any other table of gv.\n"
    "\n"
    "  -f, --format=FORMAT    text (default), csv, tsv, json, svg (drawn), html\n"
    "                         (svg and text), or prom (for Prometheus)\n"
    "  -j, --json; --tsv      short for --format=json, --format=tsv\n"
    "  -b, --by=PART          one part only: summary, type, entity, job or share\n"
    "  -c, --cluster=CLUSTER  allocation: how many GPUs there are, what they cost\n"
    "  -d, --digits=N         digits behind the point: text, svg, html (default 1)\n"
    "      --expect-finished  exit 1 unless every job has finished\n"
    "      --expect-shares=POINTS\n"
    "                         exit 1 unless each share received is within that many\n"
    "                         percentage points of the share promised\n"
    "      --per-job          prom: also series of every job\n"
    "      --run=NAME         prom: the label run (default: by the file's name)\n"
    "  -o, --output=FILE      write there, atomically (default standard output)\n"
    "  -q, --quiet            no warnings\n"
    "  -v, --verbose          say how many events were read\n"
    "  -h, --help; -V, --version  this text; name and version\n";

static enum format
parse_format(const struct gv_opt *o, const char *arg)
{
	char q[GV_QUOTE_LEN];
	int i;

	for (i = 0; i < FORMATS; i++)
		if (strcmp(arg, format_name[i]) == 0)
			return (enum format)i;
	gv_opt_usage(o, "unknown format %s; known: text, csv, tsv, json, svg, html, prom",
	    gv_quote(q, arg, strlen(arg)));
}

static const struct part *
parse_part(const struct gv_opt *o, const char *arg)
{
	char q[GV_QUOTE_LEN];
	int i;

	for (i = 0; i < PARTS; i++)
		if (strcmp(arg, parts[i].by) == 0)
			return &parts[i];
	gv_opt_usage(o, "unknown part %s; known: summary, type, entity, job, share",
	    gv_quote(q, arg, strlen(arg)));
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	enum { EXPECT_FINISHED = GV_OPT_OWN, EXPECT_SHARES, PER_JOB, RUN };
	static const struct option longopts[] = {GV_OPT_COMMON, GV_OPT_TABLE,
	    {"format", required_argument, NULL, 'f'},
	    {"by", required_argument, NULL, 'b'},
	    {"digits", required_argument, NULL, 'd'}, {"json", no_argument, NULL, 'j'},
	    {"expect-finished", no_argument, NULL, EXPECT_FINISHED},
	    {"expect-shares", required_argument, NULL, EXPECT_SHARES},
	    {"per-job", no_argument, NULL, PER_JOB},
	    {"cluster", required_argument, NULL, 'c'},
	    {"run", required_argument, NULL, RUN}, {NULL, 0, NULL, 0}};
	int c;

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
		case 'b':
			o->by = optarg;
			o->part = parse_part(&o->common, optarg);
			break;
		case 'd':
			o->digits =
			    (int)gv_opt_int(&o->common, "--digits", optarg, 0, 15);
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
	if (o->part != NULL && o->format >= FORMAT_SVG)
		gv_opt_usage(&o->common, "--by cannot be used with --format=%s",
		    format_name[o->format]);
	if ((o->per_job || o->run != NULL) && o->format != FORMAT_PROM)
		gv_opt_usage(&o->common, "--%s needs --format=prom",
		    o->per_job ? "per-job" : "run");
}

/* ---- a schedule, a plan ---- */

/* Options that are for events, and for what is counted by jobs. */
static void
check_options(const struct options *o, const char *what)
{
	if (o->part != NULL)
		gv_opt_usage(&o->common, "--by is for events, this is a %s", what);
	if (o->cluster != NULL)
		gv_opt_usage(
		    &o->common, "--cluster is for allocations, this is a %s", what);
	if (o->format == FORMAT_PROM)
		gv_opt_usage(
		    &o->common, "--format=prom is for events, this is a %s", what);
	if (o->expect_finished || o->expect_points >= 0)
		gv_opt_usage(&o->common, "--expect-%s is for events, this is a %s",
		    o->expect_finished ? "finished" : "shares", what);
}

static void
write_schedule(struct gv_out *out, const struct schedule *s, const struct options *o)
{
	switch (o->format) {
	case FORMAT_CSV:
	case FORMAT_TSV:
		schedule_table(out, s, o->format == FORMAT_TSV);
		break;
	case FORMAT_JSON:
		schedule_json(out, s);
		break;
	case FORMAT_SVG:
		schedule_svg(out, s, o->digits);
		break;
	case FORMAT_HTML:
		schedule_html(out, s, o->digits);
		break;
	default:
		schedule_text(out, s, o->digits);
	}
}

/* Reports the schedule that tab is at. */
static void
report_schedule(const struct options *o, struct gv_tab *tab)
{
	struct gv_error e = {0};
	struct schedule s;
	struct gv_out *out;

	check_options(o, "schedule");
	if (schedule_read(&s, tab, &e) != 0)
		gv_die_error(&e);
	gv_tab_close(tab);
	if (o->common.verbose > 0)
		gv_warn("%zu steps of %zu GPUs", s.n_steps, s.n_gpus);
	if (gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	write_schedule(out, &s, o);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	schedule_free(&s);
}

static void
write_stages(struct gv_out *out, const struct stages *s, const struct options *o)
{
	switch (o->format) {
	case FORMAT_CSV:
	case FORMAT_TSV:
		stages_table(out, s, o->format == FORMAT_TSV);
		break;
	case FORMAT_JSON:
		stages_json(out, s);
		break;
	case FORMAT_SVG:
		stages_svg(out, s, o->digits);
		break;
	case FORMAT_HTML:
		stages_html(out, s, o->digits);
		break;
	default:
		stages_text(out, s, o->digits);
	}
}

/* Reports the plan that tab is at, or its stages. */
static void
report_stages(const struct options *o, struct gv_tab *tab)
{
	struct gv_error e = {0};
	struct stages s;
	struct gv_out *out;

	check_options(o, "plan");
	if (stages_read(&s, tab, &e) != 0)
		gv_die_error(&e);
	gv_tab_close(tab);
	if (o->common.verbose > 0)
		gv_warn("%zu rows of %zu stages", s.rows.n_rows, s.n_stages);
	if (gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	write_stages(out, &s, o);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	stages_free(&s);
}

/* ---- views of other tables ---- */

static void
check_view_options(const struct options *o, const struct view *v, const struct sheet *by)
{
	const char *what = gv_kind_name(v->kind);

	if (o->part != NULL && by == NULL)
		gv_opt_usage(&o->common, "--by=%s: this is %s, which has no such part",
		    o->by, what);
	if (o->format == FORMAT_SVG || o->format == FORMAT_PROM)
		gv_opt_usage(&o->common, "--format=%s is for events%s; this is %s",
		    format_name[o->format],
		    o->format == FORMAT_SVG ? ", plans and schedules" : "", what);
	if (o->expect_finished || o->expect_points >= 0)
		gv_opt_usage(&o->common, "--expect-%s is for events, this is %s",
		    o->expect_finished ? "finished" : "shares", what);
	if (o->cluster != NULL && v->kind != GV_KIND_ALLOCATION)
		gv_opt_usage(
		    &o->common, "--cluster is for allocations, this is %s", what);
}

static int
make_view(struct view *v, const struct options *o, struct gv_tab *tab,
    struct gv_cluster *cluster, struct gv_error *e)
{
	switch (v->kind) {
	case GV_KIND_ALLOCATION:
		if (o->cluster != NULL && gv_cluster_read(cluster, o->cluster, e) != 0)
			return -1;
		return view_allocation(v, tab, o->cluster != NULL ? cluster : NULL, e);
	case GV_KIND_RATES:
		return view_rates(v, tab, e);
	case GV_KIND_ROUNDS:
		return view_rounds(v, tab, e);
	case GV_KIND_EXPLANATION:
		return view_explanation(v, tab, e);
	default:
		return view_plain(v, tab, e);
	}
}

static void
write_view(struct gv_out *out, const struct view *v, const struct sheet *by,
    const struct options *o)
{
	switch (o->format) {
	case FORMAT_CSV:
	case FORMAT_TSV:
		view_write_table(out, v, by, o->format == FORMAT_TSV);
		break;
	case FORMAT_JSON:
		view_write_json(out, v, by);
		break;
	default:
		view_write_text(out, v, by, o->digits, o->format == FORMAT_HTML);
	}
}

/* Reports the table that tab is at: one of the house that is none of the others. */
static void
report_view(const struct options *o, struct gv_tab *tab)
{
	struct view v = {.kind = gv_tab_kind(tab)};
	struct gv_cluster cluster = {0};
	struct gv_error e = {0};
	const struct sheet *by;
	struct gv_out *out;

	if (make_view(&v, o, tab, &cluster, &e) != 0)
		gv_die_error(&e);
	gv_tab_close(tab);
	by = o->by != NULL ? view_find(&v, o->by) : NULL;
	check_view_options(o, &v, by);
	if (o->common.verbose > 0)
		gv_warn("%s: %zu rows", gv_kind_name(v.kind), v.frame.n_rows);
	if (gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	write_view(out, &v, by, o);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	view_free(&v);
	gv_cluster_free(&cluster);
}

/* ---- events ---- */

/*
 * Reads all events; errors are collected, so that one run shows them all.  A
 * log may end in the middle of a row, which its writer has yet to finish.
 */
static int
read_history(
    struct history *h, const struct options *o, struct gv_tab *tab, struct gv_error *e)
{
	struct gv_events_in in;
	struct gv_event ev;
	size_t before = e->count, bad;
	int got;

	if (gv_events_on(&in, tab, e) != 0)
		return -1;
	for (bad = before; (got = gv_events_next(&in, &ev, e)) != 0; bad = e->count) {
		if (got > 0) {
			history_event(
			    h, &ev, gv_tab_file(in.tab), gv_tab_line(in.tab), e);
		} else if (gv_tab_cut(in.tab) && !h->ended) {
			e->count = bad;
			if (!o->common.quiet)
				gv_warn("warning: %s:%ld: the last row is not complete, "
					"ignored",
				    gv_tab_file(in.tab), gv_tab_line(in.tab));
		}
	}
	if (e->count == before)
		gv_tab_last(in.tab, e);
	gv_events_close(&in);
	history_close(h);
	return e->count == before ? 0 : -1;
}

static void
write_report(struct gv_out *out, const struct report *r, const struct options *o)
{
	const struct part *job = &parts[PART_JOB];

	switch (o->format) {
	case FORMAT_CSV:
	case FORMAT_TSV:
		write_table(
		    out, r, o->part != NULL ? o->part : job, o->format == FORMAT_TSV);
		break;
	case FORMAT_JSON:
		write_json(out, r, o->part);
		break;
	case FORMAT_SVG:
		write_svg(out, r, o->digits);
		break;
	case FORMAT_HTML:
		write_html(out, r, o->digits);
		break;
	case FORMAT_PROM:
		write_prom(out, r, o->run, o->per_job);
		break;
	default:
		write_text(out, r, o->part, o->digits);
	}
}

/* Whether all that the options expect is so. */
static bool
as_expected(const struct report *r, const struct options *o)
{
	struct gv_error e = {0};

	if (o->expect_finished)
		expect_finished(r, &e);
	if (o->expect_points >= 0)
		expect_shares(r, o->expect_points, &e);
	if (e.count > 0)
		gv_warn_error(&e);
	return e.count == 0;
}

/* Reports the events that tab is at; whether all is as expected. */
static bool
report_events(const struct options *o, struct gv_tab *tab)
{
	struct gv_error e = {0};
	struct report r = {0};
	struct gv_out *out;
	bool met;

	r.history.keep_runs = o->format == FORMAT_SVG || o->format == FORMAT_HTML;
	if (read_history(&r.history, o, tab, &e) != 0)
		gv_die_error(&e);
	summary_of(&r.summary, &r.history);
	if (o->common.verbose > 0)
		gv_warn("%zu events of %zu jobs", r.history.events, r.history.n_jobs);
	if (gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	write_report(out, &r, o);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	met = as_expected(&r, o);
	summary_free(&r.summary);
	history_free(&r.history);
	return met;
}

/*
 * What Prometheus calls a run that has no name: its file without directories and
 * endings; of a journal, which is always called events, its directory.
 */
static const char *
run_name(const char *path)
{
	static char name[256];
	const char *slash = strrchr(path, '/');
	const char *file = slash != NULL ? slash + 1 : path;
	const char *from = file;
	size_t len = strcspn(file, ".");

	if (strcmp(path, "-") == 0)
		return "stdin";
	if (slash != NULL && len == strlen("events") &&
	    memcmp(file, "events", len) == 0) {
		while (slash > path && slash[-1] == '/')
			slash--;
		for (from = slash; from > path && from[-1] != '/'; from--)
			continue;
		len = (size_t)(slash - from);
	}
	if (len == 0 || len >= sizeof(name)) {
		from = file;
		len = strlen(file) < sizeof(name) ? strlen(file) : sizeof(name) - 1;
	}
	memcpy(name, from, len);
	name[len] = '\0';
	return name;
}

int
main(int argc, char **argv)
{
	struct options o = {
	    .common = {.usage = usage, .help = help}, .digits = 1, .expect_points = -1};
	struct gv_error e = {0};
	struct gv_tab *tab;
	const char *path;
	bool met = true;

	gv_init("gv-report");
	parse_options(&o, argc, argv);
	path = gv_opt_input(&o.common, argc, argv);
	if (o.run == NULL)
		o.run = run_name(path);
	if (gv_tab_open(&tab, path, &e) != 0 || gv_tab_table(tab, &e) != 1)
		gv_die_error(&e);
	if (stages_are(tab))
		report_stages(&o, tab);
	else if (gv_schedule_is(tab))
		report_schedule(&o, tab);
	else if (gv_tab_kind(tab) != GV_KIND_NONE && gv_tab_kind(tab) != GV_KIND_EVENTS)
		report_view(&o, tab);
	else
		met = report_events(&o, tab);
	return gv_finish() != 0 ? GV_EXIT_TROUBLE : met ? GV_EXIT_OK : GV_EXIT_NO;
}
