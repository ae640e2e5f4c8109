/*
 * Generated digits (sensAI's small experiment): a 5x7 dot-matrix font, drawn
 * with a random rotation (+-0.25 rad), scale (0.75 to 1.25 per axis), shear
 * (+-0.25) and shift (+-2 px) by bilinear interpolation on 16x16 pixels, plus
 * noise of sigma 0.25 of the ink.
 *
 * Pixels are bytes, as in real image files: 255 * (0.25 + v / 2), v = ink +
 * noise, so that two sigmas of noise fit below and above.
 */
#include "data/data.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"

enum { SIDE = 16, PIXELS = SIDE * SIDE, FONT_W = 5, FONT_H = 7 };

static const double DOT = 2; /* pixels per dot at scale 1: 10 x 14 of 16 x 16 */

/* streams of random numbers */
enum { STREAM_SHAPE = 0x64696769, STREAM_NOISE };

static const unsigned char font[10][FONT_H] = {{0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e},
    {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e},
    {0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f},
    {0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e},
    {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02},
    {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e},
    {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e},
    {0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08},
    {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e},
    {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c}};

/* x = shift + matrix * (dot - middle); the inverse is what drawing needs. */
struct pose {
	double a, b, c, d; /* pixel offset -> dot offset */
	double x, y;       /* the glyph's middle, in pixels */
};

static double
between(uint64_t seed, uint32_t sample, uint64_t which, double low, double high)
{
	return low + (high - low) * gv_random_uniform(seed, STREAM_SHAPE, sample, which);
}

/* Series, exact to 1e-13 for |x| <= 0.25: libm's last digits differ between machines. */
static double
sine(double x)
{
	double q = x * x;

	return x * (1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72))));
}

static double
cosine(double x)
{
	double q = x * x;

	return 1 - q / 2 * (1 - q / 12 * (1 - q / 30 * (1 - q / 56 * (1 - q / 90))));
}

static struct pose
draw_pose(uint64_t seed, uint32_t i)
{
	double angle = between(seed, i, 1, -0.25, 0.25);
	double sx = DOT * between(seed, i, 2, 0.75, 1.25);
	double sy = DOT * between(seed, i, 3, 0.75, 1.25);
	double shear = between(seed, i, 4, -0.25, 0.25);
	double cosa = cosine(angle), sina = sine(angle);
	/* rotation * shear * scale */
	double m00 = cosa * sx, m01 = (cosa * shear - sina) * sy;
	double m10 = sina * sx, m11 = (sina * shear + cosa) * sy;
	double det = m00 * m11 - m01 * m10;
	struct pose p;

	p.a = m11 / det;
	p.b = -m01 / det;
	p.c = -m10 / det;
	p.d = m00 / det;
	p.x = (SIDE - 1) / 2.0 + between(seed, i, 5, -2, 2);
	p.y = (SIDE - 1) / 2.0 + between(seed, i, 6, -2, 2);
	return p;
}

static double
dot(int digit, int x, int y)
{
	if (x < 0 || x >= FONT_W || y < 0 || y >= FONT_H)
		return 0;
	return font[digit][y] >> (FONT_W - 1 - x) & 1;
}

static double
ink(int digit, double x, double y)
{
	double fx = floor(x), fy = floor(y);
	int ix = (int)fx, iy = (int)fy;
	double u = x - fx, v = y - fy;

	return (1 - v) * ((1 - u) * dot(digit, ix, iy) + u * dot(digit, ix + 1, iy)) +
	       v * ((1 - u) * dot(digit, ix, iy + 1) + u * dot(digit, ix + 1, iy + 1));
}

/* Nearly normal, variance 1, from 128 bits: the sum of eight 16-bit uniforms. */
static double
noise(uint64_t seed, uint32_t sample, uint32_t pixel)
{
	uint32_t counter[4] = {pixel, 0, STREAM_NOISE, sample};
	uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
	uint32_t r[4];
	int32_t sum = 0;
	int i;

	gv_philox(counter, key, r);
	for (i = 0; i < 4; i++)
		sum += (int32_t)(r[i] & 0xffff) + (int32_t)(r[i] >> 16);
	return (sum - 4 * 65535) *
	       (0.0000152587890625 * 1.2247448713915890); /* 2^-16 sqrt(12/8) */
}

static void
draw_digit(float *out, int digit, uint64_t seed, uint32_t i)
{
	struct pose p = draw_pose(seed, i);
	uint32_t k;

	for (k = 0; k < PIXELS; k++) {
		double dx = k % SIDE - p.x;
		double dy = k / SIDE - p.y;
		double v = ink(digit, p.a * dx + p.b * dy + (FONT_W - 1) / 2.0,
		    p.c * dx + p.d * dy + (FONT_H - 1) / 2.0);
		double level = 0.25 + 0.5 * (v + 0.25 * noise(seed, i, k));

		out[k] = (float)floor(255 * fmin(fmax(level, 0), 1) + 0.5);
	}
}

void
gv_data_digits(struct gv_data *d, size_t n, uint64_t seed)
{
	size_t i;

	d->n = n;
	d->c = 1;
	d->h = d->w = SIDE;
	d->size = PIXELS;
	d->classes = 10;
	d->low = 0;
	d->high = 255;
	d->x = gv_xcalloc(n, PIXELS * sizeof(*d->x));
	d->y = gv_xcalloc(n, sizeof(*d->y));
	for (i = 0; i < n; i++) {
		d->y[i] = (int32_t)(gv_random(seed, STREAM_SHAPE, (uint32_t)i, 0) % 10);
		draw_digit(d->x + i * PIXELS, d->y[i], seed, (uint32_t)i);
	}
}
