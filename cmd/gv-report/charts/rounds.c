#include "rounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/text.h"

enum { MOST_ROWS = 48 };
#define LEFT   64.0
#define BOTTOM 36.0
#define GAP    3.0 /* between types */

bool
any_gpus(const struct runs *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->run[i].over.moments.width_s > 0 && r->run[i].n_gpus > 0)
			return true;
	return false;
}

/* GPUs of a run that are drawn: every so manyth. */
static size_t
every(const struct run *run)
{
	return (run->n_gpus + MOST_ROWS - 1) / MOST_ROWS;
}

/* A panel of one run. */
struct map {
	const struct run *run;
	struct gv_panel p;
	double row_h;
	size_t stride; /* moments a column */
	size_t columns;
	struct gv_strbuf d[GV_PALETTE]; /* rectangles of each colour */
};

/* The job at a column of a GPU, or 0; job + 1. */
static uint32_t
at(const struct map *m, size_t gpu, size_t column)
{
	const struct moments *of = &m->run->over.moments;
	size_t lane = m->run->gpu[gpu].lane;

	return lane < of->n_gpus ? of->who[lane][column * m->stride] : 0;
}

static double
x_of(const struct map *m, size_t column, double unit_s)
{
	double s = (double)(column * m->stride) * m->run->over.moments.width_s;

	return gv_scale_px(&m->p.x, fmin(s, m->run->end_s) / unit_s);
}

static void
row(struct map *m, size_t gpu, double y, double unit_s)
{
	size_t i, k;

	for (i = 0; i < m->columns; i = k) {
		uint32_t who = at(m, gpu, i);
		double x = x_of(m, i, unit_s), w;

		for (k = i + 1; k < m->columns && at(m, gpu, k) == who; k++)
			continue;
		w = x_of(m, k, unit_s) - x;
		if (who > 0 && w > 0)
			gv_strbuf_fmt(&m->d[(who - 1) % GV_PALETTE],
			    "M%.1f %.1fh%.1fv%.1fh-%.1fz", x, y, w, m->row_h, w);
	}
}

/* The rows of all types, with their names. */
static void
rows(struct map *m, double unit_s)
{
	const struct run *run = m->run;
	double y = m->p.plot.y;
	struct gv_strbuf name = {0};
	size_t i, from;

	for (i = from = 0; i < run->n_gpus; i += every(run)) {
		const struct run_type *t = &run->type[run->gpu[i].type];

		if (i == 0 || run->gpu[i].type != run->gpu[from].type) {
			y += i > 0 ? GAP : 0;
			from = i;
			gv_text_fit(&name, t->name, t->name_len, LEFT - 8);
			gv_svg_label(m->p.s, "c-dim c-end", m->p.plot.x - 6, y + 9,
			    name.s, name.len);
		}
		gv_svg_rect(
		    m->p.s, "c-track", m->p.plot.x, y, m->p.plot.w, 0.9 * m->row_h);
		row(m, i, y, unit_s);
		y += m->row_h;
	}
	gv_strbuf_free(&name);
}

static size_t
types_of(const struct run *run)
{
	size_t i, n = run->n_gpus > 0;

	for (i = every(run); i < run->n_gpus; i += every(run))
		n += run->gpu[i].type != run->gpu[i - every(run)].type;
	return n;
}

static void
axis(const struct map *m, const char *x_name)
{
	const struct gv_panel *p = &m->p;
	double bottom = p->plot.y + p->plot.h, free_from = -1;
	struct gv_tick tick[GV_TICKS];
	size_t n = gv_scale_ticks(&p->x, (int)(p->plot.w / 70) + 1, tick), i;

	for (i = 0; i < n; i++) {
		double x = gv_scale_px(&p->x, tick[i].value);
		size_t len = strlen(tick[i].name);

		gv_svg_line(p->s, "c-axis", x, bottom, x, bottom + 4);
		if (x - gv_text_px(tick[i].name, len) / 2 < free_from)
			continue;
		gv_svg_label(p->s, "c-dim c-mid", x, bottom + 16, tick[i].name, len);
		free_from = x + gv_text_px(tick[i].name, len) / 2 + 6;
	}
	gv_svg_label(p->s, "c-dim c-end", p->plot.x + p->plot.w, bottom + 31, x_name,
	    strlen(x_name));
}

static void
draw_run(struct gv_svg *s, const struct runs *r, const struct run *run, struct gv_box box)
{
	struct time_unit unit = unit_of_run(r->end_s);
	struct map m = {.run = run};
	struct gv_strbuf b = {0};
	size_t n = run->n_gpus > 0 ? (run->n_gpus - 1) / every(run) + 1 : 0, used, i;
	double end = r->end_s / unit.s;
	char x_name[32];

	m.p = (struct gv_panel){.s = s,
	    .box = box,
	    .plot = {box.x + LEFT, box.y + 20, box.w - LEFT - 8, box.h - 20 - BOTTOM},
	    .x = {.max = end}};
	m.p.x.from_px = m.p.plot.x;
	m.p.x.to_px = m.p.plot.x + m.p.plot.w;
	gv_text_fit(&b, run->name, strlen(run->name), box.w / 1.15);
	if (r->n > 1)
		gv_svg_label(s, "c-head", box.x, box.y + 12, b.s, b.len);
	gv_strbuf_free(&b);
	snprintf(x_name, sizeof(x_name), "time, %s", unit.name);
	if (n > 0 && run->over.moments.width_s > 0) {
		m.row_h = (m.p.plot.h - GAP * (double)(types_of(run) - 1)) / (double)n;
		used = (size_t)fmin(ceil(run->end_s / run->over.moments.width_s), BINS);
		m.stride = used / (size_t)(m.p.plot.w / 2) + 1;
		m.columns = (used + m.stride - 1) / m.stride;
		rows(&m, unit.s);
	}
	for (i = 0; i < GV_PALETTE; i++) {
		if (m.d[i].len > 0) {
			gv_svg_open(s, "path");
			gv_svg_attr(s, "class", gv_fill_class(i));
			gv_svg_attr(s, "d", m.d[i].s);
			gv_svg_close(s);
		}
		gv_strbuf_free(&m.d[i]);
	}
	axis(&m, x_name);
}

double
draw_rounds(struct gv_svg *s, const struct runs *r, double y)
{
	size_t i, most = 0, one_of = 1;
	struct grid_of g;
	char note[160];
	double head;

	for (i = 0; i < r->n; i++) {
		size_t n = r->run[i].n_gpus;

		if (n > 0 && (n - 1) / every(&r->run[i]) + 1 > most)
			most = (n - 1) / every(&r->run[i]) + 1;
		if (n > 0 && every(&r->run[i]) > one_of)
			one_of = every(&r->run[i]);
	}
	g = grid_of(r->n, 56 + BOTTOM + fmin(fmax(120, (double)most * 14), 300));
	snprintf(note, sizeof(note),
	    "Who had each GPU, looked at over and over again. A colour is a job; %d "
	    "colours repeat.",
	    GV_PALETTE);
	if (one_of > 1)
		snprintf(note + strlen(note), sizeof(note) - strlen(note),
		    " One of %zu GPUs is shown.", one_of);
	head = frame_head(s, y, "Rounds", note, NULL);
	for (i = 0; s != NULL && i < g.n; i++)
		draw_run(s, r, &r->run[i], grid_box(&g, i, y + head));
	return head + grid_height(&g);
}
