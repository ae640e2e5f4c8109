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

/* A strip of one row. */
static void
forward_strip(void *ctx, size_t item, size_t thread)
{
	const struct job *j = ctx;
	const struct gv_nn_row *r = &j->c->plan->row[j->first];
	struct gv_cpu_block s = {.n = j->c->n,
	    .part = item,
	    .parts = j->cpu->row[j->first].strips,
	    .scratch = gv_cpu_scratch(j->cpu, thread)};

	if (!j->c->active[0] && j->c->training)
		return;
	gv_cpu_times_item(j->times, thread);
	gv_cpu_ops[r->l.op].forward(j->cpu, j->c, r, &s);
	gv_cpu_times_lap(j->times, thread, j->first, GV_CPU_FORWARD);
}

/* The relu of a linear's input back, where a strip of its gradient is. */
static void
strip_act_back(const struct job *j, const struct gv_nn_row *r,
    const struct gv_nn_row *from, size_t item)
{
	size_t in = r->in_size / r->places, strip = j->cpu->row[j->first].strip_back;
	size_t column = item * strip, some = gv_cpu_lesser(strip, in - column), i;
	gv_real *dx = gv_nn_dy(j->c, from, 0, 0) + column;
	const gv_real *y = gv_nn_y(j->c, from, 0, 0) + column;

	for (i = 0; i < j->c->n * r->places && from->l.act == GV_ACT_RELU; i++)
		gv_cpu_relu_mask(dx + i * in, y + i * in, some);
}

static void
backward_strip(void *ctx, size_t item, size_t thread)
{
	const struct job *j = ctx;
	const struct gv_nn_row *r = &j->c->plan->row[j->first];
	const struct gv_nn_row *from = gv_nn_input(j->c, r, 0);
	struct gv_cpu_block s = {.n = j->c->n,
	    .part = item,
	    .parts = j->cpu->row[j->first].strips_back,
	    .scratch = gv_cpu_scratch(j->cpu, thread)};

	if (from == NULL || !j->c->active[0])
		return;
	gv_cpu_times_item(j->times, thread);
	gv_cpu_ops[r->l.op].backward(j->cpu, j->c, r, &s);
	if (r->ends[0] && r->l.op == GV_OP_LINEAR)
		strip_act_back(j, r, from, item);
	gv_cpu_times_lap(j->times, thread, j->first, GV_CPU_BACKWARD);
}

/* Rows [first, last), none of which is cut into strips. */
static void
run_blocks(struct gv_cpu *cpu, const struct gv_nn_call *c, size_t first, size_t last,
    gv_cpu_item *item)
{
	const struct gv_nn_plan *p = c->plan;
	struct job j = {cpu, c, first, last, (c->n + cpu->block - 1) / cpu->block,
	    c->training ? cpu->times : NULL};
	double flops = 0;
	size_t k;

	if (first == last)
		return;
	for (k = first; k < last; k++)
		flops += (double)p->row[k].l.flops;
	if (first == p->first_row && last == p->last_row)
		flops = p->flops;
	/* a row that multiplies nothing may move much */
	for (k = first; k < last; k++)
		flops += GV_CPU_MOVED * (double)(p->row[k].in_size + p->row[k].out_size);
	gv_cpu_times_loop(j.times);
	gv_cpu_threads_run(
	    cpu->pool, p->B * j.blocks, flops * (double)(p->B * c->n), item, &j);
	gv_cpu_times_loop_end(j.times);
}

static void
run_strips(struct gv_cpu *cpu, const struct gv_nn_call *c, size_t row, bool back)
{
	const struct gv_nn_row *r = &c->plan->row[row], *from = gv_nn_input(c, r, 0);
	struct job j = {cpu, c, row, row + 1, 1, c->training ? cpu->times : NULL};
	struct gv_cpu_block all = {.n = c->n};

	if (back && from == NULL)
		return;
	gv_cpu_times_loop(j.times);
	(cpu->row[row].relay ? gv_cpu_threads_run_own : gv_cpu_threads_run_from)(
	    cpu->pool, back ? cpu->row[row].strips_back : cpu->row[row].strips, NULL,
	    (double)r->l.flops * (double)c->n * 4, back ? backward_strip : forward_strip,
	    &j);
	/* places of a conv's dx may lie anywhere */
	if (back && r->ends[0] && r->l.op == GV_OP_CONV && c->active[0]) {
		gv_cpu_times_item(j.times, 0);
		act_back(&j, from, &all, 0);
	}
	gv_cpu_times_loop_end(j.times);
}

int
gv_cpu_forward(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;
	size_t k;

	for (k = first; k < last; k++) {
		if (cpu->row[k].strips == 0)
			continue;
		run_blocks(cpu, c, first, k, forward_item);
		if (cpu->row[k].relay)
			gv_cpu_relay(cpu, c, k);
		else
			run_strips(cpu, c, k, false);
		first = k + 1;
	}
	run_blocks(cpu, c, first, last, forward_item);
	return 0;
}

int
gv_cpu_backward(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;
	size_t k;

	for (k = last; k-- > first;) {
		if (cpu->row[k].strips == 0)
			continue;
		run_blocks(cpu, c, k + 1, last, backward_item);
		run_strips(cpu, c, k, true);
		last = k;
	}
	run_blocks(cpu, c, first, last, backward_item);
	return 0;
}

int
gv_cpu_act_back_row(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row)
{
	run_blocks((struct gv_cpu *)be, c, row, row + 1, act_back_item);
	return 0;
}
