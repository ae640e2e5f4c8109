#include "status.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "align.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "gv-run/core/jobs.h"
#include "gv-run/live/control.h"
#include "gv-run/live/spool.h"
#include "gv-run/live/submit.h"
#include "gv-run/state/clock.h"
#include "gv-run/state/files.h"
#include "gv-run/state/restore.h"
#include "gv-run/state/state.h"
#include "launch/progress.h"
#include "table/tab.h"

/* ---- reading ---- */

/* The time of the run, when it was written down last; else that of its last event. */
static double
time_of(const struct state *s, const struct gv_life *l)
{
	struct clock c;

	if (clock_read(s->clock_fd, &c) != 0)
		return l->now_s;
	return fmax(c.now_s, l->now_s);
}

static int
read_tables(struct jobs *jobs, const struct state *s, const struct settings *o,
    struct gv_error *e)
{
	char *table = state_path(s, "jobs.csv"), *pools = state_path(s, "cluster.csv");
	struct gv_frame f = {0};
	int rc = -1;

	if (!state_has(s, "jobs.csv"))
		gv_error_set(e, "%s: holds no run", o->state);
	else if (gv_cluster_read(&jobs->cluster, pools, e) == 0 &&
		 gv_frame_load(&f, table, e) == 0)
		rc = gv_rates_from(&jobs->table, &f, &jobs->cluster, e);
	free(table);
	free(pools);
	if (rc != 0)
		return -1;
	gv_rates_spread(&jobs->table, &jobs->cluster);
	jobs_make(jobs, o, NULL);
	return 0;
}

/* ---- writing ---- */

static const char *const column[] = {"job_id", "state", "gpu_type", "gpus", "steps",
    "total_steps", "steps_per_s", "share", "received_share", "eta_s"};

static const char *const state_name[GV_LIFE_STATES] = {[GV_LIFE_LATER] = "later",
    [GV_LIFE_WAITING] = "waiting",
    [GV_LIFE_HELD] = "held",
    [GV_LIFE_STARTING] = "starting",
    [GV_LIFE_RUNNING] = "running",
    [GV_LIFE_STOPPING] = "stopping",
    [GV_LIFE_KILLING] = "stopping",
    [GV_LIFE_FINISHED] = "finished",
    [GV_LIFE_DROPPED] = "dropped"};

/* What a job is promised and has received, alone and beside others. */
struct part {
	double share;      /* of the time */
	double rate;       /* steps/s that come of it */
	double received_s; /* gang time */
};

static struct part *
parts(const struct gv_life *l)
{
	struct part *part = gv_xcalloc(l->n_jobs + 1, sizeof(*part));
	size_t m, j, k;

	for (m = 0; m < l->rounds.n_jobs; m++)
		for (j = 0; j < l->rounds.n_types; j++) {
			const struct gv_round_claim *c =
			    gv_rounds_claim(&l->rounds, m, j);
			const size_t *member = l->rounds.job[m].member;

			for (k = 0; k < 1 + (size_t)(member[0] != member[1]); k++) {
				struct part *p = &part[member[k]];

				p->share += c->share;
				p->rate += c->share * (k == 0 ? c->rate : c->with_rate);
				p->received_s += c->received_s;
			}
		}
	return part;
}

static void
write_gpus(struct gv_tabw *w, const struct jobs *jobs, const struct gv_life_job *j)
{
	struct gv_strbuf ids = {0};
	size_t i;

	for (i = 0; i < j->n_gpus; i++)
		gv_strbuf_fmt(&ids, "%s%d", i > 0 ? ";" : "",
		    gv_life_gpu_id(&jobs->names, &jobs->life, j->gpu[i]));
	gv_tabw_str(w, j->n_gpus > 0 ? jobs->cluster.type[j->type].name : "");
	gv_tabw_str(w, ids.len > 0 ? ids.s : "");
	gv_strbuf_free(&ids);
}

/* What a job has told, also what no event tells yet. */
static double
steps_of(const struct jobs *jobs, const char *dir, size_t m)
{
	struct gv_progress_report told = GV_PROGRESS_NONE;
	struct gv_error e = {0};
	char *path;

	if (gv_life_is_open(&jobs->life, m)) {
		path = files_progress(dir, jobs->table.job[m].id);
		(void)gv_progress_read(path, &told, &e);
		free(path);
	}
	return fmax(jobs->life.job[m].steps, told.steps);
}

static void
write_job(struct gv_tabw *w, const struct jobs *jobs, const char *dir, size_t m,
    const struct part *p, double now_s)
{
	const struct gv_life *l = &jobs->life;
	const struct gv_life_job *j = &l->job[m];
	bool open = gv_life_is_open(l, m);
	bool over = j->state == GV_LIFE_FINISHED || j->state == GV_LIFE_DROPPED;
	bool there = !over && j->state != GV_LIFE_LATER;
	double steps = steps_of(jobs, dir, m),
	       left = j->spec.total_steps - fmax(steps, 0);

	gv_tabw_cell(w, jobs->table.job[m].id);
	gv_tabw_str(w, state_name[j->state]);
	write_gpus(w, jobs, j);
	gv_tabw_double(w, steps >= 0 ? steps : NAN);
	gv_tabw_double(w, j->spec.total_steps);
	/* it may have GPUs that the cluster did not have yet, or has no more */
	gv_tabw_double(w, open && j->n_gpus > 0 ? gv_life_rate(l, m) : NAN);
	gv_tabw_double(w, there ? p->share : NAN);
	gv_tabw_double(w, there && now_s > j->arrived_s
			      ? fmin(1, p->received_s / (now_s - j->arrived_s))
			      : NAN);
	gv_tabw_double(w, there && p->rate > 0 ? fmax(0, left) / p->rate : NAN);
	gv_tabw_end(w);
}

static void
write_jobs(
    const struct jobs *jobs, const char *dir, bool tsv, double now_s, struct gv_out *out)
{
	struct part *part = parts(&jobs->life);
	struct gv_tabw w;
	size_t i;

	gv_tabw_init(&w, out, tsv);
	for (i = 0; i < sizeof(column) / sizeof(column[0]); i++)
		gv_tabw_str(&w, column[i]);
	gv_tabw_end(&w);
	for (i = 0; i < jobs->life.n_jobs; i++)
		write_job(&w, jobs, dir, i, &part[i], now_s);
	free(part);
}

/* The same for people. */
static int
write_aligned(const struct jobs *jobs, const char *dir, double now_s, struct gv_out *out,
    struct gv_error *e)
{
	struct gv_strbuf text = {0};
	struct gv_out *table = gv_out_memory(&text);
	struct gv_frame f = {0};
	int rc;

	write_jobs(jobs, dir, false, now_s, table);
	rc = gv_out_close(table, e);
	if (rc == 0)
		rc = gv_frame_parse(&f, "status", text.s, text.len, e);
	if (rc == 0)
		align_write(&f, out);
	gv_frame_free(&f);
	gv_strbuf_free(&text);
	return rc;
}

/* ---- what else a user should know ---- */

static const char *
plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* That what is said is of the past, unless all is done. */
static void
say_if_dead(const struct state *s, const struct gv_life *l)
{
	struct clock c;
	char at[64] = "";

	if (gv_life_done(l) || state_is_alive(s))
		return;
	if (clock_read(s->clock_fd, &c) == 0) {
		time_t t = (time_t)(c.epoch_s + c.now_s);
		struct tm local;

		if (localtime_r(&t, &local) != NULL)
			strftime(at, sizeof(at),
			    "; this is how it was on %Y-%m-%d %H:%M:%S", &local);
	}
	gv_warn("%s: no gv-run runs here%s", s->dir, at);
}

static void
say_waiting(const struct state *s)
{
	size_t submissions = spool_count(s->dir, submit_spool);
	size_t requests = spool_count(s->dir, control_spool);
	size_t refused = spool_refused(s->dir, submit_spool);

	if (submissions > 0)
		gv_warn("%s: %zu submission%s to be taken", s->dir, submissions,
		    plural(submissions));
	if (requests > 0)
		gv_warn(
		    "%s: %zu request%s to be done", s->dir, requests, plural(requests));
	if (refused > 0)
		gv_warn("%s: %zu submission%s refused; why is in %s/%s/*.refused", s->dir,
		    refused, plural(refused), s->dir, submit_spool);
}

int
status_write(
    const struct settings *o, struct gv_out *out, bool aligned, struct gv_error *e)
{
	struct state s = STATE_NONE;
	struct jobs jobs = {0};
	struct gv_strbuf clock = {0};
	double now_s;
	int rc;

	s.dir = gv_xstrdup(o->state);
	rc = read_tables(&jobs, &s, o, e);
	if (rc == 0)
		rc = restore_view(&jobs, s.dir, e);
	if (rc == 0) {
		gv_strbuf_fmt(&clock, "%s/clock", s.dir);
		s.clock_fd = open(clock.s, O_RDONLY | O_CLOEXEC);
		now_s = time_of(&s, &jobs.life);
		gv_rounds_at(&jobs.life.rounds, now_s);
		gv_rounds_count(&jobs.life.rounds);
		if (aligned)
			rc = write_aligned(&jobs, s.dir, now_s, out, e);
		else
			write_jobs(&jobs, s.dir, o->tsv, now_s, out);
		if (!o->quiet) {
			gv_out_flush(out);
			say_if_dead(&s, &jobs.life);
			say_waiting(&s);
		}
		if (s.clock_fd != -1)
			close(s.clock_fd);
	}
	gv_strbuf_free(&clock);
	free(s.dir);
	jobs_free(&jobs);
	return rc;
}
