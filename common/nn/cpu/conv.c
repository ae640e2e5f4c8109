/*
 * conv: windows of the input are laid out as rows of a matrix (im2col), a block
 * of positions at a time so that it stays in cache, and multiplied with the
 * weights [g][k][k][in / g][out / g].
 *
 * The gradient of the input is a convolution too, of dy with the weights turned
 * round; with a stride s it is s * s of them, each for the inputs that one rest
 * leaves and with the taps that reach them.  One gather serves all.
 */
#include <string.h>

#include "base/err.h"
#include "nn/cpu/conv.h"
#include "nn/cpu/depthwise.h"
#include "nn/cpu/gather.h"
#include "nn/cpu/gemm.h"
#include "nn/cpu/parts.h"

/* Windows of x that make y. */
static struct gv_cpu_windows
windows_of_x(const struct gv_nn_row *r, const gv_real *x, size_t group)
{
	const struct gv_layer *l = &r->l;
	size_t c = l->in_shape.channels / l->g;

	return (struct gv_cpu_windows){x, l->in_shape.height, l->in_shape.width,
	    l->in_shape.channels, group * c, c, l->k, l->k, l->out_shape.height,
	    l->out_shape.width, (ptrdiff_t)l->s, (ptrdiff_t)l->p, (ptrdiff_t)l->p};
}

/*
 * Along one side, the inputs whose place plus padding leaves rest when divided by
 * the stride: they are read through the same taps, rest + stride * j.
 */
struct side {
	size_t first, n; /* of these inputs: first, first + stride, ... */
	size_t taps;
	ptrdiff_t off; /* output o + j' - off for input o, tap j' counted from the last */
};

static struct side
side(size_t in, size_t k, size_t s, size_t p, size_t rest)
{
	size_t first = (rest + s - p % s) % s;
	size_t taps = rest < k ? (k - rest + s - 1) / s : 0;

	return (struct side){first, first < in ? (in - first + s - 1) / s : 0, taps,
	    (ptrdiff_t)taps - 1 - (ptrdiff_t)((first + p - rest) / s)};
}

/*
 * Windows of dy that make dx: y[oy] reads x[oy * s + ky - p], so x[iy] is read by
 * oy = (iy + p - ky) / s where that is whole.
 */
static struct gv_cpu_windows
windows_of_dy(const struct gv_nn_row *r, const gv_real *dy, size_t group,
    const struct side *y, const struct side *x)
{
	const struct gv_layer *l = &r->l;
	size_t c = l->out_shape.channels / l->g;

	return (struct gv_cpu_windows){dy, l->out_shape.height, l->out_shape.width,
	    l->out_shape.channels, group * c, c, y->taps, x->taps, y->n, x->n, 1, y->off,
	    x->off};
}

/* Places that are gathered at a time: the matrix takes about 256 KiB. */
static size_t
block_places(size_t elements)
{
	size_t n;

	GV_HOLDS(elements > 0);
	n = ((size_t)1 << 16) / elements / 12 * 12;
	return n < 12 ? 12 : n > 240 ? 240 : n;
}

enum { PLACES = 256 }; /* of a block of the weights' gradient */

/* What the copies that windows are read from take, of x or any of dy. */
static size_t
stage_room(const struct gv_nn_row *r)
{
	struct gv_nn_row conv = *r;
	struct gv_layer *l = &conv.l;
	struct gv_cpu_windows w;
	size_t rest, room;

	if (l->op == GV_OP_TCONV) {
		l->in_shape = r->l.out_shape;
		l->out_shape = r->l.in_shape;
	}
	w = windows_of_x(&conv, NULL, 0);
	room = gv_cpu_stage(&w, 1, NULL).room;
	for (rest = 0; rest < l->s * l->s; rest++) {
		struct side y = side(l->in_shape.height, l->k, l->s, l->p, rest / l->s);
		struct side x = side(l->in_shape.width, l->k, l->s, l->p, rest % l->s);
		size_t some;

		w = windows_of_dy(&conv, NULL, 0, &y, &x);
		some = gv_cpu_stage(&w, 1, NULL).room;
		room = room < some ? some : room;
	}
	return room;
}

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
	if (((size_t)1 << 16) + 12 * back + 240 * packed->back_columns > most &&
	    r->l.s > 1)
		most = ((size_t)1 << 16) + 12 * back + 240 * packed->back_columns;
	if (PLACES * piece + gv_cpu_gemm_packed(PLACES, columns) > most)
		most = PLACES * piece + gv_cpu_gemm_packed(PLACES, columns);
	return stage_room(r) + most + GV_CPU_GATHER_MORE;
}

/* A window of one place is the place itself. */
static bool
is_pointwise(const struct gv_layer *l)
{
	return l->k == 1 && l->s == 1 && l->p == 0 && l->g == 1;
}

/* The share of total places that part is, in whole tiles. */
static size_t
begin_of(const struct gv_cpu_conv *c, size_t total, size_t part)
{
	enum { TILE = 12 };

	if (c->parts == 0 || part == c->parts)
		return part == 0 ? 0 : total;
	return total * part / c->parts / TILE * TILE;
}

/* c [n * places][n columns of g] = windows * packed weights */
static void
convolve(const struct gv_cpu_windows *w, bool pointwise, const struct gv_cpu_conv *conv,
    struct gv_cpu_gemm g)
{
	size_t places = conv->n * w->out_height * w->out_width, some;
	size_t at = begin_of(conv, places, conv->part);
	size_t total = begin_of(conv, places, conv->part + 1);
	struct gv_cpu_stage stage = gv_cpu_stage(w, conv->n, conv->scratch);
	gv_real *scratch = conv->scratch + stage.room;
	size_t block = pointwise ? total : block_places(g.k);
	gv_real *c = g.c;

	for (; at < total; at += some) {
		some = gv_cpu_lesser(total - at, block);
		if (pointwise) {
			g.a = w->src + at * g.k;
		} else {
			gv_cpu_gather(&stage, at, some, 0, g.k, scratch);
			g.a = scratch;
		}
		g.lda = g.k;
		g.m = some;
		g.c = c + at * g.ldc;
		gv_cpu_gemm(&g);
	}
}

void
gv_cpu_convolve(const struct gv_cpu_conv *c)
{
	const struct gv_nn_row *r = c->r;
	size_t group, out = r->columns;

	for (group = 0; group < r->l.g; group++) {
		struct gv_cpu_windows w = windows_of_x(r, c->from, group);
		struct gv_cpu_gemm g = {.n = out,
		    .k = r->matrix_rows,
		    .b = c->packed + group * c->at->packed_size,
		    .c = c->to + group * out,
		    .ldc = r->l.out_shape.channels,
		    .bias = c->bias == NULL ? NULL : c->bias + group * out,
		    .add = c->add,
		    .relu = c->relu};

		convolve(&w, is_pointwise(&r->l), c, g);
	}
}

void
gv_cpu_conv_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	struct gv_cpu_conv conv = {.r = r,
	    .at = &cpu->row[r - cpu->plan->row],
	    .from = gv_cpu_x(c, r, s),
	    .packed = gv_cpu_packed(cpu, c, r, s->b, 0),
	    .to = gv_cpu_y(c, r, s),
	    .n = s->n,
	    .bias = gv_nn_bias(c, r, s->b),
	    .relu = r->l.act == GV_ACT_RELU,
	    .scratch = s->scratch,
	    .part = s->part,
	    .parts = s->parts};

	if (gv_cpu_is_depthwise(r))
		gv_cpu_depthwise_forward(cpu, c, r, s);
	else
		gv_cpu_convolve(&conv);
}

/* Numbers of c [some][n] from or to places of dx that lie a stride apart. */
static void
move_apart(const struct gv_layer *l, const struct side *y, const struct side *x,
    size_t at, size_t some, gv_real *c, size_t n, gv_real *dx, bool out)
{
	for (; some > 0; some--, at++, c += n) {
		size_t i = at / (y->n * x->n), oy = at / x->n % y->n, ox = at % x->n;
		size_t iy = y->first + oy * l->s, ix = x->first + ox * l->s;
		gv_real *d =
		    dx + ((i * l->in_shape.height + iy) * l->in_shape.width + ix) *
			     l->in_shape.channels;

		memcpy(out ? d : c, out ? c : d, n * sizeof(*c));
	}
}

/* As convolve, for the inputs of one rest of the stride. */
static void
convolve_apart(const struct gv_layer *l, const struct side *y, const struct side *x,
    const struct gv_cpu_windows *w, const struct gv_cpu_conv *conv, struct gv_cpu_gemm g)
{
	size_t places = conv->n * y->n * x->n, some;
	size_t at = begin_of(conv, places, conv->part);
	size_t total = begin_of(conv, places, conv->part + 1);
	struct gv_cpu_stage stage = gv_cpu_stage(w, conv->n, conv->scratch);
	gv_real *scratch = conv->scratch + stage.room;
	size_t block = g.k > 0 ? block_places(g.k) : 240;
	gv_real *dx = g.c;

	g.a = scratch;
	g.lda = g.k;
	g.c = scratch + block * g.k;
	g.ldc = g.n;
	for (; at < total; at += some) {
		some = gv_cpu_lesser(total - at, block);
		g.m = some;
		if (g.k > 0)
			gv_cpu_gather(&stage, at, some, 0, g.k, scratch);
		if (g.add)
			move_apart(l, y, x, at, some, g.c, g.n, dx, false);
		gv_cpu_gemm(&g);
		move_apart(l, y, x, at, some, g.c, g.n, dx, true);
	}
}

/* dx of a group: a convolution for each pair of rests that the stride leaves. */
static void
backward_group(const struct gv_cpu_conv *c, size_t group, struct gv_cpu_gemm g)
{
	const struct gv_nn_row *r = c->r;
	const struct gv_layer *l = &r->l;
	size_t rest;

	for (rest = 0; rest < l->s * l->s; rest++) {
		struct side y = side(l->in_shape.height, l->k, l->s, l->p, rest / l->s);
		struct side x = side(l->in_shape.width, l->k, l->s, l->p, rest % l->s);
		struct gv_cpu_windows w = windows_of_dy(r, c->from, group, &y, &x);

		g.k = y.taps * x.taps * r->columns;
		if (l->s == 1)
			convolve(&w, is_pointwise(l), c, g);
		else
			convolve_apart(l, &y, &x, &w, c, g);
		g.b += gv_cpu_gemm_packed(g.k, c->at->back_columns);
	}
}

void
gv_cpu_convolve_back(const struct gv_cpu_conv *c)
{
	size_t group, in = c->at->back_columns;

	for (group = 0; group < c->r->l.g; group++) {
		struct gv_cpu_gemm g = {.n = in,
		    .b = c->packed + group * c->at->packed_t_size,
		    .c = c->to + group * in,
		    .ldc = c->r->l.in_shape.channels,
		    .bias = c->bias == NULL ? NULL : c->bias + group * in,
		    .add = c->add,
		    .relu = c->relu};

		backward_group(c, group, g);
	}
}

void
gv_cpu_conv_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	struct gv_cpu_conv conv = {.r = r,
	    .at = &cpu->row[r - cpu->plan->row],
	    .from = gv_cpu_dy(c, r, s),
	    .packed = gv_cpu_packed_t(cpu, c, r, s->b, 0),
	    .to = gv_cpu_dx(c, r, s),
	    .n = s->n,
	    .add = r->adds[s->input],
	    .scratch = s->scratch,
	    .part = s->part,
	    .parts = s->parts};

	if (gv_cpu_is_depthwise(r))
		gv_cpu_depthwise_backward(cpu, c, r, s);
	else
		gv_cpu_convolve_back(&conv);
}

void
gv_cpu_convolve_gradient(const struct gv_nn_row *r, const struct gv_cpu_piece *p,
    const gv_real *x, const gv_real *dy, size_t n, gv_real *scratch, gv_real *dw,
    size_t ldw)
{
	struct gv_cpu_windows w = windows_of_x(r, x, p->group);
	size_t channels = r->l.out_shape.channels, out = p->last_column - p->column;
	struct gv_cpu_stage stage = gv_cpu_stage(&w, n, scratch);
	size_t total = n * w.out_height * w.out_width, at, some;
	gv_real *packed;

	scratch += stage.room;
	packed = scratch + PLACES * (p->last - p->first);

	dy += p->group * r->columns + p->column;
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
			gv_cpu_gather(&stage, at, some, p->first, p->last, scratch);
			g.a = scratch;
			g.lda = g.m;
		}
		gv_cpu_gemm_pack(packed, dy + at * channels, channels, 1, some, out);
		gv_cpu_gemm(&g);
	}
}

void
gv_cpu_conv_gradient(const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_piece *p, const struct gv_cpu_block *s, gv_real *dw, size_t ldw)
{
	if (gv_cpu_is_depthwise(r))
		gv_cpu_depthwise_gradient(c, r, p, s, dw, ldw);
	else
		gv_cpu_convolve_gradient(r, p, gv_cpu_x(c, r, s), gv_cpu_dy(c, r, s),
		    s->n, s->scratch, dw, ldw);
}
