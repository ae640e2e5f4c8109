#include "nn/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "nn/ops.h"
#include "table/kind.h"

const char *
gv_op_name(enum gv_op op)
{
	return gv_nn_ops[op].name;
}

size_t
gv_model_vocabulary(const struct gv_model *m)
{
	size_t i, least = 0;

	for (i = 0; i < m->n; i++)
		if (m->layer[i].op == GV_OP_EMBED && m->layer[i].k > 0 &&
		    (least == 0 || m->layer[i].k < least))
			least = m->layer[i].k;
	return least;
}

bool
gv_model_embeds(const struct gv_model *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->layer[i].op == GV_OP_EMBED)
			return true;
	return false;
}

bool
gv_op_has_out(enum gv_op op)
{
	return gv_nn_ops[op].has_out;
}

bool
gv_model_counts_hits(const struct gv_model *m)
{
	return m->layer[m->n - 1].op != GV_OP_MSE;
}

/* Columns of the table; -1 = not there. */
struct columns {
	ptrdiff_t id, op, from, out, k, s, p, g, act, bias, rate, dir, tied, fused;
};

static bool
is_empty(struct gv_cell c)
{
	return c.len == 0 || gv_cell_is(c, "-");
}

/* A whole number of min..max, or otherwise when the cell is empty. */
static int
number(const struct gv_frame *f, size_t row, ptrdiff_t column, int64_t min,
    size_t otherwise, size_t *v, struct gv_error *e)
{
	struct gv_cell c = gv_frame_cell(f, row, column);
	int64_t i;

	*v = otherwise;
	if (is_empty(c))
		return 0;
	if (gv_parse_int(c.s, c.len, &i) != 0 || i < min || i > INT32_MAX)
		return gv_frame_expected(
		    f, row, column, e, "a whole number >= %d", (int)min);
	*v = (size_t)i;
	return 0;
}

static int
read_op(const struct gv_frame *f, size_t row, ptrdiff_t column, enum gv_op *op,
    struct gv_error *e)
{
	struct gv_cell c = gv_frame_cell(f, row, column);
	struct gv_strbuf known = {0};
	char q[GV_QUOTE_LEN];
	int i;

	for (i = 0; i < GV_OPS; i++) {
		if (gv_cell_is(c, gv_nn_ops[i].name)) {
			*op = (enum gv_op)i;
			gv_strbuf_free(&known);
			return 0;
		}
		gv_strbuf_fmt(&known, "%s%s", i > 0 ? ", " : "", gv_nn_ops[i].name);
	}
	gv_frame_error(f, row, column, e, "unknown operator %s; known: %s",
	    gv_quote(q, c.s, c.len), known.s);
	gv_strbuf_free(&known);
	return -1;
}

/* The earlier row with an id, or GV_FROM_INPUT for 0; false: there is none. */
static bool
find_row(const struct gv_model *m, size_t row, const char *s, size_t len, ptrdiff_t *at)
{
	int64_t id;
	size_t i;

	if (gv_parse_int(s, len, &id) != 0)
		return false;
	*at = GV_FROM_INPUT;
	if (id == 0)
		return true;
	for (i = 0; i < row; i++)
		if (m->layer[i].id == id) {
			*at = (ptrdiff_t)i;
			return true;
		}
	return false;
}

/* The inputs of add or concat, "3;7": two or more. */
static int
read_inputs(struct gv_model *m, size_t row, ptrdiff_t column, struct gv_error *e)
{
	struct gv_cell c = gv_frame_cell(&m->table, row, column);
	struct gv_layer *l = &m->layer[row];
	size_t at, len;

	for (at = 0; at <= c.len && l->inputs < GV_FROM_MAX; at += len + 1) {
		const char *end = memchr(c.s + at, ';', c.len - at);

		len = end == NULL ? c.len - at : (size_t)(end - (c.s + at));
		if (!find_row(m, row, c.s + at, len, &l->from[l->inputs]))
			break;
		l->inputs++;
	}
	if (at == c.len + 1 && l->inputs > 1)
		return 0;
	return gv_frame_expected(&m->table, row, column, e,
	    "2 to %d ids of earlier rows, as 3;7, or 0", GV_FROM_MAX);
}

/* The row whose output this one reads. */
static int
read_from(struct gv_model *m, size_t row, ptrdiff_t column, struct gv_error *e)
{
	struct gv_cell c = gv_frame_cell(&m->table, row, column);
	struct gv_layer *l = &m->layer[row];

	if (gv_nn_ops[l->op].has_list)
		return read_inputs(m, row, column, e);
	l->inputs = 1;
	l->from[0] = (ptrdiff_t)row - 1;
	if (is_empty(c) || find_row(m, row, c.s, c.len, &l->from[0]))
		return 0;
	return gv_frame_expected(
	    &m->table, row, column, e, "0 or the id of one earlier row");
}

/* A cell that means nothing for this operator must be empty. */
static int
unused(const struct gv_frame *f, size_t row, ptrdiff_t column, const struct gv_nn_op *op,
    struct gv_error *e)
{
	struct gv_cell c = gv_frame_cell(f, row, column);
	char q[GV_QUOTE_LEN];

	if (is_empty(c))
		return 0;
	return gv_frame_error(
	    f, row, column, e, "%s has none, got %s", op->name, gv_quote(q, c.s, c.len));
}

/* "relu", or "leaky:0.01": the slope of leaky is .2 where there is none. */
static int
read_act(const struct gv_frame *f, size_t row, ptrdiff_t column, struct gv_layer *l,
    struct gv_error *e)
{
	struct gv_cell c = gv_frame_cell(f, row, column);
	const size_t len = strlen(gv_nn_acts[GV_ACT_LEAKY]) + 1;
	char q[GV_QUOTE_LEN];
	int i;

	l->slope = 0.2;
	if (is_empty(c))
		return 0;
	for (i = 1; i < GV_ACTS; i++)
		if (gv_cell_is(c, gv_nn_acts[i])) {
			l->act = (enum gv_act)i;
			return 0;
		}
	if (c.len > len && strncmp(c.s, "leaky:", len) == 0 &&
	    gv_parse_double(c.s + len, c.len - len, &l->slope) == 0 && l->slope > 0 &&
	    l->slope < 1) {
		l->act = GV_ACT_LEAKY;
		return 0;
	}
	return gv_frame_error(f, row, column, e,
	    "expected relu, leaky, leaky:SLOPE with a slope between 0 and 1, sigmoid, "
	    "tanh, gelu, silu, gelu-tanh or nothing, got %s",
	    gv_quote(q, c.s, c.len));
}

void
gv_act_text(const struct gv_layer *l, char text[GV_ACT_LEN])
{
	snprintf(text, GV_ACT_LEN, "%s", gv_nn_acts[l->act]);
	if (l->act == GV_ACT_LEAKY && l->slope != 0.2)
		snprintf(text, GV_ACT_LEN, "leaky:%.17g", l->slope);
}

/* dropout's share, [0, 1) */
static int
read_rate(const struct gv_frame *f, size_t row, ptrdiff_t column, double *rate,
    struct gv_error *e)
{
	struct gv_cell c = gv_frame_cell(f, row, column);

	if (!is_empty(c) && gv_parse_double(c.s, c.len, rate) == 0 && *rate >= 0 &&
	    *rate < 1)
		return 0;
	return gv_frame_expected(
	    f, row, column, e, "the share that becomes 0, from 0 to below 1");
}

/* Which way an lstm goes. */
static int
read_dir(const struct gv_frame *f, size_t row, ptrdiff_t column, struct gv_layer *l,
    struct gv_error *e)
{
	static const char *const names[] = {"forward", "back", "both"};
	struct gv_cell c = gv_frame_cell(f, row, column);
	int i;

	if (is_empty(c))
		return 0;
	for (i = 0; i < 3; i++)
		if (gv_cell_is(c, names[i])) {
			l->dir = (enum gv_dir)i;
			l->g = l->dir == GV_DIR_BOTH ? 2 : 1;
			return 0;
		}
	return gv_frame_expected(f, row, column, e, "forward, back, both or nothing");
}

/* 1, also where nothing is said, or 0. */
static int
read_flag(const struct gv_frame *f, size_t row, ptrdiff_t column, bool *flag,
    struct gv_error *e)
{
	struct gv_cell c = gv_frame_cell(f, row, column);

	*flag = !gv_cell_is(c, "0");
	if (!*flag || is_empty(c) || gv_cell_is(c, "1"))
		return 0;
	return gv_frame_expected(f, row, column, e, "0 or 1");
}

static int
read_id(struct gv_model *m, size_t row, ptrdiff_t column, struct gv_error *e)
{
	struct gv_cell c = gv_frame_cell(&m->table, row, column);
	int64_t id;
	size_t i;

	if (gv_parse_int(c.s, c.len, &id) != 0 || id < 1)
		return gv_frame_expected(
		    &m->table, row, column, e, "a whole number >= 1");
	for (i = 0; i < row; i++)
		if (m->layer[i].id == id)
			return gv_frame_error(&m->table, row, column, e,
			    "duplicate id %lld, first at line %ld", (long long)id,
			    m->table.line[i]);
	m->layer[row].id = id;
	return 0;
}

/* The embed whose weight a linear row has; each is of one row at most. */
static int
read_tied(struct gv_model *m, size_t row, ptrdiff_t column, struct gv_error *e)
{
	struct gv_cell c = gv_frame_cell(&m->table, row, column);
	struct gv_layer *l = &m->layer[row];
	ptrdiff_t at;
	size_t i;

	if (is_empty(c))
		return 0;
	if (l->op != GV_OP_LINEAR)
		return unused(&m->table, row, column, &gv_nn_ops[l->op], e);
	if (!find_row(m, row, c.s, c.len, &at) || at == GV_FROM_INPUT ||
	    m->layer[at].op != GV_OP_EMBED)
		return gv_frame_expected(
		    &m->table, row, column, e, "the id of an earlier embed");
	for (i = 0; i < row; i++)
		if (m->layer[i].is_tied && m->layer[i].tied == (size_t)at)
			return gv_frame_error(&m->table, row, column, e,
			    "row %lld is tied with row %lld already",
			    (long long)m->layer[i].id, (long long)m->layer[at].id);
	l->is_tied = true;
	l->tied = (size_t)at;
	return 0;
}

/* One row; several of its cells may be wrong. */
static int
read_row(struct gv_model *m, size_t row, const struct columns *c, struct gv_error *e)
{
	const struct gv_frame *f = &m->table;
	struct gv_layer *l = &m->layer[row];
	const struct gv_nn_op *op;
	bool fused = true;
	int bad = 0;

	l->place = row;
	bad |= read_id(m, row, c->id, e);
	if (read_op(f, row, c->op, &l->op, e) != 0)
		return -1;
	op = &gv_nn_ops[l->op];
	bad |= read_from(m, row, c->from, e);
	bad |= op->has_out ? number(f, row, c->out, 1, 0, &l->out, e)
			   : unused(f, row, c->out, op, e);
	if (op->has_window) {
		bad |= number(f, row, c->k, 1, 0, &l->k, e);
		if (l->k == 0 && !op->whole_input && bad == 0)
			bad |= gv_frame_error(
			    f, row, c->k, e, "%s needs a window size", op->name);
		bad |= number(f, row, c->s, 1, op->has_matrix ? 1 : l->k, &l->s, e);
		bad |= number(f, row, c->p, 0, 0, &l->p, e);
		if (!op->has_matrix && l->k > 0 && l->p > l->k / 2 && bad == 0)
			bad |= gv_frame_error(f, row, c->p, e,
			    "padding %zu is more than half of the window %zu", l->p,
			    l->k);
	} else {
		bad |= op->has_k ? number(f, row, c->k, 1, 0, &l->k, e)
				 : unused(f, row, c->k, op, e);
		bad |= unused(f, row, c->s, op, e) | unused(f, row, c->p, op, e);
	}
	l->g = 1;
	bad |= op->has_groups ? number(f, row, c->g, 1, 1, &l->g, e)
			      : unused(f, row, c->g, op, e);
	bad |=
	    op->has_act ? read_act(f, row, c->act, l, e) : unused(f, row, c->act, op, e);
	bad |=
	    op->has_dir ? read_dir(f, row, c->dir, l, e) : unused(f, row, c->dir, op, e);
	bad |= op->has_rate ? read_rate(f, row, c->rate, &l->rate, e)
			    : unused(f, row, c->rate, op, e);
	bad |= op->has_bias ? read_flag(f, row, c->bias, &l->bias, e)
			    : unused(f, row, c->bias, op, e);
	bad |= read_tied(m, row, c->tied, e);
	bad |= read_flag(f, row, c->fused, &fused, e);
	l->serial = !fused;
	return bad;
}

/* Every row but the head, which is the last, is read. */
static int
check_graph(struct gv_model *m, const struct columns *c, struct gv_error *e)
{
	const struct gv_frame *f = &m->table;
	const struct gv_layer *head = &m->layer[m->n - 1];
	bool *read = gv_xcalloc(m->n, sizeof(*read));
	size_t i, k;
	int bad = 0;

	if (!gv_nn_ops[head->op].is_head)
		bad |= gv_frame_error(f, m->n - 1, c->op, e,
		    "the last row must be xent, mse or bce, got %s",
		    gv_op_name(head->op));
	for (i = m->n; i-- > 0;) {
		const struct gv_layer *l = &m->layer[i];

		if (gv_nn_ops[l->op].is_head && i + 1 < m->n)
			bad |= gv_frame_error(
			    f, i, c->op, e, "%s must be the last row", gv_op_name(l->op));
		else if (i + 1 < m->n && !read[i])
			bad |= gv_frame_error(
			    f, i, c->id, e, "no row reads row %lld", (long long)l->id);
		for (k = 0; k < l->inputs; k++)
			if (l->from[k] != GV_FROM_INPUT)
				read[l->from[k]] = true;
	}
	for (i = 0; bad == 0 && i < m->n; i++)
		if (m->layer[i].out == 0 && gv_nn_ops[m->layer[i].op].has_out &&
		    head->from[0] != (ptrdiff_t)i)
			bad |= gv_frame_error(f, i, c->out, e,
			    "expected a number of channels; only the row that %s reads "
			    "may leave it out",
			    gv_op_name(head->op));
	free(read);
	return bad;
}

int
gv_model_from_frame(struct gv_model *m, struct gv_frame *f, struct gv_error *e)
{
	struct columns c;
	size_t i;
	int bad = 0;

	*m = (struct gv_model){.table = *f};
	*f = (struct gv_frame){0};
	f = &m->table;
	if (gv_frame_require(f, "id", &c.id, e) != 0 ||
	    gv_frame_require(f, "op", &c.op, e) != 0)
		return -1;
	c.from = gv_frame_find(f, "from");
	c.out = gv_frame_find(f, "out");
	c.k = gv_frame_find(f, "k");
	c.s = gv_frame_find(f, "s");
	c.p = gv_frame_find(f, "p");
	c.g = gv_frame_find(f, "g");
	c.act = gv_frame_find(f, "act");
	c.bias = gv_frame_find(f, "bias");
	c.rate = gv_frame_find(f, "rate");
	c.dir = gv_frame_find(f, "dir");
	c.tied = gv_frame_find(f, "tied_with");
	c.fused = gv_frame_find(f, "fused");
	if (f->n_rows == 0)
		return gv_error_at(e, f->file, 0, NULL, "a model needs at least one row");
	m->n = f->n_rows;
	m->layer = gv_xcalloc(m->n, sizeof(*m->layer));
	for (i = 0; i < m->n; i++)
		bad |= read_row(m, i, &c, e);
	if (bad != 0)
		return -1;
	m->target = gv_nn_ops[m->layer[m->n - 1].op].target;
	return check_graph(m, &c, e);
}

void
gv_model_free(struct gv_model *m)
{
	free(m->layer);
	gv_frame_free(&m->table);
	*m = (struct gv_model){0};
}
