#include "predict.h"

#include <math.h>

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
search(const struct gv_trees *t, const struct options *o, double bytes)
{
	struct gv_tune s;
	double time_s;

	search_start(&s, t, bytes);
	do
		time_s = gv_coll_model_s(t, &o->cost, bytes, (double)s.chunk);
	while (gv_tune_next(&s, time_s));
	return (double)s.chunk;
}

void
predict(struct row *r, const struct gv_trees *t, const struct options *o, int64_t bytes)
{
	double size;

	*r = (struct row){.count = row_count(t, o, bytes), .wrong = NAN};
	size = row_bytes(t, o, r->count);
	r->chunk_bytes = fmin((double)o->chunk_bytes, largest_part(t, size));
	if (o->chunk_by == CHUNK_SEARCH)
		r->chunk_bytes = search(t, o, size);
	else if (o->chunk_by == CHUNK_FORMULA)
		r->chunk_bytes = gv_coll_model_chunk(
		    t, &o->cost, size, (double)gv_coll_type_size(o->type));
	r->chunk_bytes = even_chunk(t, size, r->chunk_bytes);
	r->time_s = gv_coll_model_s(t, &o->cost, size, r->chunk_bytes);
}
