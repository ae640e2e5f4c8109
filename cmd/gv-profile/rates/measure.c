#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "launch/progress.h"
#include "scratch.h"

/* UNSEEN: the status of who left and nobody saw how. */
enum { TAIL = 4096, UNSEEN = 125 };

struct measuring {
	struct gv_launch *launch;
	struct gv_gpu_watch *watch;
	const struct gv_job *job;
	const struct measure_options *o;
	struct gv_strbuf directory;
	struct gv_strbuf checkpoint_dir;
	struct gv_strbuf progress;
	struct gv_strbuf log;
	struct gv_progress_report told;
	double told_last; /* steps that were told when it was looked at last */
	struct report *report;
	size_t n;
	size_t cap;
	double start_s;
	bool heard; /* it has reported */
	bool stopping;
	bool enough;              /* is known */
	struct measuring *beside; /* on the same GPUs, NULL = none */
	struct measurement m;
	struct measuring *next; /* of those that go on */
};

static struct measuring *all; /* that go on, for measure_abort */
static size_t n_begun;

/* ---- beginning and end ---- */

static void
forget(struct measuring *r)
{
	struct measuring **at = &all;

	while (*at != NULL && *at != r)
		at = &(*at)->next;
	if (*at != NULL)
		*at = r->next;
	if (r->beside != NULL)
		r->beside->beside = NULL;
	gv_gpu_watch_free(r->watch);
	gv_strbuf_free(&r->directory);
	gv_strbuf_free(&r->checkpoint_dir);
	gv_strbuf_free(&r->progress);
	gv_strbuf_free(&r->log);
	free(r->report);
	free(r);
}

static enum gv_launch_state
launch(
    struct measuring *r, const struct measure_place *place, struct gv_launch_news *news)
{
	struct gv_launch_spec spec = {.job_id = r->job->id.s,
	    .command = r->job->command.s,
	    .working_directory =
		r->job->working_directory.len > 0 ? r->job->working_directory.s : NULL,
	    .gpu_type = place->type->name,
	    .gpus = place->id,
	    .node = place->node,
	    .n_gpus = (size_t)r->job->scale_factor,
	    .threads = place->type->threads,
	    .checkpoint_dir = r->checkpoint_dir.s,
	    .progress = r->progress.s,
	    .log = r->log.s,
	    .total_steps = r->job->total_steps,
	    .round = -1,
	    .grace_s = r->o->grace_s,
	    .clean_env = r->o->clean_env,
	    .keep_fd = -1};

	return gv_launch_start(&r->launch, r->o->by, &spec, news);
}

struct measuring *
measure_begin(const struct gv_job *job, const struct measure_place *place,
    const struct measure_options *o, enum measure_state *state, struct gv_error *e)
{
	struct measuring *r = gv_xcalloc(1, sizeof(*r));
	struct gv_error ignored = {0};
	struct gv_launch_news news;

	r->job = job;
	r->o = o;
	r->told = (struct gv_progress_report)GV_PROGRESS_NONE;
	r->start_s = gv_clock_s();
	r->next = all;
	all = r;
	gv_strbuf_fmt(&r->directory, "%s/run.%zu", o->scratch, ++n_begun);
	gv_strbuf_fmt(&r->checkpoint_dir, "%s/checkpoint", r->directory.s);
	gv_strbuf_fmt(&r->progress, "%s/progress", r->directory.s);
	gv_strbuf_fmt(&r->log, "%s/log", r->directory.s);
	*state = MEASURE_GOES_ON;
	if (gv_mkdirs(r->checkpoint_dir.s, e) != 0) {
		*state = MEASURE_BROKEN;
	} else if (launch(r, place, &news) == GV_LAUNCH_NOT_STARTED) {
		*state = MEASURE_ENDED;
		gv_error_set(e, "%s", news.reason);
	}
	if (*state == MEASURE_GOES_ON && o->usage && place->node == NULL)
		r->watch = gv_gpu_watch_new(place->id, (size_t)job->scale_factor);
	if (*state == MEASURE_GOES_ON)
		return r;
	measure_end(r, &ignored);
	return NULL;
}

void
measure_beside(struct measuring *a, struct measuring *b)
{
	a->beside = b;
	b->beside = a;
}

int
measure_end(struct measuring *r, struct gv_error *e)
{
	struct gv_launch_news news;
	int rc;

	gv_launch_stop(r->launch);
	while (r->launch != NULL)
		gv_launch_poll(&r->launch, true, &news);
	rc = scratch_remove(r->directory.s, e);
	forget(r);
	return rc;
}

void
measure_abort(void)
{
	struct gv_error ignored = {0};
	struct measuring *r;

	for (r = all; r != NULL; r = r->next)
		gv_launch_stop(r->launch);
	while (all != NULL)
		measure_end(all, &ignored);
}

/* ---- what comes of it ---- */

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

/* When the window began, or the first report came. */
static double
measured_from(const struct measuring *r)
{
	size_t at = fit_window(&r->o->rule, r->report, r->n);

	if (r->n == 0)
		return r->start_s;
	return r->report[at < r->n ? at : 0].time_s;
}

static void
judge(struct measurement *m, const struct measuring *r)
{
	bool complete;
	bool some =
	    fit_best(&m->fit, &complete, &r->o->rule, r->start_s, r->report, r->n);

	if (m->left && m->status != 0) {
		m->verdict = FAILED;
	} else if (some) {
		m->verdict = complete ? MEASURED : SHORT;
	} else if (m->left && isfinite(r->job->total_steps)) {
		/* done without a word: it has done what there was to do */
		m->verdict = SHORT;
		m->fit = (struct rate_fit){
		    r->job->total_steps / m->ran_s, INFINITY, m->ran_s, 0};
	} else {
		m->verdict = SILENT;
		m->cut |= r->heard; /* it waited for the other one */
	}
	if (m->verdict == SILENT || m->verdict == FAILED)
		m->fit.steps_per_s = 0;
	else
		m->use = gv_gpu_watch_use(r->watch, measured_from(r));
}

/* ---- while it runs ---- */

/* Takes what has been reported: 0, or -1 with *e set. */
static int
listen(struct measuring *r, double now_s, struct gv_error *e)
{
	if (gv_progress_read(r->progress.s, &r->told, e) != 0)
		return -1;
	r->m.ran_s = now_s - r->start_s;
	if (r->told.steps > r->told_last) {
		r->told_last = r->told.steps;
		r->heard = true;
		if (r->beside != NULL && !r->beside->heard)
			return 0;
		r->report = gv_xgrow(r->report, &r->cap, r->n + 1, sizeof(*r->report));
		r->report[r->n++] = (struct report){now_s, r->told.steps};
	}
	return 0;
}

/* Its launch is over. */
static enum measure_state
conclude(struct measuring *r, enum gv_launch_state state,
    const struct gv_launch_news *news, struct measurement *m, struct gv_error *e)
{
	/* where enough is known, how its workers went does not matter any more */
	if (state != GV_LAUNCH_LEFT && !r->enough && *r->o->interrupt == 0) {
		gv_error_set(e, "%s", news->reason);
		return MEASURE_ENDED;
	}
	if (state == GV_LAUNCH_LEFT && news->status == UNSEEN &&
	    news->reason[0] != '\0') {
		gv_error_set(e, "%s", news->reason);
		return MEASURE_BROKEN;
	}
	if (*r->o->interrupt != 0)
		return MEASURE_ENDED;
	judge(&r->m, r);
	read_last_line(&r->m, r->log.s);
	if (r->m.last_line[0] == '\0')
		snprintf(r->m.last_line, sizeof(r->m.last_line), "%.255s", news->reason);
	*m = r->m;
	return MEASURE_DONE;
}

/* Whether the one beside has ended, or is told to, before enough was known of both. */
static bool
beside_left(const struct measuring *r)
{
	const struct measuring *b = r->beside;

	return b != NULL && (b->m.left || (b->stopping && !(b->enough && r->enough)));
}

static bool
beside_enough(const struct measuring *r)
{
	return r->beside == NULL || r->beside->enough;
}

enum measure_state
measure_turn(struct measuring *r, struct measurement *m, struct gv_error *e)
{
	struct gv_launch_news news;
	/* whether it has left first, so that its last report is not missed */
	enum gv_launch_state state = gv_launch_poll(&r->launch, false, &news);
	double now_s = gv_clock_s();

	if (state == GV_LAUNCH_NONE)
		r->start_s = now_s; /* it waits for its turn */
	if (!r->stopping) {
		r->m.left = state == GV_LAUNCH_LEFT;
		r->m.status = news.status;
		if (listen(r, now_s, e) != 0)
			return MEASURE_BROKEN;
		gv_gpu_watch_look(r->watch, now_s);
	}
	if (r->launch == NULL)
		return conclude(r, state, &news, m, e);
	if (r->stopping)
		return MEASURE_GOES_ON;
	r->enough = fit_enough(&r->o->rule, r->report, r->n);
	r->m.cut = r->beside != NULL && r->beside->m.left;
	if (!(r->enough && beside_enough(r)) && !beside_left(r) &&
	    r->m.ran_s < r->o->timeout_s && *r->o->interrupt == 0)
		return MEASURE_GOES_ON;
	r->stopping = true;
	gv_launch_stop(r->launch);
	return MEASURE_GOES_ON;
}
