/* A schedule drawn over time: a row for each GPU, a bar for each step. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "draw/svg.h"
#include "gv-report/page/axis.h"
#include "gv-report/page/grid.h"
#include "schedule.h"

#define MARGIN  24.0
#define TIME_X  160.0
#define TIME_W  780.0
#define SIDE_X  (TIME_X + TIME_W + 24)
#define SIDE_W  64.0
#define WIDTH   (SIDE_X + SIDE_W + 62 + MARGIN)
#define HEAD_H  104.0
#define FOOT_H  44.0
#define CHAR_W  6.3 /* of a character of the labels, about */
#define HAIR_PX 0.4 /* what is shorter and touches the bar before it is left out */

enum { SHADES = 4 };

static const char css[] =
    "text{font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu "
    "Sans',sans-serif;fill:#343a40}"
    ".h1{font-size:20px;font-weight:600;fill:#212529}"
    ".sub{font-size:12.5px;fill:#6c757d}"
    ".h2{font-size:12px;font-weight:600;fill:#212529}"
    ".dim{fill:#868e96}.end{text-anchor:end}.mid{text-anchor:middle}"
    ".page{fill:#fff}.lane{fill:#f3f4f6}.grid{stroke:#e3e6ea}.axis{stroke:#adb5bd}"
    ".on{pointer-events:none;font-size:10.5px}.light{fill:#fff}"
    ".edge{stroke:#ced4da}.busy{fill:#748091}.track{fill:#e9ecef}"
    ".f0{fill:#3f6fa8}.f1{fill:#6f99c9}.f2{fill:#9dbce0}.f3{fill:#c5d9ef}"
    ".b0{fill:#3d8f6e}.b1{fill:#6cb394}.b2{fill:#9ad0b8}.b3{fill:#c6e6d8}"
    ".w0{fill:#e09a3e}.w1{fill:#ebb56d}.w2{fill:#f2cd9c}.w3{fill:#f8e3c8}"
    ".ar{fill:#c9a3dc}.u{fill:#212529}.way{fill:#c08497}";

static const char *const op_word[GV_STEP_OPS] = {
    "forward", "backward", "weight gradients", "all-reduce", "update"};

struct drawing {
	struct gv_svg svg;
	const struct schedule *s;
	int digits;
	struct schedule_unit unit;
	double x_per_ms;
	double lane_h; /* with the gap below it */
	bool has[GV_STEP_OPS];
};

static void
label(struct drawing *d, const char *cls, double x, double y, const char *s)
{
	gv_svg_label(&d->svg, cls, x, y, s, strlen(s));
}

static double
x_of(const struct drawing *d, double ms)
{
	return TIME_X + (ms - d->s->start_ms) * d->x_per_ms;
}

/* ---- bars ---- */

static const char *
class_of(enum gv_step_op op, size_t chunk)
{
	static const char *const name[3][SHADES] = {
	    {"f0", "f1", "f2", "f3"}, {"b0", "b1", "b2", "b3"}, {"w0", "w1", "w2", "w3"}};

	if (op == GV_STEP_REDUCE)
		return "ar";
	return name[op][chunk < SHADES ? chunk : SHADES - 1];
}

static void
tooltip(struct drawing *d, const struct gv_schedule_step *step)
{
	struct gv_strbuf b = {0};
	char from[FIXED_LEN], to[FIXED_LEN];

	gv_strbuf_fmt(&b, "stage %lld: %s%s micro-batch %lld", (long long)step->stage,
	    op_word[step->op], step->op >= GV_STEP_REDUCE ? " up to" : " of",
	    (long long)step->micro_batch);
	if (step->version >= 0)
		gv_strbuf_fmt(&b, ", weights version %lld", (long long)step->version);
	gv_strbuf_fmt(&b, ", %s to %s %s",
	    fixed(from, step->start_ms / d->unit.ms, d->digits),
	    fixed(to, step->end_ms / d->unit.ms, d->digits), d->unit.name);
	gv_svg_open(&d->svg, "title");
	gv_svg_text(&d->svg, b.s, b.len);
	gv_svg_close(&d->svg);
	gv_strbuf_free(&b);
}

static void
bar(struct drawing *d, const struct gv_schedule_step *step, const char *cls, double y,
    double h)
{
	double x = x_of(d, step->start_ms), w = x_of(d, step->end_ms) - x;

	/* a hair between neighbours, where they are wide enough */
	if (w > 3)
		w -= 0.6;
	gv_svg_open(&d->svg, "rect");
	gv_svg_attr(&d->svg, "class", cls);
	gv_svg_num(&d->svg, "x", x);
	gv_svg_num(&d->svg, "y", y);
	gv_svg_num(&d->svg, "width", fmax(w, HAIR_PX));
	gv_svg_num(&d->svg, "height", h);
	if (w > 6 && h > 6)
		gv_svg_num(&d->svg, "rx", 1.5);
	if (w > 1) /* nobody can point at less */
		tooltip(d, step);
	gv_svg_close(&d->svg);
}

/* The number of the micro-batch, when it fits. */
static void
number(struct drawing *d, const struct gv_schedule_step *step, size_t chunk, double y,
    double h)
{
	double x = x_of(d, step->start_ms), w = x_of(d, step->end_ms) - x;
	bool light = chunk == 0 && step->op != GV_STEP_WEIGHT;
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)step->micro_batch);
	if (h >= 12 && w >= (double)strlen(text) * CHAR_W + 3)
		label(d, light ? "on mid light" : "on mid", x + w / 2 - 0.3,
		    y + h / 2 + 4, text);
}

/* What a step needs on its way, while the GPU waits for it: a thin bar in the gap. */
static void
on_its_way(struct drawing *d, const struct gv_schedule_step *step, double y, double h)
{
	double wait_ms = d->s->wait_ms[step - d->s->step];
	double x = x_of(d, step->start_ms - wait_ms), w = x_of(d, step->start_ms) - x;
	struct gv_strbuf b = {0};
	char num[FIXED_LEN];

	if (w < HAIR_PX)
		return;
	gv_svg_open(&d->svg, "rect");
	gv_svg_attr(&d->svg, "class", "way");
	gv_svg_num(&d->svg, "x", x);
	gv_svg_num(&d->svg, "y", y + 0.35 * h);
	gv_svg_num(&d->svg, "width", w);
	gv_svg_num(&d->svg, "height", 0.3 * h);
	gv_strbuf_fmt(&b, "stage %lld: waits %s %s for micro-batch %lld, on its way",
	    (long long)step->stage, fixed(num, wait_ms / d->unit.ms, d->digits),
	    d->unit.name, (long long)step->micro_batch);
	gv_svg_open(&d->svg, "title");
	gv_svg_text(&d->svg, b.s, b.len);
	gv_svg_close(&d->svg);
	gv_svg_close(&d->svg);
	gv_strbuf_free(&b);
}

/* An update: a line through the row, with a head on it where there is room. */
static void
update(
    struct drawing *d, const struct gv_schedule_step *step, double y, double h, bool head)
{
	double x = x_of(d, step->end_ms), size = fmin(3.5, h / 4);
	char path[160];

	gv_svg_rect(&d->svg, "u", x - 0.6, y, 1.2, h);
	if (!head || h < 10)
		return;
	snprintf(path, sizeof(path), "M%.2f %.2fl%.2f %.2fh%.2fz", x, y + 1.5 * size,
	    -size, -1.5 * size, 2 * size);
	gv_svg_open(&d->svg, "path");
	gv_svg_attr(&d->svg, "class", "u");
	gv_svg_attr(&d->svg, "d", path);
	tooltip(d, step);
	gv_svg_close(&d->svg);
}

/* Width of a backward pass, about. */
static double
backward_px(const struct drawing *d, const struct schedule_gpu *g)
{
	const struct gv_schedule_step *step = &d->s->step[g->first];
	size_t k, n = 0;
	double px = 0;

	for (k = 0; k < g->n; k++)
		if (step[k].op == GV_STEP_BACKWARD) {
			px += x_of(d, step[k].end_ms) - x_of(d, step[k].start_ms);
			n++;
		}
	return n > 0 ? px / (double)n : 0;
}

/* Updates, unless they are so near to each other that they would hide the rest. */
static void
updates(struct drawing *d, const struct schedule_gpu *g, double y, double h)
{
	const struct gv_schedule_step *step = &d->s->step[g->first];
	double apart = TIME_W, was = -TIME_W;
	size_t k;

	for (k = 0; k < g->n; k++) {
		double x = x_of(d, step[k].end_ms);

		if (step[k].op != GV_STEP_UPDATE || x <= was)
			continue;
		apart = fmin(apart, x - was);
		was = x;
	}
	if (apart < 5 || (apart < 40 && backward_px(d, g) < 6))
		return;
	for (k = 0; k < g->n; k++)
		if (step[k].op == GV_STEP_UPDATE)
			update(d, &step[k], y, h, apart >= 16);
}

static bool
has_op(const struct schedule *s, const struct schedule_gpu *g, enum gv_step_op op)
{
	size_t k;

	for (k = 0; k < g->n; k++)
		if (s->step[g->first + k].op == op)
			return true;
	return false;
}

static void
gpu_row(struct drawing *d, size_t gpu, double y)
{
	const struct schedule_gpu *g = &d->s->gpu[gpu];
	double h = d->lane_h - fmin(6, d->lane_h / 4), drawn[2] = {-1, -1};
	double strip = has_op(d->s, g, GV_STEP_REDUCE) ? fmin(5, h / 4) : 0;
	size_t k;

	gv_svg_rect(&d->svg, "lane", TIME_X, y, TIME_W, h);
	for (k = 0; k < g->n; k++) {
		const struct gv_schedule_step *step = &d->s->step[g->first + k];
		bool below = step->op == GV_STEP_REDUCE;
		size_t chunk = schedule_chunk(d->s, step);
		double end = x_of(d, step->end_ms);

		on_its_way(d, step, y, h - strip);
		if (step->op == GV_STEP_UPDATE || end <= x_of(d, step->start_ms) ||
		    end < drawn[below] + HAIR_PX)
			continue;
		drawn[below] = end;
		bar(d, step, class_of(step->op, chunk), below ? y + h - strip : y,
		    below ? strip : h - strip);
		if (!below)
			number(d, step, chunk, y, h - strip);
	}
	updates(d, g, y, h);
}

/* ---- around them ---- */

/* "stage 3", or "stages 0, 4". */
static void
stage_label(struct drawing *d, const char *stages, double y)
{
	struct gv_strbuf b = {0};
	const char *p;

	gv_strbuf_str(&b, strchr(stages, ';') != NULL ? "stages " : "stage ");
	for (p = stages; *p != '\0' && b.len < 14; p++)
		gv_strbuf_str(&b, *p == ';' ? ", " : (char[2]){*p, '\0'});
	if (*p != '\0')
		gv_strbuf_str(&b, "\xe2\x80\xa6");
	label(d, "h2", MARGIN, y, b.s);
	gv_strbuf_free(&b);
}

/* Names of the rows, and how busy each GPU was. */
static void
beside(struct drawing *d, size_t gpu, double y)
{
	const struct schedule *s = d->s;
	const struct schedule_gpu *g = &s->gpu[gpu];
	const struct schedule_place *p = &s->place[g->place];
	double h = d->lane_h - fmin(6, d->lane_h / 4), whole = s->end_ms - s->start_ms;
	double mid = y + h / 2 + 4;
	double busy = whole > 0
			  ? (g->op_ms[GV_STEP_FORWARD] + g->op_ms[GV_STEP_BACKWARD] +
				g->op_ms[GV_STEP_WEIGHT]) /
				whole
			  : 0;
	char buf[FIXED_LEN], text[FIXED_LEN + 40];

	if ((gpu == 0 || g[-1].place != g->place) && (d->lane_h >= 12 || gpu == 0))
		stage_label(d, p->stages, mid);
	if (d->lane_h < 12)
		return;
	if (g->gpu >= 0)
		snprintf(text, sizeof(text), "GPU %lld", (long long)g->gpu);
	else
		snprintf(text, sizeof(text), "replica %lld", (long long)g->replica);
	if (g->gpu >= 0 || p->gpus > 1)
		label(d, "end dim", TIME_X - 8, mid, text);
	gv_svg_rect(&d->svg, "track", SIDE_X, mid - 8, SIDE_W, 8);
	gv_svg_rect(&d->svg, "busy", SIDE_X, mid - 8, SIDE_W * fmin(busy, 1), 8);
	snprintf(text, sizeof(text), "%s %%", fixed(buf, 100 * busy, d->digits));
	label(d, NULL, SIDE_X + SIDE_W + 8, mid, text);
}

static void
legend(struct drawing *d, double y)
{
	double x = TIME_X;
	size_t k;

	for (k = 0; k < GV_STEP_OPS; k++) {
		if (!d->has[k])
			continue;
		if (k == GV_STEP_UPDATE)
			gv_svg_rect(&d->svg, "u", x + 5, y - 10, 1.2, 12);
		else
			gv_svg_rect(&d->svg, class_of((enum gv_step_op)k, 0), x,
			    k == GV_STEP_REDUCE ? y - 4 : y - 9, 11,
			    k == GV_STEP_REDUCE ? 5 : 11);
		label(d, NULL, x + 16, y, op_word[k]);
		x += 16 + (double)strlen(op_word[k]) * CHAR_W + 18;
	}
	if (d->s->wait_share > 0) {
		gv_svg_rect(&d->svg, "way", x, y - 6, 11, 4);
		label(d, NULL, x + 16, y, "transfer");
		x += 16 + 8 * CHAR_W + 18;
	}
	gv_svg_rect(&d->svg, "lane edge", x + 0.5, y - 8.5, 10, 10);
	label(d, NULL, x + 16, y, "bubble");
	if (d->s->n_chunks > 1)
		label(d, "dim", x + 16 + 6 * CHAR_W + 18, y,
		    "paler: later stages of the GPU");
	label(d, "dim", SIDE_X, y, "busy");
}

static void
axis(struct drawing *d, double top, double bottom)
{
	const struct axis a = {.x = TIME_X,
	    .width = TIME_W,
	    .top = top,
	    .bottom = bottom,
	    .last = (d->s->end_ms - d->s->start_ms) / d->unit.ms,
	    .unit = d->unit.ms,
	    .px = d->x_per_ms,
	    .name = d->unit.name,
	    .ticks = 10};

	axis_draw(&d->svg, &a);
}

static void
heading(struct drawing *d, const char *title)
{
	const struct schedule *s = d->s;
	struct gv_strbuf b = {0};
	char buf[FIXED_LEN];

	label(d, "h1", MARGIN, 38, title);
	gv_strbuf_fmt(&b, "%zu stage%s  \xc2\xb7  bubble %s %%", s->n_stages,
	    s->n_stages == 1 ? "" : "s",
	    fixed(buf, 100 * (1 - s->busy_share), d->digits));
	if (s->wait_share > 0)
		gv_strbuf_fmt(
		    &b, " (transfers %s %%)", fixed(buf, 100 * s->wait_share, d->digits));
	gv_strbuf_fmt(&b, "  \xc2\xb7  at most %zu in flight", s->in_flight);
	gv_svg_label(&d->svg, "sub", MARGIN, 60, b.s, b.len);
	gv_strbuf_free(&b);
}

static void
draw(struct drawing *d, const char *title, double height)
{
	double y = HEAD_H;
	size_t i;

	gv_svg_rect(&d->svg, "page", 0, 0, WIDTH, height);
	heading(d, title);
	legend(d, HEAD_H - 16);
	axis(d, HEAD_H - 4, height - FOOT_H);
	for (i = 0; i < d->s->n_gpus; i++) {
		/* the places stand a little apart */
		if (i > 0 && d->s->gpu[i].place != d->s->gpu[i - 1].place)
			y += fmin(6, d->lane_h / 4);
		gpu_row(d, i, y);
		beside(d, i, y);
		y += d->lane_h;
	}
}

void
schedule_svg(struct gv_out *out, const struct schedule *s, int digits)
{
	double whole = s->end_ms - s->start_ms, height = HEAD_H + FOOT_H;
	struct drawing d = {.svg = {.out = out},
	    .s = s,
	    .digits = digits,
	    .unit = schedule_unit(s),
	    .x_per_ms = whole > 0 ? TIME_W / whole : 0};
	struct gv_strbuf title = {0};
	char buf[FIXED_LEN];
	size_t i;

	for (i = 0; i < s->n_steps; i++)
		d.has[s->step[i].op] = true;
	/* many GPUs: thinner, down to a hair */
	d.lane_h = fmin(32, fmax(3, 1200.0 / (double)(s->n_gpus + 1)));
	for (i = 0; i < s->n_gpus; i++)
		height += d.lane_h + (i > 0 && s->gpu[i].place != s->gpu[i - 1].place
					     ? fmin(6, d.lane_h / 4)
					     : 0);
	gv_strbuf_fmt(&title, "%zu micro-batch%s on %zu GPU%s, %s %s", s->n_micro_batches,
	    s->n_micro_batches == 1 ? "" : "es", s->n_gpus, s->n_gpus == 1 ? "" : "s",
	    fixed(buf, whole / d.unit.ms, digits), d.unit.name);
	gv_svg_begin(&d.svg, WIDTH, height, title.s);
	gv_svg_open(&d.svg, "style");
	gv_svg_str(&d.svg, "");
	gv_out_str(out, css); /* no character of it needs an escape */
	gv_svg_close(&d.svg);
	draw(&d, title.s, height);
	gv_svg_close(&d.svg);
	gv_strbuf_free(&title);
}
