#include "work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "gv-run/core/signals.h"

void
work_grow(struct work *w, const struct files *files, size_t n)
{
	size_t i;

	w->worker = gv_xrealloc(w->worker, w->n + n + 1, sizeof(*w->worker));
	w->log = gv_xrealloc(w->log, w->n + n + 1, sizeof(*w->log));
	for (i = 0; i < n; i++, w->n++) {
		w->worker[w->n] =
		    (struct worker){.files = files[i], .report = GV_PROGRESS_NONE};
		w->log[w->n] = files[i].log;
	}
}

int
work_open(struct work *w, const struct settings *o, const struct state *state,
    struct jobs *jobs, const struct gv_launcher *by, struct gv_error *e)
{
	size_t n = jobs->table.n_jobs;
	struct files *files = gv_xcalloc(n + 1, sizeof(*files));
	size_t m;
	int rc = 0;

	*w = (struct work){.o = o, .state = state, .jobs = jobs, .by = by};
	for (m = 0; m < n && rc == 0; m++)
		rc = files_name(&files[m], state, jobs->table.job[m].id, e);
	work_grow(w, files, n);
	free(files);
	return rc;
}

void
work_close(struct work *w)
{
	size_t m;

	for (m = 0; m < w->n; m++)
		files_free(&w->worker[m].files);
	free(w->worker);
	free(w->log);
	free(w->up);
	*w = (struct work){0};
}

/* ---- starting and stopping ---- */

/* Where its files are, which are made first. */
static enum gv_launch_state
begin(struct work *w, size_t m, const struct gv_launch_spec *spec,
    struct gv_launch_news *news)
{
	struct gv_error e = {0};
	enum gv_launch_state state;

	if (files_make(&w->worker[m].files, &e) != 0) {
		*news = (struct gv_launch_news){.state = GV_LAUNCH_NOT_STARTED};
		snprintf(news->reason, sizeof(news->reason), "%s", e.text[0]);
		return news->state;
	}
	umask(w->state->user_mask); /* what jobs write is theirs */
	state = gv_launch_start(&w->worker[m].launch, w->by, spec, news);
	umask(077);
	return state;
}

static enum gv_launch_state
launch(struct work *w, size_t m, const size_t *gpu, size_t n, struct gv_launch_news *news)
{
	const struct gv_life *l = &w->jobs->life;
	const struct gv_job *job = &w->jobs->table.job[m];
	const struct gv_pool *pool = gv_life_gpu_pool(&w->jobs->names, l, gpu[0]);
	const struct gv_gpu_type *type = &w->jobs->cluster.type[pool->type];
	const char **node = gv_xcalloc(n, sizeof(*node));
	int *id = gv_xcalloc(n, sizeof(*id));
	char *directory = state_directory_of(w->state, job);
	struct gv_launch_spec spec = {
	    .job_id = job->id.s,
	    .command = job->command.s,
	    .working_directory = directory,
	    .gpu_type = type->name,
	    .gpus = id,
	    .node = w->o->launcher == LAUNCHER_SLURM ? node : NULL,
	    .n_gpus = n,
	    .threads = type->threads,
	    .checkpoint_dir = w->worker[m].files.checkpoint_dir,
	    .progress = w->worker[m].files.progress,
	    .log = w->worker[m].files.log,
	    .total_steps = job->total_steps,
	    .round = l->round,
	    .restart_count = l->job[m].launches,
	    .grace_s = w->o->grace_s,
	    .clean_env = w->o->clean_env,
	    .keep_fd = w->state->workers_fd,
	};
	enum gv_launch_state state;
	size_t i;

	w->worker[m].begun = w->worker[m].report.steps;
	w->worker[m].stepped = false;
	for (i = 0; i < n; i++) {
		id[i] = gv_life_gpu_id(&w->jobs->names, l, gpu[i]);
		node[i] = gv_life_gpu_pool(&w->jobs->names, l, gpu[i])->node;
	}
	state = begin(w, m, &spec, news);
	free(directory);
	free(node);
	free(id);
	return state;
}

/* In the order of the table, which events of one moment have. */
static void
remember(struct work *w, size_t m)
{
	size_t i = w->n_up;

	w->up = gv_xgrow(w->up, &w->cap_up, w->n_up + 1, sizeof(*w->up));
	for (; i > 0 && w->up[i - 1] > m; i--)
		w->up[i] = w->up[i - 1];
	w->up[i] = m;
	w->n_up++;
}

/* The same reason is said once. */
static void
say_refusal(struct work *w, size_t m, const char *reason)
{
	char q[GV_QUOTE_LEN];

	if (strcmp(w->refusal, reason) == 0)
		return;
	gv_warn("warning: job %s cannot be launched: %s; it will be tried again",
	    jobs_name(w->jobs, m, q), reason);
	snprintf(w->refusal, sizeof(w->refusal), "%s", reason);
}

/* A launch that could not be made is no failure of the job. */
static void
refused(struct work *w, size_t m, const struct gv_launch_news *news)
{
	if (!news->told)
		say_refusal(w, m, news->reason);
	gv_life_not_started(&w->jobs->life, m);
}

/* The same, of a launch whose shell could not go on. */
static void
starved(struct work *w, size_t m, int status)
{
	say_refusal(w, m, "its shell cannot fork");
	gv_life_starved(&w->jobs->life, m, status);
}

static void
start(struct work *w, size_t m, const struct gv_life_row *row)
{
	struct gv_launch_news news;
	enum gv_launch_state state;

	/* thousands take their time to launch; those that are left would be stopped at once */
	if (signals_first() != 0) {
		gv_life_not_started(&w->jobs->life, m);
		return;
	}
	state = launch(w, m, row->gpu, row->n_gpus, &news);
	if (w->worker[m].launch != NULL)
		remember(w, m);
	switch (state) {
	case GV_LAUNCH_UP:
		gv_life_started(&w->jobs->life, m);
		break;
	case GV_LAUNCH_NOT_STARTED:
		refused(w, m, &news);
		break;
	default: /* under way */
		break;
	}
}

void
work_do(struct work *w, const struct gv_life_out *out)
{
	size_t m = (size_t)out->row.job;

	switch (out->kind) {
	case GV_LIFE_START:
		start(w, m, &out->row);
		break;
	case GV_LIFE_STOP:
		gv_launch_stop(w->worker[m].launch);
		break;
	case GV_LIFE_KILL:
		gv_launch_kill(w->worker[m].launch);
		break;
	default:
		break;
	}
}

/* ---- listening ---- */

static void
read_progress_of(struct work *w, size_t m, bool is_open)
{
	struct gv_progress_report *r = &w->worker[m].report;
	struct gv_error e = {0};
	bool bad = gv_progress_read(w->worker[m].files.progress, r, &e) != 0;

	if (bad && !w->worker[m].unreadable)
		gv_warn_error(&e);
	w->worker[m].unreadable = bad;
	gv_life_report(&w->jobs->life, m, r->steps, r->checkpoint);
	if (!is_open || w->worker[m].stepped || r->steps == w->worker[m].begun)
		return;
	w->worker[m].stepped = true;
	w->worker[m].fruitless = 0;
	gv_life_stepped(&w->jobs->life, m);
}

void
work_read_progress(struct work *w)
{
	enum { AT_ONCE = 100 };
	const struct gv_life *l = &w->jobs->life;
	size_t n = l->n_open < AT_ONCE ? l->n_open : AT_ONCE;
	size_t i;

	/* a first step is awaited to the half second; the others take turns */
	for (i = 0; i < l->n_open; i++)
		if (!w->worker[l->open[i]].stepped)
			read_progress_of(w, l->open[i], true);
	for (i = 0; i < n; i++, w->turn++) {
		size_t m = l->open[w->turn % l->n_open];

		if (w->worker[m].stepped)
			read_progress_of(w, m, true);
	}
}

void
work_read_all_progress(struct work *w)
{
	size_t m;

	for (m = 0; m < w->jobs->table.n_jobs; m++)
		if (w->jobs->life.job[m].launches > 0)
			read_progress_of(w, m, false);
}

/* Seconds, as a person would say: 20s, 2m. */
static void
say_time(char *buf, size_t size, double s)
{
	if (s <= 55)
		snprintf(buf, size, "%.0fs", ceil(s / 5) * 5);
	else
		snprintf(buf, size, "%.0fm", ceil(s / 60));
}

/* Starts that came to nothing: rounds are too short for it. */
static void
count_fruitless(struct work *w, size_t m)
{
	enum { MANY = 3 };
	const struct gv_life_job *j = &w->jobs->life.job[m];
	struct worker *k = &w->worker[m];
	char q[GV_QUOTE_LEN], known[64] = "", round[16];
	double cost_s;

	if (k->stepped)
		return;
	k->waited_s = fmax(k->waited_s, w->jobs->life.now_s - j->launched_s);
	/* less than a second in all may be a busy machine's */
	if (++k->fruitless < MANY || k->waited_s * k->fruitless < 1 || k->told ||
	    w->o->quiet)
		return;
	k->told = true;
	cost_s = fmax(k->waited_s, j->startup_s);
	say_time(round, sizeof(round), 10 * cost_s);
	if (j->startup_s > 0)
		snprintf(known, sizeof(known), ", first step after %.3g s", j->startup_s);
	gv_warn("warning: job %s was started %d times without a step: round of %.6g "
		"s%s: use --round=%s",
	    jobs_name(w->jobs, m, q), k->fruitless, w->o->round_s, known, round);
}

/* What has become of a launch. */
static void
look(struct work *w, size_t m)
{
	struct gv_life *l = &w->jobs->life;
	struct gv_launch_news news;
	enum gv_launch_state state = gv_launch_poll(&w->worker[m].launch, false, &news);
	char q[GV_QUOTE_LEN];

	if (state == GV_LAUNCH_NONE)
		return;
	if (state == GV_LAUNCH_NOT_STARTED) {
		refused(w, m, &news);
		return;
	}
	if (l->job[m].state == GV_LIFE_STARTING)
		gv_life_started(l, m);
	if (state == GV_LAUNCH_UP)
		return;
	if (news.reason[0] != '\0')
		gv_warn("job %s: %s", jobs_name(w->jobs, m, q), news.reason);
	read_progress_of(w, m, true);
	if (news.told)
		count_fruitless(w, m);
	if (state == GV_LAUNCH_LOST)
		gv_life_lost(l, m, news.reason);
	else if (news.starved)
		starved(w, m, news.status);
	else
		gv_life_left(l, m, news.status);
}

void
work_end(struct work *w, bool at_once)
{
	int told = at_once ? 2 : 1;
	size_t i;

	if (w->told >= told)
		return;
	w->told = told;
	for (i = 0; i < w->n_up; i++) {
		struct gv_launch *l = w->worker[w->up[i]].launch;

		if (w->jobs->life.job[w->up[i]].state != GV_LIFE_STARTING)
			continue;
		if (at_once)
			gv_launch_kill(l);
		else
			gv_launch_stop(l);
	}
}

void
work_reap(struct work *w)
{
	struct gv_launch **l = gv_xcalloc(w->n_up + 1, sizeof(*l));
	bool *changed = gv_xcalloc(w->n_up + 1, sizeof(*changed));
	size_t i, n = 0;

	for (i = 0; i < w->n_up; i++)
		l[i] = w->worker[w->up[i]].launch;
	gv_launch_changed(l, w->n_up, changed);
	for (i = 0; i < w->n_up; i++) {
		size_t m = w->up[i];

		if (changed[i])
			look(w, m);
		if (w->worker[m].launch != NULL)
			w->up[n++] = m;
	}
	w->n_up = n;
	free(changed);
	free(l);
}
