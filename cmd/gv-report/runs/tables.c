#include "tables.h"

#include <math.h>
#include <string.h>

static const char *const table_name[RUN_TABLES] = {
    "events", "what became of the jobs", "a summary"};

struct run *
runs_named(struct runs *r, const char *name, size_t len)
{
	ptrdiff_t known = gv_hash_find(&r->names, name, len);
	struct run *run;
	int m;

	if (known >= 0)
		return &r->run[known];
	name = gv_arena_strndup(&r->arena, name, len);
	r->n = gv_hash_add(&r->names, name, len) + 1;
	r->run = gv_xgrow(r->run, &r->cap, r->n, sizeof(*r->run));
	run = &r->run[r->n - 1];
	*run = (struct run){.name = name};
	for (m = 0; m < MEASURES; m++)
		run->value[m] = NAN;
	return run;
}

struct outcome *
run_job(struct run *r, const char *id, size_t len, bool *is_new)
{
	ptrdiff_t known = gv_hash_find(&r->ids, id, len);
	struct outcome *o;

	*is_new = known < 0;
	if (known >= 0)
		return &r->job[known];
	id = gv_arena_strndup(&r->arena, id, len);
	r->n_jobs = gv_hash_add(&r->ids, id, len) + 1;
	r->job = gv_xgrow(r->job, &r->cap_jobs, r->n_jobs, sizeof(*r->job));
	o = &r->job[r->n_jobs - 1];
	*o = (struct outcome){
	    id, len, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, LENGTH_UNKNOWN};
	return o;
}

struct run_type *
run_type_named(struct run *r, const char *name, size_t len)
{
	ptrdiff_t known = gv_hash_find(&r->types, name, len);
	struct run_type *t;

	if (known >= 0)
		return &r->type[known];
	name = gv_arena_strndup(&r->arena, name, len);
	r->n_types = gv_hash_add(&r->types, name, len) + 1;
	r->type = gv_xgrow(r->type, &r->cap_types, r->n_types, sizeof(*r->type));
	t = &r->type[r->n_types - 1];
	*t = (struct run_type){name, len, NAN, NAN, NAN, NAN};
	return t;
}

int
run_claim(struct run *r, enum run_table kind, const char *file, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];

	if (r->from[kind] != NULL)
		return gv_error_at(e, file, 0, NULL,
		    "run %s has %s already, from %s; name runs by NAME=FILE",
		    gv_quote(q, r->name, strlen(r->name)), table_name[kind],
		    r->from[kind]);
	r->from[kind] = gv_arena_strndup(&r->arena, file, strlen(file));
	return 0;
}

/* ---- what became of jobs ---- */

enum {
	C_ARRIVAL,
	C_START,
	C_FINISH,
	C_COMPLETION,
	C_QUEUEING,
	C_RUNNING,
	C_GPU_S,
	C_FAIRNESS,
	C_DEADLINE,
	C_LAUNCHES,
	C_PREEMPTIONS,
	COLUMNS
};

static const char *const column_name[COLUMNS] = {"arrival_s", "start_s", "finish_s",
    "completion_s", "queueing_s", "running_s", "gpu_s", "fairness", "deadline_s",
    "launches", "preemptions"};

/* An empty cell is NAN. */
static int
number(
    const struct gv_frame *f, size_t row, ptrdiff_t column, double *v, struct gv_error *e)
{
	if (gv_frame_double(f, row, column, HUGE_VAL, v, e) != 0)
		return -1;
	if (*v == HUGE_VAL)
		*v = NAN;
	return 0;
}

static void
set_outcome(struct outcome *o, const double v[COLUMNS])
{
	o->arrival_s = isnan(v[C_ARRIVAL]) ? 0 : v[C_ARRIVAL];
	o->completion_s = v[C_COMPLETION];
	o->finish_s = !isnan(v[C_FINISH]) ? v[C_FINISH] : o->arrival_s + o->completion_s;
	o->queueing_s = !isnan(v[C_QUEUEING]) ? v[C_QUEUEING] : v[C_START] - o->arrival_s;
	o->running_s = v[C_RUNNING];
	o->gpu_s = v[C_GPU_S];
	o->fairness = v[C_FAIRNESS];
	o->deadline_s = v[C_DEADLINE];
	o->launches = v[C_LAUNCHES];
	o->preemptions = v[C_PREEMPTIONS];
}

/* The run of a row: of its column run, if it has one. */
static struct run *
run_of(struct runs *r, const char *name, const struct gv_frame *f, size_t row,
    ptrdiff_t column)
{
	struct gv_cell cell = gv_frame_cell(f, row, column);

	return column >= 0 && cell.len > 0 ? runs_named(r, cell.s, cell.len)
					   : runs_named(r, name, strlen(name));
}

/* Calls for a row of a table that the run may have only once. */
static int
claim(struct run **last, struct run *run, enum run_table kind, const struct gv_frame *f,
    struct gv_error *e)
{
	bool again = run == *last ||
		     (run->from[kind] != NULL && strcmp(run->from[kind], f->file) == 0);

	*last = run;
	return again ? 0 : run_claim(run, kind, f->file, e);
}

int
runs_jobs(struct runs *r, const char *name, const struct gv_frame *f, struct gv_error *e)
{
	ptrdiff_t column[COLUMNS], run_column = gv_frame_find(f, "run"), id;
	struct run *last = NULL;
	size_t row, before = e->count;
	int c;

	if (gv_frame_require(f, "job_id", &id, e) != 0)
		return -1;
	for (c = 0; c < COLUMNS; c++)
		column[c] = gv_frame_find(f, column_name[c]);
	if (f->n_rows == 0)
		return run_claim(runs_named(r, name, strlen(name)), RUN_JOBS, f->file, e);
	for (row = 0; row < f->n_rows; row++) {
		struct run *run = run_of(r, name, f, row, run_column);
		struct gv_cell cell = gv_frame_cell(f, row, id);
		double v[COLUMNS];
		struct outcome *o;
		bool is_new;
		int rc = 0;

		if (claim(&last, run, RUN_JOBS, f, e) != 0)
			return -1;
		for (c = 0; c < COLUMNS; c++)
			rc |= number(f, row, column[c], &v[c], e);
		/* of rates, a job has a row for each GPU type, which say the same */
		o = run_job(run, cell.s, cell.len, &is_new);
		if (rc == 0 && is_new)
			set_outcome(o, v);
	}
	return e->count == before ? 0 : -1;
}

/* ---- a summary ---- */

static void
set_of_type(struct run_type *t, enum measure m, double v)
{
	if (m == M_GPUS)
		t->gpus = v;
	else if (m == M_BUSY_GPU_S)
		t->busy_gpu_s = v;
	else if (m == M_UTILISATION)
		t->utilisation = v;
	else if (m == M_USD)
		t->usd = v;
}

int
runs_summary(
    struct runs *r, const char *name, const struct gv_frame *f, struct gv_error *e)
{
	ptrdiff_t run_column = gv_frame_find(f, "run"),
		  type = gv_frame_find(f, "gpu_type");
	ptrdiff_t measure, value;
	struct run *last = NULL;
	size_t row, before = e->count;

	if (gv_frame_require(f, "measure", &measure, e) != 0 ||
	    gv_frame_require(f, "value", &value, e) != 0)
		return -1;
	for (row = 0; row < f->n_rows; row++) {
		struct run *run = run_of(r, name, f, row, run_column);
		struct gv_cell of = gv_frame_cell(f, row, type);
		enum measure m = measure_named(gv_frame_cell(f, row, measure));
		double v;

		if (claim(&last, run, RUN_SUMMARY, f, e) != 0)
			return -1;
		if (number(f, row, value, &v, e) != 0)
			continue;
		if (of.len > 0)
			set_of_type(run_type_named(run, of.s, of.len), m, v);
		else if (m != MEASURES)
			run->value[m] = v;
	}
	return e->count == before ? 0 : -1;
}
