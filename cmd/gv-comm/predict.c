#include "predict.h"

#include <math.h>

#include "simulate.h"

enum { PAGE = 4096 };

/* What the tree of the largest weight carries, at least a byte. */
static double
largest_part(const struct gv_trees *t, double bytes)
{
	double largest = 0;
	size_t k;

	for (k = 0; k < t->n_trees; k++)
		largest = fmax(largest, t->tree[k].weight);
	return fmax(1, ceil(bytes * largest / t->weight));
}

double
even_chunk(const struct gv_trees *t, double bytes, double chunk_bytes)
{
	double part = largest_part(t, bytes);

	return ceil(part / ceil(part / chunk_bytes));
}

void
search_start(struct gv_tune *s, const struct gv_trees *t, double bytes)
{
	gv_tune_start(s, PAGE, (size_t)largest_part(t, bytes));
}

static double
time_of(const struct gv_trees *t, const struct options *o, const struct ways *ways,
    size_t count, double chunk_bytes)
{
	if (ways != NULL)
		return simulate_s(ways, &o->cost, count, gv_coll_type_size(o->type),
		    (size_t)chunk_bytes);
	return gv_coll_model_s(t, &o->cost, row_bytes(t, o, count), chunk_bytes);
}

static double
search(const struct gv_trees *t, const struct options *o, const struct ways *ways,
    size_t count)
{
	struct gv_tune s;
	double time_s;

	search_start(&s, t, row_bytes(t, o, count));
	do
		time_s = time_of(t, o, ways, count, (double)s.chunk);
	while (gv_tune_next(&s, time_s));
	return (double)s.chunk;
}

void
predict(struct row *r, const struct gv_trees *t, const struct options *o,
    const struct ways *ways, int64_t bytes)
{
	double size;

	*r = (struct row){.count = row_count(t, o, bytes), .wrong = NAN};
	size = row_bytes(t, o, r->count);
	r->chunk_bytes = fmin((double)o->chunk_bytes, largest_part(t, size));
	if (o->chunk_by == CHUNK_SEARCH)
		r->chunk_bytes = search(t, o, ways, r->count);
	else if (o->chunk_by == CHUNK_FORMULA)
		r->chunk_bytes = gv_coll_model_chunk(
		    t, &o->cost, size, (double)gv_coll_type_size(o->type));
	r->chunk_bytes = even_chunk(t, size, r->chunk_bytes);
	r->time_s = time_of(t, o, ways, r->count, r->chunk_bytes);
}
