/* A net: its configuration, memory and parts.  What it does is in step.c. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "nn/gemm.h"
#include "nn/impl.h"
#include "nn/times.h"

size_t
gv_net_shards(size_t batch)
{
	return batch >= 4 ? 4 : batch >= 2 ? 2 : 1;
}

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
	if (c->threads > 4096)
		return gv_error_set(e, "%zu threads", c->threads);
	for (i = 0; i < m->n; i++) {
		struct gv_shape s = m->layer[i].in_shape;

		if (m->layer[i].op == GV_OP_BN && c->batch * s.height * s.width < 2)
			return gv_error_at(e, m->table.file, m->table.line[i], "op",
			    "bn needs more than one number per channel to train on; the "
			    "batch is 1");
	}
	return 0;
}

/* Rows of the model with their places in the arenas. */
static void
lay_out(struct gv_net *net, const struct gv_model *m)
{
	size_t i, widest = 0;

	for (i = 0; i < m->n; i++) {
		const struct gv_layer *l = &m->layer[i];
		struct row *r = &net->row[i];

		r->l = *l;
		r->from = l->from == GV_FROM_INPUT ? NULL : &net->row[l->from];
		r->in_size = gv_shape_size(l->in_shape);
		r->out_size = gv_shape_size(l->out_shape);
		r->weight = net->P;
		r->bias = net->P + l->weights;
		net->P += l->weights + l->biases;
		r->running = net->Q;
		net->Q += l->running;
		if (l->op == GV_OP_BN) {
			r->stat = net->stat_size;
			net->stat_size += 6 * l->in_shape.channels;
			if (2 * l->in_shape.channels > widest)
				widest = 2 * l->in_shape.channels;
		}
		if (gv_ops[l->op].gradient == NULL)
			continue;
		r->grad_columns = l->out / l->g;
		if (l->out == 0)
			r->grad_columns = l->out_shape.channels / l->g;
		r->grad_rows = l->weights / l->g / r->grad_columns;
		r->packed = net->packed_size;
		r->packed_size = gv_gemm_packed(r->grad_rows, r->grad_columns);
		net->packed_size += l->g * r->packed_size;
		r->back_columns =
		    l->op == GV_OP_CONV ? l->in_shape.channels / l->g : r->in_size;
		r->back_rows = l->weights / l->g / r->back_columns;
		if (r->from != NULL) {
			r->packed_t = net->packed_size;
			r->packed_t_size = gv_gemm_packed(r->back_rows, r->back_columns);
			net->packed_size += l->g * r->packed_t_size;
		}
	}
	net->partial_size = widest;
}

/*
 * Rows of a weight matrix whose gradient one item makes, in even pieces.  The
 * partial sums of linear, with few samples to a shard, should stay in L1; conv
 * gathers windows for each piece, so its pieces are larger.
 */
static size_t
piece_rows(const struct row *r)
{
	size_t most = r->l.op == GV_OP_CONV ? 240 : 96;
	size_t pieces = (r->grad_rows + most - 1) / most;
	size_t rows = (r->grad_rows + pieces - 1) / pieces;

	return (rows + 11) / 12 * 12;
}

static size_t
piece_columns(const struct row *r)
{
	size_t most = r->l.op == GV_OP_CONV ? PIECE_COLUMNS : 64;

	return lesser(r->grad_columns, most);
}

static void
cut_pieces(struct gv_net *net)
{
	size_t i, group, at, column, cap = 0;

	for (i = 0; i < net->rows; i++) {
		const struct row *r = &net->row[i];
		size_t rows, columns;

		if (gv_ops[r->l.op].gradient == NULL)
			continue;
		rows = piece_rows(r);
		columns = piece_columns(r);
		net->piece = gv_xgrow(net->piece, &cap,
		    net->pieces + 1 +
			r->l.g * (1 + r->grad_rows / rows) *
			    (1 + r->grad_columns / columns),
		    sizeof(*net->piece));
		for (group = 0; group < r->l.g; group++)
			for (at = 0; at < r->grad_rows; at += rows)
				for (column = 0; column < r->grad_columns;
				     column += columns)
					net->piece[net->pieces++] = (struct piece){r,
					    group, at, lesser(at + rows, r->grad_rows),
					    column,
					    lesser(column + columns, r->grad_columns)};
		if (r->l.biases > 0)
			net->piece[net->pieces++] =
			    (struct piece){.row = r, .last_column = r->l.biases};
	}
}

/* Partial sums of a piece over shards: a stack as deep as their binary tree. */
static size_t
tree_depth(size_t shards)
{
	size_t depth = 1;

	for (; shards > 1; shards /= 2)
		depth++;
	return depth;
}

static void
size_scratch(struct gv_net *net)
{
	size_t i, most = net->classes > net->shards ? net->classes : net->shards;

	for (i = 0; i < net->rows; i++) {
		const struct row *r = &net->row[i];
		size_t need = 0;

		if (gv_ops[r->l.op].scratch != NULL)
			need += gv_ops[r->l.op].scratch(r);
		if (gv_ops[r->l.op].gradient != NULL)
			need +=
			    tree_depth(net->shards) *
			    (piece_rows(r) * piece_columns(r) + r->l.out_shape.channels);
		if (need > most)
			most = need;
	}
	net->scratch_size = (most + 15) / 16 * 16;
}

/*
 * Samples that one item carries through the rows: few enough that what they
 * leave behind stays in cache, enough for the matrix products.  No bit depends
 * on it.
 */
static size_t
block_samples(const struct gv_net *net, size_t activations)
{
	size_t block = ((size_t)1 << 18) / (activations + 1);

	block = block < 8 ? 8 : block > 64 ? 64 : block;
	while (block > 12 && net->threads > 1 &&
	       net->B * ((net->n + block - 1) / block) < 2 * net->threads)
		block = (block + 1) / 2;
	return block;
}

/* Bytes of n numbers, a times b; more than there can be on overflow. */
static size_t
bytes_of(double a, double b)
{
	double n = a * b * sizeof(gv_real);

	return n >= (double)(SIZE_MAX / 16) ? SIZE_MAX / 16 : (size_t)n;
}

static void
count_bytes(struct gv_net *net, size_t activations)
{
	struct gv_net_bytes *t = &net->bytes;
	double B = (double)net->B, BP = B * (double)net->P;

	t->params = bytes_of(BP, 1);
	t->gradients = bytes_of(BP + B, 1);
	t->state = bytes_of(BP, net->optimiser != GV_SGD ? 2 : net->momentum);
	t->running = bytes_of(B, (double)net->Q);
	t->activations = bytes_of(B * (double)net->n, 2 * (double)activations + 1);
	t->scratch = bytes_of((double)net->threads, (double)net->scratch_size) +
		     bytes_of(B, (double)(net->packed_size + net->stat_size)) +
		     bytes_of(B * (double)net->shards, (double)net->partial_size);
	t->total = t->params + t->gradients + t->state + t->running + t->activations +
		   t->scratch;
}

/* Everything of a net but its large memory and its threads. */
static int
plan(struct gv_net *net, const struct gv_model *m, const struct gv_net_config *c,
    struct gv_error *e)
{
	size_t b;

	if (check_config(m, c, e) != 0)
		return -1;
	net->B = c->models;
	net->N = c->batch;
	net->S = c->shards == 0 ? gv_net_shards(c->batch) : c->shards;
	net->R = c->ranks == 0 ? 1 : c->ranks;
	net->rank = c->rank;
	net->shards = net->S / net->R;
	net->first = net->rank * net->shards * net->N / net->S;
	net->n = (net->rank + 1) * net->shards * net->N / net->S - net->first;
	net->threads = c->threads == 0 ? 1 : c->threads;
	net->input = m->input;
	net->in_size = gv_shape_size(m->input);
	net->classes = m->classes;
	net->optimiser = c->optimiser;
	net->flops = (double)m->flops + (double)m->activations;
	net->reduce = c->reduce;
	net->ctx = c->ctx;
	for (b = 0; b < net->B; b++)
		net->momentum |= c->coef[b].momentum != 0;
	net->rows = m->n;
	net->row = gv_xcalloc(m->n, sizeof(*net->row));
	lay_out(net, m);
	for (b = 0; b < net->rows; b++)
		net->row[b].y = b == 0 ? 0 : net->row[b - 1].y + net->row[b - 1].out_size;
	net->block = block_samples(net, m->activations);
	size_scratch(net);
	count_bytes(net, m->activations);
	return 0;
}

int
gv_net_count(const struct gv_model *m, const struct gv_net_config *c,
    struct gv_net_bytes *bytes, struct gv_error *e)
{
	struct gv_net net = {0};
	int status = plan(&net, m, c, e);

	if (status == 0)
		*bytes = net.bytes;
	free(net.row);
	return status;
}

/* n numbers, all 0, on a cache line. */
static int
numbers(gv_real **v, size_t bytes, struct gv_error *e)
{
	size_t room = (bytes + 63) / 64 * 64 + 64;

	*v = aligned_alloc(64, room);
	if (*v == NULL)
		return gv_error_set(e, "out of memory: %zu bytes wanted", bytes);
	memset(*v, 0, room);
	return 0;
}

static int
allocate(struct gv_net *net, struct gv_error *e)
{
	const struct gv_net_bytes *t = &net->bytes;
	size_t real = sizeof(gv_real), samples = net->B * net->n;
	size_t half = (t->activations / real - samples) / 2; /* of y, of dy */

	if (t->total >= SIZE_MAX / 16)
		return gv_error_set(e, "the net is too large");
	if (numbers(&net->params, t->params, e) != 0 ||
	    numbers(&net->grads, t->gradients, e) != 0 ||
	    numbers(&net->state, t->state, e) != 0 ||
	    numbers(&net->running, t->running, e) != 0 ||
	    numbers(&net->y, t->activations, e) != 0 ||
	    numbers(&net->scratch, t->scratch, e) != 0)
		return -1;
	net->dy = net->y + half;
	net->hit = net->dy + half;
	net->packed = net->scratch + net->threads * net->scratch_size;
	net->stats = net->packed + net->B * net->packed_size;
	net->partial = net->stats + net->B * net->stat_size;
	return 0;
}

int
gv_net_new(struct gv_net **out, const struct gv_model *m, const struct gv_net_config *c,
    struct gv_error *e)
{
	struct gv_net *net = gv_xcalloc(1, sizeof(*net));
	size_t b;

	*out = NULL;
	if (plan(net, m, c, e) != 0 || allocate(net, e) != 0) {
		gv_net_free(net);
		return -1;
	}
	cut_pieces(net);
	net->seed = gv_xcalloc(net->B, sizeof(*net->seed));
	net->coef = gv_xcalloc(net->B, sizeof(*net->coef));
	net->active = gv_xcalloc(net->B, sizeof(*net->active));
	net->steps = gv_xcalloc(net->B, sizeof(*net->steps));
	for (b = 0; b < net->B; b++) {
		net->seed[b] = c->seed[b];
		net->coef[b] = c->coef[b];
		net->active[b] = true;
	}
	net->pool = pool_new(net->threads);
	if (net->pool == NULL) {
		gv_error_sys(e, "cannot start %zu threads", net->threads);
		gv_net_free(net);
		return -1;
	}
	gv_net_init(net);
	*out = net;
	return 0;
}

void
gv_net_free(struct gv_net *net)
{
	if (net == NULL)
		return;
	pool_free(net->pool);
	times_free(net->times);
	free(net->params);
	free(net->grads);
	free(net->state);
	free(net->running);
	free(net->y);
	free(net->scratch);
	free(net->seed);
	free(net->coef);
	free(net->active);
	free(net->steps);
	free(net->row);
	free(net->piece);
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

void
gv_net_init(struct gv_net *net)
{
	size_t b, i;

	for (b = 0; b < net->B; b++) {
		net->steps[b] = 0;
		for (i = 0; i < net->rows; i++) {
			const struct row *r = &net->row[i];
			gv_real *w = net->params + b * net->P + r->weight;
			gv_real *bias = net->params + b * net->P + r->bias;

			if (r->l.op == GV_OP_BN) {
				gv_real *v = net->running + b * net->Q + r->running;

				fill(w, r->l.weights, 1);
				fill(bias, r->l.biases, 0);
				fill(v, r->l.running / 2, 0);
				fill(v + r->l.running / 2, r->l.running / 2, 1);
			} else if (r->l.weights > 0) {
				double bound = 1 / sqrt((double)r->grad_rows);

				draw(w, r->l.weights, bound, net->seed[b], i, 0);
				draw(bias, r->l.biases, bound, net->seed[b], i, 1);
			}
		}
	}
	memset(net->state, 0, net->bytes.state);
}

void
gv_net_time(struct gv_net *net, struct gv_net_times *times)
{
	times_free(net->times);
	net->times = times_new(net->rows, net->threads, times);
}

void
gv_net_rows(const struct gv_net *net, size_t *first, size_t *n)
{
	*first = net->first;
	*n = net->n;
}

void
gv_net_set_active(struct gv_net *net, size_t b, bool active)
{
	net->active[b] = active;
}

bool
gv_net_active(const struct gv_net *net, size_t b)
{
	return net->active[b];
}

int
gv_net_array(struct gv_net *net, size_t i, struct gv_net_array *a)
{
	struct gv_net_array all[4];
	size_t n = 0;

	all[n++] = (struct gv_net_array){"params", net->params, net->P};
	if (net->optimiser != GV_SGD) {
		all[n++] = (struct gv_net_array){"adam_m", net->state, net->P};
		all[n++] =
		    (struct gv_net_array){"adam_v", net->state + net->B * net->P, net->P};
	} else if (net->momentum) {
		all[n++] = (struct gv_net_array){"momentum", net->state, net->P};
	}
	if (net->Q > 0)
		all[n++] = (struct gv_net_array){"running", net->running, net->Q};
	if (i >= n)
		return -1;
	*a = all[i];
	return 0;
}

uint64_t *
gv_net_steps(struct gv_net *net)
{
	return net->steps;
}

struct gv_net_coef *
gv_net_coef(struct gv_net *net)
{
	return net->coef;
}

int
gv_net_tensor(const struct gv_net *net, size_t i, struct gv_net_tensor *t)
{
	static const char *const names[] = {"weight", "bias", "mean", "variance"};
	size_t k, part;

	for (k = 0; k < net->rows; k++) {
		const struct row *r = &net->row[k];
		size_t half = r->l.running / 2;
		size_t n[4] = {r->l.weights, r->l.biases, half, half};
		size_t offset[4] = {r->weight, r->bias, r->running, r->running + half};

		for (part = 0; part < 4; part++) {
			if (n[part] == 0 || i-- > 0)
				continue;
			snprintf(t->name, sizeof(t->name), "%lld.%s", (long long)r->l.id,
			    names[part]);
			t->row = k;
			t->running = part >= 2;
			t->offset = offset[part];
			t->n = n[part];
			return 0;
		}
	}
	return -1;
}

const gv_real *
gv_net_gradients(const struct gv_net *net)
{
	return net->grads;
}

void
gv_net_bytes(const struct gv_net *net, struct gv_net_bytes *bytes)
{
	*bytes = net->bytes;
}
