/* Gradients of the weights, cut by the matrix instead of the samples; the losses. */
#include <string.h>

#include "nn/cpu/parts.h"
#include "nn/cpu/times.h"

struct job {
	struct gv_cpu *cpu;
	const struct gv_nn_call *c;
	const struct gv_nn_grads *g;
	const struct gv_cpu_piece *piece; /* [pieces] of these rows */
	size_t pieces;
	bool add;
};

/* The piece for one shard. */
static void
shard_piece(const struct job *j, const struct gv_cpu_piece *p, size_t b, size_t shard,
    gv_real *out, size_t ld, gv_real *scratch)
{
	const struct gv_nn_row *r = &j->c->plan->row[p->row];
	size_t first, last;
	struct gv_cpu_block s = {.b = b, .scratch = scratch};
	const struct gv_cpu_op *op = &gv_cpu_ops[r->l.op];

	gv_nn_shard(j->c->plan, shard, &first, &last);
	s.i = first;
	s.n = last - first;
	if (p->first == p->last)
		gv_cpu_sum_columns(
		    op->bias != NULL ? op->bias(j->c, r, &s) : gv_cpu_dy(j->c, r, &s),
		    s.n * (op->bias != NULL ? r->l.out_shape.height * r->l.out_shape.width
					    : r->out_size / r->l.biases),
		    r->l.biases, out);
	else
		op->gradient(j->c, r, p, &s, out, ld);
}

/* Where partial sums lie: the lowest in its place already (or, to be added, in front). */
struct stack {
	gv_real *lowest;
	size_t ld;     /* of the lowest */
	gv_real *rest; /* the others, [rows][columns] each */
	size_t rows, columns;
};

static gv_real *
level(const struct stack *s, size_t depth)
{
	return depth == 0 ? s->lowest : s->rest + (depth - 1) * s->rows * s->columns;
}

static size_t
level_ld(const struct stack *s, size_t depth)
{
	return depth == 0 ? s->ld : s->columns;
}

/*
 * A piece over all shards: a stack of partial sums, the two topmost added
 * whenever they stand for equally many shards.  That is the binary tree.
 */
static void
sum_piece(const struct job *j, const struct gv_cpu_piece *p, size_t b,
    const struct stack *s, gv_real *work)
{
	size_t shard, depth = 0, full;

	for (shard = 0; shard < j->c->plan->shards; shard++) {
		shard_piece(j, p, b, shard, level(s, depth), level_ld(s, depth), work);
		depth++;
		for (full = shard + 1; full % 2 == 0; full /= 2, depth--)
			gv_cpu_sum_two(level(s, depth - 2), level_ld(s, depth - 2),
			    level(s, depth - 1), s->columns, s->rows, s->columns);
	}
}

/* Where a piece goes in the gradients of a model, and how far its rows are apart. */
static gv_real *
place_of(const struct job *j, const struct gv_cpu_piece *p, size_t b, size_t *ld)
{
	const struct gv_nn_row *r = &j->c->plan->row[p->row];
	gv_real *g = j->g->v + b * j->c->plan->P;

	*ld = p->first == p->last ? p->last_column : r->columns;
	return p->first == p->last
		   ? g + r->bias
		   : g + r->weight + (p->group * r->matrix_rows + p->first) * *ld +
			 p->column;
}

/* Shard by shard. */
static void
one_by_one(const struct job *j, const struct gv_cpu_piece *p, size_t b, gv_real *work)
{
	size_t rows = p->first == p->last ? 1 : p->last - p->first;
	size_t columns = p->last_column - p->column, ld, full;
	gv_real *out = place_of(j, p, b, &ld);
	struct stack s = {out, ld, work, rows, columns};

	if (j->add) {
		s = (struct stack){work, columns, work + rows * columns, rows, columns};
		work += rows * columns;
	}
	for (full = j->c->plan->shards; full > 1; full /= 2)
		work += rows * columns;
	sum_piece(j, p, b, &s, work);
	if (j->add)
		gv_cpu_sum_two(out, ld, s.lowest, columns, rows, columns);
}

static void
gradient_item(void *ctx, size_t item, size_t thread)
{
	const struct job *j = ctx;
	const struct gv_cpu_piece *p = &j->piece[item % j->pieces];
	const struct gv_nn_row *r = &j->c->plan->row[p->row];
	const struct gv_cpu_op *op = &gv_cpu_ops[r->l.op];
	struct gv_cpu_block all = {.b = item / j->pieces,
	    .n = j->c->n,
	    .scratch = gv_cpu_scratch(j->cpu, thread)};
	gv_real *out;
	size_t ld;

	if (!j->c->active[all.b])
		return;
	gv_cpu_times_item(j->cpu->times, thread);
	out = place_of(j, p, all.b, &ld);
	if (p->first == p->last || op->shards == NULL ||
	    !op->shards(j->c, r, p, &all, out, ld, j->add))
		one_by_one(j, p, all.b, all.scratch);
	gv_cpu_times_lap(j->cpu->times, thread, p->row, GV_CPU_BACKWARD);
}

/* Those of gamma and beta are among the statistics already. */
static void
bn_gradients(const struct job *j, const struct gv_nn_row *r)
{
	const struct gv_nn_plan *p = j->c->plan;
	size_t b, n = r->l.in_shape.channels;

	for (b = 0; b < p->B; b++) {
		gv_real *g = j->g->v + b * p->P;
		const gv_real *s = gv_nn_stats(j->c, r, b) + 4 * n;

		if (!j->c->active[b])
			continue;
		if (j->add) {
			gv_cpu_sum_two(g + r->bias, n, s, n, 1, n);
			gv_cpu_sum_two(g + r->weight, n, s + n, n, 1, n);
		} else {
			memcpy(g + r->bias, s, n * sizeof(*g));
			memcpy(g + r->weight, s + n, n * sizeof(*g));
		}
	}
}

int
gv_cpu_gradients(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first,
    size_t last, const struct gv_nn_grads *g, bool add)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;
	const struct gv_nn_plan *p = c->plan;
	struct job j = {cpu, c, g, cpu->piece, 0, add};
	size_t i, end = 0;

	while (end < cpu->pieces && cpu->piece[end].row < last)
		if (cpu->piece[end++].row < first)
			j.piece++;
	j.pieces = end - (size_t)(j.piece - cpu->piece);
	for (i = first; i < last; i++)
		if (p->row[i].l.op == GV_OP_BN)
			bn_gradients(&j, &p->row[i]);
	gv_cpu_times_loop(cpu->times);
	gv_cpu_threads_run(cpu->pool, p->B * j.pieces, p->flops * (double)(p->B * p->n),
	    gradient_item, &j);
	gv_cpu_times_loop_end(cpu->times);
	return 0;
}

/* The loss of one model: its samples are divided by all of the update's. */
static gv_real
mean_loss(const struct gv_nn_call *c, size_t b, gv_real *part)
{
	const struct gv_nn_plan *p = c->plan;
	const gv_real *v = gv_nn_y(c, &p->row[p->rows - 1], b, 0);
	size_t shard, i, first, last;

	for (shard = 0; shard < p->shards; shard++) {
		double sum = 0;

		gv_nn_shard(p, shard, &first, &last);
		for (i = first; i < last; i++)
			sum += (double)v[i];
		part[shard] = (gv_real)(sum / gv_nn_samples(p));
	}
	gv_cpu_sum_tree(part, p->shards, 1);
	return part[0];
}

int
gv_cpu_losses(struct gv_nn_backend *be, const struct gv_nn_call *c,
    const struct gv_nn_grads *g, bool add)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;
	const struct gv_nn_plan *p = c->plan;
	gv_real *loss = g->v + p->B * p->P;
	size_t b;

	for (b = 0; b < p->B; b++) {
		gv_real mean = c->active[b] ? mean_loss(c, b, cpu->scratch) : 0;

		loss[b] = add ? loss[b] + mean : mean;
	}
	return 0;
}
