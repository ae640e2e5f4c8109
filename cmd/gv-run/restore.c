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
	bool *open;   /* [n_jobs] its workers are there */
	size_t *type; /* [n_jobs] on which type, or were last */
	/* [n_jobs] with whom it shares GPUs while both are there, -1 = none */
	ptrdiff_t *mate;
};

/* What a job runs as: itself, or its pair while the other one is there, too. */
static size_t
runs_as(const struct replay *p, size_t m)
{
	ptrdiff_t mate = p->mate[m];
	ptrdiff_t pair = -1;

	if (mate >= 0 && p->open[mate] && p->mate[mate] == (ptrdiff_t)m)
		pair = gv_rounds_find_pair(&p->r->rounds, m, (size_t)mate);
	return pair >= 0 ? (size_t)pair : m;
}

static void
advance(struct replay *p, double time_s)
{
	double dt = time_s - p->time_s;
	size_t m;

	if (!(dt > 0))
		return;
	gv_rounds_pass(&p->r->rounds, dt);
	for (m = 0; m < p->r->n_jobs; m++) {
		size_t as = runs_as(p, m);

		/* a pair once, when its first member is looked at */
		if (p->open[m] && p->r->rounds.job[as].member[0] == m)
			gv_rounds_credit(&p->r->rounds, as, p->type[m], dt);
	}
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

static ptrdiff_t
job_of(const struct replay *p, struct gv_cell id)
{
	return id.len > 0 ? gv_hash_find(&p->ids, id.s, id.len) : -1;
}

static void
replay_start(struct replay *p, const struct gv_event *ev, size_t m, ptrdiff_t type)
{
	ptrdiff_t before = p->mate[m];

	p->r->job[m].launches++;
	p->open[m] = type >= 0;
	p->type[m] = type >= 0 ? (size_t)type : 0;
	if (before >= 0 && p->mate[before] == (ptrdiff_t)m)
		p->mate[before] = -1;
	p->mate[m] = job_of(p, ev->with_job_id);
	if (p->mate[m] >= 0)
		p->mate[p->mate[m]] = (ptrdiff_t)m;
}

/* A share of the job, or of its pair with another one. */
static void
replay_share(struct replay *p, const struct gv_event *ev, size_t m, ptrdiff_t type)
{
	struct run *r = p->r;
	ptrdiff_t with = job_of(p, ev->with_job_id);
	ptrdiff_t as = (ptrdiff_t)m;

	if (ev->with_job_id.len > 0)
		as = with < 0 ? -1 : gv_rounds_find_pair(&r->rounds, m, (size_t)with);
	if (as < 0 || type < 0)
		return;
	gv_rounds_claim(&r->rounds, (size_t)as, (size_t)type)->share = ev->share;
	r->told[(size_t)as * r->rounds.n_types + (size_t)type] = ev->share;
	gv_rounds_settle(&r->rounds);
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
		replay_share(p, ev, m, type);
		break;
	case GV_EVENT_START:
	case GV_EVENT_RESUME:
		replay_start(p, ev, m, type);
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
		ptrdiff_t m = job_of(p, ev->job_id);

		advance(p, ev->time_s);
		if (ev->round > p->r->round)
			p->r->round = ev->round;
		if (m >= 0)
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

/*
 * Whether events say who shares GPUs: once that can come up.  A journal that did not
 * so far is written anew with the column.
 */
static int
add_column(
    struct run *r, const struct gv_events *events, const char *path, struct gv_error *e)
{
	bool has = gv_frame_find(&events->frame, "with_job_id") >= 0;
	struct gv_out *out;
	struct gv_tabw w;
	size_t i;

	r->journal.pairs = has || r->rounds.pairs.n > 0 || r->policy.own;
	if (has || !r->journal.pairs || events->n == 0)
		return 0;
	if (gv_out_open(&out, path, e) != 0)
		return -1;
	gv_tabw_init(&w, out, false);
	gv_events_write_header_with(&w);
	for (i = 0; i < events->n; i++)
		gv_events_write_with(&w, &events->event[i]);
	return gv_out_close(out, e);
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
	p.type = gv_xcalloc(r->n_jobs + 1, sizeof(*p.type));
	p.mate = gv_xcalloc(r->n_jobs + 1, sizeof(*p.mate));
	for (m = 0; m < r->n_jobs; m++) {
		p.mate[m] = -1;
		gv_hash_add(&p.ids, r->job[m].spec->id.s, r->job[m].spec->id.len);
	}
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
		rc = add_column(r, &events, path, e);
	if (rc == 0)
		rc = journal_open(r, e);
	if (rc == 0)
		close_open_runs(&p);
	gv_events_free(&events);
	gv_hash_free(&p.ids);
	free(p.open);
	free(p.type);
	free(p.mate);
	free(path);
	return rc;
}
