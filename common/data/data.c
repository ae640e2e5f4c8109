/* Data sets: which reader, scaling, export. */
#include "data/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/num.h"
#include "table/tab.h"

const char *const gv_data_scale_names[] = {"standard", "unit", "none", NULL};

enum { DIGITS_DEFAULT = 8000, DIGITS_MAX = 1 << 22 };

/* "" | ":N" | ":N:SEED" behind a name */
static int
read_count(const struct gv_data_spec *spec, const char *name, int64_t *n, int64_t *seed,
    struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	const char *rest = spec->text + strlen(name);
	const char *colon = rest[0] == ':' ? strchr(rest + 1, ':') : NULL;

	*n = DIGITS_DEFAULT;
	*seed = (int64_t)spec->digit_seed;

	if (rest[0] == ':') {
		size_t len =
		    colon != NULL ? (size_t)(colon - rest) - 1 : strlen(rest + 1);

		if (gv_parse_int(rest + 1, len, n) != 0 || *n < 1 || *n > DIGITS_MAX)
			return gv_error_set(e,
			    "%s: expected %s:N with N from 1 to %d, got %s", spec->text,
			    name, DIGITS_MAX, gv_quote(q, rest + 1, len));
	}
	if (colon != NULL &&
	    (gv_parse_int(colon + 1, strlen(colon + 1), seed) != 0 || *seed < 0))
		return gv_error_set(e, "%s: expected a seed from 0 up, got %s",
		    spec->text, gv_quote(q, colon + 1, strlen(colon + 1)));
	return 0;
}

static int
open_generated(struct gv_data *d, const struct gv_data_spec *spec, struct gv_error *e)
{
	bool digits = spec->text[0] == 'd';
	int64_t n, seed;

	if (read_count(spec, digits ? "digits" : "sentences", &n, &seed, e) != 0)
		return -1;
	if (!digits)
		return gv_data_sentences(d, spec, (size_t)n, (uint64_t)seed, e);
	gv_data_digits(d, (size_t)n, (uint64_t)seed);
	return 0;
}

static int
open_idx(struct gv_data *d, const struct gv_data_spec *spec, const char *files,
    struct gv_error *e)
{
	const char *comma = strchr(files, ',');
	char *images;
	int r;

	if (comma == NULL || comma == files || comma[1] == '\0')
		return gv_error_set(e, "%s: expected idx:IMAGES,LABELS", spec->text);
	images = gv_xstrndup(files, (size_t)(comma - files));
	r = gv_data_idx(d, images, comma + 1, e);
	free(images);
	return r;
}

static int
reshape(struct gv_data *d, const struct gv_data_spec *spec, struct gv_error *e)
{
	if (spec->h == 0)
		return 0;
	if (spec->h * spec->w * spec->c != d->size)
		return gv_error_set(e,
		    "%s: samples of %zu values have no shape %zux%zux%zu", spec->text,
		    d->size, spec->h, spec->w, spec->c);
	d->h = spec->h;
	d->w = spec->w;
	d->c = spec->c;
	return 0;
}

static void
finish(struct gv_data *d)
{
	size_t i;
	uLong crc = crc32(0, NULL, 0);

	if (d->targets == 0)
		d->targets = 1;
	if (d->t != NULL)
		d->classes = d->targets;
	for (i = 0; i < d->n * d->targets && d->y != NULL; i++)
		if ((size_t)d->y[i] >= d->classes)
			d->classes = (size_t)d->y[i] + 1;
	for (i = 0; i < d->n; i++)
		crc = crc32(crc, (const Bytef *)(d->x + i * d->size),
		    (uInt)(d->size * sizeof(*d->x)));
	if (d->y != NULL)
		crc =
		    crc32_z(crc, (const Bytef *)d->y, d->n * d->targets * sizeof(*d->y));
	if (d->t != NULL)
		crc =
		    crc32_z(crc, (const Bytef *)d->t, d->n * d->targets * sizeof(*d->t));
	d->crc = (uint32_t)crc;
}

int
gv_data_open(struct gv_data *d, const struct gv_data_spec *spec, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	const char *s = spec->text;
	int r;

	memset(d, 0, sizeof(*d));
	if (strcmp(s, "digits") == 0 || strncmp(s, "digits:", 7) == 0 ||
	    strcmp(s, "sentences") == 0 || strncmp(s, "sentences:", 10) == 0)
		r = open_generated(d, spec, e);
	else if (strncmp(s, "idx:", 4) == 0)
		r = open_idx(d, spec, s + 4, e);
	else if (strncmp(s, "csv:", 4) == 0)
		r = gv_data_table(d, s + 4, spec->label, spec->numbers, e);
	else if (strncmp(s, "text:", 5) == 0)
		r = gv_data_tokens(d, spec, s + 5, 1, e);
	else if (strncmp(s, "tokens:", 7) == 0)
		r = gv_data_tokens(d, spec, s + 7, 2, e);
	else if (strncmp(s, "tokens32:", 9) == 0)
		r = gv_data_tokens(d, spec, s + 9, 4, e);
	else
		return gv_error_set(e,
		    "unknown data set %s; known: digits[:N[:SEED]], idx:IMAGES,LABELS, "
		    "csv:FILE, sentences[:N[:SEED]], text:FILE, tokens:FILE, "
		    "tokens32:FILE",
		    gv_quote(q, s, strlen(s)));
	if (r != 0 || reshape(d, spec, e) != 0) {
		gv_data_free(d);
		return -1;
	}
	finish(d);
	return 0;
}

void
gv_data_free(struct gv_data *d)
{
	free(d->x);
	free(d->y);
	free(d->t);
	memset(d, 0, sizeof(*d));
}

void
gv_data_one_hot(struct gv_data *d, size_t classes)
{
	size_t i, all = d->n * d->targets;

	d->t = gv_xcalloc(all * classes, sizeof(*d->t));
	for (i = 0; i < all; i++)
		d->t[i * classes + (size_t)d->y[i]] = 1;
	free(d->y);
	d->y = NULL;
	d->targets *= classes;
	d->classes = d->targets;
}

void
gv_data_as_numbers(struct gv_data *d)
{
	size_t i, all = d->n * d->targets;

	d->t = gv_xcalloc(all, sizeof(*d->t));
	for (i = 0; i < all; i++)
		d->t[i] = (float)d->y[i];
	free(d->y);
	d->y = NULL;
	d->classes = d->targets;
}

void
gv_data_own_targets(struct gv_data *d)
{
	free(d->y);
	free(d->t);
	d->y = NULL;
	d->t = gv_xcalloc(d->n * d->size + 1, sizeof(*d->t));
	d->targets = d->classes = d->size;
}

void
gv_data_own_targets_fill(struct gv_data *d)
{
	memcpy(d->t, d->x, d->n * d->size * sizeof(*d->t));
}

/* x = (x - shift) / width over one channel */
static void
apply(struct gv_data *d, size_t channel, double shift, double width)
{
	size_t n = d->n * d->size;
	size_t i;

	for (i = channel; i < n; i += d->c)
		d->x[i] = (float)((d->x[i] - shift) / width);
}

/* Two passes, so that a large mean costs no digits. */
static void
measure(const struct gv_data *d, size_t channel, double *mean, double *deviation)
{
	size_t n = d->n * d->size;
	double count = (double)(n / d->c);
	double sum = 0, squares = 0;
	size_t i;

	for (i = channel; i < n; i += d->c)
		sum += d->x[i];
	*mean = sum / count;
	for (i = channel; i < n; i += d->c) {
		double v = d->x[i] - *mean;

		squares += v * v;
	}
	*deviation = squares > 0 ? sqrt(squares / count) : 1;
}

void
gv_data_scale(struct gv_data *d, struct gv_data *test, enum gv_data_scale how)
{
	double shift = d->low;
	double width = d->high > d->low ? (double)d->high - d->low : 1;
	size_t c;

	if (how == GV_DATA_UNSCALED)
		return;
	for (c = 0; c < d->c; c++) {
		if (how == GV_DATA_STANDARD)
			measure(d, c, &shift, &width);
		apply(d, c, shift, width);
		if (test != NULL)
			apply(test, c, shift, width);
	}
}

int
gv_data_export(const struct gv_data *d, const char *path, struct gv_error *e)
{
	struct gv_out *out;
	struct gv_tabw w;
	char name[32];
	size_t i, k;

	if (gv_out_open(&out, path, e) != 0)
		return -1;
	gv_tabw_init(&w, out, false);
	for (k = 0; k < d->targets; k++) {
		snprintf(name, sizeof(name), "label%zu", k);
		gv_tabw_str(&w, d->targets == 1 ? "label" : name);
	}
	for (k = 0; k < d->size; k++) {
		snprintf(name, sizeof(name), "p%zu", k);
		gv_tabw_str(&w, name);
	}
	gv_tabw_end(&w);
	for (i = 0; i < d->n; i++) {
		for (k = 0; k < d->targets; k++)
			gv_tabw_int(&w, d->y[i * d->targets + k]);
		for (k = 0; k < d->size; k++)
			gv_tabw_double(&w, d->x[i * d->size + k]);
		gv_tabw_end(&w);
	}
	return gv_out_close(out, e);
}
