/* The least of n numbers that change: a tournament. */
#ifndef GV_ALLOC_LEAST_H
#define GV_ALLOC_LEAST_H

#include <stddef.h>

struct gv_least {
	size_t n;
	double *key;   /* [n] */
	size_t *first; /* [2 n] of each match the place that won; 1 is the last one */
};

/* n >= 1 numbers, all 0. */
void gv_least_open(struct gv_least *l, size_t n);
void gv_least_close(struct gv_least *l);

/* Cost: log n. */
void gv_least_set(struct gv_least *l, size_t at, double key);

/* Where the least is, the first of equal ones. */
size_t gv_least_first(const struct gv_least *l);

#endif
