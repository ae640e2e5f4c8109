/* A net: its configuration, memory and beginning.  What it does is in net_work.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "nn/net_private.h"

static bool
is_power_of_two(size_t n)
{
	return n > 0 && (n & (n - 1)) == 0;
}

static int
check_config(const struct gv_model *m, const struct gv_net_config *c, struct gv_error *e)
{
	size_t i, shards = c->shards == 0 ? gv_net_shards(c->batch) : c->shards;
	size_t ranks = c->ranks == 0 ? 1 : c->ranks;

	if (c->models == 0 || c->models > (size_t)1 << 20)
		return gv_error_set(e, "%zu models in an array", c->models);
	if (c->batch == 0 || c->batch > (size_t)1 << 24)
		return gv_error_set(e, "a batch of %zu samples", c->batch);
	if (!is_power_of_two(shards) || shards > c->batch)
		return gv_error_set(e,
		    "%zu shards: not a power of two up to the batch of %zu", shards,
		    c->batch);
	if (!is_power_of_two(ranks) || ranks > shards)
		return gv_error_set(
		    e, "%zu ranks: not a power of two up to %zu shards", ranks, shards);
	if (c->rank >= ranks)
		return gv_error_set(e, "rank %zu of %zu ranks", c->rank, ranks);
	if (ranks > 1 && c->reduce == NULL)
		return gv_error_set(e, "%zu ranks, but no way to reduce", ranks);
	if (c->micro_batches > 1 << 20 || c->slots > 1 << 20 || c->versions > 1 << 20)
		return gv_error_set(e, "%zu micro-batches, %zu slots, %zu versions",
		    c->micro_batches, c->slots, c->versions);
	if (c->last_row > m->n || c->first_row >= (c->last_row == 0 ? m->n : c->last_row))
		return gv_error_set(e, "rows %zu to %zu of a model of %zu", c->first_row,
		    c->last_row, m->n);
	for (i = 0; i < m->n; i++) {
		struct gv_shape s = m->layer[i].in_shape;

		if (m->layer[i].op == GV_OP_BN && c->batch * s.height * s.width < 2)
			return gv_error_at(e, m->table.file, m->table.line[i], "op",
			    "bn needs more than one number per channel to train on; the "
			    "batch is 1");
	}
	return 0;
}

static size_t
at_least_1(size_t n)
{
	return n == 0 ? 1 : n;
}

static size_t
together(size_t a, size_t b)
{
	return a >= GV_NN_TOO_MUCH || b >= GV_NN_TOO_MUCH ? GV_NN_TOO_MUCH : a + b;
}

static size_t
times(size_t n, size_t bytes)
{
	return bytes > 0 && n >= GV_NN_TOO_MUCH / bytes ? GV_NN_TOO_MUCH : n * bytes;
}

/* Room for the largest reduce, where ranks cannot reach the backend's memory. */
static size_t
host_bytes(const struct gv_net *net)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t most = p->P + 1 > p->widest ? p->P + 1 : p->widest;

	if (p->R == 1 || net->be->host_memory)
		return 0;
	return gv_nn_bytes((double)p->B, (double)most);
}

/* Of losses that are read late. */
static size_t
late_bytes(const struct gv_net *net)
{
	return gv_nn_bytes(GV_NET_LATE, (double)net->plan.B);
}

static void
count_bytes(struct gv_net *net)
{
	const struct gv_nn_sizes *s = &net->sizes;
	const struct gv_nn_plan *p = &net->plan;
	struct gv_net_bytes *t = &net->bytes;
	double B = (double)p->B, BP = B * (double)p->P;

	t->params = times(net->versions, s->params);
	t->gradients = s->gradients;
	t->state = gv_nn_bytes(BP, net->optimiser != GV_SGD ? 2 : net->momentum);
	t->running = gv_nn_bytes(2 * B, (double)p->Q);
	t->activations =
	    together(times(net->slots, together(s->activations, s->placed)), s->shared);
	t->scratch = together(s->scratch,
	    together(times(net->versions, s->packed), times(net->slots, s->sums)));
	t->scratch = together(t->scratch, host_bytes(net));
	t->scratch = together(t->scratch, late_bytes(net));
	t->total = together(
	    together(together(t->params, t->gradients), together(t->state, t->running)),
	    together(t->activations, t->scratch));
}

/* Everything of a net but its large memory and its threads. */
static int
prepare(struct gv_net *net, const struct gv_model *m, const struct gv_net_config *c,
    struct gv_error *e)
{
	struct gv_nn_room room = {0};
	size_t b;

	net->be = c->backend;
	if (check_config(m, c, e) != 0)
		return -1;
	gv_nn_plan_make(&net->plan, m, c);
	net->versions = at_least_1(c->versions);
	net->slots = at_least_1(c->slots);
	net->optimiser = c->optimiser;
	net->bucket = c->bucket;
	net->ranks = (struct gv_nn_ranks){.reduce = c->reduce, .ctx = c->ctx};
	for (b = 0; b < c->models; b++)
		net->momentum |= c->coef[b].momentum != 0;
	net->be->plan(net->be, &net->plan, &room);
	if (room.stored > 0)
		net->plan.stored = room.stored;
	net->together = room.together > 0 ? room.together : c->models;
	net->learns = room.learns;
	net->sizes = gv_nn_sizes(&net->plan, &room);
	count_bytes(net);
	return 0;
}

static int
allocate_ranks(struct gv_net *net, struct gv_error *e)
{
	size_t bytes = host_bytes(net);

	if (bytes == 0)
		return 0;
	net->ranks.host = net->be->alloc(net->be, GV_NN_PINNED, bytes, e);
	return net->ranks.host == NULL ? -1 : 0;
}

static int
allocate(struct gv_net *net, struct gv_error *e)
{
	const struct gv_net_bytes *t = &net->bytes;
	struct gv_nn_backend *be = net->be;
	size_t i;

	if (t->total >= GV_NN_TOO_MUCH)
		return gv_error_set(e, "the net is too large");
	net->weights = gv_xcalloc(net->versions, sizeof(*net->weights));
	net->flight = gv_xcalloc(net->slots, sizeof(*net->flight));
	for (i = 0; i < net->versions; i++)
		if (gv_nn_weights_make(
			&net->weights[i], be, &net->plan, &net->sizes, e) != 0)
			return -1;
	if (gv_nn_grads_make(&net->grads, be, &net->sizes, e) != 0 ||
	    (net->state = be->alloc(be, GV_NN_STATE, t->state, e)) == NULL ||
	    (net->running = be->alloc(be, GV_NN_STATE, t->running, e)) == NULL)
		return -1;
	net->there = SIZE_MAX;
	if (net->plan.recompute && (net->shared = be->alloc(be, GV_NN_ACTIVATIONS,
					net->sizes.shared, e)) == NULL)
		return -1;
	for (i = 0; i < net->slots; i++) {
		net->flight[i].stream = (int)i;
		if (gv_nn_flight_make(&net->flight[i], be, &net->plan, &net->sizes,
			net->shared, e) != 0)
			return -1;
	}
	net->scratch = be->alloc(be, GV_NN_SCRATCH, net->sizes.scratch, e);
	if (net->scratch == NULL)
		return -1;
	net->late = be->alloc(be, GV_NN_PINNED, late_bytes(net), e);
	return net->late == NULL ? -1 : allocate_ranks(net, e);
}

static void
name_versions(struct gv_net *net)
{
	size_t i;

	net->order = gv_xcalloc(net->versions, sizeof(*net->order));
	net->older = gv_xcalloc(net->versions, sizeof(*net->older));
	for (i = 0; i + 1 < net->versions; i++)
		snprintf(
		    net->older[i].name, sizeof(net->older[i].name), "params.%zu", i + 1);
}

int
gv_net_new(struct gv_net **out, const struct gv_model *m, const struct gv_net_config *c,
    struct gv_error *e)
{
	struct gv_net *net = gv_xcalloc(1, sizeof(*net));
	size_t b;

	*out = NULL;
	if (prepare(net, m, c, e) != 0 || allocate(net, e) != 0) {
		gv_net_free(net);
		return -1;
	}
	name_versions(net);
	net->seed = gv_xcalloc(c->models, sizeof(*net->seed));
	net->coef = gv_xcalloc(c->models, sizeof(*net->coef));
	net->active = gv_xcalloc(c->models, sizeof(*net->active));
	net->steps = gv_xcalloc(c->models, sizeof(*net->steps));
	net->mean = gv_xcalloc(c->models, sizeof(*net->mean));
	net->chosen = gv_xcalloc(c->models, sizeof(*net->chosen));
	net->late_of = gv_xcalloc(GV_NET_LATE * c->models, sizeof(*net->late_of));
	for (b = 0; b < c->models; b++) {
		net->seed[b] = c->seed[b];
		net->coef[b] = c->coef[b];
		net->active[b] = true;
	}
	for (b = 0; b < net->slots; b++)
		gv_net_number(net, b, 0);
	if (net->be->start(net->be, net->scratch, e) != 0 || gv_net_init(net) != 0) {
		if (e->count == 0)
			gv_error_set(e, "%s: %s", net->be->name, gv_net_error(net));
		gv_net_free(net);
		return -1;
	}
	*out = net;
	return 0;
}

static void
free_memory(struct gv_net *net)
{
	struct gv_nn_backend *be = net->be;
	size_t i;

	for (i = 0; net->weights != NULL && i < net->versions; i++)
		gv_nn_weights_free(&net->weights[i], be);
	for (i = 0; net->flight != NULL && i < net->slots; i++)
		gv_nn_flight_free(&net->flight[i], be);
	gv_nn_grads_free(&net->grads, be);
	be->release(be, GV_NN_ACTIVATIONS, net->shared);
	be->release(be, GV_NN_STATE, net->state);
	be->release(be, GV_NN_STATE, net->running);
	be->release(be, GV_NN_SCRATCH, net->scratch);
	be->release(be, GV_NN_PINNED, net->ranks.host);
	be->release(be, GV_NN_PINNED, net->late);
	for (i = 0; i < 2; i++)
		be->release(be, GV_NN_ACTIVATIONS, net->data_copy[i]);
}

void
gv_net_free(struct gv_net *net)
{
	if (net == NULL)
		return;
	free_memory(net);
	net->be->free(net->be);
	gv_nn_plan_free(&net->plan);
	free(net->weights);
	free(net->flight);
	free(net->order);
	free(net->older);
	free(net->seed);
	free(net->coef);
	free(net->active);
	free(net->steps);
	free(net->mean);
	free(net->chosen);
	free(net->late_of);
	free(net);
}

/* v[i] uniform in +-bound, a function of seed, row and tensor alone */
static void
draw(gv_real *v, size_t n, double bound, uint64_t seed, size_t row, uint32_t tensor)
{
	double u;
	size_t i;

	for (i = 0; i < n; i++) {
		u = gv_random_uniform(seed, (uint32_t)row, tensor, i);
		v[i] = (gv_real)(bound * (2 * u - 1));
	}
}

static void
fill(gv_real *v, size_t n, gv_real x)
{
	while (n-- > 0)
		*v++ = x;
}

/* Uniform numbers of GPT-2's deviation, 0.02. */
#define EMBED_BOUND 0.034641016151377546

/* The weight of the embed that a row is tied with, transposed: [channels][tokens]. */
static void
draw_tied(
    const struct gv_nn_plan *p, const struct gv_nn_row *r, uint64_t seed, gv_real *v)
{
	const struct gv_layer *to = &p->row[r->l.tied].l;
	gv_real *drawn = gv_xcalloc(to->weights, sizeof(*drawn));

	draw(drawn, to->weights, EMBED_BOUND, seed, to->place, 0);
	gv_nn_transpose(v, drawn, r->columns, r->matrix_rows);
	free(drawn);
}

/* Fresh parameters of a model, [P]. */
static void
draw_params(const struct gv_nn_plan *p, uint64_t seed, gv_real *v)
{
	size_t i;

	for (i = p->first_row; i < p->last_row; i++) {
		const struct gv_nn_row *r = &p->row[i];

		if (r->l.is_tied) {
			draw_tied(p, r, seed, v + r->weight);
			draw(v + r->bias, r->l.biases, 1 / sqrt((double)r->matrix_rows),
			    seed, r->l.place, 1);
		} else if (r->l.op == GV_OP_BN || r->l.op == GV_OP_LN) {
			fill(v + r->weight, r->l.weights, 1);
			fill(v + r->bias, r->l.biases, 0);
		} else if (r->l.weights > 0) {
			size_t fan_in =
			    r->l.op == GV_OP_LSTM ? r->columns / 4 : r->matrix_rows;
			double bound = r->l.op == GV_OP_EMBED ? EMBED_BOUND
							      : 1 / sqrt((double)fan_in);

			draw(v + r->weight, r->l.weights, bound, seed, r->l.place, 0);
			draw(v + r->bias, r->l.biases, bound, seed, r->l.place, 1);
		}
	}
}

static void
fresh_running(const struct gv_nn_plan *p, gv_real *v)
{
	size_t i;

	for (i = p->first_row; i < p->last_row; i++) {
		const struct gv_nn_row *r = &p->row[i];
		size_t half = r->l.running / 2;

		fill(v + r->running, half, 0);
		fill(v + r->running + half, half, 1);
	}
}

static int
put_fresh(struct gv_net *net, gv_real *v)
{
	const struct gv_nn_plan *p = &net->plan;
	struct gv_nn_backend *be = net->be;
	size_t real = sizeof(*v), b, i;

	for (b = 0; b < p->B; b++) {
		draw_params(p, net->seed[b], v);
		for (i = 0; i < net->versions; i++)
			if (be->put(be, net->weights[i].params + b * p->P, v,
				p->P * real) != 0)
				return -1;
		fresh_running(p, v);
		if (be->put(be, net->running + b * p->Q, v, p->Q * real) != 0)
			return -1;
	}
	return 0;
}

int
gv_net_init(struct gv_net *net)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t most = p->P > p->Q ? p->P : p->Q, i;
	gv_real *v = gv_xcalloc(most + 1, sizeof(*v));
	int status = put_fresh(net, v);

	memset(net->steps, 0, p->B * sizeof(*net->steps));
	memset(v, 0, most * sizeof(*v));
	for (i = 0; i < net->bytes.state / sizeof(*v) && status == 0; i += p->P)
		status = net->be->put(net->be, net->state + i, v, p->P * sizeof(*v));
	for (i = 0; i < net->versions; i++) {
		gv_nn_weights_changed(&net->weights[i], p);
		net->order[i] = i == 0 ? 0 : net->versions - i;
	}
	free(v);
	return status;
}
