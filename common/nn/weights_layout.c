#include "nn/weights_layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- names ---- */

void
gv_weights_name(
    struct gv_strbuf *name, const struct gv_model *m, size_t row, const char *piece)
{
	struct gv_cell c =
	    gv_frame_cell(&m->table, row, gv_frame_find(&m->table, "name"));

	gv_strbuf_clear(name);
	if (c.len == 0 || gv_cell_is(c, "-"))
		gv_strbuf_fmt(name, "%" PRId64, m->layer[row].id);
	else
		gv_strbuf_add(name, c.s, c.len);
	gv_strbuf_fmt(name, ".%s", piece);
}

/* "weight" of "3.weight", as PyTorch calls it. */
static const char *
part_of(const struct gv_net_tensor *t)
{
	const char *part = strrchr(t->name, '.') + 1;

	if (strcmp(part, "mean") == 0)
		return "running_mean";
	return strcmp(part, "variance") == 0 ? "running_var" : part;
}

/* ---- layouts ---- */

static struct gv_weights_piece
vector(size_t n)
{
	return (struct gv_weights_piece){
	    .n = {1, 1, 1, 1, n}, .stride = {[4] = 1}, .shape = {n}, .dims = 1};
}

/* Of embed: [tokens][out], [places][out], as nn.Embedding has them. */
static struct gv_weights_piece
rows_of(size_t n, size_t out)
{
	return (struct gv_weights_piece){.n = {1, 1, 1, n / out, out},
	    .stride = {[3] = out, [4] = 1},
	    .shape = {n / out, out},
	    .dims = 2};
}

/* [h][w][c][out] to [out][c][h][w]; at one place [in][out] to [out][in] */
static struct gv_weights_piece
linear(const struct gv_layer *l)
{
	size_t out = l->out_shape.channels, in = l->weights / out;
	struct gv_shape s = l->in_shape;

	if (s.height * s.width * s.channels != in)
		s = (struct gv_shape){in, 1, 1};
	return (struct gv_weights_piece){.n = {1, s.height, s.width, s.channels, out},
	    .stride = {0, s.width, 1, s.height * s.width, in},
	    .shape = {out, in},
	    .dims = 2};
}

/* [g][k][k][in / g][out / g] to [out][in / g][k][k] */
static struct gv_weights_piece
conv(const struct gv_layer *l)
{
	size_t in = l->in_shape.channels / l->g, out = l->out_shape.channels / l->g;
	size_t window = l->k * l->k;

	return (struct gv_weights_piece){.n = {l->g, l->k, l->k, in, out},
	    .stride = {out * in * window, l->k, 1, window, in * window},
	    .shape = {out * l->g, in, l->k, l->k},
	    .dims = 4};
}

/* [g][k][k][out / g][in / g] to [in][out / g][k][k] */
static struct gv_weights_piece
tconv(const struct gv_layer *l)
{
	size_t in = l->in_shape.channels / l->g, out = l->out_shape.channels / l->g;
	size_t window = l->k * l->k;

	return (struct gv_weights_piece){.n = {l->g, l->k, l->k, out, in},
	    .stride = {in * out * window, l->k, 1, window, out * window},
	    .shape = {in * l->g, out, l->k, l->k},
	    .dims = 4};
}

static struct gv_weights_piece
whole(const struct gv_layer *l, const struct gv_net_tensor *t)
{
	bool is_weight = strcmp(part_of(t), "weight") == 0;

	if (is_weight && l->op == GV_OP_LINEAR)
		return linear(l);
	if (is_weight && l->op == GV_OP_CONV)
		return conv(l);
	if (l->op == GV_OP_EMBED)
		return rows_of(t->n, l->out_shape.channels);
	if (is_weight && l->op == GV_OP_TCONV)
		return tconv(l);
	return vector(t->n);
}

/*
 * Those of nn.LSTM, each way: [in, then state][i f g o of the state] to weight_ih [i f g o][in]
 * and weight_hh [i f g o][state]; its two biases are added up here.
 */
static size_t
lstm(const struct gv_layer *l, bool is_weight, struct gv_weights_piece *v)
{
	size_t in = l->in_shape.channels, state = l->out_shape.channels / l->g, n = 0;
	size_t gates = 4 * state, way, k;

	for (way = 0; way < l->g; way++)
		for (k = 0; k < 2; k++) {
			size_t rows = k == 0 ? in : state;
			bool back = way > 0 || l->dir == GV_DIR_BACK;

			v[n] =
			    is_weight
				? (struct gv_weights_piece){.n = {1, 1, 1, rows, gates},
				      .stride = {[3] = 1, [4] = rows},
				      .shape = {gates, rows},
				      .dims = 2}
				: vector(gates);
			v[n].offset = is_weight ? (way * (in + state) + k * in) * gates
						: way * gates;
			v[n].added = !is_weight && k > 0;
			snprintf(v[n].name, sizeof(v[n].name), "%s_%s_l0%s",
			    is_weight ? "weight" : "bias", k == 0 ? "ih" : "hh",
			    back ? "_reverse" : "");
			n++;
		}
	return n;
}

size_t
gv_weights_pieces(const struct gv_layer *l, const struct gv_net_tensor *t,
    struct gv_weights_piece v[GV_WEIGHTS_PIECES])
{
	if (l->op == GV_OP_LSTM)
		return lstm(l, strcmp(part_of(t), "weight") == 0, v);
	v[0] = whole(l, t);
	snprintf(v[0].name, sizeof(v[0].name), "%s", part_of(t));
	return 1;
}

void
gv_weights_walk(const struct gv_weights_piece *p,
    void (*move)(void *, size_t ours, size_t theirs), void *ctx)
{
	size_t i[GV_WEIGHTS_AXES], ours = p->offset;

	for (i[0] = 0; i[0] < p->n[0]; i[0]++)
		for (i[1] = 0; i[1] < p->n[1]; i[1]++)
			for (i[2] = 0; i[2] < p->n[2]; i[2]++)
				for (i[3] = 0; i[3] < p->n[3]; i[3]++)
					for (i[4] = 0; i[4] < p->n[4]; i[4]++) {
						size_t at = 0, k;

						for (k = 0; k < GV_WEIGHTS_AXES; k++)
							at += i[k] * p->stride[k];
						move(ctx, ours++, at);
					}
}

/* ---- the net's arrays ---- */

void
gv_weights_arrays_free(struct gv_weights_arrays *a)
{
	free(a->params);
	free(a->running);
}

static bool
is_params(const char *name)
{
	return strncmp(name, "params", 6) == 0;
}

int
gv_weights_move(struct gv_net *net, size_t b, struct gv_weights_arrays *a, bool in,
    struct gv_error *e)
{
	struct gv_net_array array;
	size_t i;
	int status = 0;

	for (i = 0; gv_net_array(net, i, &array) == 0 && status == 0; i++) {
		gv_real **v = strcmp(array.name, "running") == 0 ? &a->running
			      : is_params(array.name)            ? &a->params
								 : NULL;

		if (v == NULL || (!in && *v != NULL))
			continue;
		if (!in)
			*v = gv_xcalloc(array.n + 1, sizeof(**v));
		status = in ? gv_net_put(net, i, b, *v) : gv_net_get(net, i, b, *v);
	}
	return status == 0 ? 0 : gv_error_set(e, "%s", gv_net_error(net));
}
