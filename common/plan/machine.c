/* Machines: from a table, and parts of them. */
#include "plan/machine.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "table/kind.h"

struct columns {
	ptrdiff_t level, gpus, bandwidth, sum;
};

static int
expect_int(const struct gv_frame *f, size_t row, ptrdiff_t column, int64_t most,
    int64_t *v, struct gv_error *e)
{
	if (gv_frame_int(f, row, column, INT64_MIN, v, e) != 0)
		return -1;
	if (*v >= 1 && *v <= most)
		return 0;
	return gv_frame_expected(
	    f, row, column, e, "a whole number from 1 to %lld", (long long)most);
}

/* GB/s in a cell, of which an empty one is otherwise. */
static int
expect_rate(const struct gv_frame *f, size_t row, ptrdiff_t column, double otherwise,
    double *bytes_per_s, struct gv_error *e)
{
	double v = 0;

	if (gv_frame_double(f, row, column, otherwise, &v, e) != 0)
		return -1;
	*bytes_per_s = v * 1e9;
	if (v > 0 && v <= 1e9)
		return 0;
	return gv_frame_expected(f, row, column, e, "a number above 0, up to 1e9");
}

static int
read_row(struct gv_machine *m, const struct gv_frame *f, size_t row,
    const struct columns *c, struct gv_error *e)
{
	int64_t level = 0, gpus = 0;
	double bandwidth = 0, sum = 0;
	int rc = 0;

	rc |= expect_int(f, row, c->level, GV_PLAN_LEVELS, &level, e);
	rc |= expect_int(f, row, c->gpus, GV_PLAN_GPUS, &gpus, e);
	rc |= expect_rate(f, row, c->bandwidth, NAN, &bandwidth, e);
	if (rc == 0)
		rc |= expect_rate(f, row, c->sum, bandwidth / 1e9, &sum, e);
	if (rc != 0)
		return -1;
	if (m->gpus[level - 1] > 0)
		return gv_frame_error(f, row, c->level, e, "a second row for this level");
	m->gpus[level - 1] = (size_t)gpus;
	m->bytes_per_s[level - 1] = bandwidth;
	m->sum_bytes_per_s[level - 1] = sum;
	if ((size_t)level > m->n_levels)
		m->n_levels = (size_t)level;
	return 0;
}

int
gv_machine_read(struct gv_machine *m, const char *path, struct gv_error *e)
{
	struct gv_frame f = {0};
	struct columns c;
	size_t i, l;
	int rc;

	memset(m, 0, sizeof(*m));
	if (gv_frame_load(&f, path, e) != 0)
		return -1;
	rc = gv_frame_expect(&f, GV_KIND_LEVELS, e);
	if (rc == 0) {
		rc |= gv_frame_require(&f, "level", &c.level, e);
		rc |= gv_frame_require(&f, "gpus", &c.gpus, e);
		rc |= gv_frame_require(&f, "gbytes_per_s", &c.bandwidth, e);
	}
	c.sum = gv_frame_find(&f, "sum_gbytes_per_s");
	for (i = 0; i < f.n_rows && (rc == 0 || i > 0); i++)
		rc |= read_row(m, &f, i, &c, e);
	for (l = 0; rc == 0 && (l == 0 || l < m->n_levels); l++)
		if (m->gpus[l] == 0)
			rc = gv_error_at(e, path, 0, NULL, "no row for level %zu", l + 1);
	gv_frame_free(&f);
	return rc;
}

/* ---- in memory ---- */

size_t
gv_machine_component(const struct gv_machine *m, size_t level)
{
	size_t n = 1, l;

	for (l = 0; l < level; l++)
		n *= m->gpus[l];
	return n;
}

void
gv_machine_flatten(struct gv_machine *m)
{
	double sum = gv_machine_sum_rate(m, 0);
	size_t l;

	for (l = 1; l < m->n_levels; l++) {
		m->gpus[0] *= m->gpus[l];
		if (m->bytes_per_s[l] < m->bytes_per_s[0])
			m->bytes_per_s[0] = m->bytes_per_s[l];
		if (gv_machine_sum_rate(m, l) < sum)
			sum = gv_machine_sum_rate(m, l);
	}
	m->sum_bytes_per_s[0] = sum;
	m->n_levels = 1;
}

size_t
gv_machine_take(struct gv_machine *m, size_t gpus)
{
	size_t component = 1, l;

	for (l = 0; gpus > component * m->gpus[l]; l++)
		component *= m->gpus[l];
	if (gpus % component != 0)
		return component;
	m->gpus[l] = gpus / component;
	m->n_levels = l + 1;
	return 0;
}

void
gv_fleet_free(struct gv_fleet *f)
{
	size_t t;

	for (t = 0; t < f->n; t++) {
		free(f->type[t].time_s);
		free(f->type[t].forward_s);
	}
	memset(f, 0, sizeof(*f));
}
