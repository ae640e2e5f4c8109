#include "losses.h"

#include <math.h>
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

static int
read_row(struct losses *l, size_t first, struct gv_hash *models, const struct gv_frame *f,
    size_t row, const ptrdiff_t *column, struct gv_error *e)
{
	struct gv_cell name = gv_frame_cell(f, row, column[C_MODEL]);
	size_t k = gv_hash_add(models, name.s, name.len);
	double step, value;
	int rc, i;

	if (first + k == l->n) {
		l->model = gv_xgrow(l->model, &l->cap, l->n + 1, sizeof(*l->model));
		l->model[l->n++] = (struct loss_model){
		    .name = gv_arena_strndup(&l->arena, name.s, name.len)};
	}
	rc = gv_frame_double(f, row, column[C_STEP], NAN, &step, e);
	for (i = 0; i < LOSS_KINDS; i++) {
		rc |= gv_frame_double(f, row, column[C_FIRST + i], HUGE_VAL, &value, e);
		if (rc == 0 && value != HUGE_VAL)
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
losses_read(struct losses *l, const char *name, struct gv_tab *t, struct gv_error *e)
{
	static const char *const of[COLUMNS] = {
	    "step", "model", "loss", "test_loss", "accuracy"};
	struct gv_hash models = {0};
	ptrdiff_t column[COLUMNS];
	size_t first = l->n, i;
	struct gv_frame f;
	int rc = 0;

	if (gv_frame_read(&f, t, e) != 0)
		return -1;
	for (i = 0; i < COLUMNS; i++)
		column[i] = gv_frame_find(&f, of[i]);
	for (i = 0; i < f.n_rows; i++)
		rc |= read_row(l, first, &models, &f, i, column, e);
	name_models(l, first, name);
	gv_hash_free(&models);
	gv_frame_free(&f);
	return rc;
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
	double least = NAN, most = NAN, steps = 0;
	size_t i, k;

	for (i = 0; i < l->n; i++) {
		const struct loss_curve *c = &l->model[i].curve[kind];

		for (k = 0; k < c->n; k++) {
			least = fmin(least, c->point[k].value);
			most = fmax(most, c->point[k].value);
			steps = fmax(steps, c->point[k].step);
		}
	}
	p->x = (struct gv_scale){.max = steps > 0 ? steps : 1};
	if (kind == LOSS_ACCURACY)
		p->y = (struct gv_scale){.max = 100};
	else if (least > 0 && most > BY_RATIO * least)
		p->y = gv_scale_log(least, most);
	else
		p->y = gv_scale_linear(most);
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
	size_t i, k;

	scales(l, kind, &p);
	gv_panel_begin(&p);
	for (i = 0; i < l->n; i++) {
		const struct loss_curve *of = &l->model[i].curve[kind];
		struct gv_curve c = {.p = &p};
		char cls[GV_CLASS_LEN];

		for (k = 0; k < of->n; k++)
			gv_curve_point(&c, of->point[k].step, unit * of->point[k].value);
		gv_curve_draw(&c, gv_line_class(cls, i), l->model[i].name);
	}
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
