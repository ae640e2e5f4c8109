/*
 * IDX files, as MNIST's: two zero bytes, a type (8 = unsigned byte), the number
 * of dimensions, each dimension as a big-endian 32-bit number, then the bytes.
 */
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/mem.h"

enum { IDX_UBYTE = 8, DIMENSIONS_MAX = 4 };

struct idx {
	int dimensions;
	uint32_t size[DIMENSIONS_MAX];
	unsigned char *bytes; /* all of them: size[0] * ... */
	size_t n;
};

/* Reads exactly n bytes: 1, 0 at an early end, -1 with *e set. */
static int
read_bytes(struct gv_in *in, unsigned char *buf, size_t n, struct gv_error *e)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = gv_in_read(in, buf + got, n - got, e);

		if (r <= 0)
			return (int)r;
		got += (size_t)r;
	}
	return 1;
}

static int
read_header(struct gv_in *in, struct idx *x, struct gv_error *e)
{
	unsigned char b[4 * DIMENSIONS_MAX];
	int i, r = read_bytes(in, b, 4, e);

	if (r < 0)
		return -1;
	if (r == 0 || b[0] != 0 || b[1] != 0)
		return gv_error_set(e, "%s: not an IDX file", gv_in_name(in));
	if (b[2] != IDX_UBYTE)
		return gv_error_set(e, "%s: expected IDX type 8 (unsigned byte), got %d",
		    gv_in_name(in), b[2]);
	if (b[3] < 1 || b[3] > DIMENSIONS_MAX)
		return gv_error_set(
		    e, "%s: expected 1 to 4 dimensions, got %d", gv_in_name(in), b[3]);
	x->dimensions = b[3];
	r = read_bytes(in, b, 4 * (size_t)x->dimensions, e);
	if (r <= 0)
		return r < 0 ? -1
			     : gv_error_set(e, "%s: ends in its header", gv_in_name(in));
	x->n = 1;
	for (i = 0; i < x->dimensions; i++) {
		const unsigned char *p = b + 4 * i;

		x->size[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
			     (uint32_t)p[2] << 8 | p[3];
		if (x->size[i] == 0 || x->n > (SIZE_MAX >> 32) / x->size[i])
			return gv_error_set(e,
			    "%s: dimension %d of size %lu cannot be read", gv_in_name(in),
			    i + 1, (unsigned long)x->size[i]);
		x->n *= x->size[i];
	}
	return 0;
}

/* Memory grows with what is really there, not with what the header claims. */
static int
read_body(struct gv_in *in, struct idx *x, struct gv_error *e)
{
	size_t got = 0, cap = 0;
	unsigned char extra;

	while (got < x->n) {
		size_t want = x->n - got < 65536 ? x->n - got : 65536;
		ssize_t r;

		x->bytes = gv_xgrow(x->bytes, &cap, got + want, 1);
		r = gv_in_read(in, x->bytes + got, want, e);
		if (r < 0)
			return -1;
		if (r == 0)
			return gv_error_set(e, "%s: ends after %zu of %zu values",
			    gv_in_name(in), got, x->n);
		got += (size_t)r;
	}
	switch (gv_in_read(in, &extra, 1, e)) {
	case 0:
		return 0;
	case -1:
		return -1;
	default:
		return gv_error_set(e, "%s: more than the %zu values of its header",
		    gv_in_name(in), x->n);
	}
}

static int
read_idx(struct idx *x, const char *path, struct gv_error *e)
{
	struct gv_in *in;
	int r;

	if (gv_in_open(&in, path, e) != 0)
		return -1;
	r = read_header(in, x, e) != 0 || read_body(in, x, e) != 0 ? -1 : 0;
	gv_in_close(in);
	return r;
}

/* n x c; n x h x w; n x h x w x c */
static void
set_shape(struct gv_data *d, const struct idx *x)
{
	int k = x->dimensions;

	d->n = x->size[0];
	d->h = k >= 3 ? x->size[1] : 1;
	d->w = k >= 3 ? x->size[2] : 1;
	d->c = k == 3 ? 1 : x->size[k - 1];
	d->size = d->h * d->w * d->c;
}

static int
check(const struct idx *x, const struct idx *y, const char *images, const char *labels,
    struct gv_error *e)
{
	if (x->dimensions < 2)
		return gv_error_set(
		    e, "%s: expected images (2 to 4 dimensions), got 1", images);
	if (y->dimensions != 1)
		return gv_error_set(e, "%s: expected labels (1 dimension), got %d",
		    labels, y->dimensions);
	if (x->size[0] != y->size[0])
		return gv_error_set(e, "%s: %lu labels for %lu images of %s", labels,
		    (unsigned long)y->size[0], (unsigned long)x->size[0], images);
	return 0;
}

int
gv_data_idx(struct gv_data *d, const char *images, const char *labels, struct gv_error *e)
{
	struct idx x = {0}, y = {0};
	int r = -1;
	size_t i;

	if (read_idx(&x, images, e) == 0 && read_idx(&y, labels, e) == 0 &&
	    check(&x, &y, images, labels, e) == 0) {
		set_shape(d, &x);
		d->low = 0;
		d->high = 255;
		d->x = gv_xcalloc(x.n, sizeof(*d->x));
		d->y = gv_xcalloc(d->n, sizeof(*d->y));
		for (i = 0; i < x.n; i++)
			d->x[i] = x.bytes[i];
		for (i = 0; i < d->n; i++)
			d->y[i] = y.bytes[i];
		r = 0;
	}
	free(x.bytes);
	free(y.bytes);
	return r;
}
