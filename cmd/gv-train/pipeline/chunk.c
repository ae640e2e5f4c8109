#include "chunk.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "nn/backend.h"

/*
 * Numbers of a bucket: an eighth of the stage's, so that what its first rows leave to be summed
 * behind the backward pass is little, but not so few that its messages cost more than their
 * bytes; and of a part of a larger one.
 */
enum {
	BUCKETS = 8,
	BUCKET_LEAST = 16 * 1024,
	BUCKET_MOST = 256 * 1024,
	PART = 256 * 1024
};

/* ---- opening ---- */

static void
find_crossing(struct crossing *x, const struct gv_net *net, size_t first, size_t rows)
{
	size_t k;

	x->row = gv_xcalloc(rows, sizeof(*x->row));
	gv_net_boundary(net, first, x->row, &x->n);
	for (k = 0; k < x->n; k++)
		x->numbers += gv_net_row_size(net, x->row[k]);
}

/* Whether a row of the stage reads the sample. */
static bool
reads_sample(const struct gv_model *m, const struct stage *at)
{
	size_t i, k;

	for (i = at->first; i < at->last; i++)
		for (k = 0; k < m->layer[i].inputs; k++)
			if (m->layer[i].from[k] == GV_FROM_INPUT)
				return true;
	return false;
}

static void
open_group(struct chunk *c, const struct worker_spec *spec)
{
	uint64_t head = route_together(
	    spec->route, spec->stages->stage[spec->stages->n - 1].replicas);

	c->group = (struct group){.first = spec->route->rank[c->stage],
	    .n = c->at->replicas,
	    .own = spec->rank - spec->route->rank[c->stage],
	    .stage = c->stage};
	c->scale = (double)head / (double)route_together(spec->route, c->at->replicas);
}

/* Whether the stage works on other micro-batches before it comes to the weights' gradients. */
static bool
puts_off(const struct gv_course *course, size_t stage)
{
	uint32_t worked_on = 0;
	size_t i;

	for (i = 0; i < course->n; i++) {
		const struct gv_step *s = &course->step[i];

		if (s->stage != stage)
			continue;
		if (s->op == GV_STEP_WEIGHT && s->micro_batch != worked_on)
			return true;
		if (s->op == GV_STEP_FORWARD || s->op == GV_STEP_BACKWARD)
			worked_on = s->micro_batch;
	}
	return false;
}

int
chunk_open(
    struct chunk *c, const struct worker_spec *spec, size_t stage, struct gv_error *e)
{
	struct gv_net_config config = spec->net;
	const struct gv_course *course = &spec->route->course;
	struct gv_course_needs needs = gv_course_needs(course, (uint32_t)stage);
	size_t i;

	*c = (struct chunk){.stage = stage, .at = &spec->stages->stage[stage]};
	c->models = config.models;
	c->is_last = stage + 1 == spec->stages->n;
	c->reads_sample = reads_sample(spec->model, c->at);
	config.first_row = c->at->first;
	config.last_row = c->at->last;
	/* nor where models go one behind the other through what a slot forgets */
	config.recompute = c->recompute =
	    c->at->recompute && !puts_off(course, stage) &&
	    (spec->orders <= 1 || (!c->is_last && !c->reads_sample));
	/* all others may be taken when it is tested (worker_rest) */
	if (spec->tests && spec->route->overlaps)
		needs.slots++;
	config.slots = c->slots = needs.slots;
	config.versions = c->versions = needs.versions;
	config.micro_batches = (size_t)route_together(
	    spec->route, spec->stages->stage[spec->stages->n - 1].replicas);
	config.backend = spec->device(spec->ctx, e);
	if (config.backend == NULL)
		return -1;
	c->moves =
	    config.backend->host_memory && spec->route->workers > 1 && !c->recompute;
	c->own_clock = spec->own_clock && config.backend->host_memory;
	config.places = c->direct = config.backend->host_memory;
	if (gv_net_new(&c->net, spec->model, &config, e) != 0)
		return -1;
	if (gv_net_data(c->net, spec->x, spec->target, spec->samples) != 0)
		return gv_error_set(e, "%s", gv_net_error(c->net));
	c->held = gv_xcalloc(c->slots, sizeof(*c->held));
	for (i = 0; i < 2; i++)
		c->came[i] = gv_xcalloc(c->slots, sizeof(struct parcel *));
	for (i = 0; i < c->slots; i++)
		c->held[i] = UINT64_MAX;
	find_crossing(&c->in, c->net, c->at->first, spec->model->n);
	find_crossing(&c->out, c->net, c->at->last, spec->model->n);
	open_group(c, spec);
	return 0;
}

static void
free_sums(struct chunk *c)
{
	size_t i, k;

	for (i = 0; i < c->buckets; i++) {
		for (k = 0; k < c->bucket[i].parts; k++)
			reduce_free(&c->bucket[i].part[k]);
		free(c->bucket[i].part);
	}
	c->buckets = 0;
}

void
chunk_close(struct chunk *c)
{
	size_t i, k;

	free_sums(c);
	for (i = 0; i < 2; i++) {
		for (k = 0; c->came[i] != NULL && k < c->slots; k++)
			if (c->came[i][k] != NULL)
				post_back(c->group.post, c->came[i][k]);
		free(c->came[i]);
	}
	gv_net_free(c->net);
	free(c->held);
	free(c->in.row);
	free(c->out.row);
	free(c->room);
	free(c->loss);
}

/* ---- slots and versions ---- */

size_t
chunk_slot(const struct chunk *c, uint64_t micro_batch)
{
	size_t i;

	for (i = 0; i < c->slots; i++)
		if (c->held[i] == micro_batch)
			return i;
	return SIZE_MAX;
}

size_t
chunk_take(struct chunk *c, uint64_t micro_batch)
{
	size_t slot = chunk_slot(c, UINT64_MAX);

	if (slot != SIZE_MAX)
		c->held[slot] = micro_batch;
	return slot;
}

void
chunk_drop(struct chunk *c, size_t slot)
{
	c->held[slot] = UINT64_MAX;
}

size_t
chunk_version(const struct chunk *c, uint64_t updates)
{
	return gv_net_version(c->net, (size_t)(c->newest - updates));
}

/* ---- what crosses ---- */

/* What is sent of a slot's outputs, or gradients. */
static const void *
source_of(const struct chunk *c, size_t slot, enum gv_net_side side)
{
	return &c->came[side][slot];
}

void
chunk_settle(struct chunk *c, size_t slot, enum gv_net_side side)
{
	if (c->direct)
		post_settle(c->group.post, source_of(c, slot, side));
}

static int
copy_in(struct chunk *c, const struct crossing *x, size_t slot, enum gv_net_side side,
    const gv_real *v)
{
	size_t k;

	for (k = 0; k < x->n; k++) {
		if (gv_net_put_row(c->net, slot, x->row[k], side, v) != 0)
			return -1;
		v += gv_net_row_size(c->net, x->row[k]);
	}
	return 0;
}

static int
place(struct chunk *c, const struct crossing *x, size_t slot, enum gv_net_side side,
    gv_real *v)
{
	size_t k;

	for (k = 0; k < x->n; k++) {
		if (gv_net_place_row(c->net, slot, x->row[k], side, v) != 0)
			return -1;
		v += gv_net_row_size(c->net, x->row[k]);
	}
	return 0;
}

int
chunk_put(struct chunk *c, const struct crossing *x, size_t slot, enum gv_net_side side,
    struct parcel *p)
{
	struct post *post = c->group.post;
	int status;

	if (!c->direct) {
		status = copy_in(c, x, slot, side, p->v);
		post_back(post, p);
		return status;
	}
	if (c->came[side][slot] != NULL)
		post_back(post, c->came[side][slot]);
	c->came[side][slot] = p;
	return place(c, x, slot, side, p->v);
}

static int
send_copy(struct chunk *c, const struct crossing *x, size_t slot, enum gv_net_side side,
    size_t to, struct gv_tag tag)
{
	struct post *post = c->group.post;
	struct parcel *p = post_blank(post, x->numbers);
	gv_real *v = p->v;
	size_t k;

	for (k = 0; k < x->n; k++) {
		if (gv_net_get_row(c->net, slot, x->row[k], side, v) != 0) {
			post_back(post, p);
			return -1;
		}
		v += gv_net_row_size(c->net, x->row[k]);
	}
	post_send(post, p, to, tag);
	return 0;
}

int
chunk_send(struct chunk *c, const struct crossing *x, size_t slot, enum gv_net_side side,
    size_t to, struct gv_tag tag)
{
	struct post *post = c->group.post;
	struct parcel *p;
	size_t k;

	if (!c->direct || to == post->rank)
		return send_copy(c, x, slot, side, to, tag);
	p = post_pieces(post, source_of(c, slot, side), x->n);
	for (k = 0; k < x->n; k++) {
		const gv_real *v = gv_net_row_at(c->net, slot, x->row[k], side);

		if (v == NULL) {
			post_back(post, p);
			return -1;
		}
		/* as an address: pieces are not const, and not written */
		p->piece[k] = (struct iovec){(void *)(uintptr_t)v,
		    gv_net_row_size(c->net, x->row[k]) * sizeof(*v)};
	}
	post_send_pieces(post, p, to, tag);
	return 0;
}

/* ---- gradients ---- */

static bool
is_scaled(const struct chunk *c)
{
	return c->scale < 1 || c->scale > 1;
}

/* Room for the gradients of all of the stage's rows. */
static void
open_room(struct chunk *c)
{
	if (c->room == NULL)
		c->room = gv_xcalloc(
		    gv_net_gradients_size(c->net, c->at->first, c->at->last) + 1,
		    sizeof(*c->room));
}

/* Gradients of which there is no sum over replicas to scale. */
static int
scale_own(struct chunk *c)
{
	size_t first = c->at->first, last = c->at->last, k,
	       n = gv_net_gradients_size(c->net, first, last);

	open_room(c);
	if (gv_net_gradients_get(c->net, first, last, c->room) != 0)
		return -1;
	for (k = 0; k < n; k++)
		c->room[k] = (gv_real)(c->room[k] * c->scale);
	return gv_net_gradients_put(c->net, first, last, c->room);
}

/* The losses are summed with the last rows' gradients. */
static int
keep_losses(struct chunk *c, size_t last)
{
	if (!c->is_last || last < c->at->last)
		return 0;
	if (c->loss == NULL)
		c->loss = gv_xcalloc(c->models, sizeof(*c->loss));
	c->has_loss = true;
	return gv_net_sum(c->net, c->loss);
}

int
chunk_losses(struct chunk *c, double *loss)
{
	if (!c->has_loss)
		return gv_net_sum(c->net, loss);
	memcpy(loss, c->loss, c->models * sizeof(*loss));
	return 0;
}

/* To where they are summed. */
static int
copy_out(struct chunk *c, struct bucket *b)
{
	size_t i;

	open_room(c);
	b->v = c->room;
	for (i = 0; i < c->buckets; i++)
		b->v += c->bucket[i].n;
	return gv_net_gradients_get(c->net, b->first, b->last, b->v);
}

int
chunk_begin_sum(struct chunk *c, size_t first, size_t last)
{
	struct bucket *b = &c->bucket[c->buckets];
	size_t n = gv_net_gradients_size(c->net, first, last), i, at;
	gv_real *v;

	if (c->joined) {
		c->bucket[c->buckets++] = (struct bucket){.first = first, .last = last};
		return gv_net_add_rows(c->net, first, last, is_scaled(c) ? c->scale : 0);
	}
	v = gv_net_gradients_here(c->net, first, last);
	*b = (struct bucket){.first = first, .last = last, .v = v, .n = n};
	b->here = v != NULL;
	if (b->here ? keep_losses(c, last) != 0 : copy_out(c, b) != 0)
		return -1;
	v = b->v;
	b->part = gv_xcalloc(n / PART + 1, sizeof(*b->part));
	c->buckets++;
	for (i = n / PART + 1; i > 0; i--, b->parts++) {
		at = n * b->parts / (n / PART + 1);
		reduce_begin(&b->part[b->parts], &c->group, v + at,
		    n * (b->parts + 1) / (n / PART + 1) - at);
	}
	return 0;
}

static size_t
bucket_size(const struct chunk *c)
{
	size_t n = gv_net_gradients_size(c->net, c->at->first, c->at->last) / BUCKETS;

	return n < BUCKET_LEAST ? BUCKET_LEAST : n > BUCKET_MOST ? BUCKET_MOST : n;
}

size_t
chunk_bucket_begin(const struct chunk *c, size_t last)
{
	size_t first = last, least = bucket_size(c);

	if (c->buckets + 1 == BUCKETS_MOST)
		return c->at->first;
	while (first > c->at->first &&
	       (first == last || gv_net_gradients_size(c->net, first, last) < least))
		first--;
	/* what is left is not worth a bucket */
	if (gv_net_gradients_size(
		c->net, c->at->first, first == c->at->first ? last : first) < least / 4)
		first = c->at->first;
	return first;
}

int
chunk_reduce(struct chunk *c)
{
	c->added = 0;
	return c->buckets > 0 ? 0 : chunk_begin_sum(c, c->at->first, c->at->last);
}

void
chunk_move(struct chunk *c)
{
	size_t i, k;

	for (i = 0; i < c->buckets; i++)
		for (k = 0; k < c->bucket[i].parts; k++)
			reduce_move(&c->bucket[i].part[k]);
}

/* The sums into the net's gradients. */
static int
take_sums(struct chunk *c, bool *lost)
{
	size_t i, k;

	if (c->joined) {
		c->buckets = 0;
		return gv_net_rows_added(c->net);
	}
	for (i = 0; i < c->buckets; i++) {
		struct bucket *b = &c->bucket[i];

		for (k = 0; k < b->parts; k++)
			if (reduce_end(&b->part[k]) != 0) {
				*lost = true;
				return -1;
			}
		for (k = 0; k < b->n && is_scaled(c); k++)
			b->v[k] = (gv_real)(b->v[k] * c->scale);
		if (!b->here &&
		    gv_net_gradients_put(c->net, b->first, b->last, b->v) != 0)
			return -1;
	}
	/* not one by one: whoever waits for one moves all of them on */
	free_sums(c);
	return 0;
}

/* Each replica has seen other micro-batches: running statistics are their mean. */
static int
share_running(struct chunk *c, bool *lost)
{
	size_t n, models = c->models, k, b;
	size_t i = gv_net_find_array(c->net, "running", &n);
	struct reduce sum = {0};
	gv_real *v;
	int status = 0;

	if (i == SIZE_MAX)
		return 0;
	if (c->joined)
		return gv_net_add_running(c->net, c->group.n) != 0
			   ? -1
			   : gv_net_rows_added(c->net);
	v = gv_xcalloc(models * n, sizeof(*v));
	for (b = 0; b < models && status == 0; b++)
		status = gv_net_get(c->net, i, b, v + b * n);
	if (status == 0) {
		reduce_begin(&sum, &c->group, v, models * n);
		*lost = reduce_end(&sum) != 0;
		if (*lost)
			return -1; /* what is on its way points there */
	}
	for (k = 0; k < models * n; k++)
		v[k] /= (gv_real)c->group.n;
	for (b = 0; b < models && status == 0; b++)
		if (gv_net_active(c->net, b))
			status = gv_net_put(c->net, i, b, v + b * n);
	reduce_free(&sum);
	free(v);
	return status;
}

int
chunk_sum(struct chunk *c, bool *lost)
{
	*lost = false;
	c->times.buckets = c->buckets;
	if (c->group.n > 1)
		return take_sums(c, lost);
	return is_scaled(c) ? scale_own(c) : 0;
}

int
chunk_update(struct chunk *c, const double *square, bool *lost)
{
	size_t from = gv_net_version(c->net, 0);
	double began = gv_clock_s();

	*lost = false;
	if ((square != NULL ? gv_net_clip(c->net, square) : gv_net_clip_values(c->net)) !=
		0 ||
	    gv_net_advance(c->net, from, gv_net_version(c->net, c->versions - 1)) != 0)
		return -1;
	c->times.update_s += gv_clock_s() - began;
	if (c->group.n > 1 && share_running(c, lost) != 0)
		return -1;
	c->added = 0;
	c->has_loss = false;
	c->newest++;
	return 0;
}
