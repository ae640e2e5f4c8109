/* Layers that may be on either side of a cut. */
#include "sides.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void
grow(struct sides *s, size_t n)
{
	if (n <= s->cap)
		return;
	while (s->cap < n)
		s->cap = s->cap > 0 ? 2 * s->cap : 64;
	s->before = gv_xrealloc(s->before, s->cap * s->words, sizeof(*s->before));
	s->behind = gv_xrealloc(s->behind, s->cap * s->words, sizeof(*s->behind));
}

static void
unite(uint64_t *to, const uint64_t *bits, size_t words)
{
	size_t w;

	for (w = 0; w < words; w++)
		to[w] |= bits[w];
}

/* How many choices there would be with the layer: those that say nothing of it become two. */
static size_t
with_layer(const struct sides *s, size_t v)
{
	size_t n = s->n, i;

	for (i = 0; i < s->n; i++)
		n += !set_has(s->before + i * s->words, v) &&
		     !set_has(s->behind + i * s->words, v);
	return n;
}

static void
add_layer(struct sides *s, const struct closures *c, size_t v)
{
	size_t known = s->n, i, words = s->words;

	grow(s, 2 * s->n);
	for (i = 0; i < known; i++) {
		uint64_t *before = s->before + i * words, *behind = s->behind + i * words;

		if (set_has(before, v) || set_has(behind, v))
			continue;
		memcpy(s->before + s->n * words, before, words * sizeof(*before));
		memcpy(s->behind + s->n * words, behind, words * sizeof(*behind));
		unite(before, closures_need(c, v), words);
		unite(s->behind + s->n++ * words, closures_feed(c, v), words);
	}
}

struct ranked {
	double rank;
	uint32_t layer;
};

static int
by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rank < y->rank || y->rank < x->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->layer > y->layer) - (x->layer < y->layer);
}

void
sides_rank(uint32_t *layer, size_t n, const double *rank)
{
	struct ranked *r = gv_xcalloc(n, sizeof(*r));
	size_t i;

	for (i = 0; i < n; i++)
		r[i] = (struct ranked){rank[layer[i]], layer[i]};
	qsort(r, n, sizeof(*r), by_rank);
	for (i = 0; i < n; i++)
		layer[i] = r[i].layer;
	free(r);
}

void
sides_make(struct sides *s, const struct closures *c, const uint32_t *layer, size_t n,
    size_t limit)
{
	size_t i;

	*s = (struct sides){.words = c->words};
	grow(s, 1);
	memset(s->before, 0, s->words * sizeof(*s->before));
	memset(s->behind, 0, s->words * sizeof(*s->behind));
	s->n = 1;
	for (i = 0; i < n; i++)
		if (with_layer(s, layer[i]) <= limit)
			add_layer(s, c, layer[i]);
}

void
sides_free(struct sides *s)
{
	free(s->before);
	free(s->behind);
}

void
sides_add(struct sets *found, const struct sides *s, const uint64_t *cut)
{
	uint64_t *set = gv_xcalloc(s->words, sizeof(*set));
	size_t i, w;

	for (i = 0; i < s->n; i++) {
		for (w = 0; w < s->words; w++)
			set[w] = (cut[w] & ~s->behind[i * s->words + w]) |
				 s->before[i * s->words + w];
		sets_add(found, set);
	}
	free(set);
}
