/*
 * The loads of a pipeline's stages, sorted from the largest, compared like words.
 * Adding the same load to two of them keeps their order, so that dynamic
 * programming finds the least.  Loads are whole numbers here, so that rounding
 * does not tell equal ones apart.
 */
#ifndef GV_PARTITION_WORDS_H
#define GV_PARTITION_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

struct word {
	int64_t *load; /* [n] descending */
	size_t n;
};

/* A load in units of 2^-40 of the slowest. */
int64_t word_units(double load_s, double slowest_s);

/*
 * Compares the word of x and the loads of a with that of y and those of b; < 0, 0,
 * > 0.  What is not there counts as 0.
 */
int word_compare(int64_t x, const struct word *a, int64_t y, const struct word *b);

/* The word of x and the loads of rest; its memory is the arena's. */
void word_join(
    struct word *w, int64_t x, const struct word *rest, struct gv_arena *arena);

#endif
