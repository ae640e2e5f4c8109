#include "draw.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

struct drawn {
	uint64_t at;
	struct gv_cell id;
	size_t row;
};

static int
by_draw(const void *a, const void *b)
{
	const struct drawn *x = a;
	const struct drawn *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return strcmp(x->id.s, y->id.s);
}

/* FNV-1a, 64 bits. */
static uint64_t
hash(struct gv_cell id)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < id.len; i++)
		h = (h ^ (unsigned char)id.s[i]) * UINT64_C(0x100000001b3);
	return h;
}

void
gv_draw_order(
    struct gv_problem *p, uint64_t seed, const struct gv_rates *r, const size_t *row)
{
	struct drawn *job = gv_xcalloc(p->n, sizeof(*job));
	size_t i, n = 0;

	for (i = 0; i < r->n_jobs; i++)
		if (row[i] != SIZE_MAX)
			job[n++] =
			    (struct drawn){gv_random(seed, 0, 0, hash(r->job[i].id)),
				r->job[i].id, row[i]};
	qsort(job, n, sizeof(*job), by_draw);
	for (i = 0; i < n; i++)
		p->number[GV_NUMBER_DRAW][job[i].row] = (double)i;
	free(job);
}
