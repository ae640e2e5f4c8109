#include "worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "nn/backend.h"
#include "worker_private.h"

/* Updates that a device may be behind its host. */
enum { LATE = 2 };

/* How often devices are asked how they are while the host waits for other workers. */
static const double LOOK_S = 200e-6;

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
	w->post.ctx = w;
	w->chunk = gv_xcalloc(spec->stages->n, sizeof(*w->chunk));
	w->visit = gv_xcalloc(spec->net.batch, sizeof(*w->visit));
	w->room = spec->route->workers + 4;
	w->agreed = gv_xcalloc(w->room, sizeof(*w->agreed));
	w->length = gv_course_length(&spec->route->course);
	clip_init(&w->clip, &w->s, &w->post);
	for (i = 0; i < spec->net.models; i++)
		w->clips |= spec->net.coef[i].clip_norm > 0;
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
	for (i = 0; i < w->chunks; i++) {
		tie_free(&w->chunk[i], &w->post);
		chunk_close(&w->chunk[i]);
	}
	clip_free(&w->clip);
	links_free(&w->links);
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
	links_move(&w->links);
	/* a failure shows where the net is used next */
	for (i = 0; i < w->chunks && w->links.open; i++)
		(void)gv_net_look(w->chunk[i].net);
}

/* While a device is waited for: others may wait for what this worker has to ask for. */
static int
alive(void *ctx)
{
	struct worker *w = ctx;

	if (w->broken || post_move(&w->post) != 0)
		return -1;
	links_move(&w->links);
	return 0;
}

int
worker_link(struct worker *w, struct gv_gang *gang, double silence_s, struct gv_error *e)
{
	const struct gv_nn_watch watch = {silence_s, alive, w};

	w->post.gang = gang;
	w->post.rank = w->s.rank;
	w->post.ctx = w;
	if (links_open(&w->links, &w->s, &w->post, w->chunk, w->chunks, &watch, e) == 0) {
		w->post.look_s = LOOK_S;
		w->post.looks_s = silence_s / 2;
		return 0;
	}
	if (w->post.error.count == 0)
		return -1;
	gv_error_clear(e);
	return worker_lost(w, e);
}

void
worker_leave(struct worker *w)
{
	size_t i;

	for (i = 0; i < w->chunks; i++)
		if (w->chunk[i].net != NULL)
			gv_net_leave(w->chunk[i].net);
}

void
worker_begin(struct worker *w, struct gv_gang *gang, uint64_t step)
{
	const struct route *r = w->s.route;
	size_t i, b;

	w->post.gang = gang;
	w->began_s = w->behind_first_s = gv_clock_s();
	w->post.rank = w->s.rank;
	w->post.work = move_sums;
	w->post.ctx = w;
	w->begun = step * r->micro_batches;
	w->units = w->sums = w->first_sum = w->begun / r->unit;
	w->k = w->ahead = gv_course_begin(&r->course, w->begun);
	for (i = 0; i < w->chunks; i++) {
		struct chunk *c = &w->chunk[i];

		uint64_t together = route_together(r, c->at->replicas);

		c->newest = w->begun / together;
		for (b = 0; b < w->s.net.models; b++) {
			uint64_t all = w->s.steps[b] * r->micro_batches / together;

			gv_net_set_steps(c->net, b, c->newest < all ? c->newest : all);
		}
	}
}

uint64_t
worker_step(const struct worker *w)
{
	return w->units * w->s.route->unit / w->s.route->micro_batches;
}

size_t
worker_late(const struct worker *w)
{
	return w->links.open ? LATE : 0;
}

int
worker_losses(struct worker *w, struct gv_error *e)
{
	return worker_send_losses(w, worker_step(w), e);
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

		if ((c->newest + c->waits) * route_together(w->s.route, c->at->replicas) <
		    want)
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
	if (w->units == w->first_sum)
		worker_times_begin(w);
	w->units++;
	if (worker_step(w) > LATE && worker_send_losses(w, worker_step(w) - LATE, e) != 0)
		return -1;
	if (w->units - 1 == w->first_sum)
		return 0;
	sum = &w->agreed[(w->units - 2) % w->room];
	if (post_sum(&w->post, sum) != 0)
		return worker_lost(w, e);
	*flags = sum->flags;
	return 0;
}

int
worker_next(struct worker *w, struct gv_error *e)
{
	struct gv_course_step s = gv_course_at(&w->s.route->course, w->k);
	struct chunk *c = worker_chunk(w, s.stage);

	worker_ask_ahead(w);
	if (s.op == GV_STEP_FORWARD)
		say_flags(w, s.micro_batch / w->s.route->unit);
	if ((c->waits && worker_settle(w, e) != 0) || worker_step_do(w, c, &s, e) != 0)
		return -1;
	w->k++;
	chunk_move(c);
	return post_move(&w->post) != 0 ? worker_lost(w, e) : 0;
}

int
worker_go(struct worker *w, unsigned *flags, struct gv_error *e)
{
	while (w->k < w->length) {
		struct gv_course_step s = gv_course_at(&w->s.route->course, w->k);
		struct chunk *c = worker_chunk(w, s.stage);
		bool updates = s.op == GV_STEP_UPDATE;

		if (s.micro_batch < w->begun) {
			w->k++;
			continue;
		}
		/* gradients to come would mix with the sums that are on their way */
		if (s.op == GV_STEP_BACKWARD && c->buckets > 0) {
			if (worker_update(w, c, e) != 0 || worker_settle(w, e) != 0)
				return -1;
			if (unit_ends(w))
				return hear_flags(w, flags, e);
		}
		if (worker_next(w, e) != 0)
			return -1;
		if (updates && unit_ends(w))
			return worker_settle(w, e) != 0 ? -1 : hear_flags(w, flags, e);
	}
	return gv_error_set(e, "the schedule ends before its last update");
}

int
worker_meet(struct worker *w, unsigned *flags, struct gv_error *e)
{
	struct gv_sum sum;

	/* some are further into steps to come than others */
	say_flags(w, w->units + w->room - 2);
	gv_gang_sum_begin(w->post.gang, &sum, NULL, 0, *flags);
	if (post_sum(&w->post, &sum) != 0)
		return worker_lost(w, e);
	*flags = sum.flags;
	return 0;
}
