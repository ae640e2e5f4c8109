/*
 * Samples in a table: one row each; the label's column holds whole numbers from
 * 0 up, or any numbers where a model wants these; all other columns are features in the order of the header.
 */
#include "data/data.h"

#include <float.h>
#include <math.h>

#include "base/mem.h"
#include "table/tab.h"

enum { CLASSES_MAX = 1 << 20 };

static int
read_label(const struct gv_tab *t, size_t column, int32_t *y, struct gv_error *e)
{
	int64_t v;

	if (gv_tab_int(t, column, &v, e) != 0)
		return -1;
	if (v < 0 || v >= CLASSES_MAX)
		return gv_tab_error(t, column, e,
		    "expected a label from 0 to %d, got %lld", CLASSES_MAX - 1,
		    (long long)v);
	*y = (int32_t)v;
	return 0;
}

static int
read_value(const struct gv_tab *t, size_t column, float *to, struct gv_error *e)
{
	double v;

	if (gv_tab_double(t, column, &v, e) != 0)
		return -1;
	if (fabs(v) > FLT_MAX)
		return gv_tab_error(t, column, e, "%g does not fit a 32-bit float", v);
	*to = (float)v;
	return 0;
}

static int
read_features(const struct gv_tab *t, size_t label, float *x, struct gv_error *e)
{
	size_t j, k = 0;

	for (j = 0; j < gv_tab_columns(t); j++) {
		if (j == label)
			continue;
		if (read_value(t, j, &x[k++], e) != 0)
			return -1;
	}
	return 0;
}

static void
find_range(struct gv_data *d)
{
	size_t i, n = d->n * d->size;

	d->low = d->high = d->x[0];
	for (i = 1; i < n; i++) {
		d->low = fminf(d->low, d->x[i]);
		d->high = fmaxf(d->high, d->x[i]);
	}
}

static int
read_rows(struct gv_data *d, struct gv_tab *t, const char *label, bool numbers,
    struct gv_error *e)
{
	size_t column, cap_x = 0, cap_y = 0;
	int r;

	r = gv_tab_table(t, e);
	if (r <= 0)
		return -1;
	if (gv_tab_require(t, label, &column, e) != 0)
		return -1;
	d->c = d->size = gv_tab_columns(t) - 1;
	d->h = d->w = 1;
	if (d->size == 0)
		return gv_error_set(
		    e, "%s: no columns beside \"%s\"", gv_tab_file(t), label);
	while ((r = gv_tab_next(t, e)) != 0) {
		if (r == -1)
			continue;
		d->x = gv_xgrow(d->x, &cap_x, (d->n + 1) * d->size, sizeof(*d->x));
		if (numbers)
			d->t = gv_xgrow(d->t, &cap_y, d->n + 1, sizeof(*d->t));
		else
			d->y = gv_xgrow(d->y, &cap_y, d->n + 1, sizeof(*d->y));
		if ((numbers ? read_value(t, column, &d->t[d->n], e)
			     : read_label(t, column, &d->y[d->n], e)) == 0 &&
		    read_features(t, column, d->x + d->n * d->size, e) == 0)
			d->n++;
	}
	if (e->count > 0)
		return -1;
	if (d->n == 0)
		return gv_error_set(e, "%s: a table without rows", gv_tab_file(t));
	find_range(d);
	return 0;
}

int
gv_data_table(struct gv_data *d, const char *path, const char *label, bool numbers,
    struct gv_error *e)
{
	struct gv_tab *t;
	int r;

	if (gv_tab_open(&t, path, e) != 0)
		return -1;
	r = read_rows(d, t, label, numbers, e);
	gv_tab_close(t);
	return r;
}
