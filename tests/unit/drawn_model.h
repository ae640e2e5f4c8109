/* Models of drawn rows, whose shapes fit mostly; in some cells stands what is odd. */
#ifndef DRAWN_MODEL_H
#define DRAWN_MODEL_H

#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "draws.h"
#include "nn/model.h"

enum {
	C_ID,
	C_OP,
	C_FROM,
	C_OUT,
	C_K,
	C_S,
	C_P,
	C_G,
	C_ACT,
	C_BIAS,
	C_RATE,
	C_DIR,
	C_TIED,
	C_FUSED,
	MODEL_COLUMNS,
	MODEL_ROWS = 12
};

static const char *const model_columns[MODEL_COLUMNS] = {"id", "op", "from", "out", "k",
    "s", "p", "g", "act", "bias", "rate", "dir", "tied_with", "fused"};

struct drawn_model {
	char cell[MODEL_ROWS][MODEL_COLUMNS][40];
	struct gv_shape
	    shape[MODEL_ROWS + 1]; /* of row i - 1's output, as it should be */
	int id[MODEL_ROWS];
	size_t n;
	size_t classes;
};

/* How many more channels there may be. */
static size_t model_wide = 1;

static inline void
model_set(struct drawn_model *d, int column, const char *text)
{
	snprintf(d->cell[d->n][column], sizeof(d->cell[0][0]), "%s", text);
}

static inline void
model_number(struct drawn_model *d, int column, size_t v)
{
	snprintf(d->cell[d->n][column], sizeof(d->cell[0][0]), "%zu", v);
}

static inline void
model_act(struct drawn_model *d)
{
	static const char *const acts[] = {"", "", "relu", "leaky", "leaky:0.25",
	    "sigmoid", "tanh", "gelu", "silu", "gelu-tanh", "-"};

	model_set(d, C_ACT, acts[below(11)]);
}

static inline void
model_bias(struct drawn_model *d)
{
	static const char *const bias[] = {"", "", "1", "0"};

	model_set(d, C_BIAS, bias[below(4)]);
}

/* The row is whole: its output has that shape. */
static inline void
model_row(struct drawn_model *d, const char *op, struct gv_shape out)
{
	d->id[d->n] = d->n == 0 ? 1 + (int)below(2) : d->id[d->n - 1] + 1 + (int)below(2);
	model_number(d, C_ID, (size_t)d->id[d->n]);
	model_set(d, C_OP, op);
	if (below(6) == 0)
		model_set(d, C_FUSED, below(2) == 0 ? "0" : "1");
	d->shape[++d->n] = out;
}

static inline void
model_conv(struct drawn_model *d, struct gv_shape in, bool turned)
{
	struct gv_shape out = in;
	size_t least = in.height < in.width ? in.height : in.width;
	size_t k = 1 + below(least < 4 ? least : 4), s = 1 + below(3), p = below(k),
	       g = 1;

	if (turned)
		p = k > 2 ? below(2) : 0;
	if (below(3) == 0)
		g = in.channels;
	out.channels = g * (1 + below(g > 1 ? 3 : 3 * model_wide));
	out.height =
	    turned ? (in.height - 1) * s + k - 2 * p : (in.height + 2 * p - k) / s + 1;
	out.width =
	    turned ? (in.width - 1) * s + k - 2 * p : (in.width + 2 * p - k) / s + 1;
	model_number(d, C_OUT, out.channels);
	model_number(d, C_K, k);
	if (s > 1)
		model_number(d, C_S, s);
	if (p > 0)
		model_number(d, C_P, p);
	if (g > 1)
		model_number(d, C_G, g);
	model_act(d);
	model_bias(d);
	model_row(d, turned ? "tconv" : "conv", out);
}

static inline void
model_pool(struct drawn_model *d, struct gv_shape in)
{
	struct gv_shape out = {in.channels, 1, 1};
	size_t least = in.height < in.width ? in.height : in.width;
	bool whole = below(3) == 0;
	size_t k = 1 + below(least), s = below(3), p = below(2);

	if (!whole) {
		p = p <= k / 2 ? p : 0;
		model_number(d, C_K, k);
		if (s > 0)
			model_number(d, C_S, s);
		if (p > 0)
			model_number(d, C_P, p);
		s = s > 0 ? s : k;
		out.height = (in.height + 2 * p - k) / s + 1;
		out.width = (in.width + 2 * p - k) / s + 1;
	}
	model_row(d, below(2) == 0 ? "maxpool" : "avgpool", out);
}

/* Two rows and more, joined or added; false: there are none. */
static inline bool
model_list(struct drawn_model *d, bool joins)
{
	struct gv_shape in = d->shape[d->n], out = in;
	char list[40], more[12];
	size_t i, n = 1;

	snprintf(list, sizeof(list), "%d", d->n > 0 ? d->id[d->n - 1] : 0);
	for (i = 0; i <= d->n && n < 4; i++) {
		struct gv_shape s = d->shape[i];

		if (s.height != in.height || s.width != in.width ||
		    (!joins && s.channels != in.channels) || below(3) == 0)
			continue;
		snprintf(more, sizeof(more), ";%d", i > 0 ? d->id[i - 1] : 0);
		strcat(list, more);
		out.channels += joins ? s.channels : 0;
		n++;
	}
	if (n < 2)
		return false;
	model_set(d, C_FROM, list);
	model_act(d);
	model_row(d, joins ? "concat" : "add", out);
	return true;
}

static inline void
model_linear(struct drawn_model *d, struct gv_shape in)
{
	struct gv_shape out = {1 + below(9 * model_wide), 1, 1};

	if (below(2) == 0) {
		model_number(d, C_K, 1);
		out.height = in.height;
		out.width = in.width;
	}
	model_number(d, C_OUT, out.channels);
	model_act(d);
	model_bias(d);
	model_row(d, "linear", out);
}

/* Of a sequence. */
static inline void
model_lstm(struct drawn_model *d, struct gv_shape in)
{
	static const char *const dir[] = {"", "forward", "back", "both"};
	size_t way = below(4);
	struct gv_shape out = {2 * (1 + below(3 * model_wide)), in.height, 1};

	model_number(d, C_OUT, out.channels);
	model_set(d, C_DIR, dir[way]);
	model_bias(d);
	model_row(d, "lstm", out);
}

static inline void
draw_model_row(struct drawn_model *d)
{
	static const char *const rates[] = {"0", "0.25", "0.5", "0.999"};
	struct gv_shape in = d->shape[d->n], third = in;

	third.channels /= 3;
	switch (below(12)) {
	case 0:
	case 1:
		model_conv(d, in, false);
		break;
	case 2:
		if (in.height * in.width < 40)
			model_conv(d, in, true);
		break;
	case 3:
		model_pool(d, in);
		break;
	case 4:
		model_row(d, below(2) == 0 ? "relu" : "gelu", in);
		break;
	case 5:
		model_act(d);
		model_row(d, "bn", in);
		break;
	case 6:
		model_set(d, C_RATE, rates[below(4)]);
		model_row(d, "dropout", in);
		break;
	case 7:
		model_bias(d);
		model_row(d, "ln", in);
		break;
	case 8:
		model_linear(d, in);
		break;
	case 9:
		model_list(d, below(2) == 0);
		break;
	case 10:
		if (in.width == 1)
			model_lstm(d, in);
		break;
	default:
		if (in.channels % 3 != 0)
			break;
		if (below(2) == 0 && in.channels % 6 == 0)
			model_number(d, C_G, 2);
		model_row(d, below(2) == 0 ? "attention" : "causal", third);
	}
}

/* Rows for samples of that shape, whose numbers may be tokens then. */
static inline void
draw_model(struct drawn_model *d, struct gv_shape input, size_t classes, size_t most)
{
	static const char *const head[] = {"xent", "xent", "mse", "bce"};
	size_t n = below(most + 1), turns;

	memset(d, 0, sizeof(*d));
	d->shape[0] = input;
	d->classes = classes;
	if (below(40) == 0) { /* the head alone */
		model_row(d, head[2 + below(2)], (struct gv_shape){1, 1, 1});
		return;
	}
	if (below(4) == 0) {
		struct gv_shape out = {
		    3 * (1 + below(4 * model_wide)), gv_shape_size(input), 1};

		model_number(d, C_OUT, out.channels);
		if (below(2) == 0)
			model_number(d, C_K, classes + below(4));
		model_bias(d);
		model_row(d, "embed", out);
	}
	for (turns = 0; d->n < n && turns < 40; turns++) {
		draw_model_row(d);
		if (d->cell[d->n][C_ID][0] == '\0')
			memset(d->cell[d->n], 0, sizeof(d->cell[0]));
	}
	if (below(3) == 0)
		model_number(d, C_K, 1);
	if (strcmp(d->cell[0][C_OP], "embed") == 0 && below(2) == 0) {
		model_number(d, C_K, 1);
		model_number(d, C_TIED, (size_t)d->id[0]);
	}
	model_bias(d);
	model_row(d, "linear", (struct gv_shape){classes, 1, 1});
	model_row(d, head[below(4)], (struct gv_shape){1, 1, 1});
}

/* Its table; odd: one of so many cells is, 0 = none. */
static inline void
model_table(const struct drawn_model *d, struct gv_strbuf *s, size_t odd)
{
	static const char *const other[] = {"", "0", "1", "2", "3", "-", "-1", "x", "1.5",
	    "0;1", "1;2", "2;1;0", "1;1;1;1;1;1;1;1;1", "1;1;1;1;1;1;1;1", "1;", "relu",
	    "leaky:1", "leaky:0", "leaky:0.01", "leaky:", "conv", "xent", "linear",
	    "embed", "add", "maxpool", "back", "both", "2147483647", "2147483648",
	    "65536", "9223372036854775808", "1e3", "0.5"};
	bool has[MODEL_COLUMNS];
	size_t i, k, at;

	for (k = 0; k < MODEL_COLUMNS; k++)
		has[k] = odd == 0 || below(60) > 0;
	for (k = 0; k < MODEL_COLUMNS; k++)
		if (has[k])
			gv_strbuf_fmt(s, "%s,", model_columns[k]);
	gv_strbuf_str(s, "note\n");
	for (i = 0; i < d->n; i++) {
		for (k = 0; k < MODEL_COLUMNS; k++) {
			at = odd > 0 && below(odd) == 0
				 ? below(sizeof(other) / sizeof(other[0]))
				 : SIZE_MAX;
			if (has[k])
				gv_strbuf_fmt(
				    s, "%s,", at == SIZE_MAX ? d->cell[i][k] : other[at]);
		}
		gv_strbuf_str(s, "\n");
	}
}

#endif
