#include "losses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "gv-report/charts/frame.h"
#include "table/kind.h"

bool
losses_take(const struct gv_tab *t)
{
	return gv_tab_kind(t) == GV_KIND_LOSSES;
}

/* ---- reading ---- */

enum { C_STEP, C_MODEL, C_FIRST, COLUMNS = C_FIRST + LOSS_KINDS };

static void
add(struct loss_curve *c, double step, double value)
{
	c->point = gv_xgrow(c->point, &c->cap, c->n + 1, sizeof(*c->point));
	c->point[c->n++] = (struct loss_point){step, value};
}

/* The number in a cell of the present row; *there: it is not empty. */
static int
read_number(
    struct gv_tab *t, ptrdiff_t column, double *v, bool *there, struct gv_error *e)
{
	*there = column >= 0 && gv_tab_cell(t, (size_t)column).len > 0;
	return *there ? gv_tab_double(t, (size_t)column, v, e) : 0;
}

static int
read_row(struct losses *l, size_t first, struct gv_hash *models, struct gv_tab *t,
    const ptrdiff_t *column, struct gv_error *e)
{
	struct gv_cell name = {"", 0};
	double step = NAN, value = 0;
	size_t k;
	bool there;
	int rc, i;

	if (column[C_MODEL] >= 0)
		name = gv_tab_cell(t, (size_t)column[C_MODEL]);
	k = gv_hash_add(models, name.s, name.len);
	if (first + k == l->n) {
		l->model = gv_xgrow(l->model, &l->cap, l->n + 1, sizeof(*l->model));
		l->model[l->n++] = (struct loss_model){
		    .name = gv_arena_strndup(&l->arena, name.s, name.len)};
	}
	rc = read_number(t, column[C_STEP], &step, &there, e);
	for (i = 0; i < LOSS_KINDS; i++) {
		rc |= read_number(t, column[C_FIRST + i], &value, &there, e);
		if (rc == 0 && there)
			add(&l->model[first + k].curve[i], step, value);
	}
	return rc;
}

/* "run", or "run, model 3" where there are several; the run may have no name. */
static void
name_models(struct losses *l, size_t first, const char *run)
{
	bool several = l->n - first > 1;
	struct gv_strbuf b = {0};
	size_t i;

	for (i = first; i < l->n; i++) {
		gv_strbuf_clear(&b);
		gv_strbuf_str(&b, run);
		if (several)
			gv_strbuf_fmt(&b, "%smodel %s", run[0] != '\0' ? ", " : "",
			    l->model[i].name);
		l->model[i].name = gv_arena_strndup(&l->arena, b.s, b.len);
	}
	gv_strbuf_free(&b);
}

int
losses_read(
    struct losses *l, const char *name, struct gv_tab *t, long *cut, struct gv_error *e)
{
	static const char *const of[COLUMNS] = {
	    "step", "model", "loss", "test_loss", "accuracy"};
	struct gv_hash models = {0};
	ptrdiff_t column[COLUMNS];
	size_t first = l->n, before = e->count, bad, i;
	int got;

	*cut = 0;
	for (i = 0; i < COLUMNS; i++)
		column[i] = gv_tab_find(t, of[i]);
	for (bad = before; (got = gv_tab_next(t, e)) != 0; bad = e->count) {
		if (got > 0) {
			read_row(l, first, &models, t, column, e);
		} else if (gv_tab_cut(t)) {
			e->count = bad;
			*cut = gv_tab_line(t);
		}
	}
	name_models(l, first, name);
	gv_hash_free(&models);
	return e->count == before ? 0 : -1;
}

void
losses_free(struct losses *l)
{
	size_t i;
	int k;

	for (i = 0; i < l->n; i++)
		for (k = 0; k < LOSS_KINDS; k++)
			free(l->model[i].curve[k].point);
	free(l->model);
	gv_arena_free(&l->arena);
	*l = (struct losses){0};
}

/* ---- drawing ---- */

#define PANEL_H  300.0
#define BY_RATIO 20 /* from the least to the most, that the eye needs ratios */

static bool
has(const struct losses *l, int kind)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->model[i].curve[kind].n > 0)
			return true;
	return false;
}

/* Axes for all curves of a kind. */
static void
scales(const struct losses *l, int kind, struct gv_panel *p)
{
	double least = NAN, most = NAN, positive = NAN, steps = 0;
	bool by_ratio;
	size_t i, k;

	for (i = 0; i < l->n; i++) {
		const struct loss_curve *c = &l->model[i].curve[kind];

		for (k = 0; k < c->n; k++) {
			double v = c->point[k].value;

			least = fmin(least, v);
			most = fmax(most, v);
			positive = v > 0 ? fmin(positive, v) : positive;
			steps = fmax(steps, c->point[k].step);
		}
	}
	by_ratio = l->axis == LOSS_LOG ||
		   (l->axis == LOSS_AUTO && least > 0 && most > BY_RATIO * least);
	p->x = (struct gv_scale){.max = steps > 0 ? steps : 1, .whole = true};
	if (kind == LOSS_ACCURACY)
		p->y = (struct gv_scale){.max = 100};
	else if (by_ratio && positive > 0)
		p->y = gv_scale_log(positive, most);
	else
		p->y = gv_scale_linear(most);
}

/* A curve as it is, or each point the mean of those of the last smooth steps. */
static void
draw_curve(const struct gv_panel *p, const struct loss_curve *of, double unit,
    double smooth, const char *cls, const char *name)
{
	struct gv_curve c = {.p = p};
	size_t k, from = 0;
	double sum = 0;

	for (k = 0; k < of->n; k++) {
		const struct loss_point *at = &of->point[k];

		sum += at->value;
		while (from < k && of->point[from].step <= at->step - smooth)
			sum -= of->point[from++].value;
		if (from == k)
			sum = at->value;
		if (!p->y.log || sum > 0)
			gv_curve_point(&c, at->step, unit * sum / (double)(k - from + 1));
	}
	gv_curve_draw(&c, cls, name);
}

static void
panel(struct gv_svg *s, const struct losses *l, int kind, struct gv_box box)
{
	static const char *const title[] = {"Training loss", "Test loss", "Accuracy"};
	struct gv_panel p = {.s = s,
	    .box = box,
	    .title = title[kind],
	    .x_name = "steps",
	    .y_name = kind == LOSS_ACCURACY ? "right, %" : "loss"};
	double unit = kind == LOSS_ACCURACY ? 100 : 1;
	bool smooth = l->smooth > 0 && kind == LOSS_TRAINING;
	char cls[GV_CLASS_LEN], note[80];
	size_t i;

	snprintf(note, sizeof(note), "means of %g steps", l->smooth);
	p.note = smooth ? note : NULL;
	scales(l, kind, &p);
	gv_panel_begin(&p);
	if (smooth) { /* what is there, faintly, below the means */
		gv_svg_open(s, "g");
		gv_svg_attr(s, "opacity", "0.25");
		gv_svg_str(s, "");
		for (i = 0; i < l->n; i++)
			draw_curve(&p, &l->model[i].curve[kind], unit, 0,
			    gv_line_class(cls, i), NULL);
		gv_svg_close(s);
	}
	for (i = 0; i < l->n; i++)
		draw_curve(&p, &l->model[i].curve[kind], unit, smooth ? l->smooth : 0,
		    gv_line_class(cls, i), l->model[i].name);
}

double
losses_draw(struct gv_svg *s, const struct losses *l, double y)
{
	struct series legend = {0};
	size_t n = 0, at = 0, i;
	struct grid_of g;
	double head;
	int kind;

	for (i = 0; i < l->n; i++)
		series_add(&legend, l->model[i].name, strlen(l->model[i].name), false);
	for (kind = 0; kind < LOSS_KINDS; kind++)
		n += has(l, kind);
	head = frame_head(s, y, "How training goes",
	    n == 0 ? "Nothing is told yet." : NULL, l->n > 1 ? &legend : NULL);
	series_free(&legend);
	g = grid_of(n, PANEL_H);
	for (kind = 0; s != NULL && kind < LOSS_KINDS; kind++)
		if (has(l, kind))
			panel(s, l, kind, grid_box(&g, at++, y + head));
	return head + grid_height(&g);
}
