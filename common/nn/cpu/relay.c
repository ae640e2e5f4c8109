/*
 * Forward of linear with few samples to its weights: y = x W + bias from thread to thread.
 *
 * Each thread has some rows of W: it multiplies with these, makes their gradient and updates
 * them, so that weights, gradients and what the optimiser keeps stay in its cache; the
 * columns of dx are these rows, too.  Only y needs all rows: its sums begin with the first
 * thread's, and go on with the next one's, in the order that one thread alone has them.  The
 * product is cut into strips, and a thread is a strip behind the one before.
 */
#include <sched.h>
#include <stdlib.h>

#include "base/mem.h"
#include "nn/cpu/gemm.h"
#include "nn/cpu/parts.h"
#include "nn/cpu/times.h"

enum { TILE = 12, STRIPS = 8, LOOKS = 2000 }; /* before others may run */

struct relay {
	struct gv_cpu *cpu;
	const struct gv_nn_call *c;
	const struct gv_nn_row *r;
	size_t strips, samples, blocks; /* of columns; lines of y in a block */
	size_t lap;
	struct gv_cpu_times *times;
};

/* Until the thread before has done the same. */
static void
wait_for(struct gv_cpu_baton *b, size_t lap)
{
	size_t i;

	for (i = 0; atomic_load_explicit(&b->lap, memory_order_acquire) != lap; i++)
		if (i < LOOKS)
			gv_cpu_rest();
		else
			sched_yield();
}

/* Strip by strip of a thread's rows: item = thread, block, strip. */
static void
relay_item(void *ctx, size_t item, size_t thread)
{
	const struct relay *j = ctx;
	const struct gv_nn_row *r = j->r;
	size_t each = j->strips * j->blocks, leg = item / each, strip = item % j->strips;
	size_t line = item % each / j->strips * j->samples;
	size_t width = j->cpu->row[r - j->c->plan->row].strip, column = strip * width;
	size_t row = gv_cpu_relay_row(j->cpu, r, leg), in = r->in_size / r->places;
	struct gv_cpu_gemm g = {
	    .m = gv_cpu_lesser(j->c->n * r->places - line, j->samples),
	    .n = gv_cpu_lesser(width, r->columns - column),
	    .k = gv_cpu_relay_row(j->cpu, r, leg + 1) - row,
	    .a = gv_nn_x(j->c, r, 0, 0, 0) + line * in + row,
	    .lda = in,
	    .b = gv_nn_weight(j->c, r, 0) + row * r->columns + column,
	    .ldb = r->columns,
	    .c = gv_nn_y(j->c, r, 0, 0) + line * r->columns + column,
	    .ldc = r->columns,
	    .bias = gv_nn_bias(j->c, r, 0),
	    .add = leg > 0,
	    .relu = r->l.act == GV_ACT_RELU && leg + 1 == j->cpu->threads};

	g.bias = g.bias == NULL || leg > 0 ? NULL : g.bias + column;
	if (leg > 0)
		wait_for(&j->cpu->baton[item - each], j->lap);
	gv_cpu_times_item(j->times, thread);
	gv_cpu_gemm(&g);
	gv_cpu_times_lap(j->times, thread, (size_t)(r - j->c->plan->row), GV_CPU_FORWARD);
	atomic_store_explicit(&j->cpu->baton[item].lap, j->lap, memory_order_release);
}

/* Strips enough that threads wait little, and these as high as tiles are. */
static size_t
block_lines(size_t lines, size_t strips, size_t threads)
{
	size_t blocks = (STRIPS * (threads - 1) + strips - 1) / strips;

	return ((lines + blocks - 1) / blocks + TILE - 1) / TILE * TILE;
}

static void
make_batons(struct gv_cpu *cpu, size_t n)
{
	if (n <= cpu->batons)
		return;
	free(cpu->baton);
	cpu->baton = gv_xcalloc(n, sizeof(*cpu->baton));
	cpu->batons = n;
}

void
gv_cpu_relay(struct gv_cpu *cpu, const struct gv_nn_call *c, size_t row)
{
	const struct gv_nn_row *r = &c->plan->row[row];
	size_t lines = c->n * r->places, n;
	struct relay j = {cpu, c, r, cpu->row[row].strips,
	    block_lines(lines, cpu->row[row].strips, cpu->threads), 0, ++cpu->lap,
	    c->training ? cpu->times : NULL};

	if (!c->active[0] && c->training)
		return;
	j.blocks = (lines + j.samples - 1) / j.samples;
	n = cpu->threads * j.strips * j.blocks;
	make_batons(cpu, n);
	gv_cpu_times_loop(j.times);
	gv_cpu_threads_run_own(
	    cpu->pool, n, NULL, (double)r->l.flops * (double)c->n * 4, relay_item, &j);
	gv_cpu_times_loop_end(j.times);
}
