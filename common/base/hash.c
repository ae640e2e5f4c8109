#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Eight bytes at a time through the mixer of splitmix64 (Steele et al., OOPSLA 2014). */
static uint64_t
mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static uint64_t
hash_bytes(const char *s, size_t len)
{
	uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ len;
	uint64_t word;

	for (; len >= 8; s += 8, len -= 8) {
		memcpy(&word, s, 8);
		h = mix(h ^ word);
	}
	if (len > 0) {
		word = 0;
		memcpy(&word, s, len);
		h = mix(h ^ word);
	}
	return h;
}

/* The slot that holds the string, or the free one where it belongs. */
static size_t
slot_of(const struct gv_hash *h, const char *s, size_t len, uint64_t hash)
{
	size_t mask = h->n_slots - 1;
	size_t i;

	for (i = hash & mask; h->slot[i] != 0; i = (i + 1) & mask) {
		const struct gv_hash_key *k = &h->key[h->slot[i] - 1];

		if (k->hash == hash && k->len == len &&
		    (len == 0 || memcmp(k->s, s, len) == 0))
			break;
	}
	return i;
}

static void
enlarge(struct gv_hash *h)
{
	size_t i;

	free(h->slot);
	h->n_slots = h->n_slots == 0 ? 64 : h->n_slots * 2;
	h->slot = gv_xcalloc(h->n_slots, sizeof(*h->slot));
	for (i = 0; i < h->n; i++) {
		size_t at = h->key[i].hash & (h->n_slots - 1);

		while (h->slot[at] != 0)
			at = (at + 1) & (h->n_slots - 1);
		h->slot[at] = i + 1;
	}
}

size_t
gv_hash_add(struct gv_hash *h, const char *s, size_t len)
{
	uint64_t hash = hash_bytes(s, len);
	size_t at;

	if (h->n_slots < 2 * (h->n + 1))
		enlarge(h);
	at = slot_of(h, s, len, hash);
	if (h->slot[at] != 0)
		return h->slot[at] - 1;
	h->key = gv_xgrow(h->key, &h->cap, h->n + 1, sizeof(*h->key));
	h->key[h->n] = (struct gv_hash_key){s, len, hash};
	h->slot[at] = ++h->n;
	return h->n - 1;
}

ptrdiff_t
gv_hash_find(const struct gv_hash *h, const char *s, size_t len)
{
	if (h->n == 0)
		return -1;
	return (ptrdiff_t)h->slot[slot_of(h, s, len, hash_bytes(s, len))] - 1;
}

void
gv_hash_free(struct gv_hash *h)
{
	free(h->key);
	free(h->slot);
	*h = (struct gv_hash){0};
}
