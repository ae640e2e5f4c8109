#include "warm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "table/kind.h"

struct columns {
	ptrdiff_t gpu_type, price, gain_price, level, policy;
};

static int
find_columns(struct columns *c, const struct gv_frame *f, struct gv_error *e)
{
	int rc;

	if (gv_frame_expect(f, GV_KIND_REMEMBERED, e) != 0)
		return -1;
	rc = gv_frame_require(f, "gpu_type", &c->gpu_type, e);
	rc |= gv_frame_require(f, "price", &c->price, e);
	rc |= gv_frame_require(f, "gain_price", &c->gain_price, e);
	rc |= gv_frame_require(f, "level", &c->level, e);
	rc |= gv_frame_require(f, "policy", &c->policy, e);
	return rc;
}

/* The types of a problem are in order of their names: how many stand before this one. */
static size_t
position(const struct gv_cluster *c, size_t type)
{
	size_t k, n = 0;

	for (k = 0; k < c->n_types; k++)
		n += strcmp(c->type[k].name, c->type[type].name) < 0;
	return n;
}

/* 1 it is of this cluster and policy, 0 it is not, -1 with *e set. */
static int
take_rows(struct gv_price_memory *m, const struct gv_frame *f, const struct columns *col,
    const struct gv_cluster *c, const char *policy, struct gv_error *e)
{
	bool *seen = gv_xcalloc(c->n_types, sizeof(*seen));
	bool known[2] = {true, true};
	size_t row, n = 0;
	int rc = 0;

	for (row = 0; row < f->n_rows; row++) {
		ptrdiff_t type = gv_cluster_find(c, gv_frame_cell(f, row, col->gpu_type));
		double price[2];

		rc |= gv_frame_not_negative(f, row, col->price, 0, &price[0], e);
		rc |= gv_frame_not_negative(f, row, col->gain_price, 0, &price[1], e);
		rc |= gv_frame_not_negative(f, row, col->level, 0, &m->level, e);
		known[0] = known[0] && gv_frame_cell(f, row, col->price).len > 0;
		known[1] = known[1] && gv_frame_cell(f, row, col->gain_price).len > 0;
		if (rc != 0 || type < 0 || seen[type] ||
		    !gv_cell_is(gv_frame_cell(f, row, col->policy), policy))
			continue;
		seen[type] = true;
		n++;
		m->capacity_price[position(c, (size_t)type)] = price[0];
		m->gain_capacity_price[position(c, (size_t)type)] = price[1];
	}
	free(seen);
	if (!known[0]) {
		free(m->capacity_price);
		m->capacity_price = NULL;
	}
	if (!known[1]) {
		free(m->gain_capacity_price);
		m->gain_capacity_price = NULL;
	}
	return rc != 0 ? -1 : n == c->n_types && n == f->n_rows;
}

int
warm_read(struct gv_price_memory *memory, const char *path, const struct gv_cluster *c,
    const char *policy, struct gv_error *e)
{
	struct gv_frame f = {0};
	struct columns col;
	int rc;

	if (access(path, F_OK) != 0)
		return 0;
	if (gv_frame_load(&f, path, e) != 0)
		return -1;
	memory->m = c->n_types;
	memory->capacity_price = gv_xcalloc(c->n_types, sizeof(*memory->capacity_price));
	memory->gain_capacity_price =
	    gv_xcalloc(c->n_types, sizeof(*memory->gain_capacity_price));
	rc = find_columns(&col, &f, e);
	if (rc == 0)
		rc = take_rows(memory, &f, &col, c, policy, e);
	if (rc != 1)
		gv_price_forget(memory);
	gv_frame_free(&f);
	return rc < 0 ? -1 : 0;
}

int
warm_write(const struct gv_price_memory *memory, const char *path,
    const struct gv_cluster *c, const char *policy, struct gv_error *e)
{
	const double *const price[] = {
	    memory->capacity_price, memory->gain_capacity_price};
	struct gv_out *out;
	struct gv_tabw w;
	size_t i, k;

	if (gv_out_open(&out, path, e) != 0)
		return -1;
	gv_tabw_init(&w, out, false);
	gv_tabw_str(&w, "gpu_type");
	gv_tabw_str(&w, "price");
	gv_tabw_str(&w, "gain_price");
	gv_tabw_str(&w, "level");
	gv_tabw_str(&w, "policy");
	gv_tabw_end(&w);
	for (i = 0; i < c->n_types; i++) {
		gv_tabw_str(&w, c->type[i].name);
		for (k = 0; k < 2; k++)
			if (price[k] != NULL && memory->m == c->n_types)
				gv_tabw_double(&w, price[k][position(c, i)]);
			else
				gv_tabw_empty(&w);
		gv_tabw_double(&w, memory->level);
		gv_tabw_str(&w, policy);
		gv_tabw_end(&w);
	}
	return gv_out_close(out, e);
}
