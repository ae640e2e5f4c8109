#include "nn/ops.h"

#include <stdio.h>

/*
 * Output length of a window k, stride s, padding p over in numbers; 0 when the
 * window does not fit, and text says so.
 */
static size_t
window_out(const char *what, size_t in, size_t k, size_t s, size_t p, char text[200])
{
	if (k > in + 2 * p) {
		snprintf(text, 200, "window %zu is larger than the padded %s %zu", k,
		    what, in + 2 * p);
		return 0;
	}
	return (in + 2 * p - k) / s + 1;
}

/* Height and width of the output; NULL, or what is wrong. */
static const char *
window_shape(struct gv_layer *l, const char **column, char text[200])
{
	struct gv_shape in = l->in_shape, *out = &l->out_shape;

	*column = "k";
	if ((out->height = window_out("height", in.height, l->k, l->s, l->p, text)) ==
		0 ||
	    (out->width = window_out("width", in.width, l->k, l->s, l->p, text)) == 0)
		return text;
	return NULL;
}

static const char *
conv_shape(struct gv_layer *l, const char **column, char text[200])
{
	struct gv_shape in = l->in_shape;

	l->out_shape.channels = l->out;
	if (window_shape(l, column, text) != NULL)
		return text;
	*column = "g";
	if (in.channels % l->g != 0 || l->out % l->g != 0) {
		snprintf(text, 200,
		    "%zu groups divide not both %zu channels in and %zu out", l->g,
		    in.channels, l->out);
		return text;
	}
	l->weights = l->k * l->k * (in.channels / l->g) * l->out;
	l->biases = l->bias ? l->out : 0;
	l->flops = 2 * (uint64_t)l->weights * l->out_shape.height * l->out_shape.width;
	return NULL;
}

/* Output length of a transposed window; 0 when padding takes all of it. */
static size_t
spread_out(const char *what, size_t in, const struct gv_layer *l, char text[200])
{
	size_t n = (in - 1) * l->s + l->k;

	if (n > 2 * l->p)
		return n - 2 * l->p;
	snprintf(text, 200, "padding %zu takes all %zu of the %s", l->p, n, what);
	return 0;
}

static const char *
tconv_shape(struct gv_layer *l, const char **column, char text[200])
{
	struct gv_shape in = l->in_shape, *out = &l->out_shape;

	out->channels = l->out;
	*column = "p";
	if ((out->height = spread_out("height", in.height, l, text)) == 0 ||
	    (out->width = spread_out("width", in.width, l, text)) == 0)
		return text;
	*column = "g";
	if (in.channels % l->g != 0 || l->out % l->g != 0) {
		snprintf(text, 200,
		    "%zu groups divide not both %zu channels in and %zu out", l->g,
		    in.channels, l->out);
		return text;
	}
	l->weights = l->k * l->k * (l->out / l->g) * in.channels;
	l->biases = l->bias ? l->out : 0;
	l->flops = 2 * (uint64_t)l->weights * in.height * in.width;
	return NULL;
}

static const char *
lstm_shape(struct gv_layer *l, const char **column, char text[200])
{
	struct gv_shape in = l->in_shape;
	size_t each = l->out / l->g;

	*column = "from";
	if (in.width != 1) {
		snprintf(text, 200, "an lstm reads places along the height, got %zux%zu",
		    in.height, in.width);
		return text;
	}
	*column = "out";
	if (l->out % l->g != 0) {
		snprintf(
		    text, 200, "%zu channels cannot be halved for both ways", l->out);
		return text;
	}
	l->out_shape = (struct gv_shape){l->out, in.height, 1};
	l->weights = l->g * (in.channels + each) * 4 * each;
	l->biases = l->bias ? 4 * l->out : 0;
	/* of each place the four gates and the cell */
	l->kept = 5 * l->out * in.height;
	l->flops = 2 * (uint64_t)l->weights * in.height;
	return NULL;
}

static const char *
pool_shape(struct gv_layer *l, const char **column, char text[200])
{
	l->out_shape = (struct gv_shape){l->in_shape.channels, 1, 1};
	return l->k == 0 ? NULL : window_shape(l, column, text);
}

static const char *
linear_shape(struct gv_layer *l, const char **column, char text[200])
{
	struct gv_shape s = l->in_shape;
	size_t in = l->k == 1 ? s.channels : gv_shape_size(s);
	size_t places = gv_shape_size(s) / in;

	*column = "k";
	if (l->k > 1) {
		snprintf(
		    text, 200, "linear is of one place, 1, or of all, got %zu", l->k);
		return text;
	}
	l->out_shape = (struct gv_shape){l->out, 1, 1};
	if (l->k == 1)
		l->out_shape = (struct gv_shape){l->out, s.height, s.width};
	l->weights = in * l->out;
	l->biases = l->bias ? l->out : 0;
	l->flops = 2 * (uint64_t)in * l->out * places;
	return NULL;
}

static const char *
same_shape(struct gv_layer *l, const char **column, char text[200])
{
	(void)column;
	(void)text;
	l->out_shape = l->in_shape;
	return NULL;
}

static const char *
bn_shape(struct gv_layer *l, const char **column, char text[200])
{
	l->weights = l->biases = l->in_shape.channels;
	l->running = 2 * l->in_shape.channels;
	return same_shape(l, column, text);
}

static const char *
ln_shape(struct gv_layer *l, const char **column, char text[200])
{
	l->weights = l->in_shape.channels;
	l->biases = l->bias ? l->in_shape.channels : 0;
	return same_shape(l, column, text);
}

static const char *
embed_shape(struct gv_layer *l, const char **column, char text[200])
{
	size_t places = gv_shape_size(l->in_shape);

	*column = "from";
	if (l->from[0] != GV_FROM_INPUT) {
		snprintf(text, 200, "embed reads the sample, 0");
		return text;
	}
	l->out_shape = (struct gv_shape){l->out, places, 1};
	l->weights = l->k * l->out;
	l->biases = l->bias ? places * l->out : 0;
	return NULL;
}

static const char *
attention_shape(struct gv_layer *l, const char **column, char text[200])
{
	struct gv_shape s = l->in_shape;
	uint64_t places = s.height * s.width, pairs = places * places;

	*column = "g";
	if (s.channels % (3 * l->g) != 0) {
		snprintf(text, 200,
		    "%zu heads: queries, keys and values need 3 times as many channels "
		    "or a "
		    "multiple, got %zu",
		    l->g, s.channels);
		return text;
	}
	if (l->op == GV_OP_CAUSAL)
		pairs = places * (places + 1) / 2;
	l->out_shape = (struct gv_shape){s.channels / 3, s.height, s.width};
	l->flops = 4 * pairs * l->out_shape.channels;
	return NULL;
}

static const char *
head_shape(struct gv_layer *l, const char **column, char text[200])
{
	(void)column;
	(void)text;
	l->out_shape = (struct gv_shape){1, 1, 1};
	return NULL;
}

const char *const gv_nn_acts[GV_ACTS] = {
    "", "relu", "leaky", "sigmoid", "tanh", "gelu", "silu", "gelu-tanh"};

bool
gv_act_keeps(enum gv_act act)
{
	return act == GV_ACT_GELU || act == GV_ACT_SILU || act == GV_ACT_GELU_TANH;
}

const struct gv_nn_op gv_nn_ops[GV_OPS] = {
    [GV_OP_LINEAR] = {.name = "linear",
	.has_out = true,
	.has_k = true,
	.has_act = true,
	.has_bias = true,
	.has_matrix = true,
	.shape = linear_shape},
    [GV_OP_CONV] = {.name = "conv",
	.has_out = true,
	.has_window = true,
	.has_groups = true,
	.has_act = true,
	.has_bias = true,
	.has_matrix = true,
	.shape = conv_shape},
    [GV_OP_TCONV] = {.name = "tconv",
	.has_out = true,
	.has_window = true,
	.has_groups = true,
	.has_act = true,
	.has_bias = true,
	.has_matrix = true,
	.shape = tconv_shape},
    [GV_OP_MAXPOOL] = {.name = "maxpool",
	.has_window = true,
	.whole_input = true,
	.shape = pool_shape},
    [GV_OP_AVGPOOL] = {.name = "avgpool",
	.has_window = true,
	.whole_input = true,
	.shape = pool_shape},
    [GV_OP_RELU] = {.name = "relu", .shape = same_shape},
    [GV_OP_GELU] = {.name = "gelu", .shape = same_shape},
    [GV_OP_ADD] = {.name = "add", .has_act = true, .has_list = true, .shape = same_shape},
    [GV_OP_CONCAT] = {.name = "concat",
	.has_act = true,
	.has_list = true,
	.joins = true,
	.shape = same_shape},
    [GV_OP_BN] = {.name = "bn", .has_act = true, .shape = bn_shape},
    [GV_OP_DROPOUT] = {.name = "dropout", .has_rate = true, .shape = same_shape},
    [GV_OP_LSTM] = {.name = "lstm",
	.has_out = true,
	.has_bias = true,
	.has_dir = true,
	.has_matrix = true,
	.shape = lstm_shape},
    [GV_OP_LN] = {.name = "ln", .has_bias = true, .has_matrix = true, .shape = ln_shape},
    [GV_OP_EMBED] = {.name = "embed",
	.has_out = true,
	.has_k = true,
	.has_bias = true,
	.has_matrix = true,
	.shape = embed_shape},
    [GV_OP_ATTENTION] = {.name = "attention",
	.has_groups = true,
	.shape = attention_shape},
    [GV_OP_CAUSAL] = {.name = "causal", .has_groups = true, .shape = attention_shape},
    [GV_OP_XENT] = {.name = "xent", .is_head = true, .shape = head_shape},
    [GV_OP_MSE] = {.name = "mse",
	.is_head = true,
	.target = GV_TARGET_NUMBERS,
	.shape = head_shape},
    [GV_OP_BCE] = {.name = "bce",
	.is_head = true,
	.target = GV_TARGET_NUMBERS,
	.shape = head_shape},
};
