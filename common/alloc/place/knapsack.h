/*
 * Knapsacks of gangs: what is worth the most on the GPUs of one type.
 */
#ifndef GV_ALLOC_KNAPSACK_H
#define GV_ALLOC_KNAPSACK_H

#include <stdbool.h>
#include <stddef.h>

/* So many equal jobs that may be taken, of so many GPUs each; worth, above 0, of one. */
struct gv_knapsack_item {
	size_t id; /* the caller's; orders what is alike else */
	double gang, jobs, worth;
	double taken; /* 0 before; so many jobs are taken, 0 to jobs */
};

/* Room that is used again from one to the next; = {0} is none. */
struct gv_knapsack {
	size_t n_one, cap_one, cap_best, cap_taken;
	size_t *one;          /* items, once for each job that may be taken */
	double *best;         /* [gpus + 1] the largest worth of so many GPUs */
	unsigned char *taken; /* [n_one][gpus + 1] */
};

void gv_knapsack_free(struct gv_knapsack *w);

/*
 * Fills so many GPUs by dynamic programming: what is taken of items [n], which are put in order
 * (by gang, worth and id), and into *worth what that is worth, the most there is.  False: more than
 * cells jobs times GPUs, and nothing is done.  Time: as many, at most cells, and n log n.
 */
bool gv_knapsack_fill(struct gv_knapsack *w, struct gv_knapsack_item *item, size_t n,
    double gpus, double cells, double *worth);

#endif
