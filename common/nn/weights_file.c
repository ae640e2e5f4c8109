#include "nn/weights_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "nn/weights_layout.h"

struct taking {
	const struct gv_tensor *from;
	gv_real *to;
	bool adds;
};

static void
take_number(void *ctx, size_t ours, size_t theirs)
{
	struct taking *t = ctx;

	double v = gv_tensor_number(t->from, theirs);

	t->to[ours] = (gv_real)(t->adds ? (double)t->to[ours] + v : v);
}

static void
tell_missing(const struct gv_weights_take *how, const char *quoted, const char *row)
{
	char text[2 * GV_ERROR_LEN];

	if (how->say == NULL)
		return;
	snprintf(text, sizeof(text), "%s: no tensor %s; %s, begins without", how->path,
	    quoted, row);
	how->say(how->ctx, text);
}

static void
tell_unknown(const struct gv_weights_take *how, const char *name)
{
	char text[2 * GV_ERROR_LEN], q[GV_QUOTE_LEN];

	if (how->say == NULL)
		return;
	snprintf(text, sizeof(text), "%s: tensor %s is of no row of the model", how->path,
	    gv_quote(q, name, strlen(name)));
	how->say(how->ctx, text);
}

/* Whether a tensor of the net is a weight that the row has of another. */
static bool
want_tied(const struct gv_layer *l, const struct gv_net_tensor *want)
{
	return l->is_tied && strstr(want->name, ".weight") != NULL;
}

/* Of one shape, and the same numbers. */
static bool
are_same(const struct gv_tensor *a, const struct gv_tensor *b)
{
	size_t i;

	if (a->dims != b->dims ||
	    memcmp(a->shape, b->shape, a->dims * sizeof(*a->shape)) != 0)
		return false;
	for (i = 0; i < a->n; i++)
		if (gv_tensor_number(a, i) < gv_tensor_number(b, i) ||
		    gv_tensor_number(a, i) > gv_tensor_number(b, i))
			return false;
	return true;
}

static int
take_piece(const struct gv_weights_take *how, const struct gv_tensors *t,
    const struct gv_net_tensor *want, const struct gv_weights_piece *piece, gv_real *to,
    struct gv_error *e)
{
	const struct gv_layer *l = &how->m->layer[want->row];
	struct gv_strbuf name = {0};
	struct taking taking = {.to = to, .adds = piece->added};
	const struct gv_tensor *own;
	char q[GV_QUOTE_LEN], is[120], needs[120], row[80];
	int status = 0;

	gv_weights_name(&name, how->m, want->row, piece->name);
	gv_quote(q, name.s, name.len);
	gv_tensor_shape(needs, sizeof(needs), piece->shape, piece->dims);
	snprintf(row, sizeof(row), "row %" PRId64 ", %s", l->id, gv_op_name(l->op));
	taking.from = gv_tensors_find(t, name.s);
	if (want_tied(l, want)) {
		own = taking.from;
		gv_weights_name(&name, how->m, l->tied, piece->name);
		gv_quote(q, name.s, name.len);
		taking.from = gv_tensors_find(t, name.s);
		if (own != NULL && taking.from != NULL && !are_same(own, taking.from))
			status = gv_error_set(e,
			    "%s: tensor %s is not that of row %lld, which is tied "
			    "with it",
			    how->path, q, (long long)l->id);
	}
	if (status != 0)
		;
	else if (taking.from == NULL && how->partial)
		tell_missing(how, q, row);
	else if (taking.from == NULL)
		status = gv_error_set(
		    e, "%s: no tensor %s; %s, needs %s", how->path, q, row, needs);
	else if (taking.from->dims != piece->dims ||
		 memcmp(taking.from->shape, piece->shape,
		     piece->dims * sizeof(*piece->shape)) != 0) {
		gv_tensor_shape(is, sizeof(is), taking.from->shape, taking.from->dims);
		status = gv_error_set(
		    e, "%s: tensor %s is %s; %s, needs %s", how->path, q, is, row, needs);
	} else if (!gv_tensor_is_real(taking.from))
		status = gv_error_set(e,
		    "%s: tensor %s is of type %s; %s, needs F32, "
		    "F64, F16 or BF16",
		    how->path, q, taking.from->dtype, row);
	else
		gv_weights_walk(piece, take_number, &taking);
	gv_strbuf_free(&name);
	return status;
}

static void
take_tensor(const struct gv_weights_take *how, const struct gv_tensors *t,
    const struct gv_net_tensor *want, gv_real *to, struct gv_error *e)
{
	struct gv_weights_piece v[GV_WEIGHTS_PIECES];
	size_t n = gv_weights_pieces(&how->m->layer[want->row], want, v), i;

	for (i = 0; i < n; i++)
		take_piece(how, t, want, &v[i], to, e);
}

/* Tensors that a row may have, of the net or not, by its weights. */
static size_t
tensors_of(const struct gv_layer *l, struct gv_net_tensor v[5])
{
	const struct {
		const char *name;
		size_t n;
	} part[] = {{"x.weight", l->weights}, {"x.bias", l->biases},
	    {"x.mean", l->running / 2}, {"x.variance", l->running / 2},
	    {"x.num_batches_tracked", l->op == GV_OP_BN ? l->running : 0}};
	size_t i, n = 0;

	for (i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		if (part[i].n == 0)
			continue;
		v[n] = (struct gv_net_tensor){.n = part[i].n};
		strcpy(v[n++].name, part[i].name);
	}
	return n;
}

/* Whether a row of the model, held by the net or not, has a tensor of this name. */
static bool
is_known(const struct gv_model *m, const char *name, struct gv_strbuf *room)
{
	struct gv_weights_piece piece[GV_WEIGHTS_PIECES];
	struct gv_net_tensor t[5];
	size_t row, i, k, n, pieces;

	for (row = 0; row < m->n; row++)
		for (n = tensors_of(&m->layer[row], t), i = 0; i < n; i++) {
			pieces = gv_weights_pieces(&m->layer[row], &t[i], piece);
			for (k = 0; k < pieces; k++) {
				gv_weights_name(room, m, row, piece[k].name);
				if (strcmp(room->s, name) == 0)
					return true;
			}
		}
	return false;
}

int
gv_weights_take(struct gv_net *net, size_t b, const struct gv_tensors *t,
    const struct gv_weights_take *how, struct gv_error *e)
{
	struct gv_weights_arrays a = {0};
	struct gv_net_tensor want;
	struct gv_strbuf room = {0};
	size_t i;
	int status = gv_weights_move(net, b, &a, false, e);

	for (i = 0; status == 0 && gv_net_tensor(net, i, &want) == 0; i++)
		take_tensor(how, t, &want, gv_weights_place(&a, &want), e);
	if (e->count > 0)
		status = -1;
	for (i = 0; i < t->n && status == 0 && !how->silent_rest; i++)
		if (!is_known(how->m, t->v[i].name, &room))
			tell_unknown(how, t->v[i].name);
	if (status == 0)
		status = gv_weights_move(net, b, &a, true, e);
	gv_strbuf_free(&room);
	gv_weights_arrays_free(&a);
	return status;
}
