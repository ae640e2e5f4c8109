#include "levels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PANEL_H  210.0
#define SINGLE_H 280.0

bool
any_events(const struct runs *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->run[i].over.running.width_s > 0)
			return true;
	return false;
}

/* ---- stacks ---- */

/* Levels above each other, all with parts of the same length; = {0} is none. */
struct stack {
	double end_s, unit_s;
	double x[BINS + 1], low[BINS], high[BINS];
	double width_s;
	size_t n;
};

/* The longest parts that any of b[0..n) has. */
static double
widest(const struct bins *b, size_t n, double so_far)
{
	size_t i;

	for (i = 0; i < n; i++)
		so_far = fmax(so_far, b[i].width_s);
	return so_far;
}

static void
stack_begin(struct stack *t, double end_s, double unit_s, double width_s)
{
	size_t i;

	*t = (struct stack){.end_s = end_s, .unit_s = unit_s, .width_s = width_s};
	t->n = width_s > 0 ? (size_t)fmin(ceil(end_s / width_s), BINS) : 0;
	for (i = 0; i <= t->n; i++)
		t->x[i] = fmin((double)i * width_s, end_s) / unit_s;
}

/* Adds a level on top, and draws it unless p is NULL. */
static void
stack_add(struct stack *t, const struct gv_panel *p, const struct bins *b, size_t series,
    const char *name)
{
	struct bins wide = *b;
	bool any = false;
	size_t i;

	if (wide.width_s == 0)
		return;
	bins_widen(&wide, t->width_s);
	memcpy(t->low, t->high, sizeof(t->low));
	for (i = 0; i < t->n; i++) {
		double level = bins_mean(&wide, i, t->end_s);

		any |= level > 0;
		t->high[i] += level;
	}
	if (p != NULL && any)
		gv_area(p, gv_fill_class(series), name, t->x, t->low, t->high, t->n);
}

static double
stack_top(const struct stack *t)
{
	double top = 0;
	size_t i;

	for (i = 0; i < t->n; i++)
		top = fmax(top, t->high[i]);
	return top;
}

/* A dashed line of the GPUs that there were. */
static void
line_of_available(
    const struct gv_panel *p, const struct run *run, struct stack *t, double width_s)
{
	struct gv_curve c = {.p = p, .steps = true};
	size_t i;

	stack_begin(t, run->end_s, t->unit_s, width_s);
	for (i = 0; i < run->over.n_types; i++)
		stack_add(t, NULL, &run->over.available[i], 0, NULL);
	if (!(stack_top(t) > 0))
		return;
	for (i = 0; i < t->n; i++) {
		gv_curve_point(&c, t->x[i], t->high[i]);
		gv_curve_point(&c, t->x[i + 1], t->high[i]);
	}
	gv_curve_draw(&c, "c-most", "GPUs there");
}

/* ---- small multiples of stacks ---- */

/* What a figure stacks of each run: n levels, with the series they have. */
struct levels {
	const struct runs *r;
	struct series legend;
	struct gv_hash names; /* of the series */
	const char *title, *note;
	/* the levels of a run, and the number of its i-th one's series */
	const struct bins *(*of)(const struct levels *, const struct run *, size_t *n);
	size_t (*series)(const struct levels *, const struct run *, size_t i);
};

static double
top_of(const struct levels *l, struct stack *t)
{
	double top = 0;
	size_t i, k, n;

	for (k = 0; k < l->r->n; k++) {
		const struct run *run = &l->r->run[k];
		const struct over_time *o = &run->over;
		const struct bins *b = l->of(l, run, &n);
		double width_s = widest(b, n, widest(o->available, o->n_types, 0));

		stack_begin(t, run->end_s, 1, width_s);
		for (i = 0; i < n; i++)
			stack_add(t, NULL, &b[i], 0, NULL);
		top = fmax(top, stack_top(t));
		stack_begin(t, run->end_s, 1, width_s);
		for (i = 0; i < o->n_types; i++)
			stack_add(t, NULL, &o->available[i], 0, NULL);
		top = fmax(top, stack_top(t));
	}
	return top;
}

static void
draw_run(struct gv_svg *s, const struct levels *l, const struct run *run,
    struct gv_box box, double top, struct stack *t)
{
	struct time_unit unit = unit_of_run(l->r->end_s);
	const struct over_time *o = &run->over;
	char x_name[32], note[40] = "";
	struct gv_panel p = {.s = s,
	    .box = box,
	    .title = l->r->n > 1 ? run->name : NULL,
	    .note = note,
	    .x_name = x_name,
	    .y_name = "GPUs",
	    .x = {.max = l->r->end_s / unit.s},
	    .y = gv_scale_count(top)};
	size_t n, i;
	const struct bins *b = l->of(l, run, &n);
	double width_s = widest(b, n, widest(o->available, o->n_types, 0));

	snprintf(x_name, sizeof(x_name), "time, %s", unit.name);
	if (!isnan(run->value[M_UTILISATION]))
		snprintf(
		    note, sizeof(note), "%.1f %% busy", 100 * run->value[M_UTILISATION]);
	gv_panel_begin(&p);
	stack_begin(t, run->end_s, unit.s, width_s);
	for (i = 0; i < n; i++) {
		size_t series;

		if (b[i].width_s == 0)
			continue; /* never held: it has no series */
		series = l->series(l, run, i);
		GV_HOLDS(l->legend.of != NULL); /* what was held has a series */
		stack_add(t, &p, &b[i], series, l->legend.of[series].name);
	}
	line_of_available(&p, run, t, width_s);
}

/* Draws them, and frees what it was given. */
static double
draw_levels(struct gv_svg *s, struct levels *l, double y)
{
	struct grid_of g = grid_of(l->r->n, l->r->n == 1 ? SINGLE_H : PANEL_H);
	double head = frame_head(s, y, l->title, l->note, &l->legend);
	struct stack *t = gv_xcalloc(1, sizeof(*t));
	double top = s != NULL ? top_of(l, t) : 0;
	size_t i;

	for (i = 0; s != NULL && i < g.n; i++)
		draw_run(s, l, &l->r->run[i], grid_box(&g, i, y + head), top, t);
	free(t);
	series_free(&l->legend);
	gv_hash_free(&l->names);
	return head + grid_height(&g);
}

static void
name_series(struct levels *l, const char *name, size_t len)
{
	if (gv_hash_add(&l->names, name, len) == l->legend.n)
		series_add(&l->legend, name, len, true);
}

/* ---- GPU types ---- */

static const struct bins *
busy_levels(const struct levels *l, const struct run *run, size_t *n)
{
	(void)l;
	*n = run->over.n_types;
	return run->over.busy;
}

static size_t
type_series(const struct levels *l, const struct run *run, size_t i)
{
	const struct run_type *t = &run->type[run->type_of[i]];

	return (size_t)gv_hash_find(&l->names, t->name, t->name_len);
}

double
draw_busy(struct gv_svg *s, const struct runs *r, double y)
{
	struct levels l = {.r = r,
	    .title = "GPUs busy",
	    .note = "How many GPUs of each type jobs held. Dashed: how many there were.",
	    .of = busy_levels,
	    .series = type_series};
	size_t i, k;

	for (i = 0; i < r->n; i++) {
		const struct run *run = &r->run[i];

		for (k = 0; k < run->over.n_types; k++)
			name_series(&l, run->type[run->type_of[k]].name,
			    run->type[run->type_of[k]].name_len);
	}
	return draw_levels(s, &l, y);
}

/* ---- who has them ---- */

enum { HELD_ENTITY, HELD_JOB, HELD_SIZE };

static int
held_kind(const struct runs *r)
{
	bool few = true;
	size_t i, most = 0;

	for (i = 0; i < r->n; i++) {
		few &= r->run[i].n_jobs <= FIRST_JOBS;
		if (r->run[i].n_entities > most)
			most = r->run[i].n_entities;
	}
	return most > 2 ? HELD_ENTITY : few ? HELD_JOB : HELD_SIZE;
}

static const struct bins *
held_levels(const struct levels *l, const struct run *run, size_t *n)
{
	int kind = held_kind(l->r);

	*n = kind == HELD_ENTITY ? run->over.n_entities
	     : kind == HELD_JOB  ? (run->n_jobs < FIRST_JOBS ? run->n_jobs : FIRST_JOBS)
				 : GANG_SIZES;
	return kind == HELD_ENTITY ? run->over.of_entity
	       : kind == HELD_JOB  ? run->over.of_job
				   : run->over.of_size;
}

/* The name of a level, in buf if it is none of a table. */
static const char *
held_name(const struct levels *l, const struct run *run, size_t i, char buf[64])
{
	int kind = held_kind(l->r);
	size_t most = gang_size_most(i);

	if (kind == HELD_ENTITY)
		return run->entity[i][0] != '\0' ? run->entity[i] : "no entity";
	if (kind == HELD_JOB)
		return run->job[i].id;
	if (most <= 2)
		snprintf(buf, 64, "jobs of %zu GPU%s", most, most == 1 ? "" : "s");
	else
		snprintf(buf, 64, "of %zu to %zu GPUs", most / 2 + 1, most);
	return buf;
}

static size_t
held_series(const struct levels *l, const struct run *run, size_t i)
{
	char buf[64];
	const char *name = held_name(l, run, i, buf);

	return (size_t)gv_hash_find(&l->names, name, strlen(name));
}

double
draw_held(struct gv_svg *s, const struct runs *r, double y)
{
	struct levels l = {.r = r,
	    .title = "Who has the GPUs",
	    .note = "How many GPUs are held. Dashed: how many there were.",
	    .of = held_levels,
	    .series = held_series};
	struct gv_arena names = {0};
	double height;
	size_t i, k, n;

	for (i = 0; i < r->n; i++) {
		const struct bins *b = held_levels(&l, &r->run[i], &n);

		for (k = 0; k < n; k++) {
			char buf[64];
			const char *name = held_name(&l, &r->run[i], k, buf);

			if (b[k].width_s > 0)
				name_series(&l,
				    gv_arena_strndup(&names, name, strlen(name)),
				    strlen(name));
		}
	}
	height = draw_levels(s, &l, y);
	gv_arena_free(&names);
	return height;
}

/* ---- jobs that wait ---- */

/* What bins a has over bins b, at least 0, [n] of width_s. */
static void
difference(struct stack *t, const struct bins *a, const struct bins *b)
{
	struct bins more = *a, less = *b;
	size_t i;

	bins_widen(&more, t->width_s);
	bins_widen(&less, t->width_s);
	for (i = 0; i < t->n; i++)
		t->high[i] = fmax(
		    bins_mean(&more, i, t->end_s) - bins_mean(&less, i, t->end_s), 0);
}

static void
waiting_of(struct stack *t, const struct run *run, double unit_s)
{
	stack_begin(
	    t, run->end_s, unit_s, fmax(run->active.width_s, run->over.running.width_s));
	if (t->n > 0)
		difference(t, &run->active, &run->over.running);
}

double
draw_waiting(struct gv_svg *s, const struct runs *r, double y)
{
	struct time_unit unit = unit_of_run(r->end_s);
	struct series legend = series_of_runs(r);
	double head = frame_head(s, y, "Jobs that wait",
	    "Jobs that have come, are not done and hold no GPU. Lower is better.",
	    r->n > 1 ? &legend : NULL);
	struct stack *t = gv_xcalloc(1, sizeof(*t));
	char x_name[32];
	struct gv_panel p = {.s = s,
	    .box = {FRAME_X, y + head, INNER_W, SINGLE_H},
	    .x_name = x_name,
	    .y_name = "jobs",
	    .x = {.max = r->end_s / unit.s}};
	double top = 0;
	size_t i, k;

	series_free(&legend);
	for (i = 0; s != NULL && i < r->n; i++) {
		waiting_of(t, &r->run[i], unit.s);
		top = fmax(top, stack_top(t));
	}
	if (s != NULL) {
		snprintf(x_name, sizeof(x_name), "time, %s", unit.name);
		p.y = gv_scale_count(top);
		gv_panel_begin(&p);
	}
	for (i = 0; s != NULL && i < r->n; i++) {
		struct gv_curve c = {.p = &p, .steps = true};
		char cls[GV_CLASS_LEN];

		waiting_of(t, &r->run[i], unit.s);
		for (k = 0; k < t->n; k++) {
			gv_curve_point(&c, t->x[k], t->high[k]);
			gv_curve_point(&c, t->x[k + 1], t->high[k]);
		}
		gv_curve_draw(&c, gv_line_class(cls, i), r->run[i].name);
	}
	free(t);
	return head + SINGLE_H;
}
