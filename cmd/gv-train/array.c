#include "array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "table/kind.h"

static const double LARGE = 1e30;

static void
array_alloc(struct array *a, size_t n)
{
	a->n = n;
	a->seed = gv_xcalloc(n, sizeof(*a->seed));
	a->order_seed = gv_xcalloc(n, sizeof(*a->order_seed));
	a->coef = gv_xcalloc(n, sizeof(*a->coef));
	a->steps = gv_xcalloc(n, sizeof(*a->steps));
	a->schedule = gv_xcalloc(n, sizeof(*a->schedule));
	a->init = gv_xcalloc(n, sizeof(*a->init));
	a->init_crc = gv_xcalloc(n, sizeof(*a->init_crc));
}

void
array_free(struct array *a)
{
	size_t b;

	free(a->seed);
	free(a->order_seed);
	free(a->coef);
	free(a->steps);
	free(a->schedule);
	for (b = 0; b < a->n; b++)
		free(a->init[b]);
	free(a->init);
	free(a->init_crc);
	memset(a, 0, sizeof(*a));
}

/* One cell within 0..max; the present *v where the cell is empty. */
static int
take_double(const struct gv_frame *f, size_t row, const char *name, double max, double *v,
    struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(f, name);

	if (gv_frame_cell(f, row, column).len == 0)
		return 0;
	if (gv_frame_double(f, row, column, *v, v, e) != 0)
		return -1;
	if (*v < 0 || *v > max)
		return gv_frame_error(
		    f, row, column, e, "expected a number from 0 to %g, got %g", max, *v);
	return 0;
}

static int
take_int(const struct gv_frame *f, size_t row, const char *name, uint64_t *v,
    struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(f, name);
	int64_t n;

	if (gv_frame_int(f, row, column, (int64_t)*v, &n, e) != 0)
		return -1;
	if (n < 0)
		return gv_frame_error(f, row, column, e,
		    "expected a whole number from 0, got %lld", (long long)n);
	*v = (uint64_t)n;
	return 0;
}

static int
take_kind(const struct gv_frame *f, size_t row, const char *name,
    enum schedule_kind *kind, struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(f, name);
	struct gv_cell cell = gv_frame_cell(f, row, column);
	size_t i;

	if (cell.len == 0)
		return 0;
	for (i = 0; i < SCHEDULES; i++)
		if (gv_cell_is(cell, schedule_names[i])) {
			*kind = (enum schedule_kind)i;
			return 0;
		}
	return gv_frame_expected(
	    f, row, column, e, "constant, step, linear, polynomial, cosine or one-cycle");
}

/* A text in the place of *s. */
static void
take_text(const struct gv_frame *f, size_t row, const char *name, char **s)
{
	struct gv_cell c = gv_frame_cell(f, row, gv_frame_find(f, name));

	if (c.len == 0)
		return;
	free(*s);
	*s = gv_xstrndup(c.s, c.len);
}

/* What names a row in messages: FILE:LINE. */
static int
complete(struct array *a, size_t b, const struct gv_frame *f, struct gv_error *e)
{
	char place[GV_ERROR_LEN / 2];

	snprintf(place, sizeof(place), "%s:%ld", f->file, f->line[b]);
	return schedule_complete(&a->schedule[b], a->steps[b], place, e);
}

static int
take_schedule(struct schedule *s, size_t b, const struct gv_frame *f, struct gv_error *e)
{
	int bad = 0;

	bad |= take_kind(f, b, "lr_schedule", &s->kind, e);
	bad |= take_int(f, b, "lr_warmup", &s->warmup, e);
	bad |= take_double(f, b, "lr_start", 1, &s->start, e);
	bad |= take_int(f, b, "lr_total", &s->total, e);
	bad |= take_double(f, b, "lr_end", 1, &s->end, e);
	bad |= take_double(f, b, "lr_power", LARGE, &s->power, e);
	bad |= take_int(f, b, "lr_step", &s->step, e);
	bad |= take_double(f, b, "lr_gamma", LARGE, &s->gamma, e);
	return bad;
}

static void
take_options(struct array *a, size_t b, const struct options *o)
{
	a->seed[b] = o->seed;
	a->order_seed[b] = o->order_seed;
	a->coef[b] = o->coef;
	a->steps[b] = o->steps < 0 ? 0 : (uint64_t)o->steps;
	a->schedule[b] = o->schedule;
	a->init[b] = o->init != NULL ? gv_xstrdup(o->init) : NULL;
}

static int
take_row(struct array *a, size_t b, const struct gv_frame *f, struct gv_error *e)
{
	struct gv_net_coef *c = &a->coef[b];
	int bad = 0;

	bad |= take_int(f, b, "seed", &a->seed[b], e);
	bad |= take_int(f, b, "order_seed", &a->order_seed[b], e);
	bad |= take_int(f, b, "steps", &a->steps[b], e);
	bad |= take_double(f, b, "lr", LARGE, &c->lr, e);
	bad |= take_double(f, b, "momentum", 1, &c->momentum, e);
	bad |= take_double(f, b, "weight_decay", LARGE, &c->weight_decay, e);
	bad |= take_double(f, b, "beta1", 1, &c->beta1, e);
	bad |= take_double(f, b, "beta2", 1, &c->beta2, e);
	bad |= take_double(f, b, "eps", 1, &c->eps, e);
	bad |= take_double(f, b, "clip_norm", LARGE, &c->clip_norm, e);
	bad |= take_double(f, b, "clip_value", LARGE, &c->clip_value, e);
	take_text(f, b, "init", &a->init[b]);
	bad |= take_schedule(&a->schedule[b], b, f, e);
	return bad != 0 ? -1 : complete(a, b, f, e);
}

/* Columns that look like an option's: of others, people's own, nothing is said. */
static void
warn_of_names(const struct gv_frame *f)
{
	static const char *const known[] = {"seed", "order_seed", "steps", "lr",
	    "momentum", "weight_decay", "beta1", "beta2", "eps", "clip_norm",
	    "clip_value", "init", "lr_schedule", "lr_warmup", "lr_start", "lr_total",
	    "lr_end", "lr_power", "lr_step", "lr_gamma"};
	struct gv_error w = {0};

	gv_frame_warn_names(f, known, sizeof(known) / sizeof(known[0]), &w);
	gv_warn_each(&w);
}

static int
read_table(struct array *a, const struct options *o, struct gv_error *e)
{
	struct gv_frame f = {0};
	size_t b;
	int r;

	if (gv_frame_load(&f, o->array, e) != 0)
		return -1;
	r = gv_frame_expect(&f, GV_KIND_ARRAY, e);
	if (r == 0 && !o->common.quiet)
		warn_of_names(&f);
	if (r == 0 && f.n_rows == 0)
		r = gv_error_set(e, "%s: a table without rows", f.file);
	else if (r == 0 && o->steps < 0 && gv_frame_find(&f, "steps") < 0)
		r = gv_error_set(e,
		    "how many steps? --steps, GV_TOTAL_STEPS or a column \"steps\" in %s",
		    f.file);
	if (r == 0)
		array_alloc(a, f.n_rows);
	for (b = 0; r == 0 && b < a->n; b++) {
		take_options(a, b, o);
		if (take_row(a, b, &f, e) != 0 && e->count >= GV_ERROR_KEPT)
			break;
	}
	gv_frame_free(&f);
	return r != 0 || e->count > 0 ? -1 : 0;
}

int
array_read(struct array *a, const struct options *o, struct gv_error *e)
{
	if (o->array != NULL) {
		if (read_table(a, o, e) == 0)
			return 0;
		array_free(a);
		return -1;
	}
	if (o->steps < 0)
		return gv_error_set(e, "how many steps? --steps or GV_TOTAL_STEPS");
	array_alloc(a, 1);
	take_options(a, 0, o);
	return schedule_complete(&a->schedule[0], a->steps[0], "--lr-schedule", e);
}

static void
add(struct gv_strbuf *s, const char *name, double v)
{
	char buf[GV_NUM_LEN];

	gv_format_double(buf, v);
	gv_strbuf_fmt(s, " %s=%s", name, buf);
}

void
array_describe(
    const struct array *a, size_t b, enum gv_optimiser kind, struct gv_strbuf *s)
{
	const struct gv_net_coef *c = &a->coef[b];

	gv_strbuf_fmt(s, "seed=%" PRIu64, a->seed[b]);
	if (a->order_seed[b] != 1)
		gv_strbuf_fmt(s, " order_seed=%" PRIu64, a->order_seed[b]);
	add(s, "lr", c->lr);
	schedule_describe(&a->schedule[b], s);
	if (kind == GV_SGD) {
		add(s, "momentum", c->momentum);
	} else {
		add(s, "beta1", c->beta1);
		add(s, "beta2", c->beta2);
		add(s, "eps", c->eps);
	}
	add(s, "weight_decay", c->weight_decay);
	if (a->init[b] != NULL)
		gv_strbuf_fmt(s, " init=%08" PRIx32, a->init_crc[b]);
	if (c->clip_norm > 0)
		add(s, "clip_norm", c->clip_norm);
	if (c->clip_value > 0)
		add(s, "clip_value", c->clip_value);
}

double
array_rate(const struct array *a, size_t b, uint64_t step)
{
	return schedule_rate(&a->schedule[b], a->coef[b].lr, step);
}

uint64_t
array_last(const struct array *a)
{
	uint64_t last = 0;
	size_t b;

	for (b = 0; b < a->n; b++)
		if (a->steps[b] > last)
			last = a->steps[b];
	return last;
}
