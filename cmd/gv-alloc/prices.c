#include "prices.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "table/tab.h"

/* The last price of one source for one type. */
struct offer {
	ptrdiff_t type; /* in the cluster */
	double time_s;
	double usd_per_h;
};

struct offers {
	struct gv_hash sources;
	struct gv_hash keys; /* (source, type): an offer */
	size_t (*key)[2];    /* [rows] */
	struct offer *offer; /* [rows] */
	size_t n;
};

struct columns {
	ptrdiff_t gpu_type, usd_per_h, time_s, source;
};

/* A row of the table; *use is false where it says nothing of the cluster until then. */
static int
read_row(const struct gv_cluster *c, const struct gv_frame *f, size_t row,
    const struct columns *col, double at_s, struct offer *o, bool *use,
    struct gv_error *e)
{
	int rc = 0;

	o->type = gv_cluster_find(c, gv_frame_cell(f, row, col->gpu_type));
	rc |= gv_frame_double(f, row, col->time_s, 0, &o->time_s, e);
	rc |= gv_frame_not_negative(f, row, col->usd_per_h, NAN, &o->usd_per_h, e);
	*use = rc == 0 && o->type >= 0 && o->time_s <= at_s;
	return rc;
}

/* Of two prices of one source and time the later row counts. */
static void
take(struct offers *all, const struct offer *o, struct gv_cell source, size_t row)
{
	size_t i;

	all->key[row][0] = gv_hash_add(&all->sources, source.s, source.len);
	all->key[row][1] = (size_t)o->type;
	i = gv_hash_add(&all->keys, (const char *)all->key[row], sizeof(all->key[row]));
	if (i == all->n || o->time_s >= all->offer[i].time_s)
		all->offer[i] = *o;
	all->n = all->keys.n;
}

static void
set_lowest(struct gv_cluster *c, const struct offers *all)
{
	bool *seen = gv_xcalloc(c->n_types, sizeof(*seen));
	size_t i;

	for (i = 0; i < all->n; i++) {
		struct gv_gpu_type *t = &c->type[all->offer[i].type];

		if (!seen[all->offer[i].type] || all->offer[i].usd_per_h < t->usd_per_h)
			t->usd_per_h = all->offer[i].usd_per_h;
		seen[all->offer[i].type] = true;
	}
	free(seen);
}

int
prices_read(struct gv_cluster *c, const char *path, double at_s, struct gv_error *e)
{
	struct gv_frame f = {0};
	struct offers all = {0};
	struct columns col;
	size_t row;
	int rc;

	if (gv_frame_load(&f, path, e) != 0)
		return -1;
	rc = gv_frame_require(&f, "gpu_type", &col.gpu_type, e);
	rc |= gv_frame_require(&f, "usd_per_h", &col.usd_per_h, e);
	col.time_s = gv_frame_find(&f, "time_s");
	col.source = gv_frame_find(&f, "source");
	all.key = gv_xcalloc(f.n_rows, sizeof(*all.key));
	all.offer = gv_xcalloc(f.n_rows, sizeof(*all.offer));
	for (row = 0; rc == 0 && row < f.n_rows; row++) {
		struct offer o;
		bool use;

		rc = read_row(c, &f, row, &col, at_s, &o, &use, e);
		if (use)
			take(&all, &o, gv_frame_cell(&f, row, col.source), row);
	}
	if (rc == 0)
		set_lowest(c, &all);
	gv_hash_free(&all.sources);
	gv_hash_free(&all.keys);
	free(all.key);
	free(all.offer);
	gv_frame_free(&f);
	return rc == 0 ? 0 : -1;
}
