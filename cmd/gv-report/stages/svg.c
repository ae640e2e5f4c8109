/* The stages of a plan drawn: what each computes, sends and keeps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/strbuf.h"
#include "draw/svg.h"
#include "draw/text.h"
#include "gv-report/page/grid.h"
#include "stages.h"

#define MARGIN 24.0
#define BAR_X  220.0
#define BAR_W  470.0
#define SIDE_X (BAR_X + BAR_W + 96)
#define SIDE_W 130.0
#define WIDTH  (SIDE_X + SIDE_W + 90 + MARGIN)
#define HEAD_H 104.0
#define FOOT_H 40.0
#define ROW_H  52.0
#define BAR_H  10.0
#define INDENT 14.0 /* of a stage inside another */
#define CHAR_W 6.3  /* of a character of the labels, about */

static const char css[] =
    "text{font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu "
    "Sans',sans-serif;fill:#343a40}"
    ".h1{font-size:20px;font-weight:600;fill:#212529}"
    ".sub{font-size:12.5px;fill:#6c757d}"
    ".h2{font-size:12px;font-weight:600;fill:#212529}"
    ".dim{fill:#868e96}.mid{text-anchor:middle}"
    ".page{fill:#fff}.grid{stroke:#e3e6ea}.axis{stroke:#adb5bd}"
    ".slowest{stroke:#c92a2a;stroke-dasharray:4 3}.track{fill:#e9ecef}"
    ".p0{fill:#3f6fa8}.p1{fill:#c9a3dc}.p2{fill:#e09a3e}"
    ".weights{fill:#748091}.memory{fill:#3d8f6e}";

static const char *const part_word[STAGE_PARTS] = {
    "computing", "all-reduce of gradients", "transfers"};
static const char *const part_class[STAGE_PARTS] = {"p0", "p1", "p2"};

struct drawing {
	struct gv_svg svg;
	const struct stages *s;
	int digits;
	struct stages_unit unit;
	double most_s; /* the end of the axis */
	double most_bytes;
};

static void
label(struct drawing *d, const char *cls, double x, double y, const char *s)
{
	gv_svg_label(&d->svg, cls, x, y, s, strlen(s));
}

/* A bar that says what it is. */
static void
bar(struct drawing *d, const char *cls, double x, double y, double w, const char *what)
{
	gv_svg_open(&d->svg, "rect");
	gv_svg_attr(&d->svg, "class", cls);
	gv_svg_num(&d->svg, "x", x);
	gv_svg_num(&d->svg, "y", y);
	gv_svg_num(&d->svg, "width", w);
	gv_svg_num(&d->svg, "height", BAR_H);
	gv_svg_open(&d->svg, "title");
	gv_svg_str(&d->svg, what);
	gv_svg_close(&d->svg);
	gv_svg_close(&d->svg);
}

static void
times(struct drawing *d, const struct stage *stage, double y)
{
	char num[FIXED_LEN], text[FIXED_LEN + 96], shared[64] = "";
	int k, n = 0;

	if (stage->outer > 1)
		snprintf(shared, sizeof(shared), " on one of %.0f that share minibatches",
		    stage->outer);
	for (k = 0; k < STAGE_PARTS; k++) {
		double w = BAR_W * stage->part_s[k] / stage->outer / d->most_s;

		if (isnan(w) || d->most_s <= 0)
			continue;
		snprintf(text, sizeof(text), "%s: %s %s%s", part_word[k],
		    fixed(num, stage->part_s[k] / d->unit.s, d->digits), d->unit.name,
		    shared);
		bar(d, part_class[k], BAR_X, y + n++ * (BAR_H + 2), w, text);
	}
	snprintf(text, sizeof(text), "%s %s",
	    fixed(num, stage->load_s / stage->outer / d->unit.s, d->digits),
	    d->unit.name);
	label(d, "h2", BAR_X + BAR_W + 8, y + BAR_H - 1, text);
	if (stage->limit.len > 0)
		gv_svg_label(&d->svg, "dim", BAR_X + BAR_W + 8, y + BAR_H + 13,
		    stage->limit.s, stage->limit.len);
}

/* What a GPU holds, or where that is not told the weights alone. */
static void
bytes(struct drawing *d, const struct stage *stage, double y)
{
	bool whole = d->s->whole;
	double v = whole ? stage->memory : stage->parameter;
	char text[GV_NUM_LEN];

	if (isnan(v) || d->most_bytes <= 0)
		return;
	gv_show_bytes(text, v);
	gv_svg_rect(&d->svg, "track", SIDE_X, y, SIDE_W, BAR_H);
	bar(d, whole ? "memory" : "weights", SIDE_X, y, SIDE_W * v / d->most_bytes, text);
	label(d, NULL, SIDE_X + SIDE_W + 8, y + BAR_H - 1, text);
}

/* A label as wide as there is room from x to the bars. */
static void
fitted(struct drawing *d, const char *cls, double x, double y, const struct gv_strbuf *b)
{
	struct gv_strbuf text = {0};

	gv_text_fit(&text, b->s, b->len, BAR_X - x - 8);
	gv_svg_label(&d->svg, cls, x, y, text.s, text.len);
	gv_strbuf_free(&text);
}

/* "first ... last", where each has as much room as the other does not need. */
static void
layers(struct drawing *d, const struct stage *stage, double x, double y)
{
	static const char between[] = " \xe2\x80\xa6 ";
	double room = BAR_X - x - 8 - gv_text_px(between, strlen(between)), px[2];
	struct gv_strbuf b = {0}, name = {0};

	px[0] = gv_text_px(stage->first.s, stage->first.len);
	px[1] = gv_text_px(stage->last.s, stage->last.len);
	gv_text_fit(&name, stage->first.s, stage->first.len,
	    fmax(room / 2, stage->layers > 1 ? room - px[1] : room));
	text_add(&b, name.s, name.len);
	if (stage->layers > 1) {
		gv_strbuf_str(&b, between);
		gv_text_fit(
		    &name, stage->last.s, stage->last.len, fmax(room / 2, room - px[0]));
		text_add(&b, name.s, name.len);
	}
	gv_svg_label(&d->svg, "dim", x, y, b.s, b.len);
	gv_strbuf_free(&b);
	gv_strbuf_free(&name);
}

static void
row(struct drawing *d, const struct stage *stage, double y)
{
	struct gv_strbuf b = {0};
	double x = MARGIN;
	size_t k;

	for (k = stage->parent; k < d->s->n && x < MARGIN + 3 * INDENT;
	     k = d->s->stage[k].parent)
		x += INDENT;
	gv_strbuf_fmt(&b, "stage %lld", (long long)stage->stage);
	if (d->s->levels > 1)
		gv_strbuf_fmt(&b, " of level %lld", (long long)stage->level);
	if (stage->place >= 0)
		gv_strbuf_fmt(&b, ", place %lld", (long long)stage->place);
	gv_strbuf_fmt(
	    &b, ", %lld GPU%s", (long long)stage->gpus, stage->gpus == 1 ? "" : "s");
	if (stage->gpu_type.len > 0) {
		gv_strbuf_char(&b, ' ');
		text_add(&b, stage->gpu_type.s, stage->gpu_type.len);
	}
	fitted(d, "h2", x, y + BAR_H - 1, &b);
	layers(d, stage, x, y + BAR_H + 14);
	gv_strbuf_clear(&b);
	gv_strbuf_fmt(
	    &b, "%lld layer%s", (long long)stage->layers, stage->layers == 1 ? "" : "s");
	if (stage->replicas > 1)
		gv_strbuf_fmt(&b, ", %lld replicas", (long long)stage->replicas);
	if (gv_cell_is(stage->recompute, "full"))
		gv_strbuf_str(&b, ", recomputes");
	label(d, "dim", x, y + BAR_H + 28, b.s);
	times(d, stage, y);
	bytes(d, stage, y);
	gv_strbuf_free(&b);
}

static void
legend(struct drawing *d, double y)
{
	double x = BAR_X;
	int k;

	for (k = 0; k < STAGE_PARTS; k++) {
		if (k > 0 && !d->s->whole)
			break;
		gv_svg_rect(&d->svg, part_class[k], x, y - 9, 11, 11);
		label(d, NULL, x + 16, y, part_word[k]);
		x += 16 + (double)strlen(part_word[k]) * CHAR_W + 18;
	}
	label(d, "dim", SIDE_X, y, d->s->whole ? "memory of a GPU" : "weights");
}

static void
axis(struct drawing *d, double top, double bottom)
{
	double max = d->most_s / d->unit.s, slowest, x;
	int digits, i;
	double step = gv_ticks(max, 8, &digits);
	char buf[FIXED_LEN], name[FIXED_LEN + 8];

	for (i = 0; max > 0 && i * step <= max * (1 + 1e-9); i++) {
		bool last = (i + 1) * step > max * (1 + 1e-9);

		x = BAR_X + BAR_W * i * step / max;
		gv_svg_line(&d->svg, "grid", x, top, x, bottom);
		snprintf(name, sizeof(name), "%s%s%s", fixed(buf, i * step, digits),
		    last ? " " : "", last ? d->unit.name : "");
		label(d, "mid dim", x, bottom + 16, name);
	}
	gv_svg_line(&d->svg, "axis", BAR_X, bottom, BAR_X + BAR_W, bottom);
	if (d->s->n == 0 || max <= 0)
		return;
	slowest = d->s->stage[d->s->slowest].place_s;
	x = BAR_X + BAR_W * slowest / d->most_s;
	gv_svg_line(&d->svg, "slowest", x, top, x, bottom);
}

static void
heading(struct drawing *d, const char *title)
{
	const struct stages *s = d->s;
	const struct stage *slowest = s->n > 0 ? &s->stage[s->slowest] : NULL;
	struct gv_strbuf b = {0};
	char buf[FIXED_LEN];

	label(d, "h1", MARGIN, 38, title);
	if (s->n > 0)
		gv_strbuf_fmt(&b,
		    "slowest: %s %lld  \xc2\xb7  GPUs compute %s %% of the time",
		    slowest->place >= 0 ? "place" : "stage",
		    (long long)(slowest->place >= 0 ? slowest->place : slowest->stage),
		    fixed(buf, 100 * s->busy_share, d->digits));
	gv_svg_label(&d->svg, "sub", MARGIN, 60, b.s, b.len);
	gv_strbuf_free(&b);
}

static void
measure(struct drawing *d)
{
	size_t i;
	int k;

	for (i = 0; i < d->s->n; i++) {
		const struct stage *stage = &d->s->stage[i];
		double v = d->s->whole ? stage->memory : stage->parameter;

		d->most_s = fmax(d->most_s, stage->place_s / stage->outer);
		for (k = 0; k < STAGE_PARTS; k++)
			d->most_s = /* not NAN */
			    fmax(d->most_s, stage->part_s[k] / stage->outer);
		d->most_bytes = fmax(d->most_bytes, v);
	}
}

void
stages_svg(struct gv_out *out, const struct stages *s, int digits)
{
	double height = HEAD_H + FOOT_H + ROW_H * (double)s->n;
	struct drawing d = {
	    .svg = {.out = out}, .s = s, .digits = digits, .unit = stages_unit(s)};
	struct gv_strbuf title = {0};
	size_t *order = stages_order(s);
	char buf[FIXED_LEN];
	size_t i;

	measure(&d);
	gv_strbuf_fmt(&title, "%zu stage%s on %lld GPU%s", s->n_stages,
	    s->n_stages == 1 ? "" : "s", (long long)s->gpus, s->gpus == 1 ? "" : "s");
	if (s->n > 0)
		gv_strbuf_fmt(&title, ", %s%s %s a minibatch",
		    s->whole ? "" : "computing ",
		    fixed(buf, s->stage[s->slowest].place_s / d.unit.s, digits),
		    d.unit.name);
	gv_svg_begin(&d.svg, WIDTH, height, title.s);
	gv_svg_open(&d.svg, "style");
	gv_svg_str(&d.svg, "");
	gv_out_str(out, css); /* no character of it needs an escape */
	gv_svg_close(&d.svg);
	gv_svg_rect(&d.svg, "page", 0, 0, WIDTH, height);
	heading(&d, title.s);
	legend(&d, HEAD_H - 20);
	axis(&d, HEAD_H - 8, height - FOOT_H);
	for (i = 0; i < s->n; i++)
		row(&d, &s->stage[order[i]], HEAD_H + ROW_H * (double)i + 4);
	gv_svg_close(&d.svg);
	gv_strbuf_free(&title);
	free(order);
}
