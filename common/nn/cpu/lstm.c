/*
 * lstm: the products with the input are one for all places, those with the state one
 * for each place; the gates and the cell of each are kept for the way back, which
 * leaves the gradients of the gates' sums beside them for those of the weights.
 */
#include "nn/cpu/lstm.h"

#include <string.h>

#include "nn/cpu/exp.h"
#include "nn/cpu/gemm.h"
#include "nn/cpu/simd.h"

enum { PLACES = 256 }; /* of a block of the weights' gradient */

struct gv_cpu_lstm
gv_cpu_lstm_sizes(const struct gv_nn_row *r)
{
	const struct gv_layer *l = &r->l;

	return (struct gv_cpu_lstm){.steps = l->in_shape.height,
	    .in = l->in_shape.channels,
	    .out = l->out_shape.channels,
	    .state = l->out_shape.channels / l->g,
	    .gates = 4 * l->out_shape.channels};
}

/*
 * What is kept of a model, of all its samples: gates [n][steps][way][i f g o], then
 * cells [n][steps][way][state]; and the same of their gradients.
 */
struct kept {
	gv_real *gates, *cells;
};

static struct kept
kept_at(const struct gv_nn_call *c, gv_real *base, const struct gv_cpu_lstm *d, size_t i)
{
	return (struct kept){base + i * d->steps * d->gates,
	    base + c->plan->n * d->steps * d->gates + i * d->steps * d->out};
}

static bool
goes_back(const struct gv_nn_row *r, size_t way)
{
	return r->l.dir == GV_DIR_BACK || way == 1;
}

/* Place number k on the way. */
static size_t
place(const struct gv_nn_row *r, size_t way, size_t k)
{
	return goes_back(r, way) ? r->l.in_shape.height - 1 - k : k;
}

/* cell and its tanh, which is multiplied with the last gate to the output afterwards */
GV_HOT static void
cells(gv_real *restrict cell, gv_real *restrict h, const gv_real *restrict gates,
    const gv_real *restrict before, size_t n)
{
	const gv_real *in = gates, *forget = in + n, *new = forget + n;
	size_t j;

	for (j = 0; j < n; j++) {
		gv_real was = before != NULL ? before[j] : 0;

		h[j] = cell[j] = forget[j] * was + in[j] * new[j];
	}
}

GV_HOT static void
times(gv_real *restrict h, const gv_real *restrict out, size_t n)
{
	size_t j;

	for (j = 0; j < n; j++)
		h[j] = out[j] * h[j];
}

/* One place of one sample: sums of the gates become gates, cell and output. */
static void
cell_forward(gv_real *gates, const gv_real *before, gv_real *cell, gv_real *h, size_t n)
{
	gv_cpu_sigmoid(gates, 2 * n);
	gv_cpu_tanh(gates + 2 * n, n);
	gv_cpu_sigmoid(gates + 3 * n, n);
	cells(cell, h, gates, before, n);
	gv_cpu_tanh(h, n);
	times(h, gates + 3 * n, n);
}

void
gv_cpu_lstm_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	struct gv_cpu_lstm d = gv_cpu_lstm_sizes(r);
	struct kept kept = kept_at(c, gv_nn_kept(c, r, s->b), &d, s->i);
	gv_real *y = gv_cpu_y(c, r, s);
	const gv_real *bias = gv_nn_bias(c, r, s->b);
	size_t way, k, i, each = 4 * d.state;

	for (way = 0; way < r->l.g; way++) {
		const gv_real *w = gv_cpu_packed(cpu, c, r, s->b, way);
		struct gv_cpu_gemm x = {.m = s->n * d.steps,
		    .n = each,
		    .k = d.in,
		    .a = gv_cpu_x(c, r, s),
		    .lda = d.in,
		    .b = w,
		    .c = kept.gates + way * each,
		    .ldc = d.gates,
		    .bias = bias == NULL ? NULL : bias + way * each};

		gv_cpu_gemm(&x);
		for (k = 0; k < d.steps; k++) {
			size_t t = place(r, way, k),
			       last = k > 0 ? place(r, way, k - 1) : 0;
			struct gv_cpu_gemm h = {.m = s->n,
			    .n = each,
			    .k = d.state,
			    .a = y + last * d.out + way * d.state,
			    .lda = r->out_size,
			    .b = w + gv_cpu_gemm_packed(d.in, each),
			    .c = kept.gates + t * d.gates + way * each,
			    .ldc = d.steps * d.gates,
			    .add = true};

			if (k > 0)
				gv_cpu_gemm(&h);
			for (i = 0; i < s->n; i++) {
				gv_real *cells =
				    kept.cells + i * r->out_size + way * d.state;

				cell_forward(
				    kept.gates + (i * d.steps + t) * d.gates + way * each,
				    k > 0 ? cells + last * d.out : NULL,
				    cells + t * d.out,
				    y + i * r->out_size + t * d.out + way * d.state,
				    d.state);
			}
		}
	}
}

/*
 * One place of one sample back: of dh, what reaches it, and carry, what the next place
 * gives back to the cell (NULL: there is none), the gradients of the gates' sums and,
 * where dh was, what goes to the cell of the place before.
 */
GV_HOT static void
cell_back(gv_real *restrict dgates, const gv_real *restrict gates,
    const gv_real *restrict tanh_cell, const gv_real *restrict before,
    const gv_real *restrict carry, gv_real *restrict dh, size_t n)
{
	const gv_real *in = gates, *forget = in + n, *new = forget + n, *out = new + n;
	size_t j;

	for (j = 0; j < n; j++) {
		gv_real t = tanh_cell[j], was = before != NULL ? before[j] : 0;
		gv_real dc =
		    dh[j] * out[j] * (1 - t * t) + (carry != NULL ? carry[j] : 0);

		dgates[j] = dc * new[j] * (in[j] * (1 - in[j]));
		dgates[n + j] = dc * was * (forget[j] * (1 - forget[j]));
		dgates[2 * n + j] = dc * in[j] * (1 - new[j] * new[j]);
		dgates[3 * n + j] = dh[j] * t * (out[j] * (1 - out[j]));
		dh[j] = dc * forget[j];
	}
}

/* Gradients of the gates' sums of one way, from the last place on. */
static void
way_back(const struct gv_cpu *cpu, const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_block *s, size_t way)
{
	struct gv_cpu_lstm d = gv_cpu_lstm_sizes(r);
	struct kept kept = kept_at(c, gv_nn_kept(c, r, s->b), &d, s->i);
	struct kept dkept = kept_at(c, gv_nn_kept_dy(c, r, s->b), &d, s->i);
	const gv_real *dy = gv_cpu_dy(c, r, s);
	size_t k, i, each = 4 * d.state;

	for (k = d.steps; k-- > 0;) {
		bool ends = k + 1 == d.steps;
		size_t t = place(r, way, k), next = ends ? 0 : place(r, way, k + 1);
		gv_real *dh = dkept.cells + t * d.out + way * d.state;
		struct gv_cpu_gemm g = {.m = s->n,
		    .n = d.state,
		    .k = each,
		    .a = dkept.gates + next * d.gates + way * each,
		    .lda = d.steps * d.gates,
		    .b = gv_cpu_packed_t(cpu, c, r, s->b, way),
		    .c = dh,
		    .ldc = r->out_size,
		    .add = true};

		for (i = 0; i < s->n; i++)
			memcpy(dh + i * r->out_size,
			    dy + i * r->out_size + t * d.out + way * d.state,
			    d.state * sizeof(*dh));
		if (!ends)
			gv_cpu_gemm(&g);
		for (i = 0; i < s->n; i++) {
			size_t at = i * r->out_size + way * d.state;
			const gv_real *cells = kept.cells + at;

			memcpy(s->scratch, cells + t * d.out, d.state * sizeof(*dh));
			gv_cpu_tanh(s->scratch, d.state);
			cell_back(dkept.gates + (i * d.steps + t) * d.gates + way * each,
			    kept.gates + (i * d.steps + t) * d.gates + way * each,
			    s->scratch,
			    k > 0 ? cells + place(r, way, k - 1) * d.out : NULL,
			    ends ? NULL : dkept.cells + at + next * d.out,
			    dh + i * r->out_size, d.state);
		}
	}
}

void
gv_cpu_lstm_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	struct gv_cpu_lstm d = gv_cpu_lstm_sizes(r);
	struct kept dkept = kept_at(c, gv_nn_kept_dy(c, r, s->b), &d, s->i);
	size_t way, each = 4 * d.state;

	for (way = 0; way < r->l.g; way++) {
		struct gv_cpu_gemm g = {.m = s->n * d.steps,
		    .n = d.in,
		    .k = each,
		    .a = dkept.gates + way * each,
		    .lda = d.gates,
		    .b = gv_cpu_packed_t(cpu, c, r, s->b, way) +
			 gv_cpu_gemm_packed(each, d.state),
		    .ldc = d.in,
		    .add = way > 0 || r->adds[s->input]};

		way_back(cpu, c, r, s, way);
		if (gv_nn_input(c, r, 0) == NULL)
			continue;
		g.c = gv_cpu_dx(c, r, s);
		gv_cpu_gemm(&g);
	}
}

size_t
gv_cpu_lstm_scratch(const struct gv_nn_row *r, const struct gv_cpu_row *packed)
{
	size_t columns = gv_cpu_lesser(r->columns, GV_CPU_PIECE_COLUMNS);
	size_t most = PLACES * gv_cpu_lesser(r->matrix_rows, 240 + 12) +
		      gv_cpu_gemm_packed(PLACES, columns);

	(void)packed;
	return most > r->columns ? most : r->columns;
}

/* What the matrix is multiplied with at a place: [first, last) of the input and the state. */
static void
gather(const struct gv_nn_row *r, const struct gv_cpu_lstm *d, size_t way, size_t t,
    const gv_real *x, const gv_real *y, size_t first, size_t last, gv_real *to)
{
	bool begins = t == place(r, way, 0);
	size_t before = goes_back(r, way) ? t + 1 : t - 1;
	size_t j = first;

	if (j < d->in) {
		size_t some = gv_cpu_lesser(last, d->in) - j;

		memcpy(to, x + t * d->in + j, some * sizeof(*to));
		to += some;
		j += some;
	}
	if (j == last)
		return;
	if (begins)
		memset(to, 0, (last - j) * sizeof(*to));
	else
		memcpy(to, y + before * d->out + way * d->state + j - d->in,
		    (last - j) * sizeof(*to));
}

/* Samples after samples, of each place after place. */
void
gv_cpu_lstm_gradient(const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_piece *p, const struct gv_cpu_block *s, gv_real *dw, size_t ldw)
{
	struct gv_cpu_lstm d = gv_cpu_lstm_sizes(r);
	struct kept dkept = kept_at(c, gv_nn_kept_dy(c, r, s->b), &d, s->i);
	size_t rows = p->last - p->first, out = p->last_column - p->column;
	size_t total = s->n * d.steps, at, some, k;
	gv_real *packed = s->scratch + PLACES * rows;
	const gv_real *dy = dkept.gates + p->group * 4 * d.state + p->column;

	for (at = 0; at < total; at += some) {
		struct gv_cpu_gemm g = {.m = rows,
		    .n = out,
		    .transposed = true,
		    .a = s->scratch,
		    .lda = rows,
		    .b = packed,
		    .c = dw,
		    .ldc = ldw,
		    .add = at > 0};

		g.k = some = gv_cpu_lesser(total - at, PLACES);
		for (k = 0; k < some; k++) {
			size_t i = (at + k) / d.steps, t = (at + k) % d.steps;

			gather(r, &d, p->group, t, gv_cpu_x(c, r, s) + i * r->in_size,
			    gv_cpu_y(c, r, s) + i * r->out_size, p->first, p->last,
			    s->scratch + k * rows);
		}
		gv_cpu_gemm_pack(packed, dy + at * d.gates, d.gates, 1, some, out);
		gv_cpu_gemm(&g);
	}
}

const gv_real *
gv_cpu_lstm_bias(
    const struct gv_nn_call *c, const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	struct gv_cpu_lstm d = gv_cpu_lstm_sizes(r);

	return kept_at(c, gv_nn_kept_dy(c, r, s->b), &d, s->i).gates;
}
