/* The steps of a worker's course: what comes, is computed and goes. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "worker_private.h"

/* ---- parcels ---- */

static int
failed(struct worker *w, const struct chunk *c, bool is_lost, struct gv_error *e)
{
	return is_lost ? worker_lost(w, e) : worker_net_failed(c, e);
}

/* The way from device to device that a step's rows come by; NULL: there is none. */
static struct way *
way_in(const struct worker *w, const struct gv_course_step *s)
{
	bool forward = s->op == GV_STEP_FORWARD;
	size_t from = s->stage + (forward ? (size_t)-1 : 1);

	if (w->links.n == 0 || from >= w->s.stages->n)
		return NULL;
	return links_find(&w->links, worker_chunk(w, s->stage),
	    forward ? GV_NET_OUTPUT : GV_NET_GRADIENT, false,
	    worker_rank_of(w, from, s->micro_batch));
}

/* Whether a step waits for a parcel. */
static bool
needs_parcel(const struct worker *w, const struct gv_course_step *s)
{
	if (s->micro_batch < w->begun || way_in(w, s) != NULL)
		return false;
	return (s->op == GV_STEP_FORWARD && s->stage > 0) ||
	       (s->op == GV_STEP_BACKWARD && s->stage < w->s.stages->n - 1);
}

bool
worker_has_come(struct worker *w, const struct gv_course_step *s)
{
	struct way *way = way_in(w, s);

	if (way != NULL)
		return links_have(&w->links, way, s->micro_batch);
	worker_ask_ahead(w);
	return !needs_parcel(w, s) || post_has(&w->post, w->asked[w->first_asked]);
}

static struct parcel *
ask(struct worker *w, const struct gv_course_step *s)
{
	const struct chunk *c = worker_chunk(w, s->stage);
	bool forward = s->op == GV_STEP_FORWARD;
	size_t from = forward ? s->stage - 1 : s->stage + 1;

	return post_ask(&w->post, forward ? c->in.numbers : c->out.numbers,
	    worker_rank_of(w, from, s->micro_batch),
	    post_tag(forward ? POST_OUTPUT : POST_GRADIENT, s->stage, s->micro_batch));
}

void
worker_ask_ahead(struct worker *w)
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

/* What comes into a stage, or back to it, into a slot.  0, or -1 with *e. */
static int
take_rows(struct worker *w, struct chunk *c, const struct gv_course_step *s, size_t slot,
    struct gv_error *e)
{
	bool forward = s->op == GV_STEP_FORWARD, is_lost;
	struct way *way = way_in(w, s);
	struct parcel *p;
	int status;

	if (way != NULL) {
		status = links_take(&w->links, way, slot, s->micro_batch, &is_lost);
		return status == 0 ? 0 : failed(w, c, is_lost, e);
	}
	p = take_parcel(w);
	if (p == NULL)
		return worker_lost(w, e);
	status = chunk_put(c, forward ? &c->in : &c->out, slot,
	    forward ? GV_NET_OUTPUT : GV_NET_GRADIENT, p);
	return status == 0 ? 0 : worker_net_failed(c, e);
}

/* What crosses an end of a stage to the next one, or back. */
static int
give_rows(struct worker *w, struct chunk *c, const struct gv_course_step *s, size_t slot)
{
	bool forward = s->op == GV_STEP_FORWARD;
	enum gv_net_side side = forward ? GV_NET_OUTPUT : GV_NET_GRADIENT;
	size_t stage = forward ? s->stage + 1 : s->stage - 1,
	       to = worker_rank_of(w, stage, s->micro_batch);
	struct way *way = links_find(&w->links, c, side, true, to);

	if (way != NULL)
		return links_send(&w->links, way, slot, s->micro_batch);
	return worker_send_rows(w, c, forward ? &c->out : &c->in, slot, side, to,
	    post_tag(forward ? POST_OUTPUT : POST_GRADIENT, stage, s->micro_batch));
}

int
worker_send_rows(struct worker *w, struct chunk *c, const struct crossing *x, size_t slot,
    enum gv_net_side side, size_t to, struct gv_tag tag)
{
	double from = gv_clock_s();
	int status = chunk_send(c, x, slot, side, to, tag);

	(void)w;
	c->times.send_s += gv_clock_s() - from;
	return status;
}

/* ---- updates ---- */

/* The step that the next update of a stage ends. */
static uint64_t
step_of(const struct worker *w, const struct chunk *c)
{
	uint64_t together = route_together(w->s.route, c->at->replicas);

	return c->newest * together / w->s.route->micro_batches;
}

static int
finish_update(struct worker *w, struct chunk *c, const double *square, struct gv_error *e)
{
	uint64_t step = step_of(w, c);
	bool is_lost;
	size_t b;

	for (b = 0; b < w->s.net.models; b++) {
		struct gv_net_coef coef = gv_net_coef(c->net, b);

		coef.lr = w->s.rate(w->s.ctx, b, step);
		gv_net_set_coef(c->net, b, &coef);
	}
	c->waits = false;
	return chunk_update(c, square, &is_lost) != 0 ? failed(w, c, is_lost, e) : 0;
}

static int
tell_squares(struct worker *w, struct chunk *c, struct gv_error *e)
{
	return w->clips && clip_tell(&w->clip, c, c->newest) != 0
		   ? worker_net_failed(c, e)
		   : 0;
}

int
worker_update(struct worker *w, struct chunk *c, struct gv_error *e)
{
	uint64_t step = step_of(w, c);
	bool is_lost;
	size_t b;

	/* a model that is done still went through these passes, for nothing */
	for (b = 0; b < w->s.net.models; b++)
		if (step >= w->s.steps[b] && gv_net_active(c->net, b))
			gv_net_set_active(c->net, b, false);
	if (chunk_sum(c, &is_lost) != 0)
		return failed(w, c, is_lost, e);
	if (gv_net_tie(c->net) != 0 ||
	    tie_tell(&w->s, &w->post, c, c->newest, &c->ties) != 0)
		return worker_net_failed(c, e);
	if (!w->clips && !c->ties)
		return finish_update(w, c, NULL, e);
	c->waits = true;
	/* what is tied goes into the norm when it is whole */
	return !c->ties ? tell_squares(w, c, e) : 0;
}

/* The gradients of rows of other stages, into those of a stage that waits for them. */
static int
settle_ties(struct worker *w, struct chunk *c, struct gv_error *e)
{
	bool is_lost;

	if (!c->ties)
		return 0;
	c->ties = false;
	if (tie_wait(&w->s, &w->post, c, &is_lost) != 0)
		return failed(w, c, is_lost, e);
	return tell_squares(w, c, e);
}

int
worker_settle(struct worker *w, struct gv_error *e)
{
	double before = w->post.waited_s;
	bool any = false;
	size_t i;

	for (i = 0; i < w->chunks; i++)
		any |= w->chunk[i].waits;
	if (!any)
		return 0;
	for (i = 0; i < w->chunks; i++)
		if (settle_ties(w, &w->chunk[i], e) != 0)
			return -1;
	if (w->clips && clip_wait(&w->clip) != 0)
		return worker_lost(w, e);
	w->chunk[0].times.waited_s += w->post.waited_s - before;
	for (i = 0; i < w->chunks; i++)
		if (w->chunk[i].waits && finish_update(w, &w->chunk[i],
					     w->clips ? w->clip.square : NULL, e) != 0)
			return -1;
	return 0;
}

/* ---- steps ---- */

static int
pass_forward(struct chunk *c, const struct gv_course_step *s, size_t slot)
{
	return chunk_forward(c, slot, chunk_version(c, s->version));
}

static int
forward(
    struct worker *w, struct chunk *c, const struct gv_course_step *s, struct gv_error *e)
{
	size_t slot = chunk_take(c, s->micro_batch);

	chunk_settle(c, slot, GV_NET_OUTPUT);
	if (s->stage > 0 && take_rows(w, c, s, slot, e) != 0)
		return -1;
	gv_net_number(c->net, slot, s->micro_batch);
	if (worker_pass(w, c, s, slot, true, pass_forward) != 0)
		return worker_net_failed(c, e);
	if (!c->is_last && give_rows(w, c, s, slot) != 0)
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

static void
post_loss(struct worker *w, const double *loss, uint64_t step)
{
	size_t models = w->s.net.models, b;
	struct parcel *p = post_blank(&w->post, models);

	for (b = 0; b < models; b++)
		p->v[b] = (gv_real)loss[b];
	post_send(&w->post, p, 0, post_tag(POST_LOSS, w->s.rank, step));
}

int
worker_send_losses(struct worker *w, uint64_t before, struct gv_error *e)
{
	double *loss = gv_xcalloc(w->s.net.models, sizeof(*loss));
	struct chunk *c = &w->chunk[w->chunks - 1];
	int status = 0;

	while (w->n_late > 0 && w->late[0] < before && status == 0) {
		status = gv_net_step_losses(c->net, loss);
		if (status == 0)
			post_loss(w, loss, w->late[0]);
		memmove(w->late, w->late + 1, --w->n_late * sizeof(*w->late));
	}
	free(loss);
	return status == 0 ? 0 : worker_net_failed(c, e);
}

/* Losses of the update whose gradients are all here: to rank 0, or soon. */
static int
send_loss(struct worker *w, struct chunk *c, uint64_t step, struct gv_error *e)
{
	double *loss;
	int status;

	if (w->links.open) {
		/* no more are kept */
		if (w->n_late == GV_NET_LATE &&
		    worker_send_losses(w, w->late[0] + 1, e) != 0)
			return -1;
		w->late[w->n_late++] = step;
		return gv_net_losses_begin(c->net) != 0 ? worker_net_failed(c, e) : 0;
	}
	loss = gv_xcalloc(w->s.net.models, sizeof(*loss));
	status = chunk_losses(c, loss);
	if (status == 0)
		post_loss(w, loss, step);
	free(loss);
	return status == 0 ? 0 : worker_net_failed(c, e);
}

static int
pass_backward(struct chunk *c, const struct gv_course_step *s, size_t slot)
{
	return chunk_backward(c, slot, chunk_version(c, s->version), c->sums);
}

static int
backward(
    struct worker *w, struct chunk *c, const struct gv_course_step *s, struct gv_error *e)
{
	size_t slot = chunk_slot(c, s->micro_batch);

	chunk_settle(c, slot, GV_NET_GRADIENT);
	if (!c->is_last && take_rows(w, c, s, slot, e) != 0)
		return -1;
	c->split = gv_course_puts_off(&w->s.route->course, w->k);
	/* gradients of models that go one behind the other are summed behind them all */
	c->sums = c->group.n > 1 && !w->rests && sums_follow(w, s) &&
		  !worker_passes_apart(&w->s, c);
	if (worker_pass(w, c, s, slot, false, pass_backward) != 0)
		return worker_net_failed(c, e);
	c->added += !c->split;
	c->times.micro_batches++;
	if (s->stage > 0 && give_rows(w, c, s, slot) != 0)
		return worker_net_failed(c, e);
	if (!c->split)
		chunk_drop(c, slot);
	return 0;
}

/* The gradients of the weights, where they are a pass of their own. */
static int
pass_weights(struct chunk *c, const struct gv_course_step *s, size_t slot)
{
	return chunk_weights(c, slot, chunk_version(c, s->version));
}

static int
weights(
    struct worker *w, struct chunk *c, const struct gv_course_step *s, struct gv_error *e)
{
	size_t slot = chunk_slot(c, s->micro_batch);

	if (worker_pass(w, c, s, slot, false, pass_weights) != 0)
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
		return weights(w, c, s, e);
	case GV_STEP_REDUCE:
		return chunk_reduce(c) != 0 ? worker_net_failed(c, e) : 0;
	default:
		return c->newest < s->version ? worker_update(w, c, e) : 0;
	}
}

int
worker_step_do(
    struct worker *w, struct chunk *c, const struct gv_course_step *s, struct gv_error *e)
{
	double before = w->post.waited_s;
	int status = do_step(w, c, s, e);

	c->times.waited_s += w->post.waited_s - before;
	return status;
}
