/* Gradients of the weights, piece by piece (pieces.c); the losses. */
#include <string.h>

#include "nn/cpu/optim.h"
#include "nn/cpu/parts.h"
#include "nn/cpu/times.h"

struct job {
	struct gv_cpu *cpu;
	const struct gv_nn_call *c;
	const struct gv_nn_grads *g;
	size_t first, pieces; /* of the cpu's, those of these rows */
	bool add;
	const struct gv_cpu_optimiser *o; /* follows every piece; NULL = none does */
};

/* Shards of a piece whose sum is made at once, a power of two. */
static size_t
together(const struct job *j, const struct gv_cpu_piece *p, size_t shards)
{
	const struct gv_nn_plan *plan = j->c->plan;
	const struct gv_nn_row *r = &plan->row[p->row];

	if (p->first == p->last || gv_cpu_ops[r->l.op].shards == NULL ||
	    gv_cpu_ops[r->l.op].gradient == NULL)
		return 1;
	while (shards > 1 && (shards * plan->N + plan->S - 1) / plan->S * r->places >
				 GV_CPU_SHARD_SAMPLES)
		shards /= 2;
	return shards;
}

/* The piece for some shards. */
static void
shard_piece(const struct job *j, const struct gv_cpu_piece *p, size_t b, size_t shard,
    size_t shards, gv_real *out, size_t ld, gv_real *scratch)
{
	const struct gv_nn_row *r = &j->c->plan->row[p->row];
	size_t first, last;
	struct gv_cpu_block s = {.b = b, .scratch = scratch};
	const struct gv_cpu_op *op = &gv_cpu_ops[r->l.op];

	if (shards > 1) {
		op->shards(j->c, r, p, &s, shard, shards, out, ld, false);
		return;
	}
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
 * A piece over all shards of its part: a stack of partial sums, the two topmost added
 * whenever they stand for equally many shards.  That is the binary tree.
 */
static void
sum_piece(const struct job *j, const struct gv_cpu_piece *p, size_t b,
    const struct stack *s, gv_real *work)
{
	size_t some = j->c->plan->shards / j->cpu->row[p->row].parts, shard, depth = 0,
	       full, each = together(j, p, some);

	for (shard = 0; shard < some; shard += each) {
		shard_piece(j, p, b, p->part * some + shard, each, level(s, depth),
		    level_ld(s, depth), work);
		depth++;
		for (full = shard / each + 1; full % 2 == 0; full /= 2, depth--)
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
one_by_one(const struct job *j, const struct gv_cpu_piece *p, size_t b, gv_real *out,
    size_t ld, gv_real *work)
{
	size_t rows = p->first == p->last ? 1 : p->last - p->first;
	size_t columns = p->last_column - p->column, full;
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

/* Where a part of a piece goes: laid out as the row's gradients are. */
static gv_real *
place_of_part(const struct job *j, const struct gv_cpu_piece *p, size_t part)
{
	const struct gv_nn_row *r = &j->c->plan->row[p->row];
	size_t weights = r->l.weights;
	gv_real *v = j->cpu->partial + j->cpu->row[p->row].partial +
		     part * (weights + r->l.biases);

	return p->first == p->last
		   ? v + weights
		   : v + (p->group * r->matrix_rows + p->first) * r->columns + p->column;
}

/* All parts of a piece are there. */
static void
sum_parts(const struct job *j, const struct gv_cpu_piece *p, gv_real *out, size_t ld)
{
	size_t parts = j->cpu->row[p->row].parts, step, k;
	size_t rows = p->first == p->last ? 1 : p->last - p->first;
	size_t columns = p->last_column - p->column;
	const gv_real *sum = place_of_part(j, p, 0);

	for (step = 1; step < parts; step *= 2)
		for (k = 0; k < parts; k += 2 * step)
			gv_cpu_sum_two(place_of_part(j, p, k), ld,
			    place_of_part(j, p, k + step), ld, rows, columns);
	if (j->add)
		gv_cpu_sum_two(out, ld, sum, ld, rows, columns);
	for (k = 0; k < rows && !j->add; k++)
		memcpy(out + k * ld, sum + k * ld, columns * sizeof(*out));
}

/* The optimiser's step where a piece's gradients v are there, whose rows are ld apart. */
static void
optimise(const struct job *j, const struct gv_cpu_piece *p, const gv_real *v, size_t ld)
{
	const struct gv_nn_row *r = &j->c->plan->row[p->row];
	enum { AHEAD = 6 }; /* lines are apart, which nobody else foresees */
	size_t rows = p->last - p->first, columns = p->last_column - p->column, k;
	size_t at =
	    r->weight + (p->group * r->matrix_rows + p->first) * r->columns + p->column;

	if (p->first == p->last)
		gv_cpu_optimise(j->o, r->bias, v, columns);
	else if (columns == r->columns && columns == ld)
		gv_cpu_optimise(j->o, at, v, rows * columns);
	else
		for (k = 0; k < rows; k++) {
			if (k + AHEAD < rows)
				gv_cpu_optimiser_fetch(
				    j->o, at + (k + AHEAD) * r->columns, columns);
			gv_cpu_optimise(j->o, at + k * r->columns, v + k * ld, columns);
		}
}

/* One part of a piece; who finishes the last one adds them together: true. */
static bool
one_part(const struct job *j, const struct gv_cpu_piece *p, gv_real *out, size_t ld,
    gv_real *work)
{
	size_t rows = p->first == p->last ? 1 : p->last - p->first;
	size_t columns = p->last_column - p->column, full;
	size_t parts = j->cpu->row[p->row].parts;
	atomic_size_t *made = &j->cpu->made[p - p->part - j->cpu->piece];
	struct stack s = {place_of_part(j, p, p->part), ld, work, rows, columns};

	for (full = j->c->plan->shards / parts; full > 1; full /= 2)
		work += rows * columns;
	sum_piece(j, p, 0, &s, work);
	if (atomic_fetch_add(made, 1) + 1 < parts)
		return false;
	atomic_store(made, 0);
	sum_parts(j, p, out, ld);
	return true;
}

/*
 * Where a piece is made: in its place, or, when nobody wants it but the optimiser, which
 * follows, in scratch, so that it never goes to memory.
 */
static gv_real *
begin_piece(
    const struct job *j, const struct gv_cpu_piece *p, struct gv_cpu_block *s, size_t *ld)
{
	enum { LINE = 16 };
	gv_real *out = place_of(j, p, s->b, ld);
	size_t rows = p->first == p->last ? 1 : p->last - p->first;
	size_t columns = p->last_column - p->column;

	if (j->o == NULL || j->add || j->cpu->row[p->row].parts > 1 ||
	    gv_cpu_ops[j->c->plan->row[p->row].l.op].gradient == NULL)
		return out;
	out = s->scratch;
	*ld = columns;
	s->scratch += (rows * columns + LINE - 1) / LINE * LINE;
	return out;
}

static void
gradient_item(void *ctx, size_t item, size_t thread)
{
	const struct job *j = ctx;
	size_t number =
	    j->c->plan->B > 1 ? j->first + item % j->pieces : j->cpu->order[item];
	const struct gv_cpu_piece *p = &j->cpu->piece[number];
	const struct gv_nn_row *r = &j->c->plan->row[p->row];
	const struct gv_cpu_op *op = &gv_cpu_ops[r->l.op];
	struct gv_cpu_block all = {.b = item / j->pieces,
	    .n = j->c->n,
	    .scratch = gv_cpu_scratch(j->cpu, thread)};
	bool done = true;
	gv_real *out;
	size_t ld;

	if (!j->c->active[all.b])
		return;
	gv_cpu_times_item(j->cpu->times, thread);
	out = begin_piece(j, p, &all, &ld);
	if (j->cpu->row[p->row].parts > 1)
		done = one_part(j, p, out, ld, all.scratch);
	else if (p->first == p->last || op->shards == NULL ||
		 !op->shards(j->c, r, p, &all, 0, j->c->plan->shards, out, ld, j->add))
		one_by_one(j, p, all.b, out, ld, all.scratch);
	if (done && j->o != NULL)
		optimise(j, p, out, ld);
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

static void
gradients(struct job *j, size_t first, size_t last)
{
	struct gv_cpu *cpu = j->cpu;
	const struct gv_nn_plan *p = cpu->plan;
	size_t i, end = 0;

	while (end < cpu->pieces && cpu->piece[end].row < last)
		if (cpu->piece[end++].row < first)
			j->first++;
	j->pieces = end - j->first;
	if (p->B == 1)
		gv_cpu_order_pieces(cpu, j->first, end);
	for (i = first; i < last; i++)
		if (p->row[i].l.op == GV_OP_BN)
			bn_gradients(j, &p->row[i]);
	gv_cpu_times_loop(cpu->times);
	(cpu->relayed ? gv_cpu_threads_run_own : gv_cpu_threads_run_from)(cpu->pool,
	    p->B * j->pieces, p->B == 1 ? cpu->begins : NULL,
	    (cpu->relayed ? 4 : 1) * p->flops * (double)(p->B * p->n) +
		2 * GV_CPU_MOVED * (double)(p->B * p->P),
	    gradient_item, j);
	gv_cpu_times_loop_end(cpu->times);
}

int
gv_cpu_gradients(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first,
    size_t last, const struct gv_nn_grads *g, bool add)
{
	struct job j = {.cpu = (struct gv_cpu *)be, .c = c, .g = g, .add = add};

	gradients(&j, first, last);
	return 0;
}

/* The parameters of bn, which are no pieces. */
static void
optimise_bn(const struct job *j)
{
	const struct gv_nn_plan *p = j->c->plan;
	size_t i;

	for (i = p->first_row; i < p->last_row; i++) {
		const struct gv_nn_row *r = &p->row[i];

		if (r->l.op != GV_OP_BN)
			continue;
		gv_cpu_optimise(j->o, r->weight, j->g->v + r->weight, r->l.weights);
		gv_cpu_optimise(j->o, r->bias, j->g->v + r->bias, r->l.biases);
	}
}

int
gv_cpu_learn(struct gv_nn_backend *be, const struct gv_nn_call *c,
    const struct gv_nn_grads *g, bool add, const struct gv_nn_update *u)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;
	const struct gv_nn_plan *p = cpu->plan;
	struct gv_cpu_optimiser o = gv_cpu_optimiser(u, p, 0);
	struct job j = {.cpu = cpu, .c = c, .g = g, .add = add, .o = &o};

	if (cpu->times !=
	    NULL) /* each on its own, as where others' gradients are added */
		return gv_cpu_gradients(be, c, p->first_row, p->last_row, g, add) != 0 ||
			       gv_cpu_update(be, u) != 0
			   ? -1
			   : 0;
	gradients(&j, p->first_row, p->last_row);
	optimise_bn(&j);
	gv_cpu_threads_step(cpu->pool);
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
