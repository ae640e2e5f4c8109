/*
 * The times of components: how fast a pipeline between two prefixes can be on one
 * of them.  Each is found when a stage of the level above may need it, and kept.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search.h"

struct key {
	uint32_t from, to;
	uint32_t base, copies;
	uint32_t level;
};

/* Exact when time_s is finite; else the time is above limit_s. */
struct time {
	struct key key; /* to is 0 where nothing is */
	double time_s;
	double limit_s;
};

/* Found by hashing. */
struct times {
	size_t n, n_slots; /* a power of two */
	struct time *slot;
};

static size_t
hash(const struct key *key)
{
	uint64_t h = (uint64_t)key->from << 32 | key->to;

	h = (h ^ h >> 32) * 0xff51afd7ed558ccd;
	h ^= ((uint64_t)key->base << 32 | key->copies << 3) + key->level;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53;
	return (size_t)(h ^ h >> 33);
}

static bool
same(const struct key *a, const struct key *b)
{
	return a->from == b->from && a->to == b->to && a->base == b->base &&
	       a->copies == b->copies && a->level == b->level;
}

/* Where the key is, or would be. */
static struct time *
find(const struct times *t, const struct key *key)
{
	size_t at = hash(key) & (t->n_slots - 1);

	while (t->slot[at].key.to != 0 && !same(&t->slot[at].key, key))
		at = (at + 1) & (t->n_slots - 1);
	return &t->slot[at];
}

static void
more_slots(struct times *t)
{
	struct times more = {.n = t->n, .n_slots = 2 * t->n_slots};
	size_t i;

	more.slot = gv_xcalloc(more.n_slots, sizeof(*more.slot));
	for (i = 0; i < t->n_slots; i++)
		if (t->slot[i].key.to != 0)
			*find(&more, &t->slot[i].key) = t->slot[i];
	free(t->slot);
	t->slot = more.slot;
	t->n_slots = more.n_slots;
}

static struct key
key_of(size_t level, const struct context *c, uint32_t from, uint32_t to)
{
	struct key key = {
	    from, to, (uint32_t)c->base, (uint32_t)c->copies, (uint32_t)level};

	return key;
}

static void
put(struct times *t, const struct key *key, double time_s, double limit_s)
{
	struct time *slot;

	if (2 * t->n >= t->n_slots)
		more_slots(t);
	slot = find(t, key);
	if (slot->key.to == 0)
		t->n++;
	slot->key = *key;
	slot->time_s = time_s;
	slot->limit_s = limit_s;
}

static bool
known(const struct times *t, const struct key *key, double limit_s)
{
	const struct time *slot;

	slot = find(t, key);
	return slot->key.to != 0 && (isfinite(slot->time_s) || slot->limit_s >= limit_s);
}

double
times_get(const struct search *x, size_t level, const struct context *c, uint32_t from,
    uint32_t to)
{
	struct key key = key_of(level, c, from, to);
	const struct time *slot;

	slot = find(x->times, &key);
	return slot->key.to != 0 ? slot->time_s : INFINITY;
}

struct times *
times_new(void)
{
	struct times *t = gv_xcalloc(1, sizeof(*t));

	t->n_slots = 1024;
	t->slot = gv_xcalloc(t->n_slots, sizeof(*t->slot));
	return t;
}

void
times_free(struct times *t)
{
	free(t->slot);
	free(t);
}

/* ---- those that a column needs ---- */

/* The longest that a component may take from the a-th to the b-th prefix with these replicas. */
static double
longest(const struct column *k, size_t a, size_t b, size_t low, size_t high)
{
	const struct search *x = k->x;
	struct stage_size size = search_stage(x, k->prefix[a], k->prefix[b]);
	double most = -1, room;
	size_t m;

	for (m = low; m <= high; m++) {
		room = stage_room(&x->o->rules, x->m, k->level, &size, m,
		    k->source_s[a] >= 0, k->limit_s);
		if (room > most)
			most = room;
	}
	return most;
}

/* Finds those that end at the b-th prefix, in this context, for stages of m components, or any when m is 0. */
static void
find_column(const struct column *k, size_t b, size_t w, size_t m,
    const struct context *inside, struct source *source)
{
	const struct search *x = k->x;
	size_t a, n = 0;

	for (a = 0; a < b; a++) {
		uint32_t from = k->prefix[a], to = k->prefix[b];
		struct key key = key_of(k->level - 1, inside, from, to);
		struct span span;
		double limit;

		if ((size_t)k->before[a] + (m > 0 ? w - m : k->behind[b]) >= k->n ||
		    !column_can(
			k, from, to, m > 0 ? m : k->n - k->before[a] - k->behind[b]) ||
		    !ideals_sub(x->s, from, to))
			continue;
		span = column_span(k, a, b);
		if (m > 0 && (m < span.low || m > span.high || w + k->before[a] > k->n))
			continue;
		limit = longest(k, a, b, m > 0 ? m : span.low, m > 0 ? m : span.high);
		if (limit >= 0 && !known(x->times, &key, limit))
			source[n++] = (struct source){from, limit, INFINITY};
	}
	if (n > 0) {
		struct column below;

		column_open(&below, x, k->level - 1, inside, k->prefix[b], source, n);
		column_times(&below, source, n);
		for (a = 0; a < n; a++) {
			struct key key =
			    key_of(k->level - 1, inside, source[a].prefix, k->prefix[b]);

			put(x->times, &key, source[a].time_s, source[a].limit_s);
		}
		column_close(&below);
	}
}

void
times_below(const struct column *k)
{
	const struct search *x = k->x;
	struct source *source = gv_xcalloc(k->size, sizeof(*source));
	size_t b, m, w;

	for (b = 1; b < k->size; b++) {
		column_tell(k, b);
		if (k->behind[b] >= k->n)
			continue;
		if (!search_limited(x)) {
			find_column(k, b, 0, 0, &k->c, source);
			continue;
		}
		for (w = k->behind[b] + (size_t)1; w <= k->n; w++)
			for (m = 1; m + k->behind[b] <= w; m++) {
				struct context inside =
				    search_inside(x, k->level, &k->c, w, m);

				find_column(k, b, w, m, &inside, source);
			}
	}
	free(source);
}
