/* gv-report: what it says and draws of drawn events, and of runs side by side, is what it was. */
#include "tap.h"

#include <string.h>

#include "base/fileio.h"
#include "draws.h"
#include "gv-report/charts/figure.h"
#include "gv-report/expect.h"
#include "gv-report/history/read.h"
#include "gv-report/name.h"
#include "gv-report/page/page.h"
#include "gv-report/sheet/of_runs.h"
#include "gv-report/write/runs.h"
#include "gv-report/write/write.h"
#include "recorded_frame.h"
#include "recorded_out.h"
#include "report_draws.h"

static struct gv_error e;

/* In each format, or part of those. */
static void
record_report(struct recorded *r, const struct report *of, const struct runs *runs)
{
	const struct part *part = below(3) == 0 ? NULL : &parts[below(PARTS)];
	int digits = below(2) == 0 ? 1 : (int)below(5);
	unsigned charts = ~0u;
	bool yes = below(2) == 0;

	if (below(3) == 0)
		charts = (unsigned)below(1 << FIGURES);
	write_text(answer_begin(), of, NULL, digits);
	answer_end(r);
	write_text(answer_begin(), of, part, digits);
	answer_end(r);
	write_table(answer_begin(), of, part != NULL ? part : &parts[PART_JOB], yes);
	answer_end(r);
	write_json(answer_begin(), of, part);
	answer_end(r);
	write_svg(answer_begin(), of, digits);
	answer_end(r);
	write_html(answer_begin(), of, runs, yes, charts, digits);
	answer_end(r);
	write_prom(answer_begin(), of, drawn_job(below(20)), yes);
	answer_end(r);
	gv_error_clear(&e);
	recorded_whole(r, expect_finished(of, &e));
	recorded_whole(r, expect_shares(of, (double)below(60), &e));
	recorded_error(r, &e);
}

static void
ask_events(struct recorded *r, size_t wrong)
{
	struct run_drawn d = draw_run(wrong);
	struct gv_strbuf s = {0};
	struct over_time over = {0};
	struct report of = {0};
	struct runs runs = {0};
	struct gv_tab *t;
	long cut = -1;
	int rc;

	draw_events(&s, &d);
	of.history.keep_runs = true;
	of.history.over = &over;
	gv_error_clear(&e);
	t = table_of(&s, "events", &e);
	rc = history_read(&of.history, t, &cut, &e);
	gv_tab_close(t);
	recorded_whole(r, rc);
	recorded_whole(r, cut);
	recorded_error(r, &e);
	/* what was taken of it before and behind an error is as good as any */
	summary_of(&of.summary, &of.history);
	runs_history(&runs, "this run", "events", &of.history, &of.summary);
	runs_finish(&runs);
	record_report(r, &of, &runs);
	runs_free(&runs);
	summary_free(&of.summary);
	history_free(&of.history);
	gv_strbuf_free(&s);
}

/* ---- runs side by side ---- */

/* A table of a run, of whichever kind. */
static void
ask_table(struct recorded *r, struct runs *runs, const char *name, struct run_drawn *d)
{
	struct gv_strbuf s = {0};
	size_t kind = below(5);
	struct gv_tab *t;
	long cut = -1;
	int rc;

	if (kind < 2)
		draw_events(&s, d);
	else if (kind < 4)
		draw_outcomes(&s, d->jobs + 2, d->scale_s, d->wrong);
	else
		draw_sums(&s, d->scale_s, d->wrong);
	gv_error_clear(&e);
	t = table_of(&s, "table", &e);
	rc = runs_table(runs, name, t, &cut, &e);
	gv_tab_close(t);
	recorded_whole(r, rc);
	recorded_whole(r, cut);
	recorded_error(r, &e);
	gv_strbuf_free(&s);
}

static void
record_runs(struct recorded *r, const struct runs *runs, const struct view *v)
{
	static const enum format formats[] = {
	    FORMAT_TEXT, FORMAT_CSV, FORMAT_TSV, FORMAT_JSON};
	static const char *const part[] = {"run", "type", "job", "curve", "other"};
	const struct sheet *by = view_find(v, one_of(part, 5));
	int digits = below(2) == 0 ? 1 : (int)below(5);
	unsigned charts = ~0u;

	if (below(4) == 0)
		charts = (unsigned)below(1 << FIGURES);
	view_write(answer_begin(), v, by, formats[below(4)], digits);
	answer_end(r);
	view_write(answer_begin(), v, NULL, formats[below(4)], digits);
	answer_end(r);
	write_runs_svg(answer_begin(), runs, charts);
	answer_end(r);
	write_runs_prom(answer_begin(), runs);
	answer_end(r);
	if (below(3) > 0)
		return;
	write_runs_html(answer_begin(), runs, v, charts, digits);
	answer_end(r);
}

static void
ask_runs(struct recorded *r, size_t wrong)
{
	static const char *const names[] = {"first", "second", "a, third", "x<y", "z"};
	size_t n = 1 + below(below(8) == 0 ? 30 : 4), tables = 1 + below(2 * n), i;
	struct view v = {.kind = GV_KIND_NONE};
	struct run_drawn d = draw_run(wrong);
	struct runs runs = {0};
	char name[32];

	for (i = 0; i < tables; i++) {
		size_t k = below(n);

		snprintf(name, sizeof(name), k < 5 ? "%s" : "%s%zu", names[k % 5], k);
		if (below(3) == 0)
			d = draw_run(wrong);
		ask_table(r, &runs, name, &d);
	}
	runs_finish(&runs);
	view_runs(&v, &runs, below(4) > 0);
	record_runs(r, &runs, &v);
	view_free(&v);
	runs_free(&runs);
}

/* The units of times just as long as the longest of them, and of longer ones. */
static void
ask_units(struct recorded *r)
{
	static const double at[] = {
	    0, 300, 600, 3 * 3600, 36000, 7 * 86400, 14 * 86400, 1e9};
	struct report of = {0};
	size_t i, k;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		for (k = 0; k < 3; k++) {
			double s = at[i] + .5 * (double)k;

			of.history.last_s = s;
			recorded_text(r, unit_of_job(s).name);
			recorded_double(r, unit_of_job(s).s);
			recorded_text(r, unit_of_run(s).name);
			recorded_double(r, unit_of_run(s).s);
			recorded_text(r, page_unit(&of).name);
			recorded_double(r, page_unit(&of).s);
		}
	recorded_answer(r, "units");
}

/* What runs are called by their files, none of which is there. */
static void
ask_names(struct recorded *r)
{
	static const char *const part[] = {"events", "jobs", "summary", ".csv", ".gz",
	    ".tsv", ".events", ".jobs", "/", "//", "run", ".", "=", "a", ".log",
	    ".summary", "-"};
	struct operand operand;
	char path[80];
	size_t i, n;

	for (i = 0; i < 600; i++) {
		path[0] = '\0';
		for (n = 1 + below(6); n > 0; n--)
			strcat(path, part[below(17)]);
		operand = operand_of(path, below(9) == 0 ? "given" : NULL);
		recorded_text(r, operand.name);
		recorded_text(r, operand.path);
	}
	recorded_answer(r, "names");
}

int
main(void)
{
	struct recorded r;
	size_t turn, i;

	recorded_open(&r);
	ask_units(&r);
	draws_begin(90, 1, 0);
	ask_names(&r);
	for (turn = 0; turn < 60; turn++) {
		draws_begin(90, 0, (uint32_t)turn);
		for (i = 0; i < 4; i++)
			ask_events(&r, i % 4 == 3 ? 6 + below(30) : 0);
		recorded_answer(&r, "events %zu", turn);
		for (i = 0; i < 4; i++)
			ask_runs(&r, i % 4 == 3 ? 6 + below(30) : 0);
		recorded_answer(&r, "runs %zu", turn);
	}
	answer_free();
	recorded_close(&r);
	return done_testing();
}
