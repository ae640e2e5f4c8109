/*
 * Labelled samples: generated digits, IDX files, tables; text.
 *
 * A data set is whole in memory.  Its samples are numbered; the order in which
 * training visits them is a function of (order seed, epoch) alone, so the place
 * in the data is a function of the step and a restored run needs no other state.
 */
#ifndef GV_DATA_DATA_H
#define GV_DATA_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* How values reach the network. */
enum gv_data_scale {
	GV_DATA_STANDARD, /* (x - mean) / deviation of the training set, per channel */
	GV_DATA_UNIT, /* bytes / 255; tables: (x - min) / (max - min) of the training set */
	GV_DATA_UNSCALED /* as they are */
};
extern const char *const gv_data_scale_names[]; /* as --scale spells them; ends in NULL */

/* A sample is h x w places of c channels; a row of a table is c = columns, h = w = 1. */
struct gv_data {
	size_t n;
	size_t h, w, c;
	size_t size;     /* h * w * c */
	size_t targets;  /* of a sample: labels, or numbers */
	size_t classes;  /* largest label + 1; numbers: as many as targets */
	float *x;        /* [n][h][w][c] */
	int32_t *y;      /* [n][targets] labels, 0 and up; NULL = numbers */
	float *t;        /* [n][targets] numbers; NULL = labels */
	float low, high; /* the range of the values that GV_DATA_UNIT maps to [0,1] */
	uint32_t crc;    /* of the samples and labels as read, before scaling */
};

/* Where samples come from, as --data names it. */
struct gv_data_spec {
	const char *text;    /* as given, for messages */
	const char *label;   /* the label's column in a table */
	bool numbers;        /* a table's labels are numbers */
	uint64_t digit_seed; /* of digits without a seed of their own */
	size_t h, w, c;      /* the shape to give the samples; 0 = as they come */
	int64_t context;     /* tokens of a sample of text */
};

/*
 * Reads or generates what spec->text names:
 *
 *   digits[:N[:SEED]]    generated digits (default 8000)
 *   idx:IMAGES,LABELS    IDX files, as MNIST's; .gz too
 *   csv:FILE             a table: the label's column, all others are features
 *   sentences[:N[:SEED]] generated text (default 8000); its bytes are tokens
 *   text:FILE            the bytes of a file
 *   tokens:FILE          uint16, or as llm.c's header says; tokens32:FILE: uint32
 *
 * A sample of text is context places of one channel, each a token; the labels are
 * the tokens behind each.
 *
 * 0, or -1 with *e set.  d is owned by the caller: gv_data_free.
 */
int gv_data_open(struct gv_data *d, const struct gv_data_spec *spec, struct gv_error *e);
void gv_data_free(struct gv_data *d); /* also of a zeroed one */

/*
 * The readers behind it.  digits: sample i is a function of (seed, i) only; the
 * bits are the same on every machine (IEEE doubles, no libm).  n >= 1.
 */
void gv_data_digits(struct gv_data *d, size_t n, uint64_t seed);
int gv_data_idx(
    struct gv_data *d, const char *images, const char *labels, struct gv_error *e);
int gv_data_table(struct gv_data *d, const char *path, const char *label, bool numbers,
    struct gv_error *e);
/* Text of n sentences, the i-th a function of (seed, i) only. */
int gv_data_sentences(struct gv_data *d, const struct gv_data_spec *spec, size_t n,
    uint64_t seed, struct gv_error *e);
/* width: bytes of a token */
int gv_data_tokens(struct gv_data *d, const struct gv_data_spec *spec, const char *path,
    size_t width, struct gv_error *e);
/* Samples of tokens [tokens], each below known. */
int gv_data_windows(struct gv_data *d, const struct gv_data_spec *spec,
    const uint32_t *token, size_t tokens, size_t known, struct gv_error *e);

/* What a net compares with: y or t. */
static inline const void *
gv_data_targets(const struct gv_data *d)
{
	return d->t != NULL ? (const void *)d->t : d->y;
}

/* Labels become numbers: 1 at the label's place of so many, 0 elsewhere. */
void gv_data_one_hot(struct gv_data *d, size_t classes);
/* Labels become the numbers that they are. */
void gv_data_as_numbers(struct gv_data *d);

/*
 * In place of labels or numbers every sample gets room for its own numbers; filled with
 * them, as they are scaled, by gv_data_own_targets_fill.
 */
void gv_data_own_targets(struct gv_data *d);
void gv_data_own_targets_fill(struct gv_data *d);

/*
 * Scales the training set d and, by the same numbers, the test set (NULL =
 * none).  Constant channels have deviation 1.  Sums run in sample order.
 */
void gv_data_scale(struct gv_data *d, struct gv_data *test, enum gv_data_scale how);

/* Writes "label,p0,p1,..." (the values unscaled; many labels: label0, ...); 0 or -1. */
int gv_data_export(const struct gv_data *d, const char *path, struct gv_error *e);

/*
 * The order of visits: out[j] = the sample of position position + j, where
 * every epoch (n positions) is a permutation of the n samples drawn from (seed,
 * epoch).  A batch may reach over an epoch's end.  Cost: n draws when the epoch
 * changes.
 */
struct gv_data_order {
	size_t n;
	uint64_t seed;
	uint64_t epoch; /* whose permutation is held; UINT64_MAX = none */
	uint32_t *perm; /* [n] */
};

void gv_data_order_init(struct gv_data_order *o, size_t n, uint64_t seed);
void gv_data_order_take(
    struct gv_data_order *o, uint64_t position, size_t count, uint32_t *out);
void gv_data_order_free(struct gv_data_order *o);

#endif
