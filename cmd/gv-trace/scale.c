/* gv-trace scale: the same jobs under more load, at another pace, of another size. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/opt.h"
#include "table/kind.h"
#include "table/tab.h"
#include "trace.h"

struct options {
	struct gv_opt common;
	const char *input;
	double load, rate_per_h, time, size; /* rate_per_h 0 = not given */
	int64_t jobs;                        /* 0 = all */
};

static const char usage[] =
    "usage: gv-trace scale [-qvV] [-o FILE] [option ...] [jobs.csv]";

static const char help[] =
    "usage: gv-trace scale [option ...] [jobs.csv]\n"
    "Changes when the jobs of a trace come and how long they are: a jobs table.\n"
    "\n"
    "      --load=X       X times the load: jobs come X times as fast\n"
    "      --rate=JOBS    the same, so that so many come in an hour on average\n"
    "      --size=X       each job X times as long: steps, duration, time to deadline\n"
    "      --time=X       all times X times as long: the load stays as it is\n"
    "      --jobs=N       the first N jobs only\n"
    "      --tsv          write TSV instead of CSV\n"
    "  -o, --output=FILE  write to FILE, which is replaced whole or not at all\n"
    "  -q, --quiet        no warnings\n"
    "  -v, --verbose      say what the load was and is\n"
    "  -h, --help         this text\n"
    "  -V, --version      the version\n";

static void
set_load(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->load = gv_opt_double(&o->common, "--load", arg, 1e-9, 1e9);
}

static void
set_rate(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->rate_per_h = gv_opt_double(&o->common, "--rate", arg, 1e-9, 1e12);
}

static void
set_time(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->time = gv_opt_double(&o->common, "--time", arg, 1e-9, 1e9);
}

static void
set_size(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->size = gv_opt_double(&o->common, "--size", arg, 1e-9, 1e9);
}

static void
set_jobs(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->jobs = gv_opt_int(&o->common, "--jobs", arg, 1, INT64_MAX);
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	const struct gv_opt_own own[] = {{"load", required_argument, .set = set_load},
	    {"rate", required_argument, .set = set_rate},
	    {"time", required_argument, .set = set_time},
	    {"size", required_argument, .set = set_size},
	    {"jobs", required_argument, .set = set_jobs}, {.name = NULL}};

	gv_opt_parse(&o->common, true, own, o, argc, argv);
	if (o->rate_per_h > 0 && o->load != 1)
		gv_opt_usage(&o->common, "--load and --rate cannot be given together");
	o->input = gv_opt_input(&o->common, argc, argv);
}

/* What of a job has a time in it; -1 = the table has no such column. */
struct columns {
	ptrdiff_t arrival_s, deadline_s;
	ptrdiff_t work[3]; /* total_steps, steps_remaining, duration_s */
};

static struct columns
find_columns(const struct gv_frame *f)
{
	return (struct columns){gv_frame_find(f, "arrival_s"),
	    gv_frame_find(f, "deadline_s"),
	    {gv_frame_find(f, "total_steps"), gv_frame_find(f, "steps_remaining"),
		gv_frame_find(f, "duration_s")}};
}

/* That the rows are jobs: some tables that have a job_id are of what became of them. */
static int
expect_jobs(const struct gv_frame *f, struct gv_error *e)
{
	static const enum gv_kind other[] = {GV_KIND_EVENTS, GV_KIND_STATUS,
	    GV_KIND_ROUNDS, GV_KIND_RATE_CHANGES, GV_KIND_SPOT_COSTS,
	    GV_KIND_SPOT_SCHEDULE, GV_KIND_PROBLEMS};
	enum gv_kind is = gv_kind_of(f->name, f->n_columns);
	bool jobs = gv_frame_find(f, "job_id") >= 0;
	size_t i;

	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		jobs = jobs && is != other[i];
	return jobs ? 0 : gv_frame_expect(f, GV_KIND_TRACE, e);
}

/* That all of them are numbers, or empty.  0, or -1 with *e set. */
static int
check_numbers(
    const struct gv_frame *f, size_t n, const struct columns *c, struct gv_error *e)
{
	const ptrdiff_t all[] = {
	    c->arrival_s, c->deadline_s, c->work[0], c->work[1], c->work[2]};
	size_t row, i;
	double v;

	for (row = 0; row < n; row++)
		for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			gv_frame_double(f, row, all[i], 0, &v, e);
	return e->count > 0 ? -1 : 0;
}

/* A cell of a column that check_numbers looked at; 0 where it is empty. */
static double
number(const struct gv_frame *f, size_t row, ptrdiff_t column)
{
	struct gv_error none = {0};
	double v = 0;

	gv_frame_double(f, row, column, 0, &v, &none);
	return v;
}

/* Jobs an hour between the first arrival and the last one; NAN where they come at once. */
static double
mean_rate(const struct gv_frame *f, size_t n, ptrdiff_t column)
{
	double first = INFINITY, last = -INFINITY;
	size_t row;

	for (row = 0; row < n; row++) {
		double v = number(f, row, column);

		first = v < first ? v : first;
		last = v > last ? v : last;
	}
	return last > first ? (double)(n - 1) / (last - first) * 3600 : NAN;
}

/* A number times factor; one without a point stays so, and above 0 at least 1. */
static void
write_scaled(struct gv_tabw *w, const struct gv_frame *f, size_t row, ptrdiff_t column,
    double factor)
{
	struct gv_cell cell = gv_frame_cell(f, row, column);
	double v = number(f, row, column) * factor;
	int64_t whole;

	if (cell.len == 0 || factor == 1)
		gv_tabw_cell(w, cell);
	else if (gv_parse_int(cell.s, cell.len, &whole) == 0 && fabs(v) < 1e15)
		gv_tabw_int(w, whole > 0 && v < 1 ? 1 : llround(v));
	else
		gv_tabw_double(w, v);
}

static void
write_row(struct gv_tabw *w, const struct gv_frame *f, size_t row,
    const struct columns *c, const struct options *o)
{
	const double pace = o->time / o->load, stretch = o->time * o->size;
	ptrdiff_t i;

	for (i = 0; i < (ptrdiff_t)f->n_columns; i++) {
		struct gv_cell cell = gv_frame_cell(f, row, i);
		double v = 0;

		if (i == c->work[0] || i == c->work[1] || i == c->work[2]) {
			write_scaled(w, f, row, i, stretch);
			continue;
		}
		if (cell.len == 0 || (i != c->arrival_s && i != c->deadline_s) ||
		    (pace == 1 && (i == c->arrival_s || stretch == 1))) {
			gv_tabw_cell(w, cell);
			continue;
		}
		v = number(f, row, c->arrival_s);
		gv_tabw_double(w, i == c->arrival_s
				      ? v * pace
				      : v * pace + (number(f, row, i) - v) * stretch);
	}
	gv_tabw_end(w);
}

static int
write_all(const struct gv_frame *f, size_t n, const struct columns *c,
    const struct options *o, struct gv_error *e)
{
	struct gv_out *out;
	struct gv_tabw w;
	size_t i;

	if (gv_out_open(&out, o->common.output, e) != 0)
		return -1;
	gv_tabw_init(&w, out, o->common.tsv);
	for (i = 0; i < f->n_columns; i++)
		gv_tabw_cell(&w, f->name[i]);
	gv_tabw_end(&w);
	for (i = 0; i < n; i++)
		write_row(&w, f, i, c, o);
	return gv_out_close(out, e);
}

int
trace_scale(int argc, char **argv)
{
	struct options o = {
	    .common = {.usage = usage, .help = help}, .load = 1, .time = 1, .size = 1};
	struct gv_error e = {0};
	struct columns c;
	struct gv_frame f;
	double rate;
	ptrdiff_t id;
	size_t n;

	parse_options(&o, argc, argv);
	if (gv_frame_load(&f, o.input, &e) != 0 || expect_jobs(&f, &e) != 0 ||
	    gv_frame_require(&f, "job_id", &id, &e))
		gv_die_error(&e);
	n = o.jobs > 0 && (uint64_t)o.jobs < f.n_rows ? (size_t)o.jobs : f.n_rows;
	c = find_columns(&f);
	if (check_numbers(&f, n, &c, &e) != 0)
		gv_die_error(&e);
	rate = mean_rate(&f, n, c.arrival_s);
	if (o.rate_per_h > 0 && isnan(rate))
		gv_die("%s: --rate: all jobs come at the same time", f.file);
	if (o.rate_per_h > 0)
		o.load = o.rate_per_h * o.time / rate;
	if (write_all(&f, n, &c, &o, &e) != 0)
		gv_die_error(&e);
	if (o.common.verbose > 0 && !isnan(rate))
		gv_warn("%zu jobs, %.6g an hour; they were %.6g", n,
		    rate / o.time * o.load, rate);
	gv_frame_free(&f);
	return gv_finish();
}
