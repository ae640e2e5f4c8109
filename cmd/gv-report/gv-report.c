/*
 * gv-report: what happened in a run, from its events.
 *
 * Reads the events row by row into a history of each job and GPU type, sums it
 * up, and writes it for people (text, SVG, HTML) or machines (CSV, TSV, JSON,
 * Prometheus).  It does so for a pipeline's plan and schedule, too, and shows
 * the other tables of the house, which it knows by their columns.
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "expect.h"
#include "gv-report/history/read.h"
#include "gv-report/schedule/schedule.h"
#include "gv-report/sheet/sheet.h"
#include "gv-report/stages/stages.h"
#include "gv-report/write/write.h"
#include "name.h"
#include "options.h"
#include "report_losses.h"
#include "report_topology.h"

/* ---- a schedule, a plan ---- */

/* Options that are for events, and for what is counted by jobs. */
static void
check_options(const struct options *o, const char *what)
{
	if (o->by != NULL)
		gv_opt_usage(&o->common, "--by is for events, this is a %s", what);
	if (o->cluster != NULL)
		gv_opt_usage(
		    &o->common, "--cluster is for allocations, this is a %s", what);
	if (o->format == FORMAT_PROM)
		gv_opt_usage(
		    &o->common, "--format=prom is for events, this is a %s", what);
	if (o->chart != NULL || o->run != NULL)
		gv_opt_usage(&o->common, "--%s is for runs, this is a %s",
		    o->chart != NULL ? "chart" : "run", what);
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

	if (o->by != NULL && by == NULL)
		gv_opt_usage(&o->common, "--by=%s: this is %s, which has no such part",
		    o->by, what);
	if (o->format == FORMAT_PROM ||
	    (o->format == FORMAT_SVG && v->chart == CHART_NONE))
		gv_opt_usage(&o->common, "--format=%s is for events%s; this is %s",
		    format_name(o->format),
		    o->format == FORMAT_SVG
			? ", allocations, dry runs, links, trees, losses, plans, "
			  "schedules and stage times"
			: "",
		    what);
	if (o->expect_finished || o->expect_points >= 0)
		gv_opt_usage(&o->common, "--expect-%s is for events, this is %s",
		    o->expect_finished ? "finished" : "shares", what);
	if (o->chart != NULL || o->run != NULL)
		gv_opt_usage(&o->common, "--%s is for runs; this is %s",
		    o->chart != NULL ? "chart" : "run", what);
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
	case GV_KIND_STAGE_TIMES:
		return view_stage_times(v, tab, e);
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
	if (o->format == FORMAT_SVG)
		view_write_svg(out, v);
	else
		view_write(out, v, by, o->format, o->digits);
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

/* More rows of jobs than anybody looks at. */
enum { MOST_DRAWN = 500 };

static void
write_report(struct gv_out *out, const struct report *r, const struct runs *runs,
    const char *name, const struct options *o)
{
	bool few = r->history.n_jobs <= MOST_DRAWN;
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
		if (o->drawn || (o->chart == NULL && few))
			write_svg(out, r, o->digits);
		else
			write_runs_svg(out, runs, o->charts);
		break;
	case FORMAT_HTML:
		write_html(out, r, runs, o->chart != NULL ? o->drawn : few, o->charts,
		    o->digits);
		break;
	case FORMAT_PROM:
		write_prom(out, r, name, o->per_job);
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

static void
check_events_options(const struct options *o)
{
	if (o->run != NULL && o->format < FORMAT_SVG)
		gv_opt_usage(&o->common, "--run needs --format=prom, svg or html");
	if (o->cluster != NULL)
		gv_opt_usage(&o->common,
		    "--cluster is for allocations and several runs, this is an events "
		    "table");
	if (o->drawn && o->charts != 0 && o->format == FORMAT_SVG)
		gv_opt_usage(&o->common, "--chart=jobs is a drawing of its own");
}

/* The one table of events. */
static int
read_events(
    struct history *h, const struct options *o, struct gv_tab *tab, struct gv_error *e)
{
	long cut;

	if (history_read(h, tab, &cut, e) != 0 || gv_tab_last(tab, e) != 0)
		return -1;
	if (cut > 0 && !o->common.quiet)
		warn_of_cut(gv_tab_file(tab), cut);
	gv_tab_close(tab);
	return 0;
}

/* Reports the events that tab is at; whether all is as expected. */
static bool
report_events(const struct options *o, struct gv_tab *tab, const char *name)
{
	bool figures = o->format == FORMAT_SVG || o->format == FORMAT_HTML;
	struct over_time over = {0};
	struct gv_error e = {0};
	struct report r = {0};
	struct runs runs = {0};
	struct gv_out *out;
	bool met;

	check_events_options(o);
	r.history.keep_runs = figures;
	r.history.over = figures ? &over : NULL;
	if (read_events(&r.history, o, tab, &e) != 0)
		gv_die_error(&e);
	summary_of(&r.summary, &r.history);
	if (figures) {
		runs_history(&runs, o->run != NULL ? o->run : "this run", name,
		    &r.history, &r.summary);
		runs_finish(&runs);
	}
	if (o->common.verbose > 0)
		gv_warn("%zu events of %zu jobs", r.history.events, r.history.n_jobs);
	if (gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	write_report(out, &r, &runs, name, o);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	met = as_expected(&r, o);
	runs_free(&runs);
	summary_free(&r.summary);
	history_free(&r.history);
	return met;
}

/* What is asked for is only for losses, and these are none. */
static void
check_losses(const struct options *o)
{
	if (o->axis != LOSS_AUTO || o->smooth > 0)
		gv_opt_usage(
		    &o->common, "--%s is for losses", o->smooth > 0 ? "smooth" : "axis");
}

/* Reports a single table. */
static bool
report_one(const struct options *o, struct operand operand)
{
	struct gv_error e = {0};
	struct gv_tab *tab;

	if (gv_tab_open(&tab, operand.path, &e) != 0 || gv_tab_table(tab, &e) != 1)
		gv_die_error(&e);
	if (!losses_take(tab))
		check_losses(o);
	if (compare_takes(tab, o->by))
		return compare_one(o, operand, tab);
	if (report_topology_takes(tab, o)) {
		report_topology(o, tab, NULL, 0);
		return true;
	}
	if (report_losses_takes(tab, o)) {
		report_losses(o, tab, &operand, 1);
		return true;
	}
	if (stages_are(tab))
		report_stages(o, tab);
	else if (gv_schedule_is(tab))
		report_schedule(o, tab);
	else if (gv_tab_kind(tab) != GV_KIND_NONE && gv_tab_kind(tab) != GV_KIND_EVENTS)
		report_view(o, tab);
	else
		return report_events(o, tab, operand.name);
	return true;
}

static void
several_losses(const struct options *o, struct gv_tab *tab, char **operand, size_t n)
{
	struct operand *of = gv_xcalloc(n, sizeof(*of));
	size_t i;

	for (i = 0; i < n; i++)
		of[i] = operand_of(operand[i], NULL);
	report_losses(o, tab, of, n);
	free(of);
}

/* Reports several: links and trees, losses, or runs. */
static bool
report_several(const struct options *o, char **operand, size_t n)
{
	struct gv_error e = {0};
	struct gv_tab *tab;

	if (gv_tab_open(&tab, operand_of(operand[0], NULL).path, &e) != 0 ||
	    gv_tab_table(tab, &e) != 1)
		gv_die_error(&e);
	if (!losses_take(tab))
		check_losses(o);
	if (topology_takes(tab)) {
		report_topology(o, tab, operand + 1, n - 1);
		return true;
	}
	if (losses_take(tab)) {
		several_losses(o, tab, operand, n);
		return true;
	}
	return compare(o, tab, operand, n);
}

int
main(int argc, char **argv)
{
	struct options o = {.digits = 1, .expect_points = -1};
	bool met;

	gv_init("gv-report");
	options_parse(&o, argc, argv);
	if (argc - optind > 1)
		met = report_several(&o, argv + optind, (size_t)(argc - optind));
	else
		met = report_one(
		    &o, operand_of(gv_opt_input(&o.common, argc, argv), o.run));
	return gv_finish() != 0 ? GV_EXIT_TROUBLE : met ? GV_EXIT_OK : GV_EXIT_NO;
}
