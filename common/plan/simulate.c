#include "plan/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- what is to come, in order of time ---- */

enum event_kind { EVENT_LANE, EVENT_LINK, EVENT_REDUCE };

struct event {
	double s;
	enum event_kind kind;
	size_t of; /* lane, link, or reduction */
};

struct events {
	size_t n, cap;
	struct event *event; /* a heap: the first is the earliest */
};

static void
events_push(struct events *q, double s, enum event_kind kind, size_t of)
{
	size_t i = q->n++, up;

	q->event = gv_xgrow(q->event, &q->cap, q->n, sizeof(*q->event));
	for (; i > 0; i = up) {
		up = (i - 1) / 2;
		if (q->event[up].s <= s)
			break;
		q->event[i] = q->event[up];
	}
	q->event[i] = (struct event){s, kind, of};
}

static struct event
events_pop(struct events *q)
{
	struct event first = q->event[0], last = q->event[--q->n];
	size_t i = 0, k;

	for (; (k = 2 * i + 1) < q->n; i = k) {
		if (k + 1 < q->n && q->event[k + 1].s < q->event[k].s)
			k++;
		if (last.s <= q->event[k].s)
			break;
		q->event[i] = q->event[k];
	}
	q->event[i] = last;
	return first;
}

/* ---- the state of a run ---- */

struct transfer {
	double ready_s;
	uint32_t micro_batch;
	uint32_t stage; /* it goes to */
	bool back;
};

struct link {
	size_t head, n, cap;
	struct transfer *queue; /* [head..n) in the order in which they go */
	bool busy;
	bool touched; /* is in run.links */
};

struct reduction {
	size_t here;    /* replicas that got to it */
	double start_s; /* the latest of them could begin */
	double ready_s; /* it does not end before */
	bool done;
	double end_s;
};

struct lane_state {
	size_t at; /* its present or next step */
	bool busy;
	bool waits; /* at an all-reduce */
	bool touched;
};

struct run {
	const struct gv_pipe *p;
	struct gv_timetable *t;
	size_t places;
	struct events events;
	struct lane_state *lane;
	bool *there[2];    /* [n * micro_batches] what forward, backward passes need */
	struct link *link; /* those in front of place k from link_at[k] on */
	size_t *link_at;   /* [places + 1] */
	struct reduction *reduction; /* those of stage k from reduction_at[k] on */
	size_t *reduction_at;        /* [n + 1] */
	double *channel_s;      /* [places] when the last all-reduce of a place ends */
	size_t *lanes, n_lanes; /* to look at now */
	size_t *links, n_links;
};

static size_t
replicas(const struct run *r, size_t stage)
{
	return r->p->stage[stage].replicas;
}

static size_t
lane_of(const struct run *r, size_t stage, uint32_t i)
{
	return r->t->first[stage % r->places] + i % replicas(r, stage);
}

static bool *
needed(const struct run *r, bool back, size_t stage, uint32_t i)
{
	return &r->there[back][stage * r->p->micro_batches + i];
}

/* Micro-batches from one all-reduce of a stage to the next. */
static size_t
round_of(const struct run *r, size_t stage)
{
	return r->p->schedule == GV_SCHEDULE_1F1B  ? replicas(r, stage)
	       : r->p->schedule == GV_SCHEDULE_2BW ? r->p->batch
						   : r->p->micro_batches;
}

static size_t
reduction_of(const struct run *r, const struct gv_step *s)
{
	return r->reduction_at[s->stage] + s->micro_batch / round_of(r, s->stage);
}

/* How many replicas have a micro-batch in the step's round. */
static size_t
participants(const struct run *r, const struct gv_step *s)
{
	size_t round = round_of(r, s->stage), first = s->micro_batch / round * round;
	size_t n = r->p->micro_batches - first;

	if (n > round)
		n = round;
	return n < replicas(r, s->stage) ? n : replicas(r, s->stage);
}

static void
touch_lane(struct run *r, size_t lane)
{
	if (r->lane[lane].touched)
		return;
	r->lane[lane].touched = true;
	r->lanes[r->n_lanes++] = lane;
}

static void
touch_link(struct run *r, size_t link)
{
	if (r->link[link].touched)
		return;
	r->link[link].touched = true;
	r->links[r->n_links++] = link;
}

/* ---- transfers ---- */

static void
arrive(struct run *r, const struct transfer *x)
{
	*needed(r, x->back, x->stage, x->micro_batch) = true;
	touch_lane(r, lane_of(r, x->stage, x->micro_batch));
}

static bool
goes_before(const struct transfer *a, const struct transfer *b)
{
	if (a->ready_s != b->ready_s)
		return a->ready_s < b->ready_s;
	return a->micro_batch < b->micro_batch; /* which is on one link at a time */
}

/* Between stage - 1 and stage, which is where the link belongs. */
static void
send(struct run *r, double now, size_t boundary, uint32_t i, bool back)
{
	struct transfer x = {now, i, (uint32_t)(back ? boundary - 1 : boundary), back};
	size_t place = boundary % r->places, k;
	struct link *l;

	if (r->places == 1 || r->p->stage[boundary].receive_s <= 0) {
		arrive(r, &x);
		return;
	}
	k = r->link_at[place] + i % (r->link_at[place + 1] - r->link_at[place]);
	l = &r->link[k];
	l->queue = gv_xgrow(l->queue, &l->cap, l->n + 1, sizeof(*l->queue));
	for (k = l->n++; k > l->head + l->busy && goes_before(&x, &l->queue[k - 1]); k--)
		l->queue[k] = l->queue[k - 1];
	l->queue[k] = x;
	touch_link(r, (size_t)(l - r->link));
}

static void
start_link(struct run *r, double now, size_t link)
{
	struct link *l = &r->link[link];
	const struct transfer *x = &l->queue[l->head];

	l->touched = false;
	if (l->busy || l->head == l->n)
		return;
	l->busy = true;
	events_push(&r->events,
	    now + r->p->stage[x->back ? x->stage + 1 : x->stage].receive_s, EVENT_LINK,
	    link);
}

/* ---- steps ---- */

/* Whether an all-reduce goes on beside a pass: it is the last before it. */
static bool
is_beside(const struct run *r, size_t lane)
{
	const struct gv_lane *l = &r->t->lane[lane];
	size_t k = r->lane[lane].at + 1;

	while (k < l->n && l->step[k].op == GV_STEP_UPDATE)
		k++;
	return r->p->overlap && k < l->n && l->step[k].op == GV_STEP_REDUCE;
}

static double
length_of(const struct run *r, const struct gv_step *s)
{
	const struct gv_pipe_stage *stage = &r->p->stage[s->stage];

	return s->op == GV_STEP_FORWARD    ? stage->forward_s
	       : s->op == GV_STEP_BACKWARD ? stage->backward_s
	       : s->op == GV_STEP_UPDATE   ? stage->update_s
					   : stage->weight_s;
}

static void
end_pass(struct run *r, double now, size_t lane)
{
	const struct gv_step *s = &r->t->lane[lane].step[r->lane[lane].at++];

	r->lane[lane].busy = false;
	touch_lane(r, lane);
	if (s->op == GV_STEP_FORWARD && s->stage + 1 < r->p->n)
		send(r, now, s->stage + 1, s->micro_batch, false);
	else if (s->op == GV_STEP_BACKWARD && s->stage > 0)
		send(r, now, s->stage, s->micro_batch, true);
}

/* A GPU got to an all-reduce; when it is the last one it begins, or has begun. */
static void
get_to_reduction(struct run *r, double now, size_t lane)
{
	const struct gv_step *s = &r->t->lane[lane].step[r->lane[lane].at];
	size_t k = reduction_of(r, s), place = s->stage % r->places;
	struct reduction *x = &r->reduction[k];
	const struct gv_step *pass = s;
	double could = now;

	while (r->p->overlap && pass->op > GV_STEP_WEIGHT)
		could = (--pass)->start_s;
	if (could > x->start_s)
		x->start_s = could;
	if (r->p->overlap)
		x->ready_s = fmax(x->ready_s, could + r->p->stage[s->stage].ready_s);
	r->lane[lane].waits = !r->p->overlap;
	if (++x->here < participants(r, s))
		return;
	if (r->channel_s[place] > x->start_s)
		x->start_s = r->channel_s[place];
	x->end_s =
	    fmax(fmax(x->start_s + r->p->stage[s->stage].reduce_s, x->ready_s), now);
	r->channel_s[place] = x->end_s;
	events_push(&r->events, x->end_s, EVENT_REDUCE, k);
}

static void
begin_pass(struct run *r, struct gv_step *s, double now, size_t lane)
{
	s->start_s = now;
	s->end_s = now + length_of(r, s);
	if (s->op <= GV_STEP_WEIGHT && is_beside(r, lane))
		s->end_s += r->p->stage[s->stage].beside_s;
	r->lane[lane].busy = true;
	events_push(&r->events, s->end_s, EVENT_LANE, lane);
}

/* Begins what the GPU can begin now. */
static void
start_lane(struct run *r, double now, size_t lane)
{
	struct gv_lane *l = &r->t->lane[lane];
	struct lane_state *state = &r->lane[lane];

	state->touched = false;
	while (!state->busy && !state->waits && state->at < l->n) {
		struct gv_step *s = &l->step[state->at];
		bool back = s->op == GV_STEP_BACKWARD;

		if (s->op == GV_STEP_REDUCE) {
			get_to_reduction(r, now, lane);
			state->at++;
		} else if (s->op == GV_STEP_UPDATE) {
			if (replicas(r, s->stage) > 1 &&
			    !r->reduction[reduction_of(r, s)].done)
				return;
			s->start_s = s->end_s = now;
			if (length_of(r, s) > 0)
				begin_pass(r, s, now, lane);
			else
				state->at++;
		} else if (s->op == GV_STEP_WEIGHT ||
			   *needed(r, back, s->stage, s->micro_batch)) {
			begin_pass(r, s, now, lane);
		} else {
			return;
		}
	}
}

static void
end_reduction(struct run *r, size_t k)
{
	size_t stage = 0, place, i;

	while (r->reduction_at[stage + 1] <= k)
		stage++;
	place = stage % r->places;
	r->reduction[k].done = true;
	for (i = r->t->first[place]; i < r->t->first[place + 1]; i++) {
		const struct gv_lane *l = &r->t->lane[i];
		struct lane_state *state = &r->lane[i];
		const struct gv_step *s = state->at > 0 ? &l->step[state->at - 1] : NULL;

		if (s != NULL && state->waits && s->stage == stage &&
		    reduction_of(r, s) == k)
			state->waits = false;
		touch_lane(r, i);
	}
}

static void
end_event(struct run *r, const struct event *v)
{
	if (v->kind == EVENT_LANE) {
		end_pass(r, v->s, v->of);
	} else if (v->kind == EVENT_REDUCE) {
		end_reduction(r, v->of);
	} else {
		struct link *l = &r->link[v->of];
		struct transfer x = l->queue[l->head++];

		l->busy = false;
		if (l->head == l->n)
			l->head = l->n = 0;
		arrive(r, &x);
		touch_link(r, v->of);
	}
}

/* ---- a run ---- */

static void
run_make(struct run *r, struct gv_timetable *t, const struct gv_pipe *p)
{
	size_t k, places = gv_pipe_places(p), n = 0;

	*r = (struct run){.p = p, .t = t, .places = places};
	r->lane = gv_xcalloc(t->n, sizeof(*r->lane));
	for (k = 0; k < 2; k++)
		r->there[k] = gv_xcalloc(p->n * p->micro_batches, sizeof(bool));
	for (k = 0; k < p->micro_batches; k++) {
		*needed(r, false, 0, (uint32_t)k) = true;
		*needed(r, true, p->n - 1, (uint32_t)k) = true;
	}
	r->link_at = gv_xcalloc(places + 1, sizeof(*r->link_at));
	for (k = 0; k < places; k++) {
		size_t before = replicas(r, (k + places - 1) % places);

		r->link_at[k + 1] =
		    r->link_at[k] + (before < replicas(r, k) ? before : replicas(r, k));
	}
	r->link = gv_xcalloc(r->link_at[places], sizeof(*r->link));
	r->reduction_at = gv_xcalloc(p->n + 1, sizeof(*r->reduction_at));
	for (k = 0; k < p->n; k++) {
		if (replicas(r, k) > 1)
			n += (p->micro_batches - 1) / round_of(r, k) + 1;
		r->reduction_at[k + 1] = n;
	}
	r->reduction = gv_xcalloc(n + 1, sizeof(*r->reduction));
	r->channel_s = gv_xcalloc(places, sizeof(*r->channel_s));
	r->lanes = gv_xcalloc(t->n, sizeof(*r->lanes));
	r->links = gv_xcalloc(r->link_at[places], sizeof(*r->links));
}

static void
run_free(struct run *r)
{
	size_t k;

	for (k = 0; k < r->link_at[r->places]; k++)
		free(r->link[k].queue);
	free(r->events.event);
	free(r->lane);
	free(r->there[0]);
	free(r->there[1]);
	free(r->link);
	free(r->link_at);
	free(r->reduction);
	free(r->reduction_at);
	free(r->channel_s);
	free(r->lanes);
	free(r->links);
}

/* All-reduces have the same times on all GPUs, which are known only at their end. */
static double
finish(struct run *r)
{
	double end_s = 0;
	size_t i, k;

	for (i = 0; i < r->t->n; i++) {
		struct gv_lane *l = &r->t->lane[i];

		if (r->lane[i].at < l->n)
			return NAN;
		for (k = 0; k < l->n; k++) {
			struct gv_step *s = &l->step[k];

			if (s->op == GV_STEP_REDUCE) {
				s->end_s = r->reduction[reduction_of(r, s)].end_s;
				s->start_s = s->end_s - r->p->stage[s->stage].reduce_s;
			}
			end_s = fmax(end_s, s->end_s);
		}
	}
	return end_s;
}

double
gv_simulate(struct gv_timetable *t, const struct gv_pipe *p)
{
	struct run r;
	double now = 0, end_s;
	size_t i;

	run_make(&r, t, p);
	for (i = 0; i < t->n; i++)
		touch_lane(&r, i);
	for (;;) {
		do {
			while (r.events.n > 0 && r.events.event[0].s <= now) {
				struct event v = events_pop(&r.events);

				end_event(&r, &v);
			}
			while (r.n_lanes > 0)
				start_lane(&r, now, r.lanes[--r.n_lanes]);
		} while (r.events.n > 0 && r.events.event[0].s <= now);
		while (r.n_links > 0)
			start_link(&r, now, r.links[--r.n_links]);
		if (r.events.n == 0)
			break;
		now = r.events.event[0].s;
	}
	end_s = finish(&r);
	run_free(&r);
	return end_s;
}
