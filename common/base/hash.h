/*
 * Numbers byte strings in the order in which they are first seen: ids of jobs,
 * names of types.  = {0} is an empty one.
 */
#ifndef GV_BASE_HASH_H
#define GV_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct gv_hash_key {
	const char *s; /* the caller's; must live as long as the table */
	size_t len;
	uint64_t hash;
};

struct gv_hash {
	size_t n; /* keys */
	size_t cap;
	struct gv_hash_key *key; /* [n], in order of addition */
	size_t n_slots;          /* a power of two, at least twice n */
	size_t *slot;            /* index into key + 1; 0 = free */
};

/* The number of the string; it is new when the result equals h->n as it was before. */
size_t gv_hash_add(struct gv_hash *h, const char *s, size_t len);
/* The number of the string, or -1. */
ptrdiff_t gv_hash_find(const struct gv_hash *h, const char *s, size_t len);
void gv_hash_free(struct gv_hash *h); /* also of a zeroed one */

#endif
