#include "history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "known.h"
#include "lanes.h"

const char *
job_state_name(enum job_state state)
{
	static const char *const name[JOB_STATES] = {
	    "waiting", "running", "preempted", "failed", "finished", "dropped"};

	return name[state];
}

double
job_active_s(const struct history *h, const struct job *j)
{
	return (isnan(j->left_s) ? h->last_s : j->left_s) - j->arrival_s;
}

/* ---- events ---- */

/* Accounts for the GPUs that a type has had so far. */
static void
settle_type(struct history *h, struct gpu_type *t, double now)
{
	if (h->over != NULL)
		over_time_available(
		    h->over, (size_t)(t - h->type), t->since_s, now, (double)t->gpus);
	t->available_gpu_s += (double)t->gpus * (now - t->since_s);
	t->since_s = now;
}

/* A pool replaces an earlier one of the same type and node. */
static void
take_pool(struct history *h, const struct gv_event *ev)
{
	size_t type = history_type(h, ev->gpu_type),
	       len = ev->gpu_type.len + 1 + ev->node.len;
	char *key = gv_xcalloc(len, 1);
	bool is_new;
	size_t i;

	if (ev->gpu_type.len > 0)
		memcpy(key, ev->gpu_type.s, ev->gpu_type.len);
	if (ev->node.len > 0)
		memcpy(key + ev->gpu_type.len + 1, ev->node.s, ev->node.len);
	i = history_number(h, &h->pools, key, len, &is_new);
	free(key);
	if (is_new) {
		h->pool = gv_xgrow(h->pool, &h->cap_pools, i + 1, sizeof(*h->pool));
		h->pool[i] = (struct pool){type, 0};
		h->n_pools = i + 1;
	}
	settle_type(h, &h->type[type], ev->time_s);
	h->type[type].gpus -= h->pool[i].gpus;
	h->pool[i].gpus = history_count_gpus(ev->gpus);
	h->type[type].gpus += h->pool[i].gpus;
	if (ev->gpus.len > 0)
		history_lanes(h, ev, type, NULL);
}

static void
settle_share(struct use *u, double now)
{
	u->promised_s += u->share * (now - u->share_since_s);
	u->share_since_s = now;
}

/* Steps as reported; those done in a run count for the type it is on. */
static void
take_steps(struct job *j, double steps, double now)
{
	double before = isnan(j->steps) ? 0 : j->steps;

	if (isnan(steps))
		return;
	if (steps < before)
		j->steps_lost += before - steps;
	else if (j->on != NULL) {
		j->on->steps =
		    (isnan(j->on->steps) ? 0 : j->on->steps) + (steps - before);
		j->on->steps_s += now - j->mark_s;
	}
	if (j->on != NULL)
		j->mark_s = now;
	j->steps = steps;
}

static void
open_run(struct history *h, struct job *j, const struct gv_event *ev)
{
	size_t type = history_type(h, ev->gpu_type);

	take_steps(j, ev->steps, ev->time_s);
	j->on = history_use(h, j, type);
	j->since_s = j->mark_s = ev->time_s;
	j->run_gpus = ev->gpus.len > 0 ? history_count_gpus(ev->gpus) : 1;
	if (j->run_gpus > j->gpus)
		j->gpus = j->run_gpus;
	if (isnan(j->start_s))
		j->start_s = ev->time_s;
	j->launches++;
	j->state = JOB_RUNNING;
	h->type[type].runs++;
	j->run = 0;
	if (ev->gpus.len > 0 || h->keep_runs)
		history_lanes(h, ev, type, j);
}

/* Credits the open run up to now. */
static void
settle_run(struct history *h, struct job *j, double now)
{
	double s = now - j->since_s, gpu_s = s * (double)j->run_gpus;
	size_t i;

	if (h->over != NULL)
		over_time_run(h->over, (size_t)(j - h->job), j->entity_no, j->since_s,
		    now, j->run_gpus, j->lane, j->n_lanes);
	j->running_s += s;
	j->gpu_s += gpu_s;
	j->on->running_s += s;
	j->on->gpu_s += gpu_s;
	h->type[j->on->type].busy_gpu_s +=
	    j->n_lanes > 0
		? history_leave_lanes(h, j, now)
		: history_were_busy(h, j->on->type, j->since_s, now, (double)j->run_gpus);
	j->since_s = now;
	for (i = j->run; i > 0; i = h->run[i - 1].next)
		h->run[i - 1].end_s = now;
}

static void
end_run(struct history *h, struct job *j, double steps, double now)
{
	take_steps(j, steps, now);
	if (j->on == NULL)
		return;
	settle_run(h, j, now);
	j->on = NULL;
}

/* ---- what two jobs are promised together ---- */

static void
settle_joint(struct joint *b, double now)
{
	b->use[0]->promised_s += b->share * (now - b->since_s);
	b->use[1]->promised_s += b->share * (now - b->since_s);
	b->since_s = now;
}

static struct joint *
joint_of(struct history *h, size_t one, size_t other, size_t type)
{
	const size_t key[3] = {
	    one < other ? one : other, one < other ? other : one, type};
	ptrdiff_t known = gv_hash_find(&h->joints, (const char *)key, sizeof(key));
	char *kept;
	struct joint *b;
	size_t n;
	int i;

	if (known >= 0)
		return &h->joint[known];
	kept = gv_arena_alloc(&h->arena, 1, sizeof(key));
	memcpy(kept, key, sizeof(key));
	n = gv_hash_add(&h->joints, kept, sizeof(key));
	h->joint = gv_xgrow(h->joint, &h->cap_joints, n + 1, sizeof(*h->joint));
	b = &h->joint[n];
	*b = (struct joint){.second = key[1]};
	for (i = 0; i < 2; i++) {
		struct job *j = &h->job[key[i]];

		b->use[i] = history_use(h, j, type);
		b->next[i] = j->joint;
		j->joint = n + 1;
	}
	return b;
}

static void
take_share(struct history *h, const struct gv_event *ev)
{
	size_t type = history_type(h, ev->gpu_type);
	size_t one = (size_t)(history_job(h, &ev->job_id, ev->time_s) - h->job);
	struct joint *b;
	struct use *u;
	size_t other;

	if (ev->with_job_id.len == 0) {
		u = history_use(h, &h->job[one], type);
		settle_share(u, ev->time_s);
		u->share = isnan(h->job[one].left_s) ? ev->share : 0;
		return;
	}
	other = (size_t)(history_job(h, &ev->with_job_id, ev->time_s) - h->job);
	b = joint_of(h, one, other, type);
	settle_joint(b, ev->time_s);
	b->share =
	    isnan(h->job[one].left_s) && isnan(h->job[other].left_s) ? ev->share : 0;
}

/* Finished or dropped: nothing is promised any more. */
static void
leave(struct history *h, struct job *j, enum job_state state, double now)
{
	size_t me = (size_t)(j - h->job);
	struct joint *b;
	struct use *u;
	size_t i;

	for (i = j->joint; i > 0; i = b->next[b->second == me]) {
		b = &h->joint[i - 1];
		settle_joint(b, now);
		b->share = 0;
	}
	for (u = j->use; u != NULL; u = u->next) {
		settle_share(u, now);
		u->share = 0;
	}
	j->state = state;
	j->left_s = now;
}

static int
contradiction(const struct job *j, const struct gv_event *ev, const char *file, long line,
    struct gv_error *e)
{
	char q[GV_QUOTE_LEN], at[GV_NUM_LEN];
	const char *what;

	if (!isnan(j->left_s)) {
		gv_format_double(at, j->left_s);
		what = j->state == JOB_FINISHED ? "has finished" : "was dropped";
	} else if (j->on != NULL) {
		gv_format_double(at, j->since_s);
		what = "was started";
	} else {
		gv_format_double(at, j->arrival_s);
		what = "has arrived";
	}
	return gv_error_at(e, file, line, "event", "%s of job %s, which %s at %s s",
	    gv_event_name(ev->kind), gv_quote(q, j->id, j->id_len), what, at);
}

static void
take_arrival(struct history *h, struct job *j, const struct gv_event *ev)
{
	j->arrival_s = ev->time_s;
	j->total_steps = ev->steps;
	if (ev->reason.len > 0) {
		bool is_new;

		j->entity_no = history_number(
		    h, &h->entities, ev->reason.s, ev->reason.len, &is_new);
		j->entity = h->entities.key[j->entity_no].s;
		j->entity_len = ev->reason.len;
	}
}

static int
take_job_event(struct history *h, const struct gv_event *ev, const char *file, long line,
    struct gv_error *e)
{
	size_t known = h->n_jobs;
	struct job *j = history_job(h, &ev->job_id, ev->time_s);
	bool left = !isnan(j->left_s);
	size_t i;

	switch (ev->kind) {
	case GV_EVENT_ARRIVE:
		if (known == h->n_jobs)
			return contradiction(j, ev, file, line, e);
		take_arrival(h, j, ev);
		return 0;
	case GV_EVENT_ALLOCATE:
		take_share(h, ev);
		return 0;
	case GV_EVENT_START:
	case GV_EVENT_RESUME:
		if (left || j->on != NULL)
			return contradiction(j, ev, file, line, e);
		open_run(h, j, ev);
		return 0;
	case GV_EVENT_CHECKPOINT:
		j->checkpoints++;
		if (!(ev->steps < j->steps)) /* it may have done more than is safe */
			take_steps(j, ev->steps, ev->time_s);
		return 0;
	case GV_EVENT_FIRST_STEP:
	case GV_EVENT_HOLD:
	case GV_EVENT_RELEASE:
		return 0;
	default: /* an end of a run */
		if (left)
			return contradiction(j, ev, file, line, e);
		end_run(h, j, ev->steps, ev->time_s);
	}
	if (ev->kind == GV_EVENT_PREEMPT) {
		j->preemptions++;
		j->state = JOB_PREEMPTED;
	} else if (ev->kind == GV_EVENT_FAIL) {
		j->failures++;
		j->state = JOB_FAILED;
		for (i = j->run; i > 0; i = h->run[i - 1].next)
			h->run[i - 1].failed = true;
	} else {
		leave(h, j, ev->kind == GV_EVENT_FINISH ? JOB_FINISHED : JOB_DROPPED,
		    ev->time_s);
	}
	return 0;
}

int
history_event(struct history *h, const struct gv_event *ev, const char *file, long line,
    struct gv_error *e)
{
	int r = 0;
	size_t i;

	switch (ev->kind) {
	case GV_EVENT_POOL:
		take_pool(h, ev);
		break;
	case GV_EVENT_RESTART:
		for (i = 0; i < h->n_jobs; i++) {
			if (h->job[i].on == NULL)
				continue;
			end_run(h, &h->job[i], NAN, h->last_s);
			h->job[i].state = JOB_PREEMPTED;
		}
		h->restarts++;
		break;
	case GV_EVENT_SUBMIT: /* its jobs arrive */
	case GV_EVENT_END:
		break;
	default:
		r = take_job_event(h, ev, file, line, e);
	}
	h->last_s = ev->time_s;
	h->ended = ev->kind == GV_EVENT_END;
	h->events++;
	return r;
}

void
history_close(struct history *h)
{
	struct use *u;
	size_t i;

	for (i = 0; i < h->n_jobs; i++) {
		struct job *j = &h->job[i];

		if (j->on != NULL)
			settle_run(h, j, h->last_s);
		for (u = j->use; u != NULL && isnan(j->left_s); u = u->next)
			settle_share(u, h->last_s);
	}
	for (i = 0; i < h->joints.n; i++)
		settle_joint(&h->joint[i], h->last_s);
	for (i = 0; i < h->n_types; i++)
		settle_type(h, &h->type[i], h->last_s);
}

void
history_free(struct history *h)
{
	size_t i;

	for (i = 0; i < h->n_jobs; i++)
		free(h->job[i].lane);
	free(h->job);
	free(h->joint);
	free(h->type);
	free(h->pool);
	free(h->lane);
	free(h->run);
	gv_hash_free(&h->jobs);
	gv_hash_free(&h->types);
	gv_hash_free(&h->pools);
	gv_hash_free(&h->lanes);
	gv_hash_free(&h->joints);
	gv_hash_free(&h->entities);
	gv_arena_free(&h->arena);
	*h = (struct history){0};
}
