/*
 * conv: windows of the input are rows of a matrix (im2col), which is read where its
 * numbers lie, and multiplied with the weights [g][k][k][in / g][out / g].
 *
 * The gradient of the input is a convolution too, of dy with the weights turned
 * round; with a stride s it is s * s of them, each for the inputs that one rest
 * leaves and with the taps that reach them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#include "nn/cpu/conv.h"
#include "nn/cpu/depthwise.h"
#include "nn/cpu/gemm.h"
#include "nn/cpu/stage.h"

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

enum {
	PLACES = 192,    /* of a product */
	PLACES_SUM = 256 /* of a block of the weights' gradient */
};

struct gv_nn_row
gv_cpu_conv_of(const struct gv_nn_row *r)
{
	struct gv_nn_row conv = *r;

	if (r->l.op == GV_OP_TCONV) {
		conv.l.in_shape = r->l.out_shape;
		conv.l.out_shape = r->l.in_shape;
		conv.in_size = r->out_size;
		conv.out_size = r->in_size;
	}
	return conv;
}

/* What the copies that windows are read from take, of x or any of dy. */
static size_t
stage_room(const struct gv_nn_row *r)
{
	struct gv_nn_row conv = gv_cpu_conv_of(r);
	const struct gv_layer *l = &conv.l;
	struct gv_cpu_windows w = windows_of_x(&conv, NULL, 0);
	size_t rest, room;

	room = gv_cpu_stage(&w, 1, NULL).room;
	if (room > 0 && room < GV_CPU_STAGE_ROOM)
		room = GV_CPU_STAGE_ROOM;
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
	size_t columns = gv_cpu_lesser(r->columns, GV_CPU_PIECE_COLUMNS);
	size_t most = gv_cpu_gemm_packed(PLACES_SUM, columns);

	if (gv_cpu_is_depthwise(r))
		return gv_cpu_depthwise_scratch(r);
	if (r->l.s > 1 && PLACES * packed->back_columns > most)
		most = PLACES * packed->back_columns;
	return stage_room(r) + most;
}

/* All rests of the stride, in the order in which the weights for dx are packed. */
static void
list_back(const struct gv_nn_row *r, size_t *list)
{
	const struct gv_layer *l = &r->l;
	size_t rest;

	for (rest = 0; rest < l->s * l->s; rest++) {
		struct side y = side(l->in_shape.height, l->k, l->s, l->p, rest / l->s);
		struct side x = side(l->in_shape.width, l->k, l->s, l->p, rest % l->s);
		struct gv_cpu_windows w = windows_of_dy(r, NULL, 0, &y, &x);
		struct gv_cpu_stage stage = gv_cpu_stage(&w, 1, NULL);
		size_t k = y.taps * x.taps * r->columns;

		gv_cpu_stage_elements(&stage, 0, k, list);
		list += k;
	}
}

static void
list_row(const struct gv_nn_row *r, const struct gv_cpu_row *at, size_t *list)
{
	struct gv_nn_row conv = gv_cpu_conv_of(r);
	struct gv_cpu_windows w = windows_of_x(&conv, NULL, 0);
	struct gv_cpu_stage stage = gv_cpu_stage(&w, 1, NULL);

	gv_cpu_stage_elements(&stage, 0, r->matrix_rows, list);
	if (at->back || gv_cpu_is_turned(r))
		list_back(&conv, list + r->matrix_rows);
}

void
gv_cpu_conv_list(struct gv_cpu *cpu)
{
	const struct gv_nn_plan *p = cpu->plan;
	size_t i, n = 0, pass;

	/* how many, then which */
	for (pass = 0; pass < 2; pass++, n = 0) {
		for (i = p->first_row; i < p->last_row; i++) {
			const struct gv_nn_row *r = &p->row[i];
			struct gv_cpu_row *at = &cpu->row[i];

			if ((r->l.op != GV_OP_CONV && r->l.op != GV_OP_TCONV) ||
			    gv_cpu_is_depthwise(r))
				continue;
			at->elements = cpu->elements + n;
			if (pass == 1)
				list_row(r, at, cpu->elements + n);
			n += r->matrix_rows + at->back_rows;
		}
		if (pass == 0)
			cpu->elements = gv_xcalloc(n + 1, sizeof(*cpu->elements));
	}
}

/* A window of one place is the place itself. */
static bool
is_pointwise(const struct gv_layer *l)
{
	return l->k == 1 && l->s == 1 && l->p == 0 && l->g == 1;
}

/* The share of total places that part is, in whole tiles, of which the last may be short. */
static size_t
begin_of(const struct gv_cpu_conv *c, size_t total, size_t part)
{
	enum { TILE = 12 };
	size_t tiles = (total + TILE - 1) / TILE;

	if (c->parts == 0 || part == c->parts)
		return part == 0 ? 0 : total;
	return gv_cpu_lesser(total, (tiles * part + c->parts - 1) / c->parts * TILE);
}

/* c [n * places][n columns of g] = windows, whose elements are listed, * packed weights */
static void
convolve(const struct gv_cpu_windows *w, bool pointwise, const struct gv_cpu_conv *conv,
    const size_t *elements, struct gv_cpu_gemm g)
{
	size_t places = conv->n * w->out_height * w->out_width, list[PLACES], some;
	size_t at = begin_of(conv, places, conv->part);
	size_t total = begin_of(conv, places, conv->part + 1);
	struct gv_cpu_stage stage = gv_cpu_stage(w, conv->n, conv->scratch);
	gv_real *c = g.c;

	g.lda = g.k;
	if (!pointwise) {
		g.row_at = list;
		g.step_at = elements;
	}
	for (; at < total; at += some) {
		some = total - at;
		if (pointwise)
			g.a = w->src + at * g.k;
		else
			some = gv_cpu_stage_places(
			    &stage, at, gv_cpu_lesser(some, PLACES), &g.a, list);
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

		convolve(&w, is_pointwise(&r->l), c, c->at->elements, g);
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
	size_t line = at / x->n, ox = at % x->n, step = l->s * l->in_shape.channels;

	for (; some > 0; line++, ox = 0) {
		size_t iy =
		    line / y->n * l->in_shape.height + y->first + line % y->n * l->s;
		size_t end = gv_cpu_lesser(ox + some, x->n);
		gv_real *d = dx + (iy * l->in_shape.width + x->first + ox * l->s) *
				      l->in_shape.channels;

		some -= end - ox;
		for (; ox < end; ox++, d += step, c += n)
			memcpy(out ? d : c, out ? c : d, n * sizeof(*c));
	}
}

/* As convolve, for the inputs of one rest of the stride. */
static void
convolve_apart(const struct gv_layer *l, const struct side *y, const struct side *x,
    const struct gv_cpu_windows *w, const struct gv_cpu_conv *conv,
    const size_t *elements, struct gv_cpu_gemm g)
{
	size_t places = conv->n * y->n * x->n, list[PLACES], some;
	size_t at = begin_of(conv, places, conv->part);
	size_t total = begin_of(conv, places, conv->part + 1);
	struct gv_cpu_stage stage = gv_cpu_stage(w, conv->n, conv->scratch);
	gv_real *dx = g.c;

	g.row_at = list;
	g.step_at = elements;
	g.c = conv->scratch + stage.room;
	g.ldc = g.n;
	for (; at < total; at += some) {
		some = gv_cpu_lesser(total - at, PLACES);
		if (g.k > 0)
			some = gv_cpu_stage_places(&stage, at, some, &g.a, list);
		else
			memset(list, 0, sizeof(list)); /* of no windows nothing is read */
		g.m = some;
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
	const size_t *elements = c->at->elements + r->matrix_rows;
	size_t rest;

	for (rest = 0; rest < l->s * l->s; rest++, elements += g.k) {
		struct side y = side(l->in_shape.height, l->k, l->s, l->p, rest / l->s);
		struct side x = side(l->in_shape.width, l->k, l->s, l->p, rest % l->s);
		struct gv_cpu_windows w = windows_of_dy(r, c->from, group, &y, &x);

		g.k = y.taps * x.taps * r->columns;
		if (l->s == 1)
			convolve(&w, is_pointwise(l), c, elements, g);
		else
			convolve_apart(l, &y, &x, &w, c, elements, g);
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

/*
 * Of the windows of x those parts that a piece of the weights meets, all in one tap or in
 * some lines of them: no more is copied.  first: the piece's first element there.
 */
static struct gv_cpu_windows
windows_of_piece(const struct gv_nn_row *r, const gv_real *x,
    const struct gv_cpu_piece *p, size_t *first)
{
	struct gv_cpu_windows w = windows_of_x(r, x, p->group);
	size_t line = w.kw * w.c, ky = p->first / line, tap = p->first / w.c;

	*first = p->first - ky * line;
	w.off_y -= (ptrdiff_t)ky;
	w.kh = (p->last - 1) / line - ky + 1;
	if ((p->last - 1) / w.c == tap) {
		*first = 0;
		w.off_x -= (ptrdiff_t)(tap % w.kw);
		w.kw = 1;
		w.c0 += p->first % w.c;
		w.c = p->last - p->first;
	}
	return w;
}

void
gv_cpu_convolve_gradient(const struct gv_nn_row *r, const struct gv_cpu_piece *p,
    const gv_real *x, const gv_real *dy, size_t n, gv_real *scratch, gv_real *dw,
    size_t ldw)
{
	size_t first;
	struct gv_cpu_windows w = windows_of_piece(r, x, p, &first);
	size_t channels = r->l.out_shape.channels, out = p->last_column - p->column;
	struct gv_cpu_stage stage = gv_cpu_stage(&w, n, scratch);
	size_t total = n * w.out_height * w.out_width, at, some;
	size_t list[PLACES_SUM], elements[GV_CPU_PIECE_ROWS];
	gv_real *packed = scratch + stage.room;
	bool pointwise = is_pointwise(&r->l);

	gv_cpu_stage_elements(&stage, first, first + p->last - p->first, elements);
	dy += p->group * r->columns + p->column;
	for (at = 0; at < total; at += some) {
		struct gv_cpu_gemm g = {.m = p->last - p->first,
		    .n = out,
		    .transposed = true,
		    .b = packed,
		    .c = dw,
		    .ldc = ldw,
		    .add = at > 0};

		some = gv_cpu_lesser(total - at, PLACES_SUM);
		if (pointwise) {
			g.a = x + at * r->matrix_rows + p->first;
			g.lda = r->matrix_rows;
		} else {
			g.row_at = elements;
			g.step_at = list;
			some = gv_cpu_stage_places(&stage, at, some, &g.a, list);
		}
		g.k = some;
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
