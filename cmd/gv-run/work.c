/* Jobs arrive, start, report and leave. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "launch/local/local.h"
#include "run.h"

size_t
work_gpus(const struct run *r, const ptrdiff_t *owner, size_t m, size_t *gpu)
{
	size_t n = 0;
	size_t g;

	for (g = 0; g < r->rounds.n_gpus; g++)
		if (gv_rounds_has(&r->rounds, owner[g], m))
			gpu[n++] = g;
	return n;
}

static void
give_back(struct run *r, ptrdiff_t *owner, size_t m)
{
	size_t g;

	for (g = 0; g < r->rounds.n_gpus; g++)
		owner[g] = gv_rounds_leave(&r->rounds, owner[g], m);
}

/* The set of jobs has changed. */
static void
set_changed(struct run *r)
{
	gv_rounds_settle(&r->rounds);
	r->policy.due = true;
	r->fill = true;
}

const char *
job_name(const struct run *r, size_t m, char q[GV_QUOTE_LEN])
{
	return gv_quote(q, r->job[m].spec->id.s, r->job[m].spec->id.len);
}

/* Why a job that gv_rounds_possible refuses can never run. */
static const char *
why_never(const struct run *r, size_t m)
{
	size_t j;

	for (j = 0; j < r->rounds.n_types; j++)
		if (gv_rounds_claim(&r->rounds, m, j)->rate > 0)
			return "no GPU type it runs on has as many GPUs as it needs";
	return "it has no rate above 0 on a GPU type of the cluster";
}

void
work_arrive(struct run *r, size_t m)
{
	struct job *j = &r->job[m];

	j->state = JOB_WAITING;
	j->arrived_s = r->now_s;
	r->rounds.job[m].active = true;
	journal_event(r, GV_EVENT_ARRIVE, (ptrdiff_t)m, j->spec->entity.s);
	if (gv_rounds_possible(&r->rounds, m))
		set_changed(r);
	else
		work_drop(r, m, why_never(r, m));
}

static void
leaves_for_good(struct run *r, size_t m, enum job_state state)
{
	r->job[m].state = state;
	r->rounds.job[m].active = false;
	give_back(r, r->plan, m);
	set_changed(r);
}

void
work_drop(struct run *r, size_t m, const char *reason)
{
	char q[GV_QUOTE_LEN];

	journal_event(r, GV_EVENT_DROP, (ptrdiff_t)m, reason);
	gv_warn("job %s is dropped: %s", job_name(r, m, q), reason);
	leaves_for_good(r, m, JOB_DROPPED);
}

/* ---- starting ---- */

static enum gv_launch_state
launch(struct run *r, size_t m, const size_t *gpu, size_t n, struct gv_launch_news *news)
{
	struct job *j = &r->job[m];
	const struct gv_pool *pool = &r->cluster.pool[r->rounds.gpu_pool[gpu[0]]];
	const struct gv_gpu_type *type = &r->cluster.type[pool->type];
	int *id = gv_xcalloc(n, sizeof(*id));
	struct gv_launch_spec spec = {
	    .job_id = j->spec->id.s,
	    .command = j->spec->command.s,
	    .gpu_type = type->name,
	    .gpus = id,
	    .n_gpus = n,
	    .threads = type->threads,
	    .checkpoint_dir = j->checkpoint_dir,
	    .progress = j->progress,
	    .log = j->log,
	    .total_steps = j->spec->total_steps,
	    .round = r->round,
	    .restart_count = j->launches,
	    .grace_s = r->o->grace_s,
	    .clean_env = r->o->clean_env,
	    .keep_fd = r->workers_fd,
	};
	size_t i;
	char *directory = state_directory_of(r, j);
	enum gv_launch_state state;

	spec.working_directory = directory;
	for (i = 0; i < n; i++) {
		size_t p = r->rounds.gpu_pool[gpu[i]];

		id[i] = gv_pool_id(&r->cluster.pool[p], gpu[i] - r->rounds.pool[p].first);
	}
	state = gv_launch_start(&j->launch, &gv_launch_local, &spec, news);
	free(directory);
	free(id);
	return state;
}

/* The job has failed: is it to be tried again, and when? */
static void
count_failure(struct run *r, size_t m, const char *reason)
{
	struct job *j = &r->job[m];
	double got = fmax(j->report.steps, j->report.checkpoint);
	char why[GV_ERROR_LEN + 128];
	char q[GV_QUOTE_LEN];

	j->failures = got > j->failed_at ? 1 : j->failures + 1;
	j->failed_at = fmax(got, j->failed_at);
	j->state = JOB_WAITING;
	if (j->failures >= r->o->max_failures) {
		snprintf(why, sizeof(why),
		    "%d failure%s in a row without progress, the last: %s; see %s",
		    j->failures, j->failures == 1 ? "" : "s", reason, j->log);
		work_drop(r, m, why);
		return;
	}
	if (!r->o->quiet)
		gv_warn("warning: job %s has failed: %s; see %s", job_name(r, m, q),
		    reason, j->log);
	if (j->failures > 1) { /* at once only the first time */
		j->retry_s = r->now_s + fmin(ldexp(1, j->failures - 2), r->o->round_s);
		give_back(r, r->plan, m);
		r->rounds.job[m].ready = false;
	}
	r->fill = true;
}

static void
start(struct run *r, size_t m, const size_t *gpu, size_t n)
{
	struct job *j = &r->job[m];
	struct gv_launch_news news;
	size_t i;

	if (launch(r, m, gpu, n, &news) == GV_LAUNCH_NOT_STARTED) {
		journal_event(r, GV_EVENT_FAIL, (ptrdiff_t)m, news.reason);
		count_failure(r, m, news.reason);
		return;
	}
	for (i = 0; i < n; i++)
		r->holder[gpu[i]] = gv_rounds_join(&r->rounds, r->holder[gpu[i]], m);
	j->state = JOB_RUNNING;
	journal_gpus(r, j->launches++ == 0 ? GV_EVENT_START : GV_EVENT_RESUME, m, "");
}

/* Starts m, a member of the owner in the plan, when nobody else holds GPUs that it shall have. */
static void
start_member(struct run *r, ptrdiff_t owner, size_t m, size_t *gpu)
{
	ptrdiff_t mate = gv_rounds_leave(&r->rounds, owner, m);
	ptrdiff_t there;
	size_t n;
	size_t i;

	if (r->job[m].state != JOB_WAITING || r->job[m].retry_s > r->now_s)
		return;
	n = work_gpus(r, r->plan, m, gpu);
	there = r->holder[gpu[0]];
	if (there != GV_GPU_IDLE && there != mate)
		return;
	for (i = 0; i < n && r->holder[gpu[i]] == there; i++)
		;
	if (i == n)
		start(r, m, gpu, n);
}

void
work_start_planned(struct run *r)
{
	size_t *gpu = gv_xcalloc(r->rounds.n_gpus + 1, sizeof(*gpu));
	size_t g;

	for (g = 0; g < r->rounds.n_gpus; g++) {
		ptrdiff_t owner = r->plan[g];
		const size_t *member;

		if (owner < 0)
			continue;
		member = r->rounds.job[owner].member;
		start_member(r, owner, member[0], gpu);
		/* if that has failed, the other one may have the GPUs alone now */
		if (member[1] != member[0])
			start_member(r, r->plan[g], member[1], gpu);
	}
	free(gpu);
}

/* ---- stopping and leaving ---- */

void
work_stop(struct run *r, size_t m)
{
	gv_launch_stop(r->job[m].launch);
	r->job[m].state = JOB_STOPPING;
}

static void
read_progress(struct run *r, size_t m)
{
	struct job *j = &r->job[m];
	struct gv_error e = {0};

	if (gv_progress_read(j->progress, &j->report, &e) != 0)
		gv_warn_error(&e);
	if (j->report.checkpoint >= 0 && j->report.checkpoint != j->checkpoint) {
		j->checkpoint = j->report.checkpoint;
		journal_gpus(r, GV_EVENT_CHECKPOINT, m, "");
	}
}

void
work_read_progress(struct run *r)
{
	size_t m;

	r->read_s = r->now_s;
	for (m = 0; m < r->n_jobs; m++)
		if (r->job[m].state == JOB_RUNNING || r->job[m].state == JOB_STOPPING)
			read_progress(r, m);
}

static void
has_left(struct run *r, size_t m, int status, bool told)
{
	struct job *j = &r->job[m];
	enum gv_outcome outcome;
	char reason[64];

	read_progress(r, m);
	snprintf(reason, sizeof(reason), "status %d%s", status,
	    told ? " when told to stop" : "");
	outcome = gv_launch_outcome(status, told, j->report.steps, j->spec->total_steps);
	if (outcome == GV_FAILED && told && r->signal != 0)
		outcome =
		    GV_PREEMPTED; /* we may have killed it: that is not held against it */
	switch (outcome) {
	case GV_FINISHED:
		journal_gpus(r, GV_EVENT_FINISH, m, "");
		give_back(r, r->holder, m);
		leaves_for_good(r, m, JOB_FINISHED);
		break;
	case GV_PREEMPTED:
		journal_gpus(
		    r, GV_EVENT_PREEMPT, m, status == 0 || status == 143 ? "" : reason);
		give_back(r, r->holder, m);
		j->state = JOB_WAITING;
		break;
	case GV_FAILED:
		journal_gpus(r, GV_EVENT_FAIL, m, reason);
		give_back(r, r->holder, m);
		count_failure(r, m, reason);
		break;
	}
}

void
work_reap(struct run *r)
{
	size_t m;

	for (m = 0; m < r->n_jobs; m++) {
		struct gv_launch_news news;

		if (r->job[m].state != JOB_RUNNING && r->job[m].state != JOB_STOPPING)
			continue;
		if (gv_launch_poll(&r->job[m].launch, false, &news) != GV_LAUNCH_LEFT)
			continue;
		if (news.reason[0] != '\0')
			gv_warn("%s", news.reason);
		has_left(r, m, news.status, news.told);
	}
}

bool
work_any(const struct run *r)
{
	size_t m;

	for (m = 0; m < r->n_jobs; m++)
		if (r->job[m].state == JOB_RUNNING || r->job[m].state == JOB_STOPPING)
			return true;
	return false;
}
