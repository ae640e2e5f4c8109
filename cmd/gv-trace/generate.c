/* gv-trace generate: a synthetic workload as a table of jobs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/opt.h"
#include "trace.h"
#include "workload/sample.h"

struct options {
	struct gv_opt common;
	const char *throughputs, *types, *reference;
	int64_t jobs;
	bool whole_steps;
	struct sample_spec spec;
};

static const char usage[] =
    "usage: gv-trace generate --jobs=N [-qvV] [-o FILE] [option ...] [throughputs.csv]";

static const char help[] =
    "usage: gv-trace generate --jobs=N [option ...] [throughputs.csv]\n"
    "Draws jobs of the types that have throughputs and writes them: a jobs table.\n"
    "\n"
    "      --jobs=N              how many (required)\n"
    "      --rate=JOBS           Poisson arrivals, so many an hour (all come at 0)\n"
    "      --every=TIME          one job each TIME instead\n"
    "      --scale-factors=LIST  GPUs of a job: 1:0.7,2:0.1,4:0.15,8:0.05 (1)\n"
    "      --durations=LIST      on the reference GPU: 1h,2h or 10m..4h:0.5,1d:0.5\n"
    "                            (60 * 10^x s, x in 1.5..3 for 80 %, 3..4 for 20 %)\n"
    "      --reference=TYPE      the GPU type of durations (the first of the table)\n"
    "      --types=FILE          draw these: job_type, weight, columns of your own\n"
    "      --priorities=LIST     priority_weight: 5:0.2; for the others 1\n"
    "      --slo=LIST            slo_factor: 1.2:0.33,2:0.34,10:0.33\n"
    "      --entities=LIST       entity: a:0.5,b:0.5\n"
    "      --whole-steps         round steps down, for jobs that really run\n"
    "      --sampling=NAME       simulator or testbed: as Gavel draws for (simulator)\n"
    "      --seed=N              of the random numbers (1)\n"
    "      --tsv                 write TSV instead of CSV\n"
    "  -o, --output=FILE         write to FILE, which is replaced whole or not at all\n"
    "  -q, --quiet               no warnings\n"
    "  -v, --verbose             say what was drawn\n"
    "  -h, --help                this text\n"
    "  -V, --version             the version\n";

static void
die_list(const struct options *o, const char *option, const struct gv_error *e)
{
	gv_opt_usage(&o->common, "%s: %s", option, e->text[0]);
}

static void
set_jobs(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->jobs = gv_opt_int(&o->common, "--jobs", arg, 1, INT32_MAX);
}

static void
set_seed(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->spec.seed = (uint64_t)gv_opt_int(&o->common, "--seed", arg, 0, INT64_MAX - 7);
}

static void
set_sampling(void *ctx, const char *arg)
{
	static const char *const names[] = {"simulator", "testbed"};
	struct options *o = ctx;

	o->spec.sampling =
	    (enum sampling)gv_opt_one_of(&o->common, "--sampling", arg, names, 2);
}

static void
set_rate(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->spec.rate_per_h = gv_opt_double(&o->common, "--rate", arg, 1e-9, 1e12);
}

static void
set_every(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->spec.every_s = gv_opt_duration(&o->common, "--every", arg);
}

static void
set_scale_factors(void *ctx, const char *arg)
{
	struct options *o = ctx;
	struct gv_error e = {0};

	if (sample_scales(&o->spec.scale_factor, arg, &e) != 0)
		die_list(o, "--scale-factors", &e);
}

static void
set_durations(void *ctx, const char *arg)
{
	struct options *o = ctx;
	struct gv_error e = {0};

	if (sample_durations(&o->spec, arg, &e) != 0)
		die_list(o, "--durations", &e);
}

static void
set_priorities(void *ctx, const char *arg)
{
	struct options *o = ctx;
	struct gv_error e = {0};

	if (sample_positive(&o->spec.priority, arg, &e) != 0)
		die_list(o, "--priorities", &e);
}

static void
set_slo(void *ctx, const char *arg)
{
	struct options *o = ctx;
	struct gv_error e = {0};

	if (sample_positive(&o->spec.slo, arg, &e) != 0)
		die_list(o, "--slo", &e);
}

static void
set_entities(void *ctx, const char *arg)
{
	struct options *o = ctx;
	struct gv_error e = {0};

	if (weighted_parse(&o->spec.entities, arg, &e) != 0)
		die_list(o, "--entities", &e);
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	const struct gv_opt *c = &o->common;
	const struct gv_opt_own own[] = {{"jobs", required_argument, .set = set_jobs},
	    {"rate", required_argument, .set = set_rate},
	    {"every", required_argument, .set = set_every},
	    {"scale-factors", required_argument, .set = set_scale_factors},
	    {"durations", required_argument, .set = set_durations},
	    {"reference", required_argument, .text = &o->reference},
	    {"types", required_argument, .text = &o->types},
	    {"priorities", required_argument, .set = set_priorities},
	    {"slo", required_argument, .set = set_slo},
	    {"entities", required_argument, .set = set_entities},
	    {"whole-steps", no_argument, .flag = &o->whole_steps},
	    {"sampling", required_argument, .set = set_sampling},
	    {"seed", required_argument, .set = set_seed}, {.name = NULL}};

	gv_opt_parse(&o->common, true, own, o, argc, argv);
	if (o->jobs == 0)
		gv_opt_usage(c, "no number of jobs given: use --jobs");
	if (o->spec.rate_per_h > 0 && o->spec.every_s > 0)
		gv_opt_usage(c, "--rate and --every cannot be given together");
	o->throughputs = gv_opt_input(c, argc, argv);
	if (o->types != NULL && strcmp(o->types, "-") == 0 &&
	    strcmp(o->throughputs, "-") == 0)
		gv_opt_usage(c, "standard input can be read only once");
}

/* ---- writing ---- */

/* The columns of a table of types that go along: those that are not written anyway. */
struct carried {
	size_t n;
	ptrdiff_t *column; /* [n] */
};

static bool
is_written(const struct sample_spec *s, struct gv_cell name)
{
	return gv_cell_is(name, "job_id") || gv_cell_is(name, "arrival_s") ||
	       gv_cell_is(name, "job_type") || gv_cell_is(name, "scale_factor") ||
	       gv_cell_is(name, "total_steps") || gv_cell_is(name, "duration_s") ||
	       gv_cell_is(name, "weight") ||
	       (s->priority.list.n > 0 && gv_cell_is(name, "priority_weight")) ||
	       (s->slo.list.n > 0 && gv_cell_is(name, "slo_factor")) ||
	       (s->entities.n > 0 && gv_cell_is(name, "entity"));
}

static struct carried
carried_columns(const struct job_types *t, const struct sample_spec *s)
{
	struct carried c = {0, gv_xcalloc(t->frame.n_columns, sizeof(*c.column))};
	size_t i;

	for (i = 0; i < t->frame.n_columns; i++)
		if (!is_written(s, t->frame.name[i]))
			c.column[c.n++] = (ptrdiff_t)i;
	return c;
}

static void
write_header(struct gv_tabw *w, const struct sample_spec *s, const struct job_types *t,
    const struct carried *c)
{
	static const char *const names[] = {"job_id", "arrival_s", "job_type",
	    "scale_factor", "total_steps", "duration_s"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		gv_tabw_str(w, names[i]);
	if (s->priority.list.n > 0)
		gv_tabw_str(w, "priority_weight");
	if (s->slo.list.n > 0)
		gv_tabw_str(w, "slo_factor");
	if (s->entities.n > 0)
		gv_tabw_str(w, "entity");
	for (i = 0; i < c->n; i++)
		gv_tabw_cell(w, t->frame.name[c->column[i]]);
	gv_tabw_end(w);
}

static void
write_job(struct gv_tabw *w, int64_t id, const struct sampled *j,
    const struct sample_spec *s, const struct job_types *t, const struct carried *c)
{
	size_t i;

	gv_tabw_int(w, id);
	gv_tabw_double(w, j->arrival_s);
	gv_tabw_cell(w, t->name[j->type]);
	gv_tabw_int(w, j->scale_factor);
	gv_tabw_double(w, j->total_steps);
	gv_tabw_double(w, j->duration_s);
	if (s->priority.list.n > 0)
		gv_tabw_double(w, j->priority);
	if (s->slo.list.n > 0)
		gv_tabw_double(w, j->slo);
	if (s->entities.n > 0)
		gv_tabw_str(
		    w, j->entity < s->entities.n ? s->entities.text[j->entity] : "");
	for (i = 0; i < c->n; i++)
		gv_tabw_cell(w, gv_frame_cell(&t->frame, j->type, c->column[i]));
	gv_tabw_end(w);
}

static int
write_jobs(const struct options *o, struct sampler *s, struct gv_error *e)
{
	struct carried c = carried_columns(s->types, &o->spec);
	struct gv_out *out;
	struct gv_tabw w;
	double gpu_s = 0;
	int64_t i;
	int rc = gv_out_open(&out, o->common.output, e);

	if (rc == 0) {
		gv_tabw_init(&w, out, o->common.tsv);
		write_header(&w, &o->spec, s->types, &c);
		for (i = 0; rc == 0 && i < o->jobs; i++) {
			struct sampled job;

			rc = sample_next(s, &job, e);
			if (rc == 0) {
				if (o->whole_steps)
					job.total_steps = fmax(1, floor(job.total_steps));
				write_job(&w, i, &job, &o->spec, s->types, &c);
				gpu_s += job.duration_s * (double)job.scale_factor;
			}
		}
		if (rc == 0)
			rc = gv_out_close(out, e);
		else
			gv_out_discard(out);
	}
	if (rc == 0 && o->common.verbose > 0)
		gv_warn("%lld jobs, %.6g GPU hours of %.*s, the last at %.6g h",
		    (long long)o->jobs, gpu_s / 3600,
		    (int)s->speeds->gpu_types.key[s->reference].len,
		    s->speeds->gpu_types.key[s->reference].s, s->arrival_s / 3600);
	free(c.column);
	return rc;
}

int
trace_generate(int argc, char **argv)
{
	struct options o = {
	    .common = {.usage = usage, .help = help}, .spec = {.seed = 1}};
	struct gv_error e = {0};
	struct speeds speeds;
	struct job_types types;
	struct sampler sampler;
	ptrdiff_t reference;

	parse_options(&o, argc, argv);
	if (speeds_load(&speeds, o.throughputs, &e) != 0 ||
	    (reference = speeds_gpu_type(&speeds, o.reference, &e)) < 0 ||
	    types_load(&types, o.types, &speeds, &e) != 0)
		gv_die_error(&e);
	sample_start(&sampler, &o.spec, &speeds, &types, reference);
	if (write_jobs(&o, &sampler, &e) != 0)
		gv_die_error(&e);
	types_free(&types);
	speeds_free(&speeds);
	sample_spec_free(&o.spec);
	return gv_finish();
}
