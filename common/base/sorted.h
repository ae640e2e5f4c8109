/* Ascending lists of different numbers, for what is looked up often and changes now and then. */
#ifndef GV_BASE_SORTED_H
#define GV_BASE_SORTED_H

#include <stddef.h>

/* Where x is among the n numbers, or belongs: how many are smaller.  O(log n), O(1) behind all. */
size_t gv_sorted_place(const size_t *list, size_t n, size_t x);
/*
 * Puts x at its place, or takes out what stands there; the list has room for one more.
 * *n changes.  O(n) moves of memory.
 */
void gv_sorted_insert(size_t *list, size_t *n, size_t place, size_t x);
void gv_sorted_remove(size_t *list, size_t *n, size_t place);

#endif
