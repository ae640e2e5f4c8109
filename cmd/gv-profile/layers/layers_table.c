#include "layers_table.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/strbuf.h"

static const char *const added[] = {"node_id", "layer", "forward_ms", "backward_ms",
    "activation_bytes", "parameter_bytes", "update_ms", "repeats", "forward_mad_ms",
    "backward_mad_ms", "kept_bytes"};
enum { ADDED = sizeof(added) / sizeof(added[0]) };

static bool
is_added(struct gv_cell name)
{
	size_t i;

	for (i = 0; i < ADDED; i++)
		if (gv_cell_is(name, added[i]))
			return true;
	return false;
}

/* What a layer is: "conv 32 k3 p1 relu". */
static void
describe(struct gv_strbuf *s, const struct gv_layer *l)
{
	char act[GV_ACT_LEN];

	gv_strbuf_clear(s);
	gv_strbuf_str(s, gv_op_name(l->op));
	if (gv_op_has_out(l->op))
		gv_strbuf_fmt(s, " %zu", l->out_shape.channels);
	if (l->k > 0)
		gv_strbuf_fmt(s, " k%zu", l->k);
	if (l->s > 0 && l->s != (gv_op_has_out(l->op) ? 1 : l->k))
		gv_strbuf_fmt(s, " s%zu", l->s);
	if (l->p > 0)
		gv_strbuf_fmt(s, " p%zu", l->p);
	if (l->g > 1)
		gv_strbuf_fmt(s, " g%zu", l->g);
	gv_act_text(l, act);
	gv_strbuf_fmt(s, "%s%s", act[0] != '\0' ? " " : "", act);
}

void
write_rounded(struct gv_tabw *w, double v)
{
	char text[GV_NUM_LEN];
	double rounded;
	int len = snprintf(text, sizeof(text), "%.6g", v);

	gv_parse_double(text, (size_t)len, &rounded);
	gv_tabw_double(w, rounded);
}

/* In ms; less than 1 ps is rounding. */
static void
write_ms(struct gv_tabw *w, double seconds)
{
	write_rounded(w, seconds < 1e-12 ? 0 : seconds * 1000);
}

static void
write_added(struct gv_tabw *w, const struct gv_layer *l, const struct layer_time *t,
    size_t batch, size_t steps, struct gv_strbuf *text)
{
	gv_tabw_int(w, l->id);
	describe(text, l);
	gv_tabw_str(w, text->s);
	write_ms(w, t->forward.median_s);
	write_ms(w, t->backward.median_s);
	gv_tabw_int(w, (int64_t)(batch * gv_shape_size(l->out_shape) * sizeof(float)));
	gv_tabw_int(w, (int64_t)((l->weights + l->biases) * sizeof(float)));
	write_ms(w, t->update.median_s);
	gv_tabw_int(w, (int64_t)steps);
	write_ms(w, t->forward.deviation_s);
	write_ms(w, t->backward.deviation_s);
	gv_tabw_int(w,
	    (int64_t)(batch * (gv_shape_size(l->out_shape) + l->kept) * sizeof(float)));
}

void
write_layers(struct gv_tabw *w, const struct gv_model *m, const struct layer_times *t,
    size_t batch)
{
	const struct gv_frame *f = &m->table;
	struct gv_strbuf text = {0};
	size_t i, k;

	for (k = 0; k < f->n_columns; k++)
		if (!is_added(f->name[k]))
			gv_tabw_cell(w, f->name[k]);
	for (k = 0; k < ADDED; k++)
		gv_tabw_str(w, added[k]);
	gv_tabw_end(w);
	for (i = 0; i < m->n; i++) {
		for (k = 0; k < f->n_columns; k++)
			if (!is_added(f->name[k]))
				gv_tabw_cell(w, gv_frame_cell(f, i, (ptrdiff_t)k));
		write_added(w, &m->layer[i], &t->layer[i], batch, t->steps, &text);
		gv_tabw_end(w);
	}
	gv_strbuf_free(&text);
}

/* Whether each row reads the one before it, the first the sample. */
static bool
is_chain(const struct gv_model *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->layer[i].inputs != 1 || m->layer[i].from[0] != (ptrdiff_t)i - 1)
			return false;
	return true;
}

static bool
read_before(const struct gv_layer *l, size_t k)
{
	size_t i;

	for (i = 0; i < k; i++)
		if (l->from[i] == l->from[k])
			return true;
	return false;
}

void
write_edges(struct gv_tabw *w, const struct gv_model *m)
{
	size_t i, k;

	if (is_chain(m))
		return;
	gv_tabw_between(w);
	gv_tabw_str(w, "src");
	gv_tabw_str(w, "dst");
	gv_tabw_end(w);
	for (i = 0; i < m->n; i++)
		for (k = 0; k < m->layer[i].inputs; k++) {
			const struct gv_layer *l = &m->layer[i];

			if (l->from[k] == GV_FROM_INPUT || read_before(l, k))
				continue;
			gv_tabw_int(w, m->layer[l->from[k]].id);
			gv_tabw_int(w, l->id);
			gv_tabw_end(w);
		}
}
