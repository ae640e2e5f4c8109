/* GPU traces of Alibaba: PAI of 2020 (NSDI 2022) and the Kubernetes pods of 2023 (ATC 2023). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "formats.h"
#include "gv-trace/source/source.h"

static const int64_t most_gpus = 1000000;

/* ---- 2020 ---- */

/* pai_task_table without its header; of a job there may be several tasks. */
enum {
	TASK_JOB,
	TASK_NAME,
	TASK_INSTANCES,
	TASK_STATUS,
	TASK_START,
	TASK_END,
	TASK_CPU,
	TASK_MEM,
	TASK_GPU,
	TASK_GPU_TYPE,
	N_TASK
};

static const struct wanted task_columns[N_TASK] = {[TASK_JOB] = {{"job_name"}, true},
    [TASK_NAME] = {{"task_name"}, true},
    [TASK_INSTANCES] = {{"inst_num"}, true},
    [TASK_STATUS] = {{"status"}, true},
    [TASK_START] = {{"start_time"}, true},
    [TASK_END] = {{"end_time"}, true},
    [TASK_CPU] = {{"plan_cpu"}, true},
    [TASK_MEM] = {{"plan_mem"}, true},
    [TASK_GPU] = {{"plan_gpu"}, true},
    [TASK_GPU_TYPE] = {{"gpu_type"}, true}};

enum { JOB_NAME, JOB_INST_ID, JOB_USER, JOB_STATUS, JOB_START, JOB_END, N_JOB };

static const struct wanted job_columns[N_JOB] = {[JOB_NAME] = {{"job_name"}, true},
    [JOB_INST_ID] = {{"inst_id"}, true},
    [JOB_USER] = {{"user"}, true},
    [JOB_STATUS] = {{"status"}, true},
    [JOB_START] = {{"start_time"}, true},
    [JOB_END] = {{"end_time"}, true}};

/* What the tasks of a job tell, added up. */
struct tasks {
	struct gv_hash jobs;
	struct {
		double gpus;    /* whole and parts */
		double start_s; /* of the first one, NAN = none started */
	} * of;                 /* [jobs.n] */
	size_t cap;
};

static int
cells_expected(const struct source *s, size_t n, struct gv_error *e)
{
	if (s->n_cells == n)
		return 0;
	return gv_error_at(
	    e, s->file, s->line, NULL, "expected %zu cells, got %zu", n, s->n_cells);
}

static void
read_task(
    struct tasks *t, struct traced_list *l, const struct source *s, struct gv_error *e)
{
	struct gv_cell job = source_cell(s, TASK_JOB);
	double instances, gpus, start;
	ptrdiff_t at;

	if (cells_expected(s, N_TASK, e) != 0 ||
	    source_number(s, TASK_INSTANCES, &instances, e) != 0 ||
	    source_number(s, TASK_GPU, &gpus, e) != 0 ||
	    source_number(s, TASK_START, &start, e) != 0)
		return;
	at = gv_hash_find(&t->jobs, job.s, job.len);
	if (at < 0) {
		job = traced_text(l, job);
		at = (ptrdiff_t)gv_hash_add(&t->jobs, job.s, job.len);
		t->of = gv_xgrow(t->of, &t->cap, t->jobs.n, sizeof(*t->of));
		t->of[at].gpus = 0;
		t->of[at].start_s = NAN;
	}
	GV_HOLDS(t->of != NULL);
	if (instances > 0 && gpus > 0)
		t->of[at].gpus += instances * gpus / 100; /* plan_gpu is in per cent */
	if (!(t->of[at].start_s <= start) && !isnan(start))
		t->of[at].start_s = start;
}

static int
read_tasks(struct tasks *t, struct traced_list *l, const char *path, struct gv_error *e)
{
	struct source s;

	if (source_bare(&s, path, ',', task_columns, N_TASK, e) != 0)
		return -1;
	while (e->count == 0 && source_next(&s, e) == 1)
		read_task(t, l, &s, e);
	source_close(&s);
	return e->count > 0 ? -1 : 0;
}

static void
read_job(const struct tasks *t, struct traced_list *l, const struct source *s,
    struct gv_error *e)
{
	struct gv_cell name = source_cell(s, JOB_NAME);
	struct traced job = {.line = s->line,
	    .id = name,
	    .user = source_cell(s, JOB_USER),
	    .entity = source_cell(s, JOB_USER),
	    .status = source_cell(s, JOB_STATUS)};
	double end;
	ptrdiff_t at;

	if (cells_expected(s, N_JOB, e) != 0 ||
	    source_number(s, JOB_START, &job.arrival_s, e) != 0 ||
	    source_number(s, JOB_END, &end, e) != 0)
		return;
	at = gv_hash_find(&t->jobs, name.s, name.len);
	GV_HOLDS(at < 0 || t->of != NULL);
	if (at >= 0) {
		double gpus = ceil(t->of[at].gpus);

		job.gpus = gpus < (double)most_gpus ? (int64_t)gpus : most_gpus;
		job.duration_s = end - t->of[at].start_s;
	}
	traced_add(l, job, gv_cell_is(job.status, "Terminated"));
}

int
alibaba_2020_read(
    struct traced_list *l, const char *path, const char *tasks, struct gv_error *e)
{
	struct tasks t = {0};
	struct source s;

	if (read_tasks(&t, l, tasks, e) == 0 &&
	    source_bare(&s, path, ',', job_columns, N_JOB, e) == 0) {
		while (e->count == 0 && source_next(&s, e) == 1)
			read_job(&t, l, &s, e);
		source_close(&s);
	}
	gv_hash_free(&t.jobs);
	free(t.of);
	return e->count > 0 ? -1 : 0;
}

/* ---- 2023 ---- */

enum {
	POD_NAME,
	POD_GPUS,
	POD_QOS,
	POD_PHASE,
	POD_CREATED,
	POD_SCHEDULED,
	POD_DELETED,
	N_POD
};

static const struct wanted pod_columns[N_POD] = {[POD_NAME] = {{"name"}, true},
    [POD_GPUS] = {{"num_gpu"}, true},
    [POD_QOS] = {{"qos"}, false},
    [POD_PHASE] = {{"pod_phase"}, false},
    [POD_CREATED] = {{"creation_time"}, true},
    [POD_SCHEDULED] = {{"scheduled_time"}, true},
    [POD_DELETED] = {{"deletion_time"}, true}};

static void
read_pod(struct traced_list *l, const struct source *s, struct gv_error *e)
{
	struct traced job = {.line = s->line,
	    .id = source_cell(s, POD_NAME),
	    .entity = source_cell(s, POD_QOS),
	    .status = source_cell(s, POD_PHASE)};
	double gpus, scheduled, deleted;
	int rc = 0;

	rc |= source_number(s, POD_GPUS, &gpus, e);
	rc |= source_number(s, POD_CREATED, &job.arrival_s, e);
	rc |= source_number(s, POD_SCHEDULED, &scheduled, e);
	rc |= source_number(s, POD_DELETED, &deleted, e);
	if (rc != 0)
		return;
	job.gpus = gpus >= 1 && gpus <= (double)most_gpus ? (int64_t)gpus : 0;
	job.duration_s = deleted - scheduled;
	traced_add(l, job, gv_cell_is(job.status, "Succeeded"));
}

int
alibaba_2023_read(struct traced_list *l, const char *path, struct gv_error *e)
{
	struct source s;
	int row;

	if (source_table(&s, path, pod_columns, N_POD, e) != 0)
		return -1;
	while (e->count < GV_ERROR_KEPT && (row = source_next(&s, e)) != 0)
		if (row == 1)
			read_pod(l, &s, e);
	source_close(&s);
	return e->count > 0 ? -1 : 0;
}
