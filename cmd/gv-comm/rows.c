#include "rows.h"

#include <math.h>

#include "coll/coll.h"

static size_t
blocks(const struct gv_trees *t)
{
	return gv_collective_has_blocks(t->collective) ? (size_t)t->n : 1;
}

size_t
row_count(const struct gv_trees *t, const struct options *o, int64_t bytes)
{
	return (size_t)bytes / gv_coll_type_size(o->type) / blocks(t);
}

double
row_bytes(const struct gv_trees *t, const struct options *o, size_t count)
{
	return (double)(count * blocks(t) * gv_coll_type_size(o->type));
}

int64_t
row_next(const struct options *o, int64_t bytes)
{
	if (bytes == 0) /* no factor leads away from there */
		return o->most_bytes > 1024 ? 1024
		       : o->most_bytes > 0  ? o->most_bytes
					    : -1;
	return bytes <= o->most_bytes / o->factor ? bytes * o->factor : -1;
}

void
rows_start(struct gv_tabw *w, struct gv_out *out, bool tsv)
{
	static const char *const names[] = {"collective", "size", "count", "type",
	    "redop", "root", "time_us", "algbw", "busbw", "wrong", "chunk_bytes"};
	size_t i;

	gv_tabw_init(w, out, tsv);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		gv_tabw_str(w, names[i]);
	gv_tabw_end(w);
}

/* Rates and times are measured, or of a model: six digits are enough. */
static void
write_rounded(struct gv_tabw *w, double v)
{
	double digits;

	if (!(v > 0) || !isfinite(v)) {
		gv_tabw_double(w, v);
		return;
	}
	digits = pow(10, 5 - floor(log10(v)));
	gv_tabw_double(w, digits > 1 ? round(v * digits) / digits : round(v));
}

void
row_write(struct gv_tabw *w, const struct gv_trees *t, const struct options *o,
    const struct row *r)
{
	double bytes = row_bytes(t, o, r->count);
	double algbw = r->time_s > 0 ? bytes / r->time_s / 1e9 : 0;
	bool reduces = t->collective != GV_BROADCAST && t->collective != GV_ALL_GATHER;

	gv_tabw_str(w, gv_collective_name[t->collective]);
	gv_tabw_double(w, bytes);
	gv_tabw_int(w, (int64_t)r->count);
	gv_tabw_str(w, gv_coll_type_name[o->type]);
	gv_tabw_str(w, reduces ? gv_coll_op_name[o->op] : "");
	gv_tabw_str(
	    w, gv_collective_has_root(t->collective) ? t->name[t->tree[0].root] : "");
	write_rounded(w, r->time_s * 1e6);
	write_rounded(w, algbw);
	write_rounded(w, algbw * gv_coll_bus_factor(t));
	gv_tabw_double(w, r->wrong);
	gv_tabw_double(w, r->chunk_bytes);
	gv_tabw_end(w);
}
