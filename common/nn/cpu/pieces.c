/*
 * Gradients of weights cut into pieces, and which thread makes which.
 *
 * A row whose activations are many and weights few is cut by the samples, as forward and
 * backward are: a thread finds what it wants in its own cache, and leaves the lines that it
 * will write to next with nobody else.  Their sums of shards are parts of the binary tree
 * over all shards, so no bit depends on it.  Other rows are cut by the matrix.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "nn/cpu/depthwise.h"

size_t
gv_cpu_parts(const struct gv_cpu *cpu, size_t row)
{
	const struct gv_nn_plan *p = cpu->plan;
	const struct gv_nn_row *r = &p->row[row];
	const struct gv_cpu_op *op = &gv_cpu_ops[r->l.op];
	size_t parts = 1, weights = r->l.weights + r->l.biases;

	if (p->B > 1 || cpu->row[row].strip > 0 || op->gradient == NULL ||
	    (op->shards != NULL && p->n * r->places <= GV_CPU_SHARD_SAMPLES))
		return 1;
	while (parts < cpu->threads && 2 * parts <= p->shards)
		parts *= 2;
	return p->n * (r->in_size + r->out_size) < parts * weights ? 1 : parts;
}

/* The most rows of a piece that leave every thread several pieces of the whole work. */
static size_t
even_rows(const struct gv_cpu *cpu, const struct gv_nn_row *r)
{
	enum { LEAST = 24, EACH = 4 };
	size_t parts = cpu->row[r - cpu->plan->row].parts;
	double share = cpu->plan->flops * (double)parts / (double)(EACH * cpu->threads);
	double row = (double)r->l.flops / (double)r->l.g;
	double rows = (double)r->matrix_rows * share / (row + 1);

	return parts >= cpu->threads || rows > (double)(SIZE_MAX / 4) ? SIZE_MAX
	       : rows < LEAST                                         ? LEAST
								      : (size_t)rows;
}

/* Columns of a piece; of few samples, which are written faster than they are made, long lines. */
static size_t
piece_columns(const struct gv_cpu *cpu, const struct gv_nn_row *r)
{
	enum { FEW = 16, LINE = 2048 };
	const struct gv_cpu_row *at = &cpu->row[r - cpu->plan->row];
	size_t most = GV_CPU_PIECE_COLUMNS;

	if (r->l.op == GV_OP_LINEAR)
		most = cpu->plan->n * r->places <= FEW ? LINE : GV_CPU_LINEAR_COLUMNS;
	if (at->strip > 0 && !at->relay)
		most = at->strip;
	return gv_cpu_has_products(r) ? gv_cpu_lesser(r->columns, most) : r->columns;
}

/*
 * Rows of a weight matrix whose gradient one item makes, in even pieces.  The
 * partial sums of linear, with few samples to a shard, should stay in L1; conv
 * gathers windows for each piece, so its pieces are larger.
 */
static size_t
piece_rows(const struct gv_cpu *cpu, const struct gv_nn_row *r)
{
	size_t numbers = GV_CPU_LINEAR_ROWS * GV_CPU_LINEAR_COLUMNS;
	size_t most = gv_cpu_lesser(r->l.op == GV_OP_LINEAR
					? gv_cpu_lesser(GV_CPU_LINEAR_ROWS,
					      numbers / (piece_columns(cpu, r) + 1) + 1)
					: GV_CPU_PIECE_ROWS,
	    even_rows(cpu, r));
	size_t pieces = (r->matrix_rows + most - 1) / most;
	size_t rows = (r->matrix_rows + pieces - 1) / pieces;

	if (gv_cpu_is_depthwise(r))
		return gv_cpu_depthwise_piece(r);
	if (!gv_cpu_has_products(r))
		return gv_cpu_lesser(r->matrix_rows, GV_CPU_EMBED_ROWS);
	return (rows + 11) / 12 * 12;
}

/* One in the list; where its row's gradients are sums of parts, one for each of these. */
static void
add_piece(struct gv_cpu *cpu, size_t *cap, struct gv_cpu_piece p)
{
	size_t parts = cpu->row[p.row].parts;

	for (p.part = 0; p.part < parts; p.part++) {
		cpu->piece =
		    gv_xgrow(cpu->piece, cap, cpu->pieces + 1, sizeof(*cpu->piece));
		cpu->piece[cpu->pieces++] = p;
	}
}

/* The weights of some channels, which follow one another. */
static void
cut_depthwise(struct gv_cpu *cpu, size_t row, size_t *cap)
{
	const struct gv_nn_row *r = &cpu->plan->row[row];
	size_t most = gv_cpu_depthwise_piece(r), at, some;

	for (at = 0; at < r->l.weights; at += some) {
		some = gv_cpu_lesser(most, r->l.weights - at);
		add_piece(cpu, cap,
		    (struct gv_cpu_piece){.row = row,
			.group = at / r->matrix_rows,
			.last = some,
			.last_column = 1});
	}
}

/* Where a piece that begins with a row ends: rows of a relay are one thread's. */
static size_t
piece_end(const struct gv_cpu *cpu, const struct gv_nn_row *r, size_t at, size_t rows)
{
	size_t end = gv_cpu_lesser(at + rows, r->matrix_rows), t = 1;

	if (!cpu->row[r - cpu->plan->row].relay)
		return end;
	while (gv_cpu_relay_row(cpu, r, t) <= at)
		t++;
	return gv_cpu_lesser(end, gv_cpu_relay_row(cpu, r, t));
}

static void
cut_row(struct gv_cpu *cpu, size_t row, size_t *cap)
{
	const struct gv_nn_row *r = &cpu->plan->row[row];
	size_t rows = piece_rows(cpu, r), columns = piece_columns(cpu, r);
	size_t group, at, last, column;

	if (gv_cpu_is_depthwise(r))
		cut_depthwise(cpu, row, cap);
	for (group = 0; group < r->l.g && !gv_cpu_is_depthwise(r); group++)
		for (at = 0; at < r->matrix_rows; at = last) {
			last = piece_end(cpu, r, at, rows);
			for (column = 0; column < r->columns; column += columns)
				add_piece(cpu, cap,
				    (struct gv_cpu_piece){.row = row,
					.group = group,
					.first = at,
					.last = last,
					.column = column,
					.last_column =
					    gv_cpu_lesser(column + columns, r->columns)});
		}
	if (r->l.biases > 0)
		add_piece(cpu, cap,
		    (struct gv_cpu_piece){.row = row, .last_column = r->l.biases});
}

size_t
gv_cpu_piece_numbers(const struct gv_cpu *cpu, const struct gv_nn_row *r)
{
	return piece_rows(cpu, r) * piece_columns(cpu, r);
}

/* How long a piece takes one thread, as products. */
static double
cost_of(const struct gv_cpu *cpu, const struct gv_cpu_piece *p)
{
	const struct gv_nn_row *r = &cpu->plan->row[p->row];
	double numbers =
	    p->first == p->last
		? (double)p->last_column
		: (double)((p->last - p->first) * (p->last_column - p->column));

	return numbers * ((double)r->l.flops / (double)(r->l.weights + 1) + 1);
}

/* Whether a piece is some thread's by its samples or columns; sets whose. */
static bool
is_owned(const struct gv_cpu *cpu, struct gv_cpu_piece *p)
{
	const struct gv_cpu_row *at = &cpu->row[p->row];

	if (at->parts > 1)
		p->owner = p->part * cpu->threads / at->parts;
	else if (at->relay && p->first < p->last)
		while (p->first >=
		       gv_cpu_relay_row(cpu, &cpu->plan->row[p->row], p->owner + 1))
			p->owner++;
	else if (at->strip > 0 && p->first < p->last)
		p->owner = gv_cpu_owner(p->column / at->strip, at->strips, cpu->threads);
	else
		return false;
	return true;
}

/* Cuts where thread t's even share of the matrices begins, as pieces and as weights. */
static void
share_matrices(struct gv_cpu *cpu)
{
	double all = 0, before = 0;
	size_t i, t = 0, weights = 0, *own = cpu->own;

	for (i = 0; i < cpu->pieces; i++)
		if (!is_owned(cpu, &cpu->piece[i]))
			all += cost_of(cpu, &cpu->piece[i]);
	for (i = 0; i < cpu->pieces; i++) {
		struct gv_cpu_piece *p = &cpu->piece[i];
		const struct gv_nn_row *r = &cpu->plan->row[p->row];
		double cost = cost_of(cpu, p);

		if (is_owned(cpu, p))
			continue;
		while (t + 1 < cpu->threads &&
		       before + cost / 2 >= all * (double)(t + 1) / (double)cpu->threads)
			own[++t] = r->weight +
				   (p->group * r->matrix_rows + p->first) * r->columns;
		p->owner = t;
		before += cost;
		weights += p->first == p->last
			       ? p->last_column
			       : (p->last - p->first) * (p->last_column - p->column);
	}
	while (t < cpu->threads)
		own[++t] = cpu->plan->P;
	for (t = 0; t < cpu->threads && 2 * weights < cpu->plan->P; t++)
		own[t] = cpu->plan->P * t / cpu->threads;
}

/* The thread that makes the gradient of a weight of a row. */
static size_t
maker_of(const struct gv_cpu *cpu, size_t row, size_t matrix_row)
{
	const struct gv_cpu_piece *p = cpu->piece;

	while (p->row != row || p->last <= matrix_row)
		p++;
	return p->owner;
}

/* Which taps each thread packs, so that it reads what it updated itself. */
static void
share_taps(struct gv_cpu *cpu, size_t row)
{
	const struct gv_nn_row *r = &cpu->plan->row[row];
	struct gv_cpu_row *at = &cpu->row[row];
	size_t *begins = cpu->taps + row * (cpu->threads + 1);
	size_t in = r->l.in_shape.channels, t, tap = 0;

	if (cpu->plan->B > 1 || cpu->threads == 1 || r->l.op != GV_OP_CONV ||
	    r->l.g > 1 || gv_cpu_is_depthwise(r) || at->parts > 1)
		return;
	at->taps = r->l.k * r->l.k;
	for (t = 1; t < cpu->threads; begins[t++] = tap)
		while (tap < at->taps && maker_of(cpu, row, tap * in + in / 2) < t)
			tap++;
	begins[t] = at->taps;
}

void
gv_cpu_cut_pieces(struct gv_cpu *cpu)
{
	size_t i, cap = 0;

	for (i = cpu->plan->first_row; i < cpu->plan->last_row; i++)
		if (gv_cpu_has_pieces(&cpu->plan->row[i]))
			cut_row(cpu, i, &cap);
	cpu->order = gv_xcalloc(cpu->pieces + 1, sizeof(*cpu->order));
	cpu->made = gv_xcalloc(cpu->pieces + 1, sizeof(*cpu->made));
	cpu->pack_begins = gv_xcalloc(cpu->threads + 1, sizeof(*cpu->pack_begins));
	cpu->own = gv_xcalloc(cpu->threads + 1, sizeof(*cpu->own));
	cpu->begins = gv_xcalloc(cpu->threads + 2, sizeof(*cpu->begins));
	share_matrices(cpu);
	cpu->taps = gv_xcalloc(cpu->plan->rows * (cpu->threads + 1), sizeof(*cpu->taps));
	for (i = cpu->plan->first_row; i < cpu->plan->last_row; i++)
		share_taps(cpu, i);
	if (cpu->plan->B == 1)
		gv_cpu_cut_areas(cpu);
}

void
gv_cpu_order_pieces(struct gv_cpu *cpu, size_t first, size_t end)
{
	size_t i, t, *begins = cpu->begins;

	for (t = 0; t <= cpu->threads + 1; t++)
		begins[t] = 0;
	for (i = first; i < end; i++)
		begins[cpu->piece[i].owner + 2]++;
	for (t = 2; t <= cpu->threads + 1; t++)
		begins[t] += begins[t - 1];
	/* each thread's moves on to where the next one's began */
	for (i = first; i < end; i++)
		cpu->order[begins[cpu->piece[i].owner + 1]++] = i;
}
