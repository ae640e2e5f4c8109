/* Tables of jobs with GPUs and times, as the Philly and Helios traces are passed on. */
#include <math.h>

#include "formats.h"
#include "gv-trace/source/source.h"

enum { ID, SUBMIT, START, END, DURATION, GPUS, ENTITY, USER, STATUS, N_COLUMNS };

static const struct wanted columns[N_COLUMNS] = {
    [ID] = {{"job_id", "jobid", "job_name", "name"}, false},
    [SUBMIT] = {{"submitted_time", "submit_time", "arrival_s"}, false},
    [START] = {{"start_time"}, false},
    [END] = {{"end_time"}, false},
    [DURATION] = {{"duration_s", "duration", "run_time"}, false},
    [GPUS] = {{"num_gpus", "gpu_num", "gpus", "scale_factor"}, true},
    [ENTITY] = {{"vc", "queue", "entity"}, false},
    [USER] = {{"user"}, false},
    [STATUS] = {{"status", "state"}, false},
};

static int
check_columns(const struct source *s, struct gv_error *e)
{
	if (s->at[DURATION] >= 0 || (s->at[START] >= 0 && s->at[END] >= 0))
		return 0;
	return gv_error_at(e, s->file, s->line, NULL,
	    "missing column \"duration_s\", or \"start_time\" and \"end_time\"");
}

static bool
is_completed(struct gv_cell status)
{
	return gv_cell_is(status, "Pass") || gv_cell_is(status, "COMPLETED") ||
	       gv_cell_is(status, "completed");
}

static void
read_row(struct traced_list *l, const struct source *s, struct gv_error *e)
{
	struct traced job = {.line = s->line};
	double start, end, gpus;
	int rc = 0;

	rc |= source_number(s, GPUS, &gpus, e);
	rc |= source_time(s, SUBMIT, &job.arrival_s, e);
	rc |= source_time(s, START, &start, e);
	rc |= source_time(s, END, &end, e);
	rc |= source_number(s, DURATION, &job.duration_s, e);
	if (rc != 0)
		return;
	if (isnan(job.duration_s))
		job.duration_s = end - start;
	if (s->at[SUBMIT] < 0) /* when they came is not told: they are all there */
		job.arrival_s = s->at[START] >= 0 ? start : 0;
	job.gpus = gpus >= 1 && gpus <= 1e6 ? (int64_t)ceil(gpus) : 0;
	job.id = source_cell(s, ID);
	job.entity = source_cell(s, ENTITY);
	job.user = source_cell(s, USER);
	job.status = source_cell(s, STATUS);
	traced_add(l, job, is_completed(job.status));
}

int
philly_csv_read(struct traced_list *l, const char *path, struct gv_error *e)
{
	struct source s;
	int rc = source_table(&s, path, columns, N_COLUMNS, e);
	int row = 1;

	if (rc != 0)
		return -1;
	rc = check_columns(&s, e);
	while (rc == 0 && e->count < GV_ERROR_KEPT && (row = source_next(&s, e)) != 0)
		if (row == 1)
			read_row(l, &s, e);
	source_close(&s);
	return e->count > 0 ? -1 : rc;
}
