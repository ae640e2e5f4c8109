/*
 * conv: windows of the input are laid out as rows of a matrix (im2col), a block
 * of positions at a time so that it stays in cache, and multiplied with the
 * weights [g][k][k][in / g][out / g].
 *
 * The gradient of the input is a convolution too: of dy, spread by the stride,
 * with the weights turned round.  One gather serves both.
 */
#include <string.h>

#include "nn/cpu/depthwise.h"
#include "nn/cpu/gemm.h"
#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"

/*
 * Where windows come from: window element (ky, kx, c) at output place (oy, ox)
 * is src[(oy * mul + ky - off) / div][(ox * mul + kx - off) / div][c0 + c], 0
 * where that is outside or not whole.
 */
struct gather {
	const gv_real *src; /* [samples][height][width][channels] */
	size_t height, width, channels;
	size_t c0, c; /* channels of the group */
	size_t k;
	size_t out_height, out_width;
	ptrdiff_t mul, off, div;
};

/* The place along one side, or false: at = o * mul + k - off, over div. */
static bool
place(const struct gather *g, size_t o, size_t k, size_t size, size_t *at)
{
	ptrdiff_t t = (ptrdiff_t)o * g->mul + (ptrdiff_t)k - g->off;

	if (t < 0 || t % g->div != 0)
		return false;
	*at = (size_t)(t / g->div);
	return *at < size;
}

/* As memcpy and memset, for the short runs of windows. */
static inline void
copy(gv_real *restrict dst, const gv_real *restrict src, size_t n)
{
	for (; n >= 16; n -= 16, dst += 16, src += 16)
		memcpy(dst, src, 16 * sizeof(*dst));
	for (; n >= 4; n -= 4, dst += 4, src += 4)
		memcpy(dst, src, 4 * sizeof(*dst));
	for (; n > 0; n--)
		*dst++ = *src++;
}

static inline void
zero(gv_real *dst, size_t n)
{
	for (; n >= 4; n -= 4, dst += 4)
		memset(dst, 0, 4 * sizeof(*dst));
	for (; n > 0; n--)
		*dst++ = 0;
}

/*
 * Elements [first, last) of the window at a place when neighbours in a window
 * are neighbours in the source: one run for each of its rows.
 */
static void
runs(const struct gather *g, const gv_real *src, size_t oy, size_t ox, size_t first,
    size_t last, gv_real *dst)
{
	ptrdiff_t top = (ptrdiff_t)oy * g->mul - g->off,
		  left = (ptrdiff_t)ox * g->mul - g->off;
	ptrdiff_t c = (ptrdiff_t)g->c, line = (ptrdiff_t)g->width * c,
		  row = (ptrdiff_t)g->k * c;
	ptrdiff_t lo = left < 0 ? -left * c : 0; /* elements of a row that are inside: */
	ptrdiff_t hi = line - left * c < row ? line - left * c : row; /* [lo, hi) */
	ptrdiff_t from = (ptrdiff_t)first, end = (ptrdiff_t)last, y;

	for (y = top; end > 0; y++, from -= row, end -= row) {
		ptrdiff_t e = from > 0 ? from : 0, stop = end < row ? end : row, a, b;

		if (e >= stop)
			continue;
		a = lo > e ? lo < stop ? lo : stop : e;
		b = hi < stop ? hi > a ? hi : a : stop;
		if (y < 0 || y >= (ptrdiff_t)g->height)
			b = a = stop;
		zero(dst, (size_t)(a - e));
		if (b > a)
			copy(dst + (a - e), src + y * line + left * c + a,
			    (size_t)(b - a));
		zero(dst + (b - e), (size_t)(stop - b));
		dst += stop - e;
	}
}

/* Elements [first, last) of a window. */
static void
part_window(const struct gather *g, const gv_real *src, size_t oy, size_t ox,
    size_t first, size_t last, gv_real *dst)
{
	size_t e, n, y, x;

	for (e = first; e < last; e += n) {
		size_t tap = e / g->c, c = e % g->c;

		n = g->c - c < last - e ? g->c - c : last - e;
		if (place(g, oy, tap / g->k, g->height, &y) &&
		    place(g, ox, tap % g->k, g->width, &x))
			copy(dst, src + (y * g->width + x) * g->channels + g->c0 + c, n);
		else
			memset(dst, 0, n * sizeof(*dst));
		dst += n;
	}
}

/* Elements [first, last) of a window wholly inside: a run for each of its rows. */
enum { RUNS = 16 };
struct inside {
	size_t runs;
	size_t at[RUNS], n[RUNS]; /* from the window's first element in the source */
	bool even;                /* all n are multiples of 16 */
};

static struct inside
inside(const struct gather *g, size_t first, size_t last)
{
	struct inside in = {.even = true};
	size_t row = g->k * g->c, ky = first / row, n;

	for (; first < last; first += n, ky++) {
		n = gv_cpu_lesser(row - first % row, last - first);
		in.at[in.runs] = ky * g->width * g->c + first % row;
		in.n[in.runs++] = n;
		in.even = in.even && n % 16 == 0;
	}
	return in;
}

static inline void
copy_inside(const struct inside *in, const gv_real *src, gv_real *restrict dst)
{
	size_t i, j, n;

	for (i = 0; i < in->runs; i++) {
		const gv_real *restrict from = src + in->at[i];

		n = in->n[i];
		if (in->even)
			for (j = 0; j < n; j += 16)
				memcpy(dst + j, from + j, 16 * sizeof(*dst));
		else
			copy(dst, from, n);
		dst += n;
	}
}

/* gather when neighbours in a window are neighbours in the source. */
GV_HOT static void
gather_runs(const struct gather *g, const gv_real *src, size_t oy, size_t ox, size_t n,
    size_t first, size_t last, gv_real *dst)
{
	struct inside in = {0};
	ptrdiff_t k = (ptrdiff_t)g->k, width = (ptrdiff_t)g->width,
		  height = (ptrdiff_t)g->height;

	if (g->k <= RUNS)
		in = inside(g, first, last);
	for (; n > 0; n--, dst += last - first) {
		ptrdiff_t top = (ptrdiff_t)oy * g->mul - g->off;
		ptrdiff_t left = (ptrdiff_t)ox * g->mul - g->off;

		if (in.runs > 0 && top >= 0 && left >= 0 && top + k <= height &&
		    left + k <= width)
			copy_inside(
			    &in, src + (top * width + left) * (ptrdiff_t)g->c, dst);
		else
			runs(g, src, oy, ox, first, last, dst);
		if (++ox == g->out_width) {
			ox = 0;
			if (++oy == g->out_height) {
				oy = 0;
				src += g->height * g->width * g->channels;
			}
		}
	}
}

/* Windows of places [at, at + n), counted over all samples, elements [first, last) of each. */
static void
gather(
    const struct gather *g, size_t at, size_t n, size_t first, size_t last, gv_real *dst)
{
	size_t places = g->out_height * g->out_width;
	const gv_real *src = g->src + at / places * g->height * g->width * g->channels;
	size_t oy = at % places / g->out_width, ox = at % g->out_width;

	if (g->div == 1 && g->c == g->channels) {
		gather_runs(g, src, oy, ox, n, first, last, dst);
		return;
	}
	for (; n > 0; n--, dst += last - first) {
		part_window(g, src, oy, ox, first, last, dst);
		if (++ox == g->out_width) {
			ox = 0;
			if (++oy == g->out_height) {
				oy = 0;
				src += g->height * g->width * g->channels;
			}
		}
	}
}

/* Windows of x that make y. */
static struct gather
windows_of_x(const struct gv_nn_row *r, const gv_real *x, size_t group)
{
	const struct gv_layer *l = &r->l;
	size_t c = l->in_shape.channels / l->g;

	return (struct gather){x, l->in_shape.height, l->in_shape.width,
	    l->in_shape.channels, group * c, c, l->k, l->out_shape.height,
	    l->out_shape.width, (ptrdiff_t)l->s, (ptrdiff_t)l->p, 1};
}

/*
 * Windows of dy that make dx: y[oy] reads x[oy * s + ky - p], so x[iy] is read
 * by oy = (iy + p - ky) / s; with the taps turned round, (iy + ky' - (k - 1 - p)) / s.
 */
static struct gather
windows_of_dy(const struct gv_nn_row *r, const gv_real *dy, size_t group)
{
	const struct gv_layer *l = &r->l;
	size_t c = l->out_shape.channels / l->g;

	return (struct gather){dy, l->out_shape.height, l->out_shape.width,
	    l->out_shape.channels, group * c, c, l->k, l->in_shape.height,
	    l->in_shape.width, 1, (ptrdiff_t)l->k - 1 - (ptrdiff_t)l->p, (ptrdiff_t)l->s};
}

/* Places that are gathered at a time: the matrix takes about 256 KiB. */
static size_t
block_places(size_t elements)
{
	size_t n = ((size_t)1 << 16) / elements / 12 * 12;

	return n < 12 ? 12 : n > 240 ? 240 : n;
}

enum { PLACES = 256 }; /* of a block of the weights' gradient */

size_t
gv_cpu_conv_scratch(const struct gv_nn_row *r, const struct gv_cpu_row *packed)
{
	size_t rows = r->matrix_rows, back = packed->back_rows;
	size_t most = block_places(rows) * rows, piece = gv_cpu_lesser(rows, PLACES);
	size_t columns = gv_cpu_lesser(r->columns, GV_CPU_PIECE_COLUMNS);

	if (gv_cpu_is_depthwise(r))
		return gv_cpu_depthwise_piece(r);
	if (block_places(back) * back > most)
		most = block_places(back) * back;
	if (PLACES * piece + gv_cpu_gemm_packed(PLACES, columns) > most)
		most = PLACES * piece + gv_cpu_gemm_packed(PLACES, columns);
	return most;
}

/* A window of one place is the place itself. */
static bool
is_pointwise(const struct gv_layer *l)
{
	return l->k == 1 && l->s == 1 && l->p == 0 && l->g == 1;
}

/* c [n * places][n columns of g] = windows * packed weights */
static void
convolve(const struct gather *w, bool pointwise, size_t n, struct gv_cpu_gemm g,
    gv_real *scratch)
{
	size_t total = n * w->out_height * w->out_width, at, some;
	size_t block = pointwise ? total : block_places(g.k);
	gv_real *c = g.c;

	for (at = 0; at < total; at += some) {
		some = gv_cpu_lesser(total - at, block);
		if (pointwise) {
			g.a = w->src + at * g.k;
		} else {
			gather(w, at, some, 0, g.k, scratch);
			g.a = scratch;
		}
		g.lda = g.k;
		g.m = some;
		g.c = c + at * g.ldc;
		gv_cpu_gemm(&g);
	}
}

void
gv_cpu_conv_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *bias = gv_nn_bias(c, r, s->b);
	size_t group, out = r->columns;

	if (gv_cpu_is_depthwise(r)) {
		gv_cpu_depthwise_forward(cpu, c, r, s);
		return;
	}
	for (group = 0; group < r->l.g; group++) {
		struct gather w = windows_of_x(r, gv_cpu_x(c, r, s), group);
		struct gv_cpu_gemm g = {.n = out,
		    .k = r->matrix_rows,
		    .b = gv_cpu_packed(cpu, c, r, s->b, group),
		    .c = gv_cpu_y(c, r, s) + group * out,
		    .ldc = r->l.out_shape.channels,
		    .bias = bias == NULL ? NULL : bias + group * out,
		    .relu = r->l.relu};

		convolve(&w, is_pointwise(&r->l), s->n, g, s->scratch);
	}
}

void
gv_cpu_conv_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const struct gv_cpu_row *at = &cpu->row[r - cpu->plan->row];
	size_t group, in = at->back_columns;

	if (gv_cpu_is_depthwise(r)) {
		gv_cpu_depthwise_backward(cpu, c, r, s);
		return;
	}
	for (group = 0; group < r->l.g; group++) {
		struct gather w = windows_of_dy(r, gv_cpu_dy(c, r, s), group);
		struct gv_cpu_gemm g = {.n = in,
		    .k = at->back_rows,
		    .b = gv_cpu_packed_t(cpu, c, r, s->b, group),
		    .c = gv_cpu_dx(c, r, s) + group * in,
		    .ldc = r->l.in_shape.channels,
		    .add = r->adds[s->input]};

		convolve(&w, is_pointwise(&r->l), s->n, g, s->scratch);
	}
}

void
gv_cpu_conv_gradient(const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_piece *p, const struct gv_cpu_block *s, gv_real *dw, size_t ldw)
{
	struct gather w = windows_of_x(r, gv_cpu_x(c, r, s), p->group);
	size_t channels = r->l.out_shape.channels, out = p->last_column - p->column;
	size_t total = s->n * w.out_height * w.out_width, at, some;
	const gv_real *dy = gv_cpu_dy(c, r, s) + p->group * r->columns + p->column;
	gv_real *packed = s->scratch + PLACES * (p->last - p->first);

	if (gv_cpu_is_depthwise(r)) {
		gv_cpu_depthwise_gradient(c, r, p, s, dw, ldw);
		return;
	}
	for (at = 0; at < total; at += some) {
		struct gv_cpu_gemm g = {.m = p->last - p->first,
		    .n = out,
		    .transposed = true,
		    .b = packed,
		    .c = dw,
		    .ldc = ldw,
		    .add = at > 0};

		g.k = some = gv_cpu_lesser(total - at, PLACES);
		if (is_pointwise(&r->l)) {
			g.a = w.src + at * r->matrix_rows + p->first;
			g.lda = r->matrix_rows;
		} else {
			gather(&w, at, some, p->first, p->last, s->scratch);
			g.a = s->scratch;
			g.lda = g.m;
		}
		gv_cpu_gemm_pack(packed, dy + at * channels, channels, 1, some, out);
		gv_cpu_gemm(&g);
	}
}
