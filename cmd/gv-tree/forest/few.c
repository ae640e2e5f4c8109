#include "few.h"

#include <stdlib.h>

#include "base/mem.h"

void
few_fabric(struct fabric *to, const struct fabric *f, struct ratio weight)
{
	size_t i;

	fabric_copy(to, f);
	for (i = 0; i < f->n * f->n; i++)
		to->cap[i] = f->cap[i] * weight.under / weight.over;
}

static int
greatest_first(const void *x, const void *y)
{
	const struct ratio *a = x, *b = y;
	int64_t left = a->over * b->under, right = b->over * a->under;

	return left > right ? -1 : left < right;
}

static int
by_size(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* cap / j of each capacity, j = 1 .. most, the greatest first. */
static struct ratio *
weights(const struct fabric *f, size_t most, size_t *n)
{
	size_t cells = f->n * f->n, i, j;
	int64_t *cap = gv_xcalloc(cells + 1, sizeof(*cap)), last = 0;
	struct ratio *w = NULL;
	size_t room = 0;

	for (i = 0; i < cells; i++)
		cap[i] = f->cap[i];
	qsort(cap, cells, sizeof(*cap), by_size);
	for (i = 0, *n = 0; i < cells; i++) {
		if (cap[i] == last)
			continue;
		last = cap[i];
		for (j = 1; j <= most; j++) {
			w = gv_xgrow(w, &room, *n + 1, sizeof(*w));
			w[(*n)++] = (struct ratio){cap[i], (int64_t)j};
		}
	}
	free(cap);
	if (w != NULL)
		qsort(w, *n, sizeof(*w), greatest_first);
	return w;
}

struct ratio
few_weight(const struct fabric *f, size_t most, size_t roots,
    bool (*fits)(void *ctx, const struct fabric *f, size_t k), void *ctx, size_t *k)
{
	size_t n, i, low, high;
	struct ratio *w = weights(f, most * roots, &n), best = {0, 1};

	*k = 0;
	for (i = 1; i <= most; i++) {
		/* smaller weights fit more trees */
		for (low = 0, high = n; low < high;) {
			size_t middle = (low + high) / 2;
			struct fabric counted;

			few_fabric(&counted, f, w[middle]);
			if (fits(ctx, &counted, i))
				high = middle;
			else
				low = middle + 1;
			fabric_free(&counted);
		}
		if (low < n && (int64_t)i * w[low].over * best.under >
				   (int64_t)*k * best.over * w[low].under) {
			best = w[low];
			*k = i;
		}
	}
	free(w);
	return best;
}

/* Each root sends k trees to all. */
static bool
roots_fit(void *ctx, const struct fabric *f, size_t k)
{
	struct ratio x = forest_rate(f, ctx, NULL);

	return x.over >= (int64_t)k * x.under;
}

int
few_pack(struct forest *t, const struct fabric *f, const struct demand *d, size_t most,
    struct gv_error *e)
{
	struct demand asked = *d;
	struct fabric counted;
	struct ratio w;
	size_t k;
	int rc;

	*t = (struct forest){.unit = {f->unit, 1}};
	w = few_weight(f, most, (size_t)d->sum, roots_fit, &asked, &k);
	if (k == 0)
		return forest_unreached(f, d, e);
	few_fabric(&counted, f, w);
	rc = forest_pack_rate(t, &counted, d, (int64_t)k, e);
	t->unit = (struct ratio){f->unit * w.over, w.under};
	fabric_free(&counted);
	return rc;
}
