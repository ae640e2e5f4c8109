#include "nn/plan.h"

#include <stdlib.h>

#include "base/mem.h"
#include "nn/ops.h"

size_t
gv_net_shards(size_t batch)
{
	return batch >= 4 ? 4 : batch >= 2 ? 2 : 1;
}

static void
lay_out_matrix(struct gv_nn_row *r)
{
	const struct gv_layer *l = &r->l;

	r->columns = l->out_shape.channels / l->g;
	if (l->op == GV_OP_TCONV) /* as of the conv whose transpose it is */
		r->columns = l->in_shape.channels / l->g;
	if (l->op == GV_OP_LSTM)
		r->columns *= 4;
	r->matrix_rows = l->weights / l->g / r->columns;
}

/* The last row that reads row i; 0 = none. */
static size_t
last_reader(const struct gv_nn_plan *p, size_t i)
{
	size_t reader, k;

	for (reader = p->rows - 1; reader > i; reader--)
		for (k = 0; k < p->row[reader].l.inputs; k++)
			if (p->row[reader].l.from[k] == (ptrdiff_t)i)
				return reader;
	return 0;
}

/* The offset of a sample's next n numbers. */
static size_t
take(struct gv_nn_plan *p, enum gv_net_side side, enum gv_nn_arena arena, bool apart,
    size_t n)
{
	size_t at = p->numbers[side][arena];

	if (apart)
		p->apart += n;
	else
		p->numbers[side][arena] += n;
	return at;
}

/* Where row i's output is, if it is here. */
static void
lay_out_output(struct gv_nn_plan *p, size_t i)
{
	struct gv_nn_row *r = &p->row[i];
	bool inside = i >= p->first_row && i < p->last_row;
	size_t reader = last_reader(p, i);

	r->in_size = gv_shape_size(r->l.in_shape);
	r->out_size = gv_shape_size(r->l.out_shape);
	r->places = r->l.op == GV_OP_LINEAR && r->l.k == 1
			? r->l.in_shape.height * r->l.in_shape.width
			: 1;
	r->held = inside || (i < p->first_row && reader >= p->first_row);
	if (!r->held)
		return;
	r->arena =
	    p->recompute && inside && reader < p->last_row ? GV_NN_SHARED : GV_NN_OWN;
	r->apart[GV_NET_OUTPUT] = p->places && !inside;
	r->apart[GV_NET_GRADIENT] = p->places && reader >= p->last_row;
	r->y = take(p, GV_NET_OUTPUT, r->arena, r->apart[GV_NET_OUTPUT], r->out_size);
	r->dy =
	    take(p, GV_NET_GRADIENT, r->arena, r->apart[GV_NET_GRADIENT], r->out_size);
	p->activations += r->out_size;
	if (!inside)
		return;
	r->kept_arena = p->recompute ? GV_NN_SHARED : GV_NN_OWN;
	r->kept = take(p, GV_NET_OUTPUT, r->kept_arena, false, r->l.kept);
	r->kept_dy = take(p, GV_NET_GRADIENT, r->kept_arena, false, r->l.kept);
	p->activations += r->l.kept;
}

/* A row of the range. */
static void
lay_out_row(struct gv_nn_plan *p, struct gv_nn_row *r)
{
	const struct gv_layer *l = &r->l;

	r->weight = p->P;
	r->bias = p->P + l->weights;
	p->P += l->weights + l->biases;
	r->running = p->Q;
	p->Q += l->running;
	p->flops += (double)l->flops + (double)r->out_size;
	if (gv_nn_ops[l->op].has_matrix)
		lay_out_matrix(r);
	if (l->op != GV_OP_BN)
		return;
	r->stat = p->stat_size;
	p->stat_size += GV_NN_STATS * l->in_shape.channels;
	if (2 * l->in_shape.channels > p->widest)
		p->widest = 2 * l->in_shape.channels;
}

/* Who is the first and who the last to give a row its gradient. */
static void
order_readers(struct gv_nn_plan *p)
{
	struct reader {
		size_t row, input;
	} *last = gv_xcalloc(p->rows, sizeof(*last));
	bool *read = gv_xcalloc(p->rows, sizeof(*read));
	size_t i, k;

	for (i = p->rows; i-- > 0;)
		for (k = p->row[i].l.inputs; k-- > 0;) {
			ptrdiff_t from = p->row[i].l.from[k];

			if (from == GV_FROM_INPUT)
				continue;
			p->row[i].adds[k] = read[from];
			read[from] = true;
			last[from] = (struct reader){i, k};
		}
	for (i = 0; i < p->rows; i++) {
		bool here = i >= p->first_row && last[i].row < p->last_row;

		if (read[i] && here)
			p->row[last[i].row].ends[last[i].input] = true;
		p->row[i].late = read[i] && i >= p->first_row && i < p->last_row && !here;
	}
	free(last);
	free(read);
}

void
gv_nn_plan_make(
    struct gv_nn_plan *p, const struct gv_model *m, const struct gv_net_config *c)
{
	size_t i;

	*p =
	    (struct gv_nn_plan){.B = c->models, .N = c->batch, .stored = sizeof(gv_real)};
	p->S = c->shards == 0 ? gv_net_shards(c->batch) : c->shards;
	p->R = c->ranks == 0 ? 1 : c->ranks;
	p->rank = c->rank;
	p->micro_batches = c->micro_batches == 0 ? 1 : c->micro_batches;
	p->shards = p->S / p->R;
	p->first = p->rank * p->shards * p->N / p->S;
	p->n = (p->rank + 1) * p->shards * p->N / p->S - p->first;
	p->in_size = gv_shape_size(m->input);
	p->outputs = m->outputs;
	p->target = m->target;
	p->targets = m->targets;
	p->rows = m->n;
	p->first_row = c->first_row;
	p->last_row = c->last_row == 0 ? m->n : c->last_row;
	p->recompute = c->recompute;
	p->places = c->places;
	p->row = gv_xcalloc(m->n, sizeof(*p->row));
	for (i = 0; i < m->n; i++)
		p->row[i].l = m->layer[i];
	for (i = 0; i < m->n; i++)
		lay_out_output(p, i);
	for (i = p->first_row; i < p->last_row; i++)
		lay_out_row(p, &p->row[i]);
	order_readers(p);
}

void
gv_nn_plan_free(struct gv_nn_plan *p)
{
	free(p->row);
	*p = (struct gv_nn_plan){0};
}
