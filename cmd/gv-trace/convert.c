/* gv-trace convert: traces of others as a table of jobs. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt.h"
#include "base/strbuf.h"
#include "convert/formats.h"
#include "convert/gavel.h"
#include "trace.h"
#include "workload/types.h"

enum format {
	GAVEL,
	PHILLY_JSON,
	PHILLY_CSV,
	SLURM,
	ALIBABA_2020,
	ALIBABA_2023,
	N_FORMATS
};

static const char *const format_names[N_FORMATS] = {[GAVEL] = "gavel",
    [PHILLY_JSON] = "philly-json",
    [PHILLY_CSV] = "philly-csv",
    [SLURM] = "slurm",
    [ALIBABA_2020] = "alibaba-2020",
    [ALIBABA_2023] = "alibaba-2023"};

struct options {
	struct gv_opt common;
	enum format from; /* N_FORMATS: not given */
	const char *input, *tasks, *throughputs, *types, *reference, *data_dir;
	bool completed;
	uint64_t seed;
};

static const char usage[] =
    "usage: gv-trace convert --from=FORMAT [-qvV] [-o FILE] [option ...] [trace]";

static const char help[] =
    "usage: gv-trace convert --from=FORMAT [option ...] [trace]\n"
    "Writes a trace of others as a jobs table.\n"
    "\n"
    "      --from=FORMAT       gavel (7, 9 or 10 columns), philly-json, philly-csv,\n"
    "                          slurm (sacct -P), alibaba-2020 (pai_job_table),\n"
    "                          alibaba-2023 (openb_pod_list); required\n"
    "      --tasks=FILE        of alibaba-2020: pai_task_table\n"
    "      --data-dir=DIR      of gavel: where the data of its commands lie\n"
    "      --completed         only jobs that ended well\n"
    "  -t, --throughputs=FILE  draw job types, and take steps from their speeds\n"
    "      --types=FILE        draw these: job_type, weight\n"
    "      --reference=TYPE    the GPU type the trace ran on (the first of -t)\n"
    "      --seed=N            of the types drawn (1)\n"
    "      --tsv               write TSV instead of CSV\n"
    "  -o, --output=FILE       write to FILE, which is replaced whole or not at all\n"
    "  -q, --quiet             no warnings\n"
    "  -v, --verbose           say how many jobs there are\n"
    "  -h, --help              this text\n"
    "  -V, --version           the version\n";

static void
set_from(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->from = (enum format)gv_opt_one_of(
	    &o->common, "--from", arg, format_names, N_FORMATS);
}

static void
set_seed(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->seed = (uint64_t)gv_opt_int(&o->common, "--seed", arg, 0, INT64_MAX);
}

static void
check_options(const struct options *o)
{
	const struct gv_opt *c = &o->common;

	if (o->from == N_FORMATS)
		gv_opt_usage(c, "no format given: use --from");
	if (o->from == ALIBABA_2020 && o->tasks == NULL)
		gv_opt_usage(c, "alibaba-2020 needs --tasks: GPUs are those of tasks");
	if (o->from != ALIBABA_2020 && o->tasks != NULL)
		gv_opt_usage(c, "--tasks is for --from=alibaba-2020");
	if (o->from != GAVEL && o->data_dir != NULL)
		gv_opt_usage(c, "--data-dir is for --from=gavel");
	if (o->from == GAVEL && (o->throughputs != NULL || o->completed))
		gv_opt_usage(
		    c, "a trace of gavel has job types and steps, and no states");
	if (o->throughputs == NULL && (o->types != NULL || o->reference != NULL))
		gv_opt_usage(c, "--types and --reference need -t");
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	const struct gv_opt_own own[] = {{"from", required_argument, .set = set_from},
	    {"tasks", required_argument, .text = &o->tasks},
	    {"data-dir", required_argument, .text = &o->data_dir},
	    {"completed", no_argument, .flag = &o->completed},
	    {"throughputs", required_argument, 't', .text = &o->throughputs},
	    {"types", required_argument, .text = &o->types},
	    {"reference", required_argument, .text = &o->reference},
	    {"seed", required_argument, .set = set_seed}, {.name = NULL}};
	const char *inputs[4];
	size_t i, n_stdin = 0;

	gv_opt_parse(&o->common, true, own, o, argc, argv);
	check_options(o);
	o->input = gv_opt_input(&o->common, argc, argv);
	inputs[0] = o->input;
	inputs[1] = o->tasks;
	inputs[2] = o->throughputs;
	inputs[3] = o->types;
	for (i = 0; i < 4; i++)
		n_stdin += inputs[i] != NULL && strcmp(inputs[i], "-") == 0;
	if (n_stdin > 1)
		gv_opt_usage(&o->common, "standard input can be read only once");
}

/* ---- Gavel ---- */

/*
 * The command as Gavel's worker completes it: %s is where the data lie, the option
 * for the number of steps stands at the end.  gv-run tells the steps in GV_TOTAL_STEPS.
 */
static void
complete_command(struct gv_strbuf *b, const struct gavel_job *j, const char *data_dir)
{
	const char *at = j->command.s, *end = at + j->command.len, *mark;

	gv_strbuf_clear(b);
	while (j->needs_data && data_dir != NULL &&
	       (mark = memchr(at, '%', (size_t)(end - at))) != NULL) {
		gv_strbuf_add(b, at, (size_t)(mark - at));
		at = mark + 1;
		if (at < end && *at == 's') {
			gv_strbuf_str(b, data_dir);
			at++;
		} else {
			gv_strbuf_char(b, '%');
		}
	}
	gv_strbuf_add(b, at, (size_t)(end - at));
	if (j->steps_option.len > 0) {
		gv_strbuf_char(b, ' ');
		gv_strbuf_add(b, j->steps_option.s, j->steps_option.len);
		gv_strbuf_str(b, " \"$GV_TOTAL_STEPS\"");
	}
}

static void
write_gavel_job(
    struct gv_tabw *w, int64_t id, const struct gavel_job *j, struct gv_strbuf *command)
{
	gv_tabw_int(w, id);
	gv_tabw_cell(w, j->arrival_s);
	gv_tabw_cell(w, j->job_type);
	gv_tabw_cell(w, j->scale_factor);
	gv_tabw_cell(w, j->total_steps);
	gv_tabw_cell(w, j->priority_weight);
	gv_tabw_cell(w, j->slo_factor);
	gv_tabw_cell(w, (struct gv_cell){command->s, command->len});
	gv_tabw_cell(w, j->working_directory);
	gv_tabw_end(w);
}

static int
convert_gavel(const struct options *o, struct gv_out *out, struct gv_error *e)
{
	static const char *const names[] = {"job_id", "arrival_s", "job_type",
	    "scale_factor", "total_steps", "priority_weight", "slo_factor", "command",
	    "working_directory"};
	/* kept back until the last line is read: it may be a bad one */
	struct gv_strbuf all = {0}, command = {0};
	struct gv_out *held = gv_out_memory(&all);
	struct gavel_job job;
	struct gv_tabw w;
	struct source s;
	int64_t id = 0;
	size_t i;
	int row = 0;

	gv_tabw_init(&w, held, o->common.tsv);
	if (gavel_open(&s, o->input, e) != 0) {
		gv_out_discard(held);
		return -1;
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		gv_tabw_str(&w, names[i]);
	gv_tabw_end(&w);
	while (e->count < GV_ERROR_KEPT && (row = gavel_next(&s, &job, e)) != 0) {
		if (row < 0)
			continue;
		complete_command(&command, &job, o->data_dir);
		write_gavel_job(&w, id++, &job, &command);
	}
	source_close(&s);
	gv_out_close(held, e);
	if (e->count == 0)
		gv_out_write(out, all.s, all.len);
	gv_strbuf_free(&all);
	gv_strbuf_free(&command);
	if (e->count == 0 && o->common.verbose > 0)
		gv_warn("%lld jobs", (long long)id);
	return e->count > 0 ? -1 : 0;
}

/* ---- the others ---- */

/* What gives the jobs their types and steps; n_types 0: nothing, a step is a second. */
struct speeds_of {
	struct speeds speeds;
	struct job_types types;
	ptrdiff_t reference;
	struct random random;
	size_t n_unmeasured;
};

static int
load_speeds(struct speeds_of *s, const struct options *o, struct gv_error *e)
{
	if (o->throughputs == NULL)
		return 0;
	if (speeds_load(&s->speeds, o->throughputs, e) != 0 ||
	    (s->reference = speeds_gpu_type(&s->speeds, o->reference, e)) < 0 ||
	    types_load(&s->types, o->types, &s->speeds, e) != 0)
		return -1;
	random_seed(&s->random, o->seed);
	return 0;
}

static void
free_speeds(struct speeds_of *s)
{
	types_free(&s->types);
	speeds_free(&s->speeds);
}

/*
 * The job's type, and its steps/s on the reference.  A gang larger than any that was
 * measured goes as fast, for each GPU, as the largest of its type.
 */
static struct gv_cell
type_of(struct speeds_of *s, const struct traced *job, double *steps_per_s)
{
	static const struct gv_cell traced = {"traced", 6};
	ptrdiff_t type = gv_hash_find(&s->speeds.job_types, job->name.s, job->name.len);
	struct gv_cell name = job->name;
	int64_t scale = job->gpus;

	*steps_per_s = 1;
	if (s->types.n == 0)
		return name.len > 0 ? name : traced;
	if (!(speeds_find(&s->speeds, type, scale, s->reference) > 0)) {
		ptrdiff_t i =
		    types_draw(&s->types, &s->speeds, &s->random, scale, s->reference);

		if (i < 0) {
			s->n_unmeasured++;
			scale = scale > s->speeds.max_scale ? s->speeds.max_scale : scale;
			while (i < 0 && scale > 0)
				i = types_draw(&s->types, &s->speeds, &s->random, scale--,
				    s->reference);
			scale++;
		}
		if (i < 0)
			return traced;
		type = s->types.number[i];
		name = s->types.name[i];
	}
	*steps_per_s = speeds_find(&s->speeds, type, scale, s->reference) /
		       (double)scale * (double)job->gpus;
	return name;
}

static void
write_traced(struct gv_tabw *w, size_t i, const struct traced *job, struct speeds_of *s)
{
	double steps_per_s, steps;
	struct gv_cell type = type_of(s, job, &steps_per_s);

	if (job->id.len > 0)
		gv_tabw_cell(w, job->id);
	else
		gv_tabw_int(w, (int64_t)i);
	gv_tabw_double(w, job->arrival_s);
	gv_tabw_cell(w, type);
	gv_tabw_int(w, job->gpus);
	steps = floor(job->duration_s * steps_per_s);
	gv_tabw_double(w, steps > 1 ? steps : 1);
	gv_tabw_double(w, job->duration_s);
	gv_tabw_cell(w, job->entity);
	gv_tabw_cell(w, job->user);
	gv_tabw_cell(w, job->status);
	gv_tabw_end(w);
}

static int
read_traced(struct traced_list *l, const struct options *o, struct gv_error *e)
{
	switch (o->from) {
	case PHILLY_JSON:
		return philly_json_read(l, o->input, e);
	case PHILLY_CSV:
		return philly_csv_read(l, o->input, e);
	case SLURM:
		return slurm_read(l, o->input, e);
	case ALIBABA_2020:
		return alibaba_2020_read(l, o->input, o->tasks, e);
	default:
		return alibaba_2023_read(l, o->input, e);
	}
}

/* Jobs of one id, as requeued ones have it, would not be told apart. */
static int
check_ids(const struct traced_list *l, const char *file, struct gv_error *e)
{
	struct gv_hash ids = {0};
	char q[GV_QUOTE_LEN];
	size_t i;

	for (i = 0; i < l->n && e->count < GV_ERROR_KEPT; i++) {
		struct gv_cell id = l->job[i].id;
		size_t known = ids.n;

		if (id.len > 0 && gv_hash_add(&ids, id.s, id.len) < known)
			gv_error_at(e, file, l->job[i].line, NULL, "repeated job %s",
			    gv_quote(q, id.s, id.len));
	}
	gv_hash_free(&ids);
	return e->count > 0 ? -1 : 0;
}

static const char *
shown(const struct options *o)
{
	return strcmp(o->input, "-") == 0 ? "<stdin>" : o->input;
}

static void
say(const struct options *o, const struct traced_list *l, const struct speeds_of *s)
{
	enum left_out why;
	double gpu_s = 0;
	size_t i;

	for (why = 0; why < N_LEFT_OUT && !o->common.quiet; why++)
		if (l->left[why] > 0)
			gv_warn("warning: %s: jobs left out %s: %zu", shown(o),
			    left_out_name(why), l->left[why]);
	if (s->n_unmeasured > 0 && !o->common.quiet)
		gv_warn("warning: %s: jobs with as many GPUs as no type was measured "
			"with: %zu",
		    shown(o), s->n_unmeasured);
	for (i = 0; i < l->n; i++)
		gpu_s += l->job[i].duration_s * (double)l->job[i].gpus;
	if (o->common.verbose > 0)
		gv_warn("%zu jobs, %.6g GPU hours, the last at %.6g h", l->n,
		    gpu_s / 3600, l->n > 0 ? l->job[l->n - 1].arrival_s / 3600 : 0);
}

static int
convert_traced(const struct options *o, struct gv_tabw *w, struct gv_error *e)
{
	static const char *const names[] = {"job_id", "arrival_s", "job_type",
	    "scale_factor", "total_steps", "duration_s", "entity", "user", "status"};
	struct traced_list l = {.completed_only = o->completed};
	struct speeds_of s = {0};
	size_t i;
	int rc = load_speeds(&s, o, e);

	rc = rc == 0 ? read_traced(&l, o, e) : rc;
	rc =
	    rc == 0 ? check_ids(&l, strcmp(o->input, "-") == 0 ? NULL : o->input, e) : rc;
	if (rc == 0) {
		traced_sort(&l);
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			gv_tabw_str(w, names[i]);
		gv_tabw_end(w);
		for (i = 0; i < l.n; i++)
			write_traced(w, i, &l.job[i], &s);
		say(o, &l, &s);
	}
	traced_free(&l);
	free_speeds(&s);
	return rc;
}

int
trace_convert(int argc, char **argv)
{
	struct options o = {
	    .common = {.usage = usage, .help = help}, .from = N_FORMATS, .seed = 1};
	struct gv_error e = {0};
	struct gv_out *out;
	struct gv_tabw w;
	int rc;

	parse_options(&o, argc, argv);
	if (gv_out_open(&out, o.common.output, &e) != 0)
		gv_die_error(&e);
	gv_tabw_init(&w, out, o.common.tsv);
	rc = o.from == GAVEL ? convert_gavel(&o, out, &e) : convert_traced(&o, &w, &e);
	if (rc != 0 || gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	return gv_finish();
}
