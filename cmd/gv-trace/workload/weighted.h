/* Lists of values with probabilities, as options give them: "1:0.7,2:0.1,4:0.2". */
#ifndef TRACE_WORKLOAD_WEIGHTED_H
#define TRACE_WORKLOAD_WEIGHTED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct weighted {
	size_t n;
	char **text;  /* [n] the values */
	double *upto; /* [n] sums of the probabilities so far */
	bool equal;   /* no probability was given */
};

/*
 * Parses VALUE[:PROBABILITY] between commas; the last colon of an element separates.
 * Without any probability all are equal.  0, or -1 with *e set: an empty value,
 * probabilities for some alone, one that is not in (0,1], a sum above 1.
 */
int weighted_parse(struct weighted *w, const char *list, struct gv_error *e);
void weighted_free(struct weighted *w); /* also of a zeroed one */

/*
 * The first value whose sum is above u in [0,1); n, "none of them", where u is in
 * what the probabilities leave.
 */
size_t weighted_pick(const struct weighted *w, double u);

#endif
