/* Weights packed for the products: for y as they are, for dx transposed. */
#include "nn/cpu/depthwise.h"
#include "nn/cpu/gemm.h"
#include "nn/cpu/lstm.h"
#include "nn/cpu/times.h"

enum { COLUMNS = 128 }; /* that one item packs; whole panels */

/* One item: a strip of columns of one row of a model, or of one tap of it. */
struct packing {
	struct gv_cpu *cpu;
	const struct gv_nn_call *c;
	size_t first, last; /* rows */
	unsigned what;
	size_t strips; /* of all rows together */
	struct gv_cpu_times *times;
};

#define ALL SIZE_MAX /* taps */

static void
pack_matrix(gv_real *packed, const gv_real *w, size_t rs, size_t cs, size_t k, size_t n,
    size_t strip)
{
	size_t at = strip * COLUMNS;

	if (at < n)
		gv_cpu_gemm_pack(packed + k * at, w + at * cs, rs, cs, k,
		    gv_cpu_lesser(n - at, COLUMNS));
}

/* The same of one tap. */
static void
pack_tap(gv_real *packed, const gv_real *w, const struct gv_nn_row *r, size_t tap,
    size_t strip)
{
	size_t at = strip * COLUMNS, in = r->l.in_shape.channels;

	if (at < r->columns)
		gv_cpu_gemm_pack_rows(packed + r->matrix_rows * at,
		    w + tap * in * r->columns + at, r->columns, 1, r->matrix_rows,
		    tap * in, in, gv_cpu_lesser(r->columns - at, COLUMNS));
}

/*
 * [taps turned round][out] x [in], each tap transposed; where a conv has a stride,
 * a matrix for each pair of rests that it leaves, of the taps with these rests.
 */
static void
pack_back(gv_real *packed, const gv_real *w, const struct gv_nn_row *r,
    const struct gv_cpu_row *at, size_t tap, size_t strip)
{
	size_t in = at->back_columns, out = r->columns, column = strip * COLUMNS;
	bool conv = r->l.op == GV_OP_CONV || r->l.op == GV_OP_TCONV;
	size_t s = conv ? r->l.s : 1, k = conv ? r->l.k : 1, rest, ky, kx, rows, row;

	if (column >= in)
		return;
	for (rest = 0; rest < s * s; rest++) {
		size_t high = rest / s < k ? (k - rest / s + s - 1) / s : 0;
		size_t wide = rest % s < k ? (k - rest % s + s - 1) / s : 0;

		rows = high * wide * out;
		for (row = 0; row < rows; row += out) {
			ky = rest / s + s * (high - 1 - row / out / wide);
			kx = rest % s + s * (wide - 1 - row / out % wide);
			if (tap != ALL && tap != ky * k + kx)
				continue;
			gv_cpu_gemm_pack_rows(packed + rows * column,
			    w + (ky * k + kx) * in * out + column * out, 1, out, rows,
			    row, out, gv_cpu_lesser(in - column, COLUMNS));
		}
		packed += gv_cpu_gemm_packed(rows, in);
	}
}

/* One way of an lstm (lay_out_lstm). */
static void
pack_lstm(gv_real *packed, gv_real *packed_t, const gv_real *w, const struct gv_nn_row *r,
    unsigned what, size_t strip)
{
	struct gv_cpu_lstm d = gv_cpu_lstm_sizes(r);
	size_t n = r->columns;

	if (what & GV_NN_FORWARD) {
		pack_matrix(packed, w, n, 1, d.in, n, strip);
		pack_matrix(packed + gv_cpu_gemm_packed(d.in, n), w + d.in * n, n, 1,
		    d.state, n, strip);
	}
	if (what & GV_NN_BACKWARD) {
		pack_matrix(packed_t, w + d.in * n, 1, n, n, d.state, strip);
		pack_matrix(
		    packed_t + gv_cpu_gemm_packed(n, d.state), w, 1, n, n, d.in, strip);
	}
}

/* Strips of the wider of a row's two matrices. */
static size_t
strips_wide(const struct gv_nn_row *r, const struct gv_cpu_row *at)
{
	size_t columns = r->columns;

	if (at->back_columns > columns)
		columns = at->back_columns;
	return (columns + COLUMNS - 1) / COLUMNS;
}

static void
pack_row(const struct packing *p, size_t row, size_t b, size_t strip, size_t thread)
{
	const struct gv_nn_row *r = &p->cpu->plan->row[row];
	const struct gv_cpu_row *at = &p->cpu->row[row];
	unsigned what = p->what & ~(unsigned)p->c->w->is_packed[row];
	const gv_real *w = gv_nn_weight(p->c, r, b);
	gv_real *base = p->c->w->packed + b * p->cpu->packed_size;
	unsigned plain = gv_cpu_is_turned(r) ? GV_NN_BACKWARD : GV_NN_FORWARD;
	unsigned turned = GV_NN_FORWARD + GV_NN_BACKWARD - plain;
	size_t group, tap = ALL;

	if (gv_cpu_is_depthwise(r)) {
		if (strip == 0 && (what & GV_NN_FORWARD))
			gv_cpu_depthwise_pack(base + at->packed, w, r);
		return;
	}
	if (r->l.op == GV_OP_LSTM) {
		for (group = 0; group < r->l.g; group++)
			pack_lstm(base + at->packed + group * at->packed_size,
			    base + at->packed_t + group * at->packed_t_size,
			    w + group * r->matrix_rows * r->columns, r, what, strip);
		gv_cpu_times_lap(p->times, thread, row, GV_CPU_UPDATE);
		return;
	}
	if (at->taps > 0) {
		tap = strip / strips_wide(r, at);
		strip %= strips_wide(r, at);
	}
	for (group = 0; group < r->l.g; group++, w += r->matrix_rows * r->columns) {
		if ((what & plain) && at->packed_size > 0) {
			if (tap != ALL)
				pack_tap(base + at->packed, w, r, tap, strip);
			else
				pack_matrix(base + at->packed + group * at->packed_size,
				    w, r->columns, 1, r->matrix_rows, r->columns, strip);
			gv_cpu_times_lap(p->times, thread, row, GV_CPU_UPDATE);
		}
		if ((what & turned) && at->packed_t_size > 0) {
			pack_back(base + at->packed_t + group * at->packed_t_size, w, r,
			    at, tap, strip);
			gv_cpu_times_lap(p->times, thread, row, GV_CPU_UPDATE);
		}
	}
}

/* Which of what a row has packed. */
static unsigned
wanted(const struct gv_cpu *cpu, size_t row, unsigned what)
{
	const struct gv_cpu_row *at = &cpu->row[row];
	bool forward = gv_cpu_is_turned(&cpu->plan->row[row]) ? at->packed_t_size > 0
							      : at->packed_size > 0;

	return what & ((forward ? GV_NN_FORWARD : 0u) |
			  (at->back && !at->raw_back ? GV_NN_BACKWARD : 0u));
}

/* Items of a row; none where nothing is lacking. */
static size_t
strips_of(const struct packing *p, size_t row)
{
	const struct gv_cpu_row *at = &p->cpu->row[row];

	if ((wanted(p->cpu, row, p->what) & ~(unsigned)p->c->w->is_packed[row]) == 0)
		return 0;
	return strips_wide(&p->cpu->plan->row[row], at) * (at->taps > 0 ? at->taps : 1);
}

/* The first item of a row that thread t packs: of weights that it updates, mostly. */
static size_t
own_strip(const struct packing *p, size_t row, size_t t)
{
	const struct gv_cpu *cpu = p->cpu;
	size_t strips = strips_of(p, row);

	if (cpu->row[row].taps > 0)
		return strips / cpu->row[row].taps *
		       cpu->taps[row * (cpu->threads + 1) + t];
	if (!cpu->row[row].relay || t == cpu->threads)
		return strips * t / cpu->threads;
	return gv_cpu_lesser(strips,
	    (gv_cpu_relay_row(cpu, &cpu->plan->row[row], t) + COLUMNS / 2) / COLUMNS);
}

/* Thread after thread has its strips of all rows, and model after model. */
static void
pack_item(void *ctx, size_t item, size_t thread)
{
	const struct packing *p = ctx;
	const size_t *begins = p->cpu->pack_begins;
	size_t b = item / p->strips, row = p->first, t = 0, at, some;

	if (!p->c->active[b] && p->c->training)
		return;
	gv_cpu_times_item(p->times, thread);
	for (item %= p->strips; item >= begins[t + 1];)
		t++;
	item -= begins[t];
	for (;; row++, item -= some) {
		at = own_strip(p, row, t);
		some = own_strip(p, row, t + 1) - at;
		if (item < some)
			break;
	}
	pack_row(p, row, b, at + item, thread);
}

static void
share_strips(const struct packing *p)
{
	size_t t, row, *begins = p->cpu->pack_begins;

	for (t = 0; t < p->cpu->threads; t++) {
		begins[t + 1] = begins[t];
		for (row = p->first; row < p->last; row++)
			begins[t + 1] += own_strip(p, row, t + 1) - own_strip(p, row, t);
	}
}

int
gv_cpu_pack(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first,
    size_t last, unsigned what)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;
	struct packing p = {
	    cpu, c, first, last, what, 0, c->training ? cpu->times : NULL};
	size_t i;

	/* of models that do not train nothing may be known */
	for (i = first; i < last && !c->training; i++)
		c->w->is_packed[i] &= (unsigned char)~what;
	for (i = first; i < last; i++)
		p.strips += strips_of(&p, i);
	if (p.strips == 0)
		return 0;
	share_strips(&p);
	gv_cpu_times_loop(p.times);
	gv_cpu_threads_run_from(cpu->pool, cpu->plan->B * p.strips,
	    cpu->plan->B == 1 ? cpu->pack_begins : NULL,
	    2 * GV_CPU_MOVED * (double)(cpu->plan->B * cpu->packed_size), pack_item, &p);
	gv_cpu_times_loop_end(p.times);
	for (i = first; i < last; i++)
		c->w->is_packed[i] |= (unsigned char)what;
	return 0;
}
