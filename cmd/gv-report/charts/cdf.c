#include "cdf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CDF_H 300.0
#define DEPTH 1e5 /* the least that a scale shows, of the most */

/* What is drawn: one number of the jobs of one length. */
struct cdf {
	const struct runs *r;
	size_t offset;
	enum job_length length;
	bool of_all; /* jobs without a number count as beyond all of those with one */
	struct numbers *of;       /* [r->n] */
	double least, most, mean; /* positive ones; the largest mean of a run */
	bool zeros;
};

static void
collect(struct cdf *c)
{
	size_t i, k;

	c->least = c->most = c->mean = NAN;
	c->of = gv_xcalloc(c->r->n + 1, sizeof(*c->of));
	for (i = 0; i < c->r->n; i++) {
		struct spread s;

		c->of[i] = run_numbers(&c->r->run[i], c->offset, c->length, &s);
		for (k = 0; k < c->of[i].n && !(c->of[i].v[k] > 0); k++)
			continue;
		c->zeros |= k > 0;
		if (k == c->of[i].n)
			continue;
		c->least = fmin(c->least, c->of[i].v[k]);
		c->most = fmax(c->most, s.max);
		c->mean = fmax(c->mean, s.mean);
	}
	c->least = fmax(c->least, c->most / DEPTH);
	if (c->zeros || c->least == c->most) /* 0 stands at the left end */
		c->least /= 2;
}

static void
cdf_free(struct cdf *c)
{
	size_t i;

	for (i = 0; i < c->r->n; i++)
		free(c->of[i].v);
	free(c->of);
}

static void
line(const struct gv_panel *p, const struct cdf *c, size_t i, double unit)
{
	const struct numbers *of = &c->of[i];
	const struct run *run = &c->r->run[i];
	double all =
	    (double)(c->of_all && c->length == LENGTH_UNKNOWN ? run->n_jobs : of->n);
	struct gv_curve curve = {.p = p, .steps = true};
	char cls[GV_CLASS_LEN];
	size_t k;

	if (of->n == 0)
		return;
	gv_curve_point(&curve, p->x.min, 0);
	for (k = 0; k < of->n; k++)
		gv_curve_point(&curve, of->v[k] / unit, (double)(k + 1) / all * 100);
	gv_curve_point(&curve, p->x.max, (double)of->n / all * 100);
	gv_curve_draw(&curve, gv_line_class(cls, i), run->name);
}

static void
panel(struct gv_svg *s, const struct cdf *c, struct gv_box box, const char *title,
    const char *what, struct time_unit unit)
{
	char name[64];
	struct gv_panel p = {.s = s,
	    .box = box,
	    .title = title,
	    .x_name = name,
	    .y_name = "jobs, %",
	    .x = gv_scale_log(c->least / unit.s, c->most / unit.s),
	    .y = {.max = 100}};
	size_t i;

	snprintf(name, sizeof(name), "%s%s%s", what, unit.name[0] != '\0' ? ", " : "",
	    unit.name);
	gv_panel_begin(&p);
	if (c->offset == offsetof(struct outcome, fairness))
		gv_rule_x(&p, 1, "1: as alone");
	for (i = 0; i < c->r->n; i++)
		line(&p, c, i, unit.s);
}

static double
draw(struct gv_svg *s, const struct runs *r, double y, size_t offset, const char *title,
    const char *note, const char *what)
{
	struct cdf c = {.r = r,
	    .offset = offset,
	    .of_all = offset == offsetof(struct outcome, completion_s)};
	struct series legend = series_of_runs(r);
	double head = frame_head(s, y, title, note, r->n > 1 ? &legend : NULL);
	bool is_time = offset != offsetof(struct outcome, fairness);

	series_free(&legend);
	if (s == NULL)
		return head + CDF_H;
	collect(&c);
	panel(s, &c, (struct gv_box){FRAME_X, y + head, INNER_W, CDF_H}, NULL, what,
	    is_time ? unit_of_job(c.mean) : (struct time_unit){"", 1});
	cdf_free(&c);
	return head + CDF_H;
}

double
draw_completion(struct gv_svg *s, const struct runs *r, double y)
{
	return draw(s, r, y, offsetof(struct outcome, completion_s),
	    "Job completion time",
	    "Jobs that were done within a time after their arrival. Further left and "
	    "higher is better.",
	    "completion time");
}

double
draw_queueing(struct gv_svg *s, const struct runs *r, double y)
{
	return draw(s, r, y, offsetof(struct outcome, queueing_s), "Queueing",
	    "Jobs that had GPUs for the first time within a time after their arrival. "
	    "Further left and higher is better.",
	    "time to the first start");
}

double
draw_fairness(struct gv_svg *s, const struct runs *r, double y)
{
	return draw(s, r, y, offsetof(struct outcome, fairness), "Finish-time fairness",
	    "Completion time over that in an equal part of the cluster of one's own. "
	    "Further left is better, over 1 worse than alone.",
	    "finish-time fairness");
}

double
draw_lengths(struct gv_svg *s, const struct runs *r, double y)
{
	size_t offset = offsetof(struct outcome, completion_s), k;
	struct series legend = series_of_runs(r);
	struct time_unit unit = unit_of_job(r->short_s);
	struct grid_of g = grid_of(2, CDF_H);
	char note[160];
	double head;

	snprintf(note, sizeof(note),
	    "Short: ran for no longer than %.3g %s, at least in one run. Jobs that "
	    "finished in all runs.",
	    r->short_s / unit.s, unit.name);
	head = frame_head(s, y, "Completion time of short and long jobs", note,
	    r->n > 1 ? &legend : NULL);
	series_free(&legend);
	for (k = 0; s != NULL && k < 2; k++) {
		struct cdf c = {.r = r,
		    .offset = offset,
		    .length = k == 0 ? LENGTH_SHORT : LENGTH_LONG};
		char title[64];

		snprintf(title, sizeof(title), "%zu %s job%s",
		    k == 0 ? r->n_short : r->n_long, k == 0 ? "short" : "long",
		    (k == 0 ? r->n_short : r->n_long) == 1 ? "" : "s");
		collect(&c);
		panel(s, &c, grid_box(&g, k, y + head), title, "completion time",
		    unit_of_job(c.mean));
		cdf_free(&c);
	}
	return head + grid_height(&g);
}

bool
any_number(const struct runs *r, size_t offset)
{
	size_t i, k;

	for (i = 0; i < r->n; i++) {
		for (k = 0; k < r->run[i].n_jobs; k++) {
			double v;

			memcpy(&v, (const char *)&r->run[i].job[k] + offset, sizeof(v));
			if (!isnan(v))
				return true;
		}
	}
	return false;
}
