/*
 * A fabric: GPUs and the switches between them, and how much each direction of
 * each link carries, in whole units, so that cuts and packings are exact.
 */
#ifndef TREE_FABRIC_H
#define TREE_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "table/tab.h"

struct fabric {
	size_t n, n_gpus; /* GPUs are nodes 0 .. n_gpus - 1, switches follow */
	char **name;      /* [n] */
	int64_t *cap;     /* [n][n], units from row to column */
	int64_t unit;     /* kB/s (10^-6 GB/s) that one unit is */
	bool lowered; /* some link was lowered to its slower direction (fabric_balance) */
};

/* How much flows from u to v. */
#define fabric_cap(f, u, v) ((f)->cap[(u) * (f)->n + (v)])

/*
 * Reads the links table of frame: columns src, dst, gbytes_per_s; several rows of
 * one pair add up.  A node is a GPU when the last part of its name, behind the
 * last dot, starts with "gpu"; all others relay.  gpus NULL takes all GPUs, else
 * those that the list names, with commas or semicolons between,, in full or by the number behind
 * "gpu" where only one has it.  GPUs that are not named are left out with their links.
 * Rates count to 1 kB/s.  Of kinds, when not NULL, a list of what the column kind
 * begins with ("NV,XGMI"), only rows that match count, or, where others is true, only those that do not;
 * all nodes stay.  0, or -1 with *e.
 */
int fabric_read(struct fabric *f, const struct gv_frame *frame, const char *gpus,
    const char *kinds, bool others, struct gv_error *e);
/* The GPU of f of that name or number.  0, or -1 with *e. */
int fabric_gpu(const struct fabric *f, const char *word, size_t *gpu, struct gv_error *e);
void fabric_free(struct fabric *f);
void fabric_copy(struct fabric *to, const struct fabric *from);

/*
 * Makes every node take in as much as it gives out, which moving around switches
 * stands on: where one does not, all links are lowered to the slower of their directions.
 */
void fabric_balance(struct fabric *f);

/* Multiplies capacities by k; divides them by their common divisor, and returns it. */
void fabric_scale(struct fabric *f, int64_t k);
int64_t fabric_reduce(struct fabric *f);

/* Keeps the links between GPUs alone. */
void fabric_drop_switches(struct fabric *f);

bool fabric_has_switches(const struct fabric *f);
int64_t gcd64(int64_t a, int64_t b); /* of numbers >= 0 */

#endif
