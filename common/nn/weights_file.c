#include "nn/weights_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/strbuf.h"

/* ---- names ---- */

enum part { WEIGHT, BIAS, MEAN, VARIANCE, COUNT, PARTS };
static const char *const part_names[PARTS] = {
    "weight", "bias", "running_mean", "running_var", "num_batches_tracked"};

static void
set_name(struct gv_strbuf *name, const struct gv_model *m, size_t row, enum part part)
{
	struct gv_cell c =
	    gv_frame_cell(&m->table, row, gv_frame_find(&m->table, "name"));

	gv_strbuf_clear(name);
	if (c.len == 0 || gv_cell_is(c, "-"))
		gv_strbuf_fmt(name, "%" PRId64, m->layer[row].id);
	else
		gv_strbuf_add(name, c.s, c.len);
	gv_strbuf_fmt(name, ".%s", part_names[part]);
}

static bool
has_part(const struct gv_layer *l, enum part part)
{
	const size_t n[PARTS] = {l->weights, l->biases, l->running, l->running,
	    l->op == GV_OP_BN ? l->running : 0};

	return n[part] > 0;
}

/* ---- layouts ---- */

enum { AXES = 5 };

/*
 * Where our number (i0, .., i4), row-major over n, lies in theirs: sum of i * stride.
 */
struct layout {
	size_t n[AXES], stride[AXES];
	uint64_t shape[GV_TENSOR_DIMS]; /* theirs */
	size_t dims;
};

static struct layout
vector(size_t n)
{
	return (struct layout){
	    .n = {1, 1, 1, 1, n}, .stride = {[4] = 1}, .shape = {n}, .dims = 1};
}

/* Of embed: [tokens][out], [places][out], as nn.Embedding has them. */
static struct layout
rows_of(size_t n, size_t out)
{
	return (struct layout){.n = {1, 1, 1, n / out, out},
	    .stride = {[3] = out, [4] = 1},
	    .shape = {n / out, out},
	    .dims = 2};
}

/* [h][w][c][out] to [out][c][h][w]; at one place [in][out] to [out][in] */
static struct layout
linear(const struct gv_layer *l)
{
	size_t out = l->out_shape.channels, in = l->weights / out;
	struct gv_shape s = l->in_shape;

	if (s.height * s.width * s.channels != in)
		s = (struct gv_shape){in, 1, 1};
	return (struct layout){.n = {1, s.height, s.width, s.channels, out},
	    .stride = {0, s.width, 1, s.height * s.width, in},
	    .shape = {out, in},
	    .dims = 2};
}

/* [g][k][k][in / g][out / g] to [out][in / g][k][k] */
static struct layout
conv(const struct gv_layer *l)
{
	size_t in = l->in_shape.channels / l->g, out = l->out_shape.channels / l->g;
	size_t window = l->k * l->k;

	return (struct layout){.n = {l->g, l->k, l->k, in, out},
	    .stride = {out * in * window, l->k, 1, window, in * window},
	    .shape = {out * l->g, in, l->k, l->k},
	    .dims = 4};
}

/* [g][k][k][out / g][in / g] to [in][out / g][k][k] */
static struct layout
tconv(const struct gv_layer *l)
{
	size_t in = l->in_shape.channels / l->g, out = l->out_shape.channels / l->g;
	size_t window = l->k * l->k;

	return (struct layout){.n = {l->g, l->k, l->k, out, in},
	    .stride = {in * out * window, l->k, 1, window, out * window},
	    .shape = {in * l->g, out, l->k, l->k},
	    .dims = 4};
}

static struct layout
layout_of(const struct gv_layer *l, enum part part, size_t n)
{
	if (part == WEIGHT && l->op == GV_OP_LINEAR)
		return linear(l);
	if (part == WEIGHT && l->op == GV_OP_CONV)
		return conv(l);
	if (l->op == GV_OP_EMBED)
		return rows_of(n, l->out_shape.channels);
	if (part == WEIGHT && l->op == GV_OP_TCONV)
		return tconv(l);
	return vector(n);
}

/* Calls for each of our numbers, in order, with the place of theirs. */
static void
walk(const struct layout *l, void (*move)(void *, size_t ours, size_t theirs), void *ctx)
{
	size_t i[AXES], ours = 0;

	for (i[0] = 0; i[0] < l->n[0]; i[0]++)
		for (i[1] = 0; i[1] < l->n[1]; i[1]++)
			for (i[2] = 0; i[2] < l->n[2]; i[2]++)
				for (i[3] = 0; i[3] < l->n[3]; i[3]++)
					for (i[4] = 0; i[4] < l->n[4]; i[4]++) {
						size_t at = 0, k;

						for (k = 0; k < AXES; k++)
							at += i[k] * l->stride[k];
						move(ctx, ours++, at);
					}
}

static enum part
part_of(const struct gv_net_tensor *t)
{
	const char *dot = strrchr(t->name, '.');

	if (strcmp(dot, ".weight") == 0)
		return WEIGHT;
	if (strcmp(dot, ".bias") == 0)
		return BIAS;
	return strcmp(dot, ".mean") == 0 ? MEAN : VARIANCE;
}

/* ---- the net's arrays ---- */

/* Params and running statistics of a model. */
struct arrays {
	gv_real *params, *running;
};

static void
free_arrays(struct arrays *a)
{
	free(a->params);
	free(a->running);
}

static bool
is_params(const char *name)
{
	return strncmp(name, "params", 6) == 0;
}

/* From the net, or into it. */
static int
move_arrays(struct gv_net *net, size_t b, struct arrays *a, bool in, struct gv_error *e)
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

static gv_real *
place_of(const struct arrays *a, const struct gv_net_tensor *t)
{
	return (t->running ? a->running : a->params) + t->offset;
}

/* ---- reading ---- */

struct taking {
	const struct gv_tensor *from;
	gv_real *to;
};

static void
take_number(void *ctx, size_t ours, size_t theirs)
{
	struct taking *t = ctx;

	t->to[ours] = (gv_real)gv_tensor_number(t->from, theirs);
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

static int
take_tensor(const struct gv_weights_take *how, const struct gv_tensors *t,
    const struct gv_net_tensor *want, gv_real *to, struct gv_error *e)
{
	const struct gv_layer *l = &how->m->layer[want->row];
	enum part part = part_of(want);
	struct layout layout = layout_of(l, part, want->n);
	struct gv_strbuf name = {0};
	struct taking taking = {.to = to};
	char q[GV_QUOTE_LEN], is[120], needs[120], row[80];
	int status = 0;

	set_name(&name, how->m, want->row, part);
	gv_quote(q, name.s, name.len);
	gv_tensor_shape(needs, sizeof(needs), layout.shape, layout.dims);
	snprintf(row, sizeof(row), "row %" PRId64 ", %s", l->id, gv_op_name(l->op));
	taking.from = gv_tensors_find(t, name.s);
	if (taking.from == NULL && how->partial)
		tell_missing(how, q, row);
	else if (taking.from == NULL)
		status = gv_error_set(
		    e, "%s: no tensor %s; %s, needs %s", how->path, q, row, needs);
	else if (taking.from->dims != layout.dims ||
		 memcmp(taking.from->shape, layout.shape,
		     layout.dims * sizeof(*layout.shape)) != 0) {
		gv_tensor_shape(is, sizeof(is), taking.from->shape, taking.from->dims);
		status = gv_error_set(
		    e, "%s: tensor %s is %s; %s, needs %s", how->path, q, is, row, needs);
	} else if (!gv_tensor_is_real(taking.from))
		status = gv_error_set(e,
		    "%s: tensor %s is of type %s; %s, needs F32, "
		    "F64, F16 or BF16",
		    how->path, q, taking.from->dtype, row);
	else
		walk(&layout, take_number, &taking);
	gv_strbuf_free(&name);
	return status;
}

/* Whether a row of the model, held by the net or not, has a tensor of this name. */
static bool
is_known(const struct gv_model *m, const char *name, struct gv_strbuf *room)
{
	size_t row;
	int part;

	for (row = 0; row < m->n; row++)
		for (part = 0; part < PARTS; part++) {
			if (!has_part(&m->layer[row], (enum part)part))
				continue;
			set_name(room, m, row, (enum part)part);
			if (strcmp(room->s, name) == 0)
				return true;
		}
	return false;
}

int
gv_weights_take(struct gv_net *net, size_t b, const struct gv_tensors *t,
    const struct gv_weights_take *how, struct gv_error *e)
{
	struct arrays a = {0};
	struct gv_net_tensor want;
	struct gv_strbuf room = {0};
	size_t i;
	int status = move_arrays(net, b, &a, false, e);

	for (i = 0; status == 0 && gv_net_tensor(net, i, &want) == 0; i++)
		take_tensor(how, t, &want, place_of(&a, &want), e);
	if (e->count > 0)
		status = -1;
	for (i = 0; i < t->n && status == 0; i++)
		if (!is_known(how->m, t->v[i].name, &room))
			tell_unknown(how, t->v[i].name);
	if (status == 0)
		status = move_arrays(net, b, &a, true, e);
	gv_strbuf_free(&room);
	free_arrays(&a);
	return status;
}

/* ---- writing ---- */

struct giving {
	const gv_real *from;
	unsigned char *to;
};

static void
give_number(void *ctx, size_t ours, size_t theirs)
{
	struct giving *g = ctx;
	unsigned char *p = g->to + theirs * sizeof(gv_real);
	uint64_t bits = 0;
	size_t k;

	if (sizeof(gv_real) == 4) {
		uint32_t v;

		memcpy(&v, &g->from[ours], sizeof(v));
		bits = v;
	} else
		memcpy(&bits, &g->from[ours], sizeof(bits));
	for (k = 0; k < sizeof(gv_real); k++)
		p[k] = (unsigned char)(bits >> 8 * k);
}

static struct gv_tensor
tensor_of(const struct gv_model *m, size_t row, enum part part, const struct layout *l)
{
	struct gv_strbuf name = {0};
	struct gv_tensor t = {.dims = l->dims, .n = 1};
	size_t k;

	set_name(&name, m, row, part);
	t.name = name.s;
	memcpy(t.shape, l->shape, sizeof(t.shape));
	for (k = 0; k < l->dims; k++)
		t.n *= (size_t)l->shape[k];
	snprintf(t.dtype, sizeof(t.dtype), "%s",
	    part == COUNT          ? "I64"
	    : sizeof(gv_real) == 4 ? "F32"
				   : "F64");
	t.bytes = t.n * (part == COUNT ? 8 : sizeof(gv_real));
	return t;
}

/* Tensors in the making, and their bytes. */
struct giving_all {
	struct gv_tensor *v;
	unsigned char **bytes;
	size_t n;
};

static unsigned char *
add(struct giving_all *all, struct gv_tensor t)
{
	unsigned char *bytes = gv_xcalloc(t.bytes + 1, 1);

	t.data = bytes;
	all->v = gv_xrealloc(all->v, all->n + 1, sizeof(*all->v));
	all->bytes = gv_xrealloc(all->bytes, all->n + 1, sizeof(*all->bytes));
	all->bytes[all->n] = bytes;
	all->v[all->n++] = t;
	return bytes;
}

/* bn's updates; numbers of eight bytes first, so that all lie at multiples of theirs */
static void
add_counts(struct giving_all *all, struct gv_net *net, const struct gv_model *m, size_t b)
{
	static const struct layout one = {.dims = 0};
	struct gv_net_tensor t;
	size_t i, k;

	for (i = 0; gv_net_tensor(net, i, &t) == 0; i++)
		if (part_of(&t) == MEAN) {
			unsigned char *to = add(all, tensor_of(m, t.row, COUNT, &one));

			for (k = 0; k < 8; k++)
				to[k] = (unsigned char)(gv_net_steps(net, b) >> 8 * k);
		}
}

static int
check_names(const struct giving_all *all, const char *path, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	size_t i, k;

	for (i = 0; i < all->n; i++)
		for (k = 0; k < i; k++)
			if (strcmp(all->v[i].name, all->v[k].name) == 0)
				return gv_error_set(e,
				    "%s: two rows of the model have a tensor %s", path,
				    gv_quote(q, all->v[i].name, strlen(all->v[i].name)));
	return 0;
}

int
gv_weights_write(const char *path, struct gv_net *net, const struct gv_model *m, size_t b,
    struct gv_error *e)
{
	struct arrays a = {0};
	struct giving_all all = {0};
	struct gv_net_tensor t;
	size_t i;
	int status = move_arrays(net, b, &a, false, e);

	if (status == 0)
		add_counts(&all, net, m, b);
	for (i = 0; status == 0 && gv_net_tensor(net, i, &t) == 0; i++) {
		struct layout l = layout_of(&m->layer[t.row], part_of(&t), t.n);
		struct giving g = {.from = place_of(&a, &t)};

		g.to = add(&all, tensor_of(m, t.row, part_of(&t), &l));
		walk(&l, give_number, &g);
	}
	if (status == 0)
		status = check_names(&all, path, e);
	if (status == 0)
		status = gv_tensors_write(path, all.v, all.n, e);
	for (i = 0; i < all.n; i++) {
		free(all.v[i].name);
		free(all.bytes[i]);
	}
	free(all.bytes);
	free(all.v);
	free_arrays(&a);
	return status;
}
