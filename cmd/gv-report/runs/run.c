#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gv-report/history/read.h"
#include "table/kind.h"
#include "tables.h"

/* A table of jobs that says what became of them, whoever wrote it. */
static bool
tells_outcomes(const struct gv_tab *t)
{
	return gv_tab_find(t, "job_id") >= 0 && gv_tab_find(t, "completion_s") >= 0 &&
	       gv_tab_find(t, "running_s") >= 0;
}

bool
runs_takes(const struct gv_tab *t)
{
	enum gv_kind kind = gv_tab_kind(t);

	return kind == GV_KIND_EVENTS || kind == GV_KIND_SIMULATION || tells_outcomes(t);
}

/* ---- of a history ---- */

static void
take_jobs(struct run *run, const struct history *h)
{
	size_t i;

	for (i = 0; i < h->n_jobs; i++) {
		const struct job *j = &h->job[i];
		bool is_new;
		struct outcome *o = run_job(run, j->id, j->id_len, &is_new);

		o->arrival_s = j->arrival_s;
		o->completion_s = job_completion_s(j);
		o->finish_s = j->arrival_s + o->completion_s;
		o->queueing_s = job_queueing_s(j);
		o->running_s = j->running_s;
		o->gpu_s = j->gpu_s;
		o->launches = (double)j->launches;
		o->preemptions = (double)j->preemptions;
	}
}

static void
take_levels(struct run *run, const struct history *h)
{
	size_t i, k;

	run->end_s = h->last_s;
	run->type_of = gv_arena_alloc(&run->arena, h->n_types, sizeof(*run->type_of));
	for (i = 0; i < h->n_types; i++)
		run->type_of[i] =
		    (size_t)(run_type_named(run, h->type[i].name, h->type[i].name_len) -
			     run->type);
	for (i = 0; i < h->n_jobs; i++)
		bins_add(&run->active, h->job[i].arrival_s,
		    isnan(h->job[i].left_s) ? h->last_s : h->job[i].left_s, 1);
	run->n_entities = h->entities.n;
	run->entity = gv_arena_alloc(&run->arena, h->entities.n, sizeof(*run->entity));
	for (i = 0; i < h->entities.n; i++)
		run->entity[i] = gv_arena_strndup(
		    &run->arena, h->entities.key[i].s, h->entities.key[i].len);
	run->gpu = gv_arena_alloc(&run->arena, h->n_lanes, sizeof(*run->gpu));
	for (i = 0; i < h->n_types; i++)
		for (k = 0; k < h->n_lanes && k < MOST_GPUS; k++)
			if (h->lane[k].type == i)
				run->gpu[run->n_gpus++] =
				    (struct run_gpu){run->type_of[i], k};
}

static void
take_values(struct run *run, const struct history *h, const struct summary *s)
{
	double *v = run->value;
	size_t i;

	for (i = 0; i < h->n_types; i++) {
		const struct gpu_type *t = &h->type[i];
		struct run_type *of = run_type_named(run, t->name, t->name_len);

		of->gpus = h->n_pools > 0 ? (double)t->gpus : NAN;
		of->busy_gpu_s = t->busy_gpu_s;
		of->utilisation =
		    t->available_gpu_s > 0 ? t->busy_gpu_s / t->available_gpu_s : NAN;
	}
	v[M_GPUS] = h->n_pools > 0 ? s->gpus : NAN;
	v[M_BUSY_GPU_S] = s->busy_gpu_s;
	v[M_UTILISATION] =
	    s->available_gpu_s > 0 ? s->busy_gpu_s / s->available_gpu_s : NAN;
	v[M_MAKESPAN] = s->makespan_s;
	v[M_LAUNCHES] = (double)s->launches;
	v[M_PREEMPTIONS] = (double)s->preemptions;
	v[M_FAILURES] = (double)s->failures;
	v[M_STEPS_LOST] = s->steps_lost;
	v[M_JAIN] = s->jain;
	v[M_END] = s->elapsed_s;
}

void
runs_history(struct runs *r, const char *name, const char *file, const struct history *h,
    const struct summary *s)
{
	struct run *run = runs_named(r, name, strlen(name));

	run->from[RUN_EVENTS] = gv_arena_strndup(&run->arena, file, strlen(file));
	run->over = *h->over;
	*h->over = (struct over_time){0};
	take_levels(run, h);
	if (run->from[RUN_JOBS] == NULL)
		take_jobs(run, h);
	if (run->from[RUN_SUMMARY] == NULL)
		take_values(run, h, s);
}

/* ---- tables ---- */

static int
take_events(
    struct runs *r, const char *name, struct gv_tab *t, long *cut, struct gv_error *e)
{
	struct run *run = runs_named(r, name, strlen(name));
	struct over_time over = {0};
	struct history h = {.over = &over};
	struct summary s;
	int rc;

	if (run_claim(run, RUN_EVENTS, gv_tab_file(t), e) != 0)
		return -1;
	rc = history_read(&h, t, cut, e);
	if (rc == 0) {
		summary_of(&s, &h);
		runs_history(r, name, run->from[RUN_EVENTS], &h, &s);
		summary_free(&s);
	}
	over_time_free(&over);
	history_free(&h);
	return rc;
}

/* What events said of jobs gives way to a table of them. */
static void
forget_jobs(struct runs *r, const char *name)
{
	struct run *run = runs_named(r, name, strlen(name));

	if (run->from[RUN_EVENTS] == NULL || run->from[RUN_JOBS] != NULL)
		return;
	run->n_jobs = 0;
	gv_hash_free(&run->ids);
}

/* So does what they said of the run, to a summary. */
static void
forget_values(struct runs *r, const char *name)
{
	struct run *run = runs_named(r, name, strlen(name));
	int m;

	if (run->from[RUN_EVENTS] == NULL || run->from[RUN_SUMMARY] != NULL)
		return;
	for (m = 0; m < MEASURES; m++)
		run->value[m] = NAN;
}

int
runs_table(
    struct runs *r, const char *name, struct gv_tab *t, long *cut, struct gv_error *e)
{
	bool summary = gv_tab_kind(t) == GV_KIND_SIMULATION;
	struct gv_frame f;
	int rc;

	*cut = 0;
	if (gv_tab_kind(t) == GV_KIND_EVENTS)
		return take_events(r, name, t, cut, e);
	if (!runs_takes(t))
		return gv_error_at(e, gv_tab_file(t), gv_tab_line(t), NULL,
		    "this is %s; several tables must be of runs: events, jobs of a "
		    "simulation, summaries",
		    gv_kind_name(gv_tab_kind(t)));
	if (gv_frame_read(&f, t, e) != 0)
		return -1;
	if (gv_frame_find(&f, "run") < 0)
		summary ? forget_values(r, name) : forget_jobs(r, name);
	rc = summary ? runs_summary(r, name, &f, e) : runs_jobs(r, name, &f, e);
	gv_frame_free(&f);
	return rc;
}

/* ---- numbers of jobs ---- */

static double
number_of(const struct outcome *o, size_t offset)
{
	double v;

	memcpy(&v, (const char *)o + offset, sizeof(v));
	return v;
}

struct numbers
run_numbers(const struct run *r, size_t offset, enum job_length length, struct spread *s)
{
	struct numbers of = {0, gv_xcalloc(r->n_jobs + 1, sizeof(double))};
	size_t i;

	for (i = 0; i < r->n_jobs; i++) {
		double v = number_of(&r->job[i], offset);

		if (!isnan(v) && (length == LENGTH_UNKNOWN || r->job[i].length == length))
			of.v[of.n++] = v;
	}
	*s = spread_of(of.v, of.n);
	return of;
}

void
runs_free(struct runs *r)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		struct run *run = &r->run[i];

		free(run->job);
		free(run->type);
		gv_hash_free(&run->ids);
		gv_hash_free(&run->types);
		over_time_free(&run->over);
		gv_arena_free(&run->arena);
	}
	free(r->run);
	gv_hash_free(&r->names);
	gv_arena_free(&r->arena);
	*r = (struct runs){0};
}
