#include "compare.h"

#include <math.h>
#include <string.h>

#include "gv-report/charts/figure.h"
#include "gv-report/sheet/of_runs.h"
#include "sched/cluster.h"
#include "table/kind.h"

void
warn_of_cut(const char *file, long line)
{
	gv_warn("warning: %s:%ld: the last row is not complete, ignored", file, line);
}

bool
compare_takes(const struct gv_tab *t, const char *by)
{
	enum gv_kind kind = gv_tab_kind(t);

	if (kind == GV_KIND_EVENTS)
		return by != NULL && (strcmp(by, "run") == 0 || strcmp(by, "curve") == 0);
	return kind != GV_KIND_REPORT && runs_takes(t);
}

/* ---- reading ---- */

/* The tables of an input from the present one on; closes it. */
static void
take_tables(struct runs *r, const struct options *o, const char *name, struct gv_tab *tab)
{
	struct gv_error e = {0};
	int more;

	do {
		long cut;

		if (runs_table(r, name, tab, &cut, &e) != 0)
			gv_die_error(&e);
		if (cut > 0 && !o->common.quiet)
			warn_of_cut(gv_tab_file(tab), cut);
		more = gv_tab_table(tab, &e);
		if (more < 0)
			gv_die_error(&e);
	} while (more > 0);
	gv_tab_close(tab);
}

/* What GPUs cost that jobs held, where no summary told it. */
static void
add_costs(struct runs *r, const char *path)
{
	struct gv_cluster c = {0};
	struct gv_error e = {0};
	size_t i, k;

	if (gv_cluster_read(&c, path, &e) != 0)
		gv_die_error(&e);
	for (i = 0; i < r->n; i++) {
		for (k = 0; k < r->run[i].n_types; k++) {
			struct run_type *t = &r->run[i].type[k];
			ptrdiff_t type =
			    gv_cluster_find(&c, (struct gv_cell){t->name, t->name_len});

			if (isnan(t->usd) && type >= 0)
				t->usd = t->busy_gpu_s / 3600 * c.type[type].usd_per_h;
		}
	}
	gv_cluster_free(&c);
}

/* ---- writing ---- */

static void
check_options(const struct options *o)
{
	const struct gv_opt *common = &o->common;

	if (o->expect_points >= 0)
		gv_opt_usage(common, "--expect-shares is for events, these are runs");
	if (o->per_job)
		gv_opt_usage(common, "--per-job is for events, these are runs");
	if (o->drawn)
		gv_opt_usage(common, "--chart=jobs is for one table of events, these are "
				     "runs");
}

static void
write_all(struct gv_out *out, const struct runs *r, const struct view *v,
    const struct sheet *by, const struct options *o)
{
	if (o->format == FORMAT_SVG)
		write_runs_svg(out, r, o->charts);
	else if (o->format == FORMAT_HTML)
		write_runs_html(out, r, v, o->charts, o->digits);
	else if (o->format == FORMAT_PROM)
		write_runs_prom(out, r);
	else
		view_write(out, v, by, o->format, o->digits);
}

/* Whether all jobs finished, of every run that tells it. */
static bool
all_finished(const struct runs *r)
{
	struct gv_error e = {0};
	char q[GV_QUOTE_LEN];
	size_t i;

	for (i = 0; i < r->n; i++) {
		const struct run *run = &r->run[i];
		double jobs = run->value[M_JOBS], finished = run->value[M_FINISHED];

		if (finished < jobs)
			gv_error_set(&e, "run %s: %.0f of %.0f jobs have not finished",
			    gv_quote(q, run->name, strlen(run->name)), jobs - finished,
			    jobs);
	}
	if (e.count > 0)
		gv_warn_error(&e);
	return e.count == 0;
}

/* Reports what was read, and frees it. */
static bool
report(struct runs *r, const struct options *o)
{
	struct view v = {.kind = GV_KIND_NONE};
	const struct sheet *by = NULL;
	struct gv_error e = {0};
	struct gv_out *out;
	bool met;

	if (o->cluster != NULL)
		add_costs(r, o->cluster);
	runs_finish(r);
	view_runs(&v, r, o->by != NULL || o->format == FORMAT_JSON);
	if (o->by != NULL && (by = view_find(&v, o->by)) == NULL)
		gv_opt_usage(&o->common,
		    "--by=%s: these are runs, which have the parts run, type, job and "
		    "curve",
		    o->by);
	if (o->common.verbose > 0)
		gv_warn("%zu runs", r->n);
	if (gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	write_all(out, r, &v, by, o);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	met = !o->expect_finished || all_finished(r);
	view_free(&v);
	runs_free(r);
	return met;
}

bool
compare_one(const struct options *o, struct operand operand, struct gv_tab *tab)
{
	struct runs r = {0};

	check_options(o);
	take_tables(&r, o, operand.name, tab);
	return report(&r, o);
}

bool
compare(const struct options *o, struct gv_tab *tab, char **operand, size_t n)
{
	struct runs r = {0};
	size_t i;

	check_options(o);
	if (o->run != NULL)
		gv_opt_usage(
		    &o->common, "--run names one run; name several by NAME=FILE");
	for (i = 0; i < n; i++) {
		struct operand of = operand_of(operand[i], NULL);
		struct gv_error e = {0};

		if (i > 0 &&
		    (gv_tab_open(&tab, of.path, &e) != 0 || gv_tab_table(tab, &e) != 1))
			gv_die_error(&e);
		take_tables(&r, o, of.name, tab);
	}
	return report(&r, o);
}
