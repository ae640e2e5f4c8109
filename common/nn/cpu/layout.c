/* Where the CPU keeps packed weights and sums, how many samples go at once. */
#include <stdlib.h>

#include "base/mem.h"
#include "nn/cpu/depthwise.h"
#include "nn/cpu/gemm.h"
#include "nn/cpu/lstm.h"

/* Whether so few lines read a matrix as it lies that it need not be packed at all. */
static bool
reads_little(const struct gv_nn_plan *p, const struct gv_nn_row *r)
{
	enum { TILE = 12, FEW = 128, PAGE = 4096 };
	size_t lines = p->n * r->places;

	return lines <= TILE || (lines <= FEW && r->columns * sizeof(gv_real) < PAGE);
}

/*
 * Whether products pack a piece of a panel at a time: what is packed beforehand is written
 * and read once more, which costs more than some micro-batches that each pack it.
 */
static bool
packs_pieces(const struct gv_nn_plan *p, const struct gv_nn_row *r)
{
	enum { FEW = 256, UPDATE = 4 };

	return p->n * r->places <= FEW && p->micro_batches <= UPDATE;
}

/* The matrices of the input and of the state, each by itself; turned the state's is first. */
static void
lay_out_lstm(struct gv_cpu *cpu, const struct gv_nn_row *r, struct gv_cpu_row *at)
{
	struct gv_cpu_lstm d = gv_cpu_lstm_sizes(r);
	size_t each = r->columns;

	at->packed_size =
	    gv_cpu_gemm_packed(d.in, each) + gv_cpu_gemm_packed(d.state, each);
	at->packed_t = at->packed + r->l.g * at->packed_size;
	at->packed_t_size =
	    gv_cpu_gemm_packed(each, d.state) + gv_cpu_gemm_packed(each, d.in);
	at->back_columns = d.in > d.state ? d.in : d.state;
	at->back = true;
	cpu->packed_size = at->packed_t + r->l.g * at->packed_t_size;
}

static void
lay_out_packed(struct gv_cpu *cpu, size_t row)
{
	const struct gv_nn_row *r = &cpu->plan->row[row];
	struct gv_cpu_row *at = &cpu->row[row];

	at->samples = cpu->plan->n;
	at->shards = cpu->plan->shards;
	if (!gv_cpu_has_products(r))
		return;
	at->packed = cpu->packed_size;
	if (gv_cpu_is_depthwise(r)) {
		at->packed_size = r->l.weights;
		cpu->packed_size += at->packed_size;
		return;
	}
	if (r->l.op == GV_OP_LSTM) {
		lay_out_lstm(cpu, r, at);
		return;
	}
	at->raw_back = r->l.op == GV_OP_LINEAR && packs_pieces(cpu->plan, r);
	at->raw = at->raw_back || (r->l.op == GV_OP_LINEAR && reads_little(cpu->plan, r));
	at->back = r->l.from[0] != GV_FROM_INPUT;
	if (!at->raw && (at->back || !gv_cpu_is_turned(r)))
		at->packed_size = gv_cpu_gemm_packed(r->matrix_rows, r->columns);
	cpu->packed_size += r->l.g * at->packed_size;
	at->back_columns = r->l.op == GV_OP_CONV    ? r->l.in_shape.channels / r->l.g
			   : r->l.op == GV_OP_TCONV ? r->l.out_shape.channels / r->l.g
						    : r->in_size / r->places;
	at->back_rows = r->l.weights / r->l.g / at->back_columns;
	if ((!at->back && !gv_cpu_is_turned(r)) || at->raw_back)
		return;
	at->packed_t = cpu->packed_size;
	at->packed_t_size = gv_cpu_gemm_packed(at->back_rows, at->back_columns);
	cpu->packed_size += r->l.g * at->packed_t_size;
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

/* Numbers of a row's largest piece. */
static size_t
piece_room(
    const struct gv_cpu *cpu, const struct gv_nn_row *r, const struct gv_cpu_op *op)
{
	size_t matrix = op->gradient == NULL ? 0 : gv_cpu_piece_numbers(cpu, r);

	return matrix + (r->l.biases > 0 ? r->l.biases : r->l.out_shape.channels);
}

static void
size_scratch(struct gv_cpu *cpu)
{
	const struct gv_nn_plan *p = cpu->plan;
	size_t i, most = p->outputs > p->shards ? p->outputs : p->shards;

	for (i = p->first_row; i < p->last_row; i++) {
		const struct gv_nn_row *r = &p->row[i];
		const struct gv_cpu_op *op = &gv_cpu_ops[r->l.op];
		size_t need = 0;

		if (op->scratch != NULL)
			need += op->scratch(r, &cpu->row[i]);
		/* one more, where gradients are added to others; that of the only model */
		if (gv_cpu_has_pieces(r))
			need += (1 + tree_depth(p->shards) + (p->B == 1)) *
				(piece_room(cpu, r, op) + 15) / 16 * 16;
		if (need > most)
			most = need;
	}
	cpu->scratch_size = (most + 15) / 16 * 16;
	for (i = p->first_row; i < p->last_row; i++) {
		cpu->row[i].partial = cpu->partial_size;
		if (cpu->row[i].parts > 1)
			cpu->partial_size += cpu->row[i].parts *
					     (p->row[i].l.weights + p->row[i].l.biases);
	}
}

/*
 * The fewest samples that are worth an item: their products should fill tiles, which
 * those of a sample's places do alone.
 */
static size_t
least_samples(const struct gv_nn_plan *p, size_t least)
{
	uint64_t of_places = 0, others = 0;
	size_t i;

	for (i = p->first_row; i < p->last_row; i++) {
		const struct gv_nn_row *r = &p->row[i];
		const struct gv_shape *out = &r->l.out_shape;

		if (r->places > 1 || r->l.op == GV_OP_ATTENTION ||
		    r->l.op == GV_OP_CAUSAL ||
		    (least > 8 && r->l.op != GV_OP_LSTM && out->height * out->width > 1))
			of_places += r->l.flops;
		else
			others += r->l.flops;
	}
	return others < of_places / 4 ? 1 : least;
}

/*
 * Samples that one item carries through the rows: few enough that what they
 * leave behind stays in cache, enough for the matrix products, and so many that the weights,
 * which each item reads, are not most of what comes from memory; and as many items for
 * one thread as for another.  No bit depends on it.
 */
static size_t
block_samples(const struct gv_cpu *cpu)
{
	enum { MOST = 64, MOST_HEAVY = 256 };
	const struct gv_nn_plan *p = cpu->plan;
	size_t block = ((size_t)1 << 18) / (p->activations + 1);
	size_t heavy = gv_cpu_lesser(p->P / (p->activations + 1), MOST_HEAVY);
	size_t most = heavy > MOST ? heavy : MOST, least = least_samples(p, 8), items;

	block = block < least ? least : block;
	block = gv_cpu_lesser(block < heavy ? heavy : block, most);
	if (cpu->threads == 1)
		return block;
	least = least_samples(p, 12);
	items = (p->B * ((p->n + block - 1) / block) + cpu->threads - 1) / cpu->threads;
	while (items > 1 && p->B * p->n < items * cpu->threads * least)
		items--;
	items = items * cpu->threads / p->B;
	block = items <= 1 ? p->n : (p->n + items - 1) / items;
	return block < (least + 1) / 2 ? (least + 1) / 2 : gv_cpu_lesser(block, most);
}

void
gv_cpu_lay_out(struct gv_cpu *cpu)
{
	size_t i;

	free(cpu->row);
	cpu->row = gv_xcalloc(cpu->plan->rows, sizeof(*cpu->row));
	cpu->packed_size = cpu->partial_size = 0;
	for (i = cpu->plan->first_row; i < cpu->plan->last_row; i++)
		lay_out_packed(cpu, i);
	gv_cpu_cut_strips(cpu);
	for (i = cpu->plan->first_row; i < cpu->plan->last_row; i++)
		cpu->row[i].parts = gv_cpu_parts(cpu, i);
	cpu->block = block_samples(cpu);
	size_scratch(cpu);
}
