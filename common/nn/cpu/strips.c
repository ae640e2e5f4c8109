/*
 * Rows that threads share by columns of a product instead of samples, and the update as the
 * same threads have the weights.
 *
 * A linear row whose weights are many and activations few would have all weights read by all
 * threads in every step, from the cache of who updated them.  By columns a thread multiplies
 * with, makes the gradient of and updates the same columns, and activations go across
 * instead.  Where there are fewer samples than threads, conv is shared by places.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "nn/cpu/depthwise.h"

/* Products that are worth a loop of their own. */
#define WORTH_A_LOOP 1e5

enum { RELAY_ROWS = 32 }; /* of the weights, at the least: whole panels of dx */

/* Numbers are found by columns or places alone: what act reads and writes is there. */
static bool
acts_alone(enum gv_act act)
{
	return act == GV_ACT_NONE || act == GV_ACT_RELU;
}

/*
 * The width of strips of columns, whole panels; 0 = none.  A thread's part of a line of
 * weights is long, or else what one prefetches is what another writes; the wider a strip,
 * the fewer times the other factor is read.
 */
static size_t
width_of(size_t columns, size_t threads)
{
	enum { WIDEST = 256, NARROWEST = 64, LEAST = 256 };
	size_t width, n;

	if (columns < LEAST * threads)
		return 0;
	for (width = WIDEST; width >= NARROWEST; width /= 2) {
		n = columns / width;
		if (columns % width == 0 && n >= 2 * threads &&
		    (n % threads == 0 || n >= 16 * threads))
			return width;
	}
	return 0;
}

/*
 * Whether threads have rows of the weights and the product's sums go from one to the next:
 * where what goes across is less than the weights, which then stay where they are, and
 * these are taken as they lie.
 */
static bool
is_relayed(
    const struct gv_cpu *cpu, const struct gv_nn_row *r, const struct gv_cpu_row *at)
{
	const struct gv_nn_plan *p = cpu->plan;
	enum { TILE = 12, FEW = 128, PAGE = 4096 };
	size_t in = r->in_size / r->places, lines = p->n * r->places;
	size_t across = p->n * (2 * r->out_size + (at->back ? r->in_size : 0));

	return at->raw &&
	       (lines <= TILE || (lines <= FEW && r->columns * sizeof(gv_real) < PAGE)) &&
	       in >= 2 * RELAY_ROWS * cpu->threads && across < r->l.weights;
}

static void
cut_relay(const struct gv_nn_row *r, struct gv_cpu_row *at)
{
	size_t in = r->in_size / r->places;

	at->relay = true;
	at->strip = r->columns >= 512 ? 64 : 32;
	at->strips = (r->columns + at->strip - 1) / at->strip;
	at->strip_back = RELAY_ROWS;
	at->strips_back = (in + RELAY_ROWS - 1) / RELAY_ROWS;
}

static void
cut_linear(struct gv_cpu *cpu, const struct gv_nn_row *r, struct gv_cpu_row *at)
{
	const struct gv_nn_plan *p = cpu->plan;
	size_t in = r->in_size / r->places, width = width_of(r->columns, cpu->threads);
	const struct gv_nn_row *from =
	    r->l.from[0] == GV_FROM_INPUT ? NULL : &p->row[r->l.from[0]];

	if (!acts_alone(r->l.act) || (from != NULL && !acts_alone(from->l.act)))
		return;
	if (is_relayed(cpu, r, at)) {
		cpu->relayed = true;
		cut_relay(r, at);
		return;
	}
	if (width == 0 || p->n * (r->in_size + r->out_size) >= r->l.weights)
		return;
	at->strip = width;
	at->strips = r->columns / width;
	width = (in + 4 * cpu->threads - 1) / (4 * cpu->threads);
	at->strip_back = (width + 31) / 32 * 32;
	at->strips_back = (in + at->strip_back - 1) / at->strip_back;
}

static void
cut_conv(const struct gv_cpu *cpu, const struct gv_nn_row *r, struct gv_cpu_row *at)
{
	if (cpu->plan->n < cpu->threads && !gv_cpu_is_depthwise(r) &&
	    acts_alone(r->l.act))
		at->strips = at->strips_back = cpu->threads;
}

void
gv_cpu_cut_strips(struct gv_cpu *cpu)
{
	const struct gv_nn_plan *p = cpu->plan;
	size_t i;

	for (i = p->first_row; i < p->last_row; i++) {
		const struct gv_nn_row *r = &p->row[i];

		if (p->B > 1 || cpu->threads == 1 ||
		    (double)r->l.flops * (double)p->n < WORTH_A_LOOP)
			continue;
		if (r->l.op == GV_OP_LINEAR)
			cut_linear(cpu, r, &cpu->row[i]);
		else if (r->l.op == GV_OP_CONV)
			cut_conv(cpu, r, &cpu->row[i]);
	}
}

enum { NUMBERS = 4096 }; /* of an area */

struct areas {
	struct gv_cpu *cpu;
	size_t thread, cap; /* whose are wanted */
};

static void
add_area(struct areas *a, struct gv_cpu_area area, size_t owner)
{
	struct gv_cpu *cpu = a->cpu;

	if (owner != a->thread)
		return;
	cpu->area = gv_xgrow(cpu->area, &a->cap, cpu->areas + 1, sizeof(*cpu->area));
	cpu->area[cpu->areas++] = area;
}

/* Parameters [at, end), which lie one behind another. */
static void
add_stretch(struct areas *a, size_t at, size_t end)
{
	size_t some, owner = 0;

	for (; at < end; at += some) {
		some = gv_cpu_lesser(end - at, NUMBERS);
		while (owner + 1 < a->cpu->threads &&
		       a->cpu->own[owner + 1] <= at + some / 2)
			owner++;
		add_area(a, (struct gv_cpu_area){at, some, 1, 0}, owner);
	}
}

/* The weights of a row that a thread has rows of. */
static void
add_own_rows(struct areas *a, const struct gv_nn_row *r)
{
	size_t at = gv_cpu_relay_row(a->cpu, r, a->thread) * r->columns, some;
	size_t end = gv_cpu_relay_row(a->cpu, r, a->thread + 1) * r->columns;

	for (; at < end; at += some) {
		some = gv_cpu_lesser(end - at, NUMBERS);
		add_area(a, (struct gv_cpu_area){r->weight + at, some, 1, 0}, a->thread);
	}
}

/* The weights of a row that is cut by columns: what a thread has of each of its lines. */
static void
add_strips(struct areas *a, const struct gv_nn_row *r, const struct gv_cpu_row *at)
{
	size_t first, n, row, rows;

	if (at->relay) {
		add_own_rows(a, r);
		return;
	}
	first = at->strips * a->thread / a->cpu->threads * at->strip;
	n = at->strips * (a->thread + 1) / a->cpu->threads * at->strip - first;

	rows = n >= NUMBERS ? 1 : NUMBERS / n;
	for (row = 0; row < r->matrix_rows; row += rows)
		add_area(a,
		    (struct gv_cpu_area){r->weight + row * r->columns + first, n,
			gv_cpu_lesser(rows, r->matrix_rows - row), r->columns},
		    a->thread);
}

void
gv_cpu_cut_areas(struct gv_cpu *cpu)
{
	const struct gv_nn_plan *p = cpu->plan;
	struct areas a = {.cpu = cpu};
	size_t i, done;

	cpu->area_begins = gv_xcalloc(cpu->threads + 1, sizeof(*cpu->area_begins));
	for (; a.thread < cpu->threads; a.thread++) {
		for (i = p->first_row, done = 0; i < p->last_row; i++) {
			const struct gv_nn_row *r = &p->row[i];

			if (cpu->row[i].strip == 0)
				continue;
			add_stretch(&a, done, r->weight);
			add_strips(&a, r, &cpu->row[i]);
			done = r->weight + r->l.weights;
		}
		add_stretch(&a, done, p->P);
		cpu->area_begins[a.thread + 1] = cpu->areas;
	}
}
