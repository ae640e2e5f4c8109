/*
 * Rows forward and backward: loops over items that the threads share.  An item is
 * a block of samples of one model, which goes through all the rows while what it
 * leaves behind is in cache.
 */
#include "nn/cpu/parts.h"
#include "nn/cpu/times.h"

struct job {
	struct gv_cpu *cpu;
	const struct gv_nn_call *c;
	size_t first, last; /* rows */
	size_t blocks;
	struct gv_cpu_times *times;
};

static struct gv_cpu_block
block_of(const struct job *j, size_t item, size_t thread)
{
	size_t i = item % j->blocks * j->cpu->block;

	return (struct gv_cpu_block){.b = item / j->blocks,
	    .i = i,
	    .n = gv_cpu_lesser(j->c->n - i, j->cpu->block),
	    .scratch = gv_cpu_scratch(j->cpu, thread)};
}

/* The act of a row that neither its product nor its sum has applied. */
static void
finish(const struct job *j, const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	if (r->l.act == GV_ACT_NONE || r->l.act == GV_ACT_RELU)
		return;
	gv_cpu_act(&r->l, gv_nn_y(j->c, r, s->b, s->i),
	    gv_act_keeps(r->l.act) ? gv_nn_before(j->c, r, s->b, s->i) : NULL,
	    s->n * r->out_size);
}

static void
forward_item(void *ctx, size_t item, size_t thread)
{
	const struct job *j = ctx;
	struct gv_cpu_block s = block_of(j, item, thread);
	size_t k;

	if (!j->c->active[s.b] && j->c->training)
		return;
	gv_cpu_times_item(j->times, thread);
	for (k = j->first; k < j->last; k++) {
		const struct gv_nn_row *r = &j->c->plan->row[k];

		gv_cpu_ops[r->l.op].forward(j->cpu, j->c, r, &s);
		finish(j, r, &s);
		gv_cpu_times_lap(j->times, thread, k, GV_CPU_FORWARD);
	}
}

/* A row's act back. */
static void
act_back(const struct job *j, const struct gv_nn_row *r, const struct gv_cpu_block *s,
    size_t thread)
{
	if (r->l.act == GV_ACT_NONE)
		return;
	gv_cpu_act_back(&r->l, gv_nn_dy(j->c, r, s->b, s->i),
	    gv_act_keeps(r->l.act) ? gv_nn_before(j->c, r, s->b, s->i)
				   : gv_nn_y(j->c, r, s->b, s->i),
	    s->n * r->out_size);
	gv_cpu_times_lap(
	    j->times, thread, (size_t)(r - j->c->plan->row), GV_CPU_BACKWARD);
}

/* dx of one input of row k; and the input's act once all its readers are through. */
static void
backward_input(const struct job *j, size_t k, const struct gv_cpu_block *s, size_t thread)
{
	const struct gv_nn_row *r = &j->c->plan->row[k];
	const struct gv_nn_row *from = gv_nn_input(j->c, r, s->input);

	if (from == NULL && !gv_cpu_ops[r->l.op].inner)
		return;
	gv_cpu_ops[r->l.op].backward(j->cpu, j->c, r, s);
	gv_cpu_times_lap(j->times, thread, k, GV_CPU_BACKWARD);
	if (from != NULL && r->ends[s->input])
		act_back(j, from, s, thread);
}

static void
backward_item(void *ctx, size_t item, size_t thread)
{
	const struct job *j = ctx;
	struct gv_cpu_block s = block_of(j, item, thread);
	size_t k;

	if (!j->c->active[s.b])
		return;
	gv_cpu_times_item(j->times, thread);
	for (k = j->last; k-- > j->first;)
		for (s.input = j->c->plan->row[k].l.inputs; s.input-- > 0;)
			backward_input(j, k, &s, thread);
}

static void
act_back_item(void *ctx, size_t item, size_t thread)
{
	const struct job *j = ctx;
	struct gv_cpu_block s = block_of(j, item, thread);

	if (!j->c->active[s.b])
		return;
	gv_cpu_times_item(j->times, thread);
	act_back(j, &j->c->plan->row[j->first], &s, thread);
}

static int
run(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last,
    gv_cpu_item *item)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;
	const struct gv_nn_plan *p = c->plan;
	struct job j = {cpu, c, first, last, (c->n + cpu->block - 1) / cpu->block,
	    c->training ? cpu->times : NULL};

	if (first == last)
		return 0;
	gv_cpu_times_loop(j.times);
	gv_cpu_threads_run(
	    cpu->pool, p->B * j.blocks, p->flops * (double)(p->B * c->n), item, &j);
	gv_cpu_times_loop_end(j.times);
	return 0;
}

int
gv_cpu_forward(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last)
{
	return run(be, c, first, last, forward_item);
}

int
gv_cpu_backward(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last)
{
	return run(be, c, first, last, backward_item);
}

int
gv_cpu_act_back_row(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row)
{
	return run(be, c, row, row + 1, act_back_item);
}
