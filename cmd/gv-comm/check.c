#include "check.h"

#include <stdlib.h>

#include "base/mem.h"

enum { PERIOD = 1021, VALUES = 61 };

/* Below 2^24 in sum for all ranks there can be. */
static double
value(int rank, size_t i)
{
	return (double)((i % PERIOD * 7 + (size_t)rank * 13) % VALUES) - 20;
}

static double
reduced(const struct check_what *w, size_t i)
{
	double x = value(0, i);
	int r;

	for (r = 1; r < w->trees->n; r++) {
		double y = value(r, i);

		if (w->op == GV_COLL_SUM)
			x += y;
		else if (w->op == GV_COLL_MAX ? y > x : y < x)
			x = y;
	}
	return x;
}

size_t
check_given(const struct check_what *w)
{
	if (w->trees->collective == GV_BROADCAST && w->rank != w->trees->tree[0].root)
		return 0;
	return w->trees->collective == GV_REDUCE_SCATTER ? w->count * (size_t)w->trees->n
							 : w->count;
}

size_t
check_wanted(const struct check_what *w)
{
	if (w->trees->collective == GV_REDUCE && w->rank != w->trees->tree[0].root)
		return 0;
	return w->trees->collective == GV_ALL_GATHER ? w->count * (size_t)w->trees->n
						     : w->count;
}

static void
put(const struct check_what *w, void *b, size_t i, double v)
{
	if (w->type == GV_COLL_FLOAT)
		((float *)b)[i] = (float)v;
	else
		((double *)b)[i] = v;
}

static double
get(const struct check_what *w, const void *b, size_t i)
{
	return w->type == GV_COLL_FLOAT ? (double)((const float *)b)[i]
					: ((const double *)b)[i];
}

void
check_fill(const struct check_what *w, void *in)
{
	size_t n = check_given(w), i;
	size_t from =
	    w->trees->collective == GV_ALL_GATHER ? (size_t)w->rank * w->count : 0;

	for (i = 0; i < n; i++)
		put(w, in, i, value(w->rank, from + i));
}

void
check_spoil(const struct check_what *w, void *out)
{
	size_t n = check_wanted(w), i;

	for (i = 0; i < n; i++)
		put(w, out, i, .5);
}

/* What a rank must have in a period, from element first on; the caller frees. */
static double *
period(const struct check_what *w, int of, size_t first)
{
	double *p = gv_xcalloc(PERIOD, sizeof(*p));
	size_t i;

	for (i = 0; i < PERIOD; i++)
		p[i] = of >= 0 ? value(of, first + i) : reduced(w, first + i);
	return p;
}

/* Of n elements from out[at] on, which are elements first .. of rank of (-1: of all). */
static size_t
wrong_of(const struct check_what *w, const void *out, size_t at, size_t n, int of,
    size_t first)
{
	double *want = period(w, of, first);
	size_t i, j = 0, wrong = 0;

	for (i = 0; i < n; i++) {
		wrong += get(w, out, at + i) != want[j];
		j = j + 1 < PERIOD ? j + 1 : 0;
	}
	free(want);
	return wrong;
}

size_t
check_wrong(const struct check_what *w, const void *out)
{
	size_t wrong = 0;
	int r;

	switch (w->trees->collective) {
	case GV_BROADCAST:
		return wrong_of(w, out, 0, w->count, w->trees->tree[0].root, 0);
	case GV_ALL_GATHER:
		for (r = 0; r < w->trees->n; r++)
			wrong += wrong_of(w, out, (size_t)r * w->count, w->count, r,
			    (size_t)r * w->count);
		return wrong;
	case GV_REDUCE_SCATTER:
		return wrong_of(w, out, 0, w->count, -1, (size_t)w->rank * w->count);
	default:
		return wrong_of(w, out, 0, check_wanted(w), -1, 0);
	}
}
