#include "plan/timetable.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *const gv_schedule_name[GV_SCHEDULES] = {
    "1f1b", "2bw", "flush", "gpipe", "interleaved", "zb-h1"};

const char *const gv_step_name[GV_STEP_OPS] = {"F", "B", "W", "AR", "U"};

/* GPUs of the stage's place and of all behind it. */
static size_t
gpus_behind(const struct gv_pipe *p, size_t place)
{
	size_t n = 0;

	for (; place < gv_pipe_places(p); place++)
		n += p->stage[place].replicas;
	return n;
}

/* u: forward passes before the first backward pass, if there are as many. */
static size_t
warm_up(const struct gv_pipe *p, size_t place)
{
	return (gpus_behind(p, place) - 1) / p->stage[place].replicas;
}

void
gv_pipe_free(struct gv_pipe *p)
{
	free(p->stage);
	memset(p, 0, sizeof(*p));
}

size_t
gv_pipe_round(const struct gv_pipe *p)
{
	size_t n = 1, k, more;

	for (k = 0; k < p->n; k++) {
		more = p->stage[k].replicas / gv_gcd(n, p->stage[k].replicas);
		if (n * more > 4096)
			break;
		n *= more;
	}
	return n > 0 ? n : 1;
}

int
gv_timetable_check_batch(
    enum gv_schedule_kind schedule, size_t batch, size_t gpus, struct gv_error *e)
{
	if (schedule != GV_SCHEDULE_2BW || batch >= gpus)
		return 0;
	return gv_error_set(e,
	    "2bw needs as many micro-batches in a batch as the plan has GPUs, "
	    "%zu; got %zu",
	    gpus, batch);
}

int
gv_timetable_check(const struct gv_pipe *p, struct gv_error *e)
{
	size_t gpus = gpus_behind(p, 0), k;

	if (gv_timetable_check_batch(p->schedule, p->batch, gpus, e) != 0)
		return -1;
	if (p->schedule != GV_SCHEDULE_INTERLEAVED)
		return 0;
	for (k = 0; k < p->n; k++)
		if (p->stage[k].replicas != p->stage[0].replicas)
			return gv_error_set(e,
			    "interleaved needs as many replicas on every stage; stage "
			    "%zu has %zu, stage 0 has %zu",
			    k, p->stage[k].replicas, p->stage[0].replicas);
	if (gpus > 0 && p->micro_batches % gpus != 0)
		return gv_error_set(e,
		    "interleaved needs a multiple of the plan's %zu GPUs as "
		    "micro-batches, got %zu",
		    gpus, p->micro_batches);
	return 0;
}

/* ---- one GPU ---- */

struct ordering {
	const struct gv_pipe *p;
	struct gv_lane *lane;
	size_t stage, replicas;
	size_t n; /* micro-batches of this GPU */
	size_t updates;
	uint32_t *version; /* [n] that the forward pass of each read */
	size_t reduced;    /* 2bw: batches all-reduced and to be updated with */
};

static uint32_t
micro_batch(const struct ordering *o, size_t own)
{
	return (uint32_t)(o->lane->replica + own * o->replicas);
}

static void
add(struct ordering *o, enum gv_step_op op, uint32_t i, uint32_t version)
{
	struct gv_lane *l = o->lane;

	l->step = gv_xgrow(l->step, &l->cap, l->n + 1, sizeof(*l->step));
	l->step[l->n++] = (struct gv_step){
	    .op = op, .stage = (uint32_t)o->stage, .micro_batch = i, .version = version};
}

static void
update(struct ordering *o, uint32_t i)
{
	o->updates++;
	add(o, GV_STEP_UPDATE, i, (uint32_t)o->updates);
}

/* All replicas' gradients up to this GPU's micro-batch i, into version. */
static void
reduce(struct ordering *o, uint32_t i, size_t version)
{
	if (o->replicas > 1)
		add(o, GV_STEP_REDUCE, i, (uint32_t)version);
}

/* The last micro-batch of a batch that is this GPU's. */
static uint32_t
last_of(const struct ordering *o, size_t batch)
{
	size_t end = (batch + 1) * o->p->batch, most = o->p->micro_batches;

	if (end > most)
		end = most;
	return (uint32_t)(end - 1 - (end - 1 - o->lane->replica) % o->replicas);
}

/* Updates with the batches before the given one, as far as they are all-reduced. */
static void
update_before(struct ordering *o, size_t batch)
{
	while (o->updates < o->reduced && o->updates < batch)
		update(o, last_of(o, o->updates));
}

static void
forward(struct ordering *o, size_t own)
{
	uint32_t i = micro_batch(o, own);
	size_t version = 0;

	if (o->p->schedule == GV_SCHEDULE_1F1B) {
		version = o->updates;
	} else if (o->p->schedule == GV_SCHEDULE_2BW) {
		size_t batch = i / o->p->batch;

		version = batch > 0 ? batch - 1 : 0;
		update_before(o, version);
	}
	o->version[own] = (uint32_t)version;
	add(o, GV_STEP_FORWARD, i, (uint32_t)version);
}

static void
backward(struct ordering *o, size_t own)
{
	uint32_t i = micro_batch(o, own);
	size_t batch;

	add(o, GV_STEP_BACKWARD, i, o->version[own]);
	if (o->p->schedule == GV_SCHEDULE_1F1B) {
		reduce(o, i, o->updates + 1);
		update(o, i);
	}
	if (o->p->schedule != GV_SCHEDULE_2BW)
		return;
	batch = i / o->p->batch;
	if (i != last_of(o, batch))
		return;
	update_before(o, batch); /* one all-reduce at a time */
	reduce(o, i, batch + 1);
	o->reduced = batch + 1;
	if (o->replicas == 1)
		update_before(o, batch + 1);
}

/* How many weight gradients a stage of zb-h1 puts off: as many as fit. */
static size_t
put_off(const struct ordering *o)
{
	const struct gv_pipe *p = o->p;
	const struct gv_pipe_stage *s = &p->stage[o->stage];
	size_t own = warm_up(p, o->stage), first = warm_up(p, 0), kept = own + 1;
	size_t most =
	    first > own ? first - own : 0; /* more replicas in front have fewer */
	double room = s->memory - (2 + p->state) * s->parameter - s->working;

	if (kept > o->n)
		kept = o->n;
	if (s->memory > 0)
		for (; most > 0; most--)
			if ((double)(kept + most) * s->stash +
				(double)most * s->working <=
			    room)
				break;
	return most;
}

/* All schedules but the interleaved one. */
static void
order_stage(struct ordering *o)
{
	const struct gv_pipe *p = o->p;
	bool split = p->schedule == GV_SCHEDULE_ZB_H1;
	size_t u = p->schedule == GV_SCHEDULE_GPIPE ? o->n : warm_up(p, o->stage);
	size_t f, b, w, off = split ? put_off(o) : 0;

	for (f = 0; f < u && f < o->n; f++)
		forward(o, f);
	for (b = 0, w = 0; b < o->n; b++) {
		if (f < o->n)
			forward(o, f++);
		backward(o, b);
		if (split && b - w >= off) {
			add(o, GV_STEP_WEIGHT, micro_batch(o, w), 0);
			w++;
		}
	}
	for (; split && w < o->n; w++)
		add(o, GV_STEP_WEIGHT, micro_batch(o, w), 0);
	if (p->schedule == GV_SCHEDULE_2BW) {
		update_before(o, o->reduced);
	} else if (p->schedule != GV_SCHEDULE_1F1B) {
		reduce(o, micro_batch(o, o->n - 1), 1);
		update(o, micro_batch(o, o->n - 1));
	}
}

/* The k-th of a GPU's passes goes to this micro-batch of its own, and this chunk. */
static size_t
interleave(const struct gv_pipe *p, size_t k, size_t *chunk)
{
	size_t places = gv_pipe_places(p), in_group = k % (places * p->chunks);

	*chunk = in_group / places;
	return k / (places * p->chunks) * places + in_group % places;
}

static void
order_interleaved(struct ordering *o)
{
	const struct gv_pipe *p = o->p;
	size_t places = gv_pipe_places(p), place = o->lane->place, chunk, own, b, f = 0;
	size_t total = o->n * p->chunks;
	size_t u = 2 * (places - place - 1) + (p->chunks - 1) * places;

	if (p->chunks == 1 || o->n == places)
		u = p->chunks == 1 ? places - place - 1 : total;
	for (b = 0; b < total; b++) {
		for (; f < total && f < u + b + 1; f++) {
			own = interleave(p, f, &chunk);
			o->stage = chunk * places + place;
			add(o, GV_STEP_FORWARD, micro_batch(o, own), 0);
		}
		own = interleave(p, b, &chunk);
		o->stage = (p->chunks - 1 - chunk) * places + place;
		add(o, GV_STEP_BACKWARD, micro_batch(o, own), 0);
		if (own + 1 == o->n)
			reduce(o, micro_batch(o, own), 1);
	}
	for (chunk = p->chunks; chunk-- > 0;) {
		o->stage = chunk * places + place;
		o->updates = 0;
		update(o, micro_batch(o, o->n - 1));
	}
}

void
gv_timetable_make(struct gv_timetable *t, const struct gv_pipe *p)
{
	size_t places = gv_pipe_places(p), place, i, r;

	memset(t, 0, sizeof(*t));
	t->first = gv_xcalloc(places + 1, sizeof(*t->first));
	for (place = 0; place < places; place++)
		t->first[place + 1] = t->first[place] + p->stage[place].replicas;
	t->n = t->first[places];
	t->lane = gv_xcalloc(t->n, sizeof(*t->lane));
	for (place = 0; place < places; place++) {
		r = p->stage[place].replicas;
		for (i = 0; i < r && i < p->micro_batches; i++) {
			struct ordering o = {.p = p, .stage = place, .replicas = r};

			o.lane = &t->lane[t->first[place] + i];
			*o.lane = (struct gv_lane){.place = place, .replica = i};
			o.n = (p->micro_batches - i + r - 1) / r;
			o.version = gv_xcalloc(o.n, sizeof(*o.version));
			if (p->schedule == GV_SCHEDULE_INTERLEAVED)
				order_interleaved(&o);
			else
				order_stage(&o);
			free(o.version);
		}
		for (; i < r; i++)
			t->lane[t->first[place] + i] =
			    (struct gv_lane){.place = place, .replica = i};
	}
}

void
gv_timetable_free(struct gv_timetable *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->lane[i].step);
	free(t->lane);
	free(t->first);
	memset(t, 0, sizeof(*t));
}

/* ---- what is held ---- */

/* The versions that micro-batches in flight read, which do not fall, and the newest. */
struct versions {
	uint32_t *of; /* a queue: [head..n) */
	size_t head, n;
	size_t distinct; /* of those in the queue */
	uint32_t newest;
};

static void
versions_push(struct versions *v, uint32_t version)
{
	v->distinct += v->head == v->n || v->of[v->n - 1] != version;
	v->of[v->n++] = version;
}

static void
versions_pop(struct versions *v)
{
	v->head++;
	v->distinct -= v->head == v->n || v->of[v->head] != v->of[v->head - 1];
}

static size_t
versions_held(const struct versions *v)
{
	return v->distinct + (v->head == v->n || v->of[v->n - 1] != v->newest);
}

struct gv_holding
gv_timetable_holding(const struct gv_lane *l, const struct gv_pipe *p)
{
	bool split = p->schedule == GV_SCHEDULE_ZB_H1;
	struct gv_holding most = {.in_flight = 0};
	struct versions v = {.of = gv_xcalloc(l->n + 1, sizeof(*v.of))};
	size_t in_flight = 0, k, j;
	double stash = 0, working = 0, weights = 0, bytes;

	for (j = l->place; j < p->n; j += gv_pipe_places(p))
		weights += (2 + p->state) * p->stage[j].parameter;
	most.versions = 1;
	most.bytes = weights;
	for (k = 0; k < l->n; k++) {
		const struct gv_step *s = &l->step[k];
		const struct gv_pipe_stage *stage = &p->stage[s->stage];
		bool done = s->op == (split ? GV_STEP_WEIGHT : GV_STEP_BACKWARD);
		size_t held;

		if (s->op == GV_STEP_FORWARD) {
			in_flight++;
			stash += stage->stash;
			versions_push(&v, p->chunks == 1 ? s->version : 0);
		}
		if (s->op == GV_STEP_BACKWARD)
			working += stage->working;
		if (s->op == GV_STEP_UPDATE && p->chunks == 1)
			v.newest = s->version;
		held = versions_held(&v);
		/* where the second version is made late, its gradients wait as long */
		if (p->schedule == GV_SCHEDULE_2BW && held < 2)
			held = 2;
		if (in_flight > most.in_flight)
			most.in_flight = in_flight;
		if (held > most.versions)
			most.versions = held;
		bytes = weights + (double)(held - 1) * p->stage[l->place].parameter +
			stash + working;
		if (bytes > most.bytes)
			most.bytes = bytes;
		if (done) {
			in_flight--;
			stash -= stage->stash;
			working -= stage->working;
			versions_pop(&v);
		}
	}
	free(v.of);
	return most;
}
