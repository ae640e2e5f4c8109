#include "write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "colour.h"
#include "draw/text.h"
#include "drawing.h"
#include "gv-report/page/axis.h"
#include "gv-report/page/grid.h"
#include "gv-report/page/page.h"

/*
 * The page, from left to right: names, time, shares.  From top to bottom: what
 * it is, the GPUs, the jobs, the axis.
 */
#define MARGIN 24.0
#define SIDE_X (TIME_X + TIME_W + 28)
#define SIDE_W 130.0
#define WIDTH  (SIDE_X + SIDE_W + 110 + MARGIN)
#define HEAD_H 92.0
#define CHAR_W 6.3 /* of a character of the labels, about */

enum { NAME_CHARS = 19 };

static const char css[] =
    "text{font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu "
    "Sans',sans-serif;fill:#343a40}"
    ".h1{font-size:20px;font-weight:600;fill:#212529}"
    ".sub{font-size:12.5px;fill:#6c757d}"
    ".h2{font-size:12px;font-weight:600;fill:#212529}"
    ".dim{fill:#868e96}.end{text-anchor:end}.mid{text-anchor:middle}"
    ".page{fill:#fff}.lane{fill:#f3f4f6}.grid{stroke:#e3e6ea}.axis{stroke:#adb5bd}"
    ".on{pointer-events:none}.light{fill:#fff}"
    ".busy{fill:#748091}.track{fill:#e9ecef}.fail{stroke:#c92a2a;stroke-width:2}"
    ".cap{stroke-width:2}";

/* ---- texts ---- */

static void
clipped(struct drawing *d, const char *cls, double x, double y, const char *s, size_t len,
    size_t n)
{
	struct gv_strbuf b = {0};

	gv_text_fit(&b, s, len, (double)n * CHAR_W);
	gv_svg_label(&d->s, cls, x, y, b.s, b.len);
	gv_strbuf_free(&b);
}

static void
label(struct drawing *d, const char *cls, double x, double y, const char *s)
{
	gv_svg_label(&d->s, cls, x, y, s, strlen(s));
}

/* ---- the panels ---- */

static void
percent(struct drawing *d, double x, double y, double of_one)
{
	char buf[FIXED_LEN], text[FIXED_LEN + 4];

	snprintf(text, sizeof(text), "%s %%", fixed(buf, 100 * of_one, d->digits));
	label(d, NULL, x, y, text);
}

/* Lanes of a type, and how busy it was; y is where it begins, its end is returned. */
static double
type_panel(struct drawing *d, size_t type, const size_t *first, double y)
{
	const struct history *h = d->h;
	const struct gpu_type *t = &h->type[type];
	double top = y, bar_h = d->lane_h - fmin(4, d->lane_h / 4);
	struct gv_strbuf name = {0};
	size_t i;

	for (i = 0; i < h->n_lanes; i++) {
		if (h->lane[i].type != type)
			continue;
		gv_svg_rect(&d->s, "lane", TIME_X, y, TIME_W, bar_h);
		if (d->lane_h >= 12) {
			gv_strbuf_clear(&name);
			lane_name(&name, &h->lane[i]);
			clipped(d, "end dim", TIME_X - 8, y + bar_h / 2 + 4, name.s,
			    name.len, 14);
		}
		draw_launches(d, first[i], first[i + 1], false, y, bar_h);
		y += d->lane_h;
	}
	gv_strbuf_free(&name);
	if (y == top)
		return y; /* no GPU of it was ever named */
	clipped(d, "h2", MARGIN, top + bar_h / 2 + 4, t->name, t->name_len, 12);
	if (t->available_gpu_s > 0) {
		double busy = t->busy_gpu_s / t->available_gpu_s;

		gv_svg_rect(&d->s, "track", SIDE_X, top + bar_h / 2 - 4, SIDE_W, 8);
		gv_svg_rect(&d->s, "busy", SIDE_X, top + bar_h / 2 - 4,
		    SIDE_W * fmin(busy, 1), 8);
		percent(d, SIDE_X + SIDE_W + 8, top + bar_h / 2 + 4, busy);
	}
	return y + 10;
}

static void
filled(struct drawing *d, double x, double y, double w, double h, struct colour colour)
{
	if (w <= 0)
		return;
	gv_svg_open(&d->s, "rect");
	gv_svg_attr(&d->s, "fill", colour.hex);
	gv_svg_num(&d->s, "x", x);
	gv_svg_num(&d->s, "y", y);
	gv_svg_num(&d->s, "width", w);
	gv_svg_num(&d->s, "height", h);
	gv_svg_close(&d->s);
}

/* What a job received, on each type, over what it was promised. */
static void
share_bars(struct drawing *d, size_t job, double mid)
{
	const struct job *j = &d->h->job[job];
	double got_x = SIDE_X, promised_x = SIDE_X;
	char got[FIXED_LEN], promised[FIXED_LEN], text[2 * FIXED_LEN + 4];
	const struct use *u;

	if (isnan(job_received(d->h, j)))
		return;
	gv_svg_rect(&d->s, "track", SIDE_X, mid - 6, SIDE_W, 11);
	for (u = j->use; u != NULL; u = u->next) {
		double got_w = SIDE_W * use_received(d->h, j, u);
		double promised_w = SIDE_W * use_promised(d->h, j, u);

		filled(d, got_x, mid - 6, got_w, 7, job_colour(job, u->type));
		filled(d, promised_x, mid + 1, promised_w, 4, grey(u->type));
		got_x += got_w;
		promised_x += promised_w;
	}
	snprintf(text, sizeof(text), "%s / %s",
	    fixed(got, 100 * job_received(d->h, j), d->digits),
	    fixed(promised, 100 * job_promised(d->h, j), d->digits));
	label(d, NULL, SIDE_X + SIDE_W + 8, mid + 4, text);
}

static void
job_row(struct drawing *d, size_t job, const size_t *first, double y)
{
	const struct job *j = &d->h->job[job];
	double bar_h = d->job_h - 6, mid = y + bar_h / 2;
	double end_s = isnan(j->left_s) ? d->h->last_s : j->left_s, end = x_of(d, end_s);
	struct colour colour = job_colour(job, 0);

	filled(d, MARGIN, mid - 5, 10, 10, colour);
	clipped(d, NULL, MARGIN + 16, mid + 4, j->id, j->id_len, NAME_CHARS);
	/* a line for the time it was active, a cap where it finished */
	gv_svg_open(&d->s, "g");
	gv_svg_attr(&d->s, "stroke", colour.hex);
	gv_svg_line(&d->s, NULL, x_of(d, j->arrival_s), mid, end, mid);
	if (j->state == JOB_FINISHED)
		gv_svg_line(&d->s, "cap", end, y, end, y + bar_h);
	gv_svg_close(&d->s);
	if (j->state == JOB_DROPPED) {
		gv_svg_line(&d->s, "fail", end - 4, mid - 4, end + 4, mid + 4);
		gv_svg_line(&d->s, "fail", end - 4, mid + 4, end + 4, mid - 4);
	}
	draw_launches(d, first[job], first[job + 1], true, y, bar_h);
	share_bars(d, job, mid);
}

/* Which shade is which type, right-aligned above the jobs. */
static void
legend(struct drawing *d, double y)
{
	const struct history *h = d->h;
	double x = TIME_X + TIME_W;
	struct gv_strbuf b = {0};
	size_t i;

	for (i = h->n_types < 4 ? h->n_types : 4; i-- > 0;) {
		gv_text_fit(&b, h->type[i].name, h->type[i].name_len, 16 * CHAR_W);
		if (i == 3 && h->n_types > 4) {
			gv_strbuf_clear(&b);
			gv_strbuf_str(&b, "other types");
		}
		gv_svg_label(&d->s, "end dim", x, y, b.s, b.len);
		x -= gv_text_px(b.s, b.len) + 16;
		filled(d, x, y - 9, 10, 10, grey(i));
		x -= 14;
	}
	gv_strbuf_free(&b);
}

/* Lines down from top to bottom at the ticks; names them below. */
static void
axis(struct drawing *d, double top, double bottom)
{
	const struct axis a = {.x = TIME_X,
	    .width = TIME_W,
	    .top = top,
	    .bottom = bottom,
	    .last = d->h->last_s / d->unit.s,
	    .unit = d->unit.s,
	    .px = d->x_per_s,
	    .name = d->unit.name,
	    .ticks = 8};

	axis_draw(&d->s, &a);
}

static void
heading(struct drawing *d, const char *title)
{
	const struct summary *s = d->sum;
	struct gv_strbuf b = {0};
	char buf[FIXED_LEN];

	label(d, "h1", MARGIN, 38, title);
	if (!d->h->ended)
		gv_strbuf_str(&b, "not ended, up to the last event:  ");
	if (s->available_gpu_s > 0)
		gv_strbuf_fmt(&b, "GPUs busy %s %% of the time",
		    fixed(buf, 100 * s->busy_gpu_s / s->available_gpu_s, d->digits));
	if (!isnan(s->completion.mean))
		gv_strbuf_fmt(&b, "%scompletion %s %s on average",
		    b.len > 0 ? "  \xc2\xb7  " : "",
		    fixed(buf, s->completion.mean / d->unit.s, d->digits), d->unit.name);
	if (!isnan(s->worst_difference))
		gv_strbuf_fmt(&b, "%sshares within %s points of promised",
		    b.len > 0 ? "  \xc2\xb7  " : "",
		    fixed(buf, 100 * s->worst_difference, d->digits));
	if (!isnan(s->jain))
		gv_strbuf_fmt(
		    &b, "  \xc2\xb7  Jain index %s", fixed(buf, s->jain, d->digits + 2));
	if (b.len > 0)
		gv_svg_label(&d->s, "sub", MARGIN, 60, b.s, b.len);
	gv_strbuf_free(&b);
}

static void
draw(struct drawing *d, const char *title, double gpus_h, double height)
{
	const struct history *h = d->h;
	size_t n = (h->n_lanes > h->n_jobs ? h->n_lanes : h->n_jobs) + 2, i;
	size_t *first = gv_xcalloc(n, sizeof(*first));
	double y = HEAD_H + 14, jobs_y = HEAD_H + gpus_h;

	d->order = gv_xcalloc(h->n_runs + 1, sizeof(*d->order));
	gv_svg_rect(&d->s, "page", 0, 0, WIDTH, height);
	heading(d, title);
	axis(d, HEAD_H + 6, height - 40);
	if (h->n_lanes > 0) {
		label(d, "h2", MARGIN, HEAD_H, "GPUs");
		label(d, "dim", SIDE_X, HEAD_H, "busy");
	}
	sort_launches(d, false, first);
	for (i = 0; i < h->n_types; i++)
		y = type_panel(d, i, first, y);
	if (h->n_jobs > 0) {
		label(d, "h2", MARGIN, jobs_y, "Jobs");
		label(d, "dim", SIDE_X, jobs_y, "% of time, received / promised");
		legend(d, jobs_y);
	}
	sort_launches(d, true, first);
	for (i = 0; i < h->n_jobs; i++)
		job_row(d, i, first, jobs_y + 14 + (double)i * d->job_h);
	free(d->order);
	free(first);
}

void
write_svg(struct gv_out *out, const struct report *r, int digits)
{
	const struct history *h = &r->history;
	struct drawing d = {.s = {.out = out},
	    .h = h,
	    .sum = &r->summary,
	    .digits = digits,
	    .unit = page_unit(r),
	    .x_per_s = h->last_s > 0 ? TIME_W / h->last_s : 0,
	    .job_h = h->n_jobs > 100 ? 18 : 24};
	struct gv_strbuf title = {0};
	double gpus_h, height;
	char buf[FIXED_LEN];
	size_t i, panels = 0;

	/* many GPUs: thinner, down to a hair */
	d.lane_h = fmin(24, fmax(3, 1200.0 / (double)(h->n_lanes + 1)));
	for (i = 0; i < h->n_types; i++)
		panels += h->type[i].gpus > 0 || h->type[i].runs > 0;
	gpus_h = h->n_lanes > 0
		     ? 14 + (double)h->n_lanes * d.lane_h + (double)panels * 10 + 22
		     : 0;
	height = HEAD_H + gpus_h + 14 + (double)h->n_jobs * d.job_h + 48;
	gv_strbuf_fmt(&title, "%zu job%s", h->n_jobs, h->n_jobs == 1 ? "" : "s");
	if (h->n_lanes > 0)
		gv_strbuf_fmt(
		    &title, " on %zu GPU%s", h->n_lanes, h->n_lanes == 1 ? "" : "s");
	gv_strbuf_fmt(
	    &title, ", %s %s", fixed(buf, h->last_s / d.unit.s, digits), d.unit.name);
	gv_svg_begin(&d.s, WIDTH, height, title.s);
	gv_svg_open(&d.s, "style");
	gv_svg_str(&d.s,
	    ""); /* the sheet is written as it is: no character of it needs an escape */
	gv_out_str(out, css);
	gv_svg_close(&d.s);
	draw(&d, title.s, gpus_h, height);
	gv_svg_close(&d.s);
	gv_strbuf_free(&title);
}
