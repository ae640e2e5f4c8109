#include "together.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"

static int
compare(const void *a, const void *b)
{
	const struct gv_together_entry *x = a;
	const struct gv_together_entry *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool
same_pair(const struct gv_together_entry *x, const struct gv_together_entry *y)
{
	return x->a == y->a && x->b == y->b;
}

/* The lower kind first, sorted; of equal ones the first stays.  How many are left. */
static size_t
sort_entries(struct gv_together_entry *entry, size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++) {
		struct gv_together_entry e = entry[i];

		if (e.a > e.b)
			e = (struct gv_together_entry){
			    e.b, e.a, e.type, 0, e.rate_b, e.rate_a};
		if (e.a == e.b)
			e.rate_a = e.rate_b = e.rate_a / 2 + e.rate_b / 2;
		e.rank = (uint32_t)i;
		entry[i] = e;
	}
	if (n > 0)
		qsort(entry, n, sizeof(*entry), compare);
	for (i = 0; i < n; i++)
		if (kept == 0 || !same_pair(&entry[i], &entry[kept - 1]) ||
		    entry[i].type != entry[kept - 1].type)
			entry[kept++] = entry[i];
	return kept;
}

void
gv_together_make(struct gv_together *t, size_t n_kinds, size_t m,
    struct gv_together_entry *entry, size_t n)
{
	size_t i, pairs = 0;

	n = sort_entries(entry, n);
	*t = (struct gv_together){.n_kinds = n_kinds, .m = m};
	for (i = 0; i < n; i++)
		pairs += i == 0 || !same_pair(&entry[i], &entry[i - 1]);
	t->n = pairs;
	t->first = gv_xcalloc(n_kinds + 1, sizeof(*t->first));
	t->with = gv_xcalloc(pairs, sizeof(*t->with));
	t->rate = gv_xcalloc(pairs, 2 * m * sizeof(*t->rate));
	pairs = 0;
	for (i = 0; i < n; i++) {
		double *rate;

		if (i == 0 || !same_pair(&entry[i], &entry[i - 1])) {
			t->with[pairs++] = entry[i].b;
			t->first[entry[i].a + 1]++;
		}
		rate = &t->rate[((pairs - 1) * m + entry[i].type) * 2];
		if (entry[i].rate_a > GV_SMALLEST_RATE &&
		    entry[i].rate_b > GV_SMALLEST_RATE) {
			rate[0] = entry[i].rate_a;
			rate[1] = entry[i].rate_b;
		}
	}
	for (i = 0; i < n_kinds; i++)
		t->first[i + 1] += t->first[i];
}

void
gv_together_free(struct gv_together *t)
{
	free(t->first);
	free(t->with);
	free(t->rate);
	*t = (struct gv_together){0};
}

size_t
gv_together_find(const struct gv_together *t, size_t a, size_t b)
{
	size_t low, high;
	uint32_t other = (uint32_t)(a < b ? b : a);

	if (b < a)
		a = b;
	low = t->first[a];
	high = t->first[a + 1];
	while (low < high) {
		size_t at = low + (high - low) / 2;

		if (t->with[at] == other)
			return at;
		if (t->with[at] < other)
			low = at + 1;
		else
			high = at;
	}
	return SIZE_MAX;
}

void
gv_together_agnostic(struct gv_together *t, const double *capacity)
{
	size_t i, j;
	int k;

	for (i = 0; i < t->n; i++)
		for (k = 0; k < 2; k++) {
			double *rate = &t->rate[i * t->m * 2 + (size_t)k];
			double sum = 0, gpus = 0;

			for (j = 0; j < t->m; j++)
				if (rate[2 * j] > 0) {
					sum += rate[2 * j] * capacity[j];
					gpus += capacity[j];
				}
			for (j = 0; j < t->m; j++)
				if (rate[2 * j] > 0)
					rate[2 * j] = sum / gpus;
		}
}
