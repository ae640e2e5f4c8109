/* The state of a run out of its journal: the events, replayed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "run.h"

enum { LARGEST_JOURNAL = 1 << 30 };

/* Cuts a journal behind its last whole row: a kill can tear the last one. */
static int
cut_torn_line(const char *path, size_t *whole, struct gv_error *e)
{
	bool quoted = false;
	size_t len;
	size_t i;
	char *s;
	int rc = 0;

	*whole = 0;
	if (gv_file_read(path, &s, &len, LARGEST_JOURNAL, e) != 0)
		return -1;
	for (i = 0; i < len; i++) {
		quoted = quoted != (s[i] == '"');
		if (s[i] == '\n' && !quoted)
			*whole = i + 1;
	}
	free(s);
	if (*whole < len && truncate(path, (off_t)*whole) != 0)
		rc = gv_error_sys(e, "%s: cannot cut off a torn line", path);
	return rc;
}

struct replay {
	struct run *r;
	struct gv_hash ids;
	double time_s;
	bool *open; /* [n_jobs] its workers are there */
};

static void
advance(struct replay *p, double time_s)
{
	double dt = time_s - p->time_s;
	size_t m;

	if (!(dt > 0))
		return;
	gv_rounds_pass(&p->r->rounds, dt);
	for (m = 0; m < p->r->n_jobs; m++)
		if (p->open[m])
			gv_rounds_credit(&p->r->rounds, m, p->r->job[m].type, dt);
	p->time_s = time_s;
}

static void
count_old_failure(struct job *j)
{
	double got = fmax(j->report.steps, j->checkpoint);

	j->failures = got > j->failed_at ? 1 : j->failures + 1;
	j->failed_at = fmax(got, j->failed_at);
}

static void
settle(struct replay *p, size_t m, enum job_state state)
{
	p->r->job[m].state = state;
	p->r->rounds.job[m].active = state == JOB_WAITING;
	gv_rounds_settle(&p->r->rounds);
}

static void
replay_job(struct replay *p, const struct gv_event *ev, size_t m)
{
	struct run *r = p->r;
	struct job *j = &r->job[m];
	ptrdiff_t type = gv_cluster_find(&r->cluster, ev->gpu_type);

	if (ev->kind != GV_EVENT_ARRIVE && ev->kind != GV_EVENT_CHECKPOINT &&
	    !isnan(ev->steps))
		j->report.steps = ev->steps;
	switch (ev->kind) {
	case GV_EVENT_ARRIVE:
		j->arrived_s = ev->time_s;
		settle(p, m, JOB_WAITING);
		break;
	case GV_EVENT_ALLOCATE:
		if (type >= 0) {
			gv_rounds_claim(&r->rounds, m, (size_t)type)->share = ev->share;
			r->told[m * r->rounds.n_types + (size_t)type] = ev->share;
			gv_rounds_settle(&r->rounds);
		}
		break;
	case GV_EVENT_START:
	case GV_EVENT_RESUME:
		j->launches++;
		p->open[m] = type >= 0;
		j->type = type >= 0 ? (size_t)type : 0;
		break;
	case GV_EVENT_CHECKPOINT:
		j->checkpoint = ev->steps;
		break;
	case GV_EVENT_FAIL:
		count_old_failure(j);
		p->open[m] = false;
		break;
	case GV_EVENT_PREEMPT:
		p->open[m] = false;
		break;
	case GV_EVENT_FINISH:
	case GV_EVENT_DROP:
		p->open[m] = false;
		settle(p, m, ev->kind == GV_EVENT_FINISH ? JOB_FINISHED : JOB_DROPPED);
		break;
	default:
		break;
	}
}

static void
replay(struct replay *p, const struct gv_events *events)
{
	size_t i;

	for (i = 0; i < events->n; i++) {
		const struct gv_event *ev = &events->event[i];
		ptrdiff_t m = gv_hash_find(&p->ids, ev->job_id.s, ev->job_id.len);

		advance(p, ev->time_s);
		if (ev->round > p->r->round)
			p->r->round = ev->round;
		if (m >= 0 && ev->job_id.len > 0)
			replay_job(p, ev, (size_t)m);
	}
}

/* Time goes on where it was, plus the time that gv-run was away. */
static void
set_clock(struct replay *p)
{
	struct run *r = p->r;
	double epoch_s;
	double alive_s;
	double now_s = p->time_s;
	int64_t round;

	if (state_read_clock(r, &epoch_s, &alive_s, &round) == 0) {
		/* what ran when gv-run died ran until then, as far as anybody knows */
		advance(p, alive_s);
		now_s = fmax(p->time_s, gv_now_s() - epoch_s);
		if (round > r->round)
			r->round = round;
	}
	r->now_s = p->time_s;
	r->restart_s = fmax(p->time_s, floor(now_s * 1000) / 1000);
	r->zero_s = gv_clock_s() - now_s;
}

static void
close_open_runs(struct replay *p)
{
	size_t m;

	for (m = 0; m < p->r->n_jobs; m++)
		if (p->open[m])
			journal_event(
			    p->r, GV_EVENT_PREEMPT, (ptrdiff_t)m, "gv-run was killed");
}

int
restore(struct run *r, struct gv_error *e)
{
	struct replay p = {.r = r};
	struct gv_events events = {0};
	struct gv_frame f = {0};
	char *path = state_path(r, "events.csv");
	size_t whole;
	size_t m;
	int rc = 0;

	p.open = gv_xcalloc(r->n_jobs + 1, sizeof(*p.open));
	for (m = 0; m < r->n_jobs; m++)
		gv_hash_add(&p.ids, r->job[m].spec->id.s, r->job[m].spec->id.len);
	if (access(path, F_OK) == 0) {
		rc = cut_torn_line(path, &whole, e);
		if (rc == 0 && whole > 0)
			rc = gv_frame_load(&f, path, e) == 0
				 ? gv_events_from(&events, &f, e)
				 : -1;
	}
	if (rc == 0) {
		replay(&p, &events);
		r->restored = events.n > 0;
		if (r->restored)
			set_clock(&p);
	}
	if (rc == 0)
		rc = journal_open(r, e);
	if (rc == 0)
		close_open_runs(&p);
	gv_events_free(&events);
	gv_hash_free(&p.ids);
	free(p.open);
	free(path);
	return rc;
}
