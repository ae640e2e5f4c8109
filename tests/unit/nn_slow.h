/*
 * A backend that is slow and obvious: every number is one loop over what it is
 * made of, in the order that backend.h promises.  Its pointers lead nowhere: who
 * touches its memory other than through it dies.  Streams and graphs it has none.
 */
#ifndef NN_SLOW_H
#define NN_SLOW_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "nn/backend.h"
#include "nn/cpu/exp.h"
#include "nn/cpu/gemm.h"

#ifdef GV_REAL_DOUBLE
#define SLOW_FMA   fma
#define SLOW_EXP   exp
#define SLOW_LOG   log
#define SLOW_LOG1P log1p
#define SLOW_SQRT  sqrt
#else
#define SLOW_FMA   fmaf
#define SLOW_EXP   expf
#define SLOW_LOG   logf
#define SLOW_LOG1P log1pf
#define SLOW_SQRT  sqrtf
#endif

/* ---- memory that is somewhere else ---- */

#define SLOW_AWAY ((uintptr_t)1 << 62)

static inline void *
slow_host(const void *p)
{
	return p == NULL ? NULL : (void *)((uintptr_t)p - SLOW_AWAY);
}

static inline gv_real *
slow_real(const gv_real *p)
{
	return slow_host(p);
}

static inline gv_real
slow_fma(gv_real a, gv_real b, gv_real c)
{
	static int fused = -1;

	if (fused < 0)
		fused = strcmp(gv_cpu_gemm_kernel(), "c") != 0;
	return fused ? SLOW_FMA(a, b, c) : a * b + c;
}

static inline gv_real
slow_relu(gv_real v)
{
	return 0 > v ? 0 : v;
}

/* The normal distribution. */
static inline gv_real
slow_normal(gv_real x)
{
	gv_real v = x * (gv_real)0.70710678118654752;

	gv_cpu_erf(&v, 1);
	return (gv_real)0.5 * (1 + v);
}

static inline gv_real
slow_sigmoid(gv_real x)
{
	gv_cpu_sigmoid(&x, 1);
	return x;
}

static inline gv_real
slow_tanh(gv_real x)
{
	gv_cpu_tanh(&x, 1);
	return x;
}

/* What gelu-tanh multiplies x by: (1 + tanh(u)) / 2 = 1 / (1 + e^-2u). */
static inline gv_real
slow_gelu_tanh(gv_real x)
{
	const gv_real a = (gv_real)1.5957691216057308, b = (gv_real)0.071354816272600253;

	return slow_sigmoid(x * (a + b * (x * x)));
}

static inline gv_real
slow_act(const struct gv_layer *l, gv_real x)
{
	switch (l->act) {
	case GV_ACT_RELU:
		return slow_relu(x);
	case GV_ACT_LEAKY:
		return 0 > x ? (gv_real)l->slope * x : x;
	case GV_ACT_SIGMOID:
		return slow_sigmoid(x);
	case GV_ACT_TANH:
		return slow_tanh(x);
	case GV_ACT_GELU:
		return x * slow_normal(x);
	case GV_ACT_SILU:
		return x * slow_sigmoid(x);
	case GV_ACT_GELU_TANH:
		return x * slow_gelu_tanh(x);
	default:
		return x;
	}
}

/* The slope of gelu at x. */
static inline gv_real
slow_gelu_slope(gv_real x)
{
	gv_real v = (gv_real)-0.5 * x * x;

	gv_cpu_exp(&v, 1);
	return slow_normal(x) + x * ((gv_real)0.39894228040143268 * v);
}

/* dy through an act that gave y of x. */
static inline gv_real
slow_act_back(const struct gv_layer *l, gv_real dy, gv_real y, gv_real x)
{
	gv_real s;

	switch (l->act) {
	case GV_ACT_RELU:
		return y <= 0 ? 0 : dy;
	case GV_ACT_LEAKY:
		return y <= 0 ? (gv_real)l->slope * dy : dy;
	case GV_ACT_SIGMOID:
		return dy * (y * (1 - y));
	case GV_ACT_TANH:
		return dy * (1 - y * y);
	case GV_ACT_GELU:
		return dy * slow_gelu_slope(x);
	case GV_ACT_SILU:
		s = slow_sigmoid(x);
		return dy * (s * (1 + x * (1 - s)));
	case GV_ACT_GELU_TANH:
		s = slow_gelu_tanh(x);
		return dy *
		       (s * (1 + x * ((1 - s) * ((gv_real)1.5957691216057308 +
						    3 * (gv_real)0.071354816272600253 *
							(x * x)))));
	default:
		return dy;
	}
}

static inline int
slow_start(struct gv_nn_backend *be, gv_real *scratch, struct gv_error *e)
{
	(void)be;
	(void)scratch;
	(void)e;
	return 0;
}

struct slow_late {
	void *to;
	size_t bytes; /* behind it */
	struct slow_late *next;
};

struct slow {
	struct gv_nn_backend base;
	const struct gv_nn_plan *plan;
	struct slow_late *late; /* the last first */
};

static inline void
slow_free(struct gv_nn_backend *be)
{
	struct slow_late *l, *next;

	for (l = ((struct slow *)be)->late; l != NULL; l = next) {
		next = l->next;
		free(l);
	}
	free(be);
}

static inline void *
slow_alloc(
    struct gv_nn_backend *be, enum gv_nn_memory kind, size_t bytes, struct gv_error *e)
{
	char *p = gv_xcalloc(bytes + 1, 1);

	(void)be;
	(void)e;
	/* what copies wait in is the host's */
	return kind == GV_NN_PINNED ? p : (void *)((uintptr_t)p + SLOW_AWAY);
}

static inline void
slow_release(struct gv_nn_backend *be, enum gv_nn_memory kind, void *p)
{
	(void)be;
	free(kind == GV_NN_PINNED ? p : slow_host(p));
}

static inline int
slow_put(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	(void)be;
	memcpy(slow_host(to), from, bytes);
	return 0;
}

static inline int
slow_get(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	(void)be;
	memcpy(to, slow_host(from), bytes);
	return 0;
}

/* On its way until somebody waits: what is read too early is not there. */
static inline int
slow_fetch(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	struct slow *s = (struct slow *)be;
	struct slow_late *l = gv_xcalloc(1, sizeof(*l) + bytes);

	l->to = to;
	l->bytes = bytes;
	memcpy(l + 1, slow_host(from), bytes);
	l->next = s->late;
	s->late = l;
	return 0;
}

static inline int
slow_await(struct gv_nn_backend *be, int event)
{
	struct slow *s = (struct slow *)be;
	struct slow_late *l;

	(void)event;
	while ((l = s->late) != NULL) {
		memcpy(l->to, l + 1, l->bytes);
		s->late = l->next;
		free(l);
	}
	return 0;
}

static inline int
slow_copy(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	(void)be;
	memcpy(slow_host(to), slow_host(from), bytes);
	return 0;
}

static inline int
slow_gather(struct gv_nn_backend *be, int stream, void *to, const void *from,
    const uint32_t *index, size_t n, size_t bytes)
{
	char *dst = slow_host(to);
	const char *src = slow_host(from);
	size_t j;

	(void)be;
	(void)stream;
	for (j = 0; j < n; j++)
		memcpy(dst + j * bytes, src + index[j] * bytes, bytes);
	return 0;
}

static inline int
slow_pack(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last,
    unsigned what)
{
	(void)be;
	(void)c;
	(void)first;
	(void)last;
	(void)what;
	return 0;
}

/* ---- operators: model b, sample i ---- */

/* One sample's numbers of a row, and what its gradient is added to. */
struct slow_at {
	const struct gv_nn_call *c;
	const struct gv_nn_row *r;
	const struct gv_layer *l;
	size_t b, i;
	const gv_real *x, *w, *bias;
	gv_real *y, *dy;
};

static inline struct slow_at
slow_at(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b, size_t i)
{
	return (struct slow_at){c, r, &r->l, b, i, slow_real(gv_nn_x(c, r, 0, b, i)),
	    slow_real(gv_nn_weight(c, r, b)), slow_real(gv_nn_bias(c, r, b)),
	    slow_real(gv_nn_y(c, r, b, i)), slow_real(gv_nn_dy(c, r, b, i))};
}

static inline size_t
slow_index(struct gv_shape s, size_t y, size_t x, size_t c)
{
	return (y * s.width + x) * s.channels + c;
}

/* x under tap (ky, kx) of output place (oy, ox), channel c; 0 outside. */
static inline gv_real
slow_window(const struct slow_at *a, size_t oy, size_t ox, size_t ky, size_t kx, size_t c)
{
	size_t y = oy * a->l->s + ky, x = ox * a->l->s + kx, p = a->l->p;

	if (y < p || x < p || y - p >= a->l->in_shape.height ||
	    x - p >= a->l->in_shape.width)
		return 0;
	return a->x[slow_index(a->l->in_shape, y - p, x - p, c)];
}

static inline void
slow_linear(const struct slow_at *a)
{
	size_t in = a->r->matrix_rows, out = a->r->columns, i, o;

	for (o = 0; o < a->r->out_size; o++) {
		const gv_real *x = a->x + o / out * in;
		gv_real acc = a->bias != NULL ? a->bias[o % out] : 0;

		for (i = 0; i < in; i++)
			acc = slow_fma(x[i], a->w[i * out + o % out], acc);
		a->y[o] = acc;
	}
}

/* Output channel o of conv at a place, on top of acc. */
static inline gv_real
slow_conv_sum(const struct slow_at *a, size_t oy, size_t ox, size_t o, gv_real acc)
{
	size_t cin = a->l->in_shape.channels / a->l->g, cout = a->r->columns;
	size_t group = o / cout, ky, kx, c;
	const gv_real *w = a->w + group * a->r->matrix_rows * cout + o % cout;

	for (ky = 0; ky < a->l->k; ky++)
		for (kx = 0; kx < a->l->k; kx++)
			for (c = 0; c < cin; c++, w += cout)
				acc = slow_fma(
				    slow_window(a, oy, ox, ky, kx, group * cin + c), *w,
				    acc);
	return acc;
}

static inline gv_real
slow_conv_one(const struct slow_at *a, size_t oy, size_t ox, size_t o)
{
	return slow_conv_sum(a, oy, ox, o, a->bias != NULL ? a->bias[o] : 0);
}

static inline gv_real
slow_pool_one(const struct slow_at *a, size_t oy, size_t ox, size_t c)
{
	struct gv_shape in = a->l->in_shape;
	size_t k = a->l->k, y, x, n = 0;
	gv_real v = 0, part;

	for (y = 0; y < in.height; y++)
		for (x = 0; x < in.width; x++) {
			gv_real one = a->x[slow_index(in, y, x, c)];

			if (k > 0 && (y + a->l->p < oy * a->l->s ||
					 y + a->l->p >= oy * a->l->s + k ||
					 x + a->l->p < ox * a->l->s ||
					 x + a->l->p >= ox * a->l->s + k))
				continue;
			if (a->l->op == GV_OP_AVGPOOL)
				v += one;
			else if (n == 0 || one > v || one != one)
				v = one;
			n++;
		}
	part = (gv_real)1 / (gv_real)n;
	return a->l->op == GV_OP_AVGPOOL ? v * part : v;
}

static inline void
slow_add(const struct slow_at *a)
{
	size_t j, k;

	for (j = 0; j < a->r->out_size; j++) {
		gv_real v = a->x[j];

		for (k = 1; k < a->l->inputs; k++)
			v += slow_real(gv_nn_x(a->c, a->r, k, a->b, a->i))[j];
		a->y[j] = v;
	}
}

/* Channel j of all inputs: whose it is, and its number there. */
static inline size_t
slow_joined(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t *j)
{
	size_t places = r->l.out_shape.height * r->l.out_shape.width, k, n;

	for (k = 0; *j >= (n = gv_nn_input_size(c, r, k) / places); k++)
		*j -= n;
	return k;
}

static inline void
slow_concat(const struct slow_at *a)
{
	size_t n = a->l->out_shape.channels, j, k, at, own;

	for (j = 0; j < a->r->out_size; j++) {
		at = j % n;
		k = slow_joined(a->c, a->r, &at);
		own = gv_nn_input_size(a->c, a->r, k) / (a->r->out_size / n);
		a->y[j] = slow_real(gv_nn_x(a->c, a->r, k, a->b, a->i))[j / n * own + at];
	}
}

/* What dropout makes of number j. */
static inline gv_real
slow_drop(const struct slow_at *a, size_t j, gv_real v)
{
	uint64_t key = a->c->f->key[a->b];
	uint32_t halves[2] = {(uint32_t)key, (uint32_t)(key >> 32)}, u[4];
	uint32_t at[4] = {(uint32_t)(j / 4), (uint32_t)(a->c->plan->first + a->i),
	    (uint32_t)(a->r - a->c->plan->row), 0};

	if (!a->c->training)
		return v;
	gv_philox(at, halves, u);
	return (double)u[j % 4] < floor(a->l->rate * 0x1p32)
		   ? 0
		   : (gv_real)(1 / (1 - a->l->rate)) * v;
}

static inline void
slow_bn(const struct slow_at *a)
{
	const gv_real *s = slow_real(gv_nn_stats(a->c, a->r, a->b));
	size_t j, n = a->l->in_shape.channels;

	for (j = 0; j < a->r->out_size; j++) {
		gv_real v =
		    (a->x[j] - s[j % n]) * s[n + j % n] * a->w[j % n] + a->bias[j % n];

		a->y[j] = v;
	}
}

#include "nn_slow_sequence.h"

/* One place of xent: its loss; its gradient to dx, where that is not NULL. */
static inline gv_real
slow_xent_one(
    const struct slow_at *a, const gv_real *x, int32_t at, gv_real *dx, size_t *hits)
{
	size_t classes = a->r->in_size / a->c->plan->targets, j, label = (size_t)at;
	gv_real top = x[0], sum = 0, *e, divisor = (gv_real)gv_nn_targets(a->c->plan);
	bool hit = true, many = a->c->plan->targets > 1;

	for (j = 0; j < classes && at < 0 && dx != NULL; j++)
		dx[j] = 0;
	if (at < 0)
		return 0;
	for (j = 0; j < classes; j++) {
		top = x[j] > top ? x[j] : top;
		hit &= j < label ? x[label] > x[j] : x[label] >= x[j];
	}
	e = gv_xcalloc(classes, sizeof(*e));
	for (j = 0; j < classes; j++) {
		e[j] = many ? x[j] - top : SLOW_EXP(x[j] - top);
		if (many)
			gv_cpu_exp(&e[j], 1);
		sum += e[j];
	}
	if (many)
		sum = slow_lanes(e, NULL, classes);
	for (j = 0; j < classes && dx != NULL; j++)
		dx[j] = many ? (e[j] * (1 / sum) - (j == label ? 1 : 0)) * (1 / divisor)
			     : (e[j] / sum - (j == label ? 1 : 0)) / divisor;
	*hits += hit;
	free(e);
	return SLOW_LOG(sum) - (x[label] - top);
}

static inline gv_real
slow_number_one(const struct slow_at *a, gv_real x, gv_real t, gv_real *dx, size_t *hits)
{
	bool mse = a->l->op == GV_OP_MSE;
	gv_real e = SLOW_EXP(x > 0 ? -x : x), one = 1;
	gv_real slope =
	    mse ? 2 * (x - t) : (x >= 0 ? one / (one + e) : e / (one + e)) - t;

	*hits += !mse && (x > 0) == (t > (gv_real)0.5);
	if (dx != NULL)
		*dx = slope / (gv_real)gv_nn_targets(a->c->plan);
	return mse ? (x - t) * (x - t) : (x > 0 ? x : 0) - x * t + SLOW_LOG1P(e);
}

static inline void
slow_head(const struct slow_at *a)
{
	const struct gv_nn_call *c = a->c;
	const int32_t *label = slow_host(c->f->label);
	const gv_real *number = slow_real(c->f->number);
	size_t n = c->plan->targets, each = a->r->in_size / n, hits = 0, t;
	gv_real *dx = c->training && gv_nn_input(c, a->r, 0) != NULL
			  ? slow_real(gv_nn_dx(c, a->r, 0, a->b, a->i))
			  : NULL;
	double sum = 0;

	if (label == NULL && number == NULL)
		return;
	for (t = 0; t < n; t++) {
		const gv_real *x = a->x + t * each;
		gv_real *to = dx == NULL ? NULL : dx + t * each;
		size_t at = a->i * n + t;

		sum += (double)(label != NULL
				    ? slow_xent_one(a, x, label[at], to, &hits)
				    : slow_number_one(a, *x, number[at], to, &hits));
	}
	a->y[0] = (gv_real)(sum / (double)n);
	if (!c->training)
		slow_real(c->f->hit)[a->b * c->plan->n + a->i] = (gv_real)hits;
}

/* Every place and channel of the output by a function of these. */
static inline void
slow_each(const struct slow_at *a,
    gv_real (*one)(const struct slow_at *, size_t, size_t, size_t))
{
	struct gv_shape s = a->l->out_shape;
	size_t y, x, c;

	for (y = 0; y < s.height; y++)
		for (x = 0; x < s.width; x++)
			for (c = 0; c < s.channels; c++)
				a->y[slow_index(s, y, x, c)] = one(a, y, x, c);
}

/* dy that reaches x at (y, x) through tap (ky, kx); 0 where there is none. */
static inline gv_real
slow_reach(const struct slow_at *a, size_t y, size_t x, size_t ky, size_t kx, size_t o)
{
	size_t s = a->l->s, oy, ox;

	if (y + a->l->p < ky || x + a->l->p < kx || (y + a->l->p - ky) % s != 0 ||
	    (x + a->l->p - kx) % s != 0)
		return 0;
	oy = (y + a->l->p - ky) / s;
	ox = (x + a->l->p - kx) / s;
	if (oy >= a->l->out_shape.height || ox >= a->l->out_shape.width)
		return 0;
	return a->dy[slow_index(a->l->out_shape, oy, ox, o)];
}

/* The taps from the last to the first. */
static inline gv_real
slow_conv_back_one(const struct slow_at *a, size_t y, size_t x, size_t c, gv_real acc)
{
	size_t cin = a->l->in_shape.channels / a->l->g, cout = a->r->columns;
	size_t group = c / cin, ky, kx, o, k = a->l->k;
	const gv_real *w = a->w + group * a->r->matrix_rows * cout;

	for (ky = k; ky-- > 0;)
		for (kx = k; kx-- > 0;)
			for (o = 0; o < cout; o++)
				acc = slow_fma(
				    slow_reach(a, y, x, ky, kx, group * cout + o),
				    w[((ky * k + kx) * cin + c % cin) * cout + o], acc);
	return acc;
}

/* A tconv as the conv whose transpose it is; l has room for its layer. */
static inline struct slow_at
slow_turned(const struct slow_at *a, struct gv_layer *l)
{
	struct slow_at conv = *a;

	*l = *a->l;
	l->in_shape = a->l->out_shape;
	l->out_shape = a->l->in_shape;
	conv.l = l;
	conv.x = a->dy;
	conv.dy = (gv_real *)(uintptr_t)a->x;
	return conv;
}

static inline gv_real
slow_tconv_one(const struct slow_at *a, size_t y, size_t x, size_t c)
{
	struct gv_layer l;
	struct slow_at conv = slow_turned(a, &l);

	return slow_conv_back_one(&conv, y, x, c, a->bias != NULL ? a->bias[c] : 0);
}

/* ---- lstm, a sample at a time: gates [steps][way][4][state], cells [steps][way][state] ---- */

struct slow_lstm {
	size_t T, in, H, G, Y; /* G gates and Y outputs of a place */
	gv_real *gates, *cells, *dgates, *y;
	const gv_real *x, *dy;
};

static inline struct slow_lstm
slow_lstm_at(const struct slow_at *a)
{
	size_t T = a->l->in_shape.height, Y = a->l->out_shape.channels, G = 4 * Y;
	gv_real *kept = slow_real(gv_nn_kept(a->c, a->r, a->b));
	gv_real *dkept = slow_real(gv_nn_kept_dy(a->c, a->r, a->b));

	return (struct slow_lstm){T, a->l->in_shape.channels, Y / a->l->g, G, Y,
	    kept + a->i * T * G, kept + a->c->plan->n * T * G + a->i * T * Y,
	    dkept + a->i * T * G, a->y, a->x, a->dy};
}

static inline size_t
slow_lstm_place(const struct slow_at *a, size_t way, size_t k)
{
	return a->l->dir == GV_DIR_BACK || way == 1 ? a->l->in_shape.height - 1 - k : k;
}

/* Place k of a way: t, and before it. */
static inline void
slow_lstm_step(const struct slow_at *a, size_t way, size_t k)
{
	struct slow_lstm d = slow_lstm_at(a);
	const gv_real *w = a->w + way * a->r->matrix_rows * 4 * d.H;
	size_t t = slow_lstm_place(a, way, k), i, j;
	size_t last = k > 0 ? slow_lstm_place(a, way, k - 1) : 0;
	gv_real *gate = d.gates + t * d.G + way * 4 * d.H;

	for (j = 0; j < 4 * d.H; j++) {
		gv_real acc = a->bias != NULL ? a->bias[way * 4 * d.H + j] : 0;

		for (i = 0; i < d.in; i++)
			acc = slow_fma(d.x[t * d.in + i], w[i * 4 * d.H + j], acc);
		for (i = 0; i < d.H && k > 0; i++)
			acc = slow_fma(d.y[last * d.Y + way * d.H + i],
			    w[(d.in + i) * 4 * d.H + j], acc);
		gate[j] = j / d.H == 2 ? slow_tanh(acc) : slow_sigmoid(acc);
	}
	for (j = 0; j < d.H; j++) {
		size_t at = way * d.H + j;
		gv_real was = k > 0 ? d.cells[last * d.Y + at] : 0;
		gv_real c = gate[d.H + j] * was + gate[j] * gate[2 * d.H + j];

		d.cells[t * d.Y + at] = c;
		d.y[t * d.Y + at] = gate[3 * d.H + j] * slow_tanh(c);
	}
}

static inline void
slow_lstm(const struct slow_at *a)
{
	size_t way, k;

	for (way = 0; way < a->l->g; way++)
		for (k = 0; k < a->l->in_shape.height; k++)
			slow_lstm_step(a, way, k);
}

/* Gradients of the sums of place k of a way; carry [H]: to its cell, and to the one before. */
static inline void
slow_lstm_step_back(const struct slow_at *a, size_t way, size_t k, gv_real *carry)
{
	struct slow_lstm d = slow_lstm_at(a);
	const gv_real *w = a->w + (way * a->r->matrix_rows + d.in) * 4 * d.H;
	size_t t = slow_lstm_place(a, way, k), i, j;
	const gv_real *gate = d.gates + t * d.G + way * 4 * d.H, *next = NULL;
	gv_real *to = d.dgates + t * d.G + way * 4 * d.H;

	if (k + 1 < d.T)
		next = d.dgates + slow_lstm_place(a, way, k + 1) * d.G + way * 4 * d.H;
	for (j = 0; j < d.H; j++) {
		size_t at = way * d.H + j;
		gv_real in = gate[j], forget = gate[d.H + j], new = gate[2 * d.H + j];
		gv_real out = gate[3 * d.H + j], dh = d.dy[t * d.Y + at], th, dc, was = 0;

		for (i = 0; i < 4 * d.H && next != NULL; i++)
			dh = slow_fma(next[i], w[j * 4 * d.H + i], dh);
		if (k > 0)
			was = d.cells[slow_lstm_place(a, way, k - 1) * d.Y + at];
		th = slow_tanh(d.cells[t * d.Y + at]);
		dc = dh * out * (1 - th * th) + carry[j];
		to[j] = dc * new *(in * (1 - in));
		to[d.H + j] = dc * was * (forget * (1 - forget));
		to[2 * d.H + j] = dc * in * (1 - new *new);
		to[3 * d.H + j] = dh * th * (out * (1 - out));
		carry[j] = dc * forget;
	}
}

/* dx NULL: nobody wants it. */
static inline void
slow_lstm_back(const struct slow_at *a, gv_real *dx, bool adds)
{
	struct slow_lstm d = slow_lstm_at(a);
	size_t way, k, i, j;

	for (way = 0; way < a->l->g; way++) {
		const gv_real *w = a->w + way * a->r->matrix_rows * 4 * d.H;
		gv_real *carry = gv_xcalloc(d.H, sizeof(*carry));

		for (k = d.T; k-- > 0;)
			slow_lstm_step_back(a, way, k, carry);
		free(carry);
		for (i = 0; i < d.T * d.in && dx != NULL; i++) {
			gv_real acc = adds || way > 0 ? dx[i] : 0;

			for (j = 0; j < 4 * d.H; j++)
				acc =
				    slow_fma(d.dgates[i / d.in * d.G + way * 4 * d.H + j],
					w[i % d.in * 4 * d.H + j], acc);
			dx[i] = acc;
		}
	}
}

/* Of number e of a way's input and state, and sum o of its gates: a sample's places. */
static inline gv_real
slow_lstm_weight(const struct slow_at *a, size_t way, size_t e, size_t o, gv_real acc)
{
	struct slow_lstm d = slow_lstm_at(a);
	bool back = a->l->dir == GV_DIR_BACK || way == 1;
	size_t t, first = slow_lstm_place(a, way, 0);

	for (t = 0; t < d.T; t++) {
		gv_real x =
		    e < d.in ? d.x[t * d.in + e]
		    : t == first
			? 0
			: d.y[(back ? t + 1 : t - 1) * d.Y + way * d.H + e - d.in];

		acc = slow_fma(x, d.dgates[t * d.G + way * 4 * d.H + o], acc);
	}
	return acc;
}

static inline void
slow_forward_one(const struct slow_at *a)
{
	size_t j;

	switch (a->l->op) {
	case GV_OP_LINEAR:
		slow_linear(a);
		break;
	case GV_OP_CONV:
		slow_each(a, slow_conv_one);
		break;
	case GV_OP_TCONV:
		slow_each(a, slow_tconv_one);
		break;
	case GV_OP_LSTM:
		slow_lstm(a);
		break;
	case GV_OP_MAXPOOL:
	case GV_OP_AVGPOOL:
		slow_each(a, slow_pool_one);
		break;
	case GV_OP_RELU:
		for (j = 0; j < a->r->out_size; j++)
			a->y[j] = slow_relu(a->x[j]);
		break;
	case GV_OP_GELU:
		for (j = 0; j < a->r->out_size; j++)
			a->y[j] = a->x[j] * slow_normal(a->x[j]);
		break;
	case GV_OP_ADD:
		slow_add(a);
		break;
	case GV_OP_CONCAT:
		slow_concat(a);
		break;
	case GV_OP_DROPOUT:
		for (j = 0; j < a->r->out_size; j++)
			a->y[j] = slow_drop(a, j, a->x[j]);
		break;
	case GV_OP_BN:
		slow_bn(a);
		break;
	case GV_OP_LN:
		slow_ln(a);
		break;
	case GV_OP_EMBED:
		slow_embed(a);
		break;
	case GV_OP_ATTENTION:
	case GV_OP_CAUSAL:
		slow_attention(a);
		break;
	default:
		slow_head(a);
	}
	for (j = 0; j < a->r->out_size && a->l->act != GV_ACT_NONE; j++) {
		if (gv_act_keeps(a->l->act))
			slow_real(gv_nn_before(a->c, a->r, a->b, a->i))[j] = a->y[j];
		a->y[j] = slow_act(a->l, a->y[j]);
	}
}

static inline int
slow_forward(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last)
{
	size_t k, b, i;

	(void)be;
	for (k = first; k < last; k++)
		for (b = 0; b < c->plan->B; b++)
			for (i = 0; i < c->n && (c->active[b] || !c->training); i++) {
				struct slow_at a = slow_at(c, &c->plan->row[k], b, i);

				slow_forward_one(&a);
			}
	return 0;
}

/* ---- there and back ---- */

static inline void
slow_linear_back(const struct slow_at *a, gv_real *dx, bool adds)
{
	size_t in = a->r->matrix_rows, out = a->r->columns, i, o;

	for (i = 0; i < a->r->in_size; i++) {
		const gv_real *dy = a->dy + i / in * out;
		gv_real acc = adds ? dx[i] : 0;

		for (o = 0; o < out; o++)
			acc = slow_fma(dy[o], a->w[i % in * out + o], acc);
		dx[i] = acc;
	}
}

static inline void
slow_conv_back(const struct slow_at *a, gv_real *dx, bool adds)
{
	struct gv_shape s = a->l->in_shape;
	size_t y, x, c;

	for (y = 0; y < s.height; y++)
		for (x = 0; x < s.width; x++)
			for (c = 0; c < s.channels; c++) {
				gv_real *d = &dx[slow_index(s, y, x, c)];

				*d = slow_conv_back_one(a, y, x, c, adds ? *d : 0);
			}
}

static inline void
slow_tconv_back(const struct slow_at *a, gv_real *dx, bool adds)
{
	struct gv_shape s = a->l->in_shape;
	struct gv_layer l;
	struct slow_at conv = slow_turned(a, &l);
	size_t y, x, c;

	for (y = 0; y < s.height; y++)
		for (x = 0; x < s.width; x++)
			for (c = 0; c < s.channels; c++) {
				gv_real *d = &dx[slow_index(s, y, x, c)];

				*d = slow_conv_sum(&conv, y, x, c, adds ? *d : 0);
			}
}

/* One output place and channel of a pool gives its gradient back. */
static inline void
slow_pool_back_one(const struct slow_at *a, gv_real *dx, size_t oy, size_t ox, size_t c)
{
	struct gv_shape in = a->l->in_shape;
	size_t at = slow_index(a->l->out_shape, oy, ox, c), k = a->l->k, y, x, n, pass;
	bool avg = a->l->op == GV_OP_AVGPOOL;

	for (pass = n = 0; pass < 2; pass++)
		for (y = 0; y < in.height; y++)
			for (x = 0; x < in.width; x++) {
				size_t j = slow_index(in, y, x, c);

				if (k > 0 && (y + a->l->p < oy * a->l->s ||
						 y + a->l->p >= oy * a->l->s + k ||
						 x + a->l->p < ox * a->l->s ||
						 x + a->l->p >= ox * a->l->s + k))
					continue;
				if (pass == 0) {
					n++;
				} else if (avg) {
					gv_real part = (gv_real)1 / (gv_real)n;

					dx[j] += a->dy[at] * part;
				} else if (a->x[j] == a->y[at]) {
					dx[j] += a->dy[at];
					return;
				}
			}
}

static inline void
slow_pool_back(const struct slow_at *a, gv_real *dx, bool adds)
{
	struct gv_shape s = a->l->out_shape;
	size_t y, x, c;

	if (!adds)
		memset(dx, 0, a->r->in_size * sizeof(*dx));
	for (y = 0; y < s.height; y++)
		for (x = 0; x < s.width; x++)
			for (c = 0; c < s.channels; c++)
				slow_pool_back_one(a, dx, y, x, c);
}

static inline void
slow_bn_back(const struct slow_at *a, gv_real *dx, bool adds)
{
	const gv_real *s = slow_real(gv_nn_stats(a->c, a->r, a->b));
	gv_real count = (gv_real)gv_nn_count(a->c, a->r);
	size_t j, n = a->l->in_shape.channels;

	for (j = 0; j < a->r->in_size; j++) {
		size_t c = j % n;
		gv_real scale = a->w[c] * s[n + c], shift = s[2 * n + c] / count;
		gv_real slope = s[n + c] * (s[3 * n + c] / count);
		gv_real v = scale * (a->dy[j] - shift - (a->x[j] - s[c]) * slope);

		dx[j] = adds ? dx[j] + v : v;
	}
}

static inline void
slow_backward_one(const struct slow_at *a, gv_real *dx, bool adds)
{
	size_t j;

	switch (a->l->op) {
	case GV_OP_LINEAR:
		slow_linear_back(a, dx, adds);
		break;
	case GV_OP_CONV:
		slow_conv_back(a, dx, adds);
		break;
	case GV_OP_TCONV:
		slow_tconv_back(a, dx, adds);
		break;
	case GV_OP_LSTM:
		slow_lstm_back(a, dx, adds);
		break;
	case GV_OP_MAXPOOL:
	case GV_OP_AVGPOOL:
		slow_pool_back(a, dx, adds);
		break;
	case GV_OP_BN:
		slow_bn_back(a, dx, adds);
		break;
	case GV_OP_LN:
		slow_ln_back(a, dx, adds);
		break;
	case GV_OP_ATTENTION:
	case GV_OP_CAUSAL:
		slow_attention_back(a, dx, adds);
		break;
	case GV_OP_RELU:
	case GV_OP_ADD:
		for (j = 0; j < a->r->in_size; j++) {
			gv_real v = a->l->op == GV_OP_RELU && a->y[j] <= 0 ? 0 : a->dy[j];

			dx[j] = adds ? dx[j] + v : v;
		}
		break;
	case GV_OP_GELU:
	case GV_OP_DROPOUT:
		for (j = 0; j < a->r->in_size; j++) {
			gv_real v = a->l->op == GV_OP_GELU
					? a->dy[j] * slow_gelu_slope(a->x[j])
					: slow_drop(a, j, a->dy[j]);

			dx[j] = adds ? dx[j] + v : v;
		}
		break;
	default: /* a head's forward has done it; embed has none */
		break;
	}
}

/* A row's act back, of all samples of a model. */
static inline void
slow_row_act_back(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b)
{
	size_t i, j;

	for (i = 0; i < c->n && r->l.act != GV_ACT_NONE; i++) {
		struct slow_at a = slow_at(c, r, b, i);
		const gv_real *x =
		    gv_act_keeps(r->l.act) ? slow_real(gv_nn_before(c, r, b, i)) : a.y;

		for (j = 0; j < r->out_size; j++)
			a.dy[j] = slow_act_back(&r->l, a.dy[j], a.y[j], x[j]);
	}
}

static inline int
slow_act_back_row(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row)
{
	size_t b;

	(void)be;
	for (b = 0; b < c->plan->B; b++)
		if (c->active[b])
			slow_row_act_back(c, &c->plan->row[row], b);
	return 0;
}

/* Input k of concat: its channels of dy. */
static inline void
slow_concat_back(const struct slow_at *a, size_t k, gv_real *dx)
{
	size_t n = a->l->out_shape.channels, j, at, own;

	for (j = 0; j < a->r->out_size; j++) {
		at = j % n;
		if (slow_joined(a->c, a->r, &at) != k)
			continue;
		own = gv_nn_input_size(a->c, a->r, k) / (a->r->out_size / n);
		at += j / n * own;
		dx[at] = a->r->adds[k] ? dx[at] + a->dy[j] : a->dy[j];
	}
}

static inline void
slow_backward_row(
    const struct gv_nn_call *c, const struct gv_nn_row *r, size_t k, size_t b)
{
	const struct gv_nn_row *from = gv_nn_input(c, r, k);
	size_t i;

	for (i = 0; i < c->n && (from != NULL || r->l.op == GV_OP_LSTM); i++) {
		struct slow_at a = slow_at(c, r, b, i);
		gv_real *dx = from == NULL ? NULL : slow_real(gv_nn_dx(c, r, k, b, i));

		if (r->l.op == GV_OP_CONCAT)
			slow_concat_back(&a, k, dx);
		else
			slow_backward_one(&a, dx, r->adds[k]);
	}
	if (r->ends[k] && from != NULL)
		slow_row_act_back(c, from, b);
}

static inline int
slow_backward(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last)
{
	size_t k, i, b;

	(void)be;
	for (k = last; k-- > first;)
		for (i = c->plan->row[k].l.inputs; i-- > 0;)
			for (b = 0; b < c->plan->B; b++)
				if (c->active[b])
					slow_backward_row(c, &c->plan->row[k], i, b);
	return 0;
}

/* ---- sums ---- */

static inline int
slow_sum_tree(struct gv_nn_backend *be, int stream, gv_real *at, size_t parts, size_t n)
{
	gv_real *v = slow_real(at);
	size_t step, s, j;

	(void)be;
	(void)stream;
	for (step = 1; step < parts; step *= 2)
		for (s = 0; s < parts; s += 2 * step)
			for (j = 0; j < n; j++)
				v[s * n + j] += v[(s + step) * n + j];
	return 0;
}

/* A sum of many terms: strips of 32 in gv_real, the strips in double. */
struct slow_sum {
	double total;
	gv_real part;
	size_t n;
};

static inline void
slow_term(struct slow_sum *s, gv_real v)
{
	s->part += v;
	if (++s->n % 32 == 0) {
		s->total += (double)s->part;
		s->part = 0;
	}
}

static inline gv_real
slow_total(const struct slow_sum *s)
{
	return (gv_real)(s->n % 32 == 0 ? s->total : s->total + (double)s->part);
}

/* The sum of bn for channel j over one shard; two of GV_NN_SUM_DY. */
static inline gv_real
slow_bn_shard(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b,
    size_t shard, enum gv_nn_sum what, size_t j)
{
	size_t n = r->l.in_shape.channels, channel = j % n, first, last, i, at;
	const gv_real *s = slow_real(gv_nn_stats(c, r, b));
	struct slow_sum sum = {0};

	gv_nn_shard(c->plan, shard, &first, &last);
	for (i = first; i < last; i++) {
		struct slow_at a = slow_at(c, r, b, i);

		for (at = channel; at < r->in_size; at += n) {
			gv_real apart = a.x[at] - s[channel];

			slow_term(&sum, what == GV_NN_SUM_X         ? a.x[at]
					: what == GV_NN_SUM_SQUARES ? apart * apart
					: j < n                     ? a.dy[at]
						: a.dy[at] * (apart * s[n + channel]));
		}
	}
	return slow_total(&sum);
}

static inline int
slow_bn_sum(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row, enum gv_nn_sum what)
{
	const struct gv_nn_plan *p = c->plan;
	const struct gv_nn_row *r = &p->row[row];
	size_t n = r->l.in_shape.channels, width = what == GV_NN_SUM_DY ? 2 * n : n;
	size_t b, shard, j;
	gv_real *v = slow_real(c->f->sums);

	for (b = 0; b < p->B; b++) {
		gv_real *part = v + b * p->shards * width;

		for (shard = 0; shard < p->shards; shard++)
			for (j = 0; j < width; j++)
				part[shard * width + j] =
				    c->active[b] ? slow_bn_shard(c, r, b, shard, what, j)
						 : 0;
		slow_sum_tree(
		    be, 0, c->f->sums + b * p->shards * width, p->shards, width);
		memmove(v + b * width, part, width * sizeof(*v));
		if (what == GV_NN_SUM_DY)
			memcpy(slow_real(gv_nn_stats(c, r, b)) + 4 * n, v + b * width,
			    width * sizeof(*v));
	}
	return 0;
}

static inline int
slow_bn_take(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row, enum gv_nn_sum what)
{
	const struct gv_nn_row *r = &c->plan->row[row];
	size_t n = r->l.in_shape.channels, b, k;
	const gv_real *sum = slow_real(c->f->sums);
	double count = gv_nn_count(c, r);

	(void)be;
	for (b = 0; b < c->plan->B; b++) {
		gv_real *s = slow_real(gv_nn_stats(c, r, b));

		for (k = 0; k < n; k++) {
			double mean = (double)sum[b * n + k] / count;

			if (what == GV_NN_SUM_X) {
				s[k] = s[6 * n + k] = (gv_real)mean;
			} else if (what == GV_NN_SUM_SQUARES) {
				s[n + k] = (gv_real)(1 / sqrt(mean + 1e-5));
				s[7 * n + k] = (gv_real)mean;
			} else {
				s[2 * n + k] = sum[b * 2 * n + k];
				s[3 * n + k] = sum[b * 2 * n + n + k];
			}
		}
	}
	return 0;
}

static inline int
slow_bn_use_running(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row)
{
	const struct gv_nn_row *r = &c->plan->row[row];
	size_t n = r->l.in_shape.channels, b, k;

	(void)be;
	for (b = 0; b < c->plan->B; b++)
		for (k = 0; k < n; k++) {
			const gv_real *v =
			    slow_real(c->running) + b * c->plan->Q + r->running;
			gv_real *s = slow_real(gv_nn_stats(c, r, b));

			s[k] = v[k];
			s[n + k] = (gv_real)(1 / sqrt((double)v[n + k] + 1e-5));
		}
	return 0;
}

static inline int
slow_bn_update_running(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row, gv_real *to)
{
	const struct gv_nn_row *r = &c->plan->row[row];
	size_t n = r->l.in_shape.channels, b, k;
	double count = gv_nn_count(c, r);

	(void)be;
	for (b = 0; b < c->plan->B; b++)
		for (k = 0; k < 2 * n && c->active[b]; k++) {
			size_t at = b * c->plan->Q + r->running + k;
			double now = (double)slow_real(gv_nn_stats(c, r, b))[6 * n + k];
			double whole = k < n ? 1 : count / (count - 1);

			slow_real(to)[at] =
			    (gv_real)((1 - 0.1) * (double)slow_real(c->running)[at] +
				      0.1 * now * whole);
		}
	return 0;
}

/* ---- gradients of the weights ---- */

/* Of parameter j of row r over one shard. */
static inline gv_real
slow_weight_shard(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b,
    size_t shard, size_t j)
{
	size_t first, last, i, at, oy, ox, out = r->columns, o = j % out;
	size_t group = j / out / r->matrix_rows, e = j / out % r->matrix_rows;
	bool turned = r->l.op == GV_OP_TCONV;
	struct gv_shape s = turned ? r->l.in_shape : r->l.out_shape;
	size_t cin = r->l.op == GV_OP_CONV ? r->l.in_shape.channels / r->l.g
		     : turned              ? r->l.out_shape.channels / r->l.g
					   : 1;
	struct gv_layer l;
	gv_real acc = 0, xhat[64];
	struct slow_sum sum = {0};

	gv_nn_shard(c->plan, shard, &first, &last);
	for (i = first; i < last; i++) {
		struct slow_at a = slow_at(c, r, b, i);

		for (at = 0; at < r->out_size && r->l.op != GV_OP_LSTM; at += out) {
			if (r->l.op == GV_OP_LINEAR)
				acc = slow_fma(a.x[at / out * r->matrix_rows + e],
				    a.dy[at + o], acc);
			if (r->l.op == GV_OP_EMBED && slow_token(&a, at / out) == e)
				acc += a.dy[at + o];
			if (r->l.op == GV_OP_LN) {
				(void)slow_xhat(a.x + at, out, xhat);
				slow_term(&sum, a.dy[at + o] * xhat[o]);
			}
		}
		if (r->l.op == GV_OP_LINEAR || r->l.op == GV_OP_EMBED ||
		    r->l.op == GV_OP_LN)
			continue;
		if (r->l.op == GV_OP_LSTM) {
			acc = slow_lstm_weight(&a, group, e, o, acc);
			continue;
		}
		if (turned)
			a = slow_turned(&a, &l);
		for (oy = 0; oy < s.height; oy++)
			for (ox = 0; ox < s.width; ox++)
				acc = slow_fma(
				    slow_window(&a, oy, ox, e / cin / r->l.k,
					e / cin % r->l.k, group * cin + e % cin),
				    a.dy[slow_index(s, oy, ox, group * out + o)], acc);
	}
	return r->l.op == GV_OP_LN ? slow_total(&sum) : acc;
}

static inline gv_real
slow_bias_shard(const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b,
    size_t shard, size_t j)
{
	size_t first, last, i, at;
	struct slow_sum sum = {0};

	gv_nn_shard(c->plan, shard, &first, &last);
	for (i = first; i < last; i++) {
		struct slow_at a = slow_at(c, r, b, i);
		bool lstm = r->l.op == GV_OP_LSTM;
		const gv_real *dy = lstm ? slow_lstm_at(&a).dgates : a.dy;

		for (at = j; at < (lstm ? 4 : 1) * r->out_size; at += r->l.biases)
			slow_term(&sum, dy[at]);
	}
	return slow_total(&sum);
}

/* Of parameter j of the row, weights and biases, model b. */
static inline gv_real
slow_gradient_one(
    const struct gv_nn_call *c, const struct gv_nn_row *r, size_t b, size_t j)
{
	size_t shards = c->plan->shards, shard, weights = r->l.weights;
	gv_real part[64] = {0};

	if (r->l.op == GV_OP_BN) /* gamma's behind beta's */
		return slow_real(
		    gv_nn_stats(c, r, b))[4 * weights + (j + weights) % (2 * weights)];
	for (shard = 0; shard < shards; shard++)
		part[shard] = j < weights ? slow_weight_shard(c, r, b, shard, j)
					  : slow_bias_shard(c, r, b, shard, j - weights);
	slow_sum_tree(NULL, 0, (gv_real *)((uintptr_t)part + SLOW_AWAY), shards, 1);
	return part[0];
}

static inline int
slow_gradient(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first,
    size_t last, const struct gv_nn_grads *g, bool add)
{
	size_t k, b, j;

	(void)be;
	for (k = first; k < last; k++)
		for (b = 0; b < c->plan->B; b++)
			for (j = 0;
			     j < c->plan->row[k].l.weights + c->plan->row[k].l.biases &&
			     c->active[b];
			     j++) {
				const struct gv_nn_row *r = &c->plan->row[k];
				gv_real *v =
				    slow_real(g->v) + b * c->plan->P + r->weight + j;
				gv_real one = slow_gradient_one(c, r, b, j);

				*v = add ? *v + one : one;
			}
	return 0;
}

static inline int
slow_losses(struct gv_nn_backend *be, const struct gv_nn_call *c,
    const struct gv_nn_grads *g, bool add)
{
	const struct gv_nn_plan *p = c->plan;
	gv_real part[64], *loss = slow_real(g->v) + p->B * p->P;
	size_t b, shard, i, first, last;

	(void)be;
	for (b = 0; b < p->B; b++) {
		for (shard = 0; shard < p->shards; shard++) {
			double sum = 0;

			gv_nn_shard(p, shard, &first, &last);
			for (i = first; i < last && c->active[b]; i++)
				sum += (double)*slow_real(
				    gv_nn_y(c, &p->row[p->rows - 1], b, i));
			part[shard] = (gv_real)(sum / gv_nn_samples(p));
		}
		slow_sum_tree(
		    be, 0, (gv_real *)((uintptr_t)part + SLOW_AWAY), p->shards, 1);
		loss[b] = add ? loss[b] + part[0] : part[0];
	}
	return 0;
}

/* ---- the update, number by number ---- */

static inline void
slow_update_one(const struct gv_nn_update *u, const struct gv_net_coef *c, double t,
    size_t at, size_t apart)
{
	gv_real w = slow_real(u->from)[at], g = slow_real(u->grads)[at];
	gv_real *m = slow_real(u->state) + at, *v = m + apart;
	gv_real lr = (gv_real)c->lr, decay = (gv_real)c->weight_decay, keep = 1;

	if (u->optimiser == GV_SGD) {
		gv_real momentum = (gv_real)c->momentum, step = g + decay * w;

		if (u->momentum && c->momentum != 0)
			step = *m = momentum * *m + step;
		slow_real(u->to)[at] = w - lr * step;
		return;
	}
	if (u->optimiser == GV_ADAMW) {
		keep = (gv_real)(1 - c->lr * c->weight_decay);
		decay = 0;
	}
	g = g + decay * w;
	*m = (gv_real)c->beta1 * *m + (gv_real)(1 - c->beta1) * g;
	*v = (gv_real)c->beta2 * *v + (gv_real)(1 - c->beta2) * (g * g);
	slow_real(u->to)[at] =
	    w * keep - (gv_real)(c->lr / (1 - pow(c->beta1, t))) *
			   (*m / (SLOW_SQRT(*v) / (gv_real)sqrt(1 - pow(c->beta2, t)) +
				     (gv_real)c->eps));
}

static inline int
slow_update(struct gv_nn_backend *be, const struct gv_nn_update *u)
{
	const struct gv_nn_plan *p = ((struct slow *)be)->plan;
	size_t b, i;

	for (b = 0; b < p->B; b++)
		for (i = u->first; i < u->last && u->active[b]; i++)
			slow_update_one(u, &u->coef[b], (double)u->steps[b], b * p->P + i,
			    p->B * p->P);
	return 0;
}

static inline void
slow_learn(struct gv_nn_backend *be, const struct gv_nn_plan *p, struct gv_nn_room *room)
{
	((struct slow *)be)->plan = p;
	*room = (struct gv_nn_room){.packed = 0};
}

/* ---- general tools, and what there is nothing of ---- */

static inline int
slow_gemm(struct gv_nn_backend *be, int stream, const struct gv_nn_gemm *g)
{
	size_t z, i, j, l;

	(void)be;
	(void)stream;
	for (z = 0; z < g->batch; z++)
		for (i = 0; i < g->m; i++)
			for (j = 0; j < g->n; j++) {
				const gv_real *a = slow_real(g->a) + z * g->a_batch;
				const gv_real *b = slow_real(g->b) + z * g->b_batch;
				const gv_real *bias = slow_real(g->bias);
				gv_real *c =
				    slow_real(g->c) + z * g->c_batch + i * g->ldc + j;
				gv_real acc = g->add ? *c
					      : bias == NULL
						  ? 0
						  : bias[z * g->bias_batch + j];

				for (l = 0; l < g->k; l++)
					acc =
					    slow_fma(a[g->a_transposed ? l * g->lda + i
								       : i * g->lda + l],
						b[g->b_transposed ? j * g->ldb + l
								  : l * g->ldb + j],
						acc);
				*c = g->relu ? slow_relu(acc) : acc;
			}
	return 0;
}

static inline int
slow_at_once(struct gv_nn_backend *be, int stream, int event)
{
	(void)be;
	(void)stream;
	(void)event;
	return 0;
}

static inline int
slow_none(struct gv_nn_backend *be, int stream)
{
	(void)be;
	(void)stream;
	return -1;
}

static inline int
slow_sync(struct gv_nn_backend *be)
{
	(void)be;
	return 0;
}

static inline void
slow_time(struct gv_nn_backend *be, struct gv_net_times *t)
{
	(void)be;
	(void)t;
}

static inline const char *
slow_error(struct gv_nn_backend *be)
{
	(void)be;
	return NULL;
}

static inline struct gv_nn_backend *
slow_new(void)
{
	struct slow *s = gv_xcalloc(1, sizeof(*s));

	s->base = (struct gv_nn_backend){.name = "slow",
	    .plan = slow_learn,
	    .start = slow_start,
	    .free = slow_free,
	    .alloc = slow_alloc,
	    .release = slow_release,
	    .put = slow_put,
	    .get = slow_get,
	    .copy = slow_copy,
	    .fetch = slow_fetch,
	    .gather = slow_gather,
	    .pack = slow_pack,
	    .forward = slow_forward,
	    .backward = slow_backward,
	    .act_back = slow_act_back_row,
	    .gradient = slow_gradient,
	    .losses = slow_losses,
	    .bn_sum = slow_bn_sum,
	    .bn_take = slow_bn_take,
	    .bn_use_running = slow_bn_use_running,
	    .bn_update_running = slow_bn_update_running,
	    .update = slow_update,
	    .gemm = slow_gemm,
	    .sum_tree = slow_sum_tree,
	    .record = slow_at_once,
	    .wait = slow_at_once,
	    .await = slow_await,
	    .capture = slow_none,
	    .captured = slow_none,
	    .replay = slow_at_once,
	    .sync = slow_sync,
	    .time = slow_time,
	    .error = slow_error};
	return &s->base;
}

#endif
