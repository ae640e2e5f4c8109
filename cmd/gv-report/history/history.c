#include "history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

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

/* The number of a text in a hash whose keys live in the arena; *is_new tells. */
static size_t
number_of(
    struct history *h, struct gv_hash *hash, const char *s, size_t len, bool *is_new)
{
	ptrdiff_t i = gv_hash_find(hash, s, len);

	*is_new = i < 0;
	if (i >= 0)
		return (size_t)i;
	return gv_hash_add(hash, gv_arena_strndup(&h->arena, s, len), len);
}

static size_t
type_of(struct history *h, struct gv_cell name)
{
	bool is_new;
	size_t i = number_of(h, &h->types, name.s, name.len, &is_new);

	if (is_new) {
		h->type = gv_xgrow(h->type, &h->cap_types, i + 1, sizeof(*h->type));
		h->type[i] = (struct gpu_type){.name = h->types.key[i].s,
		    .name_len = name.len,
		    .since_s = h->last_s};
		h->n_types = i + 1;
	}
	return i;
}

/* The job of that id; one that is new has arrived now. */
static struct job *
job_of(struct history *h, const struct gv_cell *id, double now)
{
	bool is_new;
	size_t i = number_of(h, &h->jobs, id->s, id->len, &is_new);

	if (is_new) {
		h->job = gv_xgrow(h->job, &h->cap_jobs, i + 1, sizeof(*h->job));
		h->job[i] = (struct job){.id = h->jobs.key[i].s,
		    .id_len = id->len,
		    .entity = "",
		    .entity_no = number_of(h, &h->entities, "", 0, &is_new),
		    .arrival_s = now,
		    .start_s = NAN,
		    .left_s = NAN,
		    .steps = NAN,
		    .total_steps = NAN};
		h->n_jobs = i + 1;
	}
	return &h->job[i];
}

static struct use *
use_of(struct history *h, struct job *j, size_t type)
{
	struct use **at = &j->use;
	struct use *u;

	while (*at != NULL && (*at)->type < type)
		at = &(*at)->next;
	if (*at != NULL && (*at)->type == type)
		return *at;
	u = gv_arena_alloc(&h->arena, 1, sizeof(*u));
	*u = (struct use){.next = *at, .type = type, .steps = NAN};
	*at = u;
	return u;
}

/* Ids in a list "0;1". */
static size_t
count_gpus(struct gv_cell list)
{
	size_t i, n = list.len > 0 ? 1 : 0;

	for (i = 0; i < list.len; i++)
		n += list.s[i] == ';';
	return n;
}

/* ---- lanes, and runs, which are kept for drawing only ---- */

static size_t
lane_of(struct history *h, size_t type, struct gv_cell node, struct gv_cell gpu)
{
	const char *name = h->type[type].name;
	size_t name_len = h->type[type].name_len;
	size_t len = name_len + 1 + node.len + 1 + gpu.len;
	char *key = gv_xcalloc(len, 1); /* NULs between the three, which no cell holds */
	bool is_new;
	size_t i;

	memcpy(key, name, name_len);
	if (node.len > 0)
		memcpy(key + name_len + 1, node.s, node.len);
	if (gpu.len > 0)
		memcpy(key + name_len + 1 + node.len + 1, gpu.s, gpu.len);
	i = number_of(h, &h->lanes, key, len, &is_new);
	free(key);
	if (is_new) {
		h->lane = gv_xgrow(h->lane, &h->cap_lanes, i + 1, sizeof(*h->lane));
		h->lane[i] = (struct lane){.type = type,
		    .node = h->lanes.key[i].s + name_len + 1,
		    .gpu = h->lanes.key[i].s + name_len + 1 + node.len + 1};
		h->n_lanes = i + 1;
	}
	return i;
}

/* A job has come to a GPU. */
static void
use_lane(struct history *h, struct job *j, size_t lane, double now, bool told)
{
	if (h->keep_runs) {
		h->run = gv_xgrow(h->run, &h->cap_runs, h->n_runs + 1, sizeof(*h->run));
		h->run[h->n_runs++] =
		    (struct launch){(size_t)(j - h->job), lane, now, now, j->run, false};
		j->run = h->n_runs;
	}
	if (!told)
		return;
	j->lane = gv_xgrow(j->lane, &j->cap_lanes, j->n_lanes + 1, sizeof(*j->lane));
	j->lane[j->n_lanes++] = lane;
	if (h->lane[lane].users++ == 0)
		h->lane[lane].busy_since_s = now;
}

/* Calls for every GPU of the list: its lane, and for a job its run. */
static void
lanes_of(struct history *h, const struct gv_event *ev, size_t type, struct job *j)
{
	const char *s = ev->gpus.s, *end = s + ev->gpus.len, *p;
	size_t lane, n = 0;

	for (p = s;; p++) {
		if (p < end && *p != ';')
			continue;
		lane = lane_of(h, type, gv_event_node(ev, n++),
		    (struct gv_cell){s, (size_t)(p - s)});
		if (j != NULL)
			use_lane(h, j, lane, ev->time_s, ev->gpus.len > 0);
		if (p == end)
			return;
		s = p + 1;
	}
}

/* GPUs of a type were busy for a time: the GPU-seconds. */
static double
were_busy(struct history *h, size_t type, double from_s, double to_s, double gpus)
{
	if (h->over != NULL)
		over_time_busy(h->over, type, from_s, to_s, gpus);
	return (to_s - from_s) * gpus;
}

/*
 * The job leaves its GPUs: the GPU-seconds in which they were busy, as far as nobody
 * else is there to tell them later.
 */
static double
leave_lanes(struct history *h, struct job *j, double now)
{
	double gpu_s = 0, since_s = 0, n = 0; /* GPUs busy since the same time */
	size_t type = j->on->type, i;

	for (i = 0; i < j->n_lanes; i++) {
		struct lane *l = &h->lane[j->lane[i]];

		if (--l->users > 0)
			continue;
		if (l->busy_since_s != since_s) {
			gpu_s += were_busy(h, type, since_s, now, n);
			since_s = l->busy_since_s;
			n = 0;
		}
		n++;
	}
	j->n_lanes = 0;
	return gpu_s + were_busy(h, type, since_s, now, n);
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
	size_t type = type_of(h, ev->gpu_type), len = ev->gpu_type.len + 1 + ev->node.len;
	char *key = gv_xcalloc(len, 1);
	bool is_new;
	size_t i;

	if (ev->gpu_type.len > 0)
		memcpy(key, ev->gpu_type.s, ev->gpu_type.len);
	if (ev->node.len > 0)
		memcpy(key + ev->gpu_type.len + 1, ev->node.s, ev->node.len);
	i = number_of(h, &h->pools, key, len, &is_new);
	free(key);
	if (is_new) {
		h->pool = gv_xgrow(h->pool, &h->cap_pools, i + 1, sizeof(*h->pool));
		h->pool[i] = (struct pool){type, 0};
		h->n_pools = i + 1;
	}
	settle_type(h, &h->type[type], ev->time_s);
	h->type[type].gpus -= h->pool[i].gpus;
	h->pool[i].gpus = count_gpus(ev->gpus);
	h->type[type].gpus += h->pool[i].gpus;
	if (ev->gpus.len > 0)
		lanes_of(h, ev, type, NULL);
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
	size_t type = type_of(h, ev->gpu_type);

	take_steps(j, ev->steps, ev->time_s);
	j->on = use_of(h, j, type);
	j->since_s = j->mark_s = ev->time_s;
	j->run_gpus = ev->gpus.len > 0 ? count_gpus(ev->gpus) : 1;
	if (j->run_gpus > j->gpus)
		j->gpus = j->run_gpus;
	if (isnan(j->start_s))
		j->start_s = ev->time_s;
	j->launches++;
	j->state = JOB_RUNNING;
	h->type[type].runs++;
	j->run = 0;
	if (ev->gpus.len > 0 || h->keep_runs)
		lanes_of(h, ev, type, j);
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
		? leave_lanes(h, j, now)
		: were_busy(h, j->on->type, j->since_s, now, (double)j->run_gpus);
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
	*b = (struct joint){.job = {key[0], key[1]}};
	for (i = 0; i < 2; i++) {
		struct job *j = &h->job[key[i]];

		b->use[i] = use_of(h, j, type);
		b->next[i] = j->joint;
		j->joint = n + 1;
	}
	return b;
}

static void
take_share(struct history *h, const struct gv_event *ev)
{
	size_t type = type_of(h, ev->gpu_type);
	size_t one = (size_t)(job_of(h, &ev->job_id, ev->time_s) - h->job);
	struct joint *b;
	struct use *u;
	size_t other;

	if (ev->with_job_id.len == 0) {
		u = use_of(h, &h->job[one], type);
		settle_share(u, ev->time_s);
		u->share = isnan(h->job[one].left_s) ? ev->share : 0;
		return;
	}
	other = (size_t)(job_of(h, &ev->with_job_id, ev->time_s) - h->job);
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

	for (i = j->joint; i > 0; i = b->next[b->job[1] == me]) {
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

		j->entity_no =
		    number_of(h, &h->entities, ev->reason.s, ev->reason.len, &is_new);
		j->entity = h->entities.key[j->entity_no].s;
		j->entity_len = ev->reason.len;
	}
}

static int
take_job_event(struct history *h, const struct gv_event *ev, const char *file, long line,
    struct gv_error *e)
{
	size_t known = h->n_jobs;
	struct job *j = job_of(h, &ev->job_id, ev->time_s);
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
