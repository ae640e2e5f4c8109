/*
 * Any bytes as a trace: the first one says of which format, the rest is the file (of
 * Alibaba's two tables both, cut in half).  Holds: jobs come of what can be read, in
 * order, with GPUs and time; of what cannot, an error that says where.
 */
#include <string.h>

#include "file.h"
#include "gv-trace/convert/formats.h"
#include "gv-trace/convert/gavel.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

static void
gavel(const char *path)
{
	struct gv_error e = {0};
	struct gavel_job job;
	struct source s;
	int rc = gavel_open(&s, path, &e);

	if (rc == 0) {
		while ((rc = gavel_next(&s, &job, &e)) == 1)
			HOLDS(job.job_type.len > 0 && job.total_steps.len > 0 &&
			      job.scale_factor.len > 0);
		source_close(&s);
	}
	HOLDS(rc == (e.count == 0 ? 0 : -1));
	HOLDS(rc == 0 || strncmp(e.text[0], path, strlen(path)) == 0);
}

static void
check_jobs(struct traced_list *l)
{
	size_t i;

	traced_sort(l);
	for (i = 0; i < l->n; i++) {
		const struct traced *j = &l->job[i];

		HOLDS(j->gpus >= 1 && j->gpus <= 1000000 && j->duration_s > 0 &&
		      j->line > 0);
		HOLDS(
		    i == 0 ? j->arrival_s == 0 : j->arrival_s >= l->job[i - 1].arrival_s);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *s, size_t len)
{
	struct traced_list l = {0};
	struct gv_error e = {0};
	const char *path, *tasks;
	int rc;

	if (len == 0)
		return 0;
	path = as_file(0, s + 1, (len - 1) / (s[0] == 'a' ? 2 : 1));
	tasks = as_file(1, s + 1 + (len - 1) / 2, len - 1 - (len - 1) / 2);
	switch (s[0]) {
	case 'g':
		gavel(path);
		return 0;
	case 'j':
		rc = philly_json_read(&l, path, &e);
		break;
	case 'c':
		rc = philly_csv_read(&l, path, &e);
		break;
	case 's':
		rc = slurm_read(&l, path, &e);
		break;
	case 'a':
		rc = alibaba_2020_read(&l, path, tasks, &e);
		break;
	default:
		rc = alibaba_2023_read(&l, path, &e);
	}
	HOLDS(rc == (e.count == 0 ? 0 : -1));
	HOLDS(rc == 0 || strncmp(e.text[0], "/dev/fd/", 8) == 0);
	if (rc == 0)
		check_jobs(&l);
	traced_free(&l);
	return 0;
}
