#include "nn/cpu/few.h"

#include "nn/cpu/simd.h"

enum { FEW = 8 }; /* channels, less than a vector */

bool
gv_cpu_is_few(const struct gv_layer *l)
{
	/* a window's offsets are ints */
	return l->k > 0 && l->p == 0 && l->in_shape.channels < FEW && l->k < 256 &&
	       l->in_shape.width < (size_t)1 << 20;
}

/* The same window as it stands at a place, for c channels, a constant. */
GV_INLINE static inline void
max_place(
    const struct gv_layer *l, size_t c, const gv_real *restrict x, gv_real *restrict y)
{
	size_t line = l->in_shape.width * c, wy, wx, j;
	gv_real most[FEW];

	for (j = 0; j < c; j++)
		most[j] = x[j];
	for (wy = 0; wy < l->k; wy++)
		for (wx = 0; wx < l->k; wx++) {
			const gv_real *restrict v = x + wy * line + wx * c;

			/* a NaN wins and stays */
			for (j = 0; j < c; j++)
				most[j] =
				    ((v[j] > most[j]) | (v[j] != v[j])) ? v[j] : most[j];
		}
	for (j = 0; j < c; j++)
		y[j] = most[j];
}

/* The first number of a window that is the maximum gets the gradient. */
GV_INLINE static inline void
max_place_back(const struct gv_layer *l, size_t c, const gv_real *restrict x,
    gv_real *restrict dx, const gv_real *restrict y, const gv_real *restrict dy)
{
	size_t line = l->in_shape.width * c, wy, wx, j;
	int at[FEW]; /* from the window's first number; below 0: of a NaN none */

	for (j = 0; j < c; j++)
		at[j] = -1;
	for (wy = l->k; wy-- > 0;)
		for (wx = l->k; wx-- > 0;) {
			const gv_real *restrict v = x + wy * line + wx * c;
			int here = (int)(wy * line + wx * c);

			for (j = 0; j < c; j++)
				at[j] = v[j] == y[j] ? here : at[j];
		}
	for (j = 0; j < c; j++)
		if (at[j] >= 0)
			dx[(size_t)at[j] + j] += dy[j];
}

/* n samples, there or (dx not NULL) back. */
GV_INLINE static inline void
pool(const struct gv_layer *l, size_t c, size_t n, const gv_real *x, gv_real *dx,
    gv_real *y, const gv_real *dy)
{
	size_t line = l->in_shape.width * c, size = l->in_shape.height * line, i, oy, ox;

	for (i = 0; i < n; i++)
		for (oy = 0; oy < l->out_shape.height; oy++)
			for (ox = 0; ox < l->out_shape.width; ox++) {
				size_t at = i * size + oy * l->s * line + ox * l->s * c;

				if (dx == NULL) {
					max_place(l, c, x + at, y);
				} else {
					max_place_back(l, c, x + at, dx + at, y, dy);
					dy += c;
				}
				y += c;
			}
}

#define POOL(c)                                                           \
	GV_HOT static void pool_##c(const struct gv_layer *l, size_t n,   \
	    const gv_real *x, gv_real *dx, gv_real *y, const gv_real *dy) \
	{                                                                 \
		struct gv_layer two = *l;                                 \
                                                                          \
		two.k = 2;                                                \
		if (l->k == 2 && dx == NULL)                              \
			pool(&two, c, n, x, NULL, y, NULL);               \
		else if (l->k == 2)                                       \
			pool(&two, c, n, x, dx, y, dy);                   \
		else                                                      \
			pool(l, c, n, x, dx, y, dy);                      \
	}
POOL(1)
POOL(2)
POOL(3)
POOL(4)
POOL(5)
POOL(6)
POOL(7)

typedef void passes(const struct gv_layer *l, size_t n, const gv_real *x, gv_real *dx,
    gv_real *y, const gv_real *dy);
static passes *const by_channels[FEW] = {
    NULL, pool_1, pool_2, pool_3, pool_4, pool_5, pool_6, pool_7};

void
gv_cpu_few_maxpool(const struct gv_layer *l, size_t n, const gv_real *x, gv_real *y)
{
	by_channels[l->in_shape.channels](l, n, x, NULL, y, NULL);
}

void
gv_cpu_few_maxpool_back(const struct gv_layer *l, size_t n, const gv_real *x, gv_real *dx,
    const gv_real *y, const gv_real *dy)
{
	by_channels[l->in_shape.channels](l, n, x, dx, (gv_real *)(uintptr_t)y, dy);
}
