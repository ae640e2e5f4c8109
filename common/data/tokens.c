/*
 * Tokens: sample i is tokens [i T, (i + 1) T) of a file, its labels are each the token
 * behind; so every token but the first few and the last is once in a sample.
 *
 *	tokens:FILE    uint16, little endian, without a header as nanoGPT writes them, or
 *	               behind llm.c's (256 int32: magic, version, tokens; version 7's
 *	               are uint32); gzip is inflated
 *	tokens32:FILE  uint32
 *	text:FILE      a byte is a token
 */
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/mem.h"

enum { HEADER = 1024, TOKENS_MAX = 1 << 24 /* that a float tells apart */ };

struct bytes {
	unsigned char *v;
	size_t n, cap;
};

static int
read_all(struct bytes *b, const char *path, struct gv_error *e)
{
	enum { PIECE = 1 << 16 };
	struct gv_in *in;
	ssize_t got;

	if (gv_in_open(&in, path, e) != 0)
		return -1;
	do {
		b->v = gv_xgrow(b->v, &b->cap, b->n + PIECE, 1);
		got = gv_in_read(in, b->v + b->n, PIECE, e);
		if (got > 0)
			b->n += (size_t)got;
	} while (got > 0);
	gv_in_close(in);
	return (int)got;
}

static uint32_t
number(const unsigned char *b, size_t width)
{
	uint32_t v = 0;

	while (width-- > 0)
		v = v << 8 | b[width];
	return v;
}

/* llm.c's header, if there is one: where tokens begin, how wide they are. */
static int
read_header(const struct bytes *b, const char *path, size_t *at, size_t *width,
    struct gv_error *e)
{
	enum { MAGIC_16 = 20240520, MAGIC_32 = 20240801 };
	uint32_t magic, version, tokens;

	*at = 0;
	if (b->n < HEADER)
		return 0;
	magic = number(b->v, 4);
	version = number(b->v + 4, 4);
	tokens = number(b->v + 8, 4);
	if (magic != MAGIC_16 && magic != MAGIC_32)
		return 0;
	if (!(magic == MAGIC_16 && version == 1) && !(magic == MAGIC_32 && version == 7))
		return gv_error_set(e,
		    "%s: byte 4: version %lu of llm.c's token files is not known", path,
		    (unsigned long)version);
	*at = HEADER;
	*width = magic == MAGIC_16 ? 2 : 4;
	if ((b->n - HEADER) / *width != tokens)
		return gv_error_set(e, "%s: byte 8: %lu tokens, but %zu bytes of them",
		    path, (unsigned long)tokens, b->n - HEADER);
	return 0;
}

int
gv_data_windows(struct gv_data *d, const struct gv_data_spec *spec, const uint32_t *token,
    size_t tokens, size_t known, struct gv_error *e)
{
	size_t T = (size_t)spec->context, i, t;

	if (tokens < T + 1)
		return gv_error_set(e,
		    "%s: %zu tokens, at least %zu are needed: a sample and the token "
		    "behind it",
		    spec->text, tokens, T + 1);
	d->n = (tokens - 1) / T;
	d->h = d->size = d->targets = T;
	d->w = d->c = 1;
	d->classes = known;
	d->x = gv_xcalloc(d->n * T, sizeof(*d->x));
	d->y = gv_xcalloc(d->n * T, sizeof(*d->y));
	for (i = 0; i < d->n; i++)
		for (t = 0; t < T; t++) {
			d->x[i * T + t] = (float)token[i * T + t];
			d->y[i * T + t] = (int32_t)token[i * T + t + 1];
		}
	d->high = (float)known;
	return 0;
}

/* The tokens of bytes from at on; how many there may be to *known. */
static int
take_tokens(uint32_t *token, const struct bytes *b, const char *path, size_t at,
    size_t width, size_t *known, struct gv_error *e)
{
	size_t i;

	if ((b->n - at) % width != 0)
		return gv_error_set(e, "%s: byte %zu: ends within a token of %zu bytes",
		    path, b->n / width * width, width);
	for (i = 0; at + i * width < b->n; i++) {
		token[i] = number(b->v + at + i * width, width);
		if (token[i] >= TOKENS_MAX)
			return gv_error_set(e, "%s: byte %zu: token %lu is over %d", path,
			    at + i * width, (unsigned long)token[i], TOKENS_MAX - 1);
		if (token[i] >= *known)
			*known = token[i] + 1;
	}
	return 0;
}

int
gv_data_tokens(struct gv_data *d, const struct gv_data_spec *spec, const char *path,
    size_t width, struct gv_error *e)
{
	struct bytes b = {0};
	size_t at = 0, known = width == 1 ? 256 : 0;
	uint32_t *token = NULL;
	int r = read_all(&b, path, e);

	if (r == 0 && width == 2)
		r = read_header(&b, path, &at, &width, e);
	if (r == 0) {
		token = gv_xcalloc(b.n / width + 1, sizeof(*token));
		r = take_tokens(token, &b, path, at, width, &known, e);
	}
	if (r == 0)
		r = gv_data_windows(d, spec, token, (b.n - at) / width, known, e);
	free(token);
	free(b.v);
	return r;
}
