/* Launches as bars, on the GPUs and of the jobs that they are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "colour.h"
#include "draw/text.h"
#include "drawing.h"
#include "gv-report/page/grid.h"

#define MERGE_PX 0.4 /* runs closer than this are drawn as one */

void
lane_name(struct gv_strbuf *b, const struct lane *l)
{
	if (l->node[0] != '\0')
		gv_strbuf_fmt(b, "%s:", l->node);
	gv_strbuf_str(b, l->gpu);
}

void
sort_launches(struct drawing *d, bool of_jobs, size_t *first)
{
	const struct history *h = d->h;
	size_t n = of_jobs ? h->n_jobs : h->n_lanes, i;

	memset(first, 0, (n + 1) * sizeof(*first));
	for (i = 0; i < h->n_runs; i++)
		if (!of_jobs || h->run[i].next == 0)
			first[(of_jobs ? h->run[i].job : h->run[i].lane) + 1]++;
	for (i = 0; i < n; i++)
		first[i + 1] += first[i];
	for (i = 0; i < h->n_runs; i++)
		if (!of_jobs || h->run[i].next == 0)
			d->order[first[of_jobs ? h->run[i].job : h->run[i].lane]++] = i;
	memmove(first + 1, first, n * sizeof(*first));
	first[0] = 0;
}

static void
tooltip(struct drawing *d, const struct launch *from, double end_s)
{
	const struct job *j = &d->h->job[from->job];
	const struct lane *l = &d->h->lane[from->lane];
	struct gv_strbuf b = {0};
	char start[FIXED_LEN], end[FIXED_LEN];

	gv_strbuf_add(&b, j->id, j->id_len);
	gv_strbuf_fmt(&b, " on %s ", d->h->type[l->type].name);
	lane_name(&b, l);
	gv_strbuf_fmt(&b, ", %s to %s %s%s",
	    fixed(start, from->start_s / d->unit.s, d->digits),
	    fixed(end, end_s / d->unit.s, d->digits), d->unit.name,
	    from->failed ? ", failed" : "");
	gv_svg_open(&d->s, "title");
	gv_svg_text(&d->s, b.s, b.len);
	gv_svg_close(&d->s);
	gv_strbuf_free(&b);
}

/* A bar from the start of a run to end_s, with a name on it when it fits. */
static void
bar(struct drawing *d, const struct launch *from, double end_s, double y, double h,
    struct colour colour, const char *name, size_t len)
{
	double x = x_of(d, from->start_s), w = fmax(x_of(d, end_s) - x, MERGE_PX);

	gv_svg_open(&d->s, "rect");
	gv_svg_num(&d->s, "x", x);
	gv_svg_num(&d->s, "y", y);
	gv_svg_num(&d->s, "width", w);
	gv_svg_num(&d->s, "height", h);
	if (w > 4)
		gv_svg_num(&d->s, "rx", 2);
	gv_svg_attr(&d->s, "fill", colour.hex);
	if (w > 1) /* nobody can point at less */
		tooltip(d, from, end_s);
	gv_svg_close(&d->s);
	if (from->failed)
		gv_svg_line(&d->s, "fail", x + w, y, x + w, y + h);
	if (h >= 12 && w > gv_text_px(name, len) + 8)
		gv_svg_label(&d->s, colour.dark ? "on mid light" : "on mid", x + w / 2,
		    y + h / 2 + 4, name, len);
}

/* The runs order[from..to) of one lane or one job, those that touch as one. */
static void
bars(struct drawing *d, size_t from, size_t to, bool of_job, double y, double h)
{
	const struct history *hist = d->h;
	double drawn = -1; /* where the last bar ends */
	size_t i, k;

	for (i = from; i < to; i = k) {
		const struct launch *r = &hist->run[d->order[i]];
		size_t type = hist->lane[r->lane].type;
		double end_s = r->end_s;

		for (k = i + 1; k < to; k++) {
			const struct launch *next = &hist->run[d->order[k]];

			if (r->failed || next->failed || next->job != r->job ||
			    hist->lane[next->lane].type != type ||
			    x_of(d, next->start_s) - x_of(d, end_s) > MERGE_PX)
				break;
			end_s = next->end_s;
		}
		if (!r->failed && x_of(d, end_s) < drawn + MERGE_PX)
			continue; /* too short to be seen */
		drawn = x_of(d, end_s);
		if (of_job)
			bar(d, r, end_s, y, h, job_colour(r->job, type),
			    hist->type[type].name, hist->type[type].name_len);
		else
			bar(d, r, end_s, y, h, job_colour(r->job, 0),
			    hist->job[r->job].id, hist->job[r->job].id_len);
	}
}

/* ---- GPUs that jobs share ---- */

/* A run while it is the rank-th of so many on its GPU. */
struct piece {
	struct launch run;
	size_t rank, of;
};

/* The runs on a GPU at a time, in the order in which they began. */
struct sharers {
	struct piece *piece;
	size_t n, cap;
};

static bool
is_shared(const struct drawing *d, size_t from, size_t to)
{
	double end_s = -1;

	for (; from < to; from++) {
		if (d->h->run[d->order[from]].start_s < end_s)
			return true;
		end_s = d->h->run[d->order[from]].end_s;
	}
	return false;
}

/* Draws what the piece has been up to now, unless it is too short to be seen. */
static void
draw_piece(struct drawing *d, const struct piece *p, double now, double y, double h)
{
	const struct job *j = &d->h->job[p->run.job];
	double part_h = h / (double)p->of;
	struct launch run = p->run;

	run.failed = run.failed && now == run.end_s;
	if (p->of > 0 && (now - run.start_s) * d->x_per_s >= MERGE_PX / 4)
		bar(d, &run, now, y + part_h * (double)p->rank, part_h,
		    job_colour(run.job, 0), j->id, j->id_len);
}

/* At the present time some have come or left: new pieces begin where that changes them. */
static void
divide(struct drawing *d, struct sharers *s, double now, double y, double h)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		struct piece *p = &s->piece[i];

		if (p->rank == i && p->of == s->n)
			continue;
		if (p->of > 0) {
			draw_piece(d, p, now, y, h);
			p->run.start_s = now;
		}
		p->rank = i;
		p->of = s->n;
	}
}

/* The runs order[from..to) of a GPU on which some overlap: each has its part of the height. */
static void
shared_bars(struct drawing *d, size_t from, size_t to, double y, double h)
{
	struct sharers s = {0};

	while (from < to || s.n > 0) {
		double now =
		    s.n > 0 ? s.piece[0].run.end_s : d->h->run[d->order[from]].start_s;
		size_t i, n = 0;

		for (i = 1; i < s.n; i++)
			now = fmin(now, s.piece[i].run.end_s);
		if (from < to)
			now = fmin(now, d->h->run[d->order[from]].start_s);
		for (i = 0; i < s.n; i++)
			if (s.piece[i].run.end_s <= now)
				draw_piece(d, &s.piece[i], now, y, h);
			else
				s.piece[n++] = s.piece[i];
		for (s.n = n; from < to && d->h->run[d->order[from]].start_s <= now;
		     from++) {
			s.piece = gv_xgrow(s.piece, &s.cap, s.n + 1, sizeof(*s.piece));
			s.piece[s.n++] = (struct piece){.run = d->h->run[d->order[from]]};
		}
		divide(d, &s, now, y, h);
	}
	free(s.piece);
}

void
draw_launches(struct drawing *d, size_t from, size_t to, bool of_job, double y, double h)
{
	if (!of_job && is_shared(d, from, to))
		shared_bars(d, from, to, y, h);
	else
		bars(d, from, to, of_job, y, h);
}
