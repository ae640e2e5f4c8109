/* gv-trace check: which jobs of a trace cannot run, and why; leaves them out if asked. */
#include <string.h>

#include "base/opt.h"
#include "sched/cluster.h"
#include "sched/rates.h"
#include "trace.h"
#include "workload/problems.h"

enum fix { FIX_NONE, FIX_DROP, FIX_CLIP };

struct options {
	struct gv_opt common;
	const char *input, *throughputs, *cluster;
	enum fix fix;
};

static const char usage[] =
    "usage: gv-trace check -t THROUGHPUTS [-qvV] [-c CLUSTER] [-o FILE] [option ...] "
    "[jobs.csv]";

static const char help[] =
    "usage: gv-trace check -t THROUGHPUTS [option ...] [jobs.csv]\n"
    "Writes the jobs that cannot run and why; status 1 if there are any.\n"
    "\n"
    "  -t, --throughputs=FILE  how fast jobs are (required)\n"
    "  -c, --cluster=FILE      the GPUs there are (as many as one likes)\n"
    "      --fix=HOW           write those that can run instead: drop the others, or\n"
    "                          clip them to fewer GPUs where that helps\n"
    "      --tsv               write TSV instead of CSV\n"
    "  -o, --output=FILE       write to FILE, which is replaced whole or not at all\n"
    "  -q, --quiet             no warnings\n"
    "  -v, --verbose           say how many jobs have which problem\n"
    "  -h, --help              this text\n"
    "  -V, --version           the version\n";

static void
set_fix(void *ctx, const char *arg)
{
	static const char *const names[] = {"drop", "clip"};
	struct options *o = ctx;

	o->fix = FIX_DROP + (enum fix)gv_opt_one_of(&o->common, "--fix", arg, names, 2);
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	const struct gv_opt *c = &o->common;
	const struct gv_opt_own own[] = {
	    {"throughputs", required_argument, 't', .text = &o->throughputs},
	    {"cluster", required_argument, 'c', .text = &o->cluster},
	    {"fix", required_argument, .set = set_fix}, {.name = NULL}};

	gv_opt_parse(&o->common, true, own, o, argc, argv);
	if (o->throughputs == NULL)
		gv_opt_usage(c, "no throughputs given: use -t");
	o->input = gv_opt_input(c, argc, argv);
	if ((strcmp(o->input, "-") == 0) + (strcmp(o->throughputs, "-") == 0) +
		(o->cluster != NULL && strcmp(o->cluster, "-") == 0) >
	    1)
		gv_opt_usage(c, "standard input can be read only once");
}

static void
write_problem(struct gv_tabw *w, const struct gv_rates *jobs, const struct gv_job *j,
    enum problem problem, int64_t clip)
{
	gv_tabw_cell(w, j->id);
	gv_tabw_str(w, problem_name(problem));
	gv_tabw_cell(w, j->job_type);
	gv_tabw_int(w, j->scale_factor);
	if (clip > 0)
		gv_tabw_int(w, clip);
	else
		gv_tabw_empty(w);
	gv_tabw_int(w, jobs->frame.line[j->row]);
	gv_tabw_end(w);
}

/* The job's row as it was, but for a scale factor that was lowered (0 = not). */
static void
write_row(struct gv_tabw *w, const struct gv_rates *jobs, const struct gv_job *j,
    int64_t scale_factor)
{
	ptrdiff_t scale = gv_frame_find(&jobs->frame, "scale_factor");
	ptrdiff_t i;

	for (i = 0; i < (ptrdiff_t)jobs->frame.n_columns; i++)
		if (i == scale && scale_factor > 0)
			gv_tabw_int(w, scale_factor);
		else
			gv_tabw_cell(w, gv_frame_cell(&jobs->frame, j->row, i));
	gv_tabw_end(w);
}

static void
write_header(struct gv_tabw *w, const struct gv_frame *f, enum fix fix)
{
	static const char *const names[] = {
	    "job_id", "problem", "job_type", "scale_factor", "clip_to", "line"};
	size_t i;

	if (fix == FIX_NONE)
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			gv_tabw_str(w, names[i]);
	else
		for (i = 0; i < f->n_columns; i++)
			gv_tabw_cell(w, f->name[i]);
	gv_tabw_end(w);
}

/* Whether fewer GPUs help. */
static bool
is_of_size(enum problem p)
{
	return p == PROBLEM_NOT_MEASURED || p == PROBLEM_RUNS_NOWHERE ||
	       p == PROBLEM_TOO_LARGE;
}

static void
write_all(struct gv_tabw *w, const struct gv_rates *jobs, struct problems *p,
    enum fix fix, size_t count[N_PROBLEMS], size_t *n_clipped)
{
	size_t i;

	write_header(w, &jobs->frame, fix);
	for (i = 0; i < jobs->n_jobs; i++) {
		const struct gv_job *j = &jobs->job[i];
		enum problem found = problems_find(p, j);
		int64_t clip = is_of_size(found) ? problems_clip(p, j) : 0;

		count[found]++;
		if (fix == FIX_NONE && found != PROBLEM_NONE)
			write_problem(w, jobs, j, found, clip);
		else if (fix != FIX_NONE &&
			 (found == PROBLEM_NONE || (fix == FIX_CLIP && clip > 0)))
			write_row(w, jobs, j, clip);
		*n_clipped += fix == FIX_CLIP && clip > 0;
	}
}

static void
say(const struct options *o, const size_t count[N_PROBLEMS], size_t n, size_t n_clipped)
{
	enum problem p;

	for (p = PROBLEM_NONE + 1; p < N_PROBLEMS; p++)
		if (count[p] > 0)
			gv_warn("%zu of %zu jobs: %s", count[p], n, problem_name(p));
	if (o->fix != FIX_NONE)
		gv_warn("%zu jobs written, %zu of them with fewer GPUs",
		    count[PROBLEM_NONE] + n_clipped, n_clipped);
}

/* What looks misspelled in the tables. */
static void
warn_slips(const struct gv_rates *jobs, const struct gv_cluster *cluster)
{
	struct gv_error w = {0};

	if (cluster->warnings != NULL)
		w = *cluster->warnings;
	gv_rates_slips(jobs, NULL, &w);
	gv_warn_each(&w);
}

int
trace_check(int argc, char **argv)
{
	struct options o = {.common = {.usage = usage, .help = help}};
	struct gv_error e = {0};
	struct gv_frame f;
	struct gv_rates jobs;
	struct gv_cluster cluster = {0};
	struct speeds speeds;
	struct problems p = {0};
	struct gv_out *out;
	struct gv_tabw w;
	size_t count[N_PROBLEMS] = {0}, n_clipped = 0;
	bool all_well;

	parse_options(&o, argc, argv);
	if (speeds_load(&speeds, o.throughputs, &e) != 0 ||
	    (o.cluster != NULL && gv_cluster_read(&cluster, o.cluster, &e) != 0) ||
	    gv_frame_load(&f, o.input, &e) != 0 || gv_jobs_from(&jobs, &f, &e) != 0 ||
	    gv_out_open(&out, o.common.output, &e) != 0)
		gv_die_error(&e);
	if (!o.common.quiet)
		warn_slips(&jobs, &cluster);
	p.speeds = &speeds;
	p.cluster = o.cluster != NULL ? &cluster : NULL;
	gv_tabw_init(&w, out, o.common.tsv);
	write_all(&w, &jobs, &p, o.fix, count, &n_clipped);
	if (gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	if (o.common.verbose > 0)
		say(&o, count, jobs.n_jobs, n_clipped);
	all_well = o.fix != FIX_NONE || count[PROBLEM_NONE] == jobs.n_jobs;
	problems_free(&p);
	gv_rates_free(&jobs);
	gv_cluster_free(&cluster);
	speeds_free(&speeds);
	return gv_finish() != 0 ? GV_EXIT_TROUBLE : all_well ? GV_EXIT_OK : GV_EXIT_NO;
}
