#include "array.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "table/tab.h"

static const double LARGE = 1e30;

static void
array_alloc(struct array *a, size_t n)
{
	a->n = n;
	a->seed = gv_xcalloc(n, sizeof(*a->seed));
	a->coef = gv_xcalloc(n, sizeof(*a->coef));
	a->steps = gv_xcalloc(n, sizeof(*a->steps));
	a->lr_step = gv_xcalloc(n, sizeof(*a->lr_step));
	a->lr_gamma = gv_xcalloc(n, sizeof(*a->lr_gamma));
}

void
array_free(struct array *a)
{
	free(a->seed);
	free(a->coef);
	free(a->steps);
	free(a->lr_step);
	free(a->lr_gamma);
	memset(a, 0, sizeof(*a));
}

/* One cell within 0..max; the present *v where the cell is empty. */
static int
take_double(const struct gv_frame *f, size_t row, const char *name, double max, double *v,
    struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(f, name);

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

static void
take_options(struct array *a, size_t b, const struct options *o)
{
	a->seed[b] = o->seed;
	a->coef[b] = o->coef;
	a->steps[b] = o->steps < 0 ? 0 : (uint64_t)o->steps;
	a->lr_step[b] = (uint64_t)o->lr_step;
	a->lr_gamma[b] = o->lr_gamma;
}

static int
take_row(struct array *a, size_t b, const struct gv_frame *f, struct gv_error *e)
{
	struct gv_net_coef *c = &a->coef[b];
	int bad = 0;

	bad |= take_int(f, b, "seed", &a->seed[b], e);
	bad |= take_int(f, b, "steps", &a->steps[b], e);
	bad |= take_int(f, b, "lr_step", &a->lr_step[b], e);
	bad |= take_double(f, b, "lr_gamma", LARGE, &a->lr_gamma[b], e);
	bad |= take_double(f, b, "lr", LARGE, &c->lr, e);
	bad |= take_double(f, b, "momentum", 1, &c->momentum, e);
	bad |= take_double(f, b, "weight_decay", LARGE, &c->weight_decay, e);
	bad |= take_double(f, b, "beta1", 1, &c->beta1, e);
	bad |= take_double(f, b, "beta2", 1, &c->beta2, e);
	bad |= take_double(f, b, "eps", 1, &c->eps, e);
	return bad;
}

static int
read_table(struct array *a, const struct options *o, struct gv_error *e)
{
	struct gv_frame f = {0};
	size_t b;
	int r = 0;

	if (gv_frame_load(&f, o->array, e) != 0)
		return -1;
	if (f.n_rows == 0)
		r = gv_error_set(e, "%s: a table without rows", f.file);
	else if (o->steps < 0 && gv_frame_find(&f, "steps") < 0)
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
	return 0;
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
	add(s, "lr", c->lr);
	if (a->lr_step[b] > 0) {
		gv_strbuf_fmt(s, " lr_step=%" PRIu64, a->lr_step[b]);
		add(s, "lr_gamma", a->lr_gamma[b]);
	}
	if (kind == GV_SGD) {
		add(s, "momentum", c->momentum);
	} else {
		add(s, "beta1", c->beta1);
		add(s, "beta2", c->beta2);
		add(s, "eps", c->eps);
	}
	add(s, "weight_decay", c->weight_decay);
}

/* By multiplication: pow's last digit differs between libraries. */
double
array_rate(const struct array *a, size_t b, uint64_t step)
{
	double factor = 1, base = a->lr_gamma[b];
	uint64_t n = a->lr_step[b] > 0 ? step / a->lr_step[b] : 0;

	for (; n > 0; n >>= 1) {
		if (n & 1)
			factor *= base;
		base *= base;
	}
	return a->coef[b].lr * factor;
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
