#include "worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "worker_private.h"

/* ---- who is who ---- */

static struct chunk *
chunk_of(const struct worker *w, size_t stage)
{
	size_t i = 0;

	while (w->chunk[i].stage != stage)
		i++;
	return &w->chunk[i];
}

size_t
worker_rank_of(const struct worker *w, size_t stage, uint64_t micro_batch)
{
	return w->s.route->rank[stage] +
	       route_replica(w->s.route, w->s.stages->stage[stage].replicas, micro_batch);
}

static size_t
head_of(const struct worker *w)
{
	return w->s.stages->n - 1;
}

/* ---- what goes wrong ---- */

int
worker_net_failed(const struct chunk *c, struct gv_error *e)
{
	const char *why = gv_net_error(c->net);

	return gv_error_set(e, "stage %zu: %s", c->stage, why != NULL ? why : "?");
}

/* "rank 3 of 10.0.0.7 is gone: it had stage 1", and which of its replicas. */
int
worker_lost(struct worker *w, struct gv_error *e)
{
	const char *why = w->post.error.count > 0 ? w->post.error.text[0] : "";
	int rank = gv_gang_culprit(w->post.gang);
	size_t i;

	for (i = 0; rank >= 0 && i < w->s.stages->n; i++) {
		size_t replicas = w->s.stages->stage[i].replicas;
		size_t first = w->s.route->rank[i];

		if ((size_t)rank < first || (size_t)rank >= first + replicas)
			continue;
		if (replicas == 1)
			return gv_error_set(e, "%s: it had stage %zu", why, i);
		return gv_error_set(
		    e, "%s: it had stage %zu, replica %zu", why, i, (size_t)rank - first);
	}
	return gv_error_set(e, "%s", why);
}

/* ---- opening ---- */

static bool
has_stage(const struct worker_spec *s, size_t stage)
{
	size_t first = s->route->rank[stage];

	return s->rank >= first && s->rank < first + s->stages->stage[stage].replicas;
}

int
worker_new(struct worker **out, const struct worker_spec *spec, struct gv_error *e)
{
	struct worker *w = gv_xcalloc(1, sizeof(*w));
	size_t i;

	*out = w;
	w->s = *spec;
	w->chunk = gv_xcalloc(spec->stages->n, sizeof(*w->chunk));
	w->visit = gv_xcalloc(spec->net.batch, sizeof(*w->visit));
	w->room = spec->route->workers + 4;
	w->agreed = gv_xcalloc(w->room, sizeof(*w->agreed));
	w->length = gv_course_length(&spec->route->course);
	for (i = 0; i < spec->stages->n; i++) {
		struct chunk *c = &w->chunk[w->chunks];

		if (!has_stage(spec, i))
			continue;
		w->chunks++;
		if (chunk_open(c, spec, i, e) != 0)
			return -1;
		c->group.post = &w->post;
	}
	return 0;
}

void
worker_free(struct worker *w)
{
	size_t i;

	if (w == NULL)
		return;
	for (i = 0; i < w->chunks; i++)
		chunk_close(&w->chunk[i]);
	for (i = 0; i < w->n_asked; i++)
		post_back(&w->post, w->asked[(w->first_asked + i) % WORKER_AHEAD]);
	post_free(&w->post);
	free(w->chunk);
	free(w->visit);
	free(w->agreed);
	free(w);
}

size_t
worker_stages(const struct worker *w)
{
	return w->chunks;
}

struct gv_net *
worker_net(const struct worker *w, size_t i, size_t *stage)
{
	*stage = w->chunk[i].stage;
	return w->chunk[i].net;
}

bool
worker_saves(const struct worker *w)
{
	return w->chunk[0].group.own == 0;
}

size_t
worker_rank(const struct worker *w, size_t stage)
{
	return w->s.route->rank[stage];
}

struct post *
worker_post(struct worker *w)
{
	return &w->post;
}

/* Sums that are on their way; replicas that are further wait for this one's part. */
static void
move_sums(void *ctx)
{
	struct worker *w = ctx;
	size_t i;

	for (i = 0; i < w->chunks; i++)
		chunk_move(&w->chunk[i]);
}

void
worker_begin(struct worker *w, struct gv_gang *gang, uint64_t step)
{
	const struct route *r = w->s.route;
	size_t i, b;

	w->post.gang = gang;
	w->began_s = gv_clock_s();
	w->post.rank = w->s.rank;
	w->post.work = move_sums;
	w->post.ctx = w;
	w->begun = step * r->micro_batches;
	w->units = w->sums = w->first_sum = w->begun / r->unit;
	w->k = w->ahead = gv_course_begin(&r->course, w->begun);
	for (i = 0; i < w->chunks; i++) {
		struct chunk *c = &w->chunk[i];

		c->newest = w->begun / route_together(r, c->at->replicas);
		for (b = 0; b < w->s.net.models; b++)
			gv_net_set_steps(c->net, b, c->newest);
	}
}

uint64_t
worker_step(const struct worker *w)
{
	return w->units * w->s.route->unit / w->s.route->micro_batches;
}

/*
 * Weights in all versions, gradients, what the optimiser keeps, and outputs of all
 * micro-batches in flight, or of a stage that recomputes what it receives and once its
 * outputs: timetable.h's holding.
 */
static double
planned(const struct chunk *c)
{
	struct gv_net_bytes b;
	double state, in = (double)(c->in.numbers * sizeof(gv_real));

	gv_net_bytes(c->net, &b);
	state =
	    b.params > 0 ? (double)b.state * (double)c->versions / (double)b.params : 0;
	if (!(c->at->activation > 0))
		return 0;
	return ((double)c->versions + 1 + state) * c->at->parameter +
	       (c->at->recompute ? (double)c->slots * in + c->at->activation
				 : (double)c->slots * c->at->activation);
}

/* The same of what the net has: of each output there is its gradient, too, and a hit. */
static double
held(const struct worker *w, const struct chunk *c)
{
	double in = (double)(c->in.numbers * sizeof(gv_real));
	double models = (double)w->s.net.models * sizeof(gv_real), outputs;
	size_t slots = c->at->recompute ? 1 : c->slots;
	struct gv_net_bytes b;

	gv_net_bytes(c->net, &b);
	outputs =
	    ((double)b.activations - (double)slots * models * (double)w->s.net.batch) / 2;
	if (!c->at->recompute)
		outputs -= (double)c->slots * in;
	return (double)(b.params + b.gradients + b.state) - models + outputs;
}

struct worker_times
worker_times(const struct worker *w, size_t i)
{
	struct worker_times t = w->chunk[i].times;

	t.waited_s = w->post.waited_s;
	t.all_s = gv_clock_s() - w->began_s;
	t.slots = w->chunk[i].slots;
	t.versions = w->chunk[i].versions;
	t.held = held(w, &w->chunk[i]);
	t.planned = planned(&w->chunk[i]);
	gv_net_bytes(w->chunk[i].net, &t.bytes);
	return t;
}

/* ---- parcels ---- */

/* Whether a step waits for a parcel. */
static bool
needs_parcel(const struct worker *w, const struct gv_course_step *s)
{
	if (s->micro_batch < w->begun)
		return false;
	return (s->op == GV_STEP_FORWARD && s->stage > 0) ||
	       (s->op == GV_STEP_BACKWARD && s->stage < head_of(w));
}

static struct parcel *
ask(struct worker *w, const struct gv_course_step *s)
{
	const struct chunk *c = chunk_of(w, s->stage);
	bool forward = s->op == GV_STEP_FORWARD;
	size_t from = forward ? s->stage - 1 : s->stage + 1;

	return post_ask(&w->post, forward ? c->in.numbers : c->out.numbers,
	    worker_rank_of(w, from, s->micro_batch),
	    post_tag(forward ? POST_OUTPUT : POST_GRADIENT, s->stage, s->micro_batch));
}

static void
ask_ahead(struct worker *w)
{
	for (; w->n_asked < WORKER_AHEAD && w->ahead < w->length; w->ahead++) {
		struct gv_course_step s = gv_course_at(&w->s.route->course, w->ahead);

		if (needs_parcel(w, &s))
			w->asked[(w->first_asked + w->n_asked++) % WORKER_AHEAD] =
			    ask(w, &s);
	}
}

/* The parcel of this step, which is the next that was asked for. */
static struct parcel *
take_parcel(struct worker *w)
{
	struct parcel *x = w->asked[w->first_asked];

	if (post_take(&w->post, x) != 0)
		return NULL;
	w->first_asked = (w->first_asked + 1) % WORKER_AHEAD;
	w->n_asked--;
	return x;
}

int
worker_send_rows(struct worker *w, struct chunk *c, const struct crossing *x, size_t slot,
    enum gv_net_side side, size_t to, struct gv_tag tag)
{
	struct parcel *p = post_blank(&w->post, x->numbers);

	if (chunk_get(c, x, slot, side, p->v) != 0) {
		post_back(&w->post, p);
		return -1;
	}
	post_send(&w->post, p, to, tag);
	return 0;
}

/* ---- steps ---- */

static int
forward(
    struct worker *w, struct chunk *c, const struct gv_course_step *s, struct gv_error *e)
{
	struct gv_net_work work = {.first = c->at->first,
	    .last = c->at->last,
	    .slot = chunk_take(c, s->micro_batch),
	    .version = chunk_version(c, s->version)};
	struct parcel *in = s->stage > 0 ? take_parcel(w) : NULL;
	double from = gv_clock_s();
	int status = 0;

	if (s->stage > 0 && in == NULL)
		return worker_lost(w, e);
	if (in != NULL) {
		status = chunk_put(c, &c->in, work.slot, GV_NET_OUTPUT, in->v);
		post_back(&w->post, in);
	}
	if (status == 0 && (c->is_last || c->reads_sample)) {
		w->s.visit(w->s.ctx, s->micro_batch, w->visit);
		status = gv_net_load_of(c->net, work.slot, w->visit);
	}
	gv_net_number(c->net, work.slot, s->micro_batch);
	if (status != 0 || gv_net_forward(c->net, &work) != 0)
		return worker_net_failed(c, e);
	c->times.forward_s += gv_clock_s() - from;
	if (!c->is_last && worker_send_rows(w, c, &c->out, work.slot, GV_NET_OUTPUT,
			       worker_rank_of(w, s->stage + 1, s->micro_batch),
			       post_tag(POST_OUTPUT, s->stage + 1, s->micro_batch)) != 0)
		return worker_net_failed(c, e);
	return 0;
}

/* Whether the step behind this one sums what it makes. */
static bool
sums_follow(const struct worker *w, const struct gv_course_step *s)
{
	struct gv_course_step next;

	if (w->k + 1 >= w->length)
		return false;
	next = gv_course_at(&w->s.route->course, w->k + 1);
	return next.op == GV_STEP_REDUCE && next.stage == s->stage;
}

/* Losses of the update whose gradients are all here, to rank 0. */
static int
send_loss(struct worker *w, struct chunk *c, uint64_t step, struct gv_error *e)
{
	size_t models = w->s.net.models, b;
	struct parcel *p = post_blank(&w->post, models);
	double *loss = gv_xcalloc(models, sizeof(*loss));
	int status = gv_net_sum(c->net, loss);

	for (b = 0; b < models; b++)
		p->v[b] = (gv_real)loss[b];
	free(loss);
	if (status != 0) {
		post_back(&w->post, p);
		return worker_net_failed(c, e);
	}
	post_send(&w->post, p, 0, post_tag(POST_LOSS, w->s.rank, step));
	return 0;
}

static int
update(struct worker *w, struct chunk *c, struct gv_error *e)
{
	uint64_t together = route_together(w->s.route, c->at->replicas);
	uint64_t step = c->newest * together / w->s.route->micro_batches;
	bool is_lost;
	size_t b;

	for (b = 0; b < w->s.net.models; b++) {
		struct gv_net_coef coef = gv_net_coef(c->net, b);

		coef.lr = w->s.rate(w->s.ctx, b, step);
		gv_net_set_coef(c->net, b, &coef);
	}
	if (chunk_update(c, &is_lost) != 0)
		return is_lost ? worker_lost(w, e) : worker_net_failed(c, e);
	return 0;
}

static int
backward(
    struct worker *w, struct chunk *c, const struct gv_course_step *s, struct gv_error *e)
{
	size_t slot = chunk_slot(c, s->micro_batch);
	struct parcel *back = c->is_last ? NULL : take_parcel(w);
	int status = 0;

	if (!c->is_last && back == NULL)
		return worker_lost(w, e);
	if (back != NULL) {
		status = chunk_put(c, &c->out, slot, GV_NET_GRADIENT, back->v);
		post_back(&w->post, back);
	}
	if (status != 0 || chunk_backward(c, slot, chunk_version(c, s->version),
			       c->group.n > 1 && sums_follow(w, s)) != 0)
		return worker_net_failed(c, e);
	c->times.micro_batches++;
	if (s->stage > 0 &&
	    worker_send_rows(w, c, &c->in, slot, GV_NET_GRADIENT,
		worker_rank_of(w, s->stage - 1, s->micro_batch),
		post_tag(POST_GRADIENT, s->stage - 1, s->micro_batch)) != 0)
		return worker_net_failed(c, e);
	if (!c->split)
		chunk_drop(c, slot);
	return 0;
}

/* The gradients of the weights, where they are a pass of their own. */
static int
weights(struct chunk *c, const struct gv_course_step *s, struct gv_error *e)
{
	size_t slot = chunk_slot(c, s->micro_batch);
	struct gv_net_work work = {.first = c->at->first,
	    .last = c->at->last,
	    .slot = slot,
	    .version = chunk_version(c, s->version)};

	if (gv_net_gradients(c->net, &work, c->added == 0) != 0)
		return worker_net_failed(c, e);
	c->added++;
	chunk_drop(c, slot);
	return 0;
}

/* A step that all of this worker's gradients of an update are made before. */
static bool
closes(const struct chunk *c, const struct gv_course_step *s)
{
	return s->op == (c->group.n > 1 ? GV_STEP_REDUCE : GV_STEP_UPDATE);
}

static int
do_step(
    struct worker *w, struct chunk *c, const struct gv_course_step *s, struct gv_error *e)
{
	uint64_t micro_batches = w->s.route->micro_batches;

	if (closes(c, s) && c->is_last &&
	    send_loss(w, c, s->micro_batch / micro_batches, e) != 0)
		return -1;
	switch (s->op) {
	case GV_STEP_FORWARD:
		return forward(w, c, s, e);
	case GV_STEP_BACKWARD:
		return backward(w, c, s, e);
	case GV_STEP_WEIGHT:
		return weights(c, s, e);
	case GV_STEP_REDUCE:
		return chunk_reduce(c) != 0 ? worker_net_failed(c, e) : 0;
	default:
		return c->newest < s->version ? update(w, c, e) : 0;
	}
}

/* ---- units ---- */

/* Sums of flags for all units up to that of a micro-batch. */
static void
say_flags(struct worker *w, uint64_t unit)
{
	for (; w->sums <= unit; w->sums++)
		gv_gang_sum_begin(w->post.gang, &w->agreed[w->sums % w->room], NULL, 0,
		    w->s.flags(w->s.ctx));
}

/* Whether all stages have had the updates of the present unit. */
static bool
unit_ends(const struct worker *w)
{
	uint64_t want = (w->units + 1) * w->s.route->unit;
	size_t i;

	for (i = 0; i < w->chunks; i++) {
		const struct chunk *c = &w->chunk[i];

		if (c->newest * route_together(w->s.route, c->at->replicas) < want)
			return false;
	}
	return true;
}

/* Flags of the unit before the one that has ended. */
static int
hear_flags(struct worker *w, unsigned *flags, struct gv_error *e)
{
	struct gv_sum *sum;

	*flags = 0;
	if (w->units++ == w->first_sum)
		return 0;
	sum = &w->agreed[(w->units - 2) % w->room];
	gv_error_clear(&w->post.error);
	if (gv_gang_sum_wait(w->post.gang, sum, &w->post.error) != 0)
		return worker_lost(w, e);
	*flags = sum->flags;
	return 0;
}

int
worker_go(struct worker *w, unsigned *flags, struct gv_error *e)
{
	for (; w->k < w->length; w->k++) {
		struct gv_course_step s = gv_course_at(&w->s.route->course, w->k);
		struct chunk *c = chunk_of(w, s.stage);
		bool updates = s.op == GV_STEP_UPDATE;

		if (s.micro_batch < w->begun)
			continue;
		ask_ahead(w);
		if (s.op == GV_STEP_FORWARD)
			say_flags(w, s.micro_batch / w->s.route->unit);
		/* gradients to come would mix with the sums that are on their way */
		if (s.op == GV_STEP_BACKWARD && c->buckets > 0) {
			if (update(w, c, e) != 0)
				return -1;
			if (unit_ends(w))
				return hear_flags(w, flags, e);
		}
		if (do_step(w, c, &s, e) != 0)
			return -1;
		chunk_move(c);
		if (post_move(&w->post) != 0)
			return worker_lost(w, e);
		if (updates && unit_ends(w)) {
			w->k++;
			return hear_flags(w, flags, e);
		}
	}
	return gv_error_set(e, "the schedule ends before its last update");
}

int
worker_meet(struct worker *w, unsigned *flags, struct gv_error *e)
{
	/* some are further into steps to come than others */
	say_flags(w, w->units + w->room - 2);
	gv_error_clear(&w->post.error);
	if (gv_gang_sum(w->post.gang, NULL, 0, flags, &w->post.error) != 0)
		return worker_lost(w, e);
	return 0;
}
