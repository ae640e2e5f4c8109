/*
 * Markets of GPUs: an instance type in a zone of a cloud, whose price changes with
 * time.
 */
#ifndef TRACE_PRICES_MARKETS_H
#define TRACE_PRICES_MARKETS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "table/tab.h"

struct price_point {
	double time_s;    /* since the epoch: the price holds from here to the next one */
	double usd_per_h; /* of one GPU */
	size_t order;     /* of the row read; equal times keep it */
};

struct market {
	struct gv_cell cloud, region, zone, instance;
	struct gv_cell gpu_type; /* in small letters, as gv-profile devices has them */
	struct gv_cell source;   /* "aws/us-east-1a/p3.2xlarge" */
	int64_t gpus;            /* of an instance */
	size_t n, cap;
	struct price_point *point; /* [n], by time, the last of equal ones counts */
	double mttp_s;             /* mean time to preemption, INFINITY = none is known */
};

struct markets {
	/* sorted by cloud, zone, instance, gpu_type, gpus: ties go to the first */
	size_t n;
	size_t cap;
	struct market *market;
	struct gv_cell first_cloud; /* of the first row read */
	size_t n_rows;
	double begin_s, end_s; /* times of the first and the last row of all */
	struct gv_hash known; /* private: until they are sorted, the number of a market */
	struct gv_arena arena;
};

/* Which of them; comma-separated lists of names, NULL = all. */
struct market_filter {
	const char *clouds, *regions;
};

/*
 * Adds the rows of a table of spot prices (timestamp, cloud, region, zone, instance,
 * gpu, gpus, price_usd_h; also under the names of gv-tables(5)).  0, or -1 with *e set.
 * markets_sort must follow, before anything else is asked.
 */
int markets_read(struct markets *m, const char *path, const struct market_filter *f,
    struct gv_error *e);
void markets_sort(struct markets *m);
void markets_free(struct markets *m); /* also of a zeroed one */

/* The price of one GPU at a time: of the last row at or before it; NAN before the first. */
double market_price(const struct market *m, double time_s);

/*
 * Sets mttp_s from a table of lifetimes (cloud, gpu, gpus, start, end, outcome): the
 * time that instances of a cloud, GPU type and size lived, by how many of them were
 * preempted; those alive at the end count with their time alone.  Markets of none of
 * them get otherwise.  0, or -1 with *e set.  path NULL: all get otherwise.
 */
int markets_lifetimes(
    struct markets *m, const char *path, double otherwise, struct gv_error *e);

#endif
