/*
 * A neural network as a table, one layer a row, and its shapes.
 *
 *	id  op       from  out  k  s  p  g  act
 *	1   conv     0     32   3  1  1  1  relu
 *	2   maxpool  1          2
 *	3   linear   2     128              relu
 *	4   linear   3
 *	5   xent     4
 *
 * Columns (any order, others are kept but not looked at; "-" is as good as an
 * empty cell):
 *	id    a whole number >= 1, no two equal
 *	op    linear conv tconv maxpool avgpool relu gelu add concat bn dropout lstm
 *	      ln embed attention causal, and a head: xent mse bce
 *	from  the id of an earlier row whose output is read, 0 = the sample;
 *	      empty = the row before; add and concat: two ids or more, as 3;7
 *	out   linear, conv, tconv, lstm, embed: channels of the output; empty in the row
 *	      that the head reads = the number of classes (mse, bce: of targets)
 *	k     conv, tconv: window (k x k); maxpool, avgpool: the same, empty = all of it;
 *	      linear: 1 = of each place by itself, empty = of all as one vector;
 *	      embed: tokens that it knows, empty = the number of classes
 *	s     stride; empty = 1 for conv and tconv, k for pools
 *	p     zero padding on every side; empty = 0.  A pool's padding is never
 *	      chosen (max) or counted (average); p <= k / 2 there
 *	g     conv, tconv: groups; attention, causal: heads; empty = 1
 *	act   applied to the row's output: relu, leaky (of slope 0.2) or leaky:SLOPE,
 *	      sigmoid, tanh, gelu, silu, gelu-tanh (GPT-2's); linear, conv, tconv,
 *	      bn, add and concat only
 *	bias  linear, conv, tconv, lstm, ln, embed: 0 = none; empty = 1
 *	tied_with  linear of each place: the id of an earlier embed whose weight is its own,
 *	      transposed (GPT-2's output); its bias is another
 *	rate  dropout: the share of numbers that become 0 in training, below 1
 *	dir   lstm: the way that it goes along the sequence: forward (or empty), back
 *	      or both, each of which makes half of the channels
 *	fused  0 = the models of an array go through the row one after the other, and the
 *	      first through all such rows that follow each other before the next; empty = 1,
 *	      all at once.  The bits are the same.
 * Only id and op must be there.  The last row is the head: it compares its
 * input with a sample's targets, and the mean over these is the sample's loss.
 *	xent  softmax cross entropy with a label at every place of its input, whose
 *	      channels are the classes; or with one label, where all of the input is
 *	mse   (x - t)^2 with a number t for each of its input
 *	bce   binary cross entropy of logits, -t log p - (1 - t) log (1 - p) with
 *	      p = 1 / (1 + e^-x), and a number t of 0..1 for each
 * Every other row is read by a later one, or by several: add is the sum
 * of outputs of one shape, in the order of from (a residual connection), concat has
 * the channels of one after those of the other, of outputs of one height and width.
 *
 * tconv, a transposed convolution, is what a conv of the same k, s, p and g does to
 * gradients, of its output's shape: a place of the input adds to k x k of the output,
 * (n - 1) s + k - 2 p places a side.
 *
 * lstm reads its input, of width 1, as a sequence of height places, from a state of
 * zeros: with [i f g o] = x W + h W' + bias
 *	c = sigmoid(f) c + sigmoid(i) tanh(g);  h = sigmoid(o) tanh(c)
 * (Hochreiter and Schmidhuber, 1997, as PyTorch has it, but with one bias), and each
 * h is its output at that place.
 *
 * dropout divides the numbers that stay by 1 - rate; an evaluation leaves all as they
 * are.  What becomes 0 is a function of the model's seed, the row, the number of the
 * micro-batch in the training, the sample's place in it and the number's in the sample.
 *
 * Sequences.  embed reads the sample, whose numbers are tokens (0, 1, ...; one that is
 * none is token 0): a place for each, with the token's row of the weight plus the
 * place's own of the bias (positions).  ln normalises the channels of a place.
 * attention reads queries, keys and values of each place, a third of the channels each,
 * in that order, and gives a third; causal is the same, but places do not see later ones.
 *
 * Layout of everything that has a place: [height][width][channels], channels
 * next to each other.  A linear row reads its input as one vector in that
 * order.
 */
#ifndef GV_NN_MODEL_H
#define GV_NN_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "table/tab.h"

enum gv_op {
	GV_OP_LINEAR,
	GV_OP_CONV,
	GV_OP_TCONV,
	GV_OP_MAXPOOL,
	GV_OP_AVGPOOL,
	GV_OP_RELU,
	GV_OP_GELU,
	GV_OP_ADD,
	GV_OP_CONCAT,
	GV_OP_BN,
	GV_OP_DROPOUT,
	GV_OP_LSTM,
	GV_OP_LN,
	GV_OP_EMBED,
	GV_OP_ATTENTION,
	GV_OP_CAUSAL,
	GV_OP_XENT,
	GV_OP_MSE,
	GV_OP_BCE,
	GV_OPS
};

/* What a head compares its input with. */
enum gv_target { GV_TARGET_LABELS, GV_TARGET_NUMBERS };

/* What a row's output goes through. */
enum gv_act {
	GV_ACT_NONE,
	GV_ACT_RELU,    /* x > 0 ? x : 0 */
	GV_ACT_LEAKY,   /* x > 0 ? x : slope * x */
	GV_ACT_SIGMOID, /* 1 / (1 + exp(-x)) */
	GV_ACT_TANH,
	GV_ACT_GELU, /* x Phi(x), Phi the normal distribution */
	GV_ACT_SILU, /* x sigmoid(x) */
	/* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))): gelu, nearly */
	GV_ACT_GELU_TANH,
	GV_ACTS
};

/* Which way an lstm goes. */
enum gv_dir { GV_DIR_FORWARD, GV_DIR_BACK, GV_DIR_BOTH };

enum { GV_FROM_INPUT = -1, GV_FROM_MAX = 8 };

/* A vector of n numbers is {n, 1, 1}. */
struct gv_shape {
	size_t channels;
	size_t height;
	size_t width;
};

struct gv_layer {
	int64_t id;
	size_t place; /* among the rows as they were read: what is drawn goes by it */
	enum gv_op op;
	size_t inputs;               /* 1; add, concat: 2..GV_FROM_MAX */
	ptrdiff_t from[GV_FROM_MAX]; /* indices of earlier rows, or GV_FROM_INPUT */
	size_t out;                  /* 0 = number of classes, until the shape pass */
	size_t k, s, p, g;           /* k 0 = whole input (pools) */
	enum gv_act act;
	double slope; /* of leaky */
	bool bias;
	bool serial;  /* not fused */
	double rate;  /* of dropout */
	bool is_tied; /* linear: its weight is that of row tied, an embed, transposed */
	size_t tied;
	enum gv_dir dir; /* of lstm; g is the number of ways */

	/* by gv_model_shape, per model and sample */
	/* in_shape: of each input; of concat's inputs together */
	struct gv_shape in_shape, out_shape;
	size_t weights; /* numbers of the weight; bn: of gamma */
	size_t biases;  /* numbers of the bias; bn: of beta */
	size_t running; /* numbers of running statistics: bn, mean and variance */
	size_t kept;    /* numbers that forward leaves for backward beside the output */
	uint64_t flops; /* forward: 2 x multiply-adds of linear and conv, 0 elsewhere */
};

struct gv_model {
	size_t n;               /* rows */
	struct gv_layer *layer; /* [n], in the table's order; the last is the head */
	struct gv_frame table;  /* as it was read: file, lines, all columns */

	/* by gv_model_shape */
	struct gv_shape input;
	size_t classes;
	enum gv_target
	    target;     /* by the head: known once it is read; these by the shape: */
	size_t targets; /* of a sample: labels, or numbers */
	/* that a row of embed knows, the fewest; 0 = samples are numbers */
	size_t tokens;
	size_t outputs;    /* numbers that the head reads */
	size_t parameters; /* P: sum of weights and biases */
	size_t running;    /* Q: sum of running statistics */
	/* numbers that a sample leaves behind: sum of the rows' outputs and of what they keep */
	size_t activations;
	uint64_t flops; /* forward, per sample */
};

/*
 * Reads a model table; edges of layers (src, dst) may follow it and are not looked at.
 * path NULL or "-" is standard input.  0, or -1 with *e
 * set and located (all bad rows, not only the first).  = {0} is an empty
 * model; gv_model_free also after an error.
 */
int gv_model_read(struct gv_model *m, const char *path, struct gv_error *e);
/* Reads it from a table that is in memory; m takes the frame over (*f is emptied). */
int gv_model_from_frame(struct gv_model *m, struct gv_frame *f, struct gv_error *e);
void gv_model_free(struct gv_model *m);

/*
 * The shape pass: what every row gets and gives for samples of shape input and
 * labels 0..classes-1 (mse, bce: of so many targets).  May be called again with other values.  0, or -1 with
 * *e located: a window larger than its padded input, channels that groups do
 * not divide, an xent whose input is not classes numbers, sizes that overflow.
 */
int gv_model_shape(
    struct gv_model *m, struct gv_shape input, size_t classes, struct gv_error *e);

/*
 * Puts the rows of a model that was read, and of its table, into another order: row i is
 * then what order[i] was.  0, or -1 with *e set, and nothing is moved: a row would stand
 * before one that it reads.  What is drawn for a row does not change; the sum of what
 * several rows give back to one may, in its last bits.
 */
int gv_model_sort(struct gv_model *m, const size_t *order, struct gv_error *e);

/*
 * Writes the table as it was read with these columns behind (replaced where
 * already there): in_channels, in_height, in_width, out_channels, out_height,
 * out_width, parameters, flops, activation_bytes (of one sample in float).
 */
void gv_model_write_shapes(const struct gv_model *m, struct gv_tabw *w);

/*
 * What a user calls a model: the path itself, or for a name without a slash that
 * is no file here the shipped model of that name.  The caller frees it.
 */
char *gv_model_path(const char *name);
/* The error that a name is neither a file nor a shipped model, with those that are.  -1. */
int gv_model_unknown(const char *name, struct gv_error *e);

/* "HxW" or "HxWxC" (C 1 otherwise), each 1..65536.  0, or -1: it is not so. */
int gv_shape_parse(const char *s, struct gv_shape *shape);

/* Tokens that a row of embed asks for by its k, the fewest; 0: none does.  Before the shape pass. */
size_t gv_model_vocabulary(const struct gv_model *m);
/* Whether its samples are tokens.  Before the shape pass. */
bool gv_model_embeds(const struct gv_model *m);

/* Whether an evaluation can say how many targets are met: not of mse. */
bool gv_model_counts_hits(const struct gv_model *m);

/* The name of an op as the table spells it. */
const char *gv_op_name(enum gv_op op);
/* Whether the column out means something to it. */
bool gv_op_has_out(enum gv_op op);
/* An activation as the table spells it, "" for none: room for GV_ACT_LEN. */
enum { GV_ACT_LEN = 40 };
void gv_act_text(const struct gv_layer *l, char text[GV_ACT_LEN]);
/* Whether its derivative needs what the output was before, so that this is kept. */
bool gv_act_keeps(enum gv_act act);

static inline size_t
gv_shape_size(struct gv_shape s)
{
	return s.channels * s.height * s.width;
}

#endif
