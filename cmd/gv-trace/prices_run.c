/* Jobs under a policy of prices/spot.h: what goes in, and the tables that come out. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "prices.h"
#include "sched/rates.h"
#include "workload/speeds.h"

struct work {
	const struct prices_options *o;
	const struct markets *m;
	struct spot_rules rules;
	struct speeds speeds;
	ptrdiff_t *gpu_type; /* [markets] in speeds, -1 = no throughputs */
	double *rate;        /* [markets] of the present job */
	struct gv_rates jobs;
	struct spot_run run;
	double cost_usd;
	size_t moves, n_late, n_nowhere;
	struct gv_arena arena;
};

/* The GPU type of the throughputs with that name, in whatever letters; -1 = none. */
static ptrdiff_t
find_type(const struct speeds *s, const char *name, size_t len)
{
	size_t i, k;

	for (i = 0; i < s->gpu_types.n; i++) {
		const struct gv_hash_key *key = &s->gpu_types.key[i];

		for (k = 0; k < len && k < key->len; k++)
			if (tolower((unsigned char)name[k]) !=
			    tolower((unsigned char)key->s[k]))
				break;
		if (k == len && k == key->len)
			return (ptrdiff_t)i;
	}
	return -1;
}

static struct gv_cell
small_letters(struct gv_arena *a, const struct gv_hash_key *name)
{
	char *copy = gv_arena_strndup(a, name->s, name->len);
	size_t i;

	for (i = 0; i < name->len; i++)
		copy[i] = (char)tolower((unsigned char)copy[i]);
	return (struct gv_cell){copy, name->len};
}

static int
load(struct work *w, struct gv_error *e)
{
	const struct prices_options *o = w->o;
	struct gv_frame f;
	ptrdiff_t one = -1;
	size_t k;

	if (speeds_load(&w->speeds, o->throughputs, e) != 0)
		return -1;
	if (o->gpu_type != NULL)
		one = find_type(&w->speeds, o->gpu_type, strlen(o->gpu_type));
	if (one < 0 && (one = speeds_gpu_type(&w->speeds, o->gpu_type, e)) < 0)
		return -1;
	if (gv_frame_load(&f, o->jobs, e) != 0 || gv_jobs_from(&w->jobs, &f, e) != 0)
		return -1;
	w->rules = o->rules;
	w->rules.home = o->home != NULL ? (struct gv_cell){o->home, strlen(o->home)}
					: w->m->first_cloud;
	w->rules.gpu_type = small_letters(&w->arena, &w->speeds.gpu_types.key[one]);
	w->rate = gv_xcalloc(w->m->n, sizeof(*w->rate));
	w->gpu_type = gv_xcalloc(w->m->n, sizeof(*w->gpu_type));
	for (k = 0; k < w->m->n; k++)
		w->gpu_type[k] = find_type(
		    &w->speeds, w->m->market[k].gpu_type.s, w->m->market[k].gpu_type.len);
	return 0;
}

static void
unload(struct work *w)
{
	spot_run_free(&w->run);
	gv_rates_free(&w->jobs);
	speeds_free(&w->speeds);
	free(w->rate);
	free(w->gpu_type);
	gv_arena_free(&w->arena);
}

static int
check_jobs(const struct work *w, struct gv_error *e)
{
	ptrdiff_t steps;
	size_t i;

	if (gv_frame_require(&w->jobs.frame, "total_steps", &steps, e) != 0)
		return -1;
	for (i = 0; i < w->jobs.n_jobs; i++)
		if (isnan(w->jobs.job[i].total_steps))
			gv_frame_error(&w->jobs.frame, w->jobs.job[i].row, steps, e,
			    "expected a number, got \"\"");
	return e->count > 0 ? -1 : 0;
}

/* The job as prices/spot.h knows it; a slo_factor counts on its fastest market. */
static struct spot_job
spot_job_of(struct work *w, const struct gv_job *j)
{
	const struct speeds *s = &w->speeds;
	ptrdiff_t type = gv_hash_find(&s->job_types, j->job_type.s, j->job_type.len);
	struct spot_job job = {.start_s = w->o->start_s + j->arrival_s,
	    .steps = j->total_steps,
	    .scale_factor = j->scale_factor,
	    .deadline_s = w->o->start_s + j->deadline_s,
	    .rate = w->rate};
	double fastest = 0;
	size_t k;

	for (k = 0; k < w->m->n; k++) {
		w->rate[k] = speeds_find(s, type, j->scale_factor, w->gpu_type[k]);
		if (w->rate[k] > fastest)
			fastest = w->rate[k];
	}
	if (!isnan(j->slo_factor) && isnan(job.deadline_s))
		job.deadline_s = job.start_s + j->slo_factor * job.steps / fastest;
	return job;
}

/* ---- tables ---- */

static void
write_header(struct gv_tabw *t, const struct work *w)
{
	static const char *const costs[] = {
	    "policy", "cost_usd", "end_s", "moves", "slack_s"};
	static const char *const stays[] = {"job_id", "start_s", "end_s", "gpu_type",
	    "source", "usd_per_h", "cost_usd", "interval_s"};
	const struct gv_frame *f = &w->jobs.frame;
	size_t i, k;

	if (w->o->schedule) {
		for (i = 0; i < sizeof(stays) / sizeof(stays[0]); i++)
			gv_tabw_str(t, stays[i]);
		gv_tabw_end(t);
		return;
	}
	for (i = 0; i < f->n_columns; i++) {
		for (k = 0; k < sizeof(costs) / sizeof(costs[0]); k++)
			if (gv_cell_is(f->name[i], costs[k]))
				break;
		if (k == sizeof(costs) / sizeof(costs[0]))
			gv_tabw_cell(t, f->name[i]);
	}
	for (k = 0; k < sizeof(costs) / sizeof(costs[0]); k++)
		gv_tabw_str(t, costs[k]);
	gv_tabw_end(t);
}

/* The job's row and what it cost; ran: it could run at all. */
static void
write_cost(struct gv_tabw *t, const struct work *w, const struct gv_job *j,
    const struct spot_job *job, bool ran)
{
	static const char *const replaced[] = {
	    "policy", "cost_usd", "end_s", "moves", "slack_s"};
	const struct gv_frame *f = &w->jobs.frame;
	size_t i, k;

	for (i = 0; i < f->n_columns; i++) {
		for (k = 0; k < sizeof(replaced) / sizeof(replaced[0]); k++)
			if (gv_cell_is(f->name[i], replaced[k]))
				break;
		if (k == sizeof(replaced) / sizeof(replaced[0]))
			gv_tabw_cell(t, gv_frame_cell(f, j->row, (ptrdiff_t)i));
	}
	gv_tabw_str(t, spot_policy_names[w->rules.policy]);
	gv_tabw_double(t, ran ? w->run.cost_usd : NAN);
	gv_tabw_double(t, ran ? w->run.end_s - w->o->start_s : NAN);
	if (ran)
		gv_tabw_int(t, (int64_t)w->run.moves);
	else
		gv_tabw_empty(t);
	gv_tabw_double(t, ran ? job->deadline_s - w->run.end_s : NAN);
	gv_tabw_end(t);
}

static void
write_stays(struct gv_tabw *t, const struct work *w, const struct gv_job *j)
{
	size_t i;

	for (i = 0; i < w->run.n; i++) {
		const struct spot_stay *s = &w->run.stay[i];
		const struct market *m = &w->m->market[s->market];

		gv_tabw_cell(t, j->id);
		gv_tabw_double(t, s->start_s - w->o->start_s);
		gv_tabw_double(t, s->end_s - w->o->start_s);
		gv_tabw_cell(t, m->gpu_type);
		gv_tabw_cell(t, m->source);
		gv_tabw_double(t, s->usd_per_h);
		gv_tabw_double(t, s->usd_per_h * (double)j->scale_factor *
				      (s->end_s - s->start_s) / 3600);
		gv_tabw_double(t, spot_interval(m, &w->rules));
		gv_tabw_end(t);
	}
}

static void
run_jobs(struct work *w, struct gv_tabw *t)
{
	char q[GV_QUOTE_LEN];
	size_t i;

	write_header(t, w);
	for (i = 0; i < w->jobs.n_jobs; i++) {
		const struct gv_job *j = &w->jobs.job[i];
		struct spot_job job = spot_job_of(w, j);
		bool ran = spot_run(&w->run, &job, w->m, &w->rules);

		if (ran) {
			w->cost_usd += w->run.cost_usd;
			w->moves += w->run.moves;
			w->n_late += w->run.end_s > job.deadline_s;
		} else {
			w->n_nowhere++;
			if (!w->o->common.quiet)
				gv_warn(
				    "warning: %s:%ld: job %s: no market has a price at "
				    "its start and runs it",
				    w->jobs.frame.file, w->jobs.frame.line[j->row],
				    gv_quote(q, j->id.s, j->id.len));
		}
		if (!w->o->schedule)
			write_cost(t, w, j, &job, ran);
		else if (ran)
			write_stays(t, w, j);
	}
}

int
prices_run(const struct prices_options *o, const struct markets *m, bool *all_well,
    struct gv_error *e)
{
	struct work w = {.o = o, .m = m};
	struct gv_out *out;
	struct gv_tabw t;
	int rc = load(&w, e);

	if (rc == 0)
		rc = check_jobs(&w, e);
	if (rc == 0)
		rc = gv_out_open(&out, o->common.output, e);
	if (rc == 0) {
		gv_tabw_init(&t, out, o->common.tsv);
		run_jobs(&w, &t);
		rc = gv_out_close(out, e);
	}
	if (rc == 0 && o->common.verbose > 0)
		gv_warn("%zu jobs: %.2f US dollars, %zu moves, %zu late, %zu nowhere",
		    w.jobs.n_jobs, w.cost_usd, w.moves, w.n_late, w.n_nowhere);
	*all_well = w.n_late == 0 && w.n_nowhere == 0;
	unload(&w);
	return rc;
}
