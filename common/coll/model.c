#include "coll/model.h"

#include <math.h>

/* So much slower counts as equal: times that are measured scatter. */
#define SLACK .03

/* One that is slower may have been unlucky. */
enum { MISSES = 2 };

/* Bytes per second of all trees. */
static double
rate(const struct gv_trees *t, const struct gv_coll_cost *c)
{
	return t->weight * 1e9 / c->slower;
}

static double
largest_part(const struct gv_trees *t, double bytes)
{
	double largest = 0;
	size_t k;

	for (k = 0; k < t->n_trees; k++)
		largest = fmax(largest, t->tree[k].weight);
	return bytes * largest / t->weight;
}

double
gv_coll_model_s(const struct gv_trees *t, const struct gv_coll_cost *c, double bytes,
    double chunk_bytes)
{
	double whole_s = bytes / rate(t, c), chunks;

	if (bytes <= 0)
		return 0;
	chunks = fmax(1, ceil(largest_part(t, bytes) / chunk_bytes * (1 - 1e-12)));
	return (chunks + (double)t->depth - 1) * (c->chunk_s + whole_s / chunks);
}

double
gv_coll_model_chunk(
    const struct gv_trees *t, const struct gv_coll_cost *c, double bytes, double least)
{
	double part = largest_part(t, bytes), whole_s = bytes / rate(t, c), few, many;
	double chunks = sqrt(whole_s * (double)(t->depth - 1) / c->chunk_s);

	/* the whole number below or above it */
	few = fmax(1, floor(fmin(chunks, part / least)));
	many = few + 1;
	if (part / many >= least && gv_coll_model_s(t, c, bytes, part / many) <
					gv_coll_model_s(t, c, bytes, part / few))
		few = many;
	return fmax(part / few, least);
}

double
gv_coll_bus_factor(const struct gv_trees *t)
{
	double n = t->n;

	switch (t->collective) {
	case GV_ALL_REDUCE:
		return 2 * (n - 1) / n;
	case GV_ALL_GATHER:
	case GV_REDUCE_SCATTER:
		return (n - 1) / n;
	default:
		return 1;
	}
}

/* ---- the search ---- */

void
gv_tune_start(struct gv_tune *t, size_t least, size_t most)
{
	*t = (struct gv_tune){.chunk = least < most ? least : most,
	    .least = least,
	    .most = most,
	    .best_s = HUGE_VAL};
}

static bool
hold(struct gv_tune *t)
{
	t->chunk = t->best;
	return false;
}

bool
gv_tune_next(struct gv_tune *t, double s)
{
	bool slower = s > t->best_s * (1 + SLACK);

	if (s < t->best_s) {
		t->best_s = s;
		t->best = t->chunk;
	}
	t->misses = slower ? t->misses + 1 : 0;
	if (!t->down && t->misses < MISSES && t->chunk < t->most) {
		t->chunk = t->chunk < t->most / 2 ? 2 * t->chunk : t->most;
		return true;
	}
	if (!t->down) {
		t->down = true;
		t->chunk = t->best < t->most / 2 ? 2 * t->best : t->most;
		t->step = t->chunk / 8;
	}
	if (t->step == 0 || t->chunk <= t->best + t->step)
		return hold(t);
	t->chunk -= t->step;
	return true;
}
