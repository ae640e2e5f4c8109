#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "launch/local/local.h"
#include "launch/progress.h"
#include "scratch.h"

/* How often a running job is looked at: the error in the time of a report. */
static const double look_every_s = 0.005;

enum { TAIL = 4096 };

struct run {
	struct gv_launch *launch;
	struct gv_strbuf directory;
	struct gv_strbuf checkpoint_dir;
	struct gv_strbuf progress;
	struct gv_strbuf log;
	struct report *report;
	size_t n;
	size_t cap;
};

static struct run *current; /* the run that goes on, for measure_abort */

static void
run_free(struct run *r)
{
	gv_strbuf_free(&r->directory);
	gv_strbuf_free(&r->checkpoint_dir);
	gv_strbuf_free(&r->progress);
	gv_strbuf_free(&r->log);
	free(r->report);
}

static int
start(struct run *r, const struct gv_job *job, const struct gv_gpu_type *type,
    const int *ids, const struct measure_options *o, struct gv_error *e)
{
	struct gv_launch_spec spec = {.job_id = job->id.s,
	    .command = job->command.s,
	    .working_directory =
		job->working_directory.len > 0 ? job->working_directory.s : NULL,
	    .gpu_type = type->name,
	    .gpus = ids,
	    .n_gpus = (size_t)job->scale_factor,
	    .threads = type->threads,
	    .total_steps = job->total_steps,
	    .round = -1,
	    .grace_s = o->grace_s,
	    .clean_env = o->clean_env,
	    .keep_fd = -1};
	struct gv_launch_news news;

	gv_strbuf_fmt(&r->directory, "%s/run", o->scratch);
	gv_strbuf_fmt(&r->checkpoint_dir, "%s/checkpoint", r->directory.s);
	gv_strbuf_fmt(&r->progress, "%s/progress", r->directory.s);
	gv_strbuf_fmt(&r->log, "%s/log", r->directory.s);
	if (gv_mkdirs(r->checkpoint_dir.s, e) != 0)
		return -1;
	spec.checkpoint_dir = r->checkpoint_dir.s;
	spec.progress = r->progress.s;
	spec.log = r->log.s;
	if (gv_launch_start(&r->launch, &gv_launch_local, &spec, &news) ==
	    GV_LAUNCH_NOT_STARTED)
		return gv_error_set(e, "%s", news.reason);
	return 0;
}

/* Watches until the window is complete, the job has left, or time is out.  0 or -1. */
static int
watch(struct run *r, struct measurement *m, const struct measure_options *o,
    double start_s, struct gv_error *e)
{
	struct gv_progress_report p = GV_PROGRESS_NONE;
	struct gv_launch_news news;

	while (*o->interrupt == 0) {
		/* whether it has left first, so that its last report is not missed */
		double now;

		m->left = gv_launch_poll(&r->launch, false, &news) == GV_LAUNCH_LEFT;
		if (news.reason[0] != '\0')
			return gv_error_set(e, "%s", news.reason);
		if (gv_progress_read(r->progress.s, &p, e) != 0)
			return -1;
		m->status = news.status;
		now = gv_clock_s();
		m->ran_s = now - start_s;
		if (p.steps > (r->n > 0 ? r->report[r->n - 1].steps : 0)) {
			r->report =
			    gv_xgrow(r->report, &r->cap, r->n + 1, sizeof(*r->report));
			r->report[r->n++] = (struct report){now, p.steps};
		}
		if (m->left || fit_enough(&o->rule, r->report, r->n) ||
		    m->ran_s >= o->timeout_s)
			return 0;
		gv_sleep_s(look_every_s);
	}
	return 0;
}

static int
stop(struct run *r, struct gv_error *e)
{
	struct gv_launch_news news = {0};

	gv_launch_stop(r->launch);
	while (r->launch != NULL)
		gv_launch_poll(&r->launch, true, &news);
	return news.reason[0] == '\0' ? 0 : gv_error_set(e, "%s", news.reason);
}

void
measure_abort(void)
{
	struct gv_error ignored = {0};

	if (current != NULL)
		stop(current, &ignored);
	current = NULL;
}

/* The last line of the log that is not empty. */
static void
read_last_line(struct measurement *m, const char *log)
{
	char tail[TAIL + 1];
	size_t n = 0;
	char *line;
	FILE *f = fopen(log, "r");

	m->last_line[0] = '\0';
	if (f == NULL)
		return;
	if (fseek(f, -TAIL, SEEK_END) != 0)
		rewind(f);
	n = fread(tail, 1, TAIL, f);
	fclose(f);
	while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == '\r'))
		n--;
	tail[n] = '\0';
	line = strrchr(tail, '\n');
	snprintf(m->last_line, sizeof(m->last_line), "%.*s",
	    (int)sizeof(m->last_line) - 1, line != NULL ? line + 1 : tail);
}

static void
judge(struct measurement *m, const struct run *r, const struct gv_job *job,
    const struct measure_options *o, double start_s)
{
	bool complete;
	bool some = fit_best(&m->fit, &complete, &o->rule, start_s, r->report, r->n);

	if (m->left && m->status != 0) {
		m->verdict = FAILED;
	} else if (some) {
		m->verdict = complete ? MEASURED : SHORT;
	} else if (m->left && isfinite(job->total_steps)) {
		/* done without a word: it has done what there was to do */
		m->verdict = SHORT;
		m->fit =
		    (struct rate_fit){job->total_steps / m->ran_s, INFINITY, m->ran_s, 0};
	} else {
		m->verdict = SILENT;
	}
	if (m->verdict == SILENT || m->verdict == FAILED)
		m->fit.steps_per_s = 0;
}

int
measure_job(struct measurement *m, const struct gv_job *job,
    const struct gv_gpu_type *type, const int *ids, const struct measure_options *o,
    struct gv_error *e)
{
	struct run r = {0};
	double start_s = gv_clock_s();
	int rc;

	*m = (struct measurement){0};
	current = &r;
	rc = start(&r, job, type, ids, o, e);
	if (rc == 0) {
		rc = watch(&r, m, o, start_s, e);
		if (stop(&r, e) != 0)
			rc = -1;
		judge(m, &r, job, o, start_s);
		read_last_line(m, r.log.s);
	}
	if (scratch_remove(r.directory.s, e) != 0)
		rc = -1;
	current = NULL;
	run_free(&r);
	return rc == 0 && *o->interrupt != 0 ? 1 : rc;
}
