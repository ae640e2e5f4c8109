/* The shape pass over a model table, and its table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "nn/model.h"
#include "nn/ops.h"

/* More numbers than this, of a sample or a weight, are refused; in double nothing wraps. */
#define LARGEST 0x1p40

static double
size_of(struct gv_shape s)
{
	return (double)s.channels * (double)s.height * (double)s.width;
}

/* At least the numbers of the row's weight and of its output, and flops / 2^20. */
static double
largest_of(const struct gv_layer *l)
{
	const struct gv_nn_op *op = &gv_nn_ops[l->op];
	bool conv = op->has_window && op->has_matrix;
	double channels = (double)l->in_shape.channels;
	double k = conv ? (double)l->k : l->op == GV_OP_EMBED ? sqrt((double)l->k) : 1;
	double in = conv || op->has_dir || l->op == GV_OP_EMBED || l->k == 1
			? channels
			: size_of(l->in_shape);
	double each = op->has_dir ? 4 * (in + (double)l->out) : k * k * in;
	double weights = op->has_out ? each * (double)l->out : 0;
	double places = size_of(l->in_shape) / channels;
	double wide = (double)l->in_shape.width, high = (double)l->in_shape.height;
	double out = op->has_out ? (double)l->out : channels;

	if (l->op == GV_OP_TCONV)
		places = (wide * (double)l->s + k) * (high * (double)l->s + k);
	else if (op->has_window)
		places = (wide + 2 * (double)l->p) * (high + 2 * (double)l->p);
	if (l->op == GV_OP_EMBED)
		places = size_of(l->in_shape);
	if (l->op == GV_OP_ATTENTION || l->op == GV_OP_CAUSAL)
		weights = places * out; /* flops are those of these with every place */
	return fmax(fmax(weights, places * out), 0x1p-19 * weights * places);
}

static int
shape_error(const struct gv_model *m, size_t row, const char *column, const char *text,
    struct gv_error *e)
{
	return gv_error_at(e, m->table.file, m->table.line[row], column, "%s", text);
}

/*
 * What inputs give: all of a row's are of one shape, or, where they are joined, of one
 * height and width.  0, or -1 with *e set.
 */
static int
shape_inputs(struct gv_model *m, size_t row, struct gv_error *e)
{
	struct gv_layer *l = &m->layer[row];
	bool joins = gv_nn_ops[l->op].joins;
	size_t k, channels = 0;
	char text[200];

	for (k = 0; k < l->inputs; k++) {
		ptrdiff_t from = l->from[k];
		struct gv_shape s =
		    from == GV_FROM_INPUT ? m->input : m->layer[from].out_shape;
		const struct gv_shape *in = &l->in_shape;

		if (k == 0)
			l->in_shape = s;
		channels += s.channels;
		if (s.height == in->height && s.width == in->width &&
		    (joins || s.channels == in->channels))
			continue;
		snprintf(text, sizeof(text),
		    "inputs of one %s are %s, got %zux%zux%zu "
		    "and %zux%zux%zu",
		    joins ? "height and width" : "shape", joins ? "joined" : "added",
		    in->height, in->width, in->channels, s.height, s.width, s.channels);
		return shape_error(m, row, "from", text, e);
	}
	if (joins)
		l->in_shape.channels = channels;
	return 0;
}

/* How many targets the head compares its input with.  0, or -1 with text. */
static int
shape_targets(struct gv_model *m, const struct gv_layer *l, char text[200])
{
	m->outputs = gv_shape_size(l->in_shape);
	m->target = gv_nn_ops[l->op].target;
	m->targets = m->outputs;
	if (m->target == GV_TARGET_NUMBERS)
		return 0;
	m->targets = 1;
	if (m->outputs == m->classes)
		return 0;
	m->targets = l->in_shape.height * l->in_shape.width;
	if (l->in_shape.channels == m->classes)
		return 0;
	snprintf(text, 200, "%zu classes, but its input has %zu numbers", m->classes,
	    m->outputs);
	return -1;
}

/* A tied row's weight is its embed's, transposed.  0, or -1 with text. */
static int
shape_tied(const struct gv_model *m, const struct gv_layer *l, char text[200])
{
	const struct gv_layer *to = &m->layer[l->tied];
	size_t out = l->out_shape.channels, channels = to->out_shape.channels;

	if (l->weights == to->weights && l->weights == out * channels &&
	    l->in_shape.channels == channels)
		return 0;
	snprintf(text, 200,
	    "its weight is %zux%zu, that of row %lld, transposed, %zux%zu",
	    l->weights / out, out, (long long)to->id, channels, to->weights / channels);
	return -1;
}

static int
shape_row(struct gv_model *m, size_t row, struct gv_error *e)
{
	struct gv_layer *l = &m->layer[row];
	size_t asked = l->out, asked_k = l->k;
	char text[200];
	const char *column = "op", *wrong;

	if (shape_inputs(m, row, e) != 0)
		return -1;
	l->weights = l->biases = l->running = l->kept = 0;
	l->flops = 0;
	if (gv_nn_ops[l->op].is_head && shape_targets(m, l, text) != 0)
		return shape_error(m, row, "op", text, e);
	if (l->out == 0 && gv_nn_ops[l->op].has_out)
		l->out = m->classes;
	if (l->op == GV_OP_EMBED && l->k == 0)
		l->k = m->classes;
	if (l->op == GV_OP_EMBED && (m->tokens == 0 || l->k < m->tokens))
		m->tokens = l->k;
	wrong = largest_of(l) > LARGEST ? "too large"
					: gv_nn_ops[l->op].shape(l, &column, text);
	l->out = asked;
	l->k = asked_k;
	if (wrong != NULL)
		return shape_error(m, row, column, wrong, e);
	if (l->is_tied && shape_tied(m, l, text) != 0)
		return shape_error(m, row, "tied_with", text, e);
	if (gv_act_keeps(l->act))
		l->kept += gv_shape_size(l->out_shape);
	m->parameters += l->weights + l->biases;
	m->running += l->running;
	m->activations += gv_shape_size(l->out_shape) + l->kept;
	m->flops += l->flops;
	return 0;
}

int
gv_model_shape(
    struct gv_model *m, struct gv_shape input, size_t classes, struct gv_error *e)
{
	const struct gv_nn_op *head = &gv_nn_ops[m->layer[m->n - 1].op];
	size_t i;

	m->input = input;
	m->classes = classes;
	m->parameters = m->running = m->activations = m->tokens = 0;
	m->flops = 0;
	if (gv_shape_size(input) == 0 || size_of(input) > LARGEST)
		return gv_error_set(e, "a sample of %zu x %zu x %zu numbers",
		    input.height, input.width, input.channels);
	if (classes < 2 && head->target == GV_TARGET_LABELS)
		return gv_error_set(e, "%zu classes; at least 2 are needed", classes);
	for (i = 0; i < m->n; i++)
		if (shape_row(m, i, e) != 0)
			return -1;
	return 0;
}

static const char *const added[] = {"in_channels", "in_height", "in_width",
    "out_channels", "out_height", "out_width", "parameters", "flops", "activation_bytes"};
enum { ADDED = sizeof(added) / sizeof(added[0]) };

static bool
is_added(struct gv_cell name)
{
	int i;

	for (i = 0; i < ADDED; i++)
		if (gv_cell_is(name, added[i]))
			return true;
	return false;
}

static void
write_shape(struct gv_tabw *w, struct gv_shape s)
{
	gv_tabw_int(w, (int64_t)s.channels);
	gv_tabw_int(w, (int64_t)s.height);
	gv_tabw_int(w, (int64_t)s.width);
}

void
gv_model_write_shapes(const struct gv_model *m, struct gv_tabw *w)
{
	const struct gv_frame *f = &m->table;
	size_t i, j;

	for (j = 0; j < f->n_columns; j++)
		if (!is_added(f->name[j]))
			gv_tabw_cell(w, f->name[j]);
	for (j = 0; j < ADDED; j++)
		gv_tabw_str(w, added[j]);
	gv_tabw_end(w);
	for (i = 0; i < m->n; i++) {
		const struct gv_layer *l = &m->layer[i];

		for (j = 0; j < f->n_columns; j++)
			if (!is_added(f->name[j]))
				gv_tabw_cell(w, gv_frame_cell(f, i, (ptrdiff_t)j));
		write_shape(w, l->in_shape);
		write_shape(w, l->out_shape);
		gv_tabw_int(w, (int64_t)(l->weights + l->biases));
		gv_tabw_int(w, (int64_t)l->flops);
		gv_tabw_int(w, (int64_t)(gv_shape_size(l->out_shape) * sizeof(float)));
		gv_tabw_end(w);
	}
}
