#include "shape.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/shm.h"

struct shape {
	const struct ways *ways;
	void *shared;
	_Atomic int64_t *taken; /* [n_links], in shared: ns since begun */
	double begun;
};

int
shape_new(struct shape **made, const struct ways *ways, struct gv_error *e)
{
	struct shape *s = gv_xcalloc(1, sizeof(*s));

	s->ways = ways;
	s->begun = gv_clock_s();
	s->taken = s->shared = gv_shm_new((ways->n_links + 1) * sizeof(*s->taken), e);
	*made = s;
	if (s->shared != NULL)
		return 0;
	shape_free(s);
	return -1;
}

void
shape_free(struct shape *s)
{
	if (s == NULL)
		return;
	gv_shm_free(s->shared, (s->ways->n_links + 1) * sizeof(*s->taken));
	free(s);
}

/* Takes the next so many nanoseconds of a link, not before at; when they begin. */
static int64_t
take(_Atomic int64_t *taken, int64_t at, int64_t ns)
{
	int64_t was = atomic_load(taken), from;

	do
		from = was > at ? was : at;
	while (!atomic_compare_exchange_weak(taken, &was, from + ns));
	return from;
}

static double
due(void *ctx, size_t tree, bool up, int below, size_t bytes, double ready)
{
	struct shape *s = ctx;
	const struct way *w = way_of(s->ways, tree, up, below);
	double from = fmax(ready, gv_clock_s() - SHAPE_LATE_S);
	int64_t at = (int64_t)((from - s->begun) * 1e9), end = at;
	size_t h;

	for (h = w->first; h < w->first + w->n; h++) {
		size_t l = s->ways->hop[h];
		int64_t ns =
		    (int64_t)((double)bytes / s->ways->link[l].bytes_per_s * 1e9);

		at = take(&s->taken[l], at, ns);
		end = at + ns > end ? at + ns : end;
	}
	return s->begun + (double)end * 1e-9;
}

struct gv_coll_pace
shape_pace(struct shape *s)
{
	return (struct gv_coll_pace){s != NULL ? due : NULL, s};
}
