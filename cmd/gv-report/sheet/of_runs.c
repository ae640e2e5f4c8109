/* Runs beside each other, as sheets. */
#include "of_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum sheet_kind kind_of[] = {[OF_COUNT] = SHEET_COUNT,
    [OF_NUMBER] = SHEET_NUMBER,
    [OF_SHARE] = SHEET_SHARE,
    [OF_SECONDS] = SHEET_SECONDS};

static struct gv_cell
cell_of(const char *s, size_t len)
{
	return (struct gv_cell){s, len};
}

static struct gv_cell
name_of(const struct run *r)
{
	return cell_of(r->name, strlen(r->name));
}

/* Whether any run has it, and it is not 0 in all. */
static bool
says_anything(const struct runs *r, enum measure m)
{
	bool is_news =
	    m <= M_FINISHED || (m < MEASURES && measures[m].kind == OF_SECONDS);
	size_t i, n = 0;

	for (i = 0; i < r->n; i++)
		n += !isnan(r->run[i].value[m]) && (is_news || r->run[i].value[m] != 0);
	return n > 0;
}

/* All measures, for machines. */
static void
all_sheet(struct view *v, const struct runs *r)
{
	struct sheet *s = view_sheet(v, "run", "runs", false, MEASURES + 1);
	size_t i, m;

	sheet_column(s, "run", NULL, SHEET_TEXT);
	for (m = 0; m < MEASURES; m++)
		sheet_column(s, measures[m].name, NULL, kind_of[measures[m].kind]);
	for (i = 0; i < r->n; i++) {
		sheet_text(s, name_of(&r->run[i]));
		for (m = 0; m < MEASURES; m++)
			sheet_number(s, r->run[i].value[m]);
	}
}

/* Some measures for people, with what the first of them is to that of the first run. */
static void
some_sheet(struct view *v, const struct runs *r, const enum measure *of, size_t n,
    enum measure compared)
{
	struct sheet *s = view_sheet(v, NULL, NULL, true, n + 2);
	size_t i, k;

	sheet_column(s, NULL, "run", SHEET_TEXT);
	for (k = 0; k < n; k++) {
		if (!says_anything(r, of[k]))
			continue;
		sheet_column(
		    s, NULL, measures[of[k]].head, kind_of[measures[of[k]].kind]);
		if (of[k] == compared && r->n > 1)
			sheet_column(s, NULL, "to first", SHEET_NUMBER);
	}
	if (s->n_columns == 1) {
		s->shown = false;
		return;
	}
	for (i = 0; i < r->n; i++) {
		const double *value = r->run[i].value;

		sheet_text(s, name_of(&r->run[i]));
		for (k = 0; k < n; k++) {
			if (!says_anything(r, of[k]))
				continue;
			sheet_number(s, value[of[k]]);
			if (of[k] == compared && r->n > 1)
				sheet_number(s, value[of[k]] / r->run[0].value[of[k]]);
		}
	}
}

static void
types_sheet(struct view *v, const struct runs *r)
{
	struct sheet *s = view_sheet(v, "type", "types", true, 6);
	size_t i, k;

	sheet_column(s, "run", "run", SHEET_TEXT);
	sheet_column(s, "gpu_type", "GPU type", SHEET_TEXT);
	sheet_column(s, "gpus", "GPUs", SHEET_COUNT);
	sheet_column(s, "busy_gpu_s", "GPU time used", SHEET_SECONDS);
	sheet_column(s, "utilisation", "busy", SHEET_SHARE);
	sheet_column(s, "usd", "cost USD", SHEET_NUMBER);
	for (i = 0; i < r->n; i++) {
		for (k = 0; k < r->run[i].n_types; k++) {
			const struct run_type *t = &r->run[i].type[k];

			sheet_text(s, name_of(&r->run[i]));
			sheet_text(s, cell_of(t->name, t->name_len));
			sheet_number(s, t->gpus);
			sheet_number(s, t->busy_gpu_s);
			sheet_number(s, t->utilisation);
			sheet_number(s, t->usd);
		}
	}
}

static void
jobs_sheet(struct view *v, const struct runs *r)
{
	static const char *const name[] = {"arrival_s", "finish_s", "completion_s",
	    "queueing_s", "running_s", "gpu_s", "fairness", "launches", "preemptions"};
	struct sheet *s = view_sheet(v, "job", "jobs", false, 11);
	size_t i, k;

	sheet_column(s, "run", NULL, SHEET_TEXT);
	sheet_column(s, "job_id", NULL, SHEET_TEXT);
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		sheet_column(s, name[i], NULL, SHEET_NUMBER);
	for (i = 0; i < r->n; i++) {
		for (k = 0; k < r->run[i].n_jobs; k++) {
			const struct outcome *o = &r->run[i].job[k];

			sheet_text(s, name_of(&r->run[i]));
			sheet_text(s, cell_of(o->id, o->id_len));
			sheet_number(s, o->arrival_s);
			sheet_number(s, o->finish_s);
			sheet_number(s, o->completion_s);
			sheet_number(s, o->queueing_s);
			sheet_number(s, o->running_s);
			sheet_number(s, o->gpu_s);
			sheet_number(s, o->fairness);
			sheet_number(s, o->launches);
			sheet_number(s, o->preemptions);
		}
	}
}

/* ---- curves ---- */

static void
point(struct sheet *s, const char *chart, const struct run *run, struct gv_cell series,
    double x, double y)
{
	sheet_text(s, cell_of(chart, strlen(chart)));
	sheet_text(s, name_of(run));
	sheet_text(s, series);
	sheet_number(s, x);
	sheet_number(s, y);
}

enum { CDF_POINTS = 200 };

/* At most CDF_POINTS of the numbers, at equal distances in their order. */
static void
cdf_points(
    struct sheet *s, const char *chart, const struct run *run, size_t offset, bool of_all)
{
	struct spread spread;
	struct numbers of = run_numbers(run, offset, LENGTH_UNKNOWN, &spread);
	size_t n = of.n < CDF_POINTS ? of.n : CDF_POINTS, k;
	double all = (double)(of_all ? run->n_jobs : of.n);

	for (k = 0; k < n; k++) {
		size_t i = (k + 1) * of.n / n - 1;

		point(s, chart, run, cell_of("", 0), of.v[i], (double)(i + 1) / all);
	}
	free(of.v);
}

static void
level_points(struct sheet *s, const char *chart, const struct run *run,
    struct gv_cell series, const struct bins *b)
{
	size_t n = bins_n(b, run->end_s), i;

	for (i = 0; i < n; i++)
		point(s, chart, run, series, (double)i * b->width_s,
		    bins_mean(b, i, run->end_s));
}

static void
curves_sheet(struct view *v, const struct runs *r)
{
	struct sheet *s = view_sheet(v, "curve", "curves", false, 5);
	size_t i, k;

	sheet_column(s, "chart", NULL, SHEET_TEXT);
	sheet_column(s, "run", NULL, SHEET_TEXT);
	sheet_column(s, "series", NULL, SHEET_TEXT);
	sheet_column(s, "x", NULL, SHEET_NUMBER);
	sheet_column(s, "y", NULL, SHEET_NUMBER);
	for (i = 0; i < r->n; i++) {
		const struct run *run = &r->run[i];

		cdf_points(
		    s, "completion", run, offsetof(struct outcome, completion_s), true);
		cdf_points(
		    s, "queueing", run, offsetof(struct outcome, queueing_s), false);
		cdf_points(s, "fairness", run, offsetof(struct outcome, fairness), false);
		for (k = 0; k < run->over.n_types; k++) {
			const struct run_type *t = &run->type[run->type_of[k]];

			level_points(s, "busy", run, cell_of(t->name, t->name_len),
			    &run->over.busy[k]);
		}
		level_points(s, "running", run, cell_of("", 0), &run->over.running);
		level_points(s, "active", run, cell_of("", 0), &run->active);
	}
}

/* ---- all of it ---- */

/* The longest time of a measure that people see, so that times compare by eye. */
static double
longest(const struct runs *r)
{
	double s = 0;
	size_t i;

	for (i = 0; i < r->n; i++)
		s = fmax(s, r->run[i].value[M_COMPLETION_MEAN]);
	return s;
}

void
view_runs(struct view *v, const struct runs *r, bool full)
{
	static const enum measure completion[] = {M_JOBS, M_FINISHED, M_COMPLETION_MEAN,
	    M_COMPLETION_MEDIAN, M_COMPLETION_P95, M_COMPLETION_P99, M_COMPLETION_MAX,
	    M_SHORT_MEAN, M_LONG_MEAN};
	static const enum measure others[] = {M_MAKESPAN, M_QUEUEING_MEAN, M_QUEUEING_P99,
	    M_FAIRNESS_MEAN, M_FAIRNESS_P99, M_FAIRNESS_MAX, M_UTILISATION, M_USD,
	    M_DEADLINES, M_DEADLINES_MISSED, M_PREEMPTIONS, M_FAILURES, M_STEPS_LOST};
	double jobs = 0;
	bool same = true;
	size_t i;

	for (i = 0; i < r->n; i++) {
		jobs = fmax(jobs, r->run[i].value[M_JOBS]);
		same &= r->run[i].value[M_JOBS] == r->run[0].value[M_JOBS];
	}
	gv_strbuf_fmt(&v->title, "%zu run%s", r->n, r->n == 1 ? "" : "s");
	if (jobs > 0)
		gv_strbuf_fmt(&v->title, " of %s%.0f job%s", same ? "" : "up to ", jobs,
		    jobs == 1 ? "" : "s");
	v->longest_s = longest(r);
	v->in_hours = true;
	all_sheet(v, r);
	some_sheet(v, r, completion, sizeof(completion) / sizeof(completion[0]),
	    M_COMPLETION_MEAN);
	some_sheet(v, r, others, sizeof(others) / sizeof(others[0]), M_MAKESPAN);
	types_sheet(v, r);
	if (full) {
		jobs_sheet(v, r);
		curves_sheet(v, r);
	}
	v->note = "JCT: from arrival to finish.  To first: how many times that of the "
		  "first run.";
}
