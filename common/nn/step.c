/*
 * What a net does: loops over items that the pool shares out.
 *
 * Rows between two bn need nothing of other samples, so a block of samples goes
 * through all of them at once, there and back, while it is in cache.  Sums over
 * samples are loops of their own: bn's between these segments, the weights'
 * gradients at the end, cut by the matrix instead of the samples.
 */
#include <math.h>
#include <string.h>

#include "nn/gemm.h"
#include "nn/impl.h"
#include "nn/times.h"

struct job {
	struct gv_net *net;
	size_t from, to; /* rows [from, to) */
	size_t n;        /* samples */
	size_t blocks;
};

static gv_real *
scratch_of(const struct gv_net *net, size_t thread)
{
	return net->scratch + thread * net->scratch_size;
}

/* ---- packing the weights ---- */

enum { COLUMNS = 128 }; /* that one item packs; whole panels */

/* One item: a model, for all rows the columns [item part]. */
struct packing {
	struct gv_net *net;
	size_t strips; /* of the widest matrix */
	bool backward;
};

static void
pack_matrix(gv_real *packed, const gv_real *w, size_t rs, size_t cs, size_t k, size_t n,
    size_t strip)
{
	size_t at = strip * COLUMNS;

	if (at < n)
		gv_gemm_pack(
		    packed + k * at, w + at * cs, rs, cs, k, lesser(n - at, COLUMNS));
}

static void
pack_row(struct gv_net *net, const struct row *r, size_t b, size_t strip, bool backward,
    size_t thread)
{
	size_t group, tap, taps, in = r->back_columns, out = r->grad_columns, at;
	const gv_real *w = row_weight(net, r, b);
	gv_real *base = net->packed + b * net->packed_size;

	for (group = 0; group < r->l.g; group++, w += r->grad_rows * out) {
		gv_real *packed = base + r->packed + group * r->packed_size;

		pack_matrix(packed, w, out, 1, r->grad_rows, out, strip);
		times_lap(net->times, thread, row_number(net, r), TIMES_FORWARD);
		if (!backward || r->from == NULL)
			continue;
		/* [taps turned round][out] x [in], each tap transposed */
		packed = base + r->packed_t + group * r->packed_t_size;
		taps = r->back_rows / out;
		at = strip * COLUMNS;
		if (at >= in)
			continue;
		for (tap = 0; tap < taps; tap++)
			gv_gemm_pack_rows(packed + r->back_rows * at,
			    w + (taps - 1 - tap) * in * out + at * out, 1, out,
			    r->back_rows, tap * out, out, lesser(in - at, COLUMNS));
		times_lap(net->times, thread, row_number(net, r), TIMES_BACKWARD);
	}
}

static void
pack_item(void *ctx, size_t item, size_t thread)
{
	const struct packing *p = ctx;
	size_t b = item / p->strips, i;

	if (!p->net->active[b] && p->backward)
		return;
	times_item(p->net->times, thread);
	for (i = 0; i < p->net->rows; i++)
		if (p->net->row[i].packed_size > 0)
			pack_row(p->net, &p->net->row[i], b, item % p->strips,
			    p->backward, thread);
}

static void
pack(struct gv_net *net, bool backward)
{
	struct packing p = {net, 1, backward};
	size_t i;

	for (i = 0; i < net->rows; i++) {
		const struct row *r = &net->row[i];

		if (r->grad_columns > p.strips * COLUMNS)
			p.strips = (r->grad_columns + COLUMNS - 1) / COLUMNS;
		if (r->back_columns > p.strips * COLUMNS)
			p.strips = (r->back_columns + COLUMNS - 1) / COLUMNS;
	}
	times_loop(net->times);
	pool_run(net->pool, net->B * p.strips, (double)(net->B * net->packed_size),
	    pack_item, &p);
	times_loop_end(net->times);
}

/* ---- segments of rows ---- */

static void
forward_item(void *ctx, size_t item, size_t thread)
{
	const struct job *j = ctx;
	struct gv_net *net = j->net;
	size_t b = item / j->blocks, i = item % j->blocks * net->block, k;
	size_t n = lesser(j->n - i, net->block);

	if (!net->active[b] && net->training)
		return;
	times_item(net->times, thread);
	for (k = j->from; k < j->to; k++) {
		gv_ops[net->row[k].l.op].forward(
		    net, &net->row[k], b, i, n, scratch_of(net, thread));
		times_lap(net->times, thread, k, TIMES_FORWARD);
	}
}

static void
backward_item(void *ctx, size_t item, size_t thread)
{
	const struct job *j = ctx;
	struct gv_net *net = j->net;
	size_t b = item / j->blocks, i = item % j->blocks * net->block, k;
	size_t n = lesser(j->n - i, net->block);

	if (!net->active[b])
		return;
	times_item(net->times, thread);
	for (k = j->to; k-- > j->from;) {
		const struct row *r = &net->row[k];

		if (r->from == NULL)
			continue;
		gv_ops[r->l.op].backward(net, r, b, i, n, scratch_of(net, thread));
		times_lap(net->times, thread, k, TIMES_BACKWARD);
		if (!r->from->l.relu)
			continue;
		relu_mask(row_dy(net, r->from, b, i), row_y(net, r->from, b, i),
		    n * r->from->out_size);
		times_lap(net->times, thread, row_number(net, r->from), TIMES_BACKWARD);
	}
}

static void
run_segment(struct gv_net *net, size_t from, size_t to, size_t n, pool_item *item)
{
	struct job j = {net, from, to, n, (n + net->block - 1) / net->block};

	if (from == to)
		return;
	times_loop(net->times);
	pool_run(
	    net->pool, net->B * j.blocks, net->flops * (double)(net->B * n), item, &j);
	times_loop_end(net->times);
}

/* What bn sums over the batch before it can go on, forward or backward. */
static int
run_sums(struct gv_net *net, size_t k, int (*sums)(struct gv_net *, const struct row *),
    enum times_phase phase)
{
	int status;

	times_loop(net->times);
	times_item(net->times, 0);
	status = sums(net, &net->row[k]);
	times_lap(net->times, 0, k, phase);
	times_loop_end(net->times);
	return status;
}

/* All rows forward over n samples of net->x. */
static int
forward(struct gv_net *net, size_t n)
{
	size_t k, from = 0;

	for (k = 0; k < net->rows; k++) {
		if (net->row[k].l.op != GV_OP_BN)
			continue;
		if (!net->training) {
			bn_use_running(net, &net->row[k]);
			continue;
		}
		run_segment(net, from, k, n, forward_item);
		if (run_sums(net, k, bn_forward_sums, TIMES_FORWARD) != 0)
			return -1;
		from = k;
	}
	run_segment(net, from, net->rows, n, forward_item);
	return 0;
}

static int
backward(struct gv_net *net)
{
	size_t k, to = net->rows;

	for (k = net->rows; k-- > 0;) {
		if (net->row[k].l.op != GV_OP_BN)
			continue;
		run_segment(net, k + 1, to, net->n, backward_item);
		if (run_sums(net, k, bn_backward_sums, TIMES_BACKWARD) != 0)
			return -1;
		to = k + 1;
	}
	run_segment(net, 0, to, net->n, backward_item);
	return 0;
}

/* ---- gradients of the weights ---- */

/* The piece for one shard. */
static void
shard_piece(struct gv_net *net, const struct piece *p, size_t b, size_t shard,
    gv_real *out, size_t ld, gv_real *scratch)
{
	const struct row *r = p->row;
	size_t first, last, places = r->l.out_shape.height * r->l.out_shape.width;

	net_shard(net, shard, &first, &last);
	if (p->first == p->last)
		sum_columns(row_dy(net, r, b, first), (last - first) * places,
		    r->l.out_shape.channels, out);
	else
		gv_ops[r->l.op].gradient(
		    net, r, p, b, first, last - first, out, ld, scratch);
}

/*
 * A piece over all shards: a stack of partial sums, the two topmost added
 * whenever they stand for equally many shards.  That is the binary tree.  The
 * lowest of the stack is in its place in grads already.
 */
static void
gradient_item(void *ctx, size_t item, size_t thread)
{
	struct gv_net *net = ctx;
	const struct piece *p = &net->piece[item % net->pieces];
	const struct row *r = p->row;
	size_t b = item / net->pieces, shard, depth = 0, full, ld;
	size_t columns = p->last_column - p->column, rows = p->last - p->first;
	gv_real *out = net->grads + b * net->P, *stack = scratch_of(net, thread),
		*work = stack;

	if (!net->active[b])
		return;
	times_item(net->times, thread);
	ld = rows == 0 ? columns : r->grad_columns;
	out += rows == 0
		   ? r->bias
		   : r->weight + (p->group * r->grad_rows + p->first) * ld + p->column;
	rows += rows == 0;
	for (full = net->shards; full > 1; full /= 2)
		work += rows * columns;
	for (shard = 0; shard < net->shards; shard++) {
		shard_piece(net, p, b, shard,
		    depth == 0 ? out : stack + (depth - 1) * rows * columns,
		    depth == 0 ? ld : columns, work);
		depth++;
		for (full = shard + 1; full % 2 == 0; full /= 2, depth--) {
			gv_real *a =
			    depth == 2 ? out : stack + (depth - 3) * rows * columns;

			sum_two(a, depth == 2 ? ld : columns,
			    stack + (depth - 2) * rows * columns, columns, rows, columns);
		}
	}
	times_lap(net->times, thread, row_number(net, r), TIMES_BACKWARD);
}

/* Mean losses of this rank's samples, [B], each a tree over shards. */
static void
sum_losses(struct gv_net *net, gv_real *loss)
{
	const struct row *head = &net->row[net->rows - 1];
	size_t b, shard, i, first, last, depth;
	gv_real *stack = net->scratch;

	for (b = 0; b < net->B; b++) {
		const gv_real *v = row_y(net, head, b, 0);

		loss[b] = 0;
		for (shard = 0; shard < net->shards && net->active[b]; shard++) {
			double sum = 0;

			net_shard(net, shard, &first, &last);
			for (i = first; i < last; i++)
				sum += (double)v[i];
			stack[shard] = (gv_real)(sum / (double)net->N);
		}
		for (depth = 1; depth < net->shards && net->active[b]; depth *= 2)
			for (shard = 0; shard < net->shards; shard += 2 * depth)
				stack[shard] += stack[shard + depth];
		if (net->active[b])
			loss[b] = stack[0];
	}
}

int
gv_net_gradient(struct gv_net *net, const gv_real *x, const int32_t *label, double *loss)
{
	size_t b, n = net->B * net->P;

	net->x = x;
	net->label = label;
	net->training = true;
	pack(net, true);
	if (forward(net, net->n) != 0 || backward(net) != 0)
		return -1;
	times_loop(net->times);
	pool_run(net->pool, net->B * net->pieces, net->flops * (double)(net->B * net->n),
	    gradient_item, net);
	times_loop_end(net->times);
	sum_losses(net, net->grads + n);
	if (net->R > 1 && net->reduce(net->ctx, net->grads, n + net->B) != 0)
		return -1;
	for (b = 0; b < net->B; b++)
		loss[b] = net->active[b] ? (double)net->grads[n + b] : (double)NAN;
	return 0;
}

/* ---- update ---- */

enum { CHUNK = 16384 };

static void
update_item(void *ctx, size_t item, size_t thread)
{
	struct gv_net *net = ctx;
	size_t chunks = (net->P + CHUNK - 1) / CHUNK, b = item / chunks;
	size_t first = item % chunks * CHUNK;

	(void)thread;
	if (net->active[b])
		optimiser_update(net, b, first, lesser(first + CHUNK, net->P));
}

void
gv_net_update(struct gv_net *net)
{
	size_t b, k;

	times_loop(net->times);
	for (b = 0; b < net->B; b++) {
		if (!net->active[b])
			continue;
		net->steps[b]++;
		for (k = 0; k < net->rows; k++)
			if (net->row[k].l.op == GV_OP_BN)
				bn_update_running(net, &net->row[k], b);
	}
	pool_run(net->pool, net->B * ((net->P + CHUNK - 1) / CHUNK),
	    4 * (double)(net->B * net->P), update_item, net);
	times_update_end(net->times, net);
}

int
gv_net_step(struct gv_net *net, const gv_real *x, const int32_t *label, double *loss)
{
	if (gv_net_gradient(net, x, label, loss) != 0)
		return -1;
	gv_net_update(net);
	return 0;
}

/* ---- evaluation ---- */

void
gv_net_eval(struct gv_net *net, const gv_real *x, const int32_t *label, size_t n,
    size_t *correct, double *loss, gv_real *logits)
{
	const struct row *head = &net->row[net->rows - 1];
	struct times *times = net->times;
	size_t at, some, b, i;

	net->times = NULL;
	net->training = false;
	for (b = 0; b < net->B; b++) {
		if (correct != NULL)
			correct[b] = 0;
		if (loss != NULL)
			loss[b] = 0;
	}
	pack(net, false);
	for (at = 0; at < n; at += some) {
		some = lesser(n - at, net->n);
		net->x = x + at * net->in_size;
		net->label = label == NULL ? NULL : label + at;
		forward(net, some);
		for (b = 0; b < net->B; b++) {
			const gv_real *v = row_y(net, head, b, 0);

			for (i = 0; i < some && label != NULL; i++) {
				if (correct != NULL)
					correct[b] += net->hit[b * net->n + i] != 0;
				if (loss != NULL)
					loss[b] += (double)v[i];
			}
			if (logits != NULL)
				memcpy(logits + (b * n + at) * net->classes,
				    row_x(net, head, b, 0),
				    some * net->classes * sizeof(*logits));
		}
	}
	for (b = 0; b < net->B && loss != NULL; b++)
		loss[b] /= (double)n;
	net->times = times;
}
