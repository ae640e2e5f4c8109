/* maxpool and avgpool. */
#include <math.h>
#include <string.h>

#include "nn/cpu/few.h"
#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"

/* The window of one output place, cut to the input: rows [y0, y1), columns [x0, x1). */
struct window {
	size_t y0, y1, x0, x1;
};

static void
side(size_t o, size_t k, size_t s, size_t p, size_t size, size_t *lo, size_t *hi)
{
	*lo = o * s < p ? 0 : o * s - p;
	*hi = o * s + k < p ? 0 : o * s + k - p;
	if (*hi > size)
		*hi = size;
}

static struct window
window(const struct gv_layer *l, size_t oy, size_t ox)
{
	struct window w = {0, l->in_shape.height, 0, l->in_shape.width};

	if (l->k > 0) {
		side(oy, l->k, l->s, l->p, l->in_shape.height, &w.y0, &w.y1);
		side(ox, l->k, l->s, l->p, l->in_shape.width, &w.x0, &w.x1);
	}
	return w;
}

/* A pass over the channels of one output place. */
typedef void place_pass(const struct gv_layer *l, const struct window *w,
    const gv_real *x, gv_real *dx, gv_real *y, const gv_real *dy);

static void
each_place(place_pass *pass, const struct gv_nn_row *r, size_t n, const gv_real *x,
    gv_real *dx, gv_real *y, const gv_real *dy)
{
	const struct gv_layer *l = &r->l;
	size_t c = l->out_shape.channels, i, oy, ox;

	for (i = 0; i < n; i++) {
		for (oy = 0; oy < l->out_shape.height; oy++)
			for (ox = 0; ox < l->out_shape.width; ox++) {
				struct window w = window(l, oy, ox);

				pass(l, &w, x, dx, y, dy);
				y += c;
				dy += dy != NULL ? c : 0;
			}
		x += r->in_size;
		dx += dx != NULL ? r->in_size : 0;
	}
}

GV_HOT static void
max_place(const struct gv_layer *l, const struct window *w, const gv_real *restrict x,
    gv_real *dx, gv_real *restrict y, const gv_real *dy)
{
	size_t c = l->in_shape.channels, wx, wy, j;

	(void)dx;
	(void)dy;
	memcpy(y, x + (w->y0 * l->in_shape.width + w->x0) * c, c * sizeof(*y));
	for (wy = w->y0; wy < w->y1; wy++)
		for (wx = w->x0; wx < w->x1; wx++) {
			const gv_real *restrict v = x + (wy * l->in_shape.width + wx) * c;

			/* a NaN wins and stays */
			for (j = 0; j < c; j++)
				y[j] = ((v[j] > y[j]) | (v[j] != v[j])) ? v[j] : y[j];
		}
}

/* The first number of a window that is the maximum gets the gradient: one channel. */
GV_INLINE static inline void
max_channel_back(const struct gv_layer *l, const struct window *w, const gv_real *x,
    gv_real *dx, gv_real y, gv_real dy, size_t j)
{
	size_t c = l->in_shape.channels, wx, wy;

	for (wy = w->y0; wy < w->y1; wy++)
		for (wx = w->x0; wx < w->x1; wx++)
			if (x[(wy * l->in_shape.width + wx) * c + j] == y) {
				dx[(wy * l->in_shape.width + wx) * c + j] += dy;
				return;
			}
}

#ifdef __GNUC__
/* LANES channels at once, which gcc does not vectorise.  A comparison gives all bits or none. */
typedef gv_real numbers __attribute__((vector_size(32)));
#ifdef GV_REAL_DOUBLE
typedef int64_t bits __attribute__((vector_size(32)));
#else
typedef int32_t bits __attribute__((vector_size(32)));
#endif
enum { LANES = sizeof(numbers) / sizeof(gv_real) };

GV_INLINE static inline void
max_lanes_back(const struct gv_layer *l, const struct window *w, const gv_real *x,
    gv_real *dx, const gv_real *y, const gv_real *dy, size_t j)
{
	size_t c = l->in_shape.channels, wx, wy;
	numbers most, left, v, d;

	memcpy(&most, y + j, sizeof(most));
	memcpy(&left, dy + j, sizeof(left));
	for (wy = w->y0; wy < w->y1; wy++)
		for (wx = w->x0; wx < w->x1; wx++) {
			size_t at = (wy * l->in_shape.width + wx) * c + j;
			bits hit;

			memcpy(&v, x + at, sizeof(v));
			memcpy(&d, dx + at, sizeof(d));
			hit = v == most;
			d += (numbers)((bits)left & hit);
			left = (numbers)((bits)left & ~hit);
			memcpy(dx + at, &d, sizeof(d));
		}
}
#else
enum { LANES = 1 };
#define max_lanes_back(l, w, x, dx, y, dy, j) \
	max_channel_back(l, w, x, dx, (y)[j], (dy)[j], j)
#endif

GV_HOT static void
max_place_back(const struct gv_layer *l, const struct window *w,
    const gv_real *restrict x, gv_real *restrict dx, gv_real *restrict y,
    const gv_real *restrict dy)
{
	size_t c = l->in_shape.channels, j;

	for (j = 0; j + LANES <= c; j += LANES)
		max_lanes_back(l, w, x, dx, y, dy, j);
	for (; j < c; j++)
		max_channel_back(l, w, x, dx, y[j], dy[j], j);
}

/* Numbers that an average is over: the part of the window that is inside. */
GV_INLINE static inline gv_real
share(const struct window *w)
{
	return (gv_real)1 / (gv_real)((w->y1 - w->y0) * (w->x1 - w->x0));
}

GV_HOT static void
avg_place(const struct gv_layer *l, const struct window *w, const gv_real *restrict x,
    gv_real *dx, gv_real *restrict y, const gv_real *dy)
{
	size_t c = l->in_shape.channels, wx, wy, j;
	gv_real part = share(w);

	(void)dx;
	(void)dy;
	memset(y, 0, c * sizeof(*y));
	for (wy = w->y0; wy < w->y1; wy++)
		for (wx = w->x0; wx < w->x1; wx++) {
			const gv_real *restrict v = x + (wy * l->in_shape.width + wx) * c;

			for (j = 0; j < c; j++)
				y[j] += v[j];
		}
	for (j = 0; j < c; j++)
		y[j] *= part;
}

GV_HOT static void
avg_place_back(const struct gv_layer *l, const struct window *w, const gv_real *x,
    gv_real *restrict dx, gv_real *y, const gv_real *restrict dy)
{
	size_t c = l->in_shape.channels, wx, wy, j;
	gv_real part = share(w);

	(void)x;
	(void)y;
	for (wy = w->y0; wy < w->y1; wy++)
		for (wx = w->x0; wx < w->x1; wx++) {
			gv_real *restrict d = dx + (wy * l->in_shape.width + wx) * c;

			for (j = 0; j < c; j++)
				d[j] += dy[j] * part;
		}
}

static void
forward(place_pass *pass, const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_block *s)
{
	each_place(pass, r, s->n, gv_cpu_x(c, r, s), NULL, gv_cpu_y(c, r, s), NULL);
}

static void
backward(place_pass *pass, const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_block *s)
{
	gv_real *dx = gv_cpu_dx(c, r, s);

	if (!r->adds[s->input])
		memset(dx, 0, s->n * r->in_size * sizeof(*dx));
	if (pass == max_place_back && gv_cpu_is_few(&r->l))
		gv_cpu_few_maxpool_back(&r->l, s->n, gv_cpu_x(c, r, s), dx,
		    gv_cpu_y(c, r, s), gv_cpu_dy(c, r, s));
	else
		each_place(pass, r, s->n, gv_cpu_x(c, r, s), dx, gv_cpu_y(c, r, s),
		    gv_cpu_dy(c, r, s));
}

void
gv_cpu_maxpool_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	(void)cpu;
	if (gv_cpu_is_few(&r->l))
		gv_cpu_few_maxpool(&r->l, s->n, gv_cpu_x(c, r, s), gv_cpu_y(c, r, s));
	else
		forward(max_place, c, r, s);
}

void
gv_cpu_maxpool_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	(void)cpu;
	backward(max_place_back, c, r, s);
}

void
gv_cpu_avgpool_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	(void)cpu;
	forward(avg_place, c, r, s);
}

void
gv_cpu_avgpool_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	(void)cpu;
	backward(avg_place_back, c, r, s);
}
